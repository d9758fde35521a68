"""The transcript formats by name, each imported when it is first asked for."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final

from toolfmt.errors import UnknownFormatError
from toolfmt.transcripts.format import TranscriptFormat

if TYPE_CHECKING:
    from toolfmt.model import JsonValue

MODULES: Final = {
    "ag-ui": "ag_ui",
    "anthropic": "anthropic",
    "atif": "atif",
    "bedrock": "bedrock",
    "claude-code": "claude_code",
    "codex": "codex",
    "cohere": "cohere",
    "gemini": "gemini",
    "gemini-interactions": "gemini_interactions",
    "hermes-rows": "hermes_rows",
    "hf-chat": "hf_chat",
    "inspect": "inspect_log",
    "langchain": "langchain",
    "mcp": "mcp",
    "mistral": "mistral",
    "ollama": "ollama",
    "openai-chat": "openai_chat",
    "openai-finetune": "openai_finetune",
    "openai-responses": "openai_responses",
    "otel-genai": "otel_genai",
    "pydantic-ai": "pydantic_ai",
    "qwen-agent": "qwen_agent",
    "sharegpt": "sharegpt",
    "toolace": "toolace",
    "trl": "trl",
    "vercel-model": "vercel_model",
    "vercel-ui": "vercel_ui",
    "xlam": "xlam",
}
"""Each format's name and the module that holds its `FORMAT`."""


@cache
def _load(module: str) -> TranscriptFormat:
    found = import_module(f"toolfmt.transcripts.{module}").FORMAT
    assert isinstance(found, TranscriptFormat)  # noqa: S101 - a module of this package
    return found


@cache
def _names() -> dict[str, str]:
    names = dict(MODULES)
    for name in MODULES:
        names.update(dict.fromkeys(_load(MODULES[name]).aliases, MODULES[name]))
    return names


def formats() -> tuple[TranscriptFormat, ...]:
    """List every format, by name."""
    return tuple(_load(MODULES[name]) for name in sorted(MODULES))


def find(name: str) -> TranscriptFormat:
    """Look a format up by name or alias; raises `UnknownFormatError` with the names that come close.

    `text:NAME` is chat in the text of the dialect NAME; raises `UnknownDialectError` if there is none.
    OpenAI's relatives (`deepseek`, `openrouter`, ...) are varieties of `openai-chat`.
    """
    if name.startswith("text:"):
        from toolfmt.transcripts.text_chat import text_format

        return text_format(name)
    module = MODULES.get(name) or _names().get(name.replace("_", "-").lower())
    if module is not None:
        return _load(module)
    from toolfmt.transcripts.relatives import NAMES, named, relative

    known = named(name)
    if not known:
        raise UnknownFormatError(name, sorted({*MODULES, *NAMES}))
    return relative(known)


def is_session(text: str, names: Collection[str] = ()) -> bool:
    """Whether the first lines of a file are those of an agent's session: of these formats, or of any without names."""
    if not text.lstrip("\ufeff \n\r\t").startswith("{"):
        return False
    if names:
        return all(find(name).session for name in names)
    return any(made.session and fits(made, text) for made in formats())


def known_as(name: str, known: Container[str]) -> str:
    """Give the name under which a format is known: its own, or that of what it is a variety of; empty if none is."""
    if name in known:
        return name
    made = find(name)
    return next((found for found in (made.name, *_relatives(made)) if found in known), "")


def _relatives(made: TranscriptFormat) -> Iterator[str]:
    """Name the format that this one is a variety of, and what that is a variety of."""
    while made.relative_of:
        yield made.relative_of
        made = find(made.relative_of)


def fits(made: TranscriptFormat, value: JsonValue) -> bool:
    """Whether a value has what only a format has; what its recogniser stumbles over is of quite another shape."""
    try:
        return made.recognise(value)
    except (AttributeError, IndexError, KeyError, TypeError):
        return False


def evident(value: JsonValue, known: Iterable[TranscriptFormat] | None = None) -> list[TranscriptFormat]:
    """List the formats, of all or of some, that a value can only be of; what fits a variety is of that alone."""
    found = [made for made in (formats() if known is None else known) if fits(made, value)]
    general = {name for made in found for name in _relatives(made)}
    return [made for made in found if made.name not in general]
