"""Two conversations side by side: arguments as a value and as the text of it are the same, others are looked at."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolfmt import convert
from toolfmt.conversation import CallPart, Message, ResultPart, TextPart, Transcript
from toolfmt.transcripts.comparing.lockstep import common_prefix_length
from toolfmt.transcripts.comparing.losses import losses

VALUE = {"city": "Paris", "n": [1, 2.5, -0.0, None, True], "ü": {"z": "\u2028"}}


def same(a: CallPart, b: CallPart) -> bool:
    return common_prefix_length([Message("assistant", (a,))], [Message("assistant", (b,))]) is None


@pytest.mark.parametrize("separators", [(",", ":"), None])
def test_a_value_and_its_text_are_the_same(separators: tuple[str, str] | None) -> None:
    value, text = CallPart("f", VALUE), CallPart("f", text=json.dumps(VALUE, ensure_ascii=False, separators=separators))
    assert same(value, text)
    assert same(text, value)


@pytest.mark.parametrize(
    ("value", "text"),
    [({"n": 1}, '{"n":1.0}'), ({"n": 1}, '{"n":true}'), ({"n": float("nan")}, '{"n":NaN}'), ({}, ""), (None, "{}")],
)
def test_others_are_looked_at(value: Any, text: str) -> None:
    assert not same(CallPart("f", value), CallPart("f", text=text))
    assert not same(CallPart("f", text=text), CallPart("f", value))


def test_two_values_are_compared() -> None:
    assert same(CallPart("f", {"a": [1]}), CallPart("f", {"a": [1]}))
    for other in ({"a": [2]}, {"a": [1.0]}, {"a": [True]}, {}):
        assert not same(CallPart("f", {"a": [1]}), CallPart("f", other))
        assert not same(CallPart("f", text='{"a": [1]}'), CallPart("f", text=json.dumps(other)))


def test_an_integer_that_has_no_text_goes_where_none_is_needed() -> None:
    used = {"type": "tool_use", "id": "a", "name": "f", "input": {"n": 10**5000}}
    chat = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": [used]}]}
    there = convert(chat, source="anthropic", target="bedrock")
    assert there.losses == ()
    assert there.value["messages"][1]["content"][0]["toolUse"]["input"] == {"n": 10**5000}


@pytest.mark.parametrize("length", [79, 80, 81, 500])
def test_the_detail_of_a_loss_fits_on_a_line(length: int) -> None:
    text = "a" * length
    (loss,) = losses(Transcript((Message("user", (TextPart(text),)),)), Transcript(()))
    assert (loss.detail == text, len(loss.detail)) == (length <= 80, min(length, 80))


@pytest.mark.parametrize(("answered", "action"), [("b", "changed"), ("c", "dropped")])
def test_a_changed_link_of_a_result_is_one_loss(answered: str, action: str) -> None:
    def linked(text: str, ident: str) -> Transcript:
        calls = (TextPart(text), CallPart("f", {}, id="a"), CallPart("g", {}, id="b"))
        return Transcript((Message("assistant", calls), Message("tool", (ResultPart((TextPart("1"),), ident),))))

    found = losses(linked("Hi", "a"), linked("Hello", answered))
    assert [(loss.code, loss.action) for loss in found] == [("text", "changed"), ("result_link", action)]
