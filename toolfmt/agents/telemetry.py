"""OpenTelemetry spans of runs, by the semantic conventions for generative AI.

    loop.wiretap(traced())                              # or Executor(registry, on_event=traced())

    invoke_agent helper
      chat gpt-5.1            gen_ai.usage.input_tokens=812 gen_ai.response.finish_reasons=("tool_calls",)
      execute_tool weather    gen_ai.tool.call.id="call_1"
      execute_tool weather    gen_ai.tool.call.id="call_2" error.type="timeout"
      chat gpt-5.1

Messages, arguments and results are not in the spans unless `content=True`. Needs the extra `otel`; without an SDK that
exports them, the spans have no effect. The names are those of `opentelemetry-semantic-conventions` 0.66b2,
`gen_ai_attributes.py`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from toolfmt import jsontext
from toolfmt.agents.state import AgentState
from toolfmt.arguments import checked
from toolfmt.conversation import CallPart, Message, ReasoningPart, TextPart, Transcript
from toolfmt.errors import MissingExtraError, ToolFmtError, UnrepresentableError
from toolfmt.execution import events
from toolfmt.execution.events import Listener
from toolfmt.execution.records import ToolExecution
from toolfmt.jsontext import is_object
from toolfmt.model import JsonValue
from toolfmt.transcripts.answering.answer_info import AnswerInfo
from toolfmt.transcripts.convert import convert, write
from toolfmt.transcripts.formats import find
from toolfmt.transcripts.parts.endings import Stop

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span, SpanKind, Tracer


_RAISED: Final = re.compile(r"([A-Za-z_][\w.]*): ")
_OTHER: Final = "_OTHER"
"""The conventions' word for an error without a type."""


@checked
def traced(tracer: Tracer | None = None, *, provider: str | None = None, content: bool = False) -> Listener:
    """Make a listener that makes spans, for `AgentLoop.wiretap` or the `on_event` of an `Executor`.

    `tracer` is the global provider's if none is given. `provider` is the conventions' name of whoever runs the model:
    `openai`, `anthropic`, `gcp.gemini`. `content` puts messages, arguments and results into the spans as JSON. Raises
    `MissingExtraError` without `opentelemetry-api`.
    """
    try:
        from opentelemetry import trace
    except ImportError:
        raise MissingExtraError("tracing", "otel") from None
    if tracer is not None and not hasattr(tracer, "start_span"):
        raise TypeError(f"tracer= takes a tracer, as provider.get_tracer('name') gives, not {type(tracer).__name__}")
    found = trace.get_tracer("toolfmt") if tracer is None else tracer
    return _Tracing(found, {"gen_ai.provider.name": provider} if provider else {}, content=content)


@dataclass(slots=True, eq=False)
class _Open:
    """An open span, and the token that made it the current one."""

    span: Span
    token: Token[Context] | None = None
    unnamed: bool = False
    """Whether its title still lacks the model."""

    def end(self, at: datetime) -> None:
        from opentelemetry import context, trace

        # Only where it is still the current one: a cancellation may be reported in another context.
        if self.token is not None and trace.get_current_span() is self.span:
            context.detach(self.token)
        self.span.end(_nanoseconds(at))


@dataclass(slots=True, eq=False)
class _Run:
    agent: _Open
    outer: _Run | None
    steps: int
    """Number of steps in its first state."""
    chat: _Open | None = None


@dataclass(slots=True, eq=False)
class _Tracing:
    """A listener for any number of concurrent or nested runs."""

    tracer: Tracer
    about: dict[str, Any]
    content: bool = field(kw_only=True)
    _run: ContextVar[_Run | None] = field(default_factory=lambda: ContextVar("toolfmt_run", default=None))
    _runs: list[_Run] = field(default_factory=list["_Run"])
    """The runs that have not ended, the latest last; used if steps run in contexts of their own."""
    _tools: dict[str, _Open] = field(default_factory=dict[str, _Open])
    """By the execution's id."""

    def __call__(self, event: events.ExecutionEvent) -> None:
        """Begin or end a span."""
        match event:
            case events.RunStarted(at, state):
                self._begun(at, state)
            case events.RunCompleted(at, state):
                self._over(at, state)
            case events.InferenceRequestStarted():
                self._asked(event)
            case events.InferenceResponseReceived():
                self._answered(event)
            case events.StepCompleted(at, _, state):
                self._unanswered(at, "; ".join(state.steps[-1].errors) if state.steps else "")
            case events.ToolCallStarted(at, call, execution):
                self._tools[execution] = self._open(f"execute_tool {call.name}", at, {}, "INTERNAL")
            case events.ToolCallCompleted(at, execution):
                self._ended(self._tools.pop(execution.id, None), at, execution)
            case events.ToolCallBlocked(at, execution):
                self._ended(None, at, execution)
            case _:
                pass

    @property
    def _current(self) -> _Run | None:
        run = self._run.get()
        return run if run in self._runs else (self._runs[-1] if self._runs else None)

    def _open(self, name: str, at: datetime, attributes: Mapping[str, Any], kind: str, *, inner: bool = True) -> _Open:
        from opentelemetry import context, trace

        run = self._current if inner else None
        parent = None if run is None else trace.set_span_in_context(run.agent.span)
        span_kind: SpanKind = trace.SpanKind[kind]
        span = self.tracer.start_span(name, parent, span_kind, attributes, start_time=_nanoseconds(at))
        token = context.attach(trace.set_span_in_context(span)) if inner else None
        return _Open(span, token)

    def _begun(self, at: datetime, state: AgentState) -> None:
        name = {} if state.agent is None else {"gen_ai.agent.name": state.agent}
        attributes = {"gen_ai.operation.name": "invoke_agent", **self.about, **name}
        title = " ".join(filter(None, ("invoke_agent", state.agent)))
        outer = self._run.get()
        run = _Run(self._open(title, at, attributes, "INTERNAL", inner=False), outer, len(state.steps))
        self._runs.append(run)
        self._run.set(run)

    def _over(self, at: datetime, state: AgentState) -> None:
        run = self._current
        if run is None:
            return
        self._unanswered(at, state.reason)
        usage = [step.usage for step in state.steps[run.steps :]]
        span = run.agent.span
        span.set_attribute("gen_ai.usage.input_tokens", sum(one.input for one in usage))
        span.set_attribute("gen_ai.usage.output_tokens", sum(one.output for one in usage))
        if state.status == "failed":
            set_failed(span, _type(state.reason), state.reason)
        run.agent.end(at)
        self._runs.remove(run)
        if self._run.get() is run:
            self._run.set(run.outer)

    def _asked(self, event: events.InferenceRequestStarted) -> None:
        self._unanswered(event.at, "")  # an attempt that was lost
        attributes = {"gen_ai.operation.name": "chat", **self.about, **settings(event.request)}
        if self.content:
            attributes |= messages(event)
        model = attributes.get("gen_ai.request.model")
        opened = self._open(_title("chat", model), event.at, attributes, "CLIENT")
        opened.unnamed = not model
        if self._current is None:
            opened.end(event.at)  # no event will report its end
        else:
            self._current.chat = opened

    def _answered(self, event: events.InferenceResponseReceived) -> None:
        opened = self._taken()
        if opened is None:
            return
        span = opened.span
        if opened.unnamed:
            span.update_name(_title("chat", event.info.model))
        attributes = answer_attributes(event.info, ended(event))
        if self.content:
            attributes |= output(event)
        span.set_attributes(attributes)
        opened.end(event.at)

    def _unanswered(self, at: datetime, why: str) -> None:
        """End the span of a request whose answer was never complete."""
        opened = self._taken()
        if opened is not None:
            set_failed(opened.span, _type(why), why)
            opened.end(at)

    def _taken(self) -> _Open | None:
        run = self._current
        opened = run.chat if run is not None else None
        if run is not None:
            run.chat = None
        return opened

    def _ended(self, opened: _Open | None, at: datetime, execution: ToolExecution) -> None:
        call = execution.call
        if opened is None:
            opened = self._open(f"execute_tool {call.name}", execution.started_at, {}, "INTERNAL")
        span = opened.span
        span.set_attributes(
            {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": call.name, "gen_ai.tool.type": "function"}
        )
        if call.id is not None:
            span.set_attribute("gen_ai.tool.call.id", call.id)
        if call.agent is not None:
            span.set_attribute("gen_ai.agent.name", call.agent)
        if self.content:
            given = {"gen_ai.tool.call.arguments": call.arguments, "gen_ai.tool.call.result": execution.result.content}
            span.set_attributes(jsoned(given))
        if execution.has_error and execution.failure != "waiting":  # a call that waits has not failed
            set_failed(span, execution.failure or _OTHER, execution.error if self.content else "")
        opened.end(at)


def _nanoseconds(at: datetime) -> int:
    return int(at.timestamp() * 1_000_000) * 1000


def _title(operation: str, model: object) -> str:
    return f"{operation} {model}" if isinstance(model, str) and model else operation


def set_failed(span: Span, kind: str, why: str) -> None:
    """Mark what a span describes as failed."""
    from opentelemetry.trace import Status, StatusCode

    span.set_attribute("error.type", kind)
    span.set_status(Status(StatusCode.ERROR, why or None))


def _type(reason: str) -> str:
    match = _RAISED.match(reason)
    return match[1] if match else _OTHER


CONTENT: Final = "otel-genai"
"""The transcript format of the conventions' attributes for messages."""
_FINISHED: Final[Mapping[str, str]] = {
    "tool_calls": "tool_call",
    "stop_sequence": "stop",
    "pause": "stop",
    "malformed_call": "error",
}
"""The conventions' finish reasons, where they differ: stop, length, content_filter, tool_call, error."""
SETTINGS: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "gen_ai.request.frequency_penalty": (("frequency_penalty",),),
    "gen_ai.request.max_tokens": (("max_tokens",), ("max_completion_tokens",), ("max_output_tokens",)),
    "gen_ai.request.model": (("model",),),
    "gen_ai.request.presence_penalty": (("presence_penalty",),),
    "gen_ai.request.seed": (("seed",), ("random_seed",), ("generationConfig", "seed")),
    "gen_ai.request.temperature": (("temperature",), ("generationConfig", "temperature"), ("options", "temperature")),
    "gen_ai.request.top_k": (("top_k",), ("generationConfig", "topK"), ("options", "top_k")),
    "gen_ai.request.top_p": (("top_p",), ("generationConfig", "topP"), ("options", "top_p")),
}
"""Where requests have the values of the conventions' attributes."""


def settings(request: Mapping[str, Any]) -> dict[str, Any]:
    """Read a request's settings."""
    found: dict[str, Any] = {}
    for name, paths in SETTINGS.items():
        for path in paths:
            value: Any = request
            for key in path:
                value = value.get(key) if isinstance(value, dict) else None  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType] - JSON
            if isinstance(value, (str, int, float)):
                found.setdefault(name, value)
    return found


def answer_attributes(info: AnswerInfo, stop: Stop | None) -> dict[str, Any]:
    """Write the attributes of an answer and its finish reason."""
    attributes: dict[str, Any] = {
        "gen_ai.response.id": info.id or None,
        "gen_ai.response.model": info.model or None,
        "gen_ai.response.finish_reasons": [stop] if stop else None,
    }
    if info.usage is not None:
        attributes |= {
            "gen_ai.usage.input_tokens": info.usage.input,
            "gen_ai.usage.output_tokens": info.usage.output,
            "gen_ai.usage.cache_read.input_tokens": info.usage.cached or None,
            "gen_ai.usage.cache_creation.input_tokens": info.usage.cache_written or None,
            "gen_ai.usage.reasoning.output_tokens": info.usage.reasoning or None,
        }
    return {key: value for key, value in attributes.items() if value is not None}


def messages(event: events.InferenceRequestStarted) -> dict[str, str]:
    """Write a request's messages and tools; none if its format is unknown."""
    try:
        known = event.transcript
        made = convert(dict(event.request), target=CONTENT) if known is None else write(known, CONTENT)
    except ToolFmtError:
        return {}
    return jsoned(made.value if is_object(made.value) else {})


def ended(event: events.InferenceResponseReceived) -> Stop | None:
    """The finish reason of an answer; a text model's server does not know that the answer has calls."""
    return "tool_calls" if event.calls and event.info.stop in (None, "stop", "stop_sequence") else event.info.stop


def output(event: events.InferenceResponseReceived) -> dict[str, str]:
    """Write an answer."""
    thought = (ReasoningPart(event.reasoning),) if event.reasoning else ()
    texts = (TextPart(event.text),) if event.text else ()
    stop = ended(event) or "stop"
    finish = {f"{CONTENT}.finish_reason": _FINISHED.get(stop, stop)}
    message = Message("assistant", (*thought, *texts, *map(CallPart.of, event.calls)), extra=finish)
    return jsoned({"gen_ai.output.messages": find(CONTENT).write(Transcript((message,)))["gen_ai.output.messages"]})


def jsoned(values: Mapping[str, Any]) -> dict[str, str]:
    """Write the values of attributes as JSON text, or as their `repr` if JSON cannot hold them."""
    return {key: _json(value) for key, value in values.items() if key.startswith("gen_ai.")}


def _json(value: JsonValue) -> str:
    try:
        return jsontext.dumps(value)
    except UnrepresentableError:
        return repr(value)
