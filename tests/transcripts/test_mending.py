"""Repair while converting: calls without results, results without calls, second results, nobody who asks."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conversations import transcripts
from hypothesis import given
from hypothesis import strategies as st
from test_laws import every_format, written

from toolfmt import check, convert, convert_request, repair
from toolfmt.conversation import Message, ResultPart, Transcript
from toolfmt.errors import ConversionError
from toolfmt.transcripts.format import TranscriptFormat
from toolfmt.transcripts.formats import find
from toolfmt.transcripts.repair import OPENING, STUB

ASKED = {"role": "user", "content": "Weather?"}
WELL = {"role": "user", "content": "Well?"}


def calls(*idents: str) -> dict[str, Any]:
    made = [{"id": ident, "type": "function", "function": {"name": "sky", "arguments": "{}"}} for ident in idents]
    return {"role": "assistant", "content": None, "tool_calls": made}


def result(ident: str, content: str = "18C") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": ident, "content": content}


BROKEN = [ASKED, calls("a", "b"), result("a"), result("a"), result("z", "20C"), WELL]
"""A call without a result, a result twice, and a result of no call."""


def seen(found: Any) -> list[tuple[str, str, str]]:
    return [(loss.code, loss.action, loss.path) for loss in found]


FILLED = [
    ("duplicate", "merged", "/messages/3"),
    ("result", "changed", "/messages/4"),
    ("placeholder", "added", "/messages/1"),
]
DROPPED = [
    ("duplicate", "merged", "/messages/3"),
    ("call", "dropped", "/messages/1"),
    ("result", "dropped", "/messages/4"),
]


def test_what_is_missing_is_filled_in() -> None:
    there = convert(BROKEN, source="openai-chat", target="anthropic", repair="fill")
    assert there.value["messages"][2]["content"] == [
        {"type": "tool_result", "tool_use_id": "a", "content": "18C"},
        {"type": "tool_result", "tool_use_id": "b", "content": STUB, "is_error": True},
        {"type": "text", "text": '<tool_result name="z">\n20C\n</tool_result>'},
        {"type": "text", "text": "Well?"},
    ]
    assert seen(there.losses) == FILLED


def test_what_has_no_partner_is_dropped() -> None:
    there = convert(BROKEN, source="openai-chat", target="anthropic", repair="drop")
    assert [block["id"] for block in there.value["messages"][1]["content"]] == ["a"]
    assert there.value["messages"][2]["content"] == [
        {"type": "tool_result", "tool_use_id": "a", "content": "18C"},
        {"type": "text", "text": "Well?"},
    ]
    assert seen(there.losses) == DROPPED


@pytest.mark.parametrize(("how", "changes"), [("fill", FILLED), ("drop", DROPPED)])
def test_a_conversation_of_the_targets_own_format_is_mended_as_repair_does(how: Any, changes: list[Any]) -> None:
    mended = repair(BROKEN, format="openai-chat", fill=how == "fill", drop=how == "drop")
    there = convert(BROKEN, source="openai-chat", target="openai-chat", repair=how)
    request = convert_request({"model": "m", "messages": BROKEN}, target="openai-chat", repair=how)
    assert there.value == request.value["messages"] == mended.value
    assert seen(mended.changes) == seen(there.losses) == changes
    assert check(mended.value, format="openai-chat") == ()


def test_nothing_is_mended_that_nobody_asked_to_mend() -> None:
    assert convert(BROKEN, source="openai-chat", target="openai-chat").value == BROKEN
    there = convert(BROKEN, source="openai-chat", target="anthropic")
    assert STUB not in json.dumps(there.value)


def test_two_results_of_a_call_are_one_even_without_fill_or_drop() -> None:
    value = [ASKED, calls("a"), result("a", "18C"), result("a", "rain"), WELL]
    mended = repair(value, format="openai-chat")
    assert [part["text"] for part in mended.value[2]["content"]] == ["18C", "rain"]
    assert seen(mended.changes) == [("duplicate", "merged", "/messages/3")]
    assert check(mended.value, format="openai-chat") == ()


@pytest.mark.parametrize(
    ("target", "opened"), [("gemini", True), ("bedrock", True), ("sharegpt", True), ("mistral", False)]
)
def test_the_user_begins_where_the_target_looks_for_it(target: str, *, opened: bool) -> None:
    value = [{"role": "system", "content": "Be brief."}, calls("a"), result("a"), WELL]
    there = convert(value, source="openai-chat", target=target, repair="fill")
    first = next(found for found in find(target).read(there.value).messages if found.role != "system")
    assert (first.role == "user") is opened
    assert seen(there.losses) == ([("placeholder", "added", "/messages/1")] if opened else [])


@pytest.mark.parametrize("target", ["anthropic", "openai-responses", "gemini"])
def test_instructions_alone_stay_instructions(target: str) -> None:
    value = [{"role": "system", "content": "Be brief."}]
    there = convert(value, source="openai-chat", target=target, repair="fill")
    roles = [message.role for message in find(target).read(there.value).messages]
    assert roles == ["system", "user"]
    assert OPENING in json.dumps(there.value)
    assert seen(there.losses) == [("placeholder", "added", "")]
    assert check(there.value, format=target) == ()


def test_what_is_dropped_leaves_a_conversation_that_the_provider_takes() -> None:
    value = [{"role": "system", "content": "Be brief."}, result("z"), {"role": "assistant", "content": "20C"}]
    there = convert(value, source="openai-chat", target="gemini", repair="drop")
    assert [item["role"] for item in there.value["contents"]] == ["user", "model"]
    assert [loss.code for loss in there.losses] == ["result", "placeholder"]
    assert check(there.value, format="gemini") == ()


def test_calls_that_still_wait_for_their_results_are_in_order() -> None:
    value = [ASKED, calls("a", "b")]
    for how in ("fill", "drop"):
        there = convert(value, source="openai-chat", target="openai-responses", repair=how)
        assert len(there.value["input"]) == 3
        assert there.losses == ()


def test_results_of_calls_that_the_provider_holds_answer_them() -> None:
    value = {
        "previous_response_id": "r",
        "input": [{"type": "function_call_output", "call_id": "a", "output": "1"}, {"role": "user", "content": "So?"}],
    }
    mended = repair(value, format="openai-responses", fill=True)
    assert (mended.value, mended.changes) == (value, ())


def test_what_nobody_said_is_refused_where_all_has_to_be_exact() -> None:
    with pytest.raises(ConversionError, match="placeholder added at /messages/1"):
        convert(BROKEN, source="openai-chat", target="anthropic", repair="fill", strict=True)


def test_a_kind_of_repair_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="'fill', 'drop' or None"):
        convert(BROKEN, source="openai-chat", target="anthropic", repair="mend")  # type: ignore[arg-type]


@st.composite
def broken(draw: st.DrawFn) -> Transcript:
    """Draw a conversation with results that are gone or said twice, from any place on."""
    drawn = draw(transcripts())
    kept: list[Message] = []
    for message in drawn.messages:
        returns = any(isinstance(part, ResultPart) for part in message.parts)
        kept += [message] * (draw(st.sampled_from([1, 1, 0, 2])) if returns else 1)
    return Transcript(tuple(kept[draw(st.integers(0, min(3, len(kept) - 1))) :]))


UNPAIRED = frozenset({"unanswered_call", "orphan_result"})


@every_format
@given(drawn=broken(), how=st.sampled_from(["fill", "drop"]))
def test_a_mended_conversation_has_no_loose_ends(made: TranscriptFormat, drawn: Transcript, how: Any) -> None:
    value = written(drawn, find("openai-chat"))
    there = convert(value, source="openai-chat", target=made.name, repair=how)
    assert not UNPAIRED & {found.rule for found in check(there.value, format=made.name)}
    if there.residue is not None:
        back = convert(there.value, source=made.name, target="openai-chat", residue=there.residue)
        assert json.dumps(back.value) == json.dumps(value)
    if json.dumps(there.value).count(STUB) or json.dumps(there.value).count(OPENING):
        assert "placeholder" in {loss.code for loss in there.losses}


@pytest.mark.parametrize("held", ["conversation", "previous_response_id"])
@pytest.mark.parametrize("target", ["anthropic", "openai-chat", "gemini"])
def test_a_requests_results_of_calls_that_the_provider_holds_are_text_elsewhere(held: str, target: str) -> None:
    value = {held: "c", "model": "m", "input": [{"type": "function_call_output", "call_id": "a", "output": "18C"}]}
    there = convert_request(value, source="openai-responses", target=target)
    assert check(there.value, format=target) == ()
    assert ("result", "changed", "/input/0") in seen(there.losses)
    assert "18C" in json.dumps(there.value)
