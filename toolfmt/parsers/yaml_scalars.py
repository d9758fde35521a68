r"""YAML's scalars: quoted text, folded lines, and what a plain word means.

'it''s'  "a\tb"        quoted: strings
123  0x1F  1.5  true   plain: typed by YAML 1.2's core schema, where the tool's schema does not tell
yes  1_000  01234      text: the first two are no other type in 1.2, the last would lose its zero
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolfmt.model import JsonValue

QUOTED = re.compile(r"'(?:[^']|'')*+'|\"(?:[^\"\\]|\\.)*+\"", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.?))", re.DOTALL)
_NAMED = dict(zip('0abt\tnvfre "/\\N_LP', '\0\a\b\t\t\n\v\f\r\x1b "/\\\x85\xa0\u2028\u2029', strict=True))
_SURROGATE = re.compile("[\ud800-\udfff]")
_WORDS: dict[str, JsonValue] = {
    word: value
    for value, words in ((None, " ~ null Null NULL"), (True, "true True TRUE"), (False, "false False FALSE"))
    for word in words.split(" ")
}
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")


class YamlError(ValueError):
    """Text that is not of the subset; `reason` is the word for it among a failure's reasons."""

    def __init__(self, message: str, reason: str = "malformed") -> None:
        """Keep the words for people and the reason."""
        super().__init__(message)
        self.reason = reason


def resolve(text: str, digits: int) -> JsonValue:
    """Give a plain scalar its type by the core schema; what JSON cannot hold, or not whole, stays text."""
    if text in _WORDS:
        return _WORDS[text]
    if len(text) > digits:
        return text
    if _INTEGER.fullmatch(text):
        return int(text)
    if _BASED.fullmatch(text):
        return int(text, 0)
    if _FLOAT.fullmatch(text) and math.isfinite(value := float(text)):
        return value
    return text


def fold(lines: Sequence[str]) -> str:
    """Join the lines of a flow scalar: one line break is a blank, each further one stays."""
    out: list[str] = []
    breaks = 0
    for line in lines:
        if not line and out:
            breaks += 1
            continue
        if out:
            out.append("\n" * breaks or " ")
        out.append(line)
        breaks = 0
    return "".join(out) + "\n" * max(breaks - 1, 0) + (" " if breaks == 1 else "")


def folded(lines: Sequence[str]) -> str:
    """Join the lines of a `>` block: as `fold`, but lines that are indented further keep their breaks."""
    out: list[str] = []
    breaks = 0
    indented = True  # nothing is folded into the beginning
    for line in lines:
        if not line:
            breaks += 1
            continue
        further = line[0] in " \t"
        if out:
            kept = indented or further
            out.append("\n" * (breaks + kept) or " ")
        else:
            out.append("\n" * breaks)
        out.append(line)
        breaks, indented = 0, further
    return "".join(out)


def unquoted(raw: str) -> str:
    """Read a quoted scalar, quotes included. Raises `YamlError` for an escape that there is none of."""
    body, double = raw[1:-1], raw[0] == '"'
    if "\n" in body:
        body = _unbroken(body.split("\n"), double=double)
    if not double:
        return body.replace("''", "'")
    try:
        return json.loads(f'"{body}"', strict=False)  # most escapes are JSON's too
    except ValueError:
        text = _ESCAPE.sub(_character, body)
    if _SURROGATE.search(text):  # two of them may be one character; a lone one is refused with the whole call
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    return text


def _unbroken(lines: list[str], *, double: bool) -> str:
    """Fold the lines between quotes; a backslash at a line's end takes the break away."""
    last = len(lines) - 1
    cut = [
        (line if at == 0 else line.lstrip(" \t")) if at == last else line.strip(" \t\r") if at else line.rstrip(" \t\r")
        for at, line in enumerate(lines)
    ]
    out: list[str] = []
    group: list[str] = []
    for line in cut:
        backslashes = len(line) - len(line.rstrip("\\"))
        if double and backslashes % 2 and line is not cut[last]:
            out.append(fold([*group, line[:-1]]))
            group = []
        else:
            group.append(line)
    return "".join(out) + fold(group)


def _character(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    if code and int(code, 16) <= 0x10FFFF:  # noqa: PLR2004 - the last character
        return chr(int(code, 16))
    if found[4] in _NAMED and found[4]:
        return _NAMED[found[4]]
    raise YamlError(f"no such escape: {found.group()!r}")
