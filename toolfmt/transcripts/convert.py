"""Converts conversations: read, shape, write, and compare with the result read back.

Conversion(value={"system": "Be brief.", "messages": [...]}, losses=(Loss("call_id", ...),), residue={...})
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final

from toolfmt.arguments import checked
from toolfmt.conversation import TextPart, Transcript
from toolfmt.errors import ConversionError, ParseError
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.check import says_something
from toolfmt.transcripts.comparing.loss import SEVERITIES
from toolfmt.transcripts.comparing.losses import Loss, losses
from toolfmt.transcripts.fitting.carrying import DEFAULT, Carry, adapt_parts, from_note, mark_plain, to_note
from toolfmt.transcripts.fitting.check_calls import defects, refuse_untrainable, refuse_untrained
from toolfmt.transcripts.fitting.shape import fit
from toolfmt.transcripts.format import TranscriptFormat, reraise_as_parse_error
from toolfmt.transcripts.formats import find
from toolfmt.transcripts.merge import merged, restored
from toolfmt.transcripts.parts.media import with_base64
from toolfmt.transcripts.reading import context, opened, read_shallow
from toolfmt.transcripts.recognising import origin as origin_of
from toolfmt.transcripts.repair import Mending, mend, of_source
from toolfmt.transcripts.repair import repair as repaired
from toolfmt.transcripts.settings.carrying import Carried, adjusted, brought_back, carried, stated
from toolfmt.transcripts.settings.record import Values
from toolfmt.transcripts.tables.declaring import choosable

INCLUDE: Final = frozenset({"tools", "request"})
ADVICE: Final = {"to": "the format to write is target=", "from_": "the format that is read is source="}
"""On options that the command line calls `--to` and `--from`."""
_STRICT: Final = frozenset({"content", "meaning"})
"""The severities of losses that `strict` refuses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    """A converted conversation, its losses, and the residue that an exact conversion back needs."""

    value: JsonValue
    losses: tuple[Loss, ...]
    """The losses of content, meaning and settings."""
    source: str
    target: str
    residue: JsonObject | None = field(repr=False)
    """JSON for `convert(..., residue=)`, which makes the conversion back exact."""
    bookkeeping: tuple[Loss, ...] = field(default=(), repr=False)
    """The other losses: renamed ids, format-specific fields, the spelling of arguments."""
    settings: Values = field(default_factory=dict[str, "JsonValue"], repr=False)
    """A request's settings by name, including those that go in the URL: `model`, `stream`, `max_tokens`, ..."""

    @property
    def all_losses(self) -> tuple[Loss, ...]:
        """All losses."""
        return self.losses + self.bookkeeping


@checked(**ADVICE)
def convert(  # noqa: PLR0913 - each is a choice of the caller's
    value: JsonValue,
    *,
    source: str | Collection[str] = "auto",
    target: str,
    strict: bool = False,
    include: str | Collection[str] = ("tools",),
    residue: JsonObject | None = None,
    carry: Carry = DEFAULT,
    repair: Mending | None = None,
) -> Conversion:
    """Convert a conversation to another format.

    `include` selects what is converted besides the messages: `tools` (declarations, choice, parallel flag) or
    `request` (these and the settings, see `convert_request`). `residue` is that of the conversion that made `value`:
    lost data is restored, and later edits stay. `carry` says how to write parts that the target does not support.
    `repair` says how to treat calls without a result and results without a call: `fill` adds stub results and turns
    such results into text, `drop` leaves both out; both add a user message at the start if the target requires one.
    Each change is a loss. With `repair`, a conversation in the target's format is repaired too. Under `strict`, a loss
    of content or meaning raises `ConversionError`. Raises `ParseError` for a value that is not in the source format,
    and `LookupError` for a format that does not exist.
    """
    return _converted(
        value, source, target, strict=strict, include=_included(include), residue=residue, carry=carry, repair=repair
    )


def convert_row(  # noqa: PLR0913 - as above
    value: JsonValue,
    *,
    source: str,
    target: str,
    strict: bool = False,
    include: str | Collection[str] = ("tools",),
    carry: Carry = DEFAULT,
    repair: Mending | None = None,
) -> Conversion:
    """Convert a conversation of a file of many like `convert`.

    Also raises `ConversionError` for a conversation of which nothing is left, and for what a training row must not
    hold: a call without a name or without a JSON object of arguments, and, as it would be written, an end that is not
    an answer of the assistant's, or an answer alone.
    """
    return _converted(
        value, source, target, strict=strict, include=_included(include), carry=carry, repair=repair, row=True
    )


@checked(**ADVICE)
def convert_request(  # noqa: PLR0913 - as above
    value: JsonValue,
    *,
    source: str | Collection[str] = "auto",
    target: str,
    settings: Values | None = None,
    defaults: Values | None = None,
    strict: bool = False,
    carry: Carry = DEFAULT,
    repair: Mending | None = None,
) -> Conversion:
    """Convert a whole request: messages, tools and settings.

    Names, units and values of settings are translated, and values are clamped to the target's range. `settings`
    override the request, and `defaults` fill in what it leaves out. Both use names that are the same for all APIs:
    `{"model": "m", "max_tokens": 4096}`. Pass settings of a URL, such as Gemini's model and streaming flag, in this
    way. The result's `settings` have the same names. Raises like `convert`, and ValueError for an unknown setting.
    """
    given = (stated(settings), stated(defaults))
    return _converted(value, source, target, strict=strict, include=INCLUDE, given=given, carry=carry, repair=repair)


def _converted(  # noqa: PLR0913 - as above
    value: JsonValue,
    source: str | Collection[str],
    target: str,
    *,
    strict: bool,
    include: frozenset[str],
    residue: JsonObject | None = None,
    given: tuple[Values, Values] | None = None,
    carry: Carry,
    repair: Mending | None,
    row: bool = False,
) -> Conversion:
    as_given, value = value, with_base64(value, "a value")
    origin = origin_of(value, source)
    goal = _target_format(target, carry)
    demanded = goal.demands.get(target.lower())  # what an alias of the target stands for
    if demanded and not any(getattr(read_shallow(value, origin), name) is not None for name in demanded):
        raise ConversionError(f"{target}: the conversation has no {' and no '.join(demanded)}; choose {goal.name}")
    if row and goal.rules.trained and origin.name != goal.name:  # a row that is made has to teach an answer
        goal = replace(goal, rules=replace(goal.rules, answered=True))
    request = "request" in include
    answer = bool(opened(value, origin))
    if origin.name == goal.name and residue is None and not answer:
        kept_value, changes = _kept(value, goal, repair, strict=strict, row=row)
        value = as_given if repair is None else kept_value
        value, adjustments = adjusted(value, goal, *(given or ({}, {}))) if request else (value, {})
        return conversion_from(value, changes, origin.name, goal.name, settings=adjustments)
    before = _only(read_shallow(value, origin), include)
    mark_plain(before.messages)
    if row:
        refuse_untrainable(before, origin.rules, goal.rules, mended=repair)
    with reraise_as_parse_error(origin.name, residue):
        if residue is not None:
            return _convert_back(before, origin, goal, residue, strict=strict)
        way = Carried(before, before)
        if request:
            way = carried(before, origin, goal, *(given or ({}, {})), whole=given is not None)
        way.context = context(origin.name)
        carry, note = to_note(carry)
        continued = origin.rules.is_continued(before)
        whole, mended = _mended(way.sent, goal, repair, continued=continued)
        sent, otherwise = adapt_parts(whole, goal.rules, carry, continued=continued)
        if sent.rejected is not None and goal.rated:
            other, _ = _mended(replace(sent, messages=sent.rejected), goal, repair, continued=continued)
            sent = replace(sent, rejected=adapt_parts(other, goal.rules, carry, continued=continued)[0].messages)
        shaped = _fitted(sent, goal)
        if row:
            # that no call is made is an answer
            refuse_untrained(sent if goal.rules.one_answer else shaped, goal.rules, before)
        written, after = _written(shaped, goal)
        compared = sent if sent is way.before else replace(way.before, messages=sent.messages, rejected=sent.rejected)
        wrong = defects(sent.messages, continued=continued)
        differences = way.explained(of_source(losses(compared, after)))
        found = (*mended, *otherwise, *wrong, *differences, *way.losses(after, goal))
    refuse(found, strict=strict)
    kept: JsonObject | None = None
    if not answer:
        kept = {"source": origin.name, "target": goal.name, "include": sorted(include), "value": value}
        kept |= {} if carry == DEFAULT else {"carry": note}
        kept |= {} if repair is None else {"repair": repair}
        kept |= {} if not any(given or ()) else {"given": list(given or ())}
    return conversion_from(written, found, origin.name, goal.name, residue=kept, settings=way.settings)


def _kept(
    value: JsonValue, made: TranscriptFormat, repair: Mending | None, *, strict: bool, row: bool
) -> tuple[JsonValue, tuple[Loss, ...]]:
    """Return a conversation that stays in its format, repaired if asked, and what the repair changed."""
    changes: tuple[Loss, ...] = ()
    found = read_shallow(value, made)
    if row:
        refuse_untrainable(found, made.rules, made.rules, mended=repair)
    if repair is None:
        _fitted(found, made)
    else:
        mended = repaired(value, format=made.name, fill=repair == "fill", drop=repair == "drop")
        value, changes = mended.value, tuple(loss for loss in mended.changes if loss.code in SEVERITIES)
        refuse(changes, strict=strict)
        found = read_shallow(value, made) if row else found
    if row:
        refuse_untrained(found, made.rules, found)
    return value, changes


def _mended(
    transcript: Transcript, goal: TranscriptFormat, repair: Mending | None, *, continued: bool
) -> tuple[Transcript, list[Loss]]:
    return (transcript, []) if repair is None else mend(transcript, goal.rules, repair, continued=continued)


def conversion_from(  # noqa: PLR0913 - the parts of a conversion
    value: JsonValue,
    found: Iterable[Loss],
    source: str,
    target: str,
    *,
    residue: JsonObject | None = None,
    settings: Values = MappingProxyType({}),
) -> Conversion:
    """Build a conversion from a value and its losses."""
    listed = tuple(found)
    graver, counted = (
        tuple(one for one in listed if (one.severity == "bookkeeping") is kind) for kind in (False, True)
    )
    return Conversion(
        value=value,
        losses=graver,
        source=source,
        target=target,
        residue=residue,
        bookkeeping=counted,
        settings=settings,
    )


def write(transcript: Transcript, target: str, *, strict: bool = False, carry: Carry = DEFAULT) -> Conversion:
    """Write a conversation that was not read from a format; raises like `convert`."""
    goal = _target_format(target, carry)
    sent, otherwise = adapt_parts(transcript, goal.rules, carry)
    written, after = _written(_fitted(sent, goal), goal)
    found = (*otherwise, *losses(sent, after))
    refuse(found, strict=strict)
    return conversion_from(written, found, "", goal.name)


def _target_format(target: str, carry: Carry) -> TranscriptFormat:
    made = find(target)
    return made.widest if carry.gateway else made


def _fitted(transcript: Transcript, goal: TranscriptFormat) -> Transcript:
    """Fit a conversation to a format; raises ConversionError if nothing is left of its messages."""
    shaped = fit(transcript, goal.rules)
    if shaped.rejected is not None:
        other = fit(replace(shaped, messages=shaped.rejected), goal.rules).messages if goal.rated else None
        shaped = replace(shaped, rejected=other)
    empty = not transcript.tools and not says_something(shaped, goal.rules)
    if empty and (_is_words(transcript) or not shaped.messages):
        raise ConversionError(f"{goal.name}: nothing is left of what the conversation says: no message can be written")
    return shaped


def _written(sent: Transcript, goal: TranscriptFormat) -> tuple[JsonValue, Transcript]:
    written = goal.write(sent)
    after = goal.read_back(written, sent)
    possible = choosable(sent, after)
    return (written, after) if possible is sent else (found := goal.write(possible), goal.read_back(found, possible))


def _is_words(transcript: Transcript) -> bool:
    """Whether a conversation is only text, of which nothing may be left only if it is blank."""
    return not any(
        message.extra or not all(isinstance(part, TextPart) for part in message.parts)
        for message in transcript.messages
    )


def _convert_back(
    theirs: Transcript, origin: TranscriptFormat, goal: TranscriptFormat, residue: JsonObject, *, strict: bool
) -> Conversion:
    if (residue.get("source"), residue.get("target")) != (goal.name, origin.name):
        kind = (
            f"of a conversion {residue['source']} -> {residue['target']}, not {goal.name} -> {origin.name}"
            if {"source", "target"} <= residue.keys()
            else "none: give the `residue` of the conversion to this format"
        )
        raise ParseError(f"the residue is {kind}")
    carry = from_note(residue["carry"]) if "carry" in residue else DEFAULT
    goal = goal.widest  # the original may be in a gateway's format
    origin = origin.widest if carry.gateway else origin
    original = residue["value"]
    include = frozenset(residue["include"])
    ours = goal.read(original)
    sent = _only(ours, include)
    continued = goal.rules.is_continued(sent)
    if "request" in include:
        sent = carried(sent, goal, origin, *residue.get("given", ({}, {})), whole=False).sent
    first, _ = _mended(sent, origin, residue.get("repair"), continued=continued)
    first, _ = adapt_parts(first, origin.rules, carry, continued=continued)
    base = _written(fit(first, origin.rules), origin)[1]
    shared = any(a.role == b.role and a.parts == b.parts for a in base.messages for b in theirs.messages)
    if len(base.messages) > 1 and theirs.messages and not shared:
        raise ParseError("the residue is of another conversation: none of its messages is in this one")
    whole = merged(ours, base, theirs, goal.rules)
    written = restored(original, goal.write(ours), goal.write(whole), goal)
    further: list[Loss] = []
    if "request" in include:
        written, theirs, further = brought_back(written, sent, theirs, origin, goal)
    found = (*losses(theirs, goal.read(written)), *further)
    refuse(found, strict=strict)
    return conversion_from(written, found, origin.name, goal.name)


def _included(include: Collection[str]) -> frozenset[str]:
    found = frozenset({include} if isinstance(include, str) else include)
    unknown = found - INCLUDE
    if unknown:
        raise ValueError(f"include takes {' and '.join(sorted(INCLUDE))}, not {', '.join(sorted(unknown))}")
    return found | {"tools"} if "request" in found else found


def _only(transcript: Transcript, include: frozenset[str]) -> Transcript:
    if "tools" in include:
        return transcript
    return replace(transcript, tools=None, tool_choice=None, parallel=None)


def refuse(found: Iterable[Loss], *, strict: bool) -> None:
    """Raise `ConversionError` for losses of content or meaning, under `strict`."""
    grave = [loss for loss in found if loss.severity in _STRICT] if strict else ()
    if grave:
        lines = "\n".join(f"- {loss.code} {loss.action} at {loss.path or '/'}: {loss.detail}" for loss in grave)
        raise ConversionError(f"the conversion would lose:\n{lines}")
