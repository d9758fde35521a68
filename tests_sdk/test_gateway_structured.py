"""Answers in JSON and strict tools of models that only write text, asked for by the official SDKs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx2
import llguidance
import pytest
from anthropic import Anthropic
from gateways import SCHEMA, before, gateway
from google import genai
from google.genai.types import GenerateContentConfig, HttpOptions
from loopback import Answer, Body, serving
from ollama import Client as OllamaClient
from openai import OpenAI

from toolfmt.gateway.handling import NOTICES

CITY: Any = {**SCHEMA, "additionalProperties": False}
GOOD = Answer('{"city": "Zürich"}')
FENCED = Answer('```json\n{"city": "Zürich"}\n```')
THOUGHT = Answer('<think>A {"city": ...}, then.</think>\n{"city": "Zürich"}')
WRONG = Answer('Sure! {"town": "Zürich"}')
CALL = '<tool_call>\n{"name": "look", "arguments": %s}\n</tool_call>'


def by_chat(url: str, *, stream: bool) -> str:
    form: Any = {"type": "json_schema", "json_schema": {"name": "city", "schema": CITY, "strict": True}}
    with OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
        asked: Any = {"model": "m", "messages": [{"role": "user", "content": "Where?"}], "response_format": form}
        if not stream:
            return client.chat.completions.create(**asked).choices[0].message.content or ""
        with client.chat.completions.stream(**asked) as events:
            return events.get_final_completion().choices[0].message.content or ""


def by_responses(url: str, *, stream: bool) -> str:
    form: Any = {"format": {"type": "json_schema", "name": "city", "schema": CITY, "strict": True}}
    with OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
        asked: Any = {"model": "m", "input": "Where?", "text": form}
        if not stream:
            return client.responses.create(**asked).output_text
        with client.responses.stream(**asked) as events:
            return events.get_final_response().output_text


def by_anthropic(url: str, *, stream: bool) -> str:
    with Anthropic(base_url=url, api_key="none", max_retries=0) as client:
        asked: Any = {
            "model": "m",
            "max_tokens": 100,
            "messages": [{"role": "user", "content": "Where?"}],
            "output_config": {"format": {"type": "json_schema", "schema": CITY}},
        }
        if not stream:
            message: Any = client.messages.create(**asked)
        else:
            with client.messages.stream(**asked) as events:
                message = events.get_final_message()
        return "".join(block.text for block in message.content if block.type == "text")


def by_gemini(url: str, *, stream: bool) -> str:
    with genai.Client(api_key="none", http_options=HttpOptions(base_url=url)) as client:
        config = GenerateContentConfig(response_mime_type="application/json", response_json_schema=CITY)
        asked: Any = {"model": "m", "contents": "Where?", "config": config}
        if not stream:
            return client.models.generate_content(**asked).text or ""
        return "".join(one.text or "" for one in client.models.generate_content_stream(**asked))


def by_ollama(url: str, *, stream: bool) -> str:
    with OllamaClient(host=url) as client:
        said: Any = client.chat("m", [{"role": "user", "content": "Where?"}], format=CITY, stream=stream)
        return "".join(one.message.content or "" for one in (said if stream else [said]))


FACES: dict[str, Callable[..., str]] = {
    "openai-chat": by_chat,
    "openai-responses": by_responses,
    "anthropic": by_anthropic,
    "gemini": by_gemini,
    "ollama": by_ollama,
}
HELD: dict[str, Callable[[Any], str]] = {
    "llguidance": lambda body: body["grammar"],
    "llama.cpp": lambda body: body["grammar"],
    "vllm": lambda body: body["structured_outputs"]["structural_tag"],
    "sglang": lambda body: json.dumps(body["response_format"]),
}
"""Where each server takes its grammar."""


def fits(grammar: str, text: str) -> bool:
    tokens = llguidance.LLTokenizer("byte")
    found = llguidance.LLMatcher(tokens, grammar)
    said = tokens.tokenize_bytes(text.encode())
    return found.try_consume_tokens(said) == len(said) and found.is_accepting()


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("said", [GOOD, FENCED, THOUGHT], ids=["plain", "fenced", "thought"])
def test_an_answer_in_json_is_json_and_nothing_else(said: Answer, face: str, stream: bool) -> None:  # noqa: FBT001 - a parameter of the test
    with serving(WRONG, said) as upstream, gateway(before(upstream, "text")) as url:
        assert json.loads(FACES[face](url, stream=stream)) == {"city": "Zürich"}
    first, second = (asked.body for asked in upstream.requests)
    assert '"city"' in first["messages"][0]["content"]
    assert first["response_format"]["type"] == "json_schema"  # the server may know it itself
    assert "does not fit its schema" in second["messages"][-1]["content"]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("constraint", HELD)
def test_a_server_with_grammars_is_sent_one(constraint: str, stream: bool) -> None:  # noqa: FBT001 - as above
    with serving(GOOD) as upstream, gateway(before(upstream, "text", constraint=constraint)) as url:
        assert json.loads(by_chat(url, stream=stream)) == {"city": "Zürich"}
    (asked,) = upstream.requests
    made = HELD[constraint](asked.body)
    assert "city" in made.replace("[", "").replace("] ", "")
    assert ("response_format" in asked.body) == (constraint == "sglang")
    if constraint == "llguidance":
        assert fits(made, GOOD.text)
        assert not fits(made, WRONG.text)


def body(**more: Any) -> Any:
    return {"model": "m", "messages": [{"role": "user", "content": "Where?"}], **more}


def schema(*, strict: bool) -> Any:
    return {"type": "json_schema", "json_schema": {"name": "city", "schema": CITY, "strict": strict}}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_what_never_fits_is_an_error_where_the_schema_is_strict(stream: bool) -> None:  # noqa: FBT001 - as above
    with serving(WRONG) as upstream, gateway(before(upstream, "text")) as url:
        path = f"{url}/v1/chat/completions"
        strict = httpx2.post(path, json=body(response_format=schema(strict=True), stream=stream))
        loose = httpx2.post(
            path, json=body(response_format=schema(strict=False), stream=stream), headers={NOTICES: "yes"}
        )
    assert len(upstream.requests) == 6
    assert strict.status_code >= 500
    assert "does not fit its schema" in strict.text
    assert "own" in loose.text  # in pieces of three letters where it is streamed
    noticed = loose.text if stream else loose.headers[NOTICES]
    assert "asked=3, output=unmet" in noticed


def test_an_answer_that_was_cut_off_is_given_as_it_is() -> None:
    cut = {"choices": [{"index": 0, "message": {"role": "assistant", "content": '{"ci'}, "finish_reason": "length"}]}
    with serving(Body(200, json.dumps(cut))) as upstream, gateway(before(upstream, "text")) as url:
        said = httpx2.post(f"{url}/v1/chat/completions", json=body(response_format=schema(strict=True))).json()
    assert (said["choices"][0]["message"]["content"], said["choices"][0]["finish_reason"]) == ('{"ci', "length")
    assert len(upstream.requests) == 1


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_model_with_tools_may_call_one_or_answer_in_json(stream: bool) -> None:  # noqa: FBT001 - as above
    tools = [{"type": "function", "function": {"name": "look", "parameters": SCHEMA}}]
    asked = body(response_format=schema(strict=True), tools=tools, stream=stream)
    with (
        serving(Answer(CALL % '{"city": "Bern"}'), WRONG, FENCED) as upstream,
        gateway(before(upstream, "text", constraint="llguidance", dialect="hermes")) as url,
    ):
        called, said = (httpx2.post(f"{url}/v1/chat/completions", json=asked).text for _ in range(2))
    assert "tool_calls" in called
    assert "tool_calls" not in said
    assert "Sure" not in said or stream  # what a grammar holds is streamed as it is written
    grammar = upstream.requests[0].body["grammar"]
    assert fits(grammar, CALL % '{"city": "Bern"}')
    assert fits(grammar, GOOD.text)
    assert not fits(grammar, "Hi")


@pytest.mark.parametrize("retries", [0, 1])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_strict_tool_is_never_called_with_what_does_not_fit(retries: int, stream: bool) -> None:  # noqa: FBT001 - as above
    function: Any = {"name": "look", "parameters": CITY, "strict": True}
    asked = body(tools=[{"type": "function", "function": function}], stream=stream)
    wrong = Answer(CALL % '{"town": "Bern"}')
    with serving(wrong) as upstream, gateway(before(upstream, "text", retries=retries, constraint="llguidance")) as url:
        response = httpx2.post(f"{url}/v1/chat/completions", json=asked)
    begun = stream and retries  # a grammar holds the call, which is streamed as it is written
    rule = "the grammar that its server was sent" if begun else "a strict schema"
    assert len(upstream.requests) == (1 if begun else retries + 1)
    assert f"does not fit {rule}: look: " in response.text
    assert '"finish_reason": "tool_calls"' not in response.text.replace('":"', '": "')
    grammar = upstream.requests[0].body["grammar"]
    assert fits(grammar, CALL % '{"city": "Bern"}')
    assert fits(grammar, "Hello.")
    assert not fits(grammar, wrong.text)


def test_what_was_tolerated_is_noticed() -> None:
    tools = [{"type": "function", "function": {"name": "look", "parameters": SCHEMA}}]
    slip = Answer(CALL % "{'city': 'Bern'}")
    with serving(slip) as upstream, gateway(before(upstream, "text", dialect="hermes")) as url:
        whole = httpx2.post(f"{url}/v1/chat/completions", json=body(tools=tools))
        stream = httpx2.post(
            f"{url}/v1/chat/completions", json=body(tools=tools, stream=True), headers={NOTICES: "yes"}
        )
        quiet = httpx2.post(f"{url}/v1/chat/completions", json=body(tools=tools, stream=True))
    assert "tool_calls" in whole.text
    assert whole.headers[NOTICES] == "repaired_json=1"
    assert f": {NOTICES}: repaired_json=1\n\ndata: [DONE]" in stream.text
    assert NOTICES not in quiet.text
