"""Text that merely echoes a call: a slip of models that write their arguments twice.

calls   search(q="x")
text    {"q": "x"}          an echo, plain or fenced
text    I sent {"q": "x"}.  a message that quotes it: kept
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from toolfmt import jsontext
from toolfmt.errors import ParseError
from toolfmt.events import Notice, TextDelta

if TYPE_CHECKING:
    from collections.abc import Iterable

    from toolfmt.events import Event
    from toolfmt.model import ToolInvocation

_FENCE = re.compile(r"```\w*[ \t]*\n?(.*?)\n?```", re.DOTALL)
_ARGUMENTS = ("arguments", "args", "parameters", "input")


def is_leak(text: str, calls: Iterable[ToolInvocation]) -> bool:
    """Whether a text is nothing but the arguments of one of the calls, or the call itself.

    Compared as JSON, type for type; the order of keys does not count. Empty
    arguments are never a leak: `{}` says too little.
    """
    stripped = text.strip()
    fenced = _FENCE.fullmatch(stripped)
    try:
        value = jsontext.loads(fenced[1] if fenced else stripped)
    except ParseError:
        return False
    if not jsontext.is_object(value) or not value:
        return False
    return any(_echoes(value, call) for call in calls)


def _echoes(value: dict[str, object], call: ToolInvocation) -> bool:
    if call.arguments and jsontext.equal(value, call.arguments):
        return True
    return any(jsontext.equal(value, {"name": call.name, key: call.arguments}) for key in _ARGUMENTS)


def drop_leaks(events: Iterable[Event], calls: Iterable[ToolInvocation]) -> list[Event]:
    """Replace each text that is a leak by an `arguments_leak` notice that holds it; all else stays."""
    known = list(calls)
    return [
        Notice("arguments_leak", event.text, (event.start, event.start + len(event.text)))
        if isinstance(event, TextDelta) and is_leak(event.text, known)
        else event
        for event in events
    ]
