"""The part of a row that is the conversation, its format, and its answer.

{"custom_id": "1", "method": "POST", "url": "/v1/chat/completions", "body": {...}}                     /body
{"id": "b_1", "custom_id": "1", "response": {"status_code": 200, "body": {...}}, "error": null}        /response/body
{"face": "ollama", "request": {...}, "answer": {...}}                                                  /request, /answer

Lines of batches are recognised by their keys (OpenAI's API guide, Batch API; Anthropic's, Message Batches; Gemini's,
Batch API), and so are exchanges that a gateway has recorded, which say their format.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from toolfmt.conversation import Transcript
from toolfmt.corpora.answer_files import AnswerFiles, Join
from toolfmt.corpora.rows import Row, place, without_nulls
from toolfmt.corpora.said import ended_at, said_at
from toolfmt.errors import FormatQuestionError, ParseError
from toolfmt.jsontext import is_object, token
from toolfmt.model import JsonValue
from toolfmt.transcripts.comparing.loss import Loss
from toolfmt.transcripts.exchanges import exchanged, inside, shared_format, without
from toolfmt.transcripts.format import TranscriptFormat
from toolfmt.transcripts.formats import find, formats
from toolfmt.transcripts.parts.endings import ORDINARY, STOPS, Stop, ended_word
from toolfmt.transcripts.reading import read
from toolfmt.transcripts.recognising import origin, recognised

_PLACES: Final = (
    ({"custom_id", "body"}, "/body", ""),
    ({"custom_id", "response"}, "", "/response/body"),
    ({"custom_id", "params"}, "/params", ""),
    ({"custom_id", "result"}, "", "/result/message"),
    ({"face", "request", "answer"}, "/request", "/answer"),
    ({"key", "request", "response"}, "/request", "/response"),
    ({"key", "request"}, "/request", ""),
    ({"key", "response"}, "", "/response"),
    ({"key", "error"}, "", "/response"),
)
"""The keys of rows of batches and of recorded exchanges; the places of the request and of the answer."""


def places(row: JsonValue) -> tuple[str, str]:
    """Return the places of a row's request and answer by its keys, each "" if it has none."""
    keys = row.keys() if is_object(row) else frozenset[str]()
    return next(((at, answer) for needed, at, answer in _PLACES if needed <= keys), ("", ""))


@dataclass(frozen=True, slots=True)
class Pick:
    """The conversation of a row."""

    row: JsonValue
    """The row without the answer that the conversation ends with."""
    at: str
    """The JSON pointer of the conversation; empty: it is the row."""
    value: JsonValue
    format: TranscriptFormat
    stop: Stop | None = None
    """Why the answer ended, if that is known; the conversation has no place for it."""

    @property
    def losses(self) -> tuple[Loss, ...]:
        """That an answer is cut off or blocked, which its conversation does not say."""
        return () if self.stop in ORDINARY else (Loss("ending", self.at, "dropped", str(self.stop)),)

    def endings(self, transcript: Transcript) -> Iterator[Stop]:
        """Yield why each answer is cut off or blocked that is, as its row or the conversation says."""
        if self.stop is not None and self.stop not in ORDINARY:
            yield self.stop
        for extra in (transcript.extra, *(message.extra for message in transcript.messages)):
            if word := ended_word(extra):
                yield STOPS[word]


@dataclass(frozen=True, slots=True, kw_only=True)
class Picked:
    """The options for reading a row."""

    formats: tuple[str, ...] = ()
    """The names of the formats that a conversation may have; empty: any."""
    at: str = ""
    """The JSON pointer of the conversation in the rows that have that place; in others it is found."""
    answer: str | None = None
    """The JSON pointer of the answer, which becomes the last message."""
    answers: tuple[str, ...] = ()
    """The files with the answers of the rows, found by the id that both have."""
    drop_nulls: bool = False
    """Fields that are null count as absent."""

    @property
    def place(self) -> str:
        """The JSON pointer by which rows are told apart: of the conversation, or of the answer."""
        return self.at or self.answer or ""

    def pick(self, row: JsonValue) -> Pick:
        """Find a row's conversation: at the named place, at that of a batch, the row, or the only one inside it.

        Raises `ParseError` if there is none, with the options to use if there are several.
        """
        row = without_nulls(row) if self.drop_nulls else row
        if self.answers:
            return self._answered(row)
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

    def read(self, row: JsonValue) -> tuple[Pick, Transcript]:
        """Find a row's conversation and read it."""
        picked = self.pick(row)
        return picked, read(picked.value, picked.format)

    def has_place(self, row: JsonValue) -> bool:
        """Whether a row has the place that is named; False if none is."""
        try:
            inside(row, self.place)
        except ParseError:
            return False
        return bool(self.place)

    def joins(self, row: Row) -> Iterable[Join]:
        """Return the id by which a row is joined to an answer in another file, if it is."""
        if not self.answers:
            return ()
        try:
            value = row.value
        except ParseError:
            return ()
        name = AnswerFiles.of(self.answers).key(value)
        return () if name is None else ((name, "" if places(value)[1] else place(row)),)

    def _found(self, row: JsonValue) -> Pick:
        at, answer = places(row)
        try:
            if answer and not at:
                return Pick(row, answer, said := said_at(row, answer), origin(said, self._source(row)))
            if not at and len(self.formats) == 1 and is_object(row) and find(self.formats[0]).messages not in row:
                recognised(row)  # asks for the place of a conversation inside
            return self._taken(row, at, answer)
        except FormatQuestionError as error:
            if len(error.conversations) == len(error.answers) == 1 and error.conversations != ("",):
                return self._taken(row, error.conversations[0], error.answers[0])
            if len(error.conversations) == 1 and not error.answers and is_object(row):
                for key in row:
                    if f"/{token(key)}" != error.conversations[0] and is_object(row[key]):
                        said_at(row, f"/{token(key)}")
            raise ParseError(f"{error}{options(error)}") from None

    def _answered(self, row: JsonValue) -> Pick:
        """Join a row to its answer elsewhere; of several, to the one that is no error."""
        found: list[Pick] = []
        failed: ParseError | None = None
        for other in AnswerFiles.of(self.answers).find(row):
            try:
                found.append(self._pair(row, without_nulls(other) if self.drop_nulls else other))
            except ParseError as error:
                failed = error
        if failed is not None and not found:
            raise failed
        if len(found) > 1:
            raise ParseError(f"{len(found)} answers have the id of the row")
        return found[0]

    def _pair(self, row: JsonValue, other: JsonValue) -> Pick:
        if places(row)[1] and places(other)[0]:  # the rows are the answers
            row, other = other, row
        place = self.answer or places(other)[1]
        if not place:
            raise ParseError("nothing says where the answer is in its row: give --answer with its place")
        return joined(row, self.at or places(row)[0], said_at(other, place), self._source(row), ended_at(other, place))

    def _taken(self, row: JsonValue, at: str, answer: str) -> Pick:
        value, source = inside(row, at), self._source(row)
        if not answer:
            return Pick(row, at, value, origin(value, source))
        return joined(without(row, answer), at, said_at(row, answer), source, ended_at(row, answer))

    def _source(self, row: JsonValue) -> str | tuple[str, ...]:
        """Return the formats of a row as `convert` takes them; a recorded exchange says its own."""
        if self.formats:
            return self.formats
        face = row.get("face") if is_object(row) and "request" in row else None
        return face if isinstance(face, str) and any(made.name == face for made in formats()) else "auto"


def joined(row: JsonValue, at: str, answer: JsonValue, source: str | Collection[str], stop: Stop | None = None) -> Pick:
    """Put an answer after the messages of a row's request; `stop` is why it ended, if the answer does not say it."""
    request = inside(row, at)
    made = shared_format(request, answer, source)
    value, ended = exchanged(request, answer, made.name)
    return Pick(row, at, value, made, stop if ended in ORDINARY else ended)


def options(error: FormatQuestionError) -> str:
    """Return the options of the command line that answer the question."""
    asked = [f"--at {path}" for path in filter(None, error.conversations)]
    if len(error.answers) == len(error.conversations) == 1:
        asked = [" ".join((*asked, f"--answer {error.answers[0]}"))]
    asked = asked or [f"--at {path}" for path in error.answers]
    return f": give {' or '.join(asked)}" if asked else " with --from"
