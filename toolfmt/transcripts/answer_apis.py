"""The APIs whose answers are known, each the `API` of a module in `toolfmt.transcripts.apis`, by format.

An answer of unknown origin is of the first shape that fits: {"choices": [...]} is Chat Completions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import Final

from toolfmt.model import JsonObject
from toolfmt.transcripts import apis
from toolfmt.transcripts.answering.answer_api import AnswerApi, StepShape
from toolfmt.transcripts.answering.assembling import Assembler
from toolfmt.transcripts.answering.known_fields import error_fields


def _found() -> Iterator[AnswerApi]:
    for module in iter_modules(apis.__path__, f"{apis.__name__}."):
        found = getattr(import_module(module.name), "API", None)
        if isinstance(found, AnswerApi):
            yield found


APIS: Final[Mapping[str, AnswerApi]] = {api.name: api for api in sorted(_found(), key=lambda api: api.copies)}
ANSWERS: Final[Mapping[str, AnswerApi]] = {name: api for name, api in APIS.items() if api.shapes}
"""The APIs whose answers are read, and written whole."""


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


APART: Final = StepShape(_is_apart, _apart, error_fields)
"""Events that are not part of an answer: pings and errors."""
