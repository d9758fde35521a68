"""What a table of settings is made of.

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
    """The place where it is read and written; empty: it is read in the places `also` alone."""
    kind: SettingKind = "number"
    also: tuple[str, ...] = ()
    """Further places where it is read."""
    low: float | None = None
    high: float | None = None
    most: int = 0
    """At most so many items of a list or an object; 0: any number."""
    blank: bool = True
    """A text of a list may be nothing but white space."""
    words: Mapping[str, JsonValue] = field(default_factory=_words)
    """The API's word for each value that has one; empty: the values are the same everywhere."""
    member: str = ""
    """The place holds a list, and the setting is on where this word is in it."""
    stands_for: tuple[str, ...] = ()
    """Settings that go here where this one is not given and they have no place of their own."""
    models: str = ""
    """A regular expression: the place is for models whose name it matches, and for those whose name is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Settings that one field says together."""

    names: tuple[str, ...]
    at: tuple[str, ...]
    """The places that it reads and writes."""
    keys: tuple[str, ...] = ()
    """The keys that it reads of the objects there; without any it reads all of them."""
    read: Callable[[JsonObject], JsonObject]
    """Return the settings by name; empty if the field says something else."""
    write: Callable[[Values, JsonObject], None]
    """Put them into a request's fields."""
    models: str = ""
    """A regular expression for the models that it is for; one that is not known has no name."""
    budget: tuple[int, int] | None = None
    """The least and the greatest budget of these models; None: any."""
    always: bool = False
    """These models always think."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedSettings:
    """Settings that an API refuses, for some models or beside something else."""

    names: tuple[str, ...]
    """The settings that are left out; `hosted` are the tools that the provider runs."""
    reason: str
    models: str = ""
    """A regular expression for the models; a model whose name is not known matches the empty one alone."""
    beside: str = ""
    """Refused only beside this setting."""
    tools: Literal["", "functions", "forced"] = ""
    """Refused only where functions are declared, or where a call is demanded."""


@dataclass(frozen=True, slots=True)
class Unsigned:
    """What replaces the signature of a call that another model made."""

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
    """Settings that the URL says."""
    context: frozenset[str] = frozenset()
    """Fields that refer to messages which the provider keeps: without them, what was said is lost."""
    spelled: Callable[[JsonObject], JsonObject] | None = None
    """Spells a request's keys as the table does."""
    refusals: tuple[RefusedSettings, ...] = ()
    unsigned: Unsigned | None = None
    streams: Values = field(default_factory=_words)
    """What holds for every stream of the API, whether or not the request says it."""

    @property
    def names(self) -> frozenset[str]:
        """Every setting that has a place here."""
        found = {setting.name for setting in self.settings if setting.at}
        return self.elsewhere.union(found, *(group.names for group in self.groups))

    def one(self, name: str) -> Setting | None:
        """Get a setting's own place."""
        return next((setting for setting in self.settings if setting.name == name and setting.at), None)
