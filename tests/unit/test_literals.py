"""Arguments as literals: which quote ends a text, arguments without names, texts without quotes."""

from __future__ import annotations

from typing import Any

import pytest

import toolfmt
from toolfmt import jsontext
from toolfmt.events import coalesce

TOOLS = [
    {
        "name": "bash",
        "parameters": {
            "type": "object",
            "properties": {"command": {"type": "string"}, "n": {"type": "integer"}, "tags": {"type": "array"}},
        },
    }
]
FRAMES = {
    "pythonic": "[{}]",
    "llama4-pythonic": "<|python_start|>[{}]<|python_end|>",
    "lfm2": "<|tool_call_start|>[{}]<|tool_call_end|>",
    "olmo3": "<function_calls>\n{}\n</function_calls>",
    "nexus": "Call: {}<bot_end>",
}


def read(dialect: str, text: str, tools: object = TOOLS) -> toolfmt.ParseResult:
    """Read it whole, and make sure that the cuts change nothing."""
    result = toolfmt.parse(text, dialect=dialect, tools=tools)
    streamed = toolfmt.parse_stream(text, dialect=dialect, tools=tools)
    assert tuple(coalesce(list(streamed))) == result.events
    return result


@pytest.mark.parametrize("dialect", FRAMES)
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("command='it's here'", {"command": "it's here"}),
        ("command='python3 -c \"print(f(x, s='a,b'))\"'", {"command": "python3 -c \"print(f(x, s='a,b'))\""}),
        ("command='He said 'no', then left', n=2", {"command": "He said 'no', then left", "n": 2}),
        ("command='awk '{print $1}' f.txt'", {"command": "awk '{print $1}' f.txt"}),
        ('command="say "hi" twice", n=3', {"command": 'say "hi" twice', "n": 3}),
        ("tags=['a', 'it's', 'b'], n=1", {"tags": ["a", "it's", "b"], "n": 1}),
        ("tags={'a', 'b'}", {"tags": ["a", "b"]}),
        ("tags={1, 2}, n=3", {"tags": [1, 2], "n": 3}),
        ("'ls -l', 3", {"command": "ls -l", "n": 3}),
        ("'ls -l', n=3", {"command": "ls -l", "n": 3}),
        ("'ls', 3, ['x']", {"command": "ls", "n": 3, "tags": ["x"]}),
    ],
)
def test_a_slip_with_one_reading_is_read_with_a_notice(dialect: str, arguments: str, expected: dict[str, Any]) -> None:
    result = read(dialect, FRAMES[dialect].format(f"bash({arguments})"))
    assert [jsontext.equal(call.arguments, expected) for call in result.calls] == [True], result.events
    assert result.notices


@pytest.mark.parametrize("dialect", FRAMES)
@pytest.mark.parametrize(
    "arguments",
    [
        "command='echo ', n=1)')",  # the text ends too early, and the call with it
        "command='f(s='a')] x')",
        "command='the dogs' den', n=1",  # an unpaired quote may be the text's end
        "command='f(s='a', n=1, b='c')'",
        "3, 'ls'",  # not what the schema has there
        "'ls', 3, ['x'], 4",
        "n=3, 'ls'",
    ],
)
def test_a_slip_with_several_readings_is_a_failure(dialect: str, arguments: str) -> None:
    result = read(dialect, FRAMES[dialect].format(f"bash({arguments})"))
    assert not result.calls
    assert result.failures


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("command:ls -l", {"command": "ls -l"}),
        ('command:ls -l<|"|>', {"command": "ls -l"}),
        ('command:ls, then cat<|"|>,n:5', {"command": "ls, then cat", "n": 5}),
        ("command:ls,n:5", {"command": "ls", "n": 5}),
        ("command:12345", {"command": "12345"}),
        ("command:null,n:1", {"command": None, "n": 1}),
        ('tags:[<|"|>a<|"|>,b<|"|>]', {"tags": ["a", "b"]}),
        ("tags:[a,b]", {"tags": ["a", "b"]}),
        ('command:<|"|>a {b:<|"|>c<|"|>} d<|"|>', {"command": 'a {b:<|"|>c<|"|>} d'}),
        ("command:see: this {x} and [y]", {"command": "see: this {x} and [y]"}),
    ],
)
def test_texts_without_their_quotes(body: str, expected: dict[str, Any]) -> None:
    result = read("gemma4", f"<|tool_call>call:bash{{{body}}}<tool_call|>")
    assert [jsontext.equal(call.arguments, expected) for call in result.calls] == [True], result.events
    assert bool(result.notices) == ("null" not in body)


def test_a_quoted_argument_that_ends_its_call_is_a_failure() -> None:
    result = read("gemma4", '<|tool_call>call:bash{command:<|"|>a<|"|>} d<|"|>}<tool_call|>')
    assert not result.calls
    assert [failure.reason for failure in result.failures] == ["malformed"]


QUOTED = [
    ('{command:"a, b",n:1}', {"command": "a, b", "n": 1}),
    ('{"command": "a", "n": 1}', {"command": "a", "n": 1}),
    ('{tags:["a, }b", "c"],command:"q\\n"}', {"tags": ["a, }b", "c"], "command": "q\n"}),
    ('{command:say "hi" now}', {"command": 'say "hi" now'}),
]


@pytest.mark.parametrize(("literal", "arguments"), QUOTED)
def test_the_quotes_of_json_are_read_where_a_token_is_due(literal: str, arguments: dict[str, Any]) -> None:
    result = read("gemma4", f"<|tool_call>call:bash{literal}<tool_call|>")
    assert jsontext.equal(result.calls[0].arguments, arguments)
    assert result.notices


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("lfm2", "<|tool_call_start|>[f(a='x', b='y\n' z', n5), g(c='w', d=2)]<|tool_call_end|>"),
        ("llama4-pythonic", "<|python_start|>[f(a='x', b='y, n=5), g(c:'w', d=2)]<|python_end|>"),
        ("ui-tars", "Action: f()(a='x')"),
        ("ui-tars", 'Action: f()\nAction Input: {"a": "x"}'),
    ],
)
def test_a_call_neither_takes_another_one_nor_loses_its_arguments(dialect: str, text: str) -> None:
    result = toolfmt.parse(text, dialect=dialect)
    assert ([*result.calls], [failure.reason for failure in result.failures]) == ([], ["malformed"])


def test_a_key_that_no_tool_has_and_that_is_no_word_is_a_slip() -> None:
    properties = {key: {"type": "string"} for key in ("city", "days")}
    tool = toolfmt.ToolDefinition(name="f", parameters={"type": "object", "properties": properties})
    for dialect, text in (
        ("gemma4", '<|tool_call>call:f{days=2:city,city:<|"|>Oslo<|"|>}<tool_call|>'),
        ("yaml-xml", "<f>\nSure, here it is:\n\ncity: Oslo\n</f>"),
        ("hermes", '<tool_call>{"name": "f", "arguments": {\'city": "Oslo", "days\': "2"}}</tool_call>'),
    ):
        result = toolfmt.parse(text, dialect=dialect, tools=[tool])
        assert ([*result.calls], len(result.failures)) == ([], 1), dialect


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("[f(a=1), 3]", "'3', at offset 9"),
        ("[f(a=1), # two\n f(a=2)]", "a comment, at offset 9"),
        ("[f(a=1) # one\n]", "a comment, at offset 8"),
    ],
)
def test_what_is_in_a_list_of_calls_beside_them_is_named(answer: str, found: str) -> None:
    (failure,) = toolfmt.parse(answer, dialect="pythonic", tools=[{"name": "f", "parameters": {}}]).failures
    assert failure.detail == f"expected another call or the end of the calls, found {found}"


@pytest.mark.parametrize("between", [",", ", ", " , "])
def test_arguments_that_end_with_a_comma_before_the_next_marker_are_no_call(between: str) -> None:
    text = f'<|python_tag|>bash.call(command="ls"{between}<|python_tag|>bash.call(command="df", n=2)<|eom_id|>'
    result = toolfmt.parse(text, dialect="llama3-builtin", tools=TOOLS)
    assert [call.arguments for call in result.calls if call.arguments != {"command": "df", "n": 2}] == []
    assert [failure.reason for failure in result.failures] == ["malformed"]
