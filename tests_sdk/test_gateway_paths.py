"""What a gateway says at paths that it does not serve, whether it takes requests, and what it sends to each back."""

from __future__ import annotations

import logging
from typing import Any

import httpx2
import pytest
from gateways import CALL, SCHEMA, TEXT_CALL, before, gateway
from loopback import serving
from pydantic import ValidationError

from toolfmt.gateway.config import Back
from toolfmt.transcripts.failures import read_error

USER = {"role": "user", "content": "Weather?"}
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": SCHEMA}}]


@pytest.mark.parametrize(
    ("path", "headers", "keys"),
    [
        ("/v1/embeddings", {}, {"message", "type", "param", "code"}),
        ("/v1/files", {"anthropic-version": "2023-06-01"}, {"type", "message"}),
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
    with pytest.raises(ValidationError, match=r"openai-responses, anthropic.*not 'antropic'"):
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
    assert '"constraint": "llama.cpp"' in line
    assert "yaml-xml cannot hold" in line
    assert "grammar" not in upstream.requests[0].body
