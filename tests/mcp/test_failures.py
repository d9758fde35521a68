"""Servers that die, hang, lie or were never there: a clear error that names the server, and no hang."""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from inspect import signature
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.types import jsonrpc_message_adapter

from toolfmt import ToolInvocation
from toolfmt.errors import ServerError, ToolTimeoutError
from toolfmt.jsontext import equal
from toolfmt.mcp import McpServer, connect, connect_all, server, session
from toolfmt.mcp.connecting import CALL_SECONDS

pytestmark = pytest.mark.anyio
ADD = {"name": "add", "inputSchema": {"type": "object"}}
SAID = {"content": [{"type": "text", "text": "3"}]}


def _call(name: str, /, **arguments: Any) -> ToolInvocation:
    return ToolInvocation(name=name, arguments=arguments)


async def test_a_server_that_dies_during_a_call_is_started_anew_once_at_the_next(
    program: list[str], tmp_path: Path
) -> None:
    note = tmp_path / "note"
    found: list[str] = []

    async def ask(server: McpServer) -> None:
        found.append((await server.call(_call("pid"))).content)

    async with connect(program, name="kitchen") as server:
        await ask(server)
        with pytest.raises(ServerError, match=r"(?s)'kitchen': the connection broke off during the call.*on fire"):
            await server.call(_call("die", note=str(note)))
        assert not server.connected
        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(ask, server)
        assert server.connected
    before, *after = found
    assert len(after) == 5
    assert {before}.isdisjoint(after)
    assert len(set(after)) == 1
    assert note.read_text(encoding="utf-8") == "called\n"  # sent once


async def test_all_calls_of_a_server_that_dies_come_to_an_end(raw: Any) -> None:
    errors: list[str] = []

    async def wait(server: McpServer) -> None:
        with pytest.raises(ServerError) as caught:
            await server.call(_call("add"))
        errors.append(str(caught.value))

    reported = json.dumps({"lists": [{"tools": [ADD]}], "dies": 10})
    async with connect(raw(reported), name="raw") as server, anyio.create_task_group() as tasks:
        for _ in range(10):
            tasks.start_soon(wait, server)
    assert len(errors) == 10
    assert all(error.endswith("it said: the last words") for error in errors)


BAD_ANSWERS = [
    '{"jsonrpc": "2.0", "id": IDENT, "result": []}',
    '{"jsonrpc": "2.0", "id": IDENT, "resu',
    '{"jsonrpc": "1.0", "id": IDENT, "result": {"content": []}}',
    '{"id": IDENT, "result": {"content": []}}',
    '[{"jsonrpc": "2.0", "id": IDENT, "result": {"content": []}}]',
    '{"jsonrpc": "2.0", "id": IDENT, "id": 77, "result": {"content": []}}',
    '{"jsonrpc": "2.0", "id": 9999, "result": {"content": []}}',
    '{"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "Parse error"}}',
    '{"jsonrpc": "2.0", "id": IDENT, "error": {"code": "x"}}',
    '{"jsonrpc": "2.0", "id": IDENT, "result": {"content": [], "structuredContent": {"a": "\\ud800"}}}',
    '{"jsonrpc": "2.0", "id": IDENT, "result": {"content": [], "structuredContent": {"a": NaN}}}',
    f'{{"jsonrpc": "2.0", "id": IDENT, "result": {{"content": [], "structuredContent": {"[" * 5_000}}}',
]


@pytest.mark.parametrize("line", BAD_ANSWERS, ids=range(len(BAD_ANSWERS)))
async def test_an_answer_that_cannot_be_read_ends_the_call(raw: Any, line: str) -> None:
    words = json.dumps({"lists": [{"tools": [ADD]}], "lines": [line]})
    async with connect(raw(words), name="raw", timeout=None) as server:
        with pytest.raises(ServerError, match=r"'raw': .*it sent an invalid (message|result): "):
            await server.call(_call("add"))


async def test_what_a_server_logs_between_its_messages_ends_nothing(raw: Any) -> None:
    logs = ["starting", '{"level": 30, "id": 1, "msg": "x"}', "{'a': 1}", "[1, 2]", "\x01\x02", '"jsonrpc"', "{"]
    words = json.dumps(
        {"lists": [{"tools": [ADD]}], "lines": [*logs, json.dumps({"jsonrpc": "2.0", "id": "IDENT", "result": SAID})]}
    )
    async with connect(raw(words.replace('\\"IDENT\\"', "IDENT")), name="raw") as server:
        assert (await server.call(_call("add"))).content == "3"
        assert (await server.call(_call("add"))).content == "3"


async def test_a_server_that_only_logs_is_waited_for_until_the_time_is_over(raw: Any) -> None:
    words = json.dumps({"lists": [{"tools": [ADD]}], "lines": ["no message"]})
    async with connect(raw(words), name="raw", timeout=0.5) as server:
        with pytest.raises(ToolTimeoutError, match=r"'add' of MCP server 'raw' took over 0\.5 s"):
            await server.call(_call("add"))
    assert all(signature(one).parameters["timeout"].default == CALL_SECONDS for one in (connect, connect_all))


async def test_calls_that_wait_for_a_start_that_fails_fail_with_it(raw: Any, tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    reported = json.dumps({"lists": [{"tools": [ADD]}], "dies": 1})
    code = "import runpy, sys\nfile = open(sys.argv.pop(), 'a+')\nfile.write('x')\nfile.close()\n"
    code += "if open(file.name).read() == 'x':\n    runpy.run_path(sys.argv.pop(1), run_name='__main__')"
    python, script, words = raw(reported)
    errors: list[str] = []

    async def ask(server: McpServer) -> None:
        with pytest.raises(ServerError) as caught:
            await server.call(_call("add"))
        errors.append(caught.value.reason)

    async with connect([python, "-c", code, script, words, str(starts)], name="raw") as server:
        with pytest.raises(ServerError, match="the last words"):
            await server.call(_call("add"))
        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(ask, server)
    assert (len(errors), len(set(errors))) == (5, 1)
    assert starts.read_text(encoding="utf-8") == "xx"


@pytest.mark.parametrize(("words", "called"), [((), "while it is gone"), (("handshake",), "after")])
async def test_a_web_server_that_is_killed_and_comes_back_is_reached_again(
    words: tuple[str, ...], called: str, start_web: Any, free_port: Callable[[], int]
) -> None:
    port = free_port()
    async with AsyncExitStack() as stack:
        with start_web(port, *words) as url:
            server = await stack.enter_async_context(connect(url, name="kitchen"))
            assert (await server.call(_call("echo", text="a"))).content == "a"
        if called == "while it is gone":
            with pytest.raises(ServerError, match=r"'kitchen': .*127\.0\.0\.1"):
                await server.call(_call("echo", text="b"))
        with start_web(port, *words):
            with suppress(ServerError):  # a session that the new one does not know is told once
                await server.call(_call("echo", text="c"))
            assert (await server.call(_call("echo", text="d"))).content == "d"
            await stack.aclose()


class _Page(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        page = b"<html>welcome</html>"
        self.send_response(int(self.path[1:4]))
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        pass


@pytest.fixture(scope="module")
def page() -> Iterator[str]:
    """A web server that answers all with a page."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Page) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://user:secret@127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def _python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


WRONG: list[tuple[Any, str]] = [
    ([*_python("import sys; sys.exit('no config')"), "--key", "secret"], "at `.*python.*it said: no config"),
    (
        _python("import sys; print('welcome', flush=True); sys.stdin.read()"),
        "no answer within 3 s.*invalid message.*welcome",
    ),
    (_python("import time; time.sleep(60)"), "no answer within 3 s"),
    (_python("import os; os.write(1, b'\\xff\\xfe\\n')"), "Connection closed; it sent an invalid message"),
    (["no-such-program"], "No such file or directory: 'no-such-program'"),
    ("http://127.0.0.1:9/mcp", "connection attempts failed.*at http://127.0.0.1:9/mcp"),
    ("/200", "text/html"),
    ("/401?key=secret", "HTTP 401 Unauthorized"),
    ("/500", "HTTP 500 Internal Server Error"),
]


async def test_what_is_no_server_is_named_and_never_hangs(page: str) -> None:
    said: dict[int, str] = {}

    async def meet(number: int, target: Any) -> None:
        target = page + target if isinstance(target, str) and target.startswith("/") else target
        with pytest.raises(ServerError) as caught:
            async with connect(target, name=f"s{number}", patience=3 if "no answer" in WRONG[number][1] else 60):
                pass
        assert caught.value.server == f"s{number}"
        said[number] = str(caught.value)

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            for number, (target, _) in enumerate(WRONG):
                tasks.start_soon(meet, number, target)
    for number, (_, says) in enumerate(WRONG):
        assert re.search(f"(?s)^MCP server 's{number}': .*{says}", said[number])
        assert "secret" not in said[number]


async def _told(command: list[str], name: str = "add") -> Any:
    async with connect(command, name="raw") as server:
        return await server.call(_call(name))


async def test_a_list_of_many_pages_is_read_to_its_end(raw: Any) -> None:
    pages = [{"tools": [ADD | {"name": f"t{n}"}], "nextCursor": str(n)} for n in range(5)]
    reported = json.dumps({"lists": [*pages, {"tools": [ADD]}], "result": SAID})
    async with connect(raw(reported), name="raw") as server:
        assert [tool.name for tool in server.tools] == ["t0", "t1", "t2", "t3", "t4", "add"]
        assert (await server.call(_call("t3"))).content == "3"


async def test_a_list_without_an_end_is_refused(raw: Any) -> None:
    with pytest.raises(ServerError, match="'raw': its list of tools has no end"):
        await _told(raw(json.dumps({"lists": [{"tools": [ADD], "nextCursor": "again"}]})))


async def test_tools_that_cannot_be_used_are_left_out_and_named(raw: Any) -> None:
    bad = [ADD | {"name": name} for name in (" ", "a\x1b[2J", "ad\u202ed", "ad\u200bd", "add\0")]
    reported = json.dumps({"lists": [{"tools": [ADD, *bad, ADD]}], "result": SAID})
    with pytest.warns(UserWarning, match="'raw'") as warned:
        async with connect(raw(reported), name="raw") as server:
            names = [tool.name for tool in server.tools]
    assert names == ["add"]
    assert [("white space" in str(one.message), "two tools" in str(one.message)) for one in warned] == [
        *[(True, False)] * 5,
        (False, True),
    ]


@pytest.mark.parametrize(("limit", "most"), [("MAX_TOOLS", 2), ("MAX_LIST", 100)])
async def test_a_list_that_is_too_long_is_refused(
    raw: Any, limit: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = [{"tools": [ADD | {"name": f"t{n}"}], "nextCursor": str(n)} for n in range(3)]
    monkeypatch.setattr(session, limit, most)
    with pytest.raises(ServerError, match=rf"'raw': it lists more than .*\b{most}\b"):
        await _told(raw(json.dumps({"lists": pages})))


async def test_a_tool_that_cannot_be_shown_is_left_out(raw: Any) -> None:
    tools = [
        {"name": f"t{number}", "inputSchema": {"type": "object", "properties": {"a": {"$ref": reference}}}}
        for number, reference in enumerate(("file:///etc/passwd", "#/$defs/none"))
    ]
    with pytest.warns(UserWarning, match="'raw': a tool is left out: ") as warned:
        async with connect(raw(json.dumps({"lists": [{"tools": [*tools, ADD]}]})), name="raw") as server:
            assert [tool.name for tool in server.tools] == ["add"]
    assert ["'t0': the $ref at " in str(one.message) for one in warned] == [True, False]


async def test_the_time_of_a_start_holds_for_a_list_whose_schemas_take_long_to_read(raw: Any) -> None:
    half = [{"$ref": f"#/$defs/d{level}"} for level in range(10)]
    defs = {"d0": {}} | {f"d{level}": {"allOf": [half[level - 1]] * 2} for level in range(1, 10)}
    heavy = {"type": "object", "properties": {"a": {"$ref": "#/$defs/d9"}}, "$defs": defs}
    tools = [{"name": f"t{number}", "inputSchema": heavy} for number in range(100)]
    began = iter(range(1_000))
    scope = anyio.CancelScope()

    async def listed(found: Any) -> None:
        async with connect(raw(json.dumps({"lists": [{"tools": found}]})), name="raw"):
            pass

    real = server.read_tool

    def counted(*given: Any) -> None:
        if next(began) == 5:
            scope.cancel()  # as the time-out of the start does
        real(*given)

    with pytest.MonkeyPatch.context() as patch, scope:
        patch.setattr(server, "read_tool", counted)
        await listed(tools)
    assert scope.cancelled_caught
    assert next(began) < 10


async def test_an_error_is_as_long_as_the_server_likes_but_not_here(raw: Any) -> None:
    for wrong in ({"error": {"code": -32603, "message": "x" * 9999}}, {"result": {"content": [{}] * 99}}):
        with pytest.raises(ServerError, match="'raw': ") as caught:
            await _told(raw(json.dumps({"lists": [{"tools": [ADD]}], **wrong})))
        assert session.REASON / 2 < len(caught.value.reason) <= session.REASON


async def test_a_server_of_no_tools_has_none(raw: Any) -> None:
    async with connect(raw(json.dumps({"able": False, "lists": []})), name="raw") as server:
        assert server.tools == ()


async def test_a_changed_list_is_read_anew(raw: Any) -> None:
    new = ADD | {"name": "new"}
    reported = json.dumps({"lists": [{"tools": [ADD]}, {"tools": [new]}], "changes": True, "result": SAID})
    async with connect(raw(reported), name="raw") as server:
        assert (await server.call(_call("add"))).content == "3"
        with anyio.fail_after(20):
            while [tool.name for tool in server.tools] != ["new"]:  # noqa: ASYNC110 - nothing tells of it
                await anyio.sleep(0.01)


@pytest.mark.parametrize(
    ("result", "content", "is_error"),
    [
        ({"content": []}, None, False),
        ({"content": [], "isError": True}, "the tool failed without a message", True),
        ({"content": [], "structuredContent": {}}, {}, False),
        ({"content": [{"type": "text", "text": "{}"}], "structuredContent": {}}, {}, False),
        ({"content": [{"type": "text", "text": "1"}]}, "1", False),
        ({"content": [{"type": "text", "text": "no"}], "structuredContent": {"a": 1}, "isError": True}, "no", True),
        ({"content": [{"type": "text", "text": ""}]}, "", False),
    ],
)
async def test_results_at_the_edge(raw: Any, result: Any, content: Any, is_error: Any) -> None:
    found = await _told(raw(json.dumps({"lists": [{"tools": [ADD]}], "result": result})))
    assert equal(found.content, content)
    assert found.is_error is is_error


async def test_text_beside_structured_content_is_kept(raw: Any) -> None:
    result = {
        "content": [{"type": "text", "text": "warm", "annotations": {"priority": 1}}],
        "structuredContent": {"temp": 18},
        "_meta": {"took": 3},
    }
    found = await _told(raw(json.dumps({"lists": [{"tools": [ADD]}], "result": result})))
    assert equal(found.content, {"temp": 18})
    assert found.extra == {
        "mcp.texts": ["warm"],
        "mcp.blocks": [{"mcp.annotations": {"priority": 1}}],
        "mcp.result._meta": {"took": 3},
    }


async def test_structured_content_that_breaks_its_own_schema_is_an_error_that_says_that_the_tool_ran(raw: Any) -> None:
    tool = ADD | {"outputSchema": {"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}}}}
    tool["outputSchema"]["$defs"] = {"n": {"type": "integer"}}
    result = {"content": [{"type": "text", "text": "?"}], "structuredContent": {"n": "three"}}
    found = await _told(raw(json.dumps({"lists": [{"tools": [tool]}], "result": result})))
    assert found.is_error
    assert found.content.startswith("the tool ran, but its structured content does not fit its output schema: /n: ")
    assert found.extra["mcp.result.structuredContent"] == {"n": "three"}


async def test_a_pattern_that_would_never_end_does(raw: Any) -> None:
    tool = ADD | {"outputSchema": {"type": "object", "properties": {"a": {"pattern": "^(a+)+$"}}}}
    result = {"content": [], "structuredContent": {"a": "a" * 50 + "!"}}
    assert (await _told(raw(json.dumps({"lists": [{"tools": [tool]}], "result": result})))).is_error


async def test_errors_of_the_protocol(raw: Any) -> None:
    async def answer(code: int, message: str) -> Any:
        error = {"code": code, "message": message}
        return await _told(raw(json.dumps({"lists": [{"tools": [ADD]}], "error": error})))

    wrong = await answer(-32602, "a is missing")  # the model can do better
    assert (wrong.is_error, wrong.content) == (True, "a is missing")
    with pytest.raises(ServerError, match="'raw': the disk is full"):
        await answer(-32603, "the disk is full")


async def test_an_answer_that_is_none_is_the_servers_failure(raw: Any) -> None:
    with pytest.raises(ServerError, match="'raw'"):
        await _told(raw(json.dumps({"lists": [{"tools": [ADD]}], "result": {"content": "3"}})))


async def test_a_tool_that_asks_for_input_gets_none(kitchen: Any) -> None:
    async with connect(kitchen, name="kitchen") as server:
        with pytest.raises(ServerError, match="'kitchen': the tool 'ask' asks for input"):
            await server.call(_call("ask"))


def test_of_equal_keys_in_a_message_the_last_counts() -> None:
    """As SECURITY.md says of the SDK."""
    text = '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "f", "name": "g"}}'
    message: Any = jsonrpc_message_adapter.validate_json(text)
    assert message.params == {"name": "g"}
