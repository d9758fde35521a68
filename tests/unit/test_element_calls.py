"""What is told of calls written as elements: where a slip stands, and why a call fails."""

from __future__ import annotations

import pytest

import toolfmt
from tests import slips
from toolfmt import parse, parse_stream
from toolfmt.dialect.syntax import Elements, Form, Syntax
from toolfmt.events import coalesce
from toolfmt.formatters.json_schemas import openai_line
from toolfmt.workshop.testing.laws import read

FIELDS = toolfmt.text_dialect(
    name="fields",
    summary="",
    syntax=Syntax(
        forms=(
            Form(
                call='<do action="{name}">{members}</do>',
                elements=Elements(member='<field key="{key}">{value}</field>', item="<one>{value}</one>"),
            ),
        )
    ),
    schema=openai_line,
    manifest="native.jinja",
    sources=(),
)


@pytest.mark.parametrize("between", ["", "\n", ", ", "</do>"])
@pytest.mark.parametrize("opener", ['<field key="n">', "<field key=n>", "field key='n'>"])
def test_an_argument_after_the_end_is_known_by_the_formats_own_tag(between: str, opener: str) -> None:
    answer = f'<do action="run"><field key="path">a</field></do>{between}{opener}3</field>'
    result = parse(answer, dialect=FIELDS, tools=[TOOL])
    assert (result.calls, [failure.reason for failure in result.failures]) == ((), ["malformed"])
    assert tuple(coalesce([*parse_stream(iter(answer), dialect=FIELDS, tools=[TOOL])])) == result.events
    (call,) = parse(f"{answer[: answer.index('</do>')]}</do> It has a field.", dialect=FIELDS, tools=[TOOL]).calls
    assert call.arguments == {"path": "a"}


HEAD = "<tool><tool_name>f</tool_name><arguments>"
TAIL = "</arguments></tool>"


def test_an_argument_given_twice_alike_is_reported_where_it_is_given_again() -> None:
    once = '<arg name="a">1</arg>'
    answer = f'<tool name="f"><arguments>{once}{once}</arguments></tool>'
    result = toolfmt.parse(answer, dialect="xml-items")
    (notice,) = result.notices
    assert notice.kind == "duplicate_key"
    assert answer[: notice.span[1]].endswith(once + once)
    assert answer[slice(*notice.span)] == once
    assert result.calls[0].arguments == {"a": "1"}


def test_an_argument_given_twice_is_a_failure_where_the_two_differ() -> None:
    answer = '<tool name="f"><arguments><arg name="a">1</arg><arg name="a">2</arg></arguments></tool>'
    result = toolfmt.parse(answer, dialect="xml-items")
    assert [failure.reason for failure in result.failures] == ["duplicate_key"]
    assert result.calls == ()


TOOL = {"name": "run", "parameters": {"properties": {"path": {"type": "string"}, "n": {"type": "integer"}}}}
DSML = '<｜DSML｜function_calls><｜DSML｜invoke name="run">{}</｜DSML｜invoke></｜DSML｜function_calls>'
PARAMETER = '<｜DSML｜parameter name="{}" string="{}">{}</｜DSML｜parameter>'


@pytest.mark.parametrize(
    ("dialect", "answer", "arguments"),
    [
        ("xml-items", '<tool name="run" path="a/x"/>', {"path": "a/x"}),
        ("xml-items", '<tool name="run"><arguments path="x" n="3"/></tool>', {"path": "x", "n": 3}),
        ("xml-items", '<tool name="run"><arguments><arg name="path" value="x"/></arguments></tool>', {"path": "x"}),
        ("minimax-m2", '<minimax:tool_call><invoke name="run" n="3"></invoke></minimax:tool_call>', {"n": 3}),
        ("qwen3-coder", '<tool_call>\n<function=run path="x" n="4"/>\n</tool_call>', {"path": "x", "n": 4}),
        ("minicpm5", '<function name="run"><param name="input">{"n": 3}</param></function>', {"n": 3}),
        ("deepseek-v32", DSML.format(PARAMETER.format("properties", "false", '{"n": 3}')), {"n": 3}),
        (
            "deepseek-v32",
            DSML.format(PARAMETER.format("input", "false", PARAMETER.format("path", "true", "x"))),
            {"path": "x"},
        ),
    ],
)
def test_a_declared_argument_in_another_place_is_taken(dialect: str, answer: str, arguments: dict[str, object]) -> None:
    result = toolfmt.parse(answer, dialect=dialect, tools=[TOOL])
    assert [call.arguments for call in result.calls] == [arguments]
    assert {notice.kind for notice in result.notices} == {"misplaced"}
    assert not toolfmt.parse(answer, dialect=dialect, tools=[TOOL], strict=True).calls


@pytest.mark.parametrize("attribute", ['target="x"', 'id="7" path="y" path="z"'])
def test_what_may_be_an_argument_and_is_none_is_a_failure(attribute: str) -> None:
    answer = f'<tool name="run" {attribute}><arguments><arg name="path">a</arg></arguments></tool>'
    result = toolfmt.parse(answer, dialect="xml-items", tools=[TOOL])
    assert not result.calls
    assert [failure.reason for failure in result.failures] in (["unclaimed"], ["duplicate_key"])


@pytest.mark.parametrize("attribute", ['xmlns="urn:x"', 'type="function"', 'id="7"', 'path="a"'])
def test_what_can_be_no_argument_is_reported(attribute: str) -> None:
    answer = f'<invokes><invoke name="run" {attribute}><parameter name="path" type="string">a</parameter></invoke>'
    result = toolfmt.parse(answer.replace("invokes", "function_calls"), dialect="claude-legacy", tools=[TOOL])
    assert [call.arguments for call in result.calls] == [{"path": "a"}]
    assert {"unclaimed"} <= {notice.kind for notice in result.notices}


def test_a_notice_points_at_a_closer_that_was_read_as_text() -> None:
    answer = '<write_file path="a">x </write_file> y</write_file>'
    (notice,) = toolfmt.parse(answer, dialect="xml-items").notices
    assert answer[: notice.span[0]] == '<write_file path="a">x '
    assert answer[slice(*notice.span)] == "</write_file>"


@pytest.mark.parametrize(
    ("arguments", "words", "before"),
    [
        ("<ns:a>1</ns:a>", "'<ns:a>'", ""),
        ("stray<a>1</a>", "'s'", ""),
        ("<a>1</a>stray<b>2</b>", "closing tag", "<a>1</a>"),
        ("<a>1</a><ns:b>2</ns:b>", "closing tag", "<a>1</a>"),
        ("<a><b>1</b>x</a>", "closing tag", "<a><b>1</b>"),
        ("<a>1", "not closed", "<a>1"),
    ],
)
def test_a_failure_says_what_stands_where_it_must_not(arguments: str, words: str, before: str) -> None:
    (failure,) = toolfmt.parse(HEAD + arguments + TAIL, dialect="xml-cdata").failures
    assert failure.reason == "malformed"
    assert words in failure.detail
    assert failure.detail.endswith(f"at offset {len(HEAD + before)}")
    assert failure.raw == HEAD + arguments + TAIL


def test_a_server_that_is_no_name_is_named_in_the_failure() -> None:
    (failure,) = toolfmt.parse('<tool>{"server_name": 3, "tool_name": "f"}</tool>', dialect="xml-cdata").failures
    assert failure.reason == "mismatch"
    assert "'server_name' is 3" in failure.detail


def test_a_decision_without_an_answer_is_reported_that_one_is_due() -> None:
    (failure,) = toolfmt.parse('{"thought": "t", "type": "final_answer"}', dialect="react").failures
    assert failure.reason == "missing_answer"
    assert "an answer is required" in failure.detail


@pytest.mark.parametrize("dialect", ["xml-items", "anthropic-json", "auto"])
@pytest.mark.parametrize("attributes", ['name="f" description="x"', 'description="x" name="f"'])
def test_a_definition_that_is_quoted_is_no_call(dialect: str, attributes: str) -> None:
    text = f'<tool {attributes}><arg name="a">1</arg></tool>'
    result = toolfmt.parse(text, dialect=dialect)
    assert not result.calls
    assert [failure.reason for failure in result.failures] == ([] if dialect == "auto" else ["malformed"])
    call = text.replace(' description="x"', "").replace('description="x" ', "")
    assert [found.arguments for found in toolfmt.parse(call, dialect=dialect).calls] == [{"a": "1"}]


NUMBERED = "<0>1</0><1>2</1>"


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        ({"type": "array", "items": {"type": "integer"}}, NUMBERED, [1, 2]),
        ({"type": "array", "items": {"type": "string"}}, NUMBERED, ["1", "2"]),
        ({"type": "object"}, "<0>a</0><2>b</2><k>c</k>", {"0": "a", "2": "b", "k": "c"}),
        ({}, NUMBERED, ["1", "2"]),
        ({"type": "string"}, NUMBERED, NUMBERED),
    ],
)
@pytest.mark.parametrize("dialect", ["morph-xml", "cline"])
def test_numbered_elements_are_items_or_members(
    dialect: str, schema: dict[str, object], text: str, value: object
) -> None:
    tools = [{"name": "f", "parameters": {"type": "object", "properties": {"x": schema}}}]
    (call,) = toolfmt.parse(f"<f><x>{text}</x></f>", dialect=dialect, tools=tools).calls
    assert call.arguments == {"x": value}


def test_items_whose_numbers_leave_one_out_fail() -> None:
    tools = [{"name": "f", "parameters": {"type": "object", "properties": {"x": {"type": "array"}}}}]
    result = toolfmt.parse("<f><x><0>a</0><2>b</2></x></f>", dialect="morph-xml", tools=tools)
    assert [failure.reason for failure in result.failures] == ["malformed"]


MEMBERS = {"o": {"type": "object", "properties": {"s": {"type": "string"}, "l": {"type": "array"}}}}


@pytest.mark.parametrize(
    ("inside", "value"),
    [("<s>a</s><s>b</s>", None), ("<s>a</s><s>a</s>", {"s": "a"}), ("<l>a</l><l>b</l>", {"l": ["a", "b"]})],
)
def test_a_member_given_twice_is_a_list_only_where_one_may_be(inside: str, value: object) -> None:
    tools = [{"name": "f", "parameters": {"type": "object", "properties": MEMBERS}}]
    result = toolfmt.parse(f"<f><o>{inside}</o></f>", dialect="morph-xml", tools=tools)
    assert [call.arguments for call in result.calls] == ([] if value is None else [{"o": value}])
    assert [failure.reason for failure in result.failures] == ([] if value is not None else ["duplicate_key"])


@pytest.mark.parametrize("dialect", ["morph-xml", "cline"])
def test_a_body_without_arguments_is_a_failure_and_a_mention_is_text(dialect: str) -> None:
    for body in ("notes.txt", "Read <b>this</b> please.", "```\nx\n```"):
        result = toolfmt.parse(f"So: <run>{body}</run> Done.", dialect=dialect, tools=[TOOL])
        assert (result.calls, len(result.failures), result.text.split()) == ((), 1, ["So:", "Done."])
    for text in ("Use <run> for that.", "Between `<run>` and `</run>`.", "<run> is a tool: run it."):
        result = toolfmt.parse(text, dialect=dialect, tools=[TOOL])
        assert (result.text, result.failures) == (text, ())


@pytest.mark.parametrize("dialect", ["morph-xml", "cline"])
def test_a_blank_in_a_closing_tag_is_none_of_its_name(dialect: str) -> None:
    (call,) = toolfmt.parse("<run><path>a</ path></ run>", dialect=dialect, tools=[TOOL]).calls
    assert call.arguments == {"path": "a"}


def test_a_list_is_read_under_a_schema_that_no_list_fits() -> None:
    listed = {"type": "array", "items": {"type": "string"}, "enum": ["a", "b"]}  # as published tools have it
    tools = [{"name": "f", "parameters": {"type": "object", "properties": {"x": listed}}}]
    text = '<tool name="f"><arguments><arg name="x"><item>a</item><item>b</item></arg></arguments></tool>'
    assert toolfmt.parse(text, dialect="xml-items", tools=tools).calls[0].arguments == {"x": ["a", "b"]}


def test_a_failed_call_goes_up_to_the_end_of_its_section() -> None:
    answer = '<tool_call>\n<function=f>\n{"a": "x"}\n</function>\n</tool_call>'
    for cut in range(1, len(answer)):
        events = read(toolfmt.default_registry().dialect("qwen3-coder"), [answer[:cut], answer[cut:]])
        assert [event.raw for event in events if isinstance(event, toolfmt.CallFailed)] == [answer]
        assert not any(isinstance(event, toolfmt.Notice) for event in events)


FOUND = "<tool_call>move\n<arg_key>path</arg_key>\n<arg_value>{}</arg_value>\n</tool_call>"
FAILING = {
    "a tag that ends twice": ("qwen3-coder", "<function=move>\n<parameter=path>>a.txt\n</parameter>\n</function>"),
    "the same before a short text": ("glm45", FOUND.format(">a.txt")),
    "a tag of the argument in its value": ("glm45", FOUND.format("a.txt\ntext</arg_key>\n<arg_value>b")),
    "tags that changed places": (
        "glm45",
        "<tool_call>move\n<arg_key>path<arg_value>\n</arg_key>a</arg_value></tool_call>",
    ),
    "a closer without a name": ("minimax-m2", '<invoke name="move"><parameter name="path">a<b</></invoke>'),
    "an argument without text or closer": ("dots", '<invoke name="move"><parameter name="path"></invoke>'),
    "the wrapper's closer in a value": (
        "xml-items",
        '<tool name="move"><arguments><arg name="path">a</arguments></arg></tool>',
    ),
    "the call's closer in a value": (
        "claude-legacy",
        '<function_calls><invoke name="move"><parameter name="path">a</invoke></parameter></function_calls>',
    ),
    "an argument after the call": ("glm47", FOUND.format("a.txt") + "<arg_key>text</arg_key><arg_value>b</arg_value>"),
    "all arguments after it": ("xml-items", '<tool name="move"></tool><arguments><arg name="path">a</arg></arguments>'),
    "an argument without a call": ("minicpm5", 'Yes.\n<param name="path">a.txt</param></function>'),
}


@pytest.mark.parametrize(("dialect", "answer"), FAILING.values(), ids=FAILING)
def test_a_slip_in_markup_is_a_failure(dialect: str, answer: str) -> None:
    tool = slips.tool("move", {"path": "a", "text": "b"})
    result = parse(answer, dialect=dialect, tools=[tool])
    assert not result.calls
    assert result.failures
    assert tuple(coalesce([*parse_stream(answer, dialect=dialect, tools=[tool])])) == result.events


@pytest.mark.parametrize(
    "value", [">=3.11", ">seq\nACGT", "> said", "keys are <arg_key>k</arg_key>, so", "a </arg_key> b"]
)
def test_markup_that_may_be_text_is_text(value: str) -> None:
    tool = slips.tool("move", {"path": "a"})
    (call,) = parse(FOUND.format(value), dialect="glm45", tools=[tool]).calls
    assert call.arguments == {"path": value}


def test_an_opening_marker_that_is_there_twice_is_one() -> None:
    tool = slips.tool("move", {"path": "a"})
    head = '<invoke name="move">'
    call = f'{head}\n{head}<parameter name="path">a</parameter></invoke>'
    answer = f"<function_calls><function_calls>\n{call}</function_calls>"
    result = parse(answer, dialect="claude-legacy", tools=[tool])
    assert [call.arguments for call in result.calls] == [{"path": "a"}]
    assert not result.failures
    assert [notice.kind for notice in result.notices] == ["unclaimed", "unclaimed"]


def test_a_call_that_is_begun_anew_runs_once() -> None:
    tool = slips.tool("move", {"path": "a", "text": "b"})
    begun = '<invoke name="move"><parameter name="path">a</parameter>'
    answer = f'<function_calls>{begun}{begun}<parameter name="text">b</parameter></invoke></function_calls>'
    result = parse(answer, dialect="claude-legacy", tools=[tool])
    assert [call.arguments for call in result.calls] == [{"path": "a", "text": "b"}]
    assert len(result.failures) == 1


def test_closers_that_prose_shows_are_text() -> None:
    shown = 'Close it with </parameter> here.\n```xml\n<parameter name="path">x</parameter>\n</invoke>\n```'
    assert parse(shown, dialect="claude-legacy", tools=[slips.tool("move", {"path": "a"})]).text == shown


@pytest.mark.parametrize("between", [" ", "(", "`", "\n"])
def test_an_element_in_the_value_of_an_unknown_call_does_not_end_the_value(between: str) -> None:
    tools = [slips.tool("write", {"text": ""}), slips.tool("rm", {"p": ""})]
    text = f"<wrte>\n<text>\nI call{between}<text>x</text> <rm>\n<p>\n/\n</p>\n</rm>"
    assert parse(text, dialect="cline", tools=tools).calls == ()
    assert [call.name for call in parse(text[text.index("<rm>") :], dialect="cline", tools=tools).calls] == ["rm"]
