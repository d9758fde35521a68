"""`--tools` is told apart by what it names, the same in every command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., tuple[int, str, str]]
TOOL = {"name": "double", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}}
CODE = '''
from math import sqrt

print("imported")


def double(n: int) -> int:
    """Double a number."""
    return 2 * n


def _private() -> None: ...
'''
REGISTRY = """
from toolfmt import ToolRegistry

first = ToolRegistry()


@first.register
def double(n: int) -> int:
    return 2 * n


def helper(n: int) -> int:
    return n
"""
CALL = '<tool_call>\n{"name": "double", "arguments": {"n": 4}}\n</tool_call>'


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tools.json").write_text(json.dumps([TOOL]))
    (tmp_path / "tools.yaml").write_text(f"- {json.dumps(TOOL)}\n")
    (tmp_path / "own_functions.py").write_text(CODE)
    (tmp_path / "own-registry.py").write_text(REGISTRY)
    (tmp_path / "own_two.py").write_text(f"{REGISTRY}\nsecond = ToolRegistry()\n")
    (tmp_path / "own_none.py").write_text("import math\n")
    (tmp_path / "notes.txt").write_text("Dear reader")
    return tmp_path


DATA = ["tools.json", "tools.yaml"]
CODES = ["own_functions.py", "own-registry.py", "own-registry.py:first", "own_two.py:first"]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("source", [*DATA, *CODES, "own_functions:double"])
def test_every_command_takes_every_source(run: Run, source: str) -> None:
    for command in (("manifest", source), ("manifest", "--tools", source), ("grammar", "--tools", source)):
        code, out, _ = run(*command)
        assert (code, "double" in out, "imported" in out, "helper" in out) == (0, True, False, False)
    code, out, _ = run("parse", "--tools", source, "--validate", "--json", stdin=CALL)
    assert (code, [call["arguments"] for call in json.loads(out)["calls"]]) == (0, [{"n": 4}])


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("source", CODES)
def test_functions_of_a_file_run(run: Run, source: str) -> None:
    code, out, _ = run("run", "--tools", source, stdin=CALL)
    assert (code, out) == (0, "<tool_response>\n8\n</tool_response>\n")


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("command", "source", "said"),
    [
        ("manifest", "notes.txt", "neither JSON nor YAML"),
        ("run", "notes.txt", "it has definitions alone"),
        ("run", "tools.json", "tools.json has no tool that can be run: it has definitions alone"),
        ("manifest", "none.py", "none.py: No such file or directory"),
        ("manifest", "own_two.py", "several registries: name one, such as own_two.py:first"),
        ("manifest", "own_none.py", "defines no public function"),
        ("manifest", "own_functions.py:triple", "own_functions.py has no 'triple'; it has"),
        ("manifest", "own_nowhere:x", "there is no module 'own_nowhere'"),
        ("manifest", "word", "word: there is no such file; --tools takes a JSON or YAML file of tools, a Python file"),
    ],
)
def test_what_is_wrong_with_a_source_is_named(run: Run, command: str, source: str, said: str) -> None:
    code, out, err = run(command, "--tools", source, stdin=CALL)
    assert (code, out) == (2, "")
    assert said in err
    assert err.splitlines()[-1].startswith("toolfmt: ")


@pytest.mark.usefixtures("here")
def test_nothing_runs_that_was_not_named(run: Run, here: Path) -> None:
    (here / "toolfmt_trap.py").write_text("raise SystemExit('ran')")
    (here / "conftest.py").write_text("raise SystemExit('ran')")
    assert run("manifest", "tools.json")[0] == 0
    assert run("parse", stdin=CALL)[0] == 0


@pytest.mark.parametrize("command", ["parse", "detect", "render"])
def test_a_list_of_no_tools_is_noted(run: Run, tmp_path: Path, command: str) -> None:
    (path := tmp_path / "nolist.json").write_text("[]", encoding="utf-8")
    given = "[]" if command == "render" else "Hi"
    _, _, err = run(command, "--tools", path, stdin=given)
    assert f"toolfmt: {path} has no tools: the list is empty\n" in err


def test_the_manifest_of_no_tools_is_noted(run: Run) -> None:
    code, out, err = run("manifest", "-", "-d", "hermes", stdin="[]")
    assert (code, out, err) == (0, "", "toolfmt: stdin has no tools: the list is empty\n")


@pytest.mark.parametrize(("name", "text"), [("str.json", '"hello"'), ("str.yaml", "'hello'")])
def test_a_text_in_a_file_of_tools_is_named_without_advice_for_python(
    run: Run, tmp_path: Path, name: str, text: str
) -> None:
    (path := tmp_path / name).write_text(text, encoding="utf-8")
    code, out, err = run("parse", "--tools", path, stdin="Hi")
    assert (code, out) == (2, "")
    assert (
        err
        == f"toolfmt: {path}: it has the text 'hello' alone, but tools were expected, such as a JSON array of them\n"
    )
