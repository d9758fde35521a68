"""Messages about wrong arguments that say what to type instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cyclopts.exceptions import CycloptsError, MissingArgumentError, UnknownOptionError, UnusedCliTokensError

if TYPE_CHECKING:
    from collections.abc import Iterable

_CHOOSING: Final = ("--dialect", "--from", "--to")
"""The options that choose a format; each command has one or two of them."""
_MEANT: Final = frozenset({*_CHOOSING, "--format", "--source", "--target", "--syntax", "--style"})
"""What people type instead of one of them."""


def misuse(error: CycloptsError) -> str:
    """Describe which argument is missing, unknown or too many, and where the arguments are listed."""
    command = " ".join(("toolfmt", *(error.command_chain or ())))
    listed = f"`{command} --help` lists"
    match error:
        case UnusedCliTokensError():
            extra = " ".join(error.unused_tokens or ())
            return f"{extra!r} is one argument too many; {listed} those that there are"
        case MissingArgumentError(argument=argument) if argument is not None:
            typed = error.keyword or next((token.keyword for token in argument.tokens if token.keyword), None)
            if typed is not None:
                return f"{typed} has no value: write one after it; {listed} what it takes"
            name = argument.name if argument.field_info.is_keyword_only else argument.name.lstrip("-").upper()
            what = (argument.parameter.help or "").rstrip(".")
            return f"{name} is missing{f' ({what})' if what else ''}; {listed} the arguments"
        case UnknownOptionError():
            typed = (error.token.keyword or error.token.value).partition("=")[0]
            others = _alike(typed, {name for one in error.argument_collection for name in one.names})
            if others:
                return f"{command} has no option {typed}: a format is chosen with {' or '.join(others)} here"
            return f"{error}".rstrip(".") + ("" if "Did you mean" in f"{error}" else f"; {listed} the options")
        case _:
            return f"{error}"


def _alike(typed: str, known: Iterable[str]) -> list[str]:
    """Return the options of a command that choose a format, if one of them was meant."""
    return [name for name in _CHOOSING if name in known] if typed in _MEANT else []
