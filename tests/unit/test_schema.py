"""JSON Schema work: references, places, coercion, validation."""

from __future__ import annotations

import contextlib
import copy
import gc
import json
import socket
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

import toolfmt
from toolfmt import jsontext
from toolfmt.errors import SchemaError, UnresolvableReferenceError
from toolfmt.model import ToolDefinition
from toolfmt.schema import (
    Validator,
    coerce,
    extra_arguments,
    inline_refs,
    item_schema,
    normalise,
    problems,
    property_schema,
    relax,
    types,
    validation,
)

TREE = {
    "$defs": {
        "Node": {
            "type": "object",
            "properties": {"value": {"$ref": "#/$defs/Value"}, "next": {"$ref": "#/$defs/Node"}},
        },
        "Value": {"type": "integer", "description": "a value"},
        "Unused": {"$ref": "#/$defs/Node"},
    }
}


def dumped(value: Any) -> str:
    return json.dumps(value)


def a_tool(schema: dict[str, Any], name: str = "t") -> ToolDefinition:
    return ToolDefinition(name=name, parameters=schema)


def reported(schema: dict[str, Any], arguments: dict[str, Any]) -> list[str]:
    return [str(problem) for problem in problems(a_tool(schema), arguments)]


class TestInlineRefs:
    def test_definitions_are_inlined_in_order_and_dropped(self) -> None:
        schema = {
            "type": "object",
            "properties": {
                "b": {"$ref": "#/$defs/B"},
                "a": {"type": "array", "items": {"$ref": "#/definitions/A%20a"}},
                "c": {"$ref": "#/properties/a/items"},
            },
            "$defs": {"B": {"type": "string", "enum": ["y", "x"]}, "~1": {"const": 1}},
            "definitions": {"A a": {"anyOf": [{"$ref": "#/$defs/~01"}, {"type": "null"}]}},
        }
        before = copy.deepcopy(schema)
        union = {"anyOf": [{"const": 1}, {"type": "null"}]}
        assert dumped(inline_refs(schema)) == dumped(
            {
                "type": "object",
                "properties": {
                    "b": {"type": "string", "enum": ["y", "x"]},
                    "a": {"type": "array", "items": union},
                    "c": union,
                },
            }
        )
        assert schema == before

    def test_the_copy_shares_nothing_with_its_source(self) -> None:
        schema = {"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"enum": [["x"]], "default": {"k": []}}}}
        copied = inline_refs(schema)
        copied["properties"]["a"]["enum"][0].append(1)
        copied["properties"]["a"]["default"]["k"].append(1)
        assert schema["$defs"]["A"] == {"enum": [["x"]], "default": {"k": []}}

    def test_siblings_are_merged_and_contradictions_kept(self) -> None:
        schema = {
            "properties": {
                "noted": {"$ref": "#/$defs/A", "description": "mine", "default": "q"},
                "stricter": {"$ref": "#/$defs/A", "maxLength": 3},
                "same": {"$ref": "#/$defs/A", "type": "string"},
            },
            "$defs": {"A": {"type": "string", "description": "theirs", "maxLength": 9}},
        }
        assert inline_refs(schema)["properties"] == {
            "noted": {"type": "string", "description": "mine", "maxLength": 9, "default": "q"},
            "stricter": {"allOf": [{"type": "string", "description": "theirs", "maxLength": 9}], "maxLength": 3},
            "same": {"type": "string", "description": "theirs", "maxLength": 9},
        }

    def test_recursion_stays_and_only_it(self) -> None:
        node = {
            "type": "object",
            "properties": {"value": {"type": "integer", "description": "a value"}, "next": {"$ref": "#/$defs/Node"}},
        }
        schema = {"type": "object", "properties": {"tree": {"$ref": "#/$defs/Node"}}, **TREE}
        assert inline_refs(schema) == {
            "type": "object",
            "properties": {"tree": {"$ref": "#/$defs/Node"}},
            "$defs": {"Node": node},
        }
        assert inline_refs({"$ref": "#/$defs/Node", **TREE}) == {**node, "$defs": {"Node": node}}

    def test_a_circle_of_several_keeps_one_definition(self) -> None:
        schema = {
            "properties": {"a": {"$ref": "#/$defs/A"}},
            "$defs": {"A": {"items": {"$ref": "#/$defs/B"}}, "B": {"not": {"$ref": "#/$defs/A"}}},
        }
        assert inline_refs(schema) == {
            "properties": {"a": {"$ref": "#/$defs/A"}},
            "$defs": {"A": {"items": {"not": {"$ref": "#/$defs/A"}}}},
        }

    def test_a_reference_to_the_root_gets_a_name(self) -> None:
        schema = {"type": "object", "properties": {"kids": {"items": {"$ref": "#"}}, "root": {"$ref": "#/$defs/root"}}}
        schema["$defs"] = {"root": {"items": {"$ref": "#/$defs/root"}}}
        inlined = inline_refs(schema)
        assert inlined["properties"]["kids"] == {"items": {"$ref": "#/$defs/root"}}
        assert inlined["properties"]["root"] == {"$ref": "#/$defs/root_2"}
        assert inlined["$defs"]["root"]["properties"]["kids"] == {"items": {"$ref": "#/$defs/root"}}
        assert inlined["$defs"]["root_2"] == {"items": {"$ref": "#/$defs/root_2"}}

    @pytest.mark.parametrize(
        "instance", [{}, {"t": {"v": 1}}, {"t": {"v": "x"}}, {"t": {"next": {"next": {"v": 1.5}}}}, {"t": 3}]
    )
    def test_the_copy_accepts_what_its_source_does(self, instance: Any) -> None:
        schema = {
            "properties": {"t": {"$ref": "#/$defs/T"}},
            "$defs": {
                "T": {"allOf": [{"$ref": "#/$defs/U"}], "type": "object"},
                "U": {"properties": {"v": {"$ref": "#/$defs/V", "minimum": 0}, "next": {"$ref": "#/$defs/T"}}},
                "V": {"type": "integer", "minimum": -5},
            },
        }
        expected = jsonschema_rs.Draft202012Validator(schema, offline=True).is_valid(instance)
        assert jsonschema_rs.Draft202012Validator(inline_refs(schema), offline=True).is_valid(instance) is expected

    @pytest.mark.parametrize(
        ("reference", "message"),
        [
            ("#/$defs/Y", "#/properties/a~1b/anyOf/0/$ref: '#/$defs/Y' does not exist"),
            ("#/type", "is not a schema"),
            ("#anchor", "nothing else is opened"),
            ("https://example.com/s.json", "'https://example.com/s.json' does not point inside the schema"),
            ("file:///etc/hostname", "does not point inside the schema"),
            ("other.json#/$defs/X", "does not point inside the schema"),
            (3, "must be a string, not int"),
        ],
    )
    def test_what_points_nowhere_is_named(self, reference: Any, message: str) -> None:
        schema = {"type": "object", "properties": {"a/b": {"anyOf": [{"$ref": reference}]}}}
        with pytest.raises(UnresolvableReferenceError) as caught:
            inline_refs(schema)
        assert message in str(caught.value)

    def test_data_that_looks_like_a_reference_is_data(self) -> None:
        schema = {
            "properties": {"$ref": {"type": "string"}, "$defs": {"type": "object"}},
            "default": {"$ref": "http://x"},
            "enum": [{"$ref": "#/nowhere"}],
        }
        assert inline_refs(schema) == schema

    def test_a_schema_that_doubles_with_each_reference_is_refused(self) -> None:
        definitions: dict[str, Any] = {
            f"D{i}": {"properties": {"a": {"$ref": f"#/$defs/D{i + 1}"}, "b": {"$ref": f"#/$defs/D{i + 1}"}}}
            for i in range(40)
        }
        definitions["D40"] = {"type": "string"}
        schema = {"properties": {"a": {"$ref": "#/$defs/D0"}}, "$defs": definitions}
        with pytest.raises(SchemaError, match=r"unfold to more than 50,000 schemas, from #/\S+ on"):
            inline_refs(schema)
        assert types(property_schema(schema, "a")) == {"object"}

    def test_a_schema_without_a_bottom_is_refused(self) -> None:
        schema: dict[str, Any] = {}
        inner = schema
        for _ in range(100_000):
            inner["not"] = {}
            inner = inner["not"]
        for work in (inline_refs, normalise):
            with pytest.raises(SchemaError, match="nested too deeply"):
                work(schema)
        assert types(schema) is None
        del inner
        while schema:  # freed step by step: the interpreter itself would recurse
            schema = schema.pop("not")

    @pytest.mark.parametrize("keyword", ["$ref", "default"])
    def test_a_keyword_of_any_depth_makes_nothing_recurse(self, keyword: str) -> None:
        deep: list[Any] = []
        for _ in range(3000):
            deep = [deep]
        tool = ToolDefinition(name="f", parameters={"type": "object", "properties": {"a": {keyword: deep}}})
        assert types(property_schema(tool.parameters, "a")) is None
        with contextlib.suppress(SchemaError):
            problems(tool, {"a": 1})
        with pytest.raises(SchemaError, match="tool 'f' is nested more than 160 levels deep"):
            toolfmt.manifest([tool], dialect="hermes")


class TestPlaces:
    @pytest.mark.parametrize(
        ("schema", "expected"),
        [
            (None, None),
            ({}, None),
            (True, None),
            (False, set()),
            ({"type": "string"}, {"string"}),
            ({"type": ["integer", "null"]}, {"integer", "null"}),
            ({"type": "integer", "nullable": True}, {"integer", "null"}),
            ({"enum": ["a", 1, None]}, {"string", "integer", "null"}),
            ({"const": 1.5}, {"number"}),
            ({"const": True}, {"boolean"}),
            ({"type": "number", "enum": [1, 2.5, "x"]}, {"integer", "number"}),
            ({"anyOf": [{"type": "string"}, {"type": "null"}]}, {"string", "null"}),
            ({"oneOf": [{"type": "string"}, {}]}, None),
            ({"allOf": [{"type": ["string", "number"]}, {"type": ["integer", "boolean"]}]}, {"integer"}),
            ({"allOf": [{"type": "string"}, {"description": "x"}]}, {"string"}),
            ({"type": "string", "anyOf": [{"pattern": "a"}, {"pattern": "b"}]}, {"string"}),
            ({"properties": {"a": {}}}, {"object"}),
            ({"items": {}}, {"array"}),
            ({"$ref": "#/$defs/A", "$defs": {"A": {"type": "boolean"}}}, {"boolean"}),
            ({"$ref": "#/$defs/A"}, None),
            ({"$ref": "http://example.com"}, None),
            ({"$ref": "#"}, None),
            ({"anyOf": [{"$ref": "#"}, {"type": "string"}]}, {"string"}),
        ],
    )
    def test_types(self, schema: Any, expected: set[str] | None) -> None:
        assert types(schema) == expected

    @pytest.mark.parametrize(
        ("spelled", "expected"),
        [
            ("dict", "object"),
            ("HashMap", "object"),
            ("float", "number"),
            ("double", "number"),
            ("Float", "number"),
            ("tuple", "array"),
            ("ArrayList", "array"),
            ("List[int]", "array"),
            ("list<String>", "array"),
            ("bool", "boolean"),
            ("int", "integer"),
            ("long", "integer"),
            ("str", "string"),
            ("String", "string"),
            ("STRING", "string"),
            ("str, optional", "string"),
            ("Dict[str, int], optional", "object"),
            ("NoneType", "null"),
            ("any", None),
            ("Optional[int]", None),
            ("TYPE_UNSPECIFIED", None),
            ("frobnicator", None),
        ],
    )
    def test_types_in_other_spellings(self, spelled: str, expected: str | None) -> None:
        assert types({"type": spelled}) == (None if expected is None else {expected})

    def test_an_argument_is_found_through_references_and_combinations(self) -> None:
        schema = {
            "$ref": "#/$defs/Root",
            "$defs": {
                "Root": {
                    "allOf": [
                        {"properties": {"a": {"$ref": "#/$defs/A"}}},
                        {"anyOf": [{"properties": {"b": {"type": "integer"}}}, {"properties": {"b": {"const": "x"}}}]},
                    ],
                    "additionalProperties": {"type": "boolean"},
                },
                "A": {"prefixItems": [{"type": "integer"}], "items": {"$ref": "#/$defs/A"}},
            },
        }
        a = property_schema(schema, "a")
        assert types(a) == {"array"}
        assert types(item_schema(a, 0)) == {"integer"}
        assert types(item_schema(item_schema(a, 1), 0)) == {"integer"}
        assert types(property_schema({"anyOf": schema["$defs"]["Root"]["allOf"][1]["anyOf"]}, "b")) == {
            "integer",
            "string",
        }
        assert types(property_schema({"additionalProperties": {"type": "boolean"}}, "z")) == {"boolean"}

    @pytest.mark.parametrize(
        ("schema", "expected"),
        [
            (None, None),
            ({}, None),
            ({"properties": {"b": {}}}, None),
            ({"properties": {"b": {}}, "additionalProperties": False}, None),
            ({"properties": {"a": True}}, {}),
            ({"additionalProperties": True}, {}),
            ({"patternProperties": {"^x": {"type": "string"}}}, {"anyOf": [{"type": "string"}]}),
            ({"properties": []}, None),
            ({"$ref": "#/nowhere"}, None),
        ],
    )
    def test_members_that_a_schema_does_or_does_not_speak_of(self, schema: Any, expected: Any) -> None:
        assert property_schema(schema, "a") == expected

    def test_references_into_the_document_survive_any_depth(self) -> None:
        schema = {
            "type": "object",
            "properties": {"n": {"type": "integer"}, "kids": {"type": "array", "items": {"$ref": "#"}}},
        }
        for _ in range(5):
            kid = item_schema(property_schema(schema, "kids"), 3)
            assert kid is not None
            assert types(property_schema(kid, "n")) == {"integer"}
            schema = kid

    def test_items_as_a_list(self) -> None:
        schema = {"items": [{"type": "string"}], "additionalItems": {"type": "integer"}}
        assert [types(item_schema(schema, i)) for i in (0, 1)] == [{"string"}, {"integer"}]
        assert item_schema({"type": "array"}, 0) is None

    def test_a_schema_that_doubles_with_each_reference_is_read_at_once(self) -> None:
        definitions: dict[str, Any] = {
            f"D{i}": {"anyOf": [{"$ref": f"#/$defs/D{i + 1}"}, {"$ref": f"#/$defs/D{i + 1}"}]} for i in range(30)
        }
        definitions["D30"] = {"type": "string", "properties": {"p": {"type": "integer"}}}
        schema = {"$ref": "#/$defs/D0", "$defs": definitions}
        assert types(schema) == {"string"}
        assert types(property_schema(schema, "p")) == {"integer"}


KEYWORDS = st.sampled_from(
    [
        "$defs",
        "$ref",
        "additionalItems",
        "additionalProperties",
        "allOf",
        "anyOf",
        "const",
        "enum",
        "items",
        "minItems",
        "nullable",
        "oneOf",
        "patternProperties",
        "prefixItems",
        "properties",
        "type",
    ]
)
WORDS = st.sampled_from(["a", "#", "#/$defs/a", "#/properties/a", "#/anyOf/0", "string", "int", "", "any"])
ODD_SCHEMAS = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYWORDS | WORDS, inner, max_size=4),
    max_leaves=15,
)


@given(ODD_SCHEMAS, st.sampled_from(["1", "a", "null", "", "[1]", '{"a": 1}']))
def test_no_schema_however_odd_makes_reading_raise(schema: Any, text: str) -> None:
    types(schema)
    coerce(text, schema)
    if isinstance(schema, dict):
        relax({"a": [text, {"a": text}]}, schema)
        with contextlib.suppress(SchemaError):
            inline_refs(schema)
        with contextlib.suppress(SchemaError):
            problems(a_tool(schema), {"a": text})
        extra_arguments(a_tool(schema), {"a": text})


STRING, INTEGER, NUMBER = {"type": "string"}, {"type": "integer"}, {"type": "number"}
BOOLEAN, ARRAY, OBJECT = {"type": "boolean"}, {"type": "array"}, {"type": "object"}
UNCHANGED = object()


def one_of(*kinds: str) -> dict[str, Any]:
    return {"type": list(kinds)}


class TestCoercion:
    @pytest.mark.parametrize(
        ("text", "schema", "expected"),
        [
            # nothing known
            ("42", None, UNCHANGED),
            ("null", {}, UNCHANGED),
            ("[1]", {"description": "x"}, UNCHANGED),
            # null
            ("null", one_of("string", "null"), None),
            ("None", one_of("integer", "null"), None),
            ("  null\n", one_of("integer", "null"), None),
            (" null", one_of("string", "null"), UNCHANGED),
            ("null", STRING, UNCHANGED),
            ("null", INTEGER, None),
            ("nil", one_of("integer", "null"), None),
            ("nil", one_of("string", "null"), UNCHANGED),
            ("null", {"enum": ["a", "b"]}, None),
            ("NULL", one_of("integer", "null"), None),
            # a string is allowed beside others: only what JSON writes in this way
            ("42", one_of("string", "integer"), 42),
            ("42", one_of("string", "boolean"), UNCHANGED),
            ("007", one_of("string", "integer"), UNCHANGED),
            ("1.10", one_of("string", "number"), UNCHANGED),
            ("1.5", one_of("string", "number"), 1.5),
            ("3", one_of("string", "number"), 3),
            ("true", one_of("string", "boolean"), True),
            ("True", one_of("string", "boolean"), UNCHANGED),
            ('"42"', one_of("string", "integer"), "42"),
            ('"null"', one_of("string", "null"), "null"),
            ('"42"', one_of("string", "null"), UNCHANGED),
            ('"', one_of("string", "null"), UNCHANGED),
            ("{'a': 1}", one_of("object", "string"), UNCHANGED),
            ("[1]", one_of("object", "string"), UNCHANGED),
            (" true ", one_of("boolean", "string"), UNCHANGED),
            ('{"a": 1}', one_of("object", "string"), {"a": 1}),
            # integers
            ("42", INTEGER, 42),
            (" -7\n", INTEGER, -7),
            ("+7", INTEGER, 7),
            ("007", INTEGER, 7),
            ("3.0", INTEGER, 3),
            ("3.00", INTEGER, 3),
            ("3.5", INTEGER, UNCHANGED),
            ("1e3", INTEGER, 1000),
            ("1e300", INTEGER, UNCHANGED),
            ("12345678901234567890123", INTEGER, 12345678901234567890123),
            ("12345678901234567890123.0", INTEGER, 12345678901234567890123),
            ("9" * 4300, INTEGER, int("9" * 4300)),
            ("9" * 4301, INTEGER, UNCHANGED),
            ("1_000", INTEGER, UNCHANGED),
            ("٣", INTEGER, UNCHANGED),
            ("0x10", INTEGER, UNCHANGED),
            ("", INTEGER, UNCHANGED),
            ("true", INTEGER, UNCHANGED),
            # numbers
            ("3", NUMBER, 3),
            ("3.0", NUMBER, 3.0),
            ("-0.0", NUMBER, -0.0),
            (".5", NUMBER, 0.5),
            ("2.", NUMBER, 2.0),
            ("1E5", NUMBER, 100000.0),
            ("0.10", NUMBER, 0.1),
            ("0.10000000000000001", NUMBER, 0.1),
            ("3.14159265358979323846", NUMBER, 3.141592653589793),
            ("3.1415926535897932", NUMBER, 3.141592653589793),
            ('"123"', NUMBER, 123),
            ('""123""', NUMBER, UNCHANGED),
            ("12345678901234567890", NUMBER, 12345678901234567890),
            ("12345678901234567890.5", NUMBER, 1.2345678901234567e19),
            ("3.00000000000000001", INTEGER, UNCHANGED),
            ("1e999", NUMBER, UNCHANGED),
            ("1e-999", NUMBER, UNCHANGED),
            ("0e99999999999999999999999999", NUMBER, 0.0),
            ("NaN", NUMBER, UNCHANGED),
            ("inf", NUMBER, UNCHANGED),
            ("3.0", one_of("integer", "number"), 3.0),
            # booleans
            ("true", BOOLEAN, True),
            ("FALSE", BOOLEAN, False),
            ("True", one_of("boolean", "array"), True),
            ("1", BOOLEAN, True),
            ("no", one_of("boolean", "null"), False),
            ("on", BOOLEAN, True),
            ("OFF", BOOLEAN, False),
            ("1", one_of("boolean", "integer"), 1),
            ("yes", one_of("boolean", "integer"), UNCHANGED),
            ("maybe", BOOLEAN, UNCHANGED),
            # arrays and objects
            ("", ARRAY, []),
            (" \n", OBJECT, {}),
            ("", one_of("array", "null"), []),
            ('[1, "2"]', ARRAY, [1, "2"]),
            ("['a', 'it\\'s', \"q\"]", ARRAY, ["a", "it's", "q"]),
            ("{'a': 1, 'b': [True, None, -1.5e3], 'c': {'d': 'x\"y\\n\\u00e9'}}", OBJECT, None),
            ("[1, 2,]", ARRAY, [1, 2]),
            (r"[{\"a\": \"b\"}]", ARRAY, [{"a": "b"}]),
            (r'"[\"a\"]"', ARRAY, ["a"]),
            ('{"a": True}', OBJECT, {"a": True}),
            ("[,]", ARRAY, UNCHANGED),
            ("[1,,]", ARRAY, UNCHANGED),
            ("[true, 'a']", ARRAY, [True, "a"]),
            ("(1, 2)", ARRAY, UNCHANGED),
            ("[(1, 2)]", ARRAY, UNCHANGED),
            ("{1: 2}", OBJECT, UNCHANGED),
            ("{'a', 'b'}", OBJECT, UNCHANGED),
            ("{'a': 1, 'a': 2}", OBJECT, UNCHANGED),
            ('{"a": 1, "a": 2}', OBJECT, UNCHANGED),
            ("[b'x']", ARRAY, UNCHANGED),
            ("['a' 'b']", ARRAY, UNCHANGED),
            ("['\\d']", ARRAY, UNCHANGED),
            ("['\\ud800']", ARRAY, UNCHANGED),
            ("[NaN]", ARRAY, UNCHANGED),
            ("[__import__('os')]", ARRAY, UNCHANGED),
            ("[1]", OBJECT, UNCHANGED),
            ("[1]", one_of("object", "array"), [1]),
            ("a, b", ARRAY, UNCHANGED),
            # lists of values
            ("auto", {"enum": ["auto", 1]}, UNCHANGED),
            ("1", {"enum": ["auto", 1]}, 1),
            ("1", {"enum": [1, "1"]}, UNCHANGED),
            ("2", {"enum": ["auto", 1]}, UNCHANGED),
            ("1.0", {"enum": [1, 2]}, 1),
            ("1", {"const": 1.0}, 1.0),
            ("True", {"enum": [True, "maybe"]}, True),
            ("None", {"enum": ["x", None]}, None),
            ("null", {"enum": ["null", None]}, UNCHANGED),
            ("[1, 2]", {"enum": [[1, 2], "x"]}, [1, 2]),
            ("[1, 3]", {"enum": [[1, 2], "x"]}, UNCHANGED),
            ("5", {"anyOf": [{"const": "auto"}, INTEGER]}, 5),
            ("auto", {"anyOf": [{"const": "auto"}, INTEGER]}, UNCHANGED),
            ("5", {"anyOf": [STRING, {"const": 5}]}, 5),
            ("6", {"anyOf": [STRING, {"const": 5}]}, UNCHANGED),
            ("x", {"type": "string", "enum": ["a"]}, UNCHANGED),
            # other spellings
            ("3", {"type": "int"}, 3),
            ("{}", {"type": "dict"}, {}),
            ("3", {"type": "any"}, UNCHANGED),
        ],
    )
    def test_table(self, text: str, schema: Any, expected: Any) -> None:
        value, changed = coerce(text, schema)
        if text.startswith("{'a': 1, 'b'"):
            expected = {"a": 1, "b": [True, None, -1500.0], "c": {"d": 'x"y\né'}}
        assert jsontext.equal(value, text if expected is UNCHANGED else expected)
        assert changed is (expected is not UNCHANGED)

    @given(
        st.text(max_size=20) | st.text(alphabet="[]{}'\",:\\ue+-.019 TrueNonefals", max_size=20),
        st.sets(st.sampled_from(["integer", "number", "boolean", "array", "object", "null"])),
    )
    def test_never_raises_and_gives_an_allowed_type_or_the_text(self, text: str, kinds: set[str]) -> None:
        value, changed = coerce(text, {"type": sorted(kinds)})
        if changed:
            allowed = {"type": sorted(kinds | {"null"})}  # a null is passed on for validation to report
            assert jsonschema_rs.Draft202012Validator(allowed).is_valid(value)
        else:
            assert value is text

    @given(st.floats(allow_nan=False, allow_infinity=False) | st.integers())
    def test_numbers_read_back_as_they_were_written(self, number: float) -> None:
        assert jsontext.equal(coerce(json.dumps(number), NUMBER)[0], number)

    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
            max_leaves=8,
        )
    )
    def test_python_literals_read_as_what_they_are(self, value: Any) -> None:
        assert jsontext.equal(coerce(repr([value]), ARRAY)[0], [value])

    @pytest.mark.parametrize(
        "text",
        [
            "[" * 200_000,
            "['" + "\\" * 200_000,
            "-" * 200_000,
            "1" * 200_000,
            "[" + "'a'," * 50_000,
            "[" + " " * 200_000,
        ],
    )
    def test_hostile_text_is_left_alone(self, text: str) -> None:
        assert coerce(text, one_of("integer", "number", "boolean", "array", "object")) == (text, False)

    def test_a_tree_is_typed_by_the_schema_of_each_place(self) -> None:
        schema = {
            "properties": {
                "n": INTEGER,
                "tags": {"type": "array", "items": INTEGER},
                "stops": {"type": "array", "items": {"$ref": "#/$defs/Stop"}},
                "text": STRING,
            },
            "$defs": {"Stop": {"type": "object", "properties": {"at": NUMBER, "via": {"$ref": "#/$defs/Stop"}}}},
        }
        tree = {
            "n": "3",
            "tags": ["1", "x"],
            "stops": [{"at": "1.5", "via": {"at": "2"}}],
            "text": "4",
            "unknown": {"k": ["5"]},
            "typed": True,
        }
        expected = {
            "n": 3,
            "tags": [1, "x"],
            "stops": [{"at": 1.5, "via": {"at": 2}}],
            "text": "4",
            "unknown": {"k": ["5"]},
            "typed": True,
        }
        result, changes = relax(tree, schema)
        assert jsontext.equal(result, expected)
        assert len(changes) == 4
        assert tree["n"] == "3"
        assert relax({"text": ["4"], "n": 3}, schema) == ({"text": ["4"], "n": 3}, ())


class TestNormalise:
    def test_spellings_and_null(self) -> None:
        schema = {
            "type": "dict",
            "properties": {
                "type": {"type": "STRING", "nullable": True},
                "list": {"type": "tuple", "items": {"type": "float"}, "minItems": "1"},
                "any": {"type": "any", "description": "dict"},
                "union": {"type": ["str", "NoneType", "string"]},
                "listed": {"type": "String", "enum": ["dict"], "nullable": True},
                "either": {"anyOf": [{"type": "int"}], "nullable": True},
                "odd": {"type": "frobnicator", "nullable": False},
                "free": {"type": "object", "additionalProperties": {"type": "bool"}},
            },
        }
        assert dumped(normalise(schema)) == dumped(
            {
                "type": "object",
                "properties": {
                    "type": {"type": ["string", "null"]},
                    "list": {"type": "array", "items": {"type": "number"}, "minItems": 1},
                    "any": {"description": "dict"},
                    "union": {"type": ["string", "null"]},
                    "listed": {"type": ["string", "null"], "enum": ["dict", None]},
                    "either": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                    "odd": {"type": "frobnicator"},
                    "free": {"type": "object", "additionalProperties": {"type": "boolean"}},
                },
            }
        )
        assert normalise(normalise(schema)) == normalise(schema)


class TestProblems:
    def test_every_problem_is_reported_at_once_and_in_words(self) -> None:
        schema = {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "days": {"type": "integer"},
                "units": {"enum": ["c", "f"]},
                "amount": {"type": "number", "minimum": 1},
                "code": {"type": "string", "minLength": 2, "pattern": "^[a-z]+$"},
                "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 1},
                "stop": {"type": "object", "properties": {"a": {}}, "required": ["a"], "additionalProperties": False},
                "when": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                "flag": {"type": "boolean"},
            },
            "required": ["city"],
            "additionalProperties": False,
        }
        arguments = {
            "days": True,
            "units": "k",
            "amount": 0.5,
            "code": "A",
            "tags": ["x", 1],
            "stop": {"b": 1},
            "when": 3,
            "flag": "yes",
            "cty": "Paris",
        }
        assert sorted(reported(schema, arguments)) == sorted(
            [
                "missing required argument 'city'",
                "/cty: unknown argument 'cty'",
                "/days: 'days' must be an integer; got the boolean true",
                '/units: \'units\' must be one of "c", "f"; got "k"',
                "/amount: 'amount' must be at least 1; got 0.5",
                "/code: 'code' must have at least 2 characters; it has 1",
                "/code: 'code' must match the pattern ^[a-z]+$; got \"A\"",
                "/tags: 'tags' must have at most 1 item; it has 2",
                "/tags/1: 'tags[1]' must be a string; got 1",
                "/stop: missing required property 'a' in 'stop'",
                "/stop/b: unknown property 'b' in 'stop'",
                "/when: 'when' must be a string or null; got 3",
                "/flag: 'flag' must be a boolean; got the string \"yes\"",
            ]
        )
        assert problems(a_tool(schema), {"city": "Paris", "days": 3, "when": None, "flag": True}) == ()

    @pytest.mark.parametrize(
        ("schema", "value", "message"),
        [
            ({"const": 3}, 4, "'a' must be 3; got 4"),
            ({"exclusiveMaximum": 5}, 5, "'a' must be less than 5; got 5"),
            ({"multipleOf": 2}, 3, "'a' must be a multiple of 2; got 3"),
            ({"uniqueItems": True}, [1, 1], "'a' must not hold the same item twice"),
            ({"minProperties": 2}, {}, "'a' must have at least 2 properties; it has 0"),
            ({"not": {"type": "string"}}, "s", '\'a\' must not be what {"type": "string"} describes'),
            ({"contains": {"const": 1}}, [2], "'a' holds no item of the form it must hold"),
            ({"anyOf": [{"enum": ["x", "y"]}, {"const": 3}]}, 4, '\'a\' must be one of "x", "y", 3; got 4'),
            (
                {"anyOf": [{"type": "string"}, {"type": "object", "required": ["q"]}]},
                {},
                "missing required property 'q' in 'a'",
            ),
            (
                {"oneOf": [{"type": "integer"}, {"type": "number"}]},
                1,
                "'a' fits several forms where it may fit only one",
            ),
            (
                {"oneOf": [{"properties": {"k": {"const": "x"}}}, {"properties": {"k": {"const": "y"}}}]},
                {"k": "z"},
                '\'a\' fits none of its forms: (1) \'a.k\' must be "x"; got "z"; (2) \'a.k\' must be "y"; got "z"',
            ),
            (False, 1, "'a' is not allowed"),
            ({"type": "integer"}, 1.5, "'a' must be an integer; got the number 1.5"),
            ({"type": "dict"}, "x", "'a' must be an object; got the string \"x\""),
            ({"type": "string", "nullable": True}, 1, "'a' must be a string or null; got 1"),
            ({"items": [{"type": "string"}]}, [1], "'a[0]' must be a string; got 1"),
            ({"minimum": 1, "exclusiveMinimum": True}, 1, "'a' must be greater than 1; got 1"),
            ({"type": "string"}, ["x" * 200], "…"),
        ],
    )
    def test_wording(self, schema: Any, value: Any, message: str) -> None:
        (problem,) = problems(a_tool({"properties": {"a": schema}}), {"a": value})
        assert message in problem.message
        assert len(problem.message) < 200
        assert problem.pointer.startswith("/a")

    def test_big_integers_are_checked_exactly(self) -> None:
        schema = {"properties": {"a": {"type": "integer", "maximum": 10**30}}}
        assert problems(a_tool(schema), {"a": 10**30}) == ()
        assert len(problems(a_tool(schema), {"a": 10**30 + 1})) == 1

    @pytest.mark.parametrize("value", [{1, 2}, "\ud800", {1: 2}])
    def test_what_is_not_json_is_a_problem_too(self, value: Any) -> None:
        (problem,) = problems(a_tool({"properties": {"a": {"type": "boolean"}}}), {"a": value})
        assert (problem.pointer, problem.keyword) == ("/a", "json")

    @pytest.mark.parametrize("scheme", ["file", "http"])
    def test_a_reference_never_opens_a_file_or_a_connection(self, scheme: str, tmp_path: Path) -> None:
        path = tmp_path / "schema.json"
        path.write_text('{"type": "integer"}')
        with socket.create_server(("127.0.0.1", 0)) as server:
            server.settimeout(0)
            web = f"http://127.0.0.1:{server.getsockname()[1]}/s"
            reference = path.as_uri() if scheme == "file" else web
            tool = a_tool({"properties": {"a": {"$ref": reference}}}, "lookup")
            with pytest.raises(UnresolvableReferenceError) as caught:
                problems(tool, {"a": 1})
            with pytest.raises(BlockingIOError):
                server.accept()
        assert "tool 'lookup'" in str(caught.value)
        assert f"#/properties/a/$ref: {reference!r}" in str(caught.value)

    @pytest.mark.parametrize(
        ("schema", "message"),
        [
            (
                {"properties": {"a": {"type": "frobnicator"}}},
                "/properties/a/type: 'frobnicator' is not a JSON Schema type",
            ),
            ({"properties": {"a": {"pattern": "("}}}, "/properties/a/pattern"),
            ({"properties": {"a": {"required": "yes"}}}, "/properties/a/required"),
            ({"required": "city"}, "/required"),
            ({"$ref": "#/$defs/x"}, "'#/$defs/x' does not exist"),
        ],
    )
    def test_an_unusable_schema_names_its_tool_and_the_place(self, schema: dict[str, Any], message: str) -> None:
        with pytest.raises(SchemaError) as caught:
            Validator(a_tool(schema, "my_tool"))
        assert "tool 'my_tool'" in str(caught.value)
        assert message in str(caught.value)

    @pytest.mark.parametrize("pattern", ["^(a+)+$", "^(a|a)*$", r"^(?=a)(a+)+$", r"^(a+)+\1$"])
    def test_patterns_cannot_be_made_to_hang(self, pattern: str) -> None:
        tool = a_tool({"properties": {"a": {"pattern": pattern}}})
        assert len(problems(tool, {"a": "a" * 5000 + "b"})) == 1

    def test_a_pattern_that_backtracks_without_end_is_abandoned(self) -> None:
        (problem,) = problems(a_tool({"properties": {"a": {"pattern": r"^(?!x)(a*)*\1c$"}}}), {"a": "a" * 14})
        assert "takes too long to be checked" in problem.message

    def test_a_compiled_schema_lives_as_long_as_its_tool(self) -> None:
        gc.collect()
        before = len(validation._validators)
        tool = a_tool({"type": "object"})
        problems(tool, {})
        (first,) = [v for _, v in list(validation._validators.values()) if v is validation._validator(tool)]
        assert validation._validator(tool) is first
        del tool, first
        gc.collect()
        assert len(validation._validators) == before

    def test_a_schema_for_any_draft_is_checked_by_the_same_rules(self) -> None:
        schema = {"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"A": {"type": "integer"}}}
        schema["properties"] = {"a": {"$ref": "#/definitions/A"}}
        assert len(problems(a_tool(schema), {"a": "x"})) == 1
        assert problems(a_tool({"$schema": "https://example.com/my-rules", "type": "object"}), {}) == ()


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"properties": {"a": {}}}, ("b", "c")),
        ({"properties": {"a": {}}, "additionalProperties": False}, ("b", "c")),
        ({"properties": {"a": {}}, "additionalProperties": {"type": "string"}}, ()),
        ({"patternProperties": {"^b": {}}}, ()),
        (
            {"$ref": "#/$defs/R", "$defs": {"R": {"anyOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]}}},
            ("c",),
        ),
        ({}, ("a", "b", "c")),
    ],
)
def test_extra_arguments(schema: dict[str, Any], expected: tuple[str, ...]) -> None:
    assert extra_arguments(a_tool(schema), {"a": 1, "b": 2, "c": 3}) == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("9007199254740992.0", 2**53),
        ("-9007199254740992.0", -(2**53)),
        ("9.007199254740992e15", 2**53),
        ("9007199254740993", 2**53 + 1),
        ("9.007199254740994e15", "9.007199254740994e15"),
        ("1e16", "1e16"),
        ("0.5", "0.5"),
    ],
)
def test_a_float_is_a_whole_number_as_far_as_floats_tell_neighbours_apart(text: str, value: object) -> None:
    found, changed = coerce(text, {"type": "integer"})
    assert (type(found), found, changed) == (type(value), value, value != text)
