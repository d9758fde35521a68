"""The file in which programs list their MCP servers, `mcp.json`.

{"mcpServers": {
  "files":   {"command": "python", "args": ["server.py"], "env": {"ROOT": "${HOME}"}},
  "weather": {"type": "http", "url": "https://example.com/mcp", "headers": {"Authorization": "Bearer ${TOKEN:-none}"}}
}}

`${NAME}` is replaced by an environment variable, `${NAME:-text}` by the variable or else the text. A server with a
`command` is started, one with a `url` is reached over streamable HTTP, or over SSE if its `type` is `sse`. `disabled`
servers are left out, and other programs' keys are ignored.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, Final, cast

from mcp import StdioServerParameters

from toolfmt import jsontext
from toolfmt.arguments import checked, path_of
from toolfmt.errors import ParseError, not_utf8
from toolfmt.jsontext import is_array, is_object
from toolfmt.mcp.transports import Remote, Target, is_address
from toolfmt.model import JsonObject, JsonValue

_WRAPPERS: Final = ("mcpServers", "servers")
"""The keys of the servers; the second is VS Code's."""
_VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


@checked
def from_config(config: str | os.PathLike[str] | Mapping[str, Any]) -> dict[str, Target]:
    """Read servers by name from a file's path, its content, or a mapping of names to entries or targets.

    Raises OSError for a file that cannot be opened, and `ParseError`, which says which entry is wrong and why.
    """
    if isinstance(config, Mapping):
        key = next((key for key in _WRAPPERS if key in config), None)
        wrapped = config if key is None else config[key]
        if not isinstance(wrapped, Mapping):
            raise ParseError(f"{key!r} must be an object of servers by name, not {wrapped!r:.80}")
        return _read_servers(cast("Mapping[str, Any]", wrapped), "")
    path = path_of(config)
    try:
        value = jsontext.loads(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ParseError(f"{path}: {not_utf8(error)}") from None
    except ParseError as error:
        raise type(error)(f"{path}: {error}") from None
    wrapped = next((value[key] for key in _WRAPPERS if key in value), None) if is_object(value) else None
    if not is_object(wrapped):
        raise ParseError(f"{path}: expected an object with 'mcpServers', an object of servers by name")
    wrong = next((name for name, entry in wrapped.items() if not is_object(entry)), None)
    if wrong is not None:
        raise ParseError(f"{path}: server {wrong!r}: expected an object, not {jsontext.dumps(wrapped[wrong])[:80]}")
    return _read_servers(wrapped, f"{path}: ")


def _read_servers(servers: Mapping[str, Any], where: str) -> dict[str, Target]:
    found: dict[str, Target] = {}
    for name, entry in servers.items():
        if not is_object(entry):
            found[name] = entry
        elif entry.get("disabled") is not True:
            found[name] = _Entry(f"{where}server {name!r}", entry).target
    return found


class _Entry:
    """One entry and its place."""

    def __init__(self, where: str, entry: JsonObject) -> None:
        self._where = where
        self._entry = entry

    @property
    def target(self) -> Target:
        kind = self._kind()
        wanted = _KINDS.get(kind, ())
        given = [key for key in wanted if self._entry.get(key) is not None]
        if len(given) != 1:
            both = ", not both" if given else ""
            raise ParseError(f"{self._where}: expected {' or '.join(map(repr, wanted))}{both}")
        key = given[0]
        if key == "url":
            url = self._text("url")
            if not is_address(url):
                raise ParseError(f"{self._where}: 'url' must begin with http:// or https://, not {url!r}")
            return Remote(url, self._texts("headers"), sse=kind == "sse")
        return StdioServerParameters(
            command=self._text("command"),
            args=self._list("args"),
            env=self._texts("env"),
            cwd=self._text("cwd") if self._entry.get("cwd") is not None else None,
        )

    def _kind(self) -> str:
        """Return the entry's transport in one spelling, or "" if it has none."""
        key = next((key for key in _KIND if self._entry.get(key) is not None), None)
        if key is None:
            return ""
        kind = re.sub(r"[^a-z]", "", self._text(key).lower())
        if kind not in _KINDS:
            raise ParseError(f"{self._where}: {key!r} is one of stdio, http, sse, not {self._entry[key]!r}")
        return kind

    def _text(self, key: str) -> str:
        return self._expand(self._entry[key], repr(key))

    def _list(self, key: str) -> list[str]:
        value = self._entry.get(key)
        if value is None:
            return []
        if not is_array(value):
            raise ParseError(f"{self._where}: {key!r} must be a list of strings, not {value!r}")
        return [self._expand(item, f"{key}[{at}]") for at, item in enumerate(value)]

    def _texts(self, key: str) -> dict[str, str]:
        value = self._entry.get(key)
        if value is None:
            return {}
        if not is_object(value):
            raise ParseError(f"{self._where}: {key!r} must be an object of strings, not {value!r}")
        return {name: self._expand(item, f"{key}.{name}") for name, item in value.items()}

    def _expand(self, value: JsonValue, what: str) -> str:
        if not isinstance(value, str):
            raise ParseError(f"{self._where}: {what} must be a string, not {value!r}")

        def given(found: re.Match[str]) -> str:
            name, otherwise = found.groups()
            if name not in os.environ and otherwise is None:
                raise ParseError(f"{self._where}: {what} needs the environment variable {name}, which is not set")
            return os.environ.get(name, otherwise)

        return _VARIABLE.sub(given, value)


_KIND: Final = ("type", "transport")
_KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "": ("command", "url"),
    "stdio": ("command",),
    "http": ("url",),
    "streamablehttp": ("url",),
    "sse": ("url",),
}
"""The keys of an entry, by its transport."""
