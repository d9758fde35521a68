"""Detection of a whole text's dialect, without reading its calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolfmt.detection.detector import Detector
from toolfmt.detection.records import Detection
from toolfmt.detection.table import table
from toolfmt.registry import Registry, default_registry
from toolfmt.tools import tools as definitions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from toolfmt.events import Event


def detect(text: str, tools: object = None, registry: Registry | None = None) -> Detection:
    """Tell in which dialect a text makes its first call, and why.

    `tools` are the offered tools, as `parse` takes them: with them, formats
    without a marker are told by the tools' names. `registry` replaces the
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
    offered = {tool.name: tool for tool in definitions(tools)} if tools else {}
    detector = Detector(table(registry), offered)
    events: list[Event] = detector.read(text)
    if detector.found is None:
        events += detector.read("", eof=True)
    return detector.found or Detection()
