"""Work grows with the input, not with its square: steps are counted, not seconds."""

from __future__ import annotations

import math
import random
import sys
from functools import partial
from itertools import islice, product
from typing import TYPE_CHECKING, Any

import pytest

from bench.growth import AUTO, EXPONENT, OPTIONS, Cell, mixtures, traps_of
from bench.traps import Mixture, Trap
from tests import sampling
from toolfmt import StreamConverter, convert, correcting, open_parser, parsing, render_results
from toolfmt.parsers.respelling import AGAIN
from toolfmt.parsers.scanning.resuming import Resync

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

NAMES = [dialect.name for dialect in sampling.kinds()]
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


def lines(act: Callable[[], object]) -> int:
    """Count the lines that run, those of loops without calls included."""
    count, before = 0, sys.gettrace()

    def note(*_: object) -> Any:
        nonlocal count
        count += 1
        return note

    sys.settrace(note)
    try:
        act()
    finally:
        sys.settrace(before)
    return count


def exponent(small: int, large: int, times: float) -> float:
    return math.log((large + 2_000) / (small + 2_000)) / math.log(times)


@pytest.mark.parametrize("name", [AUTO, *NAMES])
def test_reading_takes_steps_in_proportion_to_the_text(name: str) -> None:
    chance = random.Random(name)  # noqa: S311 - the same cells each time
    for _ in range(CELLS):
        traps = traps_of(chance.choice(NAMES) if name == AUTO else name)
        cell = Cell(name, chance.choice(list(OPTIONS)), chance.choice((0, 4)), chance.choice(traps))
        assert growth(cell) <= EXPONENT, cell


def growth(cell: Cell) -> float:
    """Compare the steps of two sizes, and where that is too much those of larger ones: a limit may lie between them."""
    cell.seconds(SIZES[0])  # compiles what is compiled once
    for times in (1, 4):
        small, large = (steps(partial(cell.seconds, times * size)) for size in SIZES)
        found = exponent(small, large, SIZES[1] / SIZES[0])
        if found <= EXPONENT:
            break
    return found


@pytest.mark.parametrize("name", [AUTO, *NAMES])
def test_mixtures_take_steps_in_proportion_to_the_text(name: str) -> None:
    chance = random.Random(name)  # noqa: S311 - the same cells each time
    traps = traps_of(chance.choice(NAMES) if name == AUTO else name)
    for trap in islice(mixtures(traps, chance), CELLS):
        cell = Cell(name, chance.choice(list(OPTIONS)), chance.choice((0, 4)), trap)
        assert growth(cell) <= EXPONENT, cell


DETECTED = [
    ("plain", Mixture('{"tool": {"function": "f", "parameters": {"s": ', ('{"tool": {', '{"a":{'), "in turn")),
    ("validate", Mixture('{"name"', ("&#x", "</", '{"name": "f", "args": {"s"'), "in turn")),
    ("no tools", Mixture("", ('{"a":{', '<tools>\n{"name": "f"'), "in turn")),
    ("strict", Mixture("{", ("__END_CONTENT__\n", '{"tool": {"function": "f", "parameters'), "first among many")),
    ("repair", Mixture("functools[", ("\u2028", 'functools[{"name": "f", "arguments": {"s": "'), "alike long")),
]


@pytest.mark.parametrize(("case", "piece"), sampling.share([*product(DETECTED, (0, 4))], 2, 3))
def test_the_detection_reads_no_json_value_again_and_again(case: tuple[str, Mixture], piece: int) -> None:
    option, trap = case
    assert growth(Cell(AUTO, option, piece, trap)) <= EXPONENT


FOUND = [
    (AUTO, "plain", 0, '{"name": "f", "parameters": {"s": "HOLE",', "<item>1</item>"),
    (AUTO, "plain", 0, '{"tool": {"name": "f", "arguments": {"s": "HOLE"', "<arguments"),
    (AUTO, "plain", 1, "", '{"tool": {"function</think>'),
    ("hermes", "reasoning_open", 0, "", "<tool_call>"),
    (AUTO, "reasoning_open", 0, "", "<tool_call>"),
    ("hermes", "drop_leaks", 0, "", "<tool_call>"),
    ("qwen3-xml", "drop_leaks", 0, "", "<tool_call>"),
    ("functiongemma", "repair", 0, "<start_function_call>call:f{", "s:<escape>a"),
    ("gemma4", "repair", 0, "<|tool_call>call:f{", 's:<|"|>a'),
    (AUTO, "repair", 0, "", '{"a":'),
]
"""Texts whose reading took square time once."""


@pytest.mark.parametrize(("name", "option", "piece", "prefix", "unit"), FOUND)
def test_what_once_took_square_time_takes_steps_in_proportion(
    name: str, option: str, piece: int, prefix: str, unit: str
) -> None:
    assert growth(Cell(name, option, piece, Trap(prefix, unit))) <= EXPONENT


def test_a_search_that_finds_no_marker_is_not_made_again() -> None:
    parser = open_parser(dialect="react", strict=True, tools=[{"name": "f"}])
    searches = 0

    def note(frame: FrameType, event: str, _: object) -> None:
        nonlocal searches
        searches += event == "call" and frame.f_code is Resync.search.__code__

    sys.setprofile(note)
    try:
        parser.feed("Action: f\n" * 50 + "<a/>" * 50 + "Action Input:" * 50)
        parser.close()
    finally:
        sys.setprofile(None)
    assert 1 <= searches <= 4  # a generator is called each time that it goes on


def test_json_in_the_strings_of_other_json_is_read_again_within_bounds() -> None:
    for unit in ('{\\"', '{"name"\\"', '{"name": "'):
        for closer in ("}", unit):
            cell = Cell(AUTO, "no tools", 0, Mixture("Look. ", (unit, closer), "one after the other"))
            assert growth(cell) <= EXPONENT, cell


def _calls(count: int, ident: str) -> Any:
    call = {"id": ident, "type": "function", "function": {"name": "f", "arguments": "{}"}}
    results = [{"role": "tool", "tool_call_id": ident, "content": "r"}] * count
    return {"messages": [{"role": "assistant", "content": None, "tool_calls": [call] * count}, *results]}


@pytest.mark.parametrize(
    "target", ["acp", "anthropic", "bedrock", "gemini", "mistral", "openai-responses", "vercel-ui"]
)
def test_repeated_ids_take_steps_in_proportion_to_the_calls(target: str) -> None:
    convert(_calls(10, "x"), target=target, source="openai-chat")
    small, large = (
        lines(lambda count=count: convert(_calls(count, "x"), target=target, source="openai-chat"))
        for count in (200, 800)
    )
    assert exponent(small, large, 4) <= EXPONENT


@pytest.mark.parametrize("target", ["anthropic", "openai-chat", "openai-responses"])
@pytest.mark.parametrize("kind", ["choices", "fields"])
def test_a_relay_takes_steps_in_proportion_to_what_is_lost(kind: str, target: str) -> None:
    def relay(count: int) -> None:
        stream = StreamConverter("openai-chat", target, id="x")
        for number in range(count):
            index, beside = (number, {}) if kind == "choices" else (0, {f"field{number}": 1})
            stream.feed({"choices": [{"index": index, "delta": {"content": "x"}}], **beside})
        stream.close()
        assert len(stream.losses) >= count - 1

    small, large = (steps(lambda count=count: relay(count)) for count in (200, 800))
    assert exponent(small, large, 4) <= EXPONENT


UNITS = ['{"a":', '{"', '{"name":', '{"name":"x",', "[", "<", "Action:", "a\n{", "{/*a", "{//a", "/*{/**/", "{/*{*/"]


@pytest.mark.parametrize(("unit", "dialect"), [*product(UNITS, ("hermes", "llama3-json"))])
def test_a_result_is_made_harmless_in_steps_in_proportion_to_it(unit: str, dialect: str) -> None:
    def shown(size: int) -> str:
        return render_results([{"name": "f", "content": unit * (size // len(unit))}], dialect=dialect)

    shown(10)
    small, large = (steps(lambda size=size: shown(size)) for size in (4_000, 16_000))
    assert exponent(small, large, 4) <= EXPONENT


MISNAMED = {
    "keys": '{"tol": "get_weather", "arg": {"city": "Oslo"}, "tp": "x", "y": {"z": 1}}\n',
    "tags": '<call nm="get_weather" kind="x"><par nm="city" st="1">Oslo</par></call>\n',
    "markers": '<fnction_calls><invke nme="get_weather"><paramter nme="city">Oslo</paramter></invke></fnction_calls>\n',
}


@pytest.mark.parametrize("dialect", [AUTO, "hermes", "qwen3-coder"])
@pytest.mark.parametrize("kind", MISNAMED)
def test_an_answer_that_resembles_many_formats_is_read_again_within_bounds(
    monkeypatch: pytest.MonkeyPatch, kind: str, dialect: str
) -> None:
    make, lengths = parsing.call_reader, [0]

    def counting(offered: Any) -> Any:
        read = make(offered)

        def reading(text: str, name: str) -> Any:
            lengths.append(len(text))
            return read(text, name)

        return reading

    monkeypatch.setattr(parsing, "call_reader", counting)
    offered = {"name": "get_weather", "inputSchema": {"properties": {"city": {"type": "string"}}}}
    for filler in ("", '{"a": 1, "b": 2}\n' * 60, "<tool_cal>x" * 150, "<function_cals> " * 1000, "word " * 10_000):
        for text in (MISNAMED[kind] + filler, filler + MISNAMED[kind]):
            lengths.clear()
            assert parsing.parse(text, dialect=dialect, tools=[offered]).hint or len(text) > 10_000
            assert sum(lengths) <= AGAIN + len(text) + 4 * 8192


def test_a_failed_call_is_read_again_within_bounds_for_its_feedback(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths = [0]

    def counting(text: str, **options: Any) -> Any:
        lengths.append(len(text))
        return parsing.parse(text, **options)

    monkeypatch.setattr(correcting, "parse", counting)
    filler = ", ".join(f'"k{number}": {number}' for number in range(500))
    raw = f'<tool>{{"naem": "f", "argx": {{"city": 1}}, "q1": 1, "q2": 2, {filler}}}</tool>'
    (failure,) = parsing.parse(raw, dialect="tool-json").failures
    assert "could not be used" in correcting.feedback(failure, dialect="tool-json", tools=[{"name": "f"}])
    assert sum(lengths) <= AGAIN + 2 * len(raw)
