"""What is told of calls written as elements: where a slip stands, and why a call fails."""

from __future__ import annotations

import pytest

import toolfmt

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


def test_a_decision_without_an_answer_is_told_that_one_is_due() -> None:
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
