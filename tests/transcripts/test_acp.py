"""ACP: chunks, calls that grow by updates, prompts among the lines, what an agent shows beside words, odd input."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolfmt import ParseError, convert
from toolfmt.conversation import (
    CallPart,
    JsonPart,
    Message,
    OpaquePart,
    ReasoningPart,
    ResultPart,
    TextPart,
    Transcript,
)
from toolfmt.transcripts.formats import find, is_session

MADE = find("acp")


def update(kind: str, /, **fields: Any) -> dict[str, Any]:
    return {"sessionUpdate": kind, **fields}


def chunk(said: str, text: str, **fields: Any) -> dict[str, Any]:
    return update(f"{said}_chunk", **fields, content={"type": "text", "text": text})


def call(ident: str, **fields: Any) -> dict[str, Any]:
    return update("tool_call", toolCallId=ident, **fields)


def read(*lines: dict[str, Any]) -> list[tuple[str, tuple[Any, ...]]]:
    return [(message.role, message.parts) for message in MADE.read(list(lines)).messages]


def test_chunks_of_a_message_are_one_text() -> None:
    found = read(
        chunk("user_message", "a", messageId="1"),
        chunk("user_message", "b", messageId="1"),
        chunk("user_message", "c", messageId="2"),
        chunk("agent_thought", "d"),
        chunk("agent_thought", "e"),
        chunk("agent_message", "f"),
    )
    assert found == [
        ("user", (TextPart("ab"),)),
        ("user", (TextPart("c"),)),
        ("assistant", (ReasoningPart("de"), TextPart("f"))),
    ]


def test_updates_of_a_call_are_one_call_and_its_result() -> None:
    found = read(
        call("1", title="f", status="pending"),
        call("2", title="Look", rawInput={}, _meta={"claudeCode": {"toolName": "g"}}),
        update("tool_call_update", toolCallId="1", rawInput={"a": 1}, kind="read"),
        update("tool_call_update", toolCallId="2", status="failed", rawOutput="no"),
        update("tool_call_update", toolCallId="1", status="completed", rawOutput={"b": 2}),
    )
    more = {"acp.title": "Look", "acp._meta": {"claudeCode": {"toolName": "g"}}}
    assert found == [
        (
            "assistant",
            (CallPart("f", {"a": 1}, id="1", extra={"acp.kind": "read"}), CallPart("g", {}, id="2", extra=more)),
        ),
        ("tool", (ResultPart((TextPart("no"),), "2", "g", is_error=True),)),
        ("tool", (ResultPart((JsonPart({"b": 2}),), "1", "f"),)),
    ]


def test_a_prompt_is_what_the_user_says() -> None:
    block = {"type": "resource_link", "uri": "file:///a.py", "name": "a.py"}
    line = {"jsonrpc": "2.0", "id": 1, "method": "session/prompt", "params": {"sessionId": "s", "prompt": [block]}}
    assert read(line, chunk("agent_message", "b"))[0] == ("user", (OpaquePart("acp", block),))
    assert convert([line], source="acp", target="openai-chat").value == {
        "messages": [{"role": "user", "content": "[a.py](file:///a.py)"}]
    }


def test_plans_and_diffs_are_text_elsewhere() -> None:
    diff = {"type": "diff", "path": "/a", "oldText": None, "newText": "b"}
    plan = update("plan", entries=[{"content": "Write", "priority": "high", "status": "pending"}])
    lines = [chunk("user_message", "a"), plan, call("1", title="f", status="completed", content=[diff])]
    found = convert(lines, source="acp", target="openai-chat").value["messages"]
    assert [message["content"] for message in found[1:]] == [
        "<plan>\n- Write (pending)\n</plan>",
        '<diff path="/a">\nb\n</diff>',
    ]


def test_what_a_call_has_shown_without_an_end_is_its_result() -> None:
    shown = {"type": "content", "content": {"type": "text", "text": "a"}}
    assert read(call("1", title="f", content=[shown]))[1] == ("tool", (ResultPart((TextPart("a"),), "1", "f"),))


def test_texts_of_one_message_stay_apart() -> None:
    parts = (ReasoningPart("a"), ReasoningPart("b"), TextPart("c"), TextPart("d"), CallPart("f", {}, id="1"))
    value = MADE.write(Transcript((Message("assistant", parts),)))
    assert [part for message in MADE.read(value).messages for part in message.parts] == list(parts)


def test_a_result_of_a_call_that_is_not_in_the_log_is_a_result_alone() -> None:
    found = read(update("tool_call_update", toolCallId="1", status="completed", rawOutput="a"))
    assert found == [("tool", (ResultPart((TextPart("a"),), "1"),))]


def test_other_lines_are_kept() -> None:
    usage = update("usage_update", used=1, size=2)
    value = [usage, {"sessionId": "s", "update": chunk("user_message", "a")}]
    found = MADE.read(value)
    assert found.extra == {"acp.lines": [usage], "acp.sessionId": "s"}
    assert MADE.write(found) == value
    found.messages[0].origin = ""
    again = MADE.read(MADE.write(found))
    assert (again.messages, again.extra) == ((Message("user", (TextPart("a"),)),), found.extra)


def test_a_file_of_lines_is_a_session() -> None:
    text = "\n".join(json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": {
        "sessionId": "s", "update": chunk("user_message", word)}}) for word in ("a", "b"))  # fmt: skip
    assert is_session(text)
    assert read(*map(json.loads, text.split("\n"))) == [("user", (TextPart("ab"),))]
    assert MADE.read(text + '\n{"json').messages[0].parts == (TextPart("ab"),)


@pytest.mark.parametrize("value", [{}, [1], [{"method": "initialize"}], [update("current_mode_update")]])
def test_a_log_without_updates_is_refused(value: Any) -> None:
    with pytest.raises(ParseError):
        MADE.read(value)
