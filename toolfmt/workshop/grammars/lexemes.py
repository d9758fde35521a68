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

from toolfmt.workshop.grammars import nodes
from toolfmt.workshop.grammars.spelling import NoPatternError, pattern_text


def open_ends(row: Iterable[nodes.Node]) -> tuple[nodes.Meet, ...]:
    """Return the texts at the end of a row of which it is not certain that they have ended."""
    found: tuple[nodes.Meet, ...] = ()
    following = ""
    for node in row:
        match node:
            case nodes.Lit(text):
                following += text
                found = tuple(meet for meet in found if not _settles(meet, following))
            case nodes.Space():
                pass
            case _:
                inner = _inside(node)
                found, following = (*found, *inner), ("" if inner else following)
    return found


@lru_cache(4096)
def _inside(node: nodes.Node) -> tuple[nodes.Meet, ...]:
    if isinstance(node, nodes.Meet):
        return (node,) if _end_is_open(node) else ()
    if isinstance(node, nodes.Seq):
        return open_ends(node.items)
    return tuple(dict.fromkeys(meet for part in nodes.parts(node) for meet in _inside(part)))


def _end_is_open(node: nodes.Meet) -> bool:
    """Whether only what follows decides where the text ends."""
    return not node.whole and any(
        isinstance(one, nodes.Seq) and one.items[-1] == nodes.ANYTHING == one.items[0] for one in node.never
    )


@lru_cache(maxsize=4096)
def texts_in(node: nodes.Node) -> int:
    """Count the texts in a node that exclude something."""
    return int(_end_is_open(node)) if isinstance(node, nodes.Meet) else sum(map(texts_in, nodes.parts(node)))


@lru_cache(maxsize=4096)
def needs_more(node: nodes.Node) -> bool:
    """Whether a text inside ends only with what follows its closer."""
    pairs = pairwise(node.items) if isinstance(node, nodes.Seq) else ()
    return any(open_ends(pair) for pair in pairs if open_ends(pair[:1])) or any(map(needs_more, nodes.parts(node)))


def in_steps(items: Iterable[nodes.Node]) -> bool:
    """Whether a row consists of texts and of optional members, none of which holds such a row itself."""
    return all(_step(item) for item in items)


def _step(item: nodes.Node) -> bool:
    match item:
        case nodes.Repeat(nodes.Seq(inner), 0, 1):
            return not any(isinstance(part, nodes.Repeat | nodes.Seq) and texts_in(part) for part in inner)
        case nodes.Repeat():
            return not texts_in(item)
        case nodes.Seq(inner):
            return in_steps(inner)
        case _:
            return True


@lru_cache(maxsize=4096)
def _settles(meet: nodes.Meet, text: str) -> bool:
    """Whether the text cannot be inside the other one."""
    may_hold = not text or any(low <= ord(text[0]) <= high for low, high in _alphabet(meet.every[0]))
    return not may_hold or any(pattern.search(text) for pattern in _excluded(meet.never))


@lru_cache(maxsize=1024)
def _excluded(never: tuple[nodes.Node, ...]) -> tuple[re.Pattern[str], ...]:
    found: list[re.Pattern[str]] = []
    for node in never:
        if isinstance(node, nodes.Seq) and node.items[0] == nodes.ANYTHING == node.items[-1]:
            try:
                found.append(re.compile(pattern_text(nodes.Seq(node.items[1:-1]))))
            except NoPatternError:
                continue
    return tuple(found)


@lru_cache(maxsize=1024)
def _alphabet(node: nodes.Node) -> nodes.Ranges:
    match node:
        case nodes.Lit(text):
            return nodes.joined((ord(char), ord(char)) for char in text)
        case nodes.Chars(ranges):
            return ranges
        case nodes.Meet(every):
            return _alphabet(every[0])
        case nodes.Space():
            return nodes.chars(" \n\t").ranges
        case _:
            return nodes.joined(pair for part in nodes.parts(node) for pair in _alphabet(part))


def continuations(run: Sequence[nodes.Node], items: tuple[nodes.Node, ...]) -> list[nodes.Node]:
    """Return what may follow a run whose end is open; options with the same decisive beginning are one."""
    options: list[nodes.Node] = []
    for at, item in enumerate(items):
        rest = items[at + 1 :]
        if isinstance(item, nodes.Repeat) and not item.least:
            most = None if item.most is None else item.most - 1
            again = item if most is None else nodes.Repeat(item.node, 0, most) if most else nodes.NOTHING
            options.append(nodes.sequence(item.node, again, *rest))
            continue
        if isinstance(item, nodes.Repeat):
            more = nodes.Repeat(item.node, item.least - 1, None if item.most is None else item.most - 1)
            options.append(nodes.sequence(item.node, more, *rest))
        elif isinstance(item, nodes.Alt):
            options += [nodes.sequence(option, *rest) for option in item.options]
        else:
            options.append(nodes.sequence(item, *rest))
        break
    else:
        options.append(nodes.NOTHING)
    return [nodes.branches(group) for group in _groups(run, options)]


def _groups(run: Sequence[nodes.Node], options: list[nodes.Node]) -> list[list[nodes.Node]]:
    groups: list[list[nodes.Node]] = []
    for option in options:
        for group in groups:
            shared = commonprefix([nodes.begins(one) for one in (*group, option)])  # noqa: RUF071 - of texts, not of paths
            if len(shared) > 1 and not open_ends((*run, nodes.Lit(shared))):
                group.append(option)
                break
        else:
            groups.append([option])
    return groups
