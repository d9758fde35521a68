"""The AI SDK's messages: what their parts mean, steps in one message, what is kept when it is edited."""

from __future__ import annotations

from typing import Any

import pytest
from conversations import PNG

from toolfmt import ParseError, convert
from toolfmt.conversation import (
    CallPart,
    JsonPart,
    MediaPart,
    Message,
    OpaquePart,
    ReasoningPart,
    ResultPart,
    TextPart,
    ToolDeclaration,
    Transcript,
)
from toolfmt.transcripts.formats import find

MODEL, UI = find("vercel-model"), find("vercel-ui")
SIGNED = {"anthropic": {"signature": "EqQB"}}
STEP = {"type": "step-start"}


def called(**further: Any) -> dict[str, Any]:
    return {"type": "tool-f", "toolCallId": "1", "state": "input-available", "input": {"a": 1.0}} | further


def returned(**output: Any) -> dict[str, Any]:
    return {"type": "tool-result", "toolCallId": "1", "toolName": "f", "output": output}


@pytest.mark.parametrize(
    ("role", "part", "expected"),
    [
        ("user", {"type": "text", "text": "a"}, TextPart("a")),
        ("user", {"type": "image", "image": PNG, "mediaType": "image/png"}, MediaPart("image", "image/png", PNG)),
        ("user", {"type": "image", "image": "https://a.b/c"}, MediaPart("image", url="https://a.b/c")),
        (
            "user",
            {"type": "file", "data": "JVBE", "mediaType": "application/pdf", "filename": "a.pdf"},
            MediaPart("document", "application/pdf", "JVBE", name="a.pdf"),
        ),
        (
            "user",
            {"type": "text", "text": "a", "providerOptions": {"anthropic": {"cacheControl": {"type": "ephemeral"}}}},
            TextPart("a", extra={"cache_control": {"type": "ephemeral"}}),
        ),
        (
            "assistant",
            {"type": "reasoning", "text": "a", "providerOptions": SIGNED},
            ReasoningPart("a", "EqQB", None, "anthropic"),
        ),
        (
            "assistant",
            {"type": "tool-call", "toolCallId": "1", "toolName": "f", "input": {"a": 1.0}},
            CallPart("f", {"a": 1.0}, id="1"),
        ),
        (
            "assistant",
            {"type": "tool-call", "toolCallId": "1", "toolName": "f", "input": '{"a": '},
            CallPart("f", text='{"a": ', id="1"),
        ),
        (
            "assistant",
            {
                "type": "tool-call",
                "toolCallId": "1",
                "toolName": "f",
                "input": {},
                "providerOptions": {"google": {"thoughtSignature": "c2ln", "serverToolCallId": "2"}},
            },
            CallPart(
                "f",
                {},
                id="1",
                signature="c2ln",
                owner="google",
                extra={"vercel.providerOptions": {"google": {"serverToolCallId": "2"}}},
            ),
        ),
        ("tool", returned(type="text", value="18C"), ResultPart((TextPart("18C"),), "1", "f")),
        ("tool", returned(type="json", value=[1.0]), ResultPart((JsonPart([1.0]),), "1", "f")),
        ("tool", returned(type="error-text", value="no"), ResultPart((TextPart("no"),), "1", "f", is_error=True)),
        ("tool", returned(type="error-json", value=None), ResultPart((JsonPart(None),), "1", "f", is_error=True)),
        (
            "tool",
            returned(type="execution-denied", reason="no"),
            ResultPart(
                (TextPart("no"),), "1", "f", is_error=True, extra={"vercel-model.output": {"type": "execution-denied"}}
            ),
        ),
        (
            "tool",
            returned(
                type="content",
                value=[
                    {"type": "image-data", "data": PNG, "mediaType": "image/png"},
                    {"type": "file-url", "url": "https://a.b/c.pdf"},
                ],
            ),
            ResultPart(
                (MediaPart("image", "image/png", PNG), MediaPart("document", url="https://a.b/c.pdf")), "1", "f"
            ),
        ),
        (
            "tool",
            {"type": "tool-approval-response", "approvalId": "1", "approved": True},
            OpaquePart("vercel-model", {"type": "tool-approval-response", "approvalId": "1", "approved": True}),
        ),
    ],
)
def test_a_part_of_a_model_message(role: str, part: Any, expected: Any) -> None:
    found = MODEL.read([{"role": role, "content": [part]}])
    assert found.messages[0].parts == (expected,)
    found.messages[0].origin = ""
    written = MODEL.write(found)
    assert MODEL.read(written).messages == found.messages
    if part["type"] != "file-url" and "value" not in part.get("output", {}):
        assert written == {"messages": [{"role": role, "content": "a" if expected == TextPart("a") else [part]}]}


@pytest.mark.parametrize(
    ("part", "call", "result"),
    [
        (called(), CallPart("f", {"a": 1.0}, id="1"), None),
        (
            called(state="output-available", output="18C"),
            CallPart("f", {"a": 1.0}, id="1"),
            ResultPart((TextPart("18C"),), "1"),
        ),
        (
            called(state="output-available", output={"t": 18}),
            CallPart("f", {"a": 1.0}, id="1"),
            ResultPart((JsonPart({"t": 18}),), "1"),
        ),
        (
            called(state="output-error", errorText="no"),
            CallPart("f", {"a": 1.0}, id="1"),
            ResultPart((TextPart("no"),), "1", is_error=True),
        ),
        (
            called(type="dynamic-tool", toolName="g h"),
            CallPart("g h", {"a": 1.0}, id="1", extra={"vercel-ui.type": "dynamic-tool"}),
            None,
        ),
        (
            called(callProviderMetadata={"google": {"thoughtSignature": "c2ln"}}),
            CallPart("f", {"a": 1.0}, id="1", signature="c2ln", owner="google"),
            None,
        ),
    ],
)
def test_a_tool_of_an_ui_message(part: Any, call: CallPart, result: ResultPart | None) -> None:
    value = [{"id": "a", "role": "assistant", "parts": [STEP, part]}]
    found = UI.read(value)
    parts = [part for message in found.messages for part in message.parts]
    assert parts == [call] if result is None else [call, result]
    for message in found.messages:
        message.origin = ""
    assert UI.write(found) == value


def test_input_that_still_streams_and_calls_that_the_provider_runs_are_no_calls() -> None:
    for part in (called(state="input-streaming"), called(providerExecuted=True)):
        found = UI.read([{"id": "a", "role": "assistant", "parts": [part]}])
        assert found.messages[0].parts == (OpaquePart("vercel-ui", part),)


def test_steps_are_messages_with_their_results_behind() -> None:
    value = [
        {
            "id": "a",
            "role": "assistant",
            "metadata": {"b": 1},
            "parts": [
                STEP,
                {"type": "text", "text": "Checking."},
                called(state="output-available", output="18C"),
                STEP,
                {"type": "text", "text": "18C."},
            ],
        }
    ]
    found = UI.read(value)
    assert found.messages == (
        Message(
            "assistant",
            (TextPart("Checking."), CallPart("f", {"a": 1.0}, id="1")),
            extra={"vercel-ui.id": "a", "vercel-ui.metadata": {"b": 1}},
        ),
        Message("tool", (ResultPart((TextPart("18C"),), "1"),)),
        Message("assistant", (TextPart("18C."),)),
    )
    assert UI.write(found)[0] is value[0]  # type: ignore[index]


def test_a_message_that_lost_a_step_is_written_anew() -> None:
    parts = [STEP, called(state="output-available", output="18C"), STEP, {"type": "text", "text": "18C."}]
    found = UI.read([{"id": "a", "role": "assistant", "parts": parts}])
    shorter = Transcript(found.messages[:-1])
    assert UI.write(shorter) == [{"id": "a", "role": "assistant", "parts": parts[:2]}]


def test_a_result_that_came_later_goes_into_its_call() -> None:
    value = [{"id": "a", "role": "assistant", "parts": [STEP, called()]}]
    there = convert(value, source="vercel-ui", target="openai-chat")
    grown = {"messages": [*there.value["messages"], {"role": "tool", "tool_call_id": "1", "content": "18C"}]}  # type: ignore[index, call-overload, misc]
    back = convert(grown, source="openai-chat", target="vercel-ui", residue=there.residue)
    part = called(state="output-available", output="18C")
    assert back.value == [{"id": "a", "role": "assistant", "parts": [STEP, part]}]
    assert back.losses == ()


def test_messages_get_names_that_nobody_else_has() -> None:
    texts = [Message("user", (TextPart(text),)) for text in "ab"]
    texts.append(Message("user", (TextPart("c"),), extra={"vercel-ui.id": "message-0"}))
    written = UI.write(Transcript(tuple(texts)))
    assert [item["id"] for item in written] == ["message-1", "message-2", "message-0"]  # type: ignore[index, union-attr]


def test_tools_are_those_that_a_model_is_given() -> None:
    hosted = {"type": "provider", "id": "openai.web_search", "name": "web_search", "args": {}}
    schema = {"type": "object"}
    value = {
        "messages": [],
        "tools": [{"type": "function", "name": "f", "inputSchema": schema, "strict": True}, hosted],
        "toolChoice": {"type": "tool", "toolName": "f"},
    }
    found = MODEL.read(value)
    assert found.tools is not None
    assert found.tools[0] == ToolDeclaration("f", None, schema, strict=True)
    assert (found.tools[1].kind, found.tools[1].name) == ("hosted", "web_search")
    assert MODEL.write(found) == value


@pytest.mark.parametrize(
    ("made", "value"),
    [
        (MODEL, None),
        (MODEL, {"messages": {}}),
        (MODEL, [{"role": "x"}]),
        (MODEL, [{"role": []}]),
        (MODEL, {"messages": [], "tools": [1]}),
        (UI, "a"),
        (UI, [{"role": "user"}]),
        (UI, [{"role": "tool", "parts": []}]),
    ],
)
def test_what_is_no_conversation_is_refused(made: Any, value: Any) -> None:
    with pytest.raises(ParseError):
        made.read(value)


@pytest.mark.parametrize("odd", [None, 1, "a", [], {}, {"type": []}, {"type": "text"}, {"type": "tool-call"}])
def test_odd_parts_are_kept(odd: Any) -> None:
    assert MODEL.read([{"role": "user", "content": [odd]}]).messages[0].parts == (OpaquePart("vercel-model", odd),)
    assert UI.read([{"role": "assistant", "parts": [odd]}]).messages[0].parts == (OpaquePart("vercel-ui", odd),)


def test_parts_of_version_4_are_read() -> None:
    call = {"type": "tool-call", "toolCallId": "1", "toolName": "f", "args": {"a": 1.0}}
    done = {"type": "tool-result", "toolCallId": "1", "toolName": "f", "result": {"b": 2}, "isError": True}
    file = {"type": "file", "data": "JVBE", "mimeType": "application/pdf"}
    said = (("assistant", call), ("tool", done), ("user", file))
    value = [{"role": role, "content": [part]} for role, part in said]
    assert [message.parts for message in MODEL.read(value).messages] == [
        (CallPart("f", {"a": 1.0}, id="1"),),
        (ResultPart((JsonPart({"b": 2}),), "1", "f", is_error=True),),
        (MediaPart("document", "application/pdf", "JVBE"),),
    ]
    there = convert(value, source="vercel-model", target="anthropic")
    assert convert(there.value, source="anthropic", target="vercel-model", residue=there.residue).value == value


def test_a_misplaced_argument_is_refused_where_it_is() -> None:
    call = {"type": "tool-call", "toolCallId": "1", "toolName": "f", "arguments": {"a": 1}}
    with pytest.raises(ParseError, match=r"^/messages/0/content/0: the arguments of a call are under `input`"):
        MODEL.read([{"role": "assistant", "content": [call]}])


def _invocation(state: str, step: int, ident: str, **beside: Any) -> dict[str, Any]:
    invoked = {"state": state, "step": step, "toolCallId": ident, "toolName": "f", "args": {"a": ident}, **beside}
    return {"type": "tool-invocation", "toolInvocation": invoked}


def test_parts_of_the_ai_sdk_4_are_read_like_later_ones() -> None:
    parts = [
        {"type": "step-start"},
        {
            "type": "reasoning",
            "reasoning": "Hm.",
            "details": [{"type": "text", "text": "Hm.", "signature": "S"}, {"type": "redacted", "data": "R"}],
        },
        _invocation("result", 0, "c1", result="18C"),
        _invocation("result", 1, "c2", result={"k": 1}),
        {"type": "text", "text": "Warm."},
        {"type": "source", "source": {"sourceType": "url", "id": "s1", "url": "https://e.com", "title": "E"}},
        {"type": "file", "mimeType": "image/png", "data": "iVBORw0KGgo"},
        _invocation("partial-call", 2, "c3"),
    ]
    value = [{"id": "m", "role": "assistant", "content": "Warm.", "reasoning": "Hm.", "parts": parts}]
    read = find("vercel-ui").read(value)
    assert [message.parts for message in read.messages] == [
        (
            ReasoningPart("Hm.", "S", None, "anthropic"),
            ReasoningPart("", None, "R", "anthropic"),
            CallPart("f", {"a": "c1"}, id="c1"),
        ),
        (ResultPart((TextPart("18C"),), "c1"),),
        (CallPart("f", {"a": "c2"}, id="c2"),),
        (ResultPart((JsonPart({"k": 1}),), "c2"),),
        (
            TextPart("Warm.", ({"type": "source-url", "sourceId": "s1", "url": "https://e.com", "title": "E"},)),
            MediaPart("image", "image/png", "iVBORw0KGgo"),
            OpaquePart("vercel-ui", parts[-1]),
        ),
    ]
    made = convert(value, target="openai-chat")
    assert convert(made.value, source="openai-chat", target="vercel-ui", residue=made.residue).value == value


def test_messages_of_the_ai_sdk_4_without_parts_are_read() -> None:
    attached = {"name": "a.png", "contentType": "image/png", "url": "https://e.com/a.png"}
    answered = _invocation("result", 0, "c1", result="18C")["toolInvocation"]
    open_call = _invocation("call", 0, "c2")["toolInvocation"]
    value = [
        {"id": "1", "role": "user", "content": "Hi", "experimental_attachments": [attached]},
        {"id": "2", "role": "assistant", "content": "Warm.", "toolInvocations": [answered]},
        {"id": "3", "role": "assistant", "content": "", "toolInvocations": [open_call]},
    ]
    read = find("vercel-ui").read(value)
    assert convert(value, target="openai-chat").source == "vercel-ui"
    assert [message.parts for message in read.messages] == [
        (TextPart("Hi"), MediaPart("image", "image/png", url="https://e.com/a.png", name="a.png")),
        (CallPart("f", {"a": "c1"}, id="c1"),),
        (ResultPart((TextPart("18C"),), "c1"),),
        (TextPart("Warm."),),
        (CallPart("f", {"a": "c2"}, id="c2"),),
    ]
    with pytest.raises(ParseError, match="/messages/0: expected a message with parts"):
        find("vercel-ui").read([{"role": "user", "text": "Hi"}])


def test_a_message_of_data_of_the_ai_sdk_4_is_reported() -> None:
    data = {"id": "2", "role": "data", "content": "", "data": {"k": 1}}
    value = [{"id": "1", "role": "user", "content": "Hi"}, data, {"id": "3", "role": "user", "content": "Ho"}]
    made = convert(value, source="vercel-ui", target="openai-chat")
    assert [message["content"] for message in made.value["messages"]] == ["Hi", "Ho"]
    assert [(loss.code, loss.path, loss.action) for loss in made.losses] == [
        ("provider_part", "/messages/1", "dropped")
    ]
    assert convert(made.value, source="openai-chat", target="vercel-ui", residue=made.residue).value == value


@pytest.mark.parametrize("key", ["toolInvocations", "experimental_attachments", "parts"])
def test_what_is_no_part_of_the_ai_sdk_4_is_refused(key: str) -> None:
    older = {"type": "source", "source": {"sourceType": "url", "url": "https://a.b"}}
    message = {"role": "assistant", "content": "18C.", key: [older, "junk"]}
    with pytest.raises(ParseError, match=f"/messages/0/{key}: expected a list of objects"):
        convert([message], source="vercel-ui", target="openai-chat")
