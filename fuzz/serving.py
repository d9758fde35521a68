"""The gateway under test: a client's request, and the answer of a back, both changed.

Law: no request is answered with "the gateway failed", whole or streamed.
"""

from __future__ import annotations

import json
import logging
from functools import cache
from typing import TYPE_CHECKING, Any

import anyio
import httpx2

from fuzz import seeds
from fuzz.mutating import mutated
from fuzz.mutating import text as mutated_text
from toolfmt import convert
from toolfmt.errors import ToolFmtError
from toolfmt.gateway.apis import APIS, FACES
from toolfmt.gateway.app import make_app
from toolfmt.gateway.config import Back, Config, ModelRoute

if TYPE_CHECKING:
    from random import Random

_BACKS = tuple(name for name, api in APIS.items() if not api.prompted)
_STATUSES = (200, 200, 200, 400, 429, 500)
_LOOK = {
    "name": "look",
    "description": "Look.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
}
_CHAT: dict[str, Any] = {
    "model": "m",
    "messages": [
        {"role": "user", "content": "Weather?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "Which city?"},
        {"role": "user", "content": "Oslo"},
    ],
    "tools": [{"type": "function", "function": _LOOK}],
}


@cache
def _requests() -> dict[str, Any]:
    """Write a request of each face's format."""
    return {
        name: convert(_CHAT, target=name, source="openai-chat", include=("tools", "request")).value
        for name in {face.format for face in FACES}
    }


def made(chance: Random) -> Any:
    """Make a case: the path, the request, the back, and what it answers."""
    face = chance.choice(FACES)
    request = _requests()[face.format]
    if chance.random() < 0.7:  # noqa: PLR2004 - most of them
        request = mutated(request, seeds.schemas(), chance)
    if isinstance(request, dict):
        request = {**request, "model": "m", **({"stream": True} if chance.random() < 0.5 else {})}  # noqa: PLR2004 - half
    answer = chance.choice(seeds.answers())
    return {
        "path": face.path.replace("{model:path}", "m"),
        "request": request,
        "back": chance.choice(_BACKS),
        "answer": mutated(answer, seeds.answers(), chance) if chance.random() < 0.8 else answer,  # noqa: PLR2004 - most
        "text": mutated_text(chance.choice(seeds.answer_texts())[1], chance) if chance.random() < 0.3 else None,  # noqa: PLR2004 - some
        "status": chance.choice(_STATUSES),
    }


def _written(value: Any) -> bytes:
    """Write JSON, or what resembles it."""
    try:
        return json.dumps(value).encode("utf-8", "surrogatepass")
    except (RecursionError, ValueError):
        return b"[" * 3_000


def _answer(case: Any) -> httpx2.Response:
    value = case["answer"]
    if case["text"] is not None:  # what a model writes, in an answer of Chat Completions
        value = {"choices": [{"index": 0, "message": {"role": "assistant", "content": case["text"]}}]}
    if isinstance(value, list):
        body = b"".join(b"data: " + _written(event) + b"\n\n" for event in value)
        return httpx2.Response(case["status"], content=body, headers={"content-type": "text/event-stream"})
    return httpx2.Response(case["status"], content=_written(value), headers={"content-type": "application/json"})


def run(case: Any) -> None:
    """Ask the gateway; raises what it raised."""
    back = Back(api=case["back"], url="http://back.invalid/v1", retries=1)
    config = Config(backs={"it": back}, routes=(ModelRoute(backs=("it",)),))
    transport = httpx2.MockTransport(lambda _: _answer(case))
    app = make_app(config, transport=transport)

    async def ask() -> None:
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://gateway.invalid") as client:
            response = await client.post(case["path"], content=_written(case["request"]))
            if "the gateway failed" in response.text:
                raise AssertionError(response.text)

    log = logging.getLogger("toolfmt.gateway")
    log.disabled = True  # a line for each request would hide the findings
    try:
        anyio.run(ask)
    except ToolFmtError as error:  # not one of them may leave the server
        raise AssertionError(repr(error)) from error
    finally:
        log.disabled = False
