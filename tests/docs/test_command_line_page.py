"""The commands of the pages about the command line print what the pages say."""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from toolfmt.cli import main

ROOT = Path(__file__).resolve().parents[2]
NAMES = (
    *("use-the-command-line", "convert-files", "session-files", "training-sets", "check-before-you-send"),
    *("render-a-prompt", "check-a-chat-template"),
)
PAGES = [ROOT / "docs" / "how-to" / f"{name}.md" for name in NAMES]
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
ALONE = re.compile(r"toolfmt (?!.*(?:\.py|:|--jobs))[^|<>;&$`*]*")
"""A command that needs no shell, and changes nothing in the process that runs it."""


def exchanges(page: Path) -> list[tuple[str, str]]:
    """Give a page's commands with what is printed below each."""
    blocks = "".join(BLOCK.findall(page.read_text(encoding="utf-8")))
    return [(command, shown) for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", blocks, re.MULTILINE)]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Put a `toolfmt` of this checkout on the path of a shell."""
    program = tmp_path / "bin" / "toolfmt"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m toolfmt "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}


def in_this_process(command: str) -> str:
    """Give what a command prints, errors in their place; a process for each would take longer than all the rest."""
    printed = io.BytesIO()
    stream = io.TextIOWrapper(printed, encoding="utf-8", write_through=True)
    with redirect_stdout(stream), redirect_stderr(stream):
        main(shlex.split(command)[1:])
    return printed.getvalue().decode()


def in_a_shell(command: str, place: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(  # the page's own commands, pipes included
        ["/bin/sh", "-c", f"{{ {command}\n}} 2>&1"],
        cwd=place,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return done.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_print_what_the_page_says(
    page: Path, tmp_path: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "work"
    place.mkdir()
    monkeypatch.chdir(place)
    commands = exchanges(page)
    assert any("toolfmt" in command for command, _ in commands)
    for command, shown in commands:
        if file := re.fullmatch(r"cat (\S+)", command):
            (place / file[1]).parent.mkdir(exist_ok=True)
            (place / file[1]).write_text(shown, encoding="utf-8")
            continue
        printed = in_this_process(command) if ALONE.fullmatch(command) else in_a_shell(command, place, environment)
        assert (command, printed.rstrip("\n")) == (command, shown.rstrip("\n"))
