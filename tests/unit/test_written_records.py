"""Writing records as JSON: what JSON cannot hold is refused with its place."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from toolfmt import Media, ToolInvocation, ToolResult
from toolfmt.agents import AgentState
from toolfmt.errors import UnrepresentableError
from toolfmt.execution import ToolExecution

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
