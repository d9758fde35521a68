"""The formats of OpenAI's relatives, built from the rows of their differences.

find("deepseek")    reads everything that copies of the API write, and writes what DeepSeek accepts
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from typing import Final

from toolfmt.dialect.record import Provenance
from toolfmt.model import JsonValue
from toolfmt.transcripts.apis import openai_chat
from toolfmt.transcripts.families.chat_request import read_request, write_request
from toolfmt.transcripts.format import TranscriptFormat
from toolfmt.transcripts.settings.relatives import RELATIVES

_ALIASES: Final = {"azure-openai": "azure", "grok": "xai", "lmstudio": "lm-studio", "together-ai": "together"}
NAMES: Final = frozenset(RELATIVES)
"""The relatives' names."""


def named(name: str) -> str:
    """Return the relative's name for a name or alias, or ""."""
    name = name.replace("_", "-").lower()
    name = _ALIASES.get(name, name)
    return name if name in RELATIVES else ""


def _never(_: JsonValue) -> bool:
    """Recognise nothing, because no relative has a distinct shape."""
    return False


@cache
def relative(name: str) -> TranscriptFormat:
    """Build a relative's format."""
    row = RELATIVES[name]
    base = openai_chat.FORMAT
    shape = replace(
        openai_chat.SHAPE,
        owner=name,
        reasoning=row.reasoning,
        custom=row.custom_tools,
        names=row.speakers,
        gateways=row.gateway,
        details=row.gateway,
        annotations="",
    )
    roles = base.rules.roles if row.developers else base.rules.roles - {"developer"}
    rules = replace(
        base.rules, roles=roles, reasoning=bool(row.reasoning), custom_tools=row.custom_tools, empty_tools=True
    )
    return replace(
        base,
        name=name,
        summary=row.summary,
        read=partial(read_request, shape=replace(shape, reasoning=row.reasoning or openai_chat.SHAPE.reasoning)),
        write=partial(write_request, shape=shape),
        recognise=_never,
        rules=rules,
        gateway=None,
        relative_of=base.name,
        aliases=tuple(alias for alias, known in _ALIASES.items() if known == name),
        sources=(*base.sources, Provenance(row.source, "documentation")),
    )
