"""Read a recorded answer, run its calls and write the results."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from toolfmt.agents.drivers.turns import NOT_RUN, AnswerMessage, played
from toolfmt.agents.messages import in_words
from toolfmt.agents.runtime import Runtime, bound, nobody
from toolfmt.agents.state import AgentState, Step
from toolfmt.cli.toolboxes import toolbox
from toolfmt.conversation import CallPart, Message, ResultPart, TextPart, Transcript
from toolfmt.correcting import api_feedback, feedback
from toolfmt.events import CallEnd, CallFailed
from toolfmt.jsontext import is_array, is_object
from toolfmt.lookup.registry import default_registry, is_auto
from toolfmt.model import ToolResult
from toolfmt.parsing import parse
from toolfmt.rendering import render_results
from toolfmt.transcripts.answer_info import AnswerInfo
from toolfmt.transcripts.answer_message import answer_message
from toolfmt.transcripts.answers import answered
from toolfmt.transcripts.convert import write
from toolfmt.transcripts.formats import find

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from toolfmt.dialect.record import AnyDialect
    from toolfmt.events import Event
    from toolfmt.execution.records import ToolExecution
    from toolfmt.model import JsonObject, JsonValue, ToolDefinition
    from toolfmt.transcripts.convert import Conversion

_ERROR: Final = "error_flag"
_HARMLESS: Final = ("added", "merged")
"""Actions of losses that lose nothing of a result."""


@dataclass(frozen=True, slots=True)
class Played:
    """An answer and the outcome of its calls."""

    said: AnswerMessage
    step: Step
    explain: Callable[[CallFailed], str]
    """Writes feedback about a call that could not be read."""
    dialect: AnyDialect
    tools: tuple[ToolDefinition, ...]

    def text(self) -> str:
        """Write the results in the dialect; broken calls have errors as results."""
        return render_results([result for _, _, result in self._results()], dialect=self.dialect)

    def records(self) -> list[JsonObject]:
        """Return the record of each call; an unreadable one has no `call`, but its text as `raw`."""
        found: list[JsonObject] = []
        for event, execution, result in self._results():
            if isinstance(event, CallFailed):
                why: JsonObject = {"failure": event.reason, "error": event.detail, "raw": event.raw}
                found.append({"call": None, "result": result.model_dump(mode="json"), **why})
            elif execution is not None:
                found.append(execution.model_dump(mode="json"))
        return found

    def _results(self) -> Iterator[tuple[CallEnd | CallFailed, ToolExecution | None, ToolResult]]:
        """Yield the event that ends each call, its record, if any, and the result for the model."""
        parts = iter([part for part in self.said.message.parts if isinstance(part, CallPart)])
        left = iter(self.step.executions)
        for event in self.said.ended:
            if isinstance(event, CallFailed):
                linked = next(parts).id if event.name else None
                yield event, None, ToolResult(name=event.name, id=linked, content=self.explain(event), is_error=True)
                continue
            linked, execution = next(parts).id, next(left, None)
            skipped = ToolResult(name=event.call.name, id=linked, content=NOT_RUN, is_error=True)
            yield event, execution, skipped if execution is None else execution.result

    def messages(self, to: str) -> Conversion:
        """Write the messages after the answer in a format, or all messages if they cannot be separated.

        In a format without a flag for errors, the text says that a result is an error.
        """
        messages = self.step.messages
        whole = write(Transcript(messages), to)
        if any(loss.code == _ERROR for loss in whole.losses):
            messages = tuple(map(in_words, messages))
            whole = write(Transcript(messages), to)
        own = messages[: 1 if self.said.message.parts else 0]
        answer = write(Transcript(own), to) if own else None
        found, lost = _bare(whole.value, to), Counter(whole.losses)
        begin: JsonValue = [] if answer is None else _bare(answer.value, to)
        if is_array(found) and is_array(begin) and found[: len(begin)] == begin:
            found = found[len(begin) :]
            lost -= Counter(() if answer is None else answer.losses)
        reported = [loss for loss in lost.elements() if loss.code != _ERROR and loss.action not in _HARMLESS]
        return replace(whole, value=found, losses=tuple(reported))


def check_writable(to: str) -> None:
    """Raise `UnknownFormatError` or `UnrepresentableError` for a format that cannot hold results."""
    call, result = CallPart("f", {}), ResultPart((TextPart("1"),), name="f")
    write(Transcript((Message("assistant", (call,)), Message("tool", (result,)))), to)


def _bare(value: JsonValue, to: str) -> JsonValue:
    made = find(to)
    return value[made.messages] if is_object(value) and made.messages in value else value


async def play(answer: JsonValue, choice: AnyDialect | str, source: str, timeout: float | None) -> Played:  # noqa: ASYNC109 - of each call
    """Read an answer, text or an API's JSON, and run its calls by the tools that `source` names.

    `choice` is the dialect, or `auto`; then the results are written in the detected dialect.
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
        explain = partial(feedback, tools=tools, dialect=dialect) if isinstance(answer, str) else api_feedback
        ended = tuple(event for event in events if isinstance(event, (CallEnd, CallFailed)))
        failures = tuple(event for event in ended if isinstance(event, CallFailed))
        said = AnswerMessage(answer_message(events, info), ended, Step(info=info, stop=info.stop, failures=failures))
        step = await played(said, AgentState(), Runtime(offer=offer, executor=executor), explain)
    return Played(said, step, explain, dialect, tools)
