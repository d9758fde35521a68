"""Hypothesis strategies: calls that are hard to parse, and tools that describe them.

Strings mix ordinary text, control characters, text that looks like numbers, and the dialect's own markers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, cast

from toolfmt.errors import MissingExtraError

try:
    from hypothesis import strategies as st
except ImportError:
    raise MissingExtraError("making test data with toolfmt.workshop.testing", "test") from None

from collections.abc import Iterator

from toolfmt.dialect.record import Dialect
from toolfmt.dialect.syntax import markers
from toolfmt.model import JsonObject, JsonValue, ToolDefinition, ToolInvocation

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

TRAPS = (
    *("", " ", "\n", "\r\n", "\t", "  x  ", "\x00", "\x1b", "\u2028", "é", "😀"),
    *("null", "true", "False", "0", "-0", "01234", "1e3", "3.0", "[]", "{}", '{"name": "f", "arguments": {}}'),
    *('"', "'", "\\", "\\n", "{", "}", "[", "]", "<", ">", "&", "&amp;", "]]>", "<![CDATA[", "</arg>"),
    *("```json\n", "<tool_call>", "</tool_call>", "Action: f\nAction Input: {}\n", "__START_CONTENT__"),
)
_CHARACTERS = st.characters(exclude_categories=("Cs",))


def texts(dialect: Dialect[str] | None = None) -> SearchStrategy[str]:
    """Strings of hard cases, letters and the dialect's markers."""
    return _texts(_own(dialect))


def values(dialect: Dialect[str] | None = None) -> SearchStrategy[JsonValue]:
    """Any JSON value."""
    return _values(_own(dialect))


@cache
def keys() -> SearchStrategy[str]:
    """Names of arguments, ordinary and odd."""
    return st.one_of(
        st.sampled_from(["path", "content", "item", "items", "arg", "name", "arguments", "a-b", "x.y", "tool", "type"]),
        st.from_regex(r"[A-Za-z_][A-Za-z0-9_.-]{0,10}", fullmatch=True),
        st.text(_CHARACTERS, min_size=1, max_size=6),
    )


@cache
def names() -> SearchStrategy[str]:
    """Names of tools."""
    return st.from_regex(r"[A-Za-z_][A-Za-z0-9_.\-]{0,20}", fullmatch=True)


# Strategies are made once: Hypothesis needs longer to check a new one than to draw from it.


def _own(dialect: Dialect[str] | None) -> tuple[str, ...]:
    return markers(dialect.syntax) if dialect is not None and dialect.syntax is not None else ()


@cache
def _texts(own: tuple[str, ...]) -> SearchStrategy[str]:
    piece = st.one_of(
        st.text(_CHARACTERS, max_size=12), st.sampled_from(TRAPS), *([st.sampled_from(own)] if own else [])
    )
    return st.lists(piece, max_size=4).map("".join)


@cache
def _values(own: tuple[str, ...]) -> SearchStrategy[JsonValue]:
    leaves = st.one_of(
        st.none(),
        st.booleans(),
        st.integers(min_value=-(10**30), max_value=10**30),
        st.floats(allow_nan=False, allow_infinity=False),
        _texts(own),
    )
    return st.recursive(
        leaves,
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys(), inner, max_size=3)),
        max_leaves=8,
    )


@cache
def _arguments(own: tuple[str, ...]) -> SearchStrategy[JsonObject]:
    return st.dictionaries(keys(), _values(own), max_size=4)


def schema_of(value: JsonValue) -> JsonObject:  # noqa: PLR0911 - one per type
    """Return a schema that describes exactly the shape of a value."""
    match value:
        case None:
            return {"type": "null"}
        case bool():
            return {"type": "boolean"}
        case int():
            return {"type": "integer"}
        case float():
            return {"type": "number"}
        case str():
            return {"type": "string"}
        case list():
            return {"type": "array", "prefixItems": [schema_of(item) for item in cast("list[JsonValue]", value)]}
        case _:
            properties = {key: schema_of(inner) for key, inner in value.items()}
            return {"type": "object", "properties": properties, "required": list(properties)}


@dataclass(frozen=True, slots=True)
class Exchange:
    """Calls, and the tools that describe them."""

    calls: tuple[ToolInvocation, ...]
    tools: tuple[ToolDefinition, ...]


@st.composite
def exchanges(draw: st.DrawFn, dialect: Dialect[str], *, most: int = 3) -> Exchange:
    """Draw calls that the dialect can represent, with a tool for each."""
    traits = dialect.traits
    count = draw(st.integers(1, most if traits.parallel else 1))
    arguments = _arguments(_own(dialect))
    calls: dict[str, ToolInvocation] = {}
    for _ in range(count):
        name = draw(names())
        calls[name] = ToolInvocation(
            name=name,
            arguments=draw(arguments),
            id=draw(st.none() | names()) if traits.carries_ids else None,
            server=draw(names()) if traits.carries_server else None,
            agent=draw(st.none() | names()) if traits.carries_agent else None,
        )
    tools = tuple(ToolDefinition(name=call.name, parameters=schema_of(call.arguments)) for call in calls.values())
    return Exchange(tuple(calls.values()), tools)


STRAY = "zq7"
"""The word that `strays` inserts where a dialect has no place for it."""

_STRAYS = (
    *(f' path="{STRAY}"', f' zone="{STRAY}"', f" path={STRAY}", f'<path zone="{STRAY}"/>', f"<!-- {STRAY} -->", STRAY),
    *(f"<path>{STRAY}</path>", f"<zone>{STRAY}</zone>", f'"path": "{STRAY}", ', f', "zone": "{STRAY}"'),
)


def strays(text: str) -> Iterator[str]:
    """Insert an attribute, key, element or comment with this word between any two tokens of a text, one at a time."""
    for at in range(len(text) + 1):
        if not text[max(0, at - 1) : at + 1].isalnum():
            yield from (text[:at] + stray + text[at:] for stray in _STRAYS)
