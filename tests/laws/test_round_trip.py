"""What is written is read back as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolfmt import parse
from toolfmt.errors import UnrepresentableError
from toolfmt.model import ToolDefinition, ToolInvocation
from toolfmt.workshop.testing import laws, strategies

if TYPE_CHECKING:
    from toolfmt.dialect.record import Dialect


@given(data=st.data())
def test_calls_are_read_back_as_they_were_written(dialect: Dialect[str], data: st.DataObject) -> None:
    exchange = data.draw(strategies.exchanges(dialect))
    laws.round_trip(dialect, exchange.calls, exchange.tools)
    laws.round_trip(dialect, exchange.calls)


@pytest.mark.parametrize("text", ["a\u2028b", "\u2029", "\x85 \x0b\x0c", "\x1c\n \n\x1e"])
def test_no_character_of_a_value_is_a_line_of_the_format(dialect: Dialect[str], text: str) -> None:
    server = "local" if dialect.traits.carries_server else None
    call = ToolInvocation(name="f", arguments={"path": text}, server=server)
    tool = ToolDefinition(name="f", parameters={"type": "object", "properties": {"path": {"type": "string"}}})
    try:
        written = dialect.calls([call], {"f": tool})
    except UnrepresentableError:
        return
    assert [one.arguments for one in parse(written, dialect=dialect, tools=[tool]).calls] == [{"path": text}]
