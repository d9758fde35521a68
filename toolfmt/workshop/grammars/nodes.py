"""A grammar as data, which the writers of all targets read.

    sequence(Lit('{"city": '), Json(...), Lit("}"))
    Meet((ANYTHING,), (containing(Lit("</arg>")),))      any text without `</arg>` in it

Nodes are values: the same node may be in many places. A `Ref` names an entry of a `GrammarRules` table; only these
make a grammar recursive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from os.path import commonprefix
from typing import Final, TypeAlias

from toolfmt.model import JsonObject

Ranges: TypeAlias = tuple[tuple[int, int], ...]
"""Code points, as ranges in order, both ends included."""

_LAST: Final = 0x10FFFF
_SURROGATES: Final = (0xD800, 0xDFFF)


@dataclass(frozen=True, slots=True)
class Lit:
    """A text as it is."""

    text: str


@dataclass(frozen=True, slots=True)
class Chars:
    """One character of a set."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Hashed:
    """A node of nodes, whose hash is computed once: else each level would compute the hashes of all below it."""

    _hash: int = field(default=0, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Compute the hash from those of the nodes inside."""
        parts = (getattr(self, name) for name in self.__match_args__)
        object.__setattr__(self, "_hash", hash((type(self), *parts)))

    def __hash__(self) -> int:
        """Return the hash."""
        return self._hash


@dataclass(frozen=True, slots=True)
class Seq(Hashed):
    """Nodes in a row; the empty text if there are none."""

    items: tuple[Node, ...]

    __hash__ = Hashed.__hash__


@dataclass(frozen=True, slots=True)
class Alt(Hashed):
    """One of several nodes; without options no text fits."""

    options: tuple[Node, ...]

    __hash__ = Hashed.__hash__


@dataclass(frozen=True, slots=True)
class Repeat(Hashed):
    """A node `least` to `most` times; None for any number."""

    node: Node
    least: int = 0
    most: int | None = None

    __hash__ = Hashed.__hash__


@dataclass(frozen=True, slots=True)
class Meet(Hashed):
    """Texts that as a whole fit all of `every` and none of `never`; all of these are regular."""

    every: tuple[Node, ...]
    never: tuple[Node, ...] = ()
    whole: bool = False
    """No text is the beginning of another one, so that its end is known at once: the texts are quoted."""

    __hash__ = Hashed.__hash__


@dataclass(frozen=True, slots=True)
class Ref:
    """A rule by its name."""

    name: str


@dataclass(frozen=True, slots=True)
class Space:
    """White space where JSON allows any; `text` is what the dialect writes there."""

    text: str = ""


class Json:
    """A JSON value by its schema, and as a node for targets that do not read schemas."""

    def __init__(self, schema: JsonObject, node: Node) -> None:
        self.schema = schema
        self.node = node


Node: TypeAlias = Lit | Chars | Seq | Alt | Repeat | Meet | Ref | Space | Json
GrammarRules: TypeAlias = dict[str, Node]


def parts(node: Node) -> tuple[Node, ...]:
    """Return the nodes directly inside a sequence, a choice or a repetition."""
    match node:
        case Seq(items) | Alt(items):
            return items
        case Repeat(inner):
            return (inner,)
        case _:
            return ()


def chars(*sets: str | tuple[int, int]) -> Chars:
    """Make a set of the characters of texts and of ranges of code points."""
    found: list[tuple[int, int]] = []
    for part in sets:
        found += [(ord(char), ord(char)) for char in part] if isinstance(part, str) else [part]
    return Chars(joined(found))


def joined(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Put ranges in order and join those that touch."""
    out: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if out and low <= out[-1][1] + 1:
            out[-1] = (out[-1][0], max(out[-1][1], high))
        else:
            out.append((low, high))
    return tuple(out)


def others(node: Chars) -> Chars:
    """Return the characters that are not in a set; halves of surrogate pairs are no characters."""
    out: list[tuple[int, int]] = []
    at = 0
    for low, high in joined([*node.ranges, _SURROGATES]):
        if at < low:
            out.append((at, low - 1))
        at = high + 1
    return Chars((*out, (at, _LAST)) if at <= _LAST else tuple(out))


_NEVER: Final = (Alt(()), Chars(()))
ANY: Final = others(Chars(()))
ANYTHING: Final = Repeat(ANY)
NOTHING: Final = Seq(())
DIGIT: Final = chars((0x30, 0x39))
BLANK: Final = chars(" \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0")
SPACES: Final = chars((0x2000, 0x200A), "\u1680\u2028\u2029\u202f\u205f\u3000")
"""White space beyond Latin."""
SPACE: Final[Node] = Alt((NOTHING, Lit(" "), Seq((Lit("\n"), Repeat(chars(" \t"), 0, 64)))))
"""The white space of a `Space`: bounded, since a model could go on with blanks for ever."""


def sequence(*items: Node) -> Node:
    """Put nodes in a row, with literals joined; if no text fits one of them, none fits the row."""
    flat: list[Node] = []
    texts: list[Lit] = []  # joined once, so that a long text takes time in proportion to its length

    def join() -> None:
        if len(texts) == 1:
            flat.append(texts[0])  # the same object: Lark's writer knows what it has written by identity
        elif texts:
            flat.append(Lit("".join(one.text for one in texts)))
        texts.clear()

    for item in items:
        for part in item.items if isinstance(item, Seq) else (item,):
            if isinstance(part, Lit):
                texts += [part] if part.text else []
            elif isinstance(part, Alt | Chars) and part in _NEVER:
                return Alt(())
            else:
                join()
                flat.append(part)
    join()
    return flat[0] if len(flat) == 1 else Seq(tuple(flat))


def either(*options: Node) -> Node:
    """Choose among nodes, without nested choices and without the same twice."""
    flat: dict[int | Node, Node] = {}
    for option in options:
        for part in option.options if isinstance(option, Alt) else (option,):
            if part != Chars(()):
                flat.setdefault(part, part)
    return next(iter(flat.values())) if len(flat) == 1 else Alt(tuple(flat.values()))


def maybe(node: Node) -> Node:
    """Take a node or nothing."""
    return Repeat(node, 0, 1)


def containing(node: Node) -> Node:
    """Any text in which the node occurs somewhere."""
    return sequence(ANYTHING, node, ANYTHING)


def without(*nodes: Node) -> Node:
    """Any text in which none of the nodes occurs."""
    return Meet((ANYTHING,), tuple(containing(node) for node in nodes)) if nodes else ANYTHING


def words(texts: Iterable[str]) -> Node:
    """One of several texts."""
    return either(*map(Lit, texts))


def folded(text: str) -> Node:
    """A text whose letters may be upper or lower case."""
    return sequence(*(Lit(char) if char.swapcase() == char else chars(char + char.swapcase()) for char in text))


def encoded(node: Node, write: Callable[[Chars], Node]) -> Node:
    """Encode each character of a regular node; `write` encodes the characters of a set."""
    match node:
        case Lit(text):
            return sequence(*(_letter(char, write) for char in text))
        case Chars():
            return write(node)
        case Seq(items):
            return sequence(*(encoded(item, write) for item in items))
        case Alt(options):
            return either(*(encoded(option, write) for option in options))
        case Repeat(inner, least, most):
            return Repeat(encoded(inner, write), least, most)
        case Meet(every, never, whole):
            kept, away = (tuple(encoded(one, write) for one in part) for part in (every, never))
            return Meet(kept, away, whole)
        case _:
            raise TypeError(f"{type(node).__name__} is not regular")


@lru_cache(4096)
def _letter(char: str, write: Callable[[Chars], Node]) -> Node:
    made = write(one := chars(char))
    return Lit(char) if made == one else made


def escaping(special: Mapping[str, str]) -> Callable[[Chars], Node]:
    """Make a function that writes the characters of a set: special ones escaped, all others as they are."""

    def write(node: Chars) -> Node:
        held = [char for char in special if any(low <= ord(char) <= high for low, high in node.ranges)]
        if not held:
            return node
        plain = others(Chars(joined([*others(node).ranges, *((ord(char), ord(char)) for char in held)])))
        escapes = [Lit(special[char]) for char in held]
        return either(*([plain] if plain.ranges else []), *escapes)

    return write


def branches(options: Iterable[Node]) -> Node:
    """Choose among nodes, with the text that all begin with before the choice."""
    found = list(options)
    heads = [begins(option) for option in found]
    shared = commonprefix(heads)  # noqa: RUF071 - of texts, not of paths
    if len(found) < 2 or not shared:  # noqa: PLR2004 - one has nothing in common
        return either(*found)
    return sequence(Lit(shared), either(*(_after(option, len(shared)) for option in found)))


def begins(node: Node) -> str:
    """Return the text that a node begins with; "" where it begins with none."""
    first = node.items[0] if isinstance(node, Seq) and node.items else node
    return first.text if isinstance(first, Lit) else ""


def _after(node: Node, length: int) -> Node:
    rest = node.items[1:] if isinstance(node, Seq) else ()
    return sequence(Lit(begins(node)[length:]), *rest)
