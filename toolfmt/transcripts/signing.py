"""Marks calls of the running turn that have no signature, where a model refuses them without one.

{"functionCall": {"name": "get_weather", "args": {}}}                                                      refused
{"functionCall": {...}, "thoughtSignature": "skip_thought_signature_validator"}                            accepted

Gemini 3 wants the signature of the first call of every step since the user spoke last; a call that another model made
has none. The text that takes its place is Google's: Gemini API, "Thought signatures".
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from toolfmt.conversation import CallPart, ResultPart
from toolfmt.transcripts.loss import Loss
from toolfmt.transcripts.pieces import changed
from toolfmt.transcripts.values import pointer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolfmt.conversation import Message
    from toolfmt.transcripts.settings.record import Unsigned


def signed(messages: Sequence[Message], rule: Unsigned) -> tuple[tuple[Message, ...], list[Loss]]:
    """Give the calls that need a signature the one that stands for none, and list them as losses of bookkeeping."""
    made = list(messages)
    found: list[Loss] = []
    first = False
    for at in range(_turn(messages), len(messages)):
        message = messages[at]
        first = first or message.role != "assistant"
        call = next((part for part in message.parts if isinstance(part, CallPart)), None)
        if message.role != "assistant" or call is None or not first:
            continue
        first = False
        if call.signature and call.owner == rule.owner:
            continue
        stand_in = replace(call, signature=rule.signature, owner=rule.owner)
        made[at] = changed(message, message.role, [stand_in if part is call else part for part in message.parts])
        found.append(Loss("signature", pointer(message.where), "added", f"{call.name}: {rule.signature}"))
    return tuple(made), found


def _turn(messages: Sequence[Message]) -> int:
    """Find the message with which the running turn begins: the last in which the user speaks."""
    spoken = (
        at
        for at in range(len(messages) - 1, -1, -1)
        if messages[at].role == "user" and not all(isinstance(part, ResultPart) for part in messages[at].parts)
    )
    return next(spoken, 0)
