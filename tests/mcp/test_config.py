"""The file in which programs list their servers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mcp import StdioServerParameters

from toolfmt import ParseError
from toolfmt.errors import ServerError
from toolfmt.mcp import Remote, connect_all, from_config


def _written(tmp_path: Path, value: Any) -> Path:
    path = tmp_path / "mcp.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def test_a_file_as_others_write_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "s3cret")
    monkeypatch.delenv("PORT", raising=False)
    path = _written(
        tmp_path,
        {
            "mcpServers": {
                "files": {"command": "python", "args": ["-m", "x", "${TOKEN}"], "env": {"A": "${TOKEN}-b"}, "cwd": "/"},
                "plain": {"command": "npx", "autoApprove": ["read"], "timeout": 60},
                "web": {"type": "http", "url": "http://a.example:${PORT:-80}/mcp", "headers": {"X": "Bearer ${TOKEN}"}},
                "typed": {"type": "streamable-http", "url": "https://a.example/mcp"},
                "spelt": {"transport": "streamableHttp", "url": "https://a.example/mcp"},
                "bare": {"url": "https://a.example/mcp"},
                "old": {"type": "sse", "url": "https://a.example/sse"},
                "off": {"command": "npx", "disabled": True},
                "empty": {"command": "a", "args": None, "env": None, "url": None},
            }
        },
    )
    assert (
        from_config(path)
        == from_config(str(path))
        == {
            "files": StdioServerParameters(
                command="python", args=["-m", "x", "s3cret"], env={"A": "s3cret-b"}, cwd="/"
            ),
            "plain": StdioServerParameters(command="npx", env={}),
            "web": Remote("http://a.example:80/mcp", {"X": "Bearer s3cret"}),
            "typed": Remote("https://a.example/mcp"),
            "spelt": Remote("https://a.example/mcp"),
            "bare": Remote("https://a.example/mcp"),
            "old": Remote("https://a.example/sse", sse=True),
            "empty": StdioServerParameters(command="a", env={}),
        }
    )
    assert "s3cret" not in repr(from_config(path)["web"])


def test_what_is_in_such_a_file_and_targets_by_name_do_as_well() -> None:
    entry = {"command": "a", "args": ["b"]}
    params = StdioServerParameters(command="a", args=["b"], env={})
    for config in ({"mcpServers": {"x": entry}}, {"servers": {"x": entry}}, {"x": entry}):
        assert from_config(config) == {"x": params}
    assert from_config({"x": ["a", "b"], "y": "http://a.example"}) == {"x": ["a", "b"], "y": "http://a.example"}


@pytest.mark.parametrize("wrong", [[], None, "a", ["python", "server.py"]])
def test_servers_that_are_no_object_are_named(wrong: object) -> None:
    for key in ("mcpServers", "servers"):
        with pytest.raises(ParseError, match=f"'{key}' must be an object of servers by name"):
            connect_all({key: wrong})


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ({}, "expected 'command' or 'url'"),
        ({"command": "a", "url": "http://a.example"}, "expected 'command' or 'url', not both"),
        ({"type": "http", "command": "a"}, "expected 'url'"),
        ({"type": "stdio", "url": "a"}, "expected 'command'"),
        ({"type": "websocket", "url": "a"}, "'type' is one of stdio, http, sse, not 'websocket'"),
        ({"type": 3, "url": "a"}, "'type' must be a string, not 3"),
        ({"command": ["a", "b"]}, r"'command' must be a string, not \['a', 'b'\]"),
        ({"command": "a", "args": "b"}, "'args' must be a list of strings, not 'b'"),
        ({"command": "a", "args": ["b", 3]}, r"args\[1\] must be a string, not 3"),
        ({"command": "a", "env": {"PORT": 80}}, r"env\.PORT must be a string, not 80"),
        ({"url": "http://a", "headers": ["b"]}, r"'headers' must be an object of strings, not \['b'\]"),
        ({"url": "a.example/mcp"}, "'url' must begin with http:// or https://, not 'a.example/mcp'"),
        ({"command": "${TOOLFMT_UNSET}"}, "'command' needs the environment variable TOOLFMT_UNSET, which is not set"),
        ("python server.py", r"expected an object, not \"python server.py\""),
    ],
)
def test_a_wrong_entry_is_named_by_its_place(tmp_path: Path, entry: Any, says: str) -> None:
    path = _written(tmp_path, {"mcpServers": {"good": {"command": "a"}, "bad": entry}})
    with pytest.raises(ParseError, match=rf"mcp\.json: server 'bad': {says}"):
        from_config(path)


@pytest.mark.parametrize("value", [[], {}, {"mcpServers": []}, {"tools": []}, 3])
def test_a_file_without_servers_is_refused(tmp_path: Path, value: Any) -> None:
    with pytest.raises(ParseError, match=r"mcp\.json: expected an object with 'mcpServers'"):
        from_config(_written(tmp_path, value))


@pytest.mark.parametrize("text", ["", "{", '{"mcpServers": {}, "mcpServers": {}}'])
def test_a_file_that_is_no_json_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ParseError, match=r"mcp\.json: "):
        from_config(_written(tmp_path, text))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        connect_all(tmp_path / "none.json")


def test_servers_of_a_file_are_connected_to_and_their_secrets_not_reported(tmp_path: Path, raw: Any) -> None:
    command, *args = raw(
        '{"lists": [{"tools": [{"name": "add", "inputSchema": {"type": "object"}}]}], "result": {"content": []}}'
    )
    good = {"command": command, "args": args}
    with connect_all(_written(tmp_path, {"mcpServers": {"one": good, "two": good}}), prefix=True) as servers:
        assert list(servers) == ["one", "two"]
        assert [(tool.name, tool.server) for tool in servers.tools] == [("one__add", "one"), ("two__add", "two")]
    bad = {"url": "http://127.0.0.1:9/mcp?key=s3cret", "headers": {"Authorization": "s3cret"}}
    with pytest.raises(ServerError) as caught, connect_all({"mcpServers": {"one": good, "bad": bad}}):
        pass
    assert "'bad'" in str(caught.value)
    assert "s3cret" not in str(caught.value)
