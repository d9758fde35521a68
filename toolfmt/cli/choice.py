"""The options that choose a format, the same for every command.

The registry is imported when a format is chosen: cyclopts has pydantic check every argument again as soon as it is
loaded, which takes longer than parsing.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from toolfmt.cli.output import UsageError, note
from toolfmt.errors import UnknownDialectError

if TYPE_CHECKING:
    from toolfmt.dialect.record import AnyDialect


@Parameter(name="*", group="Format")
@dataclass(frozen=True, kw_only=True)
class FormatOption:
    """A format; the default is to detect it in input, and the default JSON for output."""

    provider: Annotated[
        str | None, Parameter(alias="-p", help="The provider of the model, such as anthropic; see `toolfmt providers`.")
    ] = None
    dialect: Annotated[
        str | None,
        Parameter(
            alias="-d", help="A format by name or alias; see `toolfmt dialects`. `parse` and `run` can detect it."
        ),
    ] = None
    model: Annotated[str | None, Parameter(alias="-m", help="A model's id, with or without its provider.")] = None
    dialect_from: Annotated[
        str | None,
        Parameter(help="Detect the format from a model's tokenizer folder, or from the file of its chat template."),
    ] = None
    xml: Annotated[bool, Parameter(help="Use XML for every provider.")] = False

    def resolve(self) -> AnyDialect:
        """Resolve the dialect as the library does."""
        from toolfmt.lookup.registry import registry_for

        registry = registry_for(self.dialect)
        if self.dialect_from is not None:
            return self._found(self.dialect_from)
        if self.dialect is not None:
            named = registry.dialect(self.dialect)
            if self.xml and named is not registry.resolve(use_xml=True):
                raise UsageError(f"--xml is not --dialect {named.name}: leave one of the two out")
            with suppress(UnknownDialectError):
                if (other := registry.provider(self.dialect).dialect) != named.name != self.dialect:
                    name = self.dialect
                    note(f"--dialect {name} is the format {named.name}; --provider {name} is the format {other}")
            return named
        return registry.resolve(provider=self.provider, model=self.model, use_xml=self.xml)

    def note_default(self) -> None:
        """Note, after the output, that no format was chosen."""
        if not self._chosen:
            note("no format is chosen, so this is the default JSON; choose one with --provider, --model or --dialect")

    @property
    def _chosen(self) -> bool:
        return any((self.provider, self.dialect, self.model, self.dialect_from, self.xml))

    def resolve_or_auto(self) -> AnyDialect | str:
        """Resolve the dialect, or return `auto` if none is chosen."""
        from toolfmt.lookup.registry import AUTO, is_auto

        if not self._chosen:
            return AUTO
        if not is_auto(self.dialect):
            return self.resolve()
        others = {"--dialect-from": self.dialect_from, "--xml": self.xml}
        for beside in (name for name, value in others.items() if value):
            raise UsageError(f"{beside} says the format, and --dialect auto finds it: leave one of the two out")
        return AUTO

    def _found(self, path: str) -> AnyDialect:
        """Find the dialect of a model's folder, with a note on the reasons."""
        from toolfmt.workshop.chat_templates.finding import find_dialect

        others = {"--dialect": self.dialect, "--provider": self.provider, "--model": self.model, "--xml": self.xml}
        beside = [name for name, value in others.items() if value]
        if beside:
            raise UsageError(f"--dialect-from says the format: leave {' and '.join(beside)} out")
        found = find_dialect(path)
        note(f"{path}: the format is {found.dialect.name} ({found.how}): {'; '.join(found.reasons)}")
        return found.dialect


DEFAULT = FormatOption()


def meant(name: str) -> AnyDialect:
    """Return the dialect of this name or, with a note, that of the provider or model of this name."""
    from toolfmt.lookup.registry import default_registry

    registry = default_registry()
    kinds = {"provider": lambda: registry.provider(name).dialect, "model": lambda: registry.resolve(model=name)}
    for kind, find in kinds.items() if name not in registry else ():
        with suppress(UnknownDialectError):
            found = registry.dialect(find())
            note(f"{name} is a {kind}, its format is {found.name}")
            return found
    return registry.dialect(name)
