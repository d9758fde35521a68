"""The transcript formats by name: each is the `FORMAT` of a module in one of four folders, imported on demand.

find("gemini-interactions")    toolfmt.transcripts.apis.gemini_interactions.FORMAT
"""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TypeVar

from toolfmt.errors import UnknownFormatError
from toolfmt.model import JsonValue
from toolfmt.transcripts import apis, datasets, frameworks, logs
from toolfmt.transcripts.format import TranscriptFormat

Known = TypeVar("Known")


@cache
def _modules() -> dict[str, str]:
    folders = (apis, datasets, frameworks, logs)
    found = (module.name for folder in folders for module in iter_modules(folder.__path__, f"{folder.__name__}."))
    return {module.rpartition(".")[2]: module for module in found if not module.endswith("_answer")}


@cache
def _load(module: str) -> TranscriptFormat | None:
    """Return the `FORMAT` of a module, or None."""
    found = getattr(import_module(_modules()[module]), "FORMAT", None)
    return found if isinstance(found, TranscriptFormat) else None


@cache
def _known() -> dict[str, TranscriptFormat]:
    """Load every format, by its name and its aliases."""
    found = [made for module in sorted(_modules()) if (made := _load(module)) is not None]
    return {name: made for made in found for name in (made.name, *made.aliases)}


@cache
def formats() -> tuple[TranscriptFormat, ...]:
    """List every format, by name."""
    return tuple(made for name, made in sorted(_known().items()) if name == made.name)


def find(name: str) -> TranscriptFormat:
    """Look up a format by name or alias; raises `UnknownFormatError` with similar names.

    `text:NAME` is chat in the text of the dialect NAME; raises `UnknownDialectError` if there is none.
    OpenAI's relatives (`deepseek`, `openrouter`, ...) are variants of `openai-chat`.
    """
    if name.startswith("text:"):
        from toolfmt.transcripts.text.chat import text_format

        return text_format(name)
    module = name.replace("-", "_")
    made = _load(module) if module in _modules() else None
    if made is None or made.name != name:
        made = _known().get(name.replace("_", "-").lower())
    if made is not None:
        return made
    from toolfmt.transcripts.apis.relatives import NAMES, named, relative

    known = named(name)
    if not known:
        serving = [made.name for made in formats() if made.models and re.match(made.models, name)]
        raise UnknownFormatError(name, sorted({*(made.name for made in formats()), *NAMES}), serving)
    return relative(known)


def is_session(text: str, names: Collection[str] = ()) -> bool:
    """Whether a file begins like an agent's session, in one of these formats, or in any if none are named."""
    text = text.removeprefix("\ufeff")
    if not text.lstrip(" \n\r\t").startswith("{"):
        return False
    if names:
        return all(find(name).session for name in names)
    return any(made.session and fits(made, text) for made in formats())


def known_as(name: str, known: Container[str]) -> str:
    """Return the first known name among a format's own and those that it is a variant of, or ""."""
    if name in known:
        return name
    made = find(name)
    return next((found for found in (made.name, *_relatives(made)) if found in known), "")


def known_of(name: str, known: Mapping[str, Known]) -> Known:
    """Return the record of a format, or of the format that it varies; raises `UnknownFormatError`."""
    found = known_as(name, known)
    if not found:
        raise UnknownFormatError(name, sorted(known))
    return known[found]


def _relatives(made: TranscriptFormat) -> Iterator[str]:
    """Yield the names of the formats that this one is a variant of, the nearest first."""
    while made.relative_of:
        yield made.relative_of
        made = find(made.relative_of)


def fits(made: TranscriptFormat, value: JsonValue) -> bool:
    """Whether a value has features of this format alone; an error of the recogniser means no."""
    try:
        return made.recognise(value)
    except (AttributeError, IndexError, KeyError, TypeError):
        return False


def evident(value: JsonValue, known: Iterable[TranscriptFormat] | None = None) -> list[TranscriptFormat]:
    """List the formats that recognise a value; a match of a variant excludes the format that it varies."""
    found = [made for made in (formats() if known is None else known) if fits(made, value)]
    general = {name for made in found for name in _relatives(made)}
    return [made for made in found if made.name not in general]
