"""The command `toolfmt`: manifests, parsing and rendering from the shell.

Each command is a file of this folder, imported when it is asked for. What goes
wrong becomes one line on stderr and exit code 2, here and nowhere else.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

from toolfmt.errors import MissingExtraError, ToolFmtError

if TYPE_CHECKING:
    from collections.abc import Sequence

USAGE: Final = 2
"""The exit code when the command, or a file that it was given, cannot be used."""
BROKEN_PIPE: Final = 141
"""The exit code when the reader of the output went away: 128 and SIGPIPE, as a shell has it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and give its exit code.

    `arguments` are those after the program's name, by default the process's own.
    """
    try:
        from cyclopts.exceptions import CycloptsError
    except ImportError:
        return _refuse(MissingExtraError("the command line", "cli"))
    from toolfmt.cli.app import app
    from toolfmt.cli.output import exact_streams

    exact_streams()
    try:
        code = app(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # What is still buffered would be written at exit, and fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except (ToolFmtError, OSError, UnicodeDecodeError, CycloptsError) as error:
        return _refuse(error)
    return code if isinstance(code, int) else 0


def _refuse(error: Exception) -> int:
    """Say in one line what is wrong."""
    text = str(error)
    if isinstance(error, OSError) and error.filename is not None:
        text = f"{error.filename}: {error.strerror}"
    lines = (line.strip() for line in text.splitlines())
    sys.stderr.write(f"toolfmt: {' '.join(line for line in lines if line)}\n")
    return USAGE
