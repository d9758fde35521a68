"""The APIs that clients speak: where each is, how it streams, and where a request says its model.

POST /v1/chat/completions                    openai-chat         data: {...}  data: [DONE]
POST /v1/responses                           openai-responses    event: TYPE  data: {...}
POST /v1/messages                            anthropic           event: TYPE  data: {...}
POST /v1beta/models/MODEL:generateContent    gemini              data: {...}
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from toolfmt import jsontext

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolfmt.model import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Face:
    """One API as clients see it."""

    format: str
    path: str
    """As Starlette writes it; a part `{model}` is the model's name."""
    named: bool
    """Whether events have a name beside their data."""
    end: str = ""
    """What ends a stream."""
    streams: bool | None = None
    """Whether the path itself says that the answer is streamed; None leaves it to the field `stream`."""

    def sse(self, event: JsonObject) -> str:
        """Write an event as server-sent events have it."""
        name = f"event: {event['type']}\n" if self.named else ""
        return f"{name}data: {jsontext.dumps(event)}\n\n"


_GEMINI: Final = tuple(
    Face(format="gemini", path=f"/{version}/models/{{model:path}}:{verb}", named=False, streams=streams)
    for version in ("v1beta", "v1")
    for verb, streams in (("generateContent", False), ("streamGenerateContent", True))
)
FACES: Final = (
    Face(format="openai-chat", path="/v1/chat/completions", named=False, end="data: [DONE]\n\n"),
    Face(format="openai-responses", path="/v1/responses", named=True),
    Face(format="anthropic", path="/v1/messages", named=True),
    *_GEMINI,
)


def _openai_models(names: Sequence[str]) -> JsonObject:
    rows = [{"id": name, "object": "model", "created": 0, "owned_by": "toolfmt"} for name in names]
    return {"object": "list", "data": rows}


def _gemini_models(names: Sequence[str]) -> JsonObject:
    methods = ["generateContent", "streamGenerateContent"]
    return {"models": [{"name": f"models/{name}", "supportedGenerationMethods": methods} for name in names]}


MODELS: Final[dict[str, Callable[[Sequence[str]], JsonObject]]] = {
    "/v1/models": _openai_models,
    "/v1beta/models": _gemini_models,
}
"""What lists the models, by path."""
