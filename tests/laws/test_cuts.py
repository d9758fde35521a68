"""However a text is cut, the events are the same, in order and without loss."""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from tests import slips
from toolfmt.workshop.testing import laws, strategies

if TYPE_CHECKING:
    from toolfmt.dialect.record import Dialect


@given(data=st.data())
def test_cuts_change_nothing(dialect: Dialect[str], data: st.DataObject) -> None:
    exchange = data.draw(strategies.exchanges(dialect))
    text = laws.round_trip(dialect, exchange.calls, exchange.tools)
    if text is None:
        return
    before, after = data.draw(strategies.texts(dialect)), data.draw(strategies.texts(dialect))
    text = before + text + after
    tools = exchange.tools if data.draw(st.booleans()) else ()
    laws.chunking(dialect, text, range(len(text)), tools)
    laws.ordered(laws.chunking(dialect, text, data.draw(st.lists(st.integers(0, len(text)), max_size=8)), tools))
    laws.lossless(dialect, text, tools)


_CLOSER = re.compile(r"</[^<>]*>|<\|close\|>\w+<\|sep\|>|\[/[A-Z_]+\]")


def test_closers_that_changed_places_are_read_alike_however_they_are_cut(dialect: Dialect[str]) -> None:
    calls = [
        slips.call(dialect, "write", {"path": "a.txt", "text": "alpha beta"}),
        slips.call(dialect, "remove", {"path": "tmp/kappa"}),
    ]
    tools = [slips.tool(call.name, call.arguments) for call in calls]
    text = slips.written(dialect, calls) or ""
    spans = [found.span() for found in _CLOSER.finditer(text)][:6]
    for (start, end), (later, last) in combinations(spans, 2):
        swapped = text[:start] + text[later:last] + text[end:later] + text[start:end] + text[last:]
        laws.chunking(dialect, swapped, range(len(swapped)), tools)
        laws.chunking(dialect, swapped, range(0, len(swapped), 5), tools)
