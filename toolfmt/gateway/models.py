"""Which models there are, as each client reads it.

GET /v1/models, /v1beta/models    OpenAI's, Anthropic's and Gemini's; further /MODEL: one of them
GET /api/tags                     Ollama's

Those are listed that a route names, and those that a back lists itself where a route with a `*` leads to it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from toolfmt import jsontext
from toolfmt.gateway.failing import ExchangeError

if TYPE_CHECKING:
    from toolfmt.gateway.backs import Upstream
    from toolfmt.gateway.config import Config
    from toolfmt.model import JsonObject

log: Final = logging.getLogger("toolfmt.gateway")
_NEVER: Final = "1970-01-01T00:00:00Z"


class Models:
    """Knows the models that are served."""

    def __init__(self, config: Config, upstreams: Mapping[str, Upstream]) -> None:
        """Take the routes, and the backs to ask."""
        self._config = config
        self._upstreams = upstreams

    async def names(self) -> list[str]:
        """List all models; a back that cannot say what it has is left out, and the log says so.

        Raises `ExchangeError` where that leaves none.
        """
        found = {route.model for route in self._config.routes if not route.open}
        asked = dict.fromkeys(name for route in self._config.routes if route.open for name in route.backs)
        failed: ExchangeError | None = None
        for back in asked:
            try:
                found.update(name for name in await self._upstreams[back].models() if self._leads(name, back))
            except ExchangeError as error:
                failed = error
                log.warning("%s", jsontext.dumps({"back": back, "models_left_out": error.logged}))
        if failed is not None and not found:
            raise failed
        return sorted(found)

    def serves(self, name: str) -> bool:
        """Whether a model has a route."""
        return self._config.route(name) is not None

    def _leads(self, model: str, back: str) -> bool:
        route = self._config.route(model)
        return route is not None and back in route.backs and route.as_model is None


def _row(name: str) -> JsonObject:
    """Describe a model to OpenAI's, Anthropic's and Gemini's clients: each reads its own fields."""
    openai: JsonObject = {"object": "model", "created": 0, "owned_by": "toolfmt"}
    anthropic: JsonObject = {"type": "model", "display_name": name, "created_at": _NEVER}
    methods = ["generateContent", "streamGenerateContent", "countTokens"]
    gemini: JsonObject = {"name": f"models/{name}", "displayName": name, "supportedGenerationMethods": methods}
    return {"id": name, **openai, **anthropic, **gemini}


def _list(names: Sequence[str]) -> JsonObject:
    rows = [_row(name) for name in names]
    ends: JsonObject = {"first_id": names[0], "last_id": names[-1]} if names else {"first_id": None, "last_id": None}
    return {"object": "list", "data": rows, "has_more": False, **ends, "models": rows}


LISTS: Final[Mapping[str, Callable[[Sequence[str]], JsonObject]]] = {
    "/v1/models": _list,
    "/v1beta/models": _list,
    "/api/tags": lambda names: {
        "models": [{"name": name, "model": name, "modified_at": _NEVER, "size": 0} for name in names]
    },
}
"""What lists the models, by path."""
ROWS: Final[Mapping[str, Callable[[str], JsonObject]]] = {
    "/v1/models/{model:path}": _row,
    "/v1beta/models/{model:path}": _row,
}
"""What describes one model, by path."""
