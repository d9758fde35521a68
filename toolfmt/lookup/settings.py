"""Which format agents and teams speak, as settings: of an agent, a team, a process.

An agent has `FormatSettings`. A team's flag overrides its direct members'. A
word from the outside (a configuration file, an environment variable that the
application read) overrides both, through `from_setting`:

    settings = from_setting(os.environ.get("MY_APP_FORMAT"), default=agent)
    dialect = settings.choose(registry, provider="anthropic")
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from toolfmt.lookup.providers import DEFAULT_DIALECT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolfmt.dialect.record import AnyDialect
    from toolfmt.lookup.registry import Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatSettings:
    """An agent's wishes: XML forced or not, a dialect by name; both None leave it to the provider.

    `dialect="auto"` is for reading alone: hand it to `parse`, as `choose` has nothing to show tools with.
    """

    use_xml: bool | None = None
    dialect: str | None = None

    def choose(self, registry: Registry, *, provider: str | None = None, model: str | None = None) -> AnyDialect:
        """Resolve to the one dialect that shows the tools and reads the answers; raises as `Registry.resolve`."""
        return registry.resolve(dialect=self.dialect, provider=provider, model=model, use_xml=self.use_xml is True)

    def in_team(self, *, use_xml: bool | None) -> FormatSettings:
        """Give the settings as a team's flag leaves them.

        None changes nothing. True forces XML, whatever dialect was named;
        False takes the force away, and leaves a named dialect.
        """
        if use_xml is None:
            return self
        return FormatSettings(use_xml=True) if use_xml else replace(self, use_xml=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamSettings:
    """A team's flag and its members by name, agents and sub-teams."""

    members: Mapping[str, FormatSettings | TeamSettings]
    use_xml: bool | None = None

    def applied(self) -> dict[str, FormatSettings | TeamSettings]:
        """Give each member with the flag applied to agents; a sub-team stays as it is and applies its own."""
        return {
            name: member if isinstance(member, TeamSettings) else member.in_team(use_xml=self.use_xml)
            for name, member in self.members.items()
        }


SETTINGS: Mapping[str, FormatSettings] = {
    "xml": FormatSettings(use_xml=True),
    "json": FormatSettings(use_xml=False, dialect=DEFAULT_DIALECT),
    "sentinel": FormatSettings(use_xml=False, dialect="sentinel"),
    "native": FormatSettings(use_xml=False),
}
"""The words that `from_setting` understands; `native` is the provider's own format."""

_NO_SETTINGS = FormatSettings()


def from_setting(text: str | None, default: FormatSettings = _NO_SETTINGS) -> FormatSettings:
    """Read a format word, trimmed and in any case; anything else, and None, is the default."""
    return default if text is None else SETTINGS.get(text.strip().lower(), default)
