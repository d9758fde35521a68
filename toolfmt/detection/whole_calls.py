"""Find answers that are nothing but an attempt at a call, in no format.

    1. search("x")              the name, then brackets up to the end of the answer
    functions.search(query="x   the name, then one of its parameters
    search: x                   the name, then a line of text
    Action - book               a label, then a tool that needs no arguments
    {"query": "x"}              arguments that fit exactly one tool

Words before the name are at most a label. What an answer says beside that makes it an answer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from toolfmt import jsontext
from toolfmt.errors import ParseError
from toolfmt.parsers.compiled.sections import any_of
from toolfmt.parsers.reading.steps import closing
from toolfmt.schema import accepts, property_names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolfmt.model import ToolDefinition

_LONGEST: Final = 8192
"""Characters of an answer that may be a call."""
_FENCED: Final = re.compile(r"`{3,8}[\w+.\-]{0,32}\s(?P<inside>[^`]*)\s`{3,8}")
_MARKUP: Final = re.compile(r"[*`]+|(?m:^[ \t]*(?:[>\-+#]{1,6}|[0-9]{1,3}[.)])[ \t]+)")
"""Emphasis, quotation marks of lines, bullets and numbers."""
_WORD: Final = r"[^\W\d_]\w{0,31}[^\w.!?\n]{1,4}(?:\d{1,3}[^\w!?\n]{1,4})?"
_BEFORE: Final = rf"[\"'\[(<]{{0,4}}(?P<label>(?:{_WORD}){{0,3}}?(?:\w{{1,32}}\.)?)"
_LABEL: Final = re.compile(r"\W*[:=>\u2192\-]\W*\Z").search
_BRACKET: Final = re.compile(r"(?:[(\[]|\s{0,4}\{)").match
_TEXT: Final = re.compile(r"\s?:[ \t]?[^\n:]{1,200}(?<![.!?])").fullmatch
_COMMAND: Final = re.compile(r"[/@!#$](?=\w)").match


def whole_call(text: str, tools: Mapping[str, ToolDefinition]) -> str:
    """Return the name of the tool that an answer calls with all of its text; "" if it is an answer."""
    body = text.strip()
    if len(body) > _LONGEST:
        return ""
    if fenced := _FENCED.fullmatch(body):
        body = fenced["inside"]
    if body.startswith("{"):
        return _only_arguments(body, tools)
    body = _MARKUP.sub("", body).strip()
    if _COMMAND(body) and "\n" not in body:
        return next((name for name in tools if re.match(rf"{re.escape(name)}[\s(]+\S", body[1:])), "")
    return next((name for name in tools if name in body and _is_called(body, tools[name])), "")


def _is_called(body: str, tool: ToolDefinition) -> bool:
    found = re.match(rf"{_BEFORE}[\"']?{re.escape(tool.name)}(?!\w)[\"']?", body)
    if found is None:
        return False
    rest, label = body[found.end() :], found["label"]
    names = list(property_names(tool.parameters))
    bracket = _BRACKET(rest)
    end = None if bracket is None else closing(rest, bracket.end() - 1)
    if end is not None and re.search(r"\w", rest[end:]):
        return False
    named = names and re.match(rf"\W{{1,8}}(?:{any_of(names)})[\"']?\s?[:=]", rest)
    if named and (not label or _LABEL(label) or label.endswith(".")):
        return True
    if label and not _LABEL(label):
        return False
    if label and not rest.strip():
        return not tool.parameters.get("required")
    return bracket is not None or (not label and _TEXT(rest) is not None)


def _only_arguments(body: str, tools: Mapping[str, ToolDefinition]) -> str:
    """Return the only tool whose parameters an object has, all required ones and no others."""
    try:
        arguments = jsontext.loads(body)
    except ParseError:
        return ""
    if not jsontext.is_object(arguments) or not arguments:
        return ""
    fits = [
        name
        for name, tool in tools.items()
        if arguments.keys() <= set(property_names(tool.parameters)) and accepts(tool, arguments)
    ]
    return fits[0] if len(fits) == 1 else ""
