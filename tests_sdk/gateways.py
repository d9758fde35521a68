"""A gateway before a scripted back, and the official SDKs that ask it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from socket import IPPROTO_TCP, TCP_NODELAY
from threading import Thread
from typing import Any

import uvicorn
from anthropic import Anthropic
from google import genai
from google.genai.types import FunctionDeclaration, GenerateContentConfig, HttpOptions, Tool
from loopback import Answer, Loopback
from ollama import Client as OllamaClient
from openai import OpenAI

from toolfmt import ParseResult, read_answer, read_stream
from toolfmt.conversation import CallPart
from toolfmt.gateway.app import make_app
from toolfmt.gateway.config import Back, Config, ModelRoute
from toolfmt.gateway.connections import server_options

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
    server = uvicorn.Server(uvicorn.Config(make_app(config), port=0, log_level="critical", **server_options(config)))
    socket = server.config.bind_socket()
    socket.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)  # else each answer waits 40 ms for its end
    thread = Thread(target=server.run, args=([socket],), daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.005)
    try:
        yield f"http://127.0.0.1:{socket.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


@contextmanager
def started(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run `toolfmt serve` in a process of its own; yields it and its address."""
    command = [sys.executable, "-m", "toolfmt", "serve", *arguments]
    command += [] if "--port" in arguments else ["--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        line = next(line for line in server.stderr if '"url"' in line)
        try:
            yield server, json.loads(line)["url"]
        finally:
            server.terminate()
            server.communicate(timeout=60)


def before(upstream: Loopback, api: str, **options: Any) -> Config:
    back = Back.model_validate({"api": api, "url": upstream.url + PATHS.get(api, "/v1"), **options})
    return Config(backs={"it": back}, routes=(ModelRoute(backs=("it",)),))


def by_chat(url: str, *, stream: bool) -> tuple[str, list[tuple[str, Any]]]:
    with OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
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
    with OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
        tools: Any = [
            {"type": "function", "name": "look", "description": "Look.", "parameters": SCHEMA, "strict": False}
        ]
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
    with Anthropic(base_url=url, api_key="none", max_retries=0) as client:
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
    with genai.Client(api_key="none", http_options=HttpOptions(base_url=url)) as client:
        look = FunctionDeclaration(name="look", description="Look.", parameters_json_schema=SCHEMA)
        asked: Any = {
            "model": "m",
            "contents": "Weather?",
            "config": GenerateContentConfig(tools=[Tool(function_declarations=[look])]),
        }
        answers = (
            list(client.models.generate_content_stream(**asked))
            if stream
            else [client.models.generate_content(**asked)]
        )
        parts = [part for one in answers for part in (one.candidates[0].content.parts or [] if one.candidates else [])]  # type: ignore[union-attr]
        text = "".join(part.text for part in parts if part.text)
        return text, [(part.function_call.name, part.function_call.args) for part in parts if part.function_call]  # type: ignore[misc]


def by_interactions(url: str, *, stream: bool) -> tuple[str, list[tuple[str, Any]]]:
    with genai.Client(api_key="none", http_options=HttpOptions(base_url=url)) as client:
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


def seen(face: str, url: str) -> tuple[str, list[tuple[str, Any]]]:
    """Give what a client makes of a stream; nothing where its SDK raises an error."""
    try:
        return FACES[face](url, stream=True)
    except Exception:  # noqa: BLE001 - each SDK has its own
        return "", []
