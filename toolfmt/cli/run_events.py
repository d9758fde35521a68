"""The events of a run: as lines for people, and as JSON."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final, TextIO

from toolfmt import jsontext
from toolfmt.agents.state import AgentState
from toolfmt.agents.stored import plain
from toolfmt.cli.events import event_record, kind_of
from toolfmt.cli.output import say, write_json_line
from toolfmt.events import ReasoningDelta, TextDelta
from toolfmt.execution.events import (
    AnswerReceived,
    DecisionExtractionFailed,
    InferenceRequestStarted,
    RunCompleted,
    RunStarted,
    StepStarted,
    ToolCallBlocked,
    ToolCallCompleted,
    ToolCallStarted,
    ValidationFailed,
)

if TYPE_CHECKING:
    from toolfmt.execution.events import ExecutionEvent
    from toolfmt.execution.records import ToolExecution
    from toolfmt.model import JsonObject

_STYLES: Final = {"completed": "bold green", "stopped": "bold yellow", "waiting": "bold yellow", "failed": "bold red"}


def write_run_event(event: ExecutionEvent, to: TextIO) -> None:
    """Write an event as one line of JSON; the last one has the whole state."""
    write_json_line(run_event_record(event), to=to)


def run_event_record(event: ExecutionEvent) -> JsonObject:
    """Return an event's kind, such as `tool_call_started`, under `event`, and its fields."""
    record: JsonObject = {"event": kind_of(event)}
    for field in fields(event):
        name = "received" if isinstance(event, AnswerReceived) and field.name == "event" else field.name
        record[name] = _field(getattr(event, field.name), whole=isinstance(event, RunCompleted))
        if name == "received" and isinstance(event, AnswerReceived):
            record[name] = event_record(event.event)
    return record


def _field(value: Any, *, whole: bool) -> Any:
    if not isinstance(value, AgentState):
        return plain(value)
    if whole:
        return value.to_json()
    return {"status": value.status, "reason": value.reason, "steps": len(value.steps)}


def say_run_event(event: ExecutionEvent) -> None:
    """Write an event for people."""
    match event:
        case AnswerReceived(event=ReasoningDelta(text)):
            say("  thought", text, "dim")
        case AnswerReceived(event=TextDelta(text)):
            say("  said", text)
        case ToolCallStarted(call=call):
            say("  call", f"{call.name} {jsontext.dumps(call.arguments)}", "cyan")
        case ToolCallCompleted(execution=execution):
            _say_result("  result", execution)
        case ToolCallBlocked(execution=execution):
            _say_result("  blocked", execution)
        case _:
            _say_course(event)


def _say_course(event: ExecutionEvent) -> None:
    match event:
        case RunStarted(state=AgentState() as state):
            said = state.messages[-1].parts if state.messages else ()
            say("user", "".join(getattr(part, "text", "") for part in said), "bold blue")
        case StepStarted(step=step):
            say(f"step {step + 1}", "", "bold cyan")
        case InferenceRequestStarted(attempt=attempt) if attempt > 1:
            say("  asked again", f"attempt {attempt}", "yellow")
        case DecisionExtractionFailed(error=error) | ValidationFailed(error=error):
            say("  broken", error, "bold red")
        case RunCompleted(state=AgentState() as state):
            _conclude(state)
        case _:
            pass


def _say_result(label: str, execution: ToolExecution) -> None:
    if execution.has_error:
        say("  error", f"{execution.name}: {execution.error}", "bold red")
        return
    content = execution.result.content
    text = content if isinstance(content, str) else jsontext.dumps(content)
    say(label, f"{execution.name}: {text}", "green")


def _conclude(state: AgentState) -> None:
    if state.reason:
        say(state.status, state.reason, _STYLES[state.status])
    usage = state.usage
    tokens = f", {usage.input} tokens in and {usage.output} out" if usage.input or usage.output else ""
    failed = sum(execution.has_error for execution in state.executions)
    calls = f"{len(state.executions)} calls" + (f", {failed} of them failed" if failed else "")
    say(state.status, f"{len(state.steps)} steps, {calls}{tokens}", _STYLES[state.status])
