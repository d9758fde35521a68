"""What SDKs ask a gateway beside answers: numbers of tokens, a shorter conversation, which models there are."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx2
import pytest
from anthropic import Anthropic, NotFoundError
from gateways import PATHS, SCHEMA, before, gateway
from google import genai
from google.genai.types import HttpOptions
from loopback import Answer, Body, serving
from openai import InternalServerError, OpenAI
from openai import NotFoundError as OpenAINotFound
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from toolfmt import jsontext
from toolfmt.gateway.config import Back, Config, ModelRoute
from toolfmt.gateway.handling import NOTICES

LOOK: Any = {"name": "look", "description": "Look.", "input_schema": SCHEMA}


def by_anthropic(url: str) -> int:
    with Anthropic(base_url=url, api_key="none", max_retries=0) as client:
        return client.messages.count_tokens(
            model="m", system="Be brief.", messages=[{"role": "user", "content": "Weather?"}], tools=[LOOK]
        ).input_tokens


def by_gemini(url: str) -> int:
    with genai.Client(api_key="none", http_options=HttpOptions(base_url=url)) as client:
        return client.models.count_tokens(model="m", contents="Weather?").total_tokens or 0


def by_responses(url: str) -> int:
    with OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
        tool: Any = {"type": "function", "name": "look", "parameters": SCHEMA, "strict": False}
        return client.responses.input_tokens.count(model="m", input="Weather?", tools=[tool]).input_tokens


CLIENTS: Mapping[str, Callable[[str], int]] = {
    "anthropic": by_anthropic,
    "gemini": by_gemini,
    "openai-responses": by_responses,
}
COUNTS = {
    "anthropic": '{"input_tokens": 31}',
    "gemini": '{"totalTokens": 31}',
    "openai-responses": '{"input_tokens": 31}',
}
COUNT_PATHS = {
    "anthropic": "/v1/messages/count_tokens",
    "gemini": "/v1beta/models/m:countTokens",
    "openai-responses": "/v1/responses/input_tokens",
}


@pytest.mark.parametrize("api", COUNTS)
@pytest.mark.parametrize("face", CLIENTS)
def test_a_back_counts_the_tokens_of_every_clients_request(face: str, api: str) -> None:
    with serving(Body(200, COUNTS[api])) as upstream, gateway(before(upstream, api)) as url:
        assert CLIENTS[face](url) == 31
    (asked,) = upstream.requests
    assert asked.path.endswith(COUNT_PATHS[api])
    assert "Weather?" in jsontext.dumps(asked.body)
    assert not {"stream", "max_tokens", "max_output_tokens"} & asked.body.keys()


@pytest.fixture
def tokenizer(tmp_path: Path) -> Path:
    made = Tokenizer(WordLevel({"[UNK]": 0}, "[UNK]"))
    made.pre_tokenizer = Whitespace()  # type: ignore[assignment]
    made.save(str(tmp_path / "tokenizer.json"))
    return tmp_path


def test_a_tokenizer_counts_where_the_api_cannot(tokenizer: Path) -> None:
    with serving() as upstream, gateway(before(upstream, "openai-chat", tokenizer=str(tokenizer))) as url:
        assert by_gemini(url) == 2  # "Weather", "?"
        body = {"model": "m", "messages": [{"role": "user", "content": "Weather?"}]}
        bare = httpx2.post(f"{url}/v1/messages/count_tokens", json=body)
        shown = httpx2.post(f"{url}/v1/messages/count_tokens", json={**body, "tools": [LOOK]})
    assert bare.json() == {"input_tokens": 2}
    assert bare.headers[NOTICES] == "tokens=estimated"
    assert shown.json()["input_tokens"] > 10
    assert upstream.requests == []


@pytest.mark.parametrize("face", CLIENTS)
def test_without_one_the_client_is_refused(face: str) -> None:
    said: dict[str, Any] = {
        "anthropic": {"messages": [{"role": "user", "content": "Hi"}]},
        "gemini": {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]},
        "openai-responses": {"input": "Hi"},
    }
    body = {"model": "m", **said[face]}
    with serving() as upstream, gateway(before(upstream, "openai-chat")) as url:
        response = httpx2.post(f"{url}{COUNT_PATHS[face]}", json=body)
    assert response.status_code == 404
    assert "names no tokenizer" in response.json()["error"]["message"]


def test_a_count_that_is_none_is_an_error() -> None:
    with serving(Body(200, "{}")) as upstream, gateway(before(upstream, "anthropic")) as url:
        body = {"model": "m", "contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}
        assert httpx2.post(f"{url}{COUNT_PATHS['gemini']}", json=body).status_code >= 500


def test_a_back_that_can_shortens_conversations() -> None:
    usage = {"input_tokens": 9, "output_tokens": 1, "total_tokens": 10}
    made = {"id": "c1", "object": "response.compaction", "created_at": 1, "output": [], "usage": usage}
    with serving(Body(200, jsontext.dumps(made))) as upstream:
        config = before(upstream, "openai-responses")
        config = config.model_copy(update={"routes": (ModelRoute(backs=("it",), as_model="gpt"),)})
        with gateway(config) as url, OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
            assert client.responses.compact(model="m", input="Weather?").id == "c1"
    (asked,) = upstream.requests
    assert asked.path.endswith("/v1/responses/compact")
    assert asked.body == {"model": "gpt", "input": "Weather?"}


HISTORY: Any = [
    {"role": "user", "content": "Weather?"},
    {"type": "function_call", "name": "look", "arguments": '{"city": "Bern"}', "call_id": "c1"},
    {"type": "function_call_output", "call_id": "c1", "output": "hail"},
]


@pytest.mark.parametrize("api", ["openai-chat", "anthropic", "bedrock", "text"])
def test_another_model_is_asked_for_a_summary(api: str) -> None:
    """It is shown the calls as text, and its summary is a message of every later request."""
    said = json.dumps({"output": {"message": {"role": "assistant", "content": [{"text": "Hail in Bern."}]}}})
    reply = Body(200, said[:-1] + ', "stopReason": "end_turn"}') if api == "bedrock" else Answer("Hail in Bern.")
    with (
        serving(reply) as upstream,
        gateway(before(upstream, api)) as url,
        OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client,
    ):
        made = client.responses.compact(model="m", input=HISTORY, instructions="Be brief.")
        kept: Any = [one.to_dict(warnings=False) for one in made.output]
        client.responses.create(model="m", input=[*kept, {"role": "user", "content": "And now?"}])
    first, second = (json.dumps(one.body) for one in upstream.requests)
    assert all(word in first for word in ("Be brief.", "Weather?", "Bern", "hail", "Summarize"))
    assert not {"toolUse", "tool_use", "tool_calls", "tool_call_id"} & set(first.split('"'))
    assert (made.object, [one.type for one in made.output]) == ("response.compaction", ["message", "compaction"])
    places = [second.index(word) for word in ("Weather?", "summary of the conversation", "Hail in Bern.", "And now?")]
    assert places == sorted(places)
    assert "encrypted_content" not in second


def test_a_summary_that_is_none_is_an_error() -> None:
    with (
        serving(Answer("")) as upstream,
        gateway(before(upstream, "anthropic")) as url,
        OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client,
        pytest.raises(InternalServerError, match="no complete summary"),
    ):
        client.responses.compact(model="m", input="Weather?")


def test_a_limit_that_the_api_requires_is_set_and_reported() -> None:
    for api, limit in (("anthropic", 77), ("openai-chat", None)):
        with serving(Answer("Hi.")) as upstream, gateway(before(upstream, api, max_tokens=77)) as url:
            body: Any = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
            response = httpx2.post(f"{url}/v1/chat/completions", json=body)
            given = httpx2.post(f"{url}/v1/chat/completions", json={**body, "max_tokens": 5})
        assert [one.body.get("max_tokens") for one in upstream.requests] == [limit, 5]
        assert response.headers.get(NOTICES) == (f"max_tokens={limit}" if limit else None)
        assert NOTICES not in given.headers


LISTS = {
    "openai-chat": '{"object": "list", "data": [{"id": "big"}, {"id": "small"}]}',
    "gemini": '{"models": [{"name": "models/big"}, {"name": "models/small"}]}',
    "ollama": '{"models": [{"name": "big"}, {"name": "small"}]}',
}


@pytest.mark.parametrize("api", LISTS)
def test_a_backs_own_models_are_listed(api: str) -> None:
    with serving(Body(200, LISTS[api])) as upstream:
        backs = {
            "it": Back(api=api, url=upstream.url + PATHS[api]),
            "gone": Back(url="http://127.0.0.1:9", connect_timeout=2),
        }
        routes = (
            ModelRoute(model="mine", backs=("gone",)),
            ModelRoute(model="s*", backs=("gone", "it")),
            ModelRoute(model="b*", backs=("it",), as_model="x"),
        )
        with (
            gateway(Config(backs=backs, routes=routes)) as url,
            OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client,
        ):
            assert [one.id for one in client.models.list()] == ["mine", "small"]
            assert client.models.retrieve("small").id == "small"
            with Anthropic(base_url=url, api_key="none", max_retries=0) as anthropic:
                with pytest.raises(NotFoundError, match="no route"):
                    anthropic.models.retrieve("nobody")
                with genai.Client(api_key="none", http_options=HttpOptions(base_url=url)) as google:
                    assert google.models.get(model="small").name == "models/small"


def test_a_model_that_no_back_has_is_an_error_of_the_clients_api() -> None:
    unknown = Body(404, '{"error": {"message": "no such model"}}')
    alias, listed = Body(200, '{"id": "tiny"}'), Body(200, LISTS["openai-chat"])
    with (
        serving(listed, listed, alias, listed, unknown) as upstream,
        gateway(before(upstream, "openai-chat")) as url,
        OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client,
    ):
        assert [client.models.retrieve(name).id for name in ("small", "tiny")] == ["small", "tiny"]
        with pytest.raises(OpenAINotFound, match="no route serves the model 'nobody'"):
            client.models.retrieve("nobody")
    with (
        serving(listed, unknown) as upstream,
        gateway(before(upstream, "openai-chat")) as url,
        Anthropic(base_url=url, api_key="none", max_retries=0) as anthropic,
        pytest.raises(NotFoundError, match="not_found_error"),
    ):
        anthropic.models.retrieve("nobody")
    for script in ((unknown,), (Body(200, '{"data": []}'),)):  # a back that cannot say what it has
        with serving(*script) as upstream, gateway(before(upstream, "openai-chat")) as url:
            assert httpx2.get(f"{url}/v1beta/models/nobody").json()["name"] == "models/nobody"
