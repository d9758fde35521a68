r"""Where an answer may be cut into lexemes; a lexer always takes the longest one.

    text "<tool_call>\n" name ...     cut after the marker: no longer text has it inside
    value "</arg>" space? "<arg ..."  cut after what follows the closer, not after the closer

A text that excludes something goes on until the excluded part is complete, so it is one lexeme with all up to there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from os.path import commonprefix

from toolfmt.workshop.grammars.nodes import (
    ANYTHING,
    NOTHING,
    Alt,
    Chars,
    Lit,
    Meet,
    Node,
    Ranges,
    Repeat,
    Seq,
    Space,
    begins,
    branches,
    chars,
    joined,
    parts,
    sequence,
)
from toolfmt.workshop.grammars.spelling import NoPatternError, pattern_text


def open_ends(nodes: Iterable[Node]) -> tuple[Meet, ...]:
    """Return the texts at the end of a row of which it is not certain that they have ended."""
    found: tuple[Meet, ...] = ()
    following = ""
    for node in nodes:
        match node:
            case Lit(text):
                following += text
                found = tuple(meet for meet in found if not _settles(meet, following))
            case Space():
                pass
            case _:
                inner = _inside(node)
                found, following = (*found, *inner), ("" if inner else following)
    return found


@lru_cache(4096)
def _inside(node: Node) -> tuple[Meet, ...]:
    if isinstance(node, Meet):
        return (node,) if _end_is_open(node) else ()
    if isinstance(node, Seq):
        return open_ends(node.items)
    return tuple(dict.fromkeys(meet for part in parts(node) for meet in _inside(part)))


def _end_is_open(node: Meet) -> bool:
    """Whether only what follows decides where the text ends."""
    return not node.whole and any(
        isinstance(one, Seq) and one.items[-1] == ANYTHING == one.items[0] for one in node.never
    )


@lru_cache(maxsize=4096)
def texts_in(node: Node) -> int:
    """Count the texts in a node that exclude something."""
    return int(_end_is_open(node)) if isinstance(node, Meet) else sum(map(texts_in, parts(node)))


@lru_cache(maxsize=4096)
def needs_more(node: Node) -> bool:
    """Whether a text inside ends only with what follows its closer."""
    pairs = pairwise(node.items) if isinstance(node, Seq) else ()
    return any(open_ends(pair) for pair in pairs if open_ends(pair[:1])) or any(map(needs_more, parts(node)))


def in_steps(items: Iterable[Node]) -> bool:
    """Whether a row consists of texts and of optional members, none of which holds such a row itself."""
    return all(_step(item) for item in items)


def _step(item: Node) -> bool:
    match item:
        case Repeat(Seq(inner), 0, 1):
            return not any(isinstance(part, Repeat | Seq) and texts_in(part) for part in inner)
        case Repeat():
            return not texts_in(item)
        case Seq(inner):
            return in_steps(inner)
        case _:
            return True


@lru_cache(maxsize=4096)
def _settles(meet: Meet, text: str) -> bool:
    """Whether the text cannot be inside the other one."""
    return not _may_hold(meet, text[:1]) or any(pattern.search(text) for pattern in _excluded(meet.never))


@lru_cache(maxsize=1024)
def _excluded(never: tuple[Node, ...]) -> tuple[re.Pattern[str], ...]:
    found: list[re.Pattern[str]] = []
    for node in never:
        if isinstance(node, Seq) and node.items[0] == ANYTHING == node.items[-1]:
            try:
                found.append(re.compile(pattern_text(Seq(node.items[1:-1]))))
            except NoPatternError:
                continue
    return tuple(found)


def _may_hold(meet: Meet, char: str) -> bool:
    return any(low <= ord(char) <= high for low, high in _alphabet(meet.every[0])) if char else True


@lru_cache(maxsize=1024)
def _alphabet(node: Node) -> Ranges:
    match node:
        case Lit(text):
            return joined((ord(char), ord(char)) for char in text)
        case Chars(ranges):
            return ranges
        case Meet(every):
            return _alphabet(every[0])
        case Space():
            return chars(" \n\t").ranges
        case _:
            return joined(pair for part in parts(node) for pair in _alphabet(part))


def continuations(run: Sequence[Node], items: tuple[Node, ...]) -> list[Node]:
    """Return what may follow a run whose end is open; options with the same decisive beginning are one."""
    options: list[Node] = []
    for at, item in enumerate(items):
        rest = items[at + 1 :]
        if isinstance(item, Repeat) and not item.least:
            most = None if item.most is None else item.most - 1
            again = item if most is None else Repeat(item.node, 0, most) if most else NOTHING
            options.append(sequence(item.node, again, *rest))
            continue
        if isinstance(item, Repeat):
            more = Repeat(item.node, item.least - 1, None if item.most is None else item.most - 1)
            options.append(sequence(item.node, more, *rest))
        elif isinstance(item, Alt):
            options += [sequence(option, *rest) for option in item.options]
        else:
            options.append(sequence(item, *rest))
        break
    else:
        options.append(NOTHING)
    return [branches(group) for group in _groups(run, options)]


def _groups(run: Sequence[Node], options: list[Node]) -> list[list[Node]]:
    groups: list[list[Node]] = []
    for option in options:
        for group in groups:
            shared = commonprefix([begins(one) for one in (*group, option)])  # noqa: RUF071 - of texts, not of paths
            if len(shared) > 1 and not open_ends((*run, Lit(shared))):
                group.append(option)
                break
        else:
            groups.append([option])
    return groups
