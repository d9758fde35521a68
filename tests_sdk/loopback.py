"""A local server that speaks the providers' wire formats with the answers of a script, for their own SDKs to ask.

    with serving(Answer("Hi"), Body(429), Answer(calls=[call])) as server:
        OpenAI(base_url=server.url + "/v1", api_key="none").chat.completions.create(...)
        server.requests[0].body

The stream of an answer is what `write_stream` writes, so the SDKs judge that too; a whole answer
is written here by the formats' own descriptions.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from socket import IPPROTO_TCP, TCP_NODELAY
from threading import Event, Thread
from typing import Any

import anyio
import anyio.lowlevel
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from toolfmt import Message, convert_answer, write_stream
from toolfmt.conversation import CallPart, TextPart
from toolfmt.transcripts.answering.answer_info import AnswerInfo, Usage


@dataclass(frozen=True)
class Answer:
    """What a model says: text, then calls, whose `text` may be broken JSON."""

    text: str = ""
    calls: tuple[CallPart, ...] = ()
    drop: int | None = None
    """Cut the connection after so many events, before the last one at the latest."""
    hang: int | None = None
    """Stop after so many events; send one more when the test lets the server go on, and no other."""


@dataclass(frozen=True)
class Body:
    """What is sent as it stands: an error, or a recorded answer."""

    status: int = 500
    body: str = '{"error": {"message": "out of luck", "type": "server_error"}}'
    headers: dict[str, str] = field(default_factory=dict)
    media: str = "application/json"


@dataclass(frozen=True)
class Asked:
    """A request as it came."""

    path: str
    headers: dict[str, str]
    body: Any
    raw: bytes


@dataclass
class Loopback:
    """A server with a script; what it was asked stands in `requests`."""

    script: list[Answer | Body]
    url: str
    requests: list[Asked] = field(default_factory=list)
    resumed: Event = field(default_factory=Event)
    left: Event = field(default_factory=Event)
    """Set when a client went away in the middle of an answer."""

    async def answer(self, request: Request) -> Response:
        raw = await request.body()
        body = json.loads(raw or "null")
        self.requests.append(Asked(request.url.path, dict(request.headers), body, raw))
        reply = self.script[min(len(self.requests), len(self.script)) - 1]
        if isinstance(reply, Body):
            return Response(reply.body, reply.status, reply.headers, reply.media)
        name = next(name for part, name in FORMATS.items() if part in request.url.path)
        name = "mistral" if "mistral" in request.headers["user-agent"] + request.url.path else name  # at the same path
        streams = body.get("stream", False) or "stream" in request.url.path
        if not streams:
            return JSONResponse(WHOLE[name](reply))
        frames, media = FRAMES.get(name, (sse, "text/event-stream"))
        return StreamingResponse(self._stream(reply, frames(streamed(reply, name))), media_type=media)

    async def _stream(self, reply: Answer, frames: list[str]) -> AsyncIterator[str]:
        whole = False
        try:
            for at, frame in enumerate(frames):
                if reply.drop is not None and at == min(reply.drop, len(frames) - 1):
                    raise ConnectionAbortedError("as the script says")
                if reply.hang == at:
                    await anyio.to_thread.run_sync(self.resumed.wait, abandon_on_cancel=True)
                if reply.hang is not None and at > reply.hang:
                    await anyio.sleep_forever()
                yield frame
                await anyio.lowlevel.checkpoint()
            whole = True
        finally:
            if not whole:
                self.left.set()


FORMATS = {
    "/chat/completions": "openai-chat",
    "/responses": "openai-responses",
    "/messages": "anthropic",
    ":generateContent": "gemini",
    ":streamGenerateContent": "gemini",
    "/api/chat": "ollama",
    "/interactions": "gemini-interactions",
    "/chat": "cohere",
}
"""What a path is asked for."""


SCRIPTS: dict[str, Loopback] = {}
"""Those that are served, by the first part of their path."""


@contextmanager
def serving(*script: Answer | Body) -> Iterator[Loopback]:
    """Serve answers that follow a script; the last one is given again and again."""
    key = f"s{len(SCRIPTS)}"
    made = SCRIPTS[key] = Loopback([*script], f"{_started()}/{key}")
    try:
        yield made
    finally:
        made.resumed.set()


@cache
def _started() -> str:
    """Start the one server of all scripts, which ends with the process."""

    async def answer(request: Request) -> Response:
        return await SCRIPTS[request.path_params["key"]].answer(request)

    app = Starlette(routes=[Route("/{key}/{path:path}", answer, methods=["GET", "POST"])])
    config = uvicorn.Config(app, port=0, log_level="critical", lifespan="off")
    socket = config.bind_socket()
    socket.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)  # else each answer waits 40 ms for its end
    Thread(target=uvicorn.Server(config).run, args=([socket],), daemon=True).start()
    return f"http://127.0.0.1:{socket.getsockname()[1]}"


def sse(events: list[Any]) -> list[str]:
    """Frame events as server-sent ones."""
    return [(f"event: {one['type']}\n" if "type" in one else "") + f"data: {json.dumps(one)}\n\n" for one in events]


def lined(events: list[Any]) -> list[str]:
    return [json.dumps(one) + "\n" for one in events]


def done(events: list[Any]) -> list[str]:
    return [*sse(events), "data: [DONE]\n\n"]


FRAMES: dict[str, tuple[Callable[[list[Any]], list[str]], str]] = {
    "mistral": (done, "text/event-stream"),
    "ollama": (lined, "application/x-ndjson"),
    "openai-chat": (done, "text/event-stream"),
}
"""How the events of a format are framed, where not as server-sent events alone."""


def streamed(answer: Answer, name: str) -> list[Any]:
    """Write an answer as the events of a stream, its text in pieces of three letters."""
    pieces = [answer.text[at : at + 3] for at in range(0, len(answer.text), 3)]
    if name == "ollama":
        whole = ollama(answer)
        said = [{**whole, "done": False, "message": {"role": "assistant", "content": piece}} for piece in pieces]
        return [*said, {**whole, "message": {**whole["message"], "content": ""}}]
    if name == "mistral":  # whose calls come whole
        (choice,) = chat(answer)["choices"]
        said = [
            {"index": 0, "delta": {"role": "assistant", "content": piece}, "finish_reason": None} for piece in pieces
        ]
        last = {"index": 0, "delta": {**choice["message"], "content": ""}, "finish_reason": choice["finish_reason"]}
        return [{**chat(answer), "object": "chat.completion.chunk", "choices": [one]} for one in (*said, last)]
    stop = "tool_calls" if answer.calls else "stop"
    message = Message("assistant", (*map(TextPart, pieces), *answer.calls))
    info = AnswerInfo(stop=stop, usage=Usage(input=12, output=9))
    return list(write_stream(message, target=name, id="x1", model="m", info=info))


def chat(answer: Answer) -> Any:
    calls = [
        {"id": one.id, "type": "function", "function": {"name": one.name, "arguments": one.json}}
        for one in answer.calls
    ]
    message = {"role": "assistant", "content": answer.text or None, "refusal": None}
    message |= {"tool_calls": calls} if calls else {}
    choice = {"index": 0, "finish_reason": "tool_calls" if calls else "stop", "logprobs": None, "message": message}
    usage = {"prompt_tokens": 12, "completion_tokens": 9, "total_tokens": 21}
    return {
        "id": "x1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage,
    }  # fmt: skip


def responses(answer: Answer) -> Any:
    text = {"type": "output_text", "text": answer.text, "annotations": []}
    said = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [text]}
    calls = [
        {"type": "function_call", "id": f"fc_{one.id}", "call_id": one.id, "name": one.name, "arguments": one.json}
        for one in answer.calls
    ]
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "status": "completed",
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "output": [*([said] if answer.text else []), *calls],
        "usage": {
            "input_tokens": 12,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": 9,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 21,
        },
    }


def anthropic(answer: Answer) -> Any:
    text = [{"type": "text", "text": answer.text}] if answer.text else []
    calls = [{"type": "tool_use", "id": one.id, "name": one.name, "input": one.value} for one in answer.calls]
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": text + calls,
        "stop_reason": "tool_use" if calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 12, "output_tokens": 9},
    }


def gemini(answer: Answer) -> Any:
    parts: list[Any] = [{"text": answer.text}] if answer.text else []
    parts += [{"functionCall": {"id": one.id, "name": one.name, "args": one.value}} for one in answer.calls]
    usage = {"promptTokenCount": 12, "candidatesTokenCount": 9, "totalTokenCount": 21}
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "m", "responseId": "x1"}


def ollama(answer: Answer) -> Any:
    message: dict[str, Any] = {"role": "assistant", "content": answer.text}
    if answer.calls:
        message["tool_calls"] = [{"function": {"name": one.name, "arguments": one.value}} for one in answer.calls]
    counts = {"prompt_eval_count": 12, "eval_count": 9}
    return {"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": message, "done": True, **counts} | {
        "done_reason": "stop"
    }


def converted(answer: Answer, name: str) -> Any:
    return convert_answer(chat(answer), source="openai-chat", target=name).value


WHOLE: dict[str, Callable[[Answer], Any]] = {
    "anthropic": anthropic,
    "cohere": partial(converted, name="cohere"),
    "gemini": gemini,
    "gemini-interactions": partial(converted, name="gemini-interactions"),
    "mistral": chat,
    "ollama": ollama,
    "openai-chat": chat,
    "openai-responses": responses,
}
"""What writes a whole answer."""
