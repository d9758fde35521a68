"""`toolfmt formats`: the formats of conversations."""

from typing import Annotated

from cyclopts import Parameter

from toolfmt.cli.output import write_json, write_table
from toolfmt.transcripts.formats import formats as known


def formats(*, json: Annotated[bool, Parameter(help="Print JSON.")] = False) -> None:
    """List the formats that conversations are converted between."""
    if json:
        write_json([{"name": made.name, "summary": made.summary, "aliases": list(made.aliases)} for made in known()])
        return
    write_table(
        ("format", "what it is"),
        ((made.name, made.summary + (f" Also {', '.join(made.aliases)}." if made.aliases else "")) for made in known()),
    )
