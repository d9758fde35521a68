"""One answer played out: its calls run, every one of them answered, all of it as a step.

assistant  "Checking." call A, call B (broken)
tool       result of A, error for B
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from toolfmt.agents.messages import result_part
from toolfmt.agents.pending import Pending
from toolfmt.agents.runtime import Outcome
from toolfmt.agents.state import Step
from toolfmt.agents.waiting import waiting
from toolfmt.conversation import CallPart, Message, ResultPart, TextPart
from toolfmt.events import CallEnd, CallFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from toolfmt.agents.runtime import Runtime
    from toolfmt.agents.state import AgentState
    from toolfmt.execution.records import ToolExecution
    from toolfmt.transcripts.answer_info import AnswerInfo, Usage

NOT_RUN: Final = "The call was not run, because an earlier call of the same turn was blocked."


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerMessage:
    """An answer: its message, with a part for every call that has a name, and how its calls ended, in order."""

    message: Message
    ended: tuple[CallEnd | CallFailed, ...]
    info: AnswerInfo
    usage: Usage
    text: str
    earlier: tuple[CallFailed, ...] = ()
    """The broken calls of answers that this one replaces."""

    @property
    def failures(self) -> tuple[CallFailed, ...]:
        """The calls that could not be used."""
        return tuple(event for event in self.ended if isinstance(event, CallFailed))


async def played(
    said: AnswerMessage,
    state: AgentState,
    runtime: Runtime,
    explain: Callable[[CallFailed], str],
    errors: Sequence[str] = (),
) -> Step:
    """Run the calls and answer each; the broken ones with what `explain` says of them."""
    calls = tuple(event.call for event in said.ended if isinstance(event, CallEnd))
    if calls and runtime.checkpoint is not None:
        begun = [Pending(id=str(uuid4()), call=runtime.offer.routed(call), why="started", at=-1) for call in calls]
        await runtime.save(state.with_step(_step(said, Outcome(), begun, explain, errors)))
    outcome = await runtime.execute(calls, state)
    return _step(said, outcome, outcome.executions, explain, errors)


def _step(
    said: AnswerMessage,
    outcome: Outcome,
    found: Sequence[ToolExecution | Pending],
    explain: Callable[[CallFailed], str],
    errors: Sequence[str],
) -> Step:
    """Make the step of an answer whose calls have records, or are pending."""
    messages, pending = _results(said, found, explain)
    return Step(
        messages=(*((said.message,) if said.message.parts else ()), *messages),
        calls=tuple(event.call for event in said.ended if isinstance(event, CallEnd)),
        executions=tuple(one for one in outcome.executions if one.failure != "waiting"),
        pending=pending,
        failures=(*said.earlier, *said.failures),
        errors=(*outcome.errors, *errors),
        usage=said.usage,
        stop=said.info.stop,
        info=said.info,
        text=said.text,
        ends=None if said.ended or said.info.stop == "pause" else True,
        halt=outcome.halt,
    )


def _results(
    said: AnswerMessage, found: Sequence[ToolExecution | Pending], explain: Callable[[CallFailed], str]
) -> tuple[tuple[Message, ...], tuple[Pending, ...]]:
    """Answer all calls in one message but those that wait; what is wrong with those without a name, the user says."""
    parts = iter([part for part in said.message.parts if isinstance(part, CallPart)])
    left = iter(found)
    pending: list[Pending] = []
    results: list[ResultPart] = []
    nameless: list[str] = []
    for event in said.ended:
        if isinstance(event, CallEnd):
            part, one = next(parts), next(left, None)
            at = len(results) + len(pending)
            if isinstance(one, Pending):
                pending.append(replace(one, at=at))
            elif one is not None and one.failure == "waiting":
                pending.append(waiting(one, at))
            else:
                results.append(_ran(part, one))
        elif event.name:
            results.append(_error(next(parts), explain(event)))
        else:
            nameless.append(explain(event))
    answered = (Message("user", (TextPart("\n\n".join(nameless)),)),) if nameless else ()
    return (*((Message("tool", tuple(results)),) if results else ()), *answered), tuple(pending)


def _ran(call: CallPart, execution: ToolExecution | None) -> ResultPart:
    if execution is None:
        return _error(call, NOT_RUN)
    part = result_part(execution.result)
    part.id, part.name, part.custom = call.id, call.name, call.custom  # a hook may have called another tool
    return part


def _error(call: CallPart, text: str) -> ResultPart:
    return ResultPart((TextPart(text),), call.id, call.name, is_error=True, custom=call.custom)
