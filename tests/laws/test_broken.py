"""Broken text raises nothing and loses nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from bench.traps import sample
from toolfmt.workshop.testing import laws, strategies

if TYPE_CHECKING:
    from toolfmt.dialect.record import Dialect


@given(data=st.data())
def test_nothing_raises_or_is_lost_on_broken_text(dialect: Dialect[str], data: st.DataObject) -> None:
    exchange = data.draw(strategies.exchanges(dialect))
    text = laws.round_trip(dialect, exchange.calls, exchange.tools)
    if text is None:  # what the format cannot hold
        text = sample(dialect)
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 8)))
        text = text[:start] + data.draw(strategies.texts(dialect)) + text[end:]
    laws.chunking(dialect, text, range(len(text)), exchange.tools)
    laws.ordered(laws.read(dialect, [text], exchange.tools))
    laws.lossless(dialect, text, exchange.tools)
