"""Where converted conversations go: stdout, a file, or a folder with a file for each input.

What a batch gave is appended whole, then the state says so: after an interrupt
there is always a complete beginning, and whatever a sudden end leaves after it
is cut off by the run that goes on. A Parquet file can't be appended to, so its
rows wait in `OUT.rows` until all are there.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, Self

from toolfmt import jsontext
from toolfmt.corpora.sources import STDIN, TABLES, Position, Source
from toolfmt.corpora.streams import own_file, packed
from toolfmt.corpora.tables import write_parquet
from toolfmt.corpora.tally import Tally
from toolfmt.errors import CorpusError, ParseError

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from types import FrameType, TracebackType

    from toolfmt.corpora.work import Done
    from toolfmt.model import JsonObject


@dataclass(frozen=True, slots=True)
class State:
    """How far a run is: a small file beside its output, from which `--resume` goes on.

    What was written after the file was last brought up to date is cut off and made again. The file is there from before
    the first byte of output until the end of the run, so an output without it is complete.
    """

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

    def has_begun(self, first: Path) -> bool:
        """Whether a run was interrupted after it had written something, such as a beginning of its `first` file."""
        if not self.path.exists():
            return False
        if first.is_file() and first.stat().st_size:
            return True
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


_SECONDS: Final = 1.0
"""Between two writings of the state."""


def growing(target: Path) -> Path:
    """Give the file that a run appends to while it makes `target`: of a table, its rows."""
    return target.with_name(f"{target.name}.rows") if target.name.endswith(TABLES) else target


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where to write: to stdout without `out`, else to that file or folder; failures go to the file `aside`."""

    out: Path | None
    folder: bool = False
    aside: Path | None = None


class CorpusOutput:
    """Appends what batches gave to the places that are meant, and counts it."""

    def __init__(self, sources: Sequence[Source], places: Places, state: State, keep: StateFile | None) -> None:
        """Begin or go on where the state says; `keep` holds it from then on."""
        self.tally = Tally() if state.tally is None else Tally.of(state.tally)
        self._sources = sources
        self._numbers = {one.path: at for at, one in enumerate(sources)}
        self._places = places
        self._state: State = state
        self._keep = keep
        self._saved = time.monotonic()
        self._file: IO[bytes] | None = None
        self._aside: IO[bytes] | None = None
        self._seen: set[bytes] = set()
        """The fingerprints of what is written, where duplicates are left out."""
        self._interrupts = Interrupts()
        self._exit = ExitStack()

    def __enter__(self) -> Self:
        """Open the file that is next; what the state does not know of is cut off."""
        if self._keep is not None:
            self._keep.save(self._state)
        self._exit.enter_context(self._interrupts.held())
        self._open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Complete the files or, after an error, note how far they are."""
        with self._exit, self._interrupts.whole():
            if kind is None:
                self._turn(len(self._sources))
                if self._keep is not None:
                    self._keep.end()
            else:
                with suppress(OSError):  # a full disk has been reported
                    self._save()
            for file in (self._file, self._aside):
                if file is not None and file is not sys.stdout.buffer:
                    with nullcontext() if error is None else suppress(OSError):
                        file.close()

    def add(self, done: Done) -> None:
        """Write what a batch gave, whole; raises ParseError where it had to stop."""
        with self._interrupts.whole():
            self._turn(self._numbers[done.source.path])
            if done.stopped:
                # The state stays before the batch: a run that goes on looks at all of it again.
                self._save()
                self._keep = None
            written = _append(self._file, self._unique(done) if done.kept else done.data)
            failures = "".join(f"{jsontext.dumps(one)}\n" for one in done.failures).encode()
            aside = self._set_aside(failures) if self._places.aside is not None and failures else 0
            self.tally.merge(done.tally)
            self._state = replace(
                self._state,
                offset=done.end.offset,
                line=done.end.line,
                written=self._state.written + written,
                aside=self._state.aside + aside,
            )
            if time.monotonic() - self._saved >= _SECONDS:
                self._save()
        if done.stopped:
            between = "\n" if "\n" in done.stopped else "; "
            raise ParseError(f"{done.stopped}{between}--on-error skip or quarantine leaves out {done.left_out}")

    def _unique(self, done: Done) -> bytes:
        """Write what no earlier conversation says."""
        texts: list[str] = []
        for one in done.kept:
            if one.key in self._seen:
                self.tally.duplicates += 1
                continue
            self._seen.add(one.key)
            self.tally.add(one.file, one.line, one.losses)
            texts.append(f"{one.text}\n")
        return packed("".join(texts).encode(), done.name)

    def _save(self) -> None:
        if self._keep is not None:
            self._state = replace(self._state, tally=self.tally.report())
            self._keep.save(self._state)
            self._saved = time.monotonic()

    def _turn(self, index: int) -> None:
        """Go on to another input: a folder has a file for each."""
        while self._state.input < index:
            complete = self._places.folder or index == len(self._sources) == self._state.input + 1
            spent = self._complete() if complete else None
            state = replace(self._state, input=self._state.input + 1, offset=0, line=0)
            self._state = replace(state, written=0) if self._places.folder else state
            if complete:
                self._save()
                self._open()
            if spent is not None:
                spent.unlink()

    def _open(self) -> None:
        if self._places.out is None:
            self._file = sys.stdout.buffer
        elif self._state.input < len(self._sources):
            path = growing(self._target(self._places.out))
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = _continued(path, self._state.written)

    def _complete(self) -> Path | None:
        """Close a file that is complete; gives the file of rows that a table was made of."""
        if self._file is None or self._places.out is None:
            return None
        self._file.close()
        target = self._target(self._places.out)
        rows = growing(target)
        if rows == target:
            return None
        fresh = own_file(target.with_name(f"{target.name}.new"))
        write_parquet(str(rows), str(fresh))
        fresh.replace(target)
        return rows

    def _target(self, out: Path) -> Path:
        return out / self._sources[self._state.input].name if self._places.folder else out

    def _set_aside(self, data: bytes) -> int:
        assert self._places.aside is not None  # noqa: S101 - asked by the caller
        if self._aside is None:
            self._aside = _continued(self._places.aside, self._state.aside)
        return _append(self._aside, packed(data, self._places.aside.name))


def _append(file: IO[bytes] | None, data: bytes) -> int:
    assert file is not None  # noqa: S101 - opened before
    try:
        file.write(data)
        file.flush()
    except OSError as error:
        raise OSError(error.errno, error.strerror, file.name) from None
    return len(data)


def _continued(path: Path, size: int) -> IO[bytes]:
    """Open a file to write, after its first `size` bytes."""
    own_file(path)
    if not size:
        return path.open("wb")
    if path.stat().st_size < size:
        raise CorpusError(f"{path}: is shorter than the run that was interrupted had made it")
    file = path.open("r+b")
    file.truncate(size)
    file.seek(size)
    return file


class Interrupts:
    """Lets Ctrl-C wait while something is written whole."""

    def __init__(self) -> None:
        """Begin with nothing under way."""
        self._busy = self._asked = False

    @contextmanager
    def held(self) -> Generator[None]:
        """Take interrupts over, as only a main thread can."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before: Any = signal.signal(signal.SIGINT, self._interrupt)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    @contextmanager
    def whole(self) -> Generator[None]:
        """Let an interrupt wait for the end of this."""
        self._busy = True
        try:
            yield
        finally:
            self._busy = False
        if self._asked:
            self._asked = False
            raise KeyboardInterrupt

    def _interrupt(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - what a handler is given
        if not self._busy:
            raise KeyboardInterrupt
        self._asked = True
