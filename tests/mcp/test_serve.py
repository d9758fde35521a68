"""A registry served as an MCP server, as the SDK's own client sees it, and as ours does."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp import Client, MCPError, StdioServerParameters, types

from toolfmt import ToolInvocation, ToolRegistry, jsontext, tool
from toolfmt.execution.executor import Executor
from toolfmt.jsontext import equal
from toolfmt.mcp import McpServer, connect, mcp_server, serve
from toolfmt.workshop.testing.strategies import values

pytestmark = pytest.mark.anyio
SERVED = str(Path(__file__).parent / "servers" / "served.py")
SERVED_ENV = {"PYTHONPATH": os.pathsep.join(sys.path)}


@pytest.fixture(scope="session")
def registry() -> ToolRegistry:
    return runpy.run_path(SERVED, run_name="served")["registry"]


@pytest.fixture(scope="session")
def in_process(registry: ToolRegistry) -> Any:
    return mcp_server(registry, name="served", instructions="Be brief.")


@pytest.fixture(scope="session")
def as_program() -> StdioServerParameters:
    return StdioServerParameters(command=sys.executable, args=[SERVED, "stdio"], env=SERVED_ENV)


@pytest.fixture(scope="session")
def on_the_web() -> Iterator[str]:
    command = [sys.executable, SERVED, "streamable-http"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, **SERVED_ENV}) as process:
        assert process.stderr is not None
        try:
            yield process.stderr.readline().removeprefix("served: ").strip()
        finally:
            process.kill()


@pytest.fixture(params=["in_process", "as_program", "on_the_web"], scope="session")
def target(request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="session")
def server(target: Any) -> Iterator[McpServer]:
    with connect(target, name="served") as opened:
        yield opened


async def test_the_sdks_client_reads_it(target: Any, registry: ToolRegistry, tmp_path: Path) -> None:
    reported: list[tuple[float, float | None, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        reported.append((progress, total, message))

    async with Client(target) as client:
        assert client.instructions == "Be brief."
        listed = (await client.list_tools()).tools
        assert {one.name: one.input_schema for one in listed} == {one.name: one.parameters for one in registry}

        found = await client.call_tool("weather", {"city": "Köln", "days": 2})
        said = {"city": "Köln", "days": 2, "at": "2026-01-02", "big": 12345678901234567890, "half": 0.5}
        assert equal(found.structured_content, said)
        assert not found.is_error

        found = await client.call_tool("shout", {"text": "hi"})
        assert (found.content, found.structured_content) == ([types.TextContent(text="HI")], None)

        found = await client.call_tool("show", {})
        kinds = [block.type for block in found.content]
        assert sorted(kinds) == ["image", "resource", "text"]
        (file,) = [block for block in found.content if isinstance(block, types.EmbeddedResource)]
        assert file.resource.uri == "file:///a%20b.pdf"

        for name, arguments, says in (
            ("fail", {}, "no luck"),
            ("weather", {"city": 3}, "/city: "),
            ("weather", {}, "city"),
            ("weather", {"city": "x", "context": 1}, "context"),
        ):
            found = await client.call_tool(name, arguments)
            (text,) = found.content
            assert isinstance(text, types.TextContent)
            assert (found.is_error, says in text.text) == (True, True)

        with pytest.raises(MCPError, match="unknown tool 'weathr'; did you mean 'weather'") as caught:
            await client.call_tool("weathr", {})
        assert caught.value.code == types.INVALID_PARAMS

        assert (await client.call_tool("count", {}, progress_callback=hear)).content[0].type == "text"
        assert reported == [(1, 2, "half"), (2, 2, None)]

        note = tmp_path / "note"
        with anyio.CancelScope() as scope:

            async def cancel(progress: float, total: float | None, message: str | None) -> None:
                assert (progress, total, message) == (1, None, None)
                scope.cancel()

            await client.call_tool("sleep", {"note": str(note)}, progress_callback=cancel)
        with anyio.fail_after(20):
            while not note.exists():  # noqa: ASYNC110 - nothing tells of it
                await anyio.sleep(0.01)


async def test_what_is_served_and_read_again_is_the_same(server: McpServer, registry: ToolRegistry) -> None:
    assert [one.model_dump(exclude={"server", "metadata"}) for one in server.tools] == [
        one.model_dump(exclude={"server", "metadata"}) for one in registry
    ]
    calls = [
        ToolInvocation(name="weather", arguments={"city": "Köln"}),
        ToolInvocation(name="shout", arguments={"text": "a\n</tool>\x00"}),
        ToolInvocation(name="numbers"),
        ToolInvocation(name="nothing"),
        ToolInvocation(name="show"),
        ToolInvocation(name="fail"),
        ToolInvocation(name="weather", arguments={"city": 3}),
        ToolInvocation(name="nobody"),
    ]
    here = await Executor(registry).execute(calls)
    there = await Executor(ToolRegistry(), servers={"served": server}).execute(calls)
    for one, other in zip(here, there, strict=True):
        content = "[1, 2, 3]" if one.name == "numbers" else one.result.content  # only an object is structured
        assert equal(other.result.content, content)
        assert other.result.is_error is one.result.is_error
        assert [media.data for media in other.result.media] == [media.data for media in one.result.media]


@settings(max_examples=20)  # of many values each
@given(given_values=st.lists(values(), max_size=20))
def test_any_value_goes_there_and_comes_back_type_for_type(server: McpServer, given_values: list[Any]) -> None:
    executor = Executor(ToolRegistry(), servers={"served": server})
    calls = [ToolInvocation(name="same", arguments={"value": value}) for value in given_values]
    for value, execution in zip(given_values, executor.execute_sync(calls), strict=True):
        expected = value if value is None or isinstance(value, (str, dict)) else jsontext.dumps(value)
        assert not execution.has_error, execution.error
        assert equal(execution.result.content, expected)


async def test_what_a_tool_says_of_itself_is_reported() -> None:
    registry = ToolRegistry()
    reported = {"title": "Wipe", "outputSchema": {"type": "object"}, "_meta": {"a": 1}}
    registry.register(
        tool({"name": "wipe", "inputSchema": {}, "metadata": {**reported, "dangerous": True}}), function=dict
    )
    registry.register(tool({"name": "odd", "inputSchema": {}, "metadata": {"annotations": "none", "outputSchema": 3}}))
    registry.register(tool({"name": "safe", "inputSchema": {}, "annotations": {"readOnlyHint": True}}))
    async with connect(mcp_server(registry, name="x"), name="x") as server:
        wipe, odd, safe = server.tools
        assert (await server.call(ToolInvocation(name="wipe"))).content == {}
    assert wipe.metadata == {**reported, "annotations": {"destructiveHint": True}, "dangerous": True}
    assert odd.metadata == {}
    assert safe.metadata == {"annotations": {"readOnlyHint": True}}


async def test_policies_hold_for_those_who_call_from_outside(registry: ToolRegistry) -> None:
    def block(call: ToolInvocation, _context: Any) -> Any:
        from toolfmt.execution.hooks import Blocked

        return Blocked("not from here") if call.name == "shout" else None

    executor = Executor(registry, before=[block], throw_on_failure=True)
    async with connect(mcp_server(executor, name="x"), name="x") as server:
        found = await server.call(ToolInvocation(name="shout", arguments={"text": "a"}))
        assert (found.is_error, "not from here" in found.content) == (True, True)
        assert (await server.call(ToolInvocation(name="fail"))).is_error


async def test_tools_of_other_servers_are_passed_on(kitchen: Any, registry: ToolRegistry) -> None:
    async with connect(kitchen, name="kitchen") as inner:
        executor = Executor(registry, servers={"kitchen": inner})
        async with connect(mcp_server(executor, name="outer"), name="outer") as outer:
            names = [one.name for one in outer.tools]
            assert (names[0], "cook" in names) == ("weather", True)
            found = await outer.call(ToolInvocation(name="cook", arguments={"name": "soup"}))
            assert found.content["name"] == "soup"
            shown = await outer.call(ToolInvocation(name="look"))
            assert shown.media == (await inner.call(ToolInvocation(name="look"))).media


def test_a_transport_that_does_not_exist_is_refused(registry: ToolRegistry) -> None:
    with pytest.raises(ValueError, match="'stdio' or 'streamable-http', not 'sse'"):
        serve(registry, name="x", transport="sse")  # pyright: ignore[reportArgumentType]
