"""Calls in a model's text, in any dialect: for models and servers without tool calling of their own.

    driver = TextDriver(model, dialect="hermes")            # or provider=, model=, use_xml=, as everywhere
    state = await AgentLoop(driver, registry).run("Weather in Paris?")

The tools are shown in the system prompt, in place of `{{tools}}` or at its end. The answer is read while it is
written. If all of its calls are broken, or it has neither text nor calls, the model is asked again with the answer and
what was wrong with it; neither stays in the conversation.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property, partial
from typing import Unpack

from toolfmt.agents.clients.text import text_source
from toolfmt.agents.drivers.asking import Asker, ModelAnswer, Patience, last_step
from toolfmt.agents.drivers.chats import Chats, conversation
from toolfmt.agents.drivers.turns import AnswerMessage, played
from toolfmt.agents.drivers.unread import nothing_in, with_unread
from toolfmt.agents.runtime import Runtime
from toolfmt.agents.state import AgentState, Step, messages_of
from toolfmt.arguments import Natural, checked
from toolfmt.correcting import feedback, no_answer_feedback, no_call_feedback, without_advice
from toolfmt.errors import warn
from toolfmt.events import CallEnd, Event, Notice
from toolfmt.execution.events import ValidationFailed
from toolfmt.execution.executor import Executor
from toolfmt.formatters.examples import Examples
from toolfmt.lookup.choice import Choice, chosen
from toolfmt.lookup.parse_options import ParseOptions, ReadingOptions
from toolfmt.model import CallProvenance, JsonObject, ToolDefinition, ToolInvocation
from toolfmt.parsing import open_parser, parse


@checked(model="it chooses the dialect; the model itself is given first: TextDriver(function, ...)")
class TextDriver:
    """Asks a text model: a `TextModel`, a function of a chat, or a `ModelClient`.

    `options` are those of `toolfmt.parse`: they choose the dialect and how answers are read. `retries` is how often to
    ask again if an answer's calls are broken or it has no text and no call; `patience` is for lost connections.
    `required` also retries an answer without a call, until a tool was called. `examples` are those that the
    model is shown, as for `toolfmt.manifest`.
    """

    def __init__(
        self,
        model: object,
        /,
        *,
        retries: Natural = 2,
        required: bool = False,
        patience: Patience | None = None,
        examples: Examples = None,
        **options: Unpack[ReadingOptions],
    ) -> None:
        self._source = text_source(model)
        self._dialect, registry = chosen(options)
        self._choice: Choice = {"dialect": self._dialect, "registry": registry}
        self._chats = Chats(self._dialect, self._choice, examples=examples)
        self._options: ParseOptions = {**options, "dialect": self._dialect}
        self._retries = retries
        self._required = required
        self._patience = patience or Patience()

    def check(self, runtime: Runtime) -> bool:
        """Warn of dangerous tools that are always refused, as calls in this format have no marker; True if it warns."""
        executor, mark = runtime.executor, self._mark
        refused = executor.tools_refused_for(mark) if isinstance(executor, Executor) else ()
        if refused:
            warn(
                f"every call of {', '.join(refused)} will be refused: calls in {self._dialect.name} have no marker, so "
                "one of a dangerous tool may be a quotation. Use a dialect with a marker, such as hermes, or decide "
                f"with policies=[Approval(ask)] or policies=[ProvenancePolicy(allow=[{refused[0]!r}])]"
            )
        return bool(refused)

    @cached_property
    def _mark(self) -> CallProvenance:
        """The provenance of a call that is written exactly as the manifest shows."""
        tool = ToolDefinition(name="f", parameters={"type": "object", "properties": {"a": {"type": "string"}}})
        text = self._dialect.calls([ToolInvocation(name="f", arguments={"a": "b"})], {"f": tool})
        calls = parse(text, dialect=self._dialect, tools=[tool]).calls
        return calls[0].provenance if calls else "marker"

    async def step(self, state: AgentState, runtime: Runtime) -> AgentState:
        """Ask until an answer is usable, run its calls, and add both to the state."""
        offered = runtime.offered(state)
        tools = self._chats.showable(offered)
        shown = runtime.shown(state)
        chat, lost = self._chats.write(shown, tools)
        due = self._required and bool(tools) and not any(step.calls for step in state.steps)
        answers: list[ModelAnswer] = []
        again: list[JsonObject] = []
        asker = Asker(runtime, self._patience)
        coerce = bool(tools) and (self._options.get("coerce", False) or getattr(runtime.executor, "coerce", False))
        options: ParseOptions = {**self._options, "tools": tools, "validate": bool(offered), "coerce": coerce}
        while len(answers) <= self._retries:
            history = conversation((*shown, *messages_of(again)), tools)
            written = await asker.ask_text(self._source, [*chat, *again], lambda: open_parser(**options), lost, history)
            looked = with_unread(written.result, written.raw, tools, self._dialect.syntax, typed=runtime.typed)
            written = replace(written, result=looked)
            answers.append(written)
            wrong = self._wrong(written, tools, due=due)
            for failure in written.result.failures:
                runtime.report(ValidationFailed, attempt=len(answers), error=failure.detail, failure=failure)
            if nothing := nothing_in(written):
                runtime.report(ValidationFailed, attempt=len(answers), error=nothing)
            if not wrong:
                return state.with_step(await self._played(answers, state, runtime, tools))
            again = [{"role": "assistant", "content": written.raw}, {"role": "user", "content": wrong}]
        return state.with_step(_given_up(answers))

    def _wrong(self, written: ModelAnswer, tools: tuple[ToolDefinition, ...], *, due: bool) -> str:
        """Write the feedback for an answer that cannot be used; empty if it can."""
        result = written.result
        if nothing_in(written):
            return no_answer_feedback(written.raw, tools=tools, **self._choice)
        if result.calls or (not result.failures and not due):
            return ""
        if not result.failures:
            return no_call_feedback(written.raw, tools=tools, **self._choice)
        return "\n\n".join(feedback(failure, tools=tools, **self._choice) for failure in result.failures)

    async def _played(
        self, answers: list[ModelAnswer], state: AgentState, runtime: Runtime, tools: tuple[ToolDefinition, ...]
    ) -> Step:
        last = answers[-1]
        message = self._chats.answer(self._chats.until_stop(last.raw), last.result.events)
        step = last_step(answers, text=last.result.text.strip())
        explain = partial(feedback, tools=tools, **self._choice)
        answer = AnswerMessage(message, last.result.ended, step, _slips(last.result.events), in_text=True)
        return await played(answer, state, runtime, explain)


def _slips(events: Iterable[Event]) -> dict[int, str]:
    """What was not exact up to the end of each call, by its index; one slip may make the calls after it uncertain."""
    details: dict[str, None] = {}
    slips: dict[int, str] = {}
    for event in events:
        if isinstance(event, Notice):
            details[event.detail] = None
        elif isinstance(event, CallEnd):
            slips[event.index] = "; ".join(details)
    return slips


def _given_up(answers: list[ModelAnswer]) -> Step:
    """Make the step of a model that never wrote a usable answer."""
    step, last = last_step(answers), answers[-1]
    failure = step.failures[-1] if step.failures else None
    why = nothing_in(last) or (failure.detail if failure else "a call is required, but the answer has none")
    how = last.result.hint
    said = without_advice(how)
    if "dialect=" in how:
        why = why.replace(said, how) if said in why else f"{why}; {how}"
    return replace(step, errors=(f"{len(answers)} answers in a row could not be used: {why}",))
