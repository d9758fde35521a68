"""The functions around the parsers: options, results, streams."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

import toolfmt
from toolfmt import ToolInvocation, default_registry, jsontext, parse
from toolfmt.events import CallEnd, CallStart, Event, coalesce
from toolfmt.ids import hashed

TOOLS = [
    {
        "name": "search",
        "parameters": {
            "type": "object",
            "properties": {"q": {"type": "string"}, "n": {"type": "integer"}},
            "required": ["q"],
        },
    }
]
ANSWER = 'Wait. <tool name="search"><arguments><arg name="q">cats</arg><arg name="n">3</arg></arguments></tool> Done.'


def test_a_provider_chooses_the_dialect_and_the_schema_the_types() -> None:
    result = toolfmt.parse(ANSWER, provider="anthropic", tools=TOOLS)
    assert result.dialect == "xml-items"
    assert result.calls[0].arguments == {"q": "cats", "n": 3}
    assert type(result.calls[0].arguments["n"]) is int
    assert [type(part).__name__ for part in result.parts] == ["TextPart", "CallPart", "TextPart"]
    assert result.text == "Wait.  Done."


def test_a_stream_gives_the_same_events() -> None:
    whole = toolfmt.parse(ANSWER, use_xml=True, tools=TOOLS)
    assert tuple(coalesce(list(toolfmt.parse_stream(ANSWER, use_xml=True, tools=TOOLS)))) == whole.events

    async def chunks() -> AsyncIterator[str]:
        for char in ANSWER:
            yield char

    async def read() -> list[toolfmt.Event]:
        return [event async for event in toolfmt.aparse_stream(chunks(), use_xml=True, tools=TOOLS)]

    assert tuple(coalesce(asyncio.run(read()))) == whole.events


def test_feeding_after_the_end_raises_and_nothing_comes_of_nothing() -> None:
    parser = toolfmt.open_parser(dialect="xml-items")
    assert parser.feed("") == []
    parser.close()
    with pytest.raises(toolfmt.ParseError, match="closed"):
        parser.feed("x")
    with pytest.raises(toolfmt.ParseError, match="closed"):
        parser.close()


def test_validation_tells_all_problems_at_once() -> None:
    answer = '{"name": "search", "args": {"q": 1, "n": "x"}}'
    assert toolfmt.parse(answer, dialect="gemini-json", tools=TOOLS).calls
    result = toolfmt.parse(answer, dialect="gemini-json", tools=TOOLS, validate=True)
    assert not result.calls
    assert result.failures[0].reason == "invalid_arguments"
    assert "/q" in result.failures[0].detail
    assert "/n" in result.failures[0].detail
    with pytest.raises(ExceptionGroup) as raised:
        result.raise_for_failures()
    assert isinstance(raised.value.exceptions[0], toolfmt.MalformedCallError)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ('Sure. {"name": "search", "args": {"q": "x"}}', "mixed_content"),
        ('{"name": "search", "args": {"q": "x"}} Done', "mixed_content"),
        ('```json\n{"name": "search", "args": {"q": "x"}}\n```', "mixed_content"),
        ('{"name": "search", "args": {"q": "x", "z": 1}}', "extra_argument"),
        ('{"name": "search", "args": {"n": 1}}', "invalid_arguments"),
    ],
)
def test_strict_accepts_the_call_alone(answer: str, reason: str) -> None:
    result = toolfmt.parse(answer, dialect="gemini-json", tools=TOOLS, strict=True)
    assert not result.calls
    assert result.failures[0].reason == reason
    assert toolfmt.parse(answer, dialect="gemini-json", tools=TOOLS).calls


def test_an_unknown_tool_is_kept_with_a_notice_where_the_wire_marks_calls() -> None:
    result = toolfmt.parse('<tool name="nope"></tool>', dialect="xml-items", tools=TOOLS)
    assert [call.name for call in result.calls] == ["nope"]
    assert [notice.kind for notice in result.notices] == ["unknown_tool"]


def test_bare_json_with_a_foreign_name_is_text() -> None:
    answer = 'The user is {"name": "Alice", "args": {"age": 3}}.'
    assert toolfmt.parse(answer, dialect="gemini-json", tools=TOOLS).text == answer


def test_broken_json_is_repaired_only_when_asked_and_never_in_silence() -> None:
    answer = '<execute>[{"name": "search", "args": {q: "cats"}}]</execute>'
    assert not toolfmt.parse(answer, dialect="execute-array").calls
    result = toolfmt.parse(answer, dialect="execute-array", repair=True)
    assert result.calls[0].arguments == {"q": "cats"}
    assert "repaired" in {notice.kind for notice in result.notices}
    assert [failure.reason for failure in result.failures] == ["malformed"]


@pytest.mark.parametrize("value", ["''cats''", '""cats""', "\"cats'", '["cats\'], "b": 1'])
def test_a_string_in_odd_quotes_is_not_mended_into_another(value: str) -> None:
    answer = f'<execute>[{{"name": "search", "args": {{"q": {value}, "n": 3}}}}]</execute>'
    tools = [toolfmt.ToolDefinition(name="search", parameters={"properties": {"q": {}, "n": {}, "b": {}}})]
    result = toolfmt.parse(answer, dialect="execute-array", tools=tools, repair=True)
    assert [call.arguments for call in result.calls if call.arguments != {"q": "cats", "n": 3}] == []
    assert result.failures


@pytest.mark.parametrize("unit", ['["', '{"a": ["', '[["b" ', "['"])
def test_a_call_of_endless_brackets_and_quotes_is_not_mended(unit: str) -> None:
    answer = '<execute>[{"name": "search", "args": {"q": ' + unit * (90_000 // len(unit))
    result = toolfmt.parse(answer, dialect="execute-array", repair=True)
    assert not result.calls
    assert result.failures


def test_an_echo_of_the_call_is_dropped_when_asked() -> None:
    answer = '{"q": "cats"}<tool name="search"><arguments><arg name="q">cats</arg></arguments></tool>'
    assert toolfmt.parse(answer, dialect="xml-items", tools=TOOLS).text == '{"q": "cats"}'
    result = toolfmt.parse(answer, dialect="xml-items", tools=TOOLS, drop_leaks=True)
    assert result.text == ""
    assert "arguments_leak" in {notice.kind for notice in result.notices}


def test_ids_are_made_only_where_there_are_none() -> None:
    answer = '<tool name="a" id="x1"></tool><tool name="a"></tool>'
    assert [call.id for call in toolfmt.parse(answer, dialect="xml-items").calls] == ["x1", None]
    first, second = toolfmt.parse(answer, dialect="xml-items", ids=hashed()).calls
    assert first.id == "x1"
    assert second.id is not None
    assert second.id.startswith("call_")


def test_reasoning_may_begin_in_the_prompt() -> None:
    answer = 'I should read.</think><execute>[{"name": "r", "args": {}}]</execute>'
    result = toolfmt.parse(answer, dialect="execute-array", reasoning_open=True)
    assert result.reasoning == "I should read."
    same = toolfmt.parse(answer, dialect="execute-array", generation_prompt="<|assistant|>\n<think>\n")
    assert same.events == result.events
    assert toolfmt.parse(answer, dialect="execute-array", generation_prompt="<think></think>").reasoning == ""


INFERRED = {
    "true": True,
    "FALSE": False,
    "Null": None,
    "42": 42,
    " -7\n": -7,
    "007": 7,
    "3.14": 3.14,
    "1.23e10": 1.23e10,
    "2.0": 2.0,
    "12345678901234567890": 12345678901234567890,
}
NOT_INFERRED = ["", "yes", "none", '"true"', "NaN", "+Inf", "1e999", "0x10", "1,000", "./a", "[1]", '{"a": 1}']


@pytest.mark.parametrize(
    ("dialect", "before", "after"),
    [
        ("xml-cdata", "<tool><tool_name>f</tool_name><arguments><a>", "</a></arguments></tool>"),
        ("xml-items", '<tool name="f"><arguments><arg name="a">', "</arg></arguments></tool>"),
        ("qwen3-coder", "<tool_call><function=f><parameter=a>\n", "\n</parameter></function></tool_call>"),
    ],
)
def test_types_are_inferred_only_where_asked_and_where_nothing_tells_them(
    dialect: str, before: str, after: str
) -> None:
    for text, value in [*INFERRED.items(), *((text, text) for text in NOT_INFERRED)]:
        answer = before + text + after
        plain = toolfmt.parse(answer, dialect=dialect)
        assert jsontext.equal(plain.calls[0].arguments, {"a": text}), text
        typed = toolfmt.parse(answer, dialect=dialect, infer_types=True)
        assert jsontext.equal(typed.calls[0].arguments, {"a": value}), text
        assert tuple(coalesce(list(toolfmt.parse_stream(answer, dialect=dialect, infer_types=True)))) == (typed.events)
        reported = {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}
        known = toolfmt.parse(answer, dialect=dialect, tools=[reported], infer_types=True)
        assert jsontext.equal(known.calls[0].arguments, {"a": text}), text


def test_quoted_and_typed_text_is_never_inferred() -> None:
    answer = (
        "<tool><tool_name>f</tool_name><arguments><a><![CDATA[42]]></a><b type='string'>42</b>"
        "<c>42</c><c>x</c><d><e>true</e></d></arguments></tool>"
    )
    result = toolfmt.parse(answer, dialect="xml-cdata", infer_types=True)
    wanted = {"a": "42", "b": "42", "c": [42, "x"], "d": {"e": True}}
    assert jsontext.equal(result.calls[0].arguments, wanted)


def test_a_result_shows_what_it_holds() -> None:
    shown = repr(
        toolfmt.parse('Hi <tool_call>{"name": "f", "arguments": {"x": 1}}</tool_call><tool_call>{"na', dialect="hermes")
    )
    assert shown.startswith("ParseResult(text='Hi', calls=[ToolInvocation(name='f', arguments={'x': 1}")
    assert "failures=[CallFailed(" in shown
    assert repr(toolfmt.parse("", generation_prompt=None)) == "ParseResult()"


def test_a_format_that_nobody_chose_is_found() -> None:
    text = '<tool name="weather"><arguments><arg name="city">Paris</arg></arguments></tool>'
    found = toolfmt.parse(text)
    assert (found.dialect, found.calls[0].arguments) == ("xml-items", {"city": "Paris"})
    assert toolfmt.parse(text, provider=None, dialect=None, model=None) == found
    assert coalesce([*toolfmt.parse_stream([text])]) == [*found.events]
    assert toolfmt.parse(text, dialect="default-json").calls == ()


@pytest.mark.parametrize(
    ("text", "dialect", "hint"),
    [
        ('{"choices": [{"message": {"content": "x"}}]}', None, "toolfmt.read_answer(json.loads(text)) reads it"),
        ('{"type": "message", "content": [{"type": "text", "text": "x"}]}', "hermes", "an API's answer"),
        ('data: {"type": "message_start"}\n\n', None, "an API's stream"),
        ('get_weather(city="Paris")', None, "dialect='pythonic'"),
        ('<tool name="f"><arguments/></tool>', "hermes", "give dialect='xml-items'"),
        ("It rains in Paris (see f(x)).", None, ""),
        ('print("x")', None, ""),
        ('{"city": "Paris"}', None, ""),
        ("", None, ""),
    ],
)
def test_an_answer_without_a_call_says_what_it_looks_like(text: str, dialect: str | None, hint: str) -> None:
    result = toolfmt.parse(text, dialect=dialect)
    assert hint in result.hint
    assert bool(hint) == bool(result.hint)
    assert ("hint=" in repr(result)) == bool(hint)


def test_an_answer_object_is_not_a_text() -> None:
    with pytest.raises(TypeError, match="read_answer"):
        toolfmt.parse({"choices": []})  # pyright: ignore[reportArgumentType] - on purpose


@pytest.mark.parametrize(
    ("said", "provenance"), [({}, "bare"), ({"provenance": "api"}, "marker"), ({"provenance": "fenced"}, "fenced")]
)
def test_a_parser_of_ones_own_claims_no_more_than_a_text_can(said: dict[str, Any], provenance: str) -> None:
    class Own:
        def __init__(self, _: object) -> None:
            pass

        def feed(self, chunk: str) -> list[Event]:
            return [CallStart(0, chunk, None), CallEnd(0, ToolInvocation(name=chunk, **said), (0, len(chunk)))]

        def close(self) -> list[Event]:
            return []

    own = replace(default_registry().dialect("hermes"), syntax=None, open_parser=Own)
    assert [call.provenance for call in parse("f", dialect=own).calls] == [provenance]


def test_a_failure_of_a_dialect_that_is_not_registered_is_shown() -> None:
    own = replace(default_registry().dialect("hermes"), name="own-words", aliases=())
    broken = "<tool_call>\n{broken\n</tool_call>"
    result = parse(broken, dialect=own, tools=TOOLS)
    assert "{broken" in repr(result)
    assert "<tool_call>" in toolfmt.feedback(result.failures[0], tools=TOOLS, dialect=own)
    with pytest.raises(toolfmt.errors.UnknownDialectError, match="give the same dialect= as to parse"):
        toolfmt.feedback(result.failures[0], tools=TOOLS)
