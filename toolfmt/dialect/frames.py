r"""Formats whose answers are messages with headers; the header says what each message is.

    <|channel|>analysis<|message|>Simple.<|end|><|start|>assistant to=functions.f<|message|>{}<|call|>
    ^ header                      ^ body ^ end  ^ header                                    ^ body

Inside a body no other marker counts, so a quoted call is never read as a call. Plain data, part of a `Syntax`; a
call's body is one of its forms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """Maps a header to the kind of its message; the first matching route decides.

    A pattern is exact text, `x.*` for text that begins with `x.`, "" for no text, or `*` for any text.
    """

    to: Literal["text", "reasoning", "call", "raw", "hidden"]
    """`raw`: a call whose whole body is one argument."""
    channel: str = "*"
    recipient: str = "*"
    content: str = "*"
    argument: str = "input"
    """The name of a raw call's argument."""

    def name(self, recipient: str) -> str:
        """Return the tool's name: the text that matches the pattern's star, or the whole recipient."""
        return recipient.removeprefix(self.recipient[:-1]) if self.recipient.endswith("*") else recipient


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """The headers of a format."""

    header: str
    """A regular expression (module `regex`) for a whole header, its groups `channel`, `recipient` and `content`."""
    start: str
    """The text that begins every header but the first."""
    opens: tuple[str, ...] = ()
    """Markers that begin only headers, so that a broken header is not text."""
    body: str = "<|message|>"
    """The marker that ends a header."""
    words: tuple[str, ...] = ()
    """The known channels and contents; any other in a call's header is reported or makes the call a failure."""
    ends: tuple[str, ...] = ()
    """Markers that end a body if another header or the end follows."""
    routes: tuple[Route, ...]
    call: str
    """The header to write for a call, with `{name}`."""
    between: str
    """The text written between two calls; `last` follows the last call."""
    last: str = ""

    def unknown(self, fields: Mapping[str, str]) -> str:
        """Return the unknown channel or content of a header; "" if both are known."""
        known = {*self.words, "", *(word for route in self.routes for word in (route.channel, route.content))}
        return next((fields[key] for key in ("channel", "content") if fields.get(key, "") not in known), "")

    def route(self, fields: Mapping[str, str]) -> Route:
        """Return the route of a header; a message that no route matches is text."""
        for route in self.routes:
            wanted = (("channel", route.channel), ("recipient", route.recipient), ("content", route.content))
            if all(_fits(fields.get(key, ""), pattern) for key, pattern in wanted):
                return route
        return Route(to="text")


def _fits(text: str, pattern: str) -> bool:
    return text.startswith(pattern[:-1]) if pattern.endswith("*") else text == pattern
