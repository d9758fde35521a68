"""`toolfmt chat`: run a scripted agent."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AsyncExitStack, redirect_stdout
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Final

from cyclopts import Parameter

from toolfmt import jsontext
from toolfmt.agents.drivers import scripted
from toolfmt.agents.loop import AgentLoop
from toolfmt.agents.state import AgentState
from toolfmt.agents.stored import plain
from toolfmt.cli.events import event_record, kind_of
from toolfmt.cli.output import UsageError, say, write_json_line
from toolfmt.cli.toolboxes import toolbox
from toolfmt.events import ReasoningDelta, TextDelta
from toolfmt.execution import events
from toolfmt.execution.executor import Executor
from toolfmt.execution.records import ToolExecution
from toolfmt.model import JsonObject

SAMPLE: Final = Path(__file__).parent / "scripts" / "weather.json"


def chat(
    *ask: Annotated[str, Parameter(help="The user's texts, one for each turn; by default those of the script.")],
    script: Annotated[Path | None, Parameter(help="The script: JSON, TOML or YAML; by default a sample.")] = None,
    tools: Annotated[
        str | None, Parameter(help="The tools that run the script's calls: tools.py, module:object or mcp.json.")
    ] = None,
    max_steps: Annotated[int, Parameter(help="The maximum number of steps in a turn.")] = 20,
    json: Annotated[bool, Parameter(help="Print the events as JSON, one per line.")] = False,
) -> int:
    """Run an agent with real tool calls whose model is a script.

    Without options it runs a sample that needs no key and no network. The exit code is 1 if a turn fails.
    """
    from anyio import run

    if max_steps < 1:
        raise UsageError(f"--max-steps is 1 or more, not {max_steps}")
    return run(_play, ask, script or SAMPLE, tools, max_steps, json)


class _Page:
    """Writes events; keeps an error of the output, because a run ignores errors of its listeners."""

    def __init__(self, show: Callable[[Any], object]) -> None:
        self._show = show
        self._error: OSError | None = None

    def __call__(self, event: object) -> None:
        if self._error is None:
            try:
                self._show(event)
            except OSError as error:
                self._error = error

    def reason(self, _: object) -> str | None:
        return None if self._error is None else "nobody reads what happens"

    def check(self) -> None:
        if self._error is not None:
            raise self._error


async def _play(ask: tuple[str, ...], script: Path, tools: str | None, max_steps: int, json: bool) -> int:  # noqa: FBT001 - as the command has it
    found = scripted(script)
    questions = ask or found.ask
    if not questions:
        raise UsageError(f"{script} asks nothing: say what the user says, as an argument or as `ask` in the script")
    async with AsyncExitStack() as stack:
        out = sys.stdout

        def write(event: events.ExecutionEvent) -> None:
            write_json_line(run_event_record(event), to=out)

        if json:  # stdout is for the events, not for what tools print
            stack.enter_context(redirect_stdout(sys.stderr))
        executor = Executor(found.tools)
        if tools is not None:
            if len(found.tools):
                raise UsageError(f"{script} brings its own tools: leave --tools out")
            executor = await stack.enter_async_context(toolbox(tools))
        page = _Page(write if json else say_run_event)
        loop = AgentLoop(
            found.driver,
            executor=executor,
            max_steps=max_steps,
            name=found.name,
            stop_when=[page.reason],
            on_event=page,
        )
        state = AgentState.of(system=found.system)
        for question in questions:
            state = await loop.run(question, state=state)
            page.check()
    ended = [*(run.status for run in state.runs), state.status]
    return 0 if set(ended) == {"completed"} else 1


_STYLES: Final = {"completed": "bold green", "stopped": "bold yellow", "waiting": "bold yellow", "failed": "bold red"}


def run_event_record(event: events.ExecutionEvent) -> JsonObject:
    """Return an event's kind, such as `tool_call_started`, under `event`, and its fields."""
    record: JsonObject = {"event": kind_of(event)}
    for field in fields(event):
        name = "received" if isinstance(event, events.AnswerReceived) and field.name == "event" else field.name
        record[name] = _field(getattr(event, field.name), whole=isinstance(event, events.RunCompleted))
        if name == "received" and isinstance(event, events.AnswerReceived):
            record[name] = event_record(event.event)
    return record


def _field(value: Any, *, whole: bool) -> Any:
    if not isinstance(value, AgentState):
        return plain(value)
    if whole:
        return value.to_json()
    return {"status": value.status, "reason": value.reason, "steps": len(value.steps)}


def say_run_event(event: events.ExecutionEvent) -> None:
    """Write an event for people."""
    match event:
        case events.AnswerReceived(event=ReasoningDelta(text)):
            say("  thought", text, "dim")
        case events.AnswerReceived(event=TextDelta(text)):
            say("  said", text)
        case events.ToolCallStarted(call=call):
            say("  call", f"{call.name} {jsontext.dumps(call.arguments)}", "cyan")
        case events.ToolCallCompleted(execution=execution):
            _say_result("  result", execution)
        case events.ToolCallBlocked(execution=execution):
            _say_result("  blocked", execution)
        case _:
            _say_course(event)


def _say_course(event: events.ExecutionEvent) -> None:
    match event:
        case events.RunStarted(state=AgentState() as state):
            latest = state.messages[-1].parts if state.messages else ()
            say("user", "".join(getattr(part, "text", "") for part in latest), "bold blue")
        case events.StepStarted(step=step):
            say(f"step {step + 1}", "", "bold cyan")
        case events.InferenceRequestStarted(attempt=attempt) if attempt > 1:
            say("  asked again", f"attempt {attempt}", "yellow")
        case events.DecisionExtractionFailed(error=error) | events.ValidationFailed(error=error):
            say("  broken", error, "bold red")
        case events.RunCompleted(state=AgentState() as state):
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
