"""`toolfmt stats`: formats, roles, tools, calls and their failures."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., tuple[int, str, str]]

TOOLS = [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in ("sky", "sea")]


def call(identity: str, name: str, arguments: str = "{}") -> dict[str, object]:
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": arguments}}


CHATS = [
    {
        "tools": TOOLS,
        "messages": [
            {"role": "user", "content": "?"},
            {"role": "assistant", "tool_calls": [call("a", "sky"), call("b", "sky", '{"x":'), call("c", "odd")]},
            {"role": "tool", "tool_call_id": "b", "content": "1"},
            {"role": "tool", "tool_call_id": "z", "content": "2"},
        ],
    },
    {
        "model": "claude",
        "system": "S",
        "messages": [
            {"role": "user", "content": "?"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "sky", "input": {}}]},
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "a", "content": "no", "is_error": True}],
            },
        ],
    },
]


def test_everything_is_counted(run: Run) -> None:
    text = "".join(json.dumps(one) + "\n" for one in CHATS) + "{bad\n"
    code, out, err = run("stats", "--json", stdin=text)
    assert code == 1
    assert err.splitlines()[-1] == "toolfmt: 2 conversations, 1 unreadable"
    found = json.loads(out)
    assert found == {
        "conversations": 2,
        "unreadable": 1,
        "unreadable_because": [
            {
                "times": 1,
                "first": {"file": "<stdin>", "line": 3, "reason": "a key without double quotes at line 1, column 2"},
            }
        ],
        "results_of_no_call": 1,
        "damaged_lines": 0,
        "endings": {},
        "formats": {"openai-chat": 1, "anthropic": 1},
        "messages": {"user": 3, "assistant": 2, "tool": 2, "system": 1},
        "tools": {
            "sky": {"declared": 1, "calls": 3, "results": 2, "errors": 1, "broken": 1, "unanswered": 1},
            "odd": {"declared": 0, "calls": 1, "results": 0, "errors": 0, "broken": 0, "unanswered": 1},
            "sea": {"declared": 1, "calls": 0, "results": 0, "errors": 0, "broken": 0, "unanswered": 0},
        },
    }
    code, out, err = run("stats", stdin=text)
    assert code == 1
    assert ["sky", "1", "3", "2", "1", "1", "1"] in [line.split() for line in out.splitlines()]
    assert "toolfmt: 1 result answers no call" in err


def test_more_processes_count_the_same(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "in.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in CHATS) * 2500, "utf-8")
    assert file.stat().st_size > 2 << 20
    one, two = run("stats", file, "--json"), run("stats", file, "--json", "--jobs", 2)
    assert one == two
    assert json.loads(one[1])["tools"]["sky"]["calls"] == 7500
    assert run("stats", file, "--from", "openai-chat", "--json")[0] == 1, "half of them are Anthropic's"


def test_mistakes_are_one_line(run: Run) -> None:
    for arguments in (("--from", "opanai-chat"), ("nowhere.jsonl",), ("--jobs", "0")):
        code, out, err = run("stats", *arguments, stdin="[]")
        assert (code, out, err.count("\n")) == (2, "", 1)


@pytest.mark.parametrize("command", [["stats"], ["check"], ["convert", "--to", "anthropic"], ["view"]])
def test_a_row_that_is_no_conversation_is_named_with_its_line_and_the_option(
    run: Run, tmp_path: Path, command: list[str]
) -> None:
    file = tmp_path / "in.jsonl"
    file.write_text('{"foo": 1}\n', "utf-8")
    code, out, err = run(*command, file)
    assert code in {1, 2}
    assert f"{file}:1" in out + err
    assert "name its format with --from" in out + err
    assert "source" not in (out + err).replace(str(file), "")


def test_a_gateways_store_is_read_with_another_command(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "gateway.db"
    file.write_bytes(b"SQLite format 3\x00\x10\x00\xff\xff")
    code, _, err = run("stats", file)
    assert code == 1
    assert "toolfmt recorded sqlite:///FILE" in err
