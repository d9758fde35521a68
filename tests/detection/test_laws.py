"""The laws of parsers, for the one that detects: any cuts, nothing lost or raised, every dialect's calls found."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import toolfmt
from tests import sampling
from tests.detection.plain import TOOLS
from tests.detection.recorded import calls
from toolfmt.detection import DETECTED, DetectingParser
from toolfmt.events import coalesce
from toolfmt.lookup.registry import default_registry
from toolfmt.model import ToolInvocation

WORDS = st.sampled_from(
    ["Paris", "a b", 'x "q" y', "<b>&</b>", "{1}", "é—ü", "</think>", "[f(x=1)]", "line\nline", "```py\nx\n```", "'"]
)
INVOCATION = st.one_of(
    st.builds(
        lambda city, days: ToolInvocation(name="get_weather", arguments={"city": city, "days": days}),
        WORDS,
        st.integers(-9, 9),
    ),
    st.builds(
        lambda path, content: ToolInvocation(name="write_file", arguments={"path": path, "content": content}),
        st.just("/a"),
        WORDS,
    ),
)
BEFORE = st.sampled_from(["", "Let me look.\n", "I use `x` for that:\n\n", "```py\nprint(1)\n```\nNow:\n"])
PIECES = st.lists(
    st.sampled_from(
        [
            "<tool_call>",
            "</tool_call>",
            '{"name": "f"',
            ', "arguments": {}}',
            "<think>",
            "</think>",
            "[TOOL_CALLS]",
            "\n",
            "```",
            "`",
            '"',
            "<function=f>",
            "<invoke ",
            'name="f">',
            "<|channel|>",
            "analysis<|message|>",
            "<|end|>",
            " ",
            "get_weather",
            "<get_weather>",
            "[get_weather(",
            "city='x')]",
            "Action: ",
            "Thought: ",
            "text",
            "<|im_end|>",
            "[ARGS]",
            '{"city": "x"}',
            "{",
            "}",
            "[",
            "]",
            "<tools>",
            "# Tools\n",
            '"""',
            "    ",
            "> ",
            "all\n",
            ">>>",
        ]
    ),
    max_size=14,
)
KNOWN_TIES = {"glm4-0414": {"functionary-v32"}, "morph-xml": {"cline"}, "yaml-xml": {"cline"}, "qwen25-coder": {""}}
"""Of these, the first call may say nothing that tells them from another; `<tools>` holds definitions elsewhere."""


@pytest.mark.parametrize("name", sampling.names())
@settings(max_examples=8)
@given(made=st.lists(INVOCATION, min_size=1, max_size=2), before=BEFORE)
def test_the_calls_of_every_dialect_are_read(name: str, made: list[ToolInvocation], before: str) -> None:
    traits = default_registry().dialect(name).traits
    try:
        written = toolfmt.render_calls(made if traits.parallel else made[:1], dialect=name, tools=TOOLS)
    except toolfmt.errors.UnrepresentableError:
        return
    text = before + written if traits.text_around else written
    own = toolfmt.parse(text, dialect=name, tools=TOOLS)
    found = toolfmt.parse(text, dialect="auto", tools=TOOLS)
    assert calls(found) == calls(own) or found.dialect in KNOWN_TIES.get(name, ())


def read(pieces: list[str], **options: Any) -> list[toolfmt.Event]:
    return coalesce(list(toolfmt.parse_stream(pieces, dialect="auto", **options)))


@given(PIECES, st.data(), st.booleans(), st.sampled_from([TOOLS, None]))
def test_cuts_change_nothing(pieces: list[str], data: st.DataObject, thinking: bool, tools: object) -> None:  # noqa: FBT001
    text = "".join(pieces)
    options = {"tools": tools, "reasoning_open": thinking}
    whole = read([text], **options)
    assert read(list(text), **options) == whole
    assert list(toolfmt.parse(text, dialect="auto", tools=tools, reasoning_open=thinking).events) == whole
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=4)))
    assert read([text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)], **options) == whole


@given(PIECES)
def test_text_that_no_dialect_claims_is_whole(pieces: list[str]) -> None:
    text = "".join(pieces)
    result = toolfmt.parse(text, dialect="auto")
    if not result.dialect and not result.reasoning and "think>" not in text:
        assert result.text == text


@given(st.text(max_size=80))
def test_any_text_is_read(text: str) -> None:
    assert toolfmt.parse(text, dialect="auto").dialect == "" or toolfmt.detect(text).dialect
    assert toolfmt.detect(text) == (toolfmt.parse(text, dialect="auto").detection or None)


@given(PIECES)
def test_what_follows_the_choice_is_the_dialects_own(pieces: list[str]) -> None:
    text = "".join(pieces)
    for before in ("", "Let me look.\n"):
        for name in ("hermes", "qwen3-coder", "mistral-v11"):
            written = toolfmt.render_calls([ToolInvocation(name="get_weather", arguments={"city": "x"})], dialect=name)
            answer = f"{before}{written}{text}"
            auto = toolfmt.parse(answer, dialect="auto", tools=TOOLS)
            own = toolfmt.parse(answer, dialect=auto.dialect, tools=TOOLS)
            assert coalesce([*filter(_is_read, auto.events)]) == [*filter(_is_read, own.events)]


def _is_read(event: toolfmt.Event) -> bool:
    """Whether an event neither names the dialect nor reports a call that was not read."""
    if isinstance(event, toolfmt.CallFailed):
        return event.reason != "unread_call"
    return not isinstance(event, toolfmt.Notice) or event.kind not in {DETECTED, "unread_call"}


def test_nothing_of_the_detector_is_left_once_it_has_decided() -> None:
    parser = toolfmt.open_parser(dialect="auto")
    assert isinstance(parser, DetectingParser)
    before = parser.feed
    parser.feed('Hi.\n<tool_call>\n{"name": "f", ')
    assert parser.detection.dialect
    assert parser.feed != before
    assert getattr(parser.feed, "__self__", parser) is not parser
    assert calls(toolfmt.ParseResult(tuple(parser.feed('"arguments": {}}\n</tool_call>') + parser.close())))


def test_reasoning_is_reported_before_the_dialect_is_known() -> None:
    parser = toolfmt.open_parser(dialect="auto")
    assert parser.feed("<think>\nHm, that is") == [toolfmt.ReasoningDelta("Hm, that is", 8)]
    assert parser.feed(" odd.\n</think>\n\nSure, ") == [
        toolfmt.ReasoningDelta(" odd.", 19),
        toolfmt.TextDelta("Sure,", 35),
    ]
    assert parser.close() == [toolfmt.TextDelta(" ", 40)]


def test_text_is_reported_at_once() -> None:
    parser = toolfmt.open_parser(dialect="auto", tools=TOOLS)
    assert parser.feed("a < b and c") == [toolfmt.TextDelta("a < b and c", 0)]
    assert parser.feed(" <tool") == []
    assert parser.feed("s are") == [toolfmt.TextDelta(" <tools are", 11)]


@pytest.mark.parametrize(
    "unit",
    [
        "a ",
        " ",
        "\n",
        "`",
        "```\nx\n",
        "<",
        "<tool_call>",
        "<tool ",
        '{"name": 1}\n',
        '{"name": "',
        "[f(",
        "<think>",
        "<|im_end|>",
        '"""',
        "get_weather\n",
        "Action: f\n",
        "<get_weather>",
        '<invoke name="f">',
        "[TOOL_CALLS]",
    ],
)
def test_the_work_grows_with_the_text(unit: str) -> None:
    def work(length: int) -> int:
        text, steps = (unit * length)[:length], 0

        def count(_frame: object, event: str, _argument: object) -> None:
            nonlocal steps
            steps += event in {"call", "c_call"}

        parser = toolfmt.open_parser(dialect="auto", tools=TOOLS)
        sys.setprofile(count)
        try:
            for char in text:
                parser.feed(char)
            parser.close()
        finally:
            sys.setprofile(None)
        return steps

    work(100)
    assert work(2400) - work(1200) < 1.5 * (work(1200) - work(0)) + 200
