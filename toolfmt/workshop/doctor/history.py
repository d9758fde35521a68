"""Checks what a template shows of tools, results and earlier turns, by texts that occur only once.

TemplateFinding("note", "the template drops the reasoning of earlier turns")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolfmt.errors import TemplateError, TemplateRefusedError
from toolfmt.workshop.chat_templates.needs import needs
from toolfmt.workshop.doctor.reading import TemplateFinding, called
from toolfmt.workshop.doctor.scenarios import (
    ANSWERS,
    ERROR,
    RESULT,
    SECOND,
    TOOLS,
    USER,
    answer,
    call,
    history,
    plainer,
    result,
    user,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from toolfmt.dialect.record import AnyDialect
    from toolfmt.model import JsonObject
    from toolfmt.workshop.doctor.turns import Pen


def tool_findings(pen: Pen) -> Iterator[TemplateFinding]:
    """Report what of the offered tools is not in the prompt."""
    if needs(pen.source).arguments == "text":
        yield TemplateFinding(
            "note", "a call's arguments must be JSON text: an object raises, or is not written as JSON"
        )
    text = pen.write([user(USER)], prompt=True)
    functions: list[JsonObject] = [tool["function"] for tool in TOOLS]
    if not any(function["name"] in text for function in functions):
        yield TemplateFinding("fail", "no tools in the prompt: the template does not show them")
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


def result_findings(pen: Pen, dialect: AnyDialect | None) -> Iterator[TemplateFinding]:
    """Report what of the results is not in the prompt: their text, their order, their ids."""
    asked = [user(USER), ANSWERS["one call"](())]
    for content in (RESULT, ERROR):
        text = pen.write([*asked, result(1, "get_weather", content)], prompt=True)
        if content not in text:
            yield TemplateFinding("fail", f"a result is not shown as it is: {content}")
    if "call00001" not in text:
        carried = dialect is not None and dialect.traits.carries_ids
        yield TemplateFinding(
            "note", "ids are dropped" + (", though the format has a place for them" if carried else "")
        )
    both = answer(call(1, "get_weather", {"city": "Lyon"}), call(2, "get_weather", {"city": "Oslo"}))
    answers = [result(1, "get_weather", RESULT), result(2, "get_weather", SECOND)]
    try:
        text = pen.write([user(USER), both, *answers], prompt=True)
    except TemplateError:
        return  # reported for the parallel calls
    if not 0 <= text.find(RESULT) < text.find(SECOND):
        yield TemplateFinding("fail", "the results of parallel calls are not all shown in their order")


def history_findings(pen: Pen, dialect: AnyDialect | None) -> Iterator[TemplateFinding]:
    """Read the turns of a conversation back from its prompt, and report what is not there."""
    messages = history()
    try:
        text = pen.write(messages, prompt=True)
    except TemplateRefusedError as error:
        yield TemplateFinding("note", f"the template refuses a part of it: {error.said}")
        messages = plainer(messages)
        text = pen.write(messages, prompt=True)
    at = 0
    for number, message in enumerate(messages):
        if message["role"] != "assistant":
            at = max(at, text.find(message["content"], at) + len(message["content"]))
        elif "tool_calls" in message:
            turn = pen.earlier(text, messages, number, at)
            for found in called(turn, message, dialect):
                yield TemplateFinding(found.status, f"turn {number + 1} of {len(messages)}: {found.message}")
    yield from _dropped(text, messages)


def _dropped(text: str, messages: Sequence[JsonObject]) -> Iterator[TemplateFinding]:
    """Report what is not in the prompt, of earlier turns and of the current one."""
    running = max(at for at, message in enumerate(messages) if message["role"] == "user")
    for when, part in (("earlier turns", messages[:running]), ("the current turn", messages[running:])):
        said = [message for message in part if message["role"] == "assistant"]
        if any(message.get("reasoning_content", "") not in text for message in said):
            yield TemplateFinding("note", f"the template drops the reasoning of {when}")
        if any(message.get("content", "") not in text for message in said):
            yield TemplateFinding("note", f"the template drops text of {when}")
    for message in messages:
        if message["role"] in {"system", "user", "tool"} and message["content"] not in text:
            yield TemplateFinding("fail", f"the template drops the text of the {message['role']}: {message['content']}")
