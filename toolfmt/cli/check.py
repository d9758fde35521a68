"""`toolfmt check`: what a provider would refuse."""

from collections import Counter
from typing import Annotated

from cyclopts import Parameter

from toolfmt.cli.files import Files
from toolfmt.cli.output import ended, note, write_json_line, write_table
from toolfmt.corpora.answer_files import Joined
from toolfmt.corpora.picks import Picked
from toolfmt.corpora.rows import Row, place
from toolfmt.errors import ConversionError, ParseError, UnrepresentableError
from toolfmt.transcripts.check import Finding, unreadable
from toolfmt.transcripts.check import check as checked
from toolfmt.transcripts.convert import convert
from toolfmt.transcripts.formats import find
from toolfmt.transcripts.parts.session_lines import damaged_lines


def check(
    *paths: Annotated[str, Parameter(help="Files, folders, globs, each file once, or - for stdin (the default).")],
    to: Annotated[
        str | None,
        Parameter(alias=("--provider", "-p"), help="The format of the provider, if it is not that of the input."),
    ] = None,
    files: Files = Files(),  # noqa: B008 - frozen
    json: Annotated[bool, Parameter(help="Print JSON, one finding per line.")] = False,
) -> int:
    """List what a provider would reject in conversations: the provider of the input's format, or of `--to`.

    Messages, calls and tools are checked; settings such as max_tokens are not. With `--to` each conversation is
    converted first, as by `toolfmt convert`. The exit code is 1 if there are findings, or no conversations.
    """
    target = None if to is None else find(to).name
    given = files.sources(paths)
    reading, picked = files.reading(given), files.picked()
    count = wrong = placed = readable = 0
    table: list[tuple[str, ...]] = []
    endings: Counter[str] = Counter()
    joined = Joined(picked.answers)
    for batch in reading.all(given):
        for row in batch.rows():
            found = _findings(row, picked, target, endings)
            placed += files.has_place(row)
            joined.add(picked.joins(row))
            readable += all(one.rule != "unreadable" for one in found)
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
    files.note_unplaced(placed, readable, joined)
    if cut := ended(endings):
        note(cut)
    note(f"{count} checked, {wrong} would be refused{'' if count else ': the input is empty'}")
    return 1 if wrong or not count else 0


def _findings(row: Row, picked: Picked, target: str | None, endings: Counter[str]) -> tuple[Finding, ...]:
    try:
        found, transcript = picked.read(row.value)
        value, read = found.value, found.format.name
        endings.update(found.endings(transcript))
        for line in damaged_lines(transcript):
            note(f"{row.file}: line {line} is damaged, and is left out")
        if target is None and found.at and not picked.at and found.format.rules.trained:
            what = f"the conversation is inside the row, and a trainer reads the row alone: convert it to {read}"
            return (Finding("unreadable", found.at, what),)
        if target is not None and target != read:
            value, read = convert(value, source=read, target=target).value, target
        return checked(value, format=read)
    except ConversionError as error:
        return (Finding("empty", "", str(error)),)
    except (ParseError, UnrepresentableError) as error:
        return (unreadable(str(error)),)
