"""What a model is told about a call that could not be used."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import toolfmt
from tests import sampling, slips
from toolfmt.correcting import ADVICE
from toolfmt.events import CallEnd, CallFailed
from toolfmt.workshop.testing.laws import read

ROOT = Path(__file__).parents[2]
TOOLS = [
    {
        "name": "search",
        "description": "Search {{ the }} web.",
        "parameters": {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]},
    }
]
TEXT_DIALECTS = sampling.kinds()


@pytest.mark.parametrize("dialect", TEXT_DIALECTS, ids=lambda dialect: dialect.name)
def test_every_failure_says_what_to_do_and_shows_a_call_that_reads_back(dialect: toolfmt.Dialect[str]) -> None:
    example = dialect.example(toolfmt.tool(TOOLS[0]))[0]
    for reason in sorted(ADVICE):
        failure = CallFailed(0, '{"name": "search" {{ x }}', reason, "what was wrong", (0, 10))
        text = toolfmt.feedback(failure, dialect=dialect, tools=TOOLS)
        assert ADVICE[reason] in text
        assert text.endswith(example.text), reason
    assert any(isinstance(event, CallEnd) for event in read(dialect, [example.text], [toolfmt.tool(TOOLS[0])]))


def _literal_reasons() -> set[str]:
    """Return the reasons that the package writes as text where it makes a failure."""
    found: set[str] = set()
    for path in Path(toolfmt.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            at = {"Malformed": 0, "CallFailed": 2}.get(called)
            if at is not None and len(node.args) > at and isinstance(reason := node.args[at], ast.Constant):
                found.add(str(reason.value))
    return found


def test_every_reason_is_documented_and_has_advice() -> None:
    golden = {
        line.split()[1]
        for path in (ROOT / "tests" / "golden").rglob("cases.txt")
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.fullmatch(r"failure [a-z_]+", line)
    }
    reasons = ADVICE.keys() - {"no_call", "no_answer"}  # these describe an answer without a failure
    assert golden | _literal_reasons() <= reasons
    page = (ROOT / "docs" / "how-to" / "send-errors-back.md").read_text(encoding="utf-8")
    assert {*re.findall(r"(?m)^\| `(\w+)` \|", page)} == reasons
    assert {*re.findall(r"`(\w+)`", str(CallFailed.__doc__))} >= reasons


SEND = {
    "name": "send",
    "parameters": {
        "type": "object",
        "properties": {
            "to": {"type": "array", "items": {"type": "string"}},
            "subject": {"type": "string"},
            "body": {"type": "string"},
        },
        "required": ["to", "subject", "body"],
    },
}


@pytest.mark.parametrize("validate", [False, True])
@pytest.mark.parametrize(
    ("dialect", "answer"),
    [
        ("hermes", '<tool_call>\n{"name": "send", "arguments": %s}\n</tool_call>'),
        ("llama3-json", '{"name": "send", "parameters": %s}'),
        ("execute-array", '<execute>[{"name": "send", "args": %s}]</execute>'),
        ("mistral-v11", "[TOOL_CALLS]send[ARGS]%s"),
        ("react", "Action: send\nAction Input: %s"),
    ],
)
def test_a_misspelt_argument_hides_no_other_problem_and_has_no_wrong_place(
    dialect: str, answer: str, *, validate: bool
) -> None:
    text = answer % '{"to": "a@b.c", "subject": 5, "bdy": "x"}'
    result = toolfmt.parse(text, dialect=dialect, tools=[SEND], validate=validate)
    assert not result.calls
    (failure,) = result.failures
    assert failure.detail.splitlines() == [
        "no argument is called 'bdy': write 'body'",
        "/to: 'to' must be an array; got the string \"a@b.c\"",
        "/subject: 'subject' must be a string; got 5",
    ]
    said = toolfmt.feedback(failure, tools=[SEND])
    assert all(f"- {line}\n" in said for line in failure.detail.splitlines())
    assert "you wrote '" not in said
    in_pieces = toolfmt.ParseResult(
        tuple(toolfmt.parse_stream(iter(text), dialect=dialect, tools=[SEND], validate=validate))
    )
    assert in_pieces.failures == result.failures


def test_several_misspelt_arguments_are_all_named() -> None:
    text = '<tool_call>{"name": "send", "arguments": {"to": ["a"], "subjct": 5, "bdy": "x"}}</tool_call>'
    (failure,) = toolfmt.parse(text, dialect="hermes", tools=[SEND]).failures
    assert failure.detail.splitlines() == [
        "no argument is called 'subjct': write 'subject'",
        "no argument is called 'bdy': write 'body'",
        "/subject: 'subject' must be a string; got 5",
    ]


@pytest.mark.parametrize(
    ("dialect", "answer", "detail"),
    [
        (
            "glm45",
            "<tool_call>search\n<arg_key>q</arg_key>\n</tool_call>",
            "'<arg_value>' is missing after the argument 'q'",
        ),
        (
            "ling3",
            "<tool_call>search\n<arg_key>n</arg_key>\n<arg_key>q</arg_key>\n<arg_value>x</arg_value>\n</tool_call>",
            "'<arg_value>' is missing after the argument 'n'",
        ),
        ("xml-items", '<tool>\n<arguments><arg name="q">x</arg></arguments></tool>', "'<tool>' does not name the tool"),
        (
            "xml-items",
            '<arguments><arg name="q">x</arg></arguments></tool>',
            "an argument outside a call: the call's opening marker is missing",
        ),
    ],
)
def test_what_is_missing_is_named_as_the_model_wrote_it(dialect: str, answer: str, detail: str) -> None:
    result = toolfmt.parse(answer, dialect=dialect, tools=TOOLS)
    assert not result.calls
    (failure,) = result.failures
    assert failure.detail.partition(", at offset")[0] == detail
    assert detail in toolfmt.feedback(failure, tools=TOOLS)
    in_pieces = toolfmt.ParseResult(tuple(toolfmt.parse_stream(iter(answer), dialect=dialect, tools=TOOLS)))
    assert in_pieces.failures == result.failures


def test_an_unknown_tool_is_answered_with_the_list() -> None:
    result = toolfmt.parse(
        '{"name": "serch", "args": {}}'.replace("args", "arguments"), dialect="openai-json", tools=TOOLS, validate=True
    )
    assert not result.calls
    answer = '<execute>[{"name": "serch", "args": {}}]</execute>'
    (failure,) = toolfmt.parse(answer, dialect="execute-array", tools=TOOLS, validate=True).failures
    text = toolfmt.feedback(failure, dialect="execute-array", tools=TOOLS)
    assert "unknown_tool" in text
    assert "- search: Search {{ the }} web." in text


def test_all_problems_of_the_arguments_are_reported_at_once() -> None:
    answer = '<execute>[{"name": "search", "args": {"q": 1, "n": 2}}]</execute>'
    (failure,) = toolfmt.parse(answer, dialect="execute-array", tools=TOOLS, strict=True).failures
    text = toolfmt.feedback(failure, dialect="execute-array", tools=TOOLS)
    assert "q" in failure.detail
    assert failure.detail in text


def test_each_problem_has_its_line_and_the_example_the_optional_argument_that_was_wrong() -> None:
    days = {"q": {"type": "string"}, "days": {"type": "integer"}}
    tools = [{"name": "search", "parameters": {"type": "object", "properties": days, "required": ["q"]}}]
    answer = '<tool_call>{"name": "search", "arguments": {"q": 1, "days": "two"}}</tool_call>'
    (failure,) = toolfmt.parse(answer, dialect="hermes", tools=tools, validate=True).failures
    text = toolfmt.feedback(failure, dialect="hermes", tools=tools)
    assert '"days": 1' in text
    assert all(f"\n- {problem}\n" in text for problem in failure.detail.split("\n"))


@pytest.mark.parametrize(
    ("dialect", "answer", "reason", "detail"),
    [
        ("hermes", '<tool_call>{"name": 5}</tool_call>', "missing_name", "the tool's name is 5, not a text"),
        (
            "hermes",
            '<tool_call>{"name": "search", "arguments": "Oslo"}</tool_call>',
            "arguments_not_object",
            'the arguments are "Oslo", not an object',
        ),
        (
            "llama3-json",
            '{"name": "search", "parameters": 5}',
            "arguments_not_object",
            "the arguments are 5, not an object",
        ),
        ("pythonic", "[search(q=two)]", "malformed", "'two' is not a literal; write text in quotes"),
        (
            "hermes",
            '<tool_call>search(q="Oslo")</tool_call>',
            "malformed",
            "what follows '<tool_call>' is not a call of this format",
        ),
    ],
)
def test_what_is_wrong_is_named(dialect: str, answer: str, reason: str, detail: str) -> None:
    (failure,) = toolfmt.parse(answer, dialect=dialect, tools=TOOLS).failures
    assert failure.reason == reason
    assert f"({reason}): {detail}" in toolfmt.feedback(failure, tools=TOOLS)


@pytest.mark.parametrize("dialect", TEXT_DIALECTS, ids=lambda dialect: dialect.name)
def test_without_tools_a_made_up_call_is_shown(dialect: toolfmt.Dialect[str]) -> None:
    assert "tool_name" in toolfmt.correcting.no_call_feedback(dialect=dialect)


def test_long_text_of_the_model_is_shortened() -> None:
    failure = CallFailed(0, "x" * 1000, "malformed", "d", (0, 1000))
    text = toolfmt.feedback(failure, dialect="tool-json")
    assert "x" * 300 + " …" in text
    assert "x" * 301 not in text


def test_a_missing_call_is_reported() -> None:
    text = toolfmt.correcting.no_call_feedback("Sure!", dialect="xml-items", tools=TOOLS)
    assert ADVICE["no_call"] in text
    assert '<tool name="search">' in text


@pytest.mark.parametrize(
    ("dialect", "hints"),
    [("xml-cdata", ["&lt;", "&amp;", "<![CDATA["]), ("xml-items", ["&lt;", "&amp;", "<![CDATA["]), ("qwen3-coder", [])],
)
def test_a_broken_call_is_answered_with_how_text_is_protected(dialect: str, hints: list[str]) -> None:
    failure = CallFailed(0, "<tool>", "malformed", "what was wrong", (0, 6))
    text = toolfmt.feedback(failure, dialect=dialect)
    assert [hint for hint in ("&lt;", "&amp;", "<![CDATA[") if hint in text] == hints
    assert "&lt;" not in toolfmt.feedback(CallFailed(0, "", "limit", "too long", (0, 0)), dialect=dialect)


SLIPS = {
    "a comma": (
        "hermes",
        '<tool_call>{"name": "f", "arguments": {"a": "x" "n": 1}}</tool_call>',
        "add the missing comma",
    ),
    "a key": ("hermes", '<tool_call>{"name": "f", "arguments": {a: "x"}}</tool_call>', "write keys in double quotes"),
    "a tag": (
        "qwen3-coder",
        "<tool_call>\n<function=f>\n<parameter=a\nx\n</parameter>\n</function>\n</tool_call>",
        "write <parameter=a> instead of '<parameter=a'",
    ),
    "a code fence": (
        "qwen3-coder",
        "<tool_call>\n```\n<function=f>\n<parameter=a>\nx\n</parameter>\n</function>\n```\n</tool_call>",
        "remove the code fence",
    ),
    "a code fence in the arguments": (
        "xml-items",
        '<tool name="f">\n<arguments>\n```xml\n<arg name="a">x</arg>\n```\n</arguments>\n</tool>',
        "remove the code fence",
    ),
}


def feedback_for(dialect: str, answer: str) -> str:
    """Give what the model is shown for an answer with one failed call."""
    schema = {"type": "object", "properties": {"a": {"type": "string"}, "n": {"type": "integer"}}}
    tools = [{"name": "f", "parameters": schema}]
    (failure,) = toolfmt.parse(answer, dialect=dialect, tools=tools).failures
    return toolfmt.feedback(failure, dialect=dialect, tools=tools)


@pytest.mark.parametrize(("dialect", "answer", "advice"), SLIPS.values(), ids=SLIPS)
def test_the_slip_is_named_and_its_place_quoted(dialect: str, answer: str, advice: str) -> None:
    said = feedback_for(dialect, f"Hello.\n{answer}")
    assert f"What to change: {advice}." in said
    assert "offset" not in said
    assert "you wrote" in said or "is not a call of this format" in said


MISSPELT = {
    "an end in a whole answer": (
        "qwen3-coder",
        "<tool_call>\n<function=f>\n<parameter=a>\nx\n</parameter>\n</functon>\n</tool_call>",
        "write </function> instead of '</functon>'",
    ),
    "an argument's end": (
        "xml-items",
        '<tool name="f">\n<arguments>\n<arg name="a">x</agr>\n</arguments>\n</tool>',
        "write </arg> instead of '</agr>'",
    ),
    "two beginnings": (
        "qwen3-coder",
        "<tool_call>\n<functon=f>\n<paramter=a>\nx\n</parameter>\n</function>\n</tool_call>",
        "write <function=f> instead of '<functon=f>'; write <parameter=a> instead of '<paramter=a>'",
    ),
}


@pytest.mark.parametrize(("dialect", "answer", "advice"), MISSPELT.values(), ids=MISSPELT)
def test_a_misspelt_marker_is_named_and_nothing_else_is_advised(dialect: str, answer: str, advice: str) -> None:
    said = feedback_for(dialect, answer)
    assert f"What to change: {advice}." in said
    assert not any(other in said for other in ("cut off", "shorter", "&lt;", "is not a call of this format"))


@pytest.mark.parametrize("dialect", TEXT_DIALECTS, ids=lambda dialect: dialect.name)
def test_every_closing_tag_of_which_two_letters_are_exchanged_is_named(dialect: toolfmt.Dialect[str]) -> None:
    call = slips.call(dialect, "search", {"q": "bees", "n": 2})
    tools = [slips.tool(call.name, call.arguments)]
    text = slips.written(dialect, [call])
    assert text
    for tag in dict.fromkeys(re.findall(r"</[^<>]{5,}>", text)):
        wrong = tag[:4] + tag[5] + tag[4] + tag[6:]
        if tag[4] == tag[5]:
            continue
        for failure in toolfmt.parse(text.replace(tag, wrong), dialect=dialect, tools=tools).failures:
            if wrong in failure.raw:
                assert f"write {tag} instead of" in toolfmt.feedback(failure, dialect=dialect, tools=tools)


ENDS = {
    "elements": ("xml-items", '<tool name="f">\n<arguments>\n<arg name="a">x</arg>\n</arguments>\n', "'</tool>'"),
    "YAML": ("yaml-xml", "<f>\na: x\n", "'</f>'"),
    "pairs": ("glm45", "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>x</arg_value>\n", "'</tool_call>'"),
}


@pytest.mark.parametrize(("dialect", "answer", "end"), ENDS.values(), ids=ENDS)
def test_a_missing_end_is_named(dialect: str, answer: str, end: str) -> None:
    tools = [{"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}]
    (failure,) = toolfmt.parse(answer, dialect=dialect, tools=tools).failures
    said = toolfmt.feedback(failure, dialect=dialect, tools=tools)
    assert f"end the call with {end}" in said
    assert "cut off" not in said


@pytest.mark.parametrize("answer", ["Action: search\n", "Action: search"])
def test_missing_arguments_are_not_called_cut_off(answer: str) -> None:
    (failure,) = toolfmt.parse(answer, dialect="react", tools=TOOLS).failures
    said = toolfmt.feedback(failure, dialect="react", tools=TOOLS)
    assert "before the call's arguments" in said
    assert ADVICE["missing_arguments"] in said
    (failure,) = toolfmt.parse('Action: search\nAction Input: {"q": "a', dialect="react", tools=TOOLS).failures
    assert ADVICE["truncated"] in toolfmt.feedback(failure, dialect="react", tools=TOOLS)


def test_brackets_that_are_not_closed_before_the_end_are_no_cut() -> None:
    answer = '<tool_call>\n{"name": "search", "arguments": {"q": [["a"}}\n</tool_call>'
    (failure,) = toolfmt.parse(answer, dialect="hermes", tools=TOOLS).failures
    assert "cut off" not in toolfmt.feedback(failure, dialect="hermes", tools=TOOLS)


def test_a_problem_of_the_arguments_as_a_whole_has_no_place() -> None:
    (failure,) = toolfmt.parse(
        '<tool_call>{"name": "search", "arguments": {}}</tool_call>', dialect="hermes", tools=TOOLS, validate=True
    ).failures
    said = toolfmt.feedback(failure, dialect="hermes", tools=TOOLS)
    assert "(invalid_arguments): missing required argument 'q'" in said


@pytest.mark.parametrize(
    "answer",
    [
        {
            "candidates": [
                {
                    "finishReason": "MALFORMED_FUNCTION_CALL",
                    "finishMessage": "Malformed function call: print(default_api.search(q='x'))",
                }
            ]
        },
        {
            "choices": [
                {
                    "finish_reason": "length",
                    "message": {
                        "role": "assistant",
                        "tool_calls": [
                            {"id": "a", "type": "function", "function": {"name": "serch", "arguments": '{"q": "x'}}
                        ],
                    },
                }
            ]
        },
    ],
)
def test_a_failed_call_of_an_api_shows_arguments_and_no_text_format(answer: object) -> None:
    (failure,) = toolfmt.read_answer(answer).failures
    text = toolfmt.feedback(failure, tools=TOOLS)
    assert text.endswith('Correct arguments of search: {"q": "example_q"}')
    assert failure.detail in text
    assert "looks like this" not in toolfmt.feedback(failure)
    assert "<tool_call>" in toolfmt.feedback(failure, tools=TOOLS, dialect="hermes")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('<tool_cal>\n{"name": "search", "arguments": {}}\n</tool_call>', "write <tool_call> instead of '<tool_cal>'"),
        ('Now.\n<toolcall>{"name": "search", "arguments": {}}</toolcall>', "write <tool_call> instead of '<toolcall>'"),
        *(
            (
                f'{begin}{{"name": "search", "arguments": {{}}}}{end}',
                f"write <tool_call> instead of '{begin}'; write </tool_call> instead of '{end}'",
            )
            for begin, end in (("<|tool_call|>", "<|/tool_call|>"), ("< tool_call >", "</ tool_call >"))
        ),
    ],
)
def test_a_misspelt_marker_is_named_by_the_hint(text: str, said: str) -> None:
    result = toolfmt.parse(text, dialect="hermes", tools=TOOLS)
    assert result.hint.startswith(f"a marker is misspelt: {said}")
    assert not toolfmt.parse("Write <tool_cal> first.", dialect="hermes").hint
