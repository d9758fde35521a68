"""XML's entities in text: `&lt;` is `<`, and any `&` that begins no entity is text."""

from __future__ import annotations

import re

_NUMERIC = re.compile(r"&(?:(amp|lt|gt|quot|apos)|#([0-9]{1,7})|#[xX]([0-9a-fA-F]{1,6}));")
_NAMED = {"lt": "<", "gt": ">", "quot": '"', "apos": "'", "amp": "&"}
_LAST_CODE = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)
PARTIAL = re.compile(r"&(?:[a-z]{0,4}|#[0-9]{0,7}|#[xX][0-9a-fA-F]{0,6})\Z")
"""The beginning of an entity at the end of a text."""


def decode_entities(text: str) -> str:
    """Decode the five standard entities and numeric references; any other `&` is text."""
    if "&" not in text:
        return text
    if "&#" in text:
        return _NUMERIC.sub(_character, text)
    for name, char in _NAMED.items():  # the ampersand last, so that nothing is decoded twice
        text = text.replace(f"&{name};", char)
    return text


def _character(found: re.Match[str]) -> str:
    name, decimal, hexadecimal = found.groups()
    if name:
        return _NAMED[name]
    code = int(decimal) if decimal else int(hexadecimal, 16)
    return found.group() if code > _LAST_CODE or code in _SURROGATES else chr(code)
