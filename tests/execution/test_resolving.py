"""From a call to what runs it: the registry, servers, arguments and what the program gives."""

from __future__ import annotations

import dataclasses
import math
import subprocess
import sys
from collections.abc import Mapping
from datetime import date
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

import toolfmt.agents.drivers
import toolfmt.execution
from toolfmt import ToolDefinition, ToolInvocation, ToolRegistry, ToolResult, ids, jsontext
from toolfmt.errors import ExecutionError, SchemaError, UnrepresentableError, install_line
from toolfmt.execution import Executor, ToolContext, ToolExecution, ToolServer
from toolfmt.tools import Injected


@dataclasses.dataclass
class Query:
    user: Annotated[str, Injected("who")]


class Server:
    """A server whose tools say who they are."""

    def __init__(self, name: str, *tools: str) -> None:
        self.name = name
        self.tools = [
            ToolDefinition(name=tool, parameters={"type": "object", "properties": {"x": {"type": "integer"}}})
            for tool in tools
        ]

    async def call(self, call: ToolInvocation, *, injected: Mapping[str, Any]) -> ToolResult:
        if call.name == "crash":
            raise ExecutionError("connection lost")
        return ToolResult(name="?", content=[self.name, call.arguments, sorted(injected)])


def run(
    executor: Executor, name: str, arguments: dict[str, Any] | None = None, server: str | None = None
) -> ToolExecution:
    return executor.execute_sync([ToolInvocation(name=name, arguments=arguments or {}, server=server)])[0]


@pytest.fixture
def executor() -> Executor:
    registry = ToolRegistry()
    registry.register(lambda: "here", name="add")
    registry.register(lambda: "here", name="only_here")
    registry.register({"name": "mapped", "server": "b"})
    registry.register({"name": "nobody"})
    servers: dict[str, ToolServer] = {
        "a": Server("a", "add", "read", "crash"),
        "b": Server("b", "add", "mapped", "write", "read"),
    }
    return Executor(registry, servers=servers, inject={"store": 1})


@pytest.mark.parametrize(
    ("name", "server", "runs"),
    [
        ("add", None, "here"),
        ("add", "local", "here"),
        ("add", "a", "a"),
        ("add", "b", "b"),
        ("write", None, "b"),
        ("mapped", None, "b"),
        ("mapped", "b", "b"),
    ],
)
def test_a_call_goes_where_it_says(executor: Executor, name: str, server: str | None, runs: str) -> None:
    execution = run(executor, name, server=server)
    assert execution.failure is None
    assert (execution.value if runs == "here" else execution.value[0]) == runs
    assert (execution.result.name, execution.result.server) == (name, server)


@pytest.mark.parametrize(
    ("name", "server", "failure", "words"),
    [
        ("read", None, "unknown_tool", "several servers have a tool 'read': name one of a, b"),
        ("write", "local", "unknown_tool", "unknown tool 'write'"),
        ("wrote", None, "unknown_tool", "did you mean 'write'?"),
        ("only_here", "a", "unknown_tool", "unknown tool 'only_here'; known: add, read, crash"),
        ("add", "c", "unknown_server", "unknown server 'c'; known: local, a, b"),
        ("nobody", None, "broken_tool", "nothing runs the tool 'nobody'"),
        ("crash", "a", "server_failed", "connection lost"),
    ],
)
def test_a_call_that_goes_nowhere_says_why(
    executor: Executor, name: str, server: str | None, failure: str, words: str
) -> None:
    execution = run(executor, name, server=server)
    assert execution.failure == failure
    assert words in execution.error


def test_a_servers_tool_has_its_arguments_checked_and_gets_what_is_injected(executor: Executor) -> None:
    assert run(executor, "write", {"x": "1"}).failure == "invalid_arguments"
    assert run(executor, "write", {"x": 1}).value == ["b", {"x": 1}, ["context", "store"]]
    with pytest.raises(ValueError, match="'local' means the registry"):
        Executor(ToolRegistry(), servers={"local": Server("x")})


def test_a_schema_that_cannot_be_used_breaks_its_own_call_alone() -> None:
    registry = ToolRegistry()
    broken = ToolDefinition(name="broken", parameters={"type": "object", "properties": {"x": {"$ref": "#/nowhere"}}})
    registry.register(broken, function=lambda **_: 1)
    registry.register(lambda: 1, name="fine")
    executions = Executor(registry).execute_sync([{"name": "broken"}, {"name": "fine"}])
    assert [one.failure for one in executions] == ["broken_tool", None]


class Place(BaseModel):
    city: str
    floors: set[int] = set()


@dataclasses.dataclass
class Person:
    name: str
    home: Place


def book(  # noqa: PLR0913, PLR0917 - one of each kind
    day: date,
    who: Person,
    price: float,
    path: Path = Path("x"),
    seats: int = Field(2, ge=1),  # pyright: ignore[reportArgumentType] - as pydantic writes it
    tags: list[str] = Field(default_factory=list),  # noqa: B008 - as pydantic writes it
) -> list[Any]:
    return [type(value).__name__ for value in (day, who, who.home, who.home.floors, price, path, tags)] + [seats]


def test_arguments_become_what_the_parameters_are() -> None:
    registry = ToolRegistry([book])
    who = {"name": "A", "home": {"city": "Paris", "floors": [1]}}
    executor = Executor(registry)
    execution = run(executor, "book", {"day": "2026-01-02", "who": who, "price": 3})
    assert execution.value == ["date", "Person", "Place", "set", "float", "PosixPath", "list", 2]
    assert execution.arguments["who"] == who
    wrong = run(executor, "book", {"day": "yesterday", "who": {"name": 1, "home": {}}, "price": 3, "seats": 0})
    assert wrong.failure == "invalid_arguments"
    assert {problem.pointer for problem in wrong.problems} >= {"/who/name", "/who/home", "/seats"}
    not_a_day = run(executor, "book", {"day": "yesterday", "who": who, "price": 3})
    assert [problem.pointer for problem in not_a_day.problems] == ["/day"]


def test_injected_values_have_names_defaults_and_no_place_in_the_schema() -> None:
    def tool(
        x: int,
        store: Annotated[object, Injected],
        user: Annotated[str, Injected("who")],
        context: ToolContext | None,
        extra: Annotated[str, Injected] = "default",
    ) -> list[object]:
        assert context is not None
        return [x, store, user, context.call.name, context.state, extra]

    registry = ToolRegistry([tool])
    assert registry["tool"].parameters == {
        "type": "object",
        "properties": {"x": {"type": "integer"}},
        "required": ["x"],
        "additionalProperties": False,
    }
    executor = Executor(registry, inject={"store": 1, "who": "A"})
    (execution,) = executor.execute_sync([{"name": "tool", "arguments": {"x": 1}}], "state")
    assert execution.value == [1, 1, "A", "tool", "state", "default"]
    for name in ("store", "user", "context", "extra"):
        refused = run(executor, "tool", {"x": 1, name: "mine"})
        assert [problem.message for problem in refused.problems] == [f"unknown argument '{name}'"]


def test_what_the_program_has_bound_is_not_the_models_to_set() -> None:
    def tool(x: int, user: str = "", **rest: Any) -> list[object]:
        return [x, user, rest]

    registry = ToolRegistry()
    registry.register(partial(partial(tool, user="me"), key=object()), name="tool")
    assert list(registry["tool"].parameters["properties"]) == ["x"]
    assert run(Executor(registry), "tool", {"x": 1}).value[:2] == [1, "me"]
    for name in ("user", "key"):
        refused = run(Executor(registry), "tool", {"x": 1, name: "mine"})
        assert [problem.message for problem in refused.problems] == [f"unknown argument '{name}'"]


def test_a_mark_of_injection_is_never_inside_what_a_model_gives() -> None:
    def either(x: int, user: Annotated[str, Injected] | None = None) -> list[object]:
        return [x, user]

    def inside(query: Query) -> object:
        return query

    def listed(users: list[Annotated[str, Injected]]) -> object:
        return users

    registry = ToolRegistry([either, inside, listed])
    with pytest.warns(UserWarning, match="no tool takes who"):
        executor = Executor(registry, inject={"user": "me", "who": "me"})
    assert list(registry["either"].parameters["properties"]) == ["x"]
    assert run(executor, "either", {"x": 1}).value == [1, "me"]
    assert run(executor, "either", {"x": 1, "user": "mine"}).failure == "invalid_arguments"
    for name, arguments in (("inside", {"query": {"user": "mine"}}), ("listed", {"users": ["mine"]})):
        execution = run(executor, name, arguments)
        assert (execution.failure, "a whole parameter" in execution.error) == ("broken_tool", True)
        with pytest.raises(SchemaError, match="Injected marks a whole parameter"):
            _ = registry[name].parameters


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
KEYS = st.sampled_from(["self", "function", "call", "store", "context", "name", "args"]) | st.text()


@settings(deadline=None)
@given(st.dictionaries(KEYS, JSON, max_size=5))
def test_a_tool_gets_what_the_model_wrote_and_nothing_else(arguments: dict[str, Any]) -> None:
    got: list[tuple[object, dict[str, Any]]] = []

    def tool(store: Annotated[str, Injected], **rest: Any) -> None:
        got.append((store, rest))

    executor = Executor(ToolRegistry([tool]), inject={"store": "mine"})
    execution = run(executor, "tool", arguments)
    assert jsontext.equal(execution.arguments, arguments)
    if "store" in arguments:
        assert (execution.failure, got) == ("invalid_arguments", [])
    else:
        ((store, rest),) = got
        assert store == "mine"
        assert jsontext.equal(rest, arguments)


def test_an_injected_value_that_no_tool_takes_is_reported() -> None:
    def tool(store: Annotated[str, Injected]) -> str:
        return store

    with pytest.warns(UserWarning, match="inject=: no tool takes key, so it has no effect"):
        Executor([tool], inject={"store": 1, "key": 2})
    with pytest.warns(UserWarning, match="no tool takes store"):
        Executor([], inject={"store": 1})


def test_what_is_missing_is_said_when_the_executor_is_made_or_at_the_call() -> None:
    def tool(store: Annotated[str, Injected]) -> str:
        return store

    with pytest.raises(ValueError, match="needs store"):
        Executor(ToolRegistry([tool]))
    registry = ToolRegistry()
    executor = Executor(registry)
    registry.register(tool)
    execution = run(executor, "tool")
    assert (execution.failure, "inject" in execution.error) == ("broken_tool", True)


def test_a_tool_that_is_not_shown_cannot_be_called() -> None:
    registry = ToolRegistry()
    registry.register(lambda: 1, name="admin", visible=lambda state: state == "admin")
    registry.register(lambda: 1, name="all")
    assert [tool.name for tool in registry.visible("guest")] == ["all"]
    assert [tool.name for tool in ToolRegistry(registry).visible("admin")] == ["admin", "all"]
    executor = Executor(registry)
    states = [executor.execute_sync([{"name": "admin"}], state)[0] for state in ("guest", "admin")]
    assert [one.failure for one in states] == ["unknown_tool", None]
    assert "admin" not in states[0].error.partition(";")[2]


def test_what_is_reported_a_tool_is_for_who_runs_it() -> None:
    registry = ToolRegistry()

    @registry.register(dangerous=True, timeout=3, result_limit=5)
    def tool() -> str:
        return "0123456789"

    assert registry["tool"].metadata == {"dangerous": True, "timeout": 3, "result_limit": 5}
    assert run(Executor(registry), "tool").value == "01234\n... 5 characters cut"
    with pytest.raises(TypeError, match="no option 'dangrous'; did you mean 'dangerous'"):
        registry.register(tool, name="other", dangrous=True)  # type: ignore[call-overload]
    for option, wrong in (("run_in", "cellar"), ("result_limit", "long")):
        with pytest.raises((TypeError, ValueError), match=f"{option}= must be"):
            registry.register(tool, name="other", **{option: wrong})  # type: ignore[call-overload]
    for reported in ({"timeout": 0}, {"run_in": "cellar"}, {"result_limit": "long"}, {"result_limit": -1}):
        definition = ToolDefinition(name="f", metadata=reported)
        registry = ToolRegistry()
        registry.register(definition, function=lambda: 1)
        with pytest.raises(ValueError, match="tool 'f'"):
            Executor(registry)


def test_ids_are_minted_when_asked_only() -> None:
    registry = ToolRegistry()
    registry.register(lambda: 1, name="f")
    calls = [{"name": "f"}, {"name": "f", "id": "mine"}]
    assert [one.call.id for one in Executor(registry).execute_sync(calls)] == [None, "mine"]
    minted = Executor(registry, ids=ids.counter()).execute_sync(calls)
    assert [(one.call.id, one.result.id) for one in minted] == [("call_0", "call_0"), ("mine", "mine")]


def test_what_are_no_calls_is_said_at_once() -> None:
    registry = ToolRegistry()
    executor = Executor(registry)
    with pytest.raises(TypeError, match=r"pass result\.calls"):
        executor.execute_sync(toolfmt.parse("text", dialect="hermes"))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="put brackets around it"):
        executor.execute_sync({"name": "f"})  # type: ignore[arg-type]
    with pytest.raises(SchemaError, match="a tool cannot be read from int"):
        Executor([3])
    for limit in (0, True, 1.5):
        with pytest.raises((TypeError, ValueError), match="limit= must be an int of at least 1 or None"):
            Executor(registry, limit=limit)  # type: ignore[arg-type]
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"before": len}, "before= must be a list"),
        ({"policies": "x"}, "policies= must be a list"),
        ({"after": [3]}, r"after\[0\] must be a function, not 3"),
        ({"policies": [3]}, r"policies\[0\] must be a Policy with .* or a function, not 3"),
        ({"on_event": Server("x").call}, "must be a sync function"),
    ]
    for how, words in wrong:
        with pytest.raises(TypeError, match=words):
            Executor(registry, **how)
    endless: dict[str, Any] = {}
    endless["x"] = endless
    assert executor.execute_sync([]) == []


def test_arguments_that_are_nested_too_deeply_fail_their_call_alone() -> None:
    registry = ToolRegistry()
    registry.register(lambda: "ran", name="f")
    deep: list[Any] = []
    for _ in range(2_000):
        deep = [deep]
    endless: dict[str, Any] = {}
    endless["x"] = endless
    calls = [{"name": "f"}, {"name": "f", "arguments": {"x": deep}}, {"name": "f", "arguments": endless}, {"name": "f"}]
    for stops in (False, True):
        done = Executor(registry, stop_on_block=stops).execute_sync(calls)
        assert [one.failure for one in done][:2] == [None, "invalid_arguments"]
        assert "nested too deeply" in str(done[1].result.content)
        assert [one.failure for one in done][2:] == ([] if stops else ["invalid_arguments", None])


NOT_JSON: list[tuple[Any, str]] = [
    ("\ud800", "the text holds a lone surrogate"),
    ({"\ud800": 1}, "the text holds a lone surrogate"),
    (math.nan, "nan is not a JSON number"),
    ({1, 2}, "set is not a JSON value"),
]


@pytest.mark.parametrize(("value", "reason"), NOT_JSON, ids=ascii)
def test_arguments_that_are_not_json_do_not_run_and_their_record_says_why(value: Any, reason: str) -> None:
    ran: list[object] = []
    registry = ToolRegistry()
    registry.register(lambda a: ran.append(a) or 1, name="f")
    (done,) = Executor(registry).execute_sync([{"name": "f", "arguments": {"a": value}}])
    assert (done.failure, [one.message for one in done.problems], ran) == ("invalid_arguments", [reason], [])
    with pytest.raises(UnrepresentableError, match=f"at /call/arguments.*{reason}"):
        done.model_dump_json()


@pytest.mark.parametrize("field", ["name", "id", "server", "agent", "raw_arguments"])
def test_a_record_with_half_a_surrogate_in_its_call_is_an_error_with_its_place(field: str) -> None:
    call = ToolInvocation.model_validate({"name": "f", field: "\ud800"})
    (done,) = Executor(ToolRegistry([])).execute_sync([call])
    with pytest.raises(UnrepresentableError, match=f"at /call/{field}"):
        done.model_dump_json()


def test_a_changed_copy_has_the_change_and_shares_nothing_else() -> None:
    registry = ToolRegistry()
    registry.register(lambda: "x" * 20, name="f")
    executor = Executor(registry)
    short = dataclasses.replace(executor, result_limit=3)
    assert (run(executor, "f").value, run(short, "f").value) == ("x" * 20, "xxx\n... 17 characters cut")


def test_a_function_whose_hints_cannot_be_read_is_refused_for_it_might_hide_what_is_injected() -> None:
    def tool(store: Nowhere) -> None:  # type: ignore[name-defined]  # noqa: ARG001, F821 - that is the point
        return None

    registry = ToolRegistry()
    registry.register({"name": "f"}, function=tool)
    with pytest.raises(SchemaError, match=r"tool 'f': its type hints can't be resolved: name 'Nowhere'"):
        Executor(registry)
    plain = ToolRegistry()
    plain.register({"name": "f", "parameters": {"type": "object"}}, function=dict)
    assert run(Executor(plain), "f", {"a": 1}).value == {"a": 1}


def test_running_calls_needs_its_extra() -> None:
    code = "import sys; sys.modules['anyio'] = None; import toolfmt.execution"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert f"MissingExtraError: running calls needs an optional dependency: {install_line('exec')}" in ran.stderr


@pytest.mark.parametrize("package", [toolfmt.execution, toolfmt.agents, toolfmt.agents.drivers])
def test_every_public_name_is_there(package: ModuleType) -> None:
    for name in package.__all__:
        assert getattr(package, name) is not None
    assert set(package.__all__) <= set(dir(package))
    with pytest.raises(AttributeError):
        _ = package.Nothing


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"whole": 1e30}, {"/whole": "must be written in digits: as 1e+30 it is too large to be exact"}),
        ({"some": [1, -1e19]}, {"/some/1": "must be written in digits: as -1e+19 it is too large to be exact"}),
        ({"real": 10**350}, {"/real": "must be between -1.8e+308 and 1.8e+308"}),
        ({"real": -(10**350), "whole": 1e300}, {"/real": "must be between", "/whole": "must be written in digits"}),
        ({"whole": 10**30, "some": [1e15], "real": 10**308}, {}),
    ],
    ids=["float", "inner", "long", "both", "fits"],
)
def test_a_number_that_is_too_large_for_its_type_is_named_as_such(
    arguments: dict[str, Any], words: dict[str, str]
) -> None:
    def add(whole: int = 0, real: float = 0, some: list[int] | None = None) -> str:
        return f"{whole} {real} {some}"

    (execution,) = Executor(ToolRegistry([add])).execute_sync([{"name": "add", "arguments": arguments}])
    assert execution.failure == ("invalid_arguments" if words else None)
    assert [problem.pointer for problem in execution.problems] == [*words]
    assert all(text in problem.message for problem, text in zip(execution.problems, words.values(), strict=True))
