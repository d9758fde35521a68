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
from toolfmt.schema import expressions

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
_EDGES = {"^": START, r"\A": START, "$": _END, r"\Z": _END, r"\b": "", r"\B": ""}
_LIKE_SLOT = re.compile(r"\{\?|\?\}|\{[a-z_]+1?\}")
_BRACES = re.compile(r"(?:\\.|\[\^?\]?(?:\\.|[^\]\\])*+\]|[^\\{]|\{\d{1,4}(?:,\d{0,4})?\})*+", re.DOTALL)
"""A pattern whose braces are all quantifiers, or escaped."""
_SPACES: Final = frozenset({"s", *((char, char) for char in " \t\n\r")})


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
    if _BRACES.fullmatch(source) is None:
        raise ResponseTemplateError(pointer, f"a brace that is no quantifier, in {source!r}")
    return list(dict.fromkeys(_template(text, pointer) for text in _Spellings(source, pointer, slots).read()))


def group_names(source: str) -> frozenset[str]:
    """The names of a pattern's groups."""
    return frozenset(re.findall(r"\(\?P<(\w+)>", source))


class _Spellings:
    """Makes of each part of a pattern the texts that it matches."""

    def __init__(self, source: str, pointer: str, slots: Mapping[str, str]) -> None:
        self._source, self._pointer, self._slots = source, pointer, slots

    def read(self) -> list[str]:
        try:
            return self._alternatives(expressions.read(self._source, DEEPEST))
        except expressions.ExpressionError as error:
            raise self._error(str(error)) from None

    def _error(self, reason: str) -> ResponseTemplateError:
        return ResponseTemplateError(self._pointer, f"{reason}, in {self._source!r}")

    def _alternatives(self, tree: expressions.Expression) -> list[str]:
        return self._few([text for row in tree for text in self._row(row)])

    def _row(self, row: tuple[expressions.ExpressionPart, ...]) -> list[str]:
        found = [""]
        for part in row:
            found = self._few([before + after for before, after in product(found, self._part(part))])
        return found

    def _few(self, texts: list[str]) -> list[str]:
        found = list(dict.fromkeys(texts))
        if len(found) > MOST_SPELLINGS:
            raise self._error(f"more than {MOST_SPELLINGS} alternatives")
        return found

    def _part(self, part: expressions.ExpressionPart) -> list[str]:
        match part:
            case str():
                if _CONTROL.search(part):
                    raise self._error("a control character")
                return [part]
            case expressions.Charset():
                return [_one_of(part)]
            case expressions.Quantified():
                return self._repeated(part)
            case expressions.Parenthesis():
                return self._group(part)
            case expressions.Special(text):
                if text.startswith("\\k"):
                    return [self._slot(text[3:-1])]
                if text not in _EDGES:
                    raise self._error(f"the escape {text}")
                return [_EDGES[text]]

    def _group(self, group: expressions.Parenthesis) -> list[str]:
        inner = self._alternatives(group.inner)
        name = group.captured[-1] if group.captured else ""
        if name:
            if any(_SLOT in text for text in inner):
                raise self._error("a named group in another one")
            return [self._slot(name)]
        if group.opener == "?=":
            return [""]
        if group.opener not in ("", "?:"):
            raise self._error("what no marker can be made of")
        return inner

    def _slot(self, name: str) -> str:
        """Return the slot that a group fills, which decides what it matches; other groups match any text."""
        slot = self._slots.get(name)
        return _ANY if slot is None else f"{_SLOT}{slot}{_SLOT_END}"

    def _repeated(self, part: expressions.Quantified) -> list[str]:
        texts, least = self._part(part.part), part.least
        if all(text.strip(" \t\n\r") in {"", _SPACE} for text in texts) and any(texts):
            return [_SPACE]
        if texts in ([_ANY], [_PLAIN]):
            return texts
        if (least, part.most) == (0, 1):
            return [*texts, ""]
        if part.most != least or len(texts) > 1 or least * len(texts[0]) > LONGEST:
            raise self._error("a repetition")
        return [texts[0] * least]


def _one_of(charset: expressions.Charset) -> str:
    """Translate a set of characters: white space, its one character, or any text."""
    members = charset.members
    if _SPACES.issuperset(members) and not charset.negative:
        return _SPACE
    if len(members) == 1 and members[0][0] == members[0][-1] and isinstance(members[0], tuple) and not charset.negative:
        return members[0][0]
    return _ANY if "<" in charset else _PLAIN


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
