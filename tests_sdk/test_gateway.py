"""The server between official SDKs and every kind of back, over loopback."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

import httpx2
import pytest
import uvicorn
from anthropic import Anthropic, APIStatusError
from google import genai
from google.genai._gaos.lib.compat_errors import APIStatusError as InteractionsError  # exported nowhere
from google.genai.errors import APIError as GoogleError
from google.genai.types import FunctionDeclaration, GenerateContentConfig, HttpOptions, Tool
from loopback import Answer, Body, Loopback, serving
from ollama import Client as OllamaClient
from ollama import ResponseError as OllamaError
from openai import APIStatusError as OpenAIStatusError
from openai import OpenAI
from pydantic import ValidationError

from toolfmt import ParseResult, read_answer, read_stream
from toolfmt.conversation import CallPart
from toolfmt.errors import ParseError, UnknownDialectError
from toolfmt.gateway.app import LOSSES, make_app
from toolfmt.gateway.config import Back, Config, ModelRoute, changed, single
from toolfmt.gateway.exchange import NOTICES

PATHS = {
    "openai-chat": "/v1",
    "openai-responses": "/v1",
    "anthropic": "/v1",
    "gemini": "/v1beta",
    "gemini-interactions": "/v1beta",
    "mistral": "/mistral/v1",
    "cohere": "/v2",
    "ollama": "",
    "text": "/v1",
}
"""What an API's base address ends with."""
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
CALL = Answer("Let me look.", (CallPart("look", {"city": "Zürich"}, id="call_1"),))
TEXT_CALL = Answer('Let me look.\n<tool_call>\n{"name": "look", "arguments": {"city": "Zürich"}}\n</tool_call>')


@contextmanager
def gateway(config: Config) -> Iterator[str]:
    server = uvicorn.Server(uvicorn.Config(make_app(config), port=0, log_level="critical"))
    socket = server.config.bind_socket()
    thread = Thread(target=server.run, args=([socket],), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{socket.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


def before(upstream: Loopback, api: str, **options: Any) -> Config:
    back = Back.model_validate({"api": api, "url": upstream.url + PATHS[api], **options})
    return Config(backs={"it": back}, routes=(ModelRoute(backs=("it",)),))


def by_chat(url: str, *, stream: bool) -> tuple[str, list[tuple[str, Any]]]:
    client = OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
    tools: Any = [{"type": "function", "function": {"name": "look", "description": "Look.", "parameters": SCHEMA}}]
    asked: Any = {"model": "m", "messages": [{"role": "user", "content": "Weather?"}], "tools": tools}
    if not stream:
        message = client.chat.completions.create(**asked).choices[0].message
        made = [(one.function.name, json.loads(one.function.arguments)) for one in message.tool_calls or []]  # type: ignore[union-attr]
        return message.content or "", made
    with client.chat.completions.stream(**asked) as events:
        for _ in events:
            pass
        message = events.get_final_completion().choices[0].message
    made = [(one.function.name, json.loads(one.function.arguments)) for one in message.tool_calls or []]
    return message.content or "", made


def by_responses(url: str, *, stream: bool) -> tuple[str, list[tuple[str, Any]]]:
    client = OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
    tools: Any = [{"type": "function", "name": "look", "description": "Look.", "parameters": SCHEMA, "strict": False}]
    asked: Any = {"model": "m", "input": "Weather?", "tools": tools}
    if stream:
        with client.responses.stream(**asked) as events:
            for _ in events:
                pass
            response: Any = events.get_final_response()
    else:
        response = client.responses.create(**asked)
    made = [(one.name, json.loads(one.arguments)) for one in response.output if one.type == "function_call"]
    return response.output_text, made


def by_anthropic(url: str, *, stream: bool) -> tuple[str, list[tuple[str, Any]]]:
    client = Anthropic(base_url=url, api_key="none", max_retries=0)
    asked: Any = {
        "model": "m",
        "max_tokens": 100,
        "messages": [{"role": "user", "content": "Weather?"}],
        "tools": [{"name": "look", "description": "Look.", "input_schema": SCHEMA}],
    }
    if stream:
        with client.messages.stream(**asked) as events:
            message: Any = events.get_final_message()
    else:
        message = client.messages.create(**asked)
    text = "".join(block.text for block in message.content if block.type == "text")
    return text, [(block.name, block.input) for block in message.content if block.type == "tool_use"]


def by_gemini(url: str, *, stream: bool) -> tuple[str, list[tuple[str, Any]]]:
    client = genai.Client(api_key="none", http_options=HttpOptions(base_url=url))
    look = FunctionDeclaration(name="look", description="Look.", parameters_json_schema=SCHEMA)
    asked: Any = {
        "model": "m",
        "contents": "Weather?",
        "config": GenerateContentConfig(tools=[Tool(function_declarations=[look])]),
    }
    answers = (
        list(client.models.generate_content_stream(**asked)) if stream else [client.models.generate_content(**asked)]
    )
    parts = [part for one in answers for part in (one.candidates[0].content.parts or [] if one.candidates else [])]  # type: ignore[union-attr]
    text = "".join(part.text for part in parts if part.text)
    return text, [(part.function_call.name, part.function_call.args) for part in parts if part.function_call]  # type: ignore[misc]


def by_interactions(url: str, *, stream: bool) -> tuple[str, list[tuple[str, Any]]]:
    client = genai.Client(api_key="none", http_options=HttpOptions(base_url=url))
    look: Any = {"type": "function", "name": "look", "description": "Look.", "parameters": SCHEMA}
    asked: Any = {"model": "m", "input": "Weather?", "tools": [look], "stream": stream}
    answer: Any = client.interactions.create(**asked)
    events = [json.loads(one.model_dump_json(by_alias=True)) for one in answer] if stream else None
    read = (
        read_stream(events, source="gemini-interactions") if events else read_answer(answer).events
    )  # the SDK gathers no stream
    result = ParseResult(tuple(read))
    return result.text, [(call.name, call.arguments) for call in result.calls]


def by_ollama(url: str, *, stream: bool) -> tuple[str, list[tuple[str, Any]]]:
    tools: Any = [{"type": "function", "function": {"name": "look", "description": "Look.", "parameters": SCHEMA}}]
    with OllamaClient(host=url) as client:
        said: Any = client.chat("m", [{"role": "user", "content": "Weather?"}], tools=tools, stream=stream)
        messages = [one.message for one in (said if stream else [said])]
    calls = [one.function for message in messages for one in message.tool_calls or []]
    return "".join(message.content or "" for message in messages), [(one.name, dict(one.arguments)) for one in calls]


FACES: dict[str, Callable[..., tuple[str, list[tuple[str, Any]]]]] = {
    "openai-chat": by_chat,
    "openai-responses": by_responses,
    "anthropic": by_anthropic,
    "gemini": by_gemini,
    "gemini-interactions": by_interactions,
    "ollama": by_ollama,
}


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


def seen(face: str, url: str) -> tuple[str, list[tuple[str, Any]]]:
    """Give what a client makes of a stream; nothing where its SDK raises an error."""
    try:
        return FACES[face](url, stream=True)
    except Exception:  # noqa: BLE001 - each SDK has its own
        return "", []


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
            for name, status in (("x", 503), ("nobody", 404)):
                response = httpx2.post(f"{url}/v1/chat/completions", json={"model": name, "messages": []})
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


BROKEN = Answer('I look.\n<tool_call>\n{"name": "look", "arguments": {"city": \n</tool_call>')


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("face", FACES)
def test_a_call_that_cannot_be_used_is_asked_for_again(face: str, stream: bool) -> None:  # noqa: FBT001 - as above
    with serving(BROKEN, TEXT_CALL) as upstream, gateway(before(upstream, "text")) as url:
        text, calls = FACES[face](url, stream=stream)
    assert calls == [("look", {"city": "Zürich"})]
    assert "tool_call" not in text
    first, second = (asked.body["messages"] for asked in upstream.requests)
    assert second[: len(first)] == first
    said, advice = second[len(first) :]
    assert (said["role"], said["content"]) == ("assistant", BROKEN.text)
    assert "Your call could not be used" in advice["content"]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_asking_again_has_an_end(stream: bool) -> None:  # noqa: FBT001 - as above
    for retries in (0, 2):
        with serving(BROKEN) as upstream, gateway(before(upstream, "text", retries=retries)) as url:
            text, calls = seen("anthropic", url) if stream else by_chat(url, stream=False)
        assert [call for call in calls if call[1]] == []
        assert text.startswith("I look.")
        assert len(upstream.requests) == retries + 1


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_nothing_of_a_call_that_stays_broken_reaches_the_client(stream: bool) -> None:  # noqa: FBT001 - as above
    body = {
        "model": "m",
        "messages": [{"role": "user", "content": "Weather?"}],
        "tools": [{"type": "function", "function": {"name": "look", "parameters": SCHEMA}}],
        "stream": stream,
    }
    broken = Answer('<tool_call>{"name": "look", "arguments": {"city": ]}}</tool_call>')
    with serving(broken) as upstream, gateway(before(upstream, "text")) as url:
        response = httpx2.post(f"{url}/v1/chat/completions", json=body).text
    assert len(upstream.requests) == 3
    assert "tool_calls" not in response
    assert '"finish_reason": "stop"' in response.replace('"finish_reason":"stop"', '"finish_reason": "stop"')


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("call", [{"name": "lok", "arguments": {"city": "x"}}, {"name": "look", "arguments": {}}])
def test_a_call_that_does_not_fit_its_tool_is_asked_for_again(call: Any, stream: bool) -> None:  # noqa: FBT001 - as above
    wrong = Answer(f"<tool_call>{json.dumps(call)}</tool_call>")
    with serving(wrong, TEXT_CALL) as upstream, gateway(before(upstream, "text")) as url:
        assert by_chat(url, stream=stream)[1] == [("look", {"city": "Zürich"})]
    assert len(upstream.requests) == 2
    with serving(wrong) as upstream, gateway(before(upstream, "text")) as url:  # in the end the client decides
        assert by_chat(url, stream=stream)[1] == [(call["name"], call["arguments"])]
    assert len(upstream.requests) == 3


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_without_tools_there_is_no_call(stream: bool) -> None:  # noqa: FBT001 - as above
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": stream}
    with serving(TEXT_CALL) as upstream, gateway(before(upstream, "text")) as url:
        response = httpx2.post(f"{url}/v1/chat/completions", json=body).text
    assert "tool_calls" not in response
    if not stream:
        assert json.loads(response)["choices"][0]["message"]["content"] == TEXT_CALL.text


@pytest.mark.parametrize("api", ["text", "openai-chat", "anthropic"])
@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"messages": "hi"},
        {"messages": [{"content": "x"}]},
        {"messages": [], "tools": 5},
        {"messages": [{"role": "user", "content": "x"}], "tools": [{"name": 1}]},
        {"messages": [{"role": "user", "content": "x"}], "tools": [{"type": "function", "function": {"name": 1}}]},
    ],
)
def test_a_wrong_request_is_the_clients_error(wrong: Any, api: str) -> None:
    with serving(CALL) as upstream, gateway(before(upstream, api)) as url:
        response = httpx2.post(f"{url}/v1/chat/completions", json={"model": "m", **wrong})
    assert response.status_code in {200, 400}
    assert response.json()


def test_a_required_call_is_asked_for_and_held_by_a_grammar() -> None:
    body = {
        "model": "m",
        "messages": [{"role": "user", "content": "Weather?"}],
        "tools": [{"type": "function", "function": {"name": "look", "parameters": SCHEMA}}],
        "tool_choice": "required",
    }
    for constraint, field in (("llama.cpp", "grammar"), ("vllm", "structured_outputs")):
        with (
            serving(Answer("It rains."), TEXT_CALL) as upstream,
            gateway(before(upstream, "text", constraint=constraint)) as url,
        ):
            response = httpx2.post(f"{url}/v1/chat/completions", json=body)
            figures = httpx2.get(f"{url}/metrics").text
        assert response.json()["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "look"
        assert response.headers[NOTICES] == "asked=2"
        assert all("look" in json.dumps(asked.body[field]) for asked in upstream.requests)
        assert 'toolfmt_requests_total{back="it",face="openai-chat",status="200"} 1.0' in figures


def test_calls_of_any_format_are_read() -> None:
    xml = Answer("<tool_call><function=look><parameter=city>Zürich</parameter></function></tool_call>")
    with serving(xml) as upstream, gateway(before(upstream, "text")) as url:
        assert by_chat(url, stream=False)[1] == by_chat(url, stream=True)[1] == [("look", {"city": "Zürich"})]


def test_models_are_listed_for_every_client() -> None:
    config = Config(backs={"it": Back(url="http://127.0.0.1:9")}, routes=(ModelRoute(model="small", backs=("it",)),))
    with gateway(config) as url:
        assert [one.id for one in OpenAI(base_url=f"{url}/v1", api_key="none").models.list()] == ["small"]
        assert [one.id for one in Anthropic(base_url=url, api_key="none").models.list()] == ["small"]
        with OllamaClient(host=url) as ollama:
            assert [one.model for one in ollama.list().models] == ["small"]
        client = genai.Client(api_key="none", http_options=HttpOptions(base_url=url))
        assert [one.name for one in client.models.list()] == ["models/small"]


def test_what_cannot_be_served_is_refused_at_the_start() -> None:
    with pytest.raises(ParseError, match="--client-key-env"):
        changed(single("http://127.0.0.1:9", "text"), host="0.0.0.0")  # noqa: S104 - that is refused
    for dialect, message in (("hermse", "did you mean 'hermes'"), ("openai-strict", "unknown|none of text")):
        with pytest.raises((UnknownDialectError, ValidationError), match=message):
            Back(url="http://127.0.0.1:9", api="text", dialect=dialect)
