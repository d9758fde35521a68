"""Calls in a model's text, in any dialect: for models and servers without tool calling of their own.

    driver = TextDriver(model, dialect="hermes")            # or provider=, model=, use_xml=, as everywhere
    state = await AgentLoop(driver, registry).run("Weather in Paris?")

The system prompt shows the tools; where it holds `{{tools}}`, there, else after it. The answer is read while it is
written. One whose calls are all broken, or that ends within its reasoning, is asked for again, with the answer and what
was wrong with it: both are sent that once and are not kept.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, Unpack

from toolfmt.agents.clients.text import text_source
from toolfmt.agents.drivers.chats import Chats, conversation
from toolfmt.agents.drivers.patience import Patience
from toolfmt.agents.drivers.reading import Asker, Written
from toolfmt.agents.drivers.turns import AnswerMessage, played
from toolfmt.agents.drivers.unread import REASON, with_unread
from toolfmt.agents.state import Step, messages_of, total
from toolfmt.correcting import feedback, no_answer_feedback, no_call_feedback
from toolfmt.detection.detecting import unread
from toolfmt.events import CallEnd, CallFailed, ReasoningDelta
from toolfmt.execution.events import ValidationFailed
from toolfmt.lookup.choice import Choice, chosen, known_options
from toolfmt.parsing import ParseOptions, open_parser

if TYPE_CHECKING:
    from toolfmt.agents.runtime import Runtime
    from toolfmt.agents.state import AgentState
    from toolfmt.formatters.chosen_examples import Examples
    from toolfmt.model import JsonObject, ToolDefinition

TAKEN: Final = frozenset(ParseOptions.__annotations__) | frozenset(Choice.__annotations__)
_NO_ANSWER: Final = "the answer ended within its reasoning"
OURS: Final = frozenset({"tools", "validate", "drop_leaks", "ids"})
"""Options of parsing that a driver decides about by itself."""


class TextDriver:
    """Asks a text model: a `TextModel`, a function of a chat, or a `ModelClient`.

    `options` are those of `toolfmt.parse`: they choose the dialect and how answers are read. `retries` is how often to
    ask again if an answer's calls are broken or it ends in its reasoning; `patience` is for lost connections.
    `required` also retries an answer without a call, until a tool was called. `examples` are those that the
    model is shown, as for `toolfmt.manifest`.
    """

    def __init__(
        self,
        model: object,
        /,
        *,
        retries: int = 2,
        required: bool = False,
        patience: Patience | None = None,
        examples: Examples = None,
        **options: Unpack[ParseOptions],
    ) -> None:
        """Set the model and how to read its text."""
        known_options(options, TAKEN - OURS, TextDriver)
        self._source = text_source(model)
        self._dialect, registry = chosen(options)
        self._choice: Choice = {"dialect": self._dialect, "registry": registry}
        self._chats = Chats(self._dialect, self._choice, examples=examples)
        self._options: ParseOptions = {**options, "dialect": self._dialect}
        self._retries = retries
        self._required = required
        self._patience = patience or Patience()

    async def step(self, state: AgentState, runtime: Runtime) -> AgentState:
        """Ask until an answer is usable, run its calls, and add both to the state."""
        tools = runtime.offered(state)
        shown = runtime.shown(state)
        chat, lost = self._chats.write(shown, tools)
        due = self._required and bool(tools) and not any(step.calls for step in state.steps)
        answers: list[Written] = []
        again: list[JsonObject] = []
        asker = Asker(runtime, self._patience)
        coerce = bool(tools) and (self._options.get("coerce", False) or getattr(runtime.executor, "coerce", False))
        options: ParseOptions = {**self._options, "tools": tools, "validate": bool(tools), "coerce": coerce}
        while len(answers) <= self._retries:
            spoken = conversation((*shown, *messages_of(again)), tools)
            written = await asker.ask(self._source, [*chat, *again], lambda: open_parser(**options), lost, spoken)
            written = replace(written, result=with_unread(written.result, written.raw, tools))
            answers.append(written)
            wrong = self._wrong(written, tools, due=due)
            for failure in written.result.failures:
                runtime.tell(ValidationFailed, attempt=len(answers), error=failure.detail, failure=failure)
            if _ends_in_reasoning(written):
                runtime.tell(ValidationFailed, attempt=len(answers), error=_NO_ANSWER)
            if not wrong:
                return state.with_step(await self._played(answers, state, runtime, tools))
            again = [{"role": "assistant", "content": written.raw}, {"role": "user", "content": wrong}]
        return state.with_step(_given_up(answers, self._dialect.name))

    def _wrong(self, written: Written, tools: tuple[ToolDefinition, ...], *, due: bool) -> str:
        """Say what to tell the model about an answer that cannot be used; empty if it can."""
        result = written.result
        if _ends_in_reasoning(written):
            return no_answer_feedback(written.raw, tools=tools, **self._choice)
        if result.calls or (not result.failures and not due):
            return ""
        if not result.failures:
            return no_call_feedback(written.raw, tools=tools, **self._choice)
        return "\n\n".join(feedback(failure, tools=tools, **self._choice) for failure in result.failures)

    async def _played(
        self, answers: list[Written], state: AgentState, runtime: Runtime, tools: tuple[ToolDefinition, ...]
    ) -> Step:
        *earlier, last = answers
        said = AnswerMessage(
            message=self._chats.answer(self._chats.until_stop(last.raw), last.result.events),
            ended=tuple(event for event in last.result.events if isinstance(event, (CallEnd, CallFailed))),
            info=last.info,
            usage=total(answer.usage for answer in answers),
            text=last.result.text.strip(),
            earlier=tuple(failure for answer in earlier for failure in answer.result.failures),
        )
        return await played(said, state, runtime, lambda failure: feedback(failure, tools=tools, **self._choice))


def _ends_in_reasoning(written: Written) -> bool:
    """Whether an answer holds neither text nor calls, and nothing closed its reasoning."""
    result = written.result
    if result.ended or result.text.strip() or not result.reasoning.strip():
        return False
    last = [event for event in result.events if isinstance(event, ReasoningDelta)][-1]
    return last.start + len(last.text) >= len(written.raw.rstrip())


def _given_up(answers: list[Written], dialect: str) -> Step:
    """Make the step of a model that never wrote an answer that can be used."""
    failures = tuple(failure for answer in answers for failure in answer.result.failures)
    why = failures[-1].detail if failures else "a call is required, but the answer has none"
    if _ends_in_reasoning(answers[-1]):
        why = _NO_ANSWER
    looks = unread(answers[-1].raw) if any(failure.reason == REASON for failure in failures[-1:]) else None
    if looks is not None and looks.dialects and dialect not in looks.dialects:
        why = f"{why}; {looks.advice(dialect)}"
    return Step(
        failures=failures,
        errors=(f"{len(answers)} answers in a row could not be used: {why}",),
        usage=total(answer.usage for answer in answers),
        info=answers[-1].info,
        stop=answers[-1].info.stop,
        text=answers[-1].result.text,
    )
