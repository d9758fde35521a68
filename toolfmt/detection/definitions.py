r"""Whether a text shows the definitions of tools: then the calls behind them are examples.

    {"name": "get_weather", "description": "...", "parameters": {"type": "object", "properties": {...}}}

A model that answers has no reason to write these; who quotes a manifest has.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from toolfmt.model import ToolDefinition

_SHOWN = re.compile(
    r'"(?:properties|inputSchema|input_schema|parameter_definitions|\$schema)"\s{0,8}:\s{0,8}[{\[]'
    r"|<(?:tools|functions|available_tools)>|</(?:tools|functions|available_tools)>"
    r"|\bnamespace functions \{|<parameters>\s{0,64}<"
    r"|<(?:arg|parameter|param)\b[^<>]{0,256}\srequired="
    r"|^(?:#{1,6} (?:[Aa]vailable )?(?:[Tt]ools|[Ff]unctions)|(?:AVAILABLE )?(?:TOOLS|FUNCTIONS|EXAMPLES):?)[ \t]{0,8}$",
    re.MULTILINE,
)
_EXAMPLE = re.compile(
    r"(?:#{1,6}[^\n]*\b[Ee]xamples?\b[^\n]*|[*_]{0,2}(?:[Ee]xamples?|EXAMPLES?)(?: \d{1,3})?[*_]{0,2}:[*_]{0,2})"
)
_TELLING: Final = 12
"""A description of so many characters does not stand in an answer by chance."""


def shows_definitions(text: str, tools: Iterable[ToolDefinition]) -> bool:
    """Whether tools are declared in the text: by the marks of a manifest, or an offered one by its own description."""
    last = text.rstrip().rpartition("\n")[2]
    if _SHOWN.search(text) or _EXAMPLE.fullmatch(last.strip()):
        return True
    return any(len(tool.description) >= _TELLING and tool.description in text for tool in tools)
