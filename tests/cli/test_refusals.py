"""Whatever is wrong with a command or its files: one line on stderr, exit code 2, nothing else."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from toolfmt.cli import main

Run = Callable[..., tuple[int, str, str]]

CASES = {
    "a provider where a format is chosen": (("convert", "--provider", "openai"), "chosen with --from or --to here"),
    "a page in a folder that is missing": (
        ("view", "README.md", "--out", "no/such.html"),
        "no folder no: make it first",
    ),
    "text in place of its file": (("parse", "<tool_call>{}"), "give the text itself through a pipe"),
    "a column of lines": (("stats", "README.md", "--column", "x"), "only if a Parquet file is read"),
    "a side file without its option": (
        ("convert", "README.md", "--to", "gemini", "--quarantine", "x.jsonl"),
        "only if --on-error is quarantine",
    ),
    "a tokenizer that counts nothing": (
        ("convert", "README.md", "--to", "gemini", "--tokenizer", "x", "--filter", "calls=1"),
        "only if a --filter compares tokens",
    ),
    "a command's name": (("pars",), "did you mean 'parse'?"),
    "an option's name": (("parse", "--jsn"), "Did you mean --json?"),
    "a missing argument": (("manifest",), "TOOLS is missing (The tools: tools.json"),
    "the second of two arguments": (("inject", "prompt.txt"), "TOOLS is missing (The tools: tools.json"),
    "a missing option": (("convert", "chat.json"), "--to is missing (The format to write"),
    "an option without its value": (("parse", "--dialect"), "--dialect has no value"),
    "an option for the format, of another command": (("parse", "--from", "hermes"), "chosen with --dialect here"),
    "an option for the format, of no command": (("check", "--source=openai"), "chosen with --from or --to here"),
    "an option like none": (("parse", "--zzz"), "`toolfmt parse --help` lists the options"),
    "one argument too many": (("providers", "x"), "'x' is one argument too many; `toolfmt providers --help`"),
    "tools without their option": (("parse", "a.txt", "t.json"), "a file of tools is given as --tools t.json"),
    "tools without their option, required": (("grammar", "t.json"), "write --tools before 't.json'"),
    "a number": (("parse", "--chunk", "x"), "--chunk"),
    "a number that is too small": (("parse", "--chunk", "0"), "--chunk"),
    "a dialect's name": (("parse", "-d", "xml-itemz"), "did you mean 'xml-items'"),
    "a dialect's name, shown": (("dialects", "show", "sentinal"), "did you mean 'sentinel'"),
    "a dialect's name, in the demo": (("demo", "reakt"), "did you mean 'react'"),
    "a provider for a dialect": (("parse", "-d", "anthropic"), "it is a provider"),
    "a model for a dialect": (("parse", "-d", "gpt-4o"), "it is a model"),
    "a model's name": (("parse", "-m", "nobody-knows-it"), "unknown model 'nobody-knows-it'; tried as "),
    "a misspelt model": (("parse", "-m", "Qwen/Qwne3-8B"), "did you mean 'qwen/qwen3-8b'?"),
    "a dialect with two letters swapped": (("parse", "-d", "hremes"), "did you mean 'hermes'?"),
    "a file without a name": (("parse", ""), "the file's name is empty"),
    "XML and another format": (("parse", "-d", "react", "--xml"), "leave one of the two out"),
    "a missing file": (("parse", "nowhere.txt"), "nowhere.txt: No such file or directory"),
    "a missing tools file": (("manifest", "nowhere.json"), "nowhere.json: No such file or directory"),
    "a folder": (("parse", "."), ".: Is a directory"),
    "a missing tools file of another kind": (("manifest", "tools.txt"), "tools.txt: No such file or directory"),
    "validation without tools": (("parse", "--validate"), "add --tools"),
    "a dialect's name, listed": (("dialects", "sentinal"), "did you mean 'sentinel'"),
    "a file that would hold something else": (
        ("convert", "-", "--to", "openai", "-o", "x.csv"),
        "end its name in .jsonl",
    ),
    "a page that is none": (("view", "-", "-o", "x.txt"), "end its name in .html"),
    "a file for a store": (("recorded", "gateway.db"), "write sqlite:///gateway.db"),
    "a store that is missing": (("recorded", "sqlite:///nowhere.db"), "nowhere.db: there is no such store"),
    "standard input twice": (("inject", "-", "-"), "only one file"),
    "standard input twice, with an option": (("parse", "-", "--tools", "-"), "only one file"),
}


@pytest.mark.parametrize(("arguments", "said"), CASES.values(), ids=CASES.keys())
def test_one_line(run: Run, arguments: tuple[str, ...], said: str) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("toolfmt: ")
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"[{]", "line 1, column 3"),
        (b'{"name": "f", "name": "g"}', "duplicate key"),
        (b"[1]", "[0]"),
        (b'{"nome": "f"}', "'nome'"),
        (b'[{"name": "f"}, {"name": "f"}]', "two tools are named 'f', entries 0 and 1"),
        (b" \n", "it is empty"),
        (b'[{"name": "\xff"}]', "not UTF-8 at byte 11"),
        (b'[{"name": "f", "parameters": {"type": "object", "properties": {"a": {"$ref": "#/nowhere"}}}}]', "nowhere"),
    ],
)
def test_tools_that_cannot_be_read(run: Run, tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "tools.json"
    path.write_bytes(content)
    for given, stdin in ((path, b""), ("-", content)):
        code, out, err = run("manifest", given, stdin=stdin)
        assert (code, out) == (2, "")
        assert said in err
        assert err.count("\n") == 1


def test_arguments_of_the_functions_are_refused_in_a_line(run: Run, tools: Path, tmp_path: Path) -> None:
    empty, chat, template = (tmp_path / name for name in ("empty.json", "chat.json", "chat_template.jinja"))
    empty.write_text("[]", "utf-8")
    chat.write_text('[{"role": "user", "content": "Hi"}]', "utf-8")
    template.write_text("{{ messages }}", "utf-8")
    for arguments, said, stdin in (
        (("inject", "-", tools), "write {{tools}} instead of '{{ tools", "Use {{ tools | tojson }}."),
        (("grammar", "-d", "hermes", "--tools", empty), "no tools are given", ""),
        (
            ("prompt", chat, "--template", template, "--set", "messages=1"),
            "messages: these are arguments, and not variables",
            "",
        ),
    ):
        code, out, err = run(*arguments, stdin=stdin)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert said in err


def test_what_is_named_does_not_steer_the_terminal(run: Run) -> None:
    assert run("parse", "\x1b[31m") == (2, "", "toolfmt: \\x1b[31m: No such file or directory\n")


def test_an_answer_that_is_no_text(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "answer.txt"
    path.write_bytes("ö".encode() * 40_000 + b"\xff")
    assert run("parse", path) == (2, "", f"toolfmt: {path}: not UTF-8 at byte 80000\n")
    path.write_bytes(b"cut \xe2\x9c")
    assert run("parse", path) == (2, "", f"toolfmt: {path}: not UTF-8 at byte 4\n")


def test_help_and_version_go_to_the_output(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], ["--help"], ["parse", "--help"], ["dialects", "show", "--help"], ["--version"]):
        assert main(arguments) == 0
        captured = capsys.readouterr()
        assert captured.out
        assert captured.err == ""


def test_results_are_no_calls(run: Run) -> None:
    code, out, err = run("render", stdin=b'[{"name": "f", "content": "1"}]')
    assert (code, out) == (2, "")
    assert "contains results: add --results" in err


def test_a_server_that_cannot_begin_names_the_option(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("uvicorn")
    assert "--upstream is an http or https address" in run("serve", "--upstream", "localhost:8080")[2]
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, _, err = run("serve", "--upstream", "http://127.0.0.1:9/v1", "--port", port)
    assert (code, f"cannot listen on port {port} of 127.0.0.1" in err) == (2, True)
    (tmp_path / "tools.json").write_text('[{"name": "f"}]')
    assert "a configuration is TOML" in run("serve", tmp_path / "tools.json")[2]


def test_lines_of_json_are_no_tools(run: Run, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text('{"name": "f"}\n{"name": "g"}\n')
    assert "expected tools, such as a JSON array of them" in run("manifest", tmp_path / "log.jsonl")[2]


@pytest.mark.parametrize("text", ["", "\n \n"])
@pytest.mark.parametrize("command", [("convert", "--to", "gemini"), ("check",), ("stats",)])
def test_no_conversation_is_not_success(run: Run, tmp_path: Path, command: tuple[str, ...], text: str) -> None:
    (tmp_path / "empty.jsonl").write_text(text, "utf-8")
    for found in (run(*command, stdin=text), run(*command, tmp_path / "empty.jsonl")):
        assert (found[0], "toolfmt: 0 c" in found[2] or "toolfmt: no c" in found[2]) == (1, True)


@pytest.mark.parametrize("options", [("--filter", "call=nope"), ("--split", "0.1-0.2")])
def test_a_selection_of_nothing_is_not_success(run: Run, options: tuple[str, ...]) -> None:
    row = '{"messages": [{"role": "user", "content": "Hi."}]}\n'
    code, out, err = run("convert", "--to", "gemini", *options, stdin=row)
    assert (code, out, "no conversation is selected" in err) == (1, "", True)


def test_a_misspelt_name_in_a_filter_has_a_hint(run: Run, tmp_path: Path) -> None:
    call = {"id": "1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps({"messages": [{"role": "assistant", "content": None, "tool_calls": [call]}]}), "utf-8")
    for given, said in (
        ("call=serach", "no call is named 'serach'; did you mean 'search'?"),
        ("tool=x", "no tool is named 'x'; there are search"),
        ("role=asistant", "no role is named 'asistant'; did you mean 'assistant'?"),
    ):
        assert f"toolfmt: {said}\n" in run("convert", rows, "--to", "gemini", "--filter", given)[2]
    for sound in ("call!=search", "calls>3"):
        assert "named" not in run("convert", rows, "--to", "gemini", "--filter", sound)[2]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_misspelt_name_that_filters_nothing_has_the_hint(run: Run, tmp_path: Path, jobs: str) -> None:
    rows = tmp_path / "rows.jsonl"
    call = {"id": "1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    plain = json.dumps({"messages": [{"role": "user", "content": "Hi. " * 9000}]}) + "\n"
    last = json.dumps({"messages": [{"role": "user", "content": "Hi."}, {"role": "assistant", "tool_calls": [call]}]})
    rows.write_text(plain * 60 + last, "utf-8")  # the name is in the last of several batches
    for given, said in (
        ("call!=serach", "no call is named 'serach'; did you mean 'search'?"),
        ("tool!=serach", "no tool is named 'serach'; did you mean 'search'?"),
        ("role!=systm", "no role is named 'systm'; there are assistant, user"),
    ):
        command = ("convert", "--to", "gemini", "--filter", given, "--jobs", jobs)
        code, _, err = run(*command, rows)
        assert (code, f"toolfmt: {said}\n" in err, "61 converted" in err) == (0, True, True), err
    code, _, err = run("convert", "--to", "gemini", "--filter", "call!=serach", stdin=rows.read_text("utf-8"))
    assert (code, "no call is named 'serach'; did you mean 'search'?" in err) == (0, True)
    code, _, err = run("convert", "--to", "gemini", "--filter", "call!=search", "--jobs", jobs, rows)
    assert (code, "named" in err, "60 converted" in err, "1 not selected" in err) == (0, False, True, True)


@pytest.mark.parametrize("option", ["--at", "--answer"])
@pytest.mark.parametrize("command", [("convert", "--to", "gemini"), ("check",), ("stats",), ("view", "--limit", "9")])
def test_a_place_that_no_row_has_is_named(run: Run, command: tuple[str, ...], option: str) -> None:
    row = '{"messages": [{"role": "user", "content": "Hi."}]}\n'
    said = f"toolfmt: no row has /nope, so {option} had no effect\n"
    assert said in run(*command, option, "/nope", stdin=row * 3)[2]
    held = (
        row.replace("{", '{"nope": {"role": "assistant", "content": "Hi."}, ', 1)
        if option == "--answer"
        else (f'{{"nope": {row.strip()}}}\n')
    )
    assert "no effect" not in run(*command, option, "/nope", stdin=row * 2 + held)[2]
    assert "no effect" not in run(*command, option, "/nope", stdin="3\n")[2]


def test_filters_and_the_share_are_counted_apart(run: Run) -> None:
    rows = "".join(f'{{"messages": [{{"role": "user", "content": "{number}"}}]}}\n' for number in range(40))
    rows += '{"messages": [{"role": "system", "content": "Hi."}, {"role": "user", "content": "Hi."}]}\n' * 3
    _, out, err = run("convert", "--to", "gemini", "--filter", "role!=system", "--split", "0-50", stdin=rows)
    kept = out.count("\n")
    assert 0 < kept < 40
    assert f", 3 not selected, {40 - kept} outside of the share" in err


@pytest.mark.parametrize("row", ["null", "3", "true"])
def test_a_row_that_is_no_conversation_is_named(run: Run, row: str) -> None:
    shown = {"null": "null", "3": "a value of the type int", "true": "a value of the type bool"}[row]
    for command in (("convert", "--to", "gemini"), ("stats",), ("check",)):
        _, out, err = run(*command, stdin=f'{{"messages": [{{"role": "user", "content": "Hi."}}]}}\n{row}\n')
        assert f"a conversation is a list or an object, not {shown}" in out + err


def test_utf_16_is_named(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('[{"name": "f"}]', "utf-16")
    for command in (("stats", path), ("parse", path), ("render", path), ("manifest", path)):
        assert "it is UTF-16, as PowerShell's `>` writes it: save it as UTF-8" in run(*command)[2]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_a_file_of_utf_16_is_one_bad_row(run: Run, tmp_path: Path, encoding: str, name: str) -> None:
    (tmp_path / name).write_text('{"messages": [{"role": "user", "content": "Hi."}]}\n' * 3, encoding)
    (tmp_path / "b.jsonl").write_text('{"messages": [{"role": "user", "content": "Hi."}]}\n', "utf-8")
    said = f"{tmp_path / name}: it is UTF-16, as PowerShell's `>` writes it: save it as UTF-8"
    for command in (("convert", "--to", "gemini", "--on-error", "skip"), ("stats",)):
        code, _, err = run(*command, tmp_path / name, tmp_path / "b.jsonl")
        assert (code, said in err, "1 left out, " in err or "1 unreadable, " in err) == (1, True, True), err
    assert "it is UTF-16" in run("parse", tmp_path / name)[2]


def test_long_work_reports_its_progress_without_a_terminal(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = count(0, 40)
    monkeypatch.setattr("toolfmt.cli.files.monotonic", lambda: next(seconds))
    path = tmp_path / "a.jsonl"
    path.write_text('{"messages": [{"role": "user", "content": "Hi."}]}\n', "utf-8")
    assert "toolfmt: 1 conversation so far, 100 % read\n" in run("stats", path)[2]


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ('{"messages": [{"role": "user", "content": 42}]}', "/messages/0: expected text or a part of a content"),
        ('{"messages": []}', "there is no message in /messages"),
    ],
)
def test_the_fault_is_named_without_a_format(run: Run, row: str, fault: str) -> None:
    assert fault in run("convert", "--to", "gemini", stdin=row)[2]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"error": {"message": "Slow down", "type": "rate_limit_error"}}, "an API's error: Slow down"),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "Full"}}, "an API's error: Full"),
        ({"message": "No model", "__type": "ValidationException"}, "an API's error: No model"),
        (
            [{"type": "function", "function": {"name": "sky", "parameters": {"type": "object"}}}],
            "declarations of tools: sky",
        ),
        (
            [{"name": "sky", "input_schema": {"type": "object"}}],
            "declarations of tools: sky; `manifest` shows them to a model, `parse` checks calls of them",
        ),
        ({"mcpServers": {"sky": {"command": "sky"}}}, "a configuration of MCP servers: --tools takes it"),
    ],
)
def test_what_is_no_conversation_is_named(run: Any, value: Any, reason: str) -> None:
    for command in (("convert", "--to", "anthropic"), ("view",), ("check",)):
        code, out, err = run(*command, stdin=json.dumps(value))
        assert (code != 0, f"this is no conversation, but {reason}" in out + err) == (True, True), out + err


def test_an_empty_input_and_an_empty_answer_are_named(run: Any) -> None:
    assert "the input is empty" in run("stats", stdin="")[2]
    assert "the input is empty" in run("check", stdin="")[2]
    row = {"messages": [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": ""}]}
    code, _, err = run("convert", "--to", "openai-finetune", "--from", "openai-chat", stdin=json.dumps(row))
    assert (code, "/messages/1: not a row to train on: the assistant's message has no text and no call" in err) == (
        2,
        True,
    )
