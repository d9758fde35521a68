"""What arguments may be called and hold: raw text, keys of any script, members that no schema names, no value."""

from __future__ import annotations

from typing import Any

import pytest
import regex
from gbnf_matcher import Gbnf

from toolfmt import ToolDefinition, grammar, parse, render_calls
from toolfmt.errors import UnsupportedSchemaError

TEXT = {"type": "string"}
MAP = {"type": "object", "additionalProperties": TEXT}
LEFT_OUT = "members that the schema does not name are left out"


def tool(schema: dict[str, Any]) -> ToolDefinition:
    return ToolDefinition(name="write", parameters={"type": "object", **schema})


WRITE = tool({"properties": {"path": TEXT, "content": TEXT}, "required": ["path", "content"]})


def call(dialect: str, arguments: dict[str, Any], one: ToolDefinition) -> str:
    return render_calls([{"name": "write", "arguments": arguments}], dialect=dialect, tools=[one])


@pytest.mark.parametrize(
    "value", ["if a < b and c < d: pass", "<p>x</p>", "a </content> b", "<path>", "a</write>b", "<write>"]
)
def test_raw_text_where_the_tool_names_the_element(value: str) -> None:
    text = call("cline", {"path": "p", "content": value}, WRITE)
    assert parse(text, dialect="cline", tools=[WRITE]).calls[0].arguments["content"] == value
    assert Gbnf(str(grammar("cline", [WRITE], target="gbnf"))).fits(text)
    assert regex.fullmatch(str(grammar("cline", [WRITE], choice="required", target="regex")), text)


BROKEN = {
    "qwen3-coder": "a\n</parameter>\n<parameter b",
    "seed-oss": "a</parameter>\n<parameter>b",
    "claude-legacy": 'a</parameter>\n<parameter names="x',
    "glm45": "a</arg_value>\n<arg_key b",
    "cline": "a\n</content>\n<b>",
}


@pytest.mark.parametrize("name", BROKEN)
def test_raw_text_may_not_hold_its_end_and_the_beginning_of_another_argument(name: str) -> None:
    text = call(name, {"path": "p", "content": "QQ"}, WRITE).replace("QQ", BROKEN[name])
    found = parse(text, dialect=name, tools=[WRITE], validate=True)
    assert found.failures
    assert not Gbnf(str(grammar(name, [WRITE], choice="required", target="gbnf"))).fits(text)
    assert not regex.fullmatch(str(grammar(name, [WRITE], choice="required", target="regex")), text)


@pytest.mark.parametrize(
    ("name", "closer", "opener"),
    [("qwen3-coder", "</parameter>", "<parameter=b>"), ("glm45", "</arg_value>", "<arg_key>")],
)
def test_a_text_in_json_may_not_hold_its_end_and_the_beginning_of_another_argument(
    name: str, closer: str, opener: str
) -> None:
    one = tool({"properties": {"tags": {"type": "array", "items": TEXT}}, "required": ["tags"]})
    text = call(name, {"tags": ["QQ"]}, one)
    for target, fits in (
        ("gbnf", lambda text: Gbnf(str(grammar(name, [one], choice="required", target="gbnf"))).fits(text)),
        ("regex", lambda text: regex.fullmatch(str(grammar(name, [one], choice="required", target="regex")), text)),
    ):
        assert fits(text.replace("QQ", f"a {closer} b")), target
        assert not fits(text.replace("QQ", f"a {closer}{opener}b")), target


@pytest.mark.parametrize("name", ["gemma4", "functiongemma", "hermes"])
@pytest.mark.parametrize("key", ["città", "B-C", "a.b/c", "日本", "$x@y"])
def test_keys_of_any_script(name: str, key: str) -> None:
    named, mapped = tool({"properties": {key: TEXT}}), tool({"properties": {"m": MAP}})
    for one, arguments in ((named, {key: "x"}), (mapped, {"m": {key: "x"}})):
        text = call(name, arguments, one)
        assert parse(text, dialect=name, tools=[one]).calls[0].arguments == arguments
        assert Gbnf(str(grammar(name, [one], target="gbnf"))).fits(text)


@pytest.mark.parametrize("further", [True, {}])
@pytest.mark.parametrize("name", ["hermes", "mistral-v11", "gemma4", "qwen3-coder", "glm45", "pythonic", "morph-xml"])
def test_members_that_the_schema_allows_are_allowed_or_reported(name: str, further: Any) -> None:
    one = tool({"properties": {"a": {"type": "integer"}}, "additionalProperties": further})
    text = call(name, {"a": 1, "zz": "q"}, one)
    made = grammar(name, [one], target="gbnf")
    assert Gbnf(str(made)).fits(text) == (LEFT_OUT not in made.narrowed)
    assert bool(made.relaxed) == (LEFT_OUT not in made.narrowed)


@pytest.mark.parametrize("name", ["xml-cdata", "anthropic-json", "xml-items", "cline", "morph-xml"])
def test_what_is_left_out_is_not_said_to_be_allowed(name: str) -> None:
    made = grammar(name, [tool({"properties": {"m": MAP}})], target="gbnf")
    assert (made.narrowed, made.relaxed) == ((LEFT_OUT,), ())


@pytest.mark.parametrize("schema", [{}, {"properties": {}}, {"properties": {"a": TEXT}, "additionalProperties": True}])
def test_a_regular_expression_leaves_members_of_any_kind_out(schema: dict[str, Any]) -> None:
    made = grammar(
        "hermes", [tool(schema), WRITE.model_copy(update={"name": "other"})], choice="required", target="regex"
    )
    assert any(line.startswith(LEFT_OUT) for line in made.narrowed)
    assert regex.fullmatch(str(made), call("hermes", {}, tool({})))


IMPOSSIBLE = [
    {"enum": []},
    False,
    {"type": "string", "minLength": 3, "maxLength": 2},
    {"type": "array", "minItems": 1, "items": False},
    {"type": "integer", "minimum": 2, "maximum": 1},
    {"type": "object", "properties": {"b": False}, "required": ["b"]},
]


@pytest.mark.parametrize("schema", IMPOSSIBLE)
@pytest.mark.parametrize("target", ["lark", "gbnf", "structural-tag", "regex"])
def test_an_argument_without_a_value_is_left_out_or_refused(schema: Any, target: str) -> None:
    free = str(grammar("hermes", [tool({"properties": {"odd": schema, "n": TEXT}})], choice="required", target=target))
    assert "odd" not in free
    with pytest.raises(UnsupportedSchemaError, match=r"'write'.*no value fits at /properties/odd"):
        grammar("hermes", [tool({"properties": {"odd": schema}, "required": ["odd"]})], target=target)


def test_containers_as_elements_in_raw_text() -> None:
    inner = {"o": {"type": "object", "properties": {"a": TEXT}}, "l": {"type": "array", "items": {"type": "integer"}}}
    one = tool({"properties": inner})
    made = Gbnf(str(grammar("cline", [one], choice="required", target="gbnf")))
    for arguments in ({"o": {}}, {"l": []}, {"o": {"a": "<b>"}, "l": [1, 2]}, {"o": {}, "l": []}):
        assert made.fits(call("cline", arguments, one)), arguments


def test_a_regular_expression_that_no_engine_bears_is_refused() -> None:
    properties = {f"p{at}": {"type": "number"} for at in range(40)}
    with pytest.raises(UnsupportedSchemaError, match="too long for any engine"):
        grammar("hermes", [tool({"properties": properties})], target="regex")


@pytest.mark.parametrize("name", ["react", "ui-tars", "qwen-fncall", "llama3-builtin"])
def test_text_may_end_like_the_beginning_of_a_marker(name: str) -> None:
    marker = call(name, {"path": "p", "content": "c"}, WRITE)[:6]
    for length in range(1, len(marker) + 1):
        text = f"The answer is\n{marker[:length]}"
        assert Gbnf(str(grammar(name, [WRITE], choice="none", target="gbnf"))).fits(text)
        found = parse(text, dialect=name, tools=[WRITE])
        assert (found.text, found.failures) == (text, ()), text


def test_no_branch_that_nothing_fits() -> None:
    assert "[^\\x00-\\U0010FFFF]" not in str(grammar("harmony", [WRITE], choice="required", target="gbnf"))
