"""A path that no file can have is an error like that of a file that is not there."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import toolfmt
import toolfmt.agents
import toolfmt.execution
import toolfmt.mcp
from toolfmt.corpora.sources import sources
from toolfmt.errors import SchemaError
from toolfmt.execution import ProjectBoundaries
from toolfmt.gateway.loading import load_config
from toolfmt.tools import tools

IMPOSSIBLE = ["\ud800", "a\0b", "a\ud800.json", "a\0.yaml", "x" * 5_000, "x" * 5_000 + ".json", "a/" * 5_000 + "\0"]
TAKEN: dict[str, Callable[[Any], object]] = {
    "load_tools": toolfmt.load_tools,
    "find_dialect": toolfmt.find_dialect,
    "diagnose": toolfmt.diagnose,
    "render_prompt": lambda path: toolfmt.render_prompt([{"role": "user", "content": "Hi."}], path=path),
    "scripted": toolfmt.agents.scripted,
    "from_config": toolfmt.mcp.from_config,
    "connect_all": lambda path: toolfmt.mcp.connect_all(path).__enter__(),
}
OTHERS: dict[str, Callable[[Any], object]] = {
    "load_config": load_config,
    "sources": lambda path: [source.size for source in sources([str(path)])],
    "tools of a path": lambda path: tools(Path(path)),
    "tools in a list": lambda path: toolfmt.manifest([Path(path)]),
}
OF_TEMPLATES = {"manifest", "inject"}
"""A template's path, whose faults are a `TemplateError`."""


def test_each_public_function_that_takes_a_path_is_here() -> None:
    packages: tuple[Any, ...] = (toolfmt, toolfmt.agents, toolfmt.execution, toolfmt.mcp)
    taking = {
        name
        for package in packages
        for name in package.__all__
        if inspect.isroutine(made := getattr(package, name))
        and any("Path" in str(one.annotation) for one in inspect.signature(made).parameters.values())
    }
    assert taking == TAKEN.keys() | OF_TEMPLATES


@pytest.mark.parametrize("kind", [str, Path])
@pytest.mark.parametrize("path", IMPOSSIBLE, ids=range(len(IMPOSSIBLE)))
@pytest.mark.parametrize("function", [*TAKEN.values(), *OTHERS.values()], ids=[*TAKEN, *OTHERS])
def test_a_path_that_no_file_can_have_is_an_os_error(
    function: Callable[[Any], object], path: str, kind: Callable[[str], Any]
) -> None:
    with pytest.raises(OSError, match=r"no file can have this name|name too long"):
        function(kind(path))


@pytest.mark.parametrize("path", IMPOSSIBLE, ids=range(len(IMPOSSIBLE)))
def test_text_that_is_no_path_is_no_tool(path: str) -> None:
    with pytest.raises((SchemaError, OSError), match=r"no path of a|no file can have this name|name too long"):
        tools(path)


@pytest.mark.parametrize("path", IMPOSSIBLE[:2], ids=range(2))
def test_a_root_that_no_folder_can_be_is_an_os_error(path: str) -> None:
    with pytest.raises(OSError, match="no file can have this name"):
        ProjectBoundaries([path])
    with pytest.raises(OSError, match="no file can have this name"):
        ProjectBoundaries(["."], base=path)


def test_a_name_of_bytes_that_are_not_utf8_is_a_path(tmp_path: Path) -> None:
    path = tmp_path / "caf\udce9.json"  # as Python spells the byte 0xE9
    try:
        path.write_text(json.dumps([{"name": "f"}]), encoding="utf-8")
    except OSError:
        pytest.skip("this file system has no such names")
    assert [one.name for one in toolfmt.load_tools(path)] == ["f"]
