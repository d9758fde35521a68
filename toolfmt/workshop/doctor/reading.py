r"""Compares a turn as a dialect reads it with what the assistant said.

judged(turn, said, dialect)
# [TemplateFinding("fail", 'call 1: /days: said 3, read "3"')]
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from toolfmt import jsontext
from toolfmt.jsontext import is_array, is_object
from toolfmt.parsing import parse
from toolfmt.tools import tools as definitions
from toolfmt.workshop.chat_templates.answers import beginning
from toolfmt.workshop.doctor.scenarios import TOOLS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolfmt.dialect.record import AnyDialect
    from toolfmt.model import JsonObject, JsonValue, ToolInvocation
    from toolfmt.parsing import ParseResult
    from toolfmt.workshop.doctor.turns import TemplateTurn

FindingStatus: TypeAlias = Literal["ok", "note", "fail"]
_SHOWN: Final = 60
OFFERED: Final = definitions(TOOLS)


@dataclass(frozen=True, slots=True)
class TemplateFinding:
    """One finding about a template: a `note`, or a `fail` where something is lost or read wrong."""

    status: FindingStatus
    message: str


def read(turn: TemplateTurn, dialect: AnyDialect) -> ParseResult:
    """Read an answer as it was written."""
    return parse(turn.wrote, dialect=dialect, tools=OFFERED, generation_prompt=turn.prompt)


def judged(turn: TemplateTurn, answer: JsonObject, dialect: AnyDialect | None) -> Iterator[TemplateFinding]:
    """Compare an answer as it is read, or without a dialect as it is written, with what was said."""
    wanted = answer_calls(answer)
    yield from called(turn, answer, dialect)
    for key, what in (("content", "text beside calls" if wanted else "text"), ("reasoning_content", "reasoning")):
        if key in answer and answer[key] not in turn.wrote:
            yield TemplateFinding("note", f"the template drops {what}")
        elif key in answer and dialect is not None:
            yield from _worded(key, what, answer[key], read(turn, dialect))
    if "content" not in answer and dialect is not None:
        result = read(turn, dialect)
        if result.text.strip() and len(result.calls) == len(wanted):
            yield TemplateFinding("note", f"unexpected text is read: {shown(result.text.strip())}")


def answer_calls(answer: JsonObject) -> list[tuple[str, JsonObject]]:
    """Return the calls of a message: names and arguments."""
    calls: list[JsonObject] = answer.get("tool_calls", [])
    return [(call["function"]["name"], call["function"]["arguments"]) for call in calls]


def called(turn: TemplateTurn, answer: JsonObject, dialect: AnyDialect | None) -> Iterator[TemplateFinding]:
    """Compare calls, type-exactly and in order."""
    wanted = answer_calls(answer)
    missing = [name for name, _ in wanted if name not in turn.wrote]
    if missing:
        yield TemplateFinding("fail", f"the template does not write the call of {', '.join(dict.fromkeys(missing))}")
    elif dialect is None:
        yield from [TemplateFinding("fail", f"no dialect reads this: {shown(turn.wrote.strip())}")] if wanted else []
    else:
        yield from _read_back(turn.wrote, wanted, read(turn, dialect))


def _read_back(wrote: str, wanted: list[tuple[str, JsonObject]], result: ParseResult) -> Iterator[TemplateFinding]:
    for failure in result.failures:
        yield TemplateFinding("fail", f"a call cannot be read: {failure.reason}: {shown(failure.detail)}")
    for number, (want, got) in enumerate(zip_longest(wanted, result.calls), 1):
        if want is None and got is not None:
            yield TemplateFinding(
                "fail", f"an unexpected call is read: {got.name}({shown(jsontext.dumps(got.arguments))})"
            )
        elif want is not None and got is not None:
            yield from _compared(number, want, got)
            yield from _twice(number, want[1], wrote)
        elif want is not None and not result.failures:
            yield TemplateFinding("fail", f"call {number} ({want[0]}) is not read: {shown(wrote.strip())}")


def _compared(number: int, want: tuple[str, JsonObject], got: ToolInvocation) -> Iterator[TemplateFinding]:
    name, arguments = want
    if got.name != name:
        yield TemplateFinding("fail", f"call {number}: the name {name!r} is read as {got.name!r}")
    for place, wrote, found in differences("", arguments, got.arguments):
        yield TemplateFinding("fail", f"call {number}: {place or 'the arguments'}: said {wrote}, read {found}")


def _twice(number: int, arguments: JsonObject, wrote: str) -> Iterator[TemplateFinding]:
    """Report arguments that are JSON text inside JSON."""
    first = next(iter(arguments), None)
    if first is not None and f'\\"{first}\\"' in wrote:
        yield TemplateFinding("note", f"call {number}: arguments are encoded twice, as JSON text inside JSON")


def differences(place: str, answer: JsonValue, found: JsonValue) -> Iterator[tuple[str, str, str]]:
    """Yield each place at which two values differ, with both values."""
    if is_object(answer) and is_object(found):
        for key in (*answer, *(key for key in found if key not in answer)):
            if key not in answer or key not in found:
                yield f"{place}/{key}", _value(answer, key), _value(found, key)
            else:
                yield from differences(f"{place}/{key}", answer[key], found[key])
    elif is_array(answer) and is_array(found) and len(answer) == len(found):
        for at, (one, other) in enumerate(zip(answer, found, strict=True)):
            yield from differences(f"{place}/{at}", one, other)
    elif not jsontext.equal(answer, found):
        yield place, _apart(answer, found), _apart(found, answer)


def _value(holder: JsonObject, key: str) -> str:
    return shown(jsontext.dumps(holder[key])) if key in holder else "nothing"


def _apart(one: JsonValue, other: JsonValue) -> str:
    """Show a value; a long text from where it differs."""
    if isinstance(one, str) and isinstance(other, str):
        same = len(beginning(one, other))
        return ("..." if same > _SHOWN // 3 else "") + shown(jsontext.dumps(one[max(0, same - _SHOWN // 3) :]))
    return shown(jsontext.dumps(one))


def _worded(key: str, what: str, answer: str, result: ParseResult) -> Iterator[TemplateFinding]:
    found, other = (result.text, result.reasoning) if key == "content" else (result.reasoning, result.text)
    if answer in found:
        if found.strip() != answer:
            yield TemplateFinding("note", f"{what} is read with more than was said: {shown(found.strip())}")
    elif answer in other:
        yield TemplateFinding("fail", f"{what} is read as {'reasoning' if key == 'content' else 'text'}")
    else:
        yield TemplateFinding("fail", f"{what} is not read")


def shown(text: str) -> str:
    """Shorten a text for one line of a table."""
    line = text.replace("\n", "\\n")
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}..."
