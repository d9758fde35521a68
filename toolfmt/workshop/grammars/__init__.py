"""Grammars for constrained decoding, from a dialect and the tools' schemas.

    grammar("hermes", tools)                                            for llguidance
    grammar("qwen3-coder", tools, choice="required", target="gbnf")     for llama.cpp
    grammar("harmony", tools, choice="get_weather", parallel=False, target="structural-tag")
    grammar("hermes", tools, output={"type": "object", ...})            calls, or JSON that fits a schema

The dialect's parser reads everything that the grammar accepts as calls that fit the tools' schemas. The grammar
accepts what `render_calls` writes, as far as the target can express it. The result lists what it cannot express.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import Final, TypeAlias

from toolfmt import jsontext
from toolfmt.arguments import Positive, checked
from toolfmt.dialect.record import AnyDialect
from toolfmt.errors import SchemaError, UnknownToolError, UnsupportedSchemaError
from toolfmt.lookup.registry import Registry, default_registry
from toolfmt.model import JsonObject, ToolDefinition
from toolfmt.schema.lowering import refuse_misshapen
from toolfmt.tools import tools as definitions
from toolfmt.workshop.grammars.answers import Answer, answer
from toolfmt.workshop.grammars.gbnf import write_gbnf
from toolfmt.workshop.grammars.lark import write_lark
from toolfmt.workshop.grammars.regexes import write_regex
from toolfmt.workshop.grammars.structural_tag import write_structural_tag

_Write: TypeAlias = Callable[[Answer], tuple[str, tuple[str, ...]]]
WRITERS: Final[dict[str, _Write]] = {
    "lark": write_lark,
    "gbnf": write_gbnf,
    "structural-tag": write_structural_tag,
    "regex": write_regex,
}
"""The writers by target; each returns the text and what it leaves out."""
_MOST_NAMES: Final = 10
OUTPUT: Final = "(output)"
"""The name of the schema of an answer in errors and notes."""
_MARKED: Final = "texts of the output may hold markers of the format, which are read as calls"
_DEEP: Final = "too many values in one another, or one after the other, for a grammar"


@dataclass(frozen=True, slots=True)
class Grammar:
    """A grammar's text, and where it differs from the schemas and the parser; `str()` is the text."""

    text: str
    target: str
    relaxed: tuple[str, ...] = ()
    """The constraints of the schemas that it does not enforce: check these after decoding."""
    narrowed: tuple[str, ...] = ()
    """What the parser reads and the grammar does not allow."""

    def __str__(self) -> str:
        """Return the text."""
        return self.text


@checked
def grammar(  # noqa: PLR0913 - each decides something of its own
    dialect: AnyDialect | str,
    tools: object,
    *,
    choice: str = "auto",
    parallel: bool = True,
    max_calls: Positive | None = None,
    reasoning: bool | None = None,
    target: str = "lark",
    output: JsonObject | None = None,
    registry: Registry | None = None,
) -> Grammar:
    """Write a grammar for answers that call these tools in a dialect.

    `tools` are definitions, functions or any tool JSON. `choice` is "auto" (text, with or without calls), "required"
    (calls), "none" (text), or the name of the tool to call. Without `parallel` there is at most one call; `max_calls`
    sets another limit. `reasoning` says whether reasoning may come first; by default it may, unless calls are
    required. `target` is "lark", "gbnf", "structural-tag" or "regex". With the JSON Schema `output`, an answer without
    calls is exactly one JSON value that fits it. Raises ValueError for an unknown target or a limit below one call,
    `UnknownToolError` for an unknown tool, `SchemaError` for a schema that is invalid or that the target cannot
    express, and if there is no tool to call, and `UnrepresentableError` for a dialect without a grammar.
    """
    if target not in WRITERS:
        near = get_close_matches(target, WRITERS, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(WRITERS)}"
        raise ValueError(f"unknown target {target!r}; {hint}")
    chosen = (default_registry() if registry is None else registry).dialect(dialect)
    offered = definitions(tools)
    names = [tool.name for tool in offered]
    asked = choice if choice in ("auto", "required", "none") else "required"
    if asked != choice and choice not in names:
        raise UnknownToolError(choice, names)
    if not offered and asked != "none":
        raise SchemaError("no tools are given, so that there is nothing to call: give tools, or choice='none'")
    if output is not None and (wrong := jsontext.unwritable(output)) is not None:
        raise SchemaError(f"the output's schema: {wrong}")
    wanted = None if output is None else ToolDefinition(name=OUTPUT, parameters=output)
    for tool in (*offered, *filter(None, [wanted])):
        try:
            refuse_misshapen(tool.parameters)
        except SchemaError as error:
            raise SchemaError(f"tool {tool.name!r}: {error}") from None
    called = offered if asked == choice else [tool for tool in offered if tool.name == choice]
    most = max_calls if parallel else 1
    thinks = asked != "required" if reasoning is None else reasoning
    made = partial(answer, chosen, called, choice=asked, most=most, reasons=thinks, offered=names, output=wanted)
    asked_for = [tool.name for tool in called]
    marked = () if wanted is None or not offered else (_MARKED,)
    try:
        held, (text, left_out) = _written(made, WRITERS[target])
    except UnsupportedSchemaError as error:
        raise _named(error, asked_for) from None
    except RecursionError:
        raise _named(UnsupportedSchemaError(_DEEP), asked_for) from None
    return Grammar(text, target, (*held.relaxed, *marked, *left_out), held.narrowed)


def _written(make: Callable[..., Answer], write: _Write) -> tuple[Answer, tuple[str, tuple[str, ...]]]:
    """Write an answer, without the members that no schema names if the target has no form for them."""
    held = make()
    try:
        return held, write(held)
    except UnsupportedSchemaError:
        held = make(closed=True)
        if held.closed:
            with suppress(UnsupportedSchemaError):
                return held, write(held)
        raise


def _named(error: UnsupportedSchemaError, names: Sequence[str]) -> UnsupportedSchemaError:
    """Name the tools of which the error is, unless it does so already."""
    if not names or any(repr(name) in str(error) for name in names):
        return error
    tools = ", ".join(map(repr, names[:_MOST_NAMES])) + (" ..." if len(names) > _MOST_NAMES else "")
    return type(error)(f"the schema of {'tool' if len(names) == 1 else 'one of the tools'} {tools}: {error}")
