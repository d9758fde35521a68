"""A caller's mistake raises at once, in words that say where and what to do instead."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any

import pytest

import toolfmt
from tests import sampling
from toolfmt import ToolInvocation, ToolResult
from toolfmt.errors import MissingExtraError, ParseError, RenderError, UnknownToolError
from toolfmt.lookup.registry import default_registry
from toolfmt.workshop import testing

CALL = ToolInvocation(name="f", arguments={"a": 1})
RESULT = ToolResult(name="f", content=1)


def drain(chunks: Any) -> None:
    async def read() -> None:
        async for _ in toolfmt.aparse_stream(chunks):
            pass

    asyncio.run(read())


MISUSES: dict[str, tuple[Callable[..., object], tuple[Any, ...], dict[str, Any], str]] = {
    "an answer in bytes": (toolfmt.parse, (b"x",), {}, "an answer is a str, not bytes: decode bytes first"),
    "no answer": (toolfmt.parse, (None,), {}, "an answer is a str, not NoneType"),
    "a message": (toolfmt.parse, ({"content": "x"},), {}, "an answer is a str, not dict"),
    "a stream in bytes": (
        lambda given: list(toolfmt.parse_stream(given)),
        ([b"x"],),
        {},
        "a piece of an answer is a str",
    ),
    "a stream of bytes": (
        lambda given: list(toolfmt.parse_stream(given)),
        (b"x",),
        {},
        "a piece of an answer is a str",
    ),
    "a piece that is none": (lambda given: list(toolfmt.parse_stream(given)), ([None],), {}, "is a str, not NoneType"),
    "no stream": (lambda given: list(toolfmt.parse_stream(given)), (None,), {}, "a stream is an iterable of str"),
    "a stream that does not wait": (drain, (["x"],), {}, "see parse_stream"),
    "a dialect": (toolfmt.parse, ("x",), {"dialect": 3}, "a dialect is given by name, a str or a toolfmt.Dialect"),
    "a provider": (toolfmt.manifest, ([],), {"provider": 3}, "a provider is given by name"),
    "a registry": (toolfmt.parse, ("x",), {"registry": {}}, "registry= takes a toolfmt.Registry, not dict"),
    "limits": (toolfmt.parse, ("x",), {"limits": 3}, "limits= takes a toolfmt.Limits"),
    "ids": (toolfmt.parse, ("x",), {"ids": "counter"}, "ids= takes a function"),
    "a prompt's end": (toolfmt.parse, ("x",), {"generation_prompt": 3}, "generation_prompt= takes"),
    "one call alone": (toolfmt.render_calls, (CALL,), {}, "calls are given in a list, not one alone"),
    "one dict alone": (toolfmt.render_calls, ({"name": "f"},), {}, "calls are given in a list, not one alone"),
    "no calls": (toolfmt.render_calls, (None,), {}, "calls are a list of ToolInvocation, or of dicts with its fields"),
    "calls in text": (toolfmt.render_calls, ("f()",), {}, "calls are a list of ToolInvocation"),
    "a call that is none": (toolfmt.render_calls, ([CALL, 3],), {}, r"calls\[1\] is a ToolInvocation or a dict"),
    "a result for a call": (toolfmt.render_calls, ([RESULT],), {}, r"calls\[0\] is a ToolInvocation .* not ToolResult"),
    "one result alone": (toolfmt.render_results, (RESULT,), {}, "results are given in a list"),
    "a call for a result": (toolfmt.render_results, ([CALL],), {}, r"results\[0\] is a ToolResult"),
    "a prompt behind the tools": (
        toolfmt.inject,
        ([], "{{tools}}"),
        {},
        "a prompt is a str, not list; it comes before",
    ),
    "a template": (toolfmt.manifest, ([],), {"template": 3}, "a template is a path, a name or a text, not int"),
    "a dialect to register": (default_registry().with_dialect, ("x",), {}, "a dialect is a toolfmt.Dialect"),
    "all failures at once": (
        toolfmt.feedback,
        (),
        {"failure": ()},
        r"for one CallFailed, such as result.failures\[0\]",
    ),
}


@pytest.mark.parametrize(("function", "given", "options", "said"), MISUSES.values(), ids=MISUSES)
def test_a_wrong_type_is_reported(
    function: Callable[..., object], given: tuple[Any, ...], options: dict[str, Any], said: str
) -> None:
    with pytest.raises(TypeError, match=said):
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


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ({"arguments": {}}, r"calls\[1\].name: the field is missing; the fields are name, arguments, "),
        ({"name": "f", "arguments": "{}"}, r"calls\[1\].arguments: expected a JSON object, not str\Z"),
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
