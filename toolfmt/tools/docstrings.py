"""Read the descriptions of a function and its parameters from a docstring, in the three common styles.

Google (`Args:`), NumPy (`Parameters` underlined) and Sphinx (`:param name:`).
"""

from __future__ import annotations

import re
from inspect import cleandoc
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_PARAMETERS: Final = frozenset(
    {
        "args",
        "arguments",
        "attributes",
        "keyword args",
        "keyword arguments",
        "other parameters",
        "parameters",
        "params",
    }
)
_RESULTS: Final = frozenset({"return", "returns", "raise", "raises", "yield", "yields", "warns"})
_GOOGLE_HEADER = re.compile(r"([A-Za-z][A-Za-z ]{0,24}):\s*")
_UNDERLINE = re.compile(r"-{3,}\s*")
_GOOGLE_ENTRY = re.compile(r"\*{0,2}(?P<names>\w+)\s*(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?\s*:(?!:)\s*(?P<text>.*)")
_NUMPY_ENTRY = re.compile(r"(?P<names>\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?(?P<text>)")
_SPHINX_FIELD = re.compile(
    r":(?:(?:param|parameter|arg|argument|key|keyword)\s+(?:[^:]*\s)?\*{0,2}(?P<name>\w+)"
    r"|(?:type|returns?|rtype|raises?|except|exception|yields?|ytype)(?:\s+[^:]*)?):\s*(?P<text>.*)"
)


class Documentation(NamedTuple):
    """The description of a function, and those of its parameters."""

    description: str
    parameters: dict[str, str]


class _Section(NamedTuple):
    header: str
    """The section's title in lower case; empty for text without one."""
    style: re.Pattern[str]
    lines: list[str]
    """With the header's own lines."""
    body: int
    """The index of the first line after the header."""


def read_docstring(docstring: str | None) -> Documentation:
    """Split a docstring: sections on results are dropped, those on parameters read, all else is description."""
    described: list[str] = []
    parameters: dict[str, str] = {}
    for section in _sections(_without_fields(cleandoc(docstring or "").splitlines(), parameters)):
        if section.header in _PARAMETERS:
            parameters.update(_entries(section.lines[section.body :], section.style))
        elif section.header not in _RESULTS:
            described += section.lines
    return Documentation("\n".join(described).strip(), parameters)


def _sections(lines: Iterable[str]) -> Iterator[_Section]:
    section = _Section("", _GOOGLE_ENTRY, [], 0)
    for line in lines:
        google = _GOOGLE_HEADER.fullmatch(line)
        if google and google[1].lower() in _PARAMETERS | _RESULTS:
            yield section
            section = _Section(google[1].lower(), _GOOGLE_ENTRY, [line], 1)
        elif _UNDERLINE.fullmatch(line) and section.lines and section.lines[-1].strip():
            title = section.lines.pop()
            yield section
            section = _Section(title.strip().lower(), _NUMPY_ENTRY, [title, line], 2)
        elif section.header and section.style is _GOOGLE_ENTRY and line[:1].strip():
            # A line at the margin ends a Google section.
            yield section
            section = _Section("", _GOOGLE_ENTRY, [line], 0)
        else:
            section.lines.append(line)
    yield section


def _entries(lines: list[str], style: re.Pattern[str]) -> dict[str, str]:
    """Read `name: text` with indented lines that continue it."""
    found: dict[str, str] = {}
    margin = next((_indent(line) for line in lines if line.strip()), 0)
    names: list[str] = []
    for line in lines:
        entry = style.fullmatch(line.strip()) if line.strip() and _indent(line) <= margin else None
        if entry:
            names = [name.strip().lstrip("*") for name in entry["names"].split(",")]
        for name in names:
            found[name] = f"{found.get(name, '')} {entry['text'] if entry else line.strip()}".strip()
    return {name: text for name, text in found.items() if text}


def _without_fields(lines: list[str], parameters: dict[str, str]) -> Iterator[str]:
    """Take out Sphinx fields and the lines that continue them; those of parameters go into `parameters`."""
    inside, name = False, None
    for line in lines:
        field = _SPHINX_FIELD.fullmatch(line)
        if field:
            inside, name = True, field["name"]
        elif line[:1].strip():
            inside = False  # text at the margin ends a field
        if not inside:
            yield line
        elif name:
            text = field["text"] if field else line.strip()
            parameters[name] = f"{parameters.get(name, '')} {text}".strip()


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
