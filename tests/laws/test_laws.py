"""The laws over every registered text dialect, with calls full of what breaks parsers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolfmt.dialect import Dialect
from toolfmt.registry import default_registry
from toolfmt.testing import laws, strategies

DIALECTS = [dialect for dialect in default_registry() if dialect.syntax is not None]


@pytest.fixture(params=DIALECTS, ids=lambda dialect: dialect.name, scope="module")
def dialect(request: pytest.FixtureRequest) -> Dialect[str]:
    """Every registered text dialect in turn."""
    return request.param


@given(data=st.data())
def test_calls_are_read_back_as_they_were_written(dialect: Dialect[str], data: st.DataObject) -> None:
    exchange = data.draw(strategies.exchanges(dialect))
    laws.round_trip(dialect, exchange.calls, exchange.tools)


@given(data=st.data())
def test_calls_are_read_back_without_tools(dialect: Dialect[str], data: st.DataObject) -> None:
    exchange = data.draw(strategies.exchanges(dialect))
    laws.round_trip(dialect, exchange.calls)


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


@given(data=st.data())
def test_a_cut_text_makes_no_call_of_its_own(dialect: Dialect[str], data: st.DataObject) -> None:
    exchange = data.draw(strategies.exchanges(dialect))
    text = laws.round_trip(dialect, exchange.calls, exchange.tools)
    if text:
        laws.truncated(dialect, text, data.draw(st.integers(0, len(text))), exchange.tools)


@given(data=st.data())
def test_nothing_raises_or_is_lost_on_broken_text(dialect: Dialect[str], data: st.DataObject) -> None:
    exchange = data.draw(strategies.exchanges(dialect))
    text = laws.round_trip(dialect, exchange.calls, exchange.tools) or ""
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 8)))
        text = text[:start] + data.draw(strategies.texts(dialect)) + text[end:]
    laws.chunking(dialect, text, range(len(text)), exchange.tools)
    laws.ordered(laws.read(dialect, [text], exchange.tools))
    laws.lossless(dialect, text, exchange.tools)
