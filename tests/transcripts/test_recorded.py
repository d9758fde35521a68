"""Recorded requests of agents: each is accepted by `check` where its provider took it, and converts to all others."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from toolfmt import check, convert

RECORDED = Path(__file__).resolve().parents[3] / "shared" / "transcripts" / "recorded.jsonl.gz"
SOURCES = ("openai-chat", "openai-responses", "anthropic", "gemini", "bedrock", "mistral", "cohere")
TARGETS = (*SOURCES, "ollama", "gemini-interactions", "pydantic-ai", "langchain", "vercel-model", "otel-genai")
pytestmark = pytest.mark.skipif(not RECORDED.is_file(), reason="there is no ../shared")
every_source = pytest.mark.parametrize("source", SOURCES)


@cache
def requests() -> dict[str, dict[str, Any]]:
    """Give the requests that got an answer, each once, by their format and then by their text."""
    found: dict[str, dict[str, Any]] = {}
    with gzip.open(RECORDED, "rt", encoding="utf-8") as lines:
        for exchange in map(json.loads, lines):
            if exchange["status"] == 200:
                text = json.dumps(exchange["request"], sort_keys=True)
                found.setdefault(exchange["fmt"], {}).setdefault(text, exchange["request"])
    return found


def conversions(source: str) -> Iterator[tuple[dict[str, Any], str]]:
    """Pair each request with one target, all targets in turn."""
    targets = cycle(target for target in TARGETS if target != source)
    return ((request, next(targets)) for request in requests()[source].values())


@every_source
def test_what_its_provider_took_is_accepted(source: str) -> None:
    refused = {
        text[:200]: found for text, value in requests()[source].items() if (found := check(value, format=source))
    }
    assert refused == {}


@every_source
def test_what_it_becomes_is_accepted_and_the_way_back_is_exact(source: str) -> None:
    for request, target in conversions(source):
        there = convert(request, source=source, target=target)
        assert check(there.value, format=target) == (), request
        back = convert(there.value, source=target, target=source, residue=there.residue)
        assert json.dumps(back.value) == json.dumps(request)
