"""How many tokens a request has.

anthropic          POST /v1/messages/count_tokens                {"input_tokens": 12}
gemini             POST /v1beta/models/MODEL:countTokens         {"totalTokens": 12}
openai-responses   POST /v1/responses/input_tokens               {"object": "response.input_tokens", "input_tokens": 12}

The back counts where its API can. Else the tokens are those of the tokenizer that the back names: an estimate, because
the server's own template is unknown. Without one, the request is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from typing import Final

from anyio import to_thread

from toolfmt.gateway.backs import Upstream
from toolfmt.gateway.failing import bad_answer, refusal
from toolfmt.gateway.handling import Asked, GatewayAnswer, Handler, estimate
from toolfmt.jsontext import is_object
from toolfmt.model import JsonObject

_ANSWERS: Final[Mapping[str, Callable[[int], JsonObject]]] = {
    "anthropic": lambda count: {"input_tokens": count},
    "gemini": lambda count: {"totalTokens": count},
    "openai-responses": lambda count: {"object": "response.input_tokens", "input_tokens": count},
}
"""How each API writes a number of tokens."""


class Counting(Handler):
    """Counts the tokens of requests."""

    def opened(self, body: JsonObject) -> JsonObject:
        """Return the request; Gemini's may be in a field of its own."""
        inner = body.get("generateContentRequest")
        return super().opened(inner if is_object(inner) else body)

    async def asked(self, asked: Asked, upstream: Upstream, stack: AsyncExitStack) -> GatewayAnswer:  # noqa: ARG002 - nothing stays open
        """Let one back count, or estimate."""
        sent = await self.sent(asked, upstream, streamed=False)
        api = upstream.api.count
        if api is None:
            if upstream.back.tokenizer is None:
                raise refusal(
                    "not_found",
                    f"cannot count the tokens of {asked.model!r}: its API does not, "
                    "and the configuration names no tokenizer",
                )
            count = await to_thread.run_sync(estimate, asked.body, self.format, upstream.back.tokenizer)
            return GatewayAnswer(_ANSWERS[self.format](count), notices={"tokens": "estimated"})
        request = {key: value for key, value in sent.value.items() if key in api.keys}
        model = asked.sent_model
        value, headers, _ = await upstream.post(api.path, api.wrapped(request, model), model)
        count = value.get(api.place) if is_object(value) else None
        if not isinstance(count, int):
            raise bad_answer(f"the upstream's count has no {api.place}")
        return GatewayAnswer(_ANSWERS[self.format](count), headers=dict(headers), losses=sent.losses)
