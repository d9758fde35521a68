"""The APIs that clients speak: where each is, and where a request says its model.

POST /v1/chat/completions                    openai-chat
POST /v1/responses                           openai-responses; /input_tokens counts, /compact shortens
POST /v1/messages                            anthropic; /count_tokens counts
POST /v1beta/models/MODEL:generateContent    gemini; :countTokens counts
POST /v1beta/interactions                    gemini-interactions
POST /api/chat                               ollama
POST /mistral/v1/chat/completions            mistral, whose own path is OpenAI's

How each writes its stream is in `toolfmt.transcripts.sse`.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Task: TypeAlias = Literal["answer", "count", "compact"]
"""What a path is for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Face:
    """One path of an API as clients see it."""

    format: str
    path: str
    """As Starlette writes it; a part `{model}` is the model's name."""
    task: Task = "answer"
    streams: bool | None = None
    """Whether the path itself says that the answer is streamed; None leaves it to the field `stream`."""
    streamed_by_default: bool = False
    """What the field `stream` means where a request leaves it out."""
    media: str = "text/event-stream"
    listed: bool = False
    """Whether a stream is one JSON list unless the query says `alt=sse`."""


_VERBS: Final[tuple[tuple[str, Task, bool], ...]] = (
    ("generateContent", "answer", False),
    ("streamGenerateContent", "answer", True),
    ("countTokens", "count", False),
)
_GEMINI: Final = tuple(
    Face(format="gemini", path=f"/{version}/models/{{model:path}}:{verb}", task=task, streams=streams, listed=True)
    for version in ("v1beta", "v1")
    for verb, task, streams in _VERBS
)
FACES: Final = (
    Face(format="openai-chat", path="/v1/chat/completions"),
    Face(format="openai-responses", path="/v1/responses"),
    Face(format="openai-responses", path="/v1/responses/input_tokens", task="count", streams=False),
    Face(format="openai-responses", path="/v1/responses/compact", task="compact", streams=False),
    Face(format="anthropic", path="/v1/messages"),
    Face(format="anthropic", path="/v1/messages/count_tokens", task="count", streams=False),
    *_GEMINI,
    Face(format="gemini-interactions", path="/v1beta/interactions"),
    Face(format="gemini-interactions", path="/v1/interactions"),
    Face(format="ollama", path="/api/chat", streamed_by_default=True, media="application/x-ndjson"),
    Face(format="mistral", path="/mistral/v1/chat/completions"),
)
_ROOTS: Final[Mapping[str, str]] = {
    "/v1beta/interactions": "gemini-interactions",
    "/v1beta/": "gemini",
    "/api/": "ollama",
    "/mistral/": "mistral",
}
"""Whose clients ask below a path; all others are OpenAI's, and those that send one of these headers:"""
_MARKS: Final[Mapping[str, str]] = {"anthropic-version": "anthropic", "x-goog-api-key": "gemini"}


def asked_format(path: str, headers: Container[str]) -> str:
    """Say whose client asks for a path, to answer it in words that it reads."""
    known = next((face.format for face in FACES if face.path == path), None)
    rooted = next((found for root, found in _ROOTS.items() if path.startswith(root)), None)
    marked = next((found for name, found in _MARKS.items() if name in headers), FACES[0].format)
    return known or rooted or marked
