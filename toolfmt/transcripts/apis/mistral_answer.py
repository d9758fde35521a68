"""Mistral's answers and chunks: as Chat Completions', with thinking in the content, and calls whole.

{"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [{"index": 0, "delta": {
    "content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}]}, "finish_reason": null}]}
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Final

from toolfmt import jsontext
from toolfmt.transcripts.answer_api import AnswerApi, AnswerEnding, Envelope, endings
from toolfmt.transcripts.answer_usage import TokenCounting
from toolfmt.transcripts.apis.openai_chat_answer import (
    CHOICE,
    KNOWN,
    SHAPES,
    call_delta,
    completion,
    delta,
    open_choices,
)
from toolfmt.transcripts.failures import WRITERS
from toolfmt.transcripts.sinks.blocks import Blocks, StreamBlock

if TYPE_CHECKING:
    from toolfmt.model import JsonObject
    from toolfmt.transcripts.answer_info import Stop, Usage
    from toolfmt.transcripts.sinks.sink import AnswerHead

NAME: Final = "mistral"
_COUNT: Final = TokenCounting({"input": "prompt_tokens", "output": "completion_tokens", "total": "total_tokens"})
"""What Mistral's types have: there are no details."""
_STOPS: Final = endings("stop", tool_calls="tool_calls", length="length")


def _close(choices: list[list[JsonObject]], ending: AnswerEnding) -> JsonObject:
    made = completion(choices, ending.head, _STOPS[ending.stop])
    return {**made, "usage": _COUNT.write(ending.info.usage)}


def _think(block: StreamBlock, text: str) -> list[JsonObject]:
    return delta(block.head, {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": text}]}]})


def _call(block: StreamBlock) -> list[JsonObject]:
    """Write a call; an id has nine letters and digits, and another is hashed."""
    call, ident = block.call, block.id
    if call is None:
        return []
    fits = len(ident) == 9 and ident.isalnum() and ident.isascii()  # noqa: PLR2004 - mistral-common's validator
    ident = ident if fits else sha256(ident.encode("utf-8", "surrogatepass")).hexdigest()[:9]
    text = call.raw_arguments or jsontext.dumps(call.arguments)
    return call_delta(block, id=ident, type="function", function={"name": call.name, "arguments": text})


def _finish(head: AnswerHead, stop: Stop, _: str | None, usage: Usage | None) -> list[JsonObject]:
    last = delta(head, {"content": ""}, _STOPS[stop])
    return last if usage is None else [{**last[0], "usage": _COUNT.write(usage)}]


API: Final = AnswerApi(
    name=NAME,
    done=True,
    copies=True,
    shapes=SHAPES,
    envelope=Envelope(open=open_choices, close=_close, known=KNOWN, choice=CHOICE, several=True),
    stream=Blocks(
        interleaved=True,
        begin=lambda head, _: delta(head, {"role": "assistant", "content": ""}),
        delta={"text": lambda block, text: delta(block.head, {"content": text}), "reasoning": _think},
        end={"call": _call},
        finish=_finish,
        fail=lambda _, failure: [WRITERS[NAME](failure)],
    ),
)
