"""A role or a type that no reader knows is refused, or a loss of content; no empty message is made of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from toolfmt import convert
from toolfmt.conversation import CallPart
from toolfmt.errors import ConversionError, ParseError, UnrepresentableError
from toolfmt.transcripts.convert import convert_row
from toolfmt.transcripts.format import TranscriptFormat
from toolfmt.transcripts.formats import find, formats

SAID = ("hello", "needle", "more")
TALK = [{"role": role, "content": text} for role, text in zip(("user", "assistant", "user"), SAID, strict=True)]
KINDS = {"role", "type", "from", "kind", "source", "part_kind", "sessionUpdate", "author"}
TARGETS = ["openai-chat", "trl", "anthropic", "openai-finetune"]


def kinds(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """List the places of the words for a role or a type."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        if key in KINDS and isinstance(item, str):
            yield (*path, key)
        yield from kinds(item, (*path, key))


@pytest.mark.parametrize("source", [made.name for made in formats() if made.writable])
def test_an_unknown_kind_is_refused_or_a_loss_of_content(source: str) -> None:
    try:
        written = convert(TALK, source="openai-chat", target=source).value
    except (ConversionError, UnrepresentableError):
        pytest.skip("holds no such conversation")
    for path in kinds(written):
        odd = inside = deepcopy(written)
        for key in path[:-1]:
            inside = inside[key]
        inside[path[-1]] = "martian"
        for target in TARGETS:
            try:
                made = convert_row(odd, source=source, target=target)
            except (ParseError, ConversionError):
                continue
            lost = any(loss.severity == "content" for loss in made.losses)
            assert lost or all(text in json.dumps(made.value) for text in SAID), (path, target)
            assert all(message.parts for message in find(target).read(made.value).messages), (path, target)


TURNS = [{"from": "human", "value": "Weather?"}, {"from": "observation", "value": "18C"}]
TORN = [TURNS[0], {"from": "function_call", "value": '{"name": "sky", "argum'}, TURNS[1]]
ORPHAN = [{"role": "user", "content": "Weather?"}, {"role": "tool", "tool_call_id": "zz", "content": "18C"}]


def test_a_row_with_a_torn_turn_is_refused_by_every_target() -> None:
    for target in ("openai-chat", "anthropic", "openai-finetune", "hermes-rows"):
        with pytest.raises(ConversionError, match=r"/conversations/1: .* is not understood: no JSON: "):
            convert_row({"conversations": TORN}, source="sharegpt", target=target)


@pytest.mark.parametrize("target", [made.name for made in formats() if made.rules.trained and made.writable])
def test_a_result_of_no_call_is_not_trained_on(target: str) -> None:
    with pytest.raises(ConversionError, match="a result of no call"):
        convert_row(
            {"messages": [*ORPHAN, {"role": "assistant", "content": "Cold."}]}, source="openai-chat", target=target
        )
    made = convert_row(
        {"messages": [*ORPHAN, {"role": "assistant", "content": "Cold."}]},
        source="openai-chat",
        target=target,
        repair="drop",
    )
    assert "18C" not in json.dumps(made.value)


CALLED = {
    "messages": [
        {"role": "user", "content": "Hi."},
        {
            "role": "assistant",
            "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"city": "Paris"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "c", "content": "18C"},
    ]
}


def respelled(value: Any, name: str) -> Any:
    """Give the arguments of a call the key of another format."""
    if isinstance(value, list):
        return [respelled(item, name) for item in value]
    if not isinstance(value, dict):
        return value
    given = [key for key, item in value.items() if item in ({"city": "Paris"}, '{"city":"Paris"}', '{"city": "Paris"}')]
    return {name if key in given else key: respelled(item, name) for key, item in value.items()}


@pytest.mark.parametrize("made", [one for one in formats() if one.writable], ids=lambda one: one.name)
def test_arguments_under_the_key_of_another_format_are_never_left_out(made: TranscriptFormat) -> None:
    written = convert(CALLED, source="openai-chat", target=made.name).value
    for name in ("arguments", "args", "input", "parameters", "kwargs"):
        try:
            found = made.read(respelled(written, name))
        except ParseError:
            continue
        calls = [part for message in found.messages for part in message.parts if isinstance(part, CallPart)]
        assert not any(call.value == {} for call in calls), name
