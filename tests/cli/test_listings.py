"""`toolfmt dialects` and `toolfmt providers`: tables for people, JSON for scripts."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests import sampling
from toolfmt.lookup.providers import PROVIDERS
from toolfmt.lookup.registry import default_registry

Run = Callable[..., tuple[int, str, str]]
ROOT = Path(__file__).resolve().parents[2]


def test_dialects_as_a_table(run: Run) -> None:
    code, out, err = run("dialects")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split() == ["dialect", "what", "it", "is"]
    assert [line.split()[0] for line in lines[1:]] == list(default_registry().names())
    assert "\x1b" not in out


def test_dialects_as_json(run: Run) -> None:
    code, out, _ = run("dialects", "--json")
    assert code == 0
    found = {entry["name"]: entry for entry in json.loads(out)}
    assert list(found) == list(default_registry().names())
    assert found["step-json"]["traits"]["strict"] is True
    assert all(entry["sources"] for entry in found.values())


@pytest.mark.parametrize("dialect", sampling.names())
def test_a_dialect_with_a_sample_that_reads_back(run: Run, dialect: str, tmp_path: Path) -> None:
    code, out, _ = run("dialects", "show", dialect, "--json")
    assert code == 0
    found = json.loads(out)
    assert found["name"] == dialect
    tool = {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}
    offered = tmp_path / "tools.json"
    offered.write_text(json.dumps([tool]), "utf-8")
    given = ("--tools", str(offered)) if default_registry().dialect(dialect).traits.needs_tools else ()
    code, parsed, _ = run("parse", "-d", dialect, "--json", *given, stdin=found["sample"]["call"])
    assert code == 0
    assert [call["name"] for call in json.loads(parsed)["calls"]] == ["get_weather"]
    code, shown, _ = run("dialects", "show", dialect.replace("-", "_").upper())
    assert code == 0
    assert found["summary"] in shown
    assert all(marker in shown for marker in (*found["markers"]["keep"], *found["markers"]["stop"]))
    assert set(found["markers"]) == {"keep", "stop"}
    assert found["sources"][0]["reference"] in shown


@pytest.mark.parametrize(
    ("name", "kind", "dialect"), [("Anthropic", "provider", "xml-items"), ("gpt-4o", "model", "openai-json")]
)
def test_a_provider_and_a_model_show_their_format(run: Run, name: str, kind: str, dialect: str) -> None:
    code, out, err = run("dialects", "show", name, "--json")
    assert (code, err) == (0, f"toolfmt: {name} is a {kind}, its format is {dialect}\n")
    assert out == run("dialects", "show", dialect, "--json")[1]


def test_providers(run: Run) -> None:
    code, out, _ = run("providers")
    assert code == 0
    assert sorted(provider.name for provider in PROVIDERS) == [line.split()[0] for line in out.splitlines()[1:]]
    found = {entry["name"]: entry for entry in json.loads(run("providers", "--json")[1])}
    assert found["anthropic"]["dialect"] == "xml-items"
    assert found["anthropic"]["aliases"] == ["claude"]
    assert all(isinstance(pattern, list) for entry in found.values() for pattern in entry["models"])


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal is a pair of files elsewhere")
@pytest.mark.parametrize("command", ["dialects", "formats", "providers"])
def test_a_list_fits_a_terminal_of_80_columns(command: str, run: Run) -> None:
    import pty

    ours, theirs = pty.openpty()
    screen = {**os.environ, "COLUMNS": "80", "TERM": "xterm", "NO_COLOR": "1"}
    with subprocess.Popen([sys.executable, "-m", "toolfmt", command], stdout=theirs, cwd=ROOT, env=screen) as process:
        os.close(theirs)
        shown = b""
        with suppress(OSError):  # how Linux says that the other side is closed
            while piece := os.read(ours, 65536):
                shown += piece
    os.close(ours)
    assert process.returncode == 0
    lines = re.sub(r"\x1b\[[0-9;]*m", "", shown.decode()).splitlines()
    assert max(map(cell_len, lines)) <= 80
    names = [entry["name"] for entry in json.loads(run(command, "--json")[1])]
    assert [line.split()[0] for line in lines[1:] if line[:1].strip()] == names


def test_a_misspelt_show_is_reported_as_a_command(run: Run) -> None:
    assert run("dialects", "shw") == (
        2,
        "",
        "toolfmt: there is no command 'shw'; did you mean `toolfmt dialects show`?\n",
    )
    assert run("dialects", "hermez")[2].startswith("toolfmt: unknown dialect 'hermez'; did you mean 'hermes'?")
