"""A recorded answer played out: read, its calls run, the results as a message."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from toolfmt.cli.toolboxes import toolbox
from toolfmt.conversation import Transcript
from toolfmt.correcting import feedback
from toolfmt.events import CallEnd, CallFailed
from toolfmt.execution.drivers.turns import Said, played
from toolfmt.execution.runtime import Runtime, bound, nobody
from toolfmt.execution.state import AgentState, Step
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import ToolResult
from toolfmt.parsing import parse
from toolfmt.registry import default_registry, is_auto
from toolfmt.rendering import render_results
from toolfmt.transcripts.answer_info import AnswerInfo, Usage
from toolfmt.transcripts.answer_message import answer_message
from toolfmt.transcripts.answers import answered
from toolfmt.transcripts.formats import find
from toolfmt.transcripts.shape import shape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolfmt.conversation import Message
    from toolfmt.dialect import AnyDialect
    from toolfmt.events import Event
    from toolfmt.model import JsonValue, ToolDefinition


@dataclass(frozen=True, slots=True)
class Played:
    """An answer and what became of its calls."""

    step: Step
    ended: tuple[CallEnd | CallFailed, ...]
    dialect: AnyDialect
    tools: tuple[ToolDefinition, ...]

    def text(self) -> str:
        """Write the results as the dialect has them, those of broken calls as errors."""
        left = iter(self.step.executions)
        found: list[ToolResult] = []
        for event in self.ended:
            if isinstance(event, CallFailed):
                said = feedback(event, tools=self.tools, dialect=self.dialect)
                found.append(ToolResult(name=event.name, content=said, is_error=True))
            elif (execution := next(left, None)) is not None:
                found.append(execution.result)
        return render_results(found, dialect=self.dialect)

    def messages(self, to: str) -> JsonValue:
        """Write what follows the answer as messages of a format, or all of it where they cannot be told apart."""
        whole, answer = self._written(self.step.messages, to), self._written(self.step.messages[:1], to)
        if is_array(whole) and is_array(answer) and whole[: len(answer)] == answer:
            return whole[len(answer) :]
        return whole

    def _written(self, messages: Sequence[Message], to: str) -> JsonValue:
        made = find(to)
        value = made.write(shape(Transcript(tuple(messages)), made.rules))
        return value[made.messages] if is_object(value) and made.messages in value else value


async def play(answer: JsonValue, choice: AnyDialect | str, source: str, timeout: float | None) -> Played:  # noqa: ASYNC109 - of each call
    """Read an answer, text or an API's JSON, and run its calls by the tools that `source` names.

    `choice` is the dialect, or `auto`: then what the text is written in also writes the results.
    """
    async with toolbox(source) as box:
        executor, offer = bound(box if timeout is None else replace(box, timeout=timeout), None, (), nobody)
        tools, info = offer.tools, AnswerInfo()
        if isinstance(answer, str):
            result = parse(answer, dialect=choice, tools=tools)
            events: tuple[Event, ...] = result.events
            choice = result.dialect or choice
        else:
            read = answered(answer)
            events, info = tuple(read), read.info
        dialect = default_registry().resolve(dialect=None if is_auto(choice) else choice)
        ended = tuple(event for event in events if isinstance(event, (CallEnd, CallFailed)))
        said = Said(message=answer_message(events, info), ended=ended, info=info, usage=Usage(), text="")
        runtime = Runtime(offer=offer, executor=executor)
        step = await played(said, AgentState(), runtime, lambda one: feedback(one, tools=tools, dialect=dialect))
    return Played(step, ended, dialect, tools)
