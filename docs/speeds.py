"""How fast the formats are read, as `python -m bench.speeds` has measured it."""  # noqa: INP001 - beside the script

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from blocks import table
from charts import bars

if TYPE_CHECKING:
    from collections.abc import Iterator

_FIGURES: Final = Path(__file__).resolve().parents[1] / "bench" / "speeds.json"
_SIZE: Final = 10_000


@cache
def _measured() -> Any:
    return json.loads(_FIGURES.read_text("utf-8"))


def speed_page() -> str:
    """Compare the speeds of all formats."""
    sizes = [f"{row['size']:,}" for row in next(iter(_measured()["formats"].values()))]
    return "\n\n".join(
        (
            "# Speed",
            (
                "Each answer is prose, one call whose argument is code of so many characters, and prose again. "
                "The first figures are the time of the whole answer divided by that of `json.loads` on the bare "
                "arguments, the second the microseconds for each piece when the answer comes in pieces of four "
                "characters. Where the second stays the same from left to right, reading is linear. Figures of one "
                f"machine ({_measured()['python']}), all measured in one run:"
            ),
            "```console\npython -m bench.speeds && python docs/generate.py\n```",
            "A whole answer with 10,000 characters of arguments beside `json.loads`, on a logarithmic scale:",
            "![The time of each format as a multiple of json.loads](speed.svg)",
            table(("format", *(f"whole, {size}" for size in sizes), *(f"piece, {size}" for size in sizes)), _rows()),
        )
    )


def speed_chart() -> str:
    """Draw the time of a whole answer of 10,000 characters in each format."""
    found = {
        name: row["whole"] for name, rows in _measured()["formats"].items() for row in rows if row["size"] == _SIZE
    }
    return bars("The time of each format as a multiple of json.loads", found, (1, 2, 5, 10, 20, 50))


def _rows() -> Iterator[tuple[str, ...]]:
    for name, rows in sorted(_measured()["formats"].items()):
        whole, piece = ([f"{row[figure]:.2f}" for row in rows] for figure in ("whole", "chunk"))
        yield (f"[`{name}`](dialects/{name}.md)", *whole, *piece)


def speed(name: str) -> str:
    """Show the figures of one format; nothing for one that is no text or was not measured."""
    rows = _measured()["formats"].get(name)
    if rows is None:
        return ""
    shown = table(
        ("characters of arguments", "whole, us", "beside `json.loads`", "us for four characters"),
        ((f"{row['size']:,}", f"{row['us']:,}", f"{row['whole']:.2f}", f"{row['chunk']:.2f}") for row in rows),
    )
    return f"## Speed\n\n{shown}\n\nHow it was measured, and the other formats: [speed](../speed.md)."
