"""The command line under test: every command that reads files of strangers, on a changed file.

Law: a command returns an exit code, and writes what was wrong in a line; nothing is raised.
"""

from __future__ import annotations

import io
import json
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuzz import seeds
from fuzz.mutating import mutated
from fuzz.mutating import text as mutated_text
from toolfmt.cli import main

if TYPE_CHECKING:
    from random import Random

TEMPLATE = """{% for m in messages %}<|{{ m.role }}|>{{ m.content or '' }}{% for call in m.tool_calls or [] %}
<do>{{ call.function.name }}|{{ call.function.arguments | tojson }}</do>{% endfor %}<|fin|>{% endfor %}{{ tools | tojson }}"""
_ROWS = (
    ("view", "FILE"),
    ("view", "FILE", "--out", "OUT.html"),
    ("view", "FILE", "--limit", "3", "--full"),
    ("stats", "FILE"),
    ("stats", "FILE", "--json"),
    ("check", "FILE", "--to", "openai-chat"),
    ("check", "FILE", "--to", "anthropic", "--json"),
    ("convert", "FILE", "--to", "openai-chat", "--on-error", "skip", "--dedup"),
    ("convert", "FILE", "--to", "sharegpt", "--on-error", "quarantine", "--quarantine", "OUT.jsonl"),
    ("convert", "FILE", "--to", "anthropic", "--split", "0-50", "--on-error", "skip"),
    ("convert", "FILE", "--to", "gemini", "--request", "--repair", "drop", "--on-error", "skip", "--out", "OUT.jsonl"),
    (
        "convert",
        "FILE",
        "--to",
        "openai-finetune",
        "--filter",
        "calls>=1",
        "--on-error",
        "skip",
        "--report",
        "OUT.json",
    ),
)
"""Commands that read conversations."""
_TEXTS = (
    ("parse", "FILE", "--tools", "TOOLS"),
    ("parse", "FILE", "--json"),
    ("parse", "FILE", "--json", "--tools", "TOOLS", "--validate", "--repair"),
    ("detect", "FILE"),
    ("detect", "FILE", "--tools", "TOOLS", "--json"),
    ("parse", "FILE", "--dialect-from", "TEMPLATE"),
)
"""Commands that read what a model wrote."""
_TOOLS = (
    ("manifest", "TOOLS"),
    ("manifest", "TOOLS", "--dialect", "qwen3-coder"),
    ("inject", "TEMPLATE", "TOOLS"),
    ("grammar", "--tools", "TOOLS"),
)
"""Commands that read tools."""
_CALLS = (("render", "FILE", "--tools", "TOOLS"), ("render", "FILE", "--results"))
_TEMPLATES = (("prompt", "ROWS", "--template", "TEMPLATE"), ("doctor", "TEMPLATE"), ("doctor", "TEMPLATE", "--json"))
_CALL = [{"name": "f", "arguments": {"s": "x", "l": [{"k": 1.5}]}, "id": "c1"}]
_RESULT = [{"name": "f", "content": {"a": ["</tool_response>", 1, None]}, "id": "c1"}]
COMMANDS = (*_ROWS, *_TEXTS, *_TOOLS, *_CALLS, *_TEMPLATES)


def _lines(chance: Random) -> str:
    rows = [chance.choice(seeds.conversations()) for _ in range(chance.choice((1, 2, 3)))]
    return "\n".join(_json(mutated(row, (), chance) if chance.random() < 0.8 else row) for row in rows)  # noqa: PLR2004 - most


def _json(value: Any) -> str:
    try:
        return value if isinstance(value, str) else json.dumps(value)
    except (RecursionError, ValueError):
        return "[" * 3_000


def made(chance: Random) -> Any:
    """Make a case: the command, and the texts of its files."""
    command = chance.choice(COMMANDS)
    content = _lines(chance)
    if command in _TEXTS:
        content = mutated_text(chance.choice(seeds.answer_texts())[1], chance)
    if command in _CALLS:
        content = _json(mutated(_RESULT if "--results" in command else _CALL, (), chance))
    tools = [{"name": "f", "description": "d", "input_schema": chance.choice(seeds.schemas())}]
    return {
        "command": list(command),
        "FILE": mutated_text(content, chance) if chance.random() < 0.2 else content,  # noqa: PLR2004 - some
        "TOOLS": _json(mutated(tools, seeds.schemas(), chance) if command in _TOOLS else tools),
        "ROWS": _json(chance.choice(seeds.conversations())),
        "TEMPLATE": mutated_text(TEMPLATE, chance) if command in _TEMPLATES else TEMPLATE,
    }


_NAMES = {"FILE": "rows.jsonl", "TOOLS": "tools.json", "ROWS": "row.json", "TEMPLATE": "chat_template.jinja"}


def run(case: Any) -> None:
    """Run the command; raises what it raised, and AssertionError for an exit code of an error without words."""
    out, errors = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2))
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(out), redirect_stderr(errors):
        for key, name in _NAMES.items():
            (Path(folder) / name).write_bytes(case[key].encode("utf-8", "surrogatepass"))
        command: list[str] = case["command"]
        words = [_NAMES.get(word, word) for word in command]
        paths = set(_NAMES.values())
        given = [str(Path(folder) / word) if word in paths or word.startswith("OUT") else word for word in words]
        standard, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO())
        try:
            code = main(given)
        finally:
            sys.stdin = standard
        errors.seek(0)
        said = errors.read()
    if not isinstance(code, int) or (code == 2 and not said) or "Traceback" in said:  # noqa: PLR2004 - an error
        raise AssertionError((code, said[-2_000:]))
