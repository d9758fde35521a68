"""Tools from every form in which they come, and the registry that keeps them."""

from __future__ import annotations

import asyncio
import enum
import functools
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from toolfmt.errors import (
    DuplicateToolError,
    ExecutionError,
    MissingExtraError,
    ParseError,
    SchemaError,
    ToolFmtError,
    UnknownToolError,
    UnsafeInputError,
)
from toolfmt.manifests import manifest
from toolfmt.model import ToolDefinition
from toolfmt.parsing import parse
from toolfmt.rendering import render_calls
from toolfmt.schema import problems
from toolfmt.tools import ToolRegistry, load_tools, tool, tools
from toolfmt.tools.reading import prepared

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
UPPER = {"type": "OBJECT", "properties": {"city": {"type": "STRING"}}, "required": ["city"]}
BFCL = {"type": "dict", "properties": {"city": {"type": "str"}}, "required": ["city"]}
HEAD: dict[str, Any] = {"name": "get_weather", "description": "Look it up."}


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Point(BaseModel):
    """A point on the map."""

    x: int = Field(description="To the right.")
    label: str | None = Field(None, title="The label")


class Tree(BaseModel):
    """A tree.

    Attributes:
        children: What grows on it.
    """

    children: list[Tree] = []


@dataclass
class Route:
    start: Point
    via: tuple[str, ...] = ()


def plan(  # noqa: PLR0913 - one parameter of each kind
    city: str,
    point: Point,
    schema: Annotated[int, Field(ge=1)] = 3,
    *,
    color: Color = Color.RED,
    mode: Literal["a", 1] = "a",
    limit: float | None = None,
    extra: Any = None,
    rate: int = Field(4, description="From the field.", le=9),
) -> list[str]:
    """Plan a trip.

    In detail: all of it.

    Args:
        city: The city's name,
            in English.
        point (Point): Where to
            start: here.
        schema (int, optional): Which one.
        rate: From the docstring.

    Returns:
        The stops.

    Note:
        Slow.
    """
    return [city, str(point), str((schema, color, mode, limit, extra, rate))]


NUMPY = """Sum.

    More.

    Parameters
    ----------
    a : int, optional
        The a
        here.
    b, rest : float
        Both.

    Returns
    -------
    int
        x

    Notes
    -----
    Kept.
    """
SPHINX = """Sum: it.

    :param int a: The a
        here
    :param b: B: b
    :type b: int
    :returns: x
       y
    :rtype: int

    Tail of :class:`X`.
    """


def shape_of(definition: ToolDefinition) -> str:
    return json.dumps([definition.name, definition.description, definition.parameters])


EXPECTED = json.dumps(["get_weather", "Look it up.", CITY])


class TestShapes:
    @pytest.mark.parametrize(
        "value",
        [
            {**HEAD, "parameters": CITY},
            {"type": "function", "function": {**HEAD, "parameters": CITY, "strict": True}},
            {"type": "function", **HEAD, "parameters": CITY, "strict": None},
            {**HEAD, "input_schema": CITY, "cache_control": {"type": "ephemeral"}},
            {"type": "custom", **HEAD, "input_schema": CITY},
            {**HEAD, "parameters": UPPER},
            {**HEAD, "parametersJsonSchema": CITY, "parameters": None},
            {**HEAD, "parameters_json_schema": CITY},
            {**HEAD, "inputSchema": CITY, "annotations": {"readOnlyHint": True}},
            {"toolSpec": {**HEAD, "inputSchema": {"json": CITY}}},
            {**HEAD, "parameters": BFCL},
            {**HEAD, "parameters": {"city": {"type": "str"}}},
            {**HEAD, "parameters": {"jsonSchema": CITY}},
            {**HEAD, "parameters": {**CITY, "type": ["object", "null"]}},
            {"tools": [{"type": "function", "function": {**HEAD, "parameters": CITY}}]},
            {"function_declarations": [{**HEAD, "parameters": UPPER}]},
            {"tools": [{"functionDeclarations": [{**HEAD, "parameters": UPPER}]}]},
            {"functions": [{**HEAD, "parameters": CITY}]},
            ToolDefinition(**HEAD, parameters=CITY),
            ToolDefinition(**HEAD, parameters=lambda: CITY),
            [({**HEAD, "parameters": CITY},)],
            iter([{**HEAD, "parameters": CITY}]),
        ],
    )
    def test_every_shape_reads_as_the_same_tool(self, value: Any) -> None:
        assert shape_of(tool(value)) == EXPECTED

    def test_a_tool_without_arguments(self) -> None:
        for value in ({"name": "now"}, {"name": "now", "parameters": None}, {"type": "function", "name": "now"}):
            assert tool(value) == ToolDefinition(name="now")

    def test_what_has_no_place_in_the_model_stays_in_metadata(self) -> None:
        chat = tool({"type": "function", "function": {**HEAD, "strict": True}, "cache_control": {"a": 1}})
        assert chat.metadata == {"cache_control": {"a": 1}, "strict": True}
        mcp = tool({**HEAD, "title": "T", "inputSchema": CITY, "outputSchema": {}, "input_examples": [{"city": "x"}]})
        assert mcp.metadata == {"title": "T", "outputSchema": {}}
        assert mcp.examples == ({"city": "x"},)

    def test_a_definition_survives_its_own_dump(self) -> None:
        original = ToolDefinition(
            **HEAD, parameters=CITY, examples=({"city": "x"},), server="maps", metadata={"k": [1]}
        )
        again = tool(original.model_dump())
        assert again.model_dump() == original.model_dump()

    def test_optional_members_of_a_flat_map(self) -> None:
        flat = {"title": {"type": "str"}, "n": {"type": "int, optional"}, "type": {"type": "List[int]", "default": []}}
        assert tool({"name": "f", "parameters": flat}).parameters == {
            "type": "object",
            "properties": {
                "title": {"type": "string"},
                "n": {"type": "integer"},
                "type": {"type": "array", "default": []},
            },
            "required": ["title"],
        }

    def test_an_sdk_object_is_read_by_its_dump(self) -> None:
        class Schema(BaseModel):
            type: str
            any_of: list[dict[str, Any]] | None = Field(None, alias="anyOf")
            properties: dict[str, Any] | None = None

        class Declaration(BaseModel):
            name: str
            description: str | None = None
            parameters: Schema | None = None
            parameters_json_schema: dict[str, Any] | None = None

        sdk = Declaration(name="f", parameters=Schema(type="OBJECT", anyOf=[{"type": "STRING"}]))
        assert tool(sdk).parameters == {"type": "object", "anyOf": [{"type": "string"}]}
        schema = {"type": "object", "properties": {"a": {"default": None}}}
        assert tool(Declaration(name="f", parameters_json_schema=schema)).parameters == schema

    @pytest.mark.parametrize(
        ("value", "message"),
        [
            ([HEAD, {**HEAD, "name": ""}], "[1]: 'name' must be a non-empty string, not ''"),
            ([HEAD, {"tools": [HEAD, {"name": 3}]}], "[1].tools[1]: 'name' must be a non-empty string, not 3"),
            ({"type": "function", "function": {}}, "the tool: 'name' must be a non-empty string, not None"),
            ([{"name": "f", "parameters": []}], "[0] ('f'): 'parameters' must be a JSON Schema object, not []"),
            ({"name": "f", "input_schema": "{}"}, "tool 'f': 'input_schema' must be a JSON Schema object"),
            ({"name": "f", "parameters": {"type": "string"}}, "arguments are an object, but its type is 'string'"),
            ({"name": "f", "description": 3}, "tool 'f': 'description' must be a string, not 3"),
            ([{"type": "web_search_20250305", "name": "web_search"}], "[0]: a tool of type 'web_search_20250305'"),
            ({"type": "web_search"}, "a tool of type 'web_search'"),
            ({"type": "object", "properties": {}}, "this is a JSON Schema; put it under 'parameters', beside a 'name'"),
            ({"name": "f", "type": "object", "properties": {}}, "this is a JSON Schema"),
            ({"title": "x", "properties": {}}, "a tool has a 'name'; found the keys 'title', 'properties'"),
            ({}, "a tool has a 'name'; found no keys"),
            ([None], "[0]: a tool cannot be read from NoneType: give a ToolDefinition, a function, "),
            (3, "a tool cannot be read from int"),
            ([[1]], "[0][0]: a tool cannot be read from int"),
            ("get_weather", "'get_weather' is no path of a .json, .yaml, .yml file"),
            ("Be brief. " * 1000, "is no path of a .json, .yaml, .yml file"),
            ("\x00", "is no path of a .json, .yaml, .yml file"),
            (' [{"name": "f"}]', 'read \' [{"name": "f"}]\' with json.loads first'),
            ([HEAD, print], "[1]: tool 'print': the parameter 'args' is *args"),
        ],
    )
    def test_what_is_broken_says_where_and_what(self, value: Any, message: str) -> None:
        with pytest.raises(SchemaError) as caught:
            tools(value)
        assert message in str(caught.value)

    def test_two_tools_of_one_name_are_refused(self, tmp_path: Path) -> None:
        (tmp_path / "tools.json").write_text(json.dumps([HEAD, {"name": "g"}, HEAD]))
        given = (
            lambda: tools([HEAD, {"name": "g"}, HEAD]),
            lambda: load_tools(tmp_path / "tools.json"),
            lambda: manifest([HEAD, {"name": "g"}, HEAD]),
            lambda: parse("x", tools=[HEAD, {"name": "g"}, HEAD]),
            lambda: render_calls([], tools=[HEAD, {"name": "g"}, HEAD]),
        )
        for one in given:
            with pytest.raises(DuplicateToolError, match=f"two tools are named '{HEAD['name']}', entries 0 and 2: "):
                one()

    def test_tool_wants_exactly_one(self) -> None:
        with pytest.raises(SchemaError, match="expected one tool, found 2"):
            tool([HEAD, {"name": "g"}])
        assert tools([]) == ()

    def test_what_the_caller_says_replaces_what_the_value_says(self) -> None:
        made = tool({**HEAD, "parameters": CITY}, name="w", description="", examples=[{"city": "x"}], server="s")
        assert (made.name, made.description, made.examples, made.server) == ("w", "", ({"city": "x"},), "s")
        assert made.parameters == CITY


class TestFunctions:
    def test_signature_and_docstring_make_the_schema(self) -> None:
        definition = tool(plan)
        assert (definition.name, definition.description) == (
            "plan",
            "Plan a trip.\n\nIn detail: all of it.\n\nNote:\n    Slow.",
        )
        expected = {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "The city's name, in English."},
                "point": {"$ref": "#/$defs/Point", "description": "Where to start: here."},
                "schema": {"type": "integer", "minimum": 1, "description": "Which one.", "default": 3},
                "color": {"$ref": "#/$defs/Color", "default": "red"},
                "mode": {"enum": ["a", 1], "default": "a"},
                "limit": {"anyOf": [{"type": "number"}, {"type": "null"}], "default": None},
                "extra": {"default": None},
                "rate": {"type": "integer", "maximum": 9, "description": "From the field.", "default": 4},
            },
            "required": ["city", "point"],
            "additionalProperties": False,
            "$defs": {
                "Point": {
                    "type": "object",
                    "properties": {
                        "x": {"type": "integer", "description": "To the right."},
                        "label": {
                            "anyOf": [{"type": "string"}, {"type": "null"}],
                            "default": None,
                            "title": "The label",
                        },
                    },
                    "required": ["x"],
                    "description": "A point on the map.",
                },
                "Color": {"type": "string", "enum": ["red", "blue"]},
            },
        }
        assert definition.parameters == expected
        assert list(definition.parameters) == list(expected)
        assert list(definition.parameters["properties"]) == list(expected["properties"])  # type: ignore[call-overload]
        assert problems(definition, {"city": "x", "point": {"x": 1}, "cty": 1})[0].message == "unknown argument 'cty'"

    def test_async_methods_partials_and_instances(self) -> None:
        class Tools:
            """Not this."""

            async def fetch(self, url: str) -> str:
                """Fetch it."""
                return url

            @staticmethod
            def ping(host: str) -> str:
                return host

            def __call__(self, n: int) -> int:
                """Call it."""
                return n

        for value in (Tools.fetch, Tools().fetch, functools.partial(Tools().fetch)):
            made = tool(value, name="fetch")
            assert (made.description, list(made.parameters["properties"])) == ("Fetch it.", ["url"])
            assert made.parameters["properties"]["url"] == {"type": "string"}
        assert tool(Tools.ping).parameters["required"] == ["host"]
        instance = tool(Tools(), name="call")
        assert (instance.description, instance.parameters["properties"]) == ("Call it.", {"n": {"type": "integer"}})
        bound = tool(functools.partial(plan, limit=1.5), name="plan")
        assert "limit" not in bound.parameters["properties"]  # the program has said it, and the model is not asked

    def test_a_decorated_function_is_read_through(self) -> None:
        def traced(function: Callable[..., Any]) -> Callable[..., Any]:
            @functools.wraps(function)
            def inner(*args: Any, **kwargs: Any) -> Any:
                return function(*args, **kwargs)

            return inner

        assert tool(traced(plan)).model_dump() == tool(plan).model_dump()

    def test_keyword_arguments_leave_the_object_open(self) -> None:
        def free(a: int, **rest: str) -> None: ...

        assert tool(free).parameters == {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}

    def test_the_schema_is_built_on_first_use_and_once(self) -> None:
        def broken(a: Undefined) -> None: ...  # type: ignore[name-defined]  # noqa: F821

        definition = tool(broken)
        with pytest.raises(SchemaError, match="tool 'broken': its type hints can't be resolved: name 'Undefined'"):
            _ = definition.parameters
        assert tool(plan).parameters is not tool(plan).parameters
        once = tool(plan)
        assert once.parameters is once.parameters

    def test_types_without_a_json_form_are_named(self) -> None:
        class Opaque:
            pass

        def takes(thing: Opaque) -> None: ...
        def calls(back: Callable[[], int]) -> None: ...

        takes.__annotations__["thing"] = Opaque
        for function, parameter in ((takes, "thing"), (calls, "back")):
            definition = tool(function)
            with pytest.raises(SchemaError, match=f"the parameter '{parameter}' of tool '{function.__name__}' is of"):
                _ = definition.parameters

    @pytest.mark.parametrize(
        ("function", "message"),
        [
            (len, "the parameter 'obj' is positional-only"),
            (print, "the parameter 'args' is \\*args"),
            (lambda a: a, "has no name; give the tool one with name="),
        ],
    )
    def test_what_no_model_could_call_is_refused_at_once(self, function: Any, message: str) -> None:
        with pytest.raises(SchemaError, match=message):
            tool(function)

    def test_classes_are_tools_too(self) -> None:
        assert (tool(Point).name, tool(Point).description) == ("Point", "A point on the map.")
        assert list(tool(Point).parameters["properties"]) == ["x", "label"]
        assert "title" not in tool(Point).parameters
        route = tool(Route, name="route")
        assert (route.name, route.description, route.parameters["required"]) == ("route", "", ["start"])

    def test_a_class_that_refers_to_itself_is_still_an_object(self) -> None:
        definition = tool(Tree)
        assert definition.description == "A tree."
        assert definition.parameters["type"] == "object"
        children = definition.parameters["properties"]["children"]
        assert children["items"] == {"$ref": "#/$defs/Tree"}
        assert children["description"] == "What grows on it."
        assert problems(definition, {"children": [{"children": [3]}]})[0].pointer == "/children/0/children/0"

    def test_a_class_that_is_no_object_is_refused(self) -> None:
        for cls in (Path, Color, Callable):  # two with a JSON form, but not as objects, and one without
            with pytest.raises(SchemaError, match="p is a class without described fields"):
                tool(cls, name="p")


class TestDocstrings:
    @staticmethod
    def read(docstring: str) -> tuple[str, dict[str, str]]:
        def function(a: int, b: int, rest: int) -> None: ...

        function.__doc__ = docstring
        definition = tool(function)
        properties = definition.parameters["properties"].items()
        return definition.description, {
            key: value["description"] for key, value in properties if "description" in value
        }

    @pytest.mark.parametrize(
        ("docstring", "description", "parameters"),
        [
            ("", "", {}),
            ("Only this.", "Only this.", {}),
            (NUMPY, "Sum.\n\nMore.\n\nNotes\n-----\nKept.", {"a": "The a here.", "b": "Both.", "rest": "Both."}),
            (SPHINX, "Sum: it.\n\nTail of :class:`X`.", {"a": "The a here", "b": "B: b"}),
            (
                "Sum.\n\nArgs:\n  a (dict[str, int]): A.\n  b: B.\n\n    Second.\n  *rest: R.\nRaises:\n  E: x\nTail.",
                "Sum.\n\nTail.",
                {"a": "A.", "b": "B. Second.", "rest": "R."},
            ),
            ("Example:\n    >>> a: b\nArguments:\n    a: A", "Example:\n    >>> a: b", {"a": "A"}),
        ],
    )
    def test_the_three_styles(self, docstring: str, description: str, parameters: dict[str, str]) -> None:
        assert self.read(docstring) == (description, parameters)


class TestFiles:
    def test_json_and_yaml_say_the_same(self, tmp_path: Path) -> None:
        (tmp_path / "tools.json").write_text(json.dumps({"tools": [{**HEAD, "parameters": CITY}]}), encoding="utf-8")
        (tmp_path / "bom.JSON").write_text("\ufeff" + json.dumps({**HEAD, "parameters": CITY}), encoding="utf-8")
        (tmp_path / "tools.yml").write_text(
            "- name: get_weather\n  description: Look it up.\n  parameters:\n    type: object\n"
            "    properties: {city: {type: string}}\n    required: [city]\n",
            encoding="utf-8",
        )
        for name in ("tools.json", "bom.JSON", "tools.yml"):
            assert shape_of(tool(tmp_path / name)) == EXPECTED
            assert shape_of(tool(str(tmp_path / name))) == EXPECTED
            assert load_tools(tmp_path / name) == tools([tmp_path / name])

    @pytest.mark.parametrize(
        ("name", "content", "error", "message"),
        [
            ("a.json", b'{"name": "f",}', ParseError, "a.json: trailing comma at line 1, column 14"),
            ("a.json", b'{"name": "f", "name": "g"}', UnsafeInputError, "duplicate key"),
            ("a.json", b'"\xff"', ParseError, "a.json: not UTF-8 at byte 1"),
            ("a.json", b'[{"name": ""}]', SchemaError, "a.json: [0]: 'name' must be"),
            ("a.yaml", b"name: [", ParseError, "a.yaml: "),
            ("a.yaml", b"name: f\nname: g", ParseError, "duplicate"),
            ("a.yaml", b"name: f\nparameters: {1: 2}", ParseError, "the key 1 is not a string"),
            ("a.yaml", b"name: f\nmetadata: {x: .nan}", ParseError, "nan is not a JSON number"),
            ("a.toml", b"", ParseError, "a.toml: "),
            ("a.txt", b"just words", ParseError, "a.txt: this is neither JSON nor YAML: it begins 'just words'"),
            ("63", b'{"name": "f",}', ParseError, "63: trailing comma at line 1, column 14"),
        ],
    )
    def test_a_broken_file_says_what_and_where(
        self, tmp_path: Path, name: str, content: bytes, error: type[ToolFmtError], message: str
    ) -> None:
        (tmp_path / name).write_bytes(content)
        with pytest.raises(error) as caught:
            load_tools(tmp_path / name)
        assert type(caught.value) is error
        assert message in str(caught.value)

    @pytest.mark.parametrize("name", ["63", "tools.txt", "tools.json5"])
    def test_another_name_is_read_by_its_content(self, tmp_path: Path, name: str) -> None:
        for content in (json.dumps([{**HEAD, "parameters": CITY}]), "- name: f\n  description: g\n"):
            (tmp_path / name).write_text(content)
            assert len(load_tools(tmp_path / name)) == 1
            assert load_tools(tmp_path / name) == tools(str(tmp_path / name)) == tools([tmp_path / name])

    def test_text_among_the_tools_opens_no_file(self, tmp_path: Path) -> None:
        (tmp_path / "a.json").write_text(json.dumps(HEAD))
        text = str(tmp_path / "a.json")
        (tmp_path / "list.json").write_text(json.dumps([text]))
        for value in ([text], {"tools": [text]}, tmp_path / "list.json", text.encode()):
            with pytest.raises(SchemaError, match="a tool cannot be read from text"):
                tools(value)
        assert tools([tmp_path / "a.json"]) == tools(text)

    def test_a_missing_file_is_the_systems_own_error(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError):
            load_tools(tmp_path / "none.json")

    def test_yaml_names_the_extra_that_it_needs(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "a.yaml").write_text("name: f")
        monkeypatch.setitem(sys.modules, "ryaml", None)
        with pytest.raises(MissingExtraError, match=r"pip install .*\[yaml\]'"):
            load_tools(tmp_path / "a.yaml")


class TestRegistry:
    def test_registration_keeps_order_and_functions(self) -> None:
        registry = ToolRegistry()

        @registry.register
        def b(n: int) -> int:
            """Do b."""
            return n + 1

        @registry.register(name="a", description="Do a.")
        async def other(n: int) -> int:
            return n * 2

        given = {**HEAD, "parameters": CITY}
        assert registry.register(given, function=str.upper) is given
        registry.register(HEAD, name="plain")
        assert b(1) == 2
        assert [definition.name for definition in registry] == ["b", "a", "get_weather", "plain"]
        assert len(registry) == 4
        assert registry["a"].description == "Do a."
        assert registry.function("b") is b
        assert registry.function("a") is other
        assert asyncio.run(other(4)) == 8
        assert registry.function("get_weather") is str.upper
        assert registry.function("plain") is None
        assert "a" in registry
        assert "z" not in registry
        assert list(registry.by_name) == ["b", "a", "get_weather", "plain"]
        with pytest.raises(TypeError):
            registry.by_name["x"] = registry["a"]  # type: ignore[index]
        assert repr(registry) == "ToolRegistry(b, a, get_weather, plain)"

    def test_everything_that_tools_reads_can_be_registered_at_once(self) -> None:
        first = ToolRegistry([plan, {"tools": [HEAD]}, Point])
        assert [definition.name for definition in first] == ["plan", "get_weather", "Point"]
        assert first.function("plan") is plan
        assert first.function("Point") is None
        assert ToolRegistry(first).function("plan") is plan
        assert ToolRegistry(value for value in [plan]).function("plan") is plan
        assert ToolRegistry(plan).function("plan") is plan
        assert tools(first) == tuple(first)

    def test_a_name_is_taken_once_and_nothing_is_half_done(self) -> None:
        registry = ToolRegistry([plan])
        for values in ([HEAD, plan], [HEAD, HEAD], [HEAD, 3]):
            with pytest.raises((DuplicateToolError, SchemaError)):
                registry.extend(values)
            assert [definition.name for definition in registry] == ["plan"]
        with pytest.raises(DuplicateToolError, match="'plan' is already registered") as caught:
            registry.register(plan)
        assert isinstance(caught.value, ValueError)

    def test_an_unknown_name_comes_with_those_that_are_close(self) -> None:
        registry = ToolRegistry([plan, HEAD])
        for look_up in (registry.__getitem__, registry.function):
            with pytest.raises(UnknownToolError) as caught:
                look_up("get_wether")
            assert str(caught.value) == "unknown tool 'get_wether'; did you mean 'get_weather'?"
            assert caught.value.suggestions == ("get_weather",)
            assert isinstance(caught.value, LookupError)
            assert isinstance(caught.value, ExecutionError)
        with pytest.raises(UnknownToolError, match="known: plan, get_weather"):
            registry["zzzzzz"]
        with pytest.raises(UnknownToolError, match="known: none"):
            ToolRegistry()["x"]


def test_a_list_that_was_read_is_read_again_where_it_was_changed() -> None:
    offered: list[dict[str, Any]] = [
        {"name": "f", "parameters": {"type": "object", "properties": {"x": {"type": "integer"}}}}
    ]
    first = prepared(offered)
    assert prepared([dict(offered[0])]) is first
    offered[0]["parameters"]["properties"]["x"]["type"] = "string"
    assert prepared(offered)["f"].parameters["properties"]["x"] == {"type": "string"}
    offered[0]["parameters"]["properties"]["x"]["default"] = True
    assert prepared(offered)["f"].parameters["properties"]["x"]["default"] is True
    offered[0]["parameters"]["properties"]["x"]["default"] = 1
    assert prepared(offered)["f"].parameters["properties"]["x"]["default"] is not True


def test_a_function_is_described_once_until_it_changes() -> None:
    def look(city: str, days: int = 1) -> None:
        """Look."""

    first = prepared([look])["look"]
    assert prepared([look])["look"] is first
    look.__defaults__ = (2,)
    assert prepared([look])["look"].parameters["properties"]["days"]["default"] == 2
    look.__doc__ = "See."
    assert prepared([look])["look"].description == "See."
    look.__annotations__["city"] = int
    assert prepared([look])["look"].parameters["properties"]["city"] == {"type": "integer"}
    with pytest.raises(DuplicateToolError):
        prepared([look, look])
    with pytest.raises(SchemaError, match=r"\[1\]"):
        prepared([look, lambda x: x])
