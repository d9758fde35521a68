"""What a policy, a hook or an injected value holds is in no event, span, error or stored state, whatever goes wrong."""

from __future__ import annotations

import json
import logging
import pickle
import traceback
from collections.abc import AsyncIterator
from typing import Annotated, Any

import anyio
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from toolfmt import Message, ToolInvocation, ToolRegistry, write_stream
from toolfmt.agents import AgentLoop, NativeDriver
from toolfmt.agents.telemetry import traced
from toolfmt.conversation import CallPart, TextPart
from toolfmt.execution import Approval, Blocked, Executor, Permissions, ToolExecution
from toolfmt.execution.records import ToolCallError
from toolfmt.tools import Injected

SECRET = "canary-7f3a"  # noqa: S105 - it is none


class Store:
    """A value that shows its secret wherever it is written."""

    token = SECRET

    def __repr__(self) -> str:
        return f"Store({SECRET})"

    __str__ = __repr__

    def __reduce__(self) -> Any:
        raise pickle.PicklingError(f"no copy of {SECRET}")


class Keeper:
    """A policy, a hook and a guard that hold a secret, and fail with it where they are told to."""

    token = SECRET
    name = "Keeper"
    step = "custom"

    def __init__(self, *fails: str) -> None:
        self.fails = fails

    def __repr__(self) -> str:
        return f"Keeper({SECRET})"

    def _do(self, what: str) -> None:
        if what in self.fails:
            raise KeyError(SECRET)

    def check(self, _: object) -> Blocked | None:
        self._do("check")
        return Blocked("not today") if "block" in self.fails else None

    def before(self, *_: object) -> None:
        self._do("before")

    def after(self, *_: object) -> None:
        self._do("after")

    def refuse(self, _: ToolInvocation) -> None:
        self._do("refuse")

    def record(self, _: ToolExecution) -> None:
        self._do("record")

    def ask(self, _: object) -> bool:
        self._do("ask")
        return True

    def preview(self, _: object) -> str:
        self._do("preview")
        return "shown"


def fine(text: str, store: Annotated[Store, Injected]) -> str:
    """Use the store."""
    return f"{text} {len(store.token)}"


def strict(number: int, store: Annotated[Store, Injected]) -> int:
    """Take a number."""
    return number + len(store.token)


def misused(text: str, store: Annotated[Any, Injected]) -> str:
    """Use the store wrongly."""
    return store[text]


async def slow(store: Annotated[Store, Injected]) -> str:
    """Take too long."""
    await anyio.sleep(30)
    return store.token


def apart(store: Annotated[Store, Injected]) -> str:
    """Run in a process, to which the store cannot go."""
    return store.token


def registry() -> ToolRegistry:
    made = ToolRegistry([fine, strict, misused, slow])
    made.register(apart, run_in="process")
    return made


CALLS: list[dict[str, Any]] = [
    {"name": "fine", "arguments": {"text": "a"}},
    {"name": "fine", "arguments": {"text": "a", "store": "mine"}},
    {"name": "fine", "arguments": {}},
    {"name": "strict", "arguments": {"number": "x"}},
    {"name": "misused", "arguments": {"text": "a"}},
    {"name": "slow", "arguments": {}},
    {"name": "apart", "arguments": {}},
    {"name": "nothing", "arguments": {}},
]
FAILURES = ["", "check", "block", "before", "after", "refuse", "record", "ask", "preview"]


def executor(keeper: Keeper, events: list[object], **how: Any) -> Executor:
    return Executor(
        registry(),
        policies=[keeper, Permissions({"*": ["*"]}), Approval(keeper.ask, tools=["*"], preview=keeper.preview)],
        before=[keeper.before],
        after=[keeper.after],
        guards=[keeper],
        inject={"store": Store()},
        timeout=0.2,
        on_event=events.append,
        **how,
    )


@pytest.mark.parametrize("fails", FAILURES, ids=repr)
def test_no_record_event_or_error_holds_a_secret(fails: str) -> None:
    events: list[object] = []
    running = executor(Keeper(fails), events)
    executions = running.execute_sync(CALLS)
    shown = [repr(running), *map(repr, executions), *map(repr, events), *(one.model_dump_json() for one in executions)]
    assert not [text for text in shown if SECRET in text]
    if fails in {"", "after", "record"}:
        assert [one.failure for one in executions][:4] == [None, *["invalid_arguments"] * 3]
        assert executions[5].failure == "timeout"


@pytest.mark.parametrize("fails", FAILURES, ids=repr)
def test_a_log_holds_what_a_policy_raised_as_its_traceback_alone(fails: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        executor(Keeper(fails), []).execute_sync(CALLS)
    assert bool([record for record in caplog.records if record.levelno >= logging.WARNING]) == (
        fails not in {"", "block"}
    )
    for record in caplog.records:
        assert SECRET not in record.getMessage()
        if record.exc_info is not None:
            assert isinstance(record.exc_info[1], KeyError), "not the keeper's own"


@pytest.mark.parametrize("call", CALLS, ids=str)
def test_an_error_that_is_raised_holds_no_secret(call: dict[str, Any]) -> None:
    raised: list[ToolCallError] = []
    try:
        executor(Keeper(), [], throw_on_failure=True).execute_sync([call])
    except ToolCallError as error:
        raised.append(error)
    assert bool(raised) == (call != CALLS[0])
    for error in raised:
        assert SECRET not in str(error)
        assert SECRET not in repr(error.execution)
        assert SECRET not in "".join(traceback.format_exception_only(error))


class Client:
    """A client that calls tools once."""

    format = "openai-chat"
    model = "m"

    def __init__(self) -> None:
        calls = [CallPart(call["name"], call["arguments"], id=f"c{number}") for number, call in enumerate(CALLS)]
        self.answers = iter([Message("assistant", tuple(calls)), Message("assistant", (TextPart("Done."),))])

    async def send(self, request: dict[str, Any], *, stream: bool) -> AsyncIterator[object]:
        assert stream
        assert SECRET not in json.dumps(request)
        for event in write_stream(next(self.answers), target=self.format, id="x", model=self.model):
            yield event


@pytest.mark.parametrize("fails", FAILURES, ids=repr)
def test_no_span_and_no_stored_state_of_a_run_holds_a_secret(fails: str) -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    events: list[object] = []
    listener = traced(provider.get_tracer("test"), content=True)
    loop = AgentLoop(NativeDriver(Client()), executor=executor(Keeper(fails), events), on_event=listener)
    state = loop.run_sync("Go")
    spans = exporter.get_finished_spans()
    assert len(spans) > (len(CALLS) if not fails else 1)
    assert not [span.name for span in spans if SECRET in span.to_json()]
    assert SECRET not in json.dumps(state.to_json())
    assert SECRET not in repr(events)


def test_an_injected_text_in_an_exception_never_reaches_the_model() -> None:
    registry = ToolRegistry()

    @registry.register
    def fetch(url: str, key: Annotated[str, Injected]) -> str:
        raise ValueError(f"{url}?key={key}: 401")

    executor = Executor(registry, inject={"key": SECRET})
    (execution,) = executor.execute_sync([{"name": "fetch", "arguments": {"url": "http://h"}}])
    assert execution.error == "http://h?key=[injected]: 401"
