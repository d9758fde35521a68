"""One conversation of a file: where it is, its value, its text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolfmt import jsontext
from toolfmt.errors import LimitExceededError, ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.transcripts.formats import formats

if TYPE_CHECKING:
    from toolfmt.model import JsonValue


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
    keys = {made.messages for made in formats()}
    if is_array(value) and value and all(_is_whole(item, keys) for item in value):
        for number, item in enumerate(value, 1):
            yield TextRow(whole.file, number, jsontext.dumps(item).encode())
    else:
        yield whole


def _is_whole(item: JsonValue, keys: AbstractSet[str]) -> bool:
    """Whether an entry of a list is a conversation of its own and not a message: it holds a list of messages."""
    return is_array(item) or (is_object(item) and any(is_array(item.get(key)) for key in keys))


def place(row: Row) -> str:
    """Name a row's file and line."""
    return f"{row.file}:{row.line}" if row.line else row.file
