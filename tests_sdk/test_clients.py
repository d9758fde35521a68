"""The official SDKs' clients over loopback: what they send, what comes back, what goes wrong."""

from __future__ import annotations

import json
from contextlib import aclosing, nullcontext
from functools import partial
from socket import socket
from typing import Any

import anyio
import pytest
from loopback import Answer, Body, serving
from sdks import CASES, Case, openai_async

from toolfmt import CallEnd, convert, jsontext
from toolfmt.agents.clients import anthropic_messages, openai_chat, text_model
from toolfmt.conversation import CallPart
from toolfmt.errors import DriverError
from toolfmt.transcripts.answering.answer_info import Usage
from toolfmt.transcripts.answers import answered

SCHEMA = {
    "type": "object",
    "$defs": {"point": {"type": "object", "properties": {"x": {"type": "integer", "minimum": 3}}}},
    "properties": {
        "cities": {
            "type": "array",
            "items": {"type": "object", "properties": {"n": {"type": "string"}}},
            "minItems": 1,
        },
        "at": {"$ref": "#/$defs/point"},
        "unit": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        "more": {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]},
    },
    "required": ["cities"],
    "additionalProperties": False,
}
CALLS = [
    {"id": "a1b2c3d4e", "type": "function", "function": {"name": "look", "arguments": '{"cities": [{"n": "Zürich"}]}'}},
    {"id": "b1b2c3d4e", "type": "function", "function": {"name": "look", "arguments": '{"big": 12345678901234567890}'}},
]
TALK = {
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": None, "tool_calls": CALLS},
        {"role": "tool", "tool_call_id": "a1b2c3d4e", "content": "18C"},
        {"role": "tool", "tool_call_id": "b1b2c3d4e", "content": "20C"},
    ],
    "tools": [{"type": "function", "function": {"name": "look", "description": "Look.", "parameters": SCHEMA}}],
}
PAIR = Answer("Let me look. ", (CallPart("look", {"city": "Zürich"}, id="a1"), CallPart("look", {}, id="b2")))


def request_of(case: Case) -> Any:
    return convert(TALK, source="openai-chat", target=case.format).value


def ask(case: Case, url: str, *, stream: bool, into: list[object] | None = None, **further: Any) -> list[object]:
    """Send the talk as a request and give the events; those before an error are in `into`."""
    came: list[object] = [] if into is None else into

    async def asked() -> None:
        async with (
            case.open(url) as client,
            aclosing(client.send({**request_of(case), **further}, stream=stream)) as events,
        ):
            async for event in events:
                came.append(event)  # noqa: PERF401 - what came before an error counts

    anyio.run(asked)
    return came


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]


@pytest.mark.parametrize("stream", [False, True])
def test_a_request_arrives_whole_and_its_answer_is_read(case: Case, *, stream: bool) -> None:
    with serving(PAIR) as server:
        events = ask(case, server.url, stream=stream)
    sent, request = server.requests[0].body, request_of(case)
    assert [key for key in request if key not in sent or not within(request[key], sent[key])] == []
    assert sent.keys() - request.keys() <= {"model", "stream", "stream_options", "max_tokens", "generationConfig"}
    assert (len(events) > 2) is stream
    read = answered(events)
    calls = [event.call for event in read if isinstance(event, CallEnd)]
    assert [(call.name, call.arguments) for call in calls] == [("look", {"city": "Zürich"}), ("look", {})]
    assert read.info.usage == Usage(input=12, output=9)


def within(asked: Any, sent: Any) -> bool:
    """Whether all that was asked was sent; an SDK may add defaults of its own."""
    if isinstance(asked, dict):
        return isinstance(sent, dict) and all(key in sent and within(asked[key], sent[key]) for key in asked)
    if isinstance(asked, list):
        return isinstance(sent, list) and len(asked) == len(sent) and all(map(within, asked, sent))
    return jsontext.equal(asked, sent)


def test_what_an_sdk_does_not_know_goes_along_or_is_refused(case: Case) -> None:
    with serving(Answer("Hi")) as server:
        refused = case.format == "mistral"  # whose SDK has no argument for it
        with pytest.raises(TypeError, match="further") if refused else nullcontext():
            ask(case, server.url, stream=True, further={"a": [1, None]})
    assert refused or server.requests[0].body["further"] == {"a": [1, None]}


FAULTS = {
    "slow down": (Body(429, headers={"retry-after": "2"}), 429, True, True),
    "broken": (Body(500), 500, True, False),
    "refused": (Body(400, '{"error": {"message": "tools.0: bad schema"}}'), 400, False, True),
    "page": (Body(502, "<html>Bad gateway</html>", media="text/html"), 502, True, False),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_an_error_of_the_server_is_reported(case: Case, fault: str) -> None:
    reply, status, retryable, stream = FAULTS[fault]
    with serving(reply) as server, pytest.raises(DriverError) as caught:
        ask(case, server.url, stream=stream)
    error = caught.value
    assert (error.status, error.retryable) == (status, retryable)
    assert error.__cause__ is not None
    words = "Bad gateway" if fault == "page" else json.loads(reply.body)["error"]["message"]
    assert words in str(error)
    assert str(error).startswith(case.format)
    kept = case.format != "ollama"  # whose error has no headers
    assert error.retry_after == (2.0 if fault == "slow down" and kept else None)


def sse(value: Any, name: str = "") -> Body:
    return Body(200, (f"event: {name}\n" if name else "") + f"data: {json.dumps(value)}\n\n", media="text/event-stream")


IN_STREAMS = {
    "openai-chat": sse({"error": {"message": "too much to do", "type": "server_error"}}),
    "openai-chat, sync": sse({"error": {"message": "too much to do", "code": "rate_limit_exceeded"}}),
    "anthropic": sse({"type": "error", "error": {"type": "overloaded_error", "message": "too much to do"}}, "error"),
    "gemini": sse({"error": {"code": 503, "message": "too much to do", "status": "UNAVAILABLE"}}),
}


@pytest.mark.parametrize("name", IN_STREAMS)
def test_an_error_within_a_stream_is_reported(name: str) -> None:
    with serving(IN_STREAMS[name]) as server, pytest.raises(DriverError, match="too much to do") as caught:
        ask(CASES[name], server.url, stream=True)
    assert caught.value.retryable


def test_ollama_s_error_within_a_stream_is_reported() -> None:
    fault = Body(200, json.dumps({"error": "too much to do"}) + "\n", media="application/x-ndjson")
    with serving(fault) as server, pytest.raises(DriverError, match="too much to do"):
        ask(CASES["ollama"], server.url, stream=True)


@pytest.mark.parametrize("stream", [False, True])
def test_what_is_no_json_is_reported(case: Case, *, stream: bool) -> None:
    media = "text/event-stream" if stream else "application/json"
    with serving(Body(200, "data: { no json\n\n", media=media)) as server, pytest.raises(DriverError):
        ask(case, server.url, stream=stream)


def test_nobody_there_is_worth_another_try(case: Case) -> None:
    with socket() as unheard:
        unheard.bind(("127.0.0.1", 0))
        port = unheard.getsockname()[1]
        with pytest.raises(DriverError) as caught:
            ask(case, f"http://127.0.0.1:{port}", stream=True)
    assert (caught.value.status, caught.value.retryable) == (None, True)


def test_a_stream_that_is_cut_is_an_error_after_what_came(case: Case) -> None:
    came: list[object] = []
    with serving(Answer("Let me look at it. ", drop=3)) as server, pytest.raises(DriverError) as caught:
        ask(case, server.url, stream=True, into=came)
    assert len(came) >= 2
    assert caught.value.retryable


@pytest.mark.parametrize("name", sorted(CASES.keys() - {"gemini"}))  # whose SDK leaves it to the garbage collector
def test_closing_early_closes_the_response(name: str) -> None:
    case = CASES[name]
    with serving(Answer("Let me look at it. ", hang=5)) as server:

        async def first() -> bool:
            async with case.open(server.url) as client:
                async with aclosing(client.send(request_of(case), stream=True)) as events:
                    assert await anext(events)
                return await anyio.to_thread.run_sync(server.left.wait, 5)

        assert anyio.run(first)


@pytest.mark.parametrize("name", ["openai-chat", "openai-chat, sync", "gemini, sync"])
def test_being_cancelled_closes_the_response(name: str) -> None:
    """The thread of a blocking client waits on for the next event: it comes, and the response is closed."""
    case = CASES[name]
    with serving(Answer("Let me look at it. ", hang=5)) as server:

        async def cancelled() -> bool:
            async with case.open(server.url) as client:
                with anyio.move_on_after(0.3) as scope:
                    async with aclosing(client.send(request_of(case), stream=True)) as events:
                        async for _ in events:
                            pass
                server.resumed.set()
                assert scope.cancelled_caught
                return await anyio.to_thread.run_sync(server.left.wait, 5)

        assert anyio.run(cancelled)


def test_options_are_defaults_and_none_leaves_out() -> None:
    chat = partial(openai_chat, model="m", temperature=0, stream_options=None, top_k=4, stream=False)
    case = Case("openai-chat", openai_async, chat)
    with serving(Answer("Hi")) as server:
        ask(case, server.url, stream=True, temperature=1)
        ask(case, server.url, stream=False, model="n")
    first, second = (asked.body for asked in server.requests)
    assert (first["temperature"], first["top_k"], first["model"]) == (1, 4, "m")
    assert (second["temperature"], second["top_k"], second["model"]) == (0, 4, "n")
    assert "stream_options" not in {**first, **second}
    assert (first["stream"], second.get("stream", False)) == (True, False)


def test_a_client_of_another_api_is_refused() -> None:
    with pytest.raises(TypeError, match=r"anthropic.*messages\.create.*object"):
        anthropic_messages(object(), model="m", max_tokens=1)


def written(case: Case, url: str) -> list[str]:
    chat = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]

    async def asked() -> list[str]:
        async with case.open(url) as client:
            return [text async for text in text_model(client).write(chat)]

    return anyio.run(asked)


def test_an_api_as_a_text_model(case: Case) -> None:
    with serving(Answer("Let me look.")) as server:
        texts = written(case, server.url)
    assert "".join(texts) == "Let me look."
    assert len(texts) > 1
    assert "tools" not in server.requests[0].body


def test_calls_that_an_api_reads_itself_are_no_text(case: Case) -> None:
    with serving(PAIR) as server, pytest.raises(DriverError, match="read a call by itself"):
        written(case, server.url)
