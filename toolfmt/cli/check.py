"""`toolfmt check`: what a provider would refuse."""

from typing import Annotated

from cyclopts import Parameter

from toolfmt.cli.errors import note
from toolfmt.cli.files import Files
from toolfmt.cli.output import write_json_line, write_table
from toolfmt.corpora.picked import Picked
from toolfmt.corpora.rows import Row, place
from toolfmt.corpora.sources import STDIN, sources
from toolfmt.errors import ParseError
from toolfmt.transcripts.check import Finding
from toolfmt.transcripts.check import check as checked


def check(
    *paths: Annotated[str, Parameter(help="Files, folders, globs, or - for stdin, as without any.")],
    files: Files = Files(),  # noqa: B008 - frozen
    json: Annotated[bool, Parameter(help="Print JSON, one finding a line.")] = False,
) -> int:
    """List what the provider of a format, the one that is read, would refuse in conversations.

    The exit code is 1 if there is anything.
    """
    reading, picked = files.reading(), files.picked()
    count = wrong = 0
    table: list[tuple[str, ...]] = []
    for batch in reading.all(sources(paths or (STDIN,))):
        for row in batch.rows():
            found = _findings(row, picked)
            count += 1
            wrong += bool(found)
            for one in found:
                if json:
                    record = {"file": row.file, "line": row.line or None}
                    write_json_line({**record, "rule": one.rule, "path": one.path, "message": one.message})
                else:
                    table.append((place(row), one.rule, one.path or "/", one.message))
    if table:
        write_table(("conversation", "rule", "path", "what is wrong"), table)
    note(f"{count} checked, {wrong} would be refused")
    return 1 if wrong else 0


def _findings(row: Row, picked: Picked) -> tuple[Finding, ...]:
    try:
        value = picked.conversation(row.value)
        return checked(value, format=picked.origin(value).name)
    except ParseError as error:
        return (Finding("unreadable", "", str(error)),)
