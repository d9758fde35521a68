"""Laws and Hypothesis strategies for authors of dialects.

    from toolfmt.workshop.testing import laws, strategies

    @given(strategies.exchanges(DIALECT))
    def test_round_trip(exchange):
        laws.round_trip(DIALECT, exchange.calls, exchange.tools)

The strategies need hypothesis; the laws are plain functions that raise `AssertionError` and say what differs.
"""
