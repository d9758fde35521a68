"""What is written is read back as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from toolfmt.workshop.testing import laws, strategies

if TYPE_CHECKING:
    from toolfmt.dialect.record import Dialect


@given(data=st.data())
def test_calls_are_read_back_as_they_were_written(dialect: Dialect[str], data: st.DataObject) -> None:
    exchange = data.draw(strategies.exchanges(dialect))
    laws.round_trip(dialect, exchange.calls, exchange.tools)
    laws.round_trip(dialect, exchange.calls)
