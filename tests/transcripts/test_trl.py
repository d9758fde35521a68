"""TRL's rows: prompts and completions, preferences and ratings, and what becomes of the second answer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conversations import transcripts
from hypothesis import given, settings
from test_laws import written

from toolfmt import check, convert
from toolfmt.conversation import TextPart, Transcript
from toolfmt.errors import ConversionError, ParseError
from toolfmt.transcripts.convert import convert_row
from toolfmt.transcripts.formats import find
from toolfmt.transcripts.recognising import recognised

ASKED = {"role": "user", "content": "Weather in Paris?"}
CALL = {
    "role": "assistant",
    "tool_calls": [{"type": "function", "function": {"name": "sky", "arguments": {"city": "Paris"}}}],
}
RESULT = {"role": "tool", "name": "sky", "content": "18C"}
GOOD = {"role": "assistant", "content": "18C."}
BAD = {"role": "assistant", "content": "No idea."}
TOOLS = [{"type": "function", "function": {"name": "sky", "description": "The weather", "parameters": {}}}]
ROWS: dict[str, dict[str, Any]] = {
    "completion": {"prompt": [ASKED], "completion": [CALL, RESULT, GOOD], "tools": TOOLS},
    "rated": {"prompt": [ASKED], "completion": [BAD], "label": False},
    "preferred": {"prompt": [ASKED], "chosen": [CALL, RESULT, GOOD], "rejected": [BAD], "tools": TOOLS},
    "preferred late": {"prompt": [ASKED], "chosen": [CALL, RESULT, GOOD], "rejected": [CALL, RESULT, BAD]},
    "no prompt": {"chosen": [ASKED, GOOD], "rejected": [ASKED, BAD]},
    "a repeated prompt": {"prompt": "Weather in Paris?", "chosen": [ASKED, GOOD], "rejected": [ASKED, BAD]},
    "text": {"prompt": "Weather?", "completion": "18C."},
    "texts": {"prompt": "Weather?", "chosen": "18C.", "rejected": "No idea.", "score_chosen": 0.5},
}


@pytest.mark.parametrize("title", ROWS)
def test_rows_are_recognised_and_come_back_as_they_were(title: str) -> None:
    row = ROWS[title]
    assert recognised(row).name == "trl"
    assert check(row, format="trl") == ()
    for target in ("openai-chat", "anthropic", "gemini", "sharegpt", "hf-chat"):
        there = convert(row, target=target)
        back = convert(there.value, source=target, target="trl", residue=there.residue)
        assert json.dumps(back.value) == json.dumps(row), target


@pytest.mark.parametrize("title", ["completion", "rated", "preferred", "preferred late", "a repeated prompt"])
def test_rows_of_messages_are_written_as_they_were_read(title: str) -> None:
    made = find("trl")
    assert made.write(made.read(ROWS[title])) == ROWS[title]


def test_the_chosen_answer_is_the_conversation_and_the_other_is_a_loss() -> None:
    there = convert(ROWS["preferred"], source="trl", target="openai-chat")
    assert [message["role"] for message in there.value["messages"]] == ["user", "assistant", "tool", "assistant"]
    assert there.value["messages"][-1]["content"] == "18C."
    assert [(loss.code, loss.action, loss.path) for loss in there.losses] == [("choice", "dropped", "/rejected")]
    with pytest.raises(ConversionError, match="choice dropped at /rejected"):
        convert(ROWS["preferred"], source="trl", target="openai-chat", strict=True)


def test_that_an_answer_was_not_liked_is_a_loss() -> None:
    there = convert(ROWS["rated"], source="trl", target="anthropic")
    assert [(loss.code, loss.detail) for loss in there.losses] == [("label", "False")]


def test_a_conversation_becomes_a_prompt_and_what_follows_the_users_last_turn() -> None:
    chat = [ASKED, GOOD, ASKED, BAD]
    assert convert(chat, source="openai-chat", target="trl").value == {"prompt": chat[:3], "completion": [BAD]}
    assert convert([ASKED], source="openai-chat", target="trl").value == {"prompt": [ASKED], "completion": []}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"prompt": 3, "completion": "x"}, "/prompt: expected"),
        ({"prompt": [], "completion": [], "label": "no"}, "/label: expected"),
        ({"question": "x"}, "expected `prompt`"),
    ],
)
def test_what_is_no_row_is_refused(row: Any, said: str) -> None:
    with pytest.raises(ParseError, match=said):
        convert(row, source="trl", target="openai-chat")


@settings(max_examples=30)
@given(drawn=transcripts(), other=transcripts())
def test_both_answers_are_kept_whatever_they_are(drawn: Transcript, other: Transcript) -> None:
    made = find("trl")
    rows = [written(one, made) for one in (drawn, other)]
    first, second = ([*row["prompt"], *row["completion"]] for row in rows)
    value = {"prompt": [], "chosen": first, "rejected": second}
    read = made.read(value)
    again = made.write(read)
    assert again["prompt"] + again["chosen"] == first
    assert again["prompt"] + again["rejected"] == second
    assert made.read(again) == read


COMPARED = {
    "openai-finetune": {
        "input": {"messages": [ASKED], "tools": TOOLS, "parallel_tool_calls": False},
        "preferred_output": [GOOD],
        "non_preferred_output": [BAD],
    },
    "ms-swift": {"messages": [ASKED, GOOD], "rejected_response": BAD["content"], "tools": json.dumps(TOOLS)},
    "trl": {"prompt": [ASKED], "chosen": [GOOD], "rejected": [BAD], "tools": TOOLS},
}


@pytest.mark.parametrize("source", COMPARED)
@pytest.mark.parametrize("target", [*COMPARED, "sharegpt"])
def test_two_answers_go_from_every_format_that_compares_to_every_other(source: str, target: str) -> None:
    there = convert_row(COMPARED[source], source="auto", target=target)
    assert (there.source, [loss for loss in there.losses if loss.code != "parallel"]) == (source, [])
    if source != target:
        back = convert(there.value, source=target, target=source, residue=there.residue)
        assert back.value == COMPARED[source]
    found = find(target).read(there.value)
    assert found.rejected is not None
    answers = [texts[-1].parts[0] for texts in (found.messages, found.rejected)]
    assert answers == [TextPart(GOOD["content"]), TextPart(BAD["content"])]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"input": [ASKED], "preferred_output": [GOOD], "non_preferred_output": [BAD]}, "/input: expected an object"),
        (
            {"input": {"messages": [ASKED]}, "preferred_output": [{"role": "gpt"}], "non_preferred_output": [BAD]},
            "/preferred_output/0: the role is",
        ),
    ],
)
def test_a_broken_row_of_two_outputs_says_where(row: dict[str, Any], message: str) -> None:
    with pytest.raises(ParseError, match=message):
        find("openai-finetune").read(row)


@pytest.mark.parametrize("key", ["question", "instruction", "query", "input", "system"])
def test_a_question_under_another_key_is_not_left_out(key: str) -> None:
    with pytest.raises(ParseError, match=f"`{key}`, but no `prompt`"):
        convert({key: "Weather?", "chosen": "18C.", "rejected": "Hot."}, target="openai-chat")
    row = {"chosen": "Human: Weather? Assistant: 18C.", "rejected": "Human: Weather? Assistant: Hot.", "source": "web"}
    assert convert(row, target="openai-chat").source == "trl"
