"""A text cut short makes no call of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from toolfmt.testing import laws, strategies

if TYPE_CHECKING:
    from toolfmt.dialect import Dialect


@given(data=st.data())
def test_a_cut_text_makes_no_call_of_its_own(dialect: Dialect[str], data: st.DataObject) -> None:
    exchange = data.draw(strategies.exchanges(dialect))
    text = laws.round_trip(dialect, exchange.calls, exchange.tools)
    if text:
        laws.truncated(dialect, text, data.draw(st.integers(0, len(text))), exchange.tools)
