"""The measurements of `bench/` run, and measure what they say."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from bench import growth
from bench.converters import cases
from bench.dialects import Report
from bench.measure import peak, seconds
from bench.speeds import FIGURES, SIZES
from bench.workload import RAW, Workload, kinds
from tests import sampling
from toolfmt import check, jsontext
from toolfmt.dialect.record import Dialect
from toolfmt.events import CallEnd, CallFailed
from toolfmt.lookup.registry import default_registry

DIALECTS = sampling.kinds()


def run(*arguments: str) -> str:
    """Run a script as its users do, in a process of its own: it changes the collector and takes signals."""
    root = Path(__file__).resolve().parents[2]
    ran = subprocess.run([sys.executable, "-m", *arguments], cwd=root, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_what_is_measured_is_read_whole_and_in_pieces(dialect: Dialect[str]) -> None:
    for kind in kinds(dialect):
        for calls in (1, 10) if dialect.traits.parallel else (1,):
            work = Workload(dialect, kind, calls, 3_000)
            for size in (0, 1, 4, 50):
                events = [event for found in work.read(work.pieces(size)) for event in found]
                assert not [event for event in events if isinstance(event, CallFailed)]
                read = [event.call for event in events if isinstance(event, CallEnd)]
                assert len(read) == calls
                for call, written in zip(read, work.invocations, strict=True):
                    assert jsontext.equal(call.arguments, written.arguments)
            assert sum(len(call.arguments["content"]) for call in work.invocations) == work.size
            assert [jsontext.loads(text) for text in work.arguments] == [call.arguments for call in work.invocations]


def test_raw_text_is_measured_in_dialects_that_exist() -> None:
    assert set(RAW) <= set(default_registry().names())


def test_the_cost_of_running_a_call_has_its_rows() -> None:
    heading, *rows = run("bench.execution", "--calls", "20").splitlines()
    assert heading.startswith("20 calls")
    assert [row.split()[0] for row in rows] == [name for name in ("loop", "inline", "thread") for _ in range(3)]
    assert all(float(row.split()[-1]) for row in rows)


def test_a_dialect_has_its_rows() -> None:
    some = DIALECTS[::12]
    names = [dialect.name for dialect in some]
    lines = run("bench.dialects", *names, "--quick", "--largest", "1000").splitlines()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("|")]
    assert rows[0] == ["dialect", "code", "calls", "size", *rows[0][4:]]
    expected = [
        (dialect.name, kind, calls, size)
        for dialect in some
        for kind in kinds(dialect)
        for calls in (("1", "10") if dialect.traits.parallel else ("1",))
        for size in ("100", "1,000")
    ]
    assert [tuple(row[:4]) for row in rows[2:]] == expected
    for row in rows[2:]:
        assert len(row) == len(rows[0])
        assert all(float(cell) > 0 for cell in row[5:]), row


def test_a_corpus_is_converted_beside_bare_json() -> None:
    lines = run("bench.corpus", "--size", "1", "--jobs", "1").splitlines()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    assert [row[0] for row in rows] == ["run", "---", "json alone", "--jobs 1"]
    assert all(float(cell) > 0 for row in rows[2:] for cell in row[1:-1])
    assert float(rows[-1][-1]) > 0


def test_conversations_are_converted_beside_bare_json() -> None:
    lines = run("bench.converters", "--largest", "10", "--budget", "0.001").splitlines()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    ours = [row for row in rows if row[1] == "toolfmt"]
    cases = [("messages", "10"), ("calls", "1"), ("calls", "10")]
    assert [(row[0], row[2], row[3]) for row in ours] == [
        (name, *case) for name in ("openai-chat", "anthropic") for case in cases
    ]
    for row in ours:
        assert len(row) == len(rows[0])
        assert all(float(cell.replace(",", "")) > 0 for cell in row[4:-1]), row
        assert row[-1] == "0"


def test_a_conversation_has_as_many_messages_as_it_says_and_is_one_that_both_accept() -> None:
    for case in cases(100):
        assert case.count == len(case.requests["openai-chat"]["messages"])
        assert case.count == (case.number if case.what == "messages" else case.number + 3)
        for name, request in case.requests.items():
            assert check(request, format=name) == ()


def test_no_trait_of_a_conversation_is_lost_in_silence() -> None:
    lines = run("bench.fidelity", "--each").splitlines()
    ours = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if "| toolfmt |" in line]
    assert [row[0] for row in ours] == ["openai-chat", "anthropic"]
    for _, _, traits, kept, reported, silence, invalid in ours:
        assert int(kept) + int(reported) == int(traits) > int(kept) > 0
        assert (silence, invalid) == ("0", "0")
    assert "openai-chat, toolfmt: names of speakers: told" in lines


def test_growth_is_measured() -> None:
    assert " of " in run("bench.growth", "tool-json", "--seconds", "0.2").splitlines()[-1]


def test_an_interrupted_run_has_measured_each_option_and_size_of_a_dialect() -> None:
    every = [*growth.cells({name: growth.traps_of(name) for name in ("hermes", "tool-json")}, turn=0)]
    ordered = growth.spread(every, Random(0))  # noqa: S311 - to be repeated
    pairs = [(cell.dialect, cell.option, cell.piece) for cell in ordered]
    assert {*pairs[: len({*pairs})]} == {*pairs}
    assert len({*pairs}) == 2 * len(growth.OPTIONS) * len(growth.PIECES)
    assert Counter(ordered) == Counter(every)


def test_time_and_memory_are_those_of_the_function() -> None:
    assert 5_000_000 <= peak(lambda: bytes(5_000_000)) < 5_100_000
    assert seconds(lambda: sum(range(100_000)), 0.01) > 10 * seconds(lambda: sum(range(1_000)), 0.01)


def test_a_figure_above_its_budget_is_reported() -> None:
    report = Report()
    report.judge("small", 1.0, 2.0, "us")
    report.judge("large", 3.0, 2.0, "us")
    assert report.misses == ["- large: 3.00 us, at most 2"]


def test_the_docs_show_the_speed_of_every_format() -> None:
    kept = jsontext.loads(FIGURES.read_text("utf-8"))["formats"]
    assert kept.keys() == set(default_registry().names())
    for rows in kept.values():
        assert [row["size"] for row in rows] == list(SIZES)
        assert all(figure > 0 for row in rows for figure in row.values())


def test_some_formats_are_measured_anew(tmp_path: Path) -> None:
    kept = tmp_path / "speeds.json"
    for names in (("hermes", "glm45"), ("glm45",)):
        run("bench.speeds", "--only", *names, "--largest", "1000", "--budget", "0.01", "-o", str(kept))
        assert [*jsontext.loads(kept.read_text("utf-8"))["formats"]] == ["hermes", "glm45"]


def test_the_text_driver_is_measured() -> None:
    rows = run("bench.driving", "hermes", "execute-array", "--runs", "1").splitlines()[2:]
    assert [row.split("|")[1].strip() for row in rows] == ["hermes", "execute-array"]
    assert all(float(figure) > 0 for row in rows for figure in row.split("|")[2:-1])


def test_detection_is_measured() -> None:
    lines = run("bench.detection", "--quick").splitlines()
    rows = [line.split("|")[1].strip() for line in lines if line.startswith("|")]
    assert rows[2:6] == ["prose", "code", "HTML", "JSON"]
    assert any(row.endswith(", qwen3-coder") for row in rows)
