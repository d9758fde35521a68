"""OpenAI Responses: what its items demand that other formats leave open."""

from __future__ import annotations

from typing import Any

import pytest
from conversations import PNG, answered, asked

from toolfmt import convert_answer, read_answer, read_stream, write_stream
from toolfmt.conversation import (
    JsonPart,
    MediaPart,
    Message,
    Part,
    ReasoningPart,
    RefusalPart,
    TextPart,
    ToolDeclaration,
    Transcript,
)
from toolfmt.events import ReasoningDelta
from toolfmt.transcripts.formats import find

RESPONSES = find("openai-responses")
CITED = TextPart(
    "18C", ({"type": "url_citation", "url": "https://a.b", "title": "t", "start_index": 0, "end_index": 3},)
)


def item(message: Message) -> dict[str, Any]:
    value: Any = RESPONSES.write(asked(message))
    return value["input"][-1]


def test_an_answer_of_one_text_is_said_as_text() -> None:
    assert item(answered(TextPart("18C"))) == {"type": "message", "role": "assistant", "content": "18C"}
    assert item(answered(JsonPart({"a": 1})))["content"] == '{"a": 1}'


@pytest.mark.parametrize("parts", [(TextPart("a"), TextPart("b")), (RefusalPart("No."),), (CITED,), (TextPart(""),)])
def test_an_answer_that_says_more_has_an_id_and_a_status(parts: tuple[Part, ...]) -> None:
    made = item(answered(*parts))
    assert made["id"].startswith("msg_")
    assert made["status"] == "completed"
    assert RESPONSES.read([made]).messages[0].parts == parts


def test_ids_of_answers_differ_and_are_the_same_each_time() -> None:
    talk = Transcript((answered(RefusalPart("No.")), answered(RefusalPart("No."))))
    value: Any = RESPONSES.write(talk)
    assert RESPONSES.write(talk) == value
    assert len({found["id"] for found in value["input"]}) == 2


def test_an_answer_s_own_id_stays() -> None:
    given = {"type": "message", "role": "assistant", "id": "msg_7", "status": "incomplete", "content": []}
    given["content"] = [{"type": "output_text", "text": "18C", "annotations": []}]
    talk = RESPONSES.read([given])
    talk.messages[0].origin = ""
    value: Any = RESPONSES.write(talk)
    assert value["input"] == [given]


@pytest.mark.parametrize(("detail", "written"), [(None, "auto"), ("low", "low")])
def test_an_image_always_says_how_closely_to_look(detail: str | None, written: str) -> None:
    image = MediaPart("image", "image/png", PNG, detail=detail)
    made = item(Message("user", (image,)))
    assert made["content"][0]["detail"] == written
    assert RESPONSES.read([made]).messages[0].parts == (image,)


def test_a_namespace_is_described() -> None:
    value: Any = RESPONSES.write(asked(tools=(ToolDeclaration("get", namespace="geo"),)))
    inside = {"type": "function", "name": "get", "parameters": None, "strict": None}
    assert value["tools"] == [{"type": "namespace", "name": "geo", "description": "geo", "tools": [inside]}]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_an_item_that_broke_off_is_incomplete(stream: bool) -> None:  # noqa: FBT001 - a parameter
    chunks = [{"choices": [{"index": 0, "delta": {"content": "Hal"}, "finish_reason": None}]}]
    chunks += [{"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]}]
    message = {"role": "assistant", "content": "Hal"}
    whole = {"choices": [{"index": 0, "message": message, "finish_reason": "length"}]}
    if stream:
        events = list(write_stream(read_stream(chunks, source="openai-chat"), target="openai-responses"))
        done = next(event for event in events if event["type"] == "response.output_item.done")
        assert done["item"]["status"] == "incomplete"
        answer = events[-1]["response"]
    else:
        answer = convert_answer(whole, source="openai-chat", target="openai-responses").value
    assert (answer["status"], answer["output"][0]["status"]) == ("incomplete", "incomplete")


@pytest.mark.parametrize("key", ["summary", "content"])
def test_the_parts_of_a_summary_are_paragraphs_whole_and_streamed(key: str) -> None:
    kind = {"summary": "summary_text", "content": "reasoning_text"}[key]
    parts = [{"type": kind, "text": text} for text in ("**Look**", "**Think**")]
    thought: Any = {"type": "reasoning", "id": "rs_1", "summary": [], key: parts}
    (message,) = RESPONSES.read([thought]).messages
    (read,) = message.parts
    assert isinstance(read, ReasoningPart)
    whole = read_answer({"object": "response", "status": "completed", "output": [thought]})
    added = {"summary": "response.reasoning_summary_part.added", "content": "response.content_part.added"}[key]
    stream: list[Any] = [{"type": "response.created"}]
    for at, part in enumerate(parts):
        stream.append({"type": added, f"{key}_index": at, "part": {**part, "text": ""}})
        stream.append({"type": f"response.{'reasoning_' * (key == 'summary')}{kind}.delta", "delta": part["text"]})
    streamed = read_stream([*stream, {"type": "response.completed"}])
    for events in (whole.events, streamed):
        thoughts = "".join(event.text for event in events if isinstance(event, ReasoningDelta))
        assert thoughts == read.text == "**Look**\n\n**Think**"
