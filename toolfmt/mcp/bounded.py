"""Run a server's program and pass on its stdout, with a maximum length of lines: `bounded.py N COMMAND`.

The SDK's client keeps a line of any length in memory, and rejects a message with a lone surrogate as a whole. This
program runs between the two; it ends the server at a line that is too long, with a message on stderr, and marks what is
no Unicode. stdin is the server's own; of stderr, a file keeps the end.
"""

from __future__ import annotations

import codecs
import os
import re
import stat
import subprocess
import sys
from threading import Thread
from typing import Final

LONGEST: Final = 16 * 1024 * 1024
"""Maximum bytes of a message; the SDK's client needs quadratic time for one."""
_PIECE: Final = 1 << 16
_LOG: Final = 1 << 20
"""Bytes of stderr after which a file begins anew."""
_PATIENCE: Final = 1.0
"""Seconds to wait for the rest of stderr, which a process that outlives the server may keep open."""

MARK: Final = "\ufdd0"
"""Stands for what is no Unicode; by its standard, no text that programs exchange has this character."""
_SURROGATES: Final = re.compile(
    r"[\ud800-\udfff]+|((?<!\\)(?:\\\\)*+)(?:(\\u[dD][89abAB]..\\u[dD][c-fC-F]..)|\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)
"""Bytes that are not UTF-8, and escapes of surrogates, each after all backslashes before it; a pair is a group."""
_CUT: Final = re.compile(
    r"(?<!\\)(?:\\\\)*+(\\(?:u[0-9a-fA-F]{0,3}|u[dD][89abAB][0-9a-fA-F]{2}(?:\\(?:u[0-9a-fA-F]{0,3})?)?)?)\Z"
)
"""The beginning, at the end of a piece, of an escape or of a pair of escapes."""


class Marking:
    """Writes JSON, piece by piece, with `MARK` for lone surrogates and bytes that are not UTF-8."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._rest = ""

    def feed(self, piece: bytes | bytearray, *, last: bool = False) -> bytes:
        """Return what is complete after a further piece; everything after the last one."""
        text = self._rest + self._decoder.decode(piece, last)
        cut = None if last else _CUT.search(text)
        end = len(text) if cut is None else cut.start(1)
        self._rest = text[end:]
        return _SURROGATES.sub(lambda one: one[0] if one[2] else f"{one[1] or ''}{MARK}", text[:end]).encode()


def copy_errors(source: int, target: int) -> None:
    """Copy stderr to its end; a file is emptied whenever it is full."""
    is_file = stat.S_ISREG(os.fstat(target).st_mode)
    while piece := os.read(source, _PIECE):
        if is_file and os.fstat(target).st_size > _LOG:
            os.ftruncate(target, 0)
            os.lseek(target, 0, os.SEEK_SET)
        while piece:
            piece = piece[os.write(target, piece) :]


def main(longest: int, command: list[str]) -> int:
    """Run the command; its exit code, or 1 after a line that is too long."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:  # noqa: S603 - the caller's own server
        assert process.stdout is not None  # noqa: S101 - a pipe was asked for
        assert process.stderr is not None  # noqa: S101 - a pipe was asked for
        errors = Thread(target=copy_errors, args=(process.stderr.fileno(), 2), daemon=True)
        errors.start()
        out = sys.stdout.buffer
        line = bytearray()
        while piece := os.read(process.stdout.fileno(), _PIECE):  # all lines that have arrived are passed on at once
            *ends, rest = piece.split(b"\n")
            for end in ends:
                line += end
                if len(line) > longest:
                    break
                out.write(Marking().feed(line, last=True) + b"\n")
                line.clear()
            else:
                line += rest
            out.flush()
            if len(line) > longest:
                sys.stderr.write(f"the server wrote a message of more than {longest} bytes\n")
                sys.stderr.flush()
                process.kill()
                return 1
        out.write(Marking().feed(line, last=True))
        out.flush()
        code = process.wait()
        errors.join(_PATIENCE)
    return code


if __name__ == "__main__":
    try:
        raise SystemExit(main(int(sys.argv[1]), sys.argv[2:]))
    except (BrokenPipeError, KeyboardInterrupt):  # the client has ended, or interrupts
        raise SystemExit(1) from None
