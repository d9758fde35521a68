"""Answers of providers' APIs, finished and streamed: the same events as those of text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolfmt import ParseError, read_answer, read_stream, write_stream
from toolfmt.events import ArgumentsDelta, CallEnd, CallFailed, CallStart, Notice, coalesce
from toolfmt.workshop.testing import laws

ARGUMENTS = '{"city": "Paris", "n": 12345678901234567890}'
VALUE = json.loads(ARGUMENTS)
CALL = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": ARGUMENTS}}
FINISHED: dict[str, dict[str, Any]] = {
    "chat": {
        "choices": [
            {
                "finish_reason": "tool_calls",
                "message": {"role": "assistant", "reasoning_content": "Hm.", "content": "Look.", "tool_calls": [CALL]},
            }
        ]
    },
    "responses": {
        "object": "response",
        "output": [
            {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm."}]},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Look."}]},
            {"type": "function_call", "call_id": "call_1", "name": "get_weather", "arguments": ARGUMENTS},
        ],
    },
    "anthropic": {
        "type": "message",
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "s"},
            {"type": "text", "text": "Look."},
            {"type": "tool_use", "id": "call_1", "name": "get_weather", "input": VALUE},
        ],
    },
    "gemini": {
        "candidates": [
            {
                "content": {
                    "parts": [
                        {"text": "Hm.", "thought": True},
                        {"text": "Look."},
                        {"functionCall": {"id": "call_1", "name": "get_weather", "args": VALUE}},
                    ]
                },
                "finishReason": "STOP",
            }
        ]
    },
    "cohere": {
        "finish_reason": "TOOL_CALL",
        "message": {
            "role": "assistant",
            "content": [{"type": "thinking", "thinking": "Hm."}],
            "tool_plan": "Look.",
            "tool_calls": [CALL],
        },
    },
    "bedrock": {
        "output": {
            "message": {
                "role": "assistant",
                "content": [
                    {"reasoningContent": {"reasoningText": {"text": "Hm."}}},
                    {"text": "Look."},
                    {"toolUse": {"toolUseId": "call_1", "name": "get_weather", "input": VALUE}},
                ],
            }
        }
    },
    "ollama": {
        "model": "m",
        "done": True,
        "message": {
            "role": "assistant",
            "thinking": "Hm.",
            "content": "Look.",
            "tool_calls": [{"id": "call_1", "function": {"name": "get_weather", "arguments": VALUE}}],
        },
    },
}
PIECES = [ARGUMENTS[at : at + 5] for at in range(0, len(ARGUMENTS), 5)]
STREAMED: dict[str, list[dict[str, Any]]] = {
    "chat": [
        {"choices": [{"delta": {"role": "assistant", "reasoning_content": "Hm."}}]},
        {"choices": [{"delta": {"content": "Look."}}]},
        {
            "choices": [
                {"delta": {"tool_calls": [{**CALL, "index": 0, "function": {"name": "get_weather", "arguments": ""}}]}}
            ]
        },
        *({"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": text}}]}}]} for text in PIECES),
        {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]},
        {"choices": [], "usage": {}},
    ],
    "cohere": [
        {"type": "message-start", "id": "c1", "delta": {"message": {"role": "assistant"}}},
        {"type": "content-start", "index": 0, "delta": {"message": {"content": {"type": "thinking", "thinking": ""}}}},
        {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"thinking": "Hm."}}}},
        {"type": "content-end", "index": 0},
        {"type": "tool-plan-delta", "delta": {"message": {"tool_plan": "Look."}}},
        {
            "type": "tool-call-start",
            "index": 0,
            "delta": {
                "message": {"tool_calls": {"id": "call_1", "type": "function", "function": {"name": "get_weather"}}}
            },
        },
        *(
            {
                "type": "tool-call-delta",
                "index": 0,
                "delta": {"message": {"tool_calls": {"function": {"arguments": text}}}},
            }
            for text in PIECES
        ),
        {"type": "tool-call-end", "index": 0},
        {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL", "usage": {"tokens": {"output_tokens": 9.0}}}},
    ],
    "responses": [
        {"type": "response.created"},
        {"type": "response.reasoning_summary_text.delta", "delta": "Hm."},
        {"type": "response.output_text.delta", "delta": "Look."},
        {
            "type": "response.output_item.added",
            "output_index": 2,
            "item": {"type": "function_call", "call_id": "call_1", "name": "get_weather", "arguments": ""},
        },
        *({"type": "response.function_call_arguments.delta", "output_index": 2, "delta": text} for text in PIECES),
        {
            "type": "response.output_item.done",
            "output_index": 2,
            "item": {"type": "function_call", "call_id": "call_1", "name": "get_weather", "arguments": ARGUMENTS},
        },
        {"type": "response.completed"},
    ],
    "anthropic": [
        {"type": "message_start", "message": {"content": []}},
        {"type": "ping"},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm."}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Look."}},
        {"type": "content_block_stop", "index": 1},
        {
            "type": "content_block_start",
            "index": 2,
            "content_block": {"type": "tool_use", "id": "call_1", "name": "get_weather", "input": {}},
        },
        *(
            {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": text}}
            for text in PIECES
        ),
        {"type": "content_block_stop", "index": 2},
        {"type": "message_stop"},
    ],
    "bedrock": [
        {"messageStart": {"role": "assistant"}},
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"reasoningContent": {"text": "Hm."}}}},
        {"contentBlockDelta": {"contentBlockIndex": 1, "delta": {"text": "Look."}}},
        {
            "contentBlockStart": {
                "contentBlockIndex": 2,
                "start": {"toolUse": {"toolUseId": "call_1", "name": "get_weather"}},
            }
        },
        *({"contentBlockDelta": {"contentBlockIndex": 2, "delta": {"toolUse": {"input": text}}}} for text in PIECES),
        {"contentBlockStop": {"contentBlockIndex": 2}},
        {"messageStop": {"stopReason": "tool_use"}},
    ],
}


@pytest.mark.parametrize("api", FINISHED)
@pytest.mark.parametrize("form", [dict, json.dumps])
def test_a_finished_answer_is_read(api: str, form: Any) -> None:
    result = read_answer(form(FINISHED[api]))
    assert (result.reasoning, result.text) == ("Hm.", "Look.")
    (call,) = result.calls
    assert (call.name, call.id, call.provenance) == ("get_weather", "call_1", "api")
    assert json.dumps(call.arguments) == json.dumps(VALUE)
    laws.ordered(result.events)


@pytest.mark.parametrize("api", STREAMED)
def test_a_stream_gives_the_same_as_the_finished_answer(api: str) -> None:
    events = list(read_stream(STREAMED[api]))
    assert [(call.name, call.arguments) for call in read_answer(STREAMED[api]).calls] == [("get_weather", VALUE)]
    assert "".join(event.json for event in events if isinstance(event, ArgumentsDelta)) == ARGUMENTS
    assert sum(isinstance(event, ArgumentsDelta) for event in events) > 1
    laws.ordered(events)
    assert coalesce(events) == list(read_answer(STREAMED[api]).events)


@pytest.mark.parametrize("api", STREAMED)
def test_a_cut_stream_makes_no_call(api: str) -> None:
    for length in range(1, len(STREAMED[api]) - 1):
        result = read_answer(STREAMED[api][:length])
        assert all(call.arguments == VALUE for call in result.calls)
        assert all(failure.reason == "truncated" for failure in result.failures)
        laws.ordered(result.events)


def test_arguments_that_are_no_object_are_a_failure() -> None:
    for text, reason in (("[1]", "arguments_not_object"), ('{"a":1,"a":2}', "duplicate_key"), ("{a}", "malformed")):
        call = {"id": "x", "function": {"name": "f", "arguments": text}}
        answer = {"choices": [{"finish_reason": "tool_calls", "message": {"tool_calls": [call]}}]}
        result = read_answer(answer)
        assert not result.calls
        assert [failure.reason for failure in result.failures] == [reason]


def test_interleaved_deltas_of_parallel_calls_stay_apart() -> None:
    def chunk(*calls: dict[str, Any]) -> dict[str, Any]:
        return {"choices": [{"delta": {"tool_calls": list(calls)}}]}

    stream = [
        chunk({"index": 0, "id": "a", "function": {"name": "f", "arguments": '{"x"'}}),
        chunk({"index": 1, "id": "b", "function": {"name": "g", "arguments": '{"y": 2'}}),
        chunk({"index": 0, "function": {"arguments": ": 1}"}}, {"index": 1, "function": {"arguments": "}"}}),
        {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]},
    ]
    assert [(call.id, call.arguments) for call in read_answer(stream).calls] == [("a", {"x": 1}), ("b", {"y": 2})]


ODD = st.none() | st.booleans() | st.floats() | st.text(max_size=2) | st.just([]) | st.just({}) | st.just([{"a": 1}])


def odd(data: st.DataObject, value: Any) -> Any:
    """Put something odd in a value's place, or deep inside of it."""
    if not value or not isinstance(value, dict | list) or data.draw(st.integers(0, 4)) == 0:
        return data.draw(ODD)
    place = data.draw(st.sampled_from(list(value) if isinstance(value, dict) else list(range(len(value)))))
    changed = dict(value) if isinstance(value, dict) else list(value)
    changed[place] = odd(data, value[place])
    return changed


@given(data=st.data())
def test_an_odd_answer_raises_no_other_error(data: st.DataObject) -> None:
    answer = data.draw(st.sampled_from([*FINISHED.values(), *STREAMED.values()]))
    for _ in range(data.draw(st.integers(1, 3))):
        answer = odd(data, answer)
    try:
        result = read_answer(answer)
    except ParseError:
        return
    laws.ordered(result.events)
    read_answer(write_stream(result, target=data.draw(st.sampled_from(["anthropic", "gemini", "openai-responses"]))))


def test_what_is_no_answer_is_refused() -> None:
    for value in ({"foo": 1}, [1], 7, '{"a": 1}', "{"):
        with pytest.raises(ParseError):
            read_answer(value)


def test_no_call_is_left_open() -> None:
    events = read_answer(
        [{"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f"}}]}}]}]
    ).events
    assert [type(event) for event in events] == [CallStart, CallFailed]
    assert not any(isinstance(event, CallEnd) for event in events)


def test_a_call_is_over_when_something_else_follows_its_whole_arguments() -> None:
    def chunk(at: int, **function: str) -> dict[str, Any]:
        return {"choices": [{"delta": {"tool_calls": [{"index": at, "id": f"c{at}", "function": function}]}}]}

    chunks = [chunk(0, name="f", arguments='{"a"'), chunk(0, arguments=": 1}"), chunk(1, name="g", arguments="")]
    events = list(read_stream(chunks))
    assert [type(event).__name__ for event in events] == [
        *("CallStart", "ArgumentsDelta", "ArgumentsDelta", "CallEnd"),
        *("CallStart", "CallFailed"),
    ]


def test_late_arguments_change_no_call() -> None:
    def chunk(at: int, ident: str | None, arguments: str) -> dict[str, Any]:
        function = {"name": "f", "arguments": arguments}
        return {"choices": [{"delta": {"tool_calls": [{"index": at, "id": ident, "function": function}]}}]}

    result = read_answer([chunk(0, "a", "{}"), chunk(1, "b", "{}"), chunk(0, "a", "{1}"), chunk(0, "c", '{"x": 1}')])
    assert [(call.id, call.arguments) for call in result.calls] == [("a", {}), ("b", {}), ("c", {"x": 1})]
    assert [(notice.kind, notice.detail) for notice in result.notices] == [("late_arguments", "{1}")]


def test_other_answers_to_the_same_question_are_not_mixed_in() -> None:
    chunks = [{"choices": [{"index": at, "delta": {"content": text}}]} for at, text in ((0, "a"), (1, "b"), (0, "c"))]
    assert read_answer(chunks).text == "ac"
    parts = [{"candidates": [{"index": at, "content": {"parts": [{"text": "x"}]}} for at in (0, 1)]}]
    assert read_answer(parts).text == "x"


@pytest.mark.parametrize("stop", ["max_tokens", "tool_use"])
def test_a_call_that_a_limit_left_without_arguments_is_none(stop: str) -> None:
    block = {"type": "tool_use", "id": "c", "name": "f", "input": {}}
    stream = [
        {"type": "message_start", "message": {"id": "m"}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 3}},
        {"type": "message_stop"},
    ]
    for answer in (stream, {"type": "message", "content": [block], "stop_reason": stop}):
        assert len(read_answer(answer).calls) == (stop == "tool_use")
        assert len(read_answer(answer).failures) == (stop == "max_tokens")


def test_what_comes_in_between_hides_nothing() -> None:
    chunk = {"choices": [{"delta": {"content": "Hi"}}], "error": None}
    assert read_answer([chunk, {"type": "ping"}, chunk, {}, chunk]).text == "HiHiHi"


def test_an_empty_object_is_no_answer() -> None:
    with pytest.raises(ParseError, match="the answer is empty"):
        read_answer({})


@pytest.mark.parametrize("status", ["completed", "incomplete"])
def test_an_incomplete_item_of_free_text_is_no_call(status: str) -> None:
    item = {"type": "custom_tool_call", "call_id": "c", "name": "sql", "input": "SELECT", "status": status}
    assert len(read_answer({"output": [item]}).calls) == (status == "completed")


def test_arguments_that_come_value_by_value_are_put_together() -> None:
    def chunk(**call: Any) -> dict[str, Any]:
        return {"candidates": [{"content": {"parts": [{"functionCall": call}]}}]}

    def piece(path: str, **value: Any) -> dict[str, Any]:
        return chunk(partialArgs=[{"jsonPath": path, **value}], willContinue=True)

    stream = [
        chunk(name="book", id="c", willContinue=True),
        piece("$.seats[0].row", numberValue=4),
        piece("$.seats[1]['a.b']", boolValue=False),
        piece("$.note", stringValue="by the", willContinue=True),
        piece("$.note", stringValue=" window"),
        piece("$.none", nullValue="NULL_VALUE"),
        chunk(),
        chunk(name="now", args={}),
    ]
    calls = [(call.name, call.id, call.arguments) for call in read_answer(stream).calls]
    booked = {"seats": [{"row": 4}, {"a.b": False}], "note": "by the window", "none": None}
    assert calls == [("book", "c", booked), ("now", None, {})]
    for length in range(1, 7):
        assert [failure.reason for failure in read_answer(stream[:length]).failures] == ["truncated"]
    for path in ("$", "note", "$.note[0]", "$.list[7]", "$.a b]"):
        assert not read_answer([*stream[:5], piece(path, numberValue=1), chunk()]).calls


def test_content_in_parts_is_read() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    said = {"content": [thinking, {"type": "text", "text": "Hi"}, {"type": "reference"}]}
    result = read_answer({"choices": [{"message": said}]})
    assert (result.reasoning, result.text, result.notices[0].detail) == ("Hm.", "Hi", "reference")


def test_the_one_call_of_old_answers_is_read() -> None:
    pieces = [{"name": "f", "arguments": ""}, {"arguments": '{"a"'}, {"arguments": ": 1}"}]
    chunks = [{"choices": [{"delta": {"function_call": piece}}]} for piece in pieces]
    end = {"choices": [{"delta": {}, "finish_reason": "function_call"}]}
    assert [call.arguments for call in read_answer([*chunks, end]).calls] == [{"a": 1}]


@pytest.mark.parametrize(
    "answer",
    [
        {"error": {"message": "busy"}},
        {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}},
        {"object": "response", "status": "failed", "error": {"code": "x", "message": "busy"}, "output": []},
        [{"choices": [{"delta": {"content": "Hi"}}]}, {"error": {"message": "busy"}}],
        'data: {"choices": [{"delta": {"content": "Hi"}}]}\n\ndata: {"error": {"message": "busy"}}\n\n',
    ],
)
def test_an_error_in_place_of_a_whole_answer_is_raised(answer: Any) -> None:
    with pytest.raises(ParseError, match="the provider gives an error, not an answer: busy"):
        read_answer(answer)


@pytest.mark.parametrize("error", [{"error": {"message": "busy"}}, {"type": "error", "message": "busy"}])
def test_an_error_in_a_stream_is_a_notice_and_its_end(error: dict[str, Any]) -> None:
    stream = read_stream([{"choices": [{"delta": {"content": "Hi"}}]}, error])
    assert [type(event).__name__ for event in stream] == ["TextDelta", "Notice"]
    assert stream.info.stop is None


@pytest.mark.parametrize("value", [[1], "Paris", 7])
def test_arguments_of_another_kind_are_a_failure_where_an_object_is_due(value: Any) -> None:
    for answer in (
        {"type": "message", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": value}]},
        {"candidates": [{"content": {"parts": [{"functionCall": {"name": "f", "args": value}}]}}]},
        {"output": {"message": {"content": [{"toolUse": {"toolUseId": "c", "name": "f", "input": value}}]}}},
        {"output": [{"type": "function_call", "call_id": "c", "name": "f", "arguments": value}]},
    ):
        assert (len(read_answer(answer).calls), len(read_answer(answer).failures)) == (0, 1)


@pytest.mark.parametrize(
    "answer",
    [
        {"candidates": [{"content": {"parts": [{"executableCode": {"code": "1"}}]}}]},
        {"output": {"message": {"content": [{"image": {}}]}}},
        {"output": [{"type": "web_search_call"}]},
        [{"type": "response.output_item.done", "output_index": 0, "item": {"type": "web_search_call"}}],
        {"type": "message", "content": [{"type": "server_tool_use"}]},
    ],
)
def test_what_is_neither_words_nor_a_call_is_a_notice(answer: Any) -> None:
    (event,) = read_answer(answer).events
    assert isinstance(event, Notice)


@pytest.mark.parametrize("given", [[], 0, False, [1]])
def test_arguments_that_are_no_object_are_never_an_empty_one(given: Any) -> None:
    call = {"function": {"name": "f", "arguments": given}}
    use = {"type": "tool_use", "id": "a", "name": "f", "input": given}
    for answer in (
        {"model": "m", "done": True, "message": {"role": "assistant", "content": "", "tool_calls": [call]}},
        [{"type": "content_block_start", "index": 0, "content_block": use}, {"type": "content_block_stop", "index": 0}],
        {"type": "message", "role": "assistant", "content": [use]},
    ):
        found = read_answer(answer)
        assert [failure.reason for failure in found.failures] == ["arguments_not_object"]
        assert found.calls == ()


CHUNKS: list[dict[str, Any]] = [
    {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "h\u00e9"}}]},
    {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f"}}]}}]},
    {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}}]},
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
]
LINES = [": ping", *(f"data: {json.dumps(chunk, ensure_ascii=False)}" for chunk in CHUNKS), "data: [DONE]"]
TEXT = "\n\n".join(LINES[1:]) + "\n\n"


@pytest.mark.parametrize("size", [1, 4, 7, 40, 4000])
def test_server_sent_events_are_read_in_pieces_of_any_size(size: int) -> None:
    whole = list(read_stream(CHUNKS))
    given = TEXT.encode()
    assert list(read_stream(TEXT[at : at + size] for at in range(0, len(TEXT), size))) == whole
    assert list(read_stream(given[at : at + size] for at in range(0, len(given), size))) == whole


@pytest.mark.parametrize("start", [0, 1])
def test_server_sent_events_are_read_by_line(start: int) -> None:
    whole = list(read_stream(CHUNKS))
    lines = LINES[start:]
    assert list(read_stream(lines)) == whole
    assert list(read_stream(line.encode() for line in lines)) == whole
    assert list(read_stream(part for line in lines for part in (line, ""))) == whole
    assert list(read_stream(part for line in lines for part in (f"{line}\n", "\n"))) == whole
    assert read_answer(TEXT).events == read_answer(lines).events == read_answer(CHUNKS).events


def test_a_tool_that_is_not_offered_is_noticed_in_an_answer_too() -> None:
    tools = [{"name": "g", "parameters": {"type": "object"}}]
    (notice,) = read_answer(CHUNKS, tools=tools).notices
    assert (notice.kind, "did you mean" in notice.detail or "offered: g" in notice.detail) == ("unknown_tool", True)
    assert [event.kind for event in read_stream(CHUNKS, tools=tools) if isinstance(event, Notice)] == ["unknown_tool"]
    assert not read_answer(CHUNKS, tools=[{"name": "f", "parameters": {}}]).notices


CUT = {"role": "assistant", "content": "Once"}
BLOCKED_BY = {"output": [], "object": "response", "status": "incomplete"}


@pytest.mark.parametrize(
    ("answer", "kind", "reason"),
    [
        ({"choices": [{"finish_reason": "length", "message": CUT}]}, "cut_off", "length"),
        ({"choices": [{"finish_reason": "content_filter", "message": CUT}]}, "blocked", "content_filter"),
        ({"type": "message", "role": "assistant", "content": [], "stop_reason": "refusal"}, "blocked", "refusal"),
        ({"candidates": [{"finishReason": "SAFETY"}]}, "blocked", "SAFETY"),
        ({"promptFeedback": {"blockReason": "OTHER"}}, "blocked", "OTHER"),
        (BLOCKED_BY, "cut_off", "incomplete"),
        ({**BLOCKED_BY, "incomplete_details": {"reason": "content_filter"}}, "blocked", "content_filter"),
        ({"message": CUT, "done": True, "done_reason": "length", "model": "m"}, "cut_off", "length"),
        ([{"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": CUT, "finish_reason": "length"}]}],
         "cut_off", "length"),
    ],
)  # fmt: skip
def test_an_answer_that_a_limit_or_a_filter_ended_has_a_notice(answer: Any, kind: str, reason: str) -> None:
    assert [(one.kind, one.detail) for one in read_answer(answer).notices] == [(kind, reason)]


def test_an_answer_that_ended_has_no_notice() -> None:
    for reason in ("stop", "tool_calls", None):
        assert not read_answer({"choices": [{"finish_reason": reason, "message": CUT}]}).notices
