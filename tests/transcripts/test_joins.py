"""Texts that became one text: only the place where one ends is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolfmt.conversation import Message, TextPart, Transcript
from toolfmt.model import JsonObject
from toolfmt.transcripts.comparing.losses import losses
from toolfmt.transcripts.convert import convert

SPACES = st.sampled_from(["", " ", "\n", "\n\n"])
TEXTS = st.lists(st.text(st.sampled_from("ab "), min_size=1, max_size=4).filter(str.strip), min_size=2, max_size=5)


def turn(*texts: str) -> Transcript:
    """Give one turn of the user's."""
    return Transcript((Message("user", tuple(map(TextPart, texts))),))


def turns(*texts: str) -> Transcript:
    """Give a turn of the user's for each text."""
    return Transcript(tuple(Message("user", (TextPart(text),)) for text in texts))


def codes(before: Transcript, after: Transcript) -> set[str]:
    return {loss.code for loss in losses(before, after)}


@pytest.mark.parametrize("target", ["sharegpt", "hermes-rows", "toolace", "ollama"])
def test_neighbours_that_are_joined_lose_nothing_that_matters(target: str) -> None:
    value = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Weather?"},
        {"role": "user", "content": [{"type": "text", "text": "In Paris."}, {"type": "text", "text": "Today."}]},
        {"role": "assistant", "content": "18C."},
    ]
    there = convert(value, source="openai-chat", target=target, strict=True)
    assert there.losses == ()
    assert {loss.code for loss in there.bookkeeping} == {"boundary"}


@given(texts=TEXTS, space=SPACES, data=st.data())
def test_joined_texts_lose_no_text_and_gone_texts_do(texts: list[str], space: str, data: st.DataObject) -> None:
    whole = space.join(texts)
    for before in (turn(*texts), turns(*texts)):
        assert codes(before, turn(whole)) <= {"boundary"}
        at = data.draw(st.integers(0, len(whole) - 1).filter(lambda at: not whole[at].isspace()))
        assert "text" in codes(before, turn(whole[:at] + "!" + whole[at + 1 :]))
        assert "text" in codes(before, turn(f"{whole}!"))


def test_a_merged_boundary_says_what_was_merged_with_what() -> None:
    messages: list[JsonObject] = [
        {"role": "user", "content": "Weather?"},
        {"role": "user", "content": [{"type": "text", "text": "In Paris."}, {"type": "text", "text": "Today."}]},
        {"role": "assistant", "content": "Hi."},
    ]
    there = convert(messages, source="openai-chat", target="sharegpt").bookkeeping
    assert [(loss.path, loss.detail) for loss in there] == [
        ("/messages/1", "with the text before it: Today."),
        ("/messages/1", "user with /messages/0"),
    ]


def test_a_text_of_another_side_is_not_joined() -> None:
    before = Transcript((Message("user", (TextPart("a"),)), Message("assistant", (TextPart("b"),))))
    assert "text" in codes(before, turn("a\n\nb"))
