"""The options for reading files of conversations, the same for every command."""

from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

from toolfmt.cli.output import UsageError
from toolfmt.corpora.batches import MAX_ROW, ReadOptions
from toolfmt.corpora.picked import Picked
from toolfmt.transcripts.formats import find

AUTO = "auto"


@Parameter(name="*", group="What is read")
@dataclass(frozen=True, kw_only=True)
class Files:
    """How files are read."""

    source: Annotated[
        list[str] | None,
        Parameter(
            name="--from",
            alias=("--format", "-f"),
            help="The format of the input, or several possible ones; auto (the default) detects it.",
            negative=(),
            consume_multiple=False,
        ),
    ] = None
    at: Annotated[
        str, Parameter(help="The JSON pointer of the conversation in a row, such as /body; lines of batches need none.")
    ] = ""
    answer: Annotated[str | None, Parameter(help="The JSON pointer of its answer, which becomes the last message.")] = (
        None
    )
    column: Annotated[str, Parameter(help="The column of a Parquet file that holds the conversation.")] = ""
    max_row: Annotated[int, Parameter(help="The maximum size of a row or session in bytes.")] = MAX_ROW

    def picked(self) -> Picked:
        """Return what to read of each row; raises `UnknownFormatError`."""
        names = tuple(find(name).name for name in self.source or () if name != AUTO)
        return Picked(formats=names, at=self.at, answer=self.answer)

    def reading(self) -> ReadOptions:
        """Return how to read files; raises `UsageError`."""
        if self.max_row < 1:
            raise UsageError("--max-row is 1 or more")
        return ReadOptions(self.picked().formats, self.column, self.max_row)


def check_jobs(jobs: int) -> None:
    """Raise `UsageError` for a number of processes below 1."""
    if jobs < 1:
        raise UsageError("--jobs is 1 or more")
