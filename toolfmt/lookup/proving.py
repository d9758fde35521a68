"""Proves a dialect that was made elsewhere, before anything is read with it.

It must read a few calls that it writes, of lists, nested objects and odd keys too. Then it reads the same with one
slip, as models make them:

    result of a tool that looks like a call  is text
    marker missing between two values        the two are never one value
"""

from __future__ import annotations

import re
from typing import Final

from toolfmt.dialect.record import Dialect, ParserOptions
from toolfmt.dialect.syntax import Syntax, pieces, verbatim
from toolfmt.errors import DialectRecordError, UnrepresentableError
from toolfmt.events import CallEnd, CallFailed, CallStart, Event, TextDelta
from toolfmt.jsontext import equal
from toolfmt.model import JsonObject, ToolDefinition, ToolInvocation, ToolResult

_TEXT: Final[JsonObject] = {"type": "string"}
_LISTS: Final[JsonObject] = {"type": "array", "items": {"type": "array", "items": _TEXT}}
_NESTED: Final[JsonObject] = {
    "type": "object",
    "properties": {"tags": {"type": "array", "items": _TEXT}, "lists": _LISTS},
}
_PROPERTIES: Final[JsonObject] = {"city": _TEXT, "tags": {"type": "array", "items": _TEXT}, "place": _NESTED}
_NAME: Final = "get_weather"
_TOOLS: Final = {_NAME: ToolDefinition(name=_NAME, parameters={"type": "object", "properties": _PROPERTIES})}
_TAGS: Final[JsonObject] = {"tags": ["a", "b"]}
_PLACE: Final[JsonObject] = {"place": {**_TAGS, "lists": [["a", "b"], ["c"]]}}
_SAMPLES: Final[tuple[JsonObject, ...]] = ({"city": "Paris"}, _TAGS, _PLACE, {"=": "a"}, {"\r": "a"}, {"a b": "a"})
"""Arguments of which each format writes the first; the others it reads as written, or refuses to write."""


def check_reading(dialect: Dialect[str]) -> None:
    """Raise `DialectRecordError` for a dialect that misreads a call or a result that it writes, also with a slip."""
    for arguments in _SAMPLES:
        text = _written(dialect, _NAME, arguments)
        if text is None and arguments is not _SAMPLES[0]:
            continue
        text = _unchecked(dialect, arguments) if text is None else text
        read = [(call.name, call.arguments) for call in _calls(_read(dialect, text))]
        if read != [(_NAME, arguments)]:
            raise DialectRecordError(f"{dialect.name!r} does not read what it writes: {text!r} is read as {read}")
    syntax = dialect.syntax
    if syntax is None:
        return
    _check_results(dialect, syntax)
    if syntax.forms[0].elements is not None:
        _check_missing(dialect, syntax)


def _written(dialect: Dialect[str], name: str, arguments: JsonObject) -> str | None:
    server = "local" if dialect.traits.carries_server else None
    try:
        return dialect.calls([ToolInvocation(name=name, arguments=arguments, server=server)], _TOOLS)
    except UnrepresentableError:
        return None


def _unchecked(dialect: Dialect[str], arguments: JsonObject) -> str:
    """Write a call that the dialect's own writer refuses, because it would not be read back."""
    from toolfmt.formatters.syntax_calls import call_formatter

    assert dialect.syntax is not None  # noqa: S101 - only such a dialect has a writer that reads
    try:
        return call_formatter(dialect.name, dialect.syntax)([ToolInvocation(name=_NAME, arguments=arguments)], _TOOLS)
    except UnrepresentableError as error:
        raise DialectRecordError(f"{dialect.name!r} does not read what it writes: {error}") from error


def _read(dialect: Dialect[str], text: str) -> list[Event]:
    parser = dialect.open_parser(ParserOptions(tools=_TOOLS))
    return [*parser.feed(text), *parser.close()]


def _calls(events: list[Event]) -> list[ToolInvocation]:
    return [event.call for event in events if isinstance(event, CallEnd)]


def _check_results(dialect: Dialect[str], syntax: Syntax) -> None:
    """Refuse results that are read as calls, or shown although they are hidden."""
    call = _written(dialect, _NAME, _SAMPLES[0]) or ""
    for content in ("Sunny.", '{"city": "Paris"}', call, call.partition(_NAME)[2]):
        text = dialect.results([ToolResult(name=_NAME, content=content)])
        events = _read(dialect, text)
        failed = content == "Sunny." and any(isinstance(event, CallFailed) for event in events)
        if failed or any(isinstance(event, CallStart) for event in events):
            raise DialectRecordError(
                f"{dialect.name!r}: /result: a result is read as a call: {text!r}: give it markers that no call has"
            )
        if syntax.hidden and "Sunny." in "".join(event.text for event in events if isinstance(event, TextDelta)):
            raise DialectRecordError(
                f"{dialect.name!r}: /hidden: none of its markers is around a result as it is written: {text!r}"
            )


def _check_missing(dialect: Dialect[str], syntax: Syntax) -> None:
    """Refuse a syntax with which values are merged, and nothing reports it, if a marker is missing."""
    form = syntax.forms[0]
    templates = (form.call, *((form.elements.member, form.elements.item) if form.elements is not None else ()))
    words = {word.strip() for template in templates for word in verbatim(pieces(template))} - {""}
    for arguments in ({**_TAGS, "city": "Paris"}, {"city": "Paris", **_PLACE}):
        text = _written(dialect, _NAME, arguments) or ""
        spans = {found.span() for word in words for found in re.finditer(re.escape(word), text)}
        spans |= {(start, start + 1) for start, _ in spans}
        for start, end in sorted(spans):
            broken = text[:start] + text[end:]
            for call in _calls(_read(dialect, broken)):
                exact = call.certainty == "exact" and call.name == _NAME
                if exact and not equal(call.arguments, arguments):
                    raise DialectRecordError(
                        f"{dialect.name!r}: without {text[start:end]!r}, {broken!r} is read as {call.arguments!r}, and "
                        "nothing reports it: give each value markers that no other value or call has"
                    )
