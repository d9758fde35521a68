"""What a gateway says at paths that it does not serve, whether it takes requests, and what it sends to each back."""

from __future__ import annotations

import json
import logging
import re
from functools import partial
from typing import Any

import anyio
import httpx2
import pytest
from anthropic import Anthropic
from gateways import CALL, SCHEMA, TEXT_CALL, before, gateway
from google import genai
from loopback import Answer, serving
from ollama import Client as OllamaClient
from openai import OpenAI
from pydantic import ValidationError

from toolfmt.cli.serve import client_settings
from toolfmt.gateway.config import Back, Config
from toolfmt.gateway.pools import Pools
from toolfmt.transcripts.answering.failures import read_error

USER = {"role": "user", "content": "Weather?"}
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": SCHEMA}}]


@pytest.mark.parametrize(
    ("path", "headers", "keys"),
    [
        ("/v1/embeddings", {}, {"message", "type", "param", "code"}),
        ("/v1/files", {"anthropic-version": "2023-06-01"}, {"type", "message"}),
        ("/v1/files", {"x-api-key": "none"}, {"type", "message"}),
        ("/v1/files", {"x-goog-api-key": "none"}, {"code", "message", "status"}),
        ("/v1/message", {}, {"type", "message"}),
        ("/v1/messages/batches", {}, {"type", "message"}),
        ("/v1/chat/completion", {}, {"message", "type", "param", "code"}),
        ("/v1beta/files", {}, {"code", "message", "status"}),
        ("/v1beta/interactions/1/cancel", {}, {"code", "message"}),
    ],
)
def test_a_path_that_is_not_there_is_an_error_of_the_clients_api(
    path: str, headers: dict[str, str], keys: set[str]
) -> None:
    with serving(CALL) as upstream, gateway(before(upstream, "openai-chat")) as url:
        response = httpx2.post(url + path, json={}, headers=headers)
        wrong_method = httpx2.get(f"{url}/v1/chat/completions")
        ollama = httpx2.post(f"{url}/api/pull", json={})
    assert (response.status_code, response.json()["error"].keys()) == (404, keys)
    assert path in read_error(response.json()).message
    assert (wrong_method.status_code, wrong_method.json()["error"]["type"]) == (405, "invalid_request_error")
    assert wrong_method.headers["allow"] == "POST"
    assert (ollama.status_code, ollama.json()) == (404, {"error": "Not Found: POST /api/pull"})


def test_the_server_says_that_it_takes_requests() -> None:
    with serving(CALL) as upstream, gateway(before(upstream, "openai-chat")) as url:
        assert [httpx2.get(f"{url}/{path}").json()["status"] for path in ("health", "ready")] == ["ok", "ready"]


@pytest.mark.parametrize(
    ("api", "sent"),
    [
        ("openai-chat", {"max_completion_tokens": 50}),
        ("text", {"max_tokens": 50, "top_k": 4}),
        ("vllm", {"max_tokens": 50, "top_k": 4}),
    ],
)
def test_a_back_is_sent_what_it_takes(api: str, sent: dict[str, Any]) -> None:
    body = {"model": "m", "messages": [USER], "max_tokens": 50, "top_k": 4, "tools": TOOLS}
    claude = {**body, "tools": [{"name": "look", "input_schema": SCHEMA}]}
    reply = TEXT_CALL if api == "text" else CALL
    with serving(reply) as upstream, gateway(before(upstream, api)) as url:
        chat = httpx2.post(f"{url}/v1/chat/completions", json=body)
        messages = httpx2.post(f"{url}/v1/messages", json=claude)
    assert chat.json()["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "look"
    assert messages.json()["content"][1]["name"] == "look"
    names = {"max_tokens", "max_completion_tokens", "top_k"}
    _, by_messages = ({key: one.body[key] for key in names & one.body.keys()} for one in upstream.requests)
    assert by_messages == sent


def test_an_api_that_nobody_speaks_is_refused() -> None:
    with pytest.raises(ValidationError, match=r"unknown api 'antropic'; did you mean 'anthropic'\?"):
        Back(url="http://127.0.0.1:9", api="antropic")


def test_a_grammar_that_cannot_be_had_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    body = {"model": "m", "messages": [USER], "tools": TOOLS, "tool_choice": "required"}
    with (
        caplog.at_level(logging.WARNING, "toolfmt.gateway"),
        serving(TEXT_CALL) as upstream,
        gateway(before(upstream, "text", constraint="llama.cpp", dialect="yaml-xml", retries=0)) as url,
    ):
        assert httpx2.post(f"{url}/v1/chat/completions", json=body).status_code == 200
    (line,) = caplog.messages
    assert json.loads(line) == {"no_grammar": "llama.cpp", "dialect": "yaml-xml", "error": "UnrepresentableError"}
    assert "grammar" not in upstream.requests[0].body


@pytest.mark.parametrize(
    ("config", "key"),
    [
        ({}, "any text"),
        ({"key_env": "DOOR_KEY", "host": "0.0.0.0"}, "the value of $DOOR_KEY"),  # noqa: S104 - nothing is bound
        ({"keys": {"ann": {"key_env": "ANNS_KEY"}}}, "one of the gateway's keys"),
        ({"backs": {"it": {"url": "http://127.0.0.1:9", "pass_key": True}}}, "the one for the upstream"),
    ],
)
def test_the_start_says_what_to_put_into_each_client(config: Any, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = {"backs": {"it": {"url": "http://127.0.0.1:9"}}, "routes": [{"backs": ["it"]}], **config}
    with serving(CALL) as upstream, gateway(before(upstream, "openai-chat")) as url:
        said = client_settings(Config.model_validate(whole), url)
        assert f"its API key is {key}:" in said
        for name, value in re.findall(r"(\w+)=(\S+)", said):
            monkeypatch.setenv(name, value)
        with OpenAI(api_key="x") as chat, Anthropic(api_key="x") as claude, genai.Client(api_key="x") as google:
            assert chat.chat.completions.create(model="m", messages=[USER]).choices  # type: ignore[list-item]
            assert claude.messages.create(model="m", messages=[USER], max_tokens=9).content  # type: ignore[list-item]
            assert google.models.generate_content(model="m", contents="Hi").candidates
        with OllamaClient() as ollama:
            assert ollama.chat("m", [USER]).message


def test_a_request_whose_connection_fails_to_close_is_open_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken() -> None:
        raise httpx2.CloseError("reset")

    async def ask() -> list[int]:
        pools = Pools()
        async with pools:
            request = httpx2.Request("POST", f"{upstream.url}/v1/chat/completions", json={"stream": True})
            response = await pools.handle_async_request(request)
            await response.aread()
            stream: Any = response.stream
            monkeypatch.setattr(stream._stream, "aclose", broken)
            stream._end = partial(pools._end, pools._pools[0])
            pools._pools[0].open = 1
            with pytest.raises(httpx2.CloseError):
                await stream.aclose()
            return [pool.open for pool in pools._pools]

    with serving(Answer("Hi.")) as upstream:
        assert anyio.run(ask) == [0]


def test_many_open_requests_are_in_several_pools() -> None:
    """A pool that looks at all its connections for each request stays small; those that are idle are closed."""

    async def ask() -> list[int]:
        pools, counts = Pools(), list[int]()
        async with pools:
            request = httpx2.Request("POST", f"{upstream.url}/v1/chat/completions", json={"stream": True})
            responses = [await pools.handle_async_request(request) for _ in range(70)]
            counts.append(len(pools._pools))
            for response in responses:
                await response.aread()
                await response.aclose()
            counts.append(len(pools._pools))
        return counts

    with serving(Answer("Hi.")) as upstream:
        assert anyio.run(ask) == [3, 1]
