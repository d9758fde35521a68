"""`toolfmt mcp-serve`: Python functions as an MCP server."""

from __future__ import annotations

import json
import os
import subprocess
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

PRINTS = """
import sys
from toolfmt import ToolRegistry

print("imported")
registry = ToolRegistry()


@registry.register
def say() -> str:
    print("flushed", flush=True)
    print("kept")
    print("old", file=sys.__stdout__)
    return "said"
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module in the current directory, of a name that no other test has."""
    (tmp_path / "served_weather.py").write_text(MODULE, encoding="utf-8")
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


def test_what_tools_print_is_no_message_of_the_protocol(module: Path) -> None:
    (module / "served_prints.py").write_text(PRINTS, encoding="utf-8")
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    sent = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        *({"id": at, "method": "tools/call", "params": {"name": "say", "arguments": {}}} for at in (2, 3)),
    ]
    with subprocess.Popen(
        [sys.executable, "-m", "toolfmt", "mcp-serve", "--tools", "served_prints:registry"],
        cwd=module,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        lines: list[str] = []
        for message in sent:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            process.stdin.flush()
            if "id" in message:
                lines.append(process.stdout.readline())
        rest, err = process.communicate()
    assert [json.loads(line)["id"] for line in lines] == [1, 2, 3]
    assert rest == ""
    assert all(err.count(word) == times for word, times in (("imported", 1), ("flushed", 2), ("kept", 2), ("old", 2)))


@pytest.mark.usefixtures("module")
def test_a_port_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    reported = ["mcp-serve", "--tools", "served_weather:registry", "--transport", "streamable-http", "--port", "99999"]
    assert main(reported) == 2
    assert capsys.readouterr().err == "toolfmt: --port is from 0 to 65535, not 99999\n"


@pytest.mark.usefixtures("module")
@pytest.mark.parametrize(
    ("reference", "says"),
    [
        ("served_weather", "served_weather: there is no such file; --tools takes"),
        ("served_weather:registr", "served_weather has no 'registr'"),
        ("served_weather:three", "served_weather:three holds no tools"),
        ("none.json", "none.json: No such file or directory"),
        ("broken.json", "broken.json: server 'a': expected 'command' or 'url'"),
        ("gone.json", "MCP server 'a': FileNotFoundError"),
    ],
)
def test_what_cannot_be_served_is_refused(
    module: Path, reference: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (module / "broken.json").write_text('{"mcpServers": {"a": {}}}', encoding="utf-8")
    (module / "gone.json").write_text('{"mcpServers": {"a": {"command": "no-such-program"}}}', encoding="utf-8")
    assert main(["mcp-serve", "--tools", reference]) == 2
    assert says in capsys.readouterr().err


def test_calls_of_a_recorded_answer_run_on_the_servers_of_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = Path(__file__).parents[1] / "mcp" / "servers" / "raw.py"
    tool = {"name": "roll", "inputSchema": {"type": "object"}}
    reported = {"lists": [{"tools": [tool]}], "result": {"content": [{"type": "text", "text": "4"}]}}
    server = {"command": sys.executable, "args": [str(script), json.dumps(reported)]}
    config, answer = tmp_path / "mcp.json", tmp_path / "answer.txt"
    config.write_text(json.dumps({"mcpServers": {"dice": server}}), encoding="utf-8")
    answer.write_text('<tool>{"server_name": "dice", "tool_name": "roll", "arguments": {}}</tool>', encoding="utf-8")
    assert main(["run", str(answer), "--tools", str(config), "--dialect", "tool-json"]) == 0
    assert capsys.readouterr().out.strip().endswith("4")
