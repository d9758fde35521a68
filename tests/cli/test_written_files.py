"""No command loses a file: what it writes is no file that it reads, and each file is written by one option."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., tuple[int, str, str]]

ROOT = Path(__file__).resolve().parents[2]
TO = ("--from", "openai-chat", "--to", "anthropic")
ASIDE = ("--on-error", "quarantine")
GOOD = '{"messages": [{"role": "user", "content": "Hi"}]}\n'


def held(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder with two inputs, a link, a hard link and a linked folder, and run in it."""
    for name in ("in.jsonl", "logs/in.jsonl", "logs/deep/other.jsonl"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(GOOD + "{bad\n", "utf-8")
    os.link(tmp_path / "in.jsonl", tmp_path / "hard.jsonl")
    (tmp_path / "linked").symlink_to("logs")
    (tmp_path / "soft.jsonl").symlink_to("in.jsonl")
    (tmp_path / "tokenizer.json").write_text("{}", "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("inputs", ["in.jsonl", "soft.jsonl", "hard.jsonl", "./logs/../in.jsonl", "*n.jsonl"])
@pytest.mark.parametrize("option", ["--out", "--quarantine", "--report"])
@pytest.mark.parametrize("name", ["in.jsonl", "hard.jsonl", "logs/../in.jsonl", "linked/../in.jsonl"])
def test_no_input_is_written_over(run: Run, work: Path, inputs: str, option: str, name: str) -> None:
    before = held(work)
    out = () if option == "--out" else ("--out", "out.jsonl")
    code, _, err = run("convert", inputs, *TO, *ASIDE, *out, option, name)
    assert (code, err) == (2, f"toolfmt: {Path(name)} is read and would be written over: choose another {option}\n")
    assert held(work) == before


@pytest.mark.parametrize(
    "options",
    [
        ("--out", "x.jsonl", "--quarantine", "x.jsonl"),
        ("--out", "x.jsonl", "--report", "x.jsonl"),
        ("--out", "logs/x.jsonl", "--report", "linked/x.jsonl"),
        ("--out", "x.jsonl", "--report", "logs/../x.jsonl.quarantine.jsonl"),
        ("--out", "x.jsonl", "--quarantine", "y", "--report", "y"),
        ("--quarantine", "y", "--report", "y"),
        ("--report", "quarantine.jsonl"),
        ("--out", "made/", "--report", "made.quarantine.jsonl"),
        ("--out", "x.jsonl", "--report", "x.jsonl.resume.json"),
        ("--out", "x.jsonl", "--quarantine", "x.jsonl.resume.json.new"),
        ("--out", "x.parquet", "--report", "x.parquet.rows"),
        ("--out", "x.parquet", "--report", "x.parquet.new"),
    ],
)
def test_no_file_is_written_twice(run: Run, work: Path, options: tuple[str, ...]) -> None:
    before = held(work)
    code, out, err = run("convert", "in.jsonl", *TO, *ASIDE, *options)
    assert (code, out, err.count("\n"), " would be written twice, by --" in err) == (2, "", 1, True)
    assert held(work) == before


def test_files_in_a_new_folder_are_checked_too(run: Run, work: Path) -> None:
    before = held(work)
    for given, report, said in (
        (("logs",), "made/deep/other.jsonl", "there is no folder made/deep"),
        (("in.jsonl",), "made", "made would be a file for --report and a folder for --out"),
        (("in.jsonl", "logs/in.jsonl"), "r.json", "two files that are read have that name"),
        (("logs",), "./in.jsonl", "in.jsonl would be written twice, by --out and --report"),
    ):
        folder = "made/" if "./" not in report else "./"
        code, _, err = run("convert", *given, *TO, *ASIDE, "--out", folder, "--report", report)
        assert (code, said in err or "is read and" in err) == (2, True), err
        assert held(work) == before


def test_a_tokenizer_is_not_written_over(run: Run, work: Path) -> None:
    for tokenizer in ("tokenizer.json", "."):
        given = ("--filter", "tokens>1", "--tokenizer", tokenizer, "--report", "tokenizer.json")
        code, _, err = run("convert", "in.jsonl", *TO, *given)
        assert (code, "tokenizer.json is read and would be written over" in err) == (2, True)
    assert (work / "tokenizer.json").read_text("utf-8") == "{}"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("convert - --out in.jsonl < in.jsonl", "in.jsonl is read and would be written over: choose another --out"),
        ("convert in.jsonl >> in.jsonl", "stdout is read and would be written over"),
        ("convert logs >> logs/in.jsonl", "stdout is read and would be written over"),
        ("convert in.jsonl --report x.json > x.json", "would be written twice, by --out and --report"),
    ],
)
def test_the_shells_files_are_checked_too(work: Path, command: str, said: str) -> None:
    given = os.environ | {"PYTHONPATH": str(ROOT)}
    line = command.replace("convert", f"{sys.executable} -m toolfmt convert {' '.join(TO)}")
    ran = subprocess.run(["/bin/sh", "-c", line], check=False, cwd=work, env=given, capture_output=True)
    assert (ran.returncode, said in ran.stderr.decode()) == (2, True), ran.stderr
    assert (work / "in.jsonl").read_text("utf-8") == (work / "logs/in.jsonl").read_text("utf-8") == GOOD + "{bad\n"


def test_devices_may_be_shared(run: Run, work: Path) -> None:  # noqa: ARG001 - the folder
    code, _, err = run("convert", "in.jsonl", *TO, *ASIDE, "--out", "/dev/null", "--quarantine", "/dev/null")
    assert (code, "1 converted" in err) == (1, True)


@pytest.mark.parametrize("option", ["--out", "--quarantine", "--report"])
@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("logs", "logs/x.jsonl"),
        ("logs", "linked/deep/x.json"),
        ("linked", "logs/x.jsonl.gz"),
        ("logs/*.jsonl", "logs/x.jsonl"),
        ("**/*.jsonl", "logs/deep/x.jsonl"),
        ("l*", "logs/deep/x.jsonl"),
    ],
)
def test_no_output_is_where_a_later_run_would_read_it(run: Run, work: Path, option: str, given: str, name: str) -> None:
    before = held(work)
    (work / "quiet").mkdir()
    out = () if option == "--out" else ("--out", "quiet/out")
    how = ASIDE if option == "--quarantine" else ("--on-error", "skip")
    code, _, err = run("convert", given, *TO, *how, *out, option, name)
    assert (code, f"toolfmt: {name} is in {given}, which is read" in err) == (2, True), err
    assert held(work) == before


def test_output_beside_what_is_read_is_written(run: Run, work: Path) -> None:
    for given, name in (("logs", "x.jsonl"), ("logs/*.jsonl", "logs/deep/x.jsonl"), ("logs/in.jsonl", "logs/y.jsonl")):
        assert run("convert", given, *TO, "--on-error", "skip", "--out", name)[0] == 1
        assert (work / name).is_file()


@pytest.mark.parametrize(("out", "hinted"), [("new", True), ("new/", False), ("new.jsonl", False), ("linked", False)])
def test_a_name_that_may_be_a_folder_has_a_hint(run: Run, work: Path, out: str, hinted: bool) -> None:  # noqa: FBT001
    (work / "in.jsonl").write_text(GOOD, "utf-8")
    (work / "more.jsonl").write_text(GOOD, "utf-8")
    code, _, err = run("convert", "in.jsonl", "more.jsonl", *TO, "--overwrite", "--out", out)
    assert (code, "new is one file of lines; for a folder" in err) == (0, hinted), err


def test_a_page_is_named(run: Run, work: Path) -> None:  # noqa: ARG001 - the folder
    assert run("view", "in.jsonl", "--row", "1", "--out", "x.html") == (0, "", "toolfmt: x.html shows 1 conversation\n")


@pytest.mark.parametrize("text", ["user,assistant\nHi,Hello\n", "Once upon a time.\n", "\ufeff<xml/>\n"])
def test_a_file_of_another_kind_is_told_what_is_read(run: Run, work: Path, text: str) -> None:
    (work / "rows.csv").write_text(text, "utf-8")
    for command in (("convert", "--to", "gemini"), ("stats",), ("view",)):
        assert "; files of JSON, JSON Lines and Parquet are read" in "".join(run(*command, "rows.csv")[1:])
    assert "are read" not in run("stats", "in.jsonl")[2]


@pytest.mark.parametrize("name", ["in.html", "hard.html", "./logs/../in.html"])
def test_no_page_is_written_over_what_it_shows(run: Run, work: Path, name: str) -> None:
    (work / "in.html").write_text(GOOD, "utf-8")
    os.link(work / "in.html", work / "hard.html")
    code, _, err = run("view", "in.html", "--out", name)
    assert (code, "is read and would be written over: choose another --out" in err) == (2, True)
    assert json.loads((work / "in.html").read_text("utf-8")) == json.loads(GOOD)
