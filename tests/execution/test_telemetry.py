"""Spans of runs, as an exporter gets them."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from toolfmt import Message, ToolInvocation, ToolRegistry, Transcript, convert, write_stream
from toolfmt.agents import AgentLoop, NativeDriver, Patience, TextDriver
from toolfmt.agents.telemetry import traced
from toolfmt.conversation import CallPart, TextPart
from toolfmt.errors import DriverError, MissingExtraError
from toolfmt.execution import Approval, Blocked, Executor
from toolfmt.transcripts.answering.answer_info import AnswerInfo, Usage
from toolfmt.transcripts.convert import write

CALLS = Message("assistant", (CallPart("slow", {}, id="c1"), CallPart("quick", {"of": "it"}, id="c2")))
TEXT = Message("assistant", (TextPart("Both done."),))
USAGE = Usage(input=12, output=9, cached=5)


class Recorded:
    """A client that gives recorded answers; an error is raised in the place of one."""

    format = "openai-chat"
    model = "gpt-5.1"

    def __init__(self, *answers: Message | Exception) -> None:
        self.answers = iter(answers)

    async def send(self, request: dict[str, Any], *, stream: bool) -> AsyncIterator[object]:
        assert request.get("model", self.model) == self.model
        assert stream
        await anyio.lowlevel.checkpoint()
        answer = next(self.answers)
        if isinstance(answer, Exception):
            raise answer
        info = AnswerInfo(stop="tool_calls" if answer is CALLS else "stop", usage=USAGE)
        for event in write_stream(answer, target="openai-chat", id="x1", model="gpt-5.1-2026", info=info):
            yield event


class Exported:
    """The spans that were exported, by name."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.tracer = provider.get_tracer("test")

    def __getitem__(self, name: str) -> ReadableSpan:
        (found,) = self.named(name)
        return found

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.exporter.get_finished_spans() if span.name == name]

    @property
    def names(self) -> list[str]:
        return [span.name for span in self.exporter.get_finished_spans()]


@pytest.fixture
def spans() -> Exported:
    return Exported()


def registry(spans: Exported) -> ToolRegistry:
    made = ToolRegistry()

    @made.register
    async def slow() -> str:
        """Take until the other has ended."""
        with anyio.move_on_after(10):
            while "execute_tool quick" not in spans.names:  # noqa: ASYNC110 - what ends it is an export
                await anyio.sleep(0.001)
        with spans.tracer.start_as_current_span("inside slow"):
            return "slow"

    @made.register
    def quick(of: str) -> str:
        """Take no time, in a thread."""
        with spans.tracer.start_as_current_span("inside quick"):
            raise ValueError(f"no {of}")

    return made


def loop_of(spans: Exported, *answers: Message | Exception, **further: Any) -> AgentLoop:
    driver = NativeDriver(Recorded(*answers), parallel=None, patience=Patience(pause=0), options={"temperature": 0.5})
    listener = traced(spans.tracer, provider="openai", **further)
    return AgentLoop(driver, registry(spans), name="helper", on_event=listener)


def is_child(inner: ReadableSpan, outer: ReadableSpan) -> bool:
    assert outer.context is not None
    return inner.parent is not None and inner.parent.span_id == outer.context.span_id


def test_a_run_is_a_tree_of_spans(spans: Exported) -> None:
    loop_of(spans, CALLS, TEXT).run_sync("Do both.")
    agent = spans["invoke_agent helper"]
    first, second = spans.named("chat gpt-5.1")
    slow, quick = spans["execute_tool slow"], spans["execute_tool quick"]
    assert agent.parent is None
    assert all(is_child(one, agent) for one in (first, second, slow, quick))
    assert is_child(spans["inside slow"], slow)
    assert is_child(spans["inside quick"], quick)
    assert [one.kind for one in (agent, first, slow)] == [SpanKind.INTERNAL, SpanKind.CLIENT, SpanKind.INTERNAL]
    assert slow.start_time is not None
    assert quick.start_time is not None
    assert quick.end_time is not None
    assert slow.end_time is not None
    assert first.end_time is not None
    assert first.end_time <= min(slow.start_time, quick.start_time)
    assert slow.start_time < quick.end_time < slow.end_time
    assert len(spans.names) == 7


def test_what_spans_say(spans: Exported) -> None:
    loop_of(spans, CALLS, TEXT).run_sync("Do both.")
    usage = {"gen_ai.usage.input_tokens": 12, "gen_ai.usage.output_tokens": 9}
    assert dict(spans["invoke_agent helper"].attributes or {}) == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": "openai",
        "gen_ai.agent.name": "helper",
        "gen_ai.usage.input_tokens": 24,
        "gen_ai.usage.output_tokens": 18,
    }
    assert dict(spans.named("chat gpt-5.1")[0].attributes or {}) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-5.1",
        "gen_ai.request.temperature": 0.5,
        "gen_ai.response.id": "x1",
        "gen_ai.response.model": "gpt-5.1-2026",
        "gen_ai.response.finish_reasons": ("tool_calls",),
        "gen_ai.usage.cache_read.input_tokens": 5,
        **usage,
    }
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.type": "function", "gen_ai.agent.name": "helper"}
    assert dict(spans["execute_tool slow"].attributes or {}) == {
        **tool,
        "gen_ai.tool.name": "slow",
        "gen_ai.tool.call.id": "c1",
    }
    assert dict(spans["execute_tool quick"].attributes or {}) == {
        **tool,
        "gen_ai.tool.name": "quick",
        "gen_ai.tool.call.id": "c2",
        "error.type": "raised",
    }
    assert spans["execute_tool quick"].status.status_code is StatusCode.ERROR
    assert spans["execute_tool slow"].status.status_code is StatusCode.UNSET


def test_every_attribute_is_of_the_conventions(spans: Exported) -> None:
    from opentelemetry.semconv._incubating.attributes import gen_ai_attributes

    known = {value for key, value in vars(gen_ai_attributes).items() if key.startswith("GEN_AI_")} | {"error.type"}
    loop_of(spans, DriverError("lost", retryable=True), CALLS, TEXT, content=True).run_sync("Do both.")
    said = {key for span in spans.exporter.get_finished_spans() for key in span.attributes or {}}
    assert said <= known
    assert len(said) > 15


def test_nothing_that_is_said_is_reported_unless_asked_for(spans: Exported) -> None:
    loop_of(spans, CALLS, TEXT).run_sync("Do both, secretly.")
    reported = "".join(span.to_json() for span in spans.exporter.get_finished_spans() if "inside" not in span.name)
    assert all(word not in reported for word in ("secretly", "Both done", "no it"))


def test_content(spans: Exported) -> None:
    loop_of(spans, CALLS, TEXT, content=True).run_sync("Do both, openly.")
    _, second = spans.named("chat gpt-5.1")
    said: Any = second.attributes
    messages = json.loads(said["gen_ai.input.messages"])
    assert messages[0] == {"role": "user", "parts": [{"type": "text", "content": "Do both, openly."}]}
    assert [part["id"] for part in messages[1]["parts"]] == ["c1", "c2"]
    (output,) = json.loads(said["gen_ai.output.messages"])
    assert output == {
        "role": "assistant",
        "parts": [{"type": "text", "content": "Both done."}],
        "finish_reason": "stop",
    }
    assert {tool["name"] for tool in json.loads(said["gen_ai.tool.definitions"])} == {"slow", "quick"}
    quick: Any = spans["execute_tool quick"].attributes
    assert json.loads(quick["gen_ai.tool.call.arguments"]) == {"of": "it"}
    assert "no it" in quick["gen_ai.tool.call.result"]


def test_an_attempt_that_is_lost_is_an_error(spans: Exported) -> None:
    loop_of(spans, DriverError("lost", retryable=True), TEXT).run_sync("Hi")
    lost, came = spans.named("chat gpt-5.1")
    assert (lost.attributes or {})["error.type"] == "_OTHER"
    assert came.status.status_code is StatusCode.UNSET
    assert spans["invoke_agent helper"].status.status_code is StatusCode.UNSET


def test_a_run_that_fails_says_why(spans: Exported) -> None:
    loop_of(spans, DriverError("no such model")).run_sync("Hi")
    for span in (spans["chat gpt-5.1"], spans["invoke_agent helper"]):
        assert (span.attributes or {})["error.type"] == "DriverError"
        assert span.status.description == "DriverError: no such model"


def test_runs_side_by_side_keep_their_own(spans: Exported) -> None:
    answers = [CALLS, TEXT]
    listener = traced(spans.tracer)

    async def both() -> None:
        async with anyio.create_task_group() as group:
            for name in ("one", "two", "three"):
                driver = NativeDriver(Recorded(*answers), parallel=None)
                loop = AgentLoop(driver, registry(spans), name=name, on_event=listener)
                group.start_soon(loop.run, "Do both.")

    anyio.run(both)
    for name in ("one", "two", "three"):
        agent = spans[f"invoke_agent {name}"]
        inner = [span.name for span in spans.exporter.get_finished_spans() if is_child(span, agent)]
        assert sorted(inner) == ["chat gpt-5.1", "chat gpt-5.1", "execute_tool quick", "execute_tool slow"]


def test_a_run_within_a_tool_is_its_child(spans: Exported) -> None:
    listener = traced(spans.tracer)
    outer = ToolRegistry()

    @outer.register
    async def slow() -> str:
        """Ask another agent."""
        driver = NativeDriver(Recorded(TEXT))
        return (await AgentLoop(driver, name="inner", on_event=listener).run("Hi")).text

    @outer.register
    def quick(of: str) -> str:
        """Do nothing."""
        return of

    AgentLoop(NativeDriver(Recorded(CALLS, TEXT), parallel=None), outer, name="outer", on_event=listener).run_sync("Hi")
    assert is_child(spans["invoke_agent inner"], spans["execute_tool slow"])
    inner = [span for span in spans.named("chat gpt-5.1") if is_child(span, spans["invoke_agent inner"])]
    assert len(inner) == 1
    assert len([span for span in spans.named("chat gpt-5.1") if is_child(span, spans["invoke_agent outer"])]) == 2


def test_steps_taken_one_by_one(spans: Exported) -> None:
    for _ in loop_of(spans, CALLS, TEXT).iterate_sync("Do both."):
        pass
    agent = spans["invoke_agent helper"]
    assert sum(is_child(span, agent) for span in spans.exporter.get_finished_spans()) == 4


def test_a_run_that_is_left_is_ended(spans: Exported) -> None:
    steps = loop_of(spans, CALLS, TEXT).iterate_sync("Do both.")
    next(steps)
    steps.close()
    assert "invoke_agent helper" in spans.names


def test_a_request_without_a_model_is_named_by_the_answer(spans: Exported) -> None:
    driver = TextDriver(Recorded(TEXT), dialect="hermes")
    AgentLoop(driver, registry(spans), on_event=traced(spans.tracer)).run_sync("Hi")
    attributes = spans["chat gpt-5.1-2026"].attributes or {}
    assert "gen_ai.request.model" not in attributes
    assert attributes["gen_ai.usage.input_tokens"] == 12


def test_the_extra_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with pytest.raises(MissingExtraError, match=r"\[otel\]"):
        traced()


def test_an_executor_alone(spans: Exported) -> None:
    def refuse(call: ToolInvocation, _: object) -> Blocked | None:
        return Blocked("not now") if call.name == "slow" else None

    executor = Executor(registry(spans), before=[refuse], on_event=traced(spans.tracer))
    with spans.tracer.start_as_current_span("mine"):
        executor.execute_sync([ToolInvocation(name="slow"), ToolInvocation(name="quick", arguments={"of": "it"})])
        assert trace.get_current_span().is_recording()
    assert is_child(spans["execute_tool slow"], spans["mine"])
    assert is_child(spans["execute_tool quick"], spans["mine"])
    assert (spans["execute_tool slow"].attributes or {})["error.type"] == "blocked"


def test_a_call_that_is_cancelled_is_ended(spans: Exported) -> None:
    made = ToolRegistry()

    @made.register
    async def slow() -> None:
        """Never end."""
        await anyio.sleep_forever()

    async def cancelled() -> None:
        with anyio.move_on_after(0.02):
            await Executor(made, on_event=traced(spans.tracer)).execute([ToolInvocation(name="slow")])

    anyio.run(cancelled)
    assert (spans["execute_tool slow"].attributes or {})["error.type"] == "cancelled"


def loaded(messages: list[Any]) -> list[Any]:
    """The messages, with the arguments of their calls as values."""
    for function in (call["function"] for message in messages for call in message.get("tool_calls", ())):
        function["arguments"] = json.loads(function["arguments"])
    return messages


THOUGHT = '<think>Hm.</think>Let me.<tool_call>\n{"name": "quick", "arguments": {"of": "it"}}\n</tool_call>'


def test_a_text_models_trace_is_its_conversation(spans: Exported) -> None:
    answers = iter([THOUGHT, "<think>I could", "All done."])
    registry = ToolRegistry()

    @registry.register
    def quick(of: str) -> str:
        """Do it."""
        return f"did {of}"

    driver = TextDriver(lambda _: next(answers), dialect="qwen25")
    loop = AgentLoop(driver, registry, system="Be brief.", on_event=traced(spans.tracer, content=True))
    state = loop.run_sync("Do it.").raise_for_failure()
    first, _, last = spans.named("chat")
    said: Any = first.attributes
    assert json.loads(said["gen_ai.system_instructions"]) == [{"type": "text", "content": "Be brief."}]
    assert [tool["name"] for tool in json.loads(said["gen_ai.tool.definitions"])] == ["quick"]
    (answer,) = json.loads(said["gen_ai.output.messages"])
    assert ([part["type"] for part in answer["parts"]], answer["finish_reason"]) == (
        ["reasoning", "text", "tool_call"],
        "tool_call",
    )
    assert said["gen_ai.response.finish_reasons"] == ("tool_calls",)

    exported = {key: value for key, value in (last.attributes or {}).items() if isinstance(value, str)}
    back = convert(exported, source="otel-genai", target="openai-chat").value
    kept = [message for message in back["messages"] if "no text and no call" not in str(message)]
    del kept[-2]  # the answer that was asked for again
    stored = write(Transcript(state.messages), "openai-chat").value
    assert loaded(kept) == loaded(stored["messages"])
    assert [tool["function"]["name"] for tool in back["tools"]] == ["quick"]


def quick(of: str) -> str:
    """Answer at once."""
    return of


def test_a_call_that_waits_has_not_failed() -> None:
    exported = Exported()
    executor = Executor(ToolRegistry([quick]), policies=[Approval(tools=["*"])], on_event=traced(exported.tracer))
    (execution,) = executor.execute_sync([ToolInvocation(name="quick", arguments={"of": "it"})])
    span = exported["execute_tool quick"]
    assert (execution.failure, span.status.status_code) == ("waiting", StatusCode.UNSET)
    assert "error.type" not in (span.attributes or {})


def test_a_tracers_provider_is_not_taken_for_a_tracer() -> None:
    with pytest.raises(TypeError, match=r"tracer= takes a tracer, as provider\.get_tracer"):
        traced(TracerProvider())  # type: ignore[arg-type]
