"""Strict JSON: what is read, what is refused and where, what is written."""

from __future__ import annotations

import inspect
import json
import math
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toolfmt import convert, jsontext
from toolfmt.errors import LimitExceededError, ParseError, UnrepresentableError, UnsafeInputError

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


def raw(text: str, **limits: int) -> Any:
    value, end = jsontext.raw_value(text, 0, **limits)
    assert end == len(text)
    return value


BOTH = pytest.mark.parametrize("read", [jsontext.loads, raw])


@given(VALUES, st.booleans())
def test_what_is_written_reads_back_as_the_same_value(value: Any, compact: bool) -> None:  # noqa: FBT001
    text = jsontext.dumps(value, compact=compact)
    assert text == json.dumps(value, ensure_ascii=False, separators=(",", ":") if compact else None)
    assert jsontext.equal(jsontext.loads(text), value)
    assert jsontext.equal(raw(text), value)


@given(VALUES, st.text(max_size=5), st.text(max_size=5))
def test_a_raw_value_ends_where_its_grammar_does(value: Any, before: str, after: str) -> None:
    text = jsontext.dumps([value])
    found, end = jsontext.raw_value(before + text + after, len(before))
    assert jsontext.equal(found, [value])
    assert end == len(before + text)


@given(st.text(alphabet='{}[]",:\\u dDe+-.01tfn\n', max_size=30))
@example('"\\udc00\\ud800"')
@example('{"":1,"":1}')
def test_no_text_raises_anything_but_parse_errors(text: str) -> None:
    try:
        expected = json.loads(text)
    except ValueError:
        with pytest.raises(ParseError):
            jsontext.loads(text)
        return
    value, refusal = None, ""
    try:
        value = jsontext.loads(text)
    except UnsafeInputError as error:
        refusal = str(error)
    if refusal:
        assert any(words in refusal for words in ("lone surrogate", "duplicate key", "too large"))
    else:
        assert jsontext.equal(value, expected)


@BOTH
@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ('{"a":1,"b":2,"a":3}', UnsafeInputError, 'duplicate key "a" at line 1, column 18'),
        ('{"x":\n {"é":1,"\\u00e9":2}}', UnsafeInputError, 'duplicate key "é" at line 2, column 18'),
        ("[1,\nNaN]", UnsafeInputError, "NaN is not a JSON value, at line 2, column 1"),
        ("[Infinity]", UnsafeInputError, "Infinity is not a JSON value, at line 1, column 2"),
        ("[1, -Infinity]", UnsafeInputError, "-Infinity is not a JSON value, at line 1, column 5"),
        ('["1e999", -1e999]', UnsafeInputError, "a number too large for a float at line 1, column 11"),
        ("1e999", UnsafeInputError, "a number too large for a float at line 1, column 1"),
        ('["é\ud800"]', UnsafeInputError, "lone surrogate at line 1, column 4"),
        (r'"\ud800"', UnsafeInputError, "lone surrogate at line 1, column 8"),
        (r'["\udc00\ud800"]', UnsafeInputError, "lone surrogate"),
        (r'"\ud800\u0041"', UnsafeInputError, "lone surrogate"),
        ("[" * 129 + "]" * 129, LimitExceededError, "nested deeper than 128 levels at line 1, column 129"),
        ("1" * 4301, LimitExceededError, "a number of more than 4300 digits"),
        ('{"a": [1, 2}', ParseError, "line 1, column 12"),
        ("[1,]", ParseError, "line 1, column 4"),
        ('["a\nb"]', ParseError, "control character"),
        ("{'a': 1}", ParseError, "line 1, column 2"),
        ("", ParseError, "line 1"),
        ('{"a": "b', ParseError, "line 1"),
    ],
)
def test_refusals_say_what_and_where(
    read: Callable[[str], Any], text: str, error: type[ParseError], message: str
) -> None:
    with pytest.raises(ParseError) as caught:
        read(text)
    assert type(caught.value) is error
    assert message in str(caught.value)


@BOTH
def test_depth_and_digits_are_bounded_as_asked(read: Callable[..., Any]) -> None:
    assert read('{"a":[{}]}', max_depth=3) == {"a": [{}]}
    with pytest.raises(LimitExceededError, match="deeper than 2 levels at line 1, column 7"):
        read('{"a":[{}]}', max_depth=2)
    assert read('[12345, 1.2345678, "1234567"]', max_digits=5) == [12345, 1.2345678, "1234567"]
    with pytest.raises(LimitExceededError, match="more than 5 digits at line 1, column 12"):
        read('["123456", 123456]', max_digits=5)
    assert len(str(read("9" * 4300))) == 4300


@BOTH
@pytest.mark.parametrize("opener", ["[", '{"a":', '[{"a":'])
def test_deep_input_is_a_limit_and_never_a_recursion_error(read: Callable[[str], Any], opener: str) -> None:
    with pytest.raises(LimitExceededError):
        read(opener * 100_000)


@BOTH
def test_a_deep_caller_can_still_read(read: Callable[[str], Any]) -> None:
    text = "[" * 128 + "]" * 128

    def descend(frames: int) -> Any:
        return descend(frames - 1) if frames else read(text)

    room = sys.getrecursionlimit() - len(inspect.stack(0))
    assert descend(room - 40) == jsontext.loads(text)


def test_numbers_are_exact() -> None:
    text = "[123456789012345678901234567890, -0, 0.1, 1.0, -0.0, 1e22, 5e-324, 1.7976931348623157e308]"
    assert repr(jsontext.loads(text)) == repr(json.loads(text))


def test_raw_value_skips_white_space_and_leaves_what_follows() -> None:
    assert jsontext.raw_value(' x: \n\t{"a": 1} tail', 3) == ({"a": 1}, 14)
    assert jsontext.raw_value("12abc", 0) == (12, 2)
    with pytest.raises(UnsafeInputError, match="line 2, column 12"):
        jsontext.raw_value('xé\n{"a":1,"a":2}', 3)


@pytest.mark.parametrize(
    ("value", "pointer", "reason"),
    [
        ({"a": {1: 2}}, "/a", "the key 1 is not a string"),
        ({True: 2}, "", "the key True is not a string"),
        ({"a": [0, math.nan]}, "/a/1", "nan is not a JSON number"),
        (-math.inf, "", "-inf is not a JSON number"),
        ({"a/b~": (1,)}, "/a~1b~0", "tuple is not a JSON value"),
        ([{"x": {1}}], "/0/x", "set is not a JSON value"),
        (["ok", "\ud800"], "/1", "lone surrogate"),
        ({"\udfff": 1}, "", "lone surrogate"),
        ([10**4300], "/0", "more than 4300 digits"),
        (b"x", "", "bytes is not a JSON value"),
    ],
)
def test_what_json_cannot_hold_is_refused_with_its_pointer(value: Any, pointer: str, reason: str) -> None:
    for write in (jsontext.dumps, jsontext.canonical):
        with pytest.raises(UnrepresentableError, match=reason) as caught:
            write(value)
        assert caught.value.pointer == pointer


def test_circles_and_depth_are_refused_when_writing() -> None:
    circle: list[Any] = []
    circle.append({"a": circle})
    with pytest.raises(UnrepresentableError, match="circular reference"):
        jsontext.dumps(circle)
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(UnrepresentableError, match="nested too deeply"):
        jsontext.dumps(deep)


def test_layout_of_what_is_written() -> None:
    value = {"b": [1, {"a": "é\n"}], "a": None}
    assert jsontext.dumps(value) == '{"b": [1, {"a": "é\\n"}], "a": null}'
    assert jsontext.dumps(value, compact=True) == '{"b":[1,{"a":"é\\n"}],"a":null}'
    assert jsontext.dumps({"b": [1]}, indent=2) == '{\n  "b": [\n    1\n  ]\n}'
    assert jsontext.canonical(value) == '{"a":null,"b":[1,{"a":"é\\n"}]}'
    assert jsontext.canonical([1]) != jsontext.canonical([1.0])


def test_equality_is_by_type_and_value() -> None:
    distinct: list[Any] = [0, 0.0, -0.0, False, None, "", "0", [], {}, [0], {"a": 0}, {"a": None}, [[]], math.inf]
    for i, left in enumerate(distinct):
        for j, right in enumerate(distinct):
            assert jsontext.equal(left, right) is (i == j), (left, right)
    assert jsontext.equal({"a": 1, "b": [2]}, {"b": [2], "a": 1})
    assert not jsontext.equal({"a": [1]}, {"a": [True]})
    assert not jsontext.equal([1, 2], [1])
    assert jsontext.equal(math.nan, math.nan)


@given(TEXT)
def test_an_escaped_text_stands_in_a_json_string(text: str) -> None:
    assert jsontext.loads(f'"{jsontext.escape(text)}"') == text


def test_what_contains_itself_twice_is_too_deep_at_once() -> None:
    twice: list[Any] = []
    twice += [twice, twice]
    shared: Any = {}
    for _ in range(100):
        shared = {"a": shared, "b": shared}
    assert jsontext.too_deep(twice)
    assert not jsontext.too_deep(shared)
    with pytest.raises(LimitExceededError, match="nested more than 160 levels"):
        convert({"messages": twice}, source="openai-chat", target="anthropic")
