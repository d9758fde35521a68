"""How far a run is: a small file beside its output, from which `--resume` goes on.

    {"run": {"to": "anthropic", ..., "inputs": [["in.jsonl", 1048576, 1700000000]]},
     "input": 0, "offset": 524288, "line": 310, "written": 498120, "aside": 0, "tally": {...}}

What was written after the file was last brought up to date is cut off and made
again. The file is there from before the first byte of output until the end of
the run, so an output without it is complete.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from toolfmt import jsontext
from toolfmt.corpora.sources import STDIN, Position, Source
from toolfmt.corpora.streams import own_file
from toolfmt.errors import CorpusError, ParseError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolfmt.model import JsonObject


@dataclass(frozen=True, slots=True)
class State:
    """How far a run is."""

    run: JsonObject
    """What the run is to do, and with which files: another run cannot go on from here."""
    input: int = 0
    offset: int = 0
    line: int = 0
    written: int = 0
    """Bytes of the file that is being written."""
    aside: int = 0
    """Bytes of the side file."""
    tally: JsonObject | None = None

    @property
    def position(self) -> Position:
        """Give the place in the input."""
        return Position(self.offset, self.line)


class StateFile:
    """Keeps a run's state on disk."""

    def __init__(self, path: Path, run: JsonObject) -> None:
        """Keep it at `path`."""
        self.path = path
        self.run = run

    def has_begun(self) -> bool:
        """Whether a run was interrupted after it had written something."""
        if not self.path.exists():
            return False
        try:
            found = jsontext.loads(self.path.read_text("utf-8"))
        except (ParseError, UnicodeDecodeError):
            return True
        return not jsontext.is_object(found) or any(found.get(key) for key in ("input", "written", "aside"))

    def begin(self, *, resume: bool) -> State:
        """Give the state to begin with; raises CorpusError where a run cannot be gone on with."""
        if not resume or not self.path.exists():
            return State(self.run)
        try:
            found = jsontext.loads(self.path.read_text("utf-8"))
            state = State(**found) if jsontext.is_object(found) else None
        except (ParseError, UnicodeDecodeError, TypeError):
            state = None
        if state is None:
            raise CorpusError(f"{self.path}: says nothing of an interrupted run: remove it to begin anew")
        differ = [key for key in self.run if not jsontext.equal(self.run[key], state.run.get(key))]
        if differ:
            what = ", ".join(differ)
            raise CorpusError(f"{self.path}: the run that was interrupted had other {what}: remove it to begin anew")
        return state

    def save(self, state: State) -> None:
        """Write the state, whole or not at all; an error names the folder, as the file is none of the caller's."""
        fresh = own_file(self.path.with_name(f"{self.path.name}.new"))
        try:
            fresh.parent.mkdir(parents=True, exist_ok=True)
            fresh.write_text(jsontext.dumps(asdict(state)) + "\n", "utf-8")
            fresh.replace(self.path)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path.parent)) from None

    def end(self) -> None:
        """The run is complete."""
        self.path.unlink(missing_ok=True)


def inputs(sources: Sequence[Source]) -> list[list[str | int | None]]:
    """Describe files so that a change shows."""
    return [
        [one.path, None, None] if one.path == STDIN else [one.path, one.size, Path(one.path).stat().st_mtime_ns]
        for one in sources
    ]
