"""The records of a table of settings.

    Setting("temperature", "generationConfig.temperature", high=2)
    Setting("stop", "stop", kind="texts", most=4)
    Setting("service_tier", "serviceTier", kind="text", words={"standard": "standard", "flex": "flex"})

A setting has one name for all APIs and, in each API, a place: the keys that lead to it, joined by dots.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from toolfmt.model import JsonObject, JsonValue

SettingKind: TypeAlias = Literal["number", "integer", "text", "flag", "texts", "object", "any"]
Values: TypeAlias = Mapping[str, "JsonValue"]
"""Settings by their name."""


def _words() -> dict[str, JsonValue]:
    return {}


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting's place in one API, and what the API accepts there."""

    name: str
    at: str
    """The place where it is read and written; "": it is only read, in the places `also`."""
    kind: SettingKind = "number"
    also: tuple[str, ...] = ()
    """Further places where it is read."""
    low: float | None = None
    high: float | None = None
    most: int = 0
    """The largest number of items of a list or an object; 0: any number."""
    blank: bool = True
    """Whether a text of a list may be only white space."""
    words: Mapping[str, JsonValue] = field(default_factory=_words)
    """The API's word for each supported value; empty: the common values."""
    member: str = ""
    """The word in a list at the place that turns the setting on."""
    stands_for: tuple[str, ...] = ()
    """Settings without a place of their own that are written here if this one is not given."""
    models: str = ""
    """A regular expression for the models with this place; an unknown model has it too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Settings that share fields of a request."""

    names: tuple[str, ...]
    at: tuple[str, ...]
    """The places that it reads and writes."""
    keys: tuple[str, ...] = ()
    """The keys of the objects there that are read; empty: all."""
    read: Callable[[JsonObject], JsonObject]
    """Returns the settings by name; empty if the fields mean something else."""
    write: Callable[[Values, JsonObject], None]
    """Writes the settings into a request's fields."""
    models: str = ""
    """A regular expression for the models with this group; an unknown model has the name ""."""
    budget: tuple[int, int] | None = None
    """The least and the greatest budget of these models; None: any."""
    always: bool = False
    """Whether these models always reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedSettings:
    """Settings that an API refuses, for some models or beside something else."""

    names: tuple[str, ...]
    """The settings that are left out; `hosted` are the tools that the provider runs."""
    reason: str
    models: str = ""
    """A regular expression for the models; an unknown model matches only the empty one."""
    beside: str = ""
    """Refused only in combination with this setting."""
    tools: Literal["", "functions", "forced"] = ""
    """Refused only if functions are declared, or if a call is required."""


@dataclass(frozen=True, slots=True)
class Unsigned:
    """The placeholder for the signature of another model's call."""

    models: str
    """A regular expression for the models that refuse calls without a signature."""
    owner: str
    signature: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """All settings of one API."""

    settings: tuple[Setting, ...]
    groups: tuple[Group, ...] = ()
    required: tuple[str, ...] = ()
    """Settings that a request must have."""
    elsewhere: frozenset[str] = frozenset()
    """Settings that are part of the URL."""
    context: frozenset[str] = frozenset()
    """Fields that refer to messages stored at the provider: without them, content is lost."""
    spelled: Callable[[JsonObject], JsonObject] | None = None
    """Converts a request's keys to the table's spelling."""
    refusals: tuple[RefusedSettings, ...] = ()
    unsigned: Unsigned | None = None
    streams: Values = field(default_factory=_words)
    """Settings that apply to every stream of the API, even if the request does not state them."""

    @property
    def names(self) -> frozenset[str]:
        """Every setting with a place."""
        found = {setting.name for setting in self.settings if setting.at}
        return self.elsewhere.union(found, *(group.names for group in self.groups))

    def one(self, name: str) -> Setting | None:
        """Return a setting's own place."""
        return next((setting for setting in self.settings if setting.name == name and setting.at), None)
