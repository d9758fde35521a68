r"""Repairs what a provider would reject, without inventing anything.

    repair([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": null, "tool_calls": [
        {"type": "function", "function": {"name": "f", "arguments": {"a": 1}}}]}], format="openai-chat")
    [..., {"role": "assistant", "content": null, "tool_calls": [
        {"type": "function", "function": {"name": "f", "arguments": "{\"a\":1}"}, "id": "call_0"}]}]

The steps are those of a conversion, applied to the conversation's own format. The mildest come first: ids, names,
arguments, the order of results. Then adjacent messages are joined. Anything that would have to be removed stays,
unless `drop` allows it.

Calls without a result and results without a call are mended in a conversion too, each change reported:

    [user, assistant (call a, call b), tool (result a), user]
    fill: [user, assistant (call a, call b), tool (result a), tool (stub for b), user]
    drop: [user, assistant (call a), tool (result a), user]

Both add a user message if the provider requires one and the conversation has none. A second result
of a call is always joined with the first one: this neither invents nor loses anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias, get_args

from toolfmt import jsontext
from toolfmt.arguments import checked
from toolfmt.conversation import CallPart, JsonPart, Message, Part, ResultPart, TextPart, Transcript
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonValue
from toolfmt.transcripts.check import Finding, findings, says_something
from toolfmt.transcripts.comparing.linking import Place, flatten
from toolfmt.transcripts.comparing.loss import Loss
from toolfmt.transcripts.comparing.losses import losses
from toolfmt.transcripts.fitting.carrying import INSTRUCTIONS, as_text
from toolfmt.transcripts.fitting.check_calls import ADDED, to_last_answer, turns_of, unanswered
from toolfmt.transcripts.fitting.shape import answers_of, shape
from toolfmt.transcripts.format import Kind, Rules, TranscriptFormat, reraise_as_parse_error
from toolfmt.transcripts.merge import patched, restored
from toolfmt.transcripts.parts.media import with_base64
from toolfmt.transcripts.parts.pieces import changed
from toolfmt.transcripts.parts.values import argument_object, pointer
from toolfmt.transcripts.reading import read
from toolfmt.transcripts.recognising import origin

_CODES: Final[dict[str, tuple[str, ...]]] = {
    "alternation": ("boundary",),
    "blank": ("text",),
    "duplicate_id": ("call_id",),
    "empty": ("message", "placeholder"),
    "orphan_result": ("result", "duplicate"),
    "unanswered_call": ("call", "placeholder"),
    "unsigned": ("reasoning",),
    "untrained": ("text", "result"),
}
"""The losses that prove that a rule is now kept, if their codes differ from the rule."""
_ALL: Final = frozenset[Kind](get_args(Kind))


@dataclass(frozen=True, slots=True)
class Repair:
    """A mended conversation and the changes; `check` finds what could not be mended."""

    value: JsonValue
    changes: tuple[Loss, ...]
    """The changes: each has a loss's code or, if nothing was lost, the rule that is now kept."""


@checked
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
    """Fit with the mildest rules among those that leave the fewest findings."""
    spelled = _spelled(before, rules)
    keeping = _keeping(rules)
    gentle = replace(keeping, neighbours="refused" if rules.neighbours == "refused" else "apart", interleaved=True)
    tries = [before, *(shape(spelled, found) for found in ((gentle, keeping, rules) if drop else (gentle, keeping)))]
    return min(tries, key=lambda found: sum(1 for _ in findings(found, rules)))


def _keeping(rules: Rules) -> Rules:
    """Return rules that drop nothing: a result keeps content that messages could not contain."""
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
    """Write arguments and results in the format's own types."""
    messages: list[Message] = []
    for message in transcript.messages:
        parts = [_part(part, rules) for part in message.parts]
        same = all(new is old for new, old in zip(parts, message.parts, strict=True))
        messages.append(message if same else changed(message, message.role, parts))
    return replace(transcript, messages=tuple(messages))


def _part(part: Part, rules: Rules) -> Part:
    if isinstance(part, CallPart) and not part.custom and rules.arguments != "any":
        if rules.arguments == "text":
            return part if part.text == part.json else replace(part, text=part.json)
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
    """Write the mended conversation; unchanged fields keep the original spelling."""
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
    """Write one message; return None if the format writes none or several."""
    request = made.write(Transcript((message,)))
    items = request.get(made.messages) if is_object(request) else None
    return items[0] if is_array(items) and len(items) == 1 else None


def _kept(wrong: Sequence[Finding], lost: Sequence[Loss], done: Transcript, rules: Rules) -> list[Loss]:
    """List the rules that are kept now without a loss that says so."""
    reported = {(loss.path, loss.code) for loss in lost}
    left = {(found.rule, found.message) for found in findings(done, rules)}
    return [
        Loss(found.rule, found.path, "changed", found.message)
        for found in wrong
        if not any((found.path, code) in reported for code in _CODES.get(found.rule, (found.rule,)))
        and (found.rule, found.message) not in left
    ]


Mending: TypeAlias = Literal["fill", "drop"]
"""How to treat calls without a result and results without a call: keep both with placeholders, or drop both."""
STUB: Final = "No result: the call was not answered."
"""The text of a stub result."""
OPENING: Final = "(The conversation begins here.)"
"""The text of a placeholder user message."""


def mend(
    transcript: Transcript, rules: Rules, how: Mending | None, *, continued: bool = False
) -> tuple[Transcript, list[Loss]]:
    """Mend a conversation for a provider with these rules; list what was changed.

    `continued`: the provider stores the calls that some results answer.
    """
    work = _Work(list(transcript.messages), continued=continued)
    work.join_results()
    if how == "fill":
        work.reword_orphans()
        work.add_results(rules)
    elif how == "drop":
        work.drop_unpaired(rules)
        work.drop_unanswered(rules)
    if how is not None:
        work.add_opening(transcript, rules)
    if not work.losses:
        return transcript, []
    return replace(transcript, messages=tuple(work.messages)), work.losses


def of_source(found: Sequence[Loss]) -> Iterator[Loss]:
    """Return the losses of the source's data, without those of added messages."""
    return (loss for loss in found if loss.path != ADDED[0])


@dataclass(slots=True)
class _Work:
    messages: list[Message]
    continued: bool
    losses: list[Loss] = field(default_factory=list[Loss])

    def join_results(self) -> None:
        """Join further results of a call with the first one, without repeating equal text."""
        first: dict[str, int] = {}
        joined: dict[int, Part] = {}
        gone: set[int] = set()
        places = flatten(self.messages)
        for place in places:
            part = place.part
            if not isinstance(part, ResultPart) or part.id is None:
                continue
            if place.call is not None:
                first[part.id] = place.at
            elif part.id in first:
                before = joined.get(first[part.id], places[first[part.id]].part)
                assert isinstance(before, ResultPart)  # noqa: S101 - the place of a result
                if before.content != part.content:
                    both, failed = before.content + part.content, before.is_error and part.is_error
                    before = replace(before, content=both, is_error=failed)
                joined[first[part.id]] = before
                gone.add(place.at)
                self._lose("duplicate", place, "merged", part.id)
        if gone:
            self._rebuild(places, {**{at: (part,) for at, part in joined.items()}, **dict.fromkeys(gone, ())})

    def reword_orphans(self) -> None:
        """Turn results without a call into user text."""
        places = [] if self.continued else flatten(self.messages)
        orphans = [place for place in places if isinstance(place.part, ResultPart) and place.call is None]
        for place in orphans:
            self._lose("result", place, "changed", "as text")
        if orphans:
            self._rebuild(places, {place.at: as_text(place.part) for place in orphans if place.part is not None})

    def add_results(self, rules: Rules) -> None:
        """Add a stub for each call without a result although the conversation goes on, after its answer's results."""
        places = flatten(self.messages)
        ends = answers_of(self.messages, places)
        results = [place for place in places if isinstance(place.part, ResultPart) and place.call is not None]
        last = {ends[place.call]: place.message for place in results}
        stubs: dict[int, list[Message]] = {}
        for place, call in unanswered(places, turns_of(self.messages, rules)):
            part = ResultPart((TextPart(STUB),), call.id, call.name, is_error=True, custom=call.custom)
            at = last.get(ends[place.call], ends[place.call])
            stubs.setdefault(at, []).append(_added(Message("tool", (part,))))
            self._lose("placeholder", place, "added", f"a result of {call.name}")
        self.messages = [found for at, message in enumerate(self.messages) for found in (message, *stubs.get(at, ()))]

    def add_opening(self, transcript: Transcript, rules: Rules) -> None:
        """Add a user message before an answer at the start, or to an empty conversation."""
        at = next((at for at, found in enumerate(self.messages) if found.role not in INSTRUCTIONS), len(self.messages))
        opens = rules.user_first and at < len(self.messages) and self.messages[at].role == "assistant"
        if opens or not says_something(replace(transcript, messages=tuple(self.messages)), rules):
            where = pointer(self.messages[at].where) if at < len(self.messages) else ""
            self.messages.insert(at, _added(Message("user", (TextPart(OPENING),))))
            self.losses.append(Loss("placeholder", where, "added", "a turn of the user"))

    def drop_unpaired(self, rules: Rules) -> None:
        """Drop results without a call, and calls that have no result although the conversation goes on."""
        places = flatten(self.messages)
        gone = [place for place, _ in unanswered(places, turns_of(self.messages, rules))]
        if not self.continued:
            gone += [place for place in places if isinstance(place.part, ResultPart) and place.call is None]
        for place in gone:
            part = place.part
            if isinstance(part, CallPart):
                self._lose("call", place, "dropped", part.name)
            elif isinstance(part, ResultPart):
                self._lose("result", place, "dropped", part.id or part.name or "")
        if gone:
            self._rebuild(places, dict.fromkeys((place.at for place in gone), ()))

    def drop_unanswered(self, rules: Rules) -> None:
        """Drop what follows the last answer of a training row."""
        kept = to_last_answer(self.messages)
        if rules.answered and kept:
            for message in self.messages[len(kept) :]:
                code = "result" if any(isinstance(part, ResultPart) for part in message.parts) else "text"
                self.losses.append(Loss(code, pointer(message.where), "dropped", "after the last answer"))
            self.messages = list(kept)

    def _rebuild(self, places: Sequence[Place], instead: dict[int, Sequence[Part]]) -> None:
        """Replace some parts; a message without parts left is removed."""
        parts: list[list[Part]] = [[] for _ in self.messages]
        touched: set[int] = set()
        for place in places:
            if place.at in instead:
                touched.add(place.message)
            if place.part is not None:
                parts[place.message] += instead.get(place.at, (place.part,))
        rebuilt: list[Message] = []
        for number, (message, found) in enumerate(zip(self.messages, parts, strict=True)):
            if number not in touched:
                rebuilt.append(message)
            elif found:
                answers = any(isinstance(part, ResultPart) for part in found)
                role = "user" if message.role == "tool" and not answers else message.role
                rebuilt.append(changed(message, role, found))
        self.messages = rebuilt

    def _lose(
        self, code: str, place: Place, action: Literal["dropped", "changed", "merged", "added"], detail: str
    ) -> None:
        self.losses.append(Loss(code, pointer(self.messages[place.message].where), action, detail))


def _added(message: Message) -> Message:
    message.where = ADDED
    return message
