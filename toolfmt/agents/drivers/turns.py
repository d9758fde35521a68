"""Run the calls of one answer and make the step of it, with a result for every call.

assistant  "Checking." call A, call B (broken)
tool       result of A, error for B
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final
from uuid import uuid4

from toolfmt import jsontext
from toolfmt.agents.messages import result_part
from toolfmt.agents.runtime import GOES_ON, Outcome, Runtime
from toolfmt.agents.state import AgentState, Pending, Step
from toolfmt.agents.waiting import NOT_RUN, Journal
from toolfmt.conversation import CallPart, Message, ResultPart, TextPart
from toolfmt.events import CallEnd, CallFailed
from toolfmt.execution.contracts import ALONE
from toolfmt.execution.records import ToolExecution
from toolfmt.model import ToolInvocation

_DONE: Final = "These calls of the same answer were accepted. Do not write them again:"
BROKEN: Final = "This call could not be used ({}): see below."
_SHOWN: Final = 300
"""Characters that are shown of a call that was accepted."""


@dataclass(frozen=True, slots=True)
class AnswerMessage:
    """An answer: its message, with a part for every call that has a name, and how its calls ended, in order."""

    message: Message
    ended: tuple[CallEnd | CallFailed, ...]
    step: Step
    """The step as far as it is known before the calls run: the answer's text, tokens and failures."""
    slips: Mapping[int, str] = field(default_factory=dict[int, str])
    """What was not exact in a call, by the index of its events; the model reads it if the call is refused for it."""
    in_text: bool = False
    """Whether calls are text: then broken ones are explained in a user message, where an example stays as it is."""

    @property
    def calls(self) -> tuple[ToolInvocation, ...]:
        """The usable calls."""
        return tuple(event.call for event in self.ended if isinstance(event, CallEnd))


async def played(
    answer: AnswerMessage, state: AgentState, runtime: Runtime, explain: Callable[[CallFailed], str]
) -> Step:
    """Run the calls and give each a result; `explain` says what was wrong with a broken call."""
    calls = [Pending(id=str(uuid4()), call=runtime.offer.routed(one), why="unstarted", at=-1) for one in answer.calls]
    journal = Journal(runtime, calls, lambda found: state.with_step(_step(answer, found, explain)))
    turn = await journal.begin() if calls and runtime.checkpoint is not None else ALONE
    outcome = await runtime.execute(answer.calls, state, turn=turn)
    return _step(answer, journal.kept(outcome.executions), explain, outcome)


def _step(
    answer: AnswerMessage,
    found: Sequence[ToolExecution | Pending],
    explain: Callable[[CallFailed], str],
    outcome: Outcome = GOES_ON,
) -> Step:
    """Make the step of an answer whose calls have records, or are pending."""
    messages, pending = _results(answer, found, explain)
    return replace(
        answer.step,
        messages=(*((answer.message,) if answer.message.parts else ()), *messages),
        calls=answer.calls,
        executions=tuple(one for one in found if isinstance(one, ToolExecution)),
        pending=pending,
        errors=(*outcome.errors, *answer.step.errors),
        ends=None if answer.ended or answer.step.stop == "pause" else True,
        halt=outcome.halt,
    )


def _results(
    answer: AnswerMessage, found: Sequence[ToolExecution | Pending], explain: Callable[[CallFailed], str]
) -> tuple[tuple[Message, ...], tuple[Pending, ...]]:
    """Return the results of all calls that do not wait in one message; user text explains what has no result."""
    parts = iter([part for part in answer.message.parts if isinstance(part, CallPart)])
    left = iter(found)
    done = _done(found)
    pending: list[Pending] = []
    results: list[ResultPart] = []
    apart: list[str] = []
    for event in answer.ended:
        if isinstance(event, CallEnd):
            part, one = next(parts), next(left, None)
            at = len(results) + len(pending)
            if isinstance(one, Pending):
                pending.append(replace(one, at=at))
            else:
                results.append(_ran(part, one, answer.slips.get(event.index, "")))
            continue
        said = explain(event)
        if event.name:
            told = BROKEN.format(event.reason) if answer.in_text else "\n\n".join(filter(None, (said, done)))
            results.append(_error(next(parts), told))
        if answer.in_text or not event.name:
            apart.append(said)
    apart += [done] if apart and done else []
    answered = (Message("user", (TextPart("\n\n".join(apart)),)),) if apart else ()
    return (*((Message("tool", tuple(results)),) if results else ()), *answered), tuple(pending)


def _done(found: Sequence[ToolExecution | Pending]) -> str:
    """Say which calls of an answer count, so that the model does not write them again with the broken one."""
    counted = (one for one in found if isinstance(one, Pending) or not one.blocked)
    calls = [f"{one.call.name} {jsontext.dumps(one.call.arguments)}" for one in counted]
    shown = "\n".join(f"- {text if len(text) <= _SHOWN else f'{text[:_SHOWN]} …'}" for text in calls)
    return f"{_DONE}\n{shown}" if calls else ""


def _ran(call: CallPart, execution: ToolExecution | None, slips: str) -> ResultPart:
    if execution is None:
        return _error(call, NOT_RUN)
    part = result_part(execution.result)
    if slips and execution.failure == "uncertain":
        part = _error(call, f"{execution.error}. What was not exact: {slips}")
    part.id, part.name, part.custom = call.id, call.name, call.custom  # a hook may have changed the tool
    return part


def _error(call: CallPart, text: str) -> ResultPart:
    return ResultPart((TextPart(text),), call.id, call.name, is_error=True, custom=call.custom)
