"""The description of an API's answers: how they are recognised, read and written, whole and as a stream.

API = AnswerApi(name="ollama", shapes=(StepShape(fits, read),), open=..., close=..., stream=Blocks(...))

Each is the `API` of a module in `toolfmt.transcripts.apis`: the format's own, or `*_answer` beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.answering.answer_info import AnswerEnding
from toolfmt.transcripts.answering.assembling import Assembler
from toolfmt.transcripts.answering.known_fields import Chosen, Fields
from toolfmt.transcripts.answering.stream_blocks import Blocks
from toolfmt.transcripts.parts.values import inner


@dataclass(frozen=True, slots=True)
class StepShape:
    """One kind of value: how it is recognised, and how it is read."""

    fits: Callable[[JsonObject], object]
    read: Callable[[JsonObject, Assembler], None]
    known: Fields | Chosen | None = None
    """The fields that are read; None: all are reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerApi:
    """One API's answers."""

    name: str
    """The name of its format."""
    stream: Blocks
    """How streams are written."""
    wire: Literal["events", "lines", "binary"] = "events"
    """The encoding of streams: server-sent events, lines of JSON, or binary."""
    event_name: str = ""
    """The key of an event's name beside its data; "": events have no names."""
    done: bool = False
    """Whether a stream ends with `[DONE]`."""
    shapes: tuple[StepShape, ...] = ()
    """The kinds of values in its answers and streams; none if only streams are written."""
    copies: bool = False
    """Whether its answers have the shape of another API's, which takes precedence in detection."""
    open: Callable[[JsonObject], list[JsonValue]] = lambda _: []
    """Returns each choice as a conversation in the API's format."""
    whole: Callable[[list[JsonObject]], JsonObject | None] = lambda _: None
    """Makes a whole answer of the events of its stream, with the parts that no event describes; None if it cannot."""
    close: Callable[[list[list[JsonObject]], AnswerEnding], JsonObject] = lambda _, __: {}
    """Makes an answer from each choice's messages."""
    known: Fields = field(default_factory=dict[str, "Fields | Chosen | None"])
    """The fields of an answer that are read around its messages."""
    choices: str = ""
    """The key of the list of choices."""
    weights: str = "/logprobs"
    """The JSON pointer of the probabilities of tokens in a whole answer; "": they are in its messages."""
    several: bool = False
    """Whether an answer may have several choices."""
    proves: str = ""
    """The owner of an answer's reasoning; others' reasoning is written without a proof. "": any owner."""
    unsigned: str | None = None
    """The placeholder for a missing proof of reasoning."""

    def fits(self, value: JsonObject) -> bool:
        """Whether a value is an answer of this API, or of its stream."""
        return any(shape.fits(value) for shape in self.shapes)


def only(messages: list[JsonObject]) -> JsonObject:
    """Return an answer's single message, or an empty one."""
    return messages[0] if messages else {}


def open_message(value: JsonObject) -> list[JsonValue]:
    """Return the conversation of an answer whose message has the form of a request's assistant message."""
    return [{"messages": [{"role": "assistant", **inner(value, "message")}]}]
