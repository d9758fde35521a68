"""Answers in files of their own, found by the id of the row that they belong to.

    AnswerFiles(["outputs.jsonl"]).find({"custom_id": "1", "body": {...}})    [{"custom_id": "1", "response": {...}}]

Rows and answers may be in any order. The answers are in a temporary database on the disk, so the memory does not grow
with them. `Joined` collects the ids of the rows.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final, TypeAlias

from toolfmt import jsontext
from toolfmt.corpora.batches import ReadOptions
from toolfmt.corpora.rows import place
from toolfmt.corpora.sources import sources
from toolfmt.errors import CorpusError, ParseError
from toolfmt.jsontext import is_object
from toolfmt.model import JsonValue

_IDS: Final = ("custom_id", "key", "request_id", "id")
"""The keys of ids; of several, the first one counts."""
Join: TypeAlias = tuple[str, str]
"""The id of a row that has an answer, and the row's place, which is empty if an answer may be of several such rows."""


class AnswerFiles:
    """The answers of some files."""

    def __init__(self, paths: Iterable[str]) -> None:
        """Read the answers; raises `CorpusError` for a row without an id, and `ParseError` for one that is not JSON."""
        self._stored = sqlite3.connect("", check_same_thread=False)  # spills to a file, which has no name
        self._stored.execute("create table answers (id text, row text)")
        self._stored.executemany("insert into answers values (?, ?)", _rows(paths))
        self._stored.execute("create index ids on answers (id)")

    @classmethod
    def of(cls, paths: tuple[str, ...]) -> AnswerFiles:
        """Return the answers in files; each process reads them once."""
        stats = (Path(path).stat() for path in paths)
        return _opened(paths, tuple((found.st_size, found.st_mtime_ns) for found in stats))

    def __len__(self) -> int:
        """Count the ids."""
        return self._stored.execute("select count(distinct id) from answers").fetchone()[0]

    def find(self, row: JsonValue) -> list[JsonValue]:
        """Return the answers with the id of a row; raises `ParseError` if there is none."""
        name = _id(row)
        if name is None:
            raise ParseError(f"the row has no id by which its answer is found: {', '.join(_IDS)}")
        found = self._stored.execute("select distinct row from answers where id = ?", (name,))
        answers = [jsontext.loads(text) for (text,) in found]
        if not answers:
            raise ParseError(f"no answer has the id {name!r}")
        return answers

    def key(self, row: JsonValue) -> str | None:
        """Return the id of a row that has an answer; None for another row."""
        name = _id(row)
        return name if self._stored.execute("select 1 from answers where id = ? limit 1", (name,)).fetchone() else None


class Joined:
    """The ids of the rows that were joined to answers."""

    def __init__(self, paths: tuple[str, ...], earlier: Iterable[Join] = ()) -> None:
        """Begin with the rows of an `earlier` run; raises what `AnswerFiles` raises for these files."""
        self._ids: set[str] = set()
        self._answers = len(AnswerFiles.of(paths)) if paths else 0
        self.add(earlier)

    @property
    def unused(self) -> int:
        """The number of ids of answers that no row has."""
        return self._answers - len(self._ids)

    def add(self, joins: Iterable[Join]) -> None:
        """Add the ids of rows; raises `CorpusError` for a second row with an id, as the answer is of one of the two."""
        for name, where in joins:
            if where and name in self._ids:
                advice = "convert the rows of each batch with its own answers"
                raise CorpusError(f"{where}: an earlier row has the id {name!r}, too, the answer is of one: {advice}")
            self._ids.add(name)


def _rows(paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    for batch in ReadOptions().all(sources(paths)):
        for row in batch.rows():
            try:
                name = _id(row.value)
            except ParseError as error:
                raise ParseError(f"{place(row)}: {error}") from None
            if name is None:
                raise CorpusError(f"{place(row)}: an answer has an id: {', '.join(_IDS)}")
            yield name, row.text.removeprefix("\ufeff")


@lru_cache(maxsize=1)
def _opened(paths: tuple[str, ...], versions: object) -> AnswerFiles:  # noqa: ARG001 - files that have changed are read anew
    return AnswerFiles(paths)


def _id(row: JsonValue) -> str | None:
    found = next((row[key] for key in _IDS if row.get(key) is not None), None) if is_object(row) else None
    return str(found) if type(found) in (str, int) else None
