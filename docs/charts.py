"""Charts as SVG, for light and dark pages."""  # noqa: INP001 - beside the script

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_WIDTH: Final = 720
_ROW: Final = 15
_LABEL: Final = 150
_STYLE: Final = (
    "<style>text{fill:#455a64;font:11px system-ui,sans-serif}.l{text-anchor:end}.m{text-anchor:middle}"
    ".b,.h{fill:#5c6bc0}.g{stroke:#90a4ae;stroke-width:.5}@media(prefers-color-scheme:dark){text{fill:#cfd8dc}}</style>"
)


def bars(title: str, values: Mapping[str, float], ticks: Sequence[float]) -> str:
    """Draw a bar for each value, the largest first; the scale is logarithmic, from the first tick to the last."""
    low, high = math.log(ticks[0]), math.log(ticks[-1])
    bottom = _ROW * len(values) + 4

    def right(value: float) -> float:
        share = (math.log(value) - low) / (high - low)
        return _LABEL + (_WIDTH - _LABEL - 50) * min(max(share, 0), 1)

    lines = [
        f'<path class="g" d="M{right(tick):.0f} 0V{bottom}"/>'
        f'<text class="m" x="{right(tick):.0f}" y="{bottom + 12}">{tick:g}</text>'
        for tick in ticks
    ]
    for row, (name, value) in enumerate(sorted(values.items(), key=lambda one: -one[1])):
        base = _ROW * (row + 1) - 3
        lines.append(
            f'<text class="l" x="{_LABEL - 6}" y="{base}">{escape(name)}</text>'
            f'<rect class="b" x="{_LABEL}" y="{base - 9}" width="{right(value) - _LABEL:.1f}" height="10"/>'
            f'<text x="{right(value) + 4:.1f}" y="{base}">{value:.1f}</text>'
        )
    return _svg(title, bottom + 18, lines)


def heat_map(title: str, names: Sequence[str], shares: Mapping[tuple[str, str], float]) -> str:
    """Draw a field for each pair of a row's name and a column's, the fuller the greater its share of one."""
    size = (_WIDTH - _LABEL) / len(names)
    field = f"h{size - 1:.1f}v{size - 1:.1f}h-{size - 1:.1f}z"
    lines: list[str] = []
    for row, name in enumerate(names):
        top = size * (row + 1)
        lines.append(f'<text class="l" x="{_LABEL - 6}" y="{top + size * 0.7:.1f}">{escape(name)} {row + 1}</text>')
        lines.append(f'<text class="m" x="{_LABEL + size * (row + 0.5):.1f}" y="{size * 0.8:.1f}">{row + 1}</text>')
        for column, other in enumerate(names):
            if (share := shares.get((name, other))) is not None:
                x = _LABEL + size * column
                lines.append(f'<path class="h" opacity="{share:.2f}" d="M{x:.1f} {top:.1f}{field}"/>')
    return _svg(title, size * (len(names) + 1) + 2, lines)


def _svg(title: str, height: float, lines: Iterable[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height:.0f}" role="img"'
    return "\n".join((f'{head} aria-label="{escape(title)}">', _STYLE, *lines, "</svg>"))
