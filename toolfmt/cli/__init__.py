"""The command `toolfmt`: manifests, parsing and rendering from the shell.

A command's module is imported when the command runs. A command returns its exit code, or None for 0; its exceptions
become messages here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Final

import toolfmt
from toolfmt.cli.output import INTERRUPTED, UsageError, refuse
from toolfmt.errors import MissingExtraError, ToolFmtError

BROKEN_PIPE: Final = 141
"""The exit code when the reader of the output went away: 128 and SIGPIPE, as shells have it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    `arguments` are those after the program's name, by default the process's own.
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given == ["--version"]:  # without loading the parser of arguments, which takes longer than everything else
        sys.stdout.write(f"{toolfmt.__version__}\n")
        return 0
    try:
        from cyclopts.exceptions import CycloptsError
    except ImportError:
        return refuse(MissingExtraError("the command line", "cli"))
    from toolfmt.cli.app import run

    try:
        code = run(given)
        sys.stdout.flush()
    except BrokenPipeError:
        # What is still buffered would be written at exit, and fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except KeyboardInterrupt:
        return INTERRUPTED
    except (ToolFmtError, CycloptsError, OSError, UnicodeDecodeError) as error:
        if isinstance(error, CycloptsError):
            from toolfmt.cli.app import misuse

            error = UsageError(misuse(error))
        return refuse(error)
    return code
