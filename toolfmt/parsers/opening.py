"""Opens the parsers of a syntax, and makes text harmless for them.

A syntax is compiled at its first use, because most programs read few formats.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache, lru_cache
from typing import TYPE_CHECKING, cast

import regex

from toolfmt.dialect.record import Parser, ParserOptions
from toolfmt.dialect.syntax import Syntax
from toolfmt.errors import DialectRecordError
from toolfmt.parsers.compiled.grammar import CompiledSyntax
from toolfmt.parsers.exact.whole import WholeParser, WholeReader

if TYPE_CHECKING:
    from toolfmt.parsers.reading.steps import StepSyntax

_PREPARED = 32
"""The number of tool sets kept compiled where the tools' names are part of the grammar."""


@contextmanager
def _compiling(name: str) -> Generator[None]:
    try:
        yield
    except (LookupError, TypeError, ValueError, RecursionError, re.error, regex.error) as error:
        raise DialectRecordError(f"the description of {name!r} cannot be compiled: {error}") from error


def parser_opener(name: str, syntax: Syntax) -> Callable[[ParserOptions], Parser[str]]:
    """Return a function that opens parsers of a dialect; raises `DialectRecordError`."""
    if syntax.frame is not None:
        from toolfmt.parsers.reading.channels import ChannelParser, FrameGrammar

        grammar = _compiled(name, syntax, ())
        with _compiling(name):
            framed = FrameGrammar(syntax.frame, grammar)
        return lambda options: ChannelParser(framed, options)

    @lru_cache(maxsize=_PREPARED)
    def begun(tools: tuple[str, ...]) -> WholeReader:
        grammar = _compiled(name, syntax, tools)
        with _compiling(name):
            return WholeReader(grammar)

    if syntax.lines == "steps":
        from toolfmt.parsers.reading.steps import StepParser

        def step_parser(options: ParserOptions) -> Parser[str]:
            return StepParser(cast("StepSyntax", begun(tuple(options.tools)).grammar), options)

        return step_parser
    named = any(form.offered for form in syntax.forms)

    def text_parser(options: ParserOptions) -> Parser[str]:
        reader = begun(tuple(options.tools) if named else ())

        def tolerant() -> Parser[str]:
            from toolfmt.parsers.reading.regions import TextParser  # many answers need no more than `WholeParser`

            return TextParser(reader.grammar, options)

        return WholeParser(reader, options, tolerant) if options.whole and reader.reads else tolerant()

    return text_parser


def _compiled(name: str, syntax: Syntax, tools: tuple[str, ...]) -> CompiledSyntax:
    with _compiling(name):
        if syntax.lines != "steps":
            return CompiledSyntax(syntax, tools)
        from toolfmt.parsers.reading.steps import StepSyntax

        return StepSyntax(syntax, tools)


def text_disarmer(name: str, syntax: Syntax) -> Callable[[str], str]:
    """Return a function that makes a tool's result harmless for the dialect's parser."""
    from toolfmt.parsers.compiled.disarm import disarm_names, disarmer

    unmarked = syntax.bare or syntax.frame is not None or any(form.bare for form in syntax.forms)

    @cache
    def made() -> Callable[[str], str]:
        return disarmer(_compiled(name, syntax, ()))

    def disarm(text: str) -> str:
        if any(form.offered for form in syntax.forms):
            text = disarm_names(text)
        return made()(text) if unmarked else text

    return disarm
