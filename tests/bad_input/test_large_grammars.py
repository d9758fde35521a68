"""Grammars of large schemas: made in a time that grows with the schema, or refused at once with the place."""

from __future__ import annotations

import contextlib
import re
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.growth import EXPONENT
from tests.bad_input.test_growth import exponent, steps
from toolfmt.errors import UnsupportedSchemaError
from toolfmt.workshop.grammars import grammar
from toolfmt.workshop.grammars.automata import Automaton, automaton
from toolfmt.workshop.grammars.patterns import pattern_node

pytestmark = pytest.mark.timeout(60)

DIALECTS = ["hermes", "xml-items", "pythonic", "gemma4"]


def doubled(levels: int) -> dict[str, Any]:
    definitions: dict[str, Any] = {"d0": {"type": "string"}}
    for number in range(1, levels + 1):
        below = {"$ref": f"#/$defs/d{number - 1}"}
        definitions[f"d{number}"] = {"type": "object", "properties": {"x": below, "y": below}}
    return {"type": "object", "properties": {"a": {"$ref": f"#/$defs/d{levels}"}}, "$defs": definitions}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_long_enumeration_is_written_whole(dialect: str) -> None:
    values = [f"value-{number}" for number in range(5000)]
    made = grammar(dialect, [{"name": "f", "parameters": {"properties": {"e": {"enum": values}}}}], target="gbnf")
    assert made.relaxed == ()
    assert len(made.text) > len(values)


@pytest.mark.parametrize("dialect", [*DIALECTS, "minimax-m3", "glm45"])
def test_a_long_enumeration_takes_steps_in_proportion_to_it(dialect: str) -> None:
    def made(count: int) -> object:
        values = [f"value-{number:06}" for number in range(count)]
        return grammar(dialect, [{"name": "f", "parameters": {"properties": {"e": {"enum": values}}}}], target="gbnf")

    made(5)
    small, large = (steps(lambda count=count: made(count)) for count in (200, 800))
    assert exponent(small, large, 4) <= EXPONENT
    assert large < 2_000_000  # a format's endings are made once, not for each of them


@pytest.mark.parametrize(
    ("pattern", "dialect", "target"),
    [
        ("a{5}{5}{5}{5}{5}{5}", "gemma4", "gbnf"),
        ("(a|b)*a(a|b){18}", "qwen3-xml", "regex"),
        ("[a-z]{1,1000}[0-9]{1,1000}", "gemma4", "gbnf"),
    ],
)
def test_a_pattern_of_many_places_takes_a_bounded_number_of_steps(pattern: str, dialect: str, target: str) -> None:
    tool = {"name": "f", "parameters": {"properties": {"s": {"type": "string", "pattern": pattern, "minLength": 3}}}}

    def made() -> None:
        with contextlib.suppress(UnsupportedSchemaError):
            grammar(dialect, [tool], target=target)

    assert steps(made) < 6_000_000


@given(
    text=st.recursive(
        st.sampled_from(["a", "b", "[ab]", "[^a]", "."]),
        lambda inner: st.one_of(
            st.builds("({}|{})".format, inner, inner),
            st.builds("({}{})".format, inner, inner),
            st.builds("({}){}".format, inner, st.sampled_from(["*", "+", "?", "{0,2}", "{2}"])),
        ),
        max_leaves=6,
    )
)
def test_the_states_that_are_joined_do_the_same(text: str) -> None:
    made = automaton(pattern_node(f"^{text}$"))
    for size in range(5):
        for word in map("".join, product("abc", repeat=size)):
            state: int | None = 0
            for char in word:
                moves = made.moves[state].items() if state is not None else ()
                state = next((to for to, ranges in moves if any(a <= ord(char) <= b for a, b in ranges)), None)
            assert (state is not None and made.accepts[state]) == bool(re.fullmatch(text, word)), word
    assert _classes(made) == len(made.moves)


def _classes(made: Automaton) -> int:
    """Count the states that do different things, by telling them apart step by step."""
    group = [int(accepts) for accepts in made.accepts]
    while True:
        signs = [
            (
                group[at],
                *(
                    next((group[to] for to, held in moves.items() if any(a <= ord(char) <= b for a, b in held)), -1)
                    for char in "abc\n"
                ),
            )
            for at, moves in enumerate(made.moves)
        ]
        numbers = {sign: number for number, sign in enumerate(dict.fromkeys(signs))}
        if len(numbers) == len(set(group)):
            return len(numbers)
        group = [numbers[sign] for sign in signs]


@pytest.mark.parametrize("target", ["lark", "gbnf", "structural-tag", "regex"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_would_be_too_large_is_refused_with_the_tool_and_the_place(dialect: str, target: str) -> None:
    many = {
        "properties": {"deep": {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(2000)}}}
    }
    with pytest.raises(UnsupportedSchemaError, match="'f', at /properties/deep: 2000 properties"):
        grammar(dialect, [{"name": "f", "parameters": many}], target=target)
    with pytest.raises(UnsupportedSchemaError, match=r"'f' is too large for a grammar, at /\S+"):
        grammar(dialect, [{"name": "f", "parameters": doubled(12)}], target=target)


def members(count: int, value: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {f"p{number}": value for number in range(count)}}


@pytest.mark.parametrize("target", ["lark", "gbnf", "structural-tag", "regex"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_many_items_in_one_another_are_written_or_refused_with_the_tool(dialect: str, target: str) -> None:
    deep: Any = {"type": "string"}
    for _ in range(30):
        deep = {"type": "array", "prefixItems": [*[{"type": "integer"}] * 12, deep]}
    for value in ({"type": "array", "prefixItems": [{"type": "boolean"}] * 300}, deep):
        try:
            grammar(dialect, [{"name": "f", "parameters": {"properties": {"a": value}}}], target=target)
        except UnsupportedSchemaError as error:
            assert "'f'" in str(error)  # noqa: PT017 - or there is a grammar


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("kind", ["list", "object"])
def test_a_long_value_takes_steps_in_proportion_to_it(dialect: str, kind: str) -> None:
    def made(count: int) -> object:
        value = [True] * count if kind == "list" else dict.fromkeys(map(str, range(count)), True)
        return grammar(dialect, [{"name": "f", "parameters": {"properties": {"e": {"const": value}}}}], target="gbnf")

    made(5)
    small, large = (steps(lambda count=count: made(count)) for count in (100, 400))
    assert exponent(small, large, 4) <= EXPONENT


def test_a_regular_expression_that_would_be_too_long_is_refused_in_steps_in_proportion_to_the_schema() -> None:
    value = {"type": "integer", "minimum": -(10**18), "maximum": 10**18 + 7919}

    def made(count: int) -> None:
        with pytest.raises(UnsupportedSchemaError, match="too long"):
            grammar("hermes", [{"name": "f", "parameters": members(count, value)}], target="regex")

    made(40)
    small, large = (steps(lambda count=count: made(count)) for count in (40, 160))
    assert exponent(small, large, 4) <= EXPONENT
