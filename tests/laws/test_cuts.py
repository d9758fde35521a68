"""However a text is cut, the events are the same, in order and without loss."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

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
    laws.chunking(dialect, text, data.draw(st.lists(st.integers(0, len(text)), max_size=8)), tools)
    laws.ordered(laws.read(dialect, [text], tools))
    laws.lossless(dialect, text, tools)
