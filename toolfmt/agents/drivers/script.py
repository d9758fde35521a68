"""A driver that follows a script instead of a model: for tests, demonstrations and replays.

    driver = ScriptedDriver([call("add", {"a": 1, "b": 2}, text="Let me see."), final("It is 3.")])
    state = await AgentLoop(driver, registry).run("1 + 2?")

The calls really run. The state holds the position in the script, so a resumed run continues there. The last step is
repeated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from toolfmt import jsontext
from toolfmt.agents.drivers.asking import last_step, received
from toolfmt.agents.drivers.turns import AnswerMessage, played
from toolfmt.agents.state import Step
from toolfmt.execution.events import AnswerReceived, InferenceRequestStarted
from toolfmt.model import ToolInvocation
from toolfmt.rendering import records
from toolfmt.transcripts.answer_info import Usage
from toolfmt.transcripts.answer_message import answer_message
from toolfmt.transcripts.assembling import Assembler

if TYPE_CHECKING:
    from toolfmt.agents.runtime import Runtime
    from toolfmt.agents.state import AgentState
    from toolfmt.model import JsonObject

ScriptKind: TypeAlias = Literal["final", "tool", "error", "call"]
CURSOR: Final = "scripted.cursor"
"""The key of the state's metadata for the number of the next step."""
DEFAULT: Final = "This is the end of the script."


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptStep:
    """One step: `final` ends the turn, `tool` goes on without a call, `error` fails, `call` makes calls."""

    kind: ScriptKind
    text: str = ""
    calls: tuple[ToolInvocation, ...] = ()
    run: bool = True
    """Whether the calls are run; else they are only made."""
    reasoning: str = ""
    usage: Usage = field(default_factory=Usage)


def final(text: str, *, reasoning: str = "") -> ScriptStep:
    """Answer, and end the turn."""
    return ScriptStep(kind="final", text=text, reasoning=reasoning)


def tool(text: str = "") -> ScriptStep:
    """Say something, and go on."""
    return ScriptStep(kind="tool", text=text)


def error(text: str) -> ScriptStep:
    """Fail, as if the model could not be asked."""
    return ScriptStep(kind="error", text=text)


def call(
    name: str, arguments: JsonObject | None = None, *, text: str = "", reasoning: str = "", run: bool = True
) -> ScriptStep:
    """Call a tool."""
    made = ToolInvocation(name=name, arguments={} if arguments is None else arguments)
    return calls(made, text=text, reasoning=reasoning, run=run)


def calls(
    *made: ToolInvocation | Mapping[str, Any], text: str = "", reasoning: str = "", run: bool = True
) -> ScriptStep:
    """Make several calls in one answer."""
    found = tuple(records(made, "calls", ToolInvocation))
    if not found:
        raise ValueError("a step of calls needs at least one call")
    return ScriptStep(kind="call", text=text, calls=found, reasoning=reasoning, run=run)


class ScriptedDriver:
    """Plays the steps of a script in order.

    `default` is the answer of an empty script. `children` are the scripts of sub-agents, by name; `child` returns a
    driver for one.
    """

    def __init__(
        self,
        steps: Sequence[ScriptStep] = (),
        *,
        default: str = DEFAULT,
        children: Mapping[str, Sequence[ScriptStep]] | None = None,
    ) -> None:
        """Set the steps; raises TypeError for anything else."""
        for at, step in enumerate(steps):
            if not isinstance(step, ScriptStep):  # pyright: ignore[reportUnnecessaryIsInstance] - a caller may not check types
                raise TypeError(f"steps[{at}] is a ScriptStep, such as final('Done.'), not {type(step).__name__}")
        self._steps = tuple(steps) or (final(default),)
        self._default = default
        self._children = {} if children is None else dict(children)

    def child(self, name: str) -> ScriptedDriver:
        """Return the driver of a sub-agent; without a script, it gives the default answer."""
        return ScriptedDriver(self._children.get(name, ()), default=self._default)

    async def step(self, state: AgentState, runtime: Runtime) -> AgentState:
        """Play the next step of the script, or repeat the last one."""
        found = state.metadata.get(CURSOR, 0)
        cursor = found if type(found) is int and found >= 0 else 0
        script = self._steps[min(cursor, len(self._steps) - 1)]
        moved = state.with_metadata(**{CURSOR: cursor + 1})
        if script.kind == "error":
            return moved.with_step(Step(errors=(script.text,), usage=script.usage))
        answered = _scripted(script, cursor, runtime)
        if not script.run:
            step = replace(answered.step, messages=(answered.message,), calls=script.calls, stop=None)
            return moved.with_step(step)
        step = await played(answered, moved, runtime, lambda failure: failure.detail)
        return moved.with_step(step if script.kind != "tool" else replace(step, ends=False))


def _scripted(script: ScriptStep, cursor: int, runtime: Runtime) -> AnswerMessage:
    """Emit the events of a step as if a model had written it."""
    made = Assembler()
    made.info.stop = "tool_calls" if script.calls else "stop"
    made.info.usage = script.usage
    made.reasoning(script.reasoning)
    made.text(script.text)
    for at, one in enumerate(script.calls):
        made.call(at, one.name, one.id or f"call_{cursor}_{at}")
        made.arguments(at, jsontext.dumps(one.arguments))
        made.end(at)
    events = made.take()
    runtime.tell(InferenceRequestStarted, request={"script": cursor})
    for event in events:
        runtime.tell(AnswerReceived, event=event)
    answer = received(runtime, events, made.info)
    return AnswerMessage(answer_message(events, made.info), answer.result.ended, last_step([answer], text=script.text))
