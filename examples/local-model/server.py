"""A server of Chat Completions without tools, whose `grammar` holds the model to a form: what a text back needs.

    python server.py --port 8080

POST /v1/chat/completions    {"messages": [...], "max_tokens": 200, "stream": true, "grammar": "%llguidance ..."}
"""

from __future__ import annotations

import argparse
import json
from collections.abc import AsyncGenerator, Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import uvicorn
from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

if TYPE_CHECKING:
    from starlette.requests import Request

Pieces: TypeAlias = Iterator[tuple[str, str | None]]
"""Text, and with the last piece why it ended: `stop` or `length`."""
Write: TypeAlias = Callable[[list[Any], str | None, int], Pieces]
"""Writes an answer to messages, held to a grammar, of so many tokens at most."""
LIMIT = 512


def make_app(write: Write, name: str) -> Starlette:
    """Make the server of one model, which writes one piece at a time; answers take turns."""
    turn = CapacityLimiter(1)

    async def answers(body: Any) -> AsyncGenerator[tuple[str, str | None]]:
        said = write(body["messages"], body.get("grammar"), body.get("max_tokens") or LIMIT)
        while piece := await to_thread.run_sync(next, said, None, limiter=turn):
            yield piece

    async def events(body: Any) -> AsyncGenerator[str]:
        async for text, ended in answers(body):
            choice = {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": ended}
            yield f"data: {json.dumps({**head('chat.completion.chunk'), 'choices': [choice]})}\n\n"
        yield "data: [DONE]\n\n"

    async def answer(request: Request) -> Response:
        body = await request.json()
        if body.get("stream"):
            return StreamingResponse(events(body), media_type="text/event-stream")
        pieces = [piece async for piece in answers(body)]
        said = {"role": "assistant", "content": "".join(text for text, _ in pieces)}
        choice = {"index": 0, "message": said, "finish_reason": pieces[-1][1]}
        return JSONResponse({**head("chat.completion"), "choices": [choice]})

    async def models(_: Request) -> Response:
        return JSONResponse({"object": "list", "data": [{"id": name, "object": "model"}]})

    def head(kind: str) -> dict[str, Any]:
        return {"id": "local", "object": kind, "created": 0, "model": name}

    paths = [Route("/v1/chat/completions", answer, methods=["POST"]), Route("/v1/models", models)]
    return Starlette(routes=paths)


if __name__ == "__main__":
    from model import Model

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8080)
    uvicorn.run(make_app(Model().write, "smollm2-135m-instruct"), port=parser.parse_args().port)
