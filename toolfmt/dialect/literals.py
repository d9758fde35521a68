"""How arguments are written where they are neither JSON nor elements: as literals of a language.

    get_weather(city='Paris', days=3, tags=['a', None])       keywords, Python's words
    get_weather(city="Paris", days=3, tags=["a", null])       keywords, JSON's words
    {city:<|"|>Paris<|"|>,days:3}                             bare keys, a token as the quote
    {city:<escape>Paris<escape>,days:<escape>3<escape>}       every argument quoted, the schema types it

Plain data, part of a `Form`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

Word: TypeAlias = bool | None

KEYWORD: Final = r"[^\W\d][\w.\-]{0,255}"
"""What names an argument where each is `key=value`, as a pattern of the `regex` package."""
BARE_KEY: Final = r"[\w.\-/$@]{1,256}"
"""A key that is written without quotes where a format has such, likewise."""
PYTHON_WORDS: Mapping[str, Word] = {"True": True, "False": False, "None": None}
JSON_WORDS: Mapping[str, Word] = {"true": True, "false": False, "null": None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Literals:
    """A language of literals; the words of both Python and JSON are always read."""

    keywords: bool = False
    """Arguments are `key=value`, without braces around them all; else an object in braces."""
    quotes: tuple[str, ...] = ("'", '"')
    """What may stand around text; the first is written, the second where the text holds the first."""
    escapes: bool = True
    """Backslashes escape; else text is as it is, up to a quote after which the structure goes on."""
    words: Mapping[str, Word] = field(default_factory=lambda: dict(PYTHON_WORDS))
    """How true, false and nothing are written."""
    bare_keys: bool = False
    """An object's keys have no quotes."""
    sorted_keys: bool = False
    spaced: bool = True
    """A space follows commas and colons when written."""
    typed_by_schema: bool = False
    """Every argument is quoted text, in JSON where it is no string."""
