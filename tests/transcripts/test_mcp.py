"""MCP: what its messages and blocks mean, messages about other things, what stands alone, odd input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conversations import PNG, WEATHER

from toolfmt import ConversionError, ParseError, convert
from toolfmt.conversation import (
    CallPart,
    JsonPart,
    MediaPart,
    Message,
    OpaquePart,
    ResultPart,
    TextPart,
    ToolDeclaration,
    Transcript,
)
from toolfmt.transcripts.formats import find, formats
from toolfmt.transcripts.recognising import recognised

MADE = find("mcp")
PIECES = json.loads((Path(__file__).parent / "mcp.json").read_text(encoding="utf-8"))
LISTED, PARAMS, RESULT = PIECES["tools/list"], PIECES["tools/call params"], PIECES["tools/call result"]
TARGETS = [made.name for made in formats() if made.writable]


def request(ident: Any, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": ident, "method": method, **({"params": params} if params else {})}


def response(ident: Any, **result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": ident, "result": result}


def call(ident: Any = 2) -> dict[str, Any]:
    return request(ident, "tools/call", name="f", arguments={"a": 1.0})


def gave(ident: Any = 2, text: str = "b") -> dict[str, Any]:
    return response(ident, content=[{"type": "text", "text": text}], isError=False)


NOTICE = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}}
LOG = [
    request(0, "initialize", protocolVersion="2025-11-25"),
    response(0, capabilities={}),
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    request(1, "tools/list"),
    response(1, tools=[{"name": "f", "inputSchema": {"type": "object"}, "title": "F"}], ttlMs=0),
    call(2),
    NOTICE,
    call("x"),
    gave("x"),
    request("p", "sampling/createMessage", messages=[]),
    response("p", role="assistant", content=[{"type": "text", "text": "no result"}]),
    gave(2),
]


def written_anew(value: Any) -> Any:
    """Write messages that have no source."""
    found = MADE.read(value)
    for message in found.messages:
        message.origin = ""
    return MADE.write(found)


def test_a_log_is_its_calls_results_and_tools() -> None:
    found = MADE.read(LOG)
    assert found.messages == (
        Message("assistant", (CallPart("f", {"a": 1.0}, id="2"),)),
        Message("assistant", (CallPart("f", {"a": 1.0}, id="x"),)),
        Message("tool", (ResultPart((TextPart("b"),), "x"),)),
        Message("tool", (ResultPart((TextPart("b"),), "2"),)),
    )
    assert found.tools == (ToolDeclaration("f", None, {"type": "object"}, extra={"mcp.title": "F"}),)
    assert [at for at, _ in found.extra["mcp.others"]] == [0, 1, 2, 6, 9, 10]
    assert written_anew(LOG) == LOG


@pytest.mark.parametrize("value", [LOG, {"messages": LOG}, LISTED, PARAMS, RESULT, call(), gave(), [PARAMS, RESULT]])
def test_it_is_recognised_and_comes_back_as_it_was(value: Any) -> None:
    assert recognised(value).name == "mcp"
    for target in TARGETS:
        if target == "xlam" and value in (RESULT, gave()):  # a row of calls has no place for a result alone
            with pytest.raises(ConversionError, match="nothing is left"):
                convert(value, target=target)
            continue
        there = convert(value, target=target)
        back = convert(there.value, source=target, target="mcp", residue=there.residue)
        assert json.dumps(back.value) == json.dumps(value), target


def test_params_and_result_alone() -> None:
    assert MADE.read(PARAMS).messages == (Message("assistant", (CallPart("get_weather", {"city": "Paris"}),)),)
    (message,) = MADE.read(RESULT).messages
    (part,) = message.parts
    assert isinstance(part, ResultPart)
    assert part.content[:2] == (TextPart("18C"), MediaPart("image", "image/png", PNG))
    assert part.extra == {"mcp.result.structuredContent": {"temp": 18}, "mcp.result.resultType": "complete"}
    assert written_anew([PARAMS, RESULT]) == [PARAMS, RESULT]


def test_params_and_result_belong_together() -> None:
    found: Any = convert([PARAMS, RESULT], source="mcp", target="anthropic").value
    use, answer = (message["content"][0] for message in found["messages"])
    assert use["id"] == answer["tool_use_id"] == "call_0"


def test_a_message_alone_that_was_edited_is_alone() -> None:
    there: Any = convert(call(), source="mcp", target="openai-chat")
    there.value["messages"][0]["tool_calls"][0]["function"]["arguments"] = '{"a": 2}'
    back = convert(there.value, source="openai-chat", target="mcp", residue=there.residue).value
    assert back == request(2, "tools/call", name="f", arguments={"a": 2})


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ({"type": "text", "text": "a", "annotations": {}}, TextPart("a", extra={"mcp.annotations": {}})),
        ({"type": "audio", "data": "UklGRg", "mimeType": "audio/wav"}, MediaPart("audio", "audio/wav", "UklGRg")),
        (
            {"type": "resource", "resource": {"uri": "file:///a", "mimeType": "text/plain", "text": "b"}},
            TextPart("b", extra={"mcp.resource": {"uri": "file:///a", "mimeType": "text/plain"}}),
        ),
        (
            {"type": "resource", "resource": {"uri": "file:///a", "mimeType": "application/pdf", "blob": "JVBE"}},
            MediaPart("document", "application/pdf", "JVBE", extra={"mcp.resource": {"uri": "file:///a"}}),
        ),
        (
            {"type": "resource_link", "uri": "https://a.b/c", "name": "c", "mimeType": "image/png"},
            MediaPart("image", "image/png", url="https://a.b/c", name="c"),
        ),
        (
            {"type": "resource_link", "uri": "file:///a.txt", "name": "a.txt"},
            OpaquePart("mcp", {"type": "resource_link", "uri": "file:///a.txt", "name": "a.txt"}),
        ),
        ({"type": "resource", "resource": {}}, OpaquePart("mcp", {"type": "resource", "resource": {}})),
        ({"type": []}, OpaquePart("mcp", {"type": []})),
        (1, OpaquePart("mcp", 1)),
    ],
)
def test_a_block(block: Any, expected: Any) -> None:
    value = [response(1, content=[block], isError=False)]
    assert MADE.read(value).messages == (Message("tool", (ResultPart((expected,), "1"),)),)
    assert written_anew(value) == value


@pytest.mark.parametrize(
    ("content", "structured", "expected"),
    [
        ([], {"t": 1.0}, (JsonPart({"t": 1.0}),)),
        ([{"type": "text", "text": '{"t": 1.0}'}], {"t": 1.0}, (JsonPart({"t": 1.0}),)),
        ([{"type": "text", "text": '{"t": 1}'}], {"t": 1.0}, (TextPart('{"t": 1}'),)),
        ([{"type": "text", "text": "{"}], {"t": 1.0}, (TextPart("{"),)),
    ],
)
def test_a_structured_content(content: Any, structured: Any, expected: Any) -> None:
    value = [response(1, content=content, structuredContent=structured)]
    (message,) = MADE.read(value).messages
    (part,) = message.parts
    assert isinstance(part, ResultPart)
    assert part.content == expected
    assert MADE.read(written_anew(value)).messages == (message,)


def test_a_value_is_structured_and_reported_as_text() -> None:
    found = Transcript((Message("tool", (ResultPart((JsonPart({"t": 1.0}),), "a"),)),))
    text = {"type": "text", "text": '{"t": 1.0}'}
    assert MADE.write(found) == [response("a", content=[text], structuredContent={"t": 1.0}, isError=False)]


def test_an_error_of_the_protocol_is_a_failure() -> None:
    error = {"code": -32602, "message": "Unknown tool"}
    value = [call(), {"jsonrpc": "2.0", "id": 2, "error": error}]
    expected = ResultPart((TextPart("Unknown tool"),), "2", is_error=True, extra={"mcp.error": error})
    assert MADE.read(value).messages[1].parts == (expected,)
    assert written_anew(value) == value


@pytest.mark.parametrize("ident", [0, 7, -1, "7", "07", "a", 12345678901234567890, 1.5, None], ids=repr)
def test_an_id_keeps_its_type(ident: Any) -> None:
    value = [call(ident), gave(ident)]
    assert written_anew(value) == value


def test_a_response_is_what_its_request_asked_for() -> None:
    value = [request(1, "prompts/get"), gave(1), request(2, "x"), response(2, tools=[{"name": "f"}])]
    found = MADE.read(value)
    assert (found.messages, found.tools) == ((), None)
    assert MADE.write(found) == value


def test_several_pages_of_tools() -> None:
    pages = [
        request(1, "tools/list"),
        response(1, tools=[{"name": "f", "inputSchema": {"type": "object"}}], nextCursor="n"),
        request(2, "tools/list", cursor="n"),
        response(2, tools=[{"name": "g", "inputSchema": {"type": "object"}}]),
    ]
    found = MADE.read(pages)
    assert [tool.name for tool in found.tools or ()] == ["f", "g"]
    assert MADE.write(found) == pages


def test_an_odd_description_is_kept_as_it_came() -> None:
    tool = {"name": "f", "description": [1], "inputSchema": {"type": "object"}}
    expected = ToolDeclaration("f", None, {"type": "object"}, extra={"mcp.description": [1]})
    assert MADE.read({"tools": [tool]}).tools == (expected,)


def test_edited_tools_are_declared_anew() -> None:
    there: Any = convert(LOG, source="mcp", target="openai-chat")
    there.value["tools"][0]["function"]["description"] = "Does"
    back: Any = convert(there.value, source="openai-chat", target="mcp", residue=there.residue).value
    tools = [tool for item in back for tool in item.get("result", {}).get("tools", ())]
    assert tools == [{"name": "f", "description": "Does", "inputSchema": {"type": "object"}, "title": "F"}]


def test_only_what_is_about_tools_has_a_place() -> None:
    messages = (Message("user", (TextPart("a"),)), Message("assistant", (TextPart("b"), CallPart("f", {}, id="1"))))
    value: Any = find("openai-chat").write(Transcript(messages, (WEATHER,)))
    found = convert(value, source="openai-chat", target="mcp")
    assert found.value == [
        request("tools/list", "tools/list"),
        response(
            "tools/list",
            tools=[{"name": WEATHER.name, "description": WEATHER.description, "inputSchema": WEATHER.parameters}],
        ),
        request(1, "tools/call", name="f", arguments={}),
    ]
    assert [(loss.code, loss.detail) for loss in found.losses] == [("text", "a"), ("text", "b")]


@pytest.mark.parametrize(
    ("value", "where"),
    [
        (None, "mcp"),
        ("a", "mcp"),
        ([1], "/messages/0"),
        ([call(), {}], "/messages/1"),
        ({"a": 1}, "/messages/0"),
        ({"name": 1}, "/messages/0"),
    ],
)
def test_what_is_no_message_is_refused(value: Any, where: str) -> None:
    with pytest.raises(ParseError) as caught:
        MADE.read(value)
    assert str(caught.value).startswith(where)


@pytest.mark.parametrize(
    "item",
    [
        {"method": "tools/call"},
        {"method": "tools/call", "params": 1},
        {"method": [], "id": []},
        {"id": 1, "result": 1},
        {"id": 1, "error": "no"},
        {"jsonrpc": "2.0", "id": 1, "result": {"resultType": "input_required"}},
        {"tools": [], "result": {}},
    ],
)
def test_odd_messages_are_kept_as_they_came(item: Any) -> None:
    found = MADE.read([item])
    assert found.messages == ()
    assert MADE.write(found) == [item]
