"""Measure how calls with a missing closing marker are read: `python -m bench.slips`.

Two calls are written in every dialect whose arguments are elements or raw text, and one closing tag of the first is
left out, each in turn. The result is right if no unintended call is read, the second call is read and the text is kept.
The first call is read as intended, or fails; a call that contains the second's arguments counts as merged.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolfmt import ParseResult, ToolDefinition, ToolInvocation, default_registry, jsontext, parse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolfmt.dialect.record import Dialect

PROPERTIES = {"path": {"type": "string"}, "count": {"type": "integer"}, "text": {"type": "string"}}
TOOLS = [
    ToolDefinition.model_validate({"name": name, "parameters": {"type": "object", "properties": PROPERTIES}})
    for name in ("write", "move")
]
CLOSER = re.compile(
    r"</[^<>\s]+>|\]<\]minimax\[>\[</[^<>\s]+>|<\|close\|>\w+<\|sep\|>|<\|END_\w+\|>|<\|call\|>|<｜\w*▁?\w*end｜>"
)
BEFORE, AFTER = "I will do both.\n", "\nBoth are done."


@dataclass(frozen=True, slots=True)
class Slip:
    """A text in which one closing marker is missing."""

    dialect: Dialect[str]
    missing: str
    text: str
    first: ToolInvocation
    second: ToolInvocation


def slips(dialect: Dialect[str]) -> Iterator[Slip]:
    """Yield two calls with each closing marker of the first left out in turn."""
    server = "local" if dialect.traits.carries_server else None
    first = ToolInvocation(name="write", arguments={"path": "a.txt", "count": 2, "text": "one"}, server=server)
    second = ToolInvocation(name="move", arguments={"path": "b.txt", "text": "two"}, server=server)
    offered = {tool.name: tool for tool in TOOLS}
    both = dialect.calls([first, second], offered)
    framed = dialect.syntax is not None and dialect.syntax.frame is not None
    text = both if framed else BEFORE + both + AFTER
    until = text.index("move") - 1
    for found in CLOSER.finditer(text):
        if found.end() > until:
            break
        yield Slip(dialect, found.group(), text[: found.start()] + text[found.end() :], first, second)


def same(one: ToolInvocation, other: ToolInvocation) -> bool:
    """Whether two calls are of the same tool with the same arguments."""
    return one.name == other.name and jsontext.equal(one.arguments, other.arguments)


def judge(slip: Slip, result: ParseResult) -> str:
    """Return what happened to the two calls."""
    if any(not same(call, slip.first) and not same(call, slip.second) for call in result.calls):
        return "a wrong call"
    if not any(same(call, slip.second) for call in result.calls):
        return "the second is lost"
    if not any(same(call, slip.first) for call in result.calls) and not result.failures:
        return "the first is lost"
    if BEFORE not in slip.text:
        pass
    elif BEFORE.strip() not in result.text or (AFTER.strip() not in result.text and not _ended(slip, result)):
        return "the text is lost"
    return "both" if any(same(call, slip.first) for call in result.calls) else "the second"


def _ended(slip: Slip, result: ParseResult) -> bool:
    """Whether nothing follows the calls in this dialect."""
    syntax = slip.dialect.syntax
    return syntax is not None and (
        syntax.ends_after_calls
        or bool(syntax.frame)
        or any(AFTER.strip() in notice.detail for notice in result.notices)
    )


def main(names: list[str]) -> None:
    """Print the result of each slip, and the sums."""
    counts: Counter[str] = Counter()
    for dialect in default_registry():
        syntax = dialect.syntax
        if syntax is None or not dialect.traits.parallel or (names and dialect.name not in names):
            continue
        if not any(form.elements or form.payload or "{yaml}" in form.call for form in syntax.forms[:1]):
            continue
        for slip in slips(dialect):
            result = parse(slip.text, dialect=dialect, tools=TOOLS)
            verdict = judge(slip, result)
            counts[verdict] += 1
            if names or verdict not in {"both", "the second"}:
                calls = [(call.name, call.arguments) for call in result.calls]
                print(f"{dialect.name:14} {slip.missing:24} {verdict:20}", calls if verdict[0] == "a" else "")
                if names:
                    print(f"    {slip.text!r}\n    {calls} {result.failures} {result.notices} {result.text!r}")
    total = sum(counts.values())
    print(f"{total} slips:", ", ".join(f"{kind} {count}" for kind, count in counts.most_common()))


if __name__ == "__main__":
    main(sys.argv[1:])
