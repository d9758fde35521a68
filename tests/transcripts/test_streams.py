"""Answers relayed as providers' streams: nothing lost, nothing invented, nothing late."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

import pytest
from answer_streams import MARK, Answer, answers
from hypothesis import given

from toolfmt import (
    ArgumentsDelta,
    CallEnd,
    CallFailed,
    CallStart,
    Event,
    Message,
    Notice,
    ReasoningDelta,
    TextDelta,
    ToolInvocation,
    aread_stream,
    awrite_stream,
    jsontext,
    parse,
    parse_stream,
    read_answer,
    read_stream,
    write_stream,
)
from toolfmt.conversation import CallPart, ReasoningPart, TextPart
from toolfmt.errors import ParseError, UnknownFormatError
from toolfmt.events import coalesce
from toolfmt.model import JsonObject
from toolfmt.transcripts.answer_apis import ANSWERS
from toolfmt.transcripts.answering.answer_info import AnswerInfo, Cited, Usage
from toolfmt.transcripts.answers import AnswerEvents
from toolfmt.transcripts.parts.endings import UNFINISHED
from toolfmt.workshop.testing import laws

TARGETS = ("openai-chat", "openai-responses", "anthropic", "gemini")
RESPONSES = "openai-responses"
INTERLEAVED = ("openai-chat", RESPONSES)
"""Their calls need not wait for each other."""
WHOLE = ("gemini",)
"""Their calls are written when they are complete."""

each_target = pytest.mark.parametrize("target", TARGETS)


def heard(stream: Sequence[JsonObject], target: str) -> list[Event]:
    return list(read_stream(stream, source=target))


def joined(events: Sequence[Event], kind: type[TextDelta | ReasoningDelta]) -> str:
    return "".join(event.text for event in events if isinstance(event, kind))


def arguments(events: Sequence[Event]) -> dict[int, str]:
    """Join each call's argument text."""
    found = {event.index: "" for event in events if isinstance(event, CallStart)}
    for event in events:
        if isinstance(event, ArgumentsDelta):
            found[event.index] += event.json
    return found


def steps(events: Sequence[Event], target: str) -> list[list[JsonObject]]:
    """Give what is written after each event, before the next is asked for; last, what is written at the end."""
    written: list[list[JsonObject]] = [[] for _ in range(len(events) + 1)]
    asked = 0

    def source() -> Iterator[Event]:
        nonlocal asked
        for event in events:
            yield event
            asked += 1

    for made in write_stream(source(), target=target, id="a", model="m"):
        written[asked].append(made)
    return written


@each_target
@given(answer=answers())
def test_what_is_relayed_is_read_as_it_was(target: str, answer: Answer) -> None:
    relayed = list(write_stream(answer.events, target=target, id="a", model="m"))
    source = read_stream(relayed)
    events = list(source)
    laws.ordered(events)
    calls = {event.call.name: event.call for event in events if isinstance(event, CallEnd)}
    assert calls.keys() == {call.name for call in answer.calls.values()}
    for call in answer.calls.values():
        assert jsontext.equal(calls[call.name].arguments, call.arguments)
        assert call.id in (None, calls[call.name].id)
    assert joined(events, ReasoningDelta) == answer.reasoning
    assert MARK.sub("", joined(events, TextDelta)) == answer.text
    assert (source.info.id, source.info.model) == ("a", "m")
    ids = [event.id for event in events if isinstance(event, CallStart)]
    assert target in WHOLE or (all(ids) and len(set(ids)) == len(ids))


@each_target
@given(answer=answers())
def test_a_failed_call_is_text_or_a_failure(target: str, answer: Answer) -> None:
    source = read_stream(write_stream(answer.events, target=target))
    events = list(source)
    reported = {int(index) for index in MARK.findall(joined(events, TextDelta))}
    broken = {event.name for event in events if isinstance(event, CallFailed)}
    if target == "gemini" and source.info.stop == "malformed_call":
        broken.remove("")  # what the finish reason alone says
    assert answer.failed.keys() - answer.begun <= reported
    assert {f"tool_{index}" for index in answer.failed.keys() - reported} == broken
    if target in INTERLEAVED:
        assert not reported & answer.begun
    if target in WHOLE:
        assert not broken
    if answer.truncated or answer.begun:
        has_word = answer.begun and target in {"gemini", "bedrock"}
        assert source.info.stop in ({"length", "malformed_call"} if has_word else {"length"})
    else:
        assert source.info.stop == ("tool_calls" if answer.calls and target in ("openai-chat", "anthropic") else "stop")


@each_target
@given(answer=answers())
def test_the_argument_text_is_relayed_as_it_is(target: str, answer: Answer) -> None:
    if target in WHOLE:
        return
    events = heard(list(write_stream(answer.events, target=target)), target)
    texts = arguments(events)
    ended = {event.call.name: texts[event.index] for event in events if isinstance(event, CallEnd)}
    assert ended == {f"tool_{index}": text for index, text in answer.texts.items()}


@each_target
@given(answer=answers())
def test_nothing_waits_that_can_be_written(target: str, answer: Answer) -> None:
    written: list[JsonObject] = []
    open_calls: set[int] = set()
    for count, made in enumerate(steps(answer.events, target)[:-1], 1):
        written += made
        seen = answer.events[:count]
        events = heard(written, target)
        match seen[-1]:
            case CallStart(index):
                open_calls.add(index)
            case CallEnd(index) | CallFailed(index):
                open_calls.discard(index)
            case _:
                pass
        if target in INTERLEAVED or target in WHOLE or not open_calls:
            for kind in (TextDelta, ReasoningDelta):
                assert MARK.sub("", joined(events, kind)) == joined(seen, kind)
        if target in INTERLEAVED:
            assert list(arguments(events)) == list(range(len(arguments(seen))))
            for mine, theirs in zip(arguments(events).values(), arguments(seen).values(), strict=True):
                assert mine in (theirs, theirs.rstrip("} \n"), theirs or "{")
        if not open_calls:
            ended = [event.call.name for event in events if isinstance(event, CallEnd)]
            assert sorted(ended) == sorted(event.call.name for event in seen if isinstance(event, CallEnd))


@each_target
@given(answer=answers())
def test_a_relayed_stream_that_breaks_off_makes_no_call(target: str, answer: Answer) -> None:
    relayed = list(write_stream(answer.events, target=target))
    whole = {call.name: call.arguments for call in answer.calls.values()}
    for length in range(1, len(relayed)):  # nothing at all is refused
        for call in read_answer(relayed[:length]).calls:
            assert jsontext.equal(call.arguments, whole[call.name])


def test_a_source_that_is_named_while_a_call_is_open_waits_with_its_text() -> None:
    events = [
        CallStart(0, "sky", "a"),
        TextDelta("Hi", 0),
        Notice("citations", "url_citation", (2, 2)),
        CallEnd(0, ToolInvocation(name="sky", arguments={}, id="a"), (2, 2)),
    ]
    info = AnswerInfo(stop="tool_calls", citations=[Cited({"type": "url_citation", "url": "https://e.com"})])
    kinds = [event["type"] for event in write_stream(events, target="cohere", info=info)]
    assert kinds.index("tool-call-end") < kinds.index("content-delta") < kinds.index("citation-start")


def test_interleaved_calls_wait_for_their_turn_where_one_block_is_open_at_a_time() -> None:
    first, second = (ToolInvocation(name=name, arguments={"x": 1}, id=name) for name in "ab")
    events = [
        *(CallStart(0, "a", "a"), CallStart(1, "b", "b"), ArgumentsDelta(1, '{"x":'), ArgumentsDelta(0, '{"x"')),
        *(TextDelta("!", 0), ArgumentsDelta(1, " 1}"), ArgumentsDelta(0, ": 1}"), CallEnd(1, second, (0, 0))),
        CallEnd(0, first, (0, 0)),
    ]
    shown = [
        [(event["type"].removeprefix("content_block_"), event.get("index")) for event in made]
        for made in steps(events, "anthropic")
    ]
    assert shown == [
        [("message_start", None), ("start", 0)],
        *([], [], [("delta", 0)], [], []),
        [("delta", 0)],
        [],
        [
            *(("delta", 0), ("stop", 0)),
            *(("start", 1), ("delta", 1), ("delta", 1), ("stop", 1)),
            *(("start", 2), ("delta", 2)),
        ],
        [("stop", 2), ("message_delta", None), ("message_stop", None)],
    ]


@each_target
def test_a_text_model_is_served_as_any_provider(target: str) -> None:
    text = 'Hm.\n<tool_call>\n{"name": "f", "arguments": {"a": [1, 1.0, {}]}}\n</tool_call>'
    stream = write_stream(parse_stream(iter(text), dialect="hermes"), target=target, id="a", model="m")
    result = read_answer(stream)
    assert result.text == "Hm."
    assert [(call.name, json.dumps(call.arguments)) for call in result.calls] == [("f", '{"a": [1, 1.0, {}]}')]


def test_a_response_says_which_call_is_incomplete() -> None:
    (*_, last) = write_stream(
        parse_stream(['<tool_call>{"name": "f", "arguments": {'], dialect="hermes"), target=RESPONSES
    )
    assert last["type"] == "response.incomplete"
    assert last["response"]["incomplete_details"] == {"reason": "max_output_tokens"}
    assert [(item["status"], item["arguments"]) for item in last["response"]["output"]] == [("incomplete", "{")]


@each_target
def test_a_refused_call_is_none_for_the_receiver(target: str) -> None:
    tool: Any = {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}
    text = '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'
    stream = list(write_stream(parse_stream([text], dialect="hermes", tools=[tool], validate=True), target=target))
    assert read_answer(stream).calls == ()


@each_target
@pytest.mark.parametrize("origin", TARGETS)
def test_who_answers_why_it_ends_and_what_it_costs_goes_along(origin: str, target: str) -> None:
    usage = Usage(input=12, output=9, cached=5, reasoning=4)
    for stop in ("stop", "length", "content_filter"):
        info = AnswerInfo(id="x1", model="m1", created=7, stop=stop, usage=usage)
        first = write_stream([TextDelta("Hi", 0)], target=origin, info=info)
        again = read_stream(write_stream(read_stream(first), target=target))
        said, *notices = again
        kinds = {"length": ["cut_off"], "content_filter": ["blocked"]}.get(stop, [])
        assert (said, [one.kind for one in notices if isinstance(one, Notice)]) == (TextDelta("Hi", 0), kinds)
        assert (again.info.id, again.info.model, again.info.stop, again.info.usage) == ("x1", "m1", stop, usage)


@each_target
def test_a_stream_that_breaks_off_ends_as_cut_off(target: str) -> None:
    broken = [{"choices": [{"index": 0, "delta": {"content": "Hi"}}]}]
    again = read_stream(write_stream(read_stream(broken), target=target))
    assert [event for event in again if not isinstance(event, Notice)] == [TextDelta("Hi", 0)]
    assert again.info.stop == "length"


ERRORS: list[Any] = [
    {"error": {"message": "Overloaded", "type": "server_error", "code": None}},
    {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
    {"type": "error", "code": "server_error", "message": "Overloaded", "param": None, "sequence_number": 3},
    {"type": "response.failed", "response": {"status": "failed", "error": {"code": "x", "message": "Overloaded"}}},
    {"error": {"code": 503, "message": "Overloaded", "status": "UNAVAILABLE"}},
    {"error": "Overloaded"},
]


@each_target
@pytest.mark.parametrize("error", ERRORS)
def test_an_error_in_a_stream_is_relayed_as_an_error(error: JsonObject, target: str) -> None:
    begun = write_stream([TextDelta("Hi", 0)], target="openai-chat")
    written = list(write_stream(read_stream([next(begun), next(begun), error]), target=target))
    again = read_stream(written)
    assert [event for event in again if not isinstance(event, Notice)] == [TextDelta("Hi", 0)]
    assert (again.info.error, again.info.stop) == ("Overloaded", None)


@pytest.mark.parametrize(
    ("owner", "holders"), [("anthropic", {"anthropic", "openai-chat"}), ("openai", {"openai-responses"})]
)
def test_a_proof_of_reasoning_goes_to_those_who_have_a_place_for_its_owner(owner: str, holders: set[str]) -> None:
    signature, encrypted = ("sig", None) if owner == "anthropic" else (None, "sig")
    message = Message(
        "assistant",
        (
            ReasoningPart("Hm.", signature, encrypted, owner),
            ReasoningPart("", None, "hidden", owner),
            TextPart("Hi"),
            CallPart("f", {}, id="c"),
        ),
    )
    for other in TARGETS:
        stream = read_stream(write_stream(message, target=other))
        events = coalesce(list(stream))
        assert [type(event) for event in events][:3] == [ReasoningDelta, TextDelta, CallStart]
        proofs = [(proof.at, proof.signature or proof.encrypted) for proof in stream.info.proofs]
        assert proofs == ([(3, "sig"), (3, "hidden")] if other in holders else [])


def test_a_signed_call_keeps_its_signature() -> None:
    part = {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "c2ln"}
    answer = {"candidates": [{"content": {"parts": [part]}, "finishReason": "STOP"}]}
    message = Message("assistant", (CallPart("f", {}, signature="c2ln", owner="google"),))
    for whole in (answer, message):
        (first, _) = write_stream(whole, target="gemini")
        assert first["candidates"][0]["content"]["parts"] == [part]
        assert "c2ln" not in str(list(write_stream(whole, target="anthropic")))


@each_target
def test_a_call_whose_arguments_were_not_reported_in_pieces_has_them_all(target: str) -> None:
    call = ToolInvocation(name="f", arguments={"a": 1}, id="c")
    for events in ([CallEnd(0, call, (0, 0))], [CallStart(0, "f", "c"), CallEnd(0, call, (0, 0))]):
        (found,) = read_answer(write_stream(events, target=target)).calls
        assert (found.id, found.arguments) == ("c", {"a": 1})


@each_target
@given(answer=answers())
def test_an_asynchronous_stream_is_the_same(target: str, answer: Answer) -> None:
    async def source(values: Sequence[Any]) -> AsyncIterator[Any]:
        for value in values:
            yield value

    async def relay() -> list[JsonObject]:
        return [made async for made in awrite_stream(source(answer.events), target=target, id="a")]

    async def back(stream: list[JsonObject]) -> tuple[list[JsonObject], AnswerInfo]:
        events = aread_stream(source(stream))
        return [made async for made in awrite_stream(events, target=target)], events.info

    stream = asyncio.run(relay())
    assert stream == list(write_stream(answer.events, target=target, id="a"))
    here = read_stream(stream)
    assert asyncio.run(back(stream)) == (list(write_stream(here, target=target)), here.info)


@each_target
def test_a_whole_answer_can_be_relayed(target: str) -> None:
    text = 'Hm.\n<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
    parsed = parse(text, dialect="hermes")
    message = Message("assistant", (TextPart("Hm."), CallPart("f", None, '{"a": 1}')))
    said = {"role": "assistant", "content": "Hm.", "tool_calls": []}
    said["tool_calls"] = [{"id": None, "function": {"name": "f", "arguments": '{"a": 1}'}}]
    answer = {"choices": [{"message": said, "finish_reason": "tool_calls"}]}
    streams = [list(write_stream(one, target=target, id="a")) for one in (parsed, message, answer, json.dumps(answer))]
    assert all(stream == streams[0] for stream in streams)
    assert [call.arguments for call in read_answer(streams[0]).calls] == [{"a": 1}]


def test_what_is_no_event_or_no_target_is_refused() -> None:
    with pytest.raises(TypeError, match="read_stream"):
        list(write_stream([{"choices": []}], target="openai-chat"))
    with pytest.raises(TypeError, match="int"):
        write_stream(7, target="openai-chat")
    with pytest.raises(UnknownFormatError, match="openai-chat"):
        write_stream([], target="atif")
    with pytest.raises(UnknownFormatError, match="sharegpt"):
        read_stream([], source="sharegpt")
    assert list(write_stream([], target="openai")) == list(write_stream([], target="openai-chat"))


SAID = Message("assistant", (ReasoningPart("Hm."), TextPart("Checking."), CallPart("f", {"a": 1}, id="call_1")))


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Give every value inside a value, with its place."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inside:
        yield (*path, key), one
        yield from places(one, (*path, key))


def changed(value: Any, path: tuple[Any, ...], other: Any) -> Any:
    """Copy a value with another one at a place."""
    if not path:
        return other
    copy = value.copy()
    copy[path[0]] = changed(value[path[0]], path[1:], other)
    return copy


def says(stream: list[Any], source: str) -> tuple[int, int, bool]:
    """Count the words and the calls of a stream, and say whether it reports a fault."""
    read: AnswerEvents = read_stream(stream, source=source)
    events = list(read)
    faults = any(isinstance(event, (CallFailed, Notice)) for event in events)
    words = joined(events, TextDelta) + joined(events, ReasoningDelta)
    calls = sum(isinstance(event, CallEnd) for event in events)
    return len(words), calls, faults or read.info.failure is not None or read.info.stop in UNFINISHED


@pytest.mark.parametrize("other", ["x", 5, [5], {"q": "x"}], ids=str)
@pytest.mark.parametrize("source", ANSWERS)
def test_a_field_of_the_wrong_type_takes_nothing_away_in_silence(source: str, other: Any) -> None:
    """Words and calls are read, or the stream is refused, or a fault of it is reported."""
    if source == "mistral" and other == "x":
        return  # a content is text too
    info = AnswerInfo(stop="tool_calls", usage=Usage(input=1, output=2))
    stream: list[Any] = list(write_stream(SAID, target=source, id="a", model="m", info=info))
    words, calls, _ = says(stream, source)
    for at, event in enumerate(stream):
        for path, value in places(event):
            if type(value) is type(other):
                continue
            wrong = [*stream[:at], changed(event, path, other), *stream[at + 1 :]]
            try:
                heard_words, heard_calls, faults = says(wrong, source)
            except ParseError:
                continue
            assert faults or (heard_words, heard_calls) >= (words, calls), (at, path)
