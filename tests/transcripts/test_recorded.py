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
from toolfmt.conversation import CallPart, Message, OpaquePart, ReasoningPart, TextPart
from toolfmt.corpora.picks import Picked
from toolfmt.jsontext import is_object
from toolfmt.transcripts.answer_apis import ANSWERS
from toolfmt.transcripts.answering.answer_message import answer_message
from toolfmt.transcripts.answers import AnswerReader, is_event_text
from toolfmt.transcripts.formats import find
from toolfmt.transcripts.parts.endings import UNFINISHED
from toolfmt.transcripts.reading import read
from toolfmt.transcripts.sse import EventText

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


@cache
def streams(source: str) -> list[dict[str, Any]]:
    """Give the exchanges whose answer is a stream."""
    with gzip.open(RECORDED, "rt", encoding="utf-8") as lines:
        found = [row for row in map(json.loads, lines) if row["fmt"] == source]
    return [row for row in found if row["status"] == 200 and is_event_text(row["response"])]


def said(*messages: Message) -> tuple[str, str, list[tuple[str, Any]]]:
    """Give the text, the reasoning and the calls."""
    parts = [part for message in messages for part in message.parts]
    text, thought = (
        "".join(part.text for part in parts if isinstance(part, kind)) for kind in (TextPart, ReasoningPart)
    )
    return text, thought, [(part.name, json.loads(part.json)) for part in parts if isinstance(part, CallPart)]


@pytest.mark.parametrize("source", ["openai-responses", "anthropic", "gemini"])
def test_a_whole_answer_made_of_a_stream_says_what_its_events_say(source: str) -> None:
    api, count = ANSWERS[source], 0
    for row in streams(source):
        data = [json.loads(text) for text in EventText().feed(f"{row['response']}\n\n")]
        reader = AnswerReader()
        message = answer_message([event for one in data for event in reader.feed(one)] + reader.close(), reader.info)
        whole = None if reader.info.stop in UNFINISHED else api.whole([one for one in data if api.fits(one)])
        if whole is not None and whole.get("output") != []:
            count += 1
            assert said(*read(whole, find(source)).messages) == said(message), row["id"]
    assert count > 4


def test_calls_that_a_provider_ran_are_read_in_streams() -> None:
    hosted = {"server_tool_use", "mcp_tool_use", "web_search_call", "executableCode", "toolCall"}
    found: set[Any] = set()
    for source in ("openai-responses", "anthropic", "gemini"):
        for row in streams(source):
            if any(f'"{name}"' in row["response"] for name in hosted):
                _, transcript = Picked(formats=(source,), at="/request", answer="/response").read(row)
                parts = (part for message in transcript.messages for part in message.parts)
                values = [part.value for part in parts if isinstance(part, OpaquePart)]
                found |= {key for value in values if is_object(value) for key in (value.get("type"), *value)}
    assert hosted <= found
