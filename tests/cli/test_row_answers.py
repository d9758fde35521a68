"""What a row of a log says of its answer: that it is an API's error, was cut off, or was stopped by a filter."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., tuple[int, str, str]]
ASKED: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Hi."}]}
TRAIN = ("convert", "--to", "openai-finetune")
PAGE = "<html>502 Bad Gateway</html>"


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"status": 500, "request": ASKED, "response": "Internal Error"}, "/status: an API's error: the status is 500"),
        ({"status_code": 502, "request": ASKED, "output": PAGE}, f"API's error: the status is 502: {PAGE}"),
        ({"statusCode": "429", "request": ASKED, "answer": "Slow down"}, "the status is 429: Slow down"),
        ({"status": "503 Service Unavailable", "request": ASKED, "answer": "Down"}, "the status is 503: Down"),
        ({"response": {"status_code": 500}, "request": ASKED, "output": "Oops"}, "/response: an API's error: the"),
        ({"request": ASKED, "response": {"status_code": 500, "body": "Oops"}}, "/response: an API's error: the"),
        ({"error": "timed out", "request": ASKED, "output": "Oops"}, "/error: an API's error: timed out"),
        ({"error_message": "timed out", "request": ASKED, "output": "Oops"}, "an API's error: timed out"),
        ({"error": True, "request": ASKED, "output": "Oops"}, "/error: an API's error: true"),
    ],
)  # fmt: skip
def test_a_row_that_reports_an_error_has_no_answer(run: Run, row: Any, reason: str) -> None:
    code, out, err = run(*TRAIN, "--on-error", "skip", stdin=json.dumps(row) + "\n")
    assert (code, out, reason in err) == (1, "", True), err


@pytest.mark.parametrize(
    "beside",
    [
        {},
        {"status": 200, "error": None},
        {"status": "ok", "error": ""},
        {"status": 4040, "status_code": 0},
        {"status": True, "result": {"status": "finished"}},
        {"finish_reason": "stop"},
    ],
)
def test_a_text_without_a_sign_of_an_error_is_an_answer(run: Run, beside: Any) -> None:
    row = {**beside, "request": ASKED, "output": "Internal Server Error"}
    code, out, err = run(*TRAIN, "--strict", stdin=json.dumps(row) + "\n")
    assert code == 0, err
    assert json.loads(out)["messages"][-1] == {"role": "assistant", "content": "Internal Server Error"}


def _chat(reason: str) -> Any:
    return {"choices": [{"finish_reason": reason, "message": {"role": "assistant", "content": "Once"}}]}


def _claude(reason: str) -> Any:
    return {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": "Once"}],
        "stop_reason": reason,
    }


def _gemini(reason: str) -> Any:
    return {"candidates": [{"content": {"role": "model", "parts": [{"text": "Once"}]}, "finishReason": reason}]}


def _responses(status: str, reason: str | None) -> Any:
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Once"}]}
    return {
        "object": "response",
        "status": status,
        "incomplete_details": reason and {"reason": reason},
        "output": [said],
    }


GEMINI = {"contents": [{"role": "user", "parts": [{"text": "Hi."}]}]}
INPUT = {"model": "m", "input": "Hi."}
CUT = [
    (ASKED, _chat("length"), "length"),
    (ASKED, _chat("content_filter"), "content_filter"),
    (ASKED, _chat("insufficient_system_resource"), "length"),
    (ASKED, _claude("max_tokens"), "length"),
    (ASKED, _claude("refusal"), "content_filter"),
    (ASKED, _claude("pause_turn"), "pause"),
    (GEMINI, _gemini("MAX_TOKENS"), "length"),
    (GEMINI, _gemini("SAFETY"), "content_filter"),
    (INPUT, _responses("incomplete", "max_output_tokens"), "length"),
    (INPUT, _responses("incomplete", None), "length"),
]


def _stream(*chunks: Any) -> str:
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)


PIECE = {
    "object": "chat.completion.chunk",
    "choices": [{"index": 0, "delta": {"role": "assistant", "content": "Once"}}],
}
LAST = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]}


@pytest.mark.parametrize(
    ("row", "stop"),
    [
        *(({"request": asked, "response": answer}, stop) for asked, answer, stop in CUT),
        ({"request": ASKED, "response": _stream(PIECE, LAST)}, "length"),
        ({"request": ASKED, "output": "Once", "stop_reason": "max_tokens"}, "length"),
    ],
)
def test_an_answer_that_was_cut_off_or_blocked_is_a_loss(run: Run, tmp_path: Path, row: Any, stop: str) -> None:
    report, text = tmp_path / "losses.json", json.dumps(row) + "\n"
    for target in ("openai-finetune", "anthropic"):
        code, _, err = run("convert", "--to", target, "--report", str(report), stdin=text)
        (loss,) = (one for one in json.loads(report.read_bytes())["losses"] if one["severity"] != "bookkeeping")
        assert (code, loss["code"], loss["severity"]) == (0, "ending", "meaning"), err
        assert loss["examples"][0]["detail"] == stop
        code, out, err = run("convert", "--to", target, "--strict", stdin=text)
        assert (code, out, "ending dropped at /request" in err) == (2, "", True), err


@pytest.mark.parametrize("answer", [_chat("stop"), _chat("tool_calls"), _claude("end_turn"), _claude("stop_sequence")])
def test_an_answer_that_ended_has_no_loss(run: Run, answer: Any) -> None:
    row = {"request": ASKED, "response": answer}
    assert run(*TRAIN, "--strict", stdin=json.dumps(row) + "\n")[0] == 0


@pytest.mark.parametrize("answer", [_stream(PIECE), [PIECE]], ids=["text", "list"])
def test_a_stream_that_breaks_off_is_no_answer(run: Run, answer: Any) -> None:
    row = {"request": ASKED, "response": answer}
    code, out, err = run(*TRAIN, stdin=json.dumps(row) + "\n")
    assert (code, out, "the stream of the answer breaks off before its end" in err) == (2, "", True)


def test_a_stream_that_ends_without_a_reason_is_an_answer(run: Run, tmp_path: Path) -> None:
    report = tmp_path / "losses.json"
    row = {"request": ASKED, "response": f"{_stream(PIECE)}data: [DONE]\n\n"}
    code, out, err = run(*TRAIN, "--report", str(report), stdin=json.dumps(row) + "\n")
    assert (code, json.loads(out)["messages"][-1]["content"]) == (0, "Once"), err
    (loss,) = (one for one in json.loads(report.read_bytes())["losses"] if one["severity"] != "bookkeeping")
    assert (loss["code"], loss["examples"][0]["detail"]) == ("ending", "unstated")
    assert "1 answer cut off, blocked or ended without a reason: unstated 1" in run("stats", stdin=json.dumps(row))[2]
    row = {"request": ASKED, "response": "data: [DONE]\n\n"}
    assert run(*TRAIN, stdin=json.dumps(row) + "\n")[:2] == (2, "")


def test_an_answer_alone_that_was_cut_off_is_a_loss(run: Run) -> None:
    for _, answer, _ in CUT:
        code, _, err = run("convert", "--to", "langchain", "--strict", stdin=json.dumps(answer))
        assert (code, "ending dropped at" in err) == (2, True), err


@pytest.mark.parametrize(
    ("row", "stop"),
    [
        *(({"request": asked, "response": answer}, stop) for asked, answer, stop in CUT),
        *((answer, stop) for _, answer, stop in CUT),
        ({"request": ASKED, "output": "Once", "stop_reason": "max_tokens"}, "length"),
        (
            {"messages": [*ASKED["messages"], {"role": "assistant", "content": "O", "finish_reason": "length"}]},
            "length",
        ),
    ],
)
def test_each_command_says_that_an_answer_was_cut_off_or_blocked(run: Run, tmp_path: Path, row: Any, stop: str) -> None:
    words, text = f"1 answer cut off, blocked or ended without a reason: {stop} 1", json.dumps(row) + "\n"
    for command in ("stats", "view", "check"):
        assert words in run(command, stdin=text)[2], command
    assert json.loads(run("stats", "--json", stdin=text)[1])["endings"] == {stop: 1}
    assert run("view", "--out", str(page := tmp_path / "page.html"), stdin=text)[0] == 0
    assert words in page.read_text("utf-8")


def test_an_answer_that_ended_is_not_mentioned(run: Run) -> None:
    text = json.dumps({"request": ASKED, "response": _chat("stop")}) + "\n"
    for command in ("stats", "view", "check"):
        assert "cut off" not in run(command, stdin=text)[2]


BAD = b'{"messages": [{"role": "user", "content": "caf\xe9"}, {"role": "assistant", "content": "Hi."}]}'
GOOD = b'{"messages": [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}]}'


@pytest.mark.parametrize(
    ("name", "data", "byte", "kept"),
    [
        ("a.json", BAD, 46, 0),
        ("a.jsonl", BAD + b"\n", 46, 0),
        ("a.jsonl.gz", gzip.compress(BAD + b"\n", mtime=0), 46, 0),
        ("a.jsonl", BAD + b"\n" + GOOD + b"\n", 46, 1),
        ("a.jsonl", GOOD + b"\n" + BAD + b"\n", 46, 1),
        ("a.json", b"[" + BAD + b", " + GOOD + b"]", 47, 0),
        ("a.json", b"\xef\xbb\xbf" + BAD, 49, 0),
    ],
)
def test_bytes_that_are_not_utf8_are_never_replaced(  # noqa: PLR0913, PLR0917 - a file, and what is read of it
    run: Run, tmp_path: Path, name: str, data: bytes, byte: int, kept: int
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    code, out, err = run(*TRAIN, "--on-error", "skip", str(path))
    assert (code, len(out.splitlines()), f"not UTF-8 at byte {byte}" in err) == (1, kept, True), err
    for command in ("check", "stats", "view"):
        code, out, err = run(command, str(path))
        assert "\ufffd" not in out
        assert kept or f"not UTF-8 at byte {byte}" in out + err


def test_a_first_line_of_stdin_that_is_not_utf8_is_refused_alone(run: Run) -> None:
    code, out, err = run(*TRAIN, "--on-error", "skip", stdin=BAD + b"\n" + GOOD + b"\n")
    assert (code, len(out.splitlines()), "<stdin>:1: not UTF-8 at byte 46" in err) == (1, 1, True), err


def test_a_stream_of_json_lines_is_read_and_not_taken_as_text(run: Run) -> None:
    lines = [
        {"model": "m", "message": {"role": "assistant", "content": "Once"}, "done": False},
        {"model": "m", "message": {"role": "assistant", "content": " more"}, "done": True, "done_reason": "stop"},
    ]
    row = {"request": ASKED, "response": "".join(f"{json.dumps(line)}\n" for line in lines)}
    code, out, err = run(*TRAIN, stdin=json.dumps(row) + "\n")
    assert (code, json.loads(out)["messages"][-1]) == (0, {"role": "assistant", "content": "Once more"}), err
