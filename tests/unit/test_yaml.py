"""The subset of YAML that is read and written, beside a YAML library that knows all of it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import toolfmt
from toolfmt import jsontext
from toolfmt.formatters.yaml_text import yaml_text
from toolfmt.parsers.bodies.yaml_nodes import Plain, YamlError, YamlNode, parse, resolve
from toolfmt.workshop.testing import strategies

ryaml: Any = import_module("ryaml")  # its names are not declared as exported

ALIKE = (
    "---\na: 1",
    "# c\n---\n- 1",
    "a: 01234",
    "a: 0o17",
    "a: 0x1F",
    "a: yes",
    "a: 1_000",
    "a: ~",
    "a:",
    "a: .5",
    "a: 1.",
    "a: +1",
    "a: 1e3",
    "a: 'it''s'",
    'a: "x\\ny"',
    "a: |\n  x\n  y\n",
    "a: |-\n  x\n",
    "a: >\n  x\n  y\n\n  z\n",
    "a: x\n  y\n",
    "a: |2\n    x\n",
    "a: [1, b, 'c', {d: e}]",
    "a: {b: 1, c: }",
    "- a\n- b\n",
    "a:\n- 1\n- - 2\n  - 3\n",
    "a: x # c",
    "a: x#c",
    'a: {"b":1}',
    "a: 'x\n\n  y'",
    'a: "x\n  y\\\n  z"',
    "a: 1.0",
    "a: NULL",
    "a: TRUE",
    "a: -0",
    "a: 1e400",
    "a: 2001-01-01",
    "a:\tb",
    "a: |+\n  x\n\nb: 1",
    "a: |\n  x\n\n\nb: 1",
    "a: >\n  x\n   y\n  z\n",
    "a: [a\n  b,\n  c]",
    '"a b": 1',
    "a b: 1",
    "  a: 1\n  b: 2",
    "a: http://x:1/",
    "a: [http://x]",
    "a: x, y",
    "a: [x: y]",
    "a: -x",
    "a: ?x",
    'a: "\\x41\\u0042\\/\\ \\e"',
    "a: |\n\n  x\n",
    "a: '#x'",
    "a: |\n x\n  y\nb: 1",
    "<<: {a: 1}\nb: 2",
    "a: |\n  x",
    "a: |+\n  x",
    "a: >-\n  x\n  y",
    "a:\n  b:\n    c: 1\n  d: 2\ne: 3",
    "a:\n\n  - x\n\n  - y: 1\n    z: 2\n  -\n    q: 1\n",
    "- - - a",
    "a: {b: [1, 2], c: {d: e}}\nf: 1",
    "a: [1,\n 2] # c\nb: 2",
    'a: "x" # c',
    "a: {a:1}",
    "a: [a,]",
    "a: ''",
    "a: 'x\n  \n  y '",
    "# c\na: 1\n\n# d\n",
    "a: x\n\n  y\nb: 1",
    "a: >\n\n\n  x\n\n\n  y\n\n    z\n\n  w\n\n",
    "a: |-\n  x\n   \n  y\n   \n",
    "a:\n    - 1\n    - 2",
    "a: |1\n  x",
    "a: |\n",
    "a: |-\nb: 2",
    "a: >+\n\n\nb: 1",
    "a: b\r\nc: d\r\n",
    "a: |\r\n  x\r\n  y\r\n",
    "a: [\n]",
    "a: {\n  b: 1\n}\nc: 1",
    "a: 1 2",
    "a: x\n# c\nb: 1",
    "a: #c\n  b",
    "a:\n  # c\n  - 1",
    "a:    |\n  x",
    "a: 'x\ny'",
    "a:\n  'k': v\n  \"q\": w",
    "a: ~x",
    "a: null x",
    "- a: 1\n  b: 2\n- c",
    "- \n  a: 1",
    "a:\n -\n  - 1\n",
    "a: b #",
    "x",
    "[1]",
    "{a: 1}",
    "a: > # c\n  x",
    "a: |2-\n   x",
    "a: |-2\n   x",
    "a: b\n - c",
    "a: 0x",
    "a: 0o8",
    "a: [-, 1]",
    "a: ['x':1]",
    "a: {'x':1}",
    "a: [ #x\n1]",
    "a: [a#b]",
    "a: [a #b\n]",
)
NO_YAML = (
    "a: *x",
    "a: @x",
    "a: `x`",
    "a: %x",
    "a: x: y",
    "a: - b",
    "a: 1\na: 2",
    "a: ,x",
    "a: -",
    "a:\n  - b\n c: 1",
    "a: 'x' y",
    "a: [a, , b]",
    "a: |x",
    "a: |\n   x\n  y\n",
    "a: 'b': c",
    '"a":1',
    "a: x\n  # c\n  y",
    'a: "\\q"',
    "a: - 1",
    "a: [- 1]",
    "a: [a: b: c]",
    'a: ["x" y]',
    "a: [#x]",
)
REFUSED = ("a: &x 1", "a: !!str 1", "a: !x", "? a\n: b", "a: [? x]", "a: &x [1]\nb: *x", "%YAML 1.2\n---\na: 1")


def value(node: YamlNode | None) -> Any:
    if isinstance(node, list):
        return [value(item) for item in node]
    if isinstance(node, dict):
        return {key: value(inner) for key, inner in node.items()}
    return resolve(node.text, 4300) if isinstance(node, Plain) else node


def read(text: str) -> Any:
    return value(parse(text, 128))


@pytest.mark.parametrize("text", ALIKE)
def test_what_is_read_is_what_a_library_reads(text: str) -> None:
    assert repr(read(text)) == repr(ryaml.loads(text))


@pytest.mark.parametrize("text", NO_YAML)
def test_what_is_no_yaml_is_refused(text: str) -> None:
    with pytest.raises(ryaml.InvalidYamlError):
        ryaml.loads(text)
    with pytest.raises(YamlError, match=r"line|escape"):
        parse(text, 128)


@pytest.mark.parametrize("text", ['a: \u201cx"', "a: \u2018x y'", 'a: \u201dx"\nb: 1'])
def test_a_text_in_quotes_of_two_kinds_is_refused(text: str) -> None:
    assert read(text.replace('"', "\u201d").replace("'", "\u2019"))
    with pytest.raises(YamlError):
        parse(text, 128)


@pytest.mark.parametrize("text", REFUSED)
def test_what_reaches_beyond_the_text_is_refused(text: str) -> None:
    with pytest.raises(YamlError):
        parse(text, 128)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a: .inf", ".inf"),  # JSON has no such number
        ("a: 12345678901234567890123456789012345678901", 12345678901234567890123456789012345678901),
        ('a: "\\ud83d\\ude00"', "😀"),  # as JSON escapes it
        ("a: " + "9" * 4301, "9" * 4301),
    ],
)
def test_where_it_differs_nothing_is_lost(text: str, wanted: object) -> None:
    assert jsontext.equal(read(text)["a"], wanted)  # type: ignore[arg-type] - a JSON value


@pytest.mark.parametrize(
    "text", ["[" * 200, "- " * 200, "a: " + "{a: " * 200, "".join(" " * n + "a:\n" for n in range(200))]
)
def test_depth_is_bounded(text: str) -> None:
    with pytest.raises(YamlError) as caught:
        parse(text, 128)
    assert caught.value.reason == "limit"


@given(st.dictionaries(strategies.keys(), strategies.values(), max_size=4))
def test_what_is_written_is_read_back(arguments: dict[str, Any]) -> None:
    assert jsontext.equal(read(yaml_text(arguments)) or {}, arguments)


@given(
    st.dictionaries(
        strategies.keys(),
        strategies.texts() | st.lists(strategies.texts() | st.booleans() | st.none()),
        min_size=1,
        max_size=4,
    )
)
def test_a_library_reads_what_is_written(arguments: dict[str, Any]) -> None:
    assert repr(ryaml.loads(yaml_text(arguments))) == repr(arguments)


@given(
    st.lists(st.sampled_from([*"abx01:-[]{},#|>\"'&*!\n", " ", "  ", ": ", "- ", "\n  ", "\n- ", "key: "]), max_size=30)
)
def test_broken_text_is_read_or_refused(pieces: list[str]) -> None:
    text = "".join(pieces)
    try:
        read(text)
    except YamlError:
        return


def test_examples_in_a_manifest_are_read_back() -> None:
    tool = toolfmt.ToolDefinition(
        name="write",
        parameters={
            "type": "object",
            "properties": {"path": {"type": "string"}, "text": {"type": "string"}},
            "required": ["path"],
        },
        examples=({"path": "01", "text": "two\nlines\n"},),
    )
    shown = toolfmt.manifest([tool], dialect="yaml-xml")
    calls = toolfmt.parse(shown, dialect="yaml-xml", tools=[tool]).calls
    assert {"path": "01", "text": "two\nlines\n"} in [call.arguments for call in calls]
