"""The immutable state of an agent: its conversation, the steps of this run, and its status.

    state = AgentState.of("Weather in Paris?")
    state = state.with_step(Step(messages=(answer, results), calls=…, executions=…))
    state.status, state.text, state.usage
    AgentState.from_json(state.to_json()) == state

The messages are in named sections: `messages` is the conversation itself, and an application may add others, such as
`summary`. A compiler selects what a model sees of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from types import MappingProxyType
from typing import Any, Final, Literal, Self, TypeAlias, cast

from toolfmt.agents.stored import dump, load
from toolfmt.arguments import checked
from toolfmt.conversation import CallPart, Message, TextPart
from toolfmt.errors import ExecutionError, ParseError
from toolfmt.events import CallFailed, Notice
from toolfmt.execution.records import ToolExecution
from toolfmt.model import JsonObject, ToolInvocation
from toolfmt.transcripts.answering.answer_info import AnswerInfo, Usage
from toolfmt.transcripts.parts.endings import Stop

MessageLike: TypeAlias = "Message | str | Mapping[str, Any]"
"""A message: a `Message`, a text of the user, or an object of a transcript format."""
Status: TypeAlias = Literal["ready", "running", "waiting", "completed", "failed", "stopped"]
"""`waiting`: calls wait for decisions, see `toolfmt.agents.waiting`.

`stopped`: something other than the model, such as a guard, ended the run.
"""
TALK: Final = "messages"
"""The section of the conversation itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """A call without a result yet; `toolfmt.agents.waiting` resumes it."""

    id: str
    """The key of its decision."""
    call: ToolInvocation
    """The call as it would run, after the hooks."""
    why: Literal["approval", "result", "unstarted", "started"]
    """`approval`: nobody has approved it yet. `result`: its result comes from elsewhere.

    In a state that was stored while calls ran: `unstarted`, the policies had not let it pass, or `started`.
    """
    at: int
    """Its position among the calls of its answer, from 0."""
    detail: str = ""
    edited: bool = False
    """Whether a person changed the arguments that the model wrote."""

    def __hash__(self) -> int:
        """Hash the id, so that a decision under the call itself is refused with a hint."""
        return hash(self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One turn of the model and its outcome."""

    messages: tuple[Message, ...] = ()
    """The messages that the step adds to the conversation, in order."""
    calls: tuple[ToolInvocation, ...] = ()
    """The usable calls of the model."""
    executions: tuple[ToolExecution, ...] = ()
    failures: tuple[CallFailed, ...] = ()
    """The unusable calls, including those of answers that were retried."""
    notices: tuple[Notice, ...] = ()
    """What was tolerated or repaired in the answer."""
    errors: tuple[str, ...] = ()
    """Errors of the step itself, with which the run fails."""
    usage: Usage = field(default_factory=Usage)
    stop: Stop | None = None
    """The finish reason, if known."""
    info: AnswerInfo | None = None
    text: str = ""
    """The model's text for the user."""
    ends: bool | None = None
    """Whether the turn is over; None derives it from the step's content."""
    pending: tuple[Pending, ...] = ()
    """The calls that have no result yet."""
    halt: str | None = None
    """Why a tool or a hook ended the run, if one did."""

    @property
    def final(self) -> bool:
        """Whether the turn is over: the driver said so, or there is nothing for the model to react to."""
        if self.ends is not None:
            return self.ends
        return not (self.calls or self.executions or self.failures or self.stop == "pause")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """An earlier run of the same conversation."""

    steps: tuple[Step, ...] = ()
    status: Status = "completed"
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AgentState:
    """A conversation and its agent's status. The `with_*` methods give changed copies."""

    sections: Mapping[str, tuple[Message, ...]] = field(default_factory=lambda: {TALK: ()})
    steps: tuple[Step, ...] = ()
    """The steps of this run."""
    runs: tuple[Run, ...] = ()
    """The runs before it, oldest first."""
    begin: int = 0
    """Number of messages in the conversation when this run began."""
    status: Status = "ready"
    reason: str = ""
    """Why the run failed or was stopped."""
    agent: str | None = None
    """The agent's name in its calls."""
    output: Any = None
    """The final answer as a value, if the loop has an `output` type; JSON in a stored state."""
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """JSON values of the application and of drivers."""

    def __post_init__(self) -> None:
        """Copy the mappings, read-only."""
        object.__setattr__(self, "sections", MappingProxyType({TALK: (), **self.sections}))
        object.__setattr__(self, "metadata", MappingProxyType({**self.metadata}))

    def __repr__(self) -> str:
        """Show the status and counts; `to_json` has the rest."""
        failed = sum(one.failure is not None for one in self.executions)
        return (
            f"AgentState(status={self.status!r}, text={self.text[:80]!r}, steps={len(self.steps)}, "
            f"executions={len(self.executions)}, failed={failed})"
        )

    @classmethod
    @checked
    def of(cls, *messages: MessageLike, agent: str | None = None, system: str = "") -> AgentState:
        """Make a state from the first messages; a string is a user message."""
        first = (Message("system", (TextPart(system),)),) if system else ()
        return cls(sections={TALK: (*first, *messages_of(messages))}, agent=agent)

    @property
    def messages(self) -> tuple[Message, ...]:
        """The conversation."""
        return self.sections[TALK]

    @property
    def text(self) -> str:
        """The model's last text; of a run that failed, or was stopped without a text, the reason in brackets."""
        said = self.steps[-1].text if self.steps and self.status != "failed" else ""
        return said or (f"[{self.status}: {self.reason}]" if self.status in ("failed", "stopped") else "")

    def raise_for_failure(self) -> Self:
        """Return the state, or raise `AgentFailedError` unless the run completed."""
        if self.status in ("failed", "stopped"):  # a run that waits has not gone wrong
            raise AgentFailedError(self.status, self.reason, self)
        return self

    @property
    def usage(self) -> Usage:
        """The tokens of all runs."""
        return total(step.usage for steps in (*(run.steps for run in self.runs), self.steps) for step in steps)

    @property
    def executions(self) -> tuple[ToolExecution, ...]:
        """The records of this run's calls, in order."""
        return tuple(execution for step in self.steps for execution in step.executions)

    @property
    def pending(self) -> tuple[Pending, ...]:
        """Calls that wait for a decision, or that had no result when the state was stored."""
        return self.steps[-1].pending if self.steps else ()

    @property
    def ended(self) -> bool:
        """Whether the run has ended or waits."""
        return self.status not in ("ready", "running")

    def with_messages(self, *messages: MessageLike, section: str = TALK) -> AgentState:
        """Add messages to a section; a string is a user message."""
        known = self.sections.get(section, ())
        return replace(self, sections={**self.sections, section: (*known, *messages_of(messages))})

    def with_section(self, section: str, messages: Iterable[MessageLike]) -> AgentState:
        """Replace the messages of a section, such as a summary; the conversation itself only before a run."""
        return replace(self, sections={**self.sections, section: messages_of(messages)})

    def with_metadata(self, **values: Any) -> AgentState:
        """Set values of the metadata."""
        return replace(self, metadata={**self.metadata, **values})

    def with_run(self) -> AgentState:
        """Begin a run; the last one becomes history."""
        run = Run(steps=self.steps, status=self.status, reason=self.reason)
        last = (run,) if self.steps or self.ended else ()
        begin = len(self.messages)
        return replace(self, steps=(), runs=(*self.runs, *last), begin=begin, status="running", reason="", output=None)

    def with_step(self, step: Step) -> AgentState:
        """Add a step and its messages."""
        return replace(self.with_messages(*step.messages), steps=(*self.steps, step))

    def with_status(self, status: Status, reason: str = "") -> AgentState:
        """Set the run's status."""
        return replace(self, status=status, reason=reason)

    def to_json(self) -> JsonObject:
        """Write the state as JSON, for `from_json`; metadata and results that are not JSON raise `RenderError`."""
        return dump(self)

    @classmethod
    def from_json(cls, value: JsonObject) -> AgentState:
        """Read a state that `to_json` wrote; anything else raises `ParseError`, which names the place."""
        state = load(cls, value)
        last = len(state.messages)
        if state.begin < 0 or (state.begin > last and not state.ended):  # after a run, messages may have been removed
            raise ParseError(f"/begin: {state.begin}; the run begins at one of the {last} messages, or after them")
        places = [one.at for one in state.pending]
        parts = [part for step in state.steps[-1:] for message in step.messages for part in message.parts]
        count = sum(isinstance(part, CallPart) for part in parts)
        where = f"/steps/{len(state.steps) - 1}/pending"
        if len({*places}) < len(places) or len({one.id for one in state.pending}) < len(places):
            raise ParseError(f"{where}: one of the calls waits twice")
        if wrong := [at for at in places if not 0 <= at < count]:
            raise ParseError(f"{where}: a call waits as number {wrong[0]}; the step has {count} calls, from 0")
        return state


class AgentFailedError(ExecutionError):
    """A run failed or was stopped; raised by `AgentState.raise_for_failure`."""

    def __init__(self, status: str, reason: str, state: AgentState) -> None:
        super().__init__(f"the run {'failed' if status == 'failed' else 'was stopped'}: {reason}")
        self.state = state


def total(usages: Iterable[Usage]) -> Usage:
    """Add counts of tokens."""
    sums = dict.fromkeys(Usage.__slots__, 0)
    for usage in usages:
        for name in sums:
            sums[name] += getattr(usage, name)
    return Usage(**sums)


def messages_of(values: Iterable[MessageLike]) -> tuple[Message, ...]:
    """Read messages: text is the user's, adjacent objects are messages of one transcript format.

    Raises `ParseError` for objects that are not messages.
    """
    messages: list[Message] = []
    for are_objects, group in groupby(values, lambda value: isinstance(value, Mapping)):
        if are_objects:
            messages.extend(_read([dict(value) for value in cast("Iterable[Mapping[str, Any]]", group)]))
            continue
        for value in cast("Iterable[object]", group):
            if not isinstance(value, str | Message):
                raise TypeError(
                    "a message is text, a dict such as {'role': 'user', 'content': 'Hi'} or a Message, "
                    f"not {type(value).__name__}"
                )
            messages.append(Message("user", (TextPart(value),)) if isinstance(value, str) else value)
    return tuple(messages)


def _read(objects: list[JsonObject]) -> tuple[Message, ...]:
    from toolfmt.transcripts.formats import find
    from toolfmt.transcripts.reading import read
    from toolfmt.transcripts.recognising import recognised

    try:
        source = recognised(objects)
    except ParseError:
        source = find("openai-chat")  # the most common one, where the messages could be of several
    return read(objects, source).messages
