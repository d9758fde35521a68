"""What a server offers and gives back is the same on whatever way it is reached."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import from_thread
from anyio.lowlevel import current_token
from mcp import types
from mcp.client.stdio import StdioServerParameters, stdio_client

from toolfmt import ToolDefinition, ToolInvocation, manifest
from toolfmt.errors import ArgumentsError, ServerError, ToolTimeoutError, UnknownToolError
from toolfmt.execution.hooks import ToolContext
from toolfmt.jsontext import equal
from toolfmt.mcp import McpServer, Remote, connect
from toolfmt.mcp.content import ServerTool, read_tool
from toolfmt.model import Media, ToolResult
from toolfmt.schema.validation import problems

pytestmark = pytest.mark.anyio


def _call(name: str, /, **arguments: Any) -> ToolInvocation:
    return ToolInvocation(name=name, arguments=arguments, id="c1", server="kitchen", agent="chef")


def _tool(server: McpServer, name: str) -> ToolDefinition:
    return next(tool for tool in server.tools if tool.name == name)


async def test_tools_come_with_their_server_schema_and_hints(server: McpServer) -> None:
    assert {tool.server for tool in server.tools} == {"kitchen"}
    cook, burn, echo = (_tool(server, name) for name in ("cook", "burn", "echo"))
    assert cook.description == "Cook."
    assert cook.parameters["properties"]["minutes"]["description"] == "How long."
    assert cook.parameters["required"] == ["name"]
    assert cook.metadata["title"] == "Cook a dish"
    assert cook.metadata["annotations"] == {"readOnlyHint": True}
    assert cook.metadata["outputSchema"]["properties"]["vegan"]["type"] == "boolean"
    assert [tool.metadata.get("dangerous") for tool in (cook, burn, echo)] == [None, True, None]
    assert '"Cook."' in manifest([cook, burn], provider="openai")


async def test_structured_content_is_the_content_type_for_type(server: McpServer) -> None:
    found = await server.call(_call("cook", name="süß"))
    dish = {"name": "süß", "minutes": 10.0, "vegan": True, "big": 12345678901234567890}
    assert equal(found.content, dish)
    assert found == ToolResult(name="cook", content=dish, id="c1", server="kitchen", agent="chef")


async def test_every_kind_of_content_has_its_place(server: McpServer) -> None:
    found = await server.call(_call("look"))
    text = 'two\nlines\ninside\n{"type": "resource_link", "name": "c", "uri": "file:///c.txt"}'
    assert sorted(found.content.splitlines()[:3]) == sorted(text.splitlines()[:3])
    assert json.loads(found.content.splitlines()[3]) == json.loads(text.splitlines()[3])
    image, sound, file, link = found.media
    assert (image.kind, image.media_type, (image.data or "")[:8]) == ("image", "image/png", "iVBORw0K")
    assert sound == Media(kind="audio", media_type="audio/wav", data="UklGRiQAAABXQVZF")
    assert file == Media(kind="document", media_type="application/pdf", data="JVBERi0=", name="file:///a.pdf")
    assert link == Media(kind="image", media_type="image/png", url="https://a.example/b.png", name="b")


async def test_a_tools_own_errors_are_results(server: McpServer) -> None:
    failed = await server.call(_call("fail", why="no flour"))
    crashed = await server.call(_call("crash"))
    wrong = await server.call(_call("cook", name=3))
    alive = await server.call(_call("echo", text="hi"))
    assert (failed.is_error, "no flour" in failed.content) == (True, True)
    assert (crashed.is_error, "secret" in crashed.content) == (True, False)
    assert (wrong.is_error, "valid string" in wrong.content) == (True, True)
    assert alive.content == "hi"


async def test_a_tool_that_is_not_offered_is_not_asked_for(server: McpServer) -> None:
    with pytest.raises(UnknownToolError, match="did you mean 'cook'"):
        await server.call(_call("cooc"))


async def test_progress_is_reported_to_the_context_of_the_call(server: McpServer) -> None:
    reported: list[tuple[float | None, float | None, str]] = []
    call = _call("wait", seconds=0.01)
    context = ToolContext(call, "e1", _tell=lambda *what: reported.append(what))
    found = await server.call(call, injected={"context": context})
    assert (found.content, reported) == ("waited", [(1, 4, "a quarter")])


async def test_a_call_that_takes_too_long_is_given_up_on_both_sides(kitchen: Any, tmp_path: Path) -> None:
    note = tmp_path / "note"
    async with connect(kitchen, name="kitchen", timeout=0.3) as server:
        with pytest.raises(ToolTimeoutError, match=r"'wait' of MCP server 'kitchen' took over 0\.3 s"):
            await server.call(_call("wait", seconds=60, note=str(note)))
        assert (await server.call(_call("echo", text="next"))).content == "next"
        await _until(note.exists)


async def test_a_call_that_is_cancelled_is_cancelled_on_the_server(server: McpServer, tmp_path: Path) -> None:
    note = tmp_path / "note"
    call = _call("wait", seconds=60, note=str(note))
    begun = anyio.Event()
    token = current_token()
    context = ToolContext(call, "e1", _tell=lambda *_: from_thread.run_sync(begun.set, token=token))

    async def run() -> None:
        await server.call(call, injected={"context": context})

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        await begun.wait()
        tasks.cancel_scope.cancel()
    await _until(note.exists)


async def test_calls_run_side_by_side(server: McpServer) -> None:
    found: dict[int, ToolResult] = {}

    async def ask(server: McpServer, number: int) -> None:
        found[number] = await server.call(_call("echo", text=str(number)))

    async with anyio.create_task_group() as tasks:
        for number in range(50):
            tasks.start_soon(ask, server, number)
    assert {number: result.content for number, result in found.items()} == {n: str(n) for n in range(50)}


async def test_new_tools_appear_when_the_server_says_so(server: McpServer, request: pytest.FixtureRequest) -> None:
    name = f"new_{request.node.callspec.id}"
    await server.call(_call("learn", name=name))
    await _until(lambda: name in [tool.name for tool in server.tools])
    assert (await server.call(_call(name))).content == "new"


async def test_what_a_tool_prints_harms_nothing(server: McpServer) -> None:
    assert (await server.call(_call("mutter"))).content == "muttered"


async def test_results_may_be_large(server: McpServer) -> None:
    assert (await server.call(_call("fill", size=3_000_000))).content == "x" * 3_000_000


async def test_any_transport_of_the_sdk_will_do(raw: Any) -> None:
    command, *args = raw(json.dumps({"lists": [{"tools": [{"name": "add", "inputSchema": {"type": "object"}}]}]}))
    params = StdioServerParameters(command=command, args=args)
    async with connect(params, name="one") as one, connect(lambda: stdio_client(params), name="two") as two:
        assert [tool.name for tool in one.tools] == [tool.name for tool in two.tools] == ["add"]


async def test_with_a_prefix_names_never_collide(kitchen: Any) -> None:
    async with connect(kitchen, name="a", prefix=True) as server:
        assert "a__echo" in [tool.name for tool in server.tools]
        found = await server.call(ToolInvocation(name="a__echo", arguments={"text": "hi"}))
        assert (found.name, found.content) == ("a__echo", "hi")
        with pytest.raises(UnknownToolError):
            await server.call(ToolInvocation(name="echo", arguments={"text": "hi"}))


async def test_only_what_the_caller_names_is_injected_and_no_model_can_set_it(kitchen: Any) -> None:
    injected = {"minutes": 90, "name": "secret"}
    async with connect(kitchen, name="kitchen", inject=["minutes"]) as server:
        assert list(_tool(server, "cook").parameters["properties"]) == ["name"]
        found = await server.call(_call("cook", name="bread"), injected=injected)
        assert (found.content["minutes"], found.content["name"]) == (90.0, "bread")
        assert (await server.call(_call("echo", text="hi"), injected=injected)).content == "hi"
        with pytest.raises(ArgumentsError, match="/minutes: is not yours to set"):
            await server.call(_call("cook", name="bread", minutes=1), injected=injected)


@pytest.mark.parametrize("value", ["\ud800", float("nan"), b"x", {1: 2}])
async def test_arguments_that_are_no_json_never_reach_the_connection(server: McpServer, value: Any) -> None:
    with pytest.raises(ArgumentsError, match=r"/text(: |/)"):
        await server.call(_call("echo", text=value))
    assert (await server.call(_call("echo", text="hi"))).content == "hi"


async def test_what_the_caller_raises_comes_out_as_it_is(kitchen: Any) -> None:
    with pytest.raises(KeyError, match="mine"):
        async with connect(kitchen, name="kitchen"):
            raise KeyError("mine")


async def test_a_server_that_is_closed_says_so(kitchen: Any) -> None:
    opening = connect(kitchen, name="kitchen")
    for _ in range(2):  # as often as one likes
        async with opening as server:
            assert (await server.call(_call("echo", text="hi"))).content == "hi"
        with pytest.raises(ServerError, match="'kitchen': it has been closed"):
            await server.call(_call("echo", text="hi"))


@pytest.mark.parametrize(
    ("target", "headers", "error", "says"),
    [
        ("python server.py", None, TypeError, "a command is a list"),
        ([], None, TypeError, "its program first"),
        (["python", 3], None, TypeError, "a list of str"),
        (Remote("ftp://a.example"), None, ValueError, "begins with http"),
        (3, None, TypeError, "cannot connect to int"),
        (["python"], {"a": "b"}, TypeError, "headers go to an address alone"),
    ],
)
async def test_what_is_no_target_is_refused_at_once(target: Any, headers: Any, error: Any, says: str) -> None:
    with pytest.raises(error, match=says):
        connect(target, name="x", headers=headers)


async def test_a_server_has_a_name(kitchen: Any) -> None:
    with pytest.raises(ValueError, match="the name of an MCP server must not be blank, as ' ' is"):
        connect(kitchen, name=" ")


async def _until(true: Callable[[], bool]) -> None:
    """Wait for what another process does; the test's own time-out ends what never comes."""
    with anyio.fail_after(20):
        while not true():  # noqa: ASYNC110 - nothing tells of it
            await anyio.sleep(0.01)


def test_a_hidden_argument_is_not_required_of_the_model() -> None:
    schema = {
        "type": "object",
        "properties": {"minutes": {"type": "integer"}, "name": {"type": "string"}},
        "required": ["minutes", "name"],
    }
    found: dict[str, ServerTool] = {}
    read_tool(found, "kitchen", types.Tool(name="cook", input_schema=schema), inject=["minutes", "other"])
    offer = found["cook"]
    assert offer.hidden == ("minutes",)
    assert offer.definition.parameters == {**schema, "properties": {"name": {"type": "string"}}, "required": ["name"]}
    assert problems(offer.definition, {"name": "bread"}) == ()
