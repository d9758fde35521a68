"""One conversation of a file: where it is, its text, which part of it is the conversation, and in which format.

{"custom_id": "1", "method": "POST", "url": "/v1/chat/completions", "body": {...}}                     /body
{"id": "b_1", "custom_id": "1", "response": {"status_code": 200, "body": {...}}, "error": null}        /response/body

The lines of batches are known by their keys (OpenAI's API guide, Batch API; Anthropic's, Message Batches).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from toolfmt import jsontext
from toolfmt.errors import LimitExceededError, ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.transcripts.answering.failures import read_error
from toolfmt.transcripts.exchanges import exchange, inside, without
from toolfmt.transcripts.formats import evident, formats
from toolfmt.transcripts.reading import read
from toolfmt.transcripts.recognising import FormatQuestionError, origin

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolfmt.conversation import Transcript
    from toolfmt.model import JsonValue
    from toolfmt.transcripts.format import TranscriptFormat


@dataclass(frozen=True, slots=True)
class Row(ABC):
    """A conversation as a file has it: a line, an entry of a list, or with line 0 the whole file."""

    file: str
    line: int
    """The line, or the number of the entry or the row of a table, counted from 1."""

    @property
    @abstractmethod
    def text(self) -> str:
        """What is there, for people and the side file."""

    @property
    @abstractmethod
    def value(self) -> JsonValue:
        """The conversation; raises ParseError where there is none."""


@dataclass(frozen=True, slots=True)
class TextRow(Row):
    """A line or a whole file of JSON, or an agent's session; `refused` says why it was not read to its end."""

    data: bytes
    refused: str = ""
    session: bool = False
    """The text itself is the value: its lines are."""

    @property
    def text(self) -> str:
        """Give the text; what is not UTF-8 is replaced."""
        return self.data.decode("utf-8", "replace")

    @property
    def value(self) -> JsonValue:
        """Read the JSON; raises ParseError."""
        if self.refused:
            raise LimitExceededError(self.refused)
        try:
            whole = self.data[: self.data.rstrip().rfind(b"\n") + 1] if self.session else b""
            last = self.data[len(whole) :].decode("utf-8", "replace" if self.session else "strict")
            text = (whole.decode("utf-8") + last).removeprefix("\ufeff")
            return text if self.session else jsontext.loads(text)
        except UnicodeDecodeError as error:
            raise ParseError(f"not UTF-8 at byte {error.start}") from None


def entries(whole: TextRow) -> Iterator[TextRow]:
    """Give the conversations of a file that is a list of them, by their numbers; else the file, which is one."""
    try:
        value = whole.value if whole.data.lstrip()[:1] == b"[" else None
    except ParseError:
        value = None
    if is_array(value) and value and _are_whole(value):
        for number, item in enumerate(value, 1):
            yield TextRow(whole.file, number, jsontext.dumps(item).encode())
    else:
        yield whole


def _are_whole(items: list[JsonValue]) -> bool:
    """Whether the entries of a list are conversations and not messages: they hold messages, or are rows of a table."""
    keys = {made.messages for made in formats()}
    if all(is_array(item) or (is_object(item) and any(is_array(item.get(key)) for key in keys)) for item in items):
        return True
    return all(is_object(item) and item.keys().isdisjoint(_MESSAGE) for item in items) and not evident(items)


_MESSAGE: Final = frozenset({"role", "from", "content", "parts"})
"""The keys of messages."""


def place(row: Row) -> str:
    """Name a row's file and line."""
    return f"{row.file}:{row.line}" if row.line else row.file


_BATCHES: Final = (
    ({"custom_id", "body"}, "/body"),
    ({"custom_id", "response"}, "/response/body"),
    ({"custom_id", "params"}, "/params"),
    ({"custom_id", "result"}, "/result/message"),
)
"""The keys of a batch's requests and outputs, OpenAI's and Anthropic's, and where the conversation or answer is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picked:
    """What is read of every row."""

    formats: tuple[str, ...] = ()
    """The names of the formats that a conversation may be of; none: any."""
    at: str = ""
    """The JSON pointer of the conversation in its row; what is around it stays. Empty: the row, or a batch's place."""
    answer: str | None = None
    """The JSON pointer of the answer to it, which becomes its last message."""

    @property
    def source(self) -> str | tuple[str, ...]:
        """The formats as `convert` takes them."""
        return self.formats or "auto"

    def place(self, row: JsonValue) -> str:
        """Give the JSON pointer of a row's conversation: the line of a batch has it in a place of its own."""
        if self.at or self.answer is not None or not is_object(row):
            return self.at
        return next((pointer for keys, pointer in _BATCHES if keys <= row.keys()), "")

    def conversation(self, row: JsonValue) -> JsonValue:
        """Get a row's conversation, its answer included; raises ParseError where there is none."""
        try:
            value = inside(row, self.place(row))
        except ParseError as error:
            raise ParseError(f"{error}{self._instead(row)}") from None
        if not self.answer:
            return value
        answer = inside(row, self.answer)
        value = inside(without(row, self.answer), self.at)
        if is_object(answer) and answer.get("error"):
            raise ParseError(f"{self.answer}: an API's error: {read_error(answer).message}")
        return exchange(value, answer, self.source)

    def _instead(self, row: JsonValue) -> str:
        """Say that a row is a conversation itself, if it is."""
        try:
            is_one = is_object(row) and read(row, origin(row, self.source)).messages
        except ParseError:
            return ""
        return "; the row itself is a conversation: convert such rows in a run without --at" if is_one else ""

    def origin(self, value: JsonValue) -> TranscriptFormat:
        """Find the format of a conversation; raises ParseError, which names the option, where it has to be named."""
        try:
            return origin(value, self.source)
        except FormatQuestionError as error:
            raise ParseError(f"{error} with --from") from None

    def read(self, row: JsonValue) -> tuple[TranscriptFormat, Transcript]:
        """Read a row's conversation: its format, and what it says."""
        value = self.conversation(row)
        made = self.origin(value)
        return made, read(value, made)
