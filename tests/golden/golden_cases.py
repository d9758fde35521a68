"""Golden cases as text that a person can read: `DIALECT/cases.txt`.

    # parallel: two calls
    source: NousResearch/Hermes-3-Llama-3.1-8B, tool_use
    tools: common
    .
    <tool_call>
    {"name": "get_weather", "arguments": {"city": "Paris"}}
    </tool_call>
    .
    call get_weather {"city": "Paris"}
    text "Done."
    .

Between the first two dots is the answer, to the character; where it holds a line of one dot or characters that
nobody sees, it is a JSON string, and the head says `escaped: true`. Between the last two is all that has to be read
from it: calls with arguments and, after these, what else they have; `text` and `reasoning` as JSON strings; the reasons
of failures and the kinds of notices, each in order. What is not listed is not there. `tools` are a name in
`tools.json`, or JSON; `options` those of `parse`, as JSON.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TOOLS: dict[str, list[dict[str, Any]]] = json.loads((HERE / "tools.json").read_text("utf-8"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One answer, and all that is read from it."""

    dialect: str
    id: str
    note: str
    source: str
    input: str
    tools: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    calls: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    text: str = ""
    reasoning: str = ""
    failures: list[str] = field(default_factory=list[str])
    notices: list[str] = field(default_factory=list[str])


def cases_of(path: Path) -> list[Case]:
    """Read the cases of one file."""
    parts = path.read_text("utf-8").split("\n.\n")
    assert len(parts) % 3 == 1, f"{path}: each case has three lines of one dot"
    assert not parts.pop().strip(), f"{path}: nothing follows the last case"
    return [_case(path.parent.name, *parts[at : at + 3]) for at in range(0, len(parts), 3)]


def all_cases() -> list[Case]:
    """Read the cases of all dialects."""
    return [case for path in sorted(HERE.glob("*/cases.txt")) for case in cases_of(path)]


def _case(dialect: str, head: str, answer: str, expected: str) -> Case:
    title, *lines = head.strip("\n").split("\n")
    name, _, note = title.removeprefix("# ").partition(": ")
    said = dict(line.split(": ", 1) for line in lines)
    tools = said.get("tools", "[]")
    return Case(
        dialect=dialect,
        id=name,
        note=note,
        source=said["source"],
        input=json.loads(answer) if "escaped" in said else answer,
        tools=json.loads(tools) if tools.startswith("[") else TOOLS[tools],
        options=json.loads(said.get("options", "{}")),
        **_expected(expected),
    )


def _expected(lines: str) -> dict[str, Any]:
    found: dict[str, Any] = {"calls": [], "failures": [], "notices": []}
    for line in filter(None, lines.split("\n")):
        kind, _, rest = line.partition(" ")
        if kind == "call":
            name, _, rest = rest.partition(" ")
            arguments, end = json.JSONDecoder().raw_decode(rest)
            more = json.loads(rest[end:]) if rest[end:] else {}
            found["calls"].append({"name": name, "arguments": arguments, **more})
        elif kind in ("text", "reasoning"):
            found[kind] = json.loads(rest)
        else:
            found[f"{kind}s"].append(rest)
    return found
