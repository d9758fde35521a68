"""What a table of settings is made of.

    Setting("temperature", "generationConfig.temperature", high=2)
    Setting("stop", "stop", kind="texts", most=4)
    Setting("service_tier", "serviceTier", kind="text", words={"standard": "standard", "flex": "flex"})

A setting has one name for all APIs and, in each API, a place: the keys that lead to it, joined by dots.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from toolfmt.jsontext import is_object

if TYPE_CHECKING:
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
    read: Callable[[JsonObject], JsonObject]
    """Give the settings by name; empty where the field says something else."""
    write: Callable[[Values, JsonObject], None]
    """Put them into a request's fields."""
    models: str = ""
    """A regular expression for the models that it is for; one that is not known has no name."""


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
    forced_thinks: bool = True
    """A model may have a budget of thinking where the request demands a call of it."""
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


def at(fields: JsonObject, place: str) -> JsonValue:
    """Get what is at a place; None where nothing is."""
    found: JsonValue = fields
    for key in place.split("."):
        found = found.get(key) if is_object(found) else None
    return found


def put(fields: JsonObject, place: str, value: JsonValue) -> None:
    """Put a value at a place; the objects around it are copied or made."""
    *outer, last = place.split(".")
    for key in outer:
        inside = fields.get(key)
        fields[key] = fields = dict(inside) if is_object(inside) else {}
    fields[last] = value
