"""Work grows with the input, not with its square: steps are counted, not seconds."""

from __future__ import annotations

import math
import random
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from bench.growth import AUTO, EXPONENT, OPTIONS, Cell, traps_of
from tests import sampling
from toolfmt import convert, render_results

if TYPE_CHECKING:
    from collections.abc import Callable

NAMES = [dialect.name for dialect in sampling.dialects()]
SIZES = (1_500, 6_000)
CELLS = 2
"""Of each dialect; `python -m bench.growth` measures more."""


def steps(act: Callable[[], object]) -> int:
    """Count the calls of functions, built-in ones included."""
    count = 0

    def note(*_: object) -> None:
        nonlocal count
        count += 1

    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(None)
    return count


def exponent(small: int, large: int, growth: float) -> float:
    return math.log((large + 2_000) / (small + 2_000)) / math.log(growth)


@pytest.mark.parametrize("name", [AUTO, *NAMES])
def test_reading_takes_steps_in_proportion_to_the_text(name: str) -> None:
    chance = random.Random(name)  # noqa: S311 - the same cells each time
    for _ in range(CELLS):
        traps = traps_of(chance.choice(NAMES) if name == AUTO else name)
        cell = Cell(name, chance.choice(list(OPTIONS)), chance.choice((0, 4)), chance.choice(traps))
        cell.seconds(SIZES[0])  # compiles what is compiled once
        small, large = (steps(partial(cell.seconds, size)) for size in SIZES)
        assert exponent(small, large, SIZES[1] / SIZES[0]) <= EXPONENT, cell


def _calls(count: int, ident: str) -> Any:
    call = {"id": ident, "type": "function", "function": {"name": "f", "arguments": "{}"}}
    results = [{"role": "tool", "tool_call_id": ident, "content": "r"}] * count
    return {"messages": [{"role": "assistant", "content": None, "tool_calls": [call] * count}, *results]}


@pytest.mark.parametrize("target", ["anthropic", "bedrock", "openai-responses", "gemini", "mistral", "vercel-ui"])
def test_repeated_ids_take_steps_in_proportion_to_the_calls(target: str) -> None:
    convert(_calls(10, "x"), target=target, source="openai-chat")
    small, large = (
        steps(lambda count=count: convert(_calls(count, "x"), target=target, source="openai-chat"))
        for count in (100, 400)
    )
    assert exponent(small, large, 4) <= EXPONENT


@pytest.mark.parametrize("unit", ['{"a":', '{"', '{"name":', '{"name":"x",', "[", "<", "Action:", "a\n{"])
def test_a_result_is_made_harmless_in_steps_in_proportion_to_it(unit: str) -> None:
    def shown(size: int) -> str:
        return render_results([{"name": "f", "content": unit * (size // len(unit))}], dialect="hermes")

    shown(10)
    small, large = (steps(lambda size=size: shown(size)) for size in (4_000, 16_000))
    assert exponent(small, large, 4) <= EXPONENT
