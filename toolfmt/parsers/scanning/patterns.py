"""Compiles template literals to tolerant patterns.

White space is soft, a quote may be single, double or absent, and the attributes
of a tag may come in any order. Every repetition is bounded, so that a pattern
decides after a bounded number of characters, and little text is held back.

Partial matching of `regex` costs ten times as much as a search of `re`, so a
pattern is tried only where a `sieve` matches.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from toolfmt.dialect.syntax import PLAIN_NAME, TAG_NAME
from toolfmt.parsers.scanning.cursor import WHITE, Cursor, Reading
from toolfmt.parsers.scanning.damage import is_odd

if TYPE_CHECKING:
    import regex


GAP = r"\s{0,256}"
FENCE = r"`{3,8}+[\w+.\-]{0,32}\s{1,64}+"
"""The beginning of a code fence."""
_WILD = ("{any}", "{plain}")
_ENDS_NAME = re.compile(r"\s*(?:[\[(<|]|\Z)")
"""What follows a name in a template, or begins a call's body, and cannot be part of a name."""
_STRING = r"""(?:"(?:[^"\\\n]|\\.){0,256}+"|'(?:[^'\\\n]|\\.){0,256}+')"""
_SCALAR = rf"(?:{_STRING}|[0-9.eE+\-]{{1,32}}|[Tt]rue|[Ff]alse|[Nn](?:ull|one))"
JSON_START = (
    rf"(?=\{{\s{{0,256}}(?:{_STRING}\s{{0,64}}:|/[/*])|\[\s{{0,64}}(?:[\[{{\]]|/[/*]|{_SCALAR}\s{{0,64}}[,\]]))"
)
"""What distinguishes an object or list in prose from other brackets: its first key or element."""
JSON_HINT = r"(?=\{\s{0,256}[\"'/]|\[\s{0,64}[\[{\]\"'/0-9tfn\-])"
"""The part of it that can be searched for: a longer pattern would lose to a marker inside it."""
_NAMED = r"[\w.:\-]{1,256}(?:[>\[]|\s{0,8}(?:[({=]|`{3}|\s[\w.\-]{1,64}=))"
_QUOTED_KEY = r"[\"'][\w\-]{1,64}[\"']\s{0,8}[:,]"
BROKEN_CALL = rf"\s{{0,64}}(?:{FENCE})?(?:[<\[{{\]]|{_NAMED}|{_QUOTED_KEY})"
"""Distinguishes a call with a broken beginning from prose."""
NOTE = r"<!--(?:(?!-->)[\s\S]){0,1024}-->|<\?(?:(?!\?>)[\s\S]){0,1024}\?>"
"""What XML allows between elements beside text: a comment or a processing instruction."""
LAYOUT = rf"(?:\s{{1,256}}+|{NOTE}){{0,16}}+"
"""White space, comments and instructions between elements."""
_UNCLOSED = r"""["'][^\s"'<>=]{1,256}(?=\s{0,64}>[^"'<]{0,64}<|\s{1,64}[\w:.\-]{1,64}=["'])"""
"""A value without its second quote, if what follows proves it."""
_VALUE = rf"""(?:"[^"<]{{0,1024}}"|'[^'<]{{0,1024}}'|[^\s"'<>=]{{1,256}}["']?|{_UNCLOSED})"""
_ATTRIBUTE = rf"\s{{1,64}}[\w:.\-]{{1,64}}\s{{0,8}}=\s{{0,8}}{_VALUE}"
_READ_ATTRIBUTE = re.compile(
    r"""([\w:.\-]+)\s*=\s*(?:"([^"]*)"(?=[\s/>]|\Z)|'([^']*)'(?=[\s/>]|\Z)|["']?([^\s"'<>=]+)["']?)"""
)
_BARE_TAG = re.compile(rf"""(?P<name>[^\s"'<>=/]+)(?P<attributes>(?:{_ATTRIBUTE})*)\s*(?P<empty>/)?""").fullmatch
_TAG = re.compile(
    r"""<(\{(?:key|name)\}(?=[\s>{])|[^\s<>"'={}/?|]+(?=[\s{]))((?:(?:\{\?)?\s+[\w:.\-]+="\{[a-z_]+1?\}"(?:\?\})?)*)\s*>"""
)
_TAG_SLOT = re.compile(r"""([\w:.\-]+)="\{([a-z_]+1?)\}\"""")
_TOKEN = re.compile(r"\{\?|\?\}|\{([a-z_]+1?)\}|(\s+)|([\"'])|(=)|((?:(?!\?\})[^\s\"'={])+|\{)")
_LOOSE = re.compile(r">(?=<)|\\\|>(?=\\\[)|(?<=\\\])(?=<\\\|)")
"""Places in an escaped literal where blanks may separate two markers: `><`, `|>[`, `]<|`."""
_PLAIN_TAG = re.compile(r"</?[\w:.\-]+>")
_SLOTS = ("key", "type", "string", "name", "id", "server", "agent")
_TYPOGRAPHIC = "\u201c\u201d"
_TYPOGRAPHIC_QUOTE = re.compile(rf"=\s*[{_TYPOGRAPHIC}]").search
_LONGEST = 512
"""The largest number of characters of a marker's part that is searched for before another marker."""
_OPTIONAL = {"{?": (1, "(?:"), "?}": (-1, ")?")}
_OWN_GROUPS = frozenset({"attributes", "empty", "unclosed"})
SLOT = r"[^\s<>{](?:[^<>{\n]{0,510}?[^\s<>{])??"
WILD = {"any": r"[\s\S]", "plain": r"[^<]"}
"""Slots whose content is ignored, with the pattern of each of their few characters."""


@dataclass(slots=True)
class Tag:
    """The content of a matched head: its slots, other attributes, and whether it is an empty element."""

    slots: dict[str, str]
    strays: list[tuple[str, str]]
    """Attributes without a slot."""
    empty: bool
    unquoted: bool
    """Whether one of the two quotes around a value is missing."""
    odd: bool = False
    """Whether the key or the name contains markup."""


@dataclass(frozen=True, slots=True)
class Head:
    """A compiled template: `source` matches it, `slots` maps its groups and attributes to slot names."""

    source: str
    attributes: dict[str, str]
    required: frozenset[str]
    bare: frozenset[str] = frozenset()
    """Slots without quotes: `<function={name}>`; attributes may follow it."""

    def read(self, match: regex.Match[str], *, escaped: bool) -> Tag | None:
        """Read a match; return None if a required slot is missing or blank."""
        groups = match.groupdict()
        given = {name: value.strip() for name, value in groups.items() if value and name not in _OWN_GROUPS}
        found = {name: value.strip(_TYPOGRAPHIC) for name, value in given.items()}
        quoted = given != found or _TYPOGRAPHIC_QUOTE(groups.get("attributes") or "") is not None
        strays: list[tuple[str, str]] = []
        empty = groups.get("empty") is not None
        for name in self.bare & found.keys():
            tag = _BARE_TAG(match.string[match.start(name) : match.end()].rpartition(">")[0])
            if tag is not None and (tag["attributes"] or tag["empty"]):
                found[name], empty = tag["name"], tag["empty"] is not None
                strays = attributes(tag["attributes"])
        for name, text in attributes(groups.get("attributes")):
            slot = self.attributes.get(name) or self.attributes.get(name.lower())
            if slot is None or slot in found:
                strays.append((name, text))
            else:
                found[slot] = text
        marked = "attributes" not in groups and any(is_odd(found.get(name, "")) for name in ("key", "name"))
        if escaped:
            found = {name: decode_entities(value) for name, value in found.items()}
            strays = [(name, decode_entities(value)) for name, value in strays]
        complete = all(found.get(name) or (name == "key" and name in found) for name in self.required)
        text = groups.get("attributes") or ""
        if "attributes" in groups:
            odd = text.count('"') % 2 or ('"' not in text and text.count("'") % 2)
        else:
            odd = (match.group().count('"') - sum((groups.get(name) or "").count('"') for name in _SLOTS)) % 2
        return Tag(found, strays, empty, bool(odd or quoted), marked) if complete else None


def attributes(text: str | None) -> list[tuple[str, str]]:
    """Read all attributes of a tag in order; any other text comes last, as a name without a value."""
    if not text:
        return []
    written = _READ_ATTRIBUTE.findall(text)
    rest = _READ_ATTRIBUTE.sub("", text).strip(WHITE)
    found = [(name, double or single or plain.strip(_TYPOGRAPHIC)) for name, double, single, plain in written]
    return [*found, (rest, "")] if rest else found


@lru_cache(maxsize=4096)
def literal(text: str) -> str:
    """Compile a literal with soft white space and quotes; white space at its ends is dropped."""
    return head(text.strip()).source


@lru_cache(maxsize=4096)
def head(template: str) -> Head:
    """Compile a template of literals, slots, optional parts and tags with attributes."""
    template = template.strip()
    out: list[str] = []
    attributes: dict[str, str] = {}
    required: set[str] = set()
    bare: set[str] = set()
    at = 0
    for tag in _TAG.finditer(template):
        _literals(template[at : tag.start()], out, required, bare)
        optional = {slot for part in re.findall(r"\{\?.*?\?\}", tag[2]) for _, slot in _TAG_SLOT.findall(part)}
        for name, slot in _TAG_SLOT.findall(tag[2]):
            attributes[name] = slot
            if slot not in optional:
                required.add(slot)
        least = 1 if required & set(attributes.values()) else 0  # a tag without its name is not a marker
        slot = tag[1][1:-1] if tag[1].startswith("{") else ""
        name = rf"(?P<{slot}>{TAG_NAME})" if slot else re.escape(tag[1])
        required.update(filter(None, [slot]))
        out.append(rf"<{name}(?P<attributes>(?:{_ATTRIBUTE}){{{least},16}})\s{{0,64}}(?P<empty>/)?>")
        at = tag.end()
    _literals(template[at:], out, required, bare)
    return Head("".join(out), attributes, frozenset(required), frozenset(bare))


def _literals(text: str, out: list[str], required: set[str], bare: set[str]) -> None:  # noqa: C901 - one per token
    depth = 0
    tokens = list(_TOKEN.finditer(text))
    for index, token in enumerate(tokens):
        slot, space, quote, equals, word = token.groups()
        if token.group() in _OPTIONAL:
            deeper, part = _OPTIONAL[token.group()]
            depth += deeper
            out.append(part)
        elif slot in WILD:
            begin = re.match(r"[^{\s]*", text)
            again = f"(?!{re.escape(begin.group())})" if begin and begin.group() else ""  # none begins inside itself
            out.append(f"(?:{again}{WILD[slot]}){{0,64}}?")
        elif slot:
            blank = index > 0 and tokens[index - 1][2] is not None
            unquoted = index > 0 and tokens[index - 1].group() == "="
            out.append("[\"']?" if unquoted else "")
            before = "" if blank else r"\s{0,64}+"
            follows = index + 1 < len(tokens) and tokens[index + 1][2] is not None
            leads = slot == "name" and not any(out) and not index
            # Possessive if what follows cannot be part of it; otherwise every character of a long word is tried.
            ends = text.startswith(_WILD, token.end()) or (leads and _ENDS_NAME.match(text, token.end()))
            value = PLAIN_NAME + "+" * bool(ends) if ends or leads else SLOT
            out.append(rf"{before}(?P<{slot}>{value})" + ("" if follows else r"\s{0,64}"))
            out.append("[\"']?" if unquoted else "")
            if unquoted:
                bare.add(slot)
            if not depth:
                required.add(slot)
        elif space:
            before = text[token.start() - 1 : token.start()]
            after = tokens[index + 1].group()[0] if index + 1 < len(tokens) else ""
            least = 1 if before.isalnum() and after.isalnum() else 0
            out.append(rf"\s{{{least},64}}+")
        elif quote:
            out.append("[\"']?")
        elif equals:
            out.append(r"\s{0,8}=" + r"\s{0,8}" * (index + 1 < len(tokens)))  # what follows the marker is not its own
        elif _PLAIN_TAG.fullmatch(word):
            out.append(re.escape(word[:-1]) + r"\s{0,64}>")
        else:
            out.append(_LOOSE.sub(r"\g<0>\\s{0,64}", re.escape(word)))


def strip_groups(source: str) -> str:
    """Remove the names of a pattern's groups, so that several patterns can be joined."""
    return re.sub(r"\(\?P<\w+>", "(?:", source)


def cut_off(cur: Cursor, *patterns: regex.Pattern[str]) -> bool:
    """Whether the input ends at the cursor, or inside a partial match of one of the patterns."""
    if not cur.eof:
        return False
    found = (pattern.match(cur.buf, cur.pos, partial=True) for pattern in patterns)
    return cur.pos == len(cur.buf) or any(match is not None and match.partial for match in found)


def skip_cut(cur: Cursor, pattern: regex.Pattern[str]) -> bool:
    """Skip a partial match that is the rest of the input; return whether there was one."""
    if not cur.buf[cur.pos :].strip(WHITE) or not cut_off(cur, pattern):
        return False
    cur.pos = len(cur.buf)
    return True


def match_first(cur: Cursor, patterns: Sequence[regex.Pattern[str]]) -> Reading[regex.Match[str] | None]:
    """Match the first fitting pattern at the cursor, without reading; wait while an earlier one may still fit.

    A single pattern of alternatives would not wait: it prefers a complete match of a later alternative.
    """
    while True:
        for pattern in patterns:
            match = pattern.match(cur.buf, cur.pos)  # partial matching takes twice as long
            if match is not None:
                return match
            if not cur.eof and pattern.match(cur.buf, cur.pos, partial=True) is not None:
                break
        else:
            return None
        yield


def match_next(cur: Cursor, pattern: regex.Pattern[str]) -> Reading[regex.Match[str] | None]:
    """Match at the cursor, without reading; wait while more text may decide."""
    while True:
        match = pattern.match(cur.buf, cur.pos)
        if match is not None or cur.eof or pattern.match(cur.buf, cur.pos, partial=True) is None:
            return match
        yield


def first_match(
    pattern: regex.Pattern[str], places: Iterable[re.Match[str]], *, partial: bool
) -> regex.Match[str] | None:
    """Match the pattern at the first place where it fits; `partial` matches count too if allowed."""
    for place in places:
        found = pattern.match(place.string, place.start(), partial=partial)
        if found is not None:
            return found
    return None


@lru_cache(1024)
def _begun(pattern: regex.Pattern[str]) -> regex.Pattern[str]:
    from regex import compile as compiled  # already loaded if there is such a pattern

    return compiled(f"(?:{pattern.pattern})(?!)", pattern.flags)  # never a complete match, so the first partial one


def search_open(pattern: regex.Pattern[str], text: str, pos: int) -> regex.Match[str] | None:
    """Search a text that may continue: a complete match, or a partial one at its end, whichever begins first.

    A partial search alone prefers a complete match to a partial one that begins earlier.
    """
    found = pattern.search(text, pos, partial=True)
    if found is None or found.partial or len(text) - found.start() > _LONGEST:
        return found
    begun = _begun(pattern).search(text, max(pos, found.start() - _LONGEST), partial=True)
    return begun if begun is not None and begun.start() < found.start() else found


def search_on(cur: Cursor, pattern: regex.Pattern[str] | None) -> Reading[regex.Match[str] | None]:
    """Read up to the pattern's next match; return None at the end of the input, or without a pattern."""
    while pattern is not None:
        found = pattern.search(cur.buf, cur.pos) if cur.eof else search_open(pattern, cur.buf, cur.pos)
        cur.pos = len(cur.buf) if found is None else found.start()
        if found is not None and not found.partial:
            return found
        if cur.eof:
            cur.pos = len(cur.buf)
            return None
        yield
    return None


def plain_start(source: str) -> str:
    """Return the first one to five characters of a pattern's text."""
    found = re.match(r"(?:\\[^\w\s]|[^\\()\[\]{}|?*+.^$]){1,5}(?![?*{])", source)
    return re.sub(r"\\(.)", r"\1", found.group()) if found else source[0]


def sieve(starts: Sequence[str]) -> str:
    """Return a fast pattern for places where one of the texts may begin."""
    firsts = sorted({start[0] for start in starts})
    return "|".join(f"{re.escape(first)}(?={_rest(starts, first)})" for first in firsts)


def _rest(starts: Sequence[str], begun: str) -> str:
    """Return the pattern of what may follow a common beginning, including the end of the text."""
    going_on = [start for start in starts if start.lower().startswith(begun.lower())]
    if any(len(start) == len(begun) for start in going_on):
        return ""
    nexts = sorted({start[len(begun)].lower() for start in going_on})
    return "(?:" + "|".join(_any_case(char) + _rest(going_on, begun + char) for char in nexts) + r"|\Z)"


def _any_case(char: str) -> str:
    return re.escape(char) if char.upper() == char else f"[{char}{char.upper()}]"


def first_characters(sources: list[str], *, bare: bool, ignore_case: bool) -> str:
    """Return a character class of all first characters of markers; text without them is emitted at once."""
    firsts = {source[1] if source.startswith("\\") else source[0] for source in sources if source}
    if ignore_case:
        firsts |= {char.swapcase() for char in firsts}
    if bare:
        firsts |= set("`[{")
    if "(" in firsts:  # a pattern with an optional beginning may begin with anything
        return r"\s\S"
    return "".join(map(re.escape, sorted(firsts)))


_NUMERIC = re.compile(r"&(?:(amp|lt|gt|quot|apos)|#([0-9]{1,7})|#[xX]([0-9a-fA-F]{1,6}));")
_ENTITIES = {"lt": "<", "gt": ">", "quot": '"', "apos": "'", "amp": "&"}
_LAST_CODE = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)
PARTIAL = re.compile(r"&(?:[a-z]{0,4}|#[0-9]{0,7}|#[xX][0-9a-fA-F]{0,6})\Z")
"""The beginning of an entity at the end of a text."""


def decode_entities(text: str) -> str:
    """Decode the five standard entities and numeric references; any other `&` is literal."""
    if "&" not in text:
        return text
    if "&#" in text:
        return _NUMERIC.sub(_character, text)
    for name, char in _ENTITIES.items():  # the ampersand last, to decode nothing twice
        text = text.replace(f"&{name};", char)
    return text


def _character(found: re.Match[str]) -> str:
    name, decimal, hexadecimal = found.groups()
    if name:
        return _ENTITIES[name]
    code = int(decimal) if decimal else int(hexadecimal, 16)
    return found.group() if code > _LAST_CODE or code in _SURROGATES else chr(code)
