"""Functions as text models: sync or async, of a chat or a prompt, whole or in pieces."""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from toolfmt.agents.clients import plain_prompt, text_model
from toolfmt.errors import DriverError

CHAT = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]


def written(model: Any) -> list[str]:
    async def all_of() -> list[str]:
        return [text async for text in model.write(CHAT)]

    return anyio.run(all_of)


def whole(chat: Sequence[Any]) -> str:
    return f"{len(chat)} messages"


async def awaited(chat: Sequence[Any]) -> str:
    await anyio.lowlevel.checkpoint()
    return whole(chat)


def in_pieces(chat: Sequence[Any]) -> Iterator[str]:
    yield from (str(len(chat)), " ", "messages")


async def in_pieces_awaited(chat: Sequence[Any]) -> AsyncIterator[str]:
    for piece in in_pieces(chat):
        await anyio.lowlevel.checkpoint()
        yield piece


async def iterator_awaited(chat: Sequence[Any]) -> AsyncIterator[str]:
    return in_pieces_awaited(chat)


class Listed:
    def __call__(self, chat: Sequence[Any]) -> list[str]:
        return [*in_pieces(chat)]


class AsyncCallable:
    async def __call__(self, chat: Sequence[Any]) -> str:
        return whole(chat)


SHAPES: list[Callable[..., object]] = [
    whole,
    awaited,
    in_pieces,
    in_pieces_awaited,
    iterator_awaited,
    Listed(),
    AsyncCallable(),
    lambda chat: awaited(chat),  # noqa: PLW0108 - a function that gives what is to be awaited
    lambda chat: (piece for piece in in_pieces(chat)),
]


@pytest.mark.parametrize("function", SHAPES, ids=range(len(SHAPES)))
def test_any_function_of_a_chat(function: Callable[..., object]) -> None:
    assert "".join(written(text_model(function))) == "2 messages"


@pytest.mark.parametrize("function", [in_pieces, in_pieces_awaited])
def test_pieces_stay_pieces(function: Callable[..., object]) -> None:
    assert written(text_model(function)) == ["2", " ", "messages"]


def test_a_function_of_a_prompt() -> None:
    def echo(prompt: str) -> str:
        assert isinstance(prompt, str)
        return prompt

    assert written(text_model(echo, prompt=plain_prompt)) == ["System: Be brief.\n\nUser: Hi\n\nAssistant:"]


def test_a_function_that_blocks_does_not_block_the_loop() -> None:
    async def beside() -> int:
        ticks = 0
        model = text_model(lambda _: time.sleep(0.1) or "done")
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:

                async def tick() -> None:
                    nonlocal ticks
                    while True:
                        await anyio.sleep(0.005)
                        ticks += 1

                group.start_soon(tick)
                async with aclosing(model.write(CHAT)) as texts:  # pyright: ignore[reportArgumentType] - a generator
                    assert [text async for text in texts] == ["done"]
                scope.cancel()
        return ticks

    assert anyio.run(beside) > 2


class Source:
    """An iterator that remembers being closed; it waits before its second piece."""

    def __init__(self) -> None:
        self.count = 0
        self.go = threading.Event()
        self.closed = threading.Event()

    def __iter__(self) -> Source:
        return self

    def __next__(self) -> str:
        self.count += 1
        if self.count > 1:
            self.go.wait(60)
        return "piece"

    def close(self) -> None:
        assert self.count < 2 or self.go.is_set(), "closed in the middle of a step"
        self.closed.set()


def test_who_stops_early_closes_the_source() -> None:
    source = Source()

    async def first() -> bool:
        async with aclosing(text_model(lambda _: source).write(CHAT)) as texts:  # pyright: ignore[reportArgumentType] - a generator
            assert await anext(texts) == "piece"
        return source.closed.is_set()

    assert anyio.run(first)


def test_who_is_cancelled_in_a_step_closes_the_source_behind_it() -> None:
    source = Source()

    async def cancelled() -> bool:
        with anyio.move_on_after(0.05) as scope:
            async for _ in text_model(lambda _: source).write(CHAT):
                pass
        assert not source.closed.is_set()
        source.go.set()
        return scope.cancelled_caught

    assert anyio.run(cancelled)
    assert source.closed.wait(60)


def test_what_a_function_raises_is_the_driver_s_error() -> None:
    def lost(_: object) -> str:
        raise ConnectionResetError("the peer is gone")

    def broken(_: object) -> Iterator[str]:
        yield "some"
        raise ZeroDivisionError("division by zero")

    with pytest.raises(DriverError, match="the peer is gone") as caught:
        written(text_model(lost))
    assert caught.value.retryable
    assert isinstance(caught.value.__cause__, ConnectionResetError)
    with pytest.raises(DriverError, match="division by zero") as caught:
        written(text_model(broken))
    assert not caught.value.retryable


def test_a_function_without_a_further_answer_says_so() -> None:
    answers: Iterator[str] = iter(())
    with pytest.raises(DriverError, match="the function has no further answer: it raised StopIteration"):
        written(text_model(lambda _: next(answers)))


@pytest.mark.parametrize("given", [[1], None, 7, b"bytes", {"text": "Hi"}])
def test_what_is_no_text_is_an_error(given: object) -> None:
    with pytest.raises(DriverError, match=r"gives str, not \w+"):
        written(text_model(lambda _: given))


@pytest.mark.parametrize("source", [None, 7, "gpt-5"])
def test_what_is_no_model_is_refused(source: Any) -> None:
    with pytest.raises(TypeError, match=r"must be a ModelClient .* or a function"):
        text_model(source)
