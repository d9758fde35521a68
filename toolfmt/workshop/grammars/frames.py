"""The messages of a format with headers that are no calls: what may stand before a call, or without one.

    <|channel|>analysis<|message|>Hm.<|end|><|start|>assistant...
    ^ a header that leads to reasoning or text

A header's pattern is a regular language; its groups are given the words that
lead nowhere but to reasoning and text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from toolfmt.workshop.grammars.nodes import NOTHING, Lit, Node, Repeat, either, maybe, sequence, without
from toolfmt.workshop.grammars.patterns import NotRegularError, header_node

if TYPE_CHECKING:
    from collections.abc import Collection

    from toolfmt.dialect.frames import Frame, Route

_BEGUN: Final = re.compile(r"^\(\?:[^()]*\)\?")
"""What the prompt or the message before has written of a header."""
_SAID: Final = frozenset({"text", "reasoning"})


def frame_messages(frame: Frame, kinds: Collection[str], said: Node | None = None) -> tuple[Node, Node]:
    """What messages of these kinds, text or reasoning, may stand before a call's header, and what may stand alone.

    With `said`, the one message of text is that, and it comes last.
    """
    if said is not None:
        before, _ = frame_messages(frame, {*kinds} - {"text"})
        return before, sequence(before, either(*_headers(frame, {"text"})), said, _ending(frame))
    markers = tuple(Lit(marker) for marker in (*frame.ends, frame.start, *frame.opens))
    headers = _headers(frame, kinds)
    body = without(*markers)
    message = sequence(either(*headers), body) if headers else body
    between = _between(frame)
    before = Repeat(sequence(message, between), 0, 4) if headers else NOTHING
    return before, sequence(before, message, _ending(frame))


def _headers(frame: Frame, kinds: Collection[str]) -> list[Node]:
    """The headers that lead to what is of these kinds, as far as they can be written."""
    return [node for route in frame.routes if route.to in kinds and (node := _header(frame, route, kinds)) is not None]


def _ending(frame: Frame) -> Node:
    """What may end an answer."""
    return maybe(Lit(frame.last or frame.ends[0])) if frame.ends else NOTHING


def _between(frame: Frame) -> Node:
    """What ends a message of text and begins the next header."""
    rest = next((frame.between.removeprefix(end) for end in frame.ends if frame.between.startswith(end)), frame.between)
    closed = frame.between != rest
    return Lit((frame.ends[0] if closed else "") + rest)


def _header(frame: Frame, route: Route, kinds: Collection[str]) -> Node | None:
    """The headers that lead to a route, as far as its words are known; None if they cannot be."""
    said = {"channel": route.channel, "recipient": route.recipient, "content": route.content}
    words = {key: "" if word == "*" and key != "channel" else word for key, word in said.items()}
    route = frame.route({key: word for key, word in words.items() if word not in ("", "*")})
    if route.to not in _SAID or "*" in words["recipient"]:
        return None
    never = sorted({other.channel for other in frame.routes if other.to not in kinds} - {"*", route.channel})
    try:
        return header_node(_BEGUN.sub("", frame.header), words, never)
    except NotRegularError:
        return None
