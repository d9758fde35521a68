"""Whatever is given for an option of a public function, the error is a documented one, in words of this package."""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

import toolfmt
from toolfmt.agents import AgentLoop, Budget, TextDriver
from toolfmt.arguments import _parameters  # pyright: ignore[reportPrivateUsage] - the options, as they are checked
from toolfmt.errors import ToolFmtError, shown
from toolfmt.execution import Executor

HUGE = 10**5_000
ODD: list[Any] = [
    HUGE, -HUGE, 2**64, 0, -1, True, 1.5, math.nan, math.inf, "x", "\ud800", b"x", [], {}, [HUGE], {"a": HUGE},
    {HUGE: 1}, {1: []}, {(HUGE,): 1}, object(), object, {1}, (1,), [math.nan], {"a": math.nan}, ["\ud800"],
    {"\ud800": 1}, [[]], {"a": [{}]}, {"f": [{"a": HUGE}]}, Fraction(1, 3),
]  # fmt: skip
TOOLS = [{"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}}]
CHAT = [{"role": "user", "content": "Hi."}]
ANSWER = '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'
OPENAI = {
    "id": "x",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hi."}}],
}
FUNCTIONS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = {
    "parse": (toolfmt.parse, (ANSWER,), {}),
    "parse in a dialect": (toolfmt.parse, (ANSWER,), {"dialect": "hermes"}),
    "open_parser": (toolfmt.open_parser, (), {}),
    "parse_stream": (toolfmt.parse_stream, ([ANSWER],), {}),
    "grammar": (toolfmt.grammar, ("hermes", TOOLS), {"target": "gbnf"}),
    "manifest": (toolfmt.manifest, (TOOLS,), {}),
    "inject": (toolfmt.inject, ("{{tools}}", TOOLS), {}),
    "convert": (toolfmt.convert, (CHAT,), {"target": "anthropic"}),
    "convert_answer": (toolfmt.convert_answer, (OPENAI,), {"target": "anthropic"}),
    "render_prompt": (toolfmt.render_prompt, (CHAT,), {"template": "{{messages[0].content}}"}),
    "render_calls": (toolfmt.render_calls, ([{"name": "f", "arguments": {}}],), {}),
    "render_results": (toolfmt.render_results, ([{"name": "f", "content": 1}],), {}),
    "lower_schema": (toolfmt.lower_schema, ({"type": "object"},), {"provider": "openai"}),
    "check": (toolfmt.check, (CHAT,), {}),
    "repair": (toolfmt.repair, (CHAT,), {}),
    "detect": (toolfmt.detect, (ANSWER,), {}),
    "read_answer": (toolfmt.read_answer, (OPENAI,), {}),
    "diagnose": (toolfmt.diagnose, (), {"template": "{{messages[0].content}}"}),
    "tool": (toolfmt.tool, (TOOLS[0],), {}),
}


def names_of(function: Any, count: int) -> list[str | int]:
    taken = _parameters(getattr(function, "__wrapped__", function))
    return [*range(count), *sorted(taken.by_name.keys() - {*[*taken.by_place][:count]})]


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
@pytest.mark.parametrize(("function", "given", "options"), FUNCTIONS.values(), ids=FUNCTIONS)
def test_an_odd_value_is_taken_or_refused_in_words(
    function: Callable[..., Any], given: tuple[Any, ...], options: dict[str, Any], odd: Any
) -> None:
    for name in names_of(function, len(given)):
        values = [odd if place == name else value for place, value in enumerate(given)]
        named = options | ({name: odd} if isinstance(name, str) else {})
        try:
            found = function(*values, **named)
            if function is toolfmt.parse_stream:
                list(found)
        except (ToolFmtError, OSError):
            continue
        except (TypeError, ValueError) as error:
            raised = error
        else:
            continue
        assert not isinstance(raised, UnicodeError), name
        assert "Exceeds the limit" not in str(raised), name
        last = traceback.extract_tb(raised.__traceback__)[-1]
        assert (last.line or "").startswith("raise "), (name, str(raised))


LIMITS: dict[str, Callable[[Any], object]] = {
    "max_calls": lambda value: toolfmt.grammar("hermes", TOOLS, target="gbnf", max_calls=value),
    "examples": lambda value: toolfmt.manifest(TOOLS, examples=value),
    "depth": lambda value: toolfmt.Limits(depth=value),
    "timeout": lambda value: Executor([], timeout=value),
    "calls": lambda value: Budget(calls=value),
    "max_steps": lambda value: AgentLoop(TextDriver(repr), max_steps=value),
}


@pytest.mark.parametrize("value", [HUGE, -HUGE, 2**64], ids=["huge", "low", "64 bits"])
@pytest.mark.parametrize("name", LIMITS)
def test_a_number_that_no_counter_holds_is_refused(name: str, value: int) -> None:
    with pytest.raises(ValueError, match=rf"^{name}= must be an? .*, not an int of more than 63 bits"):
        LIMITS[name](value)


@pytest.mark.parametrize("value", [math.nan, True, "3", b"3", [3]], ids=repr)
@pytest.mark.parametrize("name", LIMITS)
def test_what_is_no_number_is_refused(name: str, value: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=rf"^{name}= must be an? "):
        LIMITS[name](value)


def test_a_dict_of_options_has_text_as_keys() -> None:
    wrong: Any = {1: []}
    with pytest.raises(TypeError, match=r"^examples= must be a dict, an int or None, not dict with the key 1$"):
        toolfmt.manifest(TOOLS, examples=wrong)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (2**63 - 1, str(2**63 - 1)),
        (2**63, "an int of more than 63 bits"),
        (-HUGE, "an int of more than 63 bits"),
        ([HUGE], "list with a long int"),
        ("x" * 99, repr("x" * 99)[:60]),
        (True, "True"),
    ],
    ids=range(6),
)
def test_what_is_shown_in_a_message_is_short(value: object, said: str) -> None:
    assert shown(value) == said
