r"""The regular expressions of response templates, translated into templates of our own.

    <tool_call>\s*<function=(?P<name>\w+)>                      <tool_call>\n<function={name}>
    <invoke\b[^>]*?\bname="(?P<name>[^"]+)">                    <invoke name="{name}">
    (?:<\|start\|>assistant )?to=(?P<name>.+?)<\|message\|>     two templates, with and without the beginning
    <p=(?P<key>\w+)>\s*(?P<value>.*?)\s*</p>                    <p={key}>\n{value}\n</p>

They come with a model, so they are never run: only the markers that they describe are read. Literals, white space,
named groups, alternatives, optional parts and wildcards are understood; everything else is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import product
from typing import Final

from toolfmt.errors import ResponseTemplateError

MOST_SPELLINGS: Final = 16
"""Alternatives of a pattern."""
LONGEST: Final = 2048
"""Characters of a pattern or a marker."""
DEEPEST: Final = 16
"""Levels of its groups."""

START: Final = "\x02"
"""Alone, it means the beginning of the answer."""
_SPACE, _ANY, _END, _SLOT, _SLOT_END, _PLAIN = "\x00", "\x01", "\x03", "\x04", "\x05", "\x06"
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f]")
_TOKEN = re.compile(
    r"""\((?:\?P<(?P<named>\w+)>|(?P<group>\?:)?(?!\?)|(?P<ahead>\?=)|\?P=(?P<again>\w+)\)|(?P<odd>\?.?.?))"""
    r"""|(?P<close>\))|(?P<bar>\|)|\[(?P<class>\^?\]?(?:\\.|[^\]\\])*)\]|(?P<edge>[\^$]|\\[AZbB])"""
    r"""|(?P<wild>\.|\\[dDwWS])|(?P<space>\\s)|\\(?P<escape>x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)|(?P<char>[^*+?{\[\\])"""
    r"""|(?P<bad>.)""",
    re.DOTALL,
)
_QUANTIFIER = re.compile(r"(?:(?P<mark>[*+?])|\{(?P<least>\d{1,4})?(?P<comma>,)?(?P<most>\d{1,4})?\})[?+]?")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_EDGES = {"^": START, r"\A": START, "$": _END, r"\Z": _END}
_LIKE_SLOT = re.compile(r"\{\?|\?\}|\{[a-z_]+1?\}")
_SPACES = re.compile(r"(?:\\[stnr]|[ \t\n\r])+")


def marker(text: object, pointer: str) -> str:
    """Check a literal marker."""
    if not isinstance(text, str):
        raise ResponseTemplateError(pointer, f"a marker is a string, not {type(text).__name__}")
    if len(text) > LONGEST:
        raise ResponseTemplateError(pointer, f"a marker of more than {LONGEST} characters")
    if _CONTROL.search(text) or _LIKE_SLOT.search(text):
        raise ResponseTemplateError(pointer, f"the marker {text!r} holds characters that no dialect's marker can")
    if not text.strip():
        raise ResponseTemplateError(pointer, "a marker of white space alone, or of nothing")
    return text


def spellings(source: object, pointer: str, slots: Mapping[str, str]) -> list[str]:
    """Translate a pattern into the templates that it matches.

    `slots` are the slots that named groups fill; other groups match any text. "" is a match of the empty text, `START`
    one of the beginning of the answer.
    """
    if not isinstance(source, str):
        raise ResponseTemplateError(pointer, f"a pattern is a string, not {type(source).__name__}")
    if len(source) > LONGEST:
        raise ResponseTemplateError(pointer, f"a pattern of more than {LONGEST} characters")
    if _CONTROL.search(source):
        raise ResponseTemplateError(pointer, "control characters in a pattern")
    return list(dict.fromkeys(_template(text, pointer) for text in _Pattern(source, pointer, slots).read()))


def group_names(source: str) -> frozenset[str]:
    """The names of a pattern's groups."""
    return frozenset(re.findall(r"\(\?P<(\w+)>", source))


class _Pattern:
    """Reads one pattern; each part becomes a list of the texts that it matches."""

    def __init__(self, source: str, pointer: str, slots: Mapping[str, str]) -> None:
        self._source, self._pointer, self._slots = source, pointer, slots
        self._at = 0

    def read(self) -> list[str]:
        found = self._alternatives(0)
        if self._at < len(self._source):
            raise self._error("a closing parenthesis too many")
        return found

    def _error(self, reason: str) -> ResponseTemplateError:
        return ResponseTemplateError(self._pointer, f"{reason}, at character {self._at} of {self._source!r}")

    def _alternatives(self, depth: int) -> list[str]:
        if depth > DEEPEST:
            raise self._error("groups nested too deep")
        branches = [self._sequence(depth)]
        while self._source.startswith("|", self._at):
            self._at += 1
            branches.append(self._sequence(depth))
        return self._few([text for branch in branches for text in branch])

    def _sequence(self, depth: int) -> list[str]:
        found = [""]
        while self._at < len(self._source) and self._source[self._at] not in "|)":
            part = self._part(depth)
            found = self._few([before + after for before, after in product(found, part)])
        return found

    def _few(self, texts: list[str]) -> list[str]:
        found = list(dict.fromkeys(texts))
        if len(found) > MOST_SPELLINGS:
            raise self._error(f"more than {MOST_SPELLINGS} alternatives")
        return found

    def _part(self, depth: int) -> list[str]:
        """Read one token, or a group, and its quantifier."""
        token = _TOKEN.match(self._source, self._at)
        if token is None or token["bad"] is not None or token["odd"] is not None:
            raise self._error("what no marker can be made of")
        self._at = token.end()
        inner = [""]
        if token.group().startswith("(") and token["again"] is None:
            inner = self._alternatives(depth + 1)
            if not self._source.startswith(")", self._at):
                raise self._error("a group that is not closed")
            self._at += 1
        return self._repeated(self._meaning(token, inner))

    def _meaning(self, token: re.Match[str], inner: list[str]) -> list[str]:
        name = token["named"] or token["again"]
        if name is not None:
            if any(_SLOT in text for text in inner):
                raise self._error("a named group in another one")
            slot = self._slots.get(name)
            return [_ANY if slot is None else f"{_SLOT}{slot}{_SLOT_END}"]  # the slot decides what it matches
        if token["escape"] is not None:
            return [self._escaped(token["escape"])]
        if token["class"] is not None:
            return [self._class(token["class"])]
        if token["char"] is not None:
            return [token["char"]]
        return inner if token.lastgroup in {None, "group"} else [_fixed(token)]

    def _escaped(self, text: str) -> str:
        if len(text) > 1:
            return chr(int(text[1:], 16))
        if text.isalnum() and text not in _ESCAPES:
            raise self._error(f"the escape \\{text}")
        return _ESCAPES.get(text, text)

    def _class(self, text: str) -> str:
        """Translate a character class: white space, its one character, or any text."""
        if _SPACES.fullmatch(text):
            return _SPACE
        one = text.removeprefix("\\") if len(text) == len("\\x") and not text[-1].isalnum() else text
        if len(one) == 1:
            return one
        try:
            return _ANY if re.fullmatch(f"[{text}]", "<") else _PLAIN
        except re.error as error:
            raise self._error(f"a character class: {error}") from None

    def _repeated(self, texts: list[str]) -> list[str]:
        found = _QUANTIFIER.match(self._source, self._at)
        if found is None:
            if self._source.startswith("{", self._at):
                raise self._error("a brace that is no quantifier")
            return texts
        self._at = found.end()
        if all(text.strip(" \t\n\r") in {"", _SPACE} for text in texts) and any(texts):
            return [_SPACE]
        if texts in ([_ANY], [_PLAIN]):
            return texts
        if found["mark"] == "?":
            return [*texts, ""]
        least, most = int(found["least"] or 0), int(found["most"] or found["least"] or 0)
        if found["mark"] or (found["comma"] and least != most) or len(texts) > 1 or most * len(texts[0]) > LONGEST:
            raise self._error("a repetition")
        return [texts[0] * least]


def _fixed(token: re.Match[str]) -> str:
    """Translate an edge, a lookahead or a named class of characters."""
    if token["space"] is not None:
        return _SPACE
    if token["wild"] is not None:
        return _PLAIN if token["wild"] in {r"\w", r"\d"} else _ANY
    return _EDGES.get(token.group(), "")


def _template(text: str, pointer: str) -> str:
    """Write the result as a template."""
    if not text.strip(_SPACE + START):
        return START if START in text else ""
    text = text.removeprefix(START).removesuffix(_END).strip(_SPACE + _ANY + _PLAIN + _END + START)
    if START in text or _END in text:
        raise ResponseTemplateError(pointer, "the beginning or end of the answer inside a marker")
    if _LIKE_SLOT.search(text):
        raise ResponseTemplateError(pointer, "a marker that holds braces around a word")
    wild = f"{_SPACE}{_ANY}{_PLAIN}"
    text = re.sub(f"[{wild}]*{_ANY}[{wild}]*", _ANY, text)
    text = re.sub(f"[{_SPACE}{_PLAIN}]*{_PLAIN}[{_SPACE}{_PLAIN}]*", _PLAIN, text)
    # Inside a tag attributes may come in any order anyway.
    text = re.sub(rf"(?<=[\w\"'])[{wild} ]+(?=[\w:.\-]+=[\"'])", " ", text)
    text = re.sub(rf"(?<=[{_SLOT_END}\"'])[{wild}]+(?=>)", "", text)
    text = re.sub(rf"(?<=>){_SPACE}+|{_SPACE}+(?=<)", "\n", text)
    text = re.sub(f"{_SPACE}+", " ", text)
    text = text.replace(_ANY, "{any}").replace(_PLAIN, "{plain}")
    return text.replace(_SLOT, "{").replace(_SLOT_END, "}")
