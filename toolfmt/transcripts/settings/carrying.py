"""Converts the settings of a request from one format to another, beside the conversation.

A format's reader stores fields outside the conversation in the transcript's `extra`, under the format's
name; from there the settings are read, translated, and stored under the target format's name.

Calls of the current turn without a signature get a placeholder if the model refuses them without one:

{"functionCall": {"name": "get_weather", "args": {}}}                                                      refused
{"functionCall": {...}, "thoughtSignature": "skip_thought_signature_validator"}                            accepted

Gemini 3 requires a signature of the first call in every step since the last user message; calls of other models
have none. The placeholder is Google's: Gemini API, "Thought signatures".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Final

from toolfmt.conversation import CallPart, Message, ResultPart, Transcript
from toolfmt.jsontext import is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.comparing.loss import Loss
from toolfmt.transcripts.format import TranscriptFormat
from toolfmt.transcripts.parts.pieces import changed
from toolfmt.transcripts.parts.values import at, own, pointer, put
from toolfmt.transcripts.settings.engine import ReadSettings, left_out, lost, missing, read, refused, write
from toolfmt.transcripts.settings.record import Table, Unsigned, Values
from toolfmt.transcripts.settings.relatives import RELATIVES
from toolfmt.transcripts.settings.tables import TABLES

_NONE: Final[Mapping[str, str]] = {}


@dataclass(slots=True)
class Carried:
    """A conversation being converted, with its request's settings."""

    before: Transcript
    """The conversation read, without the settings."""
    sent: Transcript
    """The conversation to write."""
    settings: Values = field(default_factory=dict[str, "JsonValue"])
    request_settings: ReadSettings | None = None
    """The settings read; None if no setting was carried."""
    whole: bool = False
    """Whether the target must have all required settings of a request."""
    reasons: Mapping[str, str] = field(default_factory=dict[str, str])
    """The reasons why the target refuses settings that it has a place for."""
    signatures: list[Loss] = field(default_factory=list["Loss"])
    """Placeholders for the signatures that calls of other models lack."""
    context: frozenset[str] = frozenset()
    """The fields of the source that refer to messages stored at the provider, or are documents beside the messages."""

    def losses(self, after: Transcript, goal: TranscriptFormat) -> Iterator[Loss]:
        """Yield the losses of settings."""
        yield from self.signatures
        table = _table(goal.name)
        if table is not None and self.request_settings is not None:
            now = own(after.extra, goal.name)
            yield from lost(self.request_settings, table, now, self.reasons)
            yield from left_out(self.request_settings, self.context)
            if self.whole:
                yield from missing(table, now)

    def explained(self, found: Iterable[Loss]) -> Iterator[Loss]:
        """Add to losses of tools why the target refuses them; a lost field of the context is a loss of content."""
        reason = self.reasons.get("hosted")
        for loss in found:
            if reason and (loss.code, loss.action) in (("tool", "dropped"), ("tools", "dropped")):
                yield replace(loss, detail=f"{loss.detail}: {reason}")
            else:
                stored = loss.code in ("request_field", "beside") and loss.path[1:] in self.context
                yield replace(loss, code="context") if stored else loss


def carried(  # noqa: PLR0913 - a request, its way, and what is given beside it
    before: Transcript,
    origin: TranscriptFormat,
    goal: TranscriptFormat,
    settings: Values,
    defaults: Values,
    *,
    whole: bool,
) -> Carried:
    """Translate the settings in a transcript's `extra`; formats without settings change nothing."""
    table, written = _table(origin.name), _table(goal.name)
    if written is None:
        return Carried(before, before)
    fields = own(before.extra, origin.name)
    request_settings = read(fields, table) if table is not None else ReadSettings()
    request_settings.values = {**defaults, **request_settings.values, **settings}
    for name in settings:
        request_settings.where[name] = ""
    values, reasons = request_settings.values, dict[str, str]()
    fields = write(values, written)
    while more := _refused(replace(before, extra=_named(fields, goal.name)), goal.name, values.get("model"), reasons):
        reasons |= more
        values = {name: value for name, value in values.items() if name not in more}
        fields = write(values, written)
    extra = _named(fields, goal.name)
    sent = replace(before, extra=extra)
    if "hosted" in reasons and before.tools is not None:
        sent = replace(sent, tools=tuple(tool for tool in before.tools if tool.kind != "hosted"))
    if table is not None:
        foreign = {key: value for key, value in before.extra.items() if not key.startswith(f"{origin.name}.")}
        before = replace(before, extra=foreign)
    signatures: list[Loss] = []
    model = values.get("model")
    if written.unsigned is not None and isinstance(model, str) and re.search(written.unsigned.models, model):
        messages, signatures = signed(before.messages, written.unsigned)
        sent = replace(sent, messages=messages)
    return Carried(before, sent, request_settings.values, request_settings, whole, reasons, signatures)


def _refused(transcript: Transcript, name: str, model: JsonValue, known: Mapping[str, str] = _NONE) -> dict[str, str]:
    """Find the settings that a format's API refuses, beside those `known`, each with the reason."""
    table, choice, tools = _table(name), transcript.tool_choice, transcript.tools or ()
    if table is None or not table.refusals:
        return {}
    hosted: JsonObject = {"hosted": True} if any(tool.kind == "hosted" for tool in tools) else {}
    found = refused(
        read(own(transcript.extra, name), table).values | hosted,
        table,
        model,
        functions=any(tool.kind != "hosted" for tool in tools),
        forced=choice is not None and choice.mode == "required",
    )
    return {name: reason for name, reason in found.items() if name not in known}


def refusals(transcript: Transcript, name: str) -> Iterator[tuple[str, str]]:
    """List the settings that the API of a format refuses in a request: the JSON pointer of each, and the reason."""
    table = _table(name)
    if table is not None and table.refusals:
        fields = own(transcript.extra, name)
        where = read(fields, table).where | ({"hosted": "/tools"} if transcript.tools else {})
        found = _refused(transcript, name, fields.get("model", fields.get("modelId")))
        yield from ((where[setting], reason) for setting, reason in found.items() if setting in where)


def _named(fields: JsonObject, name: str) -> JsonObject:
    return {f"{name}.{key}": value for key, value in fields.items()}


def brought_back(
    written: JsonValue, sent: Transcript, theirs: Transcript, origin: TranscriptFormat, goal: TranscriptFormat
) -> tuple[JsonValue, Transcript, list[Loss]]:
    """Apply edited settings to the original request.

    `sent` is what was sent in the other format, `theirs` what it has become. Returns the
    request, theirs without settings, and the losses.
    """
    there, here = _table(origin.name), _table(goal.name)
    if there is None or here is None or not is_object(written):
        return written, theirs, []
    base = read(own(sent.extra, origin.name), there).values
    request_settings = read(own(theirs.extra, origin.name), there)
    edited = {name: value for name, value in request_settings.values.items() if name not in base or base[name] != value}
    changed = edited.keys() | (base.keys() - request_settings.values.keys())
    if changed:
        written = _joined(_without(written, changed, here), write(edited, here))
    found = lost(ReadSettings(edited, request_settings.where), here, written)
    return written, replace(theirs, extra={}), [*found, *left_out(request_settings, there.context)]


def _without(request: JsonObject, names: AbstractSet[str], table: Table) -> JsonObject:
    """Copy a request without some settings, in all their places."""
    made = request
    places = [place for one in table.settings if one.name in names for place in (one.at, *one.also) if not one.member]
    places += [place for group in table.groups if not names.isdisjoint(group.names) for place in group.at]
    for place in filter(None, places):
        outer, _, key = place.rpartition(".")
        holder = at(made, outer) if outer else made
        if is_object(holder) and key in holder:
            kept = {name: value for name, value in holder.items() if name != key}
            made = dict(made) if outer else kept
            if outer:
                put(made, outer, kept)
    return made


def adjusted(
    value: JsonValue, made: TranscriptFormat, settings: Values, defaults: Values
) -> tuple[JsonValue, JsonObject]:
    """Set settings in a request within one format, and return all its settings."""
    table = _table(made.name)
    if table is None or not is_object(value):
        return value, {}
    request_settings = read(value, table).values
    wanted = {**{name: found for name, found in defaults.items() if name not in request_settings}, **settings}
    if wanted:
        value = _joined(value, write(wanted, table))
    return value, {**request_settings, **wanted}


def settings_of(request: JsonObject, name: str) -> JsonObject:
    """Read only the settings of a request in the format `name`, by their common names."""
    table = _table(name)
    return {} if table is None else read(request, table).values


def required_settings(name: str) -> tuple[str, ...]:
    """List the settings that a request in the format `name` cannot leave out."""
    table = _table(name)
    return () if table is None else table.required


def _joined(value: JsonObject, more: JsonObject) -> JsonObject:
    made = dict(value)
    for key, new in more.items():
        old = made.get(key)
        made[key] = _joined(old, new) if is_object(old) and is_object(new) else new
    return made


def stated(settings: Values | None) -> Values:
    """Check the names of settings; raises ValueError for one that no API has."""
    given = settings or {}
    unknown = given.keys() - _names()
    if unknown:
        known = ", ".join(sorted(_names()))
        raise ValueError(f"there is no setting {', '.join(sorted(unknown))}; the settings are {known}")
    return given


def _table(name: str) -> Table | None:
    relative = RELATIVES.get(name)
    return TABLES.get(name) if relative is None else relative.table


@cache
def _names() -> frozenset[str]:
    return frozenset[str]().union(*(table.names for table in TABLES.values()))


def signed(messages: Sequence[Message], rule: Unsigned) -> tuple[tuple[Message, ...], list[Loss]]:
    """Add the placeholder to calls that need a signature, and list these as bookkeeping losses."""
    made = list(messages)
    found: list[Loss] = []
    first = False
    for number in range(_turn(messages), len(messages)):
        message = messages[number]
        first = first or message.role != "assistant"
        call = next((part for part in message.parts if isinstance(part, CallPart)), None)
        if message.role != "assistant" or call is None or not first:
            continue
        first = False
        if call.signature and call.owner == rule.owner:
            continue
        stand_in = replace(call, signature=rule.signature, owner=rule.owner)
        made[number] = changed(message, message.role, [stand_in if part is call else part for part in message.parts])
        found.append(Loss("signature", pointer(message.where), "added", f"{call.name}: {rule.signature}"))
    return tuple(made), found


def _turn(messages: Sequence[Message]) -> int:
    """Find the beginning of the current turn: the last user message."""
    spoken = (
        number
        for number in range(len(messages) - 1, -1, -1)
        if messages[number].role == "user" and not all(isinstance(part, ResultPart) for part in messages[number].parts)
    )
    return next(spoken, 0)
