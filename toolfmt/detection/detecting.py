"""Detection of a whole text's dialect, without reading its calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from toolfmt.detection.detector import Detector
from toolfmt.detection.records import Detection
from toolfmt.detection.table import table
from toolfmt.lookup.registry import Registry, default_registry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolfmt.model import ToolDefinition

_READ: Final = 65536
"""How many characters are looked at for a hint."""
_NAMED: Final = 5
"""How many dialects a hint names."""


def detect(text: str, tools: object = None, registry: Registry | None = None) -> Detection:
    """Tell in which dialect a text makes its first call, and why.

    `tools` are the offered tools, as `parse` takes them: with them, formats
    without a marker are recognised by the tools' names. `registry` replaces the
    process-wide one. A text without a call, or one that only shows calls (code, a
    quotation, a manifest), gives a `Detection` whose `dialect` is "".
    """
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance] - a caller may not check types
        advice = ": decode bytes first" if isinstance(text, bytes) else ""
        raise TypeError(f"a text is a str, not {type(text).__name__}{advice}")
    if registry is None:
        registry = default_registry()
    elif not isinstance(registry, Registry):  # pyright: ignore[reportUnnecessaryIsInstance] - as above
        raise TypeError(f"registry= takes a toolfmt.Registry, not {type(registry).__name__}")
    return _detected(text, registry, tools)


def lookalikes(text: str, tools: object = None) -> list[str]:
    """Name the dialects of which a text seems to hold a call, or to show one: a hint for who chose another.

    The likeliest come first; no more than a few are named.
    """
    return [one.dialect for one in _detected(text[:_READ], default_registry(), tools, lenient=True).candidates[:_NAMED]]


def _detected(text: str, registry: Registry, tools: object, *, lenient: bool = False) -> Detection:
    offered: Mapping[str, ToolDefinition] = {}
    if tools:
        from toolfmt.tools.prepared import prepared

        offered = prepared(tools)
    detector = Detector(table(registry), offered, lenient=lenient)
    detector.read(text)
    if detector.found is None:
        detector.read("", eof=True)
    return detector.found or Detection()
