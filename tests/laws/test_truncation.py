"""A text cut short makes no call of its own."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from toolfmt import parse, render_calls
from toolfmt.errors import UnrepresentableError
from toolfmt.workshop.testing import laws, strategies

if TYPE_CHECKING:
    from toolfmt.dialect.record import Dialect


@given(data=st.data())
def test_a_cut_text_makes_no_call_of_its_own(dialect: Dialect[str], data: st.DataObject) -> None:
    exchange = data.draw(strategies.exchanges(dialect))
    text = laws.round_trip(dialect, exchange.calls, exchange.tools)
    if text:
        laws.truncated(dialect, text, data.draw(st.integers(0, len(text))), exchange.tools)


def test_the_beginning_of_a_marker_at_the_end_is_text(dialect: Dialect[str]) -> None:
    with contextlib.suppress(UnrepresentableError):  # a format that needs the tools
        written = render_calls([{"name": "f", "arguments": {"a": "x"}}], dialect=dialect)
        for size in (1, 2, 3):
            text = f"Hello.\n{written[:size]}"
            if written[:size].strip() and written[:size].isprintable():
                assert parse(text, dialect=dialect).text.rstrip() == text.rstrip()
