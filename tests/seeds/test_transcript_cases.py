"""The recorded cases of conversations: APIs' answers and streams, messages written and rebuilt, tool choice."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.seeds.seed_cases import Case, listed, load
from toolfmt import jsontext
from toolfmt.conversation import (
    CallPart,
    JsonPart,
    Message,
    ReasoningPart,
    ResultPart,
    TextPart,
    ToolChoice,
    ToolDeclaration,
    Transcript,
)
from toolfmt.parsing import ParseResult
from toolfmt.transcripts.answers import read_answer, read_stream
from toolfmt.transcripts.fitting.shape import shape
from toolfmt.transcripts.format import TranscriptFormat
from toolfmt.transcripts.formats import find

CASES = load()
DEVIATIONS = listed("deviations.toml")

pytestmark = pytest.mark.skipif(not CASES, reason="there is no ../shared")


def written(transcript: Transcript, made: TranscriptFormat) -> Any:
    return made.write(shape(transcript, made.rules))


def check_calls(result: ParseResult, expected: dict[str, Any]) -> None:
    assert [call.name for call in result.calls] == [call["name"] for call in expected["calls"]]
    for call, wanted in zip(result.calls, expected["calls"], strict=True):
        assert jsontext.equal(call.arguments, wanted["arguments"])
        assert call.id == wanted.get("id", call.id)
    assert result.text == expected.get("text", result.text)
    assert result.reasoning == expected.get("thinking", result.reasoning)
    assert not result.failures


def response(case: Case) -> None:
    # The recordings leave out by which field Anthropic's answers say what they are.
    kind = {"type": "message"} if case.format == "anthropic-response" else {}
    check_calls(read_answer({**kind, **json.loads(case.input)}), case.expect)


def stream(case: Case) -> None:
    values = [json.loads(value) for value in case.input]
    if case.format == "cohere-stream":  # likewise, and a call's object stands in a list in some of them
        values = [_cohere(value, at) for at, value in enumerate(values)]
    check_calls(ParseResult(tuple(read_stream(values))), case.expect)


def _cohere(value: dict[str, Any], index: int) -> dict[str, Any]:
    calls = value["delta"]["message"]["tool_calls"]
    call = calls[0] if isinstance(calls, list) else calls
    return {"type": "tool-call-start", "index": index, "delta": {"message": {"tool_calls": call}}}


def deltas(case: Case) -> None:
    groups = [item if isinstance(item, list) else [item] for item in case.input]
    values = [{"choices": [{"delta": {"tool_calls": [_delta(item) for item in group]}}]} for group in groups]
    check_calls(ParseResult(tuple(read_stream(values))), case.expect)


def _delta(item: dict[str, Any]) -> dict[str, Any]:
    function = {"name": item.get("name"), "arguments": item.get("arguments", item.get("args"))}
    found = {"index": item.get("index"), "id": item.get("id")}
    return {key: value for key, value in found.items() if value is not None} | {
        "function": {key: value for key, value in function.items() if value is not None}
    }


def messages(case: Case) -> None:
    """Compare what is written with what is expected: the same, or the same conversation."""
    made = find(case.format.removeprefix("messages-to-"))
    found = written(Transcript(tuple(map(_message, case.input))), made)[made.messages]
    expected = case.expect["messages"]
    assert jsontext.equal(found, expected) or said(made, found) == said(made, expected)


def _message(item: dict[str, Any]) -> Message:
    result = item.get("tool_result")
    if result is not None:
        part = ResultPart((TextPart(result["content"]),), result["call_id"], result["tool_name"])
        return Message("tool", (part,))
    if item["role"] == "tool":
        return Message("tool", (ResultPart((TextPart(item["content"]),)),))
    calls = [CallPart(call["name"], call["arguments"], id=call["id"]) for call in item.get("tool_calls", ())]
    text = [TextPart(item["content"])] if item["content"] else []
    return Message(item["role"], (*text, *calls))


def said(made: TranscriptFormat, value: Any) -> list[Any]:
    """What messages say, whatever ids an API lets one leave out."""
    found: list[Any] = []
    for message in made.read({made.messages: value}).messages:
        for part in message.parts:
            match part:
                case CallPart():
                    found.append(("call", part.name, part.value))
                case ResultPart():
                    found.append(("result", part.name, part.content))
                case TextPart():
                    found.append((message.role, part.text))
                case _:
                    found.append(part)
    return found


EXECUTE = find("text:execute-array")


def log(case: Case) -> None:
    """Rebuild a conversation of a log's events; results have the shape that the format's own document gives them."""
    turns: list[Message] = []
    for event in case.input:
        text = event["content"]
        made = {
            "user": lambda text: Message("user", (TextPart(text),)),
            "think": lambda text: Message("assistant", (ReasoningPart(text),)),
            "respond": lambda text: Message("assistant", (TextPart(text),)),
            "call": lambda text: Message("assistant", (_call(jsontext.loads(text)),)),
            "result": lambda text: Message("tool", (ResultPart((TextPart(text),)),)),
        }[event["type"]](text)
        turns.append(made)
    found = written(Transcript(tuple(turns)), EXECUTE)["messages"]
    expected = case.expect["messages"]
    roles = {"tool": "user"}
    assert [roles.get(one["role"], one["role"]) for one in found] == [one["role"] for one in expected]
    for one, wanted in zip(found, expected, strict=True):
        inside = wanted["content"].removeprefix("<results>\n").removesuffix("\n</results>")
        if one["role"] == "tool":
            (result,) = jsontext.loads(one["content"].removeprefix("<results>\n").removesuffix("\n</results>"))
            assert (result["status"], result["content"]) == ("success", inside)
        else:
            pair = [EXECUTE.read([message]).messages[0].parts for message in (one, wanted)]
            assert [_told(parts) for parts in pair[:1]] == [_told(parts) for parts in pair[1:]]


def _call(value: dict[str, Any]) -> CallPart:
    return CallPart(value["name"], value["args"])


def _told(parts: Any) -> list[Any]:
    reported = [(part.name, part.value) if isinstance(part, CallPart) else part.text.strip() for part in parts]
    return [one for one in reported if one]


def results(case: Case) -> None:
    """Read a results block: an object of the format's own, or text that stays what it is."""
    block = Message("tool", (ResultPart((TextPart(f"<results>\n{case.input}\n</results>"),)),))
    (read,) = EXECUTE.read([{"role": "tool", "content": block.parts[0].content[0].text}]).messages  # type: ignore[union-attr]
    (part,) = read.parts
    assert isinstance(part, ResultPart)
    (content,) = part.content
    (wanted,) = case.expect["results"]
    if wanted["content"]:
        assert isinstance(content, JsonPart)
        assert content.value == wanted["content"]
    else:
        assert isinstance(content, TextPart)
        assert wanted["outcome"] in content.text


CHOICES: dict[str, Callable[[Any], Any]] = {
    "openai-chat": lambda request: request["tool_choice"],
    "anthropic": lambda request: request["tool_choice"],
    "gemini": lambda request: request["toolConfig"]["functionCallingConfig"],
}
NAMES = {"openai": "openai-chat", "anthropic": "anthropic", "gemini": "gemini"}
SPELT = {"allowed_function_names": "allowedFunctionNames"}


def choice(case: Case) -> None:
    given: Any = case.input
    chosen = ToolChoice("required", (given["function"],)) if isinstance(given, dict) else ToolChoice(given)
    tools = (ToolDeclaration("f", None, {"type": "object"}),)
    for provider, expected in case.expect.items():
        made = find(NAMES[provider])
        request = written(Transcript((Message("user", (TextPart("Hi"),)),), tools, chosen), made)
        found = CHOICES[made.name](request)
        wanted = expected
        if isinstance(expected, dict):
            wanted = {SPELT.get(key, key): value for key, value in expected.items()}
        elif isinstance(found, dict):
            found = found["mode"]
        assert jsontext.equal(found, wanted)


CHECKS: dict[str, Callable[[Case], None]] = {
    **dict.fromkeys(
        [f"{api}-response" for api in ("openai", "anthropic", "gemini", "cohere", "openai-responses")], response
    ),
    **dict.fromkeys([f"{api}-stream" for api in ("openai", "anthropic", "gemini", "cohere")], stream),
    **dict.fromkeys([f"messages-to-{api}" for api in ("openai", "anthropic", "gemini", "openai-responses")], messages),
    "tool-delta": deltas,
    "events-to-messages": log,
    "result-object": results,
    "tool-choice": choice,
}
CHECKED = [case for case in CASES if case.format in CHECKS]


@pytest.mark.parametrize("case", [case for case in CHECKED if case.id not in DEVIATIONS], ids=lambda case: case.id)
def test_a_conversation_is_as_recorded(case: Case) -> None:
    CHECKS[case.format](case)


@pytest.mark.parametrize("case", [case for case in CHECKED if case.id in DEVIATIONS], ids=lambda case: case.id)
def test_a_deviation_still_deviates(case: Case) -> None:
    with pytest.raises(AssertionError):
        CHECKS[case.format](case)
