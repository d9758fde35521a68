"""Every character is claimed: what a model writes where the format has no place for it is never lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests import sampling
from toolfmt import parse, parse_stream
from toolfmt.dialect.syntax import spelled
from toolfmt.events import coalesce
from toolfmt.model import ToolDefinition, ToolInvocation
from toolfmt.workshop.testing import laws, strategies

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolfmt.dialect.record import Dialect

PROPERTIES = {"path": {"type": "string"}, "note": {"type": "string"}}
TOOL = ToolDefinition.model_validate(
    {"name": "run", "parameters": {"type": "object", "properties": PROPERTIES, "required": []}}
)


def _written(dialect: Dialect[str]) -> Iterator[str]:
    """A call with an argument and one without, as the dialect writes them."""
    for arguments in ({"note": "hello"}, {}):
        call = ToolInvocation(
            name="run", arguments=arguments, server="local" if dialect.traits.carries_server else None
        )
        yield dialect.calls([call], {"run": TOOL})


def test_nothing_is_lost_while_its_call_runs(dialect: Dialect[str]) -> None:
    for written in _written(dialect):
        texts = list(enumerate(strategies.strays(written)))
        for number, text in sampling.share(texts, sampling.names().index(dialect.name), 4):
            laws.claimed(dialect, text, strategies.STRAY, [TOOL])
            if number % 3 == 0:
                laws.claimed(dialect, text, strategies.STRAY)


def test_markers_without_a_call_are_reported(dialect: Dialect[str]) -> None:
    forms = () if dialect.syntax is None or dialect.syntax.frame is not None else dialect.syntax.forms
    for form in forms:
        opening, _, closing = spelled(form.section).partition("{calls}")
        marked = opening.strip() and closing.strip() and any(map(str.isalnum, opening))
        for inside in ("", "\n", "[]") if marked else ():
            text = f"{opening}{inside}{closing}"
            result = parse(text, dialect=dialect, tools=[TOOL])
            assert (result.calls, bool(result.failures or result.notices or result.text.strip())) == ((), True), text
            assert tuple(coalesce([*parse_stream(iter(text), dialect=dialect, tools=[TOOL])])) == result.events
