"""What a fuzzer throws at the parsers, and what it checks.

An input is one line that chooses, then the text:

    xml-items fitting 3
    <tool name="f"><arguments>...

the dialect, the tools that the parser gets, and the size of the pieces.
A line that says something else chooses by its checksum, so any bytes are an input.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING
from zlib import crc32

from bench.traps import UNITS, offers, prefixes
from fuzz.mutating import text as mutated
from toolfmt.errors import UnrepresentableError
from toolfmt.lookup.registry import default_registry
from toolfmt.model import ToolInvocation
from toolfmt.workshop.testing import laws

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

    from toolfmt.dialect.record import Dialect
    from toolfmt.model import JsonObject, ToolDefinition

DIALECTS = {dialect.name: dialect for dialect in default_registry() if dialect.syntax is not None}
OFFERS = offers()
LARGEST_PIECE = 64
_ARGUMENTS: tuple[JsonObject, ...] = (
    {},
    {"s": "a.txt"},
    {"s": 'if (a < b && c) print("</arg>\\n");\n', "l": [{"k": "]]>"}, {}]},
    {"s": "é\u2028😀", "l": [], "n": -1.5e300, "t": True, "z": None, "i": 10**30},
    {"content": "<tool>\n```json\n{}\n```\n</tool>", "path": "", "o": {"l": [[1], [[]]], "item": "x"}},
)


def unpack(data: bytes) -> tuple[Dialect[str], tuple[ToolDefinition, ...], int, str]:
    """Read an input: the dialect, the tools, the size of the pieces, the text."""
    line, _, text = data.partition(b"\n")
    name, _, rest = line.decode("latin-1").partition(" ")
    offer, _, size = rest.partition(" ")
    number = crc32(line)
    dialect = DIALECTS.get(name) or list(DIALECTS.values())[number % len(DIALECTS)]
    tools = OFFERS[offer] if offer in OFFERS else list(OFFERS.values())[number // 256 % len(OFFERS)]
    piece = int(size) if size.isascii() and size.isdecimal() and len(size) < 3 else number // 65536  # noqa: PLR2004 - as LARGEST_PIECE
    # A lone surrogate cannot come in a text file, but it can come in a string.
    return dialect, tools, piece % LARGEST_PIECE + 1, text.decode("utf-8", "surrogateescape")


def pack(name: str, offer: str, piece: int, text: str) -> bytes:
    """Write an input."""
    return f"{name} {offer} {piece}\n{text}".encode("utf-8", "surrogateescape")


def check(data: bytes | str) -> None:
    """Read an input, whole and in pieces; what breaks a law raises, `AssertionError` or what the parser raised."""
    dialect, tools, piece, text = unpack(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data)
    laws.chunking(dialect, text, range(piece, len(text), piece), tools)
    laws.ordered(laws.read(dialect, [text], tools))
    laws.lossless(dialect, text, tools)


def seeds() -> Iterator[tuple[str, bytes]]:
    """Write calls in every dialect; a name for a file, and the input."""
    for name, dialect in DIALECTS.items():
        server = "local" if dialect.traits.carries_server else None
        calls = [ToolInvocation(name="f", arguments=arguments, server=server) for arguments in _ARGUMENTS]
        groups = [[call] for call in calls] + ([calls] if dialect.traits.parallel else [])
        for number, group in enumerate(groups):
            offer = list(OFFERS)[number % len(OFFERS)]
            reported = {tool.name: tool for tool in OFFERS["fitting"]} if dialect.traits.needs_tools else {}
            try:
                text = dialect.calls(group, reported)
            except UnrepresentableError:  # nothing tells the types
                continue
            yield f"{name}-{number}", pack(name, offer, number, f"Let me see. {text}\nDone." if number % 2 else text)
        broken = prefixes(dialect)
        yield f"{name}-cut", pack(name, "fitting", 1, "\n".join(broken[:: max(1, len(broken) // 6)]))


@cache
def _packed() -> tuple[bytes, ...]:
    return tuple(data for _, data in seeds())


def made(chance: Random) -> str:
    """Make an input: a call in some dialect, changed; `check` takes it."""
    line, _, text = chance.choice(_packed()).decode("utf-8", "surrogateescape").partition("\n")
    others = [data.decode("utf-8", "surrogateescape") for data in (chance.choice(_packed()), b"")]
    return f"{line}\n{mutated(text, chance, others, UNITS)}"
