"""What `--json` prints has the shape that the reference gives."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from toolfmt.cli.app import app
from toolfmt.workshop.probing.findings import ProbeFinding, Report

sys.path.append(str(Path(__file__).resolve().parents[2] / "docs"))
from json_output import LINES, SHAPES, schema

ANSWER = 'Look.<tool_call>\n{"name": "add", "arguments": {"a": 1, "b": 2}}\n</tool_call>\n<tool_call>{"name": "add"'
TOOLS = "def add(a: int, b: int) -> int:\n    return a + b\n"
CALL = {"id": "1", "type": "function", "function": {"name": "f"}}
CHAT = {"role": "assistant", "content": None, "tool_calls": [CALL]}
COMMANDS = {
    "parse --json": ("parse", "answer.txt"),
    "parse --stream --json": ("parse", "answer.txt", "--chunk", "20", "-d", "hermes"),
    "detect --json": ("detect", "answer.txt"),
    "run --json": ("run", "answer.txt", "--tools", "own_tools.py"),
    "chat --json": ("chat",),
    "check --json": ("check", "rows.jsonl"),
    "stats --json": ("stats", "rows.jsonl"),
    "formats --json": ("formats",),
    "dialects --json": ("dialects",),
    "dialects show --json": ("dialects", "show", "hermes"),
    "providers --json": ("providers",),
    "doctor --json": ("doctor", "template.jinja"),
    "demo --json": ("demo", "hermes"),
}
TEMPLATE = "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"


@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_printed_has_its_schema(
    command: str, run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in (("answer.txt", ANSWER), ("own_tools.py", TOOLS), ("template.jinja", TEMPLATE)):
        Path(name).write_text(text, "utf-8")
    rows = [[CHAT], {"messages": [{"role": "user", "content": "hi"}]}, 3]
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    _, out, _ = run(*COMMANDS[command], "--json")
    values = [json.loads(line) for line in out.splitlines()] if SHAPES[command][1] == LINES else [json.loads(out)]
    assert values
    check = jsonschema_rs.validator_for(schema(command))
    for value in values:
        check.validate(value)


def test_what_probing_prints_has_its_schema() -> None:
    finding = ProbeFinding("lost", "error", "one call", "whole", "a call", "text", ("hermes",))
    report = Report(base_url="http://127.0.0.1:1", model="m", asked=1, findings=(finding,))
    jsonschema_rs.validator_for(schema("probe --json")).validate({"verdict": "x", **report.to_json()})


def test_every_command_that_prints_json_has_a_schema() -> None:
    def printing(here: Any, path: tuple[str, ...]) -> set[str]:
        default = here.default_command
        found = set[str]()
        if default is not None and any("--json" in one.names for one in here.assemble_argument_collection()):
            found.add(" ".join((*path, "--json")))
        return found.union(*(printing(here[name], (*path, name)) for name in here if not name.startswith("-")))

    assert printing(app, ()) == SHAPES.keys() - {"parse --stream --json"}
