"""A2A: what the metadata of parts say, the parts of version 0.3, the outputs of a task, odd input."""

from __future__ import annotations

from typing import Any

import pytest

from toolfmt import ParseError, convert
from toolfmt.conversation import CallPart, MediaPart, Message, OpaquePart, ReasoningPart, ResultPart, TextPart
from toolfmt.transcripts.formats import find

MADE = find("a2a")
CALL = {"data": {"id": "c", "name": "f", "args": {"a": 1}}, "metadata": {"adk_type": "function_call"}}
RESULT = {"data": {"id": "c", "name": "f", "response": {"output": "b"}}, "metadata": {"adk_type": "function_response"}}


def message(*parts: Any, **further: Any) -> dict[str, Any]:
    return {"messageId": "message-0", "role": "ROLE_AGENT", "parts": list(parts), **further}


def written_anew(value: Any) -> Any:
    found = MADE.read(value)
    for one in found.messages:
        one.origin = ""
    return MADE.write(found)


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({"text": "a", "metadata": {"x": 1}}, TextPart("a", extra={"a2a.metadata": {"x": 1}})),
        ({"text": "a", "metadata": {"adk_thought": True}}, ReasoningPart("a")),
        ({"raw": "AAAA", "mediaType": "audio/wav"}, MediaPart("audio", "audio/wav", "AAAA")),
        (
            {"url": "https://a.b/c.pdf", "mediaType": "application/pdf", "filename": "c.pdf"},
            MediaPart("document", "application/pdf", url="https://a.b/c.pdf", name="c.pdf"),
        ),
        (CALL, CallPart("f", {"a": 1}, id="c")),
        (
            {"data": CALL["data"], "metadata": {"adk_type": "function_call", "adk_thought_signature": "EqQB"}},
            CallPart("f", {"a": 1}, id="c", signature="EqQB", owner="google"),
        ),
        ({"data": [1]}, OpaquePart("a2a", {"data": [1]})),
        ({"text": 1}, OpaquePart("a2a", {"text": 1})),
        ({"data": "x", "metadata": {"adk_type": "function_call"}}, None),
    ],
)
def test_a_part(item: Any, expected: Any) -> None:
    value = [message(item)]
    assert MADE.read(value).messages[0].parts == (expected or OpaquePart("a2a", item),)
    assert written_anew(value) == value


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"kind": "text", "text": "a"}, {"text": "a"}),
        ({"kind": "file", "file": {"bytes": "AAAA", "mimeType": "image/png", "name": "a.png"}},
         {"raw": "AAAA", "mediaType": "image/png", "filename": "a.png"}),
        ({"kind": "file", "file": {"uri": "https://a.b", "mimeType": "image/png"}},
         {"url": "https://a.b", "mediaType": "image/png"}),
        ({"kind": "data", **CALL}, CALL),
    ],
)  # fmt: skip
def test_a_part_of_version_0_3_is_written_as_one_of_1_0(old: Any, new: Any) -> None:
    value = [{"kind": "message", "messageId": "m", "role": "agent", "parts": [old]}]
    assert MADE.recognise(value)
    assert written_anew(value) == [message(new, messageId="m")]


def test_data_without_metadata_are_text_elsewhere() -> None:
    done = convert([message({"data": {"a": 1}}, role="ROLE_USER")], source="a2a", target="openai-chat")
    assert done.value == {"messages": [{"role": "user", "content": '{"a": 1}'}]}
    assert [loss.code for loss in done.losses] == ["provider_part"]


def test_a_result_among_an_agents_parts_is_a_message_of_its_own() -> None:
    found = MADE.read([message(CALL, RESULT, {"text": "d"})]).messages
    assert [one.role for one in found] == ["assistant", "tool", "assistant"]
    assert found[1].parts == (ResultPart((TextPart("b"),), "c", "f"),)


def test_artifacts_and_the_status_are_what_the_agent_says_last() -> None:
    said = message({"text": "c"}, messageId="s")
    value = {
        "id": "t",
        "status": {"state": "TASK_STATE_INPUT_REQUIRED", "message": said},
        "history": [{"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "a"}]}],
        "artifacts": [{"artifactId": "x", "parts": [{"text": "b"}]}],
    }
    found = MADE.read(value)
    assert [one.parts for one in found.messages] == [(TextPart(text),) for text in ("a", "b", "c")]
    assert MADE.write(found) == value
    assert MADE.read({"status": {"message": said}}).messages == (
        Message("assistant", (TextPart("c"),), extra={"a2a.messageId": "s"}),
    )


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"history": [{"role": "ROLE_OTHER", "parts": []}]}, "/history/0: the role is one of"),
        ([{"role": "ROLE_USER", "content": "a"}], "/history/0: expected a message with parts"),
        ({"artifacts": {}}, "/artifacts: expected a list"),
        ({"artifacts": [1]}, "/artifacts/0: expected an object with parts"),
        ({"status": {"message": 1}}, "/status/0: expected an object with parts"),
        ({"id": "t"}, "expected a list of history"),
    ],
)
def test_what_cannot_be_read_is_named(value: Any, said: str) -> None:
    with pytest.raises(ParseError, match=said):
        MADE.read(value)
