"""Which part of a row is the conversation, and in which formats it may be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolfmt.errors import ParseError
from toolfmt.transcripts.exchanges import exchange, inside
from toolfmt.transcripts.reading import read
from toolfmt.transcripts.recognising import FormatQuestionError, origin

if TYPE_CHECKING:
    from toolfmt.conversation import Transcript
    from toolfmt.model import JsonValue
    from toolfmt.transcripts.format import TranscriptFormat


@dataclass(frozen=True, slots=True, kw_only=True)
class Picked:
    """What is read of every row."""

    formats: tuple[str, ...] = ()
    """The names of the formats that a conversation may be of; none: any."""
    at: str = ""
    """The JSON pointer of the conversation in its row; what is around it stays."""
    answer: str | None = None
    """The JSON pointer of the answer to it, which becomes its last message."""

    @property
    def source(self) -> str | tuple[str, ...]:
        """The formats as `convert` takes them."""
        return self.formats or "auto"

    def conversation(self, row: JsonValue) -> JsonValue:
        """Get a row's conversation, its answer included; raises ParseError where there is none."""
        value = inside(row, self.at)
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
