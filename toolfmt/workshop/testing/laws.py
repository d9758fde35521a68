"""The laws that every text dialect obeys, as functions that raise `AssertionError` and say what differs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

import regex

from toolfmt import jsontext
from toolfmt.dialect.record import Dialect, Limits, ParserOptions
from toolfmt.errors import UnrepresentableError
from toolfmt.events import (
    ArgumentsDelta,
    CallEnd,
    CallFailed,
    CallStart,
    Event,
    Notice,
    ReasoningDelta,
    TextDelta,
    coalesce,
)
from toolfmt.model import JsonValue, ToolDefinition, ToolInvocation, ToolResult
from toolfmt.parsers.bodies.json_values import COMMENT, ignore, read_value
from toolfmt.parsers.scanning.cursor import Cursor, Malformed, Truncated
from toolfmt.parsers.scanning.patterns import literal, strip_groups
from toolfmt.parsers.scanning.pieces import Pieces
from toolfmt.parsing import parse


def read(dialect: Dialect[str], chunks: Iterable[str], tools: Sequence[ToolDefinition] = ()) -> list[Event]:
    """Read a text in pieces; return its coalesced events."""
    chunks = [*chunks]
    parser = dialect.open_parser(ParserOptions(tools={tool.name: tool for tool in tools}, whole=len(chunks) == 1))
    events: list[Event] = []
    for chunk in chunks:
        events.extend(parser.feed(chunk))
    events.extend(parser.close())
    return coalesce(events)


def cut(text: str, places: Iterable[int]) -> list[str]:
    """Cut a text at these offsets."""
    marks = sorted({place for place in places if 0 < place < len(text)})
    return [text[start:end] for start, end in zip([0, *marks], [*marks, len(text)], strict=True)]


def round_trip(
    dialect: Dialect[str], calls: Sequence[ToolInvocation], tools: Sequence[ToolDefinition] = ()
) -> str | None:
    """Check that calls are read back type-exactly; return the text, or None if the dialect cannot write them."""
    try:
        text = dialect.calls(calls, {tool.name: tool for tool in tools})
    except UnrepresentableError:
        return None
    if dialect.syntax is not None and dialect.syntax.starts_in_reasoning:
        text = dialect.syntax.reasoning[0][1] + text  # the answer begins in its reasoning, where a call is a guess
    events = read(dialect, [text], tools)
    found = [event.call for event in events if isinstance(event, CallEnd)]
    failed = [event for event in events if isinstance(event, CallFailed)]
    assert not failed, f"{dialect.name}: {failed} from {text!r}"
    assert len(found) == len(calls), f"{dialect.name}: {len(found)} calls for {len(calls)} from {text!r}"
    forms = () if dialect.syntax is None else dialect.syntax.forms
    raw = any(form.elements is not None and form.elements.escape != "xml" for form in forms)  # a value may be a marker
    for call, back in zip(calls, found, strict=True):
        assert back.name == call.name, f"{dialect.name}: name {back.name!r} for {call.name!r}"
        assert jsontext.equal(back.arguments, call.arguments), (
            f"{dialect.name}: {back.arguments!r} for {call.arguments!r} from {text!r}"
        )
        certain = back.certainty == "exact" or (raw and "<" in jsontext.dumps(call.arguments))
        assert certain, f"{dialect.name}: read with a tolerance what it wrote itself: {text!r}"
        if dialect.traits.carries_ids and call.id is not None:  # some dialects require one
            assert back.id == call.id, f"{dialect.name}: id {back.id!r} for {call.id!r}"
        if dialect.traits.carries_server:
            assert back.server == call.server, f"{dialect.name}: server {back.server!r} for {call.server!r}"
        if dialect.traits.carries_agent:
            assert back.agent == call.agent, f"{dialect.name}: agent {back.agent!r} for {call.agent!r}"
    return text


def chunking(
    dialect: Dialect[str], text: str, places: Iterable[int], tools: Sequence[ToolDefinition] = ()
) -> list[Event]:
    """Check that the events are the same if the text is cut at these offsets; return those of the whole text."""
    whole = read(dialect, [text], tools)
    pieces = cut(text, places)
    parts = read(dialect, pieces, tools)
    assert parts == whole, f"{dialect.name}: cut as {pieces!r}\n  {parts}\nfor whole\n  {whole}"
    return whole


def ordered(events: Sequence[Event]) -> None:
    """Check that each started call ends or fails once, and that its deltas are the JSON text of its arguments."""
    open_calls: dict[int, list[str]] = {}
    done: set[int] = set()
    for event in events:
        match event:
            case CallStart(index):
                assert index not in open_calls, f"call {index} starts twice"
                assert index not in done, f"call {index} starts after its end"
                open_calls[index] = []
            case ArgumentsDelta(index, text):
                open_calls[index].append(text)
            case CallEnd(index, call):
                text = "".join(open_calls.pop(index))
                assert jsontext.equal(json.loads(text), call.arguments), (
                    f"call {index}: {text!r} is not {call.arguments!r}"
                )
                done.add(index)
            case CallFailed(index):
                assert index not in done, f"call {index} fails after its end"
                open_calls.pop(index, None)
                done.add(index)
            case _:
                pass
    assert not open_calls, f"calls without an end: {sorted(open_calls)}"


def lossless(dialect: Dialect[str], text: str, tools: Sequence[ToolDefinition] = ()) -> None:
    """Check that each character is in text, reasoning, a call or a notice, or is a marker of the dialect between them.

    The bracket that closes a list after a call may be uncovered.
    """
    spans: list[tuple[int, int]] = []
    ends: set[int] = set()
    blank = text
    for event in read(dialect, [text], tools):
        match event:
            case TextDelta(piece, start) | ReasoningDelta(piece, start) if text[start - 1 : start] in {'"', "'"} and (
                frame := _frame(text, start, piece)
            ):
                spans.append(frame)  # a text in an object
            case TextDelta(piece, start) | ReasoningDelta(piece, start):
                assert text[start : start + len(piece)] == piece, f"{dialect.name}: {piece!r} does not stand at {start}"
                spans.append((start, start + len(piece)))
            case CallEnd(_, _, span):
                spans.append(span)
                ends.add(span[1])
            case CallFailed(_, raw, _, _, span):
                assert not raw or text[slice(*span)] == raw, f"{dialect.name}: {raw!r} does not stand at {span}"
                spans.append(span)
                ends.add(span[1])
            case Notice(_, "comment", (start, _)) if comment := COMMENT(text, start):
                blank = blank[:start] + " " * len(comment[0]) + blank[comment.end() :]  # only its position is reported
            case Notice(_, _, span):
                spans.append(span)
            case _:
                pass
    marker = _between(dialect)
    at = 0
    for start, end in [*sorted(spans), (len(text), len(text))]:
        gap = blank[at:start] if start > at else ""
        gap = re.sub(r"\A\s*\]", "", gap) if at in ends else gap
        assert marker.fullmatch(gap), f"{dialect.name}: lost {gap!r} at {at} of {text!r}"
        at = max(at, end)


def claimed(dialect: Dialect[str], text: str, mark: str, tools: Sequence[ToolDefinition] = ()) -> None:
    """Check that nothing is lost without a notice if it is written where the dialect has no place for it.

    `mark` is a word that `text` contains once, in an attribute, a key, an element or a comment that the dialect does
    not write. It must be in the text, in a failure, in a call's arguments or in a notice. With `strict`, no call
    succeeds beside it.
    """
    at = text.index(mark)
    events = read(dialect, [text], tools)
    calls = [event.call for event in events if isinstance(event, CallEnd)]
    taken = any(mark in repr(call.model_dump(exclude={"raw_arguments"})) for call in calls)
    notices = [
        event
        for event in events
        if isinstance(event, Notice) and (mark in event.detail or event.span[0] <= at < event.span[1])
    ]
    kept = taken or any(
        (isinstance(event, TextDelta | ReasoningDelta) and mark in event.text)
        or (isinstance(event, CallFailed) and event.span[0] <= at < event.span[1])
        for event in events
    )
    assert not calls or kept or notices, f"{dialect.name}: {mark!r} is lost and {calls} run, from {text!r}"
    if taken and not notices:
        return  # the dialect has a place for it
    strict = parse(text, dialect=dialect, tools=tools, strict=True)
    assert not strict.calls, f"{dialect.name}: strict, and {strict.calls} run beside {mark!r} in {text!r}"


def _between(dialect: Dialect[str]) -> regex.Pattern[str]:
    """Return what may be uncovered: white space, the dialect's markers, and a list without calls."""
    syntax = dialect.syntax
    if syntax is None:
        return regex.compile(r"\s*")
    sections = [tuple(form.section.split("{calls}")) for form in syntax.forms]
    pairs = (*syntax.reasoning, *syntax.leading, *syntax.hidden, *syntax.unwrap, *sections)
    sources = [
        literal(marker) for marker in (*(part for pair in pairs for part in pair), *syntax.stop) if marker.strip()
    ]
    sources += [literal(re.sub(r"\{\?.*?\?\}", "", marker)) for _, marker in sections if "{?" in marker]
    if syntax.frame is not None:
        sources += [strip_groups(syntax.frame.header), *map(literal, syntax.frame.ends)]
    for form in syntax.forms:
        if form.json is not None and form.json.prose:  # text after an object that is not a call
            opener, middle, closer = re.split(r"\{(?:call|payload)\}", form.call)
            sources += [rf"{literal(opener)}\s*\{{[^{{}}]*\}}\s*{literal(middle)}", literal(closer)]
    flags = regex.IGNORECASE if syntax.ignore_case else 0
    return regex.compile(rf"(?:\s|\[\s*\]|{'|'.join(sources) or '(?!)'})*", flags)


def harmless(dialect: Dialect[str], results: Sequence[ToolResult], tools: Sequence[ToolDefinition] = ()) -> None:
    """Check that written results contain nothing that is read as a call, whatever the tools returned."""
    text = dialect.results(results)
    found = [event for event in read(dialect, [text], tools) if isinstance(event, CallStart | CallEnd | CallFailed)]
    assert not found, f"{dialect.name}: {found} from the results {text!r}"


def _frame(text: str, start: int, piece: str) -> tuple[int, int] | None:
    """Return the span of the object that contains `piece` in a string whose content begins at `start`."""
    carried = _value(text, start - 1)
    if carried is None or carried[0] != piece:
        return None
    for brace in re.finditer(r"\{", text[:start]):
        found = _value(text, brace.start())
        if found is not None and found[1] > start:
            return brace.start(), found[1]
    return None


def _value(text: str, at: int) -> tuple[JsonValue, int] | None:
    """Return the JSON value at an offset, repaired if needed, and its end."""
    cur, pieces = Cursor(), Pieces()
    cur.append(text[at:])
    cur.eof = True
    try:
        for _ in read_value(cur, pieces, ignore, Limits(), tolerant=True):
            pass
    except (Malformed, Truncated):
        return None
    return json.loads(pieces.text()), at + cur.pos


def truncated(dialect: Dialect[str], text: str, places: Iterable[int], tools: Sequence[ToolDefinition] = ()) -> None:
    """Check that a text that ends at one of these offsets gives only calls of the whole text, and reports what is cut.

    A call in reasoning whose closing marker was cut off may be a draft, which may be read as a guess. A cut before the
    name of the first argument may leave text.
    """
    ends = [event for event in read(dialect, [text], tools) if isinstance(event, CallEnd)]
    for at in places:
        _cut_short(dialect, text, at, ends, read(dialect, [text[:at]], tools))


def _cut_short(dialect: Dialect[str], text: str, at: int, ends: list[CallEnd], events: list[Event]) -> None:
    whole = [end.call for end in ends]
    part = [event.call for event in events if isinstance(event, CallEnd)]
    if any(isinstance(event, Notice) and event.kind == "open_reasoning" for event in events):
        left = iter(whole)
        for call in part:
            assert call.certainty == "guessed" or any(same(call, full) for full in left), (
                f"{dialect.name}: {call.name!r}, from a thought cut at {at}, is no guess"
            )
        return
    for call, full in zip(part, whole, strict=False):
        assert call.name == full.name, f"{dialect.name}: {call.name!r} from a text cut at {at}"
        assert jsontext.equal(call.arguments, full.arguments), (
            f"{dialect.name}: {call.arguments!r} from a text cut at {at}"
        )
    assert len(part) <= len(whole), f"{dialect.name}: more calls from a text cut at {at}"
    for start, key in [(end.span[0], _first_key(text, end)) for end in ends[len(part) :]]:
        reported = any(isinstance(event, CallFailed | Notice) and event.span[1] > start for event in events)
        assert key is None or key >= at or reported, f"{dialect.name}: nothing reports the call cut at {at} of {text!r}"


def _first_key(text: str, end: CallEnd) -> int | None:
    """Return where the name of a call's first argument ends, if both names are written as they are."""
    name = text.find(end.call.name, *end.span) + len(end.call.name)
    keys = (re.compile(rf"(?<!\w){re.escape(key)}(?!\w)") for key in end.call.arguments)
    found = (key.search(text, name, end.span[1]) for key in keys if name >= len(end.call.name))
    return min((one.end() for one in found if one), default=None)


def calls(dialect: Dialect[str], text: str, tools: Sequence[ToolDefinition] = ()) -> list[ToolInvocation]:
    """Return the calls of a text; without tools, with the types that the text shows."""
    return [event.call for event in read(dialect, [text], tools) if isinstance(event, CallEnd)]


def same(call: ToolInvocation, meant: ToolInvocation) -> bool:
    """Compare names and arguments type-exactly."""
    return call.name == meant.name and jsontext.equal(call.arguments, meant.arguments)
