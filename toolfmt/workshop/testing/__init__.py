"""Laws and Hypothesis strategies for authors of dialects.

    from toolfmt.workshop.testing import check_dialect

    def test_laws():
        check_dialect(DIALECT)

`check_dialect` and the strategies need hypothesis; the `laws` are plain functions that raise `AssertionError` and say
what differs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolfmt.arguments import checked

if TYPE_CHECKING:
    from toolfmt.dialect.record import Dialect


@checked
def check_dialect(dialect: Dialect[str], *, examples: int = 100) -> None:
    """Check all laws over a dialect with generated calls; raise `AssertionError` with the first difference.

    `examples` is the number of generated conversations.
    """
    from toolfmt.lookup.proving import check_reading
    from toolfmt.model import ToolResult
    from toolfmt.workshop.testing import laws, strategies  # first, as it says how to install hypothesis

    from hypothesis import given, settings  # isort: skip
    from hypothesis import strategies as st  # isort: skip

    check_reading(dialect)

    @settings(deadline=None, max_examples=examples)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        exchange = data.draw(strategies.exchanges(dialect))
        laws.round_trip(dialect, exchange.calls)  # without the tools' schemas
        text = laws.round_trip(dialect, exchange.calls, exchange.tools)
        if text is None:
            return  # the dialect cannot hold these calls, and reported it
        laws.chunking(dialect, text, range(len(text)), exchange.tools)  # one character at a time
        laws.ordered(laws.read(dialect, [text], exchange.tools))
        laws.lossless(dialect, text, exchange.tools)
        laws.truncated(dialect, text, [data.draw(st.integers(0, len(text)))], exchange.tools)
        laws.harmless(dialect, [ToolResult(name=exchange.calls[0].name, content=text)], exchange.tools)

    check()
