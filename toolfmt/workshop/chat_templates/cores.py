r"""Finds how one known call is written in a text, from its name to the end of its arguments.

{"name": "probe_weather", "arguments": {"city": "Paris"}}      {call}                      a JSON object
probe_weather{"city": "Paris"}                                 {name}{args}                JSON after the name
probe_weather(city='Paris')                                    {name}({args})              keywords
probe_weather>\n<p=city>Paris</p>                              {name}>\n{members}          elements
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from string import ascii_letters, digits
from typing import Any, Final, cast

from toolfmt import jsontext
from toolfmt.dialect.literals import JSON_WORDS, PYTHON_WORDS, Literals
from toolfmt.dialect.syntax import Elements, JsonCall
from toolfmt.model import JsonObject, JsonValue, ToolInvocation
from toolfmt.schema.places import kind_of
from toolfmt.schema.spelling import JSON_TYPES
from toolfmt.workshop.chat_templates.answers import beginning

_MOST_BRACES: Final = 64
_TOKEN: Final = re.compile(r"<[^<>]*>?|\[[^\[\]\s]*\]?|\s+|[^\s<\[]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Core:
    """One call's own part of the text."""

    start: int
    end: int
    template: str
    json: JsonCall | None = None
    elements: Elements | None = None
    literals: Literals | None = None


def core(text: str, call: ToolInvocation, start: int = 0) -> Core | None:
    """Find how the call is written from `start` on; None if that is unknown."""
    ways = (_object, _arguments, _keywords, _braces, _members)
    return next((found for way in ways if (found := way(text, call, start)) is not None), None)


def _braces_of(text: str) -> Iterator[int]:
    """Where an object may begin; further away it is none of the call's."""
    return (found.start() for found in islice(re.finditer(r"\{", text), _MOST_BRACES))


def _decoded(text: str, at: int) -> tuple[JsonValue, int] | None:
    try:
        return json.JSONDecoder().raw_decode(text, at)
    except (ValueError, RecursionError):
        return None


def _object(text: str, call: ToolInvocation, start: int) -> Core | None:
    """Find a JSON object that holds both the name and the arguments."""
    name = text.find(call.name, start)
    for brace in _braces_of(text[start:name] if name >= 0 else ""):
        found = _decoded(text, start + brace)
        if found is None or found[1] <= name:
            continue
        template = _template(found[0], call)
        slots = json.dumps(template)
        if '"{name}"' in slots and ('"{arguments}"' in slots or '"{arguments_text}"' in slots):
            written = text[start + brace : found[1]]
            indent = re.match(r"\{\n( +)", written)
            made = JsonCall(template=cast("JsonObject", template), indent=len(indent[1]) // 2 if indent else None)
            return Core(start=start + brace, end=found[1], template="{call}", json=made)
    return None


def _template(value: JsonValue, call: ToolInvocation) -> JsonValue:
    """Put slots in place of what is the call's own."""
    if isinstance(value, dict):
        if jsontext.equal(value, call.arguments) and (call.arguments or value == {}):
            return "{arguments}"
        pairs = cast("JsonObject", value).items()
        return {"{name}" if key == call.name else key: _template(inner, call) for key, inner in pairs}
    if isinstance(value, list):
        return [_template(inner, call) for inner in cast("list[JsonValue]", value)]
    if not isinstance(value, str):
        return value
    decoded = _decoded(value, 0)
    if decoded is not None and jsontext.equal(decoded[0], call.arguments):
        return "{arguments_text}"
    return {call.name: "{name}", call.id: "{id}"}.get(value, value)


def _arguments(text: str, call: ToolInvocation, start: int) -> Core | None:
    """Find the arguments as a JSON object after the name."""
    name = text.find(call.name, start)
    for brace in _braces_of(text[name:] if name >= 0 else ""):
        found = _decoded(text, name + brace)
        if found is not None and jsontext.equal(found[0], call.arguments):
            between = text[name + len(call.name) : name + brace]
            return Core(start=name, end=found[1], template=f"{{name}}{between}{{args}}")
    return None


def _keywords(text: str, call: ToolInvocation, start: int) -> Core | None:
    """Find the arguments as `key=value` in parentheses after the name."""
    languages: tuple[tuple[str, Mapping[str, Any]], ...] = (("'", PYTHON_WORDS), ('"', PYTHON_WORDS), ('"', JSON_WORDS))
    for quote, words in languages:
        spelled = {value: word for word, value in words.items()}
        pairs = [f"{key}={_literal(value, quote, spelled)}" for key, value in call.arguments.items()]
        written = f"{call.name}({', '.join(pairs)})"
        at = text.find(written, start)
        if at >= 0 and call.arguments:
            literals = Literals(keywords=True, quotes=tuple(dict.fromkeys((quote, "'", '"'))), words=words)
            return Core(start=at, end=at + len(written), template="{name}({args})", literals=literals)
    return None


def _braces(text: str, call: ToolInvocation, start: int) -> Core | None:
    """Find the arguments as an object with bare keys, a mark of the format's own around text."""
    name = text.find(call.name, start)
    key, value = next(((key, value) for key, value in call.arguments.items() if isinstance(value, str)), ("", ""))
    mark = re.search(rf"[{{,]{re.escape(key)}:([^\w\s]\S{{0,30}}?){re.escape(value)}", text[name:]) if value else None
    if name < 0 or mark is None:
        return None
    spelled = {word: literal for literal, word in JSON_WORDS.items()}
    for keys in (sorted(call.arguments), list(call.arguments)):
        written = ",".join(f"{one}:{_literal(call.arguments[one], mark[1], spelled)}" for one in keys)
        if text.startswith(f"{call.name}{{{written}}}", name):
            return Core(
                start=name,
                end=name + len(call.name) + len(written) + len("{}"),
                template="{name}{args}",
                literals=Literals(
                    quotes=(mark[1],),
                    escapes=False,
                    words=JSON_WORDS,
                    bare_keys=True,
                    sorted_keys=keys != list(call.arguments),
                    spaced=False,
                ),
            )
    return None


def _literal(value: JsonValue, quote: str, words: Mapping[Any, str]) -> str:
    if isinstance(value, str):
        return f"{quote}{value}{quote}"
    return words[value] if value is None or isinstance(value, bool) else repr(value)


def _members(text: str, call: ToolInvocation, start: int) -> Core | None:
    """Find the arguments as elements after the name: the same text around each key and value."""
    name = text.find(call.name, start)
    places = _places(text, call, name + len(call.name)) if name >= 0 else None
    if places is None or len(places) < len(("two", "of them")):
        return None
    (key1, value1), (key2, _), *_ = places
    head, rest = text[name + len(call.name) : key1[0]], text[places[-1][1][1] :]
    between = text[value1[1] : key2[0]]
    last = text[slice(*places[-1][0])]
    between, rest = _unkeyed(between, text[slice(*key1)]), _unkeyed(rest, last)
    opener = shared(head, between, last=True).lstrip()
    closer = shared(between.removesuffix(opener), rest, last=False).rstrip()
    separator = between.removeprefix(closer).removesuffix(opener)
    middles = [text[key[1] : value[0]] for key, value in places]
    if separator.strip() or not opener.strip() or not closer.strip():
        return None
    middle, types = _typed(middles, [call.arguments[text[slice(*key)]] for key, _ in places])
    if middle is None:
        return None
    elements = Elements(
        member=f"{opener}{{key}}{middle}{{value}}{closer}",
        escape="none",
        indent="",
        separator=separator,
        type_names=types,
        typed=bool(types),
    )
    end = places[-1][1][1] + len(closer.replace("{key}", last))
    end += len(separator) if text.startswith(separator, end) else 0
    return Core(start=name, end=end, template="{name}" + head.removesuffix(opener) + "{members}", elements=elements)


def _unkeyed(text: str, key: str) -> str:
    """Put a slot in place of a key in the tag that closes it."""
    return text.replace(f"</{key}>", "</{key}>", 1)


def _places(text: str, call: ToolInvocation, at: int) -> list[tuple[tuple[int, int], tuple[int, int]]] | None:
    """Where each key and its value stand, in order."""
    found: list[tuple[tuple[int, int], tuple[int, int]]] = []
    for key, value in call.arguments.items():
        start = text.find(key, at)
        spelled = [value] if isinstance(value, str) else [json.dumps(value), repr(value)]
        places = [(text.find(one, start + len(key)), one) for one in spelled]
        begin, one = min(((place, one) for place, one in places if place >= 0), default=(-1, ""))
        if start < 0 or begin < 0:
            return None
        at = begin + len(one)
        found.append(((start, start + len(key)), (begin, at)))
    return found


def shared(one: str, other: str, *, last: bool) -> str:
    """What two texts begin with, or end with, in whole markers."""
    first, second = _TOKEN.findall(one), _TOKEN.findall(other)
    if last:
        first, second = first[::-1], second[::-1]
    same: list[str] = []
    for left, right in zip(first, second, strict=False):
        if left != right:
            break
        same.append(left)
    return "".join(same[::-1] if last else same)


def _typed(middles: list[str], values: list[JsonValue]) -> tuple[str | None, dict[str, str]]:
    """Spell what is between key and value, where a type may be: `" string="{string}">`."""
    if len(set(middles)) == 1:
        return middles[0], {}
    before = beginning(*middles)
    before = before.rstrip(f"{ascii_letters}{digits}_")
    words = [re.match(r"\w*", middle[len(before) :]) for middle in middles]
    types = [word.group() for word in words if word is not None]
    after = {middle[len(before) + len(word) :] for middle, word in zip(middles, types, strict=True)}
    if len(after) != 1:
        return None, {}
    if types == [json.dumps(isinstance(value, str)) for value in values]:
        return f"{before}{{string}}{after.pop()}", {}
    kinds = [kind_of(value) for value in values]
    names = {kind: word for kind, word in zip(kinds, types, strict=True) if kind != word}
    if not set(types) <= set(JSON_TYPES):
        return None, {}
    return f"{before}{{type}}{after.pop()}", names
