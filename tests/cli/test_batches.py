"""The requests of a batch are joined to answers in other files, whatever their order."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from toolfmt.corpora.picks import Picked
from toolfmt.errors import CorpusError, ParseError

Run = Callable[..., tuple[int, str, str]]


def asked(number: int) -> dict[str, Any]:
    body = {"model": "m", "messages": [{"role": "user", "content": f"Q{number}"}]}
    return {"custom_id": f"r{number}", "method": "POST", "url": "/v1/chat/completions", "body": body}


def said(number: int, text: str = "") -> dict[str, Any]:
    message = {"role": "assistant", "content": text or f"A{number}"}
    body = {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    response = {"status_code": 200, "body": body}
    return {"id": f"b{number}", "custom_id": f"r{number}", "response": response, "error": None}


EXPIRED = {"id": "b", "custom_id": "r1", "response": None, "error": {"code": "batch_expired", "message": "too late"}}
REFUSED = {
    "custom_id": "r1",
    "response": {"status_code": 400, "body": {"error": {"message": "bad schema", "type": "invalid_request_error"}}},
    "error": None,
}


def written(path: Path, rows: Iterable[Any]) -> Path:
    text = "".join(f"{json.dumps(row)}\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def turns(out: str) -> list[list[str]]:
    """Give the texts of each conversation."""
    return [[item["content"] for item in json.loads(line)["body"]["messages"]] for line in out.splitlines()]


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_the_order_of_answers_is_nothing(run: Run, tmp_path: Path, order: tuple[int, ...]) -> None:
    rows = written(tmp_path / "in.jsonl", map(asked, range(3)))
    answers = written(tmp_path / "out.jsonl.gz", map(said, order))
    code, out, err = run("convert", rows, "--answers", answers, "--to", "anthropic")
    assert (code, turns(out)) == (0, [["Q0", "A0"], ["Q1", "A1"], ["Q2", "A2"]]), err
    assert json.loads(out.splitlines()[0])["custom_id"] == "r0"
    code, out, err = run("convert", answers, "--answers", rows, "--to", "anthropic")
    assert (code, turns(out)) == (0, [[f"Q{number}", f"A{number}"] for number in order]), err


@pytest.mark.parametrize(
    ("failure", "reason"),
    [(EXPIRED, "/error: an API's error: too late"), (REFUSED, "/response/body: an API's error: bad schema")],
)
def test_failed_missing_and_superfluous_answers_are_reported(
    run: Run, tmp_path: Path, failure: Any, reason: str
) -> None:
    rows = written(tmp_path / "in.jsonl", map(asked, range(3)))
    answers = written(tmp_path / "out.jsonl", [failure, said(9), said(0)])
    given = (rows, "--answers", answers)
    code, out, err = run("convert", *given, "--to", "anthropic", "--on-error", "skip")
    assert (code, turns(out)) == (1, [["Q0", "A0"]])
    for line in (f"{rows}:2: {reason}", f"{rows}:3: no answer has the id 'r2'", "1 answer of no row"):
        assert line in err
    code, out, err = run("stats", *given, "--json")
    assert (code, json.loads(out)["messages"], json.loads(out)["unreadable"]) == (1, {"user": 1, "assistant": 1}, 2)
    assert "1 answer of no row" in err
    again = written(tmp_path / "again.jsonl", [said(1, "later"), said(2)])
    code, out, err = run("convert", *given, "--answers", again, "--to", "anthropic", "--jobs", "2")
    assert (code, turns(out)) == (0, [["Q0", "A0"], ["Q1", "later"], ["Q2", "A2"]]), err
    twice = written(tmp_path / "twice.jsonl", [said(0, "another")])
    code, out, err = run("convert", rows, "--answers", answers, "--answers", twice, "--to", "anthropic")
    assert (code, "2 answers have the id of the row" in err) == (2, True)


def test_batches_of_other_apis(tmp_path: Path) -> None:
    message = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": "Hi"}],
        "stop_reason": "end_turn",
    }
    rows = written(
        tmp_path / "answers.jsonl",
        [
            {"custom_id": "a", "result": {"type": "succeeded", "message": message}},
            {"custom_id": "b", "result": {"type": "errored", "error": {"type": "error", "error": {"message": "bad"}}}},
            {"custom_id": "c", "result": {"type": "expired"}},
            {"key": "g", "response": {"candidates": [{"content": {"role": "model", "parts": [{"text": "Hi"}]}}]}},
            {"key": "h", "error": {"code": 3, "message": "worse"}},
        ],
    )
    picked = Picked(answers=(str(rows),))
    params = {"model": "claude", "max_tokens": 9, "messages": [{"role": "user", "content": "Q"}]}
    found = picked.pick({"custom_id": "a", "params": params})
    assert found.format.name == "anthropic"
    assert found.value["messages"] == [*params["messages"], {"role": "assistant", "content": message["content"]}]
    contents = [{"role": "user", "parts": [{"text": "Q"}]}]
    found = picked.pick({"key": "g", "request": {"contents": contents}})
    assert found.format.name == "gemini"
    assert found.value == {"contents": [*contents, {"role": "model", "parts": [{"text": "Hi"}]}]}
    for name, reason in (("b", "error: bad"), ("c", "it is expired")):
        with pytest.raises(ParseError, match=reason):
            picked.pick({"custom_id": name, "params": params})
    with pytest.raises(ParseError, match="error: worse"):
        picked.pick({"key": "h", "request": {"contents": contents}})
    with pytest.raises(ParseError, match="the row has no id"):
        picked.pick({"params": params})


def test_other_logs_name_the_places(tmp_path: Path) -> None:
    rows = written(tmp_path / "answers.jsonl", [{"id": 7, "said": {"text": "A"}}])
    picked = Picked(answers=(str(rows),), at="/asked", answer="/said/text")
    found = picked.pick({"id": 7, "asked": [{"role": "user", "content": "Q"}]})
    assert found.value == [{"role": "user", "content": "Q"}, {"role": "assistant", "content": "A"}]
    with pytest.raises(ParseError, match="give --answer"):
        Picked(answers=(str(rows),)).pick({"id": 7, "messages": [{"role": "user", "content": "Q"}]})


def test_answers_are_rows_with_an_id(tmp_path: Path) -> None:
    for row, error in (({"response": {}}, CorpusError), ("{", ParseError)):
        path = tmp_path / "answers.jsonl"
        path.write_text(row if isinstance(row, str) else json.dumps(row), encoding="utf-8")
        with pytest.raises(error, match=r"answers\.jsonl:1: "):
            Picked(answers=(str(path),)).pick(asked(0))


def test_a_file_of_answers_is_not_written_over(run: Run, tmp_path: Path) -> None:
    rows = written(tmp_path / "in.jsonl", [asked(0)])
    answers = written(tmp_path / "out.jsonl", [said(0)])
    before = answers.read_bytes()
    code, _, err = run("convert", rows, "--answers", answers, "--to", "anthropic", "--out", answers)
    assert (code, "--out" in err, answers.read_bytes() == before) == (2, True, True)


def test_two_rows_with_one_id_do_not_share_an_answer(run: Run, tmp_path: Path) -> None:
    first = written(tmp_path / "1.jsonl", map(asked, range(2)))
    second = written(tmp_path / "2.jsonl", [asked(0)])
    answers = written(tmp_path / "out.jsonl", map(said, range(2)))
    reason = f"{second}:1: an earlier row has the id 'r0', too"
    for command in (
        ("convert", "--to", "anthropic", "--on-error", "skip"),
        ("convert", "--to", "anthropic", "--out", tmp_path / "all.jsonl"),
        ("convert", "--to", "anthropic", "--out", tmp_path / "all.jsonl", "--resume"),  # which reads the second alone
        ("stats",),
        ("check",),
        ("view",),
    ):
        code, _, err = run(*command, first, second, "--answers", answers)
        assert (code, reason in err) == (2, True), err
    samples = written(tmp_path / "samples.jsonl", [said(0), said(0, "another")])
    code, out, err = run("convert", samples, "--answers", first, "--to", "anthropic")
    assert (code, turns(out), "1 answer of no row" in err) == (0, [["Q0", "A0"], ["Q0", "another"]], True), err


def test_answers_are_read_like_rows(run: Run, tmp_path: Path) -> None:
    rows = written(tmp_path / "in.jsonl", [asked(0), asked(1)])
    nulls = {**said(1), "key": None}
    nulls["response"]["body"]["choices"][0]["message"] |= {"tool_calls": None, "name": None}
    text = "\r\n".join(json.dumps(one) for one in (said(0), nulls, said(0)))  # one is there twice
    answers = tmp_path / "out.jsonl"
    answers.write_text(f"\ufeff{text}\r\n", "utf-8", newline="")
    code, out, err = run("convert", rows, "--answers", answers, "--to", "anthropic", "--drop-nulls", "--strict")
    assert (code, turns(out)) == (0, [["Q0", "A0"], ["Q1", "A1"]]), err
    unnamed = written(tmp_path / "true.jsonl", [{**asked(0), "custom_id": True}])
    written(answers, [{**said(0), "custom_id": "True"}])
    code, _, err = run("convert", unnamed, "--answers", answers, "--to", "anthropic")
    assert (code, "the row has no id by which" in err) == (2, True)
