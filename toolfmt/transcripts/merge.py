"""Merges a conversation that came back with the one it was made from, as a three-way merge.

`ours` is the original, `base` what was sent in the other format, `theirs` what it
has become. What is the same in `base` and `theirs` is taken from `ours`, field by
field; what was edited, added or removed in `theirs` wins.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from difflib import SequenceMatcher
from typing import Any, TypeVar

from toolfmt import jsontext
from toolfmt.conversation import CallPart, Message, Part, ResultPart, TextPart, ToolDeclaration, Transcript
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.comparing.linking import Names, Place, flatten
from toolfmt.transcripts.comparing.losses import pairs
from toolfmt.transcripts.fitting.shape import shape
from toolfmt.transcripts.format import Rules, TranscriptFormat
from toolfmt.transcripts.tables.declaring import fitted

Value = TypeVar("Value")


def merged(ours: Transcript, base: Transcript, theirs: Transcript, rules: Rules) -> Transcript:
    """Merge three conversations; `rules` are those of the original's format, which new messages are fitted to."""
    messages = _Merge(ours, base, theirs).messages(rules)
    return Transcript(
        messages,
        _tools(ours.tools, base.tools, theirs.tools, rules),
        _three(ours.tool_choice, base.tool_choice, theirs.tool_choice),
        _three(ours.parallel, base.parallel, theirs.parallel),
        ours.extra,
        ours.rejected,
        ours.label,
    )


def restored(original: JsonValue, before: JsonValue, after: JsonValue, made: TranscriptFormat) -> JsonValue:
    """Keep the original spelling of every field of a request, or of a single message, that the merge did not change."""
    if is_object(original) and is_array(before) and is_array(after) and made.messages not in original:
        return original if jsontext.equal(before, after) else after[0] if len(after) == 1 else after
    if is_object(original):
        before, after = (value if is_object(value) else {made.messages: value} for value in (before, after))
    elif is_object(after) and after.keys() == {made.messages}:
        return after[made.messages]
    if not (is_object(original) and is_object(before) and is_object(after)):
        return after
    kept: dict[str, JsonValue] = {}
    for key, value in original.items():
        name = made.spellings.get(key, key)
        if name not in after:
            if name not in before:
                kept[key] = value
        elif name in before and jsontext.equal(before[name], after[name]):
            kept[key] = value
        else:
            kept[key] = after[name]
    return kept | {key: value for key, value in after.items() if key not in kept and key not in before}


def _three(ours: Value, base: Value, theirs: Value) -> Value:
    return ours if base == theirs else theirs


def _tools(
    ours: tuple[ToolDeclaration, ...] | None,
    base: tuple[ToolDeclaration, ...] | None,
    theirs: tuple[ToolDeclaration, ...] | None,
    rules: Rules,
) -> tuple[ToolDeclaration, ...] | None:
    """Take unchanged tools from ours; new and edited ones are fitted to the original's format."""
    if base == theirs or not theirs:
        return _three(ours, base, theirs)
    sent: dict[str, tuple[ToolDeclaration, ToolDeclaration]] = {}
    if ours and base and len(ours) == len(base):
        sent = {tool.name: (original, tool) for original, tool in zip(ours, base, strict=True)}
    names = Names(rules, (tool.name for tool in theirs))
    found: list[ToolDeclaration] = []
    for tool in theirs:
        original, same = sent.get(tool.name, (None, None))
        if original is not None and same == tool:
            found.append(original)
        else:
            (made,) = fitted((tool,), rules, names)
            found.append(made if original is None else _fields(original, same, tool, made))
    return tuple(found)


class _Merge:
    """The parts of the three conversations, matched with each other."""

    def __init__(self, ours: Transcript, base: Transcript, theirs: Transcript) -> None:
        self._ours = ours.messages
        self._theirs = theirs.messages
        self._old = flatten(ours.messages)
        self._sent = flatten(base.messages)
        self._new = flatten(theirs.messages)
        matched, lost, _ = pairs(self._old, self._sent)
        self._of_sent: dict[int, list[int]] = {}
        for a, b in matched:
            self._of_sent.setdefault(b.at, []).append(a.at)
        self._absorb(lost, [b for a, b in matched if a.part != b.part])
        self._ids: dict[str | None, str | None] = {
            b.part.id: a.part.id
            for a, b in matched
            if isinstance(a.part, CallPart) and isinstance(b.part, CallPart) and b.part.id is not None
        }
        self._names = {
            b.part.name: a.part.name
            for a, b in matched
            if isinstance(a.part, CallPart) and isinstance(b.part, CallPart)
        }

    def _absorb(self, lost: Iterable[Place], changed: Sequence[Place]) -> None:
        """Link texts that were joined with others to the joined text."""
        holders = [place for place in changed if isinstance(place.part, TextPart)]
        for place in lost:
            if not isinstance(place.part, TextPart):
                continue
            for holder in holders:
                if (
                    isinstance(holder.part, TextPart)
                    and place.part.text in holder.part.text
                    and place.role == holder.role
                ):
                    self._of_sent.setdefault(holder.at, []).append(place.at)
                    break

    def messages(self, rules: Rules) -> tuple[Message, ...]:
        """Rebuild the original's messages, with the new ones between them."""
        changes, added = self._changes()
        sent = {at for found in self._of_sent.values() for at in found}
        kept = {at for at in range(len(self._old)) if at not in sent} | changes.keys()
        taken = [part.id for place in self._old if isinstance(part := place.part, CallPart) and part.id]
        result: list[Message] = list(self._fitted(added.get(-1, []), rules, taken))
        at = 0
        for message in self._ours:
            places = range(at, at + max(1, len(message.parts)))
            at = places.stop
            mapped = [place for place in places if place in sent]
            if not mapped or any(place in changes for place in mapped):
                result.append(self._rebuilt(message, places, kept, changes))
            for place in places:
                result.extend(self._fitted(added.get(place, []), rules, taken))
        return tuple(result)

    def _rebuilt(self, message: Message, places: range, kept: set[int], changes: dict[int, Part | None]) -> Message:
        parts = [changes.get(place, self._old[place].part) for place in places if place in kept]
        present = tuple(part for part in parts if part is not None)
        same = len(present) == len(message.parts) and all(a is b for a, b in zip(present, message.parts, strict=True))
        return message if same else replace(message, parts=present)

    def _changes(self) -> tuple[dict[int, Part | None], dict[int, list[Place]]]:
        """Map each original part that was sent to its new form, and list the new parts after each part."""
        changes: dict[int, Part | None] = {}
        added: dict[int, list[Place]] = {}
        anchor = -1
        for sent, new in _aligned(self._sent, self._new):
            originals = self._of_sent.get(sent.at, []) if sent is not None else []
            if new is None:
                continue
            if sent is None or not originals:
                if new.part is not None and sent is None:
                    added.setdefault(anchor, []).append(new)
                continue
            if sent.part == new.part:
                changes.update((at, self._old[at].part) for at in originals)
            else:
                ours, edited = self._old[originals[0]].part, new.part
                if edited is not None and type(ours) is type(sent.part) is type(edited):
                    edited = _fields(ours, sent.part, edited)
                changes[originals[0]] = self._back(edited)
            anchor = max(anchor, *originals)
        return changes, added

    def _back(self, part: Part | None) -> Part | None:
        if isinstance(part, CallPart):
            return replace(part, id=self._ids.get(part.id, part.id), name=self._names.get(part.name, part.name))
        if isinstance(part, ResultPart):
            name = part.name if part.name is None else self._names.get(part.name, part.name)
            return replace(part, id=self._ids.get(part.id, part.id), name=name)
        return part

    def _fitted(self, places: list[Place], rules: Rules, taken: Iterable[str]) -> Iterator[Message]:
        """Group new parts by their message, and fit them to the original's format."""
        groups: dict[int, list[Part]] = {}
        for place in places:
            part = self._back(place.part)
            if part is not None:
                groups.setdefault(place.message, []).append(part)
        if not groups:
            return iter(())
        messages = tuple(replace(self._theirs[number], parts=tuple(parts)) for number, parts in groups.items())
        return iter(shape(Transcript(messages), rules, taken).messages)


def _fields(ours: Any, base: Any, theirs: Any, fit: Any = None) -> Any:
    """Take edited fields from theirs and the others from ours; arguments and their text go together.

    `fit` is the version of theirs in our format, if that differs.
    """
    edited = {
        found.name for found in fields(base) if found.init and getattr(base, found.name) != getattr(theirs, found.name)
    }
    if edited & {"arguments", "text"} and isinstance(theirs, CallPart):
        edited |= {"arguments", "text"}
    return replace(ours, **{name: getattr(theirs if fit is None else fit, name) for name in edited})


def _aligned(base: Sequence[Place], theirs: Sequence[Place]) -> Iterator[tuple[Place | None, Place | None]]:
    """Pair the parts of two versions of a conversation; edited ones with each other, in order and by kind."""
    old, new = [(place.role, repr(place.part)) for place in base], [(place.role, repr(place.part)) for place in theirs]
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        yield base[start], theirs[start]
        start += 1
    matcher = SequenceMatcher(None, old[start:], new[start:], autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        left, right = list(base[start + a : start + b]), list(theirs[start + c : start + d])
        if tag == "equal":
            yield from zip(left, right, strict=True)
            continue
        for place in right:
            partner = next(
                (found for found in left if type(found.part) is type(place.part) and found.role == place.role), None
            )
            if partner is not None:
                left.remove(partner)
            yield partner, place
        yield from ((place, None) for place in left)


def patched(source: JsonValue, before: JsonValue, after: JsonValue) -> JsonValue:
    """Apply the difference between two JSON values to a third, which means the same as the first.

    patched({"a": "1", "note": "x"}, {"a": 1, "b": 2}, {"a": 1, "b": 3})
    {"a": "1", "note": "x", "b": 3}
    """
    if jsontext.equal(before, after):
        return source
    if is_object(source) and is_object(before) and is_object(after):
        return _patched_object(source, before, after)
    if is_array(source) and is_array(before) and is_array(after) and len(source) == len(before):
        return _patched_list(source, before, after)
    return after


def _patched_object(source: JsonObject, before: JsonObject, after: JsonObject) -> JsonObject:
    kept: JsonObject = {}
    for key, value in source.items():
        if key in after:
            kept[key] = patched(value, before[key], after[key]) if key in before else after[key]
        elif key not in before:
            kept[key] = value
    for key, value in after.items():
        if key not in source and not (key in before and jsontext.equal(before[key], value)):
            kept[key] = value
    return kept


def _patched_list(source: list[JsonValue], before: list[JsonValue], after: list[JsonValue]) -> list[JsonValue]:
    """Match the items: first equal ones, then the next of the same kind."""
    same = {repr(item): at for at, item in enumerate(before)}
    taken = {same[repr(item)] for item in after if repr(item) in same}
    waiting: dict[object, deque[int]] = defaultdict(deque)
    for at, item in enumerate(before):
        if at not in taken:
            waiting[_shape(item)].append(at)
    found: list[JsonValue] = []
    for item in after:
        queue = waiting[_shape(item)]
        at = same[repr(item)] if repr(item) in same else queue.popleft() if queue else None
        found.append(item if at is None else patched(source[at], before[at], item))
    return found


def _shape(item: JsonValue) -> object:
    return frozenset(item) if is_object(item) else type(item).__name__
