"""All signatures of a registry, compiled: one pattern finds where any of them may begin.

Made once per registry. Nothing here depends on a dialect's name: third-party dialects are treated as the package's own.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

import regex

from toolfmt.detection.definitions import MARKS
from toolfmt.detection.offers import any_of
from toolfmt.detection.records import WRITTEN, DialectMatch, verb
from toolfmt.detection.signatures import OTHER, OWN, body_start, signatures
from toolfmt.detection.values import value_marks
from toolfmt.dialect.frames import Frame
from toolfmt.dialect.syntax import Syntax
from toolfmt.lookup.registry import Registry
from toolfmt.parsers.bodies.json_shapes import JsonNode, compile_shape
from toolfmt.parsers.compiled.leading import reasoning_opener
from toolfmt.parsers.scanning.patterns import strip_groups

_NEXT = re.compile(r"\s{0,64}([{\[<])")
_KEPT: Final = 1024
Hit = tuple[str, int, str]
"""A dialect with the score and the reason."""
FENCES = ("```", "~~~")
_LIST_CALL = "[", r"(?=\s{0,64}[^\W\d][\w.\-]{0,255}\()"
"""What a list of calls without a marker begins with."""
_SPECIAL = re.compile(r"[<\[\]].*[|｜].*[>\]]|<[\w]+:[\w:]+>")
"""Tokens of a model's vocabulary, which nobody writes in prose."""
_TAGGED = re.compile(r"[<\[\]].+")


@dataclass(frozen=True)
class Match:
    """A pattern after a trigger, and its dialects; compiled when its trigger is first found."""

    number: int
    source: str
    offered: bool
    lines: bool
    owners: tuple[Hit, ...]
    """Each with the score and the reason."""

    @cached_property
    def pattern(self) -> regex.Pattern[str]:
        """The compiled pattern."""
        return regex.compile(self.source)


@dataclass(frozen=True, slots=True)
class Bare:
    """A dialect whose calls need no marker, with their shapes."""

    dialect: str
    shape: JsonNode
    own: JsonNode
    """The shape that is written."""
    listed: bool
    """It is written in a list."""
    single: bool
    """An answer is one call."""


@dataclass(frozen=True, slots=True)
class Framed:
    """A dialect whose messages have headers."""

    dialect: str
    frame: Frame
    header: regex.Pattern[str]
    body: regex.Pattern[str]
    """What the body of a call begins with."""
    channels: bool
    """A call's header names a channel."""


class DetectionTable:
    """What distinguishes the dialects of one registry."""

    def __init__(self, registry: Registry) -> None:
        self._rankings: dict[object, tuple[DialectMatch, ...]] = {}
        dialects = [dialect for dialect in registry if dialect.syntax is not None]
        users = Counter([name for _, name in registry.models] + [row.dialect for row in registry.providers])
        names = sorted((one.name for one in dialects), key=lambda name: (-users[name], name))
        self.rank = {name: number for number, name in enumerate(names)}
        """The order that breaks ties: the dialects of most models first, then by name."""
        syntaxes = {one.name: one.syntax for one in dialects if one.syntax is not None}
        self.marks = _marks(syntaxes)
        """Markers that do not begin a call, with their dialects."""
        self.reasoning = _reasoning(syntaxes)
        """The openers of reasoning at the beginning of an answer, with their closers."""
        self.matches, self.by_name, self.tags = _matches(syntaxes, self.rank)
        self._forms = [form for one in syntaxes.values() for form in one.forms]
        self._declared = {word for form in self._forms if form.elements for word in form.elements.declared}
        self._following: dict[tuple[str, str], list[Match]] = {}
        self.offered = bool(self.by_name or self.tags)
        """Some dialects are recognised by the names of the offered tools."""
        self._framed = [(name, one, frame) for name in self.rank if (frame := (one := syntaxes[name]).frame)]
        frames = [frame for _, _, frame in self._framed]
        self.lists = [
            (name, OTHER if number else OWN, f"{verb(OTHER if number else OWN)} a list of calls without a marker")
            for name in self.rank
            for number, form in enumerate(syntaxes[name].forms)
            if form.bare and form.section.startswith("[")
        ]
        self.bare = list(_bare(syntaxes, self.rank))
        headers = "|".join(f"(?:{strip_groups(frame.header)})" for frame in frames)
        self._starts = headers or r"(?!)"
        thoughts = Syntax(forms=(), reasoning=tuple(self.reasoning.items()))
        self._prompts = (thoughts, *(one for one in syntaxes.values() if one.frame is not None))
        self.closers = {*self.reasoning.values(), *(end for frame in frames for end in frame.ends)}
        """What may end reasoning with an unknown opener."""
        opens: dict[str, tuple[str, ...]] = {}
        for name, _, frame in self._framed:
            opens |= {mark: (*opens.get(mark, ()), name) for mark in (*frame.opens, frame.start) if len(mark) > 1}
        self.openers = frozenset(opens)
        self.special = frozenset(filter(_SPECIAL.fullmatch, {*self.marks, *self.openers, *self.matches}))
        own = {
            mark: tuple({name for one in matches for name, *_ in one.owners}) for mark, matches in self.matches.items()
        }
        self.owners = {**opens, **own, **self.marks}
        """The dialects of each marker, including markers that begin a call or a message."""
        plain = {*self.matches, *self.marks, *self.reasoning, *self.openers, *FENCES, *MARKS}
        self.longest = max(map(len, plain))
        self.prefixes = frozenset(text[:end] for text in plain for end in range(1, len(text)))
        self.longer = {
            text: longer
            for text in plain & self.prefixes
            if (longer := tuple(other for other in plain if other.startswith(text) and other != text))
        }
        keys = "|".join(sorted({re.escape(key) for one in self.bare for key in one.shape.keys}))
        key = rf'\s{{0,64}}"(?:{keys})"\s{{0,16}}:'
        json = [("{", key), ("[", rf"\s{{0,64}}\{{{key}")] if keys else []
        self.trigger = re.compile(any_of(plain, [*json, _LIST_CALL]))
        firsts = "".join(sorted({re.escape(text[0]) for text in plain} | {r"\[", r"\{"}))
        self.firsts = re.compile(f"[{firsts}]")
        self.begun = re.compile(
            r"[\[{][\s\[{]{0,130}(?:\"\w{0,32}(?:\"\s{0,16})?)?\Z|\[\s{0,64}[^\W\d][\w.\-]{0,255}\Z"
        )
        """A part of what may become a JSON call or a list of calls."""

    @cached_property
    def values(self) -> re.Pattern[str]:
        """What opens and closes a value in any of the formats."""
        return value_marks(self._forms)

    @cached_property
    def declared(self) -> re.Pattern[str]:
        """What is only in a tool's definition."""
        words = "|".join(sorted(map(re.escape, self._declared))) or "(?!)"
        return re.compile(rf"""<(?:[^<>"']|"[^"<]*"|'[^'<]*')*?\s(?:{words})\s*=""")

    @cached_property
    def frames(self) -> list[Framed]:
        """The dialects whose messages have headers."""
        return [_framed(name, one, frame) for name, one, frame in self._framed]

    @cached_property
    def starts(self) -> regex.Pattern[str]:
        """Any header, at the beginning of an answer."""
        return regex.compile(self._starts)

    def opener(self, prompt: str) -> str:
        """Return the marker of the reasoning in which a prompt ends; "" if there is none."""
        return next(filter(None, (reasoning_opener(one, prompt) for one in self._prompts)), "") if prompt else ""

    def following(self, trigger: str, buf: str, pos: int) -> list[Match]:
        """Return the patterns after a trigger at `pos` that can match the next non-blank character."""
        found = _NEXT.match(buf, pos + len(trigger))
        every = self.matches[trigger]
        if found is None:
            return every
        key = trigger, str(found[1])
        if key not in self._following:
            self._following[key] = [one for one in every if _may_go_on(one.pattern, *key)]
        return self._following[key]

    def ranking(self, matches: list[Match], seen: list[str]) -> tuple[DialectMatch, ...]:
        """Rank the dialects of matches; remembered, as there are few combinations."""
        key = (tuple([one.number for one in matches]), tuple(seen))
        found = self._rankings.get(key)
        if found is None:
            if len(self._rankings) >= _KEPT:
                self._rankings.clear()
            found = self._rankings[key] = self.ranked([row for one in matches for row in one.owners], seen)
        return found

    def ranked(self, hits: Iterable[Hit], seen: Iterable[str]) -> tuple[DialectMatch, ...]:
        """Rank dialects: a written form first, then known markers, the score, `rank`."""
        best: dict[str, DialectMatch] = {}
        for name, score, reason in hits:
            if name not in best or score > best[name].score:
                best[name] = DialectMatch(name, reason, score)
        known = {name: sum(name in self.marks.get(mark, ()) for mark in seen) for name in best}

        def place(one: DialectMatch) -> tuple[bool, int, int, int]:
            return one.score < WRITTEN, -known[one.dialect], -one.score, self.rank[one.dialect]

        return tuple(sorted(best.values(), key=place))


@lru_cache(maxsize=8)
def table(registry: Registry) -> DetectionTable:
    """Return the registry's table, compiled on first use."""
    return DetectionTable(registry)


def _may_go_on(pattern: regex.Pattern[str], trigger: str, char: str) -> bool:
    return any(pattern.match(trigger + blank + char, partial=True) is not None for blank in ("", "\n", " ", "\n\n"))


def _marks(syntaxes: dict[str, Syntax]) -> dict[str, tuple[str, ...]]:
    owners: dict[str, list[str]] = defaultdict(list)
    for name, syntax in syntaxes.items():
        for mark in dict.fromkeys(_marks_of(syntax)):
            if len(mark) > 2 and (_TAGGED.fullmatch(mark) or mark.endswith(":")) and "{" not in mark:  # noqa: PLR2004 - `[]` is no marker
                owners[mark].append(name)
    return {mark: tuple(names) for mark, names in owners.items()}


def _marks_of(syntax: Syntax) -> Iterator[str]:
    for pair in (*syntax.reasoning, *syntax.unwrap, *syntax.hidden):
        yield from (marker.strip() for marker in pair)
    yield from syntax.stop
    yield from (*syntax.frame.ends, *syntax.frame.opens) if syntax.frame is not None else ()
    for form in syntax.forms:
        yield from form.section.partition("{calls}")[2].strip().split("{?")[:1]
        yield form.call.rpartition("}")[2].strip()


def _reasoning(syntaxes: dict[str, Syntax]) -> dict[str, str]:
    pairs = {pair for syntax in syntaxes.values() for pair in syntax.reasoning}
    return {opener.strip(): closer.strip() for opener, closer in sorted(pairs) if closer and _TAGGED.match(opener)}


def _matches(
    syntaxes: dict[str, Syntax], rank: dict[str, int]
) -> tuple[dict[str, list[Match]], list[Match], list[Match]]:
    """Return the patterns after each trigger; of those without one, those on a name's line and those in tags."""
    kinds: dict[tuple[str, str, bool, bool], dict[str, tuple[int, str]]] = defaultdict(dict)
    for name in rank:
        for one in signatures(syntaxes[name]):
            best = kinds[one.trigger, one.source, one.offered, one.lines]
            if one.score > best.get(name, (0, ""))[0]:
                best[name] = one.score, one.evidence
    found: dict[str, list[Match]] = defaultdict(list)
    for number, ((trigger, source, offered, lines), owners) in enumerate(kinds.items()):
        rows = tuple((name, score, f"{verb(score)} {evidence}") for name, (score, evidence) in owners.items())
        found[trigger].append(Match(number, source, offered, lines, rows))
    unmarked = found.pop("", [])
    whole = {
        trigger: [match for other, matches in found.items() if trigger.startswith(other) for match in matches]
        for trigger in found
    }
    tags = [match for match in unmarked if match.source.startswith(("<", "(?i:<"))]
    return whole, [match for match in unmarked if match not in tags], tags


def _framed(name: str, syntax: Syntax, frame: Frame) -> Framed:
    ends = "|".join(map(re.escape, frame.ends))
    written = regex.match(frame.header, frame.call.replace("{name}", "f"))
    return Framed(
        name,
        frame,
        regex.compile(frame.header),
        regex.compile(body_start(syntax.forms[0], ends)),
        written is not None and bool(written.groupdict().get("channel")),
    )


def _bare(syntaxes: dict[str, Syntax], rank: dict[str, int]) -> Iterator[Bare]:
    for name in rank:
        syntax = syntaxes[name]
        calls = [form.json for form in syntax.forms if form.json is not None] if syntax.bare else []
        if calls:
            own = compile_shape(type(calls[0])(template=calls[0].template))
            yield Bare(name, compile_shape(*calls), own, listed=syntax.forms[0].array, single=syntax.single)
