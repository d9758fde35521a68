"""`toolfmt convert`, `check` and `formats`: files of conversations, losses, errors, and what is there after Ctrl-C."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from toolfmt import convert
from toolfmt.transcripts.formats import formats

Run = Callable[..., tuple[int, str, str]]

ROOT = Path(__file__).resolve().parents[2]
CHAT = [
    {"role": "user", "content": "Weather?", "name": "ann"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"n":1.0}'}}],
    },
    {"role": "tool", "tool_call_id": "a", "content": "18C"},
]
PLAIN = [{"role": "user", "content": "Łódź?"}]
TO = ("--from", "openai-chat", "--to", "anthropic")


def lines(*values: Any) -> str:
    return "".join(value if isinstance(value, str) else json.dumps(value) + "\n" for value in values)


def expected(value: Any) -> Any:
    return convert(value, source="openai-chat", target="anthropic").value


def read(path: Path) -> list[Any]:
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [json.loads(line) for line in text.decode().splitlines()]


def test_one_conversation_from_a_pipe(run: Run) -> None:
    code, out, err = run("convert", "--to", "anthropic", stdin=json.dumps(CHAT, indent=1))
    assert code == 0
    assert json.loads(out) == expected(CHAT)
    table = [line.split()[:4] for line in err.splitlines()]
    assert ["speaker", "dropped", "1", "1"] in table
    assert err.splitlines()[-1] == "toolfmt: 1 converted to anthropic, 0 without loss"


@pytest.mark.parametrize(
    ("options", "shown", "roles"),
    [
        ([], "", ["user", "assistant", "tool", "assistant"]),
        (["--hosted", "drop"], "", ["user", "assistant"]),
        (["--gateway"], "Look it up.", ["user", "assistant", "tool", "assistant"]),
        (["--reasoning", "text", "--hosted", "text"], "Look it up.", ["user", "assistant"]),
    ],
)
def test_parts_without_a_place_go_as_chosen(run: Run, options: list[str], shown: str, roles: list[str]) -> None:
    blocks = [
        {"type": "thinking", "thinking": "Look it up.", "signature": "c2ln"},
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"type": "web_search_result", "url": "u"}]},
        {"type": "text", "text": "Rain."},
    ]
    talk = [{"role": "user", "content": "What is new?"}, {"role": "assistant", "content": blocks}]
    code, out, _ = run("convert", "--from", "anthropic", "--to", "openai-chat", *options, stdin=json.dumps(talk))
    assert code == 0
    assert [message["role"] for message in json.loads(out)["messages"]] == roles
    assert shown in out
    assert ("Look it up." in out) == bool(shown)


def test_lines_stay_lines_in_order(run: Run) -> None:
    code, out, err = run("convert", *TO, stdin=lines(PLAIN, "\n", CHAT, PLAIN))
    assert code == 0
    assert [json.loads(line) for line in out.splitlines()] == [expected(one) for one in (PLAIN, CHAT, PLAIN)]
    assert "3 converted to anthropic, 2 without loss" in err
    assert "Łódź" in out


def test_out_may_be_stdout(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, _ = run("convert", "-", *TO, "--out", "-", stdin=lines(PLAIN))
    assert (code, json.loads(out), list(tmp_path.iterdir())) == (0, expected(PLAIN), [])


def test_folders_globs_and_gzip(run: Run, tmp_path: Path) -> None:
    inside = tmp_path / "in"
    (inside / "deep").mkdir(parents=True)
    (inside / "one.json").write_text(json.dumps(CHAT, indent=2), "utf-8")
    (inside / "deep" / "many.jsonl.gz").write_bytes(gzip.compress(lines(CHAT, PLAIN).encode()))
    (inside / "notes.txt").write_text("not a conversation", "utf-8")
    out = tmp_path / "out"
    assert run("convert", inside, *TO, "-o", f"{out}/")[0] == 0
    assert json.loads((out / "one.json").read_text("utf-8")) == expected(CHAT)
    assert read(out / "deep" / "many.jsonl.gz") == [expected(CHAT), expected(PLAIN)]
    together = tmp_path / "all.jsonl"
    assert run("convert", inside / "**" / "*.json*", *TO, "--out", together)[0] == 0
    assert sorted(map(str, read(together))) == sorted(map(str, [expected(CHAT), expected(PLAIN), expected(CHAT)]))


def test_it_stops_at_the_first_error_and_names_the_line(run: Run, tmp_path: Path) -> None:
    file, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    file.write_text(lines(PLAIN, "{bad\n", PLAIN), "utf-8")
    code, _, err = run("convert", file, *TO, "-o", out)
    assert code == 2
    assert err.startswith(f"toolfmt: {file}:2: ")
    assert err.count("\n") == 1
    assert read(out) == [expected(PLAIN)]


def test_errors_can_be_skipped_or_kept_aside(run: Run, tmp_path: Path) -> None:
    file, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    file.write_bytes(lines(PLAIN, "{bad\n", [3], PLAIN).encode() + b'"\xff"\n')
    code, _, err = run("convert", file, *TO, "-o", out, "--on-error", "skip")
    assert code == 1
    assert "2 converted to anthropic, 2 without loss, 3 left out" in err
    assert read(out) == [expected(PLAIN), expected(PLAIN)]
    assert not (tmp_path / "out.jsonl.quarantine.jsonl").exists()
    assert run("convert", file, *TO, "-o", out, "--on-error", "quarantine")[0] == 1
    aside = read(tmp_path / "out.jsonl.quarantine.jsonl")
    assert [(one["file"], one["line"], one["text"]) for one in aside] == [
        (str(file), 2, "{bad"),
        (str(file), 3, "[3]"),
        (str(file), 5, '"\ufffd"'),
    ]
    assert all(one["reason"] for one in aside)


def test_strict_leaves_out_what_would_lose(run: Run, tmp_path: Path) -> None:
    aside = tmp_path / "aside.jsonl"
    options = ("--strict", "--on-error", "quarantine", "--quarantine", aside)
    code, out, _ = run("convert", *TO, *options, stdin=lines(CHAT, PLAIN))
    assert code == 1
    assert [json.loads(line) for line in out.splitlines()] == [expected(PLAIN)]
    assert "speaker dropped" in read(aside)[0]["reason"]
    assert run("convert", *TO, "--strict", stdin=lines(CHAT))[0] == 2


def test_the_report_counts_losses_and_shows_where(run: Run, tmp_path: Path) -> None:
    report = tmp_path / "losses.json"
    assert run("convert", *TO, "--report", report, stdin=lines(*[CHAT] * 5, PLAIN))[0] == 0
    found = json.loads(report.read_text("utf-8"))
    assert (found["converted"], found["failed"], found["without_loss"]) == (6, 0, 1)
    speaker = next(one for one in found["losses"] if one["code"] == "speaker")
    assert (speaker["action"], speaker["times"], speaker["conversations"]) == ("dropped", 5, 5)
    assert [one["line"] for one in speaker["examples"]] == [1, 2, 3]
    assert speaker["examples"][0]["path"] == "/messages/0"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("convert", "--to", "anthropik"), "did you mean 'anthropic'?"),
        (("convert", "--to", "anthropic", "--from", "openay-chat"), "did you mean 'openai-chat'"),
        (("convert", "nowhere.json", "--to", "anthropic"), "nowhere.json: "),
        (("convert", "no*where", "--to", "anthropic"), "no*where: no files"),
        (("check", "nowhere.json"), "nowhere.json: "),
        (("check", "--format", "opanai-chat"), "did you mean 'openai-chat'"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(run: Run, arguments: tuple[str, ...], said: str) -> None:
    code, out, err = run(*arguments, stdin="[]")
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_a_damaged_gzip_is_a_mistake(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "in.jsonl.gz"
    whole, half = gzip.compress(lines(*[CHAT] * 9).encode()), lines(CHAT)[:20].encode()
    for data in (whole + gzip.compress(half)[:-8], whole + b"no gzip"):
        file.write_bytes(data)
        code, out, err = run("convert", file, *TO)
        assert code == 2
        assert [json.loads(line) for line in out.splitlines()] == [expected(CHAT)] * 9
        assert err.startswith(f"toolfmt: {file}: damaged or cut off: ")
        assert err.count("\n") == 1


def test_a_file_that_is_read_is_not_written_over(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "in.jsonl"
    file.write_text(lines(PLAIN), "utf-8")
    assert run("convert", file, *TO, "-o", file)[0] == 2
    assert run("convert", file, *TO, "-o", tmp_path)[0] == 2
    assert read(file) == [PLAIN]


def test_ctrl_c_leaves_a_complete_beginning(tmp_path: Path) -> None:
    out, aside = tmp_path / "out.jsonl", tmp_path / "aside.jsonl"
    command = [sys.executable, "-m", "toolfmt", "convert", *TO, "-o", str(out)]
    command += ["--on-error", "quarantine", "--quarantine", str(aside)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        assert process.stdin is not None
        process.stdin.write(lines(CHAT, PLAIN, "{bad\n").encode())
        process.stdin.flush()
        while not (aside.exists() and aside.stat().st_size):  # the two before it are done then
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        said = process.stderr.read().decode()
        assert process.wait() == 130
    assert "toolfmt: interrupted: 2 converted to anthropic" in said
    assert read(out) == [expected(CHAT), expected(PLAIN)]


def test_check_lists_findings_and_gives_1(run: Run) -> None:
    wrong = [CHAT[0], CHAT[1], CHAT[0]]
    code, out, err = run("check", "--format", "openai", stdin=lines(CHAT, wrong, "{bad\n"))
    assert code == 1
    assert [line.split()[:3] for line in out.splitlines()[1:]] == [
        ["<stdin>:2", "unanswered_call", "/messages/1"],
        ["<stdin>:3", "unreadable", "/"],
    ]
    assert err == "toolfmt: 3 checked, 2 would be refused\n"
    code, out, _ = run("check", "--json", stdin=lines(wrong))
    assert code == 1
    found = json.loads(out)
    assert (found["line"], found["rule"], found["path"]) == (1, "unanswered_call", "/messages/1")
    assert run("check", "-f", "openai-chat", stdin=lines(CHAT))[:2] == (0, "")


def test_check_asks_another_provider_after_the_conversion(run: Run) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/tiff;base64,AAAA"}}
    chat = {"messages": [{"role": "user", "content": [image]}]}
    assert run("check", stdin=lines(chat))[0] == 0
    code, out, err = run("check", "--to", "claude", stdin=lines(chat))
    assert (code, err) == (1, "toolfmt: 1 checked, 1 would be refused\n")
    assert "<stdin>:1" in out
    assert run("check", "--to", "antropic", stdin=lines(chat))[0] == 2


def test_formats_lists_all(run: Run) -> None:
    code, out, err = run("formats")
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()[1:]] == [made.name for made in formats()]
    assert [one["name"] for one in json.loads(run("formats", "--json")[1])] == [made.name for made in formats()]


def test_a_file_that_is_a_list_of_conversations_has_as_many(run: Run, tmp_path: Path) -> None:
    turns = [{"from": "human", "value": "Hi"}]
    rows = tmp_path / "rows.json"
    rows.write_text(json.dumps([{"conversations": turns}, {"conversations": turns}]), "utf-8")
    code, out, _ = run("convert", rows, "--from", "sharegpt", "--to", "openai-chat")
    assert code == 0
    assert [json.loads(line) for line in out.splitlines()] == [{"messages": [{"role": "user", "content": "Hi"}]}] * 2
    rows.write_text(json.dumps([{"conversations": turns}, {"conversations": [5]}]), "utf-8")
    code, _, err = run("convert", rows, "--from", "sharegpt", "--to", "openai-chat", "--on-error", "stop")
    assert code != 0
    assert f"{rows}:2: " in err


@pytest.mark.parametrize(("how", "left"), [("fill", 5), ("drop", 2)])
def test_a_repair_mends_what_has_no_partner(run: Run, tmp_path: Path, how: str, left: int) -> None:
    value = [*CHAT[:2], PLAIN[0], {"role": "tool", "tool_call_id": "z", "content": "20C"}]
    (tmp_path / "chat.json").write_text(json.dumps(value))
    code, out, err = run("convert", str(tmp_path / "chat.json"), "--to", "openai-chat", "--repair", how)
    assert (code, len(json.loads(out))) == (0, left)
    assert ("placeholder" in err) is (how == "fill")
    assert run("check", "--from", "openai-chat", stdin=out)[0] == 0


def test_a_conversation_of_which_nothing_is_left_is_an_error(run: Run) -> None:
    typo = {"contents": [{"role": "user", "parts": [{"txt": "typo"}]}]}
    options = ("--from", "gemini", "--to", "openai-chat")
    code, out, err = run("convert", *options, "--on-error", "skip", stdin=lines(typo))
    assert (code, out) == (1, "")
    assert "0 converted to openai-chat, 0 without loss, 1 left out" in err
    assert "nothing is left" in run("convert", *options, stdin=lines(typo))[2]
    code, out, _ = run("check", *TO, stdin=lines([{"role": "user", "content": " "}]))
    assert (code, "nothing is left" in out) == (1, True)


def test_what_strict_refuses_is_a_list(run: Run) -> None:
    named = [{"role": "user", "content": "Hi.", "name": "ann"}, {"role": "user", "content": "So?", "name": "bob"}]
    _, _, err = run("convert", *TO, "--strict", stdin=lines(named))
    assert [line[:10] for line in err.splitlines()[1:]] == ["  - speaker"[:10]] * 2 + ["  --on-error"[:10]]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"conversations": [{"from": "humn", "value": "Hi."}]}, "sharegpt: /conversations/0: `from` is one of"),
        ([{"type": "humn", "content": "Hi."}], "langchain: /0/type: expected system, human"),
        ({"messages": [{"role": "usr", "content": "Hi."}]}, "openai-chat: /messages/0: the role is one of"),
        ({"messages": [{"role": "user"}]}, "openai-chat: no message has content"),
    ],
)
def test_a_conversation_of_no_format_gets_the_likely_one(run: Run, value: Any, said: str) -> None:
    code, _, err = run("convert", "--to", "anthropic", stdin=lines(value))
    assert (code, f"the most likely is {said}" in err) == (2, True), err


def test_a_pointer_without_its_slash_is_refused_before_rows_are_read(run: Run) -> None:
    code, _, err = run("convert", "--at", "body", "--to", "anthropic", stdin=lines(PLAIN))
    assert (code, "give --at /body" in err) == (2, True), err


def test_null_is_called_null(run: Run) -> None:
    assert "a conversation is a list or an object, not null" in run("convert", "--to", "anthropic", stdin="null\n")[2]


def test_rows_of_logs_say_what_they_lack(run: Run) -> None:
    request = {"messages": PLAIN}
    failed = {"request": request, "response": {"error": {"message": "boom"}}}
    options = ("--at", "/request", "--answer", "/response", "--to", "openai-chat")
    for given in (options, options[-2:]):
        assert "<stdin>:1: /response: an API's error: boom" in run("convert", *given, stdin=lines(failed))[2]
    code, out, _ = run("convert", *options, stdin=lines(request))
    assert (code, json.loads(out)) == (0, request), "a row without that place"
    assert "the row itself" not in run("convert", *options, stdin=lines({"no": 1}))[2]
