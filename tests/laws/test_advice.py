"""What feedback tells a model to change is true: the call with that change is the one that was meant."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

import toolfmt
from tests import slips
from tests.laws.test_unread import ARGUMENTS, TOOLS, slipped
from toolfmt.correcting import feedback
from toolfmt.parsers.plain_text import plain
from toolfmt.parsers.respelling import PLAINLY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolfmt.dialect.record import Dialect

Apply = Callable[[str, "re.Match[str]"], str]
CHANGES: list[tuple[str, Apply]] = [
    (
        r'write the key "(.+)" instead of "(.+)"',
        lambda text, said: re.sub(rf'"{re.escape(said[2])}"(?=\s*:)', f'"{said[1]}"', text),
    ),
    (
        r"write the attribute (\S+) instead of (\S+)",
        lambda text, said: re.sub(rf"(?<=\s){re.escape(said[2])}(?==)", said[1], text),
    ),
    (
        r"write <(\S+)> instead of <(\S+)>",
        lambda text, said: re.sub(rf"(?<=<)(/?){re.escape(said[2])}(?=[\s>/=])", rf"\g<1>{said[1]}", text),
    ),
    (
        r"write (.+) instead of ['\"](.+)['\"]",
        lambda text, said: re.sub(rf"[<\[]*{re.escape(literal(said[2]))}[>\]]*", lambda _: said[1], text),
    ),
    (PLAINLY, lambda text, _: plain(text)),
    (r"end the call with '(.+)'", lambda text, said: f"{text.rstrip()}{said[1]}"),
    (r"write \{ and \} instead of \{\{ and \}\}", lambda text, _: re.sub(r"([{}])\1", r"\1", text)),
]
"""How each kind of advice is followed; what is left is followed by `repair=True`."""


def literal(shown: str) -> str:
    """Read a text that was shown with escapes."""
    return str(ast.literal_eval(f'"""{shown}"""'))


def advice(result: toolfmt.ParseResult) -> str | None:
    """What the feedback on a failure says to change, if it says so in full."""
    text = feedback(result.failures[0], tools=TOOLS) if result.failures else ""
    found = re.search(r"(?m)^What to change: (.+)\.$", text)
    return None if found is None or " \u2026" in found[1] else found[1]


def changes(answer: str, said: str) -> tuple[str, bool]:
    """Follow the advice; return the text, and whether a part of it is left to `repair=True`."""
    mended = False
    for one in said.split("; "):
        found = ((re.fullmatch(pattern, one), change) for pattern, change in CHANGES)
        follow = next(((match, change) for match, change in found if match is not None), None)
        mended = mended or follow is None
        answer = answer if follow is None else follow[1](answer, follow[0])
    return answer, mended


def broken(text: str) -> Iterator[str]:
    """A call's text with one slip."""
    yield from (answer for _, answer in slipped(text))
    yield re.sub(r'"name"(?=\s*:)', '"tool"', text, count=1)
    yield re.sub(r'"(arguments|parameters|args)"(?=\s*:)', '"params"', text, count=1)
    yield text.replace(' name="', ' id="')
    for mark in re.finditer(r'["}\])]|</[^<>]+>', text):
        yield text[: mark.start()] + text[mark.end() :]


def test_the_change_that_is_advised_gives_the_call(dialect: Dialect[str]) -> None:
    text = slips.written(dialect, [slips.call(dialect, "get_weather", ARGUMENTS)])
    assert text is not None
    for answer in dict.fromkeys(broken(text)):
        followed = answer
        for _ in range(2):  # a failure ends before a damaged closer, whose slip the next one names
            result = toolfmt.parse(followed, dialect=dialect.name, tools=TOOLS)
            said = advice(result)
            if result.calls or said is None:
                break
            changed, mended = changes(followed, said)
            if mended and dialect.traits.strict:
                break  # beside a failure, no call is one there
            followed = followed if mended else changed
            result = toolfmt.parse(followed, dialect=dialect.name, tools=TOOLS, repair=mended)
            if result.calls or advice(result) in {None, said}:
                assert [call.arguments for call in result.calls] == [ARGUMENTS], f"{said}: {answer}"
                break
        else:
            pytest.fail(f"two changes gave no call: {answer}")


ITEMS = (
    '<tool name="pair"><arguments><parameter name="a">1</parameter><parameter name="b">2</parameter></arguments></tool>'
)
HERMES = "<tool_call>%s</tool_call>"
NOTE = '{"name": "note", "arguments": {"text": "a"}}'
NAMED = [
    ("hermes", HERMES % '{"note": {"text": "a"}}', f"write it as {NOTE}"),
    ("hermes", HERMES % NOTE.replace("name", "tool"), 'write the key "name" instead of "tool"'),
    ("xml-items", ITEMS, "write <arg> instead of <parameter>"),
    ("mistral-v3", '[TOOL_CALLS][{name: "note", arguments: {text: "a"}}]', "write keys in double quotes"),
]


@pytest.mark.parametrize(("dialect", "answer", "advice"), NAMED, ids=[advice for *_, advice in NAMED])
def test_the_change_is_named(dialect: str, answer: str, advice: str) -> None:
    tools = [slips.tool("note", {"text": "a"}), slips.tool("pair", {"a": 1, "b": 2})]
    (failure,) = toolfmt.parse(answer, dialect=dialect, tools=tools).failures
    text = feedback(failure, tools=tools)
    assert f"What to change: {advice}.\n" in text
    assert "you wrote '\\n</tool_call>'" not in text


def test_doubled_braces_are_repaired() -> None:
    answer = '<tool_call>{{"name": "note", "arguments": {{"text": "{{a}}"}}}}</tool_call>'
    tools = [slips.tool("note", {"text": "a"})]
    (call,) = toolfmt.parse(answer, dialect="hermes", tools=tools, repair=True).calls
    assert call.arguments == {"text": "{{a}}"}
    assert not toolfmt.parse(answer, dialect="hermes", tools=tools).calls


def test_a_quote_that_is_open_before_the_closer_is_no_cut() -> None:
    answer = '<tool_call>{"name": "note", "arguments": {"text": "a}}</tool_call>'
    for end, reason in ((len(answer), "malformed"), (len(answer) - len("</tool_call>"), "truncated")):
        (failure,) = toolfmt.parse(answer[:end], dialect="hermes").failures
        assert failure.reason == reason


def test_a_duplicate_key_is_shown_where_it_is() -> None:
    answer = '<tool_call>{"name": "note", "arguments": {"text": "a", "text": "b"}}</tool_call>'
    (failure,) = toolfmt.parse(answer, dialect="hermes").failures
    assert "after '" in feedback(failure)
    assert """you wrote ' "b"}}</tool_call>'""" in feedback(failure)
