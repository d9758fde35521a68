"""Targets of connections, and the transports to them.

    connect(["python", "server.py"])                                   a program, over stdin and stdout
    connect("https://example.com/mcp", headers={"Authorization": …})   an address, over streamable HTTP
    connect(Remote("https://example.com/sse", sse=True))               the same over SSE, as older servers have it
    connect(MCPServer("weather"))                                      an object of the SDK in this process
    connect(lambda: my_transport())                                    any transport of the SDK, made anew each time

A transport is wrapped to find out when the other side has ended the connection and what it reported: the last lines of
a program's stderr, or a web server's status.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TextIO, TypeAlias, cast

import anyio
import httpx2
from mcp import StdioServerParameters, stdio_client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.server import MCPServer, Server
from mcp.types import JSONRPCError, JSONRPCResponse
from mcp.types.methods import validate_server_result
from mcp.types.version import LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION
from pydantic import ValidationError

from toolfmt import jsontext
from toolfmt.arguments import checked
from toolfmt.errors import UnrepresentableError
from toolfmt.jsontext import JsonObject, is_array
from toolfmt.mcp import bounded
from toolfmt.mcp.streams import Receiving, Sending
from toolfmt.transcripts.parts.values import word

if TYPE_CHECKING:
    from mcp.client import Transport

MAX_EVENT: Final = bounded.LONGEST
"""Maximum bytes of a message from a web server."""
_MAX_ANSWERS: Final = 16
"""Maximum number of answers that a server does not read before its next requests are read."""
_LAST_WORDS: Final = 2000
"""Characters of stderr that an error shows."""
_PATIENCE: Final = httpx2.Timeout(30, read=300)
"""Time-outs in seconds; a server may be silent for long while a tool runs."""
_ADDRESS: Final = re.compile(r"https?://", re.IGNORECASE)
_SECRET: Final = re.compile(r"(?<=//)[^/?#@]*@|[?#].*", re.DOTALL)


@checked
@dataclass(frozen=True, slots=True)
class Remote:
    """The address of a server and headers to send; `sse` for servers older than streamable HTTP."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    sse: bool = False


Target: TypeAlias = (
    "Server[Any] | MCPServer[Any] | StdioServerParameters | Remote | Sequence[str] | str | Callable[[], Transport]"
)
"""Everything that `connect` takes."""


class Trace:
    """Whether a connection has ended, and what the other side reported."""

    def __init__(self) -> None:
        self.ended = anyio.Event()
        self.output = ""
        self.noise = ""
        """Input that was not a message of the protocol."""
        self.unread: list[str] = []
        """Tools of a list that cannot be read, each with the reason."""
        self.start: anyio.CancelScope | None = None
        """The scope of the start while it runs."""

    def broke(self, noise: str) -> None:
        """End the connection at input that may be the answer which a request waits for."""
        self.noise = noise
        self.ended.set()
        if self.start is not None:
            self.start.cancel()


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A target that can be connected to again and again; `where` names it without its secrets."""

    where: str
    open: Callable[[Trace], Any]
    """Makes a transport or a server for the SDK's client."""


def is_address(text: str) -> bool:
    """Whether a text is the URL of a web server."""
    return _ADDRESS.match(text) is not None


def endpoint(target: Target, headers: Mapping[str, str] | None = None) -> Endpoint:
    """Make the endpoint of a target; raises TypeError or ValueError for anything else."""
    if isinstance(target, str) and is_address(target):
        target = Remote(target, headers or {})
    elif headers is not None:
        raise TypeError("headers go to an address alone: target is no http:// or https:// URL")
    if isinstance(target, Remote):
        if not is_address(target.url):
            raise ValueError(f"the url of an MCP server begins with http:// or https://, not {target.url[:40]!r}")
        return Endpoint(_SECRET.sub("", target.url), partial(_watched, partial(_http, target)))
    if isinstance(target, (MCPServer, Server)):
        served = cast("Any", target)
        return Endpoint("in this process", lambda _: served)
    if isinstance(target, (str, bytes)):
        raise TypeError(f"a command is a list such as ['python', 'server.py'], not the text {target[:40]!r}")
    if isinstance(target, Sequence):
        target = _command(cast("Sequence[object]", target))
    if isinstance(target, StdioServerParameters):
        return Endpoint(f"`{target.command}`", partial(_watched, partial(_process, target)))
    if callable(target):
        make = target
        return Endpoint(getattr(make, "__name__", "a transport"), partial(_watched, lambda _: make()))
    raise TypeError(f"cannot connect to {type(target).__name__}: give a command, a URL, or a server of the MCP SDK")


def _command(words: Sequence[object]) -> StdioServerParameters:
    if not words or not all(isinstance(word, str) for word in words):
        raise TypeError(f"a command is a list of str, its program first, not {list(words)!r}")
    program, *arguments = map(str, words)
    return StdioServerParameters(command=program, args=arguments)


@asynccontextmanager
async def _process(params: StdioServerParameters, trace: Trace) -> AsyncGenerator[Any, None]:
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        try:
            async with stdio_client(_bounded(params), errlog=errors) as streams:
                yield streams
        finally:
            trace.output = _tail(errors)


def _bounded(params: StdioServerParameters) -> StdioServerParameters:
    """Run `bounded.py` between the server and its reader, to limit the length of lines.

    Raises FileNotFoundError if the server's program does not exist.
    """
    path = (params.env or {}).get("PATH") or os.environ.get("PATH")
    if shutil.which(params.command, path=path) is None and (params.cwd is None or os.sep not in params.command):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), params.command)
    between = ["-I", bounded.__file__, str(bounded.LONGEST), params.command, *params.args]
    return params.model_copy(update={"command": sys.executable, "args": between})


def _tail(errors: TextIO) -> str:
    end = errors.seek(0, 2)
    errors.seek(max(0, end - _LAST_WORDS))
    return errors.read().strip()


@asynccontextmanager
async def _http(target: Remote, trace: Trace) -> AsyncGenerator[Any, None]:
    async def note(response: httpx2.Response) -> None:
        if response.request.method == "POST":
            trace.output = f"HTTP {response.status_code} {response.reason_phrase}" if response.is_error else ""
        vars(response)["aiter_bytes"] = partial(_marked, response.aiter_bytes)
        vars(response)["aread"] = partial(_read, response)  # the SDK reads a body of any length

    def make_client(
        headers: dict[str, str] | None = None,
        timeout: httpx2.Timeout | None = _PATIENCE,
        auth: httpx2.Auth | None = None,
    ) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(headers=headers, timeout=timeout, auth=auth, event_hooks={"response": [note]})

    headers = dict(target.headers)
    if target.sse:
        async with sse_client(target.url, headers, httpx_client_factory=make_client) as streams:
            yield streams
        return
    async with (
        make_client(headers) as client,
        streamable_http_client(target.url, http_client=client, max_sse_event_size=MAX_EVENT) as streams,
    ):
        yield streams


async def _marked(read: Callable[[], AsyncGenerator[bytes, None]]) -> AsyncGenerator[bytes, None]:
    marking = bounded.Marking()
    async for piece in read():
        yield marking.feed(piece)
    yield marking.feed(b"", last=True)


async def _read(response: httpx2.Response) -> bytes:
    """Read a body, unpacked; raises StreamError past `MAX_EVENT` bytes."""
    body = bytearray()
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > MAX_EVENT:
            await response.aclose()
            raise httpx2.StreamError(f"the body has more than {MAX_EVENT} bytes")
    return bytes(body)


@asynccontextmanager
async def _watched(
    make: Callable[[Trace], AbstractAsyncContextManager[Any]], trace: Trace
) -> AsyncGenerator[Any, None]:
    async with make(trace) as (read, write):
        writer = Sending(write, _MAX_ANSWERS)
        yield _Watched(read, trace, writer), writer


class _Watched(Receiving):
    """A reader that ends the connection at its end, and at an answer that belongs to no request."""

    def __init__(self, stream: Any, trace: Trace, writer: Sending) -> None:
        super().__init__(stream, writer)
        self._trace = trace

    async def __anext__(self) -> Any:
        try:
            item = await super().__anext__()
        except BaseException:
            self._trace.ended.set()
            raise
        answer = getattr(item, "message", None)
        if isinstance(answer, JSONRPCResponse):
            answer.result = _unmarked(answer.result)
            if is_array(tools := answer.result.get("tools")):
                wrong = _wrong_tools(answer.result)  # for any of which the SDK would reject the list
                answer.result["tools"] = [tool for at, tool in enumerate(tools) if at not in wrong]
                self._trace.unread += wrong.values()
        if isinstance(answer, JSONRPCResponse | JSONRPCError) and str(answer.id) not in self._writer.sent:
            # The call that it was meant for would wait until its time is over.
            self._trace.broke(f"an answer with the id {answer.id!r}, which no request has")
        return item


def _wrong_tools(result: JsonObject) -> dict[int, str]:
    """Return the places of the tools that a list cannot have, each with the reason."""
    version = LATEST_MODERN_VERSION if "resultType" in result else LATEST_HANDSHAKE_VERSION
    tools = result["tools"]
    names = [repr(word(tool, "name") or f"the one at {at}") for at, tool in enumerate(tools)]
    found: dict[int, str] = {}
    for at, tool in enumerate(tools):
        try:
            jsontext.dumps(tool)
        except UnrepresentableError as wrong:
            found[at] = f"{names[at]}: {wrong}"
    try:  # of these tools, the SDK's check may raise an error that names no place
        readable = [None if at in found else tool for at, tool in enumerate(tools)]
        validate_server_result("tools/list", version, {**result, "tools": readable})
    except ValidationError as error:
        for one in error.errors():
            match one["loc"]:
                case ("tools", int(at), *field):
                    found.setdefault(at, ": ".join(filter(None, (names[at], "/".join(map(str, field)), one["msg"]))))
                case _:
                    pass  # the SDK says what is wrong
    return found


def _unmarked(result: JsonObject) -> JsonObject:
    """Return a result with a lone surrogate wherever a transport has marked one."""
    text = json.dumps(result, ensure_ascii=False)
    return json.loads(text.replace(bounded.MARK, "\ud800")) if bounded.MARK in text else result
