"""Read a model's answer, whole or streamed, in any text dialect.

    result = parse(answer, provider="anthropic", tools=tools)
    for call in result.calls:
        print(call.name, call.arguments)

`parse` calls `feed` and `close` of the parser that `open_parser` returns.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Unpack

from toolfmt.dialect.record import Limits, ParserOptions
from toolfmt.errors import MalformedCallError
from toolfmt.events import CallEnd, CallFailed, Notice, ReasoningDelta, TextDelta, coalesce
from toolfmt.lookup.choice import Choice, chosen, chosen_registry, known_options, nothing_chosen
from toolfmt.lookup.registry import default_registry, is_auto

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping

    from toolfmt.conversation import CallPart, ReasoningPart, TextPart
    from toolfmt.detection import DetectingParser, Detection
    from toolfmt.dialect.record import AnyDialect, Parser
    from toolfmt.events import Event
    from toolfmt.model import ToolDefinition, ToolInvocation


class ParseOptions(Choice, total=False):
    """Options of `parse` and its siblings.

    `Choice` explains the options that choose a format; `dialect="auto"`, or no choice, detects it in the text. `tools`
    are the offered tools: definitions, functions or any tool JSON. `validate` checks the arguments. `strict` also
    rejects text beside the call, extra arguments and unknown tools. `repair` repairs broken JSON, with a notice.
    `reasoning_open` says that the answer begins inside reasoning; `generation_prompt` derives this from the end of the
    prompt. `drop_leaks` removes text that merely echoes a call (`parse` only, as it needs the whole answer). `ids` is
    a policy that gives ids to calls without one. `infer_types` guesses the type of text such as `42`, `true` and
    `null` if neither the format nor a schema gives it; text in a quote such as CDATA stays text. `coerce` converts
    arguments to the types of the tool's schema, such as `"5"` to 5, with a notice for each; the arguments of a call
    are then streamed only at its end.
    """

    tools: object
    validate: bool
    strict: bool
    repair: bool
    reasoning_open: bool
    generation_prompt: str | None
    drop_leaks: bool
    ids: Callable[[ToolInvocation], str | None] | None
    infer_types: bool
    coerce: bool
    limits: Limits


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
        """What an answer without a call probably is, and how to read it; "" if it looks like plain text."""
        if self.ended:
            return ""
        from toolfmt.detection.unread_calls import UNREAD, how_to_read

        if (noted := next((one.detail for one in self.notices if one.kind == UNREAD), None)) is not None:
            return noted
        from toolfmt.detection.detecting import unread

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


_LIMITS = Limits()
_KNOWN = frozenset(ParseOptions.__annotations__) | frozenset(Choice.__annotations__)


def open_parser(**options: Unpack[ParseOptions]) -> Parser[str]:
    """Open a parser for one answer; the options are those of `ParseOptions`.

    With `dialect="auto"`, or without a choice, it is a `DetectingParser`, whose `detection` has the result.
    """
    tools = _offered(options)
    if _finds(options):
        return _detecting(options, tools)
    dialect, _ = chosen(options)
    return _watched(_opened(options, dialect, tools), dialect.name, tools)


def parse(text: str, **options: Unpack[ParseOptions]) -> ParseResult:
    """Read a whole answer; the options are those of `ParseOptions`."""
    text = _checked(text, "an answer")
    tools = _offered(options)
    detection = None
    if _finds(options):
        finder = _detecting(options, tools)
        events = finder.read(text)
        detection = finder.detection
        name = detection.dialect
    else:
        dialect, _ = chosen(options)
        parser = _watched(_opened(options, dialect, tools, whole=True), dialect.name, tools)
        events = parser.feed(text)
        events.extend(parser.close())
        name = dialect.name
    events = _named(coalesce(events), lambda: name)
    if options.get("drop_leaks", False):
        from toolfmt.parsers.leaks import drop_leaks as without_leaks

        events = without_leaks(events, [event.call for event in events if isinstance(event, CallEnd)])
    return ParseResult(tuple(events), name, detection)


def parse_stream(chunks: Iterable[str], **options: Unpack[ParseOptions]) -> Iterator[Event]:
    """Read an answer in chunks; yields each event as soon as it is certain."""
    parser = open_parser(**options)
    name = partial(_name, parser, options)
    if not isinstance(chunks, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance] - a caller may not check types
        raise TypeError(
            f"a stream is an iterable of str, not {type(chunks).__name__}; see aparse_stream and open_parser"
        )
    for chunk in chunks:
        yield from _named(parser.feed(_checked(chunk, "a piece of an answer")), name)
    yield from _named(parser.close(), name)


async def aparse_stream(chunks: AsyncIterable[str], **options: Unpack[ParseOptions]) -> AsyncIterator[Event]:
    """Read an answer from an asynchronous source of chunks."""
    parser = open_parser(**options)
    name = partial(_name, parser, options)
    if not isinstance(chunks, AsyncIterable):  # pyright: ignore[reportUnnecessaryIsInstance] - as above
        raise TypeError(
            f"a stream is an asynchronous iterable of str here, not {type(chunks).__name__}; see parse_stream"
        )
    async for chunk in chunks:
        for event in _named(parser.feed(_checked(chunk, "a piece of an answer")), name):
            yield event
    for event in _named(parser.close(), name):
        yield event


def _name(parser: Parser[str], options: ParseOptions) -> str:
    """Return the dialect that a parser reads, "" while it is not detected."""
    found: Detection | None = getattr(parser, "detection", None)
    return chosen(options)[0].name if found is None else found.dialect


def _named(events: list[Event], name: Callable[[], str]) -> list[Event]:
    """Set the dialect of failures."""
    for event in events:
        if isinstance(event, CallFailed):
            event.dialect = name()
    return events


def _finds(options: ParseOptions) -> bool:
    """Whether the dialect is detected in the text."""
    dialect = options.get("dialect")
    return nothing_chosen(options) if dialect is None else is_auto(dialect)


def _checked(text: str, what: str) -> str:
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance] - a caller may not check types
        advice = ": decode bytes first" if isinstance(text, bytes) else ""
        if isinstance(text, dict | list) or hasattr(text, "model_dump"):
            advice = ": toolfmt.read_answer reads the answer objects of APIs"
        if text is None:
            advice = (
                ": a message without content has its calls beside it; give the whole response to toolfmt.read_answer"
            )
        raise TypeError(f"{what} is a str, not {type(text).__name__}{advice}")
    return text


def _check_types(options: ParseOptions) -> None:
    """Raise TypeError early for options that would fail late."""
    if not isinstance(options.get("limits"), Limits | None):  # pyright: ignore[reportUnnecessaryIsInstance] - a caller may not check types
        raise TypeError("limits= takes a toolfmt.Limits")
    if not isinstance(options.get("generation_prompt"), str | None):  # pyright: ignore[reportUnnecessaryIsInstance] - as above
        raise TypeError("generation_prompt= takes the prompt's end, a str")
    if not callable(options.get("ids") or str):
        raise TypeError("ids= takes a function of a call, such as toolfmt.ids.counter()")


def _offered(options: ParseOptions) -> Mapping[str, ToolDefinition]:
    """Check the options; returns the offered tools by name."""
    known_options(options, _KNOWN)
    _check_types(options)
    offered = options.get("tools")
    if options.get("validate", False) and offered is None:
        raise TypeError("validate=True needs the tools' schemas: give tools=")
    if options.get("coerce", False) and offered is None:
        raise TypeError("coerce=True needs the tools' schemas: give tools=")
    if offered is None:
        return {}
    from toolfmt.tools.reading import prepared

    return prepared(offered)


def _detecting(options: ParseOptions, tools: Mapping[str, ToolDefinition]) -> DetectingParser:
    """Open a parser that detects the dialect."""
    from toolfmt.detection import DetectingParser, Detector, OtherFormats, table

    if options.get("use_xml", False):
        raise ValueError("use_xml=True forces a format, and dialect='auto' finds it: leave one of the two out")
    registry = chosen_registry(options)
    if provider := options.get("provider"):
        registry.provider(provider)
    known = table(registry)
    opener = known.opener(options.get("generation_prompt") or "")
    detector = Detector(known, tools, thinking=options.get("reasoning_open", False) or bool(opener), opener=opener)

    def opened(name: str, masked: str) -> Parser[str]:
        parser = OtherFormats(_opened(options, registry.dialect(name), tools), name, lambda: Detector(known, tools))
        return _watched(parser, name, tools, masked)

    return DetectingParser(detector, opened, _finder("", tools))


def call_reader(tools: Mapping[str, ToolDefinition]) -> Callable[[str, str], list[CallEnd | CallFailed]]:
    """Return a function that reads the calls of a text in the dialect of a name."""

    def read(text: str, dialect: str) -> list[CallEnd | CallFailed]:
        registry = default_registry()
        if is_auto(dialect):
            from toolfmt.detection import DetectingParser, Detector, table

            parser: Parser[str] = DetectingParser(
                Detector(table(registry), tools), lambda name, _: _opened({}, registry.dialect(name), tools)
            )
        else:
            parser = _opened({}, registry.dialect(dialect), tools)
        events = [*parser.feed(text), *parser.close()]
        return [event for event in events if isinstance(event, CallEnd | CallFailed)]

    return read


def _finder(dialect: str, tools: Mapping[str, ToolDefinition]) -> Callable[[str, str], list[Event]]:
    """Return the function that finds unread calls in an answer's text."""

    def find(text: str, whole: str) -> list[Event]:
        if not any(name in whole for name in tools):
            return []
        from toolfmt.detection.unread_calls import unread_notice

        return unread_notice(text, whole, tools, dialect, call_reader(tools))

    return find


def _watched(parser: Parser[str], dialect: str, tools: Mapping[str, ToolDefinition], masked: str = "") -> Parser[str]:
    """Report calls of the offered tools that a parser does not read."""
    if not tools:
        return parser
    from toolfmt.parsers.checks import UnreadParser

    return UnreadParser(parser, _finder(dialect, tools), masked)


def _opened(
    options: ParseOptions, dialect: AnyDialect, tools: Mapping[str, ToolDefinition], *, whole: bool = False
) -> Parser[str]:
    """Open a dialect's parser, with the requested checks; `whole` says that the answer comes in one piece."""
    strict = options.get("strict", False) or dialect.traits.strict
    prompt = options.get("generation_prompt")
    opener = ""
    if prompt and dialect.syntax is not None:
        from toolfmt.parsers.leading import reasoning_opener

        opener = reasoning_opener(dialect.syntax, prompt)
    reading = ParserOptions(
        tools=tools,
        strict=strict,
        repair=options.get("repair", False),
        reasoning_open=options.get("reasoning_open", False) or bool(opener),
        reasoning_opener=opener,
        infer_types=options.get("infer_types", False),
        coerce=options.get("coerce", False),
        limits=options.get("limits") or _LIMITS,
    )
    parser: Parser[str] = dialect.open_parser(reading)
    if whole and dialect.syntax is not None:
        from toolfmt.parsers.driving import GrammarDriver

        if isinstance(parser, GrammarDriver):
            parser.whole = True
    if dialect.syntax is None:
        from toolfmt.parsers.checks import OwnParser

        parser = OwnParser(parser)
    if reading.repair:
        from toolfmt.parsers.repair import RepairingParser

        parser = RepairingParser(parser, lambda: dialect.open_parser(reading), dialect.syntax, tools)
    if reading.coerce:
        from toolfmt.parsers.checks import CoercingParser

        parser = CoercingParser(parser, tools)
    ids = options.get("ids")
    validate = options.get("validate", False)
    if reading.tools or strict or validate or ids is not None:
        from toolfmt.parsers.checks import CheckedParser

        parser = CheckedParser(parser, reading, validate=validate, strict=strict, exact=dialect.traits.strict, ids=ids)
    return parser
