"""Long runs of `toolfmt convert`: several processes, interrupts, resuming; always the same bytes."""

from __future__ import annotations

import gzip
import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import product
from pathlib import Path
from time import sleep
from typing import IO, Any

import pytest

from tests import sampling
from toolfmt.corpora import targets
from toolfmt.errors import install_line

Run = Callable[..., tuple[int, str, str]]

ROOT = Path(__file__).resolve().parents[2]
TO = ("--from", "openai-chat", "--to", "anthropic")
ASIDE = ("--on-error", "quarantine")


def row(number: int) -> str:
    call = {"id": f"c{number}", "type": "function", "function": {"name": "f", "arguments": f'{{"n":{number}}}'}}
    chat = [
        {"role": "user", "content": f"{number} " + "Łódź " * (number % 500), "name": "ann"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": "18C"},
    ]
    return "{bad\n" if number % 97 == 5 else json.dumps(chat) + "\n"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Write a file of several batches, with bad rows in it and half a row at its end."""
    path = tmp_path / "in.jsonl"
    path.write_text("".join(map(row, range(900))) + '[{"role": "user"', "utf-8")
    assert path.stat().st_size > 3 << 20
    return path


def made(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def into(folder: Path, name: str = "out.jsonl") -> tuple[str, ...]:
    folder.mkdir(exist_ok=True)
    return ("-o", str(folder / name), *ASIDE, "--report", str(folder / "report.json"))


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz"])
def test_more_processes_write_the_same_bytes(run: Run, corpus: Path, tmp_path: Path, name: str) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    first = run("convert", corpus, *TO, *into(one, name))
    second = run("convert", corpus, *TO, *into(two, name), "--jobs", 2)
    assert first[0] == second[0] == 1
    assert first[2].replace("/one/", "/two/") == second[2]
    assert made(one) == made(two)
    assert sorted(made(one)) == [name, f"{name}.quarantine.jsonl", "report.json"]
    text = gzip.decompress(made(one)[name]) if name.endswith(".gz") else made(one)[name]
    bad = [number for number in range(900) if row(number) == "{bad\n"]
    assert [int(json.loads(line)["messages"][0]["content"].split()[0]) for line in text.splitlines()] == [
        number for number in range(900) if number not in bad
    ]
    aside = [json.loads(line) for line in made(one)[f"{name}.quarantine.jsonl"].splitlines()]
    assert [one["line"] for one in aside] == [*(number + 1 for number in bad), 901]


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_is_before_an_error_is_there(run: Run, corpus: Path, tmp_path: Path, jobs: int) -> None:
    out = tmp_path / "out.jsonl"
    code, _, err = run("convert", corpus, *TO, "-o", out, "--jobs", jobs)
    assert code == 2
    assert f"{corpus}:6: " in err
    assert len(out.read_bytes().splitlines()) == 5
    # Going on with other orders about errors looks at the bad row again.
    assert run("convert", corpus, *TO, *into(tmp_path / "whole"))[0] == 1
    assert run("convert", corpus, *TO, "-o", out, *ASIDE, "--resume", "--jobs", jobs)[0] == 1
    assert out.read_bytes() == made(tmp_path / "whole")["out.jsonl"]
    aside = tmp_path / "out.jsonl.quarantine.jsonl"
    assert aside.read_bytes() == made(tmp_path / "whole")["out.jsonl.quarantine.jsonl"]


@pytest.mark.parametrize(("jobs", "packing"), sampling.share([*product([1, 2], ["", ".gz"])], 0, 3))
def test_going_on_passes_over_what_is_done(run: Run, tmp_path: Path, packing: str, jobs: int) -> None:
    file, out = tmp_path / f"in.jsonl{packing}", tmp_path / f"out.jsonl{packing}"
    text = ("".join(row(number) for number in range(900) if number % 97 != 5) + "[{").encode()
    file.write_bytes(gzip.compress(text) if packing else text)
    assert run("convert", file, *TO, *into(tmp_path / "whole", out.name))[0] == 1
    assert run("convert", file, *TO, "-o", out, "--jobs", jobs)[0] == 2
    assert state(tmp_path / f"{out.name}.resume.json")["offset"] > 1 << 20
    code, _, err = run("convert", file, *TO, "-o", out, "--resume", "--on-error", "skip", "--jobs", jobs)
    assert code == 1
    assert "890 converted to anthropic, 0 without loss, 1 left out" in err
    assert out.read_bytes() == made(tmp_path / "whole")[out.name]


def test_a_folder_goes_on_with_the_file_it_was_at(run: Run, tmp_path: Path) -> None:
    inside, whole, halves = (tmp_path / name for name in ("in", "whole", "halves"))
    inside.mkdir()
    for name, text in {"a": row(1), "b": "", "c": row(2) + "[{\n" + row(3), "d": row(4)}.items():
        (inside / f"{name}.jsonl").write_text(text, "utf-8")
    skip = ("--on-error", "skip")
    assert run("convert", inside, *TO, "-o", f"{whole}/", *skip)[0] == 1
    assert run("convert", inside, *TO, "-o", f"{halves}/")[0] == 2
    assert sorted(made(halves)) == ["a.jsonl", "b.jsonl", "c.jsonl"]
    assert run("convert", inside, *TO, "-o", f"{halves}/", *skip, "--resume")[0] == 1
    assert made(halves) == made(whole)
    assert sorted(made(whole)) == ["a.jsonl", "b.jsonl", "c.jsonl", "d.jsonl"]
    assert not (tmp_path / "halves.resume.json").exists()


def test_only_the_same_run_goes_on(run: Run, tmp_path: Path) -> None:
    file, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    file.write_text(row(1) + "[{\n", "utf-8")
    assert run("convert", file, *TO, "-o", out)[0] == 2
    code, _, err = run("convert", file, *TO, "-o", out, "--strict", "--resume")
    assert (code, "had other options" in err) == (2, True)
    file.write_text(row(1), "utf-8")
    code, _, err = run("convert", file, *TO, "-o", out, "--resume")
    assert (code, "had other inputs" in err) == (2, True)
    assert run("convert", file, *TO, "-o", out)[0] == 2
    assert run("convert", file, *TO, "-o", out, "--overwrite")[0] == 0
    before = out.read_bytes()
    code, _, err = run("convert", file, *TO, "-o", out, "--resume")
    assert (code, err) == (
        0,
        f"toolfmt: {out} is as it was: no run of it was interrupted; without --resume it is written again\n",
    )
    assert out.read_bytes() == before
    assert (run("convert", file, *TO, "--resume")[0], run("convert", file, *TO, "-j", 0)[0]) == (2, 2)


def test_a_target_that_cannot_be_written_is_named(run: Run, corpus: Path, tmp_path: Path) -> None:
    for target, named in (("/dev/full", "/dev/full: No space"), ("/proc/out.jsonl", "/proc")):
        code, out, err = run("convert", corpus, *TO, "-o", target, "--on-error", "skip")
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err.startswith(f"toolfmt: {named}")
    folder = tmp_path / "new" / "deep"
    for option in ("-o", "--report", "--quarantine"):
        code, out, err = run("convert", corpus, *TO, option, folder / "out.jsonl", "--on-error", "quarantine")
        assert (code, out) == (2, "")
        assert f"there is no folder {folder}: make it first" in err
    assert run("convert", corpus, *TO, "-o", f"{tmp_path}/new/", "--on-error", "skip")[0] == 1


def test_a_row_that_is_too_long_is_refused_by_name(run: Run, tmp_path: Path) -> None:
    file, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    file.write_text(row(1) + json.dumps("x" * 5_000_000) + "\n" + row(2), "utf-8")
    limited = ("--max-row", 100_000, "-o", out, "--overwrite")
    code, _, err = run("convert", file, *TO, *limited)
    assert code == 2
    assert "in.jsonl:2: a row of 5000003 bytes is longer than the limit of 100000 (--max-row)" in err
    assert run("convert", file, *TO, *limited, "--on-error", "skip")[0] == 1
    assert [json.loads(line)["messages"][0]["content"][0] for line in out.read_text("utf-8").splitlines()] == ["1", "2"]
    file.write_text(row(1) + json.dumps("x" * 200_000) + "\n" + row(2), "utf-8")
    code, _, err = run("convert", file, *TO, *limited)
    assert (code, "in.jsonl:2: a row of 200002 bytes" in err) == (2, True)
    spread = tmp_path / "one.json"
    spread.write_text(json.dumps(["x" * 60_000] * 2, indent=1), "utf-8")
    code, _, err = run("convert", spread, *TO, *limited)
    assert (code, "one.json: a row of 120" in err) == (2, True)


def test_a_terminal_shows_how_far_it_is(corpus: Path, tmp_path: Path) -> None:
    master, terminal = pty.openpty()
    command = [sys.executable, "-m", "toolfmt", "convert", str(corpus), *TO, *into(tmp_path / "whole")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "150", "TERM": "xterm"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=terminal, env=environment) as process:
        os.close(terminal)
        shown = ""
        with suppress(OSError), os.fdopen(master, "rb", buffering=0) as screen:  # a terminal ends with an error
            while data := screen.read(65536):
                shown += data.decode("utf-8", "replace")
        assert process.stdout is not None
        assert process.stdout.read() == b""
        assert process.wait() == 1
    assert re.search(r"890 conversations.*100%.*0:00:00", shown)
    assert "890 converted to anthropic" in shown


@contextmanager
def fed(*arguments: str) -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes]]]:
    command = [sys.executable, "-m", "toolfmt", "convert", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment) as process:
        assert process.stdin is not None
        yield process, process.stdin


def state(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text("utf-8")) if path.exists() else {"written": 0}


@pytest.mark.parametrize(
    ("how", "name"), sampling.share([*product([signal.SIGINT, signal.SIGKILL], ["out.jsonl", "out.jsonl.gz"])], 0, 3)
)
def test_an_interrupted_run_goes_on(run: Run, corpus: Path, tmp_path: Path, how: signal.Signals, name: str) -> None:
    whole, halves = tmp_path / "whole", tmp_path / "halves"
    assert run("convert", *TO, *into(whole, name), stdin=corpus.read_bytes())[0] == 1
    progress = halves / f"{name}.resume.json"
    sent = 0
    with fed(*TO, *into(halves, name)) as (process, pipe):
        while not state(progress)["written"]:  # it is noted once in a second
            assert process.poll() is None
            pipe.write(row(sent).encode())
            pipe.flush()
            sent += 1
            sleep(0.01)
        process.send_signal(how)
        process.wait()
    assert process.returncode == (130 if how == signal.SIGINT else -signal.SIGKILL)
    assert 0 < state(progress)["written"] <= (halves / name).stat().st_size
    with (halves / name).open("ab") as file:
        file.write(b'{"half a row')
    assert run("convert", *TO, *into(halves, name), "--resume", stdin=corpus.read_bytes())[0] == 1
    if name.endswith(".gz"):  # a pipe is cut into batches as it comes
        assert gzip.decompress(made(halves).pop(name)) == gzip.decompress(made(whole).pop(name))
        assert {**made(halves), name: b""} == {**made(whole), name: b""}
    else:
        assert made(halves) == made(whole)


def test_without_the_extra_nothing_is_begun(corpus: Path, tmp_path: Path) -> None:
    code = "import sys; sys.modules['pyarrow'] = None; from toolfmt.cli import main; sys.exit(main(sys.argv[1:]))"
    for name in ("out.parquet", "out.jsonl.zst"):
        command = [sys.executable, "-c", code, "convert", str(corpus), *TO, "-o", str(tmp_path / name), "--jobs", "2"]
        ran = subprocess.run(command, capture_output=True, check=False, text=True, cwd=ROOT)
        assert (ran.returncode, ran.stdout) == (2, "")
        assert ran.stderr.startswith(f"toolfmt: writing {name} needs")
        assert install_line("corpora") in ran.stderr
        assert list(tmp_path.iterdir()) == [corpus]


@pytest.mark.parametrize(
    ("out", "name"),
    [
        ("out.jsonl", "out.jsonl"),
        ("out.parquet", "out.parquet.rows"),
        ("out.parquet", "out.parquet.new"),
        ("out.jsonl", "out.jsonl.resume.json.new"),
        ("folder/", "folder/in.jsonl"),
    ],
)
def test_no_output_is_written_through_a_link(run: Run, tmp_path: Path, out: str, name: str) -> None:
    source, victim, link = tmp_path / "in.jsonl", tmp_path / "victim", tmp_path / name
    source.write_text('{"messages": [{"role": "user", "content": "Hi"}]}\n', "utf-8")
    victim.write_text("precious", "utf-8")
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(victim)
    code, _, err = run("convert", source, *TO, "-o", f"{tmp_path}/{out}")
    assert victim.read_text("utf-8") == "precious"
    assert code == 2
    assert f"{name.rpartition('/')[2]}: is a symbolic link" in err


def test_no_output_is_written_through_a_linked_folder(run: Run, tmp_path: Path) -> None:
    source, victim, out = tmp_path / "in" / "sub" / "a.jsonl", tmp_path / "victim", tmp_path / "out"
    for folder in (source.parent, victim, out):
        folder.mkdir(parents=True)
    source.write_text('{"messages": [{"role": "user", "content": "Hi"}]}\n', "utf-8")
    (out / "sub").symlink_to(victim)
    code, _, err = run("convert", tmp_path / "in", *TO, "-o", f"{out}/")
    assert (code, f"{out / 'sub'}: is a symbolic link" in err) == (2, True)
    assert not list(victim.iterdir())
    (tmp_path / "named").symlink_to(victim)  # the folder that the user names may be one
    assert run("convert", tmp_path / "in", *TO, "-o", f"{tmp_path / 'named'}/")[0] == 0
    assert [path.name for path in victim.rglob("*.jsonl")] == ["a.jsonl"]


def test_a_link_that_is_put_in_place_after_the_check_is_not_followed(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, victim, out = tmp_path / "in.jsonl", tmp_path / "victim", tmp_path / "out.jsonl"
    source.write_text('{"messages": [{"role": "user", "content": "Hi"}]}\n', "utf-8")
    victim.write_text("precious", "utf-8")
    checked = targets.own_file

    def race(path: Path) -> Path:
        found = checked(path)
        if path == out and sys._getframe(1).f_code is targets.open_own.__code__:
            out.symlink_to(victim)
        return found

    monkeypatch.setattr(targets, "own_file", race)
    assert run("convert", source, *TO, "-o", out)[0] == 2
    assert victim.read_text("utf-8") == "precious"


def test_an_interrupted_output_is_not_written_over(run: Run, tmp_path: Path) -> None:
    file, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    file.write_text(row(400) * 1000 + "{bad\n", "utf-8")
    arguments = ("convert", file, *TO, "-o", out)
    assert run(*arguments)[0] == 2
    before = out.read_bytes()
    code, _, err = run(*arguments)
    assert (code, "use --resume to continue or --overwrite to start again" in err) == (2, True)
    assert out.read_bytes() == before
    assert run(*arguments, "--resume", "--on-error", "skip")[0] == 1
    whole = out.read_bytes()
    assert run(*arguments)[0] == 2, "a complete output is no interrupted one"
    assert run(*arguments, "--overwrite", "--on-error", "skip")[0] == 1
    assert out.read_bytes() == whole


@pytest.mark.parametrize("option", ["-o", "--report", "--quarantine"])
def test_what_could_not_be_written_is_refused_before_reading(run: Run, tmp_path: Path, option: str) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    for place in (tmp_path / "file" / "x.jsonl", tmp_path):
        if option == "-o" and place == tmp_path:
            continue  # a folder has a file for each input
        code, out, err = run("convert", *TO, "--on-error", "quarantine", option, place, stdin="{bad")
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert str(tmp_path) in err
        assert not (tmp_path / "quarantine.jsonl").exists()


def test_an_output_that_was_shortened_is_not_gone_on_with(run: Run, tmp_path: Path) -> None:
    file, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    file.write_text("".join(row(number) for number in range(900) if number % 97 != 5) + "[{", "utf-8")
    assert run("convert", file, *TO, "-o", out)[0] == 2
    kept = out.read_bytes()[: state(tmp_path / "out.jsonl.resume.json")["written"] - 1]
    out.write_bytes(kept)
    code, _, err = run("convert", file, *TO, "-o", out, "--resume", "--on-error", "skip")
    assert (code, f"{out}: is shorter than" in err) == (2, True)
    assert out.read_bytes() == kept


@pytest.mark.parametrize("name", ["in.jsonl", "in.json"])
def test_a_byte_order_mark_is_no_part_of_the_first_row(run: Run, tmp_path: Path, name: str) -> None:
    plain, marked = tmp_path / f"plain-{name}", tmp_path / name
    plain.write_text(row(1), "utf-8")
    marked.write_text(row(1), "utf-8-sig")
    assert run("convert", marked, *TO) == run("convert", plain, *TO)


@pytest.mark.parametrize("name", ["out.jsonl", "out.parquet"])
def test_rows_before_an_early_error_are_not_replaced(run: Run, tmp_path: Path, name: str) -> None:
    (tmp_path / "in.jsonl").write_text(row(0) + "{bad\n")
    todo = ("convert", *TO, str(tmp_path / "in.jsonl"), "-o", str(tmp_path / name))
    assert "leaves out this conversation" in run(*todo)[2]
    assert "unfinished output" in run(*todo)[2]
    assert run(*todo, "--overwrite", "--on-error", "skip")[0] == 1


@pytest.mark.parametrize("tally", [{"converted": 1, "failed": 0}, 5, {"losses": [{}]}])
def test_the_progress_of_another_version_is_not_gone_on_with(run: Run, tmp_path: Path, tally: object) -> None:
    file, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    file.write_text(row(1), "utf-8")
    out.write_text("{}\n", "utf-8")
    old = {"run": {}, "input": 0, "offset": 1, "line": 1, "written": 3, "aside": 0, "tally": tally}
    Path(f"{out}.resume.json").write_text(json.dumps(old), "utf-8")
    code, _, err = run("convert", file, *TO, "-o", out, "--resume")
    assert (code, "no progress that this version can continue; use --overwrite" in err) == (2, True), err
    assert run("convert", file, *TO, "-o", out, "--overwrite")[0] == 0
