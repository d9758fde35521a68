r"""Write text so that a person can check it: characters that a screen hides, reorders or shows as a blank get names.

    rm <U+202E>txt.x    ->    rm \N{RIGHT-TO-LEFT OVERRIDE}txt.x
    pay<U+3164>         ->    pay\N{HANGUL FILLER}

In JSON text this is unambiguous, because JSON doubles a backslash of the text itself.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Final
from unicodedata import category, name

import regex

_UNSEEN: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"})
"""Controls, the turns of right-to-left writing, line breaks and every space but the plain one."""
_IGNORABLE: Final = regex.compile(r"\p{Default_Ignorable_Code_Point}")
"""What Unicode wants to be shown as nothing where it is not supported: fillers, selectors, joiners, tags."""
_BLANK_WORDS: Final = frozenset({"BLANK", "FILLER"})
"""Words in the names of characters whose glyph is empty, such as BRAILLE PATTERN BLANK."""
_BLANK: Final = frozenset({"MUSICAL SYMBOL NULL NOTEHEAD"})
"""Characters with an empty glyph that no word says (The Unicode Standard, code chart U+1D100)."""


def visible(text: str) -> str:
    """Write every invisible character as its name, or as an escape if it has none; line feeds stay."""
    return "".join(map(_shown, text))


@lru_cache(maxsize=4096)
def _shown(character: str) -> str:
    called = name(character, "")
    if character in "\n " or not _hides(character, called):
        return character
    return f"\\N{{{called}}}" if called else json.dumps(character)[1:-1]


def _hides(character: str, called: str) -> bool:
    if category(character) in _UNSEEN or _IGNORABLE.match(character) is not None:
        return True
    return called in _BLANK or not _BLANK_WORDS.isdisjoint(called.split())
