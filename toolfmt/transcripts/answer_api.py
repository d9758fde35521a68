"""What is said of one API's answers: how they are recognised, read and written, whole and as a stream.

API = AnswerApi(name="ollama", shapes=(StepShape(fits, read),), open=..., close=..., stream=Blocks(...))

Each module `*_answer` of `toolfmt.transcripts.apis` holds one, as `API`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from toolfmt.transcripts.answer_info import Stop

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue
    from toolfmt.transcripts.answer_info import AnswerInfo
    from toolfmt.transcripts.answer_steps import StepShape
    from toolfmt.transcripts.answer_usage import TokenCounting
    from toolfmt.transcripts.sinks.blocks import Blocks
    from toolfmt.transcripts.sinks.sink import AnswerHead, SinkMaker


@dataclass(frozen=True, slots=True)
class AnswerEnding:
    """How an answer that is written ends."""

    stop: Stop
    info: AnswerInfo
    head: AnswerHead

    def counted(self, key: str, counting: TokenCounting) -> JsonObject:
        """Write the count of tokens under a key, if it is known."""
        return {} if self.info.usage is None else {key: counting.write(self.info.usage)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """How an API writes a whole answer around its message."""

    open: Callable[[JsonObject], list[JsonValue]]
    """Give the conversation that each choice is, as the API's format writes conversations."""
    close: Callable[[list[list[JsonObject]], AnswerEnding], JsonObject]
    """Make the answer of each choice's messages."""
    known: frozenset[str]
    """The keys that are read."""
    choice: tuple[str, frozenset[str]] = ("", frozenset())
    """The key of the list of choices, and the keys that are read of each."""
    several: bool = False
    """An answer may have several choices."""
    proves: str = ""
    """Whose reasoning the answer holds; that of others is written as its, without a proof. Empty: anybody's."""
    unsigned: str | None = None
    """What is the proof of reasoning that has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerApi:
    """One API's answers."""

    name: str
    """The name of its format."""
    stream: Blocks | SinkMaker
    """What a stream says, or what writes one."""
    shapes: tuple[StepShape, ...] = ()
    """The kinds of values that its answers and streams are made of; none if they are only written."""
    envelope: Envelope | None = None
    wire: Literal["events", "lines", "binary"] = "events"
    """A stream is server-sent events, a line of JSON for each, or no text."""
    event_name: str = ""
    """The key that names an event beside its data; empty: events have no names."""
    done: bool = False
    """A stream ends with `[DONE]`."""
    copies: bool = False
    """Its answers have the shape of another's, whose they are where nobody says."""


def endings(stop: str, **others: str) -> dict[Stop, str]:
    """Make an API's words for the reasons to end; a reason without one is `stop`."""
    return {reason: others.get(reason, stop) for reason in get_args(Stop)}


def known(*keys: str) -> frozenset[str]:
    """Make the set of the keys that are read of an answer."""
    return frozenset(keys)


def only(messages: list[JsonObject]) -> JsonObject:
    """Give the message of an answer that is one; an empty one for none."""
    return messages[0] if messages else {}


def timestamp(seconds: int) -> str:
    """Write seconds since 1970 as RFC 3339 has them."""
    from datetime import UTC, datetime

    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
