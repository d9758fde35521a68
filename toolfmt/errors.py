"""Every exception that toolfmt raises.

    ToolFmtError
    ├─ UnknownDialectError · UnknownFormatError (LookupError)   DuplicateDialectError (ValueError)
    ├─ BrokenDialectError (RuntimeError)   MissingExtraError (ImportError)
    ├─ DuplicateToolError · DialectRecordError (ValueError)
    ├─ RenderError (ValueError)  ─ UnrepresentableError · TemplateError ─ TemplateRefusedError
    ├─ SchemaError (ValueError)  ─ UnresolvableReferenceError · UnsupportedSchemaError
    ├─ ResponseTemplateError (ValueError)
    ├─ ParseError (ValueError)   ─ MalformedCallError* · UnsafeInputError · LimitExceededError · FormatQuestionError
    ├─ ConversionError (ValueError)   CorpusError (ValueError)
    ├─ ArgumentsError (ValueError)
    ├─ DeferredCall the result of a call comes later (not a failure)
    ├─ AgentStop* a tool or a hook ends the run (not a failure)
    └─ ExecutionError (RuntimeError) ─ UnknownToolError (LookupError) · ToolTimeoutError · ServerError · DriverError
                                       ToolCallError* · PolicyError* · AgentFailedError*

Names with a star are beside the records that they carry: in `toolfmt.events` and `toolfmt.execution`.

A caller's mistake raises at once. A model's mistake is a value (an event, a
failure in the result); `ParseResult.raise_for_failures` turns those into an
ExceptionGroup for callers who prefer exceptions.
"""

from __future__ import annotations

import codecs
import inspect
import os
import warnings
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


_PACKAGE = os.path.dirname(__file__)  # noqa: PTH120 - `pathlib` takes longer to load than all of this
SUGGESTED = 3
"""Maximum number of suggested names."""
_BITS = 63
"""Bits of an int that is written in a message."""
_LONGEST_PLACE = 300
"""Characters of a place that a problem's line shows; its `pointer` has them all."""
LISTED = 5
"""Maximum number of names that are listed if none is similar."""


class ToolFmtError(Exception):
    """Base of every exception of this package."""


class UnknownDialectError(ToolFmtError, LookupError):
    """A dialect, provider or model name that the registry does not know."""

    def __init__(self, kind: str, name: str, suggestions: Iterable[str] = (), *, advice: str = "") -> None:
        self.kind = kind
        self.name = name
        self.suggestions = tuple(suggestions)
        super().__init__(" ".join(filter(None, (f"unknown {kind} {name!r};", did_you_mean(self.suggestions), advice))))


class DuplicateDialectError(ToolFmtError, ValueError):
    """A name was registered twice."""


class BrokenDialectError(ToolFmtError, RuntimeError):
    """A dialect of another package that could not be loaded; raised when it is looked up."""

    def __init__(self, name: str, value: str, reason: object) -> None:
        super().__init__(f"dialect {name!r} cannot be loaded from its entry point {value!r}: {reason}")


class DialectRecordError(ToolFmtError, ValueError):
    """A text dialect's description that cannot be read or compiled; the message names the field."""


class DuplicateToolError(ToolFmtError, ValueError):
    """A tool's name was registered twice."""


class MissingExtraError(ToolFmtError, ImportError):
    """An optional dependency is not installed; the message has the pip command."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs an optional dependency: {install_line(extra)}")
        self.extra = extra


def warn(message: str) -> None:
    """Warn about what the caller of this package did, at the line of the caller."""
    frame, level = inspect.currentframe(), 0  # `skip_file_prefixes` is of Python 3.12
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level + 1)


def install_line(extra: str) -> str:
    """Return the pip command that adds an extra to this installation, from its checkout or from the index."""
    import json
    import re
    import shlex
    from importlib.metadata import PackageNotFoundError, distribution
    from pathlib import Path

    try:
        origin: dict[str, Any] = json.loads(distribution("toolfmt").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        origin = {}
    url, about = str(origin.get("url", "")), origin.get("dir_info")
    if not url.startswith("file:///") or about is None:
        return f"pip install 'toolfmt[{extra}]'"
    folder = re.sub(rb"%([0-9A-Fa-f]{2})", lambda code: bytes([int(code[1], 16)]), url[7:].encode()).decode()
    place = "." if Path(folder) == Path.cwd() else folder
    editable = "-e " if about.get("editable") else ""
    return f"pip install {editable}{shlex.quote(f'{place}[{extra}]')}"


class RenderError(ToolFmtError, ValueError):
    """Something could not be written."""


class UnrepresentableError(RenderError):
    """A value that the format has no way to hold."""

    def __init__(self, dialect: str, pointer: str, reason: str) -> None:
        super().__init__(f"{dialect} cannot hold the value at {pointer or '/'}: {reason}")
        self.dialect = dialect
        self.pointer = pointer
        self.reason = reason


class TemplateError(RenderError):
    """A prompt template that is broken or forbidden by the sandbox."""


class TemplateRefusedError(TemplateError):
    """A chat template rejected the conversation with `raise_exception`."""

    def __init__(self, message: str, *, line: int | None = None) -> None:
        """Store the template's text as `message`, and its line."""
        self.message = message
        self.line = line
        super().__init__(f"the chat template{f', line {line}' if line else ''}, refuses the conversation: {message}")


class SchemaError(ToolFmtError, ValueError):
    """A tool's JSON Schema cannot be used."""


class UnresolvableReferenceError(SchemaError):
    """A `$ref` that does not point inside the same schema."""


class UnsupportedSchemaError(SchemaError):
    """A schema construct that the target cannot express."""


class ResponseTemplateError(ToolFmtError, ValueError):
    """A response template that is invalid, or that a dialect cannot express."""

    def __init__(self, pointer: str, reason: str) -> None:
        super().__init__(f"response template, {pointer or 'the whole'}: {reason}")
        self.pointer = pointer
        self.reason = reason


class ParseError(ToolFmtError, ValueError):
    """Input that could not be read."""


class FormatQuestionError(ParseError):
    """A conversation whose format has to be named, or a row whose conversation has to be taken out of it.

    `conversations` and `answers` are the JSON pointers of those inside the row; "" is the row itself.
    """

    def __init__(self, message: str, conversations: Sequence[str] = (), answers: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.conversations = tuple(conversations)
        self.answers = tuple(answers)


class UnsafeInputError(ParseError):
    """Input rejected for safety: a duplicate key, a DOCTYPE, a lone surrogate, NaN."""


class LimitExceededError(ParseError):
    """Input that exceeds a limit of size, depth or number."""


class UnknownFormatError(ToolFmtError, LookupError):
    """A transcript format that does not exist."""

    def __init__(self, name: str, known: Iterable[str], serving: Sequence[str] = ()) -> None:
        """Name the format, and similar ones, or those `serving` the model of that name."""
        names = tuple(known)
        begins = {one.partition("-")[0]: one for one in reversed(names)}  # the first of those that begin alike
        self.suggestions = close_names(name, begins | {one: one for one in names}) or tuple(serving)
        hint = did_you_mean(self.suggestions) or f"known: {', '.join(names)}"
        super().__init__(f"unknown transcript format {name!r}; {hint}")
        self.name = name
        self.known = names


class ConversionError(ToolFmtError, ValueError):
    """A conversion lost something and `strict=True` was asked for."""


class CorpusError(ToolFmtError, ValueError):
    """Files of conversations that cannot be used, or not together."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem of a call's arguments."""

    pointer: str
    keyword: str
    message: str

    def __str__(self) -> str:
        """Read as one line of feedback."""
        place = self.pointer if len(self.pointer) <= _LONGEST_PLACE else f"{self.pointer[: _LONGEST_PLACE - 1]}…"
        return f"{place}: {self.message}" if place else self.message


class ArgumentsError(ToolFmtError, ValueError):
    """A call's arguments do not fit the tool's schema; `str()` is a message for the model."""

    def __init__(self, tool: str, problems: Iterable[Problem]) -> None:
        self.tool = tool
        self.problems = tuple(problems)
        lines = "\n".join(f"- {problem}" for problem in self.problems)
        super().__init__(f"The arguments of {tool!r} do not fit its schema:\n{lines}")


class ExecutionError(ToolFmtError, RuntimeError):
    """Running a call went wrong."""


class UnknownToolError(ExecutionError, LookupError):
    """A call names a tool that was not offered."""

    def __init__(self, name: str, known: Iterable[str] = ()) -> None:
        names = {one: one for one in known}
        self.name = name
        self.suggestions = close_names(name, names)
        super().__init__(f"unknown tool {name!r}; {did_you_mean(self.suggestions) or f'known: {some(names)}'}")


class ToolTimeoutError(ExecutionError):
    """A tool ran out of time."""


class ServerError(ExecutionError):
    """A tool server could not be reached, broke off, or sent an invalid answer."""

    def __init__(self, server: str, reason: str) -> None:
        super().__init__(f"MCP server {server!r}: {reason}")
        self.server = server
        self.reason = reason


class DeferredCall(ToolFmtError):  # noqa: N818 - nothing is wrong
    """Raised by a tool whose result comes later, from a person or another system; the run waits for it."""


class DriverError(ExecutionError):
    """A driver could not take a step, usually because its model's API gave no answer."""

    def __init__(
        self, message: str, *, status: int | None = None, retryable: bool = False, retry_after: float | None = None
    ) -> None:
        """Set the message, and whether the same request may succeed later.

        `status` is the HTTP status, `retry_after` the seconds that the server asked to wait; either may be None.
        """
        super().__init__(message)
        self.status = status
        self.retryable = retryable
        self.retry_after = retry_after


def shown(value: object) -> str:
    """Write a value in a message, its first characters at most; Python does not write every int."""
    if isinstance(value, int) and value.bit_length() > _BITS:
        return f"an int of more than {_BITS} bits"
    try:
        return f"{value!r:.60}"
    except ValueError:  # one is inside
        return f"{type(value).__name__} with a long int"


UTF16 = "it is UTF-16, as PowerShell's `>` writes it: save it as UTF-8"


def is_utf16(data: bytes | bytearray) -> bool:
    """Whether a text begins with the mark of UTF-16, or without it with a letter of two bytes."""
    letter = bytes(data[:2]).replace(b"\0", b"")
    unmarked = len(data) > 1 and len(letter) == 1 and (letter.isspace() or b" " <= letter <= b"~")
    return unmarked or data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def not_utf8(error: UnicodeDecodeError, before: int = 0) -> str:
    """Say where bytes, which `before` others precede, are not UTF-8, or that they are UTF-16."""
    if not before and is_utf16(error.object):
        return UTF16
    return f"not UTF-8 at byte {before + error.start}"


def close_names(name: str, known: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names that are similar to a misspelt one; `known` maps every spelling to its name."""
    name = name.strip().lower()
    if swapped := tuple(known[one] for one in known if sorted(one) == sorted(name)):
        return swapped[:SUGGESTED]
    begun = sorted((one for one in known if name and one.startswith(name)), key=len)
    found = (*begun, *get_close_matches(name, known, n=4 * SUGGESTED, cutoff=0.6))
    return tuple(dict.fromkeys(known[one] for one in found))[:SUGGESTED]


def did_you_mean(names: tuple[str, ...]) -> str:
    """Suggest similar names; "" if there are none."""
    return f"did you mean {' or '.join(map(repr, names))}?" if names else ""


def some(names: Iterable[str]) -> str:
    """List the first few names and the number of others."""
    listed = [*names]
    rest = len(listed) - LISTED
    return (", ".join(listed[:LISTED]) or "none") + (f" and {rest} more" if rest > 0 else "")
