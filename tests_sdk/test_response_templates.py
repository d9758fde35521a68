"""What transformers reads with a response template, the dialect of that template reads too."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from shapes import TEMPLATES, TEXTS
from transformers.cli.serving.utils import _RESPONSE_TEMPLATE_FALLBACKS
from transformers.utils.chat_parsing import parse_response
from transformers.utils.chat_parsing.response_templates import load_response_template

import toolfmt
from toolfmt import ToolDefinition, ToolInvocation, jsontext

if TYPE_CHECKING:
    from toolfmt import Dialect

WEATHER = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer"},
        "share": {"type": "number"},
        "exact": {"type": "boolean"},
        "note": {"type": "string"},
        "o": {"type": "object"},
        "l": {"type": "array"},
    },
}
TOOLS = tuple(ToolDefinition(name=name, parameters=WEATHER) for name in ("weather", "run"))
DIALECTS = {name: toolfmt.response_dialect(template, name=name) for name, template in TEMPLATES.items()}
BODIES = [(name, text) for name, texts in TEXTS.items() for text in texts]


def theirs(shape: str, text: str, tools: tuple[ToolDefinition, ...]) -> tuple[str, str, list[Any]]:
    """What transformers reads: text, reasoning, calls."""
    given: list[Any] = [
        {"type": "function", "function": {"name": one.name, "parameters": one.parameters}} for one in tools
    ]
    answer = parse_response(text, TEMPLATES[shape], prefix="", tools=given or None)
    reasoning = answer.get("thinking") or answer.get("reasoning_content") or ""
    calls = [(call["function"]["name"], call["function"]["arguments"]) for call in answer.get("tool_calls", [])]
    return (answer.get("content") or "").strip(), reasoning.strip(), calls


def ours(dialect: Dialect[str], text: str, tools: tuple[ToolDefinition, ...]) -> tuple[str, str, list[Any]]:
    """What the dialect reads."""
    found = toolfmt.parse(text, dialect=dialect, tools=tools)
    assert not found.failures
    return found.text.strip(), found.reasoning.strip(), [(call.name, call.arguments) for call in found.calls]


def same(one: tuple[str, str, list[Any]], other: tuple[str, str, list[Any]]) -> bool:
    """Whether two answers are the same, values type for type."""
    return one[:2] == other[:2] and jsontext.equal([list(c) for c in one[2]], [list(c) for c in other[2]])


@pytest.mark.parametrize("tools", [TOOLS, ()], ids=["tools", "no-tools"])
@pytest.mark.parametrize(("shape", "text"), BODIES)
def test_the_same_answer_is_read(shape: str, text: str, tools: tuple[ToolDefinition, ...]) -> None:
    expected = theirs(shape, text, tools)
    found = ours(DIALECTS[shape], text, tools)
    assert same(found, expected), (found, expected)


PLAIN = (
    st.text("abc XYZ.,éß漢0-", min_size=1, max_size=12)
    .map(str.strip)
    .filter(lambda text: not text.lstrip("-")[:1].isdigit())
)
ARGUMENTS = st.fixed_dictionaries(
    {},
    optional={
        "city": PLAIN.filter(bool),
        "days": st.integers(-(10**12), 10**12),
        "share": st.floats(allow_nan=False, allow_infinity=False, width=16),
        "exact": st.booleans(),
        "o": st.dictionaries(st.sampled_from(["a", "b"]), st.lists(st.integers() | PLAIN.filter(bool), max_size=2)),
        "l": st.lists(st.integers() | st.none() | st.booleans(), max_size=3),
    },
)


@given(data=st.data())
@pytest.mark.parametrize("shape", TEMPLATES)
def test_what_the_dialect_writes_they_read(shape: str, data: st.DataObject) -> None:
    dialect = DIALECTS[shape]
    most = 3 if dialect.traits.parallel else 1
    names = st.sampled_from([tool.name for tool in TOOLS])
    drawn = data.draw(st.lists(st.builds(ToolInvocation, name=names, arguments=ARGUMENTS), min_size=1, max_size=most))
    written = toolfmt.render_calls(drawn, dialect=dialect, tools=TOOLS)
    assume(all(json.loads(json.dumps(call.arguments)) == call.arguments for call in drawn))
    start = "</think>" if dialect.syntax is not None and dialect.syntax.starts_in_reasoning else ""
    calls = theirs(shape, start + written, TOOLS)[2]
    assert jsontext.equal([list(call) for call in calls], [[call.name, call.arguments] for call in drawn]), written


HARD = [
    (
        "json-tags",
        '<tool_call>{"name": "run", "arguments": {"note": "a </tool_call> b"}}</tool_call>',
        "a </tool_call> b",
    ),
    ("channels", '<|channel|>commentary to=functions.run<|message|>{"note": "<|call|>"}<|call|>', "<|call|>"),
    ("actions", '<|START_ACTION|>[{"tool_name": "run", "parameters": {"note": "<|END_ACTION|>"}}]<|END_ACTION|>', ""),
    ("brackets", '[TOOL_CALLS]run[ARGS]{"note": "see </s> and [TOOL_CALLS]"}</s>', "see </s> and [TOOL_CALLS]"),
    ("literals", '<|tool_call>call:run{note:<|"|>x <tool_call|> y<|"|>}<tool_call|>', "x <tool_call|> y"),
    (
        "parameters",
        "<tool_call>\n<function=run>\n<parameter=note>\na </parameter> b\n</parameter>\n</function>\n</tool_call>",
        "a </parameter> b",
    ),
    (
        "parameters",
        "<tool_call>\n<function=run>\n<parameter=note>\n    indented\n</parameter>\n</function>\n</tool_call>",
        "    indented",
    ),
    ("parameters", "<tool_call>\n<function=run>\n<parameter=note>\n42\n</parameter>\n</function>\n</tool_call>", "42"),
    (
        "recipients",
        '<atem:invoke name="run"><atem:parameter name="note">a</atem:invoke>b</atem:parameter></atem:invoke>',
        "",
    ),
]


@pytest.mark.parametrize(("shape", "text", "note"), HARD)
def test_where_a_marker_in_a_value_breaks_theirs_ours_stays_right(shape: str, text: str, note: str) -> None:
    note = note or {"actions": "<|END_ACTION|>", "recipients": "a</atem:invoke>b"}[shape]
    wanted = [["run", {"note": note}]]
    assert [list(call) for call in ours(DIALECTS[shape], text, TOOLS)[2]] == wanted
    try:
        read = [list(call) for call in theirs(shape, text, TOOLS)[2]]
    except ValueError:
        return
    assert not jsontext.equal(read, wanted), "they read it now: move it to the texts that both read"


@pytest.mark.parametrize(("shape", "text"), BODIES)
def test_a_cut_text_never_gives_a_call_that_the_whole_does_not(shape: str, text: str) -> None:
    """Theirs raises for some of these texts; ours fails the call alone, and what came before it stands."""
    whole = ours(DIALECTS[shape], text, TOOLS)[2]
    for at in range(len(text)):
        found = toolfmt.parse(text[:at], dialect=DIALECTS[shape], tools=TOOLS)
        calls = [(call.name, call.arguments) for call in found.calls]
        in_reasoning = any(notice.kind == "open_reasoning" for notice in found.notices)
        assert in_reasoning or jsontext.equal([list(c) for c in calls], [list(c) for c in whole[: len(calls)]]), text[
            :at
        ]


def test_theirs_raises_for_a_cut_call() -> None:
    text = '<tool_call>{"name": "run", "arguments": {"note": "x'
    with pytest.raises(ValueError, match="could not parse"):
        theirs("json-tags", text, TOOLS)
    found = toolfmt.parse(text, dialect=DIALECTS["json-tags"], tools=TOOLS)
    assert [failure.reason for failure in found.failures] == ["truncated"]


@given(data=st.data())
@pytest.mark.parametrize("shape", TEMPLATES)
def test_what_they_refuse_we_refuse(shape: str, data: st.DataObject) -> None:
    """A field of a template is spoilt; a template may also be one that only they accept."""
    template = json.loads(json.dumps(TEMPLATES[shape]))
    name = data.draw(st.sampled_from(sorted(template["fields"])))
    key = data.draw(
        st.sampled_from(["open", "close", "open_pattern", "content", "join", "transform_each", "x", "close_pattern"])
    )
    value = data.draw(st.sampled_from(["", [], 1, None, True, "(", "x(?P<y>z)", "<a>", ["<a>", 1], "json"]))
    template["fields"][name][key] = value
    try:
        load_response_template(template)
    except (ValueError, TypeError):
        with pytest.raises(toolfmt.errors.ResponseTemplateError):
            toolfmt.response_dialect(template)


@pytest.mark.parametrize(
    ("shape", "prefix", "text"),
    [
        ("json-tags", "<|im_start|>assistant\n<think>\n", "Hm.\n</think>\n\nHello.<|im_end|>"),
        ("json-tags", "<|im_start|>assistant\n<think>\n\n</think>\n\n", "Hello.<|im_end|>"),
        ("literals", "<|turn>model\n<|channel>thought\n", "Still thinking<channel|>Done<turn|>"),
        ("actions", "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|><|START_THINKING|>", "Hm.<|END_THINKING|>"),
        ("channels", "<|start|>assistant<|channel|>analysis<|message|>", "Hm.<|end|><|start|>assistant"),
    ],
)
def test_where_the_prompt_begins_the_answer(shape: str, prefix: str, text: str) -> None:
    answer = parse_response(text, TEMPLATES[shape], prefix=prefix)
    found = toolfmt.parse(text, dialect=DIALECTS[shape], generation_prompt=prefix)
    assert found.reasoning.strip() == answer.get("thinking", "")
    assert found.text.strip() == (answer.get("content") or "")
    assert not found.notices


def test_the_templates_that_transformers_itself_has_are_read() -> None:
    templates = list(_RESPONSE_TEMPLATE_FALLBACKS.values())
    assert templates
    for template in templates:
        dialect = toolfmt.response_dialect(template)
        call = ToolInvocation(name="weather", arguments={"city": "Paris"})
        written = toolfmt.render_calls([call], dialect=dialect, tools=TOOLS)
        (read,) = parse_response(written, template, prefix="")["tool_calls"]
        assert read["function"] == {"name": "weather", "arguments": {"city": "Paris"}}
