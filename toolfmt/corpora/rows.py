"""A row of a file: its place, its text, the part that is the conversation, and the format of that.

{"custom_id": "1", "method": "POST", "url": "/v1/chat/completions", "body": {...}}                     /body
{"id": "b_1", "custom_id": "1", "response": {"status_code": 200, "body": {...}}, "error": null}        /response/body

Lines of batches are recognised by their keys (OpenAI's API guide, Batch API; Anthropic's, Message Batches).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from toolfmt import jsontext
from toolfmt.conversation import Transcript
from toolfmt.errors import LimitExceededError, ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonValue
from toolfmt.transcripts.answering.failures import read_error
from toolfmt.transcripts.exchanges import exchange, inside, without
from toolfmt.transcripts.format import TranscriptFormat
from toolfmt.transcripts.formats import evident, formats
from toolfmt.transcripts.reading import read
from toolfmt.transcripts.recognising import FormatQuestionError, origin


@dataclass(frozen=True, slots=True)
class Row(ABC):
    """A conversation in a file: a line, an entry of a list, or the whole file if `line` is 0."""

    file: str
    line: int
    """The number of the line, of the entry, or of the row of a table, counted from 1."""

    @property
    @abstractmethod
    def text(self) -> str:
        """The row for people and for the side file."""

    @property
    @abstractmethod
    def value(self) -> JsonValue:
        """The parsed value; raises ParseError if there is none."""


@dataclass(frozen=True, slots=True)
class TextRow(Row):
    """A line or a file of JSON, or an agent's session; `refused` says why it was not read completely."""

    data: bytes
    refused: str = ""
    session: bool = False
    """The text itself is the value, for a session of lines."""

    @property
    def text(self) -> str:
        """Return the text; invalid UTF-8 is replaced."""
        return self.data.decode("utf-8", "replace")

    @property
    def value(self) -> JsonValue:
        """Parse the JSON; raises ParseError."""
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
    """Return the conversations of a file that is a list of them; otherwise the file is one conversation."""
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
    """Whether the entries of a list are conversations, not messages: they contain messages, or are rows of a table."""
    keys = {made.messages for made in formats()}
    if all(is_array(item) or (is_object(item) and any(is_array(item.get(key)) for key in keys)) for item in items):
        return True
    return all(is_object(item) and item.keys().isdisjoint(_MESSAGE) for item in items) and not evident(items)


_MESSAGE: Final = frozenset({"role", "from", "content", "parts"})
"""The keys of messages."""


def place(row: Row) -> str:
    """Return the file and line of a row, for messages."""
    return f"{row.file}:{row.line}" if row.line else row.file


_BATCHES: Final = (
    ({"custom_id", "body"}, "/body"),
    ({"custom_id", "response"}, "/response/body"),
    ({"custom_id", "params"}, "/params"),
    ({"custom_id", "result"}, "/result/message"),
)
"""The keys of requests and outputs in OpenAI's and Anthropic's batches, and where the conversation or answer is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picked:
    """The options for reading a row."""

    formats: tuple[str, ...] = ()
    """The names of the formats that a conversation may have; empty: any."""
    at: str = ""
    """The JSON pointer of the conversation in its row; the rest of the row is kept. Empty: the row, or the part known
    from a batch's keys."""
    answer: str | None = None
    """The JSON pointer of the answer, which becomes the last message."""

    @property
    def source(self) -> str | tuple[str, ...]:
        """The formats in the form that `convert` takes."""
        return self.formats or "auto"

    def place(self, row: JsonValue) -> str:
        """Return the JSON pointer of a row's conversation; lines of batches have their own."""
        if self.at or self.answer is not None or not is_object(row):
            return self.at
        return next((pointer for keys, pointer in _BATCHES if keys <= row.keys()), "")

    def conversation(self, row: JsonValue) -> JsonValue:
        """Return a row's conversation with its answer; raises ParseError if there is none."""
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
        """Say so if the row itself is a conversation."""
        try:
            is_one = is_object(row) and read(row, origin(row, self.source)).messages
        except ParseError:
            return ""
        return "; the row itself is a conversation: convert such rows in a run without --at" if is_one else ""

    def origin(self, value: JsonValue) -> TranscriptFormat:
        """Detect the format of a conversation; raises ParseError with the option to use if it is ambiguous."""
        try:
            return origin(value, self.source)
        except FormatQuestionError as error:
            raise ParseError(f"{error} with --from") from None

    def read(self, row: JsonValue) -> tuple[TranscriptFormat, Transcript]:
        """Read a row's conversation: its format and the transcript."""
        value = self.conversation(row)
        made = self.origin(value)
        return made, read(value, made)
