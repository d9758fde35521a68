"""Spans of a gateway's requests, as an exporter gets them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from gateways import CALL, FACES, TEXT_CALL, before, gateway
from loopback import Answer, Body, serving
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from toolfmt.gateway import tracing

TRACE = "0af7651916cd43dd8448eb211c80319c"


@pytest.fixture
def exported(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", lambda _: provider.get_tracer("toolfmt"))
    yield exporter
    provider.shutdown()


def spans(exporter: InMemorySpanExporter, count: int) -> list[ReadableSpan]:
    """Give the spans that have ended; a stream's end after its client has the last event."""
    for _ in range(500):
        if len(found := exporter.get_finished_spans()) >= count:
            return sorted(found, key=lambda span: span.start_time or 0)
        time.sleep(0.01)
    raise AssertionError([span.name for span in exporter.get_finished_spans()])


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(("face", "api"), [(face, "anthropic") for face in FACES] + [("openai-chat", "text")])
def test_a_request_is_a_span_within_that_of_its_client(
    exported: InMemorySpanExporter,
    face: str,
    api: str,
    stream: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    with (
        serving(TEXT_CALL if api == "text" else CALL) as upstream,
        gateway(before(upstream, api).model_copy(update={"traces": True})) as url,
    ):
        assert FACES[face](url, stream=stream)[1]
    server, client = spans(exported, 2)
    asked: Any = server.attributes
    assert (server.kind, client.kind) == (SpanKind.SERVER, SpanKind.CLIENT)
    assert server.name == f"POST {asked['http.route']}"
    assert asked["http.response.status_code"] == 200
    assert client.parent is not None
    assert client.parent.span_id == server.get_span_context().span_id  # type: ignore[union-attr]
    about: Any = client.attributes
    assert client.name == "chat m"
    assert about["gen_ai.operation.name"] == "chat"
    assert about["gen_ai.provider.name"] == api
    assert about["gen_ai.request.model"] == "m"
    assert about["gen_ai.usage.input_tokens"] >= 0
    assert list(about["gen_ai.response.finish_reasons"])
    assert "Weather?" not in str([dict(span.attributes or {}) for span in (server, client)])
    (sent,) = upstream.requests
    assert f"{client.get_span_context().span_id:016x}" in sent.headers["traceparent"]  # type: ignore[union-attr]


def test_a_clients_trace_goes_on(exported: InMemorySpanExporter) -> None:
    headers = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}
    with (
        serving(Answer("Hi")) as upstream,
        gateway(before(upstream, "openai-chat").model_copy(update={"traces": True})) as url,
    ):
        body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "temperature": 0.5}
        assert httpx2.post(f"{url}/v1/chat/completions", json=body, headers=headers).status_code == 200
    server, client = spans(exported, 2)
    assert {f"{span.get_span_context().trace_id:032x}" for span in (server, client)} == {TRACE}  # type: ignore[union-attr]
    assert (client.attributes or {})["gen_ai.request.temperature"] == 0.5
    assert TRACE in upstream.requests[0].headers["traceparent"]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_what_fails_is_a_span_with_an_error(exported: InMemorySpanExporter, stream: bool) -> None:  # noqa: FBT001 - as above
    broken = Answer("Let me look.", CALL.calls, drop=3) if stream else Body(500)
    with (
        serving(broken) as upstream,
        gateway(before(upstream, "openai-chat").model_copy(update={"traces": True})) as url,
    ):
        body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": stream}
        httpx2.post(f"{url}/v1/chat/completions", json=body)
    server, client = spans(exported, 2)
    assert client.status.status_code is StatusCode.ERROR
    assert (client.attributes or {})["error.type"] == "server"
    assert (server.status.status_code is StatusCode.ERROR) is not stream


def test_without_traces_there_are_no_spans(exported: InMemorySpanExporter) -> None:
    with serving(CALL) as upstream, gateway(before(upstream, "openai-chat")) as url:
        assert FACES["openai-chat"](url, stream=True)[1]
    assert not exported.get_finished_spans()
    assert "traceparent" not in upstream.requests[0].headers
    assert tracing.Tracing()
