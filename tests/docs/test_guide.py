"""The guide to the sources and the list of modules name what is there."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "explanation" / "guide-to-the-sources.md"


def defined(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return names


def test_every_name_in_the_guide_is_defined_where_it_says() -> None:
    found = re.findall(r"`([\w/]+\.py)(?:::(\w+))?`", PAGE.read_text(encoding="utf-8"))
    assert len(found) > 40
    for file, name in found:
        path = ROOT / "toolfmt" / file
        assert path.is_file(), file
        assert not name or name in defined(path), f"{file} does not define {name}"


def test_the_modules_in_contributing_are_the_layers_of_the_contract() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    layers = next(one["layers"] for one in contracts if one["id"] == "layers")
    section = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("## Where things are")[2]
    lines = section.split("```")[1].strip().splitlines()
    listed = [re.findall(r"\w+", re.split(r"  +", line)[0]) for line in lines]
    assert listed == [re.findall(r"\w+", layer) for layer in layers]
