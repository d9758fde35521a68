"""The neutral conformance suite: recorded outputs, read by the format that the model's id stands for.

Compared as its strict policy does: calls, text and reasoning exactly, white
space included. Models whose format is not a dialect yet are left out;
`open.toml` lists the outputs that are read otherwise, each with its reason.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

import pytest
from canitoolcall.fixtures import Fixture, load_fixtures

import toolfmt
from toolfmt import jsontext
from toolfmt.errors import UnknownDialectError
from toolfmt.events import coalesce
from toolfmt.lookup.registry import default_registry

OPEN = tomllib.loads((Path(__file__).parent / "open.toml").read_text("utf-8"))


@cache
def known(model: str) -> bool:
    try:
        default_registry().resolve(model=model)
    except UnknownDialectError:
        return False
    return True


FIXTURES = [one for one in load_fixtures() if known(one.reference_model)]


def read(fixture: Fixture, chunks: list[str]) -> toolfmt.ParseResult:
    events = toolfmt.parse_stream(
        chunks,
        model=fixture.reference_model,
        tools=list(fixture.tools),
        generation_prompt=fixture.generation_prompt or "",
        reasoning_open=fixture.generation_prompt is None and bool(fixture.thinking),
    )
    return toolfmt.ParseResult(tuple(coalesce(list(events))), fixture.reference_model)


def right(fixture: Fixture) -> bool:
    result = read(fixture, [fixture.raw_output])
    if fixture.expected is None:
        assert fixture.expected_error is not None
        accepted = fixture.expected_error.accept
        return not result.calls and ("no_tool_calls" in accepted or result.text == fixture.raw_output)
    wanted = fixture.expected.tool_calls
    return (
        len(result.calls) == len(wanted)
        and all(
            call.name == one.name and jsontext.equal(call.arguments, dict(one.arguments))
            for call, one in zip(result.calls, wanted, strict=True)
        )
        and result.text == (fixture.expected.content or "")
        and result.reasoning == (fixture.expected.reasoning_content or "")
    )


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda one: one.id)
def test_an_output_is_read_however_it_is_cut(fixture: Fixture) -> None:
    assert right(fixture) != (fixture.id in OPEN), OPEN.get(fixture.id, "not listed in open.toml")
    text = fixture.raw_output
    whole = read(fixture, [text]).events
    for size in (1, 5):
        assert read(fixture, [text[at : at + size] for at in range(0, len(text), size)]).events == whole


def test_the_list_is_of_outputs_that_there_are() -> None:
    assert set(OPEN) <= {one.id for one in FIXTURES}
    assert len(FIXTURES) == 469  # all of them: none is of an unknown model
