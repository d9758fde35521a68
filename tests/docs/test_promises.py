"""Every promise of security names the tests that hold it, and these exist."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
POLICY = "SECURITY.md"
PAGE = "docs/explanation/security.md"
EXECUTION = "docs/explanation/security-of-execution.md"
TEST = re.compile(r"`(tests(?:_sdk)?/[\w./-]+\.py(?:::\w+)+)`")


def section(text: str, title: str) -> str:
    """Give the text of a section."""
    return text.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def promises(page: str) -> dict[str, str]:
    """Give each promise of a page with the text that belongs to it."""
    text = (ROOT / page).read_text(encoding="utf-8")
    if page == POLICY:
        found = re.split(r"\n- ", section(text, "What is promised"))[1:]
    elif page == EXECUTION:
        found = [line for line in section(text, "Protections").splitlines() if line.startswith("| ")][2:]
    else:
        found = []
        for part in re.split(r"\n## ", text.partition("\n## What is yours to decide")[0])[1:]:
            found += re.split(r"\n\n(?=\*\*)", part)[1:] or [part]
    return {one.strip().splitlines()[0][:60]: one for one in found}


@cache
def names_in(path: str) -> frozenset[str]:
    """Name the tests of a file, those of a class with its name before them."""
    found: set[str] = set()
    for node in ast.parse((ROOT / path).read_text(encoding="utf-8")).body:
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        prefix = f"{node.name}::" if isinstance(node, ast.ClassDef) else ""
        found.update(prefix + one.name for one in inner if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef))
    return frozenset(name for name in found if name.rpartition("::")[2].startswith("test_"))


PROMISES = [(page, name, text) for page in (POLICY, PAGE, EXECUTION) for name, text in promises(page).items()]


@pytest.mark.parametrize(("page", "name", "text"), PROMISES, ids=[f"{page}-{name}" for page, name, _ in PROMISES])
def test_a_promise_is_held_by_a_test(page: str, name: str, text: str) -> None:
    held = TEST.findall(text)
    assert held, f"{page}: no test holds the promise {name!r}"
    for one in held:
        path, _, test = one.partition("::")
        assert (ROOT / path).is_file(), f"{page}: {path} does not exist"
        assert test in names_in(path), f"{page}: {path} has no {test}"


def test_the_check_sees_every_promise() -> None:
    assert [len(promises(page)) for page in (POLICY, PAGE, EXECUTION)] == [17, 9, 18]
