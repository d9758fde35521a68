"""The laws of every dialect hold for those that come out of a response template."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from toolfmt.workshop.testing import laws, strategies

if TYPE_CHECKING:
    from toolfmt.dialect.record import Dialect


@settings(max_examples=15)
@given(data=st.data())
def test_calls_are_read_back_as_they_were_written(dialect: Dialect[str], data: st.DataObject) -> None:
    exchange = data.draw(strategies.exchanges(dialect))
    laws.round_trip(dialect, exchange.calls, exchange.tools)
    laws.round_trip(dialect, exchange.calls)


@settings(max_examples=15)
@given(data=st.data())
def test_cuts_change_nothing_and_nothing_is_lost(dialect: Dialect[str], data: st.DataObject) -> None:
    exchange = data.draw(strategies.exchanges(dialect))
    written = laws.round_trip(dialect, exchange.calls, exchange.tools)
    assume(written is not None)  # the format cannot hold the calls
    assert written is not None
    text = data.draw(strategies.texts(dialect)) + written + data.draw(strategies.texts(dialect))
    laws.chunking(dialect, text, range(len(text)), exchange.tools)
    laws.chunking(dialect, text, data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    laws.ordered(laws.read(dialect, [text], exchange.tools))
    laws.lossless(dialect, text, exchange.tools)


@settings(max_examples=15)
@given(data=st.data())
def test_a_cut_text_gives_no_call_that_the_whole_does_not(dialect: Dialect[str], data: st.DataObject) -> None:
    exchange = data.draw(strategies.exchanges(dialect))
    text = laws.round_trip(dialect, exchange.calls, exchange.tools)
    assume(text is not None)  # the format cannot hold the calls
    assert text is not None
    laws.truncated(dialect, text, [data.draw(st.integers(0, len(text)))], exchange.tools)
