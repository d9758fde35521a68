"""Writing records as JSON: what JSON cannot hold is refused with its place."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from toolfmt import Media, ToolDefinition, ToolInvocation, ToolResult
from toolfmt.agents import AgentState
from toolfmt.errors import ParseError, Problem, UnrepresentableError
from toolfmt.execution import ToolExecution
from toolfmt.model import Record

LOOP: dict[str, Any] = {}
LOOP["a"] = LOOP
VALUES = {"surrogate": "\ud800", "key": {"\udfff": 1}, "nan": float("nan"), "loop": LOOP, "object": object()}
CALLS: dict[str, Callable[[Any], ToolInvocation]] = {
    "/call/arguments/x": lambda value: ToolInvocation(name="f", arguments={"x": value}),
    "/call/extra/x": lambda value: ToolInvocation(name="f", extra={"x": value}),
}
RESULTS: dict[str, Callable[[Any], ToolResult]] = {
    "/result/content": lambda value: ToolResult(name="f", content=value),
    "/result/extra/x": lambda value: ToolResult(name="f", extra={"x": value}),
}
MEDIA = ("media_type", "url", "name")
RECORDS: dict[str, Callable[[Any], Record]] = {
    "/arguments/x": CALLS["/call/arguments/x"],
    "/content": RESULTS["/result/content"],
    "/parameters/x": lambda value: ToolDefinition(name="f", parameters={"x": value}),
    "/examples/0/x": lambda value: ToolDefinition(name="f", examples=({"x": value},)),
    "/metadata/x": lambda value: ToolDefinition(name="f", metadata={"x": value}),
}


def record(call: ToolInvocation | None = None, result: ToolResult | None = None) -> ToolExecution:
    call, result = call or ToolInvocation(name="f"), result or ToolResult(name="f")
    return ToolExecution(id="1", call=call, result=result, started_at=datetime.now(UTC), completed_at=datetime.now(UTC))


def nested(levels: int) -> Any:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_a_record_refuses_what_json_cannot_hold_with_its_place(value: Any) -> None:
    made = {place: record(call=call(value)) for place, call in CALLS.items()}
    made |= {place: record(result=result(value)) for place, result in RESULTS.items()}
    for place, one in made.items():
        with pytest.raises(UnrepresentableError) as caught:
            one.model_dump_json()
        assert caught.value.pointer.startswith(place)


@pytest.mark.parametrize("field", MEDIA)
def test_a_lone_surrogate_in_media_is_refused_with_its_place(field: str) -> None:
    media = Media.model_validate({"kind": "image", "url": "https://example.com", field: "\ud800"})
    with pytest.raises(UnrepresentableError, match=f"/result/media/0/{field}"):
        record(result=ToolResult(name="f", media=(media,))).model_dump_json()


@pytest.mark.parametrize("levels", [400, 5_000])
def test_a_record_of_more_levels_than_are_written_is_refused(levels: int) -> None:
    with pytest.raises(UnrepresentableError, match="nested too deeply"):
        record(result=ToolResult(name="f", content=nested(levels))).model_dump_json()


@pytest.mark.parametrize("value", [*VALUES.values(), nested(5_000)], ids=[*VALUES, "deep"])
def test_a_state_refuses_what_json_cannot_hold(value: Any) -> None:
    with pytest.raises(UnrepresentableError):
        AgentState.of("Hi").with_metadata(x=value).to_json()


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_each_part_of_a_record_refuses_what_json_cannot_hold(value: Any) -> None:
    for place, make in RECORDS.items():
        with pytest.raises(UnrepresentableError) as caught:
            make(value).model_dump_json()
        assert caught.value.pointer.startswith(place)


def test_a_lone_surrogate_in_a_problem_is_refused_with_its_place() -> None:
    problems = (Problem("/\ud800", "type", "x"),)
    with pytest.raises(UnrepresentableError, match="/problems/0/pointer"):
        record().model_copy(update={"problems": problems}).model_dump_json()


@pytest.mark.parametrize(
    "one",
    [
        ToolDefinition(name="f", parameters={"type": "object", "properties": {"a": {"enum": [1, 1.0, "é"]}}}),
        ToolInvocation(name="f", arguments={"n": 10**40, "x": 1.0, "l": [None, True]}, certainty="guessed"),
        ToolResult(name="f", content=[{"a": 1}], media=(Media.of(b"x", "image/png"),)),
        record().model_copy(update={"problems": (Problem("/a", "type", "x"),)}),
    ],
    ids=lambda one: type(one).__name__,
)
def test_a_record_comes_back_as_it_was(one: Record) -> None:
    text = one.model_dump_json()
    back = type(one).model_validate_json(text.encode())
    assert back == one
    assert back.model_dump_json() == text


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "f", "arguments": {"a": 1, "a": 2}}',
        '{"name": "f", "arguments": {"a": NaN}}',
        '{"name": "f", "arguments": {"a": "\\ud800"}}',
        '{"name": "f", "arguments": {"a": 1e999}}',
        '{"name": "f", "arguments": ' + '{"a":' * 300 + "1" + "}" * 301,
        '{"name": "f"',
        b'{"name": "\xff"}',
    ],
)
def test_a_record_is_read_from_strict_json_alone(text: str | bytes) -> None:
    with pytest.raises(ParseError):
        ToolInvocation.model_validate_json(text)
