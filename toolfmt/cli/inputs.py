"""What commands read: files by path, and `-` for standard input."""

from __future__ import annotations

import codecs
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from cyclopts import Parameter

from toolfmt import jsontext
from toolfmt.cli.choice import UsageError
from toolfmt.errors import ParseError, SchemaError
from toolfmt.tools import load_tools, tools

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolfmt.model import ToolDefinition

STDIN = "-"
_PIECE = 65536

Source: TypeAlias = Annotated[str, Parameter(allow_leading_hyphen=True)]
"""The path of a file, or `-`; options that are misspelt are not taken for one."""


def read_text(source: str) -> str:
    """Read UTF-8 text as it stands, line ends included; raises OSError and `ParseError`."""
    return "".join(read_pieces(source))


def read_pieces(source: str) -> Iterator[str]:
    """Read UTF-8 text in pieces, each as soon as it is there."""
    if source == STDIN:
        yield from _decoded(iter(lambda: sys.stdin.buffer.read1(_PIECE), b""), "standard input")
    elif source.startswith("-"):
        raise UsageError(f"unknown option {source}; a file of that name is ./{source}")
    else:
        with Path(source).open("rb") as file:
            yield from _decoded(iter(lambda: file.read(_PIECE), b""), source)


def _decoded(pieces: Iterator[bytes], what: str) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")()
    done = 0
    try:
        for piece in pieces:
            waiting = len(decoder.getstate()[0])
            yield decoder.decode(piece)
            done += len(piece)
        waiting = len(decoder.getstate()[0])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise ParseError(f"{what}: not UTF-8 at byte {done - waiting + error.start}") from None


def read_json(source: str) -> Any:
    """Read one JSON value; errors name the file."""
    try:
        return jsontext.loads(read_text(source).removeprefix("\ufeff"))
    except ParseError as error:
        raise type(error)(error if str(error).startswith(source) else f"{source}: {error}") from None


def read_tools(source: str | None) -> tuple[ToolDefinition, ...]:
    """Read tools from a .json, .yaml or .yml file, or JSON from standard input; none from None."""
    if source is None:
        return ()
    if source != STDIN:
        return load_tools(source)
    try:
        return tools(read_json(source))
    except SchemaError as error:
        raise type(error)(f"standard input: {error}") from None
