"""Counts tokens of conversations with a tokenizer that the user names."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

from toolfmt.arguments import path_of
from toolfmt.conversation import CallPart, JsonPart, ReasoningPart, RefusalPart, ResultPart, TextPart, Transcript
from toolfmt.errors import CorpusError, MissingExtraError
from toolfmt.transcripts.parts.values import json_text


def count_tokens(transcript: Transcript, tokenizer: str) -> int:
    """Count the tokens of a conversation's content, without the markup of a chat template.

    `tokenizer` is a `tokenizer.json`, or the folder that contains one. Raises
    `CorpusError` for anything else, and `MissingExtraError` without the library.
    """
    texts = list(spoken(transcript))
    return sum(len(one.ids) for one in load(tokenizer).encode_batch(texts, add_special_tokens=False))


def spoken(transcript: Transcript) -> Iterator[str]:
    """Yield the texts of a conversation: its messages, calls with their arguments, and results."""
    for message in transcript.messages:
        for part in message.parts:
            if isinstance(part, (TextPart, ReasoningPart, RefusalPart)):
                yield part.text
            elif isinstance(part, CallPart):
                yield part.name
                yield part.text if part.text is not None else json_text(part.arguments)
            elif isinstance(part, ResultPart):
                yield from (inner.text for inner in part.content if isinstance(inner, TextPart))
                yield from (json_text(inner.value) for inner in part.content if isinstance(inner, JsonPart))


@cache
def load(tokenizer: str) -> Any:
    """Load a tokenizer from its file, once per process."""
    try:
        made = import_module("tokenizers").Tokenizer
    except ImportError:
        raise MissingExtraError("a tokenizer", "tokens") from None
    path = path_of(tokenizer)
    path = path / "tokenizer.json" if path.is_dir() else path
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError:
        raise CorpusError(f"{path}: is no tokenizer.json") from None
    try:
        return made.from_str(text)
    except Exception as error:  # noqa: BLE001 - the library raises no other class
        raise CorpusError(f"{path}: is no tokenizer.json: {error}") from None
