"""The tool's name where only an id holds it.

functions.read:0    its name
0, call_3           none: the one tool that takes the arguments is meant
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import regex

from toolfmt.dialect.syntax import name_in_id
from toolfmt.parsers.cursor import Malformed
from toolfmt.schema import extra_arguments, problems

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolfmt.model import JsonObject, ToolDefinition
    from toolfmt.parsers.sink import Draft

_NUMBERED = regex.compile(r"(?:[A-Za-z]{1,16}[_\-]){0,4}[0-9a-f\-]{0,64}[0-9]").fullmatch


def held_name(template: str, text: str, tools: Mapping[str, ToolDefinition]) -> str:
    """The name that an id of this form holds; "" where it is only a number, and tools are known."""
    name = name_in_id(template, text)
    held = name and (name in tools or text.startswith(template.partition("{")[0]) or not _NUMBERED(name))
    return name if held or not tools else ""


def name_by_fit(draft: Draft, arguments: JsonObject, at: int) -> None:
    """Give a call without a name that of the only tool that takes its arguments; raises `Malformed` for none."""
    tools = draft.sink.options.tools.items()
    fits = [name for name, tool in tools if not problems(tool, arguments) and not extra_arguments(tool, arguments)]
    if len(fits) != 1:
        raise Malformed("missing_name", "the call names no tool", at)
    draft.name = fits[0]
    draft.note("alias_used", f"the id names no tool: only {draft.name!r} takes these", draft.start, guessed=True)
    draft.announce()
