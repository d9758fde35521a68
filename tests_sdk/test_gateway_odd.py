"""Odd requests that each API takes: what a client gets back is in its own words."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest
from gateways import SCHEMA, before, gateway
from loopback import Answer, Body, serving

from toolfmt import read_answer, read_stream
from toolfmt.conversation import CallPart
from toolfmt.events import CallEnd
from toolfmt.gateway.config import Back, Config, ModelRoute

USER = {"role": "user", "content": "Weather?"}
NAMES = ("files.read", "files/read", "files_read")
NAMED = SCHEMA | {"properties": {"city": {"type": "string"}, "name": {"type": "string"}}}
FUNCTIONS = [{"name": name, "parameters": NAMED} for name in NAMES]
VALUE = {"city": "Bern", "name": "files_read"}
ASKS: dict[str, tuple[str, Any]] = {
    "openai-chat": (
        "/v1/chat/completions",
        {"messages": [USER], "tools": [{"type": "function", "function": one} for one in FUNCTIONS]},
    ),
    "openai-responses": ("/v1/responses", {"input": "Hi", "tools": [{"type": "function", **one} for one in FUNCTIONS]}),
    "ollama": (
        "/api/chat",
        {"messages": [USER], "tools": [{"type": "function", "function": one} for one in FUNCTIONS]},
    ),
}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("api", ["anthropic", "text"])
@pytest.mark.parametrize("face", ASKS)
def test_a_client_gets_its_own_names_of_tools_back(face: str, api: str, stream: bool) -> None:  # noqa: FBT001 - a parameter
    """A back that allows fewer characters is sent other names, each of which comes back as the client's."""
    path, body = ASKS[face]
    with serving(Answer("Hi.")) as upstream, gateway(before(upstream, api, retries=0)) as url:
        asked = {"model": "m", **body, "stream": stream}
        httpx2.post(url + path, json=asked, timeout=60)
        sent = json.dumps(upstream.requests[0].body)
        made = [word for word in sent.replace("\\", "").split('"') if word.startswith("files")]
        theirs = list(dict.fromkeys(word for word in made if word not in {"files.read", "files/read"}))
        assert len(theirs) == 3, theirs
        for name in theirs:
            text = f"<tool_call>{json.dumps({'name': name, 'arguments': VALUE})}</tool_call>"
            called = Answer(text) if api == "text" else Answer("", (CallPart(name, VALUE, json.dumps(VALUE), "c1"),))
            upstream.script.append(called)
        got: list[str] = []
        for _ in theirs:
            answer = httpx2.post(url + path, json=asked, timeout=60)
            lines = [line.removeprefix("data: ") for line in answer.text.splitlines() if line[:1] in {"d", "{"}]
            events = [json.loads(line) for line in lines if line != "[DONE]"]
            read = read_stream(events, source=face) if stream else read_answer(answer.json()).events
            (call,) = (event.call for event in read if isinstance(event, CallEnd))
            assert call.arguments == VALUE
            got.append(call.name)
    assert sorted(got) == sorted(NAMES)


def test_a_conversation_without_words_is_refused_plainly() -> None:
    with serving(Answer("Hi.")) as upstream, gateway(before(upstream, "anthropic")) as url:
        body = {"model": "m", "messages": [{"role": "user", "content": ""}]}
        response = httpx2.post(f"{url}/v1/chat/completions", json=body)
    assert response.status_code == 400
    assert "the request cannot be converted" in response.json()["error"]["message"]
    assert not upstream.requests


@pytest.mark.parametrize("api", ["openai-chat", "anthropic"])
def test_a_stream_of_several_answers_is_one_and_says_so(api: str) -> None:
    body = {"model": "m", "messages": [USER], "n": 2, "stream": True}
    with serving(Answer("Hi.")) as upstream:
        with gateway(before(upstream, api)) as url:
            response = httpx2.post(f"{url}/v1/chat/completions", json=body)
        with gateway(before(upstream, api).model_copy(update={"strict": True})) as url:
            refused = httpx2.post(f"{url}/v1/chat/completions", json=body)
    assert "Hi." in response.text
    assert "setting" in response.headers["x-toolfmt-losses"]
    assert upstream.requests[0].body.get("n", 1) == 1
    assert (refused.status_code, len(upstream.requests)) == (400, 1)
    assert "a stream holds one answer" in refused.json()["error"]["message"]


@pytest.mark.parametrize(
    ("path", "field", "body"),
    [
        ("/v1/responses", "previous_response_id", {"input": "And tomorrow?"}),
        ("/v1/responses", "conversation", {"input": "And tomorrow?"}),
        (
            "/v1beta/models/m:generateContent",
            "cachedContent",
            {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]},
        ),
    ],
)
def test_a_reference_that_nobody_resolves_is_refused(path: str, field: str, body: dict[str, Any]) -> None:
    with serving(Answer("Hi.")) as upstream, gateway(before(upstream, "openai-chat")) as url:
        response = httpx2.post(url + path, json={"model": "m", **body, field: "resp_unknown"})
    assert response.status_code == 400
    message = response.json()["error"]["message"]
    assert f"{field}: neither the upstream nor the gateway keeps" in message
    assert ("set `store`" in message) is (field == "previous_response_id")
    assert not upstream.requests


def test_models_of_an_upstream_that_is_down_are_an_error(caplog: pytest.LogCaptureFixture) -> None:
    back = Back(url="http://127.0.0.1:9/v1", connect_timeout=2)
    with gateway(Config(backs={"it": back}, routes=(ModelRoute(backs=("it",)),))) as url:
        response = httpx2.get(f"{url}/v1/models")
        asked = httpx2.post(f"{url}/v1/messages", json={"model": "m", "max_tokens": 9, "messages": [USER]})
    assert (response.status_code, asked.status_code) == (502, 502)
    assert asked.json()["error"]["message"] == "the upstream cannot be reached"
    assert "http://127.0.0.1:9/v1: All connection attempts failed" in caplog.text  # for the operator alone


def test_log_probabilities_reach_the_client() -> None:
    told = {"content": [{"token": "Hi", "logprob": -0.1, "bytes": None, "top_logprobs": []}]}
    message = {"role": "assistant", "content": "Hi"}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": told}
    answer = Body(200, json.dumps({"object": "chat.completion", "choices": [choice]}))
    body = {"model": "m", "messages": [USER], "logprobs": True}
    with serving(answer) as upstream, gateway(before(upstream, "openai-chat")) as url:
        whole = httpx2.post(f"{url}/v1/chat/completions", json=body)
    with serving(Answer("Hi.")) as upstream, gateway(before(upstream, "openai-chat")) as url:
        stream = httpx2.post(f"{url}/v1/chat/completions", json=body | {"stream": True})
    assert whole.json()["choices"][0]["logprobs"] == told
    assert "x-toolfmt-losses" not in whole.headers
    assert "x-toolfmt-losses" not in stream.headers
