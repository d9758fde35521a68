"""Misspelt markers: found by correcting them and reading the text again.

<tool_cal>{"name": "f", "arguments": {}}</tool_call>      write <tool_call> instead of '<tool_cal>'
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from html import unescape
from typing import TYPE_CHECKING, Final

from toolfmt.model import ToolDefinition, ToolInvocation
from toolfmt.parsers.mend_tags import TagMender

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from toolfmt.dialect.record import AnyDialect
    from toolfmt.dialect.syntax import Form

LONGEST: Final = 20_000
"""Characters of a text that is read again."""
_MARK: Final = re.compile(
    r"(</?[^<>\s=\"']{1,80}(?:>|(?=[\s=\"']))|&lt;/?[\w|]{2,60}&gt;|\[{1,2}/?\w{3,40}\]{0,2}|✿\w{2,40}✿)"
    r"((?:[\s=\"'][^<>\n]{0,200}>)?)"
)
"""A marker: up to what is in it, and that."""
_CLOSE: Final = 0.75
"""How much of a marker must be right."""
_CALL: Final = ToolInvocation(name="f", arguments={"a": "b"})
_TOOL: Final = ToolDefinition(name="f", parameters={"type": "object", "properties": {"a": {"type": "string"}}})


def misspelt(dialect: AnyDialect, text: str, reads: Callable[[str], bool]) -> str:
    """What to write instead of the misspelt markers of a text; "" unless `reads` finds a call in the corrected text."""
    if dialect.syntax is None or len(text) > LONGEST:
        return ""
    example = str(dialect.calls([_CALL], {_TOOL.name: _TOOL}))
    return respelled(dialect.syntax.forms[0], (), text.strip(), example, reads)


def respelled(form: Form, tools: Iterable[ToolDefinition], raw: str, example: str, reads: Callable[[str], bool]) -> str:
    """What to write instead of the misspelt markers of a call, by those of an `example` and of `tools`."""
    marks = _MARK.findall("\n".join([example, *TagMender(form, tools).tags]))
    slips: dict[str, None] = {}

    def right(found: re.Match[str]) -> str:
        wrote, closes = unescape(found[1]), found[1].startswith(("</", "&lt;/", "[/"))
        same = [word for word, _ in marks if word.startswith(("</", "[/")) == closes]
        near = next(iter(() if found[1] in same else get_close_matches(wrote, same, 1, _CLOSE)), "")
        rest = unescape(found[2])
        if near:
            slips[f"write {near}{rest} instead of {found.group()!r}"] = None
        return f"{near}{rest}" if near else found.group()

    text = _MARK.sub(right, raw)
    return "; ".join(slips) if slips and reads(text) else ""
