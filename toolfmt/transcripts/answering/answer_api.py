"""What is said of one API's answers: how they are recognised, read and written, whole and as a stream.

API = AnswerApi(name="ollama", shapes=(StepShape(fits, read),), open=..., close=..., stream=Blocks(...))

Each is the `API` of a module of `toolfmt.transcripts.apis`: that of its format, or `*_answer` beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal

from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.answering.answer_ending import AnswerEnding
from toolfmt.transcripts.answering.assembling import Assembler
from toolfmt.transcripts.answering.stream_blocks import Blocks
from toolfmt.transcripts.parts.values import inner


@dataclass(frozen=True, slots=True)
class StepShape:
    """One kind of value: how it is distinguished from the others, and how it is read."""

    fits: Callable[[JsonObject], object]
    read: Callable[[JsonObject, Assembler], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerApi:
    """One API's answers."""

    name: str
    """The name of its format."""
    stream: Blocks
    """How a stream is written."""
    wire: Literal["events", "lines", "binary"] = "events"
    """A stream is server-sent events, a line of JSON for each, or no text."""
    event_name: str = ""
    """The key that names an event beside its data; empty: events have no names."""
    done: bool = False
    """A stream ends with `[DONE]`."""
    shapes: tuple[StepShape, ...] = ()
    """The kinds of values that its answers and streams are made of; none if only streams are written."""
    copies: bool = False
    """Its answers have the shape of another's, whose they are where nobody says."""
    open: Callable[[JsonObject], list[JsonValue]] = lambda _: []
    """Return the conversation that each choice is, as the API's format writes conversations."""
    close: Callable[[list[list[JsonObject]], AnswerEnding], JsonObject] = lambda _, __: {}
    """Make the answer of each choice's messages."""
    known: Collection[str] = ()
    """The keys of an answer that are read."""
    choice: tuple[str, Collection[str]] = ("", ())
    """The key of the list of choices, and the keys that are read of each."""
    several: bool = False
    """An answer may have several choices."""
    proves: str = ""
    """Whose reasoning an answer holds; that of others is written as its, without a proof. Empty: anybody's."""
    unsigned: str | None = None
    """What is the proof of reasoning that has none."""

    def fits(self, value: JsonObject) -> bool:
        """Whether a value is an answer of this API, or of its stream."""
        return any(shape.fits(value) for shape in self.shapes)


def only(messages: list[JsonObject]) -> JsonObject:
    """Return the message of an answer that is one; an empty one for none."""
    return messages[0] if messages else {}


def open_message(value: JsonObject) -> list[JsonValue]:
    """Return the conversation of an answer whose message is an assistant's of a request."""
    return [{"messages": [{"role": "assistant", **inner(value, "message")}]}]
