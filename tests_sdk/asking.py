"""Requests of every face to a gateway with one back, and pieces of what that back says."""

from __future__ import annotations

import json
from typing import Any

import httpx2
from rawserver import Raw

from toolfmt.gateway.config import Back, Config, ModelRoute

USER = {"role": "user", "content": "Weather?"}
CHAT = {"model": "m", "messages": [USER], "max_tokens": 9}
ASKS: dict[str, tuple[str, Any]] = {
    "openai-chat": ("/v1/chat/completions", CHAT),
    "openai-responses": ("/v1/responses", {"model": "m", "input": "Weather?"}),
    "anthropic": ("/v1/messages", CHAT),
    "gemini": ("/v1beta/models/m:{verb}?alt=sse", {"contents": [{"role": "user", "parts": [{"text": "Weather?"}]}]}),
    "gemini-interactions": ("/v1beta/interactions", {"model": "m", "input": "Weather?"}),
    "ollama": ("/api/chat", CHAT),
}


def one(upstream: Raw, **options: Any) -> Config:
    most = options.pop("max_answer", 1_000_000)
    back = Back(url=upstream.url, **options)
    return Config(backs={"it": back}, routes=(ModelRoute(backs=("it",)),), max_answer=most)


def ask(face: str, url: str, *, stream: bool) -> httpx2.Response:
    path, body = ASKS[face]
    path = path.format(verb="streamGenerateContent" if stream else "generateContent")
    return httpx2.post(url + path, json=body | ({} if "{" in ASKS[face][0] else {"stream": stream}), timeout=60)


def chunk(**delta: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": None}
    made = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return f"data: {json.dumps(made, ensure_ascii=False)}\n\n".encode()


BEGUN = chunk(role="assistant", content="Let me look.")
ENDED = chunk(content=" Done.").replace(b'"finish_reason": null', b'"finish_reason": "stop"') + b"data: [DONE]\n\n"
