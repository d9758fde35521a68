"""What a provider's stream is written with: one step for each thing that an answer can say.

    begin
    text("Let me look.")    reasoning("Two calls.")    prove(Proof(...))
    start(0, "get_weather", "call_1")    arguments(0, '{"city": "Paris"')    end(0, call)    or: cut(0, raw)
    finish("tool_calls", None, Usage(...))    or: fail(Failure(...))

Calls are numbered from 0 without gaps. Each step appends what can be written of it to `out`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, ToolInvocation
    from toolfmt.transcripts.answer_info import Cited, Failure, Proof, Stop, Usage


@dataclass(frozen=True, slots=True)
class AnswerHead:
    """Whose answer it is."""

    id: str
    model: str
    created: int

    def mint(self, prefix: str, number: int) -> str:
        """Make an id of something in this answer, the same in every run."""
        return prefix + sha256(f"{self.id}/{number}".encode("utf-8", "surrogatepass")).hexdigest()[:24]


class StreamSink(ABC):
    """Writes one answer as one provider's stream."""

    owner: str = ""
    """Whose proofs of reasoning have a place here."""
    call_prefix: str = "call_"
    """How the id begins that a call without one is given; empty: calls need none."""
    custom_calls: bool = False
    """A call may carry free text in place of arguments."""
    whole_calls: bool = False
    """A call is written when it is complete, so one that fails has never begun."""

    def __init__(self, head: AnswerHead, out: list[JsonObject]) -> None:
        """Write to `out`."""
        self.head = head
        self.out = out

    @abstractmethod
    def begin(self, usage: Usage | None) -> None:
        """Write what comes before anything else."""

    @abstractmethod
    def text(self, text: str) -> None:
        """Write text for the user."""

    def refusal(self, text: str) -> None:
        """Write text in which the model refuses."""
        self.text(text)

    def custom(self, number: int, name: str, ident: str, text: str) -> None:  # noqa: B027 - few have a place for it
        """Write a call that carries free text; only where `custom_calls` says so."""

    @abstractmethod
    def reasoning(self, text: str) -> None:
        """Write reasoning."""

    def prove(self, proof: Proof) -> None:  # noqa: B027 - few have a place for it
        """Write what proves the reasoning before it."""

    def cite(self, cited: Cited) -> bool:  # noqa: ARG002 - as above
        """Write a source of the text so far; whether it has a place."""
        return False

    @abstractmethod
    def start(self, number: int, name: str, ident: str) -> None:
        """Begin a call."""

    @abstractmethod
    def arguments(self, number: int, piece: str) -> None:
        """Write a piece of a call's argument text."""

    @abstractmethod
    def end(self, number: int, call: ToolInvocation) -> None:
        """End a call."""

    @abstractmethod
    def cut(self, number: int, raw: str) -> None:
        """End a call that is none after all; its argument text is never complete."""

    @abstractmethod
    def finish(self, stop: Stop, sequence: str | None, usage: Usage | None) -> None:
        """Write what comes after everything else."""

    @abstractmethod
    def fail(self, failure: Failure) -> None:
        """Write, in place of what comes after everything else, that the answer ends in an error."""


SinkMaker: TypeAlias = Callable[[AnswerHead, "list[JsonObject]"], StreamSink]
"""Makes what writes an answer to a list."""
