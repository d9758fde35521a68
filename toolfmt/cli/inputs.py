"""Input of commands: files by path, and stdin for `-`."""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Iterable, Iterator
from io import BufferedReader
from pathlib import Path
from typing import Any, Final, cast

from toolfmt import jsontext
from toolfmt.cli.output import UsageError
from toolfmt.corpora.sources import STDIN
from toolfmt.errors import UTF16, ParseError, is_utf16, not_utf8

_PIECE: Final = 65536


def read_text(source: str) -> str:
    """Read UTF-8 text as it is, line ends included; raises OSError and `ParseError`."""
    return "".join(read_pieces(source))


def read_pieces(source: str) -> Iterator[str]:
    """Read UTF-8 text in pieces, from a pipe as soon as each arrives."""
    if source == STDIN:
        if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison] - closed by the shell
            raise UsageError("stdin is closed: name a file, or give the text through a pipe")
        pipe = cast("BufferedReader", sys.stdin.buffer)
        yield from _decoded(iter(lambda: pipe.read1(_PIECE), b""), source)
    elif not source:
        raise UsageError("the file's name is empty; - means stdin")
    else:
        if (source[0] in "<{[" or "\n" in source) and not os.path.lexists(source):
            raise UsageError(
                f"{source[:40]!r} is not a file: give the text itself through a pipe: `echo ... | toolfmt ...`"
            )
        with Path(source).open("rb") as file:
            yield from _decoded(iter(lambda: file.read(_PIECE), b""), source)


def read_json(source: str) -> Any:
    """Read one JSON value; errors name the file."""
    text = read_text(source).removeprefix("\ufeff")
    if not text.strip():
        raise ParseError(f"{source}: it is empty, but JSON was expected")
    try:
        return jsontext.loads(text)
    except ParseError as error:
        raise type(error)(f"{source}: this is not the JSON that was expected: {error}") from None


def refuse_two(*sources: str | None) -> None:
    """Raise `UsageError` for stdin in two places, because the second would find it empty."""
    if sources.count(STDIN) > 1:
        raise UsageError("only one file can come from standard input")


def _decoded(pieces: Iterable[bytes], source: str) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")()
    done = held = 0
    try:
        for piece in pieces:
            if not done and is_utf16(piece):
                raise ParseError(f"{source}: {UTF16}")
            text = decoder.decode(piece)
            done += len(piece)
            held = len(decoder.getstate()[0])  # bytes of a character that is not complete
            yield text
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise ParseError(f"{source}: {not_utf8(error, done - held)}") from None
