"""What gateways add to a request, as `python -m bench.gateway` has measured it."""  # noqa: INP001 - beside the script

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from blocks import table

if TYPE_CHECKING:
    from collections.abc import Iterator

_FIGURES: Final = Path(__file__).resolve().parents[1] / "bench" / "gateway.json"
_FACES: Final = {"chat": "Chat Completions", "anthropic": "Anthropic Messages"}
_ADDED: Final = ("whole answer", "first byte", "whole stream")
_STREAMS: Final = (1, 16, 256)
_WHAT: Final = """\
One process plays the provider: it speaks Chat Completions and answers at once, a stream with 20 events. Each request
goes to it directly and through each gateway in turn, on loopback, in one run; so load of the machine affects all alike.
`bytes only` is the floor: the libraries that `toolfmt serve` is built of (Starlette, uvicorn, httpx2), passing bytes on
without reading them."""


def gateway_speed_page() -> str:
    """Compare the gateways that were measured in one run."""
    found = json.loads(_FIGURES.read_text("utf-8"))
    names = list(found["gateways"])
    return "\n\n".join(
        (
            "# Speed of gateways",
            f"{_WHAT} Python {found['python']}.",
            "```console\n" + "python -m bench.gateway --write && python docs/generate.py\n```",
            "## Added time",
            "Milliseconds that a gateway adds to a request, as median / 99th percentile; requests one after the other.",
            table(("client's API", "what", *names), _added(found["gateways"])),
            "## Throughput",
            "Streams a second for each second of the gateway's processor time, with so many open at once.",
            table(("client's API", "streams", *names), _throughput(found["gateways"])),
            "## Memory",
            (
                f"{found['slow']:,} slow streams held open, KB for each, and the memory of the process at the end. "
                f"{found['long']:,} requests more added {found['gateways']['toolfmt']['grown']:.1f} MB to `toolfmt`'s."
            ),
            table(
                ("gateway", "KB a stream", "MB"),
                ((name, f"{row['held']:.0f}", f"{row['memory']:.0f}") for name, row in found["gateways"].items()),
            ),
        )
    )


def _added(gateways: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    for face, api in _FACES.items():
        for what in _ADDED:
            rows = (row.get(f"{face}, {what}") for row in gateways.values())
            yield (api, what, *(f"{row['p50']:.1f} / {row['p99']:.1f}" if row else "-" for row in rows))


def _throughput(gateways: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    for face, api in _FACES.items():
        for streams in _STREAMS:
            rows = (row.get(f"{face}, {streams} streams") for row in gateways.values())
            yield (api, f"{streams}", *(f"{row['a core']:.0f}" if row else "-" for row in rows))
