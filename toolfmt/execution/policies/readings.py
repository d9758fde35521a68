r"""Every path that a text may be to the tool that gets it.

    "<URL: file:///srv/%252e%252e/etc/passwd>"
    -> "URL: file:///srv/%252e%252e/etc/passwd", "file:///srv/%252e%252e/etc/passwd", "/srv/%252e%252e/etc/passwd",
       "/srv/%2e%2e/etc/passwd", "/srv/../etc/passwd"

Tools unwrap what they are given, one this and another that: white space of any script, angle brackets and quotes, a
prefix such as `URL:` or `jar:`, percent signs more than once, `~` and variables. So each step is tried on the result of
each other, until nothing new comes out.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final
from unicodedata import category, normalize
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MOST: Final = 256
"""Readings of one text; whoever wraps a text more often is not looked at further, and refused."""

_BLANK: Final = frozenset({"Cc", "Cf", "Zl", "Zp", "Zs"})
_IN_BRACKETS: Final = re.compile(r"<(.*)>|\"(.*)\"|'(.*)'|`(.*)`", re.DOTALL)
_SCHEME: Final = re.compile(r"([a-zA-Z][a-zA-Z0-9+.\-]+):+(.*)", re.DOTALL)
_FILE_URL: Final = re.compile(r"(?<![^\W_])file:[^\s\"'<>`]*", re.IGNORECASE)
_AUTHORITY: Final = re.compile(r"[/\\]{2}([^/\\?#]*)(.*)", re.DOTALL)
_REST_OF_A_URL: Final = re.compile(r"[?#;]")
_DROPPED: Final = str.maketrans("", "", "\t\r\n")
_HERE: Final = frozenset({"", "localhost", "127.0.0.1", "::1", "[::1]"})
_SUSPECT: Final = re.compile(r"[/\\~$%:<>\"'`\x00-\x20\x7f]|\A\.\.\Z|[^\x00-\x7f]")


class TooManyReadingsError(ValueError):
    """A text that is wrapped too often to be looked through."""


def readings(text: str) -> tuple[str, ...]:
    """Give the text and everything that it may be read as; raises `TooManyReadingsError`."""
    if not _SUSPECT.search(text):
        return (text,)
    found = {text: None}
    for one in (pending := [text]):
        for step in _STEPS:
            for result in step(one):
                if result not in found:
                    found[result] = None
                    pending.append(result)
        if len(found) > MOST:
            raise TooManyReadingsError("it can be read in too many ways")
    return tuple(found)


def _trimmed(text: str) -> Iterator[str]:
    """Leave out what is not seen at the ends, as `str.strip` and readers of URLs do."""
    start, end = 0, len(text)
    while start < end and category(text[start]) in _BLANK:
        start += 1
    while end > start and category(text[end - 1]) in _BLANK:
        end -= 1
    yield text[start:end]
    joined = text.translate(_DROPPED)
    if _SCHEME.fullmatch(joined) or ("%" in joined and " " not in joined):
        yield joined


def _unwrapped(text: str) -> Iterator[str]:
    found = _IN_BRACKETS.fullmatch(text)
    if found is not None:
        yield next(group for group in found.groups() if group is not None)
    if "\n" not in text.strip():
        yield from _FILE_URL.findall(text)


def _decoded(text: str) -> Iterator[str]:
    yield unquote(text)
    if not text.isascii():
        yield normalize("NFKC", text)


def _without_scheme(text: str) -> Iterator[str]:
    """Give the place that a URL names on this machine, or the URL inside it; one on the network has neither."""
    found = _SCHEME.fullmatch(text)
    if found is None:
        return
    rest = found[2]
    authority = _AUTHORITY.fullmatch(rest)
    if authority is not None and found[1].lower().rpartition("+")[2] != "file" and authority[1] not in _HERE:
        return
    if authority is None:
        path = rest
    else:
        path = authority[2] if authority[1].lower() in _HERE else f"//{authority[1]}{authority[2]}"
    for one in (path, path.replace("\\", "/")):  # some readers of URLs take the one for the other
        yield one
        yield _REST_OF_A_URL.split(one, maxsplit=1)[0]


def _expanded(text: str) -> Iterator[str]:
    yield os.path.expanduser(text)  # noqa: PTH111 - as text: a tool may or may not do it
    yield os.path.expandvars(text)


_STEPS: Final[tuple[Callable[[str], Iterator[str]], ...]] = (
    _trimmed,
    _unwrapped,
    _decoded,
    _without_scheme,
    _expanded,
)
