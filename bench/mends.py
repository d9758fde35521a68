"""Measure how calls with one slip are read with `repair=True`: `python -m bench.mends [DIALECT ...] [--show VERDICT]`.

A call is written in every dialect, with one slip outside its values: a bracket, quote, tag or part of one missing
or misspelt, keys have no quotes, Python's words are in JSON or JSON's in Python, there are comments or a code fence. The
correct result is the intended call, or no call. A second call follows the first, and must be read as well.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from typing import TYPE_CHECKING

from tests.slips import misspelt
from toolfmt import default_registry, jsontext, parse
from toolfmt.errors import UnrepresentableError
from toolfmt.model import ToolDefinition, ToolInvocation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolfmt.dialect.record import Dialect

_PROPERTIES = {
    "path": {"type": "string"},
    "count": {"type": "integer"},
    "flag": {"type": "boolean"},
    "tags": {"type": "array", "items": {"type": "string"}},
}
VALUES = ("notes/a b.txt", "red", "green")
TOOLS = [
    ToolDefinition.model_validate({"name": name, "parameters": {"type": "object", "properties": _PROPERTIES}})
    for name in ("write", "move")
]


def meant(dialect: Dialect[str]) -> tuple[ToolInvocation, ToolInvocation]:
    """The two calls that are written."""
    server = "local" if dialect.traits.carries_server else None
    given = {"path": "notes/a b.txt", "count": 3, "flag": True, "tags": ["red", "green"]}
    one = ToolInvocation(name="write", arguments=given, server=server)
    return one, ToolInvocation(name="move", arguments={"path": "notes/a b.txt"}, server=server)


def same(one: ToolInvocation, other: ToolInvocation) -> bool:
    """Whether two calls are of the same tool with the same arguments."""
    return one.name == other.name and jsontext.equal(one.arguments, other.arguments)


def judge(dialect: Dialect[str], text: str, calls: Sequence[ToolInvocation], *, repair: bool, tools: bool) -> str:
    """Return the verdict: "right", "none", "one lost" or "WRONG"."""
    result = parse(text, dialect=dialect, tools=TOOLS if tools else None, repair=repair)
    if any(not any(same(call, each) for each in calls) for call in result.calls):
        return "WRONG"
    if len(result.calls) > len(calls):
        return "WRONG"
    found = all(any(same(call, each) for call in result.calls) for each in calls)
    return "right" if found else "none" if not result.calls else "one lost"


def main(arguments: Sequence[str]) -> None:
    """Print the counts without and with repair, and the texts of a verdict."""
    parser = argparse.ArgumentParser(prog="python -m bench.mends", description=__doc__)
    parser.add_argument("dialects", nargs="*")
    parser.add_argument("--show", default="", help="print the texts of which this became")
    parser.add_argument("--slip", default="", help="only slips of this kind")
    parser.add_argument("--untold", action="store_true", help="without the tools' schemas")
    options = parser.parse_args(arguments)
    counts: Counter[tuple[str, str]] = Counter()
    kinds: Counter[tuple[str, str]] = Counter()
    for dialect in default_registry():
        if dialect.syntax is None or (options.dialects and dialect.name not in options.dialects):
            continue
        if options.untold and (dialect.traits.needs_tools or not dialect.traits.carries_types):
            continue
        calls = meant(dialect)[: 1 + dialect.traits.parallel]
        offered = {tool.name: tool for tool in TOOLS}
        try:
            text = dialect.calls(calls, offered)
        except UnrepresentableError:
            continue
        end = text.find("move") if len(calls) > 1 else len(text)
        for slip in misspelt(text[:end], VALUES):
            if options.slip not in slip.what:
                continue
            cut = slip.what == "a cut"
            broken, wanted = (slip.text, calls[:1]) if cut else (slip.text + text[end:], calls)
            before = judge(dialect, broken, wanted, repair=False, tools=not options.untold)
            after = judge(dialect, broken, wanted, repair=True, tools=not options.untold)
            counts[before, after] += 1
            kinds[slip.what, after] += 1
            if options.show in {after, f"{before}-{after}"}:
                print(f"## {dialect.name}: {slip.what}: {before} -> {after}\n{broken!r}")
                result = parse(broken, dialect=dialect, tools=None if options.untold else TOOLS, repair=True)
                print("  ", [(call.name, call.arguments, call.certainty) for call in result.calls])
                print("  ", [(each.reason, each.detail, each.raw) for each in result.failures])
    for (before, after), count in counts.most_common():
        print(f"{count:6} {before} -> {after}")
    for what in sorted({what for what, _ in kinds}):
        row = {after: count for (kind, after), count in kinds.items() if kind == what}
        print(f"{what:30}", row)
    print(
        "with repair:",
        dict(Counter({k: sum(c for (_, a), c in counts.items() if a == k) for k in {a for _, a in counts}})),
    )


if __name__ == "__main__":
    main(sys.argv[1:])
