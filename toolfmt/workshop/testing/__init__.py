"""For people who write dialects: the laws, the strategies and the golden helpers.

    from toolfmt.workshop.testing import laws, strategies

    @given(strategies.exchanges(DIALECT))
    def test_round_trip(exchange):
        laws.round_trip(DIALECT, exchange.calls, exchange.tools)

Needs hypothesis for the strategies; the laws are plain functions that raise
`AssertionError` and say what differs.
"""
