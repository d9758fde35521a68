r"""Repairs what a provider would reject, without inventing anything.

    repair([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": null, "tool_calls": [
        {"type": "function", "function": {"name": "f", "arguments": {"a": 1}}}]}], format="openai-chat")
    [..., {"role": "assistant", "content": null, "tool_calls": [
        {"type": "function", "function": {"name": "f", "arguments": "{\"a\":1}"}, "id": "call_0"}]}]

The steps are those of a conversion, applied to the conversation's own format. The mildest come first: ids, names,
arguments, the order of results. Then adjacent messages are joined. Anything that would have to be removed stays,
unless `drop` allows it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, get_args

from toolfmt import jsontext
from toolfmt.conversation import CallPart, JsonPart, Message, Part, ResultPart, TextPart, Transcript
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.transcripts.check import findings
from toolfmt.transcripts.format import Kind, Rules, reraise_as_parse_error
from toolfmt.transcripts.losses import Loss, losses
from toolfmt.transcripts.media import with_base64
from toolfmt.transcripts.mending import mend, of_source
from toolfmt.transcripts.merge import patched, restored
from toolfmt.transcripts.pieces import changed
from toolfmt.transcripts.reading import read
from toolfmt.transcripts.recognising import origin
from toolfmt.transcripts.shape import shape
from toolfmt.transcripts.values import argument_object

if TYPE_CHECKING:
    from toolfmt.model import JsonValue
    from toolfmt.transcripts.check import Finding
    from toolfmt.transcripts.format import TranscriptFormat

_CODES: Final[dict[str, tuple[str, ...]]] = {
    "alternation": ("boundary",),
    "blank": ("text",),
    "duplicate_id": ("call_id",),
    "empty": ("message", "placeholder"),
    "orphan_result": ("result", "duplicate"),
    "unanswered_call": ("call", "placeholder"),
    "unsigned": ("reasoning",),
}
"""Which losses say that a rule is kept, where they are named otherwise."""
_ALL: Final = frozenset[Kind](get_args(Kind))


@dataclass(frozen=True, slots=True)
class Repair:
    """A mended conversation and what was done to it; what could not be mended, `check` finds."""

    value: JsonValue
    changes: tuple[Loss, ...]
    """What is said otherwise than before: a loss's code or, where nothing was lost, the rule that is now kept."""


def repair(
    value: JsonValue,
    *,
    format: str = "auto",  # noqa: A002 - the word that says it
    drop: bool = False,
    fill: bool = False,
) -> Repair:
    """Repair what the provider of a format would reject; everything else stays unchanged, key for key.

    It repairs missing, illegal and repeated ids, names, the spelling of arguments, the place of results, second results
    of a call, adjacent messages and blank texts. With `fill`, a call without a result gets a stub, and a result without
    a call becomes user text. With `drop`, unsupported parts are removed: results without a call, calls without a result
    (unless `fill` adds what is missing), unsigned reasoning, rejected kinds of content. Both add a user message if the
    provider requires one. Additions are changes with the code `placeholder`, and results that became text have the code
    `result`. Without a `format`, the conversation's own format is detected, which must be unambiguous. Raises
    `ParseError` for anything that is not a conversation of the format, and `LookupError` for a format that does not
    exist.
    """
    as_given, value = value, with_base64(value)
    made = origin(value, format)
    if bad := jsontext.unwritable(value):
        raise ParseError(f"{bad.pointer}: {bad.reason}")
    before = read(value, made, answers=False)
    with reraise_as_parse_error(made.name):
        rules = made.rules_for(before)
        wrong = list(findings(before, rules))
        how = "fill" if fill else "drop" if drop else None
        paired, changes = mend(before, rules, how, continued=rules.is_continued(before))
        if not (wrong or changes):
            return Repair(as_given, ())
        after = _mended(paired, rules, drop=drop)
        found = _written(value, before, after, made)
        done = made.read(found)
        lost = [*changes, *of_source(losses(paired, done))]
        return Repair(found, (*lost, *_kept(wrong, lost, done, rules)))


def _mended(before: Transcript, rules: Rules, *, drop: bool) -> Transcript:
    """Take the gentlest rules of those that leave least to refuse."""
    spelled = _spelled(before, rules)
    keeping = _keeping(rules)
    gentle = replace(keeping, alternate=rules.neighbours == "refused", joined_answers=False, interleaved=True)
    tries = [before, *(shape(spelled, found) for found in ((gentle, keeping, rules) if drop else (gentle, keeping)))]
    return min(tries, key=lambda found: sum(1 for _ in findings(found, rules)))


def _keeping(rules: Rules) -> Rules:
    """Give rules by which nothing is dropped: a result keeps what could not stand in a message either."""
    return replace(
        rules,
        owners=frozenset(),
        unsigned=True,
        media_types=frozenset(),
        user_kinds=_ALL,
        assistant_kinds=_ALL,
        result_kinds=rules.result_kinds | (_ALL - rules.user_kinds),
    )


def _spelled(transcript: Transcript, rules: Rules) -> Transcript:
    """Write arguments and results in the way that the format has for them."""
    messages: list[Message] = []
    for message in transcript.messages:
        parts = [_part(part, rules) for part in message.parts]
        same = all(new is old for new, old in zip(parts, message.parts, strict=True))
        messages.append(message if same else changed(message, message.role, parts))
    return replace(transcript, messages=tuple(messages))


def _part(part: Part, rules: Rules) -> Part:
    if isinstance(part, CallPart) and not part.custom and rules.arguments != "any":
        if rules.arguments == "text":
            return part if part.text is not None else replace(part, text=part.json)
        if is_object(part.arguments):
            return part
        text = part.arguments if isinstance(part.arguments, str) else part.text
        return replace(part, arguments=argument_object(replace(part, text=text)), text=None)
    if isinstance(part, ResultPart) and "json" not in rules.result_kinds:
        values = [found for found in part.content if isinstance(found, JsonPart)]
        texts = [TextPart(jsontext.dumps(found.value)) if found in values else found for found in part.content]
        return replace(part, content=tuple(texts)) if values else part
    return part


def _written(value: JsonValue, before: Transcript, after: Transcript, made: TranscriptFormat) -> JsonValue:
    """Write the mended conversation, in the words of the original wherever nothing had to be mended."""
    sources = {message.where: message for message in before.messages}
    times = Counter(message.where for message in after.messages)
    for message in after.messages:
        source = sources.get(message.where)
        if not message.origin and source is not None and times[message.where] == 1:
            _respell(message, source, made)
    old, new = made.write(before), made.write(after)
    if is_object(value):
        own = {made.spellings.get(key, key): found for key, found in value.items()}
        found = restored(value, old, patched(own, old, new), made)
        if made.read(found).tools == after.tools:
            return found
    return restored(value, old, new, made)


def _respell(message: Message, source: Message, made: TranscriptFormat) -> None:
    bare = changed(source, source.role, source.parts)
    old, new = _alone(bare, made), _alone(message, made)
    if old is None or new is None:
        return
    found = patched(source.source, old, new)
    read = made.read({made.messages: [found]}).messages
    if len(read) == 1 and read[0].parts == message.parts:
        message.source, message.origin = found, source.origin


def _alone(message: Message, made: TranscriptFormat) -> JsonValue:
    """Write one message; None if the format makes none of it, or several."""
    request = made.write(Transcript((message,)))
    items = request.get(made.messages) if is_object(request) else None
    return items[0] if is_array(items) and len(items) == 1 else None


def _kept(wrong: Sequence[Finding], lost: Sequence[Loss], done: Transcript, rules: Rules) -> list[Loss]:
    """Say which rules are kept now, where no loss says it."""
    said = {(loss.path, loss.code) for loss in lost}
    left = {(found.rule, found.message) for found in findings(done, rules)}
    return [
        Loss(found.rule, found.path, "changed", found.message)
        for found in wrong
        if not any((found.path, code) in said for code in _CODES.get(found.rule, (found.rule,)))
        and (found.rule, found.message) not in left
    ]
