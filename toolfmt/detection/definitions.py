r"""Recognises definitions of tools in a text: the calls after them are examples.

    {"name": "get_weather", "description": "...", "parameters": {"type": "object", "properties": {...}}}

An answer has no reason to contain these; a quoted manifest does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from toolfmt.model import ToolDefinition

MARKS: Final = frozenset(
    {
        *("<tools>", "<functions>", "<available_tools>", "</tools>", "</functions>", "</available_tools>"),
        *("<parameters>", "functions {"),
    }
)
"""What is in a tool's definition, and in no answer."""
_KEYS: Final = ('"properties"', '"inputSchema"', '"input_schema"', '"parameter_definitions"', '"$schema"')
"""The same in JSON; searched only once there is a call after it."""
_HEADING = re.compile(
    r"\n(?:#{1,6} (?:[Aa]vailable )?(?:[Tt]ools|[Ff]unctions)|(?:AVAILABLE )?(?:TOOLS|FUNCTIONS|EXAMPLES):?)"
    r"[ \t]{0,8}\n"
)
_EXAMPLE = re.compile(
    r"(?:#{1,6}[^\n]*\b[Ee]xamples?\b[^\n]*|[*_]{0,2}(?:[Ee]xamples?|EXAMPLES?)(?: \d{1,3})?[*_]{0,2}:[*_]{0,2})"
)
_TELLING: Final = 12
"""Characters from which on a description is not in an answer by chance."""


def shows_definitions(text: str, tools: Iterable[ToolDefinition]) -> bool:
    """Whether a text without `MARKS` declares tools: by a schema's keys, headings, or an offered one's description."""
    if any(key in text for key in _KEYS) or any(
        len(tool.description) >= _TELLING and tool.description in text for tool in tools
    ):
        return True
    last = text.rstrip().rpartition("\n")[2]
    return _EXAMPLE.fullmatch(last.strip()) is not None or _HEADING.search(f"\n{text}\n") is not None
