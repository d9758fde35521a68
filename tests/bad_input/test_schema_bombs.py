"""Schemas that take exponential time to check: refused where a tool is read; what grows with the value is counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.bad_input.test_growth import steps
from toolfmt import ToolDefinition, ToolRegistry, grammar, lower_schema, manifest, parse
from toolfmt.errors import ArgumentsError, SchemaError
from toolfmt.execution import Executor, Permissions
from toolfmt.jsontext import is_object
from toolfmt.schema import problems, relax
from toolfmt.schema.patterns import MOST, compile_time
from toolfmt.schema.places import ANY, shape
from toolfmt.schema.work import MAX_WORK, SchemaWork
from toolfmt.tools import tools

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.timeout(60)

TEXT = {"type": "string"}
BESIDE: dict[str, Callable[[Any], Any]] = {
    "allOf": lambda ref: {"allOf": [ref, ref]},
    "anyOf": lambda ref: {"anyOf": [ref, ref]},
    "oneOf": lambda ref: {"oneOf": [ref, ref]},
    "mixed": lambda ref: {"anyOf": [ref], "oneOf": [ref]},
    "not": lambda ref: {"not": ref, "allOf": [ref]},
    "if": lambda ref: {"if": ref, "then": ref},
    "else": lambda ref: {"if": {}, "then": ref, "else": ref},
    "dependentSchemas": lambda ref: {"dependentSchemas": {"x": ref, "y": ref}},
    "dependencies": lambda ref: {"dependencies": {"x": ref, "y": ref}},
    "beside a reference": lambda ref: {**ref, "allOf": [ref]},
    "unevaluatedProperties": lambda ref: {"allOf": [ref], "unevaluatedProperties": False},
    "unevaluatedItems": lambda ref: {"anyOf": [ref], "unevaluatedItems": {}},
}
"""What doubles the visits of one value with every level."""
BELOW: dict[str, Callable[[Any], Any]] = {
    "properties": lambda ref: {"properties": {"x": ref}, "patternProperties": {"x": ref}},
    "patternProperties": lambda ref: {"patternProperties": {"^x": ref, "x$": ref}},
    "additionalProperties": lambda ref: {"additionalProperties": {"allOf": [ref, ref]}},
    "items": lambda ref: {"items": {"allOf": [ref, ref]}},
    "contains": lambda ref: {"contains": ref, "items": ref},
    "prefixItems": lambda ref: {"prefixItems": [{"anyOf": [ref, ref]}]},
}
"""What doubles the visits of the values inside one."""


def chain(length: int, link: Callable[[Any], Any], pointer: str = "$ref") -> dict[str, Any]:
    """Make a schema of definitions, each made of the one before."""
    definitions: dict[str, Any] = {"d0": TEXT | ({"$dynamicAnchor": "d0"} if pointer == "$dynamicRef" else {})}
    for number in range(1, length + 1):
        name = f"d{number - 1}"
        target = f"#{name}" if pointer != "$ref" else f"#/$defs/{name}"
        definitions[f"d{number}"] = link({pointer: target})
        if pointer != "$ref":
            definitions[f"d{number}"][pointer.replace("Ref", "Anchor").replace("$anchor", "$anchor")] = f"d{number}"
    last = {pointer: f"#d{length}" if pointer != "$ref" else f"#/$defs/d{length}"}
    return {"type": "object", "properties": {"a": last}, "$defs": definitions}


def nested(levels: int, link: Callable[[Any], Any]) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"x": value} if "items" not in str(link({})).lower() and "contains" not in link({}) else [value]
    return value


@pytest.mark.parametrize("pointer", ["$ref", "$dynamicRef"])
@pytest.mark.parametrize("link", BESIDE.values(), ids=BESIDE)
def test_a_schema_that_doubles_the_visits_of_one_value_is_refused_when_the_tool_is_read(
    link: Callable[[Any], Any], pointer: str
) -> None:
    given = {"name": "bomb", "parameters": chain(40, link, pointer)}
    with pytest.raises(SchemaError, match=r"'bomb'.*at #/\S+: references and combinations take too many steps"):
        tools([given])
    with pytest.raises(SchemaError, match=r"'bomb'.*at #/\S+: references"):
        problems(ToolDefinition(**given), {"a": "x"})
    assert len(tools([{**given, "parameters": chain(5, link, pointer)}])) == 1


@pytest.mark.parametrize("link", BELOW.values(), ids=BELOW)
def test_arguments_that_take_too_many_visits_are_refused_and_others_are_checked(link: Callable[[Any], Any]) -> None:
    (tool,) = tools([{"name": "bomb", "parameters": chain(40, link)}])
    (problem,) = problems(tool, {"a": nested(40, link)})
    assert problem.keyword == "limit"
    assert "too large for their schema" in problem.message
    assert problems(tool, {"a": nested(3, link)}) == ()


@pytest.mark.parametrize("key", ["allOf", "anyOf", "oneOf"])
@pytest.mark.parametrize("at_root", [True, False])
def test_a_schema_of_many_parts_with_members_of_their_own_is_refused(key: str, at_root: bool) -> None:  # noqa: FBT001 - a case
    def parameters(count: int) -> dict[str, Any]:
        parts = {key: [{"type": "object", "properties": {f"x{number}": TEXT}} for number in range(count)]}
        return {"type": "object", **parts} if at_root else {"type": "object", "properties": {"a": parts}}

    assert len(tools([{"name": "f", "parameters": parameters(400)}])) == 1
    with pytest.raises(SchemaError, match=r"'bomb'.*at #.*: references and combinations take too many steps"):
        manifest([{"name": "bomb", "parameters": parameters(3_000)}], dialect="xml-items")


def test_a_refused_schema_hangs_neither_reading_nor_executing() -> None:
    tool = ToolDefinition(name="bomb", parameters=chain(40, BESIDE["allOf"]))
    answer = '<tool_call>{"name": "bomb", "arguments": {"a": "x"}}</tool_call>'
    with pytest.raises(SchemaError, match="'bomb'"):
        parse(answer, dialect="hermes", tools=[tool], validate=True)
    registry = ToolRegistry()
    registry.register(tool, function=lambda a: a)
    registry.register(ToolDefinition(name="harmless", parameters={}), function=lambda: 0)
    denied = Executor(registry, timeout=1, policies=[Permissions({"*": ["harmless"]})])
    (allowed,) = Executor(registry, timeout=1).execute_sync(parse(answer, dialect="hermes", tools=[tool]).calls)
    assert allowed.failure == "broken_tool"
    (execution,) = denied.execute_sync([{"name": "bomb", "arguments": {"a": "x"}}])
    assert execution.has_error


@pytest.mark.parametrize("dialect", ["react", "hermes", "auto"])
@pytest.mark.parametrize(
    "answer", ["Action: bomb[x]", 'Action: bomb("x")', "Action: bomb\nAction Input: a: x", '{"a": "x"}', 'bomb("x")']
)
def test_no_answer_makes_reading_raise_for_a_refused_schema(dialect: str, answer: str) -> None:
    tool = ToolDefinition(name="bomb", parameters=chain(40, BESIDE["allOf"]))
    result = parse(answer, dialect=dialect, tools=[tool])
    assert {call.name for call in result.calls} <= {"bomb"}
    assert result.text or result.calls or result.failures


def test_what_is_wrong_in_too_many_places_is_reported_by_its_argument() -> None:
    items = {"type": "array", "items": TEXT}
    (tool,) = tools([{"name": "f", "parameters": {"properties": {"many": items, "few": items, "~/": TEXT}}}])
    (problem,) = problems(tool, {"many": [1] * 20_000, "few": ["x"], "~/": "x"})
    assert (problem.pointer, problem.keyword) == ("/many", "limit")
    assert len(problems(tool, {"many": [1] * 20})) == 20


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"anyOf": [{"$ref": "#/$defs/n"}], "$defs": {"n": {"oneOf": [TEXT, {"$ref": "#/$defs/n"}]}}},
        {"properties": {"a": {"anyOf": [TEXT, {"type": "array", "items": {"$ref": "#"}}, {"$ref": "#"}]}}},
    ],
)
def test_recursive_schemas_are_read(schema: dict[str, Any]) -> None:
    (tool,) = tools([{"name": "f", "parameters": schema}])
    assert problems(tool, {"a": "x"}) == ()


def test_definitions_that_all_hold_one_another_are_refused() -> None:
    names = [f"d{number}" for number in range(12)]
    everything = {"anyOf": [{"$ref": f"#/$defs/{name}"} for name in names]}
    parameters = {"properties": {"a": everything}, "$defs": {name: {**everything, **TEXT} for name in names}}
    with pytest.raises(SchemaError, match="too many steps"):
        tools([{"name": "f", "parameters": parameters}])


NAMES = st.sampled_from(["a", "b", "c", "d"])
REFS = st.builds(lambda name: {"$ref": f"#/$defs/{name}"}, NAMES)
LISTED = st.sampled_from(["allOf", "anyOf", "oneOf"])
SINGLE = st.sampled_from(["not", "items", "additionalProperties", "contains"])
SUBS = st.recursive(
    st.sampled_from([TEXT, {}, {"type": "integer"}]) | REFS,
    lambda sub: st.one_of(
        st.builds(lambda key, subs: {key: subs}, LISTED, st.lists(sub, min_size=1, max_size=3)),
        st.builds(lambda key, sub: {key: sub}, SINGLE, sub),
        st.builds(lambda a, b: {"properties": {"x": a, "y": b}}, sub, sub),
        st.builds(lambda a, b: {"if": a, "then": b}, sub, sub),
    ),
    max_leaves=6,
)
VALUES = st.recursive(
    st.sampled_from([1, "s", None]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
    max_leaves=6,
)


def naive(root: Any, node: Any, value: Any, path: tuple[int, ...] = ()) -> int:
    """Count visits the slow way: one by one."""
    if not is_object(node) or id(node) in path:
        return 0
    beside = [*node.get("allOf", ()), *node.get("anyOf", ()), *node.get("oneOf", ())]
    beside += [node[key] for key in ("not", "if", "then") if key in node]
    if "$ref" in node:
        beside.append(root["$defs"][node["$ref"].rpartition("/")[2]])
    count = 1 + sum(naive(root, sub, value, (*path, id(node))) for sub in beside)
    if isinstance(value, list):
        count += sum(naive(root, node.get(key), item) for item in value for key in ("items", "contains"))
    if isinstance(value, dict):
        named = node.get("properties", {})
        count += sum(naive(root, named.get(key, node.get("additionalProperties")), item) for key, item in value.items())
    return count


@settings(max_examples=150, deadline=None)
@given(st.fixed_dictionaries(dict.fromkeys("abcd", SUBS)), SUBS, VALUES)
def test_the_count_is_that_of_a_validator_that_remembers_nothing(defs: dict[str, Any], sub: Any, value: Any) -> None:
    root = {"allOf": [sub], "$defs": defs}
    work = SchemaWork(root)
    try:
        work.check()
    except SchemaError:
        return
    exact = naive(root, root, value)
    assert work.of(value) == exact or (exact > MAX_WORK and work.of(value) > MAX_WORK)
    assert work.fits(value, MAX_WORK) == (exact <= MAX_WORK)
    assert not work.fits(value, exact - 1) or exact == 0


NAMED = {f"^x{one}$": {"type": "string"} for one in range(2_000)}


@pytest.mark.parametrize(
    ("inner", "value"),
    [
        ({"patternProperties": NAMED}, dict.fromkeys(map(str, range(20_000)), "x")),
        ({"patternProperties": NAMED, "properties": dict.fromkeys(map(str, range(4_000)), TEXT)}, {"a": 1}),
        (
            {"additionalProperties": {"allOf": [{"properties": {}} for _ in range(2_000)]}},
            {"a": dict.fromkeys(map(str, range(20_000)), 1)},
        ),
        ({"additionalProperties": {"allOf": [{"prefixItems": [{}] * 600} for _ in range(2_000)]}}, {"a": [1] * 20_000}),
    ],
)
def test_what_the_values_inside_are_held_against_is_found_in_a_bounded_number_of_steps(inner: Any, value: Any) -> None:
    work = SchemaWork({"type": "object", **inner})
    fits = True

    def counted() -> None:
        nonlocal fits
        fits = work.fits(value, MAX_WORK)

    assert steps(counted) < 2_000_000
    assert fits == (value == {"a": 1})


def test_names_that_many_schemas_have_are_followed_in_a_bounded_number_of_steps() -> None:
    defs = {f"d{one}": {"$id": f"u{one}/x", "$ref": f"u{one + 1}/x"} for one in range(1_500)}
    tool = {"name": "bomb", "parameters": {"type": "object", "properties": {"a": {"$ref": "u0/x"}}, "$defs": defs}}

    def read() -> None:
        with pytest.raises(SchemaError, match=r"bomb.*too many steps"):
            tools([tool])

    assert steps(read) < 3_000_000


LIKE = [[0] * 999 + [number] for number in range(1, 200)]


@pytest.mark.parametrize(
    ("inner", "value"),
    [
        ({"allOf": [{"uniqueItems": True}] * 3_000}, [[0] * 500 + [number] for number in range(14)]),
        ({"items": {"enum": LIKE}}, [LIKE[0]] * 100),
        ({"items": {"allOf": [{"const": LIKE[0]}] * 100}}, [LIKE[0]] * 100),
        ({"patternProperties": {f"a.*b{one}": True for one in range(2_000)}}, {"a" * 100_000: 1}),
        ({"propertyNames": {"allOf": [{"pattern": f"a.*b{one}"} for one in range(2_000)]}}, {"a" * 100_000: 1}),
        ({"allOf": [{"pattern": f"a.*b{one}"} for one in range(2_000)]}, "a" * 100_000),
        ({"allOf": [{"maxLength": one} for one in range(9_000)]}, "a" * 1_000_000),
    ],
)
def test_what_is_compared_as_a_whole_counts_by_its_size(inner: Any, value: Any) -> None:
    tool = ToolDefinition(name="bomb", parameters={"type": "object", "properties": {"a": inner}})
    (problem,) = problems(tool, {"a": value})
    assert "too large for their schema" in problem.message


@pytest.mark.parametrize(
    ("inner", "value"),
    [
        ({"uniqueItems": True}, list(range(100_000))),
        ({"items": {"enum": [f"v{one}" for one in range(2_000)]}}, ["v1"] * 200),
        ({"items": {"pattern": "^[a-z]+$"}}, ["a" * 10_000] * 100),
        ({"type": "string"}, "a" * 10_000_000),
    ],
)
def test_large_arguments_of_plain_schemas_are_checked(inner: Any, value: Any) -> None:
    tool = ToolDefinition(name="f", parameters={"type": "object", "properties": {"a": inner}})
    assert problems(tool, {"a": value}) == ()


def test_a_schema_is_compiled_twice_at_most_to_find_the_arguments_that_do_not_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[Any] = []
    engine = jsonschema_rs.Draft202012Validator
    monkeypatch.setattr(
        jsonschema_rs, "Draft202012Validator", lambda *given, **options: made.append(0) or engine(*given, **options)
    )
    inner = {"type": "array", "items": {"anyOf": [TEXT, {"type": "null"}]}}
    properties = {f"p{number}": inner for number in range(50)}
    tool = ToolDefinition(name="f", parameters={"type": "object", "properties": properties, "required": ["z"]})
    found = problems(tool, {name: ["x"] * 300 + [1] * (number % 2) for number, name in enumerate(properties)})
    assert [one.pointer for one in found[:3]] == ["", "/p1", "/p3"]
    assert len(made) == 2


WORDS = [f"v{one}" for one in range(2_000)]


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        ({"properties": {"a": {"items": {"enum": WORDS}}}}, {"a": ["v1"] * 2_000}),
        ({"properties": {"a": {"items": {"enum": list(range(2_000))}}}}, {"a": ["7"] * 2_000}),
        ({"properties": {"a": {"items": {"properties": {"b": {"enum": WORDS}}}}}}, {"a": [{"b": "v1"}] * 2_000}),
        ({"additionalProperties": {"enum": WORDS}}, {f"k{one}": "v1" for one in range(2_000)}),
        (
            {"allOf": [{"properties": {f"p{one}": {"type": "integer"}}} for one in range(400)]},
            {f"p{one}": "1" for one in range(2_000)},
        ),
        (
            {
                "properties": {"a": {"allOf": [{"$ref": "#/$defs/c", "title": str(one)} for one in range(2_000)]}},
                "$defs": {"c": {"const": "x" * 100_000}},
            },
            {"a": "x"},
        ),
        ({"properties": {"a": {"prefixItems": [TEXT] * 1_000, "items": {"enum": WORDS}}}}, {"a": ["v"] * 2_000}),
    ],
)
def test_arguments_are_typed_in_a_bounded_number_of_steps(schema: Any, arguments: Any) -> None:
    made: list[Any] = []
    assert steps(lambda: made.append(relax(arguments, {"type": "object", **schema}))) < 1_000_000
    assert made[0][0].keys() == arguments.keys()


NAMES = [f"p{number:04}" for number in range(4_000)]


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        ({"required": NAMES}, {}),
        ({"required": NAMES}, {"z": "y" * 1_000_000}),
        ({"additionalProperties": False, "properties": {"a": {}}}, dict.fromkeys(NAMES, 1)),
        ({"properties": {"a": {"items": {"required": ["x"]}}}}, {"a": [{}] * 4_000}),
        ({"properties": {name: {"enum": ["x"] * 20} for name in NAMES}}, dict.fromkeys(NAMES, "y" * 1_000)),
        ({"properties": {"n" * 100_000: {"type": "string"}}}, {"n" * 100_000: 1}),
        ({"dependentRequired": {"z": NAMES}}, {"z": "y" * 1_000_000}),
    ],
)
def test_of_many_problems_the_first_are_listed_and_the_others_counted(schema: Any, arguments: Any) -> None:
    tool = ToolDefinition(name="f", parameters={"type": "object", **schema})
    found = problems(tool, arguments)
    assert 1 <= len(found) <= 21
    assert len(str(ArgumentsError("f", found))) < 5_000
    if len(found) > 1:
        assert found[-1].message == "and 3,980 more problems like these"


NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}}


@pytest.mark.parametrize("root", [{}, {"$id": "root.json"}, {"$id": "http://h/root.json#"}])
@pytest.mark.parametrize("inner", [{"$id": "item.json"}, {"$id": "x/item.json"}, {"$anchor": "item"}])
def test_many_problems_are_named_whatever_the_schema_calls_itself_and_its_parts(root: Any, inner: Any) -> None:
    target = str(inner.get("$id", "#item")).removeprefix("x/")
    item = {**inner, **NUMBER, "additionalProperties": {"$ref": target}}
    schema = {"type": "object", "properties": {"a": {"items": {"$ref": "#/$defs/i"}}}, "$defs": {"i": item}}
    tool = ToolDefinition(name="f", parameters=root | schema)
    mistake = {"n": "x", "below": {"n": 1}}
    assert len(problems(tool, {"a": [mistake] * 3})) == 3
    (problem,) = problems(tool, {"a": [mistake] * 4_000})
    assert (problem.pointer, problem.keyword) == ("/a", "limit")


def test_many_problems_are_one_where_a_name_leads_to_the_root_alone() -> None:
    items = {"items": {"$ref": "json-schema:///#/$defs/i"}}
    tool = ToolDefinition(name="f", parameters={"properties": {"a": items}, "$defs": {"i": NUMBER}})
    assert problems(tool, {"a": [{"n": 1}] * 4_000}) == ()
    (problem,) = problems(tool, {"a": [{"n": "x"}] * 4_000})
    assert (problem.pointer, problem.keyword) == ("", "limit")


def test_a_missing_argument_is_named_beside_a_large_one() -> None:
    tool = ToolDefinition(name="f", parameters={"type": "object", "properties": {"text": TEXT}, "required": ["path"]})
    for size in (10, 1_000_000, 40_000_000):
        assert [str(one) for one in problems(tool, {"text": "y" * size})] == ["missing required argument 'path'"]


def test_patterns_that_take_long_to_compile_are_refused_with_the_place() -> None:
    def tool(pattern: str, count: int) -> ToolDefinition:
        properties = {f"p{number}": {"type": "string", "pattern": f"{pattern}{number}"} for number in range(count)}
        return ToolDefinition(name="f", parameters={"type": "object", "properties": properties})

    for pattern in (r"\p{L}{100}", r"(?:[\p{L}\p{N}_-]{8}){8}", "x" * 20_000, "(?:[^a]{90}){90}"):
        with pytest.raises(SchemaError, match=r"'f', at #/properties/p\d+: the patterns take too long to compile"):
            problems(tool(pattern, 1_000), {"p0": "a"})
    for pattern, count in (("^[a-z0-9_-]{1,64}$", 200), (r"^\p{L}{1,64}$", 20), (r"^\d{4}-\d\d-\d\d$", 200)):
        assert problems(tool(pattern, count), {}) == ()


@given(st.text(alphabet="ab()[]{}\\pL^|*+?,0123456789."))
def test_a_pattern_of_any_kind_has_an_estimate(text: str) -> None:
    assert 0 <= compile_time(text) <= MOST
    assert compile_time(text) <= compile_time(f"({text}){{2}}")


def clique(size: int, **beside: Any) -> dict[str, Any]:
    """Make definitions of which each holds all."""
    return {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/n0"}},
        "$defs": {
            f"n{one}": {
                "type": "object",
                "properties": {f"p{other}": {"$ref": f"#/$defs/n{other}", **beside} for other in range(size)},
            }
            for one in range(size)
        },
    }


def halves(levels: int, leaf: dict[str, Any]) -> dict[str, Any]:
    return chain(levels, lambda ref: {"type": "object", "properties": {"x": ref, "y": ref}}) | {
        "$defs": chain(levels, lambda ref: {"type": "object", "properties": {"x": ref, "y": ref}})["$defs"]
        | {"d0": leaf}
    }


def lists(levels: int, least: int) -> dict[str, Any]:
    inner: dict[str, Any] = TEXT
    for _ in range(levels):
        inner = {"type": "array", "items": inner, "minItems": least}
    return {"type": "object", "properties": {"a": inner}, "required": ["a"]}


@pytest.mark.parametrize("dialect", ["hermes", "xml-items"])
@pytest.mark.parametrize(
    "schema",
    [
        clique(12),
        clique(10, description="d"),
        lists(12, 1_000),
        lists(3, 300),
        halves(13, {"type": "string", "description": "word " * 2_000}),
        halves(13, {"enum": [f"word{one}" for one in range(2_000)]}),
        {"properties": {"a": {"allOf": [{"enum": [f"v{one}" for one in range(at, at + 400)]} for at in range(20)]}}},
        {"required": [f"z{one}" for one in range(2_000)]},
    ],
)
def test_a_manifest_takes_a_bounded_number_of_steps(schema: dict[str, Any], dialect: str) -> None:
    def made() -> None:
        try:
            manifest([{"name": "bomb", "parameters": {"type": "object", **schema}}], dialect=dialect)
        except SchemaError as error:
            assert "'bomb'" in str(error)  # noqa: PT017 - a smaller one is written

    assert steps(made) < 8_000_000


@pytest.mark.parametrize("target", ["gbnf", "lark", "regex"])
@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"enum": [{"k": [one] * 50} for one in range(1_000)]}}},
        {"required": [f"z{one}" for one in range(5_000)]},
        halves(13, {"enum": [f"word{one}" for one in range(2_000)]}),
        {"properties": {"a": {"type": "string", "pattern": "^(a|a|a)*b$", "minLength": 2, "maxLength": 900}}},
        clique(20),
    ],
)
def test_a_grammar_is_refused_with_the_tool_in_a_bounded_number_of_steps(schema: dict[str, Any], target: str) -> None:
    def made() -> None:
        try:
            grammar("hermes", [{"name": "bomb", "parameters": {"type": "object", **schema}}], target=target)
        except SchemaError as error:
            assert "'bomb'" in str(error)  # noqa: PT017 - some targets have a form for it

    assert steps(made) < 8_000_000


def test_types_that_lead_to_one_another_are_compared_in_a_bounded_number_of_steps() -> None:
    found = None

    def made() -> None:
        nonlocal found
        found = lower_schema(clique(14), provider="openai-chat", strict=True)

    assert steps(made) < 8_000_000
    assert found is not None
    assert found.losses


@pytest.mark.parametrize("levels", [180, 3_000])
def test_a_tool_that_is_too_deep_is_named(levels: int) -> None:
    schema: dict[str, Any] = {}
    for _ in range(levels):
        schema = {"items": schema}
    fields = {"name": "bomb", "parameters": {"properties": {"a": schema}}}
    for tool in (fields, {"type": "function", "function": fields}):
        with pytest.raises(SchemaError, match="tool 'bomb' is nested more than 160 levels deep"):
            tools([{"name": "f", "parameters": {}}, tool])


def test_a_schema_whose_values_take_too_long_to_compare_allows_anything() -> None:
    listed = [f"{number:099}" for number in range(200)]
    schema: dict[str, Any] = {"$defs": {"e": {"enum": listed}}, "allOf": [{"$ref": "#/$defs/e"}] * 50}
    assert shape(schema).members == (*listed,)
    assert shape({**schema, "allOf": schema["allOf"] * 40}) == ANY
    assert shape({**schema, "allOf": [{"anyOf": [schema["allOf"][0]] * 40_000}]}) == ANY


def test_a_pattern_has_fewer_steps_in_long_arguments_as_each_may_look_at_all_of_a_text() -> None:
    properties: dict[str, Any] = {"a": {"type": "string", "pattern": "^(?:(?!x)a)*$"}, "b": {"type": "string"}}
    definition = ToolDefinition(name="f", parameters={"type": "object", "properties": properties})
    repeated = "a" * 300
    assert problems(definition, {"a": repeated, "b": ""}) == ()
    assert problems(definition, {"a": "a", "b": "z" * 9_000}) == ()
    (problem,) = problems(definition, {"a": repeated, "b": "z" * 9_000})
    assert (problem.pointer, "takes too long to be checked" in problem.message) == ("/a", True)


@pytest.mark.parametrize("levels", [161, 2_000, 100_000])
def test_arguments_that_are_too_deep_are_a_problem_and_do_not_end_the_process(levels: int) -> None:
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    rows = {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"$ref": "#/$defs/rows"}}]}
    for s in ({"$ref": "#/$defs/rows"}, {"enum": [1]}, {"pattern": "(?=a)b"}, {}):
        schema = {"type": "object", "properties": {"s": s}, "$defs": {"rows": rows}}
        (problem,) = problems(ToolDefinition(name="f", parameters=schema), {"s": value})
        assert (problem.keyword, problem.message) == ("limit", "the arguments are nested more than 160 levels deep")


MANY = r"(?!(?:a|aa)+$b)"
"""A pattern that takes many steps for a text of `a`, and fits it."""


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"uniqueItems": True}, [10**20 + one for one in range(4_000)]),
        ({"uniqueItems": True}, [2**63 + one for one in range(2_000)]),
        ({"uniqueItems": True}, [{"k": [-(10**4_000) - one]} for one in range(200)]),
        ({"items": {"uniqueItems": True}}, [[10**1_000 + one for one in range(300)]]),
        ({"items": {"minimum": 1}}, [10**4_000] * 2_000),
        ({"items": {"minimum": 1}}, [1, *[10**4_000] * 2_000, "x"]),
        ({"items": {"maximum": 10**4_000}}, [1] * 2_000),
        ({"allOf": [{"multipleOf": 7**300 + one} for one in range(2_000)]}, 10**4_000),
        ({"pattern": "|".join(f"a{one}.*b" for one in range(3_000))}, "a1" * 20_000),
        ({"patternProperties": {"|".join(f"a{one}.*b" for one in range(3_000)): TEXT}}, {"a1" * 20_000: 1}),
        ({"propertyNames": {"pattern": "|".join(f"a{one}.*b" for one in range(3_000))}}, {"a1" * 20_000: 1}),
        ({"propertyNames": {"pattern": MANY}}, {"a" * one: 1 for one in range(2_000)}),
        ({"propertyNames": {"enum": [f"k{one}" for one in range(5_000)]}}, {f"k{one}": 1 for one in range(5_000)}),
    ],
    ids=map(str, range(13)),  # not of the numbers' digits
)
def test_what_takes_long_to_compare_counts_for_more_than_a_visit(schema: dict[str, Any], value: Any) -> None:
    (tool,) = tools([{"name": "bomb", "parameters": {"type": "object", "properties": {"a": schema}}}])
    (problem,) = problems(tool, {"a": value})
    assert (problem.keyword, problem.pointer) == ("limit", "")


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"uniqueItems": True}, [2**62 + one for one in range(20_000)]),
        ({"uniqueItems": True}, [{"id": str(10**30 + one)} for one in range(5_000)]),
        ({"uniqueItems": True, "items": {"minimum": 0}}, [10**30 + one for one in range(500)]),
        ({"pattern": "^.{1,5000}$"}, "x" * 5_000),
        ({"pattern": r"^[\w\-]{1,64}( [\w\-]{1,64})*$"}, "word " * 20_000 + "x"),
        ({"propertyNames": {"pattern": "^k[0-9]{1,20}$"}}, {f"k{one}": 1 for one in range(20_000)}),
        ({"maximum": 10**40}, 10**39),
    ],
)
def test_honest_lists_and_texts_of_some_length_are_checked(schema: dict[str, Any], value: Any) -> None:
    (tool,) = tools([{"name": "f", "parameters": {"type": "object", "properties": {"a": schema}}}])
    assert problems(tool, {"a": value}) == ()


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "contains": {"type": "integer"}, "minContains": 10**18},
        {"allOf": [{"multipleOf": 10**300 + one} for one in range(1_000)]},
    ],
)
def test_an_example_of_large_numbers_takes_few_steps(schema: dict[str, Any]) -> None:
    (tool,) = tools([{"name": "f", "parameters": {"type": "object", "properties": {"a": schema}, "required": ["a"]}}])
    assert steps(lambda: manifest([tool], dialect="hermes")) < 3_000_000
