"""Reads the settings of one API's request and writes them as another's; losses are found by reading back.

settings = read({"max_tokens": 256, "temperature": 0.2, "container": "c_1"}, ANTHROPIC)
settings.values    {"max_tokens": 256, "temperature": 0.2}
settings.left      {"/container": "c_1"}
write(settings.values, GEMINI)    {"generationConfig": {"maxOutputTokens": 256, "temperature": 0.2}}
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from toolfmt import jsontext
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.schema.comparing import differences
from toolfmt.schema.walk import is_number
from toolfmt.transcripts.comparing.loss import Loss, short
from toolfmt.transcripts.parts.values import at, put
from toolfmt.transcripts.settings import reasoning
from toolfmt.transcripts.settings.record import Setting, SettingKind, Table, Values

_BUDGET: Final = "the model has another range, or the answer needs room below max_tokens"
_NONE: Final[Mapping[str, str]] = {}
SILENT: Final[Mapping[str, JsonValue]] = {
    **dict.fromkeys(("logprobs", "stream", "stream_usage", "encrypted", "obfuscation"), False),
    **dict.fromkeys(("top_logprobs", "frequency_penalty", "presence_penalty", "top_k"), 0),
    **dict.fromkeys(("n", "repetition_penalty", "top_p"), 1),
    **{name: {} for name in ("metadata", "labels", "logit_bias")},
    "stop": [],
    "modalities": ["text"],
    "service_tier": "auto",
    "format": {"type": "text"},
}
"""Default values: a request without them means the same."""

_BESIDE: Final = frozenset(
    {"cache", "cache_key", "cache_options", "cache_retention", "encrypted", "obfuscation", "store", "stream_usage"}
)
"""Settings of storage and transport, on which no answer depends."""


_COMPARED: Final = ("type", "schema")


@dataclass(slots=True)
class ReadSettings:
    """The settings of a request, the place of each, and the unknown fields."""

    values: JsonObject = field(default_factory=dict[str, "JsonValue"])
    where: dict[str, str] = field(default_factory=dict[str, str])
    left: JsonObject = field(default_factory=dict[str, "JsonValue"])
    """The unknown fields by JSON pointer."""
    faults: dict[str, str] = field(default_factory=dict[str, str])
    """What is wrong with the known ones among these."""


def read(fields: JsonObject, table: Table) -> ReadSettings:
    """Read a request's fields, without its messages and tools."""
    if table.spelled is not None:
        fields = table.spelled(fields)
    settings = ReadSettings()
    used: set[str] = set()
    for name, place, value in _found(fields, table):
        used.add(place)
        if name not in settings.values:
            settings.values[name], settings.where[name] = value, _pointer(place)
    for group in table.groups:
        found = group.read(fields)
        if found:
            for place in group.at:
                keys = group.keys if is_object(at(fields, place)) else ()
                used.update([f"{place}.{key}" for key in keys] or [place])
            settings.values = {**found, **settings.values}
            settings.where = {**dict.fromkeys(found, _pointer(group.at[0])), **settings.where}
    if settings.values.get("stream"):
        settings.values = {**table.streams, **settings.values}
    members: dict[str, set[str]] = {}
    for setting in table.settings:
        if setting.member:
            members.setdefault(setting.at, set()).add(setting.member)
    settings.left = dict(_left(fields, used.difference(members), members, ""))
    settings.faults = dict(_faults(settings.left, table)) if settings.left else {}
    return settings


def _faults(left: JsonObject, table: Table) -> Iterator[tuple[str, str]]:
    """Yield the places of settings with a value that cannot be read, and what is wrong with it."""
    for setting in table.settings:
        for place in map(_pointer, (setting.at, *setting.also)):
            if place in left and not setting.member:
                fits, otherwise = _KINDS[setting.kind]
                yield place, "it has an unknown value" if fits(left[place]) else f"it is {otherwise}"


def _found(fields: JsonObject, table: Table) -> Iterator[tuple[str, str, JsonValue]]:
    for setting in table.settings:
        for place in (setting.at, *setting.also):
            found = at(fields, place) if place.partition(".")[0] in fields else None
            value = None if found is None else _meaning(found, setting)
            if value is not None:
                yield setting.name, place, value


def _pointer(place: str) -> str:
    return "/" + place.replace(".", "/")


def _left(
    fields: JsonObject, used: set[str], members: Mapping[str, set[str]], outer: str
) -> Iterator[tuple[str, JsonValue]]:
    """Yield the fields that no setting has read; null means absent."""
    for key, value in fields.items():
        place = outer + key
        if value is None or place in used:
            continue
        if is_array(value) and place in members:
            value = [word for word in value if word not in members[place]]  # noqa: PLW2901 - what is left of it
        if is_object(value) and any(name.startswith(place + ".") for name in used):
            yield from _left(value, used, members, place + ".")
        elif value not in ({}, []):
            yield _pointer(place), value


def _meaning(found: JsonValue, setting: Setting) -> JsonValue:
    """Return a place's value in common terms; None for an invalid one."""
    if setting.member:
        return True if is_array(found) and setting.member in found else None
    if setting.kind == "texts" and isinstance(found, str):
        found = [found]
    if not _KINDS[setting.kind][0](found):
        return None
    if not setting.words:
        return found
    if is_array(found):
        made = [_word(item, setting) for item in found]
        return None if None in made else made
    return _word(found, setting)


def _word(found: JsonValue, setting: Setting) -> JsonValue:
    return next((word for word, spelled in setting.words.items() if spelled == found), None)


_KINDS: Final[dict[SettingKind, tuple[Callable[[Any], bool], str]]] = {
    "number": (is_number, "no number"),
    "integer": (lambda value: is_number(value) and float(value).is_integer(), "no whole number"),
    "text": (lambda value: isinstance(value, str), "no text"),
    "flag": (lambda value: isinstance(value, bool), "neither true nor false"),
    "texts": (lambda value: is_array(value) and all(isinstance(item, str) for item in value), "no list of texts"),
    "object": (is_object, "no object"),
    "any": (lambda _: True, ""),
}
"""What a setting of each kind is, and what any other value is."""


def write(values: Values, table: Table) -> JsonObject:
    """Write settings as a request's fields, within the API's words and ranges; others are left out."""
    table = fitting(table, values)
    settings = reasoning.suited(values, table)
    fields: JsonObject = {}
    for setting in (one for one in table.settings if one.at):
        name = next((name for name in (setting.name, *setting.stands_for) if name in settings), None)
        value = None if name is None else _fitted(settings[name], setting)
        if value is None:
            continue
        if setting.member:
            if value:
                put(fields, setting.at, [*(at(fields, setting.at) or ()), setting.member])
        else:
            put(fields, setting.at, value)
    for group in table.groups:
        if not settings.keys().isdisjoint(group.names):
            group.write(settings, fields)
    return fields


def fitting(table: Table, values: Values) -> Table:
    """Return the table with only the model's places."""
    model = values.get("model")
    known = isinstance(model, str)
    model = model if isinstance(model, str) else ""
    kept = tuple(one for one in table.settings if not (known and one.models) or re.search(one.models, model))
    groups = tuple(group for group in table.groups if re.search(group.models, model))
    same = len(kept) == len(table.settings) and len(groups) == len(table.groups)
    return table if same else replace(table, settings=kept, groups=groups)


def _fitted(value: JsonValue, setting: Setting) -> JsonValue:
    """Convert a value to its place's words and range; return None if it cannot be expressed."""
    if setting.words:
        if is_array(value):
            made = [setting.words[item] for item in value if item in setting.words]
            return made or None
        return next((spelled for word, spelled in setting.words.items() if word == value), None)
    if is_number(value):
        low, high = setting.low, setting.high
        bounded = low if low is not None and value < low else high if high is not None and value > high else value
        return int(bounded) if setting.kind == "integer" else bounded
    if not setting.blank and is_array(value):
        value = [text for text in value if text.strip()] or None
    if setting.most and is_array(value):
        return value[: setting.most]
    if setting.most and is_object(value):
        return dict(list(value.items())[: setting.most])
    return value


def refused(
    values: Values, table: Table, model: JsonValue, *, functions: bool = False, forced: bool = False
) -> dict[str, str]:
    """Find the settings that an API refuses in combination with a request's other settings, each with the reason."""
    given = {"": True, "functions": functions, "forced": forced}
    model = model if isinstance(model, str) else ""
    return {
        name: refusal.reason
        for refusal in table.refusals
        if given[refusal.tools]
        and re.search(refusal.models, model)
        and (not refusal.beside or values.get(refusal.beside) is not None)
        and not values.keys().isdisjoint(refusal.names)
        for name in refusal.names
    }


def lost(before: ReadSettings, table: Table, after: JsonObject, reasons: Mapping[str, str] = _NONE) -> Iterator[Loss]:
    """Yield the losses of settings in another API's request; `reasons` explain refused ones."""
    now = read(after, table)
    table = fitting(table, before.values)
    thinks = bool(reasoning.on(now.values))
    for name, value in before.values.items():
        where = before.where.get(name, "")
        if name in now.values:
            yield from _compared(name, value, now.values[name], where, _why(name, value, table, thinks=thinks))
        elif name in table.elsewhere or not where or value in (SILENT.get(name), table.streams.get(name)):
            continue
        elif (stand_in := _stands_in(name, value, now.values, table)) is not None:
            if stand_in:
                reason = f"the target has {stand_in.partition(':')[0]} in its place"
                yield Loss("setting", where, "changed", f"{name}: {_short(value)} -> {stand_in}: {reason}")
        else:
            code = "delivery" if name in _BESIDE else "setting"
            reason = _why(name, value, table, thinks=thinks)
            if name in reasons:
                reason = reasons[name]
            elif name in reasoning.NAMES[:3] and (cramped := reasoning.cramped(before.values, table)):
                reason = cramped
            elif name not in table.names:
                reason = "the target has no such setting"
            yield Loss(code, where, "dropped", f"{name}: {_short(value)}: {reason}")


def _why(name: str, value: JsonValue, table: Table, *, thinks: bool) -> str:
    place = table.one(name)
    if place is None or place.words:
        return _BUDGET if name == "budget" else "the target has no such value"
    if is_number(value):
        if place.low is not None and value < place.low:
            return f"the target takes at least {place.low}"
        if place.high is not None and value > place.high:
            return f"the target takes at most {place.high}"
    if not place.blank and is_array(value) and not all(text.strip() for text in value):
        return "the target takes no blank text"
    if place.most and (is_array(value) or is_object(value)) and len(value) > place.most:
        return f"the target takes at most {place.most}"
    return "the target does not accept it together with reasoning" if thinks else "the target has no such value"


def missing(table: Table, after: JsonObject) -> Iterator[Loss]:
    """Yield the required settings that are missing."""
    given = read(after, table).values
    for name in table.required:
        if name not in given:
            yield Loss("setting", "", "missing", f"the target needs {name}: give it in `settings` or `defaults`")


def left_out(before: ReadSettings, context: frozenset[str]) -> Iterator[Loss]:
    """Yield the fields that are specific to one API."""
    for pointer, value in before.left.items():
        code = "context" if pointer.removeprefix("/") in context else "setting"
        name = pointer.removeprefix("/")
        fault = before.faults.get(pointer, "no setting that other APIs have")
        yield Loss(code, pointer, "dropped", f"{name}: {_short(value)}: {fault}")


def _compared(name: str, value: JsonValue, other: JsonValue, where: str, reason: str) -> Iterator[Loss]:
    if name == "format" and is_object(value) and is_object(other) and {value["type"], other["type"]} == {"schema"}:
        schema, description = value["schema"], value.get("description")
        described = description if description and "description" not in other else None
        for found in differences({"description": described, **schema} if described else schema, other["schema"]):
            yield Loss("schema", where + found.pointer, found.action, found.detail)
        known = {**other, "description": other.get("description", other["schema"].get("description"))}
        known["name"] = other.get("name", schema.get("title"))
        for key, given in value.items():
            if key not in _COMPARED and given and known.get(key) != given:
                yield Loss(
                    "setting", where, "dropped", f"format: {key}: {_short(given)}: the target has no such setting"
                )
    elif not jsontext.equal(value, other) and value != other:
        yield Loss("setting", where, "changed", f"{name}: {_short(value)} -> {_short(other)}: {reason}")


def _stands_in(name: str, value: JsonValue, now: Values, table: Table) -> str | None:
    """Describe the replacement of a missing setting: "" if it is equivalent, None if there is none."""
    for setting in table.settings:
        if name in setting.stands_for and now.get(setting.name) == value:
            return ""
    if name not in reasoning.NAMES or name == "thoughts":
        return None
    if name == "thinks":
        return "" if value is reasoning.on(now) else None
    if value in ("none", 0) and reasoning.on(now) is False:
        return ""
    return next((f"{other}: {now[other]}" for other in reasoning.NAMES[:3] if other in now), None)


def _short(value: JsonValue) -> str:
    return short(value if isinstance(value, str) else jsontext.dumps(value), 60)
