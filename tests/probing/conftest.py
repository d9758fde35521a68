"""A local server that answers the probe's questions, faithfully or with one fault."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field, replace
from socket import IPPROTO_TCP, TCP_NODELAY
from threading import Thread
from typing import Any

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from toolfmt.workshop.probing import QUESTIONS, Question


@dataclass(frozen=True)
class Said:
    """What a server says: text, reasoning, and calls as id, name, and argument text."""

    text: str = ""
    calls: tuple[tuple[Any, str, Any], ...] = ()
    finish: str | None = "stop"
    reasoning: str = ""


def faithful(question: Question) -> Said:
    """Answer a question as it should be."""
    cities = iter(("Paris", "Rome"))
    given = dict(question.arguments)
    calls: list[tuple[Any, str, Any]] = []
    for at, name in enumerate(question.calls):
        arguments = given if given or name == "get_time" else {"city": next(cities)}
        calls.append((f"call_{at}", name, json.dumps(arguments, ensure_ascii=False)))
    named = isinstance(question.choice, dict)  # OpenAI says `stop` then
    text = (question.says or "Let me look.") if question.text else ""
    return Said(text, tuple(calls), "tool_calls" if calls and not named else "stop", "Hm.")


def whole(said: Said) -> Any:
    calls = [
        {"id": ident, "type": "function", "function": {"name": name, "arguments": arguments}}
        for ident, name, arguments in said.calls
    ]
    message: Any = {"role": "assistant", "content": said.text or None, "reasoning_content": said.reasoning}
    if calls:
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "finish_reason": said.finish}
    return {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


def chunks(said: Said) -> list[Any]:
    deltas: list[Any] = [{"role": "assistant", "content": ""}, {"reasoning_content": said.reasoning}]
    deltas += [{"content": said.text[at : at + 4]} for at in range(0, len(said.text), 4)]
    for index, (ident, name, arguments) in enumerate(said.calls):
        first = {"index": index, "id": ident, "type": "function", "function": {"name": name, "arguments": ""}}
        deltas.append({"tool_calls": [first]})
        text = arguments if isinstance(arguments, str) else [arguments]
        for at in range(0, len(text), 5):
            piece = text[at : at + 5] if isinstance(text, str) else text[0]
            deltas.append({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    head = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    made = [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    return [*made, {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": said.finish}]}]


def framed(events: list[Any]) -> str:
    return "".join(f"data: {json.dumps(one)}\n\n" for one in events) + "data: [DONE]\n\n"


@dataclass
class Faulty:
    """A server with one fault; each part may be exchanged."""

    say: Callable[[Question, Said], Said] = lambda _, said: said
    stream_say: Callable[[Question, Said], Said] = lambda _, said: said
    """What is said in streams alone, from what would be said whole."""
    whole: Callable[[Said], Any] = whole
    chunks: Callable[[Said], list[Any]] = chunks
    frame: Callable[[list[Any]], str] = framed
    reply: Callable[[Any], Response | None] = lambda _: None
    """Answers in the place of everything else."""
    url: str = ""
    asked: list[Any] = field(default_factory=list)

    async def answer(self, request: Request) -> Response:
        body = json.loads(await request.body())
        self.asked.append((body, dict(request.headers)))
        reply = self.reply(body)
        if reply is not None:
            return reply
        question = next(
            one
            for one in QUESTIONS
            if one.ask == body["messages"][0]["content"] and one.choice == body.get("tool_choice")
        )
        assert body["messages"][1:] == [*question.history]
        said = self.say(question, faithful(question))
        if not body["stream"]:
            return Response(json.dumps(self.whole(said)), media_type="application/json")
        events = self.chunks(self.stream_say(question, said))
        return Response(self.frame(events), media_type="text/event-stream")


@pytest.fixture(scope="module")
def served() -> Iterator[Callable[[Faulty], Faulty]]:
    """Give a function that puts a server at a URL."""
    current: list[Faulty] = []

    async def answer(request: Request) -> Response:
        return await current[-1].answer(request)

    app = Starlette(routes=[Route("/v1/chat/completions", answer, methods=["POST"])])
    config = uvicorn.Config(app, port=0, log_level="critical", lifespan="off", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    socket = config.bind_socket()
    socket.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)  # else each answer waits 40 ms for its end
    thread = Thread(target=server.run, args=([socket],))
    thread.start()

    def serve(faulty: Faulty) -> Faulty:
        faulty.url = f"http://127.0.0.1:{socket.getsockname()[1]}/v1"
        current.append(faulty)
        return faulty

    yield serve
    server.should_exit = True
    thread.join()
    socket.close()


async def drip() -> AsyncIterator[bytes]:
    """Send a little, again and again, without end."""
    while True:
        yield b" "
        await asyncio.sleep(0.05)


def dripping(_: Any) -> Response:
    return StreamingResponse(drip(), media_type="application/json")


def calls_as(change: Callable[[tuple[Any, str, Any]], tuple[Any, str, Any]]) -> Callable[[Question, Said], Said]:
    """Change every call of an answer."""
    return lambda _, said: replace(said, calls=tuple(map(change, said.calls)))
