"""One decision at a time: the model writes a JSON object with a call and a thought, or with the final answer.

    driver = DecisionDriver(model)               # any text model
    state = await AgentLoop(driver, registry).run("What is 2 + 2?")

    {"thought": "I need add.", "type": "call_tool", "tool": "add", "args": {"a": 2, "b": 2}}
    {"thought": "I know it.", "type": "final_answer", "answer": "4"}

If a decision cannot be read or carried out, the model is asked again, with what was wrong. After `retries` of
them the run fails, with a record `decision_extraction` or `decision_validation` in place of a tool's. For ReAct's
lines, use `TextDriver(model, dialect="react")`.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from toolfmt.agents.clients.text import text_source
from toolfmt.agents.drivers.asking import Asker, ModelAnswer, Patience, PlainParser, last_step
from toolfmt.agents.drivers.chats import Chats
from toolfmt.agents.drivers.decisions import StepDecision, Undecided, decided
from toolfmt.agents.drivers.turns import AnswerMessage, played
from toolfmt.conversation import Message, ReasoningPart, TextPart
from toolfmt.correcting import feedback
from toolfmt.events import CallEnd, ReasoningDelta
from toolfmt.execution.events import ArgumentsNormalised, DecisionExtractionFailed, ValidationFailed
from toolfmt.execution.records import ToolExecution
from toolfmt.lookup.choice import Choice, chosen
from toolfmt.model import ToolInvocation, ToolResult
from toolfmt.parsing import open_parser
from toolfmt.transcripts.answer_message import answer_message

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from toolfmt.agents.clients.text import TextSource
    from toolfmt.agents.runtime import Runtime
    from toolfmt.agents.state import AgentState, Step
    from toolfmt.dialect.record import Parser
    from toolfmt.events import Event
    from toolfmt.model import JsonObject, ToolDefinition

TEMPLATE: Final = "react-decision.jinja"
"""The prompt that asks for a decision."""
DIALECT: Final = "react"
FINAL: Final = "Write the final answer to the user now, from what is above. Write the answer alone."


class DecisionDriver:
    """Asks a text model for decisions: a `TextModel`, a function of a chat, or a `ModelClient`.

    With `final_via_inference`, a separate request over the whole conversation writes the final answer, with
    `final_model` if given, and with `final_options` if that is a client. If it writes nothing, the decision's own
    answer is used.
    """

    def __init__(  # noqa: PLR0913 - each is a choice of the caller's
        self,
        model: object,
        *,
        retries: int = 2,
        final_via_inference: bool = False,
        final_model: object = None,
        final_options: JsonObject | None = None,
        patience: Patience | None = None,
    ) -> None:
        """Set the model and how to ask for decisions."""
        if not final_via_inference and (final_model is not None or final_options is not None):
            raise ValueError("final_model and final_options are for final_via_inference=True")
        self._source = text_source(model)
        self._final: TextSource | None = None
        if final_via_inference:
            self._final = text_source(model if final_model is None else final_model, final_options)
        dialect, registry = chosen({"dialect": DIALECT})
        assert dialect.syntax is not None  # noqa: S101 - a text dialect of this package
        self._syntax = dialect.syntax
        self._choice: Choice = {"dialect": dialect, "registry": registry}
        self._chats = Chats(dialect, self._choice, TEMPLATE)
        self._retries = retries
        self._patience = patience or Patience()

    async def step(self, state: AgentState, runtime: Runtime) -> AgentState:
        """Ask until there is a valid decision, and carry it out."""
        tools = {tool.name: tool for tool in runtime.offered(state)}
        chat, lost = self._chats.write(runtime.shown(state), [*tools.values()])
        asker = Asker(runtime, self._patience)
        answers: list[ModelAnswer] = []
        again: list[JsonObject] = []
        while True:
            written = await asker.ask_text(self._source, [*chat, *again], lambda: self._parser(tools), lost)
            answers.append(written)
            found = decided(written, tools, self._syntax)
            if isinstance(found, StepDecision):
                break
            self._report(found, written, runtime, len(answers))
            if len(answers) > self._retries:
                step = _failed(found, answers, state)
                return state.with_step(step).with_status("failed", step.errors[0])
            wrong = self._wrong(found, tools)
            again = [{"role": "assistant", "content": written.raw}, {"role": "user", "content": wrong}]
        if found.answer is not None:
            text = found.answer
            if self._final is not None:
                answers.append(await self._written(self._final, written, asker, state, runtime))
                text = answers[-1].raw.strip() or text
            return state.with_step(_answered(text, written, answers))
        for call, changes in found.changes:
            runtime.tell(ArgumentsNormalised, call=call, changes=changes)
        ended = tuple(event for event in found.events if isinstance(event, CallEnd))
        answered = AnswerMessage(_thinking(found.events), ended, last_step(answers, text=""))
        return state.with_step(await played(answered, state, runtime, lambda failure: failure.detail))

    async def _written(
        self, source: TextSource, last: ModelAnswer, asker: Asker, state: AgentState, runtime: Runtime
    ) -> ModelAnswer:
        """Let a model write the final answer; it is shown no tools, and its answer is read as text."""
        chat, lost = self._chats.write(runtime.shown(state), ())
        thought = last.result.reasoning.strip()
        notes: list[JsonObject] = [{"role": "assistant", "content": f"Thought: {thought}"}] if thought else []
        return await asker.ask_text(source, [*chat, *notes, {"role": "user", "content": FINAL}], PlainParser, lost)

    def _parser(self, tools: Mapping[str, ToolDefinition]) -> Parser[str]:
        return open_parser(tools=[*tools.values()], **self._choice)

    def _report(self, found: Undecided, written: ModelAnswer, runtime: Runtime, attempt: int) -> None:
        if found.failure == "decision_extraction":
            runtime.tell(DecisionExtractionFailed, attempt=attempt, error=found.detail, text=written.raw)
        else:
            runtime.tell(ValidationFailed, attempt=attempt, error=found.detail, failure=found.failed)

    def _wrong(self, found: Undecided, tools: dict[str, ToolDefinition]) -> str:
        if found.failed is not None:
            return feedback(found.failed, tools=[*tools.values()], **self._choice)
        return f"Your decision could not be used: {found.detail}.\nWrite the decision again, in the form described."


def _answered(text: str, decision: ModelAnswer, answers: list[ModelAnswer]) -> Step:
    """Make the step of a final answer: the thought that decided it, and the answer for the user."""
    thought = _thinking([event for event in decision.result.events if isinstance(event, ReasoningDelta)])
    message = Message("assistant", (*thought.parts, TextPart(text)))
    return last_step(answers, messages=(message,), text=text, ends=True)


def _thinking(events: Sequence[Event]) -> Message:
    """Make a message; its reasoning is written as in ReAct's lines, whatever form it came in."""
    message = answer_message(events)
    for part in message.parts:
        if isinstance(part, ReasoningPart):
            part.text = f" {part.text.strip()}"
    return message


def _failed(found: Undecided, answers: list[ModelAnswer], state: AgentState) -> Step:
    """Make the step of a model that never decided, with a record in place of a tool's."""
    now = datetime.now(UTC)
    record = ToolExecution(
        id=str(uuid4()),
        call=ToolInvocation(name=found.failure, arguments={"text": answers[-1].raw}, agent=state.agent),
        result=ToolResult(name=found.failure, content=found.detail, is_error=True, agent=state.agent),
        started_at=now,
        completed_at=now,
        failure=found.failure,
    )
    error = f"{len(answers)} decisions in a row could not be used: {found.detail}"
    return last_step(answers, executions=(record,), errors=(error,))
