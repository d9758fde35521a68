r"""Finds what is wrong with the calls and results of a conversation before it is converted.

{"tool_calls": [{"id": "a", "type": "function", "function": {"arguments": "{}"}}]}         a call without a name
{"tool_calls": [{"id": "a", "function": {"name": "search", "arguments": "{\"q\": "}}]}   arguments that are cut off
{"role": "tool", "tool_call_id": "zz", "content": "18C"}                                   a result of no call

A conversion reports them. A file of rows to train on does not get such a call: a model would learn it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolfmt.conversation import CallPart, OpaquePart, ResultPart
from toolfmt.errors import ConversionError
from toolfmt.transcripts.flat import flatten
from toolfmt.transcripts.loss import Loss
from toolfmt.transcripts.values import broken_arguments, pointer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from toolfmt.conversation import Message, Transcript
    from toolfmt.transcripts.format import Rules


def refuse_untrainable(transcript: Transcript, origin: Rules, goal: Rules, *, mended: bool = False) -> None:
    """Raise `ConversionError` for a row of which a turn is not understood, and for what is not to be trained on.

    That is a broken call and, unless the row is `mended`, a result of no call.
    """
    if not (goal.trained or origin.trained):
        return
    for message in (*transcript.messages, *(transcript.rejected or ())):
        for part in message.parts:
            reason = ""
            if isinstance(part, CallPart) and goal.trained:
                reason = _defect(part)
            elif isinstance(part, OpaquePart) and origin.trained and part.value is message.source:
                reason = "the turn is not understood"
            if reason:
                raise ConversionError(f"{pointer(message.where)}: not in a training set: {reason}")
    orphans = defects(transcript.messages, continued=False) if goal.trained and not mended else ()
    for loss in orphans:
        if loss.code == "result_link":
            raise ConversionError(f"{loss.path}: not in a training set: a result of no call: {loss.detail}")


def _defect(part: CallPart) -> str:
    if not part.name:
        return "a call has no name"
    reason = broken_arguments(part)
    return f"the arguments of the call to {part.name} are not a JSON object: {reason}" if reason else ""


def defects(messages: Sequence[Message], *, continued: bool) -> Iterator[Loss]:
    """List calls without a name, and results without a call; `continued`: the provider may hold the call."""
    if _sound(messages):
        return
    for place in flatten(messages):
        part, where = place.part, pointer(messages[place.message].where)
        if isinstance(part, CallPart) and not part.name:
            yield Loss("tool_name", where, "missing", "the call has no name")
        elif isinstance(part, ResultPart) and place.call is None and not continued:
            yield Loss("result_link", where, "missing", orphan_reason(part))


def _sound(messages: Sequence[Message]) -> bool:
    """Whether every call has a name and every result the id of an open call: the common case, seen without linking."""
    waiting: dict[str | None, int] = {None: 0}
    for message in messages:
        for part in message.parts:
            if isinstance(part, CallPart):
                if not part.name:
                    return False
                if part.id is not None:
                    waiting[part.id] = waiting.get(part.id, 0) + 1
            elif isinstance(part, ResultPart):
                if not waiting.get(part.id):
                    return False
                waiting[part.id] -= 1
    return True


def orphan_reason(part: ResultPart) -> str:
    """Say why a result answers no call."""
    if part.id:
        return f"no open call has the id {part.id!r}"
    return f"no open call has the name {part.name!r}" if part.name else "no call is open"
