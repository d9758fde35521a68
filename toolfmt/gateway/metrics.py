"""What the server counts, as Prometheus reads it: GET /metrics.

    toolfmt_requests_total{face="anthropic", back="local", status="200"} 3.0
    toolfmt_request_seconds_bucket{face="anthropic", le="0.25"} 2.0      until the answer begins
    toolfmt_losses_total{code="setting"} 1.0
    toolfmt_broken_streams_total{face="anthropic", back="local"} 1.0
    toolfmt_open_streams 2.0

A label never contains what a client sent.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from toolfmt.transcripts.comparing.loss import Loss

SHARED_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""The environment variable with the folder in which workers share their figures; prometheus_client reads it."""
MEDIA = CONTENT_TYPE_LATEST


class Metrics:
    """The counters of one server."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "toolfmt_requests_total", "Answered requests.", ("face", "back", "status"), registry=self._registry
        )
        self._seconds = Histogram(
            "toolfmt_request_seconds", "Seconds until an answer begins.", ("face",), registry=self._registry
        )
        self._losses = Counter("toolfmt_losses_total", "Losses of conversions.", ("code",), registry=self._registry)
        self.broken = Counter(
            "toolfmt_broken_streams_total",
            "Streams that ended in an error or were not read to their end.",
            ("face", "back"),
            registry=self._registry,
        )
        self.streams = Gauge(
            "toolfmt_open_streams", "Open streams.", registry=self._registry, multiprocess_mode="livesum"
        )

    def count(self, face: str, back: str, status: int, seconds: float, losses: Iterable[Loss] = ()) -> None:
        """Count a request whose answer begins."""
        self._requests.labels(face, back, str(status)).inc()
        self._seconds.labels(face).observe(seconds)
        for loss in losses:
            self._losses.labels(loss.code).inc()

    def text(self) -> bytes:
        """Write all figures; of all workers, where there are several."""
        if SHARED_VARIABLE not in os.environ:
            return generate_latest(self._registry)
        registry = CollectorRegistry()
        MultiProcessCollector(registry)
        return generate_latest(registry)
