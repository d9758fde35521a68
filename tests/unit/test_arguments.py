"""Every public function checks its arguments where it is called, and names the one that is wrong."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypedDict, Unpack, cast

import pytest

import toolfmt
from toolfmt import ToolDefinition
from toolfmt.agents import AgentState
from toolfmt.arguments import AtLeast, Natural, Positive, Seconds, checked


async def _later() -> None: ...


async def _stream() -> Any:
    yield "x"


def _odd() -> dict[str, Any]:
    """Values of which no parameter takes all; each is new, as some can be used once."""
    pause = _later()
    pause.close()
    return {
        "none": None,
        "a flag": True,
        "a number": -3,
        "a fraction": 1.5,
        "text": "zzq",
        "bytes": b"zz",
        "a list": [b"zz"],
        "a dict": {"zzq": b"zz"},
        "a function": lambda: None,
        "a class": int,
        "an object": object(),
        "a stream": _stream(),
        "a coroutine": pause,
        "a set": {b"zz"},
        "a tool": ToolDefinition(name="zzq"),
    }


MODULES = ("toolfmt", "toolfmt.agents", "toolfmt.agents.clients", "toolfmt.agents.drivers", "toolfmt.execution")
_UNTYPED = {"answer", "client", "content", "message", "messages", "model", "final_model", "output", "response", "tools"}
_UNTYPED |= {"value"}
"""Parameters that take any value and read it themselves."""


def _public() -> dict[str, Callable[..., Any]]:
    """Return the public functions and classes that check their arguments, by name."""
    found: dict[str, Callable[..., Any]] = {}
    for module in map(importlib.import_module, MODULES):
        for name in module.__all__:
            made = getattr(module, name)
            inner = made.__init__ if inspect.isclass(made) else made
            if "toolfmt/arguments.py" in getattr(getattr(inner, "__code__", None), "co_filename", ""):
                found[name] = made
    return found


PUBLIC = _public()
READ_THEMSELVES = {"parse", "text_dialect"}
"""Public functions that check their arguments without `checked`, for speed: each answer, each start."""


def test_every_public_function_checks_its_arguments() -> None:
    functions = {
        name
        for module in map(importlib.import_module, MODULES)
        for name in module.__all__
        if inspect.isfunction(getattr(module, name)) and inspect.signature(getattr(module, name)).parameters
    }
    compilers = {"all_sections", "current_trace"}  # the loop calls them
    assert functions - PUBLIC.keys() - READ_THEMSELVES - compilers == set()
    assert len(PUBLIC) > 60


def _parameters() -> list[tuple[str, str]]:
    return [
        (name, one.name)
        for name, made in sorted(PUBLIC.items())
        if name not in READ_THEMSELVES
        for one in inspect.signature(made.__init__ if inspect.isclass(made) else made).parameters.values()
        if one.name not in _UNTYPED
        and (name, one.name) != ("Executor", "registry")  # tools in any form
        and one.name != "self"
        and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    ]


@pytest.mark.parametrize(("name", "parameter"), _parameters())
def test_a_wrong_kind_of_argument_is_named(name: str, parameter: str) -> None:
    refused = 0
    takes = {"none", "text", "a flag", "a function", "a class", "a number", "a fraction", "a dict"}
    for kind, value in _odd().items():
        try:
            result = PUBLIC[name](**{parameter: value})
        except (TypeError, ValueError, LookupError) as error:
            refused += f"{parameter}=" in str(error) or f"{parameter}[" in str(error)
            continue
        except OSError:  # a path that does not exist
            continue
        assert kind in takes or "stream" in name, result
    # Of the fifteen kinds, a parameter takes some: None, text, functions and classes, ...
    assert refused >= 7


class _More(TypedDict, total=False):
    strict: bool
    limit: Positive | None


@checked(items="such as ['a']")
def _function(
    items: Sequence[str],
    /,
    word: Literal["one", "two"] = "one",
    *names: str,
    by: Mapping[str, Natural] | None = None,
    wait: Seconds = 0.0,
    **more: Unpack[_More],
) -> object:
    return items, word, names, by, wait, more


@pytest.mark.parametrize(
    ("values", "options", "error", "said"),
    [
        (("a",), {}, TypeError, "items= must be a list, not 'a': put brackets around it; such as ['a']"),
        ((["a", 1],), {}, TypeError, "items[1] must be a str, not 1; such as ['a']"),
        (({"a": 1},), {}, TypeError, "items= must be a list, not dict; such as ['a']"),
        (([], "three"), {}, ValueError, "word= must be 'one' or 'two', not 'three'"),
        (([], 1), {}, TypeError, "word= must be 'one' or 'two', not 1"),
        (([], "one", "a", b"b"), {}, TypeError, "names= must be a str, not bytes: decode bytes first"),
        (([],), {"by": {"a": -1}}, ValueError, "by['a'] must be an int of at least 0, not -1"),
        (([],), {"by": {"a": True}}, TypeError, "by['a'] must be an int of at least 0, not True"),
        (([],), {"by": dict}, TypeError, "by= must be a dict or None, not the class dict: make one with dict(...)"),
        (([],), {"wait": "1"}, TypeError, "wait= must be a number of at least 0, not '1'"),
        (([],), {"wait": float("nan")}, ValueError, "wait= must be a number of at least 0, not nan"),
        (([],), {"limit": 0}, ValueError, "limit= must be an int of at least 1 or None, not 0"),
        (([],), {"strict": 1}, TypeError, "strict= must be True or False, not 1"),
        (([],), {"strickt": True}, TypeError, "there is no option 'strickt'; did you mean 'strict'?"),
        (([],), {"zzz": True}, TypeError, "there is no option 'zzz'; there are by, limit, strict, wait, word"),
    ],
)
def test_what_is_wrong_is_said(
    values: tuple[Any, ...], options: dict[str, Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error) as caught:
        _function(*values, **options)
    assert str(caught.value) == said


def test_right_arguments_pass_unchanged() -> None:
    names = iter("ab")

    @checked
    def passed(one: Iterable[str], other: AtLeast) -> object:
        return one, other

    assert cast("tuple[Any, ...]", passed(names, AtLeast(1)))[0] is names
    assert [*names] == ["a", "b"]
    assert _function(("a",), "two", "b", by=None, limit=None) == (("a",), "two", ("b",), None, 0.0, {"limit": None})


def test_methods_check_their_arguments() -> None:
    wrong: Any = 3
    with pytest.raises(TypeError, match="agent= must be a str or None, not 3"):
        AgentState.of("Hi", agent=wrong)
    with pytest.raises(TypeError, match="a piece of an answer is a str, not int"):
        toolfmt.open_parser().feed(wrong)
