"""Finds the dialect that reads what a template writes.

dialect_of(pen)     # the dialect "qwen25", of all that read its calls the one whose markers stand in them
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

from toolfmt import jsontext
from toolfmt.doctor.reading import read, said_calls
from toolfmt.doctor.scenarios import ANSWERS
from toolfmt.errors import TemplateError
from toolfmt.marking import markers

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from toolfmt.dialect import AnyDialect
    from toolfmt.doctor.turns import Pen, Turn
    from toolfmt.model import JsonObject


def dialect_of(
    pen: Pen, dialects: Iterable[AnyDialect], named: Collection[str] = (), usual: Sequence[str] = ()
) -> AnyDialect | None:
    """Choose the dialect that reads most of what the template writes; None if none reads any of it.

    Of those that read as much, one that is `named` for the model; then the one
    whose markers stand in the text; of equals, the one most often in `usual`.
    """
    written = list(_written(pen))
    text = "".join(turn.prompt[-_TAIL:] + turn.wrote for turn, _ in written)
    right = [(_right(written, one), one) for one in dialects if one.syntax is not None]
    _, found = max(
        ((score, one) for score, one in right if score),
        key=lambda pair: (pair[0], pair[1].name in named, _marked(text, pair[1]), usual.count(pair[1].name)),
        default=(0, None),
    )
    return found


def _written(pen: Pen) -> Iterable[tuple[Turn, JsonObject]]:
    for make in ANSWERS.values():
        said = make(())
        try:
            yield pen.turn(said), said
        except TemplateError:
            continue


def _right(written: list[tuple[Turn, JsonObject]], dialect: AnyDialect) -> int:
    """Count the answers whose calls are read as they were made, and once more those of which nothing is left over."""
    count = 0
    for turn, said in written:
        found = read(turn, dialect)
        wanted = said_calls(said)
        right = len(found.calls) == len(wanted) and all(
            call.name == name and jsontext.equal(call.arguments, arguments)
            for call, (name, arguments) in zip(found.calls, wanted, strict=True)
        )
        if right and wanted:
            count += 2 if found.text.strip() == said.get("content", "") and not found.failures else 1
    return count


def _marked(text: str, dialect: AnyDialect) -> int:
    """Count the characters of the markers that stand in the text, less those of the markers that do not."""
    runtime = set(chain.from_iterable(dialect.syntax.hidden)) if dialect.syntax is not None else ()
    keep = [one for one in markers(dialect).keep if one not in runtime]
    return sum(len(one) if one in text else -len(one) for one in keep)


_TAIL: Final = 40
"""So much of the prompt may belong to the answer: a block of reasoning that it opens."""
