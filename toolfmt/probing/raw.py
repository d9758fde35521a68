"""What was left in the text of an answer that should not be there: calls, reasoning, a model's own tokens.

`toolfmt.probing.raw.calls_in` is where the text's dialect is guessed.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Final

from toolfmt import jsontext
from toolfmt.errors import UnrepresentableError
from toolfmt.parsing import parse
from toolfmt.registry import default_registry
from toolfmt.rendering import render_calls
from toolfmt.syntax import markers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolfmt.dialect import AnyDialect
    from toolfmt.model import ToolDefinition
    from toolfmt.parsing import ParseResult

LOOKED_AT: Final = 16384
"""How many characters of a text are looked at."""
_NO_PROSE: Final = re.compile(r"[<\[(].*\w", re.DOTALL)
_TOKEN: Final = re.compile(r"<[|｜].{1,40}?[|｜]>", re.DOTALL)


def calls_in(text: str, tools: Sequence[ToolDefinition]) -> tuple[str, ...]:
    """Tell the calls that stand in a text, as the dialect reads them that reads most of it and that most models use."""
    text = text[:LOOKED_AT]
    if not text.strip():
        return ()
    registry = default_registry()
    users = Counter([name for _, name in registry.models] + [row.dialect for row in registry.providers])
    found: list[tuple[tuple[int, int, int, bool, int], tuple[str, ...]]] = []
    for dialect in registry:
        marked = _marked(dialect, text)
        if not marked and not _bare(dialect):
            continue
        result = parse(text, dialect=dialect, tools=tuple(tools))
        if result.calls or (result.failures and marked):
            beside = len(result.text.strip())
            likely = _as_written(result, dialect, text), users[dialect.name]
            score = (len(result.calls), -len(result.failures), -beside, *likely)
            found.append((score, _told(dialect.name, result)))
    return max(found, key=lambda one: one[0], default=((), ()))[1]


def _marked(dialect: AnyDialect, text: str) -> bool:
    """Whether a marker of the dialect stands in the text that no prose has."""
    syntax = dialect.syntax
    return syntax is not None and any(_NO_PROSE.match(one) and one in text for one in markers(syntax))


def _bare(dialect: AnyDialect) -> bool:
    """Whether calls of the dialect need no marker."""
    syntax = dialect.syntax
    if syntax is None:
        return False
    framed = syntax.frame is not None and not syntax.frame.opens
    return syntax.bare or framed or any(form.bare or form.offered for form in syntax.forms)


def _as_written(result: ParseResult, dialect: AnyDialect, text: str) -> bool:
    """Whether the first call stands there as the dialect writes it."""
    try:
        return bool(result.calls) and render_calls(result.calls[:1], dialect=dialect).strip() in text
    except UnrepresentableError:
        return False


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
    """Give the markers of reasoning in all dialects that no prose has."""
    found = {
        marker.strip()
        for dialect in default_registry()
        if dialect.syntax is not None
        for pair in dialect.syntax.reasoning
        for marker in pair
    }
    return tuple(sorted(marker for marker in found if marker.startswith(("<", "["))))
