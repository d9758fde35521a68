"""A row of a file: its place, its text, the part that is the conversation, and the format of that.

{"custom_id": "1", "method": "POST", "url": "/v1/chat/completions", "body": {...}}                     /body
{"id": "b_1", "custom_id": "1", "response": {"status_code": 200, "body": {...}}, "error": null}        /response/body
{"face": "ollama", "request": {...}, "answer": {...}}                                                  /request, /answer

Lines of batches are recognised by their keys (OpenAI's API guide, Batch API; Anthropic's, Message Batches), and so are
exchanges that a gateway has recorded, which say their format.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from toolfmt import jsontext
from toolfmt.conversation import Transcript
from toolfmt.errors import UTF16, FormatQuestionError, LimitExceededError, ParseError, is_utf16, not_utf8
from toolfmt.jsontext import is_array, is_object, token
from toolfmt.model import JsonValue
from toolfmt.transcripts.answering.failures import read_error
from toolfmt.transcripts.exchanges import exchange, inside, without
from toolfmt.transcripts.format import TranscriptFormat
from toolfmt.transcripts.formats import evident, find, formats
from toolfmt.transcripts.reading import read
from toolfmt.transcripts.recognising import origin, recognised


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
        if is_utf16(self.data):
            raise ParseError(UTF16)
        try:
            whole = self.data[: self.data.rstrip().rfind(b"\n") + 1] if self.session else b""
            last = self.data[len(whole) :].decode("utf-8", "replace" if self.session else "strict")
            text = (whole.decode("utf-8") + last).removeprefix("\ufeff")
            return text if self.session else jsontext.loads(text)
        except UnicodeDecodeError as error:
            store = self.data.startswith(b"SQLite format 3")
            advice = "; it is a database: `toolfmt recorded sqlite:///FILE` prints what a gateway has recorded in it"
            raise ParseError(f"{not_utf8(error)}{advice if store else ''}") from None
        except ParseError as error:
            if self.data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in {b"{", b"["}:
                raise
            raise type(error)(f"{error}; files of JSON, JSON Lines and Parquet are read") from None


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


_PLACES: Final = (
    ({"custom_id", "body"}, "/body", ""),
    ({"custom_id", "response"}, "/response/body", ""),
    ({"custom_id", "params"}, "/params", ""),
    ({"custom_id", "result"}, "/result/message", ""),
    ({"face", "request", "answer"}, "/request", "/answer"),
)
"""The keys of rows of OpenAI's and Anthropic's batches and of recorded exchanges; the places of the conversation and of
the answer after it."""


@dataclass(frozen=True, slots=True)
class Pick:
    """The conversation of a row."""

    row: JsonValue
    """The row without the answer that the conversation ends with."""
    at: str
    """The JSON pointer of the conversation; empty: it is the row."""
    value: JsonValue
    format: TranscriptFormat


@dataclass(frozen=True, slots=True, kw_only=True)
class Picked:
    """The options for reading a row."""

    formats: tuple[str, ...] = ()
    """The names of the formats that a conversation may have; empty: any."""
    at: str = ""
    """The JSON pointer of the conversation in the rows that have that place; in others it is found."""
    answer: str | None = None
    """The JSON pointer of the answer, which becomes the last message."""

    @property
    def source(self) -> str | tuple[str, ...]:
        """The formats in the form that `convert` takes."""
        return self.formats or "auto"

    @property
    def place(self) -> str:
        """The JSON pointer by which rows are told apart: of the conversation, or of the answer."""
        return self.at or self.answer or ""

    def pick(self, row: JsonValue) -> Pick:
        """Find a row's conversation: at the named place, at that of a batch, the row, or the only one inside it.

        Raises `ParseError` if there is none, with the options to use if there are several.
        """
        if not (self.at or self.answer):
            return self._found(row)
        try:
            return self._taken(row, self.at, self.answer or "")
        except ParseError as error:
            if self.has_place(row):
                raise
            try:
                return self._found(row)
            except ParseError:
                raise error from None

    def read(self, row: JsonValue) -> tuple[TranscriptFormat, Transcript]:
        """Read a row's conversation: its format and the transcript."""
        picked = self.pick(row)
        return picked.format, read(picked.value, picked.format)

    def has_place(self, row: JsonValue) -> bool:
        """Whether a row has the place that is named; False if none is."""
        try:
            inside(row, self.place)
        except ParseError:
            return False
        return bool(self.place)

    def _found(self, row: JsonValue) -> Pick:
        keys = row.keys() if is_object(row) else frozenset[str]()
        at, answer = next(((at, answer) for needed, at, answer in _PLACES if needed <= keys), ("", ""))
        try:
            if not at and len(self.formats) == 1 and is_object(row) and find(self.formats[0]).messages not in row:
                recognised(row)  # asks for the place of a conversation inside
            return self._taken(row, at, answer)
        except FormatQuestionError as error:
            if len(error.conversations) == len(error.answers) == 1 and error.conversations != ("",):
                return self._taken(row, error.conversations[0], error.answers[0])
            if len(error.conversations) == 1 and not error.answers and is_object(row):
                for key, beside in row.items():
                    if is_object(beside) and is_object(beside.get("error")):
                        raise _api_error(f"/{token(key)}", beside) from None
            raise ParseError(f"{error}{options(error)}") from None

    def _taken(self, row: JsonValue, at: str, answer: str) -> Pick:
        value, source = inside(row, at), self._source(row)
        if not answer:
            return Pick(row, at, value, origin(value, source))
        said = inside(row, answer)
        if is_object(said) and said.get("error"):
            raise _api_error(answer, said)
        row = without(row, answer)
        value = exchange(inside(row, at), said, source)
        return Pick(row, at, value, origin(value, source))

    def _source(self, row: JsonValue) -> str | tuple[str, ...]:
        """Return the formats of a row; a recorded exchange says its own."""
        face = row.get("face") if is_object(row) and not self.formats and "request" in row else None
        return face if isinstance(face, str) and any(made.name == face for made in formats()) else self.source


def _api_error(pointer: str, answer: JsonValue) -> ParseError:
    return ParseError(f"{pointer}: an API's error: {read_error(answer).message}")


def options(error: FormatQuestionError) -> str:
    """Return the options of the command line that answer the question."""
    asked = [f"--at {path}" for path in filter(None, error.conversations)]
    if len(error.answers) == len(error.conversations) == 1:
        asked = [" ".join((*asked, f"--answer {error.answers[0]}"))]
    asked = asked or [f"--at {path}" for path in error.answers]
    return f": give {' or '.join(asked)}" if asked else " with --from"
