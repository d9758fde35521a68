r"""Slips of models in JSON, literals, lists, channels and labelled lines, one or two in an answer, named and detected.

A valid call of an offered tool that is read is one that was meant, with all its arguments. What a slip broke fails.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator

import pytest

from tests import sampling, slips
from toolfmt import jsontext, parse, parse_stream
from toolfmt.dialect.record import Dialect
from toolfmt.events import coalesce
from toolfmt.model import JsonObject, ToolDefinition, ToolInvocation

WRITE = {"path": "src/a.txt", "text": "hello world", "count": 73, "flag": True}
PLACE = {"city": "Oslo", "days": 2}
KINDS = {str: "string", bool: "boolean", int: "integer"}


def _tool(name: str, arguments: JsonObject) -> ToolDefinition:
    """A tool that requires the first of these arguments, so that a call which has lost others is valid."""
    properties = {key: {"type": KINDS[type(value)]} for key, value in arguments.items()}
    schema = {"type": "object", "properties": properties, "required": [*arguments][:1], "additionalProperties": False}
    return ToolDefinition(name=name, parameters=schema)


TOOLS = [_tool("write_file", WRITE), _tool("get_weather", PLACE | {"units": "qu"}), _tool("delete_path", {"path": "/"})]
DIALECTS = [one for one in sampling.dialects() if one.syntax is not None and one.syntax.forms[0].elements is None]
COUNT = 120 if sampling.everything else 20
"""Answers of each dialect: a part of all that the generator can make, the same one in each run."""
OBJECT = re.compile(r'\{"(?:path|city)": [^{}]*\}')
MARK = re.compile(r"<[^<>{}\s][^<>{}\n]*>|\[/?[A-Z_]{3,}\]|\u273f\w+\u273f|\bAction(?: Input)?:")
PIECE = re.compile(r"""[{}\[\]()"':,=]""")
QUOTES = ('"', "'", '<|"|>', "<escape>")
OTHER = dict(zip("{}[]()\"':,=", "[](}{]\u201c\u201c=;:", strict=True))
AROUND = [
    *("'{}'", "`{}`", '"{}"', "[{}]", "{}{}", "{} {}", "{}, {}", "{};", "{}}", "{}]", "{})", "{{}}", "({})"),
    *('{"arguments": {}}', '{"properties": {}}', "\n```json\n{}\n```\n", "```{}", "{} and that is it", "{} // note"),
    *('{}, "id": "c1"', '{}, "units": "qu"', '{}, "name": "delete_path"', '{}, "arguments": {"path": "/"}'),
]
"""What is around the arguments, which are `{}`."""
INSIDE = ['"}} x', '"}], "q', '", "in', '" + "tail', "\\", "\\u12", '"}}\n{"a": "', "\n```\n"]
"""What ends a value too early, or may."""


def _in_arguments(text: str) -> Iterator[str]:
    for found in OBJECT.finditer(text):
        before, given, after = text[: found.start()], found.group(), text[found.end() :]
        yield from (f"{before}{around.replace('{}', given)}{after}" for around in AROUND)
        yield f"{before}{json.dumps(given)}{after}"
        yield before + re.sub(r'"(\w+)":', r"\1:", given) + after
        yield before + re.sub(r'"(\w+)": ', r"\1=", given) + after
        yield f"{before}{given[1:-1]}{after}"


def _in_marks(text: str) -> Iterator[str]:
    marks = [found for found in MARK.finditer(text) if found.group() not in QUOTES]
    for found in marks:
        before, mark, after = text[: found.start()], found.group(), text[found.end() :]
        yield from (f"{before}{new}{after}" for new in ("", mark * 2, mark.swapcase(), mark[:-1], f"< {mark[1:]}"))
        yield f"{before}{mark.replace('_', '', 1)}{after}"
        yield f"{before}{mark} Sure, here it is: {after}"
        yield f"{before}</tool_call>{after}"
        yield f"{before}{mark}\n```json\n{after}"


def _in_pieces(text: str) -> Iterator[str]:
    held = [one.span() for one in re.finditer("src/a.txt|hello world|Oslo", text)]
    for found in PIECE.finditer(text):
        if not any(start <= found.start() < end for start, end in held):
            char, before, after = found.group(), text[: found.start()], text[found.end() :]
            beside = [f"{char} # a note\n", f",{char}" if char in ")]}" else f"{char}\n"] if char not in QUOTES else []
            yield from (f"{before}{new}{after}" for new in ("", char * 2, OTHER[char], *beside))


def _in_names(text: str) -> Iterator[str]:
    for name in ("write_file", "get_weather"):
        yield from (text.replace(name, new) for new in (f"{name}()", f"functions.{name}", f"{name} ", f"`{name}`", ""))


def _slipped(text: str) -> list[str]:
    made = [*_in_arguments(text), *_in_marks(text), *_in_pieces(text), *_in_names(text)]
    return [one for one in dict.fromkeys(made) if one != text]


def _written(dialect: Dialect[str]) -> Iterator[tuple[str, list[ToolInvocation]]]:
    for several in ([("get_weather", PLACE)], [("write_file", WRITE), ("get_weather", PLACE)]):
        calls = [slips.call(dialect, name, arguments) for name, arguments in several]
        if (text := slips.written(dialect, calls)) is not None:
            yield text, calls


def _answers(dialect: Dialect[str]) -> Iterator[tuple[str, list[ToolInvocation]]]:
    """Answers with one slip, with two, and with a value that may end too early."""
    chosen = random.Random(dialect.name)  # noqa: S311 - the same answers in each run
    for text, calls in _written(dialect):
        made = _slipped(text)
        for one in chosen.sample(made, min(COUNT, len(made))):
            yield one, calls
            yield chosen.choice(_slipped(one) or [one]), calls
        for inside in INSIDE[: None if text[:1] != "[" else 1]:  # a list without a marker is over with its bracket
            given = [call.model_copy(update={"arguments": _with(call.arguments, inside)}) for call in calls]
            yield text.replace("Oslo", f"Oslo{inside}"), given


def _with(arguments: JsonObject, inside: str) -> JsonObject:
    return {key: f"Oslo{inside}" if value == "Oslo" else value for key, value in arguments.items()}


@pytest.mark.parametrize("choice", ["named", "auto"])
@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_a_slip_makes_no_other_call(dialect: Dialect[str], choice: str) -> None:
    name = dialect.name if choice == "named" else "auto"
    for number, (text, calls) in enumerate(_answers(dialect)):
        result = parse(text, dialect=name, tools=TOOLS, validate=True)
        offered = [call for call in result.calls if call.name in {tool.name for tool in TOOLS}]
        wrong = [call for call in offered if not any(_is_meant(call, one) for one in calls)]
        assert not wrong, f"{text!r} gives {wrong[0].name} {wrong[0].arguments}"
        if number % 8 == 0:
            assert (
                tuple(coalesce([*parse_stream([*text], dialect=name, tools=TOOLS, validate=True)])) == result.events
            ), text


def _is_meant(call: ToolInvocation, meant: ToolInvocation) -> bool:
    """Whether a call has all arguments of the one that was meant; keys that were added may be among them."""
    given = {key: value for key, value in call.arguments.items() if key != "units"}
    return call.name == meant.name and jsontext.equal(given, meant.arguments)
