"""Failures of calls that could not be read, so that a run does not end on one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from toolfmt import jsontext
from toolfmt.agents.drivers.asking import ModelAnswer
from toolfmt.agents.output import unfenced
from toolfmt.correcting import without_advice
from toolfmt.detection.damaged import damaged_call
from toolfmt.detection.misnamed import misnamed_call
from toolfmt.detection.unread_calls import UNREAD, is_shown, unread_call
from toolfmt.dialect.syntax import Syntax
from toolfmt.errors import ParseError
from toolfmt.events import CallFailed
from toolfmt.model import ToolDefinition
from toolfmt.parsers.reading.steps import dressed
from toolfmt.parsing import ParseResult, call_reader
from toolfmt.schema import property_names

_STRAY: Final = frozenset({"stray_closer", "stray_header"})
_TOKEN: Final = re.compile(r"<\|\w{2,40}\|>")
"""A special token, which no text has."""
_EMPTY: Final = {
    "after_end": "the answer ends before it says anything",
    "empty_calls": "the markers of a call hold no call",
}
"""What is wrong with an answer without text, by its notice."""
_STRUCTURE: Final = frozenset(">}])")
"""What a call may end with before its closer."""


def with_unread(
    result: ParseResult,
    text: str,
    tools: Sequence[ToolDefinition],
    syntax: Syntax | None = None,
    *,
    typed: bool = False,
) -> ParseResult:
    """Add a failure if an answer without a call looks like one; `text` is the answer as the model wrote it.

    With `typed`, JSON is an answer: whether it fits is checked later.
    """
    looked = result.text if result.text.strip() else text  # a call drafted in closed reasoning is no call
    if not tools or result.calls or result.failures or (typed and _is_json(looked)):
        return result
    offered = {tool.name: tool for tool in tools}
    read = call_reader(offered)
    found = unread_call(looked, offered, read) or _closed(result, text, tools)
    if found is not None:
        said = [
            without_advice(one.detail) for one in result.notices if one.kind == UNREAD and found[1] not in one.detail
        ]
        detail = ": ".join([f"it looks like a call of {found[1]!r}, but not in the expected format", *said])
        reason, raw = UNREAD, found[0]
    elif not result.text.strip() and (empty := {one.kind for one in result.notices} & _EMPTY.keys()):
        reason, raw, detail = "missing_answer", text, _EMPTY[min(empty)]
    elif syntax is not None and syntax.lines == "steps" and (label := _label(result.text, text, syntax)):
        reason, raw, detail = UNREAD, text, f"no call can be read after {label!r}"
    elif (misnamed := misnamed_call(looked, offered, result.dialect, read)) is not None:
        reason, (raw, detail) = "unknown_tool", misnamed
    elif (damaged := damaged_call(looked, offered, result.dialect, read)) is not None:
        reason, (raw, detail) = UNREAD, damaged
    else:
        return result
    start = max(0, text.find(raw))
    failure = CallFailed(0, raw, reason, detail, (start, start + len(raw)))
    return ParseResult((*result.events, failure), result.dialect, result.detection)


def nothing_in(answer: ModelAnswer) -> str:
    """Say what an answer without text and calls has instead; "" for any other, and for one that a filter ended."""
    result = answer.result
    if result.ended or result.text.strip() or answer.info.stop == "content_filter":
        return ""
    return "the answer has only reasoning" if result.reasoning.strip() else "the answer is empty"


def _is_json(text: str) -> bool:
    try:
        jsontext.loads(unfenced(text))
    except ParseError:
        return False
    return True


def _label(text: str, whole: str, syntax: Syntax) -> str:
    """Return the label of a step in the text of an answer without a label of its own.

    A word with a number may be before it. In code or a quotation after other text it is shown.
    """
    if any(re.search(f"^[ \t]*{dressed(opener)}", whole, re.MULTILINE) for opener, _ in syntax.unwrap):
        return ""
    labels = "|".join(dressed(line.partition("{")[0]) for line in syntax.forms[0].call.split("\n"))
    for found in re.finditer(
        rf"^[^\w\n]*(?:\w{{1,20}} ?\d{{0,3}}[^\w\n]{{1,8}})?(?P<label>{labels})", text, re.MULTILINE
    ):
        if not text[: found.start()].strip() or not is_shown(text, found.start("label")):
            return found["label"]
    return ""


def _closed(result: ParseResult, text: str, tools: Sequence[ToolDefinition]) -> tuple[str, str] | None:
    """Find a call without its beginning, by a stray marker of the format.

    The marker names a tool, or structure with the name of a tool or of an argument is before it.
    """
    starts = {word: tool.name for tool in tools for word in (*property_names(tool.parameters), tool.name)}
    word = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, starts))})(?!\w)")
    closers = [(text, *notice.span) for notice in result.notices if notice.kind in _STRAY]
    tokens = [(result.text, *found.span()) for found in _TOKEN.finditer(result.text)]
    for source, start, end in (*closers, *tokens):
        before = source[:start].rstrip()
        begun = before.rfind("\n\n") + 1
        named = word.search(source, start, end)
        found = word.search(before, begun) if before[-1:] in _STRUCTURE else named
        if found is not None and not is_shown(source, start):
            return source[begun:end].strip(), starts[found.group()]
    return None
