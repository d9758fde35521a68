"""Which part of a row is the conversation, and in which formats it may be.

{"custom_id": "1", "method": "POST", "url": "/v1/chat/completions", "body": {...}}                     /body
{"id": "b_1", "custom_id": "1", "response": {"status_code": 200, "body": {...}}, "error": null}        /response/body

The lines of batches are known by their keys (OpenAI's API guide, Batch API; Anthropic's, Message Batches).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from toolfmt.errors import ParseError
from toolfmt.jsontext import is_object
from toolfmt.transcripts.exchanges import exchange, inside
from toolfmt.transcripts.reading import read
from toolfmt.transcripts.recognising import FormatQuestionError, origin

if TYPE_CHECKING:
    from toolfmt.conversation import Transcript
    from toolfmt.model import JsonValue
    from toolfmt.transcripts.format import TranscriptFormat


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
        value = inside(row, self.place(row))
        return value if self.answer is None else exchange(value, inside(row, self.answer), self.source)

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
