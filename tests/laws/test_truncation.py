"""A text cut short makes no call of its own."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolfmt import default_registry, parse, render_calls
from toolfmt.errors import UnrepresentableError
from toolfmt.events import CallFailed, Notice
from toolfmt.workshop.testing import laws, strategies

if TYPE_CHECKING:
    from toolfmt.dialect.record import Dialect, Parser
    from toolfmt.events import Event


@given(data=st.data())
def test_a_cut_text_makes_no_call_of_its_own(dialect: Dialect[str], data: st.DataObject) -> None:
    exchange = data.draw(strategies.exchanges(dialect))
    text = laws.round_trip(dialect, exchange.calls, exchange.tools)
    if text:
        laws.truncated(dialect, text, [data.draw(st.integers(0, len(text)))], exchange.tools)


def test_the_beginning_of_a_marker_at_the_end_is_text(dialect: Dialect[str]) -> None:
    with contextlib.suppress(UnrepresentableError):  # a format that needs the tools
        written = render_calls([{"name": "f", "arguments": {"a": "x"}}], dialect=dialect)
        for size in (1, 2, 3):
            text = f"Hello.\n{written[:size]}"
            if written[:size].strip() and written[:size].isprintable():
                assert parse(text, dialect=dialect).text.rstrip() == text.rstrip()


class Silent:
    """A parser that drops its failures."""

    def __init__(self, parser: Parser[str]) -> None:
        self._parser = parser

    def feed(self, chunk: str) -> list[Event]:
        return [event for event in self._parser.feed(chunk) if not isinstance(event, CallFailed | Notice)]

    def close(self) -> list[Event]:
        return [event for event in self._parser.close() if not isinstance(event, CallFailed | Notice)]


def test_a_parser_that_reports_no_cut_call_breaks_the_law() -> None:
    hermes = default_registry().dialect("hermes")
    silent = replace(hermes, open_parser=lambda options: Silent(hermes.open_parser(options)))
    text = render_calls([{"name": "f", "arguments": {"a": "x"}}], dialect="hermes")
    laws.truncated(hermes, text, [text.index('"x"')])
    with pytest.raises(AssertionError, match="nothing reports the call cut at"):
        laws.truncated(silent, text, [text.index('"x"')])
