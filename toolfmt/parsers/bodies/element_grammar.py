"""The patterns of an element format, compiled from its description.

    member  '<arg name="{key}"{? type="{type}"?}>{value}</arg>'
    item    '<item{? type="{type}"?}>{value}</item>'

The opener of a child is one pattern for every level; the end of a value depends on
the child and on its parent, whose closer is the structure to expect.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cached_property, lru_cache

import regex

from toolfmt.dialect.syntax import TAG_NAME, Elements
from toolfmt.model import JsonObject
from toolfmt.parsers.scanning.cursor import Cursor, Reading
from toolfmt.parsers.scanning.damage import left_marker, mentioned
from toolfmt.parsers.scanning.patterns import GAP, LAYOUT, Head, head, literal, match_next, strip_groups
from toolfmt.parsers.scanning.raw_ends import Around, Closer, Ends
from toolfmt.schema import declares

_NEAR = 64
"""Characters around a tag that tell whether it is only mentioned."""
_CLOSING_TAG = re.compile(r"</([\w.\-]+)>").finditer
_MARKS = "<[|\uff5c"
NUMBER = r"[0-9]{1,9}"
"""An element with such a name is a list's item at this position, or an object's member."""


class ElementGrammar:
    """The compiled description of one element format; shared by all parses."""

    def __init__(self, elements: Elements, around: Around, own: tuple[str, ...], *, ignore_case: bool) -> None:
        """Compile the elements; `around` describes what surrounds the arguments, `own` are the format's markers."""
        self.flags = regex.IGNORECASE if ignore_case else 0
        self.escaped, self.keys_escaped = elements.escape == "xml", elements.escape != "none"
        self.quotes, self._markers = elements.quotes, own
        self.heads: dict[str, Head] = {}
        self.closers: dict[str, str] = {}
        parts: list[str] = []
        member, item, self.nested = elements.member, elements.item, bool(elements.item)
        self.padded, self._member = "\n{value}" in member, member
        self.types = {wire: kind for kind, wire in elements.type_names.items() if wire not in elements.type_names}
        self.closers_optional, self.inferred = elements.closers_optional, elements.inferred
        self.declared = re.compile(rf"\s(?:{'|'.join(elements.declared)})\s*=") if elements.declared else None
        self.unnamed = head(item.partition("{value}")[0]) if item[:1] == "<" and _tag(item) == _tag(member) else None
        """Matches an item, if that is a member without a key."""
        for kind, template in (("odd", elements.odd_member), ("item", item), ("member", member)):
            if template and not (kind == "item" and self.unnamed):
                opening, _, closing = template.partition("{value}")
                self.heads[kind] = _forgiving(opening)
                self.closers[kind] = closing
                parts.append(f"(?P<{kind}>{self.heads[kind].source})")
        self._number(member, item, parts)
        self.opener_source = "|".join(parts)
        tag = re.match(r"<(?:[|\uff5c]\w+[|\uff5c] )?[^\s<>={}\"']+", member)
        self.member_tag = tag.group()[1:] if tag else ""
        nameless = [rf"{re.escape(tag.group())}[\s=/>]"] if tag else []
        self.follow = "|".join([strip_groups(self.opener_source), *nameless])
        """What may follow a value: the next one, or a broken one that is not text."""
        self.loose = None
        if elements.loose_member:
            opening, _, self.closers["loose"] = elements.loose_member.partition("{value}")
            self.heads["loose"] = head(opening)
            self.loose = regex.compile(f"(?P<loose>{self.heads['loose'].source})", self.flags)
        self.opener = regex.compile(self.opener_source, self.flags)
        self.child = regex.compile(rf"{LAYOUT}(?:{self.opener_source})", self.flags)
        self.keyed_by_tag = by_tag = "{key}" in self.closers["member"]
        self.repeats, self.item_tag = by_tag or elements.repeats, elements.item_tag
        self.own_tags = frozenset(re.findall(r"<([\w:.\-]+)", f"{item}{elements.odd_member}{elements.loose_member}"))
        """Names of elements that are not keys."""
        wrapper = re.escape(elements.wrapper)
        opening = rf"<{wrapper}(?P<attributes>(?:\s[^<>]{{0,256}}?)?)\s{{0,64}}(?P<empty>/)?>"
        self.wrapper = regex.compile(opening, self.flags) if wrapper else None
        closing = rf"</{wrapper}\s{{0,64}}>" if wrapper else ""
        self.wrapper_name, self.wrapper_end = elements.wrapper, regex.compile(closing, self.flags)
        first = [f"<{wrapper}[\\s/>]"] if wrapper else []
        inside = around.inside or "|".join([*first, self.follow])
        self.around = replace(around, inside=inside, wrapper_end=closing)
        self.tail = around.tail
        self.after = regex.compile(GAP + f"(?:{self.around.after})", self.flags)
        self.inside_wrapper = f"{closing}|{around.tail}" if wrapper else around.tail

    @cached_property
    def openers(self) -> dict[str, list[str]]:
        """The openers of values by their closer, if the key is not the element's name."""
        found: dict[str, list[str]] = {}
        for kind in ("item", "member"):
            if kind in self.heads and "{key}" not in self.closers[kind]:
                found.setdefault(literal(self.closers[kind]), []).append(strip_groups(self.heads[kind].source))
        return found

    def _number(self, member: str, item: str, parts: list[str]) -> None:
        """Compile numbered elements, for formats with keys as element names and lists as elements."""
        before, keyed, _ = member.partition("<{key}>")
        if keyed and item:
            source = literal(before) + rf"<(?P<key>{NUMBER})\s{{0,64}}>"
            self.heads["number"], self.closers["number"] = Head(source, {}, frozenset({"key"})), self.closers["member"]
            parts.append(f"(?P<number>{source})")

    @cached_property
    def special(self) -> bool:
        """Whether the markers are special tokens, which ordinary text does not contain."""
        return re.search(r"[^\w<>/:=.\s\"'{}?\-]", self.closers["member"]) is not None

    @cached_property
    def alone(self) -> str:
        """The pattern of an argument outside a call; "" if any element may look like one."""
        return "" if self.keyed_by_tag and not self.special else strip_groups(self.heads["member"].source)

    @cached_property
    def loose_closers(self) -> str:
        """The pattern of closers of arguments only, or of all arguments; "" if there is none."""
        closers = [] if self.keyed_by_tag else [literal(self.closers["member"])]
        return "|".join(filter(None, [*closers, self.wrapper_end.pattern]))

    def key(self, opener: regex.Match[str] | None) -> str:
        """Return the key in an argument's opener, or ""."""
        groups = {} if opener is None else opener.groupdict()
        kind = next((name for name in self.heads if groups.get(name) is not None), "member")
        tag = None if opener is None else self.heads[kind].read(opener, escaped=self.keys_escaped)
        return "" if tag is None else tag.slots.get("key", "")

    @cached_property
    def inside(self) -> regex.Pattern[str]:
        """Matches what does not follow a self-closing call."""
        begins = [strip_groups(self.wrapper.pattern)] if self.wrapper else []
        return regex.compile(f"{LAYOUT}(?:{'|'.join([*begins, self.opener_source])})", self.flags)

    @cached_property
    def nameless(self) -> str:
        """The pattern of an argument's tag without a name; "" if the name is not part of the tag."""
        named = self.heads["member"].attributes or self.heads["member"].bare
        return rf"<{re.escape(self.member_tag)}\s{{0,64}}>" if self.member_tag and named else ""

    @cached_property
    def _value_tags(self) -> regex.Pattern[str]:
        closing = self.closers["member"]
        tag = re.search(r"</([^<>{}\s]+)>", closing)
        name = f"(?P<key>{TAG_NAME})" if self.keyed_by_tag else re.escape(tag[1]) if tag else ""
        marks = rf"<(?P<close>/)?{name}[\s=:/>]" if name else f"(?P<close>{literal(closing)})|{self.follow}"
        return regex.compile(marks, self.flags)

    @cached_property
    def _last_tag(self) -> str:
        """The tag directly before a value, unless it is part of an argument's name or of a closer."""
        found = re.search(r"<[^<>{}]+>(?=\s*\{value\})", self._member)
        return found.group() if found and found.group() not in self.closers["member"] else ""

    @cached_property
    def _key_alone(self) -> Head | None:
        """The part of an argument before the tag of its value, if both have tags of their own."""
        return head(self._member.partition(self._last_tag)[0].rstrip()) if self._last_tag else None

    def without_value(self, cur: Cursor) -> Reading[str]:
        """Describe an argument at the cursor that has a key but no value; "" if there is none."""
        key = self._key_alone
        found = (yield from match_next(cur, self.pattern(key.source))) if key is not None else None
        tag = key.read(found, escaped=self.keys_escaped) if key is not None and found is not None else None
        return "" if tag is None else f"{self._last_tag!r} is missing after the argument {tag.slots['key'][:60]!r}"

    @cached_property
    def _inner(self) -> list[str]:
        """The tags between an argument's name and its value; in escaped text also the closer of all arguments."""
        tags = re.findall(r"<[^<>]+>", self._member.partition("{value}")[0])[1:]
        wrapper = [self.wrapper_end.pattern] if self.escaped and self.wrapper_end.pattern else []
        return [*(literal(tag) for tag in tags if "{" not in tag and tag not in self.closers["member"]), *wrapper]

    @cached_property
    def again(self) -> regex.Pattern[str] | None:
        """Matches a repeated tag directly before a value."""
        return regex.compile(GAP + literal(self._last_tag), self.flags) if self._last_tag else None

    @cached_property
    def begin(self) -> regex.Pattern[str]:
        """Matches the beginning of a call."""
        return regex.compile(rf"{GAP}(?:{strip_groups(self.around.begin) or '(?!)'})", self.flags)

    @cached_property
    def begin_again(self) -> regex.Pattern[str]:
        """What begins another call, with the markers of its own section if there are any."""
        named = (("section_end", self.around.section_end), ("section", self.around.section))
        marks = [f"(?P<{name}>{strip_groups(one)}{GAP})?" for name, one in named if one]
        return regex.compile(rf"{GAP}{''.join(marks)}(?P<call>{strip_groups(self.around.begin) or '(?!)'})", self.flags)

    @cached_property
    def begin_or_end(self) -> regex.Pattern[str]:
        """Matches the beginning or the end of a call."""
        return regex.compile(rf"{strip_groups(self.around.begin)}|(?P<end>{strip_groups(self.tail)})", self.flags)

    @cached_property
    def late(self) -> regex.Pattern[str]:
        """Matches an argument after the closer of the calls."""
        closer = strip_groups(self.around.section_end) or "(?!)"
        return regex.compile(rf"(?:{GAP}(?:{closer}))?{LAYOUT}(?:{self.opener_source})", self.flags)

    @cached_property
    def closer_before_value(self) -> regex.Pattern[str]:
        """Matches the closer of a value before words: if no value is open, it replaces an opener."""
        closer = self.closer("member", "").source
        return regex.compile(
            rf"{closer}\s{{0,256}}[^\s{regex.escape(self.closers['member'].lstrip()[:1])}]", self.flags
        )

    @cached_property
    def item_marks(self) -> regex.Pattern[str]:
        """Matches openers and closers of list items."""
        if self.item_tag or "item" not in self.heads:
            return regex.compile(rf"<(?P<close>/)?{regex.escape(self.item_tag)}(?![\w.:\-])")
        closer = literal(self.closers["item"])
        return regex.compile(f"{strip_groups(self.heads['item'].source)}|(?P<close>{closer})", self.flags)

    @cached_property
    def value_starts(self) -> tuple[str, ...]:
        """Every text that opens a value contains one of these."""
        first = self._last_tag or re.split(r"[{\s>]", self._member, maxsplit=1)[0]
        return first, *(quote for quote, _ in self.quotes)

    @cached_property
    def value_marks(self) -> regex.Pattern[str]:
        """Matches openers and closers of values; openers in quotes or between words, as in prose, are `inside`."""
        before, keyed, _ = self.closers["member"].partition("</{key}>")
        if keyed:
            name = rf"(?P<key>{TAG_NAME})\s{{0,64}}>"
            opened, closed = [rf"{literal(before)}<{name}"], [rf"{literal(before)}</{name}"]
        else:
            opened, closed = [strip_groups(self.opener_source)], [literal(one) for one in self.closers.values()]
            opened += [literal(self._last_tag)] if self._last_tag else []
        for quote, end in self.quotes:
            opened, closed = [*opened, re.escape(quote)], [*closed, re.escape(end)]
        opens = f"(?:{'|'.join(opened)})"
        own = rf"(?:(?<![ \t`\"'(])|(?<=\n[ \t]{{1,64}})){opens}|(?<=[ \t]){opens}(?=\w)"
        marks = rf"{own}|(?P<inside>{opens})|(?P<close>{'|'.join(closed)})"
        return regex.compile(marks, self.flags)

    @cached_property
    def _own(self) -> re.Pattern[str]:
        marks = (re.escape(one) + ("" if one[-1:] in "]>[" else "[^<>]{0,64}>") for one in self._markers if "<" in one)
        return re.compile("|".join(marks) or r"(?!)")

    @cached_property
    def left_sign(self) -> str:
        """A character that a value without `<` has if `left_in` finds something in it."""
        _, words, end = self._opening
        return "<" if self.keyed_by_tag else end or words[-1:]

    def left_in(self, text: str, closer: str, key: str, schema: JsonObject | None) -> str:
        """Return a marker that a slip left in the value of `key` before its `closer`; `schema` is of all arguments."""
        if found := left_marker(text, closer, self._own) or self._begun_again(text, key):
            return found
        token = self.closers["member"].partition("</")[0].strip()
        opened: dict[str, int | None] = {}
        for end in _CLOSING_TAG(text) if self.keyed_by_tag and "</" in text else ():
            name, start = end[1], end.start()
            if name not in opened:
                opened[name] = text.find(f"<{name}") if declares(schema, name) else None
            first = opened[name]
            if first is None or 0 <= first < start:
                continue
            before = text[max(0, start - _NEAR) : start].removesuffix(token)
            if not mentioned(before, text[end.end() : end.end() + _NEAR]):
                return end.group()
        return ""

    @cached_property
    def _opening(self) -> tuple[str, str, str]:
        """The first marks and the words of a member's opening tag before its key, and the character after it."""
        before, _, after = self._member.partition("{key}")
        words = before.lstrip(_MARKS)
        return before.removesuffix(words), words, after[:1]

    def _begun_again(self, text: str, key: str) -> str:
        """Return the value's own opening tag, if the value begins with it or contains it without its first mark.

        A text about the format has the mark, and also the closing tag if the tag is the key itself.
        """
        if self.keyed_by_tag:
            tag = f"<{key}>"
            return tag if tag in text and text.lstrip().startswith(tag) and f"</{key}>" not in text else ""
        mark, words, end = self._opening
        if words not in text:
            return ""
        tag = f"{words}{key}{end}"
        at = text.find(tag)
        while at >= 0 and text.endswith((mark, "</"), 0, at):
            at = text.find(tag, at + len(tag))
        return tag if at >= 0 else ""

    def open_values(self, text: str, schema: JsonObject | None, begun: int) -> int:
        """Return the number of values open after a text; `begun` were open before it."""
        for found in self._value_tags.finditer(text):
            if not self.keyed_by_tag or declares(schema, found["key"]):
                begun = max(begun + (-1 if found["close"] else 1), 0)
        return begun

    @lru_cache(maxsize=256)  # noqa: B019 - a grammar lives as long as its dialect
    def ends(self, closer: str, parent: str) -> Ends:
        """Return the ends of raw text in a place with these patterns of its own and its parent's closers."""
        return Ends(
            closer,
            self.follow,
            self.quotes,
            parent=parent,
            escaped=self.escaped,
            flags=self.flags,
            around=self.around,
            openers=self.openers.get(closer) or [strip_groups(head.source) for head in self.heads.values()],
            nameless=self.nameless if closer in self.openers else "",
            inner=self._inner,
            optional=self.closers_optional,
        )

    @lru_cache(maxsize=256)  # noqa: B019 - as above
    def pattern(self, source: str) -> regex.Pattern[str]:
        """Compile a closer."""
        return regex.compile(source, self.flags)

    def closer(self, kind: str, key: str) -> Closer:
        """Return the closer of a child; if the key is the element's name, one pattern fits all."""
        closing = self.closers["member" if kind == "item" and self.unnamed else kind]
        text = closing.replace("{key}", key).strip()
        ending = text[-3:]
        beginning = closing.strip()[:2] if self.special else ""
        before, tag, _ = closing.partition("</{key}>")
        if tag:
            name = NUMBER if kind == "number" else TAG_NAME
            source = rf"{literal(before)}</\s{{0,8}}{name}\s{{0,64}}>"
            return Closer(source, key, bool(self.flags), ending, beginning, text)
        return Closer(literal(before), ending=ending, beginning=beginning, text=text)


def _forgiving(opening: str) -> Head:
    """Compile a child's opener; an element in it may have a missing or wrong closing tag before the next element."""
    found = head(opening)
    for closer in re.findall(r"</[^<>{}]+>(?=\s*(?:\{\?|\?\})?\s*<)", opening):
        slip = r"(?P<unclosed>(?:</?[^\s<>]{1,24}>?)?)(?=\s{0,64}<)"
        for written in {literal(closer), re.escape(closer)}:
            found = replace(found, source=found.source.replace(written, f"(?:{written}|{slip})"))
    return found


def _tag(template: str) -> str:
    """The name of the element that a template opens."""
    return re.split(r"[\s>{]", template, maxsplit=1)[0]
