r"""Messages with headers: an answer is a row of them, and the header says what each one is.

    <|channel|>analysis<|message|>Simple.<|end|><|start|>assistant to=functions.f<|message|>{}<|call|>
    ^ header                      ^ body ^ end  ^ header                                    ^ body

Inside a body no other marker counts, so that a call that is only quoted is never
made. Plain data, part of a `Syntax`; a call's body is one of its forms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """What a message is, by its header; the first route that fits decides.

    A pattern is exact text, `x.*` for what begins with `x.`, "" for nothing at
    all, `*` for anything.
    """

    to: Literal["text", "reasoning", "call", "raw", "hidden"]
    """`raw`: a call whose body is one argument, as it is."""
    channel: str = "*"
    recipient: str = "*"
    content: str = "*"
    form: int = 0
    """Which form of the syntax reads a call's body."""
    argument: str = "input"
    """The name of a raw call's argument."""

    def name(self, recipient: str) -> str:
        """Give the tool's name: what is in place of a pattern's star, or the whole recipient."""
        return recipient.removeprefix(self.recipient[:-1]) if self.recipient.endswith("*") else recipient


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """The headers of a format."""

    header: str
    """A regular expression (module `regex`) for a whole header, its groups `channel`, `recipient` and `content`."""
    start: str
    """What every header but the first begins with."""
    opens: tuple[str, ...] = ()
    """What only headers begin with, so that a broken one is no text."""
    body: str = "<|message|>"
    """What ends a header."""
    words: tuple[str, ...] = ()
    """The channels and contents that the format knows; what else a call's header says is reported, or fails."""
    ends: tuple[str, ...] = ()
    """Markers that end a body where another header or the end follows."""
    routes: tuple[Route, ...]
    call: str
    """A call's header as it is written, with `{name}`."""
    between: str
    """What is written between two calls, and `last` after the last one."""
    last: str = ""

    def unknown(self, said: Mapping[str, str]) -> str:
        """Find what a header names as its channel or content that the format does not know; "" where all is known."""
        known = {*self.words, "", *(word for route in self.routes for word in (route.channel, route.content))}
        return next((said[key] for key in ("channel", "content") if said.get(key, "") not in known), "")

    def route(self, said: Mapping[str, str]) -> Route:
        """Find where the message goes whose header says this; what no route knows is text."""
        for route in self.routes:
            wanted = (("channel", route.channel), ("recipient", route.recipient), ("content", route.content))
            if all(_fits(said.get(key, ""), pattern) for key, pattern in wanted):
                return route
        return Route(to="text")


def _fits(text: str, pattern: str) -> bool:
    return text.startswith(pattern[:-1]) if pattern.endswith("*") else text == pattern
