r"""Paths among other things in one text, as shells and tools split it.

    "in/a,/etc/passwd"    "/etc/passwd"
    "cp in/a ../../x"     "../../x"
    "--mount=type=bind,src=/etc,dst=y"    "/etc"
    "see https://example.com/etc/a?b=/etc or a/b"    nothing

Every item of a list of paths counts. Elsewhere a slash may be part of prose, of markup or of a pattern: there an
absolute path counts if its first folder exists on this machine, and a relative path if it contains `..`.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final
from unicodedata import category

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_LIST: Final = re.compile(r"[\w./~$@%+:\\-]+(?:[,;][\w./~$@%+:\\-]*)+")
_LINES: Final = re.compile(r"[^\s\"'<>(){}\[\]]+(?:\s*\n\s*[^\s\"'<>(){}\[\]]+)+\s*")
_SEPARATORS: Final = re.compile(r"[,;:|&<>=@!\"'`(){}\[\]]+")
_URL: Final = re.compile(r"[^\w]*(?!file:|local:)[a-z][a-z0-9+.\-]*://[\w\[]", re.IGNORECASE)
_FIRST: Final = re.compile(r"-{1,2}\w?(?=[/\\~$.])|[^\w/\\~$.]+")
"""An option of one letter that a path is written to, and signs before one."""
_CLIMBS: Final = re.compile(r"(?:^|[/\\])\.\.(?=[/\\])|[/\\]\.\.$")
_LONGEST: Final = 4096
"""Characters of a path with a home or a variable; a longer one counts as outside."""
_TOP: Final = re.compile(r"[/\\]+([^/\\]+)")


def listed(text: str) -> list[str]:
    """Return the items of a text that is only a list, separated by commas, semicolons or line feeds."""
    if _LIST.fullmatch(text):
        return re.split("[,;]", text)
    return text.split() if _LINES.fullmatch(text) else []


def mentioned(text: str, exists: Callable[[str], bool]) -> Iterator[str]:
    """Yield the parts of a line that are paths; `exists` tells whether a folder is on this machine."""
    if "\n" in text.strip():
        return
    for word in _words(text):
        for part in word.split(",") if _URL.match(word) else _SEPARATORS.split(word):
            path = _expanded(part)
            top = _TOP.match(path)
            if (top is not None and exists(f"{os.sep}{top[1]}")) or (top is None and _CLIMBS.search(path)):
                yield path


def _words(text: str) -> list[str]:
    """Split at invisible characters and at the quotes and commas of all scripts."""
    if not text.isascii():
        text = "".join(" " if category(one) in _BREAKS or one in _COMMAS else one for one in text)
    return text.split()


_BREAKS: Final = frozenset({"Cc", "Cf", "Zl", "Zp", "Zs", "Pi", "Pf"})
_COMMAS: Final = frozenset("\u060c\u061b\u3001\uff0c\uff1b\u201a\u201e")


def _expanded(part: str) -> str:
    """Remove the signs before a path, and expand a home or a variable at its start."""
    while (found := _FIRST.match(part)) is not None and found.end():
        part = part[found.end() :]
    if part[:1] not in {"~", "$"}:
        return part
    return os.path.expandvars(os.path.expanduser(part)) if len(part) <= _LONGEST else os.sep  # noqa: PTH111 - as text
