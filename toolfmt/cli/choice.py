"""The options by which every command chooses a format."""

from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

from toolfmt.dialect import AnyDialect
from toolfmt.errors import ToolFmtError
from toolfmt.registry import default_registry


class UsageError(ToolFmtError):
    """Options that cannot stand together."""


@Parameter(name="*", group="Format")
@dataclass(frozen=True, kw_only=True)
class Choice:
    """Which format; without any of these it is the default JSON."""

    provider: Annotated[str | None, Parameter(alias="-p")] = None
    """A provider, such as `anthropic`; `toolfmt providers` lists them."""
    dialect: Annotated[str | None, Parameter(alias="-d")] = None
    """A format by name or alias; `toolfmt dialects` lists them."""
    model: Annotated[str | None, Parameter(alias="-m")] = None
    """A model's id, alone or beside its provider."""
    xml: Annotated[bool, Parameter(negative=())] = False
    """XML, whatever the provider reads best."""

    def resolve(self) -> AnyDialect:
        """Find the dialect; raises `UnknownDialectError` for a provider's name too, and `UsageError`."""
        registry = default_registry()
        if self.dialect is not None and (self.provider or self.model):
            raise UsageError("--dialect says it all: leave out --provider and --model")
        if self.provider is not None:
            registry.provider(self.provider)  # elsewhere an unknown one means the default, here it is a slip
        chosen = registry.resolve(
            dialect=self.dialect, provider=self.provider, model=self.model, use_xml=self.xml and self.dialect is None
        )
        if self.xml and chosen is not registry.resolve(use_xml=True):
            raise UsageError(f"--xml is another format than --dialect {self.dialect}: leave one of the two out")
        return chosen


DEFAULT = Choice()
