"""The APIs whose answers are known, each the `API` of a module `*_answer` in `toolfmt.transcripts.apis`, by format.

An answer of unknown origin is of the first shape that fits: {"choices": [...]} is Chat Completions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Final

from toolfmt.transcripts import apis
from toolfmt.transcripts.answer_api import AnswerApi, Envelope
from toolfmt.transcripts.answer_steps import StepShape

if TYPE_CHECKING:
    from toolfmt.model import JsonObject
    from toolfmt.transcripts.assembling import Assembler


def _found() -> Iterator[AnswerApi]:
    for module in iter_modules(apis.__path__, f"{apis.__name__}."):
        if not module.name.endswith("_answer"):
            continue
        found = import_module(module.name).API
        assert isinstance(found, AnswerApi)  # noqa: S101 - a module of this package
        yield found


APIS: Final[Mapping[str, AnswerApi]] = {api.name: api for api in sorted(_found(), key=lambda api: api.copies)}
SHAPES: Final[Mapping[str, tuple[StepShape, ...]]] = {name: api.shapes for name, api in APIS.items() if api.shapes}
"""The shapes of answers and of the values of streams."""
ENVELOPES: Final[Mapping[str, Envelope]] = {
    name: api.envelope for name, api in APIS.items() if api.envelope is not None
}
"""What is around the message of a whole answer."""


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
