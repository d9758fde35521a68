"""The constructor of text dialects: everything follows from the syntax."""

from __future__ import annotations

import re
from contextlib import contextmanager
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

import regex

from toolfmt.dialect import Dialect, ParserOptions, Traits
from toolfmt.errors import DialectRecordError, UnrepresentableError
from toolfmt.events import CallEnd
from toolfmt.formatters.examples import example_formatter
from toolfmt.formatters.syntax_calls import call_formatter, result_formatter
from toolfmt.formatters.verified import verified
from toolfmt.model import ToolDefinition, ToolInvocation
from toolfmt.parsers.ahead import Ahead
from toolfmt.parsers.channels import ChannelParser, FrameGrammar
from toolfmt.parsers.disarm import disarm_names, disarmer
from toolfmt.parsers.grammar import CompiledSyntax
from toolfmt.parsers.regions import TextParser
from toolfmt.parsers.steps import StepParser, StepSyntax
from toolfmt.syntax import member_slots, template_slots
from toolfmt.syntax_records import check_syntax

if TYPE_CHECKING:
    from collections.abc import Generator

    from toolfmt.dialect import ExampleFormatter, Parser, Provenance, SchemaFormatter
    from toolfmt.frames import Frame
    from toolfmt.syntax import Form, Syntax


def _thinks(syntax: Syntax) -> bool:
    return syntax.frame is not None and any(route.to == "reasoning" for route in syntax.frame.routes)


def _carries_types(form: Form) -> bool:
    if form.literals is not None:
        return not form.literals.typed_by_schema
    typed = form.elements is None or bool({"type", "string"} & member_slots(form.elements))
    return typed and "{yaml}" not in form.call


def _raw(form: Form) -> bool:
    """Whether text is on the wire unescaped, so that it may look like the format's own markers."""
    escapes = form.elements is None or form.elements.escape == "xml"
    return not escapes or (form.literals is not None and not form.literals.escapes)


@contextmanager
def _compiling(name: str) -> Generator[None]:
    try:
        yield
    except (LookupError, TypeError, ValueError, RecursionError, re.error, regex.error) as error:
        raise DialectRecordError(f"the description of {name!r} cannot be compiled: {error}") from error


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
    """Make a text dialect; its traits are read off the syntax."""
    offered = any(form.offered for form in syntax.forms)

    @lru_cache(maxsize=32)
    def compiled(tools: tuple[str, ...]) -> CompiledSyntax:
        check_syntax(syntax)
        with _compiling(name):
            return StepSyntax(syntax, tools) if syntax.lines == "steps" else CompiledSyntax(syntax, tools)

    @lru_cache(maxsize=32)
    def beginning(tools: tuple[str, ...]) -> Ahead:
        grammar = compiled(tools)
        with _compiling(name):
            return Ahead(grammar)

    @cache
    def framed(frame: Frame) -> FrameGrammar:
        grammar = compiled(())
        with _compiling(name):
            return FrameGrammar(frame, grammar)

    def open_parser(options: ParserOptions) -> Parser[str]:
        if syntax.frame is not None:
            return ChannelParser(framed(syntax.frame), options)
        start = beginning(tuple(options.tools) if offered or syntax.lines == "steps" else ())
        grammar = start.grammar
        return StepParser(start, grammar, options) if isinstance(grammar, StepSyntax) else TextParser(start, options)

    calls = call_formatter(name, syntax)
    unsure = offered or syntax.frame is not None or syntax.starts_in_reasoning
    if unsure or any(_raw(form) for form in syntax.forms[:1]):
        calls = verified(name, calls, open_parser)

    unmarked = syntax.bare or syntax.frame is not None or any(form.bare for form in syntax.forms)

    def disarm(text: str) -> str:
        if offered:
            text = disarm_names(text)
        return disarmer(compiled(()))(text) if unmarked else text

    form = syntax.forms[0]
    slots = template_slots(form)
    return Dialect(
        name=name,
        summary=summary,
        schema=schema,
        example=example or example_formatter(calls),
        calls=calls,
        results=result_formatter(syntax, disarm),
        open_parser=open_parser,
        traits=Traits(
            carries_ids="id" in slots or bool(form.name_in_id),
            carries_types=_carries_types(form),
            carries_server="server" in slots,
            carries_agent="agent" in slots,
            parallel=not syntax.single,
            reasoning=bool(syntax.reasoning) or _thinks(syntax),
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


_TOOL: Final = ToolDefinition(
    name="get_weather", parameters={"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
)
_CALL: Final = ToolInvocation(name="get_weather", arguments={"city": "Paris"})


def check_reading(dialect: Dialect[str]) -> None:
    """Refuse a dialect that does not read a simple call as it writes it; raises `DialectRecordError`."""
    tools = {_TOOL.name: _TOOL}
    try:
        text = dialect.calls([_CALL], tools)
    except UnrepresentableError as error:
        raise DialectRecordError(f"{dialect.name!r} does not read what it writes: {error}") from error
    parser = dialect.open_parser(ParserOptions(tools=tools))
    events = [*parser.feed(text), *parser.close()]
    read = [(event.call.name, event.call.arguments) for event in events if isinstance(event, CallEnd)]
    if read != [(_CALL.name, _CALL.arguments)]:
        raise DialectRecordError(f"{dialect.name!r} does not read what it writes: {text!r} is read as {read}")
