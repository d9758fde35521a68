"""The server between official SDKs and every kind of back, over loopback."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from anthropic import Anthropic, APIStatusError
from gateways import CALL, FACES, PATHS, TEXT_CALL, before, by_chat, gateway, seen
from google import genai
from google.genai._gaos.lib.compat_errors import APIStatusError as InteractionsError  # exported nowhere
from google.genai.errors import APIError as GoogleError
from google.genai.types import HttpOptions
from loopback import Answer, Body, serving
from mistralai.client import Mistral
from mistralai.client.errors import SDKError as MistralError
from ollama import Client as OllamaClient
from ollama import ResponseError as OllamaError
from openai import APIStatusError as OpenAIStatusError
from openai import OpenAI
from pydantic import ValidationError

from toolfmt.errors import ParseError, UnknownDialectError
from toolfmt.gateway import handling
from toolfmt.gateway.config import Back, Config, ModelRoute
from toolfmt.gateway.loading import single
from toolfmt.gateway.serving import LOSSES
from toolfmt.transcripts.convert import Conversion, convert_request


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("api", PATHS)
@pytest.mark.parametrize("face", FACES)
def test_every_client_gets_the_call_of_every_back(face: str, api: str, stream: bool) -> None:  # noqa: FBT001 - a parameter of the test
    with serving(TEXT_CALL if api == "text" else CALL) as upstream, gateway(before(upstream, api)) as url:
        text, calls = FACES[face](url, stream=stream)
    assert (text.strip(), calls) == ("Let me look.", [("look", {"city": "Zürich"})])
    (asked,) = upstream.requests
    said = json.dumps(asked.body, ensure_ascii=False)
    assert "Weather?" in said
    assert "look" in said
    assert "authorization" not in asked.headers or "none" not in asked.headers["authorization"]


@pytest.mark.parametrize("api", ["openai-chat", "anthropic", "text"])
def test_a_request_is_converted_once(api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    converted: list[str] = []

    def convert(*args: object, **options: object) -> Conversion:
        converted.append(api)
        return convert_request(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(handling, "convert_request", convert)
    with serving(TEXT_CALL if api == "text" else CALL) as upstream, gateway(before(upstream, api)) as url:
        by_chat(url, stream=False)
    assert converted == [api]


ERRORS: dict[str, Callable[[Exception], tuple[int, str]]] = {
    "openai-chat": lambda error: (error.status_code, str(error)),  # type: ignore[attr-defined]
    "openai-responses": lambda error: (error.status_code, str(error)),  # type: ignore[attr-defined]
    "anthropic": lambda error: (error.status_code, str(error)),  # type: ignore[attr-defined]
    "gemini": lambda error: (error.code, str(error)),  # type: ignore[attr-defined]
    "gemini-interactions": lambda error: (error.status_code, str(error)),  # type: ignore[attr-defined]
    "ollama": lambda error: (error.status_code, str(error)),  # type: ignore[attr-defined]
}
SDK_ERRORS = (OpenAIStatusError, APIStatusError, GoogleError, InteractionsError, OllamaError)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("face", FACES)
def test_an_upstreams_error_is_one_of_the_clients_own_api(face: str, stream: bool) -> None:  # noqa: FBT001 - as above
    slow = Body(429, '{"error": {"message": "slow down", "type": "rate_limit_error"}}', {"retry-after": "7"})
    with (
        serving(slow) as upstream,
        gateway(before(upstream, "openai-chat")) as url,
        pytest.raises(SDK_ERRORS) as caught,
    ):
        FACES[face](url, stream=stream)
    status, said = ERRORS[face](caught.value)
    assert (status, "slow down" in said) == (429, True)


@pytest.mark.parametrize("page", ["<html>Bad gateway</html>", '"Hi"', "[1", ""])
def test_what_is_no_answer_is_an_error(page: str) -> None:
    with serving(Body(200, page, media="text/html")) as upstream, gateway(before(upstream, "openai-chat")) as url:
        for face, ask in FACES.items():
            with pytest.raises(SDK_ERRORS) as caught:
                ask(url, stream=False)
            assert 500 <= ERRORS[face](caught.value)[0] < 600


@pytest.mark.parametrize("face", FACES)
def test_a_stream_that_breaks_off_is_never_a_whole_answer(face: str) -> None:
    broken = Answer("Let me look.", CALL.calls, drop=4)
    with serving(broken) as upstream, gateway(before(upstream, "openai-chat")) as url:
        text, calls = seen(face, url)
    assert calls == []
    assert text != "Let me look."


def test_the_next_back_is_asked_where_one_cannot_be_reached() -> None:
    with serving(CALL) as upstream:
        gone = Back(url="http://127.0.0.1:9/v1", connect_timeout=2)
        backs = {"gone": gone, "there": Back(url=f"{upstream.url}/v1")}
        routes = (
            ModelRoute(model="m*", backs=("gone", "there"), as_model="other"),
            ModelRoute(model="x", backs=("gone",)),
        )
        with gateway(Config(backs=backs, routes=routes)) as url:
            assert by_chat(url, stream=False)[1] == [("look", {"city": "Zürich"})]
            assert upstream.requests[0].body["model"] == "other"
            for name, status in (("x", 502), ("nobody", 404)):
                body = {"model": name, "messages": [{"role": "user", "content": "Hi"}]}
                response = httpx2.post(f"{url}/v1/chat/completions", json=body)
                assert response.status_code == status
            assert [one["id"] for one in httpx2.get(f"{url}/v1/models").json()["data"]] == ["x"]


def test_keys_stay_where_they_belong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UPSTREAM_KEY", "secret-of-the-back")
    monkeypatch.setenv("GATEWAY_KEY", "secret-of-the-door")
    with serving(CALL) as upstream:
        config = before(upstream, "anthropic", key_env="UPSTREAM_KEY").model_copy(update={"key_env": "GATEWAY_KEY"})
        with gateway(config) as url:
            body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
            assert httpx2.post(f"{url}/v1/chat/completions", json=body).status_code == 401
            assert httpx2.get(f"{url}/v1/models").status_code == 401
            assert httpx2.get(f"{url}/health").status_code == 200
            headers = {"authorization": "Bearer secret-of-the-door"}
            assert httpx2.post(f"{url}/v1/chat/completions", json=body, headers=headers).status_code == 200
    (asked,) = upstream.requests
    assert asked.headers["x-api-key"] == "secret-of-the-back"
    assert "door" not in str(asked.headers)


def test_bodies_are_bounded_and_losses_are_seen() -> None:
    with serving(CALL) as upstream:
        config = before(upstream, "anthropic").model_copy(update={"max_body": 2000})
        with gateway(config) as url:
            path = f"{url}/v1/chat/completions"
            assert httpx2.post(path, content=b"x" * 3000).status_code == 413
            assert httpx2.post(path, content=b"{").status_code == 400
            assert httpx2.post(path, content=b"[]").status_code == 400
            body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "seed": 7}
            response = httpx2.post(path, json=body)
            assert response.status_code == 200
            assert "setting=" in response.headers[LOSSES]


def test_models_are_listed_for_every_client() -> None:
    config = Config(backs={"it": Back(url="http://127.0.0.1:9")}, routes=(ModelRoute(model="small", backs=("it",)),))
    with gateway(config) as url:
        with OpenAI(base_url=f"{url}/v1", api_key="none") as openai, Anthropic(base_url=url, api_key="none") as claude:
            assert [one.id for one in openai.models.list()] == ["small"]
            assert [one.id for one in claude.models.list()] == ["small"]
        with OllamaClient(host=url) as ollama:
            assert [one.model for one in ollama.list().models] == ["small"]
            assert ollama.show("small").capabilities == ["completion", "tools"]
            with pytest.raises(OllamaError, match="no route serves the model 'nobody'"):
                ollama.show("nobody")
        with Mistral(api_key="none", server_url=f"{url}/mistral") as mistral:
            listed: Any = mistral.models.list()
            found: Any = mistral.models.retrieve(model_id="small")
            assert [one.id for one in listed.data] == ["small"]
            assert found.capabilities.function_calling
            with pytest.raises(MistralError, match="no route serves the model 'nobody'"):
                mistral.models.retrieve(model_id="nobody")
        with genai.Client(api_key="none", http_options=HttpOptions(base_url=url)) as client:
            assert [one.name for one in client.models.list()] == ["models/small"]


def test_what_cannot_be_served_is_refused_at_the_start() -> None:
    with pytest.raises(ParseError, match="--client-key-env"):
        single("http://127.0.0.1:9", "text", {"host": "0.0.0.0"})  # noqa: S104 - that is refused
    for dialect, message in (("hermse", "did you mean 'hermes'"), ("openai-strict", "unknown|none of text")):
        with pytest.raises((UnknownDialectError, ValidationError), match=message):
            Back(url="http://127.0.0.1:9", api="text", dialect=dialect)
