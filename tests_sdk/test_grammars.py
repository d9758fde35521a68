"""Grammars as llguidance reads them: what formats write is accepted, and whatever it lets through are valid calls."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import llguidance
import pytest

from toolfmt import ToolDefinition, default_registry, grammar, parse, render_calls
from toolfmt.errors import SchemaError

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "grammars"))
from grammar_samples import TOOLS, UNDESCRIBED, broken, written

TOKENS = llguidance.LLTokenizer("byte")
REGISTRY = default_registry()
FORMATS = [name for name in REGISTRY.names() if name != UNDESCRIBED]
NICE = frozenset(b'<>/"}])\n,:=| abtk')
CLOSERS = frozenset(b'"}])<>/')


def matcher(text: str) -> llguidance.LLMatcher:
    found = llguidance.LLMatcher(TOKENS, text)
    assert not found.is_error(), found.get_error()
    return found


def accepts(text: str, answer: str) -> bool:
    found = matcher(text)
    tokens = TOKENS.tokenize_bytes(answer.encode())
    return found.try_consume_tokens(tokens) == len(tokens) and found.is_accepting()


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_written_is_accepted(name: str) -> None:
    dialect = REGISTRY.dialect(name)
    texts = list(written(dialect))
    free, must = str(grammar(name, TOOLS)), str(grammar(name, TOOLS, choice="required"))
    for text in texts:
        assert accepts(free, text), text
        assert accepts(must, text), text
        if dialect.traits.text_around:
            assert accepts(free, f"Let me see.\n{text}"), text
    for text in broken(texts):
        assert not accepts(must, text), text


def walk(text: str, seed: int) -> str | None:
    """An answer along the mask, by chance; None where it goes on too long."""
    found, chance, out = matcher(text), random.Random(seed), bytearray()  # noqa: S311 - no secret
    while len(out) < 1_200:
        mask = found.compute_bitmask()
        able = [byte for byte in range(256) if mask[byte // 8] >> (byte % 8) & 1]
        if found.is_accepting() and (not able or chance.random() < 0.3):
            return out.decode()
        wanted = CLOSERS if len(out) > 300 else NICE if chance.random() < 0.75 else frozenset(able)
        byte = chance.choice([one for one in able if one in wanted] or able)
        assert found.consume_token(byte)
        out.append(byte)
    return None


@pytest.mark.parametrize("name", FORMATS)
def test_whatever_it_lets_through_is_a_valid_call(name: str) -> None:
    text = str(grammar(name, TOOLS, choice="required"))
    for seed in range(3):
        answer = walk(text, seed)
        if answer is None:
            continue
        found = parse(answer, dialect=name, tools=TOOLS, validate=True)
        assert found.calls, answer
        assert not found.failures, answer
        assert not found.text.strip(), answer


STRINGS = {"type": "object", "additionalProperties": {"type": "string"}}
NODE = {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/node"}}}}


def test_texts_in_lists_without_end_are_one_lexeme() -> None:
    tool = ToolDefinition(
        name="f", parameters={"type": "object", "properties": {"a": STRINGS, "b": {"type": "string"}}}
    )
    calls = [{"name": "f", "arguments": {"a": {"x": "y", "z": "<|"}, "b": "q"}}]
    text = str(grammar("gemma4", [tool], choice="required"))
    assert accepts(text, render_calls(calls, dialect="gemma4", tools=[tool]))
    assert not accepts(text, render_calls(calls, dialect="gemma4", tools=[tool]).replace("z:", "z"))


@pytest.mark.parametrize("name", FORMATS)
def test_what_cannot_be_distinguished_is_refused_at_once(name: str) -> None:
    tree = {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "integer"}, {"type": "null"}]}
    tools = [
        ToolDefinition(name="f"),
        ToolDefinition(
            name="g",
            parameters={
                "type": "object",
                "properties": {"tree": tree, "day": {"type": "string"}},
                "$defs": {"node": NODE},
            },
        ),
    ]
    try:
        matcher(str(grammar(name, tools)))
    except SchemaError as error:
        assert "target gbnf" in str(error)  # noqa: PT017 - or there is a grammar


@pytest.mark.parametrize("name", ["claude-legacy", "hy-v3", "xml-items", "qwen3-coder"])
def test_a_member_that_is_left_out_before_one_that_holds_itself(name: str) -> None:
    properties = {"k": {"type": "integer"}, "a": {"$ref": "#/$defs/node"}}
    tool = ToolDefinition(name="f", parameters={"type": "object", "properties": properties, "$defs": {"node": NODE}})
    text = str(grammar(name, [tool], choice="required"))
    for arguments in ({"a": {"kids": [{}]}}, {"k": 1, "a": {}}, {"k": 1}):
        written = render_calls([{"name": "f", "arguments": arguments}], dialect=name, tools=[tool])
        assert accepts(text, written), written


LEAF = {
    "type": "object",
    "properties": {"value": {"type": "integer"}, "next": {"$ref": "#/$defs/leaf"}},
    "required": ["value"],
}
CHAIN = ToolDefinition(
    name="write",
    parameters={"type": "object", "properties": {"root": {"$ref": "#/$defs/leaf"}}, "$defs": {"leaf": LEAF}},
)


@pytest.mark.parametrize("name", ["cline", "morph-xml", "xml-cdata", "cohere-xml", "minimax-m3"])
def test_children_that_hold_themselves(name: str) -> None:
    calls = [{"name": "write", "arguments": {"root": {"value": 1, "next": {"value": 2}}}}]
    assert accepts(str(grammar(name, [CHAIN], choice="required")), render_calls(calls, dialect=name, tools=[CHAIN]))


TEXT = {"type": "string"}
WRITE = ToolDefinition(
    name="write",
    parameters={"type": "object", "properties": {"path": TEXT, "content": TEXT}, "required": ["path", "content"]},
)
RAW = {
    "qwen3-coder": "a\n</parameter>\n<parameter b",
    "seed-oss": "a</parameter>\n<parameter>b",
    "minimax-m2": "a</parameter>\n<parameter names",
    "glm45": "a</arg_value>\n<arg_key b",
    "cline": "a\n</content>\n<b>",
}


@pytest.mark.parametrize("name", RAW)
def test_raw_text_ends_where_the_parser_ends_it(name: str) -> None:
    text = render_calls(
        [{"name": "write", "arguments": {"path": "p", "content": "a < b, <p>"}}], dialect=name, tools=[WRITE]
    )
    made = str(grammar(name, [WRITE], choice="required"))
    assert accepts(made, text)
    assert not accepts(made, text.replace("a < b, <p>", RAW[name]))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("claude-legacy", '<invoke namespace="x"> hi'),
        ("minimax-m2", '<invoke names="x"> hi'),
        ("deepseek-v32", '<｜DSML｜invoke names="x"> hi'),
        ("morph-xml", '<write path="x"/>'),
    ],
)
def test_text_holds_nothing_that_is_read_as_a_broken_call(name: str, text: str) -> None:
    found = parse(text, dialect=name, tools=[WRITE])
    assert found.calls or found.failures
    for choice in ("none", "auto"):
        assert not accepts(str(grammar(name, [WRITE], choice=choice)), text)


@pytest.mark.parametrize("name", ["hermes", "mistral-v11", "gemma4", "qwen3-coder", "glm45", "pythonic", "morph-xml"])
def test_members_that_the_schema_allows_are_allowed_or_reported(name: str) -> None:
    tool = ToolDefinition(
        name="f", parameters={"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": True}
    )
    made = grammar(name, [tool], choice="required")
    further = [{"name": "f", "arguments": {"a": 1, "zz": "q"}}]
    reported = any("members that the schema does not name" in line for line in made.narrowed)
    assert accepts(str(made), render_calls([{"name": "f", "arguments": {"a": 1}}], dialect=name, tools=[tool]))
    assert accepts(str(made), render_calls(further, dialect=name, tools=[tool])) != reported
