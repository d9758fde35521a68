"""`toolfmt dialects` and `toolfmt providers`: tables for people, JSON for scripts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import sampling
from toolfmt.lookup.providers import PROVIDERS
from toolfmt.lookup.registry import default_registry

Run = Callable[..., tuple[int, str, str]]


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
