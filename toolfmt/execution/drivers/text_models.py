"""Whatever gives text, opened for one answer: its pieces, and what is known of it beside them.

A `TextModel`, a plain function of a chat, or the client of an API, which is then asked without its own tools.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard, cast

from toolfmt.errors import DriverError, ParseError
from toolfmt.events import CallFailed, CallStart, TextDelta
from toolfmt.execution.drivers.asking import told_of_failure
from toolfmt.execution.drivers.patience import closing
from toolfmt.jsontext import is_object
from toolfmt.transcripts.answer_info import AnswerInfo
from toolfmt.transcripts.answer_readers.shapes import SHAPES
from toolfmt.transcripts.answers import AnswerReader
from toolfmt.transcripts.convert import convert

if TYPE_CHECKING:
    from toolfmt.events import Event
    from toolfmt.execution.contracts import ModelClient, TextModel
    from toolfmt.model import JsonObject

Opened: TypeAlias = tuple[AsyncIterator[str], AnswerInfo]
TextSource: TypeAlias = Callable[[Sequence["JsonObject"]], Opened]


def text_source(model: object, options: JsonObject | None = None) -> TextSource:
    """Make a source of a text model, a function or a client; `options` are fields of a client's requests.

    Raises TypeError for what is none of them.
    """
    if is_client(model):
        return _ClientSource(model, {} if options is None else options)
    if options:
        raise TypeError("options are fields of an API's request: only a model client takes them")
    if callable(getattr(model, "write", None)):
        written = cast("TextModel", model)
    elif callable(model):
        made: Any = import_module("toolfmt.execution.clients").text_model(model)
        written = cast("TextModel", made)
    else:
        raise TypeError(f"a text model, a function or a model client is expected, not {type(model).__name__}")
    return lambda chat: (written.write(chat), AnswerInfo())


def is_client(model: object) -> TypeGuard[ModelClient]:
    """Whether something is the client of an API, and no function."""
    return isinstance(getattr(model, "format", None), str) and callable(getattr(model, "send", None))


class _ClientSource:
    """Asks an API for text."""

    def __init__(self, client: ModelClient, options: JsonObject) -> None:
        self._client = client
        self._options = options

    def __call__(self, chat: Sequence[JsonObject]) -> Opened:
        written = convert({"messages": list(chat)}, source="openai-chat", target=self._client.format).value
        request: JsonObject = {**(written if is_object(written) else {"messages": written}), **self._options}
        reader = AnswerReader(self._client.format if self._client.format in SHAPES else "auto")
        return self._texts(request, reader), reader.info

    async def _texts(self, request: JsonObject, reader: AnswerReader) -> AsyncIterator[str]:
        async with closing(self._client.send(request, stream=True)) as values:
            async for value in values:
                try:
                    events = reader.feed(value)
                except ParseError as error:
                    raise DriverError(f"{self._client.format}: {error}") from error
                for text in self._said(events):
                    yield text
        if reader.info.error is not None or reader.info.stop is None:
            failed = told_of_failure(reader.info)
            raise DriverError(f"{self._client.format}: the answer ended before it was complete{failed}", retryable=True)
        for text in self._said(reader.close()):
            yield text

    def _said(self, events: list[Event]) -> list[str]:
        if any(isinstance(event, (CallStart, CallFailed)) for event in events):
            raise DriverError(f"{self._client.format}: the API read a call by itself: use NativeDriver with it")
        return [event.text for event in events if isinstance(event, TextDelta)]
