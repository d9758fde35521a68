"""Pieces of Markdown."""  # noqa: INP001 - beside the script that uses it

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def fenced(text: str, language: str = "text") -> str:
    """Put text in a code block whose fence is longer than any in it."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    body = text.removesuffix("\n")
    return f"{fence}{language}\n{body}\n{fence}"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table; a bar in a cell is no border."""
    lines = (columns, ["---"] * len(columns), *rows)
    cells = ([cell.replace("|", r"\|") for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def codes(names: Iterable[str], nothing: str = "none") -> str:
    """List names as code."""
    return ", ".join(f"`{name}`" for name in names) or nothing


def prose(words: str) -> str:
    """Write words that are no Markdown, so that they stand as they are."""
    return re.sub(r"([*\[\]])", r"\\\1", words.replace("&", "&amp;").replace("<", "&lt;"))
