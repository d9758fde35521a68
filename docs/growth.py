"""How the time of reading grows on hostile text, as `python -m bench.growth --write` has measured it."""  # noqa: INP001 - beside the script

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from blocks import table

_FIGURES: Final = Path(__file__).resolve().parents[1] / "bench" / "growth.json"


def growth_section() -> str:
    """Show the largest growth that was found of each dialect."""
    figures = json.loads(_FIGURES.read_text("utf-8"))
    measured = figures["measured"]
    count = sum(row["cells"] for row in measured.values())
    rows = ((f"`{name}`", str(row["cells"]), f"{row['worst']:.2f}") for name, row in measured.items())
    return "\n\n".join(
        (
            "## Growth",
            (
                "Texts that are made to slow a reader down: the beginning of a call, and after it a marker, a part of "
                "one, a quote, a backslash, a bracket or white space, repeated up to 32,000 characters, whole and in "
                "pieces of four and of one, with each option. Time proportional to the length has the exponent 1, to "
                "its square 2. A cell above 1.2 is measured again with 50,000 and 400,000 characters, and is a failure "
                f"if it stays above. These are {count:,} of {figures['cells']:,} cells. `--all` takes every trap of "
                "every format once, with the options and the sizes of pieces in turn, and each format with each "
                "of them before any comes again; "
                "`--turn 1` to `--turn 23` give the traps the others."
            ),
            "```console\npython -m bench.growth --all --write && python docs/generate.py\n```",
            table(("format", "cells", "largest exponent"), rows),
        )
    )
