"""Streams of one API as another's: events, the text that they are on the wire, errors, what no event tells."""

from __future__ import annotations

import gzip
import json
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest

from tests import sampling
from toolfmt import read_stream, write_stream
from toolfmt.conversation import CallPart, TextPart
from toolfmt.errors import ParseError, UnknownFormatError
from toolfmt.events import Notice, TextDelta, coalesce
from toolfmt.parsing import ParseResult
from toolfmt.transcripts.answer_apis import ANSWERS, APIS
from toolfmt.transcripts.answering.answer_message import answer_message
from toolfmt.transcripts.sse import EventText, end_text, event_text
from toolfmt.transcripts.streams.relay import StreamConverter

RECORDED = Path(__file__).resolve().parents[3] / "shared" / "transcripts" / "recorded.jsonl.gz"
READABLE = sorted(APIS.keys() & ANSWERS.keys())
TEXTUAL = sorted(APIS.keys() - {"bedrock"})
CALL = {"id": "call_A1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
ANSWER = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 7,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "reasoning_content": "Hm.", "content": "Hi ü", "tool_calls": [CALL]},
            "finish_reason": "tool_calls",
        }
    ],
    "usage": {"prompt_tokens": 12, "completion_tokens": 9, "total_tokens": 21},
}
every_target = pytest.mark.parametrize("target", APIS)
recorded = pytest.mark.skipif(not RECORDED.is_file(), reason="there is no ../shared")


def said(events: list[Any], source: str) -> ParseResult:
    return ParseResult(tuple(coalesce(list(read_stream(events, source=source)))))


@pytest.mark.parametrize("source", READABLE)
@pytest.mark.parametrize("target", READABLE)
def test_everything_arrives(source: str, target: str) -> None:
    stream = list(write_stream(ANSWER, target=source))
    relay = StreamConverter(source, target)
    found = [made for event in stream for made in relay.feed(event)] + relay.close()
    if source == target:
        assert found == stream
    whole = said(found, target)
    assert (whole.text, whole.reasoning) == ("Hi ü", "Hm.")
    assert [(call.name, call.arguments) for call in whole.calls] == [("f", {"a": 1})]
    assert relay.info.usage is not None
    assert (relay.info.usage.input, relay.info.usage.output) == (12, 9)
    assert relay.losses == ()


def test_the_ai_sdk_s_chunks() -> None:
    found = list(write_stream(ANSWER, target="vercel-ui"))
    assert [event["type"] for event in found] == [
        *("start", "start-step", "reasoning-start", "reasoning-delta", "reasoning-end"),
        *("text-start", "text-delta", "text-end", "tool-input-start", "tool-input-delta", "tool-input-delta"),
        *("tool-input-available", "finish-step", "finish"),
    ]
    assert found[-3]["input"] == {"a": 1}
    assert found[-1] == {"type": "finish", "finishReason": "tool-calls"}


def test_ag_ui_s_events() -> None:
    found = list(write_stream(ANSWER, target="ag-ui"))
    assert found[0] == {"type": "RUN_STARTED", "threadId": "chatcmpl-1", "runId": "chatcmpl-1"}
    assert [event["type"] for event in found if event.get("messageId")] == [
        *("REASONING_START", "REASONING_MESSAGE_START", "REASONING_MESSAGE_CONTENT"),
        *("REASONING_MESSAGE_END", "REASONING_END"),
        *("TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"),
    ]
    calls = [event for event in found if event["type"].startswith("TOOL_CALL")]
    assert calls[0] == {"type": "TOOL_CALL_START", "toolCallId": "call_A1", "toolCallName": "f"}
    assert "".join(event["delta"] for event in calls[1:-1]) == '{"a": 1}'
    assert found[-1]["type"] == "RUN_FINISHED"


@pytest.mark.parametrize("target", TEXTUAL)
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_text_may_be_cut_anywhere(target: str, size: int) -> None:
    events = list(write_stream(ANSWER, target=target))
    wire = ("".join(event_text(event, target) for event in events) + end_text(target)).encode()
    reader = EventText()
    found = [data for at in range(0, len(wire), size) for data in reader.feed(wire[at : at + size])] + reader.close()
    assert [json.loads(data) for data in found] == events


def test_a_relay_of_text_is_a_few_lines() -> None:
    wire = "".join(event_text(event, "anthropic") for event in write_stream(ANSWER, target="anthropic"))
    relay = StreamConverter("anthropic", "openai-chat", id="other")
    made = "".join(relay.feed_text(wire[at : at + 5].encode()) for at in range(0, len(wire), 5)) + relay.close_text()
    assert made.endswith("data: [DONE]\n\n")
    reader = EventText()
    chunks = [json.loads(data) for data in reader.feed(made)]
    assert {chunk["id"] for chunk in chunks} == {"other"}
    assert said(chunks, "openai-chat").text == "Hi ü"


BROKEN = {
    "a torn event": b'data: {"id": "x", "choi\n\n',
    "no event of the API": b'data: {"martian": 1}\n\n',
    "not UTF-8": b'data: {"id": "\xff"}\n\n',
}
RELAYED = [name for name in READABLE if name in TEXTUAL]


def relayed_text(source: str, target: str, wire: bytes, size: int, ident: str) -> tuple[str, StreamConverter]:
    relay = StreamConverter(source, target, id=ident)
    pieces = [relay.feed_text(wire[at : at + size]) for at in range(0, len(wire), size)]
    return "".join(pieces) + relay.close_text(), relay


def unfinished(source: str) -> list[bytes]:
    """Give the text of each event before the one that says why the answer ended."""
    relay = StreamConverter(source, source)
    found: list[bytes] = []
    for event in write_stream(ANSWER, target=source):
        relay.feed(event)
        if relay.info.stop is not None:
            break
        found.append(event_text(event, source).encode())
    return found


@pytest.mark.parametrize(
    ("source", "target", "ident"),
    [
        (source, target, ident)
        for at, source in enumerate(RELAYED)
        for target, ident in sampling.share([*product(TEXTUAL, ("", "a"))], at, 5)
    ],
)
def test_a_broken_stream_ends_in_an_error_after_what_came_before(source: str, target: str, ident: str) -> None:
    """Whatever the chunks: what arrived is passed on, then comes an error of the target's, and nothing raises."""
    events = unfinished(source)
    before = b"".join(events)
    arrived = StreamConverter(source, target, id=ident)
    start = "".join(arrived.feed_text(event) for event in events)
    wires = {name: before + bad for name, bad in BROKEN.items()}
    wires |= {f"cut after {size}": before[:size] for size in range(0, len(before), max(1, len(before) // 15))}
    for name, wire in wires.items():
        (made, relay), *others = [relayed_text(source, target, wire, size, ident) for size in (100_000, 1, 7)]
        assert [text for text, _ in others] == [made] * 2, name
        assert relay.info.failure is not None, name
        assert (relay.info.failure.kind, relay.info.failure.status) == ("server", 502), name
        assert relay.info.failure.message in EventText().feed(made)[-1], name
        assert name not in BROKEN or made.startswith(start), name
        if name.startswith("cut after"):  # in an event too
            assert relay.info.failure.message == "the stream ended before the answer was complete", name


def test_what_arrived_before_a_broken_event_is_read() -> None:
    good = 'data: {"choices": [{"index": 0, "delta": {"content": "Hi"}}]}\n\n'
    for bad in ('data: {"choi\n\n', 'data: {"martian": 1}\n\n'):
        for chunks in ([good + bad], list(good + bad)):
            events = read_stream(chunks, source="openai-chat")
            assert next(events) == TextDelta("Hi", 0)
            with pytest.raises(ParseError):
                next(events)


def test_a_broken_event_is_named_by_its_number_and_others_can_be_fed() -> None:
    relay = StreamConverter(source="openai-chat", target="anthropic")
    good = {"choices": [{"index": 0, "delta": {"content": "Hi"}}]}
    relay.feed(good)
    for bad in ({"martian": 1}, [], "{", {"choices": [{"delta": 3}]}):
        with pytest.raises(ParseError, match=r"^event 1: "):
            relay.feed(bad)
    assert "Hi" in str(relay.feed(good))


def test_what_stands_between_events_is_none() -> None:
    reader = EventText()
    assert reader.feed(": ping\r\n\r\nid: 1\r\ndata: a\r\ndata: b\r\n\r\n") == ["a\nb"]
    assert reader.feed("data: [DONE]\n\n") == []
    assert reader.feed("data: c") == []
    assert reader.close() == ["c"]


@pytest.mark.parametrize("size", [1, 2, 3, 100])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_line_ends_as_the_specification_allows(end: str, size: int) -> None:
    lines = ["\ufeff: ping", "", 'data: {"a":', "data: 1}", "", 'data: {"b": "\\r"}', "", ""]
    wire = end.join(lines).encode()
    reader = EventText()
    found = [data for at in range(0, len(wire), size) for data in reader.feed(wire[at : at + size])]
    assert [*found, *reader.close()] == ['{"a":\n1}', '{"b": "\\r"}']


def test_bedrock_s_streams_are_no_text() -> None:
    with pytest.raises(UnknownFormatError, match="bedrock"):
        event_text({}, "bedrock")
    with pytest.raises(UnknownFormatError, match="atif"):
        StreamConverter("openai-chat", "atif")


OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
ERRORS = {
    "openai-chat": {"error": {"message": "Overloaded", "type": "overloaded_error", "param": None, "code": None}},
    "anthropic": OVERLOADED,
    "gemini": {"error": {"code": 503, "message": "Overloaded", "status": "UNAVAILABLE"}},
    "bedrock": {"serviceUnavailableException": {"message": "Overloaded"}},
    "ollama": {"error": "Overloaded"},
    "vercel-ui": {"type": "error", "errorText": "Overloaded"},
    "ag-ui": {"type": "RUN_ERROR", "message": "Overloaded", "code": "overloaded"},
}


@pytest.mark.parametrize("target", ERRORS)
def test_an_error_keeps_its_kind(target: str) -> None:
    relay = StreamConverter("anthropic", target, id="a")
    relay.feed(OVERLOADED)
    assert relay.close()[-1] == ERRORS[target]


@every_target
def test_an_error_beside_choices_is_an_error(target: str) -> None:
    chunk = {
        "id": "gen-1",
        "error": {"code": 400, "message": "Token limit reached"},
        "choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": None}],
    }
    relay = StreamConverter("openai-chat", target, id="a")
    relay.feed({"id": "gen-1", "choices": [{"index": 0, "delta": {"content": "Hi"}}]})
    relay.feed(chunk)
    assert "Token limit reached" in json.dumps(relay.close()[-1])
    assert relay.info.failure is not None
    assert relay.info.failure.kind == "invalid"


def test_custom_calls_and_refusals_stay_what_they_are() -> None:
    item = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "c1", "name": "sql", "input": ""}
    stream = [
        {"type": "response.created", "response": {"id": "r", "model": "m", "created_at": 1}},
        {"type": "response.refusal.delta", "output_index": 0, "delta": "No."},
        {"type": "response.output_item.added", "output_index": 1, "item": item},
        {"type": "response.custom_tool_call_input.delta", "output_index": 1, "delta": "SELECT 1;"},
        {"type": "response.output_item.done", "output_index": 1, "item": {**item, "input": "SELECT 1;"}},
        {"type": "response.completed", "response": {"id": "r", "status": "completed"}},
    ]
    relay = StreamConverter("openai-responses", "openai-responses", id="other")
    last = ([made for event in stream for made in relay.feed(event)] + relay.close())[-1]
    message, call = last["response"]["output"]
    assert message["content"] == [{"type": "refusal", "refusal": "No."}]
    assert (call["type"], call["input"], call["call_id"]) == ("custom_tool_call", "SELECT 1;", "c1")
    chat = StreamConverter("openai-responses", "openai-chat")
    chunks = [made for event in stream for made in chat.feed(event)] + chat.close()
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks if chunk["choices"]]
    assert {"refusal": "No."} in deltas
    assert any(delta.get("tool_calls", [{}])[0].get("custom") for delta in deltas)


def test_what_no_event_tells_is_a_loss() -> None:
    relay = StreamConverter("openai-chat", "anthropic")
    for at in range(3):
        relay.feed({"choices": [{"index": 1, "delta": {"content": f"{at}"}}]})
    relay.feed({"choices": [{"index": 0, "delta": {"audio": {"data": "AA=="}, "content": "Hi", "annotations": [{}]}}]})
    assert sorted(loss.code for loss in relay.losses) == ["choice", "citations", "provider_part"]


@pytest.mark.parametrize("target", ["anthropic", "openai-chat", "gemini-interactions"])
@pytest.mark.parametrize(
    ("source", "event"),
    [
        ("ollama", {"model": "m", "message": {"content": "", "images": ["iVBORw0KGgo"]}, "done": False}),
        ("bedrock", {"contentBlockDelta": {"delta": {"image": {"source": {"bytes": "iVBORw0KGgo"}}}}}),
        ("bedrock", {"contentBlockDelta": {"delta": {"toolResult": [{"text": "18C"}]}}}),
        ("cohere", {"type": "content-start", "delta": {"message": {"content": {"type": "image_url"}}}}),
    ],
)
def test_media_of_a_stream_is_a_loss(source: str, target: str, event: dict[str, Any]) -> None:
    relay = StreamConverter(source, target)
    relay.feed(event)
    assert [loss.code for loss in relay.losses] == ["provider_part"]


def test_a_loss_of_a_stream_has_its_event_and_the_proof_of_a_call_is_one() -> None:
    call = {"functionCall": {"name": "f", "args": {"a": 1}}, "thoughtSignature": "SIG"}
    for target in TEXTUAL:
        relay = StreamConverter("gemini", target, id="x")
        made = relay.feed({"candidates": [{"content": {"parts": [{"text": "Hi"}]}}]})
        made += relay.feed({"candidates": [{"content": {"parts": [call]}, "finishReason": "STOP"}]}) + relay.close()
        found = [(loss.path, loss.detail) for loss in relay.losses]
        assert ("SIG" in json.dumps(made)) != (("/1", "google") in found), target


_SIGNED_PART = {"functionCall": {"name": "f"}, "thoughtSignature": "SIG"}
_SIGNED_STEP = {"type": "function_call", "id": "a", "name": "f", "arguments": {}, "signature": "SIG"}
_SIGNED_CALL = {"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
_SIGNED_CALL |= {"extra_content": {"google": {"thought_signature": "SIG"}}}
SIGNED_CALLS: dict[str, list[Any]] = {
    "gemini": [{"candidates": [{"content": {"parts": [_SIGNED_PART]}, "finishReason": "STOP"}]}],
    "gemini-interactions": [
        {"event_type": "step.start", "index": 0, "step": _SIGNED_STEP},
        {"event_type": "interaction.completed", "interaction": {"status": "requires_action"}},
    ],
    "openai-chat": [
        {"choices": [{"index": 0, "delta": {"tool_calls": [_SIGNED_CALL]}, "finish_reason": "tool_calls"}]}
    ],
}


@pytest.mark.parametrize("source", SIGNED_CALLS)
@pytest.mark.parametrize("target", [*SIGNED_CALLS, "anthropic", "ollama"])
def test_a_signed_call_stays_signed_where_there_is_a_place_for_it(source: str, target: str) -> None:
    relay = StreamConverter(source, target, id="x")
    made = [written for event in SIGNED_CALLS[source] for written in relay.feed(event)] + relay.close()
    lost = [loss for loss in relay.losses if loss.code == "signature"]
    assert ("SIG" in json.dumps(made), bool(lost)) == (target in SIGNED_CALLS, target not in SIGNED_CALLS)
    if target in SIGNED_CALLS:
        again = read_stream(made)
        (call,) = answer_message(again, again.info).parts
        assert call == CallPart("f", {}, ANY, ANY, signature="SIG", owner="google")


def test_a_signed_thought_and_a_hidden_one_come_after_each_other() -> None:
    thoughts = [
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "redacted_thinking", "data": "ENC"},
        {"type": "text", "text": ""},
    ]
    events = [{"type": "content_block_start", "index": at, "content_block": block} for at, block in enumerate(thoughts)]
    for at, (kind, key, text) in enumerate(
        [("thinking_delta", "thinking", "Hm."), ("signature_delta", "signature", "S")]
    ):
        events.insert(1 + at, {"type": "content_block_delta", "index": 0, "delta": {"type": kind, key: text}})
    for target, found in [("openai-chat", []), ("mistral", [("signature", "anthropic"), ("reasoning", "anthropic")])]:
        relay = StreamConverter("anthropic", target, id="x")
        made = [written for event in events for written in relay.feed(event)] + relay.close()
        assert [(loss.code, loss.detail) for loss in relay.losses] == found
        again = read_stream(made, source=target)
        thought, *cut = again  # the stream has no end
        assert type(thought).__name__ == "ReasoningDelta"
        assert {getattr(event, "kind", "") for event in cut} <= {"cut_off"}
        assert [proof.signature for proof in again.info.proofs] == ([] if found else ["S", None])


_TOKENS = [{"token": "Hi", "logprob": -0.25}, {"token": "!", "logprob": -0.5}]
WEIGHED: dict[str, list[Any]] = {
    "openai-chat": [
        {"choices": [{"index": 0, "delta": {"content": token["token"]}, "logprobs": {"content": [token]}}]}
        for token in _TOKENS
    ],
    "openai-responses": [
        {"type": "response.output_text.delta", "delta": token["token"], "logprobs": [token]} for token in _TOKENS
    ],
    "ollama": [{"model": "m", "message": {"content": token["token"]}, "logprobs": [token]} for token in _TOKENS],
    "gemini": [
        {
            "candidates": [
                {
                    "content": {"parts": [{"text": token["token"]}]},
                    "logprobsResult": {
                        "chosenCandidates": [{"token": token["token"], "logProbability": token["logprob"]}]
                    },
                }
            ]
        }
        for token in _TOKENS
    ],
}


@pytest.mark.parametrize("source", WEIGHED)
@pytest.mark.parametrize("target", [*WEIGHED, "anthropic", "cohere"])
def test_probabilities_of_tokens_are_relayed_piece_by_piece(source: str, target: str) -> None:
    relay = StreamConverter(source, target, id="x")
    (first, second) = (relay.feed(event) for event in WEIGHED[source])
    assert ("-0.25" in json.dumps(first), "-0.5" in json.dumps(second)) == ((target in WEIGHED,) * 2)
    made = first + second + relay.close()
    lost = [loss.detail for loss in relay.losses if loss.code == "answer_field"]
    again = read_stream(made)
    list(again)
    if target in WEIGHED:
        assert [(token["token"], token["logprob"]) for token in again.info.logprobs] == [("Hi", -0.25), ("!", -0.5)]
    assert lost == ([] if target in WEIGHED else ["logprobs"])


def test_fields_that_no_event_reports_are_losses_of_a_stream() -> None:
    relay = StreamConverter("openai-chat", "anthropic")
    relay.feed({"choices": [{"index": 0, "delta": {"content": "Hi"}, "weight": 1}], "system_fingerprint": "fp"})
    assert [(loss.code, loss.detail) for loss in relay.losses] == [
        ("answer_field", "choices.weight"),
        ("answer_field", "system_fingerprint"),
    ]


def test_cohere_s_pieces_of_one_token_have_a_probability() -> None:
    piece = {"text": "Hi", "token_ids": [7], "logprobs": [-0.25]}
    event = {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "Hi"}}}, "logprobs": piece}
    relay = StreamConverter("cohere", "openai-chat", id="x")
    made = relay.feed(event)
    assert '"logprob": -0.25' in json.dumps(made)
    assert [loss.detail for loss in relay.losses] == ["logprobs.token_ids"]


def test_a_call_that_changes_its_name_keeps_the_first_with_a_loss() -> None:
    relay = StreamConverter("openai-chat", "anthropic", id="x")
    for name, text in (("sky", "{"), ("sky", ""), ("sea", "}")):
        call = {"index": 0, "id": "c", "function": {"name": name, "arguments": text}}
        relay.feed({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})
    assert [(loss.code, loss.detail, loss.severity) for loss in relay.losses] == [
        ("tool_name", "sky -> sea", "meaning")
    ]
    assert "renamed_call" in {
        event.kind
        for event in read_stream(
            {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "id": "c", "function": {"name": name}}]}}]}
            for name in ("sky", "sea")
        )
        if isinstance(event, Notice)
    }


PAGE = {"url": "https://e.com/a", "title": "A", "start_index": 3, "end_index": 6}
WEB = {"type": "web_search_result_location", "url": "https://e.com/a", "title": "A", "cited_text": "x"}
FOUND = {"type": "document", "id": "d", "document": {"url": "https://e.com/a", "title": "A"}}
GROUND = {"start": 3, "end": 6, "text": "ét ", "sources": [FOUND]}
CITING: dict[str, list[Any]] = {
    "openai-chat": [
        {"choices": [{"index": 0, "delta": {"content": "In é"}}]},
        {"choices": [{"index": 0, "delta": {"content": "t 18C."}}]},
        {"choices": [{"index": 0, "delta": {"annotations": [{"type": "url_citation", "url_citation": PAGE}]}}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
    ],
    "openai-responses": [
        {"type": "response.output_text.delta", "delta": "In "},
        {"type": "response.content_part.added", "part": {"type": "output_text"}},
        {"type": "response.output_text.delta", "delta": "ét 18C."},
        {
            "type": "response.output_text.annotation.added",
            "annotation": {"type": "url_citation", **PAGE, "start_index": 0, "end_index": 3},
        },
        {"type": "response.completed", "response": {"status": "completed"}},
    ],
    "anthropic": [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "In "}},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "ét"}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "citations_delta", "citation": WEB}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": " 18C."}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
    ],
    "cohere": [
        {"type": "content-start", "index": 0, "delta": {"message": {"content": {"type": "text", "text": ""}}}},
        {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "In ét 18C."}}}},
        {"type": "citation-start", "index": 0, "delta": {"message": {"citations": GROUND}}},
        {"type": "citation-end", "index": 0},
        {"type": "message-end", "delta": {"finish_reason": "COMPLETE"}},
    ],
    "gemini-interactions": [
        {"event_type": "step.start", "index": 0, "step": {"type": "model_output", "content": []}},
        {"event_type": "step.delta", "index": 0, "delta": {"type": "text", "text": "In ét 18C."}},
        {
            "event_type": "step.delta",
            "index": 0,
            "delta": {"type": "text_annotation_delta", "annotations": [{"type": "url_citation", **PAGE}]},
        },
        {"event_type": "interaction.completed", "interaction": {"id": "i", "status": "completed"}},
    ],
    "gemini": [
        {"candidates": [{"content": {"parts": [{"text": "In ét 18C."}]}}]},
        {
            "candidates": [
                {
                    "groundingMetadata": {
                        "groundingChunks": [{"web": {"uri": "https://e.com/a", "title": "A"}}],
                        "groundingSupports": [
                            {"segment": {"startIndex": 3, "endIndex": 7}, "groundingChunkIndices": [0]}
                        ],
                    },
                    "finishReason": "STOP",
                }
            ]
        },
    ],
}
"""The same words, of which some come from a page: with accents, so that bytes are not characters."""


def relayed(source: str, target: str) -> tuple[list[Any], StreamConverter]:
    relay = StreamConverter(source, target, id="other")
    return [made for event in CITING[source] for made in relay.feed(event)] + relay.close(), relay


@pytest.mark.parametrize("source", CITING)
def test_citations_are_carried_where_the_target_has_a_place(source: str) -> None:
    end = 5 if source == "anthropic" else 6
    place = {"url": "https://e.com/a", "title": "A", "start_index": 3, "end_index": end}
    chunks, relay = relayed(source, "openai-chat")
    found = [chunk["choices"][0]["delta"].get("annotations") for chunk in chunks if chunk["choices"]]
    assert [item for item in found if item] == [[{"type": "url_citation", "url_citation": place}]]
    only_here = {"answer_field": "citations."}  # what no other form of a citation has
    assert all(loss.detail.startswith(only_here[loss.code]) for loss in relay.losses)
    events, relay = relayed(source, "openai-responses")
    (part,) = events[-1]["response"]["output"][0]["content"]
    assert (part["text"], part["annotations"]) == ("In ét 18C.", [{"type": "url_citation", **place}])
    assert [event["annotation"] for event in events if "annotation" in event] == part["annotations"]
    assert all(loss.detail.startswith(only_here[loss.code]) for loss in relay.losses)
    events, relay = relayed(source, "bedrock")
    deltas = [event["contentBlockDelta"]["delta"] for event in events if "contentBlockDelta" in event]
    assert [delta["citation"]["location"] for delta in deltas if "citation" in delta] == [
        {"web": {"url": "https://e.com/a"}}
    ]
    assert all(loss.detail.startswith(only_here[loss.code]) for loss in relay.losses)
    events, relay = relayed(source, "vercel-ui")
    assert [event["url"] for event in events if event["type"] == "source-url"] == ["https://e.com/a"]
    events, relay = relayed(source, "cohere")
    (said,) = [event["delta"]["message"]["citations"] for event in events if event["type"] == "citation-start"]
    page = {"url": "https://e.com/a", "title": "A"} | ({"snippet": "x"} if source == "anthropic" else {})
    assert said["sources"] in (
        [{"type": "document", "id": "https://e.com/a", "document": page}],
        [{"type": "document", "id": "d", "document": page}],
    )
    assert (said["start"], said["end"]) == (3, end)
    assert all(loss.detail.startswith(only_here[loss.code]) for loss in relay.losses)
    events, relay = relayed(source, "gemini-interactions")
    deltas = [event["delta"] for event in events if event["event_type"] == "step.delta"]
    assert [delta["annotations"] for delta in deltas if "annotations" in delta] == [[{"type": "url_citation", **place}]]
    assert all(loss.detail.startswith(only_here[loss.code]) for loss in relay.losses)
    for target in ("mistral", "ollama", "anthropic"):
        if (source, target) != ("anthropic", "anthropic"):
            assert [loss.code for loss in relayed(source, target)[1].losses] == ["citations"]


def test_an_answer_s_message_names_its_sources() -> None:
    for source, stream in CITING.items():
        events = read_stream(stream, source=source)
        (text,) = answer_message(events, events.info).parts
        assert isinstance(text, TextPart)
        assert len(text.citations) == 1


def test_a_proof_of_claude_s_goes_through_bedrock() -> None:
    delta = {"type": "thinking_delta", "thinking": "Hm."}
    stream = [
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "EqQB"}},
    ]
    there = StreamConverter("anthropic", "bedrock")
    back = StreamConverter("bedrock", "anthropic")
    events = [made for event in stream for made in there.feed(event)] + there.close()
    found = [made for event in events for made in back.feed(event)] + back.close()
    deltas = [event["delta"] for event in found if event["type"] == "content_block_delta"]
    assert deltas == [delta, {"type": "signature_delta", "signature": "EqQB"}]


@recorded
@every_target
def test_recorded_streams_reach_every_target(target: str) -> None:
    for row in map(json.loads, gzip.decompress(RECORDED.read_bytes()).splitlines()):
        if not isinstance(row["response"], str) or row["response"].startswith("{"):
            continue
        reader, relay = EventText(), StreamConverter(row["fmt"], target)
        values = [json.loads(data) for data in reader.feed(row["response"]) + reader.close()]
        found = [made for value in values for made in relay.feed(value)] + relay.close()
        if row["fmt"] == target:
            assert found == values
        if target in ANSWERS:
            before, after = said(values, row["fmt"]), said(found, target)
            assert after.text == before.text, row["id"]
            assert after.reasoning == before.reasoning, row["id"]
            assert [call.arguments for call in after.calls] == [call.arguments for call in before.calls], row["id"]


def test_a_thought_that_is_hidden_is_a_loss_of_reasoning() -> None:
    relay = StreamConverter("anthropic", "ollama")
    block = {"type": "redacted_thinking", "data": "ZGF0"}
    relay.feed({"type": "content_block_start", "index": 0, "content_block": block})
    relay.close()
    assert [(loss.code, loss.severity) for loss in relay.losses] == [("reasoning", "content")]


def test_a_page_without_an_address_is_no_url_citation() -> None:
    chunk = {"retrievedContext": {"title": "paris.txt", "text": "Paris."}}
    support = {"segment": {"endIndex": 5}, "groundingChunkIndices": [0]}
    grounds = {"groundingChunks": [chunk], "groundingSupports": [support]}
    content = {"role": "model", "parts": [{"text": "Paris"}]}
    relay = StreamConverter("gemini", "openai-responses")
    made = relay.feed({"candidates": [{"content": content, "groundingMetadata": grounds, "finishReason": "STOP"}]})
    assert "url_citation" not in json.dumps([*made, *relay.close()])
    assert [loss.code for loss in relay.losses] == ["citations"]


@pytest.mark.parametrize(
    ("source", "first"),
    [
        ("anthropic", {"type": "message_start", "message": {"id": "m", "model": "m"}}),
        ("cohere", {"type": "message-start", "id": "m", "delta": {"message": {"role": "assistant"}}}),
        ("bedrock", {"messageStart": {"role": "assistant"}}),
    ],
)
def test_an_event_that_a_provider_added_is_a_loss(source: str, first: dict[str, Any]) -> None:
    relay = StreamConverter(source, "openai-chat")
    with pytest.raises(ParseError, match="event 0"):
        relay.feed({"type": "martian"})
    relay.feed(first)
    for event in ({"type": "martian"}, {"martian": {"x": 1}}):
        relay.feed(event)
    assert [(loss.code, loss.detail) for loss in relay.losses] == [("provider_part", "event martian")]
    with pytest.raises(ParseError, match="event 3"):
        relay.feed({"colour": "red", "size": 1})


def test_an_error_at_the_end_of_cohere_s_stream_is_one() -> None:
    relay = StreamConverter("cohere", "openai-chat")
    relay.feed({"type": "message-end", "delta": {"finish_reason": "ERROR", "error": "Overloaded."}})
    (error,) = [event["error"] for event in relay.close() if "error" in event]
    assert error["message"] == "Overloaded."


@pytest.mark.parametrize(
    ("source", "events", "key"),
    [
        ("openai-chat", [{"choices": [{"index": 0, "delta": {"content": "Hi", "novel": 1}}]}], "choices.delta.novel"),
        (
            "anthropic",
            [{"type": "message_delta", "delta": {"stop_reason": "end_turn", "container": {"id": "c"}}}],
            "delta.container",
        ),
        ("bedrock", [{"metadata": {"usage": {}, "trace": {"guardrail": {"a": 1}}}}], "metadata.trace"),
        (
            "gemini",
            [{"promptFeedback": {"blockReason": "SAFETY", "blockReasonMessage": "No."}}],
            "promptFeedback.blockReasonMessage",
        ),
        (
            "cohere",
            [{"type": "content-delta", "index": 0, "delta": {"message": {}}, "logprobs": {"token_ids": [1]}}],
            "logprobs.token_ids",
        ),
        (
            "gemini-interactions",
            [{"event_type": "interaction.completed", "interaction": {"status": "completed", "labels": {"a": "b"}}}],
            "interaction.labels",
        ),
    ],
)
def test_what_a_stream_says_beside_its_events_is_a_loss(source: str, events: list[Any], key: str) -> None:
    relay = StreamConverter(source, "ollama" if source == "openai-chat" else "openai-chat", id="x")
    for event in events:
        relay.feed(event)
    relay.close()
    assert ("answer_field", key) in [(loss.code, loss.detail) for loss in relay.losses]


REFUSED = {"choices": [{"index": 0, "delta": {"refusal": "No."}}]}
FREE_TEXT = {"type": "custom_tool_call", "call_id": "c", "name": "run", "input": "ls"}
SPACED = {"type": "function_call", "call_id": "c", "name": "run", "arguments": "{}", "namespace": "shop"}


@pytest.mark.parametrize(
    ("source", "event", "code", "keeps"),
    [
        ("openai-chat", REFUSED, "refusal", {"openai-responses"}),
        ("openai-responses", FREE_TEXT, "call_kind", {"openai-chat"}),
        ("openai-responses", SPACED, "namespace", set[str]()),
    ],
)
@pytest.mark.parametrize("target", ["anthropic", "gemini", "mistral", "openai-chat", "openai-responses"])
def test_a_stream_loses_no_meaning_without_a_word(
    source: str, event: dict[str, Any], code: str, keeps: set[str], target: str
) -> None:
    if source == target:
        return
    relay = StreamConverter(source, target)
    for one in (event,) if source == "openai-chat" else item_events(event):
        relay.feed(one)
    relay.close()
    assert (code in {loss.code for loss in relay.losses}) == (target not in keeps)


def item_events(item: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "input": "", "arguments": ""}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
    ]


@pytest.mark.parametrize("call", [False, True])
def test_a_stream_that_ends_without_a_reason_is_whole(call: bool) -> None:  # noqa: FBT001
    asked = {"index": 0, "id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    delta = {"role": "assistant", "content": "Hi."} | ({"tool_calls": [asked]} if call else {})
    text = f"data: {json.dumps({'object': 'chat.completion.chunk', 'choices': [{'index': 0, 'delta': delta}]})}\n\n"
    for done in (True, False):
        relay = StreamConverter("openai-chat", "anthropic", id="m")
        out = relay.feed_text(text) + relay.feed_text("data: [DONE]\n\n" if done else "") + relay.close_text()
        assert ("message_stop" in out, relay.info.error is None) == (done, done)
        assert [(one.code, one.detail) for one in relay.losses] == ([("ending", "unstated")] if done else [])
        if done:
            assert f'"stop_reason":"{"tool_use" if call else "end_turn"}"' in out
    read = read_stream([text + "data: [DONE]\n\n"])
    events = list(read)
    assert [one.name for one in ParseResult(tuple(events)).calls] == (["f"] if call else [])
    assert [one.kind for one in events if isinstance(one, Notice)] == ["no_reason"]
