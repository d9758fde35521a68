r"""Mends broken tags: generates the texts that one slip in a tag may stand for, given the format's tags.

    <parameter=path\nnotes.txt</paramter>
    ^ without >              ^ misspelt: `</parameter>`

A format has few tags, and those with names of tools or arguments are limited by the tools. Text that
resembles one of them is corrected, one place at a time; a tag that is missing altogether is
inserted where the next tag proves it. The reader decides which of the texts was meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from toolfmt.dialect.syntax import Form, spelled
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue, ToolDefinition
from toolfmt.parsers.mending.mend_json import JsonMender
from toolfmt.parsers.scanning.damage import differs_by_one_character, like_closer
from toolfmt.schema import property_names

_TAG = re.compile(r"<[^<>\n]{1,300}>")
_LIKE = re.compile(
    r"<[^<>\n]{1,300}>|<(?!!)[^<>\n]{1,300}"
    r"|(?:(?<=[\s>])|(?<![\s\S]))[\w:.\-|\uff5c]{1,60}+(?:[ =][^<>\n/]{0,100})?>"
    r"|/[\w:|\uff5c]{1,60}+>|\|[\w:]{1,60}+\|>"
)
"""Text like a tag: complete, without its `>`, or without its `<`."""
_FENCE = re.compile(r"(?m)^[ \t]{0,16}`{3,8}[\w+.\-]{0,32}[ \t]{0,16}(?:\n|\Z)")
_ATTRIBUTE = re.compile(r"(?<=\w)\s+\w+\s*=")
"""Attributes in other formats' style, where these tags have `=` or nothing: `<function name="f">`."""
_WORDS = re.compile(r"\w+")
_OPTIONAL = re.compile(r"\{\?.*?\?\}")
_SLOT = re.compile(r"\{(\w+)\}")
_BEGUN = r"<(?:[/|\uff5c][^<>\n]{0,64}+>?)?\s*+\Z"
"""A closing tag at a text's end, or the beginning of one."""
_LAST_TAG = re.compile(r"<\w[^<>/\n]{0,48}>(?=\s*\Z)").search
_ESCAPED = re.compile(r"\\u003([cCeE])")
_VALUES = {"type": ("string", "number", "integer", "boolean", "array", "object", "null"), "string": ("true", "false")}
"""The values of the slots of an argument's tag besides its name."""
_ASSIGNS = ("=", ":")
"""What a value does not begin with after an argument's tag without `>`: it belongs to the key."""
_STRUCTURE = re.compile(r"\s*[\[{]").match
_MOST = 24
"""The largest number of corrected places."""
_SHORTEST = 4
"""Letters that a word needs before one of them may be wrong."""


@dataclass(frozen=True, slots=True)
class Markup:
    """A tag of the format: its text, the letters of its markup, and those of the name in it."""

    text: str
    word: str
    value: str

    @property
    def closes(self) -> bool:
        """Whether it is a closing tag."""
        return self.text.startswith("</")


@dataclass(frozen=True, slots=True)
class Mend:
    """A possible intended text, and a description of the change."""

    text: str
    slip: str
    alone: bool = False
    """Whether the text must be a single call: another call in it was part of a text."""


def _letters(text: str) -> str:
    return "".join(_WORDS.findall(text))


class TagMender:
    """The tags of a form for the offered tools."""

    def __init__(self, form: Form, tools: Iterable[ToolDefinition]) -> None:
        tools = list(tools)
        keys = list(dict.fromkeys(key for tool in tools for key in property_names(tool.parameters)))
        self._tags: dict[str, Markup] = {}
        for tool in tools or [None]:
            self._collect(form.section.replace("{calls}", form.call), {"name": tool.name if tool else ""})
        elements = form.elements
        self._openers: dict[str, str] = {}
        """The tags before an argument's value, with its closer."""
        self._arguments: dict[str, str] = {}
        """Those of them that name an argument, by its name."""
        if elements is not None:
            opener, _, closer = spelled(elements.member).partition("{value}")
            self._collect(elements.member, {})
            for key in keys:
                self._collect(elements.member, {"key": key})
                for variant in dict.fromkeys((opener, _OPTIONAL.sub("", elements.member).partition("{value}")[0])):
                    last = _TAG.findall(variant.replace("{key}", key))[-1:]
                    self._openers.update(dict.fromkeys(last, closer.strip().replace("{key}", key)))
                    if variant.count("<") == 1:
                        self._arguments.update((key, tag) for tag in last)
            self._collect(elements.item, {})
            if elements.wrapper:
                self._collect(f"<{elements.wrapper}></{elements.wrapper}>", {})
        self._quotes = [quote for quote in (form.literals.quotes if form.literals else ()) if _TAG.fullmatch(quote)]
        self._parts: re.Pattern[str] | None = None
        self._spaced = elements is not None and "\n" in elements.separator + elements.member
        self._known: dict[str, list[Markup]] = {}
        for tag in self._tags.values():
            self._known.setdefault(tag.word + tag.value, []).append(tag)
        self._words = {tag.word for tag in self._tags.values()}
        self._begun = {tag.text[:-1]: tag for tag in self._tags.values()}
        self._lengths = sorted({len(text) for text in self._begun}, reverse=True)

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags' texts."""
        return tuple(self._tags)

    def _collect(self, template: str, names: dict[str, str]) -> None:
        """Add the tags of a template, with and without its optional parts."""
        for variant in dict.fromkeys((spelled(template), _OPTIONAL.sub("", template))):
            for found in _TAG.finditer(re.sub(r"\{(?:calls|members|value|args|call|payload)\}", "\n", variant)):
                slots = _SLOT.findall(found.group())
                filled = [found.group()]
                for slot in slots:
                    fills = [names[slot]] if names.get(slot) else _VALUES.get(slot, ())
                    filled = [text.replace(f"{{{slot}}}", fill) for text in filled for fill in fills]
                value = next((names[slot] for slot in slots if slot in names), "")
                for text in filled:
                    letters = _letters(value)
                    whole = _letters(text)
                    word = whole.removesuffix(letters) if letters else whole
                    self._tags[text] = Markup(text, word if word != whole else whole, letters if word != whole else "")

    def closes_after_tag(self, arguments: JsonObject, raw: str) -> bool:
        """Whether a value ends with a tag that `raw` has instead of an argument's closer."""
        closers = "|".join(map(re.escape, sorted(set(self._openers.values()))))
        found = (_LAST_TAG(value) for value in arguments.values() if isinstance(value, str))
        tags = [one.group() for one in found if one is not None] if closers else []
        return any(re.search(rf"{re.escape(tag)}\s*(?:{closers})", raw) is None for tag in tags)

    def holds(self, value: JsonValue) -> bool:
        """Whether a string in a value contains a tag of the format, or most of one, or ends where a closer begins."""
        if self._parts is None:
            parts = {part for tag in self._tags for part in (tag[1:], tag[:-1])}
            parts.update(f"</{key}>" for key in self._arguments)
            like = map(like_closer, sorted(set(self._openers.values())))
            self._parts = re.compile("|".join([*map(re.escape, sorted(parts)), *like, _BEGUN]))
        stack = [value]
        while stack:
            node = stack.pop()
            if isinstance(node, str) and "\\u003" in node:
                node = _ESCAPED.sub(lambda mark: "<" if mark[1] in "cC" else ">", node)
            if isinstance(node, str) and (self._parts.search(node) or self._parts.search("".join(node.split()))):
                return True  # a tag may be broken over lines
            if is_object(node):
                stack.extend(node.values())
            elif is_array(node):
                stack.extend(node)
        return False

    def mends(self, raw: str) -> Iterator[list[Mend]]:
        """Yield the texts in groups, the likelier groups first."""
        yield [*self._unfenced(raw)]
        places = [place for found in _LIKE.finditer(raw) if (place := self._place(found)) is not None]
        yield from self._groups(raw, places)
        yield [*self._surplus(raw)]
        yield [*self._other_closers(raw)]
        yield [*self._values(raw)]
        yield [*self._missing(raw)]

    def _unfenced(self, raw: str) -> Iterator[Mend]:
        """Remove the lines of a code fence, unless it is in an argument."""
        text: list[str] = []
        end, inside = 0, False
        for fence in _FENCE.finditer(raw):
            before = _TAG.findall(raw, 0, fence.start())[-1:]
            inside = inside or (before[0] if before else "") in self._openers
            inside = inside or any(raw.count(quote, 0, fence.start()) % 2 for quote in self._quotes)
            text.append(raw[end : fence.start()])
            end = fence.end()
        if text and not inside:
            yield Mend("".join(text) + raw[end:], "remove the code fence")

    def _groups(self, raw: str, places: list[list[tuple[int, int, Markup]]]) -> Iterator[list[Mend]]:
        if len(places) > _MOST:
            return
        yield [
            Mend(raw[:start] + tag.text + raw[end:], f"write {tag.text} instead of {raw[start:end]!r}")
            for place in places
            for start, end, tag in place
        ]
        sure = [place[0] for place in places if len(place) == 1]
        if len(sure) == len(places) > 1:
            text = raw
            for start, end, tag in reversed(sure):
                text = text[:start] + tag.text + text[end:]
            slips = dict.fromkeys(f"write {tag.text} instead of {raw[start:end]!r}" for start, end, tag in sure)
            yield [Mend(text, "; ".join(slips))]

    def _place(self, found: re.Match[str]) -> list[tuple[int, int, Markup]] | None:
        """Return the tags that a match may have been meant as; None if it is one, or resembles none."""
        like, start, end = found.group(), found.start(), found.end()
        if like in self._tags:
            return None
        letters = _letters(like)
        tags = self._known.get(letters, []) or self._known.get(_letters(_ATTRIBUTE.sub("=", like)), [])
        tags = tags or self._keyed(like)
        if not tags and like[-1] == ">":
            tags = list(self._near(letters, closes="/" in like[:2]))
        elif not tags:  # text follows the missing >
            begun = (self._begun.get(like[:length]) for length in self._lengths)
            tag = next(filter(None, begun), None)
            if tag is None or like[len(tag.text) - 1 :].lstrip()[:1] in _ASSIGNS:
                return None
            return [(start, start + len(tag.text) - 1, tag)]
        return [(start, end, tag) for tag in tags] or None

    def _keyed(self, like: str) -> list[Markup]:
        """Return the tag of an argument that was written as an element with the argument's name."""
        name = like[1:-1].strip()
        if like[-1:] != ">" or name.lstrip("/") not in self._arguments:
            return []
        opener = self._arguments[name.lstrip("/")]
        text = self._openers[opener] if name.startswith("/") else opener
        return [self._tags[text]] if text in self._tags else []

    def _near(self, letters: str, *, closes: bool) -> Iterator[Markup]:
        """The tags whose markup differs by one letter."""
        for word in self._words:
            for length in range(len(word) - 1, len(word) + 2):
                if len(word) >= _SHORTEST and differs_by_one_character(letters[:length], word):
                    yield from self._known.get(word + letters[length:], ())
        if closes and letters[-1:].isdigit():
            yield from (tag for tag in self._known.get(letters[:-1], ()) if tag.closes)

    def _surplus(self, raw: str) -> Iterator[Mend]:
        """Remove a repeated tag, and a surplus `<` before or `>` after a tag."""
        for found in _TAG.finditer(raw):
            tag, start, end = found.group(), found.start(), found.end()
            if tag not in self._tags:
                continue
            again = re.compile(rf"\s{{0,64}}{re.escape(tag)}").match(raw, end)
            if again is not None:
                yield Mend(raw[:end] + raw[again.end() :], f"write {tag} once")
            if raw[start - 1 : start] == "<":
                yield Mend(raw[: start - 1] + raw[start:], f"write {tag} instead of {raw[start - 1 : end]!r}")
            if raw[end : end + 1] == ">":
                yield Mend(raw[:end] + raw[end + 1 :], f"write {tag} instead of {raw[start : end + 1]!r}")

    def _other_closers(self, raw: str) -> Iterator[Mend]:
        """Replace a wrong closing tag after an argument's value, if the tag is the whole closer."""
        closer = ""
        for found in _TAG.finditer(raw):
            tag = found.group()
            if closer.startswith("</") and closer != tag and tag.startswith("</"):
                text = raw[: found.start()] + closer + raw[found.end() :]
                yield Mend(text, f"write {closer} instead of {tag!r}")
            closer = self._openers.get(tag, "")

    def _values(self, raw: str) -> Iterator[Mend]:
        """Mend the JSON of each value."""
        tags = [(found, self._tags.get(found.group())) for found in _TAG.finditer(raw)]
        known = [(found, tag) for found, tag in tags if tag is not None]
        for (opened, opener), (closed, closer) in pairwise(known):
            if opener.closes or not closer.closes or not _STRUCTURE(raw, opened.end()):
                continue
            marker = re.compile(re.escape(closed.group()))
            mended = JsonMender(raw[: closed.end()], opened.end(), marker, (), only=False).mended()
            if mended is not None and mended.slips and not raw[mended.end : closed.start()].strip():
                yield Mend(raw[: opened.end()] + mended.text + raw[closed.start() :], "; ".join(mended.slips))

    def _missing(self, raw: str) -> Iterator[Mend]:
        """Insert an argument's closing tag before the tag that proves it missing."""
        closer = ""
        for found in _TAG.finditer(raw):
            if found.group() not in self._tags:
                continue
            if closer and found.group() != closer:
                at = len(raw[: found.start()].rstrip(" \t"))
                at -= self._spaced and raw[at - 1] == "\n"  # the line break between two arguments
                yield Mend(raw[:at] + closer + raw[at:], f"write {closer} before {found.group()}")
                return
            closer = self._openers.get(found.group(), "")
