"""Text models made from functions and from clients of APIs.

    text_model(lambda chat: pipeline(chat)[0]["generated_text"])            # a function of the chat
    text_model(llm, prompt=lambda chat: tokenizer.apply_chat_template(chat, tokenize=False))   # of a prompt
    text_model(openai_chat(client, model="hermes-4"))                      # an API, without its own tools

A function may be async or blocking, and may return its text whole or in pieces, as an iterator or an async iterator.
Blocking functions are called in worker threads.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias, TypeGuard, cast, overload

from toolfmt.agents.clients.calling import closing, pieces, reraising
from toolfmt.arguments import checked
from toolfmt.errors import DriverError, ParseError
from toolfmt.events import CallFailed, CallStart, Event, TextDelta
from toolfmt.execution.contracts import ModelClient, TextModel
from toolfmt.execution.hooks import accepts, name_of
from toolfmt.jsontext import is_object
from toolfmt.model import JsonObject
from toolfmt.transcripts.answer_apis import ANSWERS
from toolfmt.transcripts.answering.answer_info import AnswerInfo
from toolfmt.transcripts.answers import AnswerReader
from toolfmt.transcripts.convert import convert

OF_SDK: Final = "make one of an SDK's client: openai_chat(client, model=...) of toolfmt.agents.clients, and the like"
OpenedText: TypeAlias = tuple[AsyncIterator[str], AnswerInfo]
"""The pieces of one answer, and its record, which is complete after the last piece."""
TextSource: TypeAlias = Callable[[Sequence["JsonObject"]], OpenedText]


@overload
def text_model(source: ModelClient) -> TextModel: ...


@overload
def text_model(
    source: Callable[..., object], *, prompt: Callable[[Sequence[JsonObject]], str] | None = None
) -> TextModel: ...


@checked
def text_model(
    source: ModelClient | Callable[..., object], *, prompt: Callable[[Sequence[JsonObject]], str] | None = None
) -> TextModel:
    """Make a text model of a function, or of a client of an API that is then asked without tools.

    A function takes the chat, a list of `{"role": ..., "content": ...}`, or with `prompt` the text that `prompt` makes
    of it (`plain_prompt` is one for models without a template). It gives a str, an iterator of str, or an async one.
    """
    if is_client(source):
        if prompt is not None:
            raise TypeError("an API takes the chat itself: `prompt` is for functions")
        return _ClientText(source)
    if callable(source):
        return _FunctionText(source, prompt)
    raise TypeError(f"a function or a model client is expected, not {type(source).__name__}")


def text_source(model: object, options: JsonObject | None = None) -> TextSource:
    """Open a text model, a function or a client for answers; `options` are fields of a client's requests.

    Raises TypeError for anything else.
    """
    if is_client(model):
        return partial(_asked, model, {} if options is None else options)
    if options:
        raise TypeError("options are fields of an API's request: only a model client takes them")
    if callable(getattr(model, "write", None)):
        written = _checked_model(cast("TextModel", model))
    elif callable(model):
        written = text_model(model)
    else:
        kind = type(model).__name__
        raise TypeError(f"a text model, a function or a model client is expected, not {kind}; {OF_SDK}")
    return lambda chat: (_pieces(written, chat), AnswerInfo())


def _checked_model(model: TextModel) -> TextModel:
    """Raise TypeError for a class, or for a `write` that can't yield the pieces of an answer."""
    if isinstance(model, type):
        raise TypeError(f"{model.__name__} is a class: give {model.__name__}(...), a model made of it")
    accepts(model.write, "write", "chat")
    if inspect.iscoroutinefunction(model.write) or inspect.isgeneratorfunction(model.write):
        raise TypeError(
            f"{name_of(model.write)} is not an async generator: write `async def write(self, chat): yield ...`,"
            " or give a function of the chat instead of an object"
        )
    return model


def _pieces(model: TextModel, chat: Sequence[JsonObject]) -> AsyncIterator[str]:
    written = model.write(chat)
    if not hasattr(written, "__aiter__"):
        raise DriverError(f"text model: write gives an async iterator of str, not {type(written).__name__}")
    return written


def is_client(model: object) -> TypeGuard[ModelClient]:
    """Whether an object is the client of an API, and not a function."""
    return isinstance(getattr(model, "format", None), str) and callable(getattr(model, "send", None))


@checked
def plain_prompt(chat: Sequence[JsonObject]) -> str:
    """Write a chat as plain text that ends before the answer, for models without a template."""
    lines = [f"{str(message['role']).capitalize()}: {message['content']}" for message in chat]
    return "\n\n".join([*lines, "Assistant:"])


def _is_whole(value: object) -> bool:
    """Whether a value is a whole answer (or an invalid one), and not an iterable of pieces."""
    return isinstance(value, (str, bytes, Mapping)) or not (hasattr(value, "__iter__") or hasattr(value, "__aiter__"))


class _FunctionText:
    def __init__(self, function: Callable[..., object], prompt: Callable[[Sequence[JsonObject]], str] | None) -> None:
        accepts(function, "the model", "chat")
        self._function = function
        self._prompt = prompt

    async def write(self, chat: Sequence[JsonObject]) -> AsyncGenerator[str]:
        given = list(chat) if self._prompt is None else self._prompt(chat)
        values = pieces(partial(self._function, given), single=_is_whole)
        async with aclosing(reraising(values, "text model")) as texts:
            async for text in texts:
                if not isinstance(text, str):
                    raise DriverError(f"text model: a function gives str, not {type(text).__name__}")
                yield text


@dataclass(frozen=True, slots=True)
class _ClientText:
    client: ModelClient

    def write(self, chat: Sequence[JsonObject]) -> AsyncIterator[str]:
        return _asked(self.client, {}, chat)[0]


def _asked(client: ModelClient, options: JsonObject, chat: Sequence[JsonObject]) -> OpenedText:
    """Ask an API for text."""
    written = convert({"messages": list(chat)}, source="openai-chat", target=client.format).value
    request: JsonObject = {**(written if is_object(written) else {"messages": written}), **options}
    reader = answer_reader(client)
    return _texts(client, request, reader), reader.info


async def _texts(client: ModelClient, request: JsonObject, reader: AnswerReader) -> AsyncIterator[str]:
    async with aclosing(answer_events(client, request, reader, stream=True)) as batches:
        async for batch in batches:
            for event in batch:
                if isinstance(event, (CallStart, CallFailed)):
                    raise DriverError(f"{client.format}: the API read a call by itself: use NativeDriver with it")
                if isinstance(event, TextDelta):
                    yield event.text


def answer_reader(client: ModelClient) -> AnswerReader:
    """Open a reader for one answer of a client."""
    return AnswerReader(client.format if client.format in ANSWERS else "auto")


async def answer_events(
    client: ModelClient, request: JsonObject, reader: AnswerReader, *, stream: bool
) -> AsyncGenerator[list[Event]]:
    """Send a request and yield the events of each piece of the answer.

    Raises `DriverError`, which is retryable if the answer is incomplete; its last events are not yielded then.
    """
    async with closing(client.send(request, stream=stream)) as values:
        async for value in values:
            try:
                events = reader.feed(value)
            except ParseError as error:
                raise DriverError(f"{client.format}: {error}") from error
            yield events
    info = reader.info
    if info.error is not None or (stream and info.stop is None):
        why = "" if info.error is None else f": {info.error}"
        raise DriverError(f"{client.format}: the answer ended before it was complete{why}", retryable=True)
    yield reader.close()
