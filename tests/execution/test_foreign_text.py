"""The text and the value of what a tool returns or raises are made in a thread, within the tool's time-out."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

import anyio.to_thread
import pytest
from pydantic import BaseModel, model_serializer

from toolfmt import ToolRegistry
from toolfmt.execution import Executor

WAIT = 20.0
"""Seconds after which foreign code gives up, so that a failing test ends."""


@dataclass
class Gate:
    """Foreign code that waits until the event loop opens the gate."""

    entered: threading.Event = field(default_factory=threading.Event)
    opened: threading.Event = field(default_factory=threading.Event)

    def wait(self) -> str:
        self.entered.set()
        return "seen" if self.opened.wait(WAIT) else "the event loop was blocked"


def waiting_error(gate: Gate) -> BaseException:
    class WaitingError(Exception):
        def __str__(self) -> str:
            return gate.wait()

    return WaitingError()


def waiting_key(gate: Gate) -> BaseException:
    class Key:
        def __repr__(self) -> str:
            return gate.wait()

    return KeyError(Key())


def waiting_group(gate: Gate) -> BaseException:
    return BaseExceptionGroup("several", [waiting_error(gate)])


def waiting_text(gate: Gate) -> object:
    class Value:
        def __str__(self) -> str:
            return gate.wait()

    return Value()


def waiting_model(gate: Gate) -> object:
    class Value(BaseModel):
        @model_serializer
        def write(self) -> str:
            return gate.wait()

    return [{"in": Value()}]


def waiting_items(gate: Gate) -> object:
    return (gate.wait() for _ in range(1))


MADE = [waiting_error, waiting_key, waiting_group, waiting_text, waiting_model, waiting_items]


def tools(make: Any, gate: Gate) -> ToolRegistry:
    def give() -> Any:
        value = make(gate)
        if isinstance(value, BaseException):
            raise value
        return value

    async def give_async() -> Any:
        return give()

    def give_later() -> Any:
        return give_async()

    async def open_gate() -> str:
        await anyio.to_thread.run_sync(gate.entered.wait, WAIT)
        gate.opened.set()
        return "open"

    return ToolRegistry([give, give_async, give_later, open_gate])


NAMES = ["give", "give_async", "give_later"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("make", MADE)
def test_other_calls_run_while_a_text_is_made(make: Any, name: str) -> None:
    gate = Gate()
    calls = [{"name": name, "arguments": {}}, {"name": "open_gate", "arguments": {}}]
    given, opened = Executor(tools(make, gate)).execute_sync(calls)
    assert opened.value == "open"
    assert given.failure == ("raised" if "value" not in str(make) and given.has_error else None)
    assert "seen" in str(given.result.content)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("make", MADE)
def test_a_text_that_is_never_made_ends_with_the_time_out(make: Any, name: str) -> None:
    gate = Gate()
    (execution,) = Executor(tools(make, gate), timeout=0.05).execute_sync([{"name": name, "arguments": {}}])
    gate.opened.set()
    assert execution.failure == "timeout"
    assert execution.error == "timed out after 0.05 s"


@pytest.mark.parametrize("failing", [ValueError("no"), SystemExit(1), GeneratorExit()], ids=repr)
@pytest.mark.parametrize("name", NAMES)
def test_an_exception_whose_text_cannot_be_made_has_the_name_of_its_type(failing: BaseException, name: str) -> None:
    def make(_: Gate) -> BaseException:
        class MuteError(Exception):
            def __str__(self) -> str:
                raise failing

        return MuteError("x")

    (execution,) = Executor(tools(make, Gate())).execute_sync([{"name": name, "arguments": {}}])
    assert (execution.failure, execution.error) == ("raised", "<MuteError without text>")


class Text(str):
    """A text with methods of its own, which its reader must not call."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("foreign")

    def __getitem__(self, _: Any) -> str:
        raise RuntimeError("foreign")

    __hash__ = str.__hash__


def test_a_text_with_methods_of_its_own_becomes_plain_text() -> None:
    def make(_: Gate) -> BaseException:
        class OddError(Exception):
            def __str__(self) -> str:
                return Text("odd")

        return OddError("x")

    (execution,) = Executor(tools(make, Gate())).execute_sync([{"name": "give", "arguments": {}}])
    assert execution.error == "odd"
    assert type(execution.error) is str
