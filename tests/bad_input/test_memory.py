"""The memory of a stream and of a long run: a small multiple of the text, whatever the size of its pieces."""

from __future__ import annotations

import gc
import tracemalloc
from typing import Any

import pytest

import toolfmt
from tests import sampling
from toolfmt import ToolInvocation
from toolfmt.agents import AgentLoop, AgentState, ScriptedDriver
from toolfmt.agents.drivers.script import call

WRITE = toolfmt.ToolDefinition(
    name="write_file", parameters={"type": "object", "properties": {"content": {"type": "string"}}}
)
WORDS = 'Words of a report, some "quoted", and a < b. It\'s long.\n'
MOST = 12
"""Bytes for each character; an event for each piece would take forty."""


def prose(size: int, _: str) -> str:
    return (WORDS * (size // len(WORDS) + 1))[:size]


def one_call(size: int, dialect: str) -> str:
    written = ToolInvocation(name=WRITE.name, arguments={"content": prose(size, dialect).strip()})
    return toolfmt.render_calls([written], dialect=dialect)


def kept(text: str, **options: Any) -> int:
    """Count the bytes that a parser keeps when it has read a text in pieces of four characters."""
    parser = toolfmt.open_parser(tools=[WRITE], **options)
    pieces = [text[at : at + 4] for at in range(0, len(text), 4)]
    gc.collect()
    tracemalloc.start(1)
    try:
        for piece in pieces:
            parser.feed(piece)
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


def growth(made: Any, dialect: str, **options: Any) -> float:
    small, large = 4_000, 12_000
    texts = [made(size, "hermes" if dialect == "auto" else dialect) for size in (small, large)]
    kept(texts[0], dialect=dialect, **options)  # fills caches
    before, after = (kept(text, dialect=dialect, **options) for text in texts)
    return (after - before) / (large - small)


@pytest.mark.parametrize("options", [{}, {"strict": True}], ids=str)
@pytest.mark.parametrize("made", [prose, one_call])
def test_a_stream_takes_a_small_multiple_of_its_text(made: Any, options: dict[str, Any]) -> None:
    for dialect in ("auto", "hermes"):
        assert growth(made, dialect, **options) <= MOST, dialect


@pytest.mark.parametrize("dialect", [dialect.name for dialect in sampling.kinds()])
def test_a_stream_of_any_dialect_takes_a_small_multiple_of_its_text(dialect: str) -> None:
    assert growth(prose, dialect) <= MOST


def test_a_long_run_keeps_no_earlier_state() -> None:
    counts: list[int] = []
    earlier = [one for one in gc.get_objects() if isinstance(one, AgentState)]  # of other tests' abandoned threads
    known = {id(one) for one in earlier}

    def count(_: AgentState) -> None:
        counts.append(sum(isinstance(one, AgentState) and id(one) not in known for one in gc.get_objects()))

    def add(a: int) -> int:
        """Add one."""
        return a + 1

    driver = ScriptedDriver([call("add", {"a": 1})])
    state = AgentLoop(driver, [add], max_steps=30, stop_when=[count]).run_sync("Go on.")
    assert len(state.steps) == 30
    assert max(counts) <= 4  # a run that kept them all would hold thirty
