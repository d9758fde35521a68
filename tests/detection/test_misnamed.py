"""A call of a tool whose name is misspelt is never the end of a run in silence, in any format."""

from __future__ import annotations

import pytest

from tests import sampling, slips
from toolfmt import parse, parse_stream
from toolfmt.agents import AgentLoop, TextDriver
from toolfmt.dialect.record import Dialect
from toolfmt.events import coalesce
from toolfmt.tools import ToolRegistry

WANTED = "no tool is called 'get_wether'; did you mean 'get_weather'?"
TOOLS = [slips.tool("get_weather", {"city": "Rome"}), slips.tool("send_mail", {"to": "Ann"})]


def misspelt(dialect: Dialect[str]) -> str:
    text = slips.written(dialect, [slips.call(dialect, "get_weather", {"city": "Rome"})])
    assert text is not None
    return text.replace("get_weather", "get_wether")


@pytest.mark.parametrize("dialect", sampling.dialects(), ids=lambda dialect: dialect.name)
def test_it_is_reported_with_the_name_that_was_meant(dialect: Dialect[str]) -> None:
    text = misspelt(dialect)
    result = parse(text, dialect=dialect, tools=TOOLS)
    said = [notice.detail for notice in result.notices] + [failure.detail for failure in result.failures]
    assert any("no tool is called 'get_wether'" in detail for detail in said), result
    assert not any(call.name == "get_weather" for call in result.calls)
    assert tuple(coalesce([*parse_stream(iter(text), dialect=dialect, tools=TOOLS)])) == result.events


@pytest.mark.parametrize("end", ["", '"}}'])
def test_it_is_reported_beside_a_call_that_is_read(end: str) -> None:
    first = '{"name": "get_weather", "parameters": {"city": "Paris"}}'
    text = f'{first}; {{"name": "get_wether", "parameters": {{"city": "Ro{end}'
    result = parse(text, dialect="llama3-json", tools=TOOLS)
    assert [call.arguments for call in result.calls] == [{"city": "Paris"}]
    assert [(notice.kind, notice.detail) for notice in result.notices] == [("unread_call", WANTED)]


@pytest.mark.parametrize(
    "text",
    [
        "Use `get_wether` for the weather.",
        "I can call get_wether(city) <b>now</b>.",
        '{"name": "Ann", "parameters": {"get_wether": 1}}',
        '> {"name": "get_wether", "parameters": {"city": "Rome"}}',
    ],
)
def test_what_is_no_call_with_the_right_name_either_is_text(text: str) -> None:
    result = parse(text, dialect="llama3-json", tools=TOOLS)
    assert result.text == text
    assert {notice.kind for notice in result.notices} <= {"quoted_call"}


def test_a_loop_asks_again() -> None:
    registry = ToolRegistry()
    asked: list[str] = []

    @registry.register
    def get_weather(city: str) -> str:
        """Look up the weather."""
        asked.append(city)
        return "sun"

    call = '{"name": "NAME", "parameters": {"city": "Rome"}}'
    answers = iter([call.replace("NAME", "get_wether"), call.replace("NAME", "get_weather"), "Sun."])
    seen: list[str] = []

    def model(chat: list[dict[str, str]]) -> str:
        seen.append(chat[-1]["content"])
        return next(answers)

    state = AgentLoop(TextDriver(model, dialect="llama3-json"), registry).run_sync("Weather?").raise_for_failure()
    assert (state.text, asked, len(seen)) == ("Sun.", ["Rome"], 3)
    assert WANTED in seen[1]
