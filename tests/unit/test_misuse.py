"""A caller's mistake raises at once, in words that say where and what to do instead."""

from __future__ import annotations

import asyncio
import importlib
import io
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

import toolfmt
from tests import sampling
from toolfmt import ToolInvocation, ToolResult
from toolfmt.agents import AgentLoop, AgentState, Budget, NativeDriver, TextDriver
from toolfmt.agents.telemetry import traced
from toolfmt.errors import (
    MissingExtraError,
    ParseError,
    RenderError,
    SchemaError,
    UnknownDialectError,
    UnknownToolError,
    UnrepresentableError,
)
from toolfmt.events import CallFailed
from toolfmt.execution import Approval, Executor
from toolfmt.lookup.registry import default_registry
from toolfmt.tools import tools as read_tools
from toolfmt.workshop import testing

CALL = ToolInvocation(name="f", arguments={"a": 1})
RESULT = ToolResult(name="f", content=1)


CALL_TOOL = {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}}


class City(BaseModel):
    city: str


def run(start: Any) -> None:
    AgentLoop(TextDriver(repr)).run_sync(start)


def drain(chunks: Any) -> None:
    async def read() -> None:
        async for _ in toolfmt.aparse_stream(chunks):
            pass

    asyncio.run(read())


def write_file(path: str) -> None:
    """Write a file."""


TOOLS = toolfmt.ToolRegistry([write_file])


def noted(_: object) -> Any:
    yield "never run"


class Whole:
    async def write(self, _: object) -> str:
        return "x"


class Server:
    tools = ()

    def call(self) -> None: ...


WRONG_VALUES: dict[str, tuple[Callable[..., object], tuple[Any, ...], dict[str, Any], str]] = {
    "any class as a tool": (toolfmt.manifest, ([object],), {}, "object is a class without described fields"),
    "a place to run in": (
        toolfmt.ToolRegistry().register,
        (write_file,),
        {"run_in": "thred"},
        "run_in= must be 'thread', 'loop' or 'process', not 'thred'",
    ),
    "a tool that nothing runs": (AgentLoop, (TextDriver(repr), [{"name": "f"}]), {}, "nothing runs f: register"),
    "a tool that was not made": (toolfmt.ToolRegistry().register, (None,), {}, "cannot be read from NoneType"),
    "bytes in a record": (ToolInvocation, (), {"name": b"f"}, "should be a valid string"),
    "a misspelt tool's time-out": (
        Executor,
        (TOOLS,),
        {"timeouts": {"write_flie": 1}},
        "timeouts=: no tool is called 'write_flie'; did you mean 'write_file'?",
    ),
    "a misspelt tool to approve": (
        Executor,
        (TOOLS,),
        {"policies": [Approval(tools=["write_flie"])]},
        "Approval: no tool is called 'write_flie'; did you mean 'write_file'?",
    ),
    "a misspelt tool's limit": (
        Executor,
        (TOOLS,),
        {"guards": [Budget(per_tool={"write_flie": 1})]},
        "Budget: no tool is called 'write_flie'; did you mean 'write_file'?",
    ),
}
MISUSES: dict[str, tuple[Callable[..., object], tuple[Any, ...], dict[str, Any], str]] = {
    "a dialect by position": (toolfmt.parse, ("x", "hermes"), {}, "takes 1 by position, not 2; give 'hermes' by"),
    "options by position": (toolfmt.manifest, ([], "hermes"), {}, "by position, not 2; give 'hermes' by name: "),
    "an option of the executor": (
        AgentLoop,
        (TextDriver(repr),),
        {"servers": {}},
        r"no option 'servers'; it is an option of the executor: executor=Executor\(tools, servers=...\)",
    ),
    "a driver's class": (AgentLoop, (TextDriver,), {}, r"not the class TextDriver: make one with TextDriver\(...\)"),
    "two sets of tools": (
        AgentLoop,
        (TextDriver(repr), TOOLS),
        {"executor": Executor(TOOLS)},
        "are those of the executor",
    ),
    "a guard": (AgentLoop, (TextDriver(repr),), {"guards": [Budget()]}, r"guards=\[lambda: Budget\(calls=9\)\]"),
    "an SDK's client": (NativeDriver, (object(),), {}, r"openai_chat\(client, model=...\)"),
    "an SDK's client for text": (TextDriver, (object(),), {}, r"openai_chat\(client, model=...\)"),
    "a model by name": (TextDriver, (), {"model": repr}, r"the model itself is given first: TextDriver\(function"),
    "a model without parameters": (TextDriver, (lambda: "x",), {}, r"the model .* is called with \(chat\)"),
    "a model that gives a text": (TextDriver, (Whole(),), {}, "Whole.write is not an async generator"),
    "the class of a model": (TextDriver, (Whole,), {}, r"Whole is a class: give Whole\(...\)"),
    "a checkpoint that never runs": (AgentLoop, (TextDriver(repr),), {"checkpoint": noted}, "noted is a generator"),
    "a checkpoint of nothing": (
        AgentLoop,
        (TextDriver(repr),),
        {"checkpoint": lambda: None},
        r"checkpoint .* is called with \(state\)",
    ),
    "a rule that never runs": (AgentLoop, (TextDriver(repr),), {"stop_when": [noted]}, "noted is a generator"),
    "a listener that never runs": (AgentLoop(TextDriver(repr)).wiretap, (noted,), {}, "noted is a generator"),
    "an approval that never runs": (Approval, (noted,), {}, "noted is a generator"),
    "an approval by another name": (Approval, (), {"ask": repr}, "is decide=, or the first argument"),
    "a stored state": (AgentLoop(TextDriver(repr)).run_sync, (AgentState().to_json(),), {}, "AgentState.from_json"),
    "a state as text": (AgentState.from_json, ("{}",), {}, "decode it first, with json.loads"),
    "a server as tools": (AgentLoop, (TextDriver(repr), Server()), {}, "servers={'NAME': server}"),
    "the tools of an approval by position": (Approval, (None, ["f"]), {}, r"Approval\(\) takes 1 by position"),
    "the maker of a listener": (AgentLoop(TextDriver(repr)).wiretap, (traced,), {}, r"give what traced\(\) returns"),
    "the maker of an executor's listener": (Executor, ([],), {"on_event": traced}, r"give what traced\(\) returns"),
    "a listener of nothing": (Executor, ([],), {"on_event": lambda: None}, r"on_event .* is called with \(event\)"),
    "a misspelt field": (
        toolfmt.ToolInvocation,
        (),
        {"name": "f", "args": {}},
        "no field 'args'; did you mean 'arguments'",
    ),
    "an unknown field": (
        toolfmt.ToolDefinition,
        (),
        {"name": "f", "schema_": {}},
        "the fields are name, description, ",
    ),
    "a field by position": (toolfmt.ToolInvocation, ("f", {}), {}, r"takes its fields by name: name=, arguments="),
    "a tool's field by position": (toolfmt.ToolDefinition, ("f",), {}, r"by name: name=, description=, parameters="),
    "an event's place": (AgentLoop(TextDriver(repr)).on_event, (int, print), {}, "int is not an event"),
    "a time-out as text": (
        toolfmt.ToolRegistry().register,
        (write_file,),
        {"timeout": "5"},
        "must be a number, not '5'",
    ),
    "a flag as text": (toolfmt.ToolRegistry().register, (write_file,), {"dangerous": "False"}, "must be True or False"),
    "a function as a type": (AgentLoop, (TextDriver(repr),), {"output": str.upper}, "not the function upper"),
    "a maker of ids": (
        toolfmt.parse,
        ('<tool_call>{"name": "f", "arguments": {}}</tool_call>',),
        {"ids": toolfmt.ids.counter, "dialect": "hermes"},
        "returned a function: call it first, as in ids=counter",
    ),
    "an answer's file": (toolfmt.parse, (io.StringIO("x"),), {}, "not StringIO: read the file first"),
    "an answer in pieces": (toolfmt.parse, (iter("x"),), {}, "toolfmt.parse_stream reads a stream of pieces"),
    "an answer of another shape": (toolfmt.read_answer, ({"choices": "x"},), {}, "this shape: {'choices': str}"),
    "a target's short name": (toolfmt.convert, ([],), {"to": "anthropic"}, "the format to write is target="),
    "an answer in bytes": (toolfmt.parse, (b"x",), {}, "an answer is a str, not bytes: decode bytes first"),
    "no answer": (toolfmt.parse, (None,), {}, "an answer is a str, not NoneType"),
    "a message": (toolfmt.parse, ({"content": "x"},), {}, "an answer is a str, not dict"),
    "a stream in bytes": (
        lambda given: list(toolfmt.parse_stream(given)),
        ([b"x"],),
        {},
        r"chunks\[0\] must be a str, not bytes: decode bytes first",
    ),
    "a stream of bytes": (
        lambda given: list(toolfmt.parse_stream(given)),
        (b"x",),
        {},
        "must be an iterable or a str, not bytes: decode bytes first",
    ),
    "a piece that is none": (
        lambda given: list(toolfmt.parse_stream(given)),
        ([None],),
        {},
        r"chunks\[0\] must be a str, not None",
    ),
    "no stream": (
        lambda given: list(toolfmt.parse_stream(given)),
        (None,),
        {},
        "chunks= must be an iterable or a str, not None; see aparse_stream",
    ),
    "a stream that does not wait": (drain, (["x"],), {}, "see parse_stream"),
    "a dialect": (toolfmt.parse, ("x",), {"dialect": 3}, "dialect= must be a Dialect, a str or None, not 3"),
    "a provider": (toolfmt.manifest, ([],), {"provider": 3}, "provider= must be a str or None"),
    "a registry": (toolfmt.parse, ("x",), {"registry": {}}, "registry= must be a Registry or None, not dict"),
    "limits": (toolfmt.parse, ("x",), {"limits": 3}, "limits= must be a Limits or None"),
    "ids": (toolfmt.parse, ("x",), {"ids": "counter"}, "ids= must be a function"),
    "a prompt's end": (toolfmt.parse, ("x",), {"generation_prompt": 3}, "generation_prompt= must be a str"),
    "one call alone": (toolfmt.render_calls, (CALL,), {}, "calls are given in a list, not one alone"),
    "one dict alone": (toolfmt.render_calls, ({"name": "f"},), {}, "not dict: put brackets around it"),
    "no calls": (toolfmt.render_calls, (None,), {}, "calls= must be an iterable, not None"),
    "calls in text": (toolfmt.render_calls, ("f()",), {}, r"must be an iterable, not 'f\(\)'; .*toolfmt.read_answer"),
    "a call that is none": (toolfmt.render_calls, ([CALL, 3],), {}, r"calls\[1\] must be a ToolInvocation or a dict"),
    "a result for a call": (toolfmt.render_calls, ([RESULT],), {}, r"calls\[0\] must be .* not ToolResult"),
    "one result alone": (toolfmt.render_results, (RESULT,), {}, "results are given in a list"),
    "a call for a result": (toolfmt.render_results, ([CALL],), {}, r"results\[0\] must be a ToolResult"),
    "a prompt behind the tools": (toolfmt.inject, ([], "{{tools}}"), {}, "prompt= must be a str, not list"),
    "a template": (toolfmt.manifest, ([],), {"template": 3}, "template= must be a Path, a str or None, not 3"),
    "a dialect to register": (default_registry().with_dialect, ("x",), {}, "dialect= must be a Dialect, not 'x'"),
    "no content": (toolfmt.parse, (None,), {}, "give the whole response to toolfmt.read_answer"),
    "an SDK's object": (toolfmt.parse, (toolfmt.tool({"name": "f"}),), {}, "toolfmt.read_answer reads the answer"),
    "an option of the manifest": (toolfmt.manifest, ([],), {"exmaples": 1}, "did you mean 'examples'"),
    "an option far from any": (toolfmt.inject, ("", []), {"zzz": 1}, "there are dialect, examples, missing, model"),
    "an option of a driver": (TextDriver, (str,), {"retrys": 1}, "did you mean 'retries'"),
    "an option of a loop": (AgentLoop, (TextDriver(repr),), {"max_step": 1}, "did you mean 'max_steps'"),
    "an option far from a loop's": (AgentLoop, (TextDriver(repr),), {"zzz": 1}, "there are checkpoint, compiler, "),
    "a schema as output": (AgentLoop, (TextDriver(repr),), {"output": {"type": "object"}}, "output is a type"),
    "a run of bytes": (run, (b"x",), {}, "start= must be an AgentState, a Message, a dict, .* not bytes"),
    "a run of pairs": (run, ([("user", "x")],), {}, "must be a Message, a dict or a str, not tuple"),
    "a run of a request": (run, ({"messages": []},), {}, "give its 'messages'"),
    "a conversation in JSON": (toolfmt.convert, ("[{}]",), {"target": "gemini"}, "as json.loads returns it"),
    "a model for a format": (
        toolfmt.convert,
        ([],),
        {"source": "anthropic", "target": "gpt-4"},
        "did you mean 'openai-chat'",
    ),
    "a word for a carry": (
        toolfmt.convert,
        ([],),
        {"source": "anthropic", "target": "gemini", "carry": "text"},
        r"carry= must be a Carry, not 'text'",
    ),
    "all failures at once": (
        toolfmt.feedback,
        (),
        {"failure": ()},
        r"must be a CallFailed or a Notice, not tuple; such as result.failures\[0\]",
    ),
}


MISSPELT_TOOLS: dict[str, tuple[Any, str]] = {
    "parameters": ({"name": "f", "paramters": {"type": "object"}}, "'paramters' is no key of a tool; did you mean"),
    "input_schema": ([{"name": "f", "input_scheme": {}}], "did you mean 'input_schema'"),
    "another word": ({"name": "f", "args": {"a": {"type": "string"}}}, "did you mean 'parameters'"),
    "in a function": ({"type": "function", "function": {"name": "f", "desciption": "x"}}, "did you mean 'description'"),
    "by name": ({"f": {"type": "object", "properties": {}}}, r"give \[{'name': name, 'parameters': schema}"),
    "an instance": (
        toolfmt.ToolResult(name="f", content=1).model_copy(update={"name": ""}),
        "give the class ToolResult",
    ),
    "JSON text in a list": (['{"name": "f"}'], "read JSON with json.loads first"),
    "JSON in bytes": (b'[{"name": "f"}]', "read JSON with json.loads first"),
}


@pytest.mark.parametrize(("value", "said"), MISSPELT_TOOLS.values(), ids=MISSPELT_TOOLS)
def test_a_tool_that_is_misspelt_is_reported(value: Any, said: str) -> None:
    with pytest.raises(SchemaError, match=said):
        read_tools(value)


def test_what_providers_write_beside_a_tool_is_kept() -> None:
    beside = {"output_schema": {}, "outputSchema": {}, "title": "F", "strict": True, "annotations": {}, "response": {}}
    assert toolfmt.tool({"name": "f", **beside}).metadata == beside


@pytest.mark.parametrize(
    "prompt",
    [
        "Use {tools}.",
        "Use {{tool}}.",
        "Use {{ tool_list }}.",
        "Use {{tools|safe}}.",
        "Use {{- tools | indent(2) -}}.",
        "Use {% tools %}.",
        "Use {{toolz}}.",
        "Use {{ tools }.",
    ],
)
def test_what_is_meant_as_the_place_of_the_tools_is_reported(prompt: str) -> None:
    with pytest.raises(ValueError, match=r"write \{\{tools\}\} instead of"):
        toolfmt.inject(prompt, [CALL_TOOL])
    assert toolfmt.inject(f"{prompt} {{{{tools}}}}", [CALL_TOOL]).startswith(prompt)
    state = AgentLoop(TextDriver(repr), [write_file], system=prompt).run_sync("Hi")
    assert "write {{tools}} instead of" in state.reason


@pytest.mark.parametrize("dialect", ["hermes", "auto"])
def test_a_provider_is_checked_beside_a_dialect(dialect: str) -> None:
    with pytest.raises(UnknownDialectError, match="did you mean 'openai'"):
        toolfmt.parse("x", dialect=dialect, provider="opanai")


@pytest.mark.parametrize("start", ["", " ", [], None, [{"role": "system", "content": "Be brief."}]])
def test_a_run_without_anything_to_answer_is_refused(start: Any) -> None:
    with pytest.raises(ValueError, match="nothing to answer"):
        AgentLoop(TextDriver(repr)).run_sync(start)


def test_two_system_prompts_are_refused() -> None:
    loop = AgentLoop(TextDriver(repr), system="Be brief.")
    with pytest.raises(ValueError, match="leave system= out"):
        loop.run_sync([{"role": "system", "content": "Be long."}, {"role": "user", "content": "Hi"}])


def test_feedback_knows_the_dialect_of_a_failure() -> None:
    (failure,) = toolfmt.parse('<tool_call>{"name": "f", "arguments": 3}</tool_call>', tools=[CALL_TOOL]).failures
    assert "<tool_call>" in toolfmt.feedback(failure, tools=[CALL_TOOL]).split("looks like this:")[1]
    assert "<tool name=" in toolfmt.feedback(failure, tools=[CALL_TOOL], use_xml=True).split("looks like this:")[1]
    pieces = iter('<tool_call>{"name": "f", "arguments": 3}</tool_call>')
    events = [*toolfmt.parse_stream(pieces, tools=[CALL_TOOL])]
    assert [event.dialect for event in events if isinstance(event, CallFailed)] == [failure.dialect]


def test_a_part_of_an_answer_is_sent_back_to_the_whole() -> None:
    with pytest.raises(ParseError, match="give the whole response"):
        toolfmt.read_answer({"role": "assistant", "content": None, "tool_calls": []})
    assert "toolfmt.read_answer(text)" in toolfmt.parse('data: {"choices": []}').hint
    assert toolfmt.read_answer('data: {"choices": []}').events == ()


@pytest.mark.parametrize(("function", "given", "options", "said"), MISUSES.values(), ids=MISUSES)
def test_a_wrong_argument_is_reported(
    function: Callable[..., object], given: tuple[Any, ...], options: dict[str, Any], said: str
) -> None:
    with pytest.raises((TypeError, ParseError, LookupError), match=said):
        function(*given, **options)


@pytest.mark.parametrize(("function", "given", "options", "said"), WRONG_VALUES.values(), ids=WRONG_VALUES)
def test_a_wrong_value_is_reported(
    function: Callable[..., object], given: tuple[Any, ...], options: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        function(*given, **options)


@pytest.mark.parametrize("dialect", sampling.names())
def test_dicts_are_calls_and_results_too(dialect: str) -> None:
    call = {"name": "f", "arguments": {"a": "b"}}
    tools = [{"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}]
    assert toolfmt.render_calls([call], dialect=dialect, tools=tools) == toolfmt.render_calls(
        [ToolInvocation(name="f", arguments={"a": "b"})], dialect=dialect, tools=tools
    )
    assert toolfmt.render_results([{"name": "f", "content": [1]}], dialect=dialect) == toolfmt.render_results(
        [ToolResult(name="f", content=[1])], dialect=dialect
    )


def test_the_text_of_arguments_is_refused_with_what_reads_it() -> None:
    with pytest.raises(ValidationError, match=r"expected a JSON object, not str: read it with json.loads first"):
        ToolInvocation(name="f", arguments='{"a": 1}')  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ({"arguments": {}}, r"calls\[1\].name: the field is missing; the fields are name, arguments, "),
        (
            {"name": "f", "arguments": "{}"},
            r"calls\[1\].arguments: expected a JSON object, not str: read it with json.loads first\Z",
        ),
        ({"name": "f", "args": {}}, r"calls\[1\].args: there is no such field; the fields are name, arguments, "),
        ({"type": "function", "function": {"name": "f"}}, r"an API's own calls are read first: toolfmt.read_answer"),
    ],
)
def test_a_dict_that_is_no_call_is_reported(call: dict[str, Any], said: str) -> None:
    with pytest.raises(RenderError, match=said):
        toolfmt.render_calls([CALL, call])


def test_what_is_checked_tells_its_format() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": {"b": 1}}}
    chat = [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": None, "tool_calls": [call]}]
    assert toolfmt.check(chat) == toolfmt.check(chat, format="openai-chat") != ()
    assert toolfmt.repair(chat) == toolfmt.repair(chat, format="openai-chat")
    with pytest.raises(ParseError, match="name its format"):
        toolfmt.check([{"nothing": 1}])


@pytest.mark.parametrize("value", ["", 0, False])
def test_a_falsy_value_is_no_list_of_tools(value: Any) -> None:
    with pytest.raises(SchemaError, match="give a ToolDefinition"):
        toolfmt.parse("Hi.", tools=value)
    assert all(toolfmt.parse("Hi.", tools=none).text == "Hi." for none in (None, [], (), {}))


def test_of_many_tools_a_few_are_named() -> None:
    many = toolfmt.ToolRegistry([{"name": f"tool_{n}"} for n in range(100)])
    with pytest.raises(UnknownToolError) as caught:
        _ = many["zzz"]
    assert str(caught.value) == ("unknown tool 'zzz'; known: tool_0, tool_1, tool_2, tool_3, tool_4 and 95 more")
    with pytest.raises(UnknownToolError) as caught:
        _ = many["tool_7x"]
    assert "tool_7" in caught.value.suggestions
    assert len(caught.value.suggestions) <= 3


def test_strategies_name_the_extra_that_they_need(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    monkeypatch.delitem(sys.modules, "toolfmt.workshop.testing.strategies", raising=False)
    monkeypatch.delattr(testing, "strategies", raising=False)  # another test may have imported it
    with pytest.raises(MissingExtraError, match=r"pip install .*\[test\]'"):
        from toolfmt.workshop.testing import strategies  # noqa: F401 - the import is the point


def test_the_gateway_names_the_extra_that_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "starlette", None)
    monkeypatch.delitem(sys.modules, "toolfmt.gateway", raising=False)
    with pytest.raises(MissingExtraError, match=r"pip install .*\[gateway\]'"):
        importlib.import_module("toolfmt.gateway")


def test_the_gateway_runs_without_further_extras() -> None:
    """A store, traces, Bedrock and tokenizers are loaded only where the configuration asks for them."""
    code = """if True:
        import sys
        sys.modules |= dict.fromkeys(["sqlalchemy", "opentelemetry", "botocore", "tokenizers", "mcp", "pyarrow"])
        from toolfmt.gateway.app import make_app
        from toolfmt.gateway.loading import single
        make_app(single("http://127.0.0.1:9/v1", "openai-chat"))
    """
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.parametrize("flag", ["strict", "validate", "repair", "coerce", "drop_leaks", "use_xml", "reasoning_open"])
def test_a_flag_is_true_or_false(flag: str) -> None:
    meant: Any = {flag: True}
    toolfmt.parse("x", dialect=None if flag == "use_xml" else "hermes", tools=[CALL_TOOL], **meant)
    for wrong in ("no", 1):
        options: Any = {flag: wrong}
        with pytest.raises(TypeError, match=f"{flag}= must be True or False, not {wrong!r}"):
            toolfmt.parse("x", dialect=None if flag == "use_xml" else "hermes", tools=[CALL_TOOL], **options)


def test_options_of_a_conversion_are_checked() -> None:
    wrong: Any = "x"
    with pytest.raises(TypeError, match="strict= must be True or False"):
        toolfmt.convert([{"role": "user", "content": "Hi."}], target="anthropic", strict=wrong)
    with pytest.raises(TypeError, match="residue= must be a dict or None, not 'x'"):
        toolfmt.convert([{"role": "user", "content": "Hi."}], target="anthropic", residue=wrong)


def test_a_stream_of_text_takes_text_until_it_is_closed() -> None:
    stream = toolfmt.StreamConverter("openai-chat", "anthropic")
    wrong: Any = {"a": 1}
    with pytest.raises(TypeError, match=r"feed takes events"):
        stream.feed_text(wrong)
    stream.close_text()
    with pytest.raises(ValueError, match="the stream is closed"):
        stream.feed_text("")


def test_a_name_that_no_provider_takes_is_refused() -> None:
    for name in ("a b", "", "a\n"):
        with pytest.raises(SchemaError, match="no provider takes the tool's name"):
            toolfmt.ToolRegistry().register(len, name=name)


def test_an_empty_model_is_named() -> None:
    with pytest.raises(UnknownDialectError, match="the model's id is empty"):
        toolfmt.parse("x", dialect=None, provider="openai", model="")


def test_a_state_without_a_version_is_none() -> None:
    with pytest.raises(ParseError, match="/version: the field is missing"):
        AgentState.from_json({})


@pytest.mark.parametrize(("name", "said"), [("parze", "did you mean 'parse'"), ("zzz", r"dir\(toolfmt\) lists all")])
def test_a_misspelt_name_of_the_package_has_a_hint(name: str, said: str) -> None:
    with pytest.raises(AttributeError, match=f"no attribute '{name}'; {said}"):
        getattr(toolfmt, name)
    assert not hasattr(toolfmt, name)


def nested(levels: int) -> dict[str, Any]:
    return {"a": nested(levels - 1)} if levels else {}


@pytest.mark.parametrize(
    ("dialect", "calls", "message"),
    [
        ("llama3-builtin", [{"name": "f"}, {"name": "g"}], "at /: a message holds one call, not 2"),
        ("harmony", [{"name": "a b"}], "at /name: 'a b' cannot be written in a header"),
        ("hermes", [{"name": ""}], "at /name: a call needs a tool's name"),
        ("hermes", [{"name": "f", "arguments": nested(129)}], "at /arguments: they are nested more than 128"),
        ("qwen3-coder", [{"name": "a>b<c"}], "at /name: 'a>b<c' cannot be written between the dialect's markers"),
        ("kimi-k2", [{"name": "f", "id": "call_1"}], "at /id: the id 'call_1' does not contain the tool's name"),
        ("morph-xml", [{"name": "f", "arguments": {"a": 3}}], "at /arguments: the tool's schema does not determine"),
    ],
)
def test_a_call_that_a_dialect_cannot_represent_is_refused_with_its_place(
    dialect: str, calls: list[dict[str, Any]], message: str
) -> None:
    tools = [{"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}]
    with pytest.raises(UnrepresentableError, match=re.escape(message)):
        toolfmt.render_calls([{"arguments": {}, **call} for call in calls], dialect=dialect, tools=tools)


def test_an_example_that_a_dialect_cannot_represent_is_refused_with_its_place() -> None:
    tools = [{"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}]
    examples = {"f": [{"a": "x"}, {"a": "</parameter>\n</function>\n</tool_call>"}]}
    with pytest.raises(UnrepresentableError, match="at /examples/1: this example of 'f' cannot be written"):
        toolfmt.manifest(tools, dialect="qwen3-coder", examples=examples)


def test_the_error_for_a_public_name_of_another_module_says_where_it_is() -> None:
    with pytest.raises(ImportError, match=r"write: from toolfmt\.agents import AgentLoop"):
        exec("from toolfmt import AgentLoop")  # noqa: S102 - an import that fails
    with pytest.raises(AttributeError, match=r"write: from toolfmt\.execution import Executor"):
        _ = toolfmt.Executor  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
    assert not hasattr(toolfmt, "AgentLoop")
    with pytest.raises(ImportError, match="cannot import name 'Nothing'"):
        exec("from toolfmt import Nothing")  # noqa: S102 - the same


ANY_PARSE: Any = toolfmt.parse
ANY_ASSIGN: Any = toolfmt.ids.assign
ANSWER_OF_F = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda known: known.with_provider(3), "provider= must be a Provider, not 3"),
        (
            lambda known: known.with_override("hermes", tool={}, pair=known.formatter_pair()),
            "tool= must be a str, not dict",
        ),
        (lambda known: known.formatter_pair(tool={}), "tool= must be a str or None, not dict"),
        (lambda known: known.parser(options=3), "options= must be a ParserOptions or None, not 3"),
        (lambda _: ANY_ASSIGN([CALL], 3), "policy= must be a function, not 3"),
        (lambda _: ANY_ASSIGN([CALL], lambda: "x"), "a policy of ids is called with (call): too many"),
        (
            lambda _: ANY_PARSE(ANSWER_OF_F, dialect="hermes", ids=lambda one, two: one or two),
            "a policy of ids is called with (call): missing a required argument: 'two'",
        ),
    ],
    ids=range(7),
)
def test_what_a_registry_and_ids_do_not_take_is_named(ask: Callable[[Any], object], said: str) -> None:
    with pytest.raises(TypeError, match=re.escape(said)):
        ask(default_registry())


def test_a_type_error_of_a_policys_own_stays() -> None:
    with pytest.raises(TypeError, match="own"):
        toolfmt.ids.assign([CALL], _raises)


def _raises(_: ToolInvocation) -> str:
    raise TypeError("own")
