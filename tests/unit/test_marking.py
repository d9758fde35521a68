"""What a server must keep of each format, and where it must stop."""

from __future__ import annotations

import re

import pytest

from tests import sampling
from toolfmt import ToolInvocation, render_calls, text_dialect
from toolfmt.dialect.syntax import Form, Syntax
from toolfmt.formatters.signatures import markdown_parameters
from toolfmt.lookup.registry import default_registry
from toolfmt.workshop.marking import Markers, markers

DESCRIBED = sampling.names()
CALL = ToolInvocation(name="f", arguments={"a": "b"}, id="call00000", server="s", agent="t")


@pytest.mark.parametrize("name", DESCRIBED)
def test_a_rendered_call_is_its_markers_and_plain_data(name: str) -> None:
    dialect = default_registry().dialect(name)
    assert dialect.syntax is not None
    call = CALL.model_copy(update={"id": None}) if dialect.syntax.forms[0].name_in_id else CALL
    tools = [{"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}]
    text = render_calls([call, call] if dialect.traits.parallel else [call], dialect=name, tools=tools)
    for marker in sorted((*markers(name).keep, *markers(name).stop), key=len, reverse=True):
        text = text.replace(marker, " ")
    data = re.sub(r"</?[af]>", " ", text)  # where the key, or the tool's name, is the element's
    assert not re.search(r"[<|｜▁`~@#\\]|[A-Z]{2,}", data), data


@pytest.mark.parametrize("name", DESCRIBED)
def test_stop_strings_are_those_of_the_description(name: str) -> None:
    syntax = default_registry().dialect(name).syntax
    found = markers(name)
    assert syntax is not None
    assert not set(found.keep) & set(found.stop)
    assert set(found.stop) <= set(syntax.stop) <= {*found.keep, *found.stop}
    assert len(set(found.keep)) == len(found.keep)
    assert all(marker.strip() == marker and marker for marker in found.keep)
    for opener, closer in syntax.reasoning:
        assert {opener.strip(), closer.strip()} - {""} <= set(found.keep)


@pytest.mark.parametrize(
    ("name", "keep"),
    [
        ("mistral-v11", {"[TOOL_CALLS]", "[ARGS]", "[CALL_ID]", "[THINK]", "[/THINK]"}),
        ("kimi-k2", {"<|tool_calls_section_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"}),
        ("deepseek-v3", {"<｜tool▁calls▁begin｜>", "<｜tool▁sep｜>", "```json", "```", "<think>"}),
        ("qwen3-coder", {"<tool_call>", "<function=", "<parameter=", "</parameter>", "</function>"}),
        ("phi4-mini", {"functools"}),
        ("react", {"Action:", "Action Input:"}),
        ("xml-items", {'<tool name="', "</tool>", "<![CDATA[", "]]>"}),
    ],
)
def test_markers_that_servers_are_known_to_drop(name: str, keep: set[str]) -> None:
    assert keep <= set(markers(name).keep)


def test_what_also_closes_reasoning_is_no_stop_string() -> None:
    assert "<|end|>" in markers("solar-open").keep
    assert markers("solar-open").stop == ("<|calls|>",)


def test_punctuation_and_words_beside_a_marker_are_none() -> None:
    assert markers("default-json") == Markers()
    assert "function" not in markers("deepseek-v3").keep


def test_a_format_is_chosen_as_everywhere() -> None:
    assert (
        markers(provider="anthropic") == markers(use_xml=True) == markers("xml-items") == markers(dialect="xml_items")
    )
    own = text_dialect(
        name="own",
        summary="",
        syntax=Syntax(forms=(Form(section="[[DO]]\n{calls}[[/DO]]", call="@{name} {args};"),), stop=("[[END]]",)),
        schema=markdown_parameters,
        manifest="markdown.jinja",
        sources=(),
    )
    assert markers(own) == Markers(keep=("[[DO]]", "[[/DO]]", "@", ";"), stop=("[[END]]",))
