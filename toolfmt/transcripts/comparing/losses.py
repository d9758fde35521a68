"""Losses of a conversion, found by comparing the conversation with the result read back.

    Loss("reasoning", "/messages/2", "dropped", "Two calls.")
    Loss("call_id", "/messages/2", "renamed", "call.1 -> call_1")

No writer reports its own losses, so none can be forgotten: everything that is missing from the second conversation is
a loss.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final, TypeAlias

from toolfmt import jsontext
from toolfmt.conversation import (
    CallPart,
    Content,
    JsonPart,
    MediaPart,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    RefusalPart,
    ResultPart,
    TextPart,
    Transcript,
    parse_failure,
)
from toolfmt.transcripts.comparing.linking import Place, flatten
from toolfmt.transcripts.comparing.lockstep import SIDE, common_prefix_length, joined_texts
from toolfmt.transcripts.comparing.loss import Loss, further, request_losses, short
from toolfmt.transcripts.parts.citations import same, source
from toolfmt.transcripts.parts.values import (
    argument_object,
    argument_value,
    broken_arguments,
    content_text,
    lacking,
    pointer,
)

_Where: TypeAlias = Callable[[int], str]
"""Writes the JSON pointer of a message by its number."""


def losses(before: Transcript, after: Transcript) -> list[Loss]:
    """List what the second conversation lacks."""
    found = list(_messages(before.messages, after.messages))
    if before.rejected is not None and after.rejected is not None:
        found.extend(loss for loss in _messages(before.rejected, after.rejected) if loss not in found)
    found.extend(request_losses(before, after))
    return found


def pairs(
    before: Sequence[Place], after: Sequence[Place]
) -> tuple[list[tuple[Place, Place]], list[Place], list[Place]]:
    """Match the parts of two conversations: the pairs, and the parts without a partner before and after.

    First equal parts are matched, then equal texts of another role, then
    the remaining parts of the same kind and role, in order.
    """
    matched: list[tuple[Place, Place]] = []
    lost, added = list(before), list(after)
    for key in (_key, _words_alone, _kind):
        waiting: dict[object, deque[Place]] = defaultdict(deque)
        for place in added:
            waiting[key(place)].append(place)
        left: list[Place] = []
        for place in lost:
            queue = waiting.get(key(place))
            if queue:
                matched.append((place, queue.popleft()))
            else:
                left.append(place)
        lost, added = left, sorted((place for queue in waiting.values() for place in queue), key=lambda one: one.at)
        if not (lost and added):
            break
    return matched, lost, added


def _kind(place: Place) -> object:
    medium = place.part.kind if isinstance(place.part, MediaPart) else ""
    return type(place.part), medium, SIDE[place.role] if not isinstance(place.part, ResultPart) else ""


def _words_alone(place: Place) -> object:
    return place.part.text if isinstance(place.part, TextPart) else id(place)


def _key(place: Place) -> object:  # noqa: PLR0911 - one for each kind of part
    part = place.part
    match part:
        case TextPart():
            return "text", SIDE[place.role], part.text
        case CallPart():
            return "call", place.call
        case ResultPart():
            return "result", place.call, part.id if place.call is None else None
        case ReasoningPart():
            return "reasoning", part.text, part.encrypted
        case MediaPart():
            return "media", part.kind, part.data or part.url or part.file_id
        case RefusalPart():
            return "refusal", part.text
        case JsonPart():
            return "json", repr(part.value)
        case OpaquePart():
            return "opaque", part.owner, repr(part.value)
        case None:
            return "empty", place.role


def _messages(before: Sequence[Message], after: Sequence[Message]) -> Iterator[Loss]:
    start = common_prefix_length(before, after)
    if start is None:
        return
    old = flatten(before)
    new = _numbered_as(old, flatten(after))
    calls = {place.call: place.call for place in old[:start]}

    def where(number: int) -> str:
        return pointer(before[number].where)

    joined, old_parts, new_parts = joined_texts(old[start:], new[start:])
    matched, lost, added = pairs(old_parts, new_parts)
    matched += joined
    for (a, one), (b, other) in pairwise(joined):
        if a.message == b.message and one.at == other.at:
            yield Loss("boundary", where(b.message), "merged", f"with the text before it: {short(_content(b.part))}")
    if added:
        yield from _moved_media(matched, added, where)
    for a, b in matched:
        yield from _differences(a, b, where(a.message))
    if lost or added:
        yield from _unmatched(lost, added, where)
    yield from _links(matched, calls, where)
    yield from _order(matched, where)
    first = min((place.message for place in (*lost, *(a for a, _ in matched))), default=0)
    yield from _envelopes(matched, before, after, where, first)


def _numbered_as(old: Sequence[Place], new: list[Place]) -> list[Place]:
    """If calls were dropped, give the remaining ones their old numbers."""
    numbers: dict[object, deque[int | None]] = defaultdict(deque)
    for place in old:
        if isinstance(place.part, CallPart):
            numbers[place.part.id, place.part.name].append(place.call)
    had: dict[int | None, int | None] = {None: None}
    for place in new:
        if not isinstance(place.part, CallPart):
            continue
        queue = numbers[place.part.id, place.part.name]
        if not queue:
            return new  # renamed: only the order distinguishes them
        had[place.call] = queue.popleft()
    return [replace(place, call=had[place.call]) for place in new] if any(numbers.values()) else new


def _moved_media(matched: list[tuple[Place, Place]], added: list[Place], where: _Where) -> Iterator[Loss]:
    """Report media of results that moved to a message, and remove them from both sides."""
    for number, (a, b) in enumerate(matched):
        if not (isinstance(a.part, ResultPart) and isinstance(b.part, ResultPart)):
            continue
        kept: list[Content] = []
        for part in a.part.content:
            place = None
            if isinstance(part, MediaPart) and _meaning(part) not in map(_meaning, b.part.content):
                key = _key(replace(a, part=part))
                place = next((new for new in added if _key(new) == key), None)
            if place is None:
                kept.append(part)
            else:
                added.remove(place)
                yield Loss("order", where(a.message), "moved", f"{_content(part)} of a result")
                yield from _differences(replace(a, part=part), replace(place, role=a.role), where(a.message))
        if len(kept) < len(a.part.content):
            matched[number] = replace(a, part=replace(a.part, content=tuple(kept))), b


def _differences(a: Place, b: Place, where: str) -> Iterator[Loss]:
    _, compare = _KINDS[type(a.part)]
    if compare is not None:
        yield from compare(a.part, b.part, where)
    if a.role != b.role and not isinstance(a.part, ResultPart):
        yield Loss("role", where, "changed", f"{a.role} -> {b.role}")


def _text(a: TextPart, b: TextPart, where: str) -> Iterator[Loss]:
    if a.text != b.text:
        yield Loss("text", where, "changed", short(a.text))
    if not same(a.citations, b.citations):
        sources = (found.get("title") or found.get("url") or "" for found in map(source, a.citations))
        detail = short(f"{len(a.citations)}: {', '.join(filter(None, sources))}".rstrip(": "))
        yield Loss("citations", where, "dropped" if not b.citations else "changed", detail)
    elif a.citations != b.citations:
        pairs = zip(a.citations, b.citations, strict=True)
        gone = dict.fromkeys(key for one, other in pairs for key in lacking(one, [other, source(one)]))
        yield from (Loss("provider_field", where, "dropped", f"citations.{key}") for key in gone)
    yield from further(a.extra, b.extra, where)


def _refusal(a: RefusalPart, b: RefusalPart, where: str) -> Iterator[Loss]:
    return further(a.extra, b.extra, where)


def _reasoning(a: ReasoningPart, b: ReasoningPart, where: str) -> Iterator[Loss]:
    if a.text != b.text:
        yield Loss("reasoning", where, "changed", short(a.text))
    if (a.signature, a.encrypted) != (b.signature, b.encrypted):
        yield Loss("signature", where, "dropped" if not (b.signature or b.encrypted) else "changed", a.owner)
    yield from further(a.extra, b.extra, where)


def _call(a: CallPart, b: CallPart, where: str) -> Iterator[Loss]:
    if a.name != b.name:
        yield Loss("tool_name", where, "renamed", f"{a.name} -> {b.name}")
    if a.id != b.id:
        action = "dropped" if b.id is None else "added" if a.id is None else "renamed"
        yield Loss("call_id", where, action, " -> ".join(one for one in (a.id, b.id) if one is not None))
    if a.custom != b.custom:
        yield Loss("call_kind", where, "changed", a.name)
    if a.namespace != b.namespace:
        yield Loss("namespace", where, "dropped", f"{a.namespace}")
    if a.signature != b.signature:
        yield Loss("signature", where, "dropped" if b.signature is None else "changed", a.owner)
    if a.text != b.text or a.text is None:
        yield from _arguments(a, b, where)
    yield from further(a.extra, b.extra, where)


def _arguments(a: CallPart, b: CallPart, where: str) -> Iterator[Loss]:
    reason = parse_failure(a) if a.text is not None and a.text.strip() else ""
    if reason and a.text != b.text:
        yield Loss("arguments", where, "changed", reason)
    elif not jsontext.equal(argument_object(a), argument_object(b)):
        yield Loss("arguments", where, "changed", a.name)
    elif a.text is None and not jsontext.equal(argument_value(a), argument_value(b)):
        yield Loss("arguments", where, "changed", broken_arguments(a) or a.name)
    elif a.text is not None:
        value = b.arguments if b.text is None else argument_object(b)
        if a.text not in (jsontext.dumps(value), jsontext.dumps(value, compact=True)):
            yield Loss("argument_text", where, "changed", short(a.text))


def _result(a: ResultPart, b: ResultPart, where: str) -> Iterator[Loss]:
    if a.is_error != b.is_error:
        yield Loss("error_flag", where, "dropped" if a.is_error else "added", a.id or a.name or "")
    left, gone = list(b.content), list[str]()
    for part in a.content:
        other = next((one for one in left if _meaning(one) == _meaning(part)), None)
        if other is not None:
            left.remove(other)
        if isinstance(part, MediaPart) and isinstance(other, MediaPart):
            yield from _media(part, other, where)
        elif isinstance(part, (TextPart, JsonPart)):
            yield from further(part.extra, getattr(other, "extra", {}), where)
        elif other is None:
            gone.append(_content(part))
    if list(map(_meaning, a.content)) != list(map(_meaning, b.content)):
        text, written = content_text(a.content, ""), content_text(b.content, "")
        if text == written and not gone and all(isinstance(part, (TextPart, JsonPart)) for part in left):
            yield Loss("boundary", where, "merged", f"the parts of the result {_content(a)}".rstrip())
        else:
            yield Loss("result_content", where, "changed", short(", ".join([*gone, text] if text != written else gone)))
    yield from further(a.extra, b.extra, where)


def _meaning(part: Content) -> object:
    match part:
        case TextPart():
            return part.text
        case MediaPart():
            return part.kind, part.data or part.url or part.file_id
        case JsonPart():
            return "json", jsontext.canonical(part.value)
        case OpaquePart():
            return part.owner, repr(part.value)


def _media(a: MediaPart, b: MediaPart, where: str) -> Iterator[Loss]:
    if (a.data, a.url, a.file_id, a.kind) != (b.data, b.url, b.file_id, b.kind):
        yield Loss("media", where, "changed", a.kind)
    for key in ("media_type", "detail", "name"):
        if getattr(a, key) != getattr(b, key) and getattr(a, key):
            yield Loss("media", where, "changed", short(f"{key} of {a.kind}: {getattr(a, key)}"))
    yield from further(a.extra, b.extra, where)


def _opaque(a: OpaquePart, b: OpaquePart, where: str) -> Iterator[Loss]:
    if a.owner != b.owner or not jsontext.equal(a.value, b.value):
        yield Loss("provider_part", where, "changed", _content(a))


_KINDS: Final[dict[type, tuple[str, Callable[..., Iterator[Loss]] | None]]] = {
    TextPart: ("text", _text),
    RefusalPart: ("refusal", _refusal),
    ReasoningPart: ("reasoning", _reasoning),
    CallPart: ("call", _call),
    ResultPart: ("result", _result),
    MediaPart: ("media", _media),
    OpaquePart: ("provider_part", _opaque),
    JsonPart: ("text", None),
    type(None): ("message", None),
}
"""The code of a lost part of each kind, and what compares two of them."""


def _unmatched(lost: list[Place], added: list[Place], where: _Where) -> Iterator[Loss]:
    for place in lost:
        code, _ = _KINDS[type(place.part)]
        if isinstance(place.part, TextPart) and not place.part.text:  # what it says is beside it, such as a signature
            yield from further(place.part.extra, {}, where(place.message))
            code = "message"
        yield Loss(code, where(place.message), "dropped", short(_content(place.part)))
    for place in added:
        if place.part is not None:
            yield Loss(_KINDS[type(place.part)][0], "", "added", short(_content(place.part)))


def _content(part: Part | None) -> str:
    match part:
        case TextPart() | RefusalPart() | ReasoningPart():
            return part.text or (f"hidden by {part.owner}" if isinstance(part, ReasoningPart) else "")
        case CallPart():
            return part.name
        case MediaPart():
            return " ".join(filter(None, (part.kind, part.name or part.url or part.file_id)))
        case OpaquePart():
            return f"{part.owner}: {part.value!r}"
        case ResultPart():
            return part.id or part.name or ""
        case _:
            return ""


def _links(matched: list[tuple[Place, Place]], calls: dict[int | None, int | None], where: _Where) -> Iterator[Loss]:
    calls |= {a.call: b.call for a, b in matched if isinstance(a.part, CallPart)}
    for a, b in matched:
        if not (isinstance(a.part, ResultPart) and isinstance(b.part, ResultPart)):
            continue
        # Without a call and an id, the name of its tool is all that says what a result answers.
        unnamed = a.call is None and a.part.id is None and a.part.name and not (b.part.id or b.part.name)
        if calls.get(a.call) != b.call or unnamed:
            action = "dropped" if b.call is None else "changed"
            yield Loss("result_link", where(a.message), action, short(_content(a.part)))


def _order(matched: list[tuple[Place, Place]], where: _Where) -> Iterator[Loss]:
    last = -1
    for a, b in sorted(matched, key=lambda pair: pair[0].at):
        if b.at < last:
            yield Loss("order", where(a.message), "moved", short(_content(a.part)))
        last = max(last, b.at)


def _envelopes(
    matched: list[tuple[Place, Place]],
    before: Sequence[Message],
    after: Sequence[Message],
    where: _Where,
    first_changed: int,
) -> Iterator[Loss]:
    partner: dict[int, int] = {}
    seen: dict[int, int] = {}
    for a, b in matched:
        partner.setdefault(a.message, b.message)
        first = seen.setdefault(b.message, a.message)
        if first != a.message and SIDE[a.role] == SIDE[b.role] and not isinstance(a.part, ResultPart):
            seen[b.message] = a.message
            yield Loss("boundary", where(a.message), "merged", f"{a.role} with {where(first)}")
    for number in range(first_changed, len(before)):
        message = before[number]
        new = after[partner[number]] if number in partner else Message(message.role)
        if message.name != new.name:
            yield Loss("speaker", where(number), "dropped" if new.name is None else "changed", message.name or "")
        unread = [key for key, value in message.extra.items() if value] if not message.parts else ()
        if unread and new.extra != message.extra:
            yield Loss("unread", where(number), "dropped", ", ".join(unread))
        yield from further(message.extra, new.extra, where(number))
