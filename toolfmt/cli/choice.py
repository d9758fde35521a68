"""The options by which every command chooses a format."""

from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

from toolfmt.cli.errors import UsageError
from toolfmt.dialect import AnyDialect
from toolfmt.registry import default_registry


@Parameter(name="*", group="Format")
@dataclass(frozen=True, kw_only=True)
class Choice:
    """Which format; without any of these it is the default JSON."""

    provider: Annotated[
        str | None, Parameter(alias="-p", help="Whose API answers, such as anthropic; see `toolfmt providers`.")
    ] = None
    dialect: Annotated[str | None, Parameter(alias="-d", help="A format by name or alias; see `toolfmt dialects`.")] = (
        None
    )
    model: Annotated[str | None, Parameter(alias="-m", help="A model's id, alone or beside its provider.")] = None
    xml: Annotated[bool, Parameter(help="XML, whatever the provider reads best.")] = False

    def resolve(self) -> AnyDialect:
        """Find the dialect; raises `UnknownDialectError`, and `UsageError` for options that exclude each other."""
        registry = default_registry()
        if self.dialect is not None:
            chosen = registry.dialect(self.dialect)
            if self.provider is not None or self.model is not None:
                raise UsageError("--dialect decides alone: leave out --provider and --model")
            if self.xml and chosen is not registry.resolve(use_xml=True):
                raise UsageError(f"--xml is not --dialect {chosen.name}: leave one of the two out")
            return chosen
        if self.provider is not None:
            registry.provider(self.provider)  # the library takes an unknown one for the default, here it is a slip
        return registry.resolve(provider=self.provider, model=self.model, use_xml=self.xml)


DEFAULT = Choice()
