"""What the machines of a cluster do with pieces of files gives what one machine gives; `bench/cluster.py` runs Ray."""

from __future__ import annotations

import gzip
import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from toolfmt.corpora.batches import ReadOptions
from toolfmt.corpora.cluster import FileSpan, Worker, pieces
from toolfmt.corpora.engines import local
from toolfmt.corpora.picks import Picked
from toolfmt.corpora.sources import START, Position, sources
from toolfmt.corpora.work import Done, Job, Work
from toolfmt.errors import CorpusError, ParseError, install_line

pyarrow = pytest.importorskip("pyarrow", reason="pyarrow comes with the extra corpora, and that with test")
parquet = pytest.importorskip("pyarrow.parquet")

ROOT = Path(__file__).resolve().parents[2]
CHATS = [[{"role": "user", "content": f"{at} {'x' * 5000}", "name": "ann"}] for at in range(900)]


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """Give a job over a file of each kind."""
    lines = "".join(json.dumps(chat) + ("\n{bad\n" if at % 300 == 7 else "\n") for at, chat in enumerate(CHATS))
    (tmp_path / "a.jsonl").write_text(lines, "utf-8")
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    (tmp_path / "c.json").write_text(json.dumps(CHATS[0], indent=1), "utf-8")
    (tmp_path / "d.jsonl").write_text("", "utf-8")
    table = pyarrow.Table.from_pylist([{"id": at, "messages": chat} for at, chat in enumerate(CHATS)])
    parquet.write_table(table, tmp_path / "e.parquet", row_group_size=350)
    return Job(
        Work(Picked(formats=("openai-chat",)), "anthropic"),
        ReadOptions(("openai-chat",)),
        sources([str(tmp_path)]),
        START,
        1,
    )


def by_pieces(job: Job) -> tuple[list[FileSpan], list[Done]]:
    cut = list(pieces(job, span=1 << 20))
    worker: Worker = pickle.loads(pickle.dumps(Worker(job.work, job.reading)))  # noqa: S301 - made here
    made = [
        pickle.loads(done)  # noqa: S301 - made here
        for piece in cut
        for rows in worker({"piece": [pickle.dumps(piece)]})
        for done in rows["done"]
    ]
    return cut, made


def facts(made: list[Done]) -> list[object]:
    return [(one.source, one.end, one.data, one.failures, one.tally.report(), one.stopped) for one in made]


def test_pieces_give_what_the_whole_gives(job: Job) -> None:
    cut, made = by_pieces(job)
    names = [Path(piece.source.path).name for piece in cut]
    assert [names.count(Path(source.path).name) for source in job.sources] == [3, 1, 1, 0, 3]
    assert facts(made) == facts(list(local(job)))
    assert sum(one.tally.converted for one in made) == 3 * 900 + 1


def test_a_later_run_begins_in_the_middle(job: Job) -> None:
    for at in (0, 1, 4):
        whole = list(local(Job(job.work, job.reading, job.sources[at:], START, 1)))
        assert whole[2].source == job.sources[at]
        rest = Job(job.work, job.reading, job.sources[at:], whole[1].end, 1)
        assert facts(by_pieces(rest)[1]) == facts(whole[2:]) == facts(list(local(rest)))


def test_what_a_machine_cannot_read_comes_back_as_an_error(job: Job) -> None:
    path = Path(job.sources[1].path)
    path.write_bytes(path.read_bytes()[:-100])
    *_, last = by_pieces(Job(job.work, job.reading, job.sources[1:2], START, 1))[1]
    assert isinstance(last, ParseError)
    assert "damaged or cut off" in str(last)


def test_standard_input_is_refused(job: Job) -> None:
    with pytest.raises(CorpusError, match="not standard input"):
        list(pieces(Job(job.work, job.reading, sources(["<stdin>"]), Position(), 1)))


def test_without_the_extra_it_says_what_to_install(tmp_path: Path) -> None:
    code = "import sys; sys.modules['ray'] = None; from toolfmt.cli import main; sys.exit(main(sys.argv[1:]))"
    (tmp_path / "in.jsonl").write_text("[]\n", "utf-8")
    arguments = ["convert", str(tmp_path / "in.jsonl"), "--to", "anthropic", "--engine", "ray"]
    command = [sys.executable, "-c", code, *arguments]
    ran = subprocess.run(command, capture_output=True, check=False, text=True, cwd=ROOT)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("toolfmt: --engine ray needs")
    assert install_line("ray") in ran.stderr
    assert ran.stderr.count("\n") == 1
