"""Settings for the format of an agent, a team or a process.

An agent has `FormatSettings`. A team's flag overrides those of its direct members. An external setting (from a
configuration file or an environment variable) overrides both, through `from_setting`:

    settings = from_setting(os.environ.get("MY_APP_FORMAT"), default=agent)
    dialect = settings.choose(registry, provider="anthropic")
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from toolfmt.dialect.record import AnyDialect
from toolfmt.errors import warn
from toolfmt.lookup.providers import DEFAULT_DIALECT
from toolfmt.lookup.registry import Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatSettings:
    """An agent's preferences: XML or not, or a dialect by name; if both are None, the provider decides.

    `dialect="auto"` is only for reading: pass it to `parse`, because `choose` needs a dialect that shows tools.
    """

    use_xml: bool | None = None
    dialect: str | None = None

    def choose(self, registry: Registry, *, provider: str | None = None, model: str | None = None) -> AnyDialect:
        """Resolve to the one dialect that shows the tools and reads the answers; raises as `Registry.resolve`."""
        return registry.resolve(dialect=self.dialect, provider=provider, model=model, use_xml=self.use_xml is True)

    def in_team(self, *, use_xml: bool | None) -> FormatSettings:
        """Return the settings after a team's flag is applied.

        None changes nothing. True forces XML instead of a named dialect; False stops forcing XML and keeps a named
        dialect.
        """
        if use_xml is None:
            return self
        return FormatSettings(use_xml=True) if use_xml else replace(self, use_xml=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamSettings:
    """A team's flag and its members (agents and sub-teams) by name."""

    members: Mapping[str, FormatSettings | TeamSettings]
    use_xml: bool | None = None

    def applied(self) -> dict[str, FormatSettings | TeamSettings]:
        """Return the members with the flag applied to agents; a sub-team stays unchanged and applies its own."""
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
"""The values that `from_setting` accepts; `native` is the provider's own format."""

_NO_SETTINGS = FormatSettings()


def from_setting(text: str | None, default: FormatSettings = _NO_SETTINGS) -> FormatSettings:
    """Read a format setting, ignoring case and surrounding blanks; None, or an empty text, is the default.

    So is an unknown word, with a warning.
    """
    word = "" if text is None else text.strip().lower()
    if word and word not in SETTINGS:
        warn(f"{word!r} is no format setting, so the default is used; there are {', '.join(SETTINGS)}")
    return SETTINGS.get(word, default)
