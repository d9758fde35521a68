"""The shapes of answers by the name of their provider's format, in the order in which they are looked at.

An answer of unknown origin is of the first shape that fits: {"choices": [...]} is Chat Completions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from toolfmt.transcripts.answer_readers import (
    anthropic,
    bedrock,
    chat,
    cohere,
    gemini,
    interactions,
    ollama,
    responses,
)
from toolfmt.transcripts.answer_readers.steps import StepShape

if TYPE_CHECKING:
    from toolfmt.model import JsonObject
    from toolfmt.transcripts.assembling import Assembler


SHAPES: Final[Mapping[str, tuple[StepShape, ...]]] = {
    "openai-chat": chat.SHAPES,
    "anthropic": anthropic.SHAPES,
    "openai-responses": responses.SHAPES,
    "gemini": gemini.SHAPES,
    "bedrock": bedrock.SHAPES,
    "ollama": ollama.SHAPES,
    "cohere": cohere.SHAPES,
    "gemini-interactions": interactions.SHAPES,
    "mistral": chat.SHAPES,
}


def _apart(value: JsonObject, made: Assembler) -> None:
    if value.get("type") != "ping" and value:
        made.fail(value)


def _is_apart(value: JsonObject) -> bool:
    return (
        not value
        or "error" in value
        or value.get("type") in ("ping", "error")
        or isinstance(value.get("message"), str)
        or (len(value) == 1 and next(iter(value)).endswith("Exception"))
    )


APART: Final = StepShape(_is_apart, _apart)
"""What may come in between and is no part of an answer: pings and errors."""
