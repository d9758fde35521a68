"""The constructor of text dialects, which derives everything from the syntax."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import Final

from toolfmt.dialect.record import (
    CallFormatter,
    Dialect,
    Example,
    ExampleFormatter,
    Parser,
    ParserOptions,
    Provenance,
    ResultFormatter,
    SchemaFormatter,
    Traits,
)
from toolfmt.dialect.syntax import Form, Syntax, member_slots, template_slots
from toolfmt.errors import DialectRecordError, UnrepresentableError
from toolfmt.events import CallEnd
from toolfmt.model import JsonObject, ToolDefinition, ToolInvocation, ToolResult


def _carries_types(form: Form) -> bool:
    if form.literals is not None:
        return not form.literals.typed_by_schema
    typed = form.elements is None or bool({"type", "string"} & member_slots(form.elements))
    return typed and "{yaml}" not in form.call


def _raw(form: Form) -> bool:
    """Whether values or keys are written unescaped, so that they may look like markers."""
    escapes = form.elements is None or form.elements.holds_all
    return not escapes or (form.literals is not None and not form.literals.escapes)


def text_dialect(  # noqa: PLR0913 - the fields of the record
    *,
    name: str,
    summary: str,
    syntax: Syntax,
    schema: SchemaFormatter,
    manifest: str,
    sources: tuple[Provenance, ...],
    aliases: tuple[str, ...] = (),
    example: ExampleFormatter | None = None,
    strict: bool = False,
) -> Dialect[str]:
    """Make a text dialect; its traits are derived from the syntax."""
    _check_types(syntax, schema)
    offered = any(form.offered for form in syntax.forms)

    # Loaded on first use: a program reads one format of many, and most programs write none.
    @cache
    def opener() -> Callable[[ParserOptions], Parser[str]]:
        from toolfmt.parsers.opening import parser_opener

        return parser_opener(name, syntax)

    @cache
    def writer() -> CallFormatter[str]:
        from toolfmt.formatters.syntax_calls import call_formatter

        made = call_formatter(name, syntax)
        if not (unsure or any(_raw(form) for form in syntax.forms[:1])):
            return made
        from toolfmt.formatters.examples import verified

        return verified(name, made, open_parser)

    @cache
    def example_writer() -> ExampleFormatter:
        from toolfmt.formatters.examples import example_formatter

        return example_formatter(calls)

    @cache
    def result_writer() -> ResultFormatter[str]:
        from toolfmt.formatters.syntax_calls import result_formatter
        from toolfmt.parsers.opening import text_disarmer

        return result_formatter(syntax, text_disarmer(name, syntax))

    def examples(tool: ToolDefinition) -> tuple[Example, ...]:
        return example_writer()(tool)

    def results(given: Sequence[ToolResult], tools: Collection[str] = (), /) -> str:
        return result_writer()(given, tools)

    def open_parser(options: ParserOptions) -> Parser[str]:
        return opener()(options)

    def calls(invocations: Sequence[ToolInvocation], tools: Mapping[str, ToolDefinition]) -> str:
        return writer()(invocations, tools)

    unsure = offered or syntax.frame is not None or syntax.starts_in_reasoning
    form = syntax.forms[0]
    slots = template_slots(form)
    routes = () if syntax.frame is None else syntax.frame.routes
    return Dialect(
        name=name,
        summary=summary,
        schema=schema,
        example=example or examples,
        calls=calls,
        results=results,
        open_parser=open_parser,
        traits=Traits(
            carries_ids="id" in slots or bool(form.name_in_id),
            carries_types=_carries_types(form),
            carries_server="server" in slots,
            carries_agent="agent" in slots,
            parallel=not syntax.single,
            reasoning=bool(syntax.reasoning) or any(route.to == "reasoning" for route in routes),
            text_around=not strict and syntax.frame is None,
            strict=strict,
            bare=syntax.bare,
            needs_tools=offered,
            stops=syntax.ends_after_calls or bool(syntax.stop),
        ),
        sources=sources,
        aliases=aliases,
        manifest=manifest,
        syntax=syntax,
    )


def _check_types(syntax: object, schema: object) -> None:
    if not isinstance(syntax, Syntax):
        raise TypeError(f"syntax= takes a toolfmt.dialect.Syntax, not {type(syntax).__name__}")
    if not isinstance(syntax.forms, tuple):  # pyright: ignore[reportUnnecessaryIsInstance] - a caller may not check types
        raise TypeError(f"forms= takes a tuple of forms, (Form(...),), not {type(syntax.forms).__name__}")
    if not syntax.forms:
        raise DialectRecordError("/forms: a format has at least one form")
    if not callable(schema):
        raise TypeError(f"schema= takes a schema formatter, as in toolfmt.formatters, not {type(schema).__name__}")


_TEXT: Final[JsonObject] = {"type": "string"}
_LISTS: Final[JsonObject] = {"type": "array", "items": {"type": "array", "items": _TEXT}}
_NESTED: Final[JsonObject] = {
    "type": "object",
    "properties": {"tags": {"type": "array", "items": _TEXT}, "lists": _LISTS},
}
_PROPERTIES: Final[JsonObject] = {"city": _TEXT, "tags": {"type": "array", "items": _TEXT}, "place": _NESTED}
_SCHEMA: Final[JsonObject] = {"type": "object", "properties": _PROPERTIES}
_TAGS: Final[JsonObject] = {"tags": ["a", "b"]}
_SAMPLES: Final[tuple[JsonObject, ...]] = (
    {"city": "Paris"},
    _TAGS,
    {"place": {**_TAGS, "lists": [["a", "b"], ["c"]]}},
    {"=": "a"},
    {"\r": "a"},
    {"a b": "a"},
)
"""Arguments of which each format writes the first; the others it reads as written, or refuses to write."""


def check_reading(dialect: Dialect[str]) -> None:
    """Raise `DialectRecordError` for a dialect that reads a call otherwise than it has written it."""
    tool = ToolDefinition(name="get_weather", parameters=_SCHEMA)
    tools = {tool.name: tool}
    for arguments in _SAMPLES:
        try:
            text = dialect.calls([ToolInvocation(name=tool.name, arguments=arguments)], tools)
        except UnrepresentableError as error:
            if arguments is not _SAMPLES[0]:
                continue
            raise DialectRecordError(f"{dialect.name!r} does not read what it writes: {error}") from error
        parser = dialect.open_parser(ParserOptions(tools=tools))
        events = [*parser.feed(text), *parser.close()]
        read = [(event.call.name, event.call.arguments) for event in events if isinstance(event, CallEnd)]
        if read != [(tool.name, arguments)]:
            raise DialectRecordError(f"{dialect.name!r} does not read what it writes: {text!r} is read as {read}")
