r"""Reads and writes streams on the wire: server-sent events, or a JSON object on each line.

    reader = EventText()
    reader.feed(b'event: message_stop\ndata: {"type": "message_st')    []
    reader.feed(b'op"}\n\n')                                           ['{"type": "message_stop"}']

    event_text({"type": "message_stop"}, "anthropic")    'event: message_stop\ndata: {"type": "message_stop"}\n\n'

Text may be cut anywhere, even inside a character. The end of a stream, such as `[DONE]`, is not an event.
"""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import Callable
from functools import partial
from typing import Final

from toolfmt import jsontext
from toolfmt.errors import LimitExceededError, ParseError, UnknownFormatError
from toolfmt.model import JsonObject
from toolfmt.transcripts.answer_apis import APIS
from toolfmt.transcripts.answering.answer_api import AnswerApi

DONE: Final = "[DONE]"
MAX_EVENT: Final = 64 * 2**20
"""The largest number of characters of one event; a longer one raises `LimitExceededError`."""


class EventText:
    """Extracts the data of events from the text of a stream."""

    def __init__(self, longest: int = MAX_EVENT) -> None:
        """Start a stream; an event of more than `longest` characters raises `LimitExceededError`."""
        self._longest = longest
        self._decode = getincrementaldecoder("utf-8-sig")().decode
        self._pieces: list[str] = []
        self._held = 0
        self._returned = False
        self._data: list[str] = []
        self._size = 0
        self._broken: ParseError | None = None
        self.done = False
        """Whether `[DONE]` has arrived."""

    def feed(self, text: str | bytes) -> list[str]:
        """Return the data of each event that is complete; raises `ParseError` for bytes that are not UTF-8.

        Events before a fault are returned first; the error is raised at the next call.
        """
        found: list[str] = []
        try:
            if self._broken is None:
                self._read(self._text(text) if isinstance(text, bytes) else text, found)
        except ParseError as error:
            self._broken = error
        if self._broken is not None and not found:
            raise self._broken
        return found

    def _read(self, text: str, found: list[str]) -> None:
        """Process the lines of a text; a line ends with a line feed, a carriage return, or both."""
        if text:
            text = text[1:] if self._returned and text[0] == "\n" else text
            self._returned = text.endswith("\r")
        *lines, last = (text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text).split("\n")
        for line in lines:
            self._take("".join((*self._pieces, line)), found)
            self._pieces.clear()
            self._held = 0
        if last:
            self._pieces.append(last)
            self._held += len(last)
            self._bounded(self._held)

    def close(self) -> list[str]:
        """Return the data of a last event that lacks its blank line."""
        found: list[str] = []
        self._text(b"", final=True)
        if self._broken is not None:
            raise self._broken
        self._take("".join(self._pieces), found)
        self._take("", found)
        self._pieces.clear()
        return found

    def _text(self, piece: bytes, *, final: bool = False) -> str:
        try:
            return self._decode(piece, final)
        except UnicodeDecodeError as error:
            self._broken = ParseError(f"a stream is not UTF-8: {error.reason}")
            return error.object[: error.start].decode()

    def _take(self, line: str, found: list[str]) -> None:
        if line.startswith("data:"):
            self._data.append(line[5:].removeprefix(" "))
            self._size += len(line)
            self._bounded(self._size)
        elif line.startswith("{"):
            found.append(line)
        elif not line and self._data:
            data = "\n".join(self._data)
            self._data.clear()
            self._size = 0
            if data.strip() == DONE:
                self.done = True
            else:
                found.append(data)

    def _bounded(self, size: int) -> None:
        if size > self._longest:
            raise LimitExceededError(f"an event of a stream is longer than {self._longest} characters")


_compact: Final = partial(jsontext.dumps, compact=True)


def event_text(event: JsonObject, target: str, *, write: Callable[[JsonObject], str] = _compact) -> str:
    """Write one event of a provider's stream as text, in the JSON that `write` makes of it.

    Raises `UnknownFormatError` for binary streams.
    """
    api = _textual(target)
    data = write(event)
    if api.wire == "lines":
        return f"{data}\n"
    name = event.get(api.event_name) if api.event_name else None
    return f"event: {name}\ndata: {data}\n\n" if isinstance(name, str) else f"data: {data}\n\n"


def end_text(target: str) -> str:
    """Write the text that ends a provider's stream, after its last event."""
    return f"data: {DONE}\n\n" if _textual(target).done else ""


def _textual(target: str) -> AnswerApi:
    api = APIS.get(target)
    if api is None or api.wire == "binary":
        raise UnknownFormatError(target, sorted(name for name, api in APIS.items() if api.wire != "binary"))
    return api
