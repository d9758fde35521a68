"""Tools' schemas between providers: the facts of each dialect as a table, and what holds for any schema."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from typing import Any

import jsonschema_rs
import pytest
from conversations import asked
from drawn_schemas import ARGUMENTS, SCHEMAS
from hypothesis import given
from hypothesis import strategies as st
from test_laws import every_format, every_target, others, same, there_and_back, written

from toolfmt import Loss, check, convert, lower_schema, repair
from toolfmt.conversation import ToolDeclaration
from toolfmt.errors import LimitExceededError, UnknownFormatError, UnsupportedSchemaError
from toolfmt.model import JsonValue
from toolfmt.schema import normalise
from toolfmt.schema.comparing import differences
from toolfmt.schema.lowering import lower, refusals
from toolfmt.schema.rules import NAMED, SchemaRules
from toolfmt.schema.spelling import modernise, with_null
from toolfmt.transcripts.format import TranscriptFormat
from toolfmt.transcripts.formats import find

TREE = {"type": "object", "properties": {"k": {"type": "array", "items": {"$ref": "#/$defs/N"}}}}
DEFINED = {"X": {"type": "string"}, "N": TREE}


def schema_of(argument: Any) -> Any:
    """A schema of one argument that must be there, closed: what strict modes want around it."""
    return {
        "type": "object",
        "properties": {"a": argument},
        "required": ["a"],
        "additionalProperties": False,
        "$defs": DEFINED,
    }


REFUSED = "refused"
LOWERED: list[tuple[str, Any, Any]] = [
    # JSON Schema's own words stay where a declaration is not strict, whatever they are: recorded with HTTP 200.
    ("openai", {"allOf": [{"type": "string"}], "not": {"const": "x"}}, None),
    ("anthropic", {"$ref": "#/$defs/N", "description": "beside"}, None),
    ("bedrock", {"type": "object", "patternProperties": {"^x": {"type": "string"}}}, None),
    # "array schema missing items".
    ("openai", {"type": "array"}, {"type": "array", "items": {}}),
    # Types that no draft knows: BFCL's words, and Gemini's.
    ("openai", {"type": "float"}, {"type": "number"}),
    ("anthropic", {"type": "STRING", "nullable": True}, {"type": ["string", "null"]}),
    # "It must match JSON Schema draft 2020-12".
    ("anthropic", {"type": "array", "items": [{"type": "string"}]},
     {"type": "array", "prefixItems": [{"type": "string"}]}),
    ("anthropic", {"minimum": 1, "exclusiveMinimum": True}, {"exclusiveMinimum": 1}),
    # mistral-common: Draft7Validator.
    ("mistral", {"type": "array", "prefixItems": [{"type": "string"}], "items": False},
     {"type": "array", "items": [{"type": "string"}], "additionalItems": False}),
    ("mistral", {"dependentRequired": {"a": ["b"]}}, {"dependencies": {"a": ["b"]}}),
    ("mistral", {"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"b": {"required": ["c"]}}},
     {"dependencies": {"b": {"required": ["c"]}, "a": ["b"]}}),
    # openai, lib/_pydantic.py: a reference with siblings is inlined, a recursive one stays, None is no default.
    ("openai-strict", {"$ref": "#/$defs/N"}, None),
    ("openai-strict", {"$ref": "#/$defs/X", "description": "beside"}, {"type": "string", "description": "beside"}),
    ("openai-strict", {"type": "string", "default": None}, {"type": "string"}),
    ("openai-strict", {"allOf": [{"type": "string", "minLength": 1}]}, {"type": "string", "minLength": 1}),
    # "'oneOf' is not permitted", "'default' is not permitted", "'uniqueItems' is not permitted".
    ("openai-strict", {"oneOf": [{"type": "string"}]}, {"anyOf": [{"type": "string"}]}),
    ("openai-strict", {"type": "string", "default": "x"}, {"type": "string", "description": '{"default": "x"}'}),
    ("openai-strict", {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
     {"type": "array", "items": {"type": "string"}, "description": '{"uniqueItems": true}'}),
    # OpenAI's guide: pattern, format and bounds are accepted, but not for a fine-tuned model.
    ("openai-strict", {"type": "string", "pattern": "^a", "format": "uuid"}, None),
    ("openai-tuned-strict", {"type": "string", "pattern": "^a"},
     {"type": "string", "description": '{"pattern": "^a"}'}),
    # The same guide: every object is closed and requires all; one for members of any name has no form.
    ("openai-strict", {"type": "object", "properties": {"b": {"type": "string"}}},
     {"type": "object", "properties": {"b": {"type": ["string", "null"]}}, "additionalProperties": False,
      "required": ["b"]}),
    ("openai-strict", {"type": "object", "additionalProperties": {"type": "string"}}, REFUSED),
    ("openai-strict", {}, REFUSED),
    # anthropic, lib/_parse/_transform.py: what is left over moves into the description, `oneOf` becomes `anyOf`.
    ("anthropic-strict", {"type": "integer", "minimum": 1, "description": "Days"},
     {"type": "integer", "description": 'Days\n\n{"minimum": 1}'}),
    ("anthropic-strict", {"oneOf": [{"type": "string"}, {"type": "integer"}]},
     {"anyOf": [{"type": "string"}, {"type": "integer"}]}),
    ("anthropic-strict", {"type": "string", "format": "uri"}, None),
    ("anthropic-strict", {"type": "string", "format": "regex"},
     {"type": "string", "description": '{"format": "regex"}'}),
    ("anthropic-strict", {"type": "array", "items": {"type": "string"}, "minItems": 1}, None),
    ("anthropic-strict", {"type": "array", "items": {"type": "string"}, "minItems": 2},
     {"type": "array", "items": {"type": "string"}, "description": '{"minItems": 2}'}),
    ("anthropic-strict", {"type": "object", "properties": {"b": {"type": "string"}}},
     {"type": "object", "properties": {"b": {"type": "string"}}, "additionalProperties": False}),
    ("anthropic-strict", {"const": "x"}, None),
    ("anthropic-strict", {"enum": ["x", 1, None]}, None),
    ("anthropic-strict", {"$ref": "#/$defs/N"}, REFUSED),
    # google-genai, types.Schema: OpenAPI's words.
    ("gemini-openapi", {"const": "x"}, {"enum": ["x"]}),
    ("gemini-openapi", {"type": "integer", "enum": [1, 2]}, {"type": "integer", "description": '{"enum": [1, 2]}'}),
    ("gemini-openapi", {"type": ["string", "null"]}, {"type": "string", "nullable": True}),
    ("gemini-openapi", {"anyOf": [{"type": "string"}, {"type": "null"}]}, {"type": "string", "nullable": True}),
    ("gemini-openapi", {"type": ["string", "integer"], "minLength": 1},
     {"anyOf": [{"type": "string", "minLength": 1}, {"type": "integer"}]}),
    ("gemini-openapi", {"type": "integer", "exclusiveMinimum": 0}, {"type": "integer", "minimum": 1}),
    ("gemini-openapi", {"type": "integer", "exclusiveMinimum": 5, "minimum": 5}, {"type": "integer", "minimum": 6}),
    ("gemini-openapi", {"type": "integer", "exclusiveMaximum": 5, "maximum": 5}, {"type": "integer", "maximum": 4}),
    ("gemini-openapi", {"enum": [1, 2]}, {"type": "integer", "description": '{"enum": [1, 2]}'}),
    ("gemini-openapi", {"enum": [1, "x"]},
     {"anyOf": [{"type": "integer"}, {"type": "string"}], "description": '{"enum": [1, "x"]}'}),
    ("gemini-openapi", {"type": "number", "exclusiveMinimum": 0},
     {"type": "number", "description": '{"exclusiveMinimum": 0}'}),
    ("gemini-openapi", {"$ref": "#/$defs/X"}, {"type": "string"}),
    ("gemini-openapi", {"$ref": "#/$defs/N"}, REFUSED),
    ("gemini-openapi", True, {}),
    ("gemini-openapi", {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False},
     {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "integer"}]}, "maxItems": 2,
      "description": '{"prefixItems": [{"type": "string"}, {"type": "integer"}]}'}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "argument", "expected"), LOWERED)
def test_what_a_dialect_makes_of_an_argument(name: str, argument: Any, expected: Any) -> None:
    given = schema_of(argument)
    before = deepcopy(given)
    if expected == REFUSED:
        with pytest.raises(UnsupportedSchemaError):
            lower(given, NAMED[name])
    else:
        lowered = lower(given, NAMED[name])
        assert same(lowered["properties"]["a"], argument if expected is None else expected)
    assert same(given, before)


def test_what_is_required_keeps_its_order() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "required": ["b", "a"],
        "additionalProperties": False,
    }
    assert lower(schema, NAMED["openai-strict"]) is schema


ROOTS: list[tuple[str, Any, Any]] = [
    ("openai", {"properties": {}}, {"type": "object", "properties": {}}),
    ("bedrock", {"$ref": "#/$defs/A", "$defs": {"A": {"type": "object", "properties": {"a": {"type": "string"}}}}},
     {"type": "object", "properties": {"a": {"type": "string"}},
      "$defs": {"A": {"type": "object", "properties": {"a": {"type": "string"}}}}}),
    # "input_schema does not support oneOf, allOf, or anyOf at the top level".
    ("anthropic",
     {"type": "object", "allOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}, "required": ["b"]}]},
     {"type": "object", "properties": {"a": {}, "b": {}}, "required": ["b"]}),
    ("anthropic", {"type": "object", "oneOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]},
                                               {"properties": {"a": {"type": "null"}}, "required": ["a"]}]},
     {"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}, "required": ["a"],
      "description": '{"oneOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]}, '
                     '{"properties": {"a": {"type": "null"}}, "required": ["a"]}]}'}),
    # "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'".
    ("anthropic", {"type": "object", "properties": {"a b": {"type": "string"}, "c": {}}, "required": ["a b", "c"]},
     {"type": "object", "properties": {"c": {}}, "required": ["c"],
      "description": '{"properties": {"a b": {"type": "string"}}}'}),
    ("openai-strict", {"type": "object"},
     {"type": "object", "properties": {}, "additionalProperties": False, "required": []}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "schema", "expected"), ROOTS)
def test_what_a_dialect_makes_of_the_root(name: str, schema: Any, expected: Any) -> None:
    assert same(lower(schema, NAMED[name]), expected)


def nested(levels: int) -> Any:
    """Objects inside each other."""
    found: Any = {"type": "string"}
    for _ in range(levels):
        found = {"type": "object", "properties": {"a": found}, "required": ["a"], "additionalProperties": False}
    return found


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        (nested(11), "11 levels"),
        (schema_of({"enum": list(range(1001))}), "1001 listed values"),
        (schema_of({"enum": ["a" * 120_001]}), "characters"),
    ],
)
def test_limits_are_reported_with_the_count(schema: Any, reason: str) -> None:
    with pytest.raises(UnsupportedSchemaError, match=reason):
        lower(schema, NAMED["openai-strict"])
    assert lower(nested(10), NAMED["openai-strict"]) == nested(10)


every_dialect = pytest.mark.parametrize("rules", [pytest.param(rules, id=name) for name, rules in NAMED.items()])


def validator(schema: Any) -> Any:
    return jsonschema_rs.Draft202012Validator(modernise(normalise(schema)), offline=True)


@every_dialect
@given(schema=SCHEMAS, calls=st.lists(ARGUMENTS, min_size=3, max_size=8))
def test_a_lowered_schema_is_accepted_and_allows_no_less(rules: SchemaRules, schema: Any, calls: list[Any]) -> None:
    """An outside judge: where it finds that a call fits one schema and not the other, there is a difference told."""
    before = json.dumps(schema)
    try:
        lowered = lower(schema, rules)
    except UnsupportedSchemaError:
        assert rules.closed or not rules.recursion
        return
    finally:
        assert json.dumps(schema) == before
    assert lower(lowered, rules) is lowered
    assert list(refusals(lowered, rules)) == []
    reported = list(differences(schema, lowered))
    original, made = validator(schema), validator(lowered)
    for call in calls:
        old, new = original.is_valid(call), made.is_valid(call)
        assert new or not old or rules.closed
        assert old == new or reported


@given(schema=SCHEMAS)
def test_a_schema_does_not_differ_from_itself(schema: Any) -> None:
    assert list(differences(schema, json.loads(json.dumps(schema)))) == []


def declared(schema: Any, *, strict: bool | None = None) -> ToolDeclaration:
    return ToolDeclaration("f", "Does it", schema, strict=strict)


@every_target
@given(drawn=st.builds(declared, SCHEMAS, strict=st.sampled_from([None, True])))
def test_tools_arrive_accepted_and_come_back_exactly(target: TranscriptFormat, drawn: ToolDeclaration) -> None:
    for source in others(target):
        value = written(asked(tools=(drawn,)), source)
        sound = all(found.rule != "schema" for found in check(value, format=source.name))
        there = convert(value, source=source.name, target=target.name)
        found = [found for found in check(there.value, format=target.name) if found.rule == "schema"]
        # Rows of bare arguments have no place for what is recursive; it is kept there, and told.
        assert found == [] or not sound or not target.rules.schema.recursion, source.name
        there_and_back(value, source, target)


def tool(**fields: Any) -> Any:
    return {
        "messages": [{"role": "user", "content": "Hi"}],
        "tools": [{"type": "function", "function": {"name": "f", **fields}}],
    }


def test_losses_say_where_in_the_schema() -> None:
    schema = schema_of({"type": "integer", "minimum": 1, "oneOf": [{"type": "integer"}], "default": None})
    made = convert(tool(parameters=schema, strict=True), source="openai", target="anthropic")
    place = "/tools/0/parameters/properties/a"
    assert made.losses == (
        Loss("schema", f"{place}/minimum", "moved", "minimum"),
        Loss("schema", f"{place}/oneOf", "changed", "oneOf -> anyOf"),
        Loss("schema", f"{place}/default", "dropped", "default"),
    )


def test_the_same_in_other_words_is_no_loss() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"$ref": "#/$defs/X", "description": "beside"},
            "b": {"type": "array", "prefixItems": [{"const": 1}], "items": False},
        },
        "$defs": DEFINED,
    }
    made = convert(tool(parameters=schema), source="openai", target="mistral")
    assert made.losses == ()
    assert made.value["tools"][0]["function"]["parameters"]["properties"] == {
        "a": {"type": "string", "description": "beside"},
        "b": {"type": "array", "items": [{"const": 1}], "additionalItems": False},
    }


def test_strictness_goes_where_the_schema_has_no_strict_form() -> None:
    schema = schema_of({"$ref": "#/$defs/N"})
    made = convert(tool(parameters=schema, strict=True), source="openai", target="anthropic")
    assert made.losses == (Loss("strict", "/tools/0", "dropped", "f"),)
    (found,) = made.value["tools"]
    assert (found["input_schema"], found["strict"]) == (schema, False)


def test_check_says_what_is_refused_and_where_and_repair_mends_it() -> None:
    schema = schema_of({"type": "string", "default": "x"})
    del schema["$defs"]
    value = tool(parameters=schema, strict=True)
    (found,) = check(value, format="openai")
    assert (found.rule, found.path) == ("schema", "/tools/0/parameters/properties/a/default")
    assert found.message == "default is not accepted here"
    mended = repair(value, format="openai")
    assert check(mended.value, format="openai") == ()
    assert mended.changes == (Loss("schema", "/tools/0/parameters/properties/a/default", "moved", "default"),)


def unsaid(made: TranscriptFormat) -> set[str]:
    """What is lost of the user's words where a format has no place for them."""
    return set() if "user" in made.rules.roles else {"text"}


@every_format
def test_a_tool_for_free_text_is_a_function_with_its_grammar_where_there_are_only_functions(
    made: TranscriptFormat,
) -> None:
    grammar = {"type": "grammar", "grammar": {"syntax": "lark", "definition": "start: X"}}
    custom = {"type": "custom", "custom": {"name": "sql", "description": "Runs it", "format": grammar}}
    value = {"messages": [{"role": "user", "content": "Hi"}], "tools": [custom]}
    there = convert(value, source="openai", target=made.name)
    tools = made.read(there.value).tools
    for tool in tools or ():
        text = json.dumps(tool.parameters)
        assert tool.name == "sql"
        assert "start: X" in text
        assert made.rules.custom_tools == (tool.kind == "custom")
    reported = {loss.code for loss in there.losses} - unsaid(made)
    assert reported == (set() if made.rules.custom_tools else {"tool" if tools else "tools"})
    there_and_back(value, find("openai"), made)


def test_gemini_s_own_schemas_are_checked_in_their_own_words_and_mended_by_json_schema() -> None:
    own: dict[str, Any] = {
        "type": "OBJECT",
        "properties": {"a": {"type": "STRING", "nullable": True}, "b": {"any_of": [{"type": "INTEGER"}]}},
    }
    value = {
        "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
        "tools": [{"functionDeclarations": [{"name": "f", "parameters": own}]}],
    }
    assert check(value, format="gemini") == ()
    # 400: Unknown name "additionalProperties", Unknown name "const".
    own["additionalProperties"] = False
    own["properties"]["c"] = {"const": "x"}
    assert [found.path for found in check(value, format="gemini")] == [
        "/tools/0/parameters/additionalProperties",
        "/tools/0/parameters/properties/c/const",
        "/tools/0/parameters/properties/c/enum",
    ]
    mended = repair(value, format="gemini")
    assert check(mended.value, format="gemini") == ()
    (found,) = mended.value["tools"][0]["functionDeclarations"]
    assert found["parametersJsonSchema"]["properties"]["c"] == {"const": "x"}


@pytest.mark.parametrize("target", ["anthropic", "bedrock", "gemini", "mistral", "openai-responses"])
def test_an_edited_description_leaves_the_schema_as_it_was(target: str) -> None:
    value = tool(parameters=schema_of({"type": "integer", "minimum": 1}), strict=True, description="Old")
    there = convert(value, source="openai", target=target)
    edited = json.loads(json.dumps(there.value).replace("Old", "New"))
    back = convert(edited, source=target, target="openai", residue=there.residue).value
    assert back == tool(parameters=schema_of({"type": "integer", "minimum": 1}), strict=True, description="New")


def test_a_tool_added_on_the_other_side_is_lowered_on_the_way_back() -> None:
    value = {"messages": [{"role": "user", "content": "Hi"}], "tools": [{"name": "f", "input_schema": schema_of({})}]}
    there = convert(value, source="anthropic", target="openai")
    root = {"type": "object", "properties": {"a b": {"type": "string"}}}
    there.value["tools"].append({"type": "function", "function": {"name": "g", "parameters": root}})
    back = convert(there.value, source="openai", target="anthropic", residue=there.residue)
    assert back.value["tools"][0] == value["tools"][0]
    assert check(back.value, format="anthropic") == ()
    assert [loss.path for loss in back.losses] == ["/tools/1/parameters/properties/a b"]


def test_null_is_added_where_it_is_missing() -> None:
    nodes: list[JsonValue] = [False, True, {"enum": ["a"]}, {"enum": ["a", None]}, {"type": "string", "enum": ["a"]}]
    both = {"type": ["string", "null"], "enum": ["a", None]}
    assert list(map(with_null, nodes)) == [{"type": "null"}, True, *[{"enum": ["a", None]}] * 2, both]


@pytest.mark.parametrize(("after", "action"), [({"description": "b"}, "changed"), ({}, "dropped")])
def test_a_description_that_is_not_continued_is_a_difference(after: dict[str, Any], action: str) -> None:
    found = list(differences({"type": "string", "description": "a"}, {"type": "string", **after}))
    assert [(one.pointer, one.action) for one in found] == [("/description", action)]


def deep(levels: int) -> Any:
    found: Any = {"type": "string"}
    for _ in range(levels):
        found = {"type": "array", "items": found}
    return {"type": "object", "properties": {"a": found}}


def doubling(times: int) -> Any:
    """A schema that doubles with each reference."""
    defined: dict[str, Any] = {"X0": {"type": "string"}}
    for at in range(times):
        both = {"$ref": f"#/$defs/X{at}", "description": "beside"}
        defined[f"X{at + 1}"] = {"type": "object", "properties": {"l": both, "r": both}}
    return {"type": "object", "properties": {"a": {"$ref": f"#/$defs/X{times}"}}, "$defs": defined}


@every_dialect
@pytest.mark.parametrize(("made", "size"), [(deep, 100_000), (doubling, 40)], ids=["deep", "doubling"])
def test_what_has_no_bottom_or_no_end_is_refused_by_name(
    rules: SchemaRules, made: Callable[[int], Any], size: int
) -> None:
    schema = made(size)
    with suppress(UnsupportedSchemaError):
        assert lower(schema, rules) is schema


@every_format
def test_such_a_tool_is_carried_or_refused(made: TranscriptFormat) -> None:
    value = tool(parameters=deep(100_000))
    with suppress(LimitExceededError):
        found = convert(value, source="openai", target=made.name)
        assert {loss.code for loss in found.losses} <= {"tools"} | unsaid(made)


def test_one_schema_alone() -> None:
    schema = {"type": "object", "properties": {"n": {"const": 1}}}
    made = lower_schema(schema, provider="gemini-openapi")
    assert made.schema["properties"] == {"n": {"type": "integer", "description": '{"const": 1}'}}
    assert [(loss.path, loss.action) for loss in made.losses] == [("/properties/n/const", "moved")]
    assert lower_schema(schema, provider="anthropic").schema is schema
    assert lower_schema(schema, provider="claude", strict=True).schema["additionalProperties"] is False
    with pytest.raises(UnknownFormatError, match="gemini-openapi"):
        lower_schema(schema, provider="gemini-opnapi")


def test_an_argument_with_an_odd_name_is_refused_where_all_must_be_named() -> None:
    schema = schema_of({"type": "string"})
    schema["properties"]["año"] = {"type": "string"}
    schema["required"].append("año")
    with pytest.raises(UnsupportedSchemaError, match=r"an argument's name is 'año', which has no form here"):
        lower(schema, NAMED["anthropic-strict"])
    lowered = lower(schema, NAMED["anthropic"])
    assert list(lowered["properties"]) == lowered["required"] == ["a"]
    assert "additionalProperties" not in lowered


@pytest.mark.parametrize("union", [{"type": ["string", "null"]}, {"anyOf": [{"type": "string"}, {"type": "null"}]}])
def test_lists_of_types_are_counted_as_unions(union: Any) -> None:
    rules = NAMED["anthropic-strict"]
    for count in (rules.max_unions, rules.max_unions + 1):
        names = [f"a{number}" for number in range(count)]
        schema = {
            "type": "object",
            "properties": dict.fromkeys(names, union),
            "required": names,
            "additionalProperties": False,
        }
        if count == rules.max_unions:
            assert lower(schema, rules)["required"] == names
        else:
            with pytest.raises(UnsupportedSchemaError, match=rf"has {count} places of several types, and at most"):
                lower(schema, rules)
