"""`toolfmt grammar` prints exactly what the function gives, and tells the rest on stderr."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from toolfmt import grammar

Run = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize(
    ("options", "given"),
    [
        ((), {}),
        (("--target", "gbnf"), {"target": "gbnf"}),
        (("--choice", "required", "--no-parallel"), {"choice": "required", "parallel": False}),
        (
            ("--choice", "get_weather", "--target", "structural-tag"),
            {"choice": "get_weather", "target": "structural-tag"},
        ),
        (("--choice", "none", "--target", "regex"), {"choice": "none", "target": "regex"}),
    ],
)
def test_it_is_the_functions_own(run: Run, tools: Path, options: tuple[str, ...], given: dict[str, Any]) -> None:
    code, out, _ = run("grammar", "--dialect", "hermes", "--tools", tools, *options)
    assert (code, out.rstrip("\n")) == (0, grammar("hermes", str(tools), **given).text.rstrip("\n"))


def test_what_it_cannot_say_is_reported(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_text(
        '[{"name": "f", "parameters": {"type": "object", "properties": {"n": {"type": "array", "uniqueItems": true}}}}]'
    )
    code, _, err = run("grammar", "-d", "hermes", "--tools", path)
    assert code == 0
    assert "f: /properties/n/uniqueItems is not held to" in err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("-d", "hermes", "--target", "ebnf"), "--target is one of lark, gbnf, structural-tag, regex"),
        (("-d", "hermes", "--choice", "get_wether"), "get_weather"),
        (("-d", "yaml-xml"), "YAML"),
    ],
)
def test_a_mistake_is_said(run: Run, tools: Path, options: tuple[str, ...], said: str) -> None:
    code, out, err = run("grammar", "--tools", tools, *options)
    assert code != 0
    assert out == ""
    assert said in err
