"""What the server counts, as Prometheus reads it: GET /metrics.

    toolfmt_requests_total{face="anthropic", back="local", key="ann", route="qwen*", status="200"} 3.0
    toolfmt_request_seconds_bucket{face="anthropic", le="0.25"} 2.0      until the answer begins
    toolfmt_answer_seconds_bucket{face="anthropic", le="10.0"} 2.0       until it has ended
    toolfmt_tokens_total{back="local", key="ann", kind="output", route="qwen*"} 812.0
    toolfmt_back_failures_total{back="local", status="503"} 1.0          of those that another back answered too
    toolfmt_losses_total{code="setting"} 1.0
    toolfmt_broken_streams_total{face="anthropic", back="local"} 1.0
    toolfmt_open_streams 2.0

A label never contains what a client sent: `key` and `route` are names and patterns of the configuration.
"""

from __future__ import annotations

import os
from typing import Any, Final

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from toolfmt.gateway.journal import Entry

SHARED_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""The environment variable with the folder in which workers share their figures; prometheus_client reads it."""
MEDIA = CONTENT_TYPE_LATEST
_BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)


class Metrics:
    """The counters of one server."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        said: Any = {"registry": self._registry}
        self._requests = Counter(
            "toolfmt_requests_total", "Answered requests.", ("face", "back", "key", "route", "status"), **said
        )
        self._seconds = [
            Histogram(
                f"toolfmt_{name}_seconds", f"Seconds until an answer {what}.", ("face",), buckets=_BUCKETS, **said
            )
            for name, what in (("request", "begins"), ("answer", "has ended"))
        ]
        labels = ("back", "key", "route", "kind")
        self._tokens = Counter("toolfmt_tokens_total", "Tokens of requests and answers.", labels, **said)
        self._failures = Counter("toolfmt_back_failures_total", "Failures of backs.", ("back", "status"), **said)
        self._losses = Counter("toolfmt_losses_total", "Losses of conversions.", ("code",), **said)
        self._broken = Counter(
            "toolfmt_broken_streams_total",
            "Streams that ended in an error or were not read to their end.",
            ("face", "back"),
            **said,
        )
        self.streams = Gauge("toolfmt_open_streams", "Open streams.", multiprocess_mode="livesum", **said)

    def count(self, entry: Entry) -> None:
        """Count a request that has ended."""
        self._requests.labels(entry.face, entry.back, entry.key, entry.route, str(entry.status)).inc()
        for seconds, end in zip(self._seconds, (entry.answered, entry.ended), strict=True):
            seconds.labels(entry.face).observe((end or entry.began) - entry.began)
        for back, status in entry.tried.items():
            self._failures.labels(back, str(status)).inc()
        for loss in entry.losses:
            self._losses.labels(loss.code).inc()
        if entry.stream and entry.error:
            self._broken.labels(entry.face, entry.back).inc()
        if entry.usage is not None:
            for kind in ("input", "output"):
                tokens = self._tokens.labels(entry.back, entry.key, entry.route, kind)
                tokens.inc(max(0, getattr(entry.usage, kind)))

    def text(self) -> bytes:
        """Write all figures; of all workers, where there are several."""
        if SHARED_VARIABLE not in os.environ:
            return generate_latest(self._registry)
        registry = CollectorRegistry()
        MultiProcessCollector(registry)
        return generate_latest(registry)
