"""What was left in the text of an answer that should not be there: calls, reasoning, a model's own tokens."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from toolfmt import jsontext
from toolfmt.lookup.registry import default_registry
from toolfmt.parsing import parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolfmt.model import ToolDefinition
    from toolfmt.parsing import ParseResult

LOOKED_AT: Final = 16384
"""How many characters of a text are looked at."""
_TOKEN: Final = re.compile(r"<[|｜].{1,40}?[|｜]>", re.DOTALL)


def calls_in(text: str, tools: Sequence[ToolDefinition]) -> tuple[str, ...]:
    """Tell the calls that stand in a text, as the dialect that is found reads them; empty if there are none."""
    result = parse(text[:LOOKED_AT], dialect="auto", tools=tuple(tools))
    return _told(result.dialect, result)


def _told(dialect: str, result: ParseResult) -> tuple[str, ...]:
    calls = [f"{dialect}: {call.name}({jsontext.dumps(call.arguments)})" for call in result.calls]
    broken = [f"{dialect}: {one.name or 'a call'} that cannot be used ({one.reason})" for one in result.failures]
    return (*calls, *broken)


def reasoning_in(text: str) -> str:
    """Find a marker of reasoning; empty if there is none."""
    return next((marker for marker in _reasoning() if marker in text), "")


def token_in(text: str) -> str:
    """Find a token that only a model's template has a use for; empty if there is none."""
    found = _TOKEN.search(text)
    return found[0] if found else ""


@cache
def _reasoning() -> tuple[str, ...]:
    """Give the markers of reasoning in all dialects that no prose has, and that end no turn elsewhere."""
    known = [dialect.syntax for dialect in default_registry() if dialect.syntax is not None]
    ends = {stop.strip() for syntax in known for stop in syntax.stop}
    found = {marker.strip() for syntax in known for pair in syntax.reasoning for marker in pair} - ends
    return tuple(sorted(marker for marker in found if marker.startswith(("<", "["))))
