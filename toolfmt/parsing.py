"""Read a model's answer, whole or streamed, in any text dialect.

    result = parse(answer, provider="anthropic", tools=tools)
    for call in result.calls:
        print(call.name, call.arguments)

`parse` calls `feed` and `close` of the parser that `open_parser` returns.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Unpack

from toolfmt.arguments import by_name, check_text, checked
from toolfmt.events import CallEnd, CallFailed, MalformedCallError, Notice, ReasoningDelta, TextDelta, coalesce
from toolfmt.lookup.parse_options import ParseOptions, parse_settings
from toolfmt.lookup.registry import default_registry, is_auto
from toolfmt.parsers.checks import SEARCHED, CheckedParser, CoercingParser, UserParserGuard, unread_notices
from toolfmt.parsers.driving import AtEnd
from toolfmt.parsers.exact.whole import WholeParser, fits_tools
from toolfmt.parsers.plain_text import may_have_markers

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping

    from toolfmt.conversation import CallPart, ReasoningPart, TextPart
    from toolfmt.detection import DetectingParser, Detection
    from toolfmt.dialect.record import AnyDialect, Parser, ParserOptions
    from toolfmt.events import Event
    from toolfmt.lookup.parse_options import ParseSettings
    from toolfmt.model import ToolDefinition, ToolInvocation


@dataclass(frozen=True)
class ParseResult:
    """The content of an answer, from its events.

    `dialect` is the dialect that read it. With `dialect="auto"`, or without a choice, it is the detected one, or "" if
    none was detected; `detection` says why. `detection` is None if you chose the dialect. `hint` says how to read an
    answer without a call.
    """

    events: tuple[Event, ...]
    dialect: str = ""
    detection: Detection | None = None

    def __repr__(self) -> str:
        """Show what the answer holds, without its events."""
        shown: dict[str, object] = {"text": self.text, "reasoning": self.reasoning, "calls": list(self.calls)}
        shown |= {"failures": list(self.failures), "notices": list(self.notices), "dialect": self.dialect}
        shown["hint"] = self.hint
        return f"ParseResult({', '.join(f'{name}={value!r}' for name, value in shown.items() if value)})"

    @cached_property
    def text(self) -> str:
        """The text for the user, joined."""
        return "".join(event.text for event in self.events if isinstance(event, TextDelta))

    @cached_property
    def reasoning(self) -> str:
        """The reasoning, joined."""
        return "".join(event.text for event in self.events if isinstance(event, ReasoningDelta))

    @cached_property
    def calls(self) -> tuple[ToolInvocation, ...]:
        """The complete calls, in order."""
        return tuple(event.call for event in self.events if isinstance(event, CallEnd))

    @cached_property
    def ended(self) -> tuple[CallEnd | CallFailed, ...]:
        """The complete and the failed calls, in order."""
        return tuple(event for event in self.events if isinstance(event, CallEnd | CallFailed))

    @cached_property
    def failures(self) -> tuple[CallFailed, ...]:
        """The failed calls, in order."""
        return tuple(event for event in self.events if isinstance(event, CallFailed))

    @cached_property
    def notices(self) -> tuple[Notice, ...]:
        """The tolerated deviations."""
        return tuple(event for event in self.events if isinstance(event, Notice))

    @cached_property
    def parts(self) -> tuple[TextPart | ReasoningPart | CallPart, ...]:
        """Text, reasoning and calls, in order."""
        from toolfmt.conversation import CallPart, ReasoningPart, TextPart

        found: list[TextPart | ReasoningPart | CallPart] = []
        for event in self.events:
            match event:
                case TextDelta(text):
                    found.append(TextPart(text))
                case ReasoningDelta(text):
                    found.append(ReasoningPart(text))
                case CallEnd(_, call):
                    found.append(CallPart.of(call))
                case _:
                    pass
        return tuple(found)

    @cached_property
    def hint(self) -> str:
        """What an answer without a usable call probably is, and how to read it; "" if it looks like plain text."""
        if self.calls:
            return ""
        from toolfmt.detection.detecting import other_format, unread
        from toolfmt.detection.unread_calls import UNREAD, how_to_read

        if (noted := next((one.detail for one in self.notices if one.kind == UNREAD), None)) is not None:
            return noted
        if self.failures:
            parts = [event for event in self.events if isinstance(event, TextDelta | CallFailed)]
            whole = "".join(part.text if isinstance(part, TextDelta) else part.raw for part in parts)
            name = other_format(whole, self.dialect, call_reader({})) if self.dialect else ""
            return f"it looks like {name}: give dialect={name!r}" if name else ""
        if not self.dialect and self.detection is None:  # of an API's answer
            found = unread(self.text)
            if found is not None and found.dialects:
                name = found.dialects[0]
                return f"its text looks like {name}: toolfmt.parse(text, dialect={name!r}) reads it"
            return "" if found is None else found.advice()
        return how_to_read(self.text, self.dialect, call_reader({}))

    def raise_for_failures(self) -> None:
        """Raise an ExceptionGroup with one `MalformedCallError` per failure, if there are failures."""
        if self.failures:
            raise ExceptionGroup(
                "the answer holds broken calls", [MalformedCallError(failure) for failure in self.failures]
            )


@by_name
def open_parser(**options: Unpack[ParseOptions]) -> Parser[str]:
    """Open a parser for one answer; the options are those of `ParseOptions`.

    With `dialect="auto"`, or without a choice, it is a `DetectingParser`, whose `detection` has the result.
    """
    return _open(parse_settings(options), _offered(options))


def _open(settings: ParseSettings, tools: Mapping[str, ToolDefinition]) -> Parser[str]:
    if settings.dialect is None:
        return _detecting(settings, tools)
    return _watched(_opened(settings, settings.dialect, tools), settings.dialect.name, tools)


@by_name
def parse(text: str, **options: Unpack[ParseOptions]) -> ParseResult:
    """Read a whole answer; the options are those of `ParseOptions`."""
    check_text(text, "an answer")
    settings, tools = parse_settings(options), _offered(options)
    detection = None
    if settings.dialect is None:
        finder = _detecting(settings, tools)
        events = coalesce(finder.read(text))
        detection = finder.detection
        name = detection.dialect
        _named(events, lambda: name)
    else:
        name = settings.dialect.name
        events = _read_whole(text, settings, settings.dialect, tools)
    if options.get("drop_leaks", False):
        from toolfmt.parsers.reading.leaks import drop_leaks as without_leaks

        events = without_leaks(events, [event.call for event in events if isinstance(event, CallEnd)])
    return ParseResult(tuple(events), name, detection)


def _read_whole(
    text: str, settings: ParseSettings, dialect: AnyDialect, tools: Mapping[str, ToolDefinition]
) -> list[Event]:
    """Read an answer that is all there."""
    reading = settings.of(dialect, tools, whole=True)
    events = _all_read(dialect.open_parser(reading), text, settings, dialect, reading)
    return events + unread_notices(events, text, _finder(dialect.name, tools))


def _all_read(
    parser: Parser[str], text: str, settings: ParseSettings, dialect: AnyDialect, reading: ParserOptions
) -> list[Event]:
    """Read an answer to its end; calls that are as they should be pass no parser that checks them."""
    events = parser.read(text) if isinstance(parser, WholeParser) else None
    checked = settings.checked or reading.strict
    if events is None or checked or not fits_tools(events, reading.tools, validate=settings.validate):
        parser = _checked_parser(parser, settings, dialect, reading)
        events = _named(coalesce([*parser.feed(text), *parser.close()]), lambda: dialect.name)
    return events


@checked(chunks="see aparse_stream and open_parser")
def parse_stream(chunks: str | Iterable[str], **options: Unpack[ParseOptions]) -> Iterator[Event]:
    """Read an answer in chunks; yields each event as soon as it is certain."""
    parser, name = _reader(options)
    for chunk in chunks:
        yield from _named(parser.feed(chunk), name)
    yield from _named(parser.close(), name)


@checked(chunks="see parse_stream")
async def aparse_stream(chunks: AsyncIterable[str], **options: Unpack[ParseOptions]) -> AsyncIterator[Event]:
    """Read an answer from an asynchronous source of chunks."""
    parser, name = _reader(options)
    async for chunk in chunks:
        for event in _named(parser.feed(chunk), name):
            yield event
    for event in _named(parser.close(), name):
        yield event


def _reader(options: ParseOptions) -> tuple[Parser[str], Callable[[], str]]:
    """Open a parser; also return what gives the dialect that it reads, "" while it is not detected."""
    settings = parse_settings(options)
    parser, dialect = _open(settings, _offered(options)), settings.dialect

    def name() -> str:
        found: Detection | None = getattr(parser, "detection", None)
        return found.dialect if found is not None else dialect.name if dialect is not None else ""

    return parser, name


def _named(events: list[Event], name: Callable[[], str]) -> list[Event]:
    """Set the dialect of failures."""
    if CallFailed in map(type, events):
        for event in events:
            if isinstance(event, CallFailed):
                event.dialect = name()
    return events


def _offered(options: ParseOptions) -> Mapping[str, ToolDefinition]:
    """Return the offered tools by name."""
    offered = options.get("tools")
    if offered is not None:
        from toolfmt.tools.reading import prepared

        return prepared(offered)
    for option in ("validate", "coerce"):
        if options.get(option, False):
            raise TypeError(f"{option}=True needs the tools' schemas: give tools=")
    return {}


def _detecting(settings: ParseSettings, tools: Mapping[str, ToolDefinition]) -> DetectingParser:
    """Open a parser that detects the dialect."""
    from toolfmt.detection import DetectingParser, Detector, other_calls, table

    registry = settings.registry
    known = table(registry)
    opener = known.opener(settings.prompt)
    detector = Detector(known, tools, thinking=settings.reading.reasoning_open or bool(opener), opener=opener)

    def others(name: str, events: list[Event], text: str) -> list[CallFailed]:
        return other_calls(events, text, name, lambda: Detector(known, tools))

    def opened(name: str, masked: str) -> Parser[str]:
        parser = AtEnd(_opened(settings, registry.dialect(name), tools), partial(others, name))
        return _watched(parser, name, tools, masked)

    def read(name: str, masked: str, text: str) -> list[Event] | None:
        dialect = registry.dialect(name)
        reading = settings.of(dialect, tools, whole=True)
        parser: Parser[str] = dialect.open_parser(reading)
        if not isinstance(parser, WholeParser) or parser.read(text) is None:
            return None
        events = _all_read(parser, text, settings, dialect, reading)
        events += others(name, events, text)
        whole = masked + text[len(masked) :]
        return events + unread_notices(events, whole, _finder(name, tools))

    return DetectingParser(detector, opened, read, _finder("", tools))


def call_reader(tools: Mapping[str, ToolDefinition]) -> Callable[[str, str], list[CallEnd | CallFailed]]:
    """Return a function that reads the calls of a text in the dialect of a name."""

    def read(text: str, dialect: str) -> list[CallEnd | CallFailed]:
        registry = default_registry()
        if is_auto(dialect):
            from toolfmt.detection import DetectingParser, Detector, table

            parser: Parser[str] = DetectingParser(
                Detector(table(registry), tools),
                lambda name, _: _opened(parse_settings({}), registry.dialect(name), tools),
            )
        else:
            parser = _opened(parse_settings({}), registry.dialect(dialect), tools)
        events = [*parser.feed(text), *parser.close()]
        return [event for event in events if isinstance(event, CallEnd | CallFailed)]

    return read


def _finder(dialect: str, tools: Mapping[str, ToolDefinition]) -> Callable[[str, str], list[Notice]]:
    """Return the function that finds unread calls in an answer's text."""

    def find(text: str, whole: str) -> list[Notice]:
        named = any(map(whole.__contains__, tools))
        looked = text if text.strip() else whole
        if not (named or may_have_markers(looked)):
            return []  # most prose, before anything is imported
        from toolfmt.detection.damaged import damaged_call
        from toolfmt.detection.misnamed import misnamed_call
        from toolfmt.detection.unread_calls import UNREAD, unread_notice

        read = call_reader(tools)
        if named and (noted := unread_notice(text, whole, tools, dialect, read)):
            return noted
        misnamed = misnamed_call(looked, tools, dialect, read) if tools else None
        found = misnamed or damaged_call(looked, tools, dialect, read)
        start = max(0, whole.find(found[0])) if found is not None else 0
        return [] if found is None else [Notice(UNREAD, found[1], (start, start + len(found[0])))]

    return find


def _watched(parser: Parser[str], dialect: str, tools: Mapping[str, ToolDefinition], masked: str = "") -> Parser[str]:
    """Report calls of the offered tools that a parser, which is given other text for `masked`, does not read."""
    find = _finder(dialect, tools)

    def unread(events: list[Event], whole: str) -> list[Notice]:
        return unread_notices(events, masked[: len(whole)] + whole[len(masked) :], find)

    return AtEnd(parser, unread, SEARCHED)


def _opened(settings: ParseSettings, dialect: AnyDialect, tools: Mapping[str, ToolDefinition]) -> Parser[str]:
    """Open a dialect's parser, with the requested checks."""
    reading = settings.of(dialect, tools, whole=False)
    return _checked_parser(dialect.open_parser(reading), settings, dialect, reading)


def _checked_parser(
    parser: Parser[str], settings: ParseSettings, dialect: AnyDialect, reading: ParserOptions
) -> Parser[str]:
    """Add the requested checks to a dialect's parser."""
    tools = reading.tools
    if dialect.syntax is None:
        parser = UserParserGuard(parser)
    if reading.repair:
        from toolfmt.parsers.mending.repair import RepairingParser

        again = replace(reading, whole=True)
        parser = RepairingParser(parser, lambda: dialect.open_parser(again), dialect.syntax, tools)
    if reading.coerce:
        parser = CoercingParser(parser, tools)
    if tools or reading.strict or settings.validate or settings.ids is not None:
        exact, validate = dialect.traits.strict, settings.validate
        parser = CheckedParser(parser, reading, validate=validate, strict=reading.strict, exact=exact, ids=settings.ids)
    return parser
