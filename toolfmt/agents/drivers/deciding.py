"""One decision at a time: the model writes a JSON object with a call and a thought, or with the final answer.

    driver = DecisionDriver(model)               # any text model
    state = await AgentLoop(driver, registry).run("What is 2 + 2?")

    {"thought": "I need add.", "type": "call_tool", "tool": "add", "args": {"a": 2, "b": 2}}
    {"thought": "I know it.", "type": "final_answer", "answer": "4"}

If a decision cannot be read or carried out, the model is asked again, with what was wrong. After `retries` of
them the run fails, with a record `decision_extraction` or `decision_validation` in place of a tool's. For ReAct's
lines, use `TextDriver(model, dialect="react")`.

The arguments are fitted to the tool's schema: an undeclared argument is dropped, unless the schema allows more, and a
default of the schema is filled in. Every change is reported.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final, Literal
from uuid import uuid4

from toolfmt import jsontext
from toolfmt.agents.clients.text import TextSource, text_source
from toolfmt.agents.drivers.asking import Asker, ModelAnswer, Patience, PlainParser, last_step
from toolfmt.agents.drivers.chats import Chats
from toolfmt.agents.drivers.turns import AnswerMessage, played
from toolfmt.agents.runtime import Runtime
from toolfmt.agents.state import AgentState, Step
from toolfmt.arguments import Natural, checked
from toolfmt.conversation import Message, ReasoningPart, TextPart
from toolfmt.correcting import feedback
from toolfmt.dialect.syntax import Syntax
from toolfmt.errors import ParseError
from toolfmt.events import CallEnd, CallFailed, Event, ReasoningDelta
from toolfmt.execution.events import ArgumentsNormalised, DecisionExtractionFailed, ValidationFailed
from toolfmt.execution.records import ToolExecution
from toolfmt.jsontext import is_array, is_object
from toolfmt.lookup.choice import Choice, chosen
from toolfmt.model import JsonObject, JsonValue, ToolDefinition, ToolInvocation, ToolResult
from toolfmt.parsing import open_parser
from toolfmt.schema import item_schema, problems, property_schema
from toolfmt.schema.places import reach
from toolfmt.transcripts.answering.answer_message import answer_message

TYPES: Final = ("call_tool", "final_answer")
VALIDATED: Final = frozenset(
    {"unknown_tool", "invalid_arguments", "missing_name", "missing_arguments", "missing_answer", "arguments_not_object"}
)
"""Reasons of failures that mean: a decision was read, but its content is wrong."""
_FENCE = re.compile(r"```\w*+\s*+(.*?)```", re.DOTALL)


@dataclass(frozen=True, slots=True)
class StepDecision:
    """What to do: the answer's events with its calls as they will run, or the final answer's text."""

    events: tuple[Event, ...] = ()
    answer: str | None = None
    changes: tuple[tuple[ToolInvocation, tuple[str, ...]], ...] = ()
    """The calls whose arguments were changed, and the changes in words."""


@dataclass(frozen=True, slots=True)
class Undecided:
    """Why there is nothing to do."""

    failure: Literal["decision_extraction", "decision_validation"]
    detail: str
    failed: CallFailed | None = None


def decided(written: ModelAnswer, tools: Mapping[str, ToolDefinition], syntax: Syntax) -> StepDecision | Undecided:
    """Read the decision in an answer."""
    result = written.result
    for failed in result.failures:
        kind = "decision_validation" if failed.reason in VALIDATED else "decision_extraction"
        return Undecided(kind, f"{failed.reason}: {failed.detail}", failed)
    kind = _type(written.raw)
    if kind is not None and kind not in TYPES:
        detail = f"`type` is {jsontext.dumps(kind)}, and there are {' and '.join(TYPES)}"
        return Undecided("decision_validation", detail)
    if result.calls:
        return _checked(result.events, tools)
    text = result.text.strip()
    if text and text != written.raw.strip():
        return StepDecision(answer=text)
    if not text and any(opener in written.raw for opener, _ in syntax.unwrap):
        return Undecided("decision_validation", "the final answer is blank")
    return Undecided("decision_extraction", "the answer holds neither a call nor a final answer")


def _type(raw: str) -> object:
    """Return the `type` of an answer that is one JSON object."""
    fenced = _FENCE.fullmatch(raw.strip())
    try:
        value = jsontext.loads(fenced[1] if fenced else raw)
    except ParseError:
        return None
    return value.get("type") if is_object(value) else None


def _checked(events: tuple[Event, ...], tools: Mapping[str, ToolDefinition]) -> StepDecision | Undecided:
    count = sum(isinstance(event, CallEnd) for event in events)
    if count > 1:
        return Undecided("decision_validation", f"{count} decisions at once: decide on one, and wait for what it gives")
    kept: list[Event] = []
    changes: list[tuple[ToolInvocation, tuple[str, ...]]] = []
    for event in events:
        if not isinstance(event, CallEnd):
            kept.append(event)
            continue
        call = event.call
        if call.name not in tools:
            detail = f"no tool is called {call.name!r}; there are {', '.join(tools) or 'none'}"
            return _invalid(event, "unknown_tool", detail)
        arguments, changed = normalised(tools[call.name], call.arguments)
        wrong = problems(tools[call.name], arguments)
        if wrong:
            return _invalid(event, "invalid_arguments", "\n".join(map(str, wrong)))
        if changed:
            call = call.model_copy(update={"arguments": arguments, "raw_arguments": None})
            changes.append((call, tuple(changed)))
        kept.append(replace(event, call=call))
    return StepDecision(tuple(kept), None, tuple(changes))


def _invalid(event: CallEnd, reason: str, detail: str) -> Undecided:
    raw = event.call.raw_arguments or jsontext.dumps(event.call.arguments)
    failed = CallFailed(event.index, raw, reason, detail, event.span, event.call.name)
    return Undecided("decision_validation", f"{reason}: {detail}", failed)


def normalised(tool: ToolDefinition, arguments: JsonObject) -> tuple[JsonObject, list[str]]:
    """Fit arguments to a tool's schema; also returns the changes, in words."""
    changes: list[str] = []
    return _object(arguments, tool.parameters, "", changes), changes


def _object(value: JsonObject, schema: JsonObject, where: str, changes: list[str]) -> JsonObject:
    nodes = list(reach(schema))
    members = [(found, optional) for node, optional in nodes if is_object(found := node.get("properties"))]
    declared = {name for found, _ in members for name in found}
    declared.update(str(name) for node, _ in nodes if is_array(node.get("required")) for name in node["required"])
    free = any(
        node.get("patternProperties") or node.get("additionalProperties", False) is not False for node, _ in nodes
    )
    if free or not (declared or where == ""):
        declared.update(value)
    fitted: JsonObject = {}
    for key, inner in value.items():
        place = f"{where}/{key}"
        if key in declared:
            fitted[key] = _value(inner, property_schema(schema, key), place, changes)
        else:
            changes.append(f"{place}: dropped, as the tool takes no such argument")
    for found, optional in members:
        for key, inner in found.items():
            if not optional and key not in fitted and is_object(inner) and "default" in inner:
                fitted[key] = inner["default"]
                changes.append(f"{where}/{key}: the default {jsontext.dumps(inner['default'])} is filled in")
    return fitted


def _value(value: JsonValue, schema: object, where: str, changes: list[str]) -> JsonValue:
    if not is_object(schema):
        return value
    if is_object(value):
        return _object(value, schema, where, changes)
    if is_array(value):
        return [_value(item, item_schema(schema, at), f"{where}/{at}", changes) for at, item in enumerate(value)]
    return value


TEMPLATE: Final = "react-decision.jinja"
"""The prompt that asks for a decision."""
DIALECT: Final = "react"
FINAL: Final = "Write the final answer to the user now, from what is above. Write the answer alone."


@checked
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
        retries: Natural = 2,
        final_via_inference: bool = False,
        final_model: object = None,
        final_options: JsonObject | None = None,
        patience: Patience | None = None,
    ) -> None:
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
        tools = {tool.name: tool for tool in self._chats.showable(runtime.offered(state))}
        chat, lost = self._chats.write(runtime.shown(state), [*tools.values()])
        asker = Asker(runtime, self._patience)
        answers: list[ModelAnswer] = []
        again: list[JsonObject] = []
        while True:
            written = await asker.ask_text(
                self._source, [*chat, *again], lambda: open_parser(tools=[*tools.values()], **self._choice), lost
            )
            answers.append(written)
            found = decided(written, tools, self._syntax)
            if isinstance(found, StepDecision):
                break
            if found.failure == "decision_extraction":
                runtime.report(DecisionExtractionFailed, attempt=len(answers), error=found.detail, text=written.raw)
            else:
                runtime.report(ValidationFailed, attempt=len(answers), error=found.detail, failure=found.failed)
            if len(answers) > self._retries:
                step = _failed(found, answers, state)
                return state.with_step(step).with_status("failed", step.errors[0])
            wrong = f"Your decision could not be used: {found.detail}.\nWrite the decision again, in that form."
            if found.failed is not None:
                wrong = feedback(found.failed, tools=[*tools.values()], **self._choice)
            again = [{"role": "assistant", "content": written.raw}, {"role": "user", "content": wrong}]
        if found.answer is not None:
            text = found.answer
            if self._final is not None:
                answers.append(await self._written(self._final, written, asker, state, runtime))
                text = answers[-1].raw.strip() or text
            return state.with_step(_answered(text, written, answers))
        for call, changes in found.changes:
            runtime.report(ArgumentsNormalised, call=call, changes=changes)
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


def _answered(text: str, decision: ModelAnswer, answers: list[ModelAnswer]) -> Step:
    """Make the step of a final answer: the thought that decided it, and the answer for the user."""
    thought = _thinking([event for event in decision.result.events if isinstance(event, ReasoningDelta)])
    return last_step(answers, messages=(Message("assistant", (*thought.parts, TextPart(text))),), text=text, ends=True)


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
