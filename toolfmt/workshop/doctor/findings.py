r"""Compares a turn as a dialect reads it with what was said, and finds what a template leaves out of a prompt.

judged(turn, said, dialect)     # [TemplateFinding("fail", 'call 1: /days: said 3, read "3"')]
history_findings(pen, dialect)  # [TemplateFinding("note", "the template drops the reasoning of earlier turns")]

What is left out shows by texts that occur only once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import Final, Literal, TypeAlias

from toolfmt import jsontext
from toolfmt.dialect.record import AnyDialect
from toolfmt.errors import TemplateError, TemplateRefusedError
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue, ToolInvocation
from toolfmt.parsing import ParseResult, parse
from toolfmt.tools import tools as definitions
from toolfmt.workshop.chat_templates.answers import beginning
from toolfmt.workshop.chat_templates.needs import needs
from toolfmt.workshop.doctor.scenarios import (
    ANSWERS,
    ERROR,
    RESULT,
    SECOND,
    TOOLS,
    USER,
    TemplateRenderer,
    TemplateTurn,
    answer,
    call,
    history,
    plainer,
    result,
    user,
)

FindingStatus: TypeAlias = Literal["ok", "note", "fail"]
_SHOWN: Final = 60
OFFERED: Final = definitions(TOOLS)


@dataclass(frozen=True, slots=True)
class TemplateFinding:
    """One finding about a template: a `note`, or a `fail` where something is lost or read wrong."""

    status: FindingStatus
    message: str


_fail: Final = partial(TemplateFinding, "fail")
_note: Final = partial(TemplateFinding, "note")


def read(turn: TemplateTurn, dialect: AnyDialect) -> ParseResult:
    """Read an answer as it was written."""
    return parse(turn.wrote, dialect=dialect, tools=OFFERED, generation_prompt=turn.prompt)


def judged(turn: TemplateTurn, answer: JsonObject, dialect: AnyDialect | None) -> Iterator[TemplateFinding]:
    """Compare an answer as it is read, or without a dialect as it is written, with what was said."""
    wanted = answer_calls(answer)
    yield from called(turn, answer, dialect)
    for key, what in (("content", "text beside calls" if wanted else "text"), ("reasoning_content", "reasoning")):
        if key in answer and answer[key] not in turn.wrote:
            yield _note(f"the template drops {what}")
        elif key in answer and dialect is not None:
            yield from _worded(key, what, answer[key], read(turn, dialect))
    if "content" not in answer and dialect is not None:
        result = read(turn, dialect)
        if result.text.strip() and len(result.calls) == len(wanted):
            yield _note(f"unexpected text is read: {shown(result.text.strip())}")


def answer_calls(answer: JsonObject) -> list[tuple[str, JsonObject]]:
    """Return the calls of a message: names and arguments."""
    calls: list[JsonObject] = answer.get("tool_calls", [])
    return [(call["function"]["name"], call["function"]["arguments"]) for call in calls]


def called(turn: TemplateTurn, answer: JsonObject, dialect: AnyDialect | None) -> Iterator[TemplateFinding]:
    """Compare calls, type-exactly and in order."""
    wanted = answer_calls(answer)
    missing = [name for name, _ in wanted if name not in turn.wrote]
    if missing:
        yield _fail(f"the template does not write the call of {', '.join(dict.fromkeys(missing))}")
    elif dialect is None:
        yield from [_fail(f"no dialect reads this: {shown(turn.wrote.strip())}")] if wanted else []
    else:
        yield from _read_back(turn.wrote, wanted, read(turn, dialect))


def _read_back(wrote: str, wanted: list[tuple[str, JsonObject]], result: ParseResult) -> Iterator[TemplateFinding]:
    for failure in result.failures:
        yield _fail(f"a call cannot be read: {failure.reason}: {shown(failure.detail.partition(chr(10))[0])}")
    for number, (want, got) in enumerate(zip_longest(wanted, result.calls), 1):
        if want is None and got is not None:
            yield _fail(f"an unexpected call is read: {got.name}({shown(jsontext.dumps(got.arguments))})")
        elif want is not None and got is not None:
            yield from _compared(number, want, got)
            first = next(iter(want[1]), None)
            if first is not None and f'\\"{first}\\"' in wrote:
                yield _note(f"call {number}: arguments are encoded twice, as JSON text inside JSON")
        elif want is not None and not result.failures:
            yield _fail(f"call {number} ({want[0]}) is not read: {shown(wrote.strip())}")


def _compared(number: int, want: tuple[str, JsonObject], got: ToolInvocation) -> Iterator[TemplateFinding]:
    name, arguments = want
    if got.name != name:
        yield _fail(f"call {number}: the name {name!r} is read as {got.name!r}")
    for place, wrote, found in differences("", arguments, got.arguments):
        yield _fail(f"call {number}: {place or 'the arguments'}: said {wrote}, read {found}")


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
            yield _note(f"{what} is read with more than was said: {shown(found.strip())}")
    elif answer in other:
        yield _fail(f"{what} is read as {'reasoning' if key == 'content' else 'text'}")
    else:
        yield _fail(f"{what} is not read")


def shown(text: str) -> str:
    """Shorten a text for one line of a table."""
    line = text.replace("\n", "\\n")
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}..."


def tool_findings(pen: TemplateRenderer) -> Iterator[TemplateFinding]:
    """Report what of the offered tools is not in the prompt."""
    if needs(pen.source).arguments == "text":
        yield _note("a call's arguments must be JSON text: an object raises, or is not written as JSON")
    text = pen.write([user(USER)], prompt=True)
    functions: list[JsonObject] = [tool["function"] for tool in TOOLS]
    if not any(function["name"] in text for function in functions):
        yield _fail("no tools in the prompt: the template does not show them")
        return
    for what, values in (
        ("name", [function["name"] for function in functions]),
        ("description", [function["description"] for function in functions]),
        ("parameter", [name for function in functions for name in function["parameters"]["properties"]]),
    ):
        missing = [value for value in values if value not in text and value.replace("'", "\\'") not in text]
        if missing:
            yield TemplateFinding(
                "note" if what == "description" else "fail", f"no {what} in the prompt: {', '.join(missing)}"
            )


def result_findings(pen: TemplateRenderer, dialect: AnyDialect | None) -> Iterator[TemplateFinding]:
    """Report what of the results is not in the prompt: their text, their order, their ids."""
    asked = [user(USER), ANSWERS["one call"](())]
    for content in (RESULT, ERROR):
        text = pen.write([*asked, result(1, "get_weather", content)], prompt=True)
        if content not in text:
            yield _fail(f"a result is not shown as it is: {content}")
    if "call00001" not in text:
        carried = dialect is not None and dialect.traits.carries_ids
        yield _note("ids are dropped" + (", though the format has a place for them" if carried else ""))
    both = answer(call(1, "get_weather", {"city": "Lyon"}), call(2, "get_weather", {"city": "Oslo"}))
    answers = [result(1, "get_weather", RESULT), result(2, "get_weather", SECOND)]
    try:
        text = pen.write([user(USER), both, *answers], prompt=True)
    except TemplateError:
        return  # reported for the parallel calls
    if not 0 <= text.find(RESULT) < text.find(SECOND):
        yield _fail("the results of parallel calls are not all shown in their order")


def history_findings(pen: TemplateRenderer, dialect: AnyDialect | None) -> Iterator[TemplateFinding]:
    """Read the turns of a conversation back from its prompt, and report what is not there."""
    messages = history()
    try:
        text = pen.write(messages, prompt=True)
    except TemplateRefusedError as error:
        yield _note(f"the template refuses a part of it: {error.message}")
        messages = plainer(messages)
        text = pen.write(messages, prompt=True)
    at = 0
    for number, message in enumerate(messages):
        if message["role"] != "assistant":
            at = max(at, text.find(message["content"], at) + len(message["content"]))
        elif "tool_calls" in message:
            for found in called(pen.earlier(text, messages, number, at), message, dialect):
                yield TemplateFinding(found.status, f"turn {number + 1} of {len(messages)}: {found.message}")
    yield from _dropped(text, messages)


def _dropped(text: str, messages: Sequence[JsonObject]) -> Iterator[TemplateFinding]:
    """Report what is not in the prompt, of earlier turns and of the current one."""
    running = max(at for at, message in enumerate(messages) if message["role"] == "user")
    for when, part in (("earlier turns", messages[:running]), ("the current turn", messages[running:])):
        answers = [message for message in part if message["role"] == "assistant"]
        if any(message.get("reasoning_content", "") not in text for message in answers):
            yield _note(f"the template drops the reasoning of {when}")
        if any(message.get("content", "") not in text for message in answers):
            yield _note(f"the template drops text of {when}")
    for message in messages:
        if message["role"] in {"system", "user", "tool"} and message["content"] not in text:
            yield _fail(f"the template drops the text of the {message['role']}: {message['content']}")
