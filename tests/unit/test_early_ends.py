"""JSON calls whose brace comes before all of their members: they fail, and run in no part."""

from __future__ import annotations

import pytest

import toolfmt
from tests.slips import tool
from toolfmt.dialect.syntax import Form, Syntax
from toolfmt.events import CallEnd, CallFailed, Notice, TextDelta, coalesce
from toolfmt.formatters.json_schemas import openai_line
from toolfmt.workshop.testing import laws

TOOLS = [tool("write", {"path": "a", "count": 1}), tool("move", {"path": "a"})]
NEXT = {"path": "b.txt"}
HERMES = "<tool_call>\n{}\n</tool_call>\n"
LISTS = {"mistral-v3": "[TOOL_CALLS][{}, {}]", "granite3": "<|tool_call|>[{}, {}]"}
KIMI = "<|tool_call_begin|>functions.{}:0<|tool_call_argument_begin|>{}<|tool_call_end|>"
EARLY = (
    '{"name": "write"} "arguments": {"path": "a.txt", "count": 3}}',
    '{"name": "write", }arguments": {"path": "a.txt", "count": 3}}',
    '{"name": "write"}, "arguments": {"path": "a.txt"}}',
    '{"name": "write", "arguments": {"path": "a"}} x": 1, "count": 3}}',
)
BROKEN = '{"name": "write", "arguments": {"path": "a"}]) b", "count": 3}}'
"""Its quotes are in doubt, so that what follows may be quoted."""
ARGUMENTS = ('{}path": "a.txt"}', '{"path": "a.txt"}, "count": 3}', '{"path": "a"}]) b", "count": 3}')


def read(dialect: str, text: str) -> toolfmt.ParseResult:
    """Read it whole, and make sure that the cuts change nothing."""
    result = toolfmt.parse(text, dialect=dialect, tools=TOOLS)
    streamed = toolfmt.parse_stream(text, dialect=dialect, tools=TOOLS)
    assert tuple(coalesce(list(streamed))) == result.events
    assert result.failures
    return result


@pytest.mark.parametrize("early", EARLY)
def test_text_before_the_closer_is_a_part_of_the_call(early: str) -> None:
    text = HERMES.format(early) + HERMES.format('{"name": "move", "arguments": {"path": "b.txt"}}')
    assert [(call.name, call.arguments) for call in read("hermes", text).calls] == [("move", NEXT)]


@pytest.mark.parametrize("early", ARGUMENTS)
def test_text_before_the_closer_is_a_part_of_the_arguments(early: str) -> None:
    calls = KIMI.format("write", early) + KIMI.format("move", '{"path": "b.txt"}')
    text = f"<|tool_calls_section_begin|>{calls}<|tool_calls_section_end|>"
    assert [(call.name, call.arguments) for call in read("kimi-k2", text).calls] == [("move", NEXT)]


@pytest.mark.parametrize("dialect", LISTS)
@pytest.mark.parametrize("early", [*(each for each in EARLY if '"},' not in each), BROKEN])
def test_an_element_of_a_list_runs_in_no_part(dialect: str, early: str) -> None:
    text = LISTS[dialect].format(early, '{"name": "move", "arguments": {"path": "b.txt"}}')
    assert not [call for call in read(dialect, text).calls if call.name == "write"]


ELEMENTS = (
    "<parameter=count>3</parameter>",
    '\n<parameter name="count">3</parameter>\n',
    "<arg_key>count</arg_key><arg_value>3</arg_value>",
)
QWEN = (
    "<tool_call>\n<function=write>\n<parameter=path>\na.txt\n</parameter>\n@</function>\n#</tool_call>",
    "<function=move>\n<parameter=path>\nb.txt\n</parameter>\n</function>\n",
    "<parameter=count>\n3\n</parameter>\n",
)
INVOKE = '<｜DSML｜invoke name="{}">\n<｜DSML｜parameter name="path" string="true">{}</｜DSML｜parameter>\n'
DSML = (
    f"<｜DSML｜function_calls>\n{INVOKE.format('write', 'a.txt')}@</｜DSML｜invoke>\n#</｜DSML｜function_calls>",
    f"{INVOKE.format('move', 'b.txt')}</｜DSML｜invoke>\n",
    '<｜DSML｜parameter name="count" string="false">3</｜DSML｜parameter>\n',
)
"""A call, another one, and an argument; `@` is in the call, and `#` after it."""


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("functionary-v31", '<function=write>{"path": "a.txt"}#</function>'),
        ("hermes", '<tool_call>{"name": "write", "arguments": {"path": "a.txt"}}#</tool_call>'),
        ("kimi-k2", KIMI.format("write", '{"path": "a.txt"}#')),
        ("qwen3-coder", QWEN[0].replace("@", "")),
        ("deepseek-v32", DSML[0].replace("@", "")),
    ],
)
def test_an_argument_in_another_notation_belongs_to_the_call(dialect: str, text: str, element: str) -> None:
    for name in (dialect, "auto"):
        assert not read(name, text.replace("#", element)).calls


@pytest.mark.parametrize(("dialect", "parts"), [("qwen3-coder", QWEN), ("deepseek-v32", DSML)])
def test_an_argument_after_a_nested_call_is_the_outer_ones(dialect: str, parts: tuple[str, str, str]) -> None:
    text, nested, argument = parts
    assert not read(dialect, text.replace("@", nested + argument).replace("#", "")).calls
    both = toolfmt.parse(text.replace("@", nested).replace("#", ""), dialect=dialect, tools=TOOLS).calls
    assert [call.name for call in both] == ["write", "move"]


def test_words_before_the_closer_are_text() -> None:
    text = '<tool_call>{"name": "move", "arguments": {"path": "b.txt"}} and that is all.</tool_call>'
    result = toolfmt.parse(text, dialect="hermes", tools=TOOLS)
    assert [call.arguments for call in result.calls] == [NEXT]


@pytest.mark.parametrize(
    ("escape", "value"), [("it\\'s", "it's"), ("a\\d", "a\\d"), ("a\\'' b", None), ("\\u00", None)]
)
def test_an_escape_that_json_lacks_has_one_meaning_or_none(escape: str, value: str | None) -> None:
    text = '<tool_call>{"name": "move", "arguments": {"path": "' + escape + '"}}</tool_call>'
    result = toolfmt.parse(text, dialect="hermes", tools=TOOLS)
    assert [call.arguments["path"] for call in result.calls] == ([] if value is None else [value])


def test_arguments_after_the_parenthesis_belong_to_the_call() -> None:
    assert not read("llama3-builtin", '<|python_tag|>write.call(path="a.txt") count=3)').calls


def test_a_string_after_an_element_belongs_to_it() -> None:
    text = '[TOOL_CALLS][{"name": "write"}, "arguments": {"path": "a.txt", "count": 3}}]'
    assert not read("mistral-v3", text).calls


@pytest.mark.parametrize("head", ["call)write{", "call'write{", "call: // c\nwrite{", "call:writepath"])
def test_a_marker_with_a_broken_head_is_a_failure(head: str) -> None:
    text = (
        f"<start_function_call>{head}path:<escape>a<escape>}}<end_function_call>"
        "<start_function_call>call:move{path:<escape>b.txt<escape>}<end_function_call>"
    )
    assert [(call.name, call.arguments) for call in read("functiongemma", text).calls] == [("move", NEXT)]


GEMMA = '<|tool_call>call:write{{{}}}<tool_call|><|tool_call>call:move{{path:<|"|>b.txt<|"|>}}<tool_call|>'


@pytest.mark.parametrize(
    "body",
    [
        'path:<|"|>a.txt<|"|>,,count:3,path:<|"|>c<|"|>',
        'path:<|"|>a.txt<|"|>]count:<|"|>3<|"|>',
        'path:<|"|>a.txt<|"|>,tags[<|"|>x<|"|>]',
        "count::[1]",
    ],
)
def test_a_quote_that_opens_nothing_is_not_text(body: str) -> None:
    calls = read("gemma4", GEMMA.format(body)).calls
    assert all(call.name == "move" and call.arguments == NEXT for call in calls)


@pytest.mark.parametrize(
    "body", ["path:“a.txt”,count:3", "“path”:“a.txt”", "path:“a,count:3”", '“path”:<|"|>a.txt<|"|>', "path:\u2018a"]
)
def test_typographic_quotes_are_no_part_of_a_key_or_a_text(body: str) -> None:
    assert all(call.name == "move" for call in read("gemma4", GEMMA.format(body)).calls)


@pytest.mark.parametrize("body", ['path: a\ncount": 3', "path': a", "“path”: a", '"path: a'])
def test_a_quote_is_no_part_of_a_key_in_yaml(body: str) -> None:
    assert not read("yaml-xml", f"<write>\n{body}\n</write>").calls


@pytest.mark.parametrize("body", ["path=''it's'", "path='it's''", "path={'a', [1]}", "path='a'' 'b'"])
def test_quotes_of_two_readings_are_a_failure(body: str) -> None:
    text = f"<|tool_call_start|>[write({body}), move(path='b.txt')]<|tool_call_end|>"
    assert all(call.arguments == NEXT for call in read("lfm2", text).calls)


MESSAGE = '<|start|>assistant<|channel|>commentary to=functions.move<|message|>{"path": "b.txt"}<|call|>'


@pytest.mark.parametrize("quoted", [f"`{MESSAGE}`", f'"{MESSAGE}"', f"```\n{MESSAGE}\n```\n"])
@pytest.mark.parametrize("begin", ["", "<|channel|>final<|message|>"])
def test_a_message_that_is_quoted_in_text_is_text(begin: str, quoted: str) -> None:
    text = f"{begin}As in {quoted} here."
    result = toolfmt.parse(text, dialect="harmony", tools=TOOLS)
    assert tuple(coalesce(list(toolfmt.parse_stream(text, dialect="harmony", tools=TOOLS)))) == result.events
    assert (result.calls, result.text) == ((), f"As in {quoted} here.")


@pytest.mark.parametrize("said", ["I go.", 'I say "go"', "I use `move`."])
def test_a_message_after_one_without_its_end_is_read(said: str) -> None:
    text = f"<|channel|>analysis<|message|>{said}{MESSAGE}"
    assert [call.arguments for call in toolfmt.parse(text, dialect="harmony", tools=TOOLS).calls] == [NEXT]


@pytest.mark.parametrize("word", ["Done", " Done.", "0", " ok"])
@pytest.mark.parametrize("call", ["✿FUNCTION✿: f\n✿ARGS✿: {}", "[TOOL_CALLS]f[ARGS]{}"])
def test_a_last_word_is_text_as_several_are(call: str, word: str) -> None:
    dialect = "mistral-v11" if call.startswith("[") else "qwen-fncall"
    for said in (word, f"{word} and more"):
        result = toolfmt.parse(call + said, dialect=dialect)
        assert ([one.name for one in result.calls], result.text) == (["f"], said)


def test_brackets_at_the_end_of_the_input_may_begin_the_closer() -> None:
    brackets = toolfmt.text_dialect(
        name="brackets",
        summary="",
        schema=openai_line,
        manifest="native.jinja",
        syntax=Syntax(forms=(Form(call="[[CALL {name} {args}]][[/CALL]]"),)),
        sources=(),
    )
    text = '[[CALL write {"path": "a", "count": 1}]][[/CALL]]'
    laws.truncated(brackets, text, range(len(text)), TOOLS)
    for at in range(len(text)):
        laws.chunking(brackets, text[:at], [at - 1] if at else [])
    cut = toolfmt.parse(text[: text.index("]]") + 1], dialect=brackets, tools=TOOLS)
    assert [notice.detail for notice in cut.notices] == ["the call's closing marker is cut off"]


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("hermes", '<tool_call>\n{"name": "f", "arguments": {"a": "x"}}\n{"b": "", "n": 2}}\n</tool_call>'),
        ("apriel", '<tool_calls>[{"name": "f", "arguments": {"a": "x"}}\n{"b": "", "n": 2}}]</tool_calls>'),
        ("functionary-v31", '<function=f>{"a": "x"}}\n{"b": "", "n": 2}</function>'),
        ("gigachat3", '<|function_call|>{"name": "f", "arguments": {"a": "x"}} y", "n": 2}}'),
        (
            "deepseek-v31",
            (
                "<\uff5ctool\u2581calls\u2581begin\uff5c><\uff5ctool\u2581call\u2581begin\uff5c>f<\uff5ctool\u2581sep\uff5c>{"
                "<\uff5ctool\u2581calls\u2581begin\uff5c>"
            ),
        ),
    ],
)
def test_what_goes_on_or_only_begins_is_no_call(dialect: str, text: str) -> None:
    for chunks in ([text], [*text]):
        events = [*toolfmt.parse_stream(chunks, dialect=dialect)]
        assert not [event for event in events if isinstance(event, CallEnd)]
        assert [event for event in events if isinstance(event, CallFailed)]


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("hermes", '<tool_call>\n{"name": "f", "arguments": {}}\n</toolcall>'),
        ("harmony", '<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a": 1}<|cll|>'),
        ("llama4-pythonic", "<|python_start|>[f(a=1)]<|python_ends|>"),
        ("mistral-v3", '[TOOL_CALLS][{"name": "f", "arguments": {"a": 1}}]]'),
        ("llama3-json", '{"name": "f", "parameters": {"a": 1}}}'),
        (
            "kimi-k2",
            (
                "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}"
                "<|tool_call_end|><|TOOL_CALLS_SECTION_END|>"
            ),
        ),
    ],
)
def test_a_misspelt_closer_is_reported_and_is_no_text(dialect: str, text: str) -> None:
    tool = toolfmt.ToolDefinition(name="f", parameters={"type": "object"})
    for chunks in ([text], [*text]):
        events = [*toolfmt.parse_stream(chunks, dialect=dialect, tools=[tool])]
        assert [event for event in events if isinstance(event, CallEnd)]
        assert {event.kind for event in events if isinstance(event, Notice)} & {"stray_closer", "repaired_json"}
        assert not [event for event in events if isinstance(event, TextDelta)]
