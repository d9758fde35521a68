r"""No pattern of the reader takes square time: a matcher that counts its steps is given texts that repeat its parts.

    \s*```              14 times the steps for four times the white space: each of its characters is a new beginning
    (?<!\s)\s*+```      3 times the steps

Bounds of repetitions are lowered first, so that a pattern with a bound counts as the linear one that it is.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

import pytest
import regex

import toolfmt

ROOT = Path(toolfmt.__file__).parent
SEARCHES = frozenset({"search", "finditer", "findall", "sub", "subn", "split"})
REPEATS = frozenset({op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT})
SPOILED = "\x01"
SMALL, LARGE = 16, 64
BOUND = 3
MOST_STEPS = 40_000
PACKAGES = ("agents", "detection", "execution", "mcp", "parsers", "schema", "transcripts", "workshop")
MOST_GROWTH = float("inf")
LINEAR = 5.5
"""How much the steps may grow for a text four times as long."""
SHORT = {
    "toolfmt.mcp.config._VARIABLE": "the program's own configuration",
    "toolfmt.workshop.grammars.elements._ATTRIBUTE": "templates of formats",
    "toolfmt.workshop.response_templates.patterns._BRACES": "patterns of a response template, which is compiled too",
    "toolfmt.detection.table._SPECIAL": "markers of registered formats",
    "toolfmt.detection.unread_calls._SENTENCE": "searched in the characters near a name",
    "toolfmt.detection.whole_calls._LABEL": "a label has four words",
    "toolfmt.parsers.mending.mend_tags._OPTIONAL": "templates of formats",
    "toolfmt.parsers.reading.channels._LEAD": "templates of formats",
    "toolfmt.parsers.reading.steps._REST": "matches the empty text, so it never fails",
    "toolfmt.parsers.scanning.patterns._READ_ATTRIBUTE": "names of at most 64 characters",
    "toolfmt.parsers.scanning.patterns._TAG_SLOT": "templates of formats",
}
"""Patterns that take square time, and why they are never given long texts."""
Node = tuple[Any, Any]
Then = Callable[[int], bool]


def patterns(package: str) -> Iterator[tuple[str, Any, bool]]:
    """Give each pattern of a package by its name, and whether it is searched for, not only matched at a place."""
    for file in sorted((ROOT / package).rglob("*.py")):
        name = ".".join(("toolfmt", *file.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
        source = file.read_text("utf-8")
        for key, value in vars(import_module(name)).items():
            bound = getattr(value, "__self__", None)
            pattern = bound if isinstance(bound, re.Pattern | regex.Pattern) else value
            if isinstance(pattern, re.Pattern | regex.Pattern) and re.search(rf"^{key}\b", source, re.MULTILINE):
                used = {value.__name__} if pattern is bound else set(re.findall(rf"\b{key}\.(\w+)", source))
                yield f"{name}.{key}", pattern, bool(used & SEARCHES)


class Counting:
    """Matches a pattern as backtracking engines do, and counts the steps."""

    def __init__(self, tree: Any, text: str, flags: int) -> None:
        self.tree, self.text, self.flags = tree, text, flags
        self.steps = 0
        self.groups: dict[Any, tuple[int, int]] = {}

    def search(self) -> int:
        for start in range(len(self.text) + 1):
            if self.matched(start):
                break
        return self.steps

    def matched(self, start: int, *, whole: bool = False) -> bool:
        return self.sequence(list(self.tree), start, lambda at: not whole or at == len(self.text))

    def sequence(self, nodes: list[Node], at: int, then: Then) -> bool:
        if not nodes or self.steps > MOST_STEPS:
            return not nodes and then(at)
        return self.one(nodes[0], at, lambda end: self.sequence(nodes[1:], end, then))

    def alone(self, nodes: Any, at: int) -> int | None:
        ends: list[int] = []
        return ends[0] if self.sequence(list(nodes), at, lambda end: not ends.append(end)) else None

    def one(self, node: Node, at: int, then: Then) -> bool:  # noqa: PLR0911 - a case for each kind
        self.steps += 1
        kind, given = node
        if kind in {op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN}:
            return at < len(self.text) and fits(node, self.text[at], self.flags) and then(at + 1)
        if kind is op.AT:
            return self.place(given, at) and then(at)
        if kind is op.BRANCH:
            return any(self.sequence(list(branch), at, then) for branch in given[1])
        if kind is op.SUBPATTERN:
            return self.sequence(list(given[3]), at, lambda end: self.group(given[0], at, end) and then(end))
        if kind is op.ATOMIC_GROUP:
            return (end := self.alone(given, at)) is not None and then(end)
        if kind is op.POSSESSIVE_REPEAT:
            end = self.alone([(op.MAX_REPEAT, given)], at)
            return end is not None and then(end)
        if kind in {op.MAX_REPEAT, op.MIN_REPEAT}:
            least, most, body = given
            return self.repeat(list(body), *lowered(least, most), at, then, lazy=kind is op.MIN_REPEAT)
        if kind in {op.ASSERT, op.ASSERT_NOT}:
            found = self.alone(given[1], at) is not None if given[0] > 0 else self.behind(given[1], at)
            return found == (kind is op.ASSERT) and then(at)
        if kind is op.GROUPREF:
            start, end = self.groups.get(given, (0, 0))
            return self.text.startswith(self.text[start:end], at) and then(at + end - start)
        start = given[0] in self.groups  # a group's presence decides
        return self.sequence(list(given[1] if start else given[2] or ()), at, then)

    def repeat(  # noqa: PLR0913 - what the engine knows there
        self, body: list[Node], least: int, most: float, at: int, then: Then, *, lazy: bool
    ) -> bool:
        def again() -> bool:
            return most > 0 and self.sequence(
                body,
                at,
                lambda end: (
                    (end > at or least > 0) and self.repeat(body, max(least - 1, 0), most - 1, end, then, lazy=lazy)
                ),
            )

        if self.steps > MOST_STEPS:
            return False
        if least > 0:
            return again()
        return (then(at) or again()) if lazy else (again() or then(at))

    def group(self, name: Any, start: int, end: int) -> bool:
        self.groups[name] = (start, end)
        return True

    def behind(self, nodes: Any, at: int) -> bool:
        least, most = nodes.getwidth()
        starts = range(max(at - most, 0), at - least + 1)
        return any(self.sequence(list(nodes), start, lambda end: end == at) for start in starts)

    def place(self, kind: Any, at: int) -> bool:
        text = self.text
        if kind in {op.AT_BOUNDARY, op.AT_NON_BOUNDARY}:
            sides = [0 <= one < len(text) and (text[one].isalnum() or text[one] == "_") for one in (at - 1, at)]
            return (sides[0] != sides[1]) == (kind is op.AT_BOUNDARY)
        if kind in {op.AT_BEGINNING, op.AT_BEGINNING_STRING}:
            return at == 0 or bool(self.flags & re.MULTILINE and kind is op.AT_BEGINNING and text[at - 1] == "\n")
        return at == len(text) or bool(kind is op.AT_END and self.flags & re.MULTILINE and text[at] == "\n")


def lowered(least: int, most: Any) -> tuple[int, float]:
    """Lower the bounds of a repetition; one without a bound has none."""
    return min(least, BOUND), float("inf") if most is op.MAXREPEAT else min(most, BOUND)


def fits(node: Node, char: str, flags: int) -> bool:
    kind, given = node
    if kind is op.ANY:
        return char != "\n" or bool(flags & re.DOTALL)
    chars = {char, char.lower(), char.upper()} if flags & re.IGNORECASE else {char}
    if kind is op.LITERAL:
        return chr(given) in chars
    if kind is op.NOT_LITERAL:
        return chr(given) not in chars
    negated = given[0][0] is op.NEGATE
    return negated != any(in_set(item, one) for item in given for one in chars)


CATEGORIES: dict[Any, Callable[[str], bool]] = {
    op.CATEGORY_DIGIT: str.isdecimal,
    op.CATEGORY_SPACE: str.isspace,
    op.CATEGORY_WORD: lambda char: char.isalnum() or char == "_",
    op.CATEGORY_NOT_DIGIT: lambda char: not char.isdecimal(),
    op.CATEGORY_NOT_SPACE: lambda char: not char.isspace(),
    op.CATEGORY_NOT_WORD: lambda char: not (char.isalnum() or char == "_"),
}


def in_set(item: Node, char: str) -> bool:
    kind, given = item
    if kind is op.LITERAL:
        return chr(given) == char
    if kind is op.RANGE:
        return given[0] <= ord(char) <= given[1]
    return kind is op.CATEGORY and CATEGORIES[given](char)


def sample(nodes: Any, choice: int) -> str:
    """Give a text that fits, another one for each choice."""
    made = ""
    for kind, given in nodes:
        if kind is op.LITERAL:
            made += chr(given)
        elif kind in {op.NOT_LITERAL, op.ANY, op.IN}:
            fitting = [char for char in candidates(kind, given) if fits((kind, given), char, 0)]
            made += fitting[choice % len(fitting)] if fitting else ""
        elif kind is op.BRANCH:
            made += sample(given[1][choice % len(given[1])], choice)
        elif kind in {op.SUBPATTERN, op.ATOMIC_GROUP}:
            made += sample(given[3] if kind is op.SUBPATTERN else given, choice)
        elif kind in REPEATS:
            made += sample(given[2], choice) * min(max(given[0], choice % 2 if given[1] else 0), BOUND)
    return made


def candidates(kind: Any, given: Any) -> str:
    named = [item for item in given if item[0] in {op.LITERAL, op.RANGE}] if kind is op.IN else []
    return "".join(chr(one if which is op.LITERAL else one[0]) for which, one in named) + "a \n\"'<{[(=,:`-\\>/.|0"


def pumped(nodes: Any, before: str = "", choice: int = 0) -> Iterator[tuple[str, str]]:
    """Give what is before each repetition without a bound, and a piece that it repeats."""
    for kind, given in nodes:
        inner = {op.SUBPATTERN: 3, op.ASSERT: 1, op.ASSERT_NOT: 1}.get(kind)
        if kind in REPEATS:
            if given[1] is op.MAXREPEAT:
                yield before, sample(given[2], choice)
            yield from pumped(given[2], before, choice)
        elif kind is op.BRANCH:
            for branch in given[1]:
                yield from pumped(branch, before, choice)
        elif kind is op.ATOMIC_GROUP or inner is not None:
            yield from pumped(given if inner is None else given[inner], before, choice)
        before += sample([(kind, given)], choice)


def growth(tree: Any, flags: int, texts: tuple[str, str], *, searched: bool) -> float:
    counts: list[int] = []
    for text in texts:
        matcher = Counting(tree, text, flags)
        if searched:
            matcher.search()
        else:
            matcher.matched(0, whole=True)
        counts.append(matcher.steps + 50)
    return MOST_GROWTH if counts[1] > MOST_STEPS else counts[1] / counts[0]


def worst(pattern: str, flags: int, *, searched: bool) -> tuple[float, str, str]:
    """Give the largest growth of steps for a text four times as long, with what is before it and what it repeats."""
    tree = _parser.parse(pattern, flags & (re.IGNORECASE | re.MULTILINE | re.DOTALL | re.VERBOSE))
    repeats = {pair for choice in range(4) for pair in pumped(tree, "", choice)}
    found = (1.0, "", "")
    for start, unit in sorted({pair for before, piece in repeats for pair in ((before, piece), ("", before + piece))}):
        if unit and len(unit) < 16 and found[0] < MOST_GROWTH:
            texts = (
                start + unit * (SMALL // len(unit) + 1) + SPOILED,
                start + unit * (LARGE // len(unit) + 1) + SPOILED,
            )
            found = max(found, (growth(tree, flags, texts, searched=searched), start, unit))
    return found


@pytest.fixture(autouse=True)
def deep() -> Iterator[None]:
    """Allow the matcher, which recurs for each character, more levels."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(10_000)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.parametrize("package", PACKAGES)
def test_patterns_take_steps_in_proportion_to_the_text(package: str) -> None:
    slow: dict[str, str] = {}
    for name, pattern, searched in patterns(package):
        try:
            grown, before, piece = worst(pattern.pattern, pattern.flags, searched=searched)
        except re.error:  # what only the package `regex` has
            assert not re.search(r"[^\\][*+](?![+])", pattern.pattern), name
            continue
        if grown > LINEAR:
            slow[name] = f"{before!r}, then {piece!r} again and again: {grown:.1f} times the steps"
    assert slow.keys() == {name for name in SHORT if name.startswith(f"toolfmt.{package}.")}, slow


@pytest.mark.parametrize(
    "pattern", [r"\s*`{3}", r"(a+)+b", r"(?:a|a)*b", r"<[^>]*>", r"`[\s\S]*?\s*`", r"/\*[\s\S]*?\*/"]
)
def test_a_pattern_that_takes_square_time_is_found(pattern: str) -> None:
    assert worst(pattern, 0, searched=True)[0] > LINEAR


@pytest.mark.parametrize("pattern", [r"(?<!\s)\s*+`{3}", r"(?<![abc])(?:ab|ac)+d", r"<[^<>]*>", r"\s{0,64}`"])
def test_a_pattern_that_takes_linear_time_is_not(pattern: str) -> None:
    assert worst(pattern, 0, searched=True)[0] < LINEAR
