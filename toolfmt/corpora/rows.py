"""A row of a file: its place, its text and its value."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from codecs import getincrementaldecoder
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final

from toolfmt import jsontext
from toolfmt.errors import UTF16, LimitExceededError, ParseError, is_utf16, not_utf8
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonValue
from toolfmt.transcripts.formats import evident, fits, formats


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
    parsed: JsonValue = None
    """The value, if it is known."""

    @property
    def text(self) -> str:
        """Return the text; invalid UTF-8 is replaced."""
        return self.data.decode("utf-8", "replace")

    @property
    def value(self) -> JsonValue:
        """Parse the JSON; raises ParseError."""
        if self.parsed is not None:
            return self.parsed
        if self.refused:
            raise LimitExceededError(self.refused)
        if is_utf16(self.data):
            raise ParseError(UTF16)
        try:
            data = self.data.rstrip() if self.session else self.data  # a session may be cut in a character
            text = getincrementaldecoder("utf-8")().decode(data, not self.session).removeprefix("\ufeff")
            return text if self.session else jsontext.loads(text)
        except UnicodeDecodeError as error:
            store = self.data.startswith(b"SQLite format 3")
            advice = "; it is a database: `toolfmt recorded sqlite:///FILE` prints what a gateway has recorded in it"
            raise ParseError(f"{not_utf8(error)}{advice if store else ''}") from None
        except ParseError as error:
            if self.data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in {b"{", b"["}:
                raise
            raise type(error)(f"{error}; files of JSON, JSON Lines and Parquet are read") from None


def sessions(whole: TextRow) -> Iterator[TextRow]:
    """Return the sessions of a file, which are one after the other."""
    try:
        text = whole.value
    except ParseError:
        text = ""
    starts = next((made.begins(text) for made in formats() if made.session and fits(made, text)), [0])
    if len(starts) == 1:
        yield whole
        return
    lines = whole.data.split(b"\n")
    for start, end in pairwise([*starts, len(lines)]):
        yield TextRow(whole.file, start + 1, b"\n".join(lines[start:end]), session=True)


def entries(whole: TextRow) -> Iterator[TextRow]:
    """Return the conversations of a file that lists them, or has one after the other; another file is one."""
    try:
        value = whole.value if not whole.refused else None
    except ParseError:
        texts = enumerate(_values(whole.data), 1)
        yield from [TextRow(whole.file, number, text.encode()) for number, text in texts] or [whole]
        return
    if is_array(value) and value and _are_whole(value):
        for number, item in enumerate(value, 1):
            yield TextRow(whole.file, number, jsontext.dumps(item).encode(), parsed=item)
    else:
        yield replace(whole, parsed=value)


def _values(data: bytes) -> list[str]:
    """Return the texts of several JSON values with nothing but white space between them; empty for anything else."""
    try:
        text, at = data.decode("utf-8-sig").rstrip(), 0
    except UnicodeDecodeError:
        return []
    found: list[str] = []
    decode = json.JSONDecoder().raw_decode
    while at < len(text):
        start = _BLANK.match(text, at).end()  # pyright: ignore[reportOptionalMemberAccess] - it matches nothing, too
        try:
            _, at = decode(text, start)
        except (ValueError, RecursionError):
            return []
        found.append(text[start:at])
    return found


def _are_whole(items: list[JsonValue]) -> bool:
    """Whether the entries of a list are conversations, not messages: they contain messages, or are rows of a table."""
    keys = {made.messages for made in formats()}
    if all(is_array(item) or (is_object(item) and any(is_array(item.get(key)) for key in keys)) for item in items):
        return True
    return all(is_object(item) and item.keys().isdisjoint(_MESSAGE) for item in items) and not evident(items)


_BLANK: Final = re.compile(r"\s*")
_MESSAGE: Final = frozenset({"role", "from", "content", "parts"})
"""The keys of messages."""


def place(row: Row) -> str:
    """Return the file and line of a row, for messages."""
    return f"{row.file}:{row.line}" if row.line else row.file


def without_nulls(value: Any) -> Any:
    """Copy a value without the fields of objects that are null."""
    if is_object(value):
        return {name: without_nulls(inner) for name, inner in value.items() if inner is not None}
    return list(map(without_nulls, value)) if is_array(value) else value


def has_null_schema(value: Any) -> bool:
    """Whether a property of a request's tools has null for a schema, as in JSON that was exported from a table."""
    pending: list[Any] = [value.get("tools"), value.get("functions")] if is_object(value) else []
    while pending:
        node = pending.pop()
        if is_object(node):
            if is_object(properties := node.get("properties")) and None in properties.values():
                return True
            pending += node.values()
        elif is_array(node):
            pending += node
    return False
