"""Which call a result answers, and ids and names that the target accepts: links stay, different ones stay different."""

from __future__ import annotations

import re
from typing import Any

import pytest

from toolfmt import convert
from toolfmt.conversation import CallPart, Message, Part, ResultPart, TextPart
from toolfmt.transcripts.comparing.linking import flatten

ASKED = {"role": "user", "content": "Hi"}
USED = (
    {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "1"}]},
)


def calls(*made: tuple[str, str | None]) -> Message:
    return Message("assistant", tuple(CallPart(name, {}, id=ident) for name, ident in made))


def results(*given: tuple[str | None, str | None]) -> Message:
    parts: tuple[Part, ...] = tuple(ResultPart((TextPart("1"),), ident, name) for name, ident in given)
    return Message("tool", parts)


@pytest.mark.parametrize(
    ("messages", "answered"),
    [
        ([calls(("f", "a"), ("f", "b")), results((None, "b"), (None, "a"))], [1, 0]),
        ([calls(("f", "a")), results((None, "b"), (None, "a"), (None, "a"))], [None, 0, None]),
        ([calls(("f", None), ("g", None)), results(("g", None), ("f", None))], [1, 0]),
        ([calls(("f", None), ("g", None)), results((None, None), (None, None))], [0, 1]),
        ([calls(("f", None)), results(("g", None), ("f", None))], [None, 0]),
        ([calls(("f", "a")), results(("f", None), (None, "a"))], [0, None]),
        ([calls(("f", "a")), Message("user", ()), calls(("f", "a")), results((None, "a"), (None, "a"))], [1, 0]),
        (
            [calls(("f", None)), Message("user", ()), calls(("f", None), ("f", None)), results(*[("f", None)] * 4)],
            [1, 2, 0, None],
        ),
        ([calls(("f", None)), calls(("f", None)), results(*[("f", None)] * 2)], [0, 1]),
        ([calls(("f", None)), Message("user", ()), calls(("g", None)), results(*[(None, None)] * 2)], [1, 0]),
    ],
)
def test_a_result_answers_the_oldest_open_call_of_the_latest_answer(
    messages: list[Message], answered: list[int | None]
) -> None:
    assert [place.call for place in flatten(messages) if isinstance(place.part, ResultPart)] == answered


def chat(*turns: list[tuple[str, str]]) -> list[dict[str, Any]]:
    """Give a conversation of OpenAI's chat: each turn is calls, by their ids and names, and their results."""
    value: list[dict[str, Any]] = [ASKED]
    for turn in turns:
        made = [
            {"id": ident, "type": "function", "function": {"name": name, "arguments": "{}"}} for ident, name in turn
        ]
        value.append({"role": "assistant", "content": None, "tool_calls": made})
        value += [{"role": "tool", "tool_call_id": ident, "content": name} for ident, name in turn]
    return value


def linked(value: Any, target: str) -> list[list[tuple[str, str]]]:
    """Convert a chat; return the ids and names of each turn's calls, after a look at those of the results."""
    messages = convert(value, source="openai-chat", target=target).value["messages"][1:]
    found: list[list[tuple[str, str]]] = []
    left: list[str] = []
    for message in messages:
        if message["role"] == "assistant":
            blocks = message.get("tool_calls") or message["content"]
            found.append([(block["id"], block.get("function", block)["name"]) for block in blocks])
            left = [ident for ident, _ in found[-1]]
        elif message["role"] == "tool":
            assert message["tool_call_id"] == left.pop(0)
        else:
            assert [block["tool_use_id"] for block in message["content"]] == left
    return found


@pytest.mark.parametrize(("target", "allowed"), [("mistral", r"[a-zA-Z0-9]{9}"), ("anthropic", r"[a-zA-Z0-9_-]+")])
def test_ids_are_legal_and_those_of_an_answer_differ(target: str, allowed: str) -> None:
    long = "call_" + "a" * 35
    value = chat([(f"{long}|1", "f"), (f"{long}|2", "f"), ("x|y", "g"), ("x_y", "g")], [("abcdefgh9", "f")])
    first, ((kept, _),) = linked(value, target)
    assert all(re.fullmatch(allowed, ident) for ident, _ in first)
    assert len({ident for ident, _ in first}) == 4
    assert kept == "abcdefgh9"


def test_ids_that_are_too_long_for_openai_stay_different() -> None:
    uses = [{"type": "tool_use", "id": "toolu_" + "a" * 40 + end, "name": "f", "input": {}} for end in ("", "b", "c")]
    answers = [{"type": "tool_result", "tool_use_id": use["id"], "content": "1"} for use in uses]
    value = [ASKED, {"role": "assistant", "content": uses}, {"role": "user", "content": answers}]
    _, message, *after = convert(value, source="anthropic", target="openai-chat").value["messages"]
    idents = [call["id"] for call in message["tool_calls"]]
    assert (len(set(idents)), max(map(len, idents))) == (3, 40)
    assert [one["tool_call_id"] for one in after] == idents


def test_an_id_for_mistral_follows_from_the_one_it_stands_for() -> None:
    (first,), (again,), (other,) = linked(chat([("call_1", "f")], [("call_1", "g")], [("call_2", "f")]), "mistral")
    assert first[0] == again[0] != other[0]


def test_calls_without_ids_get_different_ones() -> None:
    call = {"functionCall": {"name": "f", "args": {}}}
    answer = {"functionResponse": {"name": "f", "response": {"result": "1"}}}
    value = [
        {"role": "user", "parts": [{"text": "Hi"}]},
        {"role": "model", "parts": [call, call]},
        {"role": "user", "parts": [answer, answer]},
    ]
    for target in ("mistral", "openai-chat"):
        messages = convert(value, source="gemini", target=target).value["messages"]
        idents = [call["id"] for call in messages[1]["tool_calls"]]
        assert len(set(idents)) == 2
        assert [message["tool_call_id"] for message in messages[2:]] == idents


@pytest.mark.parametrize("target", ["openai-chat", "mistral", "anthropic"])
def test_an_id_that_is_made_is_not_another_call_s(target: str) -> None:
    given = [{"functionCall": {"id": "call_1", "name": "f", "args": {}}}, {"functionCall": {"name": "g", "args": {}}}]
    value = [{"role": "user", "parts": [{"text": "Hi"}]}, {"role": "model", "parts": given}]
    message = convert(value, source="gemini", target=target).value["messages"][1]
    first, second = (block["id"] for block in message.get("tool_calls") or message["content"])
    assert first != second


def test_an_id_that_is_used_again_stays_where_that_is_accepted() -> None:
    value = [message for _ in range(2) for message in (ASKED, *USED)]
    messages = convert(value, source="anthropic", target="openai-chat").value["messages"]
    assert [call["id"] for message in messages for call in message.get("tool_calls", ())] == ["a", "a"]


def test_an_id_that_is_used_again_is_another_one_for_anthropic() -> None:
    idents = [ident for ((ident, _),) in linked(chat(*[[("a", "f")]] * 12), "anthropic")]
    assert (idents[0], len(set(idents))) == ("a", 12)


@pytest.mark.parametrize(("target", "most"), [("openai-chat", 64), ("mistral", 64), ("anthropic", 128)])
def test_names_are_legal_and_different_ones_stay_different(target: str, most: int) -> None:
    names = ["a" * most, "a" * (most + 1), "a" * most + "b", "get.x", "get x", "get_x"]
    parts = [{"functionCall": {"id": f"abcdefgh{at}", "name": name, "args": {}}} for at, name in enumerate(names)]
    value = [{"role": "user", "parts": [{"text": "Hi"}]}, {"role": "model", "parts": [*parts, *parts[:2]]}]
    message = convert(value, source="gemini", target=target).value["messages"][1]
    blocks = message.get("tool_calls") or message["content"]
    made = [block.get("function", block)["name"] for block in blocks]
    assert all(re.fullmatch(rf"[a-zA-Z0-9_-]{{1,{most}}}", name) for name in made)
    assert len(set(made[:6])) == 6
    assert (made[0], made[6:]) == (names[0], made[:2])
