"""ATIF: what its steps and contents mean, results that name no call, numbers of steps, odd input."""

from __future__ import annotations

from typing import Any

import pytest
from conversations import PNG

from toolfmt import ParseError, convert
from toolfmt.conversation import CallPart, MediaPart, Message, OpaquePart, ReasoningPart, ResultPart, TextPart
from toolfmt.transcripts.formats import find

MADE = find("atif")
AGENT = {"name": "my-agent", "version": "1.0"}
CALL = {"tool_call_id": "1", "function_name": "f", "arguments": {"a": 1.0}}


def trajectory(*steps: dict[str, Any], **further: Any) -> dict[str, Any]:
    numbered = [{"step_id": at, **step} for at, step in enumerate(steps, 1)]
    return {"schema_version": "ATIF-v1.7", "agent": AGENT, **further, "steps": numbered}


def agent(message: Any = "", *results: Any, **further: Any) -> dict[str, Any]:
    observed = {"observation": {"results": list(results)}} if results else {}
    return {"source": "agent", "message": message, **further, **observed}


def read(*steps: dict[str, Any]) -> list[Message]:
    return list(MADE.read(trajectory(*steps)).messages)


def written_anew(value: Any) -> Any:
    """Write messages that have no source."""
    found = MADE.read(value)
    for message in found.messages:
        message.origin = ""
    return MADE.write(found)


def image(path: str, media_type: str = "image/png") -> dict[str, Any]:
    return {"type": "image", "source": {"media_type": media_type, "path": path}}


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (image("images/a.png"), MediaPart("image", "image/png", file_id="images/a.png", owner="atif")),
        (image("https://a.b/c"), MediaPart("image", "image/png", url="https://a.b/c")),
        (image(f"data:image/png;base64,{PNG}"), MediaPart("image", "image/png", PNG)),
        (
            {"type": "audio", "source": {"media_type": "audio/wav", "path": "a.wav", "duration_sec": 1.0}},
            MediaPart("audio", "audio/wav", file_id="a.wav", owner="atif", extra={"atif.source.duration_sec": 1.0}),
        ),
        ({"type": "image", "source": None}, OpaquePart("atif", {"type": "image", "source": None})),
        ({"type": []}, OpaquePart("atif", {"type": []})),
        (1, OpaquePart("atif", 1)),
    ],
)
def test_a_content(item: Any, expected: Any) -> None:
    value = trajectory({"source": "user", "message": [{"type": "text", "text": "a"}, item]})
    assert MADE.read(value).messages[0].parts == (TextPart("a"), expected)
    assert written_anew(value) == value


def test_a_step_is_an_answer_and_its_results() -> None:
    value = trajectory(
        agent(
            "b",
            {"source_call_id": "1", "content": "c", "extra": {"ms": 3}},
            reasoning_content="a",
            tool_calls=[CALL],
            metrics={"prompt_tokens": 1},
        )
    )
    assert MADE.read(value).messages == (
        Message(
            "assistant",
            (ReasoningPart("a"), TextPart("b"), CallPart("f", {"a": 1.0}, id="1")),
            extra={"atif.metrics": {"prompt_tokens": 1}},
        ),
        Message("tool", (ResultPart((TextPart("c"),), "1", extra={"atif.extra": {"ms": 3}}),)),
    )
    assert written_anew(value) == value


def test_a_result_that_names_no_call_answers_the_next_open_one() -> None:
    calls = [CALL, CALL | {"tool_call_id": "2"}]
    value = trajectory(agent("", {"source_call_id": "1", "content": "a"}, {"content": "b"}, tool_calls=calls))
    assert [message.role for message in MADE.read(value).messages] == ["assistant", "tool", "tool"]
    found: Any = convert(value, source="atif", target="openai-chat").value
    assert [message["tool_call_id"] for message in found["messages"][1:]] == ["1", "2"]
    assert written_anew(value) == value


def test_what_is_observed_without_a_call_is_reported_to_the_agent() -> None:
    value = trajectory(agent("ls", {"content": "a.txt", "extra": {"code": 0}}), agent("Done."))
    found: Any = convert(value, source="atif", target="openai-chat").value
    assert [(message["role"], message["content"]) for message in found["messages"]] == [
        ("assistant", "ls"),
        ("user", "a.txt"),
        ("assistant", "Done."),
    ]
    assert written_anew(value) == value


def test_an_observation_alone_is_kept() -> None:
    value = trajectory(agent("", {"source_call_id": "9", "content": "a"}))
    assert MADE.read(value).messages == (Message("tool", (ResultPart((TextPart("a"),), "9"),)),)
    assert written_anew(value) == value


@pytest.mark.parametrize("observed", [None, [], {"results": None}, {"results": [1]}])
def test_an_observation_of_another_shape_is_kept_as_it_came(observed: Any) -> None:
    value = trajectory(agent("a", observation=observed))
    assert MADE.read(value).messages[0].extra == {"atif.observation": observed}
    assert written_anew(value) == value


def test_results_are_read_beside_what_is_not_known_of_an_observation() -> None:
    value = trajectory(agent("a", observation={"results": [{"content": "18C"}], "summary": "Mild."}))
    first, observed = MADE.read(value).messages
    assert (first.extra, observed.parts) == ({"atif.observation": {"summary": "Mild."}}, (TextPart("18C"),))
    assert written_anew(value) == value


def test_steps_are_numbered_by_their_place() -> None:
    value = trajectory({"source": "user", "message": "a"}, agent("b"), {"source": "user", "message": "c"})
    there: Any = convert(value, source="atif", target="openai-chat")
    del there.value["messages"][0]
    back: Any = convert(there.value, source="openai-chat", target="atif", residue=there.residue).value
    assert back == trajectory(agent("b"), {"source": "user", "message": "c"})


def test_a_result_that_comes_later_goes_into_the_step_of_its_call() -> None:
    value = trajectory(agent("", tool_calls=[CALL]))
    there: Any = convert(value, source="atif", target="openai-chat")
    there.value["messages"].append({"role": "tool", "tool_call_id": "1", "content": "a"})
    back: Any = convert(there.value, source="openai-chat", target="atif", residue=there.residue).value
    assert back == trajectory(agent("", {"source_call_id": "1", "content": "a"}, tool_calls=[CALL]))


def test_an_unknown_agent_says_so() -> None:
    found = convert([{"role": "user", "content": "a"}], source="openai-chat", target="atif").value
    assert found == {
        "schema_version": "ATIF-v1.7",
        "agent": {"name": "unknown", "version": "unknown"},
        "steps": [{"step_id": 1, "source": "user", "message": "a"}],
    }


@pytest.mark.parametrize(
    ("part", "codes"),
    [
        ({"type": "image_url", "image_url": {"url": f"data:image/bmp;base64,{PNG}"}}, ["media"]),
        ({"type": "image_url", "image_url": {"url": "https://a.b/c"}}, ["media"]),
        ({"type": "image_url", "image_url": {"url": "https://a.b/c.jpg"}}, []),
        ({"type": "input_audio", "input_audio": {"data": "UklGRg", "format": "wav"}}, ["media"]),
    ],
)
def test_media_that_have_no_place_are_reported(part: Any, codes: list[str]) -> None:
    value = [{"role": "user", "content": [{"type": "text", "text": "a"}, part]}]
    assert [loss.code for loss in convert(value, source="openai-chat", target="atif").losses] == codes


@pytest.mark.parametrize(
    ("value", "where"),
    [
        (None, ""),
        ([], ""),
        ({}, ""),
        ({"steps": 1}, ""),
        ({"steps": [1]}, "/steps/0"),
        ({"steps": [{"source": "x"}]}, "/steps/0"),
        ({"steps": [{"source": []}]}, "/steps/0"),
        ({"steps": [], "agent": {"tool_definitions": 1}}, "/agent/tool_definitions"),
        ({"steps": [], "agent": {"tool_definitions": [1]}}, "/agent/tool_definitions/0"),
    ],
)
def test_what_is_no_trajectory_is_refused(value: Any, where: str) -> None:
    with pytest.raises(ParseError) as caught:
        MADE.read(value)
    assert str(caught.value).startswith(where)


@pytest.mark.parametrize(
    "step",
    [
        {"source": "agent"},
        {"source": "agent", "message": {"a": 1}},
        {"source": "agent", "message": "a", "reasoning_content": 1, "tool_calls": 1},
        {"source": "agent", "message": "a", "tool_calls": [{"function_name": 1}]},
        {"source": "agent", "message": "a", "tool_calls": [{"function_name": "f", "arguments": "{"}]},
        {"source": "user", "message": "a", "tool_calls": [CALL], "reasoning_content": "b"},
    ],
)
def test_odd_steps_come_back_as_they_were(step: Any) -> None:
    value = {"steps": [{"source": "user", "message": "Hi"}, step], "agent": 1}
    there = convert(value, source="atif", target="anthropic")
    assert convert(there.value, source="anthropic", target="atif", residue=there.residue).value == value
