"""Answers of any shape are read and judged without an error, in linear time."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolfmt.workshop.probing import QUESTIONS
from toolfmt.workshop.probing.asking import Reply, read
from toolfmt.workshop.probing.judging import compare, judge

KEYS = ("choices", "message", "delta", "content", "tool_calls", "function", "name", "arguments", "id", "index")
NAMES = ("get_weather", "plan_meeting", "save_text", "get_time", '{"city": "Paris"}', "{}", "[]", '{"text": 1}')
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.floats(0, 2), st.text(max_size=5), st.sampled_from(NAMES)
)


def anything(leaves: st.SearchStrategy[Any] = LEAVES) -> st.SearchStrategy[Any]:
    keys = st.sampled_from((*KEYS, "finish_reason", "reasoning", "type"))
    return st.recursive(
        leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4), max_leaves=12
    )


CALLS = st.lists(
    anything()
    | st.fixed_dictionaries(
        {"function": anything() | st.fixed_dictionaries({"name": anything(), "arguments": anything()})},
        optional={"id": anything(), "index": anything()},
    ),
    max_size=4,
)
SAID = anything() | st.fixed_dictionaries({}, optional={"content": anything(), "tool_calls": CALLS | anything()})
CHOICES = st.lists(
    anything() | st.fixed_dictionaries({}, optional={"message": SAID, "delta": SAID, "finish_reason": anything()}),
    max_size=2,
)
VALUES = st.fixed_dictionaries({"choices": CHOICES})


@settings(max_examples=60)
@given(whole=VALUES, events=st.lists(VALUES, min_size=1, max_size=5), question=st.sampled_from(QUESTIONS))
def test_any_shape_is_read_and_judged(whole: Any, events: list[Any], question: Any) -> None:
    answers = [read(Reply((whole,)), stream=False), read(Reply(tuple(events), streamed=True), stream=True)]
    for answer, mode in zip(answers, ("whole", "streamed"), strict=True):
        found = judge(answer, question, mode)
        assert len({one.rule for one in found}) == len(found)
    compare(answers[0], answers[1], question)


@pytest.mark.parametrize(
    "piece",
    [
        {"index": 0, "function": {"name": "get_weather", "arguments": "x"}},
        {"function": {"name": "get_weather", "arguments": "x"}},
        {"index": 0, "function": {"arguments": "x"}},
    ],
)
@pytest.mark.timeout(20)
def test_many_pieces_take_no_longer_each(piece: dict[str, Any]) -> None:
    events = tuple({"choices": [{"delta": {"tool_calls": [{**piece, "id": f"c{at}"}]}}]} for at in range(10_000))
    answer = read(Reply(events, streamed=True), stream=True)
    found = judge(answer, QUESTIONS[0], "streamed")
    assert len(found) < 12
