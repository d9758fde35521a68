"""Detects the dialect of a whole text without reading its calls, and what an unread text looks like."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from toolfmt import jsontext
from toolfmt.arguments import checked
from toolfmt.detection.detector import Detector
from toolfmt.detection.records import Detection
from toolfmt.detection.table import table
from toolfmt.errors import ParseError
from toolfmt.events import CallEnd, CallFailed
from toolfmt.jsontext import is_array, is_object
from toolfmt.lookup.registry import Registry, default_registry
from toolfmt.model import JsonObject, JsonValue, ToolDefinition

Read = Callable[[str, str], Sequence[CallEnd | CallFailed]]


_READ: Final = 65536
"""Characters that are searched for a hint."""
_NAMED: Final = 5
"""Dialects in a hint."""


@checked
def detect(text: str, tools: object = None, registry: Registry | None = None) -> Detection:
    """Detect the dialect of the first call in a text.

    `tools` are the offered tools, as for `parse`: formats without a marker are recognised by the tools' names.
    `registry` replaces the process-wide one. For a text without a call, or one that only quotes calls (code, a
    quotation, a manifest), the `dialect` of the `Detection` is "".
    """
    return _detected(text, registry or default_registry(), tools)


@checked
def lookalikes(text: str, tools: object = None) -> list[str]:
    """Name the dialects of which a text seems to contain or show a call: a hint for users of another dialect.

    The likeliest are first; only a few are named.
    """
    return [one.dialect for one in _detected(text[:_READ], default_registry(), tools, lenient=True).candidates[:_NAMED]]


def _detected(text: str, registry: Registry, tools: object, *, lenient: bool = False) -> Detection:
    offered: Mapping[str, ToolDefinition] = {}
    if tools:
        from toolfmt.tools.reading import prepared

        offered = prepared(tools)
    detector = Detector(table(registry), offered, lenient=lenient)
    detector.read(text)
    if detector.found is None:
        detector.read("", eof=True)
    return detector.found or Detection()


def other_format(text: str, dialect: str, read: Read) -> str:
    """Name the likeliest format that reads a call in a text that `dialect` reads none in; "" if there is none."""

    def reads(name: str) -> bool:
        return any(isinstance(event, CallEnd) for event in read(text, name))

    known = dialect in default_registry()  # else it is the user's own
    return "" if known and reads(dialect) else next(filter(reads, lookalikes(text)), "")


_LONGEST: Final = 65536
"""Characters of the longest text that may be an expression."""
_EVENTS: Final = re.compile(r"\s{0,64}(?:event:[^\n]{0,256}\n)?data:\s{0,8}\{")
_FENCE: Final = re.compile(r"^```(\w{0,32})\n(?P<inside>[^`]*)\n```", re.MULTILINE)
_TOOL: Final = re.compile("tool|func|call").search
"""The word of a code fence that is no language's."""
_EXPRESSION: Final = re.compile(r"[^\W\d][\w.]{0,255}\(.*\)", re.DOTALL)
_MEMBERS: Final = ("choices", "candidates", "output", "steps")
"""Keys of the message in answers of APIs, besides `message` and `content`."""


_ADVICE: Final = {
    "api": "it looks like an API's answer: toolfmt.read_answer(json.loads(text)) reads it",
    "error": "it looks like an API's error, not an answer of a model",
    "stream": "it looks like an API's stream: toolfmt.read_answer(text) reads it",
    "expression": "it looks like a call without a list around it: dialect='pythonic' reads [name(key=value)]",
    "fence": "it looks like Python calls in a code fence: dialect='pythonic' reads [name(key=value)] without a fence",
}
"""How to read what is in no format of calls."""


@dataclass(frozen=True, slots=True)
class Unread:
    """What a text looks like; `dialects` are the likeliest ones if it looks like a call."""

    kind: Literal["api", "error", "stream", "dialect", "expression", "fence"]
    dialects: tuple[str, ...] = ()

    def advice(self, dialect: str = "") -> str:
        """Return how to read the text in Python after it was read as `dialect`; "" if that was right."""
        if self.kind != "dialect":
            return _ADVICE[self.kind]
        if not self.dialects:
            return "it looks like a call that no format reads as it is"
        others = [name for name in self.dialects if name != dialect]
        return f"it looks like {' or '.join(others)}: give dialect={others[0]!r}" if others else ""


def unread(text: str, tools: Sequence[ToolDefinition] = (), read: Read | None = None) -> Unread | None:
    """Return what a text without a call looks like; None for plain text.

    With `read`, which reads calls in the dialect of a name, dialects are named that find a call, if only a broken one.
    """
    stripped = text.strip()
    if _EVENTS.match(stripped):
        return Unread("stream")
    if kind := _api_object(stripped):
        return Unread(kind)
    if found := lookalikes(text, tools):
        return Unread("dialect", tuple(name for name in found if read is None or read(text, name)))
    if _is_call(stripped):
        return Unread("expression")
    names = [tool.name for tool in tools]
    blocks = (one["inside"] for one in _FENCE.finditer(text[:_READ]) if tools or _TOOL(one[1]))
    return Unread("fence") if any(_is_call(block.strip(), names) for block in blocks) else None


def _api_object(text: str) -> Literal["api", "error", ""]:
    """Return whether a text is an API's answer or error; "" for anything else."""
    if not (text.startswith(("{", "[")) and text.endswith(("}", "]"))):
        return ""
    try:
        value = jsontext.loads(text)
    except ParseError:
        return ""
    if is_array(value) and len(value) == 1:
        return "error" if is_object(value[0]) and is_error(value[0]) else ""  # a failed stream of Gemini
    if not is_object(value):
        return ""
    content = value.get("content")
    typed = is_array(content) and bool(content) and all(_has(one, "type") for one in content)
    if typed or _has(value.get("message"), "role") or any(_holds(value.get(name)) for name in _MEMBERS):
        return "api"
    return "error" if is_error(value) else ""


def is_error(value: JsonObject) -> bool:
    """Whether an object is an API's error: one with a message and what marks it, or its text alone."""
    error = value.get("error")
    marked = value.get("object") == "error" or value.get("type") == "error" or "__type" in value
    said = _has(error, "message") or (isinstance(error, str) and len(value) == 1)
    return said or (marked and isinstance(value.get("message"), str))


def _holds(value: JsonValue) -> bool:
    """Whether a value may hold an answer's message: a list of objects, or an object with a message."""
    return bool(value) and all(map(is_object, value)) if is_array(value) else _has(value, "message")


def _has(value: JsonValue, key: str) -> bool:
    return is_object(value) and key in value


def _is_call(text: str, tools: Collection[str] = ()) -> bool:
    """Whether a text is one Python call with keywords, or several on lines of their own; of `tools`, if given."""
    if len(text) > _LONGEST or not _EXPRESSION.fullmatch(text):
        return False
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    calls = [_printed(one.value) for one in body if isinstance(one, ast.Expr)]
    return len(calls) == len(body) and all(
        isinstance(call, ast.Call) and (ast.unparse(call.func) in tools if tools else bool(call.keywords))
        for call in calls
    )


def _printed(value: ast.expr) -> ast.expr:
    """Return what an expression prints, or the expression."""
    match value:
        case ast.Call(func=ast.Name(id="print"), args=[inner]):
            return inner
        case _:
            return value
