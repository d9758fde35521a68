"""The message that an answer is: parts in order, proofs where they belong, broken calls as they were written."""

from __future__ import annotations

from typing import Any

import pytest
from conversations import BY_HAND

from toolfmt import Message, parse, read_stream, write_stream
from toolfmt.conversation import CallPart, ReasoningPart, TextPart, parse_failure
from toolfmt.events import CallFailed, CallStart, ReasoningDelta, TextDelta
from toolfmt.transcripts.answering.answer_info import AnswerInfo, Proof
from toolfmt.transcripts.answering.answer_message import answer_message

ANSWERS = [
    message
    for whole in BY_HAND.values()
    for message in whole.messages
    if message.role == "assistant"
    and all(
        isinstance(part, TextPart) or (isinstance(part, CallPart) and not parse_failure(part)) for part in message.parts
    )
]


def plain(message: Message) -> list[Any]:
    """What can be told in a stream: ids are the stream's, neighbouring texts are one."""
    found: list[Any] = []
    for part in message.parts:
        match part:
            case CallPart():
                found.append((part.name, part.value))
            case TextPart(text) if text and found and isinstance(found[-1], str):
                found[-1] += text
            case TextPart(text) if text:
                found.append(text)
            case ReasoningPart() if part.text or part.signature or part.encrypted:
                found.append((part.text, part.signature, part.encrypted))
            case _:
                pass
    return found


def reported(message: Message, target: str) -> Message:
    events = read_stream(write_stream(message, target=target, id="x"))
    return answer_message(list(events), events.info)


@pytest.mark.parametrize("message", ANSWERS)
@pytest.mark.parametrize("target", ["anthropic", "gemini", "openai-responses"])
def test_a_message_reported_as_a_stream_is_the_same_message(message: Message, target: str) -> None:
    assert plain(reported(message, target)) == plain(message)


def test_proofs_stand_with_the_reasoning_that_they_prove() -> None:
    parts = (
        ReasoningPart("One.", "s1", owner="anthropic"),
        ReasoningPart("Two.", "s2", owner="anthropic"),
        ReasoningPart("", encrypted="e1", owner="anthropic"),
        TextPart("So."),
        ReasoningPart("Three.", "s3", owner="anthropic"),
        CallPart("f", {"a": 1}, '{"a": 1}', "t1"),
    )
    assert reported(Message("assistant", parts), "anthropic").parts == parts


def test_a_proof_without_reasoning_stands_alone() -> None:
    info = AnswerInfo(proofs=[Proof(0, "openai", encrypted="e"), Proof(3, "google", "s")])
    events = [TextDelta("Hi", 0), TextDelta("!", 2)]
    first, text, last = answer_message(events, info).parts
    assert (first, text) == (ReasoningPart("", encrypted="e", owner="openai"), TextPart("Hi!"))
    assert last == ReasoningPart("", "s", owner="google")


def test_a_broken_call_is_there_as_it_was_written() -> None:
    events = [CallStart(0, "f", "c1"), CallFailed(0, '{"a": ', "truncated", "", (0, 0), "f")]
    assert answer_message(events).parts == (CallPart("f", None, '{"a": ', "c1"),)
    assert answer_message([CallFailed(0, "{}", "missing_name", "", (0, 0))]).parts == ()


def test_an_answer_in_text_is_a_message_too() -> None:
    result = parse('<think>Hm.</think>Hi.<tool_call>{"name": "f", "arguments": {}}</tool_call>', dialect="hermes")
    reasoning, text, call = answer_message(result.events).parts
    assert (reasoning, text) == (ReasoningPart("Hm."), TextPart("Hi."))
    assert isinstance(call, CallPart)
    assert (call.name, call.value) == ("f", {})


def test_the_events_stay_as_they_are() -> None:
    events = [ReasoningDelta("a", 0), ReasoningDelta("b", 1), TextDelta("c", 2), TextDelta("d", 3)]
    answer_message(events)
    assert [event.text for event in events] == ["a", "b", "c", "d"]
