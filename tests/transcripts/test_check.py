"""What providers refuse: one broken conversation for each rule, and none for those they accept."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest
from conversations import BY_HAND, transcripts
from hypothesis import given
from test_laws import every_format, every_target, others, written

from toolfmt import check, convert, repair
from toolfmt.conversation import Transcript
from toolfmt.errors import ConversionError, UnknownFormatError
from toolfmt.transcripts.check import RULES, Finding
from toolfmt.transcripts.format import TranscriptFormat
from toolfmt.transcripts.formats import find

ASKED = {"role": "user", "content": "Hi"}
SAID = {"role": "assistant", "content": "Yes."}
OUTPUT = {"type": "function_call_output", "call_id": "a", "output": "1"}
IMAGE = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}


def call(ident: Any = "a", name: Any = "f", arguments: Any = "{}") -> dict[str, Any]:
    return {"id": ident, "type": "function", "function": {"name": name, "arguments": arguments}}


def calls(*made: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(made)}


def result(ident: Any = "a", content: Any = "1") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": ident, "content": content}


def use(ident: Any = "a", name: str = "f", arguments: Any = None) -> dict[str, Any]:
    block = {"type": "tool_use", "id": ident, "name": name, "input": {} if arguments is None else arguments}
    return {"role": "assistant", "content": [block]}


def used(*idents: str, before: tuple[Any, ...] = ()) -> dict[str, Any]:
    answers = [{"type": "tool_result", "tool_use_id": ident, "content": "1"} for ident in idents]
    return {"role": "user", "content": [*before, *answers]}


def tool(name: str, schema: Any) -> dict[str, Any]:
    return {"messages": [ASKED], "tools": [{"name": name, "input_schema": schema}]}


def turn(*parts: Any, role: str = "user") -> dict[str, Any]:
    return {"role": role, "parts": list(parts)}


REFUSED: list[tuple[str, Any, list[tuple[str, str]]]] = [
    ("openai-chat", {"messages": [ASKED], "top_p": float("nan")}, [("json", "/top_p")]),
    ("openai-chat", [ASKED, 3], [("unreadable", "/messages/1")]),
    ("openai-chat", "Hi", [("unreadable", "")]),
    ("openai-chat", [{"role": "assistant", "tool_calls": 5}], [("unreadable", "/messages/0/tool_calls")]),
    ("openai-chat", [], [("empty", "")]),
    (
        "openai-chat",
        {"messages": [ASKED], "tools": [], "tool_choice": "required"},
        [("no_tools", "/tools"), ("tool_choice", "/tool_choice")],
    ),
    ("openai-chat", [ASKED, {"role": "assistant", "content": ""}], [("empty", "/messages/1")]),
    ("openai-finetune", {"messages": [ASKED]}, [("untrained", "/messages/0")]),
    (
        "openai-finetune",
        {"messages": [ASKED, {"role": "assistant", "content": "Yes.", "weight": 0}]},
        [("untrained", "/messages/1")],
    ),
    ("sharegpt", {"conversations": [{"from": "human", "value": "Go"}]}, [("untrained", "/conversations/0")]),
    ("anthropic", [{"role": "user", "content": ""}], [("empty", "/messages/0")]),
    ("anthropic", {"system": "Be brief.", "messages": []}, [("empty", "")]),
    (
        "anthropic",
        {"messages": [ASKED], "tool_choice": {"type": "any"}, "thinking": {"type": "enabled", "budget_tokens": 2000}},
        [("setting", "/thinking")],
    ),
    ("openai-responses", {"instructions": "Be brief.", "input": []}, [("empty", "")]),
    ("bedrock", [{"role": "user", "content": [{"text": "a"}]}] * 2, [("alternation", "/messages/1")]),
    ("anthropic", [{"role": "user", "content": "  \n"}], [("blank", "/messages/0")]),
    ("bedrock", [{"role": "user", "content": [{"text": "\n"}]}], [("blank", "/messages/0")]),
    ("bedrock", [{"role": "user", "content": [{"text": "a"}, {"text": ""}]}], [("blank", "/messages/0")]),
    ("anthropic", [ASKED, {"role": "assistant", "content": "Yes: "}], [("trailing_space", "/messages/1")]),
    ("mistral", [ASKED, {"role": "assistant", "content": "Yes:"}], [("prefix", "/messages/1")]),
    ("openai-chat", [{"role": "user", "content": None}], [("empty", "/messages/0")]),
    ("openai-chat", [{"role": "user"}], [("empty", "/messages/0")]),
    ("openai-chat", [ASKED, {"role": "assistant", "content": [IMAGE]}], [("content", "/messages/1")]),
    ("openai-chat", [ASKED, calls(call()), result(content=[IMAGE])], [("content", "/messages/2")]),
    ("openai-chat", [{"role": "user", "content": [{"type": "hologram"}]}], [("content", "/messages/0")]),
    (
        "anthropic",
        [ASKED, {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm."}]}],
        [("unsigned", "/messages/1")],
    ),
    ("openai-chat", [{"role": "user", "content": "Hi", "tool_calls": [call()]}], [("place", "/messages/0")]),
    ("openai-chat", [ASKED, calls(call(None))], [("call_id", "/messages/1")]),
    ("openai-chat", [ASKED, calls(call("a" * 41))], [("call_id", "/messages/1")]),
    ("anthropic", [ASKED, use("a|b")], [("call_id", "/messages/1")]),
    ("openai-chat", [ASKED, calls(call(), call())], [("duplicate_id", "/messages/1")]),
    ("anthropic", [ASKED, use(), use(), used("a", "a")], [("duplicate_id", "/messages/2")]),
    ("anthropic", [ASKED, use(), used("a"), use(), ASKED], [("unanswered_call", "/messages/3")]),
    ("openai-chat", [ASKED, calls(call(name="a.b"))], [("tool_name", "/messages/1")]),
    ("openai-chat", [ASKED, calls(call(name=""))], [("tool_name", "/messages/1")]),
    ("openai-chat", [ASKED, calls(call(name="a" * 65))], [("tool_name", "/messages/1")]),
    ("gemini", [turn({"functionCall": {"name": "1a", "args": {}}}, role="model")], [("tool_name", "/contents/0")]),
    ("anthropic", tool("a b", {"type": "object"}), [("tool_name", "/tools/0")]),
    ("openai-chat", [ASKED, calls(call(arguments={"a": 1}))], [("arguments", "/messages/1")]),
    ("anthropic", [ASKED, use(arguments=[1])], [("arguments", "/messages/1")]),
    ("openai-chat", [ASKED, result()], [("orphan_result", "/messages/1")]),
    (
        "openai-chat",
        [ASKED, calls(call()), result("b")],
        [("orphan_result", "/messages/2"), ("unanswered_call", "/messages/1")],
    ),
    ("openai-chat", [ASKED, calls(call()), SAID], [("unanswered_call", "/messages/1")]),
    ("openai-chat", [ASKED, calls(call(), call("b")), result()], [("unanswered_call", "/messages/1")]),
    ("anthropic", [ASKED, use(), ASKED], [("unanswered_call", "/messages/1")]),
    ("openai-chat", [ASKED, calls(call()), ASKED, result()], [("order", "/messages/3")]),
    ("openai-chat", [ASKED, calls(call()), calls(call("b")), result(), result("b")], [("order", "/messages/3")]),
    ("anthropic", [ASKED, use(), used("a", before=({"type": "text", "text": "So:"},))], [("order", "/messages/2")]),
    ("anthropic", tool("a", {"type": "array"}), [("schema", "/tools/0/parameters")]),
    ("anthropic", tool("a", {"type": "object", "anyOf": []}), [("schema", "/tools/0/parameters/anyOf")]),
    (
        "anthropic",
        tool("a", {"type": "object", "properties": {"a b": {}}}),
        [("schema", "/tools/0/parameters/properties/a b")],
    ),
    (
        "openai-responses",
        {
            "input": [
                {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
                {"type": "message", "role": "user", "content": "Hi"},
            ]
        },
        [("unanswered_call", "/input/0")],
    ),
]
ACCEPTED: list[tuple[str, Any]] = [
    ("openai-chat", [ASKED, calls(call())]),
    ("openai-chat", [ASKED, {"role": "user", "content": ""}, SAID, SAID]),
    ("openai-chat", [ASKED, calls(call(), call("b")), result("b"), result(), SAID, ASKED, calls(call()), result()]),
    ("openai-chat", [ASKED, calls(call("a" * 40, "f" * 64)), result("a" * 40)]),
    ("openai-chat", [{"role": "system", "content": "You are a potato."}]),
    ("openai-chat", {"model": "google/gemini-2.5-flash", "messages": [ASKED, calls(call("a" * 50)), result("a" * 50)]}),
    ("anthropic", [ASKED, ASKED, use("a"), use("b"), used("b"), used("a"), SAID]),
    ("anthropic", [ASKED, use(), used("a"), use(), used("a"), SAID]),
    ("anthropic", [SAID, ASKED]),
    ("anthropic", {"messages": [ASKED], "tool_choice": {"type": "any"}, "thinking": {"type": "adaptive"}}),
    ("bedrock", [{"role": "assistant", "content": [{"text": "a"}]}]),
    ("bedrock", [{"role": "user", "content": [{"text": "a"}, {"text": "\n"}]}]),
    ("openai-responses", {"input": "Hi"}),
    ("openai-responses", {"conversation": "conv_1", "input": [{**OUTPUT, "call_id": "earlier"}]}),
    ("openai-responses", {"previous_response_id": "resp_1", "input": []}),
    ("gemini", [turn({"text": "Hi"}), turn({"functionCall": {"name": "f"}}, role="model")]),
    (
        "gemini",
        [
            turn({"text": "Hi"}),
            *(turn({"functionCall": {"name": name}}, role="model") for name in "fg"),
            turn(*({"functionResponse": {"name": name, "response": {}}} for name in "fg")),
        ],
    ),
]
every_refusal = pytest.mark.parametrize(("name", "value", "expected"), REFUSED)


@every_refusal
def test_what_is_refused_is_found(name: str, value: Any, expected: list[tuple[str, str]]) -> None:
    assert [(found.rule, found.path) for found in check(value, format=name)] == expected


@pytest.mark.parametrize(("name", "value"), ACCEPTED)
def test_what_is_accepted_has_no_findings(name: str, value: Any) -> None:
    assert check(value, format=name) == ()


def test_rules_are_described_and_used() -> None:
    shown = {rule for _, _, expected in REFUSED for rule, _ in expected}
    assert shown <= RULES.keys()
    assert RULES.keys() - shown == {"system", "result_name"}


def test_a_finding_says_what_is_wrong() -> None:
    found = check([ASKED, result("x")], format="openai")
    assert found == (Finding("orphan_result", "/messages/1", "no open call has the id 'x'"),)


def test_an_unknown_format_is_the_caller_s_mistake() -> None:
    with pytest.raises(UnknownFormatError):
        check([], format="opanai-chat")


@every_target
@given(drawn=transcripts())
def test_conversions_are_accepted(target: TranscriptFormat, drawn: Transcript) -> None:
    for source in others(target):
        value = written(drawn, source)
        if not source.read(value).messages:
            continue
        # Where the user says nothing, there may be nothing to send; and a conversation may wait for its answer.
        allowed = {"untrained"} if "user" in source.rules.roles else {"untrained", "empty"}
        made = convert(value, source=source.name, target=target.name).value
        found = [found for found in check(made, format=target.name) if found.rule not in allowed]
        assert found == [], source.name


@pytest.mark.parametrize("target", ["anthropic", "bedrock", "gemini", "openai-responses"])
def test_a_request_says_something(target: str) -> None:
    """Instructions alone are the user's where a provider answers nothing else; blanks alone are no conversation."""
    alone = convert([{"role": "system", "content": "Be brief."}], source="openai-chat", target=target)
    assert check(alone.value, format=target) == ()
    assert [(loss.code, loss.action) for loss in alone.losses] == [("role", "changed")]
    blank = [{"role": "user", "content": " \n"}]
    if find(target).rules.blank_text != "accepted":
        with pytest.raises(ConversionError, match="nothing is left"):
            convert(blank, source="openai-chat", target=target)


def test_an_answer_to_be_continued_loses_its_last_space() -> None:
    there = convert([ASKED, {"role": "assistant", "content": "Yes: "}], source="openai-chat", target="anthropic")
    assert there.value["messages"][-1]["content"] == "Yes:"
    assert [(loss.code, loss.action) for loss in there.losses] == [("text", "changed")]


@every_format
def test_what_is_written_is_accepted_and_left_alone(made: TranscriptFormat) -> None:
    for title, transcript in BY_HAND.items():
        value = written(transcript, made)
        assert [found for found in check(value, format=made.name) if found.rule != "untrained"] == [], title
        mended = repair(value, format=made.name)
        assert mended.value == value, title
        assert mended.changes == (), title


MENDED: list[tuple[str, Any, Any, list[tuple[str, str]]]] = [
    (
        "openai-chat",
        [{**ASKED, "note": 1}, {**calls(call(None, arguments={"a": 1})), "content": [{"type": "text", "text": "So"}]}],
        [
            {**ASKED, "note": 1},
            {"role": "assistant", "content": "So", "tool_calls": [call("call_0", arguments='{"a":1}')]},
        ],
        [("call_id", "/messages/1"), ("arguments", "/messages/1")],
    ),
    (
        "openai-chat",
        [ASKED, calls(call(), call()), {**result(), "content": [{"type": "text", "text": "1"}]}, result(content="2")],
        [
            ASKED,
            calls(call(), call("a_2")),
            {**result(), "content": [{"type": "text", "text": "1"}]},
            result("a_2", "2"),
        ],
        [("call_id", "/messages/1")],
    ),
    (
        "openai-chat",
        [ASKED, calls(call()), ASKED, result()],
        [ASKED, calls(call()), result(), ASKED],
        [("order", "/messages/3")],
    ),
    (
        "openai-chat",
        [ASKED, calls(call()), calls(call("b")), result(), result("b")],
        [ASKED, calls(call(), call("b")), result(), result("b")],
        [("boundary", "/messages/2"), ("order", "/messages/3")],
    ),
    (
        "anthropic",
        {"max_tokens": 3, "messages": [ASKED, use("a|b", arguments='{"q": 1.0}'), used("a|b"), SAID]},
        {"max_tokens": 3, "messages": [ASKED, use("a_b", arguments={"q": 1.0}), used("a_b"), SAID]},
        [("call_id", "/messages/1"), ("arguments", "/messages/1")],
    ),
    (
        "anthropic",
        [ASKED, use(), used("a", before=({"type": "text", "text": "So:"},))],
        [ASKED, use(), {"role": "user", "content": [*used("a")["content"], {"type": "text", "text": "So:"}]}],
        [("order", "/messages/2")],
    ),
    ("anthropic", tool("a.b", {}), tool("a_b", {"type": "object"}), [("tool", "/tools/0")]),
    (
        "bedrock",
        [{"role": "user", "content": [{"text": "a"}]}] * 2,
        [{"role": "user", "content": [{"text": "a"}, {"text": "a"}]}],
        [("boundary", "/messages/1")],
    ),
]


@pytest.mark.parametrize(("name", "value", "expected", "changes"), MENDED)
def test_what_can_be_mended_is_and_is_reported(
    name: str, value: Any, expected: Any, changes: list[tuple[str, str]]
) -> None:
    given = deepcopy(value)
    mended = repair(value, format=name)
    assert json.dumps(mended.value, sort_keys=True) == json.dumps(expected, sort_keys=True)
    assert {(change.code, change.path) for change in mended.changes} >= set(changes)
    assert check(mended.value, format=name) == ()
    assert value == given


def test_nothing_is_dropped_unless_asked() -> None:
    value = [ASKED, calls(call()), ASKED, result("b"), SAID]
    kept = repair(value, format="openai-chat")
    assert kept.value == value
    assert kept.changes == ()
    dropped = repair(value, format="openai-chat", drop=True)
    assert dropped.value == [ASKED, ASKED, SAID]
    assert [(change.code, change.action) for change in dropped.changes] == [("call", "dropped"), ("result", "dropped")]


@every_refusal
def test_repair_never_makes_it_worse(name: str, value: Any, expected: list[tuple[str, str]]) -> None:
    rules = {rule for rule, _ in expected}
    if rules & {"unreadable", "json"}:
        return
    mended = repair(value, format=name)
    left = {found.rule for found in check(mended.value, format=name)}
    assert left <= rules
    assert bool(mended.changes) == (json.dumps(mended.value) != json.dumps(value))
    assert repair(mended.value, format=name).value == mended.value


def test_blank_arguments_are_no_json_text() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": ""}}
    value = [
        {"role": "user", "content": "Hi."},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": "1"},
    ]
    (found,) = check(value, format="openai-chat")
    assert (found.rule, "no JSON text" in found.message) == ("arguments", True)
    assert convert(value, source="openai-chat", target="openai-chat").value is value
    for target in ("openai-finetune", "openai-responses", "mistral"):
        made = convert(value, source="openai-chat", target=target)
        assert json.dumps(made.value).count('"arguments": "{}"') == 1
        assert "argument_text" in {loss.code for loss in made.bookkeeping}
    mended = repair(value, format="openai-chat").value
    assert mended[1]["tool_calls"][0]["function"]["arguments"] == "{}"
