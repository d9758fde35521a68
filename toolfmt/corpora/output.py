"""Where converted conversations go: stdout, a file, or a folder with a file for each input.

The output of a batch is appended as a whole, then the state is saved. So an interrupted run leaves complete batches,
and the resumed run truncates anything after them. A Parquet file cannot be appended to, so its rows are collected in
`OUT.rows` first.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import FrameType, TracebackType
from typing import IO, Any, Final, Self

from toolfmt import jsontext
from toolfmt.corpora.sources import STDIN, TABLES, Position, Source
from toolfmt.corpora.streams import packed
from toolfmt.corpora.tables import write_parquet
from toolfmt.corpora.tally import Tally
from toolfmt.corpora.targets import open_own, own_file
from toolfmt.corpora.work import Done
from toolfmt.errors import CorpusError, ParseError
from toolfmt.model import JsonObject


@dataclass(frozen=True, slots=True)
class State:
    """The progress of a run: a small file beside its output, from which `--resume` continues.

    Output written after the last save is truncated and written again. The file exists from before the first byte of
    output until the end of the run, so an output without it is complete.
    """

    run: JsonObject
    """The options and input files of the run: a run with others cannot resume it."""
    input: int = 0
    offset: int = 0
    line: int = 0
    written: int = 0
    """The bytes written to the current file."""
    aside: int = 0
    """The bytes written to the side file."""
    tally: JsonObject | None = None

    @property
    def position(self) -> Position:
        """The position in the current input."""
        return Position(self.offset, self.line)


class StateFile:
    """A run's state on disk."""

    def __init__(self, path: Path, run: JsonObject) -> None:
        """Store the state of a run at `path`."""
        self.path = path
        self.run = run

    def has_begun(self, first: Path) -> bool:
        """Whether an interrupted run has written output, such as a part of its `first` file."""
        if not self.path.exists():
            return False
        state = self._read()
        begun = state is None or any((state.input, state.written, state.aside))
        return begun or (first.is_file() and first.stat().st_size > 0)

    def begin(self, *, resume: bool) -> State:
        """Return the state to start with; raises CorpusError if the run cannot be resumed."""
        if not resume or not self.path.exists():
            return State(self.run)
        state = self._read()
        if state is None:
            raise CorpusError(f"{self.path}: holds no progress that this version can continue; use --overwrite")
        differ = [key for key in self.run if not jsontext.equal(self.run[key], state.run.get(key))]
        if differ:
            what = ", ".join(differ)
            raise CorpusError(f"{self.path}: the run that was interrupted had other {what}: remove it to begin anew")
        return state

    def _read(self) -> State | None:
        """Read the state; None for a file that holds none, or that of another version."""
        try:
            found = jsontext.loads(self.path.read_text("utf-8"))
            state = State(**found) if jsontext.is_object(found) else None
            if state is not None and state.tally is not None:
                Tally.of(state.tally)
        except (ParseError, UnicodeDecodeError, AttributeError, KeyError, TypeError):
            return None
        return state

    def save(self, state: State) -> None:
        """Write the state atomically; an error names the folder, because the caller did not name the file."""
        fresh = _fresh(self.path)
        try:
            fresh.parent.mkdir(parents=True, exist_ok=True)
            with open_own(fresh, "wb") as file:
                file.write(f"{jsontext.dumps(asdict(state))}\n".encode())
            fresh.replace(self.path)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path.parent)) from None

    def end(self) -> None:
        """Remove the state of a complete run."""
        self.path.unlink(missing_ok=True)


def inputs(sources: Sequence[Source]) -> list[list[str | int | None]]:
    """Describe files by size and time, so that changes are noticed."""
    return [
        [one.path, None, None] if one.path == STDIN else [one.path, one.size, Path(one.path).stat().st_mtime_ns]
        for one in sources
    ]


_SECONDS: Final = 1.0
"""The time between two saves of the state."""


def growing(target: Path) -> Path:
    """Return the file that a run appends to while it writes `target`: for a table, the file of its rows."""
    return target.with_name(f"{target.name}.rows") if target.name.endswith(TABLES) else target


def _fresh(path: Path) -> Path:
    """Return the file that is written whole and then takes the place of `path`."""
    return path.with_name(f"{path.name}.new")


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Output locations: stdout if `out` is None, otherwise that file or folder; failures go to the file `aside`."""

    out: Path | None
    folder: bool = False
    aside: Path | None = None
    typed: bool = False
    """Write a table's conversations as columns of lists and structs."""

    def targets(self, sources: Sequence[Source]) -> list[Path]:
        """Return the files that the conversations go to."""
        if self.out is None:
            return []
        return [self.out / source.name for source in sources] if self.folder else [self.out]

    @property
    def progress(self) -> Path | None:
        """The file of the run's state."""
        return None if self.out is None else Path(f"{self.out}.resume.json")

    def helpers(self, sources: Sequence[Source]) -> Iterator[Path]:
        """Return the files beside the targets that exist until the run ends."""
        for path in self.targets(sources):
            if growing(path) != path:
                yield from (growing(path), _fresh(path))
        if self.progress is not None:
            yield from (self.progress, _fresh(self.progress))


class CorpusOutput:
    """Appends the output of batches to the right files and counts it."""

    def __init__(self, sources: Sequence[Source], places: Places, state: State, keep: StateFile | None) -> None:
        """Continue from `state`; `keep` saves the progress."""
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
        """The fingerprints of the conversations that were written, if duplicates are left out."""
        self._interrupts = Interrupts()
        self._exit = ExitStack()

    def __enter__(self) -> Self:
        """Open the current file, truncated to the size in the state."""
        if self._keep is not None:
            self._keep.save(self._state)
        self._exit.enter_context(self._interrupts.held())
        self._open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Complete the files or, after an error, save the progress."""
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
        """Write the output of a batch as a whole; raises ParseError if the run has to stop."""
        with self._interrupts.whole():
            self._turn(self._numbers[done.source.path])
            if done.stopped:
                # The state stays before the batch, so a resumed run converts all of it again.
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
        """Return the conversations that are not duplicates."""
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
        """Continue with another input; in a folder each input has its own file."""
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
            out, path = self._places.out, growing(self._target(self._places.out))
            for folder in path.parents:
                if out in folder.parents:  # a folder of the inputs, and not the one that was named
                    own_file(folder)
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = _continued(path, self._state.written)

    def _complete(self) -> Path | None:
        """Close a complete file; for a table, write it and return the file of its rows."""
        if self._file is None or self._places.out is None:
            return None
        self._file.close()
        target = self._target(self._places.out)
        rows = growing(target)
        if rows == target:
            return None
        fresh = own_file(_fresh(target))
        write_parquet(str(rows), str(fresh), typed=self._places.typed)
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
    """Open a file for writing after its first `size` bytes."""
    if not size:
        return open_own(path, "wb")
    if path.stat().st_size < size:
        raise CorpusError(f"{path}: is shorter than the run that was interrupted had made it")
    file = open_own(path, "r+b")
    file.truncate(size)
    file.seek(size)
    return file


class Interrupts:
    """Delays Ctrl-C while something is written as a whole."""

    def __init__(self) -> None:
        self._busy = self._asked = False

    @contextmanager
    def held(self) -> Generator[None]:
        """Handle SIGINT; only the main thread can."""
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
        """Delay an interrupt to the end of the block."""
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
