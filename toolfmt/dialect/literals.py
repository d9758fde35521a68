"""Arguments written as literals of a language, neither JSON nor elements.

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
"""The value of a word such as `true`."""

KEYWORD: Final = r"[^\W\d][\w.\-]{0,255}"
"""A pattern (package `regex`) for the name of a `key=value` argument."""
BARE_KEY: Final = r"[\w.\-/$@]{1,256}"
"""A pattern for a key without quotes."""
PYTHON_WORDS: Mapping[str, Word] = {"True": True, "False": False, "None": None}
"""The words of Python and their values."""
JSON_WORDS: Mapping[str, Word] = {"true": True, "false": False, "null": None}
"""The words of JSON and their values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Literals:
    """A language of literals; the constants of both Python and JSON are always read."""

    keywords: bool = False
    """Arguments are `key=value` without surrounding braces, instead of an object in braces."""
    quotes: tuple[str, ...] = ("'", '"')
    """Quotes of text; the first is written, or the second if the text contains the first."""
    escapes: bool = True
    """Backslashes escape; otherwise text is verbatim and ends at a quote that structure follows."""
    words: Mapping[str, Word] = field(default_factory=lambda: dict(PYTHON_WORDS))
    """The spelling of true, false and null."""
    bare_keys: bool = False
    """An object's keys have no quotes."""
    sorted_keys: bool = False
    spaced: bool = True
    """A space follows commas and colons when written."""
    typed_by_schema: bool = False
    """Every argument is quoted text; values other than strings are JSON in the quotes."""
