"""Twelve conversations with a model, a server that has the model's part in every API, and what a client makes of it.

A model's name is `BACK/CONVERSATION`, so that one gateway has a route for each.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from socket import IPPROTO_TCP, TCP_NODELAY
from threading import Event, Thread
from typing import Any

import anyio
import anyio.lowlevel
import uvicorn
from loopback import FRAMES, sse
from sdks import Case
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from test_gateway_bedrock import message as binary

from toolfmt import CallEnd, CallFailed, ToolInvocation, read_stream, render_calls, write_stream
from toolfmt.agents.clients import SdkClient
from toolfmt.conversation import CallPart, Part, ReasoningPart, RefusalPart, TextPart
from toolfmt.errors import ToolFmtError
from toolfmt.events import ArgumentsDelta, CallStart, ReasoningDelta, TextDelta
from toolfmt.gateway.config import Config
from toolfmt.transcripts.answering.answer_info import AnswerInfo, Failure, Usage
from toolfmt.transcripts.answers import answered
from toolfmt.transcripts.convert import convert_request
from toolfmt.transcripts.convert_answer import write_answer, write_error
from toolfmt.transcripts.parts.endings import Stop

TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}<|im_start|>assistant\n"
)
TEXT = frozenset({"text", "completions", "llama.cpp"})
"""Backs whose models only write text."""
APIS = ("openai-chat", "openai-responses", "anthropic", "gemini", "gemini-interactions", "bedrock", "mistral", "cohere")
BACKS = (*APIS, "ollama", *sorted(TEXT))
SCHEMA: Any = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
TOOLS = [{"type": "function", "function": {"name": "look", "description": "Look.", "parameters": SCHEMA}}]
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
IMAGE = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
FORMAT = {"type": "json_schema", "json_schema": {"name": "place", "schema": SCHEMA, "strict": True}}
SAID = "Let me look."
LONG = "".join(f"Line {at}: grüße\n" for at in range(300)).strip()
ONE, TWO, MANY = {"city": "Zürich"}, {"city": "Bern"}, {"city": "Genève " * 60}
BROKEN = '{"city": "Zür'


@dataclass
class Seen:
    """What a client got of an answer, or the error that its SDK raised, and what the back was asked."""

    events: list[Any] = field(default_factory=list)
    info: AnswerInfo = field(default_factory=AnswerInfo)
    error: Exception | None = None
    asked: str = ""
    left: bool = False

    @property
    def text(self) -> str:
        return "".join(one.text for one in self.events if isinstance(one, TextDelta))

    @property
    def reasoning(self) -> str:
        return "".join(one.text for one in self.events if isinstance(one, ReasoningDelta))

    @property
    def calls(self) -> list[tuple[str, Any]]:
        return [(one.call.name, one.call.arguments) for one in self.events if isinstance(one, CallEnd)]


def _yes(found: object) -> str:
    return "yes" if found else "no"


def _called(seen: Seen, *wanted: Any) -> bool:
    return seen.calls == [("look", one) for one in wanted]


def _refused(seen: Seen) -> str:
    if "I cannot" not in seen.text:
        return "no"
    return "yes" if seen.info.stop == "content_filter" or seen.info.refusals else "words"


def _grown(seen: Seen) -> str:
    deltas = sum(isinstance(one, ArgumentsDelta) for one in seen.events)
    return "no" if not _called(seen, MANY) else "yes" if deltas > 2 else "at once"


def _malformed(seen: Seen) -> str:
    """A call whose arguments are broken is never one with other arguments; a text model is asked again."""
    if _called(seen, ONE):
        return "asked again"
    return _yes(not seen.calls)


def _failed(seen: Seen) -> str:
    return _yes(seen.error is not None or seen.info.failure is not None)


@dataclass(frozen=True)
class Conversation:
    """A request, in the words of Chat Completions, and what the model answers."""

    check: Callable[[Seen], str]
    parts: tuple[Part, ...] = (TextPart(SAID),)
    stop: Stop = "stop"
    ask: Any = field(default_factory=dict)
    streamed: tuple[bool, ...] = (False, True)
    fails: bool = False
    hangs: bool = False

    def request(self, model: str) -> Any:
        return {"model": model, "messages": [{"role": "user", "content": "Where?"}], "max_tokens": 999, **self.ask}


def called(value: Any, ident: str = "a1b2c3d4e", **more: Any) -> CallPart:
    return CallPart("look", value, json.dumps(value, ensure_ascii=False), ident, **more)


WITH_TOOLS = {"tools": TOOLS}
CONVERSATIONS = {
    "text": Conversation(lambda seen: _yes(seen.text == SAID and seen.info.stop == "stop")),
    "parallel calls": Conversation(
        lambda seen: _yes(_called(seen, ONE, TWO) and seen.text.strip() == SAID),
        (TextPart(SAID), called(ONE), called(TWO, "b1b2c3d4e")),
        "tool_calls",
        WITH_TOOLS,
    ),
    "streamed arguments": Conversation(_grown, (called(MANY),), "tool_calls", WITH_TOOLS, (True,)),
    "thinking": Conversation(
        lambda seen: _yes(seen.reasoning.strip() == "Hm, rain." and seen.text.strip() == SAID),
        (ReasoningPart("Hm, rain."), TextPart(SAID)),
        ask=WITH_TOOLS,
    ),
    "images": Conversation(
        lambda seen: "no" if seen.text != SAID else "yes" if PIXEL in seen.asked else "note",
        ask={"messages": [{"role": "user", "content": [{"type": "text", "text": "Where?"}, IMAGE]}]},
    ),
    "refusal": Conversation(_refused, (RefusalPart("I cannot do that."),), "content_filter"),
    "error before and in a stream": Conversation(_failed, (TextPart(SAID), called(ONE)), ask=WITH_TOOLS, fails=True),
    "long answer": Conversation(lambda seen: _yes(seen.text == LONG), (TextPart(LONG),)),
    "cut answer": Conversation(lambda seen: _yes(seen.info.stop == "length" and seen.text == SAID), stop="length"),
    "malformed call": Conversation(
        _malformed, (CallPart("look", text=BROKEN, id="a1b2c3d4e"),), "tool_calls", WITH_TOOLS
    ),
    "structured output": Conversation(
        lambda seen: _yes(seen.text == json.dumps(ONE) and "additionalProperties" in seen.asked),
        (TextPart(json.dumps(ONE)),),
        ask={"response_format": FORMAT},
    ),
    "cancellation": Conversation(lambda seen: _yes(seen.left), streamed=(True,), hangs=True),
}


def _events(parts: tuple[Part, ...]) -> Iterator[Any]:
    """Write what a model says in pieces."""
    at = calls = 0
    for part in parts:
        text = part.json if isinstance(part, CallPart) else part.text  # type: ignore[union-attr]
        pieces = [text[start : start + 9] for start in range(0, len(text), 9)]
        if not isinstance(part, CallPart):
            kind = ReasoningDelta if isinstance(part, ReasoningPart) else TextDelta
            for piece in pieces:
                yield kind(piece, at)
                at += len(piece)
            continue
        yield CallStart(calls, part.name, part.id)
        yield from (ArgumentsDelta(calls, piece) for piece in pieces)
        if part.arguments is not None:
            yield CallEnd(calls, ToolInvocation(name=part.name, arguments=part.arguments, id=part.id), (at, at))
        else:
            yield CallFailed(calls, text, "malformed", "", (at, at), part.name)
        calls += 1


def _written_text(talk: Conversation, asked: str) -> str:
    """What a text model writes; once it has been asked again, it writes that right."""
    if talk is CONVERSATIONS["malformed call"] and "could not be used" not in asked:
        return f'<tool_call>\n{{"name": "look", "arguments": {BROKEN}\n</tool_call>'
    parts = (called(ONE),) if talk is CONVERSATIONS["malformed call"] else talk.parts
    thought = "".join(f"<think>\n{one.text}\n</think>\n" for one in parts if isinstance(one, ReasoningPart))
    said = "".join(one.text for one in parts if isinstance(one, TextPart | RefusalPart))
    calls: list[Any] = [{"name": one.name, "arguments": one.arguments} for one in parts if isinstance(one, CallPart)]
    return thought + said + ("\n" + render_calls(calls, dialect="hermes") if calls else "")


def _text_events(back: str, text: str, stop: Stop) -> list[Any]:
    ended = "length" if stop == "length" else "stop"
    pieces = [(text[at : at + 9], None) for at in range(0, len(text), 9)] + [("", ended)]
    if back == "llama.cpp":
        kind = {"stop_type": "limit" if ended == "length" else "eos", "tokens_evaluated": 12, "tokens_predicted": 9}
        return [{"content": piece, "stop": end is not None, **(kind if end else {})} for piece, end in pieces]
    if back == "completions":
        return [{"choices": [{"index": 0, "text": piece, "finish_reason": end}]} for piece, end in pieces]
    head: Any = {"id": "x1", "object": "chat.completion.chunk", "model": "m", "created": 1}
    return [
        {**head, "choices": [{"index": 0, "delta": {"role": "assistant", "content": piece}, "finish_reason": end}]}
        for piece, end in pieces
    ]


def _text_whole(back: str, text: str, stop: Stop) -> Any:
    last = _text_events(back, text, stop)[-1]
    if back == "llama.cpp":
        return {**last, "content": text}
    (choice,) = last["choices"]
    said = {"text": text} if back == "completions" else {"message": {"role": "assistant", "content": text}}
    usage = {"prompt_tokens": 12, "completion_tokens": 9, "total_tokens": 21}
    return {"choices": [{"index": 0, "finish_reason": choice["finish_reason"], **said}], "usage": usage}


def stream_events(back: str, talk: Conversation, asked: str = "") -> list[Any]:
    """Write the events of a conversation's answer."""
    if back in TEXT:
        return _text_events(back, _written_text(talk, asked), talk.stop)
    info = AnswerInfo(stop=talk.stop, usage=Usage(input=12, output=9))
    if any(isinstance(part, RefusalPart) for part in talk.parts):
        info.refusals.add(0)
    return list(write_stream(_events(talk.parts), target=back, id="x1", model="m", info=info))


def framed(back: str, events: list[Any]) -> tuple[list[Any], str]:
    """Write events as a back sends them; and their media type."""
    frames, media = FRAMES.get(back, (sse, "text/event-stream"))
    return _binary(events) if back == "bedrock" else frames(events), media


class Upstream:
    """A server that has every conversation in every API."""

    def __init__(self) -> None:
        """Be asked nothing yet."""
        self.asked = ""
        self.left = Event()

    async def answer(self, request: Request) -> Response:
        back, name = request.path_params["back"], request.path_params["talk"]
        talk = CONVERSATIONS[name.replace("_", " ")]
        self.asked = (await request.body()).decode()
        streams = json.loads(self.asked).get("stream", False) or "stream" in request.path_params["path"]
        if talk.fails and not streams:
            failure = Failure(kind="rate_limit", message="slow down", status=429)
            body = {"message": "slow down"} if back == "bedrock" else write_error(failure, _spoken(back))
            return JSONResponse(body, 429)
        events = stream_events(back, talk, self.asked)
        if not streams:
            if back in TEXT:
                return JSONResponse(_text_whole(back, _written_text(talk, self.asked), talk.stop))
            read = read_stream(events, source=back)
            said = list(read)
            return JSONResponse(write_answer(said, read.info, target=back, id="x1", model="m"))
        pieces, media = framed(back, events)
        return StreamingResponse(self._stream(talk, pieces), media_type=media)

    async def _stream(self, talk: Conversation, frames: list[Any]) -> AsyncIterator[Any]:
        try:
            for at, frame in enumerate(frames):
                if talk.fails and at == len(frames) // 2:
                    raise ConnectionAbortedError("as the conversation says")
                if talk.hangs and at == len(frames) // 2:
                    await anyio.sleep_forever()
                yield frame
                await anyio.lowlevel.checkpoint()
        finally:
            self.left.set()


def _spoken(back: str) -> str:
    return "openai-chat" if back in TEXT | {"mistral", "cohere"} else back


def _binary(events: list[Any]) -> list[bytes]:
    return [binary(name, json.dumps(value).encode()) for event in events for name, value in event.items()]


@contextmanager
def upstream() -> Iterator[tuple[Upstream, str]]:
    """Serve the conversations."""
    made = Upstream()
    app = Starlette(routes=[Route("/{back}/{talk}/{path:path}", made.answer, methods=["POST"])])
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="critical", lifespan="off"))
    socket = server.config.bind_socket()
    socket.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
    thread = Thread(target=server.run, args=([socket],), daemon=True)
    thread.start()
    try:
        yield made, f"http://127.0.0.1:{socket.getsockname()[1]}"
    finally:
        server.should_exit = server.force_exit = True
        thread.join()


def config_of(url: str, folder: Path) -> Config:
    """Make a route for every conversation with every back."""
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": TEMPLATE}), "utf-8")
    prompted = {"model_dir": str(folder)}
    backs = {
        f"{back}/{name}": {
            "api": back,
            "url": f"{url}/{back}/{name.replace(' ', '_')}",
            **(prompted if back in TEXT - {"text"} else {}),
            **({"dialect": "hermes"} if back in TEXT else {}),
        }
        for back in BACKS
        for name in CONVERSATIONS
    }
    return Config.model_validate({"backs": backs, "routes": [{"model": name, "backs": [name]} for name in backs]})


def _asked(case: Case, model: str) -> Any:
    """Give a conversation's request in the words of the SDK."""
    talk = CONVERSATIONS[model.partition("/")[2]]
    asked = convert_request(talk.request(model), source="openai-chat", target=case.format, settings={"model": model})
    return {**asked.value, "model": model}


async def talked(case: Case, client: SdkClient, server: Upstream, model: str, *, stream: bool) -> Seen:
    """Have one conversation to its end."""
    request = _asked(case, model)
    seen = Seen()
    try:
        async with aclosing(client.send(request, stream=stream)) as events:
            came = [event async for event in events]
        read = answered(came if stream else came[0])
        seen.events, seen.info = list(read), read.info
    except ToolFmtError as error:
        seen.error = error
    seen.asked = server.asked
    return seen


async def left(case: Case, url: str, server: Upstream, model: str) -> Seen:
    """Begin a conversation that never ends, and go away."""
    request = _asked(case, model)
    server.left.clear()
    async with case.open(url) as client, aclosing(client.send(request, stream=True)) as events:
        await anext(events)
    return Seen(left=await anyio.to_thread.run_sync(server.left.wait, 10))


async def outcomes(case: Case, url: str, server: Upstream) -> dict[str, dict[str, list[str]]]:
    """Have all conversations with all backs; what came of each, and with which backs."""
    found: dict[str, dict[str, list[str]]] = {}
    async with case.open(url) as client:
        for name, talk in CONVERSATIONS.items():
            for back in BACKS:
                model = f"{back}/{name}"
                ways = [
                    talk.check(
                        await (
                            left(case, url, server, model)
                            if talk.hangs
                            else talked(case, client, server, model, stream=stream)
                        )
                    )
                    for stream in talk.streamed
                ]
                found.setdefault(name, {}).setdefault(" / ".join(dict.fromkeys(ways)), []).append(back)
    return found
