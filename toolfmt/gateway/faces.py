"""The APIs that clients speak: where each is, and where a request says its model.

POST /v1/chat/completions                    openai-chat
POST /v1/responses                           openai-responses
POST /v1/messages                            anthropic
POST /v1beta/models/MODEL:generateContent    gemini
POST /v1beta/interactions                    gemini-interactions
POST /api/chat                               ollama

How each writes its stream is in `toolfmt.transcripts.streams.sse`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolfmt.model import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Face:
    """One API as clients see it."""

    format: str
    path: str
    """As Starlette writes it; a part `{model}` is the model's name."""
    streams: bool | None = None
    """Whether the path itself says that the answer is streamed; None leaves it to the field `stream`."""
    streamed_by_default: bool = False
    """What the field `stream` means where a request leaves it out."""
    media: str = "text/event-stream"
    listed: bool = False
    """Whether a stream is one JSON list unless the query says `alt=sse`."""


_ROOTS: Final[Mapping[str, str]] = {
    "/v1beta/interactions": "gemini-interactions",
    "/v1beta/": "gemini",
    "/api/": "ollama",
}
"""Whose clients ask below a path; all others are OpenAI's, and those that send one of these headers:"""
_MARKS: Final[Mapping[str, str]] = {"anthropic-version": "anthropic", "x-goog-api-key": "gemini"}
_GEMINI: Final = tuple(
    Face(format="gemini", path=f"/{version}/models/{{model:path}}:{verb}", streams=streams, listed=True)
    for version in ("v1beta", "v1")
    for verb, streams in (("generateContent", False), ("streamGenerateContent", True))
)
_NEVER: Final = "1970-01-01T00:00:00Z"
FACES: Final = (
    Face(format="openai-chat", path="/v1/chat/completions"),
    Face(format="openai-responses", path="/v1/responses"),
    Face(format="anthropic", path="/v1/messages"),
    *_GEMINI,
    Face(format="gemini-interactions", path="/v1beta/interactions"),
    Face(format="gemini-interactions", path="/v1/interactions"),
    Face(format="ollama", path="/api/chat", streamed_by_default=True, media="application/x-ndjson"),
)


def asked_format(path: str, headers: Container[str]) -> str:
    """Tell whose client asks for a path, to answer it in words that it reads."""
    known = next((face.format for face in FACES if face.path == path), None)
    rooted = next((found for root, found in _ROOTS.items() if path.startswith(root)), None)
    marked = next((found for name, found in _MARKS.items() if name in headers), FACES[0].format)
    return known or rooted or marked


def _models(names: Sequence[str]) -> JsonObject:
    """List models as OpenAI, Anthropic and Gemini do: each client reads its own fields."""
    kinds = {"object": "model", "created": 0, "owned_by": "toolfmt", "type": "model", "created_at": _NEVER}
    rows = [{"id": name, "display_name": name, **kinds} for name in names]
    ends = {"first_id": names[0] if names else None, "last_id": names[-1] if names else None}
    methods = ["generateContent", "streamGenerateContent"]
    gemini = [{"name": f"models/{name}", "supportedGenerationMethods": methods} for name in names]
    return {"object": "list", "data": rows, "has_more": False, **ends, "models": gemini}


def _ollama_models(names: Sequence[str]) -> JsonObject:
    rows = [{"name": name, "model": name, "modified_at": _NEVER, "size": 0} for name in names]
    return {"models": rows}


MODELS: Final[dict[str, Callable[[Sequence[str]], JsonObject]]] = {
    "/v1/models": _models,
    "/v1beta/models": _models,
    "/api/tags": _ollama_models,
}
"""What lists the models, by path."""
