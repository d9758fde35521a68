"""What every format writes, its grammar accepts; what is broken it refuses: GBNF and regular expressions."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
import regex
from gbnf_matcher import Gbnf
from grammar_samples import CALLS, TOOLS, UNDESCRIBED, broken, written

from tests import sampling
from toolfmt import ToolDefinition, default_registry, grammar, parse, render_calls
from toolfmt.errors import SchemaError, UnrepresentableError

FORMATS = [name for name in sampling.names() if name != UNDESCRIBED]
KINDS = [dialect.name for dialect in sampling.kinds() if dialect.name != UNDESCRIBED]
REGISTRY = default_registry()
LARGE = 30_000
"""Characters of a regular expression."""


@pytest.fixture(autouse=True)
def _deep() -> Any:
    """An automaton's rules call one another once per character."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    yield
    sys.setrecursionlimit(limit)


def test_one_format_has_none() -> None:
    with pytest.raises(UnrepresentableError):
        grammar(UNDESCRIBED, TOOLS, target="gbnf")


@pytest.mark.parametrize("name", FORMATS)
def test_gbnf(name: str) -> None:
    texts = list(written(REGISTRY.dialect(name)))
    must = Gbnf(str(grammar(name, TOOLS, choice="required", target="gbnf")))
    for text in texts[:3]:
        assert must.fits(text), text
    for text in broken(texts)[2:5]:
        assert not must.fits(text), text


@pytest.mark.parametrize("name", KINDS)
def test_regular_expression(name: str) -> None:
    texts = list(written(REGISTRY.dialect(name)))
    try:
        text = str(grammar(name, TOOLS, choice="required", target="regex"))
        if len(text) > LARGE:  # takes `regex` seconds to compile: one tool's is enough
            text, texts = str(grammar(name, TOOLS[:1], choice="required", target="regex")), texts[:2]
        pattern = regex.compile(text)
    except SchemaError as error:
        assert "too long" in str(error)  # noqa: PT017 - one that grows too long is refused with that reason
        return
    for text in texts:
        assert pattern.fullmatch(text), text
    for text in broken(texts):
        assert not pattern.fullmatch(text), text


@pytest.mark.parametrize("name", ["qwen3-coder", "glm45", "minimax-m2", "deepseek-v32"])
def test_a_closer_inside_raw_text(name: str) -> None:
    made = Gbnf(str(grammar(name, TOOLS, target="gbnf")))
    for value in ("a </parameter> b", "a </arg_value> b", "<", "x\n</function>", "<invoke", "\n\n"):
        calls = [{"name": "get_weather", "arguments": {"city": value, "days": 2}}]
        assert made.fits(render_calls(calls, dialect=name, tools=TOOLS)), value


def test_a_closer_with_structure_behind_it_ends_raw_text() -> None:
    smuggled = (
        "<tool_call>\n<function=get_weather>\n<parameter=city>\na\n</parameter>\n<parameter=none>\nb\n</parameter>\n"
    )
    text = smuggled + "</function>\n</tool_call>"
    assert parse(text, dialect="qwen3-coder", tools=TOOLS).calls[0].arguments == {"city": "a", "none": "b"}
    assert not Gbnf(str(grammar("qwen3-coder", TOOLS, choice="required", target="gbnf"))).fits(text)


FORMAT_FIELDS = {
    "const_string": {"value"},
    "json_schema": {"json_schema"},
    "grammar": {"grammar"},
    "sequence": {"elements"},
    "or": {"elements"},
    "optional": {"content"},
    "repeat": {"content", "min", "max"},
    "tag": {"begin", "content", "end"},
    "triggered_tags": {"triggers", "tags", "at_least_one", "stop_after_first"},
}
"""xgrammar's structural tags, docs/structural_tag: what each format needs."""


def formats(node: dict[str, Any]) -> list[dict[str, Any]]:
    """A format and all inside it."""
    inner = [*node.get("elements", ()), *node.get("tags", ()), *([node["content"]] if "content" in node else ())]
    return [node, *(one for part in inner for one in formats(part))]


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("choice", ["auto", "required"])
def test_structural_tags_have_the_documented_shape(name: str, choice: str) -> None:
    made = json.loads(str(grammar(name, TOOLS, choice=choice, target="structural-tag")))
    assert made["type"] == "structural_tag"
    for node in formats(made["format"]):
        assert node.keys() == FORMAT_FIELDS[node["type"]] | {"type"}
        for tag in node.get("tags", ()):
            assert sum(tag["begin"].startswith(trigger) for trigger in node["triggers"]) == 1
        if node["type"] == "grammar":
            Gbnf(node["grammar"])


def test_keys_without_quotes_are_those_of_the_writer() -> None:
    tool = ToolDefinition(name="f", parameters={"type": "object", "properties": {"é": {}, "a b": {}, "$k": {}}})
    text = render_calls([{"name": "f", "arguments": {"é": None, "a b": 1, "$k": 2}}], dialect="gemma4", tools=[tool])
    assert Gbnf(str(grammar("gemma4", [tool], target="gbnf"))).fits(text)


def test_a_value_of_no_stated_type_is_said_to_be_no_list_where_lists_are_elements() -> None:
    tool = ToolDefinition(name="f", parameters={"type": "object", "properties": {"a": {}}})
    text = render_calls([{"name": "f", "arguments": {"a": [1]}}], dialect="cohere-xml", tools=[tool])
    made = grammar("cohere-xml", [tool], target="gbnf")
    assert not Gbnf(str(made)).fits(text)
    assert "a value of no stated type is no list and no object" in made.narrowed


@pytest.mark.parametrize(("value", "fits"), [(3, True), (2.5, True), (2, False), (8, True), (9, False)])
def test_a_whole_number_may_be_said_to_be_an_integer(value: float, fits: bool) -> None:  # noqa: FBT001
    schema = one({"type": "number", "exclusiveMinimum": 2, "maximum": 8})
    tool = ToolDefinition(name="f", parameters=schema)
    text = render_calls([{"name": "f", "arguments": {"v": value}}], dialect="k2-horizon", tools=[tool])
    assert Gbnf(str(grammar("k2-horizon", [tool], choice="required", target="gbnf"))).fits(text) is fits


def test_one_call_at_most() -> None:
    text = render_calls(CALLS[3], dialect="hermes", tools=TOOLS)
    assert Gbnf(str(grammar("hermes", TOOLS, target="gbnf"))).fits(text)
    assert not Gbnf(str(grammar("hermes", TOOLS, parallel=False, choice="required", target="gbnf"))).fits(text)


@pytest.mark.parametrize("name", ["hermes", "mistral-v3", "qwen3-coder", "harmony", "pythonic"])
def test_a_bound_of_the_calls(name: str) -> None:
    one = render_calls(CALLS[0], dialect=name, tools=TOOLS)
    three = render_calls([*CALLS[0], *CALLS[0], *CALLS[0]], dialect=name, tools=TOOLS)
    two = Gbnf(str(grammar(name, TOOLS[:1], choice="required", max_calls=2, target="gbnf")))
    assert two.fits(one)
    assert two.fits(render_calls([*CALLS[0], *CALLS[0]], dialect=name, tools=TOOLS))
    assert not two.fits(three)
    assert Gbnf(str(grammar(name, TOOLS[:1], choice="required", max_calls=3, target="gbnf"))).fits(three)


def test_a_bound_that_structural_tags_cannot_hold_is_said() -> None:
    made = grammar("hermes", TOOLS, max_calls=2, target="structural-tag")
    assert "there may be more than 2 calls" in made.relaxed
    with pytest.raises(ValueError, match="max_calls= must be an int of at least 1 or None, not 0"):
        grammar("hermes", TOOLS, max_calls=0)


THOUGHTS = {
    "hermes": "<think>\nHm.\n</think>\n",
    "apriel": "Here are my reasoning steps:\nHm.\n[BEGIN FINAL RESPONSE]\n",
    "harmony": "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant",
}


@pytest.mark.parametrize("name", THOUGHTS)
def test_an_answer_that_must_call_begins_with_the_call(name: str) -> None:
    text = render_calls(CALLS[0], dialect=name, tools=TOOLS)
    must = Gbnf(str(grammar(name, TOOLS, choice="required", target="gbnf")))
    assert must.fits(text)
    assert not must.fits(THOUGHTS[name] + text)
    assert Gbnf(str(grammar(name, TOOLS, choice="required", reasoning=True, target="gbnf"))).fits(THOUGHTS[name] + text)
    assert not Gbnf(str(grammar(name, TOOLS, reasoning=False, target="gbnf"))).fits(THOUGHTS[name] + text)


@pytest.mark.parametrize("name", KINDS)
def test_every_beginning_of_an_answer_is_cut_off_and_not_malformed(name: str) -> None:
    dialect = REGISTRY.dialect(name)
    for text in written(dialect):
        for at in sampling.share(range(1, len(text)), KINDS.index(name), 4):
            failures = parse(text[:at], dialect=dialect, tools=TOOLS).failures
            assert {failure.reason for failure in failures} <= {"truncated"}, text[:at]


def test_the_tool_that_is_asked_for() -> None:
    one = Gbnf(str(grammar("hermes", TOOLS, choice="book", target="gbnf")))
    assert one.fits(render_calls(CALLS[2], dialect="hermes", tools=TOOLS))
    assert not one.fits(render_calls(CALLS[0], dialect="hermes", tools=TOOLS))


def test_text_alone() -> None:
    none = Gbnf(str(grammar("hermes", TOOLS, choice="none", target="gbnf")))
    assert none.fits("Hello <b>you</b>.")
    assert none.fits("<think>\nHm.\n</think>\n\nHello.")
    assert not none.fits("Hello.<tool_call>")


@pytest.mark.parametrize("name", ["hermes", "llama3-json", "qwen3-coder"])
def test_an_answer_in_json(name: str) -> None:
    wanted = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    made = grammar(name, TOOLS, output=wanted, target="gbnf")
    both, alone = Gbnf(str(made)), Gbnf(str(grammar(name, [], choice="none", output=wanted, target="gbnf")))
    call = render_calls(CALLS[0], dialect=name, tools=TOOLS)
    assert both.fits(call)
    assert not alone.fits(call)
    for held in (both, alone):
        assert held.fits('{"a": 1}')
        assert not held.fits('{"a": "x"}')
        assert not held.fits("Hello.")
    assert any("markers" in one for one in made.relaxed)


def test_an_answer_in_json_of_any_kind() -> None:
    for wanted, good, bad in (
        ({"type": "array", "items": {"type": "integer"}}, "[1, 2]", "{}"),
        ({"enum": ["a", 1]}, '"a"', "2"),
        (TREE, '{"root": {"name": "a", "kids": [{"name": "b"}]}}', '{"root": {"kids": []}}'),
    ):
        made = Gbnf(str(grammar("hermes", [], choice="none", output=wanted, target="gbnf")))
        assert made.fits(good)
        assert not made.fits(bad)


def test_an_answer_in_json_within_a_frame() -> None:
    wanted = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    made = Gbnf(str(grammar("harmony", [], choice="none", output=wanted, target="gbnf")))
    assert made.fits('<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>{"a": 1}')
    assert not made.fits("<|channel|>final<|message|>Hello.")


def test_a_lexer_is_not_given_what_it_cannot_tell_apart() -> None:
    wanted = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    with pytest.raises(SchemaError, match="begin as JSON does"):
        grammar("llama3-json", TOOLS, output=wanted)


TREE = {
    "type": "object",
    "properties": {"root": {"$ref": "#/$defs/node"}},
    "required": ["root"],
    "$defs": {
        "node": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "kids": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
            "required": ["name"],
        }
    },
}


def of(arguments: dict[str, Any], **options: Any) -> str:
    return str(grammar("hermes", [ToolDefinition(name="f", parameters=arguments)], choice="required", **options))


def call(arguments: dict[str, Any]) -> str:
    return render_calls([{"name": "f", "arguments": arguments}], dialect="hermes")


def one(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {"v": schema}, "required": ["v"]}


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "integer", "minimum": -5, "maximum": 120}, [-5, -1, 0, 7, 99, 120], [-6, 121, 1000, 1.5]),
        ({"type": "integer", "exclusiveMaximum": 0}, [-1, -12345], [0, 3]),
        ({"type": "number", "minimum": 0, "exclusiveMaximum": 1}, [0, 0.25, 0.999], [1, 1.5, -0.5]),
        ({"type": "number", "exclusiveMinimum": 2}, [2.5, 3, 1000.25], [2, 1]),
        ({"type": "string", "pattern": "^[A-Z]{2}\\d{2,3}$"}, ["AB12", "AB123"], ["A12", "AB1", "ab12", "xAB12"]),
        ({"type": "string", "pattern": "b", "maxLength": 3}, ["b", "abc"], ["abcd", "ac"]),
        ({"type": "string", "minLength": 2, "maxLength": 3}, ["ab", 'é"\\'], ["a", "abcd"]),
        (
            {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 3},
            [[1], [1, 2, 3]],
            [[], [1, 2, 3, 4]],
        ),
        ({"type": "array", "prefixItems": [{"type": "string"}], "items": False}, [["a"], []], [["a", 1], [1]]),
        ({"enum": ["a", 1, None, True]}, ["a", 1, None, True], ["b", 2, False]),
        ({"type": ["integer", "null"]}, [1, None], ["1", True]),
        ({"anyOf": [{"type": "integer"}, {"const": "x"}]}, [1, "x"], ["y", None]),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, [{}, {"a": 1, "b": 2}], [{"a": "x"}, 1]),
        ({"allOf": [{"type": "integer", "minimum": 3}, {"maximum": 5}]}, [3, 5], [2, 6]),
        ({}, [1, "a", None, [{"b": []}], {"c": 1.5}], []),
    ],
)
def test_schemas_as_rules(schema: dict[str, Any], good: list[Any], bad: list[Any]) -> None:
    made = Gbnf(of(one(schema), target="gbnf"))
    for value in good:
        assert made.fits(call({"v": value})), value
    for value in bad:
        assert not made.fits(call({"v": value})), value


def test_recursive_schemas() -> None:
    made = Gbnf(of(TREE, target="gbnf"))
    assert made.fits(call({"root": {"name": "a", "kids": [{"name": "b", "kids": []}]}}))
    assert not made.fits(call({"root": {"name": "a", "kids": [{"kids": []}]}}))
    with pytest.raises(SchemaError, match="holds itself"):
        of(TREE, target="regex")


def test_a_grammar_says_that_an_untyped_argument_is_a_text() -> None:
    tool = {"name": "f", "parameters": {"type": "object", "properties": {"x": {}}}}
    typed = {"name": "f", "parameters": {"type": "object", "properties": {"x": {"type": "string"}}}}
    said = "a value of no stated type is a text unless its type is written beside it"
    assert grammar("qwen3-coder", [tool]).narrowed == (said,)
    assert grammar("qwen3-coder", [typed]).narrowed == grammar("hermes", [tool]).narrowed == ()
