"""Markers that are damaged as a person still reads them are reported without tools, too; a mention of one is not."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

import pytest

import toolfmt
from tests import slips
from toolfmt.events import coalesce

if TYPE_CHECKING:
    from toolfmt.dialect.record import Dialect

ARGUMENTS = {"city": "Oslo", "note": "all done"}
TOOLS = [slips.tool("get_weather", ARGUMENTS)]
OPENED = ("<tool_call>", "<function_calls>", "[TOOL_CALLS]")
DAMAGES = {
    "full-width brackets": lambda text: text.replace("<", "\uff1c").replace(">", "\uff1e"),
    "entities": lambda text: html.escape(text, quote=False),
    "letter case": lambda text: text.replace("tool_call", "Tool_Call").replace("function_calls", "Function_Calls"),
    "an invisible character": lambda text: text.replace("tool_call", "tool\u200b_call").replace("_calls", "_c\xadalls"),
    "no opening bracket": lambda text: text.replace("<tool_call", "tool_call").replace(
        "<function_calls", "function_calls"
    ),
    "in code": lambda text: re.sub(r"^(<\w+>|\[\w+\])", r"`\1`", text),
    "Cyrillic letters": lambda text: text.replace("tool_call", "t\u043e\u043el_call").replace("_calls", "_\u0441alls"),
    "no closing bracket": lambda text: text.replace(">", "") if text.startswith("<") else text.replace("[T", "[[T"),
    "backslashes": lambda text: text.replace("<", r"\<").replace(">", r"\>"),
}


@pytest.mark.parametrize("what", DAMAGES)
def test_a_damaged_marker_is_reported_without_tools(dialect: Dialect[str], what: str) -> None:
    text = slips.written(dialect, [slips.call(dialect, "get_weather", ARGUMENTS)])
    if text is None or not text.startswith(OPENED):
        return
    answer = DAMAGES[what](text)
    result = toolfmt.parse(answer, dialect=dialect)
    for one in result.calls:  # whose own marker is sound, with a damaged one around it
        assert (one.name, one.arguments) == ("get_weather", ARGUMENTS)
    assert result.calls or result.failures or [one for one in result.notices if one.kind == "unread_call"]
    assert tuple(coalesce([*toolfmt.parse_stream([*answer], dialect=dialect)])) == result.events


@pytest.mark.parametrize(
    "said",
    [
        "Calls begin with \uff1ctool_call\uff1e, with get_weather in it.",
        "Write &lt;tool_call&gt; first, then get_weather, then &lt;/tool_call&gt;.",
        "I use the tool\u200b_call and <Tool_Call> markers for get_weather{city}.",
        "The tool_call> marker of get_weather lacks its bracket: <tool_call.",
        "\u300aA tool call\u300b is a book about get_weather.",
        "**get\\_weather** \\<city\\>: see the manual of the tool call.",
    ],
)
@pytest.mark.parametrize("choice", ["hermes", "qwen3-coder", "glm45", "auto"])
def test_a_damaged_marker_that_is_only_mentioned_is_text(said: str, choice: str) -> None:
    for tools in (TOOLS, None):
        result = toolfmt.parse(said, dialect=choice, tools=tools)
        assert (result.text, result.calls, result.failures, result.notices) == (said, (), (), ())


@pytest.mark.parametrize("shown", ["As in `{}`.", "<pre>{}</pre>", "> {}", "Look:\n```\n{}\n```\nThat is how."])
@pytest.mark.parametrize("what", ["full-width brackets", "entities", "letter case"])
def test_a_damaged_call_that_is_shown_is_text(shown: str, what: str) -> None:
    call = '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>'
    answer = shown.replace("{}", DAMAGES[what](call))
    if shown.startswith("<") and what == "letter case":
        return  # the brackets are written as they are, so it is no page
    result = toolfmt.parse(answer, dialect="hermes")
    assert (result.calls, result.failures, result.notices) == ((), (), ())


def test_what_is_wrong_is_named() -> None:
    answer = '\uff1ctool_call\uff1e\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n\uff1c/tool_call\uff1e'
    (noted,) = toolfmt.parse(answer, dialect="hermes").notices
    assert noted.detail.startswith("a marker is misspelt: write <tool_call> instead of '\uff1ctool_call\uff1e'")
    assert noted.span == (0, len(answer))
