"""`toolfmt providers`: whose API is shown tools in which format."""

from dataclasses import asdict
from typing import Annotated

from cyclopts import Parameter

from toolfmt.cli.output import write_json, write_table
from toolfmt.lookup.registry import default_registry


def providers(*, json: Annotated[bool, Parameter(help="Print JSON.")] = False) -> None:
    """List the providers, with the format that each one's models read best."""
    rows = sorted(default_registry().providers, key=lambda row: row.name)
    if json:
        write_json(
            [
                {**asdict(row), "aliases": list(row.aliases), "models": [list(pattern) for pattern in row.models]}
                for row in rows
            ]
        )
        return
    write_table(
        ("provider", "format", "API", "aliases", "what it is"),
        ((row.name, row.dialect, row.api or "", ", ".join(row.aliases), row.summary) for row in rows),
    )
