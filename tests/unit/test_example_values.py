from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolfmt.errors import SchemaError, UnresolvableReferenceError
from toolfmt.formatters.example_values import example_arguments
from toolfmt.formatters.pattern_text import LONGEST, matching
from toolfmt.workshop.grammars.nodes import chars
from toolfmt.workshop.grammars.patterns import pattern_node

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolfmt.model import JsonObject, JsonValue


def valid(schema: JsonObject, value: JsonValue) -> bool:
    return jsonschema_rs.validator_for(schema, offline=True, validate_formats=True).is_valid(value)


def member(schema: JsonValue, *, optional: bool = False) -> JsonValue:
    """The example value of one required parameter `x`, verified."""
    root = {"type": "object", "properties": {"x": schema}, "required": ["x"]}
    arguments = example_arguments(root, optional=optional)
    assert valid(root, arguments), arguments
    return arguments["x"]


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string"}, "example_x"),
        ({"type": "integer"}, 1),
        ({"type": "number"}, 1.5),
        ({"type": "boolean"}, True),
        ({"type": "null"}, None),
        ({"type": "object"}, {"key": "value"}),
        ({"type": "array"}, ["example_x", "example_x_2"]),
        ({"type": "array", "items": {"type": "integer"}}, [1, 2]),
        ({"type": "array", "items": {"type": "object"}}, [{"key": "value"}]),
        ({"type": "array", "items": {"properties": {"a": {"type": "integer"}, "b": {}}}}, [{"a": 1}]),
        ({}, "example_x"),
        (True, "example_x"),
        ({"enum": ["b", "a"]}, "b"),
        ({"enum": [None, 2]}, None),
        ({"const": {"a": [1]}}, {"a": [1]}),
        ({"type": ["null", "integer"]}, 1),
        ({"anyOf": [{"type": "null"}, {"type": "boolean"}]}, True),
        ({"type": "string", "nullable": True}, "example_x"),
    ],
)
def test_values_of_each_type(schema: JsonValue, value: JsonValue) -> None:
    assert json.dumps(member(schema)) == json.dumps(value)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string", "examples": ["one", "two"], "default": "three"}, "one"),
        ({"type": "string", "default": "three", "enum": ["two", "three"]}, "three"),
        ({"type": "string", "description": "The path, e.g. 'a/b.txt', or none."}, "a/b.txt"),
        ({"type": "string", "description": "A name (e.g., `it's me`)."}, "it's me"),
        ({"type": "integer", "description": "How many, e.g. 40."}, 40),
        ({"type": "array", "items": {"type": "integer"}, "description": "e.g. [3, 4]"}, [3, 4]),
        ({"type": "object", "description": 'e.g. `{"a": 1}`'}, {"a": 1}),
        ({"type": "boolean", "default": False}, False),
        ({"type": "integer", "default": 0}, 0),
        # A default that shows nothing is no example, unless nothing else is allowed.
        ({"type": ["string", "null"], "default": None}, "example_x"),
        ({"type": "string", "maxLength": 0, "default": ""}, ""),
        # What the schema itself refuses is passed over.
        ({"type": "integer", "default": "soon", "minimum": 3}, 3),
        ({"type": "string", "examples": [7], "default": "ok"}, "ok"),
        ({"type": "string", "pattern": "^[a-z]+$", "description": "e.g. 'NO'"}, "example"),
        ({"type": "number", "default": float("nan")}, 1.5),
        ({"type": "string", "description": "e.g. NaN, or e.g. whatever"}, "example_x"),
    ],
)
def test_the_authors_words_come_first(schema: JsonValue, value: JsonValue) -> None:
    assert json.dumps(member(schema)) == json.dumps(value)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer", "minimum": 5, "maximum": 9},
        {"type": "integer", "exclusiveMinimum": 5, "exclusiveMaximum": 7},
        {"type": "integer", "multipleOf": 7, "minimum": 50},
        {"type": "integer", "multipleOf": 1.5},
        {"type": "integer", "maximum": -10},
        {"type": "integer", "minimum": 10**30},
        {"type": "number", "minimum": 0, "maximum": 1},
        {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.01},
        {"type": "number", "minimum": 0.1, "maximum": 0.1},
        {"type": "number", "multipleOf": 0.01, "minimum": 3.14},
        {"type": "number", "minimum": 10**400},
        {"type": "number", "minimum": 1e300, "multipleOf": 0.5},
        {"type": "string", "minLength": 30},
        {"type": "string", "maxLength": 3},
        {"type": "string", "minLength": 5, "maxLength": 5, "pattern": "^[A-Z]+$"},
        {"type": "string", "pattern": "^a", "minLength": 12},
        {"type": "string", "pattern": "^(?:GET|POST) /[a-z]+(?:\\?\\w+=\\d+)?$"},
        {"type": "string", "pattern": "^[A-Z]{2}\\d{6}$"},
        {"type": "string", "pattern": "^#[0-9a-fA-F]{6}$"},
        {"type": "string", "pattern": "^([a-z]+)-\\1$"},
        {"type": "string", "pattern": "^(?=.*\\d)(?=.*[a-z]).{8,}$"},
        {"type": "string", "pattern": "^\\p{Lu}\\p{L}*$"},
        {"type": "string", "pattern": "^[^\\s@]+@[^\\s@]+\\.[a-z]{2,}$"},
        {"type": "string", "pattern": "^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])$"},
        *(
            {"type": "array", "items": {"type": "string", "format": form}, "minItems": 3, "uniqueItems": True}
            for form in (
                *("date", "date-time", "time", "duration", "email", "idn-email", "hostname", "idn-hostname"),
                *("ipv4", "ipv6", "uri", "uri-reference", "iri", "iri-reference", "uri-template", "uuid"),
                *("json-pointer", "relative-json-pointer", "regex"),
            )
        ),
        {"type": "string", "contentEncoding": "base64"},
        {"type": "array", "items": {"type": "integer"}, "minItems": 5, "uniqueItems": True},
        {"type": "array", "items": {"type": "boolean"}, "minItems": 2, "uniqueItems": True},
        {"type": "array", "items": {"type": "string", "maxLength": 1}, "minItems": 9, "uniqueItems": True},
        {"type": "array", "items": {"type": "object"}, "minItems": 3, "uniqueItems": True},
        {"type": "array", "items": {"type": "array"}, "minItems": 3, "uniqueItems": True},
        {"type": "array", "maxItems": 0},
        {"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}], "items": False, "minItems": 2},
        {"type": "array", "prefixItems": [{"type": "null"}, {"type": "number"}], "contains": {"type": "integer"}},
        {"type": "array", "contains": {"const": 5}, "items": {"type": "integer"}, "minContains": 2},
        {"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 3},
        {"type": "object", "additionalProperties": False},
        {"type": "object", "propertyNames": {"pattern": "^x_[a-z]+$"}, "minProperties": 2},
        {
            "type": "object",
            "patternProperties": {"^n": {"type": "null"}},
            "additionalProperties": False,
            "minProperties": 2,
        },
        {"type": "object", "required": ["a", "b"], "additionalProperties": {"type": "boolean"}},
        {"type": "object", "required": ["nx"], "patternProperties": {"^n": {"type": "integer"}}},
        {"allOf": [{"type": "integer", "minimum": 3}, {"maximum": 8}, {"not": {"const": 3}}]},
        {"allOf": [{"type": "object", "properties": {"a": {"type": "string"}}}, {"required": ["a", "b"]}]},
        {"oneOf": [{"type": "integer"}, {"type": "number", "minimum": 5}]},
        {"oneOf": [{"type": "integer", "minimum": 4}, {"type": "string", "format": "uuid"}, {"type": "number"}]},
        {"anyOf": [{"type": "object", "required": ["a"]}, {"type": "string"}], "not": {"type": "object"}},
        {"not": {"type": ["string", "integer"]}},
        {"type": "string", "not": {"pattern": "example"}},
        {"$ref": "#/$defs/none", "$defs": {}} | {"$ref": "#/properties/x/$defs/a", "$defs": {"a": {"type": "integer"}}},
    ],
    ids=json.dumps,
)
def test_values_fit_every_constraint(schema: JsonObject) -> None:
    member(schema)
    member(schema, optional=True)


@pytest.mark.parametrize(
    "bound", [float("nan"), float("inf"), -3, True, "4", None, 10**4000], ids=lambda one: f"{one}"[:9]
)
def test_bounds_that_are_none_do_no_harm(bound: Any) -> None:
    for kind, keys in {
        "string": ("minLength", "maxLength"),
        "integer": ("minimum", "maximum", "multipleOf"),
        "array": ("minItems", "maxItems"),
        "object": ("minProperties", "maxProperties"),
    }.items():
        for key in keys:
            root = {"properties": {"x": {"type": kind, key: bound}}, "required": ["x"]}
            assert "x" in example_arguments(root, optional=True)


def test_drafts_before_2020() -> None:
    tuple_schema = {"type": "array", "items": [{"type": "string"}, {"type": "integer"}], "additionalItems": False}
    assert example_arguments({"properties": {"x": tuple_schema}, "required": ["x"]}, optional=False) == {
        "x": ["example_x", 1]
    }
    open_bound = {"type": "integer", "minimum": 5, "exclusiveMinimum": True}
    assert example_arguments({"properties": {"x": open_bound}, "required": ["x"]}, optional=False) == {"x": 6}
    needs = {"properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "dependencies": {"a": ["b"]}}
    assert example_arguments({**needs, "required": ["a"]}, optional=False) == {"a": 1, "b": 1}


ADDRESS = {
    "type": "object",
    "properties": {"street": {"type": "string"}, "zip": {"type": "string"}},
    "required": ["street"],
    "default": {"street": "Main", "zip": "1000", "floor": 2},
}


def test_basic_has_only_what_is_required_at_every_depth() -> None:
    schema = {
        "type": "object",
        "properties": {"home": ADDRESS, "others": {"type": "array", "items": ADDRESS}, "note": {"type": "string"}},
        "required": ["home", "others"],
    }
    assert example_arguments(schema, optional=False) == {"home": {"street": "Main"}, "others": [{"street": "Main"}]}


def test_advanced_has_everything_in_declared_order() -> None:
    schema = {
        "type": "object",
        "properties": {"note": {"type": "string"}, "home": ADDRESS, "days": {"type": "integer"}},
        "required": ["home"],
    }
    arguments = example_arguments(schema, optional=True)
    assert arguments == {"note": "example_note", "home": {"street": "Main", "zip": "1000", "floor": 2}, "days": 1}
    assert list(arguments) == ["note", "home", "days"]


def test_advanced_leaves_out_what_cannot_be_there_together() -> None:
    schema = {
        "type": "object",
        "properties": {name: {"type": "string"} for name in "abc"},
        "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
    }
    assert example_arguments(schema, optional=True) == {"a": "example_a", "c": "example_c"}
    assert example_arguments(schema, optional=False) == {"a": "example_a"}
    assert "never" not in example_arguments({"properties": {"never": False, "a": {}}}, optional=True)
    limited = {"properties": {name: {"type": "integer"} for name in "abc"}, "maxProperties": 2}
    assert example_arguments(limited, optional=True) == {"a": 1, "b": 1}


def test_conditions_and_dependencies() -> None:
    schema = {
        "type": "object",
        "properties": {"kind": {"enum": ["card", "cash"]}, "number": {"type": "string"}, "coins": {"type": "integer"}},
        "required": ["kind"],
        "if": {"properties": {"kind": {"const": "card"}}},
        "then": {"required": ["number"]},
        "else": {"required": ["coins"]},
    }
    assert example_arguments(schema, optional=False) == {"kind": "card", "number": "example_number"}
    dependent = {
        "type": "object",
        "properties": {"a": {"type": "integer"}},
        "dependentSchemas": {"a": {"properties": {"b": {"const": 7}}, "required": ["b"]}},
    }
    assert example_arguments(dependent, optional=False) == {}
    assert example_arguments(dependent, optional=True) == {"a": 1, "b": 7}


def test_half_characters_are_no_example() -> None:
    schema = {"properties": {"x": {"type": "string", "default": "\ud800"}}, "required": ["x"]}
    assert example_arguments(schema, optional=False) == {"x": "example_x"}
    assert not list(matching("^[\\ud800-\\udfff]$"))


def test_alternatives_follow_the_default() -> None:
    schema = {
        "anyOf": [
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
            {"type": "object", "properties": {"b": {"type": "integer"}}, "required": ["b"]},
        ],
        "default": {"b": 9},
    }
    assert member(schema) == {"b": 9}


NODE = {
    "type": "object",
    "properties": {
        "value": {"type": "integer"},
        "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]},
        "kids": {"type": "array", "items": {"$ref": "#/$defs/node"}},
    },
    "required": ["value", "next"],
}


def test_recursion_ends() -> None:
    schema = {
        "type": "object",
        "$defs": {"node": NODE},
        "properties": {"root": {"$ref": "#/$defs/node"}},
        "required": ["root"],
    }
    assert example_arguments(schema, optional=False) == {"root": {"value": 1, "next": None}}
    full = example_arguments(schema, optional=True)
    assert valid(schema, full)
    assert full["root"]["next"] == {"value": 1, "next": None, "kids": []}
    assert len(full["root"]["kids"]) == 1
    itself = {
        "type": "object",
        "properties": {"child": {"$ref": "#"}, "name": {"type": "string"}},
        "required": ["name"],
    }
    assert example_arguments(itself, optional=False) == {"name": "example_name"}
    assert "child" in example_arguments(itself, optional=True)
    deeper = {
        "$ref": "#/$defs/n",
        "required": ["child"],
        "$defs": {"n": {"properties": {"child": {"$ref": "#/$defs/n"}}}},
    }
    assert valid(deeper, example_arguments(deeper, optional=False))


def test_suggestions_are_preferred_and_pruned() -> None:
    schema = {"properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["a"]}
    suggestions = [{"a": "Paris", "b": 3}]
    assert example_arguments(schema, optional=False, suggestions=suggestions) == {"a": "Paris"}
    assert example_arguments(schema, optional=True, suggestions=suggestions) == {"a": "Paris", "b": 3}
    assert example_arguments(schema, optional=False, suggestions=[{"a": 4}]) == {"a": "example_a"}


TWO: JsonObject = {"properties": {"b": {}, "c": {}}}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({}, False),
        ({"type": "object", "properties": {}}, False),
        ({"properties": {"a": {}}, "required": ["a"]}, False),
        ({"properties": {"a": {}}}, True),
        ({"properties": {"a": {}}, "allOf": [{"required": ["a"]}]}, False),
        ({"properties": {"a": False}}, False),
        ({"properties": {"a": {"properties": {"b": {}}}}, "required": ["a"]}, False),  # no object is empty
        ({"properties": {"a": TWO}, "required": ["a"]}, True),
        ({"properties": {"a": {"items": TWO}}, "required": ["a"]}, True),
        ({"properties": {"a": {"prefixItems": [{}, TWO]}}, "required": ["a"]}, True),
        ({"properties": {"a": {"additionalProperties": TWO}}, "required": ["a"]}, False),
        ({"properties": {"a": {"anyOf": [{"type": "null"}, TWO]}}, "required": ["a"]}, True),
        ({"properties": {"a": {"$ref": "#/$defs/x"}}, "required": ["a"], "$defs": {"x": TWO}}, True),
        ({"properties": {"a": {}}, "required": ["a"], "$defs": {"x": TWO}}, False),
    ],
)
def test_an_example_with_all_arguments_differs_where_some_are_optional(schema: JsonObject, *, expected: bool) -> None:
    basic, advanced = (json.dumps(example_arguments(schema, optional=optional)) for optional in (False, True))
    assert (basic != advanced) is expected


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "minItems": 10**9, "items": {"type": "string"}, "uniqueItems": True},
        {"type": "string", "minLength": 10**12},
        {"type": "string", "pattern": "("},
        {"type": "string", "pattern": "^((((a{1000}){1000}){1000}){1000})$"},
        {"type": "string", "pattern": "(" * 3000},
        {"type": "string", "pattern": "^(a+)+$", "minLength": 30},
        {"type": "integer", "minimum": 5, "maximum": 2},
        {"type": "object", "minProperties": 4, "maxProperties": 1},
        {"allOf": [{"const": 0}, {"type": "string", "minLength": 8}]},
        {"anyOf": [{"anyOf": [{"const": [i, j]} for j in range(20)], "not": {}} for i in range(20)]},
        {"not": {}},
        {"type": "unheard-of"},
    ],
    ids=lambda schema: json.dumps(schema)[:40],
)
def test_the_impossible_ends_in_a_guess(schema: JsonObject) -> None:
    """Each would take longer than a test may, were it searched for to the end."""
    root = {"type": "object", "properties": {"x": schema}, "required": ["x"]}
    assert set(example_arguments(root, optional=True)) <= {"x"}


def test_references_that_double_end_soon() -> None:
    refs = {f"p{i}": {"$ref": f"#/$defs/d{i}"} for i in range(8)}
    schema = {
        "type": "object",
        "$defs": {f"d{i}": {"type": "object", "properties": refs} for i in range(8)},
        "properties": {"x": {"$ref": "#/$defs/d0"}},
    }
    arguments = example_arguments(schema, optional=True)
    assert valid(schema, arguments)
    assert len(json.dumps(arguments)) < 50_000


def test_a_schema_that_cannot_be_read_raises() -> None:
    with pytest.raises(UnresolvableReferenceError):
        example_arguments({"properties": {"a": {"$ref": "file:///etc/hostname"}}}, optional=True)
    deep: JsonObject = {"type": "string"}
    for _ in range(300):
        deep = {"properties": {"a": deep}}
    with pytest.raises(SchemaError):
        example_arguments(deep, optional=False)


@pytest.mark.parametrize(
    "pattern", ["", "^$", "a|b", "[\\]a-]+", "[^a]", "\\u0041\\x42", "(?<y>\\d)\\1", "\\.\\d*?", "[\\w-]+", "x{2,3}"]
)
def test_texts_match_their_pattern(pattern: str) -> None:
    check = jsonschema_rs.validator_for({"type": "string", "pattern": pattern})
    assert any(check.is_valid(text) for text in matching(pattern))


@given(st.text("ab[]()|*+?{}\\^$.,-1dwsp<>=!:", max_size=20))
def test_any_pattern_is_read_without_error(pattern: str) -> None:
    texts = list(matching(pattern))
    assert all(len(text) <= LONGEST + 2 for text in texts)


def scalars() -> st.SearchStrategy[JsonObject]:
    @st.composite
    def bounded(draw: st.DrawFn, kind: str, low: str, high: str, least: int) -> JsonObject:
        bottom = draw(st.integers(least, 20))
        bounds = {low: bottom, high: bottom + draw(st.integers(1, 9))}
        return {"type": kind, **{key: value for key, value in bounds.items() if draw(st.booleans())}}

    return st.one_of(
        bounded("string", "minLength", "maxLength", 0),
        bounded("integer", "minimum", "maximum", -20),
        bounded("number", "exclusiveMinimum", "exclusiveMaximum", -20),
        st.sampled_from([{"type": "boolean"}, {"enum": ["a", 1, None]}, {"const": []}, {"type": ["null", "string"]}]),
        st.sampled_from([{"type": "string", "format": "uuid"}, {"type": "string", "pattern": "^[a-f]{3}\\d+$"}]),
    )


@st.composite
def lists(draw: st.DrawFn, inner: st.SearchStrategy[JsonObject]) -> JsonObject:
    least = draw(st.integers(0, 3))
    return {"type": "array", "items": draw(inner), "minItems": least, "maxItems": least + draw(st.integers(0, 2))}


@st.composite
def objects(draw: st.DrawFn, inner: st.SearchStrategy[JsonObject]) -> JsonObject:
    properties = draw(st.dictionaries(st.sampled_from("abcdef"), inner, max_size=4))
    schema: JsonObject = {"type": "object", "properties": properties}
    if properties and draw(st.booleans()):
        schema["required"] = draw(st.lists(st.sampled_from(sorted(properties)), unique=True))
    if draw(st.booleans()):
        schema["additionalProperties"] = draw(st.one_of(st.booleans(), inner))
    return schema


SCHEMAS = st.recursive(
    scalars(),
    lambda inner: st.one_of(
        lists(inner),
        objects(inner),
        st.builds(lambda branches: {"anyOf": branches}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda schema: {"allOf": [schema, {"description": "e.g. 'it'"}]}, inner),
        st.builds(
            lambda schema, default: {**schema, "default": default},
            inner,
            st.sampled_from([None, "", "abc", 5, [1], {"a": 1}]),
        ),
    ),
    max_leaves=8,
)


def unneeded(schema: JsonObject, value: JsonValue, *, at_root: bool = True) -> Iterator[str]:
    """Members of plain objects that are declared and could have been left out; a nested object has at least one."""
    for name, sub in schema.get("properties", {}).items():
        if isinstance(value, dict) and name in value:
            if name not in schema.get("required", []) and (at_root or len(value) > 1):
                yield name
            yield from unneeded(sub, value[name], at_root=False)


def missing(schema: JsonObject, value: JsonValue) -> Iterator[str]:
    """Members of plain objects that are declared and not there."""
    for name, sub in schema.get("properties", {}).items():
        if isinstance(value, dict) and name not in value:
            yield name
        elif isinstance(value, dict):
            yield from missing(sub, value[name])


@given(objects(SCHEMAS))
def test_examples_fit_and_are_as_full_as_asked(schema: dict[str, Any]) -> None:
    basic, advanced = (example_arguments(schema, optional=optional) for optional in (False, True))
    assert valid(schema, basic)
    assert valid(schema, advanced)
    assert not list(unneeded(schema, basic))
    assert not list(missing(schema, advanced))


def test_a_range_up_to_a_class_holds_the_hyphen() -> None:
    texts = list(matching(r"^[a-\d]$"))
    assert {"a", "1"} <= set(texts)
    assert pattern_node(r"^[a-\d]$") == chars("a-", (0x30, 0x39))


def test_texts_of_equal_length_keep_their_order() -> None:
    texts = list(matching("xx|yy|zz"))
    assert texts[:5] == ["xx", "yy", "zz", "xx2", "xx3"]
