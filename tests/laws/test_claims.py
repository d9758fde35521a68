"""Every character is claimed: what a model writes where the format has no place for it is never lost."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests import sampling
from toolfmt import jsontext, parse, parse_stream
from toolfmt.dialect.syntax import spelled
from toolfmt.errors import UnrepresentableError
from toolfmt.events import CallEnd, coalesce
from toolfmt.model import ToolDefinition, ToolInvocation
from toolfmt.workshop.testing import laws, strategies

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolfmt.dialect.record import Dialect
    from toolfmt.model import JsonObject

PROPERTIES = {"path": {"type": "string"}, "note": {"type": "string"}}
TOOL = ToolDefinition.model_validate(
    {"name": "run", "parameters": {"type": "object", "properties": PROPERTIES, "required": []}}
)


def _written(dialect: Dialect[str]) -> Iterator[str]:
    """A call with an argument and one without, as the dialect writes them."""
    for arguments in ({"note": "hello"}, {}):
        call = ToolInvocation(
            name="run", arguments=arguments, server="local" if dialect.traits.carries_server else None
        )
        yield dialect.calls([call], {"run": TOOL})


def test_nothing_is_lost_while_its_call_runs(dialect: Dialect[str]) -> None:
    for written in _written(dialect):
        texts = list(enumerate(strategies.strays(written)))
        for number, text in sampling.share(texts, sampling.names().index(dialect.name), 4):
            laws.claimed(dialect, text, strategies.STRAY, [TOOL])
            if number % 3 == 0:
                laws.claimed(dialect, text, strategies.STRAY)


def test_markers_without_a_call_are_reported(dialect: Dialect[str]) -> None:
    forms = () if dialect.syntax is None or dialect.syntax.frame is not None else dialect.syntax.forms
    for form in forms:
        opening, _, closing = spelled(form.section).partition("{calls}")
        marked = opening.strip() and closing.strip() and any(map(str.isalnum, opening))
        for inside in ("", "\n", "[]") if marked else ():
            text = f"{opening}{inside}{closing}"
            result = parse(text, dialect=dialect, tools=[TOOL])
            assert (result.calls, bool(result.failures or result.notices or result.text.strip())) == ((), True), text
            assert tuple(coalesce([*parse_stream(iter(text), dialect=dialect, tools=[TOOL])])) == result.events


FORECAST = ToolDefinition.model_validate(
    {
        "name": "forecast",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "units": {"type": "string"}}},
    }
)


def _forecast(dialect: Dialect[str], arguments: JsonObject) -> str:
    server = "local" if dialect.traits.carries_server else None
    call = ToolInvocation(name="forecast", arguments=arguments, server=server)
    return dialect.calls([call], {"forecast": FORECAST})


def _calls(dialect: Dialect[str], text: str) -> list[JsonObject]:
    result = parse(text, dialect=dialect, tools=[FORECAST])
    assert tuple(coalesce([*parse_stream(iter(text), dialect=dialect, tools=[FORECAST])])) == result.events, text
    assert result.failures or result.calls or result.notices, text
    return [call.arguments for call in result.calls]


def _alike(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def test_an_argument_after_the_end_of_its_call_makes_it_fail(dialect: Dialect[str]) -> None:
    whole, part = _forecast(dialect, {"city": "Oslo", "units": "metric"}), _forecast(dialect, {"city": "Oslo"})
    head = _alike(whole, part)
    tail = _alike(whole[head:][::-1], part[head:][::-1])
    argument, left = whole[head : len(whole) - tail], whole[len(whole) - tail :]
    for between in ("", "\n", ", "):
        moved = whole[:head] + left + between + argument
        assert _calls(dialect, moved) in ([], [{"city": "Oslo", "units": "metric"}]), moved
    told = f"{part}\nThat is all of the city.\n"
    framed = dialect.traits.strict or dialect.syntax is None or dialect.syntax.frame is not None
    assert framed or _calls(dialect, told) == [{"city": "Oslo"}], told


def test_a_misspelt_argument_makes_its_call_fail(dialect: Dialect[str]) -> None:
    for key in (
        "unit",
        "unitss",
        "Units",
        "`units`",
        "**units**",
        "units:",
        "forecast.units",
        "--units",
        "unitsNote: ",
    ):
        try:
            text = _forecast(dialect, {"city": "Oslo", key: "metric"})
        except UnrepresentableError:
            continue
        assert _calls(dialect, text) in ([], [{"city": "Oslo", "units": "metric"}]), text
    for key in () if dialect.traits.strict else ("scale", "unified"):
        assert _calls(dialect, _forecast(dialect, {"city": "Oslo", key: "1 a"})) == [{"city": "Oslo", key: "1 a"}]


def test_a_key_that_belongs_to_the_call_is_no_argument(dialect: Dialect[str]) -> None:
    given: JsonObject = {"city": "Oslo", "units": "metric"}
    doubled: tuple[JsonObject, ...] = (
        {**given, "tool": "forecast"},
        {"tool": "forecast", "args": given},
        {"input": given, "kind": "1 a"},
        {**given, "arguments": given},
        {**given, "arguments": jsontext.dumps(given)},
        {**given, "call": {"name": "forecast"}},
    )
    for arguments in doubled:
        try:
            text = _forecast(dialect, arguments)
        except UnrepresentableError:
            continue
        assert _calls(dialect, text) in ([], [given]), text


def test_a_call_that_is_given_up_and_written_again_runs_once(dialect: Dialect[str]) -> None:
    arguments: JsonObject = {"city": "Oslo", "units": "metric"}
    whole, part = _forecast(dialect, arguments), _forecast(dialect, {"city": "Oslo"})
    for cut in (_alike(whole, part), whole.index("Oslo") + len("Oslo")):
        for between in ("\n", "\n\n"):
            text = f"{whole[:cut].rstrip(', ')}{between}{whole}"
            for repair in (False, True):
                result = parse(text, dialect=dialect, tools=[FORECAST], repair=repair)
                assert all(call.arguments == arguments for call in result.calls), text


def test_the_closer_of_another_format_is_in_no_value(dialect: Dialect[str]) -> None:
    text = _forecast(dialect, {"city": "Oslo", "units": "metric"})
    end = text.index("metric") + len("metric")
    closer = re.match(r"\s*(</[^<>]+>|<\|[^<>]+\|>)", text[end:])
    rest = text[end + closer.end() :] if closer else ""
    for other in ("[/TOOL_CALLS]", "<|tool_call_end|>", "}", ")", "]") if closer else ():
        damaged = text[:end] + other + rest
        assert _calls(dialect, damaged) == [], damaged


def test_marks_of_another_width_make_no_other_call(dialect: Dialect[str]) -> None:
    given: JsonObject = {"city": "Oslo", "units": "metric"}
    text = _forecast(dialect, given)
    end = text.index("metric") + len("metric")
    for mark, wide in zip("</>\"'", "\uff1c\uff0f\uff1e\uff02\uff07", strict=True):
        first = text.find(mark, text.index("city") + len("city"))
        once = text if first < 0 else text[:first] + wide + text[first + 1 :]
        for damaged in (text[:end] + text[end:].replace(mark, wide), once):
            for repair in (False, True):
                result = parse(damaged, dialect=dialect, tools=[FORECAST], repair=repair)
                assert all(call.arguments == given for call in result.calls), damaged


def test_a_doubled_closer_is_in_no_value(dialect: Dialect[str]) -> None:
    text = _forecast(dialect, {"city": "Oslo", "units": "metric"})
    end = text.index("metric") + len("metric")
    if (closer := re.match(r"\s*</[^<>]+>", text[end:])) is not None:
        damaged = f"{text[:end]}\n{closer.group().strip()} {text[end:]}"
        assert _calls(dialect, damaged) in ([], [{"city": "Oslo", "units": "metric"}]), damaged


def test_the_next_call_is_no_argument_of_one_that_lacks_some(dialect: Dialect[str]) -> None:
    first, second = ({"city": "Oslo"}, {"city": "Rome", "units": "metric"})
    calls = [
        ToolInvocation(name="forecast", arguments=one, server="local" if dialect.traits.carries_server else None)
        for one in (first, second)
    ]
    try:
        text = dialect.calls(calls, {"forecast": FORECAST})
    except UnrepresentableError:
        return
    whole = parse(text, dialect=dialect, tools=[FORECAST]).events
    assert [event.call.arguments for event in whole if isinstance(event, CallEnd)] == [first, second]
    assert tuple(coalesce([*parse_stream(iter(text), dialect=dialect, tools=[FORECAST])])) == whole


def test_the_first_argument_of_the_next_call_is_no_argument_of_one_without_any(dialect: Dialect[str]) -> None:
    calls = [
        ToolInvocation(name="run", arguments=one, server="local" if dialect.traits.carries_server else None)
        for one in ({}, {"note": "hello"})
    ]
    try:
        text = dialect.calls(calls, {"run": TOOL})
    except UnrepresentableError:
        return
    whole = parse(text, dialect=dialect, tools=[TOOL]).events
    assert [event.call.arguments for event in whole if isinstance(event, CallEnd)] == [{}, {"note": "hello"}]
    assert tuple(coalesce([*parse_stream(iter(text), dialect=dialect, tools=[TOOL])])) == whole
