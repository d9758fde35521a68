"""What is kept for the next time: bounded, where strangers choose the keys, and never taken for what is only equal."""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
from typing import TYPE_CHECKING, Any

import pytest

import toolfmt
from toolfmt import grammar, lower_schema, manifest, parse
from toolfmt.workshop.grammars.shapes import Listed

if TYPE_CHECKING:
    from collections.abc import Iterator

UNBOUNDED = {
    "toolfmt.agents.stored._adapter",  # records of the package
    "toolfmt.agents.stored._hints",  # the same
    "toolfmt.arguments._parameters",  # functions that are checked
    "toolfmt.corpora.tokens.load",  # the caller's tokenizers
    "toolfmt.parsers.reading.bare._json_after",  # separators of formats
    "toolfmt.transcripts.families.chat_parts.content_of",  # formats' shapes
    "toolfmt.transcripts.families.chat_messages.messages_of",  # the same
    "toolfmt.transcripts.families.chat_request._table",  # the same
    "toolfmt.transcripts.formats._load",  # modules of the package
    "toolfmt.transcripts.reading._settings",  # names of formats
    "toolfmt.transcripts.convert_answer._ended",  # the same
    "toolfmt.transcripts.apis.relatives.relative",  # names of formats
}
"""Caches without a limit that have keys, none of which is a stranger's."""


def caches() -> Iterator[tuple[str, Any]]:
    for info in pkgutil.walk_packages(toolfmt.__path__, "toolfmt."):
        if not info.name.startswith(("toolfmt.cli", "toolfmt.workshop.testing")) and "__main__" not in info.name:
            module = importlib.import_module(info.name)
            held = list(vars(module).items())
            for name, value in held:
                if inspect.isclass(value) and value.__module__ == info.name:
                    held += [(f"{name}.{inner}", one) for inner, one in vars(value).items()]
                if not hasattr(value, "cache_parameters"):
                    continue
                # a cache around another package's function has the module of that
                if value.__module__ == info.name or not value.__module__.startswith("toolfmt."):
                    yield f"{info.name}.{name}", value


def test_every_cache_with_keys_has_a_limit_or_a_reason() -> None:
    found = dict(caches())
    unbounded = {name for name, held in found.items() if held.cache_parameters()["maxsize"] is None}
    assert {name for name in unbounded if inspect.signature(found[name].__wrapped__).parameters} == UNBOUNDED
    assert all((found[name].cache_parameters()["maxsize"] or 0) <= 4096 for name in found)


SAME = [1, True, 1.0]
NESTED: list[list[Any]] = [[[one] for one in SAME], [{"a": one} for one in SAME], [[one, True] for one in SAME]]


def offered(value: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"s": {"enum": [value, "x"]}}, "required": ["s"]}
    return {"name": "f", "description": "d", "parameters": schema}


def shown(name: str, value: Any) -> tuple[str, str]:
    return manifest([offered(value)], dialect=name), grammar(name, [offered(value)], target="gbnf").text


@pytest.mark.parametrize("name", ["hermes", "minimax-m3", "xml-items", "glm45", "gemma4", "functiongemma", "pythonic"])
@pytest.mark.parametrize("values", [SAME, *NESTED], ids=["plain", "list", "object", "mixed"])
def test_values_that_are_only_equal_are_shown_each_as_it_is(name: str, values: list[Any]) -> None:
    first = [shown(name, value) for value in values]
    again = [shown(name, value) for value in reversed(values)]
    assert first == again[::-1]
    assert len({text for text, _ in first}) == len(values)
    assert first[0][1] != first[1][1]


@pytest.mark.parametrize("target", ["gbnf", "lark"])
@pytest.mark.parametrize("name", ["minimax-m3", "xml-items", "hermes", "gemma4"])
def test_a_list_of_equal_values_keeps_both_types(name: str, target: str) -> None:
    text = grammar(name, [offered([1, True])], target=target).text
    assert text != grammar(name, [offered([1, 1])], target=target).text
    assert "true" in text.lower()


def test_listed_values_are_compared_by_type() -> None:
    assert len({Listed(value) for value in (1, True, 1.0, "1", [1], [True], {"a": 1}, {"a": 1.0}, None)}) == 9
    assert Listed([1, {"a": None}]) == Listed([1, {"a": None}])


def test_tools_that_are_only_equal_are_read_each_as_they_are() -> None:
    calls = ('{"name": "f", "arguments": {"s": %s}}' % value for value in ("1", "true", "1.0"))  # noqa: UP031 - braces
    texts = [f"<tool_call>{call}</tool_call>" for call in calls]
    for value in (*SAME, *reversed(SAME)):
        fits = [bool(parse(text, dialect="hermes", tools=[offered(value)], validate=True).calls) for text in texts]
        assert fits == ([False, True, False] if value is True else [True, False, True])


@pytest.mark.parametrize("values", [SAME, *NESTED], ids=["plain", "list", "object", "mixed"])
def test_schemas_that_are_only_equal_are_lowered_each_as_it_is(values: list[Any]) -> None:
    for value in (*values, *reversed(values)):
        schema = {"type": "object", "properties": {"s": {"const": value}}}
        lowered = lower_schema(schema, provider="gemini-openapi")
        assert json.dumps(value) in json.dumps(lowered.schema).replace('\\"', '"')
        assert lower_schema(schema, provider="gemini-openapi") == lowered
        lowered.schema["properties"] = None  # what was returned is not kept for the next caller
        assert lower_schema(schema, provider="gemini-openapi").schema["properties"] is not None
