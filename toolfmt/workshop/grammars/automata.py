"""Regular nodes as automata, for targets without `and` and `not`.

    automaton(without(Lit("</a>")))      states 0..3, all of which accept

A deterministic automaton is built directly from a `Meet`, state by state, and equivalent states are joined. The writers
turn it into rules or one regular expression.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from toolfmt.errors import UnsupportedSchemaError
from toolfmt.workshop.grammars import nodes

MOST_STATES: Final = 3_000
MOST_PLACES: Final = 10 * MOST_STATES
"""States of an automaton before it is made deterministic."""
MOST_STEPS: Final = 500_000
"""States visited, each once for every range of characters: a pattern that may begin anywhere is in many at once."""


class TooLargeError(UnsupportedSchemaError):
    """An automaton of too many states."""


@dataclass(slots=True)
class Automaton:
    """A deterministic automaton; state 0 is the first."""

    moves: list[dict[int, nodes.Ranges]]
    """For each state, the next states and the characters that lead to them."""
    accepts: list[bool]


@dataclass(slots=True)
class _Machine:
    """A nondeterministic automaton in one table."""

    steps: list[list[tuple[nodes.Ranges, int]]] = field(default_factory=list[list[tuple[nodes.Ranges, int]]])
    free: list[list[int]] = field(default_factory=list[list[int]])

    def state(self) -> int:
        if len(self.steps) > MOST_PLACES:
            raise TooLargeError(f"a text needs more than {MOST_PLACES} places to be distinguished")
        self.steps.append([])
        self.free.append([])
        return len(self.steps) - 1

    def add(self, node: nodes.Node, start: int) -> int:  # noqa: C901, PLR0911 - one per kind
        """Add a node after a state; returns the state after the node."""
        match node:
            case nodes.Lit(text):
                for char in text:
                    start = self.step(start, nodes.chars(char).ranges)
                return start
            case nodes.Chars(ranges):
                return self.step(start, ranges)
            case nodes.Space():
                return self.add(nodes.SPACE, start)
            case nodes.Seq(items):
                for item in items:
                    start = self.add(item, start)
                return start
            case nodes.Alt(options):
                end = self.state()
                for option in options:
                    self.free[self.add(option, self.beside(start))].append(end)
                return end
            case nodes.Repeat(inner, least, most):
                return self.repeat(inner, least, most, start)
            case nodes.Meet():
                return self.inline(automaton(node), start)
            case _:
                raise TypeError(f"{type(node).__name__} is not regular")

    def step(self, start: int, ranges: nodes.Ranges) -> int:
        end = self.state()
        self.steps[start].append((ranges, end))
        return end

    def beside(self, start: int) -> int:
        end = self.state()
        self.free[start].append(end)
        return end

    def repeat(self, inner: nodes.Node, least: int, most: int | None, start: int) -> int:
        for _ in range(least):
            start = self.add(inner, start)
        if most is None:
            loop = self.beside(start)
            self.free[self.add(inner, loop)].append(loop)
            return self.beside(loop)
        end = self.state()
        for _ in range(most - least):
            self.free[start].append(end)
            start = self.add(inner, self.beside(start))
        self.free[start].append(end)
        return end

    def inline(self, made: Automaton, start: int) -> int:
        states = [self.state() for _ in made.moves]
        end = self.state()
        self.free[start].append(states[0])
        for at, moves in enumerate(made.moves):
            for to, ranges in moves.items():
                self.steps[states[at]].append((ranges, states[to]))
            if made.accepts[at]:
                self.free[states[at]].append(end)
        return end

    def closure(self, states: Iterable[int]) -> frozenset[int]:
        found = set(states)
        pending = list(found)
        while pending:
            for free in self.free[pending.pop()]:
                if free not in found:
                    found.add(free)
                    pending.append(free)
        return frozenset(found)


_Place = tuple[frozenset[int], ...]


def automaton(node: nodes.Node) -> Automaton:
    """Build the smallest deterministic automaton of a regular node. Raises `TooLargeError`."""
    every, never = (node.every, node.never) if isinstance(node, nodes.Meet) else ((node,), ())
    machine = _Machine()
    begins = [machine.state() for _ in (*every, *never)]
    ends = [machine.add(part, begin) for part, begin in zip((*every, *never), begins, strict=True)]
    start: _Place = tuple(machine.closure([begin]) for begin in begins)
    lost = [  # once such a text has what is excluded, it has it for good
        at
        for at, part in enumerate((*every, *never))
        if at >= len(every) and isinstance(part, nodes.Seq) and part.items[-1] == nodes.ANYTHING
    ]
    numbers: dict[_Place, int] = {start: 0}
    pending = [start]
    moves: list[dict[int, nodes.Ranges]] = []
    accepts: list[bool] = []
    steps = 0
    for place in pending:
        cuts = list(_cuts(machine, place))
        steps += sum(map(len, place)) * len(cuts)
        if steps > MOST_STEPS:
            raise TooLargeError(f"a text needs more than {MOST_STEPS} steps for its places to be distinguished")
        inside = [end in states for end, states in zip(ends, place, strict=True)]
        accepts.append(all(inside[: len(every)]) and not any(inside[len(every) :]))
        leads: dict[_Place, list[tuple[int, int]]] = {}
        for low, high in cuts:
            after = tuple(_moved(machine, states, low) for states in place)
            if all(after[: len(every)]) and not any(ends[at] in after[at] for at in lost):
                leads.setdefault(after, []).append((low, high))
        pending += [after for after in leads if after not in numbers]
        moves.append({numbers.setdefault(after, len(numbers)): nodes.joined(ranges) for after, ranges in leads.items()})
        if len(numbers) > MOST_STATES:
            raise TooLargeError(f"a text needs more than {MOST_STATES} places to be distinguished")
    return _smallest(Automaton(moves, accepts))


def _cuts(machine: _Machine, place: _Place) -> Iterable[tuple[int, int]]:
    """Cut the characters that lead on from a place into ranges with the same next place."""
    edges: set[int] = set()
    for states in place:
        for state in states:
            for ranges, _ in machine.steps[state]:
                for low, high in ranges:
                    edges.update((low, high + 1))
    cuts = sorted(edges)
    return zip(cuts, (cut - 1 for cut in cuts[1:]), strict=False)


def _moved(machine: _Machine, states: frozenset[int], char: int) -> frozenset[int]:
    return machine.closure(
        to
        for state in states
        for ranges, to in machine.steps[state]
        if any(low <= char <= high for low, high in ranges)
    )


def _smallest(made: Automaton) -> Automaton:
    """Drop dead states and join equivalent ones."""
    alive = _alive(made)
    group = _alike(made, alive)
    order = {group[0]: 0}
    for at in range(len(group)):
        if at in alive:
            order.setdefault(group[at], len(order))
    moves_out: list[dict[int, nodes.Ranges]] = [{} for _ in order]
    accepts_out = [False] * len(order)
    for at, moves in enumerate(made.moves):
        if group[at] not in order:
            continue
        mine = order[group[at]]
        accepts_out[mine] = made.accepts[at]
        ways: dict[int, list[tuple[int, int]]] = {}
        for to, ranges in moves.items():
            if to in alive:
                ways.setdefault(order[group[to]], []).extend(ranges)
        moves_out[mine] = {to: nodes.joined(ranges) for to, ranges in ways.items()}
    return Automaton(moves_out, accepts_out)


def _alike(made: Automaton, alive: set[int]) -> list[int]:
    """Give equivalent states the same number (Hopcroft's algorithm: n log n steps)."""
    before = _before(made, alive)
    numbers = range(len(made.moves))
    blocks = [{at for at in numbers if made.accepts[at] is accepts} for accepts in (False, True)]
    block_of = [int(accepts) for accepts in made.accepts]
    pending = {0, 1}
    while pending:
        by_letter: dict[int, list[int]] = {}
        for to in blocks[pending.pop()]:
            for letter, froms in before[to].items():
                by_letter.setdefault(letter, []).extend(froms)
        for froms in by_letter.values():
            pending.update(_split(froms, blocks, block_of, pending))
    return block_of


def _split(froms: list[int], blocks: list[set[int]], block_of: list[int], pending: set[int]) -> list[int]:
    """Split the blocks that contain some of these states and others; returns the blocks to visit next."""
    parts: dict[int, set[int]] = {}
    for at in froms:
        parts.setdefault(block_of[at], set()).add(at)
    found: list[int] = []
    for old, part in parts.items():
        if len(part) == len(blocks[old]):
            continue
        blocks[old] -= part
        fresh = len(blocks)
        blocks.append(part)
        for at in part:
            block_of[at] = fresh
        found.append(old if old not in pending and len(blocks[old]) < len(part) else fresh)
    return found


def _before(made: Automaton, alive: set[int]) -> list[dict[int, list[int]]]:
    """Return for each state the states that lead to it, by letter."""
    letters = _letters({ranges for moves in made.moves for ranges in moves.values()})
    before: list[dict[int, list[int]]] = [{} for _ in made.moves]
    for at, moves in enumerate(made.moves):
        for to, ranges in moves.items():
            for letter in letters[ranges] if to in alive else ():
                before[to].setdefault(letter, []).append(at)
    return before


def _letters(labels: set[nodes.Ranges]) -> dict[nodes.Ranges, tuple[int, ...]]:
    """Number the parts of each set of characters, so that sets share a number where they share characters."""
    edges: dict[int, list[tuple[bool, int]]] = {}
    for number, label in enumerate(labels):
        for low, high in label:
            edges.setdefault(low, []).append((True, number))
            edges.setdefault(high + 1, []).append((False, number))
    names: dict[frozenset[int], int] = {}
    inside: set[int] = set()
    found: list[dict[int, None]] = [{} for _ in labels]
    for _, changes in sorted(edges.items()):
        inside -= {number for begins, number in changes if not begins}
        inside |= {number for begins, number in changes if begins}
        name = names.setdefault(frozenset(inside), len(names))
        for number in inside:
            found[number][name] = None
    return {label: tuple(found[number]) for number, label in enumerate(labels)}


def _alive(made: Automaton) -> set[int]:
    before: list[list[int]] = [[] for _ in made.moves]
    for at, moves in enumerate(made.moves):
        for to in moves:
            before[to].append(at)
    found = {at for at, accepts in enumerate(made.accepts) if accepts}
    pending = list(found)
    while pending:
        for at in before[pending.pop()]:
            if at not in found:
                found.add(at)
                pending.append(at)
    return found
