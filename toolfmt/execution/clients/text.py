"""Anything that takes text and gives text, as a `TextModel`.

    text_model(lambda chat: pipeline(chat)[0]["generated_text"])            # a function of the chat
    text_model(llm, prompt=lambda chat: tokenizer.apply_chat_template(chat, tokenize=False))   # of a prompt
    text_model(openai_chat(client, model="hermes-4"))                      # an API, without its own tools

A function may be async, may block, and may give its text whole or in pieces (an
iterator, an async iterator). What blocks is called in worker threads.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, overload

from toolfmt.errors import DriverError
from toolfmt.execution.clients.failing import told
from toolfmt.execution.clients.pulling import pieces
from toolfmt.execution.drivers.text_models import is_client, text_source

if TYPE_CHECKING:
    from toolfmt.execution.contracts import ModelClient, TextModel
    from toolfmt.model import JsonObject


@overload
def text_model(source: ModelClient) -> TextModel: ...


@overload
def text_model(
    source: Callable[..., object], *, prompt: Callable[[Sequence[JsonObject]], str] | None = None
) -> TextModel: ...


def text_model(
    source: ModelClient | Callable[..., object], *, prompt: Callable[[Sequence[JsonObject]], str] | None = None
) -> TextModel:
    """Make a text model of a function, or of a client of an API that is then asked without tools.

    A function takes the chat, a list of `{"role": ..., "content": ...}`, or with
    `prompt` the text that `prompt` makes of it (`plain_prompt` is one for models
    without a template). It gives a str, an iterator of str, or an async one.
    """
    if is_client(source):
        if prompt is not None:
            raise TypeError("an API takes the chat itself: `prompt` is for functions")
        return _ClientText(source)
    if callable(source):
        return _FunctionText(source, prompt)
    raise TypeError(f"a function or a model client is expected, not {type(source).__name__}")


def plain_prompt(chat: Sequence[JsonObject]) -> str:
    """Write a chat as plain text that ends where the answer begins, for models without a template."""
    said = [f"{str(message['role']).capitalize()}: {message['content']}" for message in chat]
    return "\n\n".join([*said, "Assistant:"])


def _is_whole(value: object) -> bool:
    """Whether a value is the answer itself, or can be no answer: what iterates gives pieces, but for these."""
    return isinstance(value, (str, bytes, Mapping)) or not (hasattr(value, "__iter__") or hasattr(value, "__aiter__"))


class _FunctionText:
    """A function as a text model."""

    def __init__(self, function: Callable[..., object], prompt: Callable[[Sequence[JsonObject]], str] | None) -> None:
        self._function = function
        self._prompt = prompt

    async def write(self, chat: Sequence[JsonObject]) -> AsyncGenerator[str]:
        given = list(chat) if self._prompt is None else self._prompt(chat)
        values = pieces(partial(self._function, given), single=_is_whole)
        async with aclosing(told(values, "text model")) as texts:
            async for text in texts:
                if not isinstance(text, str):
                    raise DriverError(f"text model: a function gives str, not {type(text).__name__}")
                yield text


class _ClientText:
    """An API's client as a text model."""

    def __init__(self, client: ModelClient) -> None:
        self._source = text_source(client)

    def write(self, chat: Sequence[JsonObject]) -> AsyncIterator[str]:
        texts, _ = self._source(chat)
        return texts
