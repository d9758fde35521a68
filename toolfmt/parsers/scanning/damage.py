r"""Traces that a slip in a format's markup leaves in a value, a key or a name.

    <parameter=path>a.txt</parameter>\n<parametercount>3</parameter>     the closer was due: the value is in doubt
    <parameter=text>Close it with "</parameter>" here</parameter>        a mention: text

A value with unbalanced markup was meant as two values, unless the markup is plainly only mentioned.
"""

from __future__ import annotations

import re

from toolfmt.model import JsonObject
from toolfmt.parsers.scanning.cursor import WHITE
from toolfmt.schema import types

REACH = 64
"""The number of characters at a value's end that are examined."""
_SHORT = 4
"""Names of fewer characters are others where one differs."""
_QUOTES = "\"'`\u201c\u201d\u2018\u2019\xab\xbb"
_OPENING = frozenset(f"{_QUOTES}([\\|/")
_AFTER = frozenset(f"{_QUOTES}\\ \t")
_BLANK_BEFORE = re.compile(r"\S[^\S\r\n]+\Z").search
_CLOSING = re.compile(
    r"(?:[<\uff1c]|&lt;|\\u003[cC])\\?[/\uff0f]([^<>&\\\n]{0,48}?)(?:[>\uff1e]|&gt;|\\u003[eE])?\s*\Z"
).search
_TOKEN_END = re.compile(r"(?:\[/[A-Z_]{3,40}\]|<[|\uff5c][^<>\s]{1,64}>)\s*\Z").search
_PAIRS = {")": "(", "]": "[", "}": "{"}
_OPENING_TAG = re.compile(r"<\w[^<>/\n]{0,48}>\s*\Z").search
_WORD = re.compile(r"\w+").findall
_TYPED = frozenset({"array", "object", "json", "integer", "number", "boolean"})
_BEGINS = frozenset('[{"')
_TOKEN = re.compile(r"<[|\uff5c][^<>]*>").match
_TYPE = re.compile(r"<[A-Za-z]\w*>").fullmatch
_NAME_MARKS = re.compile(r"[<>=\"\u201c\u201d]").search


def differs_by_one_character(one: str, other: str) -> bool:
    """Whether two texts differ by one replaced, added, missing or swapped character."""
    if len(one) > len(other):
        one, other = other, one
    if len(other) - len(one) > 1:
        return False
    at = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))
    if len(one) < len(other):
        return one[at:] == other[at + 1 :]
    swapped = one[at : at + 2] == other[at : at + 2][::-1] and one[at + 2 :] == other[at + 2 :]
    return one[at + 1 :] == other[at + 1 :] or swapped


def is_nearly(key: str, name: str) -> bool:
    """Whether a key was meant as a name: its letters with other marks, a slip in one character, the name in marks."""
    if letters(key) == letters(name):
        return True
    slip = max(len(key), len(name)) >= _SHORT and differs_by_one_character(key.casefold(), name.casefold())
    return slip or re.search(rf"(?<![\w\-]){re.escape(name)}(?![\w\-])", key) is not None


def letters(marker: str) -> str:
    """Return the letters and digits of a marker in lower case."""
    return "".join(filter(str.isalnum, marker)).lower()


def ends_nearly(text: str, closer: str) -> bool:
    """Whether a text ends with a closer that has at most one wrong character."""
    lengths = range(max(len(closer) - 1, 2), len(closer) + 2)
    return bool(closer) and any(differs_by_one_character(text[-length:], closer) for length in lengths)


def ends_in_tag(text: str) -> bool:
    """Whether a text ends with a tag, whole or cut, or a bracket or quote without its pair: another format's closer."""
    last = text.rstrip()[-1:]
    if last in {'"', "`"} and len(text) < REACH and text.count(last) % 2:
        return True
    if last in _PAIRS and len(text) < REACH and text.count(last) > text.count(_PAIRS[last]):
        return True
    found = _CLOSING(text)
    if found is None:
        return _OPENING_TAG(text) is not None or _TOKEN_END(text) is not None
    return (f"<{found[1]}" if found[1] else "<>") not in text[: found.start()]


def like_closer(closer: str) -> str:
    """Return the pattern of a closer's words between other marks: `[/arg]`, `<|/arg|>`, `<arg/>`."""
    words = r"\W{1,4}".join(_WORD(closer))
    marks = r"(?:[^\w\s,.;:!?\"']|&gt;)\s*\Z"
    return rf"(?i:[^\w\s\"'=]\s{{0,8}}{words}[^\w\s]{{0,3}}{marks})" if words else r"(?!)"


def ends_as(text: str, closer: str) -> bool:
    """Whether a text ends with something like a closer."""
    return re.search(like_closer(closer), text) is not None


def mentioned(before: str, after: str) -> bool:
    """Whether a marker between two texts is only mentioned: in quotes or brackets, or between words."""
    if after[:1] in _AFTER or _BLANK_BEFORE(before):
        return bool(after) and (before[-1:] != "\n" or not after.isspace())  # it may be all of its line
    return before[-1:] in _OPENING and bool(after) and after[0] not in "\r\n<"


def _begun(text: str, marker: str) -> str:
    """Return the beginning of a marker, of two characters or more, with which the text before it ends."""
    text = text.rstrip()
    at = text.rfind(marker[:2]) if len(marker) > len("</") and marker[0] in "<]" else -1
    return text[at:] if at > 0 and text[at:] != marker and marker.startswith(text[at:]) else ""


def part_of(text: str, marker: str) -> bool:
    """Whether the text before a marker ends with a beginning of it, or repeats its first character."""
    if _begun(text, marker):
        return True
    if text[-1:] == ">":
        token = _TOKEN(marker)
        return token is not None and text.endswith(token.group())
    if marker[:1] == "<":
        return text[-1:] == "<" and (text[-2:-1].isalnum() or text[-2:-1] == "\n")
    return marker[:1] == "]" and text[-1:] == "]" and text.count("]") > text.count("[")


def left_marker(text: str, closer: str, own: re.Pattern[str]) -> str:
    """Return what a slip left of the format's markers in a value, or "".

    It is a beginning of the value's closer at its end, or the only one of the format's `own` markers in it, without a
    blank or a mark around it: inside a word, or between a word and the value's edge.
    """
    if "<" not in text:
        return ""
    if begun := _begun(text, closer):
        return begun
    marks = own.finditer(text)
    found = next(marks, None)
    if found is None or next(marks, None) is not None:
        return ""
    before, after = text[: found.start()][-1:], text[found.end() :][:1]
    inner = before.isalnum() and after.isalnum() and found.group()[:2] != "</"  # no slip ends a call within a word
    edge = (not before and after.isalnum()) or (not after and before.isalnum())
    return found.group() if inner or (edge and not _TYPE(found.group())) else ""  # `List<item>` is a type


def is_odd(name: str) -> bool:
    """Whether an argument's name contains markup: `path" string"true`."""
    return _NAME_MARKS(name) is not None


def broken_list(text: str) -> bool:
    """Whether text was meant as a list of JSON, but lacks a bracket or a quotation mark."""
    begins, ends = text.startswith("["), text.endswith("]")
    return (begins or ends) and (text.count("[") != text.count("]") or (begins and '"' in text))


def misread(text: str, schema: JsonObject | None, wire_type: str) -> bool:
    """Whether text was meant as another value: it contains markup where the schema allows no string."""
    allowed = types(schema)
    if ("string" in allowed) if allowed is not None else (wire_type not in _TYPED):
        return False
    text = text.strip(WHITE)
    unbalanced = any(text.count(one) != text.count(other) for one, other in ("[]", "{}", "()"))
    ends = allowed is None and text[-1:] in {"]", "}"}  # by a schema, `data['x']` is text of a wrong type
    return unbalanced or ends or text[:1] in _BEGINS or any(one in text for one in "<>\n")
