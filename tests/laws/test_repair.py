"""Repair gives the call that was meant, or none: over slips in every format, and over what was only quoted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest

from tests import sampling, slips
from toolfmt import jsontext, parse
from toolfmt.dialect.record import Dialect
from toolfmt.lookup.registry import default_registry
from toolfmt.model import ToolInvocation

DIALECTS = {dialect.name: dialect for dialect in sampling.kinds()}
GIVEN = {"path": "notes/a b.txt", "count": 3, "flag": True, "tags": ["red", "green"]}
VALUES = ("notes/a b.txt", "red", "green")


def _same(one: ToolInvocation, other: ToolInvocation) -> bool:
    return one.name == other.name and jsontext.equal(one.arguments, other.arguments)


def _wrong(dialect: Dialect[str], text: str, meant: list[ToolInvocation]) -> list[ToolInvocation]:
    """The calls that only repair gives, and that nobody meant; it has to say of each that it was mended."""
    tools = [slips.tool(call.name, call.arguments) for call in meant]
    result = parse(text, dialect=dialect, tools=tools, repair=True)
    before = parse(text, dialect=dialect, tools=tools).calls
    new = [call for call in result.calls if not any(_same(call, each) for each in before)]
    assert all(call.certainty == "guessed" for call in new)
    assert not new or any(notice.kind == "repaired" and notice.detail for notice in result.notices)
    return [call for call in new if not any(_same(call, each) for each in meant)]


def _some(found: Iterable[slips.Slip], dialect: Dialect[str]) -> Sequence[slips.Slip]:
    """Every third, from another beginning in each format."""
    return sampling.share([*found], [*DIALECTS].index(dialect.name), 3)


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=[*DIALECTS])
def test_a_mended_call_is_the_one_that_was_meant(dialect: Dialect[str]) -> None:
    meant = [slips.call(dialect, "write", GIVEN), slips.call(dialect, "move", {"path": "notes/a b.txt"})]
    text = slips.written(dialect, meant[: 1 + dialect.traits.parallel])
    assert text is not None
    end = text.find("move") if dialect.traits.parallel else len(text)
    for slip in _some(slips.misspelt(text[:end], VALUES), dialect):
        broken = slip.text + ("" if slip.what == "a cut" else text[end:])
        assert _wrong(dialect, broken, meant) == [], slip.what


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=[*DIALECTS])
def test_what_was_quoted_is_not_mended_into_a_call(dialect: Dialect[str]) -> None:
    inner = slips.call(dialect, "remove", {"path": "/"})
    for quoted in (
        slips.written(dialect, [inner]),
        '{"name": "remove", "arguments": {"path": "/"}}',
        "say \"hi\" or 'x'",
    ):
        outer = slips.call(dialect, "write", {"text": f"{slips.FIRST}{quoted}{slips.LAST}", "count": 3})
        for slip in _some(slips.quoting(dialect, outer), dialect):
            wrong = _wrong(dialect, slip.text, [outer])
            assert wrong == [], slip.what


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=[*DIALECTS])
def test_what_was_cut_off_is_not_mended(dialect: Dialect[str]) -> None:
    """Where the tool would take fewer arguments, a text that ends early is no call with what there is of them."""
    meant = slips.call(dialect, "write", GIVEN)
    text = slips.written(dialect, [meant])
    assert text is not None
    tool = slips.tool("write", meant.arguments)
    tool = tool.model_copy(update={"parameters": {**tool.parameters, "required": []}})
    for end in range(1 + [*DIALECTS].index(dialect.name) % 3, len(text), 1 if sampling.everything else 3):
        result = parse(text[:end], dialect=dialect, tools=[tool], repair=True)
        plain = parse(text[:end], dialect=dialect, tools=[tool])
        assert all(_same(call, meant) for call in result.calls) or result.calls == plain.calls, text[:end]


ANSWERS = {
    "keys without quotes": '{name: "f", arguments: {a: "x", n: 1}}',
    "a comment": '{"name": "f", // the tool\n "arguments": {a: "x", /* how many */ "n": 1}}',
    "a quote": '{"name": "f, "arguments": {"a": "x", "n": 1}}',
    "a quote at the end": '{"name": "f", "arguments": {"n": 1, "a": "x}}',
    "brackets": '{"name": "f", "arguments": {"a": "x", "n": 1',
    "a comma": '{"name": "f", "arguments": {"a": "x" "n": 1}}',
    "a colon": '{"name": "f", "arguments" {"a": "x", "n": 1}}',
    "typographic quotes": "{“name”: “f”, “arguments”: {“a”: “x”, “n”: 1}}",
    "words of Python": "{name: 'f', arguments: {a: 'x', n: 1,}}",
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_json_is_mended(answer: str) -> None:
    meant = slips.call(default_registry().dialect("hermes"), "f", {"a": "x", "n": 1})
    tools = [slips.tool("f", meant.arguments)]
    text = f"Hi.<tool_call>\n{answer}\n</tool_call>"
    assert not parse(text, dialect="hermes", tools=tools).calls
    result = parse(text, dialect="hermes", tools=tools, repair=True)
    assert [_same(call, meant) for call in result.calls] == [True]
    assert result.text == "Hi."


UNCLEAR = {
    "structure in a string": '{"name": "f", "arguments": {"a": "x ,"n": 1"}}',
    "an odd quote": '{"name": "f", "arguments": {"a": "x "y ,"n": 1}}',
    "no arguments": '{"name": "f"',
    "no value": '{"name": "f", "arguments": {"a": , "n": 1}}',
    "no number": '{"name": "f", "arguments": {"a": "x", n: 1.2.3}}',
    "another key": '{"name": "f", "arguments": {"a": "x", m: 1}}',
    "another tool": '{"name": "g", "arguments": {a: "x"}}',
    "a bracket for a quote": '{"name": "f", "arguments": {"a": "x], "n": 1}}</tool_call>',
    "a parenthesis for a quote": '{"name": "f", "arguments": {"a": (x", "n": 1}}</tool_call>',
    "quotes that open nothing": '{"name": "f", "arguments": {"a": "x"] "y", "n": 1}}</tool_call>',
    "an escaped end": '{"name": "f", "arguments": {"n": 1, "a": "x\\"}}</tool_call>',
    "a member that was to come": '{"name": "f", "arguments": {"a": "x", </tool_call>',
    "a cut string": '{"name": "f", "arguments": {"n": 1, "a": "first half of',
    "a cut string before a marker": '{"name": "f", "arguments": {"n": 1, "a": "first half of</tool_call>',
    "a cut call": '{"name": "f", "arguments": {"a": "x"',
    "a cut list": '{"name": "f", "arguments": {"a": ["x", ',
}


@pytest.mark.parametrize("answer", UNCLEAR.values(), ids=UNCLEAR)
def test_what_has_no_one_reading_is_not_mended(answer: str) -> None:
    tools = [slips.tool("f", {"a": "x", "n": 1})]
    result = parse(f"<tool_call>\n{answer}", dialect="hermes", tools=tools, repair=True)
    assert (result.calls, len(result.failures)) == ((), 1)


def test_a_list_that_ends_too_early_is_no_shorter_call() -> None:
    tools = [slips.tool("f", {"a": "x", "n": 1})]
    call = '{"name": "f", "arguments": {"a": "x",%s "n": 1}}'
    for answer in (f"[TOOL_CALLS][{call % ']'}]", f"[TOOL_CALLS][{call % ']'}, {call % ''}]"):
        calls = parse(answer, dialect="mistral-v3", tools=tools, repair=True).calls
        assert all(
            _same(call, slips.call(default_registry().dialect("hermes"), "f", {"a": "x", "n": 1})) for call in calls
        )


def test_a_brace_that_may_have_been_due_earlier_is_not_added() -> None:
    tools = [slips.tool("f", {"a": {}, "n": 1})]
    answer = '<tool_call>{"name": "f", "arguments": {"a": {"b": 1, "c": {"d": 2}, "n": 1}}</tool_call>'
    assert not parse(answer, dialect="hermes", tools=tools, repair=True).calls


TAGGED = (
    "<tool_call>\n<function=f>\n<parameter=a>\nx\n</parameter>\n"
    "<parameter=l>\n[1, 2]\n</parameter>\n</function>\n</tool_call>"
)
SLIPS = {
    "no >": ("<parameter=a>", "<parameter=a"),
    "no <": ("</parameter>\n<", "/parameter>\n<"),
    "no /": ("</parameter>\n</", "<parameter>\n</"),
    "no =": ("<function=f>", "<functionf>"),
    "a letter missing": ("</parameter>\n<", "</paramter>\n<"),
    "a letter too many": ("</parameter>\n</", "</parameters>\n</"),
    "letters that changed places": ("</parameter>\n<", "</paraemter>\n<"),
    "no closing tag": ("</parameter>\n<", "<"),
    "no comma in a list": ("[1, 2]", '["1" "2"]'),
    "a code fence": ("<function=f>", "```xml\n<function=f>"),
}
WHOLE = {
    "attributes": '<function name="f">\n<parameter name="a">\nx\n</parameter>\n</function>\n</tool_call>',
    "elements of the arguments' names": "<function=f>\n<a>\nx\n</a>\n</function>\n</tool_call>",
    "a code fence": "```xml\n<function=f>\n<parameter=a>\nx\n</parameter>\n</function>\n```\n</tool_call>",
}


@pytest.mark.parametrize(("old", "new"), SLIPS.values(), ids=SLIPS)
def test_tags_are_mended(old: str, new: str) -> None:
    given = {"a": "x", "l": ["1", "2"] if "[" in old else [1, 2]}
    text = TAGGED.replace(old, new, 1)
    result = parse(text, dialect="qwen3-coder", tools=[slips.tool("f", given)], repair=True)
    assert [call.arguments for call in result.calls] == [given]
    assert result.text == ""


@pytest.mark.parametrize("body", WHOLE.values(), ids=WHOLE)
def test_all_tags_of_a_call_are_mended(body: str) -> None:
    tools, text = [slips.tool("f", {"a": "x"})], f"<tool_call>\n{body}"
    assert not parse(text, dialect="qwen3-coder", tools=tools).calls
    result = parse(text, dialect="qwen3-coder", tools=tools, repair=True)
    assert [call.arguments for call in result.calls] == [{"a": "x"}]


def test_a_fence_in_an_argument_stays() -> None:
    value = "```py\nf()\n```"
    text = f"<tool_call>\n<function=f>\n<parameter=a>\n{value}\n</parameter>\n</function\n</tool_call>"
    result = parse(text, dialect="qwen3-coder", tools=[slips.tool("f", {"a": "x"})], repair=True)
    assert all(call.arguments == {"a": value} for call in result.calls)


def test_a_tag_of_two_readings_is_not_mended() -> None:
    tools = [slips.tool("f", {"path": "x", "paths": "y"})]
    text = "<tool_call>\n<function=f>\n<parameter=pathz>\nx\n</parameter>\n</function>\n</tool_call>"
    assert not parse(text, dialect="qwen3-coder", tools=tools, repair=True, strict=True).calls
