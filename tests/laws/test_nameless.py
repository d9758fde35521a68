"""A call that names no tool runs one only where its arguments leave no other, and rest on something."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import toolfmt
from tests import slips
from toolfmt.model import ToolDefinition

if TYPE_CHECKING:
    from toolfmt.dialect.record import Dialect
    from toolfmt.model import JsonObject

WIPE = ToolDefinition(name="wipe", parameters={"type": "object", "properties": {}})
LOOK = ToolDefinition(name="look", parameters={"type": "object", "properties": {"at": {"type": "string"}}})
PAY = slips.tool("pay", {"amount": 5, "to": "Bob"})
KIMI = (
    "<|tool_calls_section_begin|><|tool_call_begin|>call_1<|tool_call_argument_begin|>%s"
    "<|tool_call_end|><|tool_calls_section_end|>"
)
NAMES = ("", "0", "call_1", "functions.:0", "functions.", "-", "null", "tool", "function")


@pytest.mark.parametrize("arguments", [{}, {"at": "here"}, {"amount": 5}], ids=str)
def test_a_call_without_a_name_runs_nothing(dialect: Dialect[str], arguments: JsonObject) -> None:
    text = slips.written(dialect, [slips.call(dialect, "wxyz", arguments)])
    if text is None:
        pytest.skip("the dialect cannot hold the call")
    for name in NAMES:
        calls = toolfmt.parse(text.replace("wxyz", name), dialect=dialect.name, tools=[WIPE, LOOK, PAY]).calls
        assert not {call.name for call in calls} & {"wipe", "look", "pay"}, name


@pytest.mark.parametrize(
    ("arguments", "tools", "guessed"),
    [
        ('{"amount": 5, "to": "Bob"}', [WIPE, LOOK, PAY], ["pay"]),
        ('{"amount": 5, "to": "Bob"}', [PAY, PAY.model_copy(update={"name": "lend"})], []),
        ('{"at": "here"}', [LOOK], []),
        ("{}", [WIPE], []),
    ],
)
def test_a_guess_rests_on_required_arguments(arguments: str, tools: list[ToolDefinition], guessed: list[str]) -> None:
    result = toolfmt.parse(KIMI % arguments, dialect="kimi-k2", tools=tools)
    assert [(call.name, call.certainty) for call in result.calls] == [(name, "guessed") for name in guessed]
    assert [failure.reason for failure in result.failures] == ([] if guessed else ["missing_name"])
