"""Detection of a whole text's dialect, without reading its calls, and of what looks like a call and was not read."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from toolfmt import jsontext
from toolfmt.detection.detector import Detector
from toolfmt.detection.records import Detection
from toolfmt.detection.table import table
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.lookup.registry import Registry, default_registry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolfmt.model import JsonValue, ToolDefinition


_READ: Final = 65536
"""How many characters are looked at for a hint."""
_NAMED: Final = 5
"""How many dialects a hint names."""


def detect(text: str, tools: object = None, registry: Registry | None = None) -> Detection:
    """Detect the dialect of the first call in a text.

    `tools` are the offered tools, as for `parse`: formats without a marker are recognised by the tools' names.
    `registry` replaces the process-wide one. For a text without a call, or one that only quotes calls (code, a
    quotation, a manifest), the `dialect` of the `Detection` is "".
    """
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance] - a caller may not check types
        advice = ": decode bytes first" if isinstance(text, bytes) else ""
        raise TypeError(f"a text is a str, not {type(text).__name__}{advice}")
    if registry is None:
        registry = default_registry()
    elif not isinstance(registry, Registry):  # pyright: ignore[reportUnnecessaryIsInstance] - as above
        raise TypeError(f"registry= takes a toolfmt.Registry, not {type(registry).__name__}")
    return _detected(text, registry, tools)


def lookalikes(text: str, tools: object = None) -> list[str]:
    """Name the dialects of which a text seems to hold a call, or to show one: a hint for who chose another.

    The likeliest come first; no more than a few are named.
    """
    return [one.dialect for one in _detected(text[:_READ], default_registry(), tools, lenient=True).candidates[:_NAMED]]


def _detected(text: str, registry: Registry, tools: object, *, lenient: bool = False) -> Detection:
    offered: Mapping[str, ToolDefinition] = {}
    if tools:
        from toolfmt.tools.prepared import prepared

        offered = prepared(tools)
    detector = Detector(table(registry), offered, lenient=lenient)
    detector.read(text)
    if detector.found is None:
        detector.read("", eof=True)
    return detector.found or Detection()


_LONGEST: Final = 65536
"""Characters of a text that are looked at for an expression."""
_EVENTS: Final = re.compile(r"\s{0,64}(?:event:[^\n]{0,256}\n)?data:\s{0,8}\{")
_EXPRESSION: Final = re.compile(r"[^\W\d][\w.]{0,255}\(.*\)", re.DOTALL)
_MEMBERS: Final = ("choices", "candidates", "output", "steps")
"""What holds the message in the answers of APIs, besides `message` and `content`."""


@dataclass(frozen=True, slots=True)
class Unread:
    """What a text looks like; `dialects` are the likeliest formats, where it looks like a call."""

    kind: Literal["api", "stream", "dialect", "expression"]
    dialects: tuple[str, ...] = ()

    def advice(self, dialect: str = "") -> str:
        """Say how the text is read in Python, where it was read as `dialect`; "" if it was read as it should be."""
        if self.kind == "api":
            return "it looks like an API's answer: toolfmt.read_answer(json.loads(text)) reads it"
        if self.kind == "stream":
            return "it looks like an API's stream: toolfmt.read_stream reads the JSON after each 'data:'"
        if self.kind == "expression":
            return "it looks like a call without a list around it: dialect='pythonic' reads [name(key=value)]"
        others = [name for name in self.dialects if name != dialect]
        return f"it looks like {' or '.join(others)}: give dialect={others[0]!r}" if others else ""


def unread(text: str, tools: object = None) -> Unread | None:
    """Say what a text without a call looks like; None if it looks like plain text."""
    stripped = text.strip()
    if _EVENTS.match(stripped):
        return Unread("stream")
    if _is_answer(stripped):
        return Unread("api")
    found = tuple(lookalikes(text, tools))
    if found:
        return Unread("dialect", found)
    return Unread("expression") if _is_call(stripped) else None


def _is_answer(text: str) -> bool:
    if not (text.startswith("{") and text.endswith("}")):
        return False
    try:
        value = jsontext.loads(text)
    except ParseError:
        return False
    if not is_object(value):
        return False
    message, content = value.get("message"), value.get("content")
    return any(_holds(value.get(name)) for name in _MEMBERS) or _has(message, "role") or _typed(content)


def _holds(value: JsonValue) -> bool:
    """Whether a value may be what an answer's message is in: a list of objects, or an object with a message."""
    return is_array(value) and bool(value) and all(map(is_object, value)) if is_array(value) else _has(value, "message")


def _has(value: JsonValue, key: str) -> bool:
    return is_object(value) and key in value


def _typed(value: JsonValue) -> bool:
    return is_array(value) and bool(value) and all(_has(one, "type") for one in value)


def _is_call(text: str) -> bool:
    """Whether a text is one Python call with keywords, or several on lines of their own."""
    if len(text) > _LONGEST or not _EXPRESSION.fullmatch(text):
        return False
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return all(
        isinstance(one, ast.Expr) and isinstance(one.value, ast.Call) and bool(one.value.keywords) for one in body
    )
