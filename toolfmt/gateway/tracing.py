"""OpenTelemetry spans of requests, by the semantic conventions for HTTP and for generative AI.

POST /v1/messages            http.response.status_code=200
  chat qwen3-8b              gen_ai.usage.input_tokens=812 gen_ai.response.finish_reasons=("tool_calls",)

The trace of a client goes on here (`traceparent`), and at the back. Content is never in a span. Needs the extra
`otel`, and an SDK that exports, as `opentelemetry-instrument toolfmt serve ...` brings one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from toolfmt.agents.telemetry import answer_attributes, set_failed, settings
from toolfmt.errors import MissingExtraError
from toolfmt.gateway.config import Back
from toolfmt.model import JsonObject
from toolfmt.transcripts.answering.answer_info import AnswerInfo, Failure

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer
    from starlette.requests import Request

_PROVIDERS: Final[Mapping[str, str]] = {
    "openai-chat": "openai",
    "openai-responses": "openai",
    "gemini": "gcp.gemini",
    "gemini-interactions": "gcp.gemini",
    "bedrock": "aws.bedrock",
    "mistral": "mistral_ai",
    "xai": "x_ai",
    "azure": "azure.ai.openai",
}
"""The providers' names in the conventions, where they differ from the names of the APIs."""
_SERVER_ERROR: Final = 500


class Tracing:
    """Makes the spans of one server."""

    def __init__(self, tracer: Tracer | None = None) -> None:
        """Take a tracer, else that of the global provider; raises `MissingExtraError` without `opentelemetry-api`."""
        try:
            from opentelemetry import trace
        except ImportError:
            raise MissingExtraError("tracing", "otel") from None
        self._tracer = trace.get_tracer("toolfmt") if tracer is None else tracer

    def received(self, request: Request, stack: AsyncExitStack) -> Callable[[int], None]:
        """Begin the span of a client's request, which ends with `stack`; return what notes the status."""
        from opentelemetry import context, propagate, trace

        parent = propagate.extract(dict(request.headers))
        path: str = getattr(request.scope.get("route"), "path", request.url.path)
        about = {"http.request.method": request.method, "http.route": path, "url.path": request.url.path}
        span = self._tracer.start_span(f"{request.method} {path}", parent, trace.SpanKind.SERVER, about)
        context.attach(trace.set_span_in_context(span, parent))  # of this request's task, which ends with it
        stack.callback(span.end)

        def note(status: int) -> None:
            span.set_attribute("http.response.status_code", status)
            if status >= _SERVER_ERROR:
                set_failed(span, str(status), "")

        return note

    def asking(self, body: JsonObject, model: str, back: Back) -> Span:
        """Begin the span of a request to a back, which knows the model by that name."""
        from opentelemetry import context, trace

        place = urlsplit(back.url)
        about = settings(body) | {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": _PROVIDERS.get(back.api, back.api),
            "gen_ai.request.model": model,
            "server.address": place.hostname or "",
        }
        about |= {"server.port": place.port} if place.port is not None else {}
        span = self._tracer.start_span(f"chat {model}", None, trace.SpanKind.CLIENT, about)
        context.attach(trace.set_span_in_context(span))
        return span


def refused(span: Span, failure: Failure) -> None:
    """End the span of a request that a back did not answer."""
    set_failed(span, failure.kind, failure.message)
    span.end()


def finish(span: Span, info: AnswerInfo | None) -> None:
    """End the span of an answer, with what is known of it."""
    if info is not None:
        span.set_attributes(answer_attributes(info, info.stop))
        if info.failure is not None:
            set_failed(span, info.failure.kind, info.failure.message)
        elif info.stop is None:
            set_failed(span, "cancelled", "the answer was not read to its end")
    span.end()
