"""`toolfmt mcp-serve`: Python functions as an MCP server."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from mcp import StdioServerParameters

from toolfmt import ToolInvocation, ToolRegistry
from toolfmt.cli import main
from toolfmt.execution.executor import Executor
from toolfmt.mcp import connect

MODULE = '''
from toolfmt import ToolRegistry
from toolfmt.execution import Executor

def now(city: str) -> dict:
    """Look up the weather."""
    return {"city": city}

def loud(text: str) -> str:
    return text.upper()

registry = ToolRegistry([now, loud])

class tools:
    executor = Executor(registry)
    several = (now, loud)

three = 3
'''


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module in the current directory, of a name that no other test has."""
    (tmp_path / "served_weather.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "served_broken.py").write_text("import not_there_at_all", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*sys.path])
    return tmp_path


def test_it_serves_what_is_named(module: Path) -> None:
    command = [sys.executable, "-m", "toolfmt", "mcp-serve", "--tools", "served_weather:tools.several"]
    env = {"PYTHONPATH": os.pathsep.join(sys.path)}
    params = StdioServerParameters(command=command[0], args=command[1:], env=env, cwd=module)
    with connect(params, name="weather") as server:
        executor = Executor(ToolRegistry(), servers={"weather": server})
        (execution,) = executor.execute_sync([ToolInvocation(name="now", arguments={"city": "Köln"})])
        assert [tool.name for tool in server.tools] == ["now", "loud"]
    assert execution.value == {"city": "Köln"}


@pytest.mark.usefixtures("module")
@pytest.mark.parametrize(
    ("reference", "says"),
    [
        ("served_weather", "'served_weather' names no Python object: write module:name"),
        ("served_weather:registr", "there is no 'registr' in it; did you mean registry"),
        ("served_weather:tools.executo", "did you mean executor?"),
        ("served_wether:registry", "there is no module 'served_wether' here"),
        ("served_weather:three", "a tool cannot be read from int"),
    ],
)
def test_what_cannot_be_served_is_refused(reference: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp-serve", "--tools", reference]) == 2
    assert says in capsys.readouterr().err


@pytest.mark.usefixtures("module")
def test_a_module_that_needs_another_is_not_said_to_be_missing() -> None:
    with pytest.raises(ModuleNotFoundError, match="not_there_at_all"):
        main(["mcp-serve", "--tools", "served_broken:registry"])
