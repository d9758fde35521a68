"""`toolfmt convert` for makers of training sets: duplicates, filters, shares, tokens, losses beside a row."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from toolfmt.transcripts.formats import formats

Run = Callable[..., tuple[int, str, str]]

TO = ("convert", "--from", "openai-chat", "--to", "anthropic")


def chat(number: int, *, tool: str = "", failed: bool = False, ident: str = "a") -> dict[str, Any]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": f"Question {number}"}]
    if tool:
        call = {"id": ident, "type": "function", "function": {"name": tool, "arguments": '{"a":' if failed else "{}"}}
        messages += [
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": ident, "content": "ok"},
        ]
    return {"messages": [*messages, {"role": "assistant", "content": "Answer."}]}


def lines(*rows: Any) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def numbers(out: str) -> list[int]:
    return [int(json.loads(line)["messages"][0]["content"].split()[-1]) for line in out.splitlines()]


ROWS = lines(
    chat(0),
    chat(1, tool="sky"),
    chat(2, tool="sea", failed=True),
    {"messages": [{"role": "system", "content": "S"}, *chat(3)["messages"]]},
    {"messages": chat(4)["messages"][:1]},
    {"messages": [*chat(5)["messages"], {"role": "tool", "tool_call_id": "a", "content": "ok"}]},
)


@pytest.mark.parametrize(
    ("filters", "kept"),
    [
        (["tool=sky"], [1]),
        (["call!=sky"], [0, 2, 3, 4, 5]),
        (["role=system"], [3]),
        (["role!=tool", "messages>=2"], [0, 3]),
        (["failures=0"], [0, 1, 3, 4]),
        (["broken > 0"], [2]),
        (["orphans>0"], [5]),
        (["calls=1", "broken=0"], [1]),
        (["characters<11"], [4]),
    ],
)
def test_filters(run: Run, filters: list[str], kept: list[int]) -> None:
    options = [word for one in filters for word in ("--filter", one)]
    code, out, err = run(*TO, *options, stdin=ROWS)
    assert (code, numbers(out)) == (0, kept)
    assert f", {6 - len(kept)} not selected" in err


@pytest.mark.parametrize("wrong", ["tool", "tool<3", "messages=few", "colour=red", "messages>=-1", ""])
def test_what_is_no_filter_is_refused(run: Run, wrong: str) -> None:
    code, out, err = run(*TO, "--filter", wrong, stdin=ROWS)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "is no filter" in err


def test_a_misspelt_field_of_a_filter_is_named(run: Run) -> None:
    code, _, err = run(*TO, "--filter", "mesages=3", stdin=ROWS)
    assert (code, err) == (2, "toolfmt: 'mesages=3' is no filter: did you mean 'messages'?\n")


@pytest.mark.parametrize("jobs", [1, 2])
def test_duplicates_are_written_once(run: Run, tmp_path: Path, jobs: int) -> None:
    again = [chat(0) | {"user": "b"}, chat(1, tool="sky", ident="b"), chat(1, tool="sea")]
    (tmp_path / "a.jsonl").write_text(ROWS, "utf-8")
    (tmp_path / "b.jsonl").write_text(lines(*again), "utf-8")
    out = tmp_path / "out.jsonl.gz"
    code, _, err = run(
        *TO, f"{tmp_path}/?.jsonl", "--dedup", "-o", out, "--report", tmp_path / "report.json", "--jobs", jobs
    )
    assert code == 0
    assert "7 converted to anthropic" in err
    assert ", 2 duplicates" in err
    code, text, _ = run("convert", out, "--from", "anthropic", "--to", "anthropic")
    assert numbers(text)[:3] == [0, 1, 2]
    assert numbers(text)[6:] == [1]
    assert json.loads((tmp_path / "report.json").read_text("utf-8"))["duplicates"] == 2
    assert run(*TO, tmp_path, "--dedup", "-o", out, "--resume")[0] == 2


def test_shares_do_not_overlap_and_leave_nothing_out(run: Run) -> None:
    rows = lines(*map(chat, range(200)))
    parts = [numbers(run(*TO, "--split", share, stdin=rows)[1]) for share in ("0-80", "80-90.5", "90.5-100")]
    assert sorted(number for part in parts for number in part) == list(range(200))
    assert 130 < len(parts[0]) < 190
    moved = lines(*(chat(number) for number in reversed(range(200))))
    assert sorted(numbers(run(*TO, "--split", "0-80", stdin=moved)[1])) == sorted(parts[0])
    for wrong in ("90", "0-101", "5-5", "a-b"):
        assert run(*TO, "--split", wrong, stdin=rows)[0] == 2


def test_losses_stand_beside_the_conversation(run: Run) -> None:
    named = {"messages": [{"role": "user", "content": "Question 7", "name": "ann"}]}
    code, out, _ = run(*TO, "--losses", stdin=lines(named))
    assert code == 0
    assert json.loads(out) == {
        "conversation": {"messages": [{"role": "user", "content": "Question 7"}]},
        "losses": [
            {"code": "speaker", "severity": "meaning", "path": "/messages/0", "action": "dropped", "detail": "ann"}
        ],
        "source": {"file": "<stdin>", "line": 1, "format": "openai-chat"},
    }
    assert run(*TO, "--losses", "-o", "x.parquet", stdin=lines(named))[0] == 2
    assert run(*TO, "--dedup", "-o", "x.parquet", stdin=lines(named))[0] == 2


@pytest.fixture
def tokenizer(tmp_path: Path) -> Path:
    """Write a tokenizer whose tokens are words."""
    words = {word: at for at, word in enumerate(["[UNK]", "Question", "Answer", "."])}
    made = {
        "version": "1.0",
        "added_tokens": [],
        "pre_tokenizer": {"type": "Whitespace"},
        "model": {"type": "WordLevel", "vocab": words, "unk_token": "[UNK]"},
    }
    (tmp_path / "tokenizer.json").write_text(json.dumps(made), "utf-8")
    return tmp_path


def test_tokens_are_counted_by_the_tokenizer_that_is_named(run: Run, tokenizer: Path) -> None:
    pytest.importorskip("tokenizers")
    rows = lines(chat(0), {"messages": [{"role": "user", "content": "Question 1 . . . . ."}]})
    found = json.loads(run("stats", "--json", "--tokenizer", tokenizer, stdin=rows)[1])
    assert found["tokens"] == {"all": 4 + 7, "longest": 7}
    assert "11 tokens, 7 in the longest conversation" in run("stats", "--tokenizer", tokenizer, stdin=rows)[2]
    shorter = ("--filter", "tokens<=4", "--tokenizer", tokenizer / "tokenizer.json")
    assert numbers(run(*TO, *shorter, stdin=rows)[1]) == [0]
    assert run(*TO, *shorter[:2], stdin=rows)[0] == 2, "without a tokenizer"
    other = tokenizer / "other.json"
    other.write_text("[]", "utf-8")
    code, _, err = run(*TO, *shorter[:3], other, stdin=rows)
    assert (code, f"{other}: is no tokenizer.json" in err, err.count("\n")) == (2, True, 1)


def test_a_broken_call_is_not_in_a_file_of_training_rows(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl"
    options = ("--from", "openai-chat", "--to", "hf-chat", "--out", str(out), "--on-error", "quarantine")
    code, _, err = run("convert", *options, stdin=lines(chat(0, tool="sky"), chat(1, tool="sea", failed=True)))
    assert (code, numbers(out.read_text())) == (1, [0]), err
    assert (
        "the arguments of the call to sea are not a JSON object"
        in (tmp_path / "rows.jsonl.quarantine.jsonl").read_text()
    )


ASKED = {"role": "user", "content": "Question 0"}
CALL = chat(0, tool="f")["messages"][1]
NO_ANSWER: dict[str, list[Any]] = {
    "an empty answer": [ASKED, {"role": "assistant", "content": ""}],
    "a blank one": [ASKED, {"role": "assistant", "content": " "}],
    "none": [ASKED],
    "a call that is dropped": [ASKED, CALL, {"role": "user", "content": "Well?"}],
    "nothing": [],
    "an answer alone": [{"role": "assistant", "content": "Answer."}],
}


@pytest.mark.parametrize("target", [made.name for made in formats() if made.rules.trained and made.writable])
@pytest.mark.parametrize("repair", [(), ("--repair", "drop"), ("--repair", "fill")])
def test_no_row_is_written_that_teaches_nothing(run: Run, target: str, repair: tuple[str, ...]) -> None:
    for name, messages in NO_ANSWER.items():
        if (name, target) == ("a call that is dropped", "xlam"):
            continue  # a row of the question and its call
        row = lines({"messages": messages})
        for source in ("openai-chat", *([target] if target == "openai-finetune" else [])):
            code, out, err = run("convert", "--from", source, "--to", target, *repair, stdin=row)
            assert (code, out) == (2, ""), (name, source)
            assert "not a row to train on" in err or "nothing is left" in err, (name, err)


@pytest.mark.parametrize("jobs", [1, 2])
def test_why_rows_are_left_out_is_in_the_summary_and_the_report(run: Run, tmp_path: Path, jobs: int) -> None:
    source, report = tmp_path / "a.jsonl", tmp_path / "report.json"
    source.write_text(lines(chat(0), *({"messages": chat(at)["messages"][:1]} for at in range(3)), 7), "utf-8")
    options = ("--from", "openai-chat", "--to", "trl", "--on-error", "skip", "--report", report, "--jobs", jobs)
    code, _, err = run("convert", source, *options)
    reason = "/messages/0: not a row to train on: no message is the assistant's, so there is nothing to learn"
    assert code == 1
    assert f"toolfmt: 3 left out, the first at {source}:2: {reason}\ntoolfmt: 1 left out, {source}:5: " in err
    first, second = json.loads(report.read_text("utf-8"))["failed_because"]
    assert first == {"times": 3, "first": {"file": str(source), "line": 2, "reason": reason}}
    assert second["times"] == 1


@pytest.mark.parametrize("target", ["openai-finetune", "trl", "hf-chat", "sharegpt"])
def test_what_follows_the_last_answer_is_dropped_if_asked(run: Run, target: str) -> None:
    longer = {"messages": [*chat(1)["messages"], {"role": "user", "content": "And?"}]}
    options = ("convert", "--from", "openai-chat", "--to", target)
    assert run(*options, stdin=lines(longer))[0] == 2
    assert run(*options, "--repair", "drop", stdin=lines(longer))[:2] == run(*options, stdin=lines(chat(1)))[:2]


@pytest.mark.parametrize(("target", "missing"), [("dpo", "rejected"), ("kto", "label and no rejected")])
def test_a_target_for_ratings_demands_them(run: Run, target: str, missing: str) -> None:
    code, out, err = run("convert", "--to", target, stdin=lines(chat(0)))
    assert (code, out) == (2, "")
    assert f"{target}: the conversation has no {missing}; choose trl" in err
    said = chat(0)["messages"]
    rated = [{"prompt": said[:1], "completion": said[1:], "label": False}] if target == "kto" else []
    for row in (
        *rated,
        {"prompt": said[:1], "chosen": said[1:], "rejected": [{"role": "assistant", "content": "No."}]},
    ):
        code, out, err = run("convert", "--to", target, stdin=lines(row))
        assert (code, json.loads(out)) == (0, row), err
