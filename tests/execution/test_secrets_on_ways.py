"""What an injected value holds is in nothing that a program sees, stores or sends, on each way that a call can take."""

from __future__ import annotations

import html
import json
import runpy
from base64 import b64encode, urlsafe_b64encode
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote, quote_plus
from xml.sax.saxutils import escape

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from toolfmt import Message, ToolInvocation, ToolRegistry, ToolResult, render_calls, write_stream
from toolfmt.agents import (
    AgentLoop,
    AgentState,
    DecisionDriver,
    NativeDriver,
    ScriptedDriver,
    TextDriver,
    results_text,
    write_messages,
)
from toolfmt.agents.drivers.script import call, final
from toolfmt.agents.telemetry import traced
from toolfmt.conversation import CallPart, TextPart
from toolfmt.errors import UnrepresentableError
from toolfmt.execution import Approval, Executor, PolicyError, ToolContext
from toolfmt.execution.events import PolicyChecked, ToolProgress
from toolfmt.execution.records import AgentStop
from toolfmt.mcp import connect
from toolfmt.tools import Injected
from toolfmt.transcripts.formats import formats

SECRET = 'canary 7f3a/"\n+é'  # noqa: S105 - it is none
"""A secret that is written otherwise in JSON, in a `repr` and in an address."""
FORMS = ("canary 7f3a", "canary%207f3a", "canary+7f3a")
KITCHEN = Path(__file__).parent.parent / "mcp" / "servers" / "kitchen.py"
INJECTED: dict[str, Any] = {"key": SECRET, "login": {"user": "ann", "words": [SECRET]}, "minutes": SECRET}


def shows(text: str) -> bool:
    return any(form in text for form in FORMS)


def plain(key: Annotated[str, Injected]) -> str:
    raise ValueError(f"refused: {key}")


def shown(key: Annotated[str, Injected]) -> str:
    raise ValueError(f"refused: {key!r}")


def keyed(key: Annotated[str, Injected]) -> str:
    raise KeyError(key)


def sent(key: Annotated[str, Injected]) -> str:
    raise ConnectionError(f"http://host/?key={quote(key)}&again={quote(key, safe='')}")


def nested(login: Annotated[dict[str, Any], Injected]) -> str:
    raise RuntimeError(json.dumps(login))


def told(key: Annotated[str, Injected]) -> ToolResult:
    return ToolResult(name="told", content={"why": [key]}, is_error=True, extra={"key": key})


TOOLS = [plain, shown, keyed, sent, nested, told]
CALLS: list[ToolInvocation] = [
    *(ToolInvocation(name=tool.__name__, arguments={}) for tool in TOOLS),
    ToolInvocation(name="cook", arguments={"name": "soup"}),
]


class Client:
    """A client whose model makes each call once."""

    format = "openai-chat"
    model = "m"

    def __init__(self, seen: list[object]) -> None:
        self._seen = seen
        calls = [CallPart(one.name, one.arguments, id=f"c{at}") for at, one in enumerate(CALLS)]
        self._answers = iter([Message("assistant", tuple(calls)), Message("assistant", (TextPart("Done."),))])

    async def send(self, request: dict[str, Any], *, stream: bool) -> AsyncIterator[object]:
        assert stream
        self._seen.append(request)
        for event in write_stream(next(self._answers), target=self.format, id="x", model=self.model):
            yield event


def texts(seen: list[object], answers: list[str]) -> Callable[[Any], str]:
    left = iter(answers)

    def model(chat: Any) -> str:
        seen.append(chat)
        return next(left)

    return model


def decision(one: ToolInvocation) -> str:
    return json.dumps({"type": "call_tool", "tool": one.name, "args": one.arguments})


REACT = [render_calls([one], dialect="react") for one in CALLS]
DRIVERS: dict[str, Callable[[list[object]], Any]] = {
    "native": lambda seen: NativeDriver(Client(seen)),
    "text": lambda seen: TextDriver(texts(seen, [render_calls(CALLS, dialect="hermes"), "Done."]), dialect="hermes"),
    "react": lambda seen: TextDriver(texts(seen, [*REACT, "Final Answer: Done."]), dialect="react"),
    "decisions": lambda seen: DecisionDriver(
        texts(seen, [*map(decision, CALLS), '{"type": "final_answer", "answer": "Done."}'])
    ),
    "script": lambda _: ScriptedDriver([*(call(one.name, one.arguments) for one in CALLS), final("Done.")]),
}


@pytest.mark.parametrize("name", DRIVERS)
@pytest.mark.parametrize("throws", [False, True], ids=["goes-on", "throws"])
def test_no_driver_shows_a_secret(name: str, *, throws: bool) -> None:
    seen: list[object] = []
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with ExitStack() as stack:
        kitchen = runpy.run_path(str(KITCHEN), run_name="kitchen")["server"]
        server = stack.enter_context(connect(kitchen, name="kitchen", inject=["minutes"]))
        executor = Executor(
            ToolRegistry(TOOLS),
            servers={"kitchen": server},
            inject=INJECTED,
            throw_on_failure=throws,
            policies=[Approval(tools=[])],
        )
        loop = AgentLoop(DRIVERS[name](seen), executor=executor, checkpoint=seen.append, on_event=seen.append)
        for content in (True, False):
            loop.wiretap(traced(provider.get_tracer("test"), content=content))
        state = loop.run_sync("Go")
    executions = [one for step in state.steps for one in step.executions]
    assert len(executions) == (len(CALLS) if not throws or name in {"native", "text"} else 1)
    assert all(one.has_error and "[injected]" in one.error for one in executions)
    assert state.status == ("failed" if throws else "completed"), state.reason
    assert not [one for one in seen if shows(repr(one))]
    stored = [state, *(one for one in seen if isinstance(one, AgentState))]
    assert not [one for one in stored if shows(json.dumps(one.to_json(), ensure_ascii=False))]
    spans = exporter.get_finished_spans()
    assert len(spans) > 2
    assert not [span.name for span in spans if shows(span.to_json())]


def test_no_transcript_of_calls_shows_a_secret() -> None:
    executions = Executor(ToolRegistry(TOOLS), inject={key: INJECTED[key] for key in ("key", "login")}).execute_sync(
        CALLS[:-1]
    )
    written: list[str] = []
    for target in formats():
        with suppress(UnrepresentableError):  # sessions that programs write are only read
            written.append(repr(write_messages(executions, target.name)))
    assert len(written) > 20
    assert not [text for text in (*written, results_text(executions, dialect="hermes")) if shows(text)]


WRITERS: dict[str, Callable[[str], str]] = {
    "plain": lambda text: text,
    "repr": repr,
    "repr beside quotes": lambda text: repr(f"it's \"{text}"),
    "in a repr": lambda text: repr([{"key": text}]),
    "ascii": ascii,
    "bytes": lambda text: str(text.encode()),
    "json": json.dumps,
    "in json": lambda text: json.dumps({"key": text}, ensure_ascii=False),
    "html": html.escape,
    "xml": escape,
    "address": quote,
    "whole address": lambda text: quote(text, safe=""),
    "form": quote_plus,
}
CODES: dict[str, Callable[[bytes], str]] = {
    "base64": lambda data: b64encode(data).decode(),
    "base64 without padding": lambda data: b64encode(data).decode().rstrip("="),
    "urlsafe base64": lambda data: urlsafe_b64encode(data).decode(),
    "urlsafe base64 without padding": lambda data: urlsafe_b64encode(data).decode().rstrip("="),
    "hex": lambda data: data.hex(),
    "capital hex": lambda data: data.hex().upper(),
}
KEYS = [
    "sk-0a1b2c",
    "sk+a/b~=?&1234",
    "it's<canary>",
    'a\\"b\\n\nc\\',
    SECRET,
    "日本語の鍵です",
    "\U0001f511 & co",
    "'\"'\"'\"%25",
]


@pytest.mark.parametrize("key", KEYS, ids=ascii)
@pytest.mark.parametrize("outer", WRITERS)
def test_an_injected_text_is_replaced_however_it_is_written(key: str, outer: str) -> None:
    def fails(way: str, key: Annotated[str, Injected]) -> None:
        code = CODES[way](key.encode()) if way in CODES else WRITERS[way](key)
        raise ValueError(f"<{WRITERS[outer](code)}>")

    def writes(way: str) -> str:
        """Write what takes the place of the text, with the quotes and braces around it."""
        return WRITERS[outer]("[injected]" if way in CODES else WRITERS[way]("[injected]"))

    ways = [*WRITERS, *CODES]
    calls = [ToolInvocation(name="fails", arguments={"way": way}) for way in ways]
    executions = Executor(ToolRegistry([fails]), inject={"key": key}).execute_sync(calls)
    for way, execution in zip(ways, executions, strict=True):
        assert "[injected]" in execution.error, way
        assert len(execution.error) < len(f"<{writes(way)}>") + 12, f"{way}: {execution.error}"


def test_keys_of_an_error_are_replaced_too() -> None:
    def told(key: Annotated[str, Injected]) -> ToolResult:
        return ToolResult(name="told", content={key: {f"a {key}": 1}}, is_error=True)

    (execution,) = Executor(ToolRegistry([told]), inject={"key": SECRET}).execute_sync([{"name": "told"}])
    assert execution.result.content == {"[injected]": {"a [injected]": 1}}


def test_no_reason_of_a_run_that_a_tool_stops_shows_a_secret() -> None:
    def leave(key: Annotated[str, Injected]) -> None:
        raise AgentStop(f"stop {key}")

    seen: list[object] = []
    executor = Executor(ToolRegistry([leave]), inject={"key": SECRET})
    loop = AgentLoop(ScriptedDriver([call("leave", {})]), executor=executor, on_event=seen.append)
    state = loop.run_sync("Go")
    assert (state.status, state.reason) == ("stopped", "stop [injected]")
    assert not [one for one in (*seen, state, json.dumps(state.to_json())) if shows(repr(one))]
    with pytest.raises(AgentStop) as stop:
        executor.execute_sync([{"name": "leave"}])
    assert (str(stop.value), stop.value.reason) == (f"stop {SECRET}", "stop [injected]")


def test_no_progress_and_no_verdict_shows_a_secret() -> None:
    def work(context: ToolContext, key: Annotated[str, Injected]) -> str:
        context.tell(1, message=f"at http://host/?key={quote(key)}")
        return "done"

    def never(*_: object) -> None:
        raise PolicyError(f"not with {SECRET}")

    seen: list[Any] = []
    how: dict[str, Any] = {"inject": {"key": SECRET}, "on_event": seen.append}
    Executor(ToolRegistry([work]), **how).execute_sync([{"name": "work"}])
    Executor(ToolRegistry([work]), policies=[never], **how).execute_sync([{"name": "work"}])
    assert [one.message for one in seen if isinstance(one, ToolProgress)] == ["at http://host/?key=[injected]"]
    assert [one.error for one in seen if isinstance(one, PolicyChecked)] == ["not with [injected]"]
    assert not [one for one in seen if shows(repr(one))]
