"""OpenAI's relatives: what each spells otherwise, links without ids, ids of one length, fields of the wrong type."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from conversations import PNG, answered, asked, call, result, tool

from toolfmt import ParseError, check, convert
from toolfmt.conversation import (
    CallPart,
    JsonPart,
    MediaPart,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    RefusalPart,
    ResultPart,
    TextPart,
    ToolChoice,
    ToolDeclaration,
    Transcript,
)
from toolfmt.transcripts.comparing.losses import losses
from toolfmt.transcripts.convert import write
from toolfmt.transcripts.fitting.carrying import Carry
from toolfmt.transcripts.fitting.shape import shape
from toolfmt.transcripts.formats import find
from toolfmt.transcripts.recognising import recognised

CHAT = ("cohere", "hf-chat", "mistral", "ollama", "openai-chat", "openai-finetune")
every_chat = pytest.mark.parametrize("name", CHAT)
SCHEMA = {"type": "object"}


def written(transcript: Transcript, name: str) -> Any:
    made = find(name)
    return made.write(shape(transcript, made.rules))


def part_of(name: str, content: Any, role: str = "user") -> Part:
    (part,) = find(name).read([{"role": role, "content": [content]}]).messages[0].parts
    return part


def rewritten(name: str, message: Any) -> Any:
    found = find(name).read([message])
    found.messages[0].origin = ""
    return find(name).write(found)["messages"][0]  # type: ignore[index, call-overload]


@pytest.mark.parametrize(
    ("name", "block", "expected"),
    [
        ("mistral", {"type": "image_url", "image_url": "https://a.b"}, MediaPart("image", url="https://a.b")),
        ("mistral", {"type": "input_audio", "input_audio": "SUQzBAAA"}, MediaPart("audio", "audio/mp3", "SUQzBAAA")),
        (
            "mistral",
            {"type": "document_url", "document_url": "https://a.b", "document_name": "r"},
            MediaPart("document", url="https://a.b", name="r"),
        ),
        ("mistral", {"type": "file", "file_id": "f1"}, MediaPart("document", file_id="f1", owner="mistral")),
        ("hf-chat", {"type": "image", "url": "https://a.b"}, MediaPart("image", url="https://a.b")),
        ("hf-chat", {"type": "video", "url": "https://a.b"}, MediaPart("video", url="https://a.b")),
        (
            "cohere",
            {"type": "document", "document": {"data": {"a": 1}, "id": "0"}},
            JsonPart({"a": 1}, {"cohere.document.id": "0"}),
        ),
    ],
)
def test_a_part_is_read_and_written_again(name: str, block: Any, expected: Part) -> None:
    assert part_of(name, block) == expected
    assert rewritten(name, {"role": "user", "content": [block]})["content"] == [block]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ollama", {"role": "user", "content": "What is it?", "images": [PNG]}),
        ("ollama", {"role": "user", "content": "", "images": [PNG]}),
        ("ollama", {"role": "assistant", "content": "", "thinking": "Hm."}),
        ("hf-chat", {"role": "assistant", "content": "", "reasoning_content": "Hm."}),
        ("hf-chat", {"role": "assistant", "content": "a", "thinking": "Hm."}),
        ("openai-finetune", {"role": "assistant", "content": "a", "weight": 0}),
        ("openai-chat", {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}),
        ("mistral", {"role": "assistant", "content": "a", "prefix": True}),
    ],
)
def test_a_message_is_written_anew_as_it_was(name: str, message: Any) -> None:
    assert rewritten(name, message) == message


def test_the_type_of_a_bare_image_is_reported_by_its_data() -> None:
    found = find("ollama").read([{"role": "user", "content": "", "images": [PNG, "AAAA"]}]).messages[0].parts
    assert found == (MediaPart("image", "image/png", PNG), MediaPart("image", "", "AAAA"))


def test_a_plan_stands_behind_the_thought_and_before_the_calls() -> None:
    said = answered(ReasoningPart("One call."), TextPart("Checking."), call())
    message = written(asked(said, *tool(result())), "cohere")["messages"][1]
    assert message["content"] == [{"type": "thinking", "thinking": "One call."}]
    assert message["tool_plan"] == "Checking."
    assert [type(part) for part in find("cohere").read([message]).messages[0].parts] == [
        ReasoningPart,
        TextPart,
        CallPart,
    ]


# ---- ids


def test_ids_of_another_shape_become_nine_letters_and_digits() -> None:
    conversation = asked(
        answered(call("call.1"), call("AbCdEf123"), call("call_2")),
        *tool(result("call_2", "2"), result("call.1", "1"), result("AbCdEf123", "b")),
    )
    messages = written(conversation, "mistral")["messages"]
    ids = [made["id"] for made in messages[1]["tool_calls"]]
    assert all(re.fullmatch(r"[a-zA-Z0-9]{9}", found) for found in ids)
    assert len(set(ids)) == 3
    assert ids[1] == "AbCdEf123"
    assert {message["tool_call_id"]: message["content"] for message in messages[2:]} == dict(
        zip(ids, ["1", "b", "2"], strict=True)
    )
    assert written(conversation, "mistral")["messages"] == messages


def test_the_id_null_is_none() -> None:
    found = find("mistral").read(
        [
            {"role": "assistant", "tool_calls": [{"id": "null", "function": {"name": "f", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "null", "content": "1"},
        ]
    )
    assert [part.id for message in found.messages for part in message.parts] == [None, None]  # type: ignore[union-attr]


@pytest.mark.parametrize("name", ["ollama", "hf-chat"])
def test_results_without_ids_stand_in_the_order_of_their_calls(name: str) -> None:
    conversation = asked(answered(call("a"), call("b")), *tool(result("b", "2"), result("a", "1")))
    messages = written(conversation, name)["messages"]
    assert [message["content"] for message in messages if message["role"] == "tool"] == ["1", "2"]
    assert "id" not in messages[1]["tool_calls"][0]
    there = convert(written(conversation, "openai-chat"), source="openai-chat", target=name)
    assert "result_link" not in {loss.code for loss in there.losses}


@pytest.mark.parametrize("name", ["ollama", "hf-chat"])
def test_a_result_that_falls_to_another_call_is_reported(name: str) -> None:
    conversation = asked(answered(call("a"), call("b")), *tool(result("b", "2")))
    there = convert(written(conversation, "openai-chat"), source="openai-chat", target=name)
    assert "result_link" in {loss.code for loss in there.losses}


def test_a_result_belongs_to_the_latest_answer_that_waits() -> None:
    bare = CallPart("f", {}), ResultPart((TextPart("1"),), name="f")
    conversation = asked(answered(bare[0]), *asked().messages, answered(bare[0]), Message("tool", (bare[1],)))
    messages = written(conversation, "openai-chat")["messages"]
    assert messages[-1]["tool_call_id"] == messages[-2]["tool_calls"][0]["id"] != messages[1]["tool_calls"][0]["id"]


# ---- tools and the choice among them


@pytest.mark.parametrize(
    ("name", "choice", "expected"),
    [
        ("openai-chat", ToolChoice("required"), "required"),
        ("openai-chat", ToolChoice("required", ("f",)), {"type": "function", "function": {"name": "f"}}),
        ("mistral", ToolChoice("required"), "any"),
        ("mistral", ToolChoice("required", ("f",)), {"type": "function", "function": {"name": "f"}}),
        ("mistral", ToolChoice("auto", ("f",)), "auto"),
        ("cohere", ToolChoice("required"), "REQUIRED"),
        ("cohere", ToolChoice("required", ("f",)), "REQUIRED"),
        ("cohere", ToolChoice("none"), "NONE"),
        ("cohere", ToolChoice("auto"), None),
        ("ollama", ToolChoice("required"), None),
    ],
)
def test_the_choice_is_written_in_the_formats_words(name: str, choice: ToolChoice, expected: Any) -> None:
    tools = (ToolDeclaration("f", parameters=SCHEMA),)
    value = written(Transcript(tools=tools, tool_choice=choice), name)
    assert value.get("tool_choice") == expected
    if expected is not None and losses(Transcript(tools=tools, tool_choice=choice), find(name).read(value)) == []:
        assert find(name).read(value).tool_choice == choice


def test_auto_is_what_holds_where_nothing_is_said() -> None:
    tools = (ToolDeclaration("f", parameters=SCHEMA),)
    value = written(Transcript(tools=tools, tool_choice=ToolChoice()), "openai-chat")
    assert convert(value, source="openai-chat", target="cohere").losses == ()


def test_strict_tools_are_said_once_for_all() -> None:
    tools = (ToolDeclaration("f", parameters=SCHEMA, strict=True), ToolDeclaration("g", parameters=SCHEMA, strict=True))
    value = written(Transcript(tools=tools), "cohere")
    assert value["strict_tools"] is True
    assert find("cohere").read(value).tools == tools


def test_a_custom_tool_is_a_function_with_one_text_where_there_are_only_functions() -> None:
    custom = CallPart("sql", text="SELECT 1;", id="AbCdEf123", custom=True)
    value = written(Transcript((answered(custom),), (ToolDeclaration("sql", kind="custom"),)), "mistral")
    assert json.loads(value["messages"][0]["tool_calls"][0]["function"]["arguments"]) == {"input": "SELECT 1;"}
    assert value["tools"][0]["function"]["parameters"]["required"] == ["input"]


# ---- which format it is


def test_openai_gets_what_only_gateways_take_if_asked() -> None:
    signed = CallPart("f", {}, id="a", signature="c2ln", owner="google", extra={"cache_control": {"type": "ephemeral"}})
    talk = Transcript(
        (
            Message("user", (TextPart("Hi", extra={"cache_control": {"type": "ephemeral"}}),)),
            answered(ReasoningPart("Hm.", "c2ln", owner="anthropic"), signed),
        )
    )
    own = {"cache_control", "extra_content", "reasoning_content", "thinking_blocks"}
    strict = write(talk, "openai-chat")
    assert [key for key in own if key in json.dumps(strict.value)] == []
    assert {"reasoning", "signature", "provider_field"} <= {loss.code for loss in strict.all_losses}
    wide = json.dumps(write(talk, "openai-chat", carry=Carry(gateway=True)).value)
    assert [key for key in own if key not in wide] == []


@pytest.mark.parametrize("name", ["cohere", "mistral", "ollama"])
def test_what_only_openai_has_a_key_for_is_text_or_left_out(name: str) -> None:
    signed = CallPart("f", {}, id="a", signature="c2ln", owner="google")
    talk = Transcript(
        (
            Message("user", (TextPart("Hi"),), "Ann"),
            answered(signed),
            Message("tool", (ResultPart((TextPart("1"),), "a", "f"),)),
            answered(RefusalPart("No.")),
            Message("user", (TextPart("Hm."),)),
        )
    )
    ours: Any = write(talk, "openai-chat", carry=Carry(gateway=True)).value
    assert ours["messages"][0]["name"] == "Ann"
    assert "extra_content" in ours["messages"][1]["tool_calls"][0]
    there = convert(ours, source="openai-chat", target=name)
    user, called, _, refused, _ = there.value["messages"]  # type: ignore[index, call-overload]
    assert user == {"role": "user", "content": "Hi"}
    assert "extra_content" not in called["tool_calls"][0]
    assert refused == {"role": "assistant", "content": "No."}
    assert {"refusal", "signature", "speaker"} <= {loss.code for loss in there.all_losses}


@pytest.mark.parametrize("name", ["cohere", "mistral"])
def test_a_declaration_always_says_what_a_function_takes(name: str) -> None:
    there = written(asked(tools=(ToolDeclaration("now"),)), name)
    assert there["tools"] == [{"type": "function", "function": {"name": "now", "parameters": SCHEMA}}]


@pytest.mark.parametrize(
    ("media_type", "form"), [("audio/mpeg", "mp3"), ("audio/mp3", "mp3"), ("audio/x-wav", "wav"), ("audio/flac", None)]
)
def test_a_sound_has_one_of_two_forms(media_type: str, form: str | None) -> None:
    sound = Message("user", (TextPart("Hi"), MediaPart("audio", media_type, "AAAA")))
    (message,) = written(Transcript((sound,)), "openai-chat")["messages"]
    expected = [{"type": "input_audio", "input_audio": {"data": "AAAA", "format": form}}] if form else []
    assert message["content"] == [{"type": "text", "text": "Hi"}, *expected]


def test_a_signature_without_an_owner_is_nobody_s() -> None:
    talk = asked(answered(ReasoningPart("Hm.", "c2ln"), TextPart("Hi")))
    assert written(talk, "ollama")["messages"][1] == {"role": "assistant", "content": "Hi", "thinking": "Hm."}


def test_a_grammar_stands_in_an_object_of_its_own_in_chat_alone() -> None:
    grammar = {"syntax": "lark", "definition": "start: X"}
    tool = {"type": "custom", "custom": {"name": "sql", "format": {"type": "grammar", "grammar": grammar}}}
    chat = {"messages": [{"role": "user", "content": "Hi"}], "tools": [tool]}
    there = convert(chat, source="openai-chat", target="openai-responses")
    assert there.value["tools"] == [{"type": "custom", "name": "sql", "format": {"type": "grammar", **grammar}}]  # type: ignore[index, call-overload]
    assert there.losses == ()
    back = convert(there.value, source="openai-responses", target="openai-chat")
    assert back.value["tools"] == [tool]  # type: ignore[index, call-overload]


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ([{"role": "assistant", "tool_calls": []}], "openai-chat"),
        ([{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]}], "ollama"),
        (
            [{"role": "assistant", "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": {}}}]}],
            "hf-chat",
        ),
        ([{"role": "assistant", "tool_plan": "a", "tool_calls": []}], "cohere"),
        ([{"role": "assistant", "content": "a", "weight": 1}], "openai-finetune"),
        ({"messages": [{"role": "user", "content": "a"}], "tool_choice": "any"}, "mistral"),
    ],
)
def test_it_is_recognised_by_what_only_it_has(value: Any, name: str) -> None:
    assert recognised(value).name == name


# ---- fields of the wrong type


@every_chat
@pytest.mark.parametrize(
    ("message", "where"),
    [
        (
            {"role": "assistant", "tool_calls": [{"id": ["a"], "function": {"name": "f"}}]},
            "/messages/0/tool_calls/0/id",
        ),
        ({"role": "assistant", "tool_calls": [{"function": {"name": 7}}]}, "/messages/0/tool_calls/0/name"),
        ({"role": "assistant", "tool_calls": ["f"]}, "/messages/0/tool_calls/0/function"),
        ({"role": "assistant", "tool_calls": {"a": 1}}, "/messages/0/tool_calls"),
        ({"role": "assistant", "function_call": "f"}, "/messages/0/function_call"),
        ({"role": "tool", "tool_call_id": 3, "content": "a"}, "/messages/0/tool_call_id"),
        ({"role": "user", "content": "a", "name": ["b"]}, "/messages/0/name"),
        ("a", "/messages/0"),
    ],
)
def test_what_would_mislead_is_refused_with_its_place(name: str, message: Any, where: str) -> None:
    with pytest.raises(ParseError, match=f"^{where}"):
        find(name).read({"messages": [message]})


@every_chat
@pytest.mark.parametrize(
    ("tools", "where"),
    [
        ("f", "/tools"),
        (["f"], "/tools/0"),
        ([{"type": "function", "function": {"name": 3}}], "/tools/0/name"),
        ([{"type": "function", "function": {"name": "f", "description": ["a"]}}], "/tools/0/description"),
    ],
)
def test_tools_of_the_wrong_type_are_refused_with_their_place(name: str, tools: Any, where: str) -> None:
    with pytest.raises(ParseError, match=f"^{where}:"):
        find(name).read({"messages": [], "tools": tools})


@every_chat
@pytest.mark.parametrize(
    "block",
    [
        3,
        {"type": ["text"]},
        {"type": "text", "text": 3},
        {"type": "image_url", "image_url": {"url": 3}},
        {"type": "input_audio", "input_audio": {"data": 3}},
        {"type": "file", "file": {"file_id": ["a"]}},
        {"type": "thinking", "thinking": 3},
        {"type": "document", "document": "a"},
    ],
)
def test_a_part_that_is_not_understood_is_kept(name: str, block: Any) -> None:
    assert part_of(name, block) == OpaquePart(name, block)
    expected = "a" if name == "ollama" else [block, {"type": "text", "text": "a"}]
    assert rewritten(name, {"role": "user", "content": [block, "a"]})["content"] == expected


@every_chat
def test_further_fields_are_kept(name: str) -> None:
    value = {"messages": [{"role": "user", "content": "a", "x": 1}], "tool_choice": 7, "y": {"z": 2}}
    found = find(name).read(value)
    assert found.extra == {f"{name}.tool_choice": 7, f"{name}.y": {"z": 2}}
    assert found.messages[0].extra == {f"{name}.x": 1}
    assert find(name).write(found) == value


def details(*items: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**said, "format": made, "index": at} for at, (made, said) in enumerate(items)]


DETAILS = details(
    ("anthropic-claude-v1", {"type": "reasoning.text", "text": "One.", "signature": "c2ln"}),
    ("anthropic-claude-v1", {"type": "reasoning.encrypted", "data": "ZGF0"}),
)


@pytest.mark.parametrize("beside", [{}, {"reasoning": "One."}])
@pytest.mark.parametrize("source", ["openai-chat", "openrouter"])
def test_openrouter_s_details_are_signed_thoughts(source: str, beside: dict[str, str]) -> None:
    answer = {"role": "assistant", "content": "It rains.", **beside, "reasoning_details": DETAILS}
    value = [{"role": "user", "content": "Sky?"}, answer, {"role": "user", "content": "Sure?"}]
    there = convert(value, source=source, target="anthropic")
    assert there.value["messages"][1]["content"] == [  # type: ignore[index, call-overload]
        {"type": "thinking", "thinking": "One.", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "ZGF0"},
        {"type": "text", "text": "It rains."},
    ]
    assert there.all_losses == ()
    assert convert(there.value, source="anthropic", target=source, residue=there.residue).value == value
    back: Any = convert(there.value, source="anthropic", target="openrouter")
    assert back.value["messages"][1]["reasoning_details"] == DETAILS
    assert back.all_losses == ()


def test_openrouter_s_details_with_one_index_are_one_thought() -> None:
    (summary, cipher) = details(
        ("openai-responses-v1", {"type": "reasoning.summary", "summary": "One."}),
        ("openai-responses-v1", {"type": "reasoning.encrypted", "data": "gAAA", "id": "rs_1"}),
    )
    answer = {"role": "assistant", "content": "Rain.", "reasoning_details": [summary, cipher | {"index": 0}]}
    made: Any = convert([{"role": "user", "content": "Sky?"}, answer], source="openrouter", target="openai-responses")
    thought = made.value["input"][1]
    assert (thought["summary"], thought["encrypted_content"]) == ([{"type": "summary_text", "text": "One."}], "gAAA")


def test_plain_reasoning_that_says_more_than_the_signed_is_a_loss() -> None:
    answer = {"role": "assistant", "content": "Rain.", "reasoning": "needle", "reasoning_details": DETAILS}
    made = convert([{"role": "user", "content": "Sky?"}, answer], source="openai-chat", target="anthropic")
    assert [(loss.code, loss.detail) for loss in made.losses] == [("beside", "openai-chat.reasoning")]


def test_an_answer_that_mistral_continues_is_marked() -> None:
    made: Any = convert([{"role": "user", "content": "Sky?"}, {"role": "assistant", "content": "It"}], target="mistral")
    assert made.value["messages"][1] == {"role": "assistant", "content": "It", "prefix": True}


def test_ids_that_one_answer_repeats_are_distinguished_for_mistral() -> None:
    called = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    results = [{"role": "tool", "tool_call_id": "a", "content": text} for text in "xy"]
    value = [{"role": "user", "content": "Go."}, {"role": "assistant", "tool_calls": [called, called]}, *results]
    made: Any = convert(value, source="openai-chat", target="mistral")
    _, asked, first, second = made.value["messages"]
    assert [call["id"] for call in asked["tool_calls"]] == [first["tool_call_id"], second["tool_call_id"]]
    assert first["tool_call_id"] != second["tool_call_id"]


@pytest.mark.parametrize("target", ["ollama", "gemini"])
def test_a_result_names_the_tool_of_its_call(target: str) -> None:
    value = [
        {"type": "user_input", "content": [{"type": "text", "text": "Sky?"}]},
        {"type": "function_call", "id": "a", "name": "sky", "arguments": {}},
        {"type": "function_result", "call_id": "a", "name": "other", "result": "18C"},
    ]
    made = convert({"input": value}, source="gemini-interactions", target=target)
    assert '"other"' not in json.dumps(made.value)
    assert not check(made.value, format=target)
