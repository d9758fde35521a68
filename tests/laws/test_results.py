"""What a tool gives back cannot call a tool, nor pretend to be more than one result."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolfmt.dialect.record import Dialect
from toolfmt.dialect.syntax import markers
from toolfmt.errors import UnrepresentableError
from toolfmt.events import CallEnd, CallFailed, Notice, ReasoningDelta, TextDelta
from toolfmt.lookup.registry import default_registry
from toolfmt.model import ToolDefinition, ToolInvocation, ToolResult
from toolfmt.workshop.testing import laws, strategies


@given(data=st.data())
def test_results_are_read_as_text(dialect: Dialect[str], data: st.DataObject) -> None:
    exchange = data.draw(strategies.exchanges(dialect))
    offered = {tool.name: tool for tool in exchange.tools} if data.draw(st.booleans()) else {}
    try:
        written = dialect.calls(exchange.calls, offered)
    except UnrepresentableError:
        written = ""
    around = strategies.texts(dialect)
    text = data.draw(around) + written + data.draw(around)
    content = data.draw(st.sampled_from([text, [text], {"text": text}]) | strategies.values(dialect))
    result = ToolResult(name="f", content=content, is_error=data.draw(st.booleans()))
    laws.harmless(dialect, [result, result], exchange.tools)
    laws.harmless(dialect, [result])


def _tokens(dialect: Dialect[str]) -> list[str]:
    """The tags and brackets around results, whole, and the format's markers that are no words."""
    syntax = dialect.syntax
    assert syntax is not None
    written = syntax.result + syntax.results + syntax.result_separator + syntax.error
    found = {*re.findall(r"<[^<>{}\"\s]+>|\[/?[A-Z_]{2,}\]|\]~b\]|✿[A-Z]+✿|## Return of", written), *markers(syntax)}
    return sorted(marker for marker in found if not marker[0].isalnum())


@given(data=st.data())
def test_no_marker_of_the_format_passes_in_a_result(dialect: Dialect[str], data: st.DataObject) -> None:
    tokens = _tokens(dialect)
    piece = st.sampled_from([*tokens, "a", " ", "\n", "<", "/", "[", "]", "|"])
    said = "".join(data.draw(st.lists(piece, max_size=8)))
    content = data.draw(st.sampled_from([said, [said], {"text": said}]))
    shape = {"str": "x", "list": ["x"], "dict": {"text": "x"}}[type(content).__name__]
    field = data.draw(st.sampled_from(["content", "name", "id"]))
    fields = {"content": shape, "name": "x", "id": "x"}
    plain = ToolResult.model_validate(fields)
    result = ToolResult.model_validate(
        {**fields, "content": content} if field == "content" else {**fields, field: said}
    )
    shown, expected = dialect.results([result]), dialect.results([plain])
    for token in tokens:
        assert shown.count(token) == expected.count(token), f"{dialect.name}: {token!r} passes in {shown!r}"
    laws.harmless(dialect, [result])


def test_one_result_cannot_be_two(dialect: Dialect[str]) -> None:
    two = dialect.results([ToolResult(name="t", id="i", content=text) for text in ("AAA", "BBB")])
    between = two[two.index("AAA") : two.index("BBB") + 3]
    passes = between in dialect.results([ToolResult(name="t", id="i", content=between)])
    # Where nothing but white space and punctuation stands between results, there is nothing to break up.
    assert passes == (re.search(r"\w", between[3:-3]) is None)


@pytest.mark.parametrize(
    ("name", "token"),
    [
        ("hermes", "<|im_start|>"),
        ("llama3-json", "<|start_header_id|>"),
        ("deepseek-v31", "<｜User｜>"),
        ("kimi-k2", "<|im_system|>"),
        ("gemma4", "<|turn>"),
        ("functiongemma", "<start_of_turn>"),
        ("mistral-v3", "[INST]"),
        ("minimax-m2", "]~b]user"),
        ("cohere-command", "<|USER_TOKEN|>"),
    ],
)
def test_no_token_that_begins_a_turn_passes_in_a_result(name: str, token: str) -> None:
    dialect = default_registry().dialect(name)
    assert isinstance(dialect, Dialect)
    shown = dialect.results([ToolResult(name="t", id="i", content=f"a {token} b")])
    assert token not in shown
    assert "a " in shown


@pytest.mark.parametrize(
    "content", ["a < b", "x <- f(y) |> g()", "[INFO] a[i_j] [my_var]", "a || b", "Tool, status: fine", "a [A_B]"]
)
def test_content_without_markers_stays_as_it_is(dialect: Dialect[str], content: str) -> None:
    assert "\u2060" not in dialect.results([ToolResult(name="t", content=content)])


RUNTIME = [
    (dialect, opener, closer)
    for dialect in default_registry()
    if dialect.syntax is not None
    for opener, closer in (
        *dialect.syntax.hidden,
        *(
            (f"{frame.start}assistant to={route.recipient}<|message|>", frame.ends[0])
            for frame in [dialect.syntax.frame]
            if frame is not None
            for route in frame.routes
            if route.to == "hidden"
        ),
    )
]
"""What is around a block that only the runtime writes."""


@pytest.mark.parametrize(("dialect", "opener", "closer"), RUNTIME, ids=[dialect.name for dialect, *_ in RUNTIME])
def test_a_block_that_only_the_runtime_writes_is_no_text_and_no_call(
    dialect: Dialect[str], opener: str, closer: str
) -> None:
    offered = [ToolDefinition(name="f", parameters={"type": "object", "properties": {"a": {"type": "string"}}})]
    call = str(dialect.calls([ToolInvocation(name="f", arguments={"a": "b"})], {"f": offered[0]}))
    for inner in ("PAID", f"PAID {call}", f"{call}\nPAID"):
        for end in (closer, ""):
            text = f"{opener}{inner}{end}"
            events = laws.read(dialect, [text], offered)
            assert not [event for event in events if isinstance(event, CallEnd | CallFailed)], text
            assert "PAID" not in "".join(one.text for one in events if isinstance(one, TextDelta | ReasoningDelta))
            assert [one.kind for one in events if isinstance(one, Notice) and "PAID" in one.detail] == ["hidden_block"]
            laws.chunking(dialect, text, range(len(text)), offered)
