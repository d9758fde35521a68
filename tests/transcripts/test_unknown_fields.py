"""A field that nobody knows, at any place of a request, an answer or a stream, is in the output or among the losses."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from functools import cache
from itertools import cycle
from typing import Any

import pytest

from tests.transcripts.test_examples import FOLDER
from tests.transcripts.test_recorded import RECORDED
from toolfmt import convert, convert_request
from toolfmt.errors import ConversionError, ParseError, UnrepresentableError
from toolfmt.transcripts.answer_apis import ANSWERS
from toolfmt.transcripts.comparing.loss import Loss
from toolfmt.transcripts.convert_answer import convert_answer
from toolfmt.transcripts.sse import DONE, EventText
from toolfmt.transcripts.streams.relay import StreamConverter

NAME, CONTENT = "zzq", "nee7dle"
FREE = frozenset({"arguments", "args", "input", "properties", "$defs", "schema", "json", "parameters", "input_schema"})
"""Keys of values with any content."""
ANYWHERE = frozenset(
    {"messages", "content", "choices", "candidates", "output", "parts", "message", "delta", "contents", "response"}
)
"""Keys of what holds parts of many kinds: their names describe no loss."""
WHOLE = frozenset(
    {"media", "reasoning", "provider_part", "result", "call", "result_content", "tools", "tool", "citations"}
)
"""The codes of losses of a whole part, whatever it contained."""


def objects(value: Any, path: tuple[Any, ...] = (), kind: tuple[str, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """List the paths of all objects, each with its kind: the path with types in place of numbers."""
    if isinstance(value, dict):
        yield path, kind
        for key, item in value.items():
            if key not in FREE:
                yield from objects(item, (*path, key), (*kind, key))
    elif isinstance(value, list):
        for at, item in enumerate(value):
            named = item.get("type", item.get("role", ",".join(item))) if isinstance(item, dict) else ""
            yield from objects(item, (*path, at), (*kind, f"*{named}"))


def planted(value: Any, path: tuple[Any, ...]) -> Any:
    made = inside = deepcopy(value)
    for key in path:
        inside = inside[key]
    inside[NAME] = CONTENT
    return made


def is_reported(value: Any, path: tuple[Any, ...], made: Any, losses: tuple[Loss, ...]) -> bool:
    """Whether the planted field is in the output, or a loss names it or something that it is in."""
    written = json.dumps(made)
    if NAME in written or CONTENT in written:
        return True
    around = {NAME, CONTENT, "providerOptions"}
    for key in path:
        value = value[key]
        around |= {key} - ANYWHERE if isinstance(key, str) else set()
        around |= {value[name] for name in ("type", "id", "name") if isinstance(value, dict) and word(value.get(name))}
    fields = tuple(f".{key}" for key in path if isinstance(key, str))
    return any(
        loss.code in WHOLE
        or loss.detail.endswith(fields)
        or any(name in f"{loss.path} {loss.detail}" for name in around)
        for loss in losses
    )


def word(value: object) -> bool:
    return isinstance(value, str) and value not in ("text", "message", "function")


@cache
def recorded() -> dict[str, dict[str, list[Any]]]:
    """Give requests, answers and streams by format."""
    found: dict[str, dict[str, list[Any]]] = {"request": {}, "answer": {}, "stream": {}}
    with gzip.open(RECORDED, "rt", encoding="utf-8") as lines:
        for exchange in map(json.loads, lines):
            source, answer = exchange["fmt"], exchange["response"]
            found["request"].setdefault(source, []).append(exchange["request"])
            if isinstance(answer, str):
                text = EventText()
                data = [*text.feed(answer.encode()), *text.close()]
                with suppress(json.JSONDecodeError):  # a stream that broke off
                    events = [json.loads(one) for one in data if one.strip() != DONE]
                    found["stream"].setdefault(source, []).append(events)
            else:
                found["answer"].setdefault(source, []).append(answer)
    return found


def request(value: Any, source: str, target: str) -> tuple[Any, tuple[Loss, ...]]:
    made = convert_request(value, source=source, target=target, defaults={"model": "m", "max_tokens": 9})
    return made.value, made.all_losses


def answer(value: Any, source: str, target: str) -> tuple[Any, tuple[Loss, ...]]:
    made = convert_answer(value, source=source, target=target)
    return made.value, made.all_losses


def stream(value: Any, source: str, target: str) -> tuple[Any, tuple[Loss, ...]]:
    relay = StreamConverter(source, target)
    events = [made for event in value for made in relay.feed(event)] + relay.close()
    return events, relay.losses


def silent(values: list[Any], source: str, made: Callable[..., tuple[Any, tuple[Loss, ...]]]) -> list[tuple[Any, ...]]:
    """Plant the field once in each kind of object, for all targets in turn; list those without a trace."""
    targets, seen, found = cycle(name for name in ANSWERS if name != source), set[tuple[str, ...]](), []
    for value in values:
        for path, kind in objects(value):
            if kind not in seen:
                seen.add(kind)
                target, odd = next(targets), planted(value, path)
                try:
                    written, losses = made(odd, source, target)
                except (ConversionError, ParseError, UnrepresentableError):
                    continue
                if not is_reported(odd, path, written, losses):
                    found.append((target, *kind))
    return found


@pytest.mark.skipif(not RECORDED.is_file(), reason="there is no ../shared")
@pytest.mark.parametrize("made", [request, answer, stream])
@pytest.mark.parametrize(
    "source", ["openai-chat", "openai-responses", "anthropic", "gemini", "bedrock", "mistral", "cohere"]
)
def test_an_unknown_field_of_a_recorded_exchange_never_vanishes(source: str, made: Callable[..., Any]) -> None:
    assert silent(recorded()[made.__name__].get(source, []), source, made) == []


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_an_unknown_field_of_any_format_never_vanishes(path: Any) -> None:
    def made(value: Any, source: str, target: str) -> tuple[Any, tuple[Loss, ...]]:
        found = convert(value, source=source, target=target, include="request")
        return found.value, found.all_losses

    assert silent([json.loads(path.read_text())], path.stem, made) == []
