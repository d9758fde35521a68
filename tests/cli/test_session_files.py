"""Files of agents' sessions: one conversation each, found without a name, whatever happened to their last line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from toolfmt import convert
from toolfmt.transcripts.formats import find

Run = Callable[..., tuple[int, str, str]]


def line(number: int, role: str, content: Any, parent: int | None, **more: Any) -> dict[str, Any]:
    envelope = {"type": role, "uuid": str(number), "parentUuid": None if parent is None else str(parent)}
    return {**envelope, "sessionId": "s", "isSidechain": False, "message": {"role": role, "content": content}, **more}


def item(role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    payload = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
    return {"timestamp": "2026-06-06T10:00:00.000Z", "type": "response_item", "payload": payload}


SESSIONS = {
    "claude-code": [
        {"type": "summary", "summary": "Greeting", "leafUuid": "2"},
        line(1, "user", "Hi.", None),
        line(2, "assistant", [{"type": "text", "text": "Hello."}], 1),
    ],
    "codex": [
        {"timestamp": "2026-06-06T10:00:00.000Z", "type": "session_meta", "payload": {"id": "1", "cwd": "/repo"}},
        item("user", "Hi."),
        item("assistant", "Hello."),
    ],
}
EXPECTED = {"messages": [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}]}
every_session = pytest.mark.parametrize("name", SESSIONS)


def text(name: str) -> str:
    return "".join(json.dumps(one) + "\n" for one in SESSIONS[name])


@every_session
def test_a_file_is_one_conversation(run: Run, tmp_path: Path, name: str) -> None:
    for stem in ("a", "b"):
        (tmp_path / f"{stem}.jsonl").write_text(text(name), "utf-8")
    for choice in (("--from", name), (), ("--from", "claude-code", "--from", "codex")):
        code, out, _ = run("convert", tmp_path / "*.jsonl", *choice, "--to", "openai-chat")
        assert (code, [json.loads(one) for one in out.splitlines()]) == (0, [EXPECTED] * 2)
    assert run("convert", tmp_path, "--to", "openai-chat", "--out", f"{tmp_path}.out/")[0] == 0
    assert [json.loads(one.read_text("utf-8")) for one in sorted((Path(f"{tmp_path}.out")).iterdir())] == [EXPECTED] * 2
    assert run("stats", tmp_path / "a.jsonl", "--from", name)[2] == "toolfmt: 1 conversation, 0 unreadable\n"
    shown = run("view", tmp_path / "a.jsonl", "--from", name)[1]
    assert "Hi." in shown
    assert "Hello." in shown
    assert run("check", tmp_path / "a.jsonl")[0] == 0
    assert json.loads(run("convert", "--to", "openai-chat", stdin=text(name))[1]) == EXPECTED


@every_session
def test_a_torn_last_line_costs_only_itself(run: Run, tmp_path: Path, name: str) -> None:
    file, report = tmp_path / "a.jsonl", tmp_path / "report.json"
    torn = json.dumps(SESSIONS[name][-1] | {"more": "é"}, ensure_ascii=False).encode()
    for end in (10, torn.index("é".encode()) + 1):
        file.write_bytes(text(name).encode() + torn[:end])
        code, out, _ = run("convert", file, "--to", "openai-chat", "--report", report)
        assert (code, json.loads(out)) == (0, EXPECTED)
        details = [
            one["detail"] for loss in json.loads(report.read_text("utf-8"))["losses"] for one in loss["examples"]
        ]
        assert f"{name}.lines" in details
        file.write_bytes(file.read_bytes() + b"\n")
        assert json.loads(run("convert", file, "--to", "openai-chat")[1]) == EXPECTED
    file.write_bytes(torn[:10] + b"\n")
    assert run("convert", file, "--from", name, "--to", "openai-chat")[0] == 2


def test_what_a_view_leaves_out_is_named(run: Run, tmp_path: Path) -> None:
    aside = line(3, "assistant", "Elsewhere.", 2, isSidechain=True)
    whole = tmp_path / "s.jsonl"
    whole.write_text(text("claude-code") + json.dumps(aside) + '\n{"type": "us', "utf-8")
    code, _, err = run("view", str(whole))
    assert code == 0
    assert "not shown: 1 line of side conversations, 1 line of other kinds (summary), line 5, which is damaged" in err


def test_a_damaged_line_costs_only_itself(run: Run, tmp_path: Path) -> None:
    first, *others = text("claude-code").splitlines()
    whole = tmp_path / "s.jsonl"
    whole.write_text("\n".join([first, '{"type": "us', *others]), "utf-8")
    code, out, err = run("view", str(whole))
    assert (code, out) == (0, run("view", str(_written(tmp_path / "t.jsonl", text("claude-code"))))[1])
    assert "line 2, which is damaged" in err
    code, _, err = run("convert", str(whole), "--from", "claude-code", "--to", "openai-chat")
    assert (code, "beside" in err) == (0, True)
    assert run("convert", str(whole), "--from", "claude-code", "--to", "openai-chat", "--strict")[0] == 2
    left = "toolfmt: 1 line of sessions left out as damaged: `toolfmt check` names them\n"
    assert run("stats", str(whole))[2] == f"{left}toolfmt: 1 conversation, 0 unreadable\n"
    assert json.loads(run("stats", str(whole), "--json")[1])["damaged_lines"] == 1
    assert f"toolfmt: {whole}: line 2 is damaged, and is left out\n" in run("check", str(whole))[2]
    said = [json.dumps(line(at, "user", f"Said {at}.", at - 1 if at > 1 else None)) for at in (1, 2, 3, 4)]
    said[2] = said[2][:40]
    whole.write_text("\n".join(said), "utf-8")
    assert re.findall(r"Said \d", run("view", str(whole))[1]) == ["Said 1", "Said 2", "Said 4"]


def _written(path: Path, said: str) -> Path:
    path.write_text(said, "utf-8")
    return path


@every_session
def test_rows_of_sessions_are_rows(run: Run, name: str) -> None:
    rows = f"{json.dumps(SESSIONS[name])}\n" * 2
    assert run("stats", "--from", name, stdin=rows)[2] == "toolfmt: 2 conversations, 0 unreadable\n"


@every_session
def test_a_session_that_is_too_long_is_refused(run: Run, tmp_path: Path, name: str) -> None:
    (tmp_path / "a.jsonl").write_text(text(name), "utf-8")
    code, _, err = run("stats", tmp_path / "a.jsonl", "--max-row", "100")
    assert code == 1
    assert "longer than the limit of 100" in err


def test_what_is_before_a_compaction_is_read() -> None:
    boundary = {"type": "system", "subtype": "compact_boundary", "uuid": "3", "parentUuid": None}
    lines = [
        *SESSIONS["claude-code"][1:],
        {**boundary, "logicalParentUuid": "2", "sessionId": "s"},
        line(4, "user", "Summary.", 3, isCompactSummary=True),
        line(5, "assistant", [{"type": "text", "text": "Go on."}], 4),
    ]
    made = convert(lines, source="claude-code", target="openai-chat").value
    assert [one["content"] for one in made["messages"]] == ["Hi.", "Hello.", "Summary.", "Go on."]
    assert "claude-code.branches" not in find("claude-code").read(lines).extra


@every_session
def test_a_byte_order_mark_hides_no_session(run: Run, tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + text(name).replace("\n", "\r\n").encode())
    code, out, err = run("convert", path, "--to", "openai-chat")
    assert (code, json.loads(out)) == (0, EXPECTED), err


def test_a_session_of_codex_before_its_lines_had_types(run: Run, tmp_path: Path) -> None:
    lines = [
        {"id": "1", "timestamp": "2025-06-06T10:00:00.000Z", "instructions": "Be brief.", "git": {"branch": "main"}},
        {"record_type": "state"},
        {"type": "message", "id": None, "role": "user", "content": [{"type": "input_text", "text": "Hi."}]},
        {"type": "function_call", "name": "shell", "arguments": '{"command":["ls"]}', "call_id": "c"},
        {"record_type": "state"},
        {"type": "function_call_output", "call_id": "c", "output": "a.py"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hello."}]},
    ]
    (tmp_path / "old.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines), "utf-8")
    code, out, err = run("convert", tmp_path / "old.jsonl", "--to", "openai-chat")
    assert code == 0, err
    call = {"id": "c", "type": "function", "function": {"name": "shell", "arguments": '{"command":["ls"]}'}}
    assert json.loads(out)["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "a.py"},
        {"role": "assistant", "content": "Hello."},
    ]
    assert "without loss" in err
    assert run("stats", tmp_path / "old.jsonl", "--json")[0] == 0


def test_sessions_one_after_the_other_are_conversations(run: Run, tmp_path: Path) -> None:
    again = [
        line(3, "user", "And?", None, sessionId="t"),
        line(4, "assistant", [{"type": "text", "text": "No."}], 3, sessionId="t"),
    ]
    side = line(5, "user", "Look.", None, sessionId="u", isSidechain=True)
    path = tmp_path / "all.jsonl"
    for ending in ("\n", "\r\n"):
        both = [*SESSIONS["claude-code"], side, *again]
        path.write_text("".join(f"{json.dumps(one)}{ending}" for one in both), "utf-8", newline="")
        code, out, _ = run("convert", path, "--to", "openai-chat")
        assert (code, [json.loads(one)["messages"][0]["content"] for one in out.splitlines()]) == (0, ["Hi.", "And?"])
        assert run("stats", path)[2].endswith("toolfmt: 2 conversations, 0 unreadable\n")
    for one in ({"parentUuid": "2"}, {"logicalParentUuid": "2"}, {"sessionId": "s"}):  # which go on
        both = [*SESSIONS["claude-code"], again[0] | one, again[1]]
        path.write_text("".join(f"{json.dumps(one)}\n" for one in both), "utf-8")
        assert run("stats", path)[2].endswith("toolfmt: 1 conversation, 0 unreadable\n")
    back = line(6, "user", "More.", 2)
    path.write_text("".join(f"{json.dumps(one)}\n" for one in [*SESSIONS["claude-code"], *again, back]), "utf-8")
    assert run("stats", path)[2].endswith("toolfmt: 1 conversation, 0 unreadable\n")


def test_rollouts_one_after_the_other_are_conversations_of_their_own(run: Run, tmp_path: Path) -> None:
    def line(kind: str, payload: Any) -> str:
        return json.dumps({"timestamp": "2026-06-06T10:00:00.000Z", "type": kind, "payload": payload}) + "\n"

    def said(role: str, text: str) -> str:
        content = [{"type": "input_text", "text": text}]
        return line("response_item", {"type": "message", "role": role, "content": content})

    def first(name: str) -> str:
        return line("session_meta", {"id": name, "cwd": "/"}) + line("turn_context", {"cwd": "/"})

    one = first("a") + said("user", "A1") + first("a") + said("user", "A2")  # it goes on
    forked = first("b") + first("a") + said("user", "A1") + said("user", "B1")
    old = json.dumps({"id": "c", "timestamp": "2026", "instructions": None}) + "\n"
    old += json.dumps({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "C1"}]}) + "\n"
    path = tmp_path / "all.jsonl"
    path.write_text(one + forked + old + first("d") + said("user", "D1"), "utf-8")
    code, out, err = run("convert", path, "--to", "openai-chat")
    found = [[message["content"] for message in json.loads(line)["messages"]] for line in out.splitlines()]
    assert (code, found) == (0, [["A1", "A2"], ["A1", "B1"], ["C1"], ["D1"]]), err
    path.write_text(one, "utf-8")
    assert "1 converted" in run("convert", path, "--to", "openai-chat")[2]
