"""Rules that find the faults of an answer, one for each thing that a server can do to a call.

Each yields `(rule, severity, expected, came, read)` for each fault.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import Final, TypeAlias

from toolfmt import jsontext
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_object
from toolfmt.lookup.registry import default_registry
from toolfmt.model import JsonObject, ToolDefinition
from toolfmt.parsing import parse
from toolfmt.schema.validation import problems
from toolfmt.workshop.probing.asking import Call, ClientAnswer
from toolfmt.workshop.probing.findings import FindingSeverity, ProbeFinding, shown
from toolfmt.workshop.probing.questions import Question

LOOKED_AT: Final = 16384
"""Characters of a text that are searched for calls."""
_TOKEN: Final = re.compile(r"<[|｜].{1,40}?[|｜]>", re.DOTALL)
Wrong: TypeAlias = tuple[str, FindingSeverity, str, str, tuple[str, ...]]
Rule: TypeAlias = Callable[["ClientAnswer", "Question"], Iterator[Wrong]]


def judge(answer: ClientAnswer, question: Question, mode: str) -> list[ProbeFinding]:
    """Return the faults of an answer, each rule once."""
    found = {
        name: ProbeFinding(name, "error", question.name, mode, expected, came)
        for name, (expected, came) in answer.oddities.items()
    }
    for rule in RULES:
        for name, severity, expected, came, read in rule(answer, question):
            found.setdefault(name, ProbeFinding(name, severity, question.name, mode, expected, shown(came), read))
    return list(found.values())


def compare(whole: ClientAnswer, streamed: ClientAnswer, question: Question) -> list[ProbeFinding]:
    """Compare the streamed and the whole answer: their calls, and whether there is text or reasoning."""
    sides = [
        (sorted(_line(call) for call in answer.calls), bool(answer.text.strip()), bool(answer.reasoning.strip()))
        for answer in (whole, streamed)
    ]
    if sides[0] == sides[1]:
        return []
    seen = [
        ", ".join([*calls, *(["text"] if text else []), *(["reasoning"] if reasoning else [])]) or "nothing"
        for calls, text, reasoning in sides
    ]
    same = sides[0][0] == sides[1][0]
    severity: FindingSeverity = "warning" if same or (whole.calls and streamed.calls) else "error"
    expected, came = f"the same as whole: {shown(seen[0])}", f"streamed: {shown(seen[1])}"
    return [ProbeFinding("stream_differs", severity, question.name, "both", expected, came)]


def _line(call: Call) -> str:
    value = _object(call)
    arguments = jsontext.canonical(value) if value is not None else repr(call.arguments)
    return f"{call.name}({arguments})"


def _object(call: Call) -> JsonObject | None:
    """Read a call's arguments; None unless they are the text of an object."""
    try:
        value = jsontext.loads(call.arguments) if isinstance(call.arguments, str) else None
    except ParseError:
        return None
    return value if is_object(value) else None


def _text(answer: ClientAnswer, question: Question) -> Iterator[Wrong]:
    """Find calls, reasoning and a model's own tokens in the text."""
    reads = _calls_in(answer.text, question)
    if reads:
        yield "markup_in_content", "error", "calls in `tool_calls`, none in `content`", answer.text, reads
    thought = next((marker for marker in _reasoning() if marker in answer.text), "")
    if thought:
        yield "reasoning_in_content", "error", f"no {thought} in `content`", answer.text, ()
    token = _TOKEN.search(answer.text)
    if token and token[0] != thought and not reads:
        yield "token_in_content", "error", f"no {token[0]} in `content`", answer.text, ()


def _calls_in(text: str, question: Question) -> tuple[str, ...]:
    """Describe the calls in a text, as the detected dialect reads them."""
    result = parse(text[:LOOKED_AT], dialect="auto", tools=question.tools)
    calls = [f"{call.name}({jsontext.dumps(call.arguments)})" for call in result.calls]
    broken = [f"{one.name or 'a call'} that cannot be used ({one.reason})" for one in result.failures]
    return tuple(f"{result.dialect}: {one}" for one in (*calls, *broken))


@cache
def _reasoning() -> tuple[str, ...]:
    """Return the markers of reasoning in all dialects that are not in prose and do not end a turn."""
    known = [dialect.syntax for dialect in default_registry() if dialect.syntax is not None]
    ends = {stop.strip() for syntax in known for stop in syntax.stop}
    found = {marker.strip() for syntax in known for pair in syntax.reasoning for marker in pair} - ends
    return tuple(sorted(marker for marker in found if marker.startswith(("<", "["))))


def _arguments(answer: ClientAnswer, question: Question) -> Iterator[Wrong]:
    tools = {tool.name: tool for tool in question.tools}
    for call in answer.calls:
        name, given = call.name, call.arguments
        tool = tools.get(name) if isinstance(name, str) else None
        if tool is None:
            yield "unknown_tool", "error", f"a call of {' or '.join(tools)}", repr(name), ()
        value = _object(call)
        if not isinstance(given, str):
            yield "arguments_not_text", "error", "`arguments` is JSON text", repr(given), ()
        elif value is None:
            yield "arguments_not_json", "error", "`arguments` is the text of a JSON object", repr(given), ()
        elif tool is not None:
            yield from _fitting(value, tool, question)


def _fitting(value: JsonObject, tool: ToolDefinition, question: Question) -> Iterator[Wrong]:
    """Compare arguments with the tool's schema and with the question."""
    given = jsontext.dumps(value)
    required = tool.parameters.get("required")
    if not value and required:
        yield "arguments_lost", "error", f"arguments with {', '.join(required)}", given, ()
        return
    found = problems(tool, value)
    if found:
        yield "arguments_invalid", "warning", "; ".join(map(str, found)), given, ()
        return
    for key, written in question.arguments.items():
        if key not in value or jsontext.equal(value[key], written):
            continue
        mangled = isinstance(written, str) and isinstance(value[key], str) and written in _undone(value[key])
        if mangled:
            yield "arguments_mangled", "error", jsontext.dumps(written), jsontext.dumps(value[key]), ()
        else:
            yield "arguments_differ", "warning", jsontext.dumps(written), jsontext.dumps(value[key]), ()


def _undone(text: str) -> set[str]:
    """Undo an escaping or encoding that was applied once too often."""
    undone: set[str] = set()
    for encoding in ("latin-1", "cp1252"):
        try:
            undone.add(text.encode(encoding).decode("utf-8"))
        except UnicodeError:
            continue
    for candidate in (f'"{text}"', text):
        try:
            value = jsontext.loads(candidate)
        except ParseError:
            continue
        if isinstance(value, str):
            undone.add(value)
    return undone


def _ids(answer: ClientAnswer, _: Question) -> Iterator[Wrong]:
    ids = [call.id for call in answer.calls]
    if any(not isinstance(one, str) or not one for one in ids):
        yield "id_missing", "error", "an `id` for every call", repr(ids), ()
    twice = [one for one, count in Counter(repr(one) for one in ids if one).items() if count > 1]
    if twice:
        yield "id_duplicate", "error", "an `id` of its own for every call", ", ".join(twice), ()


def _finish(answer: ClientAnswer, question: Question) -> Iterator[Wrong]:
    named = is_object(question.choice)  # OpenAI itself ends these with `stop`
    fine = ["tool_calls"] if answer.calls else ["stop"]
    fine += ["stop"] if answer.calls and named else []
    if answer.finish == "length":
        yield "cut_off", "warning", "an answer that comes to its end", "finish_reason length", ()
    elif answer.finish not in fine:
        yield "finish_reason", "error", f"finish_reason {' or '.join(fine)}", repr(answer.finish), ()


def _count(answer: ClientAnswer, question: Question) -> Iterator[Wrong]:
    """Compare the number of calls; a fault is a warning where the model may have caused it."""
    names = sorted(repr(call.name) for call in answer.calls)
    wanted = sorted(map(repr, question.calls))
    came = f"{', '.join(names) or 'none'}; text: {answer.text}"
    if question.forced and not set(names) & set(wanted):
        yield "choice_ignored", "error", f"tool_choice: a call of {', '.join(question.calls)}", came, ()
    elif question.choice == "none" and names:
        yield "choice_ignored", "error", "tool_choice none: no call", came, ()
    elif len(names) < len(wanted):
        yield "too_few_calls", "warning", f"{len(wanted)} calls: {', '.join(question.calls)}", came, ()
    elif len(names) > len(wanted) and not question.says:
        yield "too_many_calls", "warning", f"{len(wanted)} calls", came, ()


def _said(answer: ClientAnswer, question: Question) -> Iterator[Wrong]:
    text = answer.text.strip()
    if question.says and question.says not in text:
        yield "results_ignored", "error", f"a text with {question.says}, which a result holds", text or "no text", ()
    elif question.text and answer.calls and not text:
        yield "text_lost", "warning", "text beside the call", "no text", ()
    elif not text and not answer.calls and (question.text or not (answer.oddities or answer.finish == "length")):
        yield "no_text", "error", "text" + (" or a call" if question.calls else ""), "nothing", ()


RULES: Final[tuple[Rule, ...]] = (_text, _arguments, _ids, _finish, _count, _said)
