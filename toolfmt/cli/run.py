"""`toolfmt run`: the calls of a recorded answer, run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Final

from cyclopts import Parameter

from toolfmt.agents.drivers.turns import NOT_RUN, AnswerMessage, played
from toolfmt.agents.messages import in_words
from toolfmt.agents.runtime import Runtime, bound, nobody
from toolfmt.agents.state import AgentState, Step
from toolfmt.cli.choice import DEFAULT, FormatOption
from toolfmt.cli.inputs import STDIN, read_json, read_text
from toolfmt.cli.output import UsageError, note, stdout_to_stderr, write, write_json
from toolfmt.cli.parse import blank_note, note_no_call
from toolfmt.cli.toolboxes import RUNNERS, toolbox
from toolfmt.conversation import CallPart, Message, ResultPart, TextPart, Transcript
from toolfmt.correcting import api_feedback, feedback
from toolfmt.dialect.record import AnyDialect
from toolfmt.events import CallEnd, CallFailed, Event
from toolfmt.execution.records import ToolExecution
from toolfmt.execution.running import check_seconds
from toolfmt.jsontext import is_array, is_object
from toolfmt.lookup.registry import default_registry, is_auto
from toolfmt.model import JsonObject, JsonValue, ToolDefinition, ToolResult
from toolfmt.parsing import parse
from toolfmt.rendering import render_results
from toolfmt.transcripts.answering.answer_info import AnswerInfo
from toolfmt.transcripts.answering.answer_message import answer_message
from toolfmt.transcripts.answers import answered
from toolfmt.transcripts.convert import Conversion
from toolfmt.transcripts.convert import write as write_transcript
from toolfmt.transcripts.formats import find

_ERROR: Final = "error_flag"
_HARMLESS: Final = ("added", "merged")
"""Actions of losses that lose nothing of a result."""


@dataclass(frozen=True, slots=True)
class Played:
    """An answer and the outcome of its calls."""

    received: AnswerMessage
    step: Step
    explain: Callable[[CallFailed], str]
    """Writes feedback about a call that could not be read."""
    dialect: AnyDialect
    tools: tuple[ToolDefinition, ...]

    def text(self) -> str:
        """Write the results in the dialect; broken calls have errors as results."""
        return render_results([result for _, _, result in self._results()], tools=self.tools, dialect=self.dialect)

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
        parts = iter([part for part in self.received.message.parts if isinstance(part, CallPart)])
        left = iter(self.step.executions)
        for event in self.received.ended:
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
        whole = write_transcript(Transcript(messages), to)
        if any(loss.code == _ERROR for loss in whole.losses):
            messages = tuple(map(in_words, messages))
            whole = write_transcript(Transcript(messages), to)
        own = messages[: 1 if self.received.message.parts else 0]
        answer = write_transcript(Transcript(own), to) if own else None
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
    write_transcript(Transcript((Message("assistant", (call,)), Message("tool", (result,)))), to)


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
        received = AnswerMessage(
            answer_message(events, info), ended, Step(info=info, stop=info.stop, failures=failures)
        )
        step = await played(received, AgentState(), Runtime(offer=offer, executor=executor), explain)
    return Played(received, step, explain, dialect, tools)


def run(  # noqa: PLR0913 - one argument for each option
    file: Annotated[str, Parameter(help="The answer's file, or - for stdin (the default).")] = STDIN,
    /,
    *,
    tools: Annotated[str, Parameter(help=f"What runs the calls: {RUNNERS}.")],
    choice: FormatOption = DEFAULT,
    api: Annotated[bool, Parameter(help="The answer is an API's own JSON, not a model's text.")] = False,
    to: Annotated[
        str | None, Parameter(help="Print the results as messages of this format; see `toolfmt formats`.")
    ] = None,
    timeout: Annotated[float | None, Parameter(help="The time-out of a call in seconds.")] = None,
    json: Annotated[
        bool, Parameter(help="Print the records of the calls as JSON; an unreadable call has `call` null.")
    ] = False,
) -> int:
    """Run the calls in a recorded answer and print the results as the model gets them.

    Naming a module runs its code, from the current directory too; what it prints goes to stderr.
    The exit code is 1 if a call failed, or could not be read, or an API's answer is an error.

    With --json there is an object for each call, in order: `call`, `result`, `failure`, `problems`, `blocked`,
    and when it ran. For an unreadable call, `call` is null, `failure` is the reason, `error` has the details, `raw` is
    the text, and `result` the text for the model.
    """
    from anyio import run as run_async  # after `toolfmt.execution`, which names the extra

    dialect = choice.resolve_or_auto()
    try:
        check_seconds(timeout, "--timeout")
    except ValueError as error:
        raise UsageError(str(error)) from None
    if to is not None:
        check_writable(to)
    answer = read_json(file) if api else read_text(file)
    with stdout_to_stderr():
        played = run_async(play, answer, dialect, tools, timeout)
    for failure in played.step.failures:
        note(f"a call of {failure.name or 'no tool'} could not be used ({failure.reason}): {failure.detail}")
    wrong = played.received.step.info.error if played.received.step.info is not None else None
    if wrong is not None:
        note(f"the API's answer is an error: {wrong}")
    elif not played.received.ended:
        _note_nothing(file, answer, "" if isinstance(dialect, str) else dialect.name, played.tools)
    if json:
        write_json(played.records())
    elif to is not None:
        _write_messages(played, to)
    elif played.received.ended:
        write(f"{played.text().removesuffix(chr(10))}\n")
    failed = played.step.failures or any(execution.has_error for execution in played.step.executions)
    return 1 if failed or wrong is not None else 0


def _note_nothing(file: str, answer: JsonValue, chosen: str, offered: tuple[ToolDefinition, ...]) -> None:
    """Write a note on an answer without a call."""
    read_as = chosen if isinstance(answer, str) else "an API answer"
    if isinstance(answer, str) and not answer.strip():
        note(blank_note(file, answer))
    elif not isinstance(answer, str) or not note_no_call(chosen, answer, offered):
        note(f"no call found{f' as {read_as}' if read_as else ''}")


def _write_messages(played: Played, to: str) -> None:
    written = played.messages(to)
    for loss in written.losses:
        note(f"{to} does not say all of it: {loss.code} {loss.action}{f' ({loss.detail})' if loss.detail else ''}")
    write_json(written.value)
