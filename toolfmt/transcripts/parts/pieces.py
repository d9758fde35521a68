"""Values that contain several messages: an answer with the results of its calls, all steps of a turn.

Each message of such a value has a `SharedSource` of it as its `source`. The value is
written as it was read only if all its messages are still together, in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from toolfmt.conversation import Message, Part, Role, ToolDeclaration, Transcript
from toolfmt.model import JsonValue

Read = TypeVar("Read", Message, ToolDeclaration)


@dataclass(frozen=True, slots=True, eq=False)
class SharedSource:
    """One of the `count` messages that were read from `whole`."""

    whole: JsonValue
    number: int
    count: int


def changed(message: Message, role: Role, parts: Sequence[Part], *, first: bool = True) -> Message:
    """Copy a message with another role or other parts; of several copies, the first keeps the extra fields."""
    copy = Message(role, tuple(parts), message.name, message.extra if first else {})
    copy.where = message.where
    return copy


def sourced(messages: Sequence[Message], owner: str, whole: JsonValue, where: tuple[str, int]) -> Sequence[Message]:
    """Record the value that messages were read from."""
    count = len(messages)
    for number, message in enumerate(messages):
        message.origin, message.where = owner, where
        message.source = whole if count == 1 else SharedSource(whole, number, count)
    return messages


def kept_or_new(
    messages: Sequence[Read], owner: str, *, answered_inside: bool = False
) -> Iterator[tuple[JsonValue, Sequence[Read]]]:
    """Yield values to write unchanged, each with no messages or tools, and runs of those to write anew.

    `answered_inside`: a call and its result are one value in the format; one
    whose results were added later is written anew, with them.
    """
    new: list[Read] = []
    at = 0
    while at < len(messages):
        end = _end(messages, at, owner)
        after = messages[end] if answered_inside and at < end < len(messages) else None
        if isinstance(after, Message) and after.role == "tool":
            end = at
        if end == at:
            new.append(messages[at])
            at += 1
            continue
        if new:
            yield None, new
            new = []
        source = messages[at].source
        yield (source.whole if type(source) is SharedSource else source), ()
        at = end
    if new:
        yield None, new


def _end(messages: Sequence[Read], at: int, owner: str) -> int:
    """Return where the messages of an unchanged value end, or `at` if it was changed."""
    first = messages[at]
    if first.origin != owner:
        return at
    source = first.source
    if type(source) is not SharedSource:
        return at + 1
    end = at + source.count
    group = messages[at:end]
    if len(group) < source.count:
        return at
    for number, message in enumerate(group):
        piece = message.source
        if type(piece) is not SharedSource or piece.whole is not source.whole or piece.number != number:
            return at
    return end


def runs(messages: Sequence[Message], joins: Callable[[list[Message], Message], bool]) -> Iterator[list[Message]]:
    """Split messages into the runs that one value holds; `joins` decides whether a message continues a run."""
    run: list[Message] = []
    for message in messages:
        if run and not joins(run, message):
            yield run
            run = []
        run.append(message)
    if run:
        yield run


def forget_ids(transcript: Transcript, key: str, start: str) -> Transcript:
    """Remove ids that only count messages, such as `message-1`; they are written again if there is no other."""
    for message in transcript.messages:
        if len(message.where) > 1 and message.extra.get(key) in (None, f"{start}{message.where[1]}"):
            message.extra.pop(key, None)
    return transcript
