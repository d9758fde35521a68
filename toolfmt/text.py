"""The constructor of text dialects, which derives everything from the syntax."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property

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
from toolfmt.dialect.records import check_syntax
from toolfmt.dialect.syntax import Form, Syntax, member_slots, template_slots
from toolfmt.errors import DialectRecordError
from toolfmt.model import ToolDefinition, ToolInvocation, ToolResult


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
    """Make a text dialect; its traits are derived from the syntax. Raises `DialectRecordError` for a wrong one."""
    _check_types(syntax, schema)
    check_syntax(syntax)
    made = _Compiled(name, syntax)
    form = syntax.forms[0]
    slots = template_slots(form)
    routes = () if syntax.frame is None else syntax.frame.routes
    return Dialect(
        name=name,
        summary=summary,
        schema=schema,
        example=example or made.examples,
        calls=made.calls,
        results=made.results,
        open_parser=made.open_parser,
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
            needs_tools=made.offered,
            stops=syntax.ends_after_calls or bool(syntax.stop),
        ),
        sources=sources,
        aliases=aliases,
        manifest=manifest,
        syntax=syntax,
    )


class _Compiled:
    """The parts of a dialect, compiled on first use: a program reads one format of many, and most write none."""

    def __init__(self, name: str, syntax: Syntax) -> None:
        self._name, self._syntax = name, syntax
        self.offered = any(form.offered for form in syntax.forms)

    @cached_property
    def _opener(self) -> Callable[[ParserOptions], Parser[str]]:
        from toolfmt.parsers.opening import parser_opener

        return parser_opener(self._name, self._syntax)

    @cached_property
    def _writer(self) -> CallFormatter[str]:
        from toolfmt.formatters.syntax_calls import call_formatter

        name, syntax = self._name, self._syntax
        made = call_formatter(name, syntax)
        unsure = self.offered or syntax.frame is not None or syntax.starts_in_reasoning
        if not (unsure or _raw(syntax.forms[0])):
            return made
        from toolfmt.formatters.examples import verified

        return verified(name, made, self.open_parser)

    @cached_property
    def _example_writer(self) -> ExampleFormatter:
        from toolfmt.formatters.examples import example_formatter

        return example_formatter(self.calls)

    @cached_property
    def _result_writer(self) -> ResultFormatter[str]:
        from toolfmt.formatters.syntax_calls import result_formatter
        from toolfmt.parsers.opening import text_disarmer

        return result_formatter(self._syntax, text_disarmer(self._name, self._syntax))

    def open_parser(self, options: ParserOptions) -> Parser[str]:
        return self._opener(options)

    def calls(self, invocations: Sequence[ToolInvocation], tools: Mapping[str, ToolDefinition]) -> str:
        return self._writer(invocations, tools)

    def examples(self, tool: ToolDefinition) -> tuple[Example, ...]:
        return self._example_writer(tool)

    def results(self, given: Sequence[ToolResult], tools: Collection[str] = (), /) -> str:
        return self._result_writer(given, tools)


def _check_types(syntax: object, schema: object) -> None:
    if not isinstance(syntax, Syntax):
        raise TypeError(f"syntax= takes a toolfmt.dialect.Syntax, not {type(syntax).__name__}")
    if not isinstance(syntax.forms, tuple):  # pyright: ignore[reportUnnecessaryIsInstance] - a caller may not check types
        raise TypeError(f"forms= takes a tuple of forms, (Form(...),), not {type(syntax.forms).__name__}")
    if not syntax.forms:
        raise DialectRecordError("/forms: a format has at least one form")
    if not callable(schema):
        raise TypeError(f"schema= takes a schema formatter, as in toolfmt.formatters, not {type(schema).__name__}")
