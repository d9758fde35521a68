"""Feedback for a model about a call that could not be used.

    Your call could not be used (unknown_tool): no tool is called 'serch'.
    You wrote: {"name": "serch", "args": {"q": "x"}}
    Call only the tools that are offered.
    The tools are:
    - search: Search the web.
    A correct call looks like this:
    {"name": "search", "args": {"q": "example_q"}}

The wording is in `templates/feedback.jinja`. The model's own text is data there.

`change` finds what the model has to change in a call that could not be read, by reading changed versions of it:

    <tool name="f">...</arguments>          end the call with '</tool>'
    Action: search                          the arguments are missing
    {"tool": "f", "arguments": {}}          write the key "name" instead of "tool"
    {"f": {"q": "x"}}                       write it as {"name": "f", "arguments": {"q": "x"}}
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final, Unpack

from toolfmt import jsontext
from toolfmt.arguments import checked
from toolfmt.dialect.record import AnyDialect, Example
from toolfmt.dialect.syntax import BODY_SLOTS, Syntax, spelled
from toolfmt.errors import ParseError, ToolFmtError, UnknownDialectError
from toolfmt.events import API, CallFailed, Notice
from toolfmt.formatters.examples import any_call
from toolfmt.formatters.templating import render_template
from toolfmt.lookup.choice import Choice, chosen, nothing_chosen
from toolfmt.lookup.registry import default_registry
from toolfmt.model import ToolDefinition, ToolInvocation
from toolfmt.parsers.mending.mend_json import doubled
from toolfmt.parsers.respelling import LONGEST, renamed, respelled, sparing
from toolfmt.parsing import parse
from toolfmt.schema import property_names
from toolfmt.tools import tools as definitions

_POINTER = re.compile(r"(?m)^/([^/:\n]{1,256})").findall
_FENCE = re.compile(r"(?m)^[ \t]{0,16}`{3,8}[\w+.\-]{0,32}[ \t]{0,16}(?:\n|\Z)")
_STRUCTURE = re.compile(r"[{}\[\]:]")
_BARE = re.compile(r"[^\W\d_]\w{0,64}(?![\w\"'])").match
_BODY = re.compile(r"\{(?:" + "|".join(sorted(BODY_SLOTS)) + r")\}")
_CHANGED: Final = frozenset(
    {
        *("malformed", "truncated", "unread_call", "missing_name", "missing_arguments", "unclaimed"),
        *("duplicate_key", "extra_field", "arguments_not_object"),
    }
)
_NAME_AS_KEY: Final = re.compile(r'\{\s{0,64}"(?P<name>[^"\\\n]{1,256})"\s{0,64}:\s{0,64}(?=\{)')
_NOTHING: Final = "your answer ends before the call's arguments"
_OPEN: Final = "the call ends too early: a bracket, a quote or a tag in it is not closed"


@dataclass(frozen=True, slots=True)
class Correction:
    """A better description of a failure, if known, and what to write instead."""

    detail: str = ""
    slips: str = ""
    advice: str = ""
    """The reason whose advice fits better."""


def change(dialect: AnyDialect, tools: object, failure: CallFailed, example: str, keys: Collection[str]) -> Correction:
    """Find the change that makes a failed call readable.

    `example` is a correct call of the same tool, whose parameters are `keys`.
    """
    raw = failure.raw.rstrip()
    reads = sparing(lambda text: _reads(dialect, tools, text, alone=False), otherwise=False)
    if dialect.syntax is None or failure.reason not in _CHANGED or len(raw) > LONGEST or reads(raw):
        return Correction()  # if the call can be read alone, something beside it is wrong
    if slips := respelled(dialect.syntax.forms[0], definitions(tools) if tools else (), raw, example, reads):
        return Correction("" if failure.reason == "unread_call" else "a marker is misspelt", slips, "malformed")
    slips = renamed(raw, example, keys, reads) or doubled(raw, reads) or _keyed(dialect, tools, raw, reads)
    if slips:
        return Correction(slips=slips, advice="malformed")
    if failure.reason == "truncated":
        return _ended(dialect, tools, failure, raw, example, keys)
    if failure.reason != "malformed":
        return Correction()
    fenced = _FENCE.search(raw) and _reads(dialect, tools, _FENCE.sub("", raw))
    slips = "remove the code fence" if fenced else _repaired(dialect, tools, raw)
    return Correction(slips=slips or _notation(dialect.syntax, failure))


def _notation(syntax: Syntax, failure: CallFailed) -> str:
    """Return advice for quotes or a notation that the format does not have, where the call breaks."""
    found, form = _OFFSET.search(failure.detail), syntax.forms[0]
    at = int(found[1]) - failure.span[0] if found is not None else 0
    before, here = failure.raw[: max(0, at)], failure.raw[max(0, at) :]
    if form.json is not None and here[:1].isalnum() and before.endswith('"'):
        text = before[:-1].rpartition('"')[2]  # with structure in it, another quote is missing
        return "" if _STRUCTURE.search(text) else 'write a quote inside a text as \\"'
    if form.json is not None and (before.endswith("'") or _BARE(here)):
        return 'write keys and texts in double quotes: "it\'s"'
    given = here.lstrip()[:1] == "{"
    return "write each argument in its own element, as shown below, not as JSON" if form.elements and given else ""


def _keyed(dialect: AnyDialect, tools: object, raw: str, reads: Callable[[str], bool]) -> str:
    """Return advice if the tool's name is the key of its arguments."""
    offered = {tool.name: tool for tool in definitions(tools)} if tools else {}
    found = _NAME_AS_KEY.search(raw)
    if found is None or found["name"] not in offered:
        return ""
    try:
        arguments, end = jsontext.raw_value(raw, found.end())
    except ParseError:
        return ""
    if not jsontext.is_object(arguments) or raw[end : end + 1] != "}":
        return ""
    call = ToolInvocation(name=found["name"], arguments=arguments)
    text = str(dialect.calls([call], offered))
    at = text.find("{")
    instead = jsontext.dumps(jsontext.raw_value(text, at)[0]) if at >= 0 else ""
    return f"write it as {instead}" if reads(raw[: found.start()] + instead + raw[end + 1 :]) else ""


def _ended(  # noqa: PLR0913, PLR0917 - those of `change`
    dialect: AnyDialect, tools: object, failure: CallFailed, raw: str, example: str, keys: Collection[str]
) -> Correction:
    """Find what is missing at the end of a call."""
    if failure.name and example.startswith(raw) and not any(key in raw for key in keys):
        return Correction(_NOTHING, advice="missing_arguments")
    for closer in _closers(dialect.syntax, failure.name):
        if raw.endswith(closer):
            return Correction(_OPEN, _repaired(dialect, tools, raw), "malformed")
        if _reads(dialect, tools, raw + closer):
            return Correction("the end of the call is missing", f"end the call with {closer!r}", "malformed")
    return Correction()


def _closers(syntax: Syntax | None, name: str) -> Iterator[str]:
    """Yield what may end a call: its own marker, then that with its section's marker."""
    for form in syntax.forms[:1] if syntax is not None else ():
        tail = spelled(_BODY.split(form.call)[-1]).replace("{name}", name)
        for closer in (tail, tail + spelled(form.section.partition("{calls}")[2])):
            if closer.strip() and "{" not in closer:
                yield closer.strip()


def _repaired(dialect: AnyDialect, tools: object, raw: str) -> str:
    """Describe what repair changes, if it can repair the call."""
    try:
        notices = parse(raw, dialect=dialect, tools=tools, repair=True).notices
    except ToolFmtError:
        return ""  # tools that are only good for an example
    found = next((notice.detail for notice in notices if notice.kind == "repaired"), "")
    return found.partition(": ")[2]


def _reads(dialect: AnyDialect, tools: object, text: str, *, alone: bool = True) -> bool:
    """Whether a text is read as calls; with `alone`, without other text and without wrong markers."""
    try:
        result = parse(text, dialect=dialect, tools=tools)
    except ToolFmtError:
        return False
    slips = {notice.kind for notice in result.notices} & {"missing_close", "stray_closer", "ambiguous_closer"}
    return bool(result.calls) and not (result.failures or (alone and (slips or result.text.strip())))


ADVICE: Final = {
    "truncated": "The call was cut off. Write it again, whole, and shorter if it was very long.",
    "malformed": "Write the call again in exactly the format shown below.",
    "missing_name": "Name the tool that you want to call.",
    "missing_arguments": "Give the arguments, an empty object if there are none.",
    "missing_answer": "Give your answer as text, or call a tool.",
    "arguments_not_object": "Give the arguments as an object whose keys are the names of the tool's parameters.",
    "duplicate_key": "Give every key once.",
    "unsafe": "Write plain JSON: no NaN, no infinities, no broken characters.",
    "limit": "Write a smaller call.",
    "unknown_tool": "Call only the tools that are offered.",
    "invalid_arguments": "Correct the arguments and write the call again.",
    "extra_argument": "Leave out arguments that the tool does not take.",
    "extra_field": "Leave out everything that the format does not name.",
    "unclaimed": "Write each argument under its own name and in its own place, and nothing else beside them.",
    "mismatch": "Use the values that the format prescribes.",
    "mixed_content": "Write the call alone: no other text, no code fence, no second call.",
    "unread_call": "To call a tool, write the call in exactly the format shown below. Otherwise answer in words.",
    "no_call": "A tool call was expected in your answer, and there was none.",
    "no_answer": "Your answer has no text and no call. Write what the user is to read, or call a tool.",
}
"""Advice, by a failure's reason."""
SHOWN: Final = 300
"""Characters of the model's own text that are quoted."""
LONGEST_DETAIL: Final = 2000
"""Characters of a failure's detail."""
AROUND: Final = 24
"""Characters that are quoted before and after the wrong place."""
_OFFSET: Final = re.compile(r",? at offset (\d+)\Z")
_FOR_AUTHOR: Final = re.compile(": (?:give )?dialect=")
_UNREADABLE: Final = frozenset({"malformed", "missing_name", "duplicate_key", "arguments_not_object", "unsafe"})
_UNREAD: Final = ("unread_call", "empty_calls")
"""Notices of what was meant as a call, but is none."""
_ABSENT: Final = frozenset({"missing_name", "missing_arguments"})
"""Reasons whose place is only where the call ends."""
_AGAIN: Final = "Call the tool again, with arguments that are one JSON object that fits its schema."


@checked(failure="such as result.failures[0]")
def feedback(failure: CallFailed | Notice, *, tools: object = None, **choice: Unpack[Choice]) -> str:
    """Write a message that says what was wrong with a call and what to do, with a correct call in the dialect.

    Without a choice, the dialect is the one that `parse` read the failure in. A failure of an API's answer shows the
    call's arguments instead, because the model writes no text of its own there. `tools` are the offered tools, in any
    form; the one that was called makes the example, else one that is not dangerous. A notice `unread_call` or
    `empty_calls` is described like a failure; give the dialect with it. Other notices raise TypeError.
    """
    if isinstance(failure, Notice):
        if failure.kind not in _UNREAD:
            raise TypeError(f"a notice {failure.kind!r} is no failure: there is nothing to correct")
        return _feedback(chosen(choice)[0], tools, "unread_call", without_advice(failure.detail), "", "")
    if failure.dialect and nothing_chosen(choice):
        if failure.dialect == API:
            return api_feedback(failure, tools=tools)
        if failure.dialect not in (choice.get("registry") or default_registry()):
            raise UnknownDialectError("dialect", failure.dialect, advice="give the same dialect= as to parse")
        choice["dialect"] = failure.dialect
    dialect = chosen(choice)[0]
    return _feedback(dialect, tools, failure.reason, _placed(failure), failure.raw, failure.name, failure)


def _placed(failure: CallFailed) -> str:
    """Return a failure's detail; an offset, which a model cannot count, is replaced by the text around it."""
    detail = failure.detail.replace("the input ends", "your answer ends")
    found = _OFFSET.search(detail)
    if found is None:
        return detail
    if failure.reason in _ABSENT:
        return detail[: found.start()]
    message, raw, at = detail[: found.start()], failure.raw, int(found[1]) - failure.span[0]
    before, after = raw[max(0, at - AROUND) : max(0, at)], raw[at : at + AROUND]
    if not (before and after):
        return message
    if after.startswith("```"):
        message = "there is a code fence in the call"
    before = before if at <= AROUND else f"…{before}"
    after = after if at + AROUND >= len(raw) else f"{after}…"
    return f"{message}; after {before!r} you wrote {after!r}"


def without_advice(detail: str) -> str:
    """Return a notice's detail without the advice for the program's author."""
    return _FOR_AUTHOR.split(detail)[0]


def api_feedback(failure: CallFailed, *, tools: object = None) -> str:
    """Describe what was wrong with a call of an API, and show correct arguments if the called tool is among `tools`."""
    advice = _AGAIN if failure.reason in _UNREADABLE else ADVICE.get(failure.reason, _AGAIN)
    what = "answer" if failure.reason == "missing_answer" else "call"
    message = f"Your {what} could not be used ({failure.reason}):{_listed(failure.detail)}\n{advice}"
    offered = {tool.name: tool for tool in definitions(tools)} if tools else {}
    name = _meant(failure.name, failure.raw, offered)
    example = _fitting(default_registry().resolve(), offered[name], failure.detail) if name else None
    shown = f"\nCorrect arguments of {name}: {jsontext.dumps(example.call.arguments)}" if example else ""
    return f"{message}{shown}"


def no_call_feedback(text: str = "", *, tools: object = None, **choice: Unpack[Choice]) -> str:
    """Write a message that a call was required and the answer `text` has none, with what looks like one in it."""
    dialect = chosen(choice)[0]
    notices = parse(text, dialect=dialect, tools=tools).notices if text and dialect.syntax is not None else ()
    detail = next((without_advice(notice.detail) for notice in notices if notice.kind in _UNREAD), "")
    return _feedback(dialect, tools, "no_call", detail and f"About your answer: {detail}.", text, "")


def no_answer_feedback(text: str = "", *, tools: object = None, **choice: Unpack[Choice]) -> str:
    """Write a message that the answer `text` has no text and no call, and how to continue to the answer."""
    dialect = chosen(choice)[0]
    return _feedback(dialect, tools, "no_answer", _way_on(dialect, text), text, "")


def _way_on(dialect: AnyDialect, text: str) -> str:
    """Describe how a format continues from reasoning to the answer, if `text` is reasoning that was not closed."""
    syntax = dialect.syntax
    label = next((opener for opener, closer in syntax.unwrap if not closer), "") if syntax is not None else ""
    closer = next((closer for _, closer in syntax.reasoning if closer), "") if syntax is not None else ""
    marker = (label or closer).strip()
    unclosed = marker and text.strip() and marker not in text
    return f"If you are done, write {marker} and your answer after it." if unclosed else ""


def what_to_change(failure: CallFailed, *, tools: object = None, **choice: Unpack[Choice]) -> str:
    """Describe what has to be written instead of what in a failed call; "" if that is not known."""
    dialect = chosen(choice)[0]
    offered = {tool.name: tool for tool in definitions(tools)} if tools else {}
    return change(dialect, tools, failure, *_correct(dialect, offered, failure.name, failure.raw, failure.detail)).slips


def _correct(
    dialect: AnyDialect, offered: Mapping[str, ToolDefinition], name: str, raw: str, detail: str
) -> tuple[str, list[str]]:
    """Return a correct call of the tool that was meant, and the names of its parameters."""
    meant = offered.get(_meant(name, raw, offered))
    keys = [] if meant is None else list(property_names(meant.parameters))
    return _example(dialect, meant, offered, detail), keys


def _feedback(  # noqa: PLR0913, PLR0917 - what there is to report
    dialect: AnyDialect, tools: object, reason: str, detail: str, raw: str, name: str, failure: CallFailed | None = None
) -> str:
    offered = {tool.name: tool for tool in definitions(tools)} if tools else {}
    example, keys = _correct(dialect, offered, name, raw, detail)
    found = change(dialect, tools, failure, example, keys) if failure is not None else Correction()
    return render_template(
        "feedback.jinja",
        reason=reason,
        detail=_listed(_shortened(found.detail or detail, LONGEST_DETAIL)),
        slips=_shortened(found.slips, SHOWN),
        advice=ADVICE.get(found.advice or reason, ADVICE["malformed"]),
        wrote=_shortened(raw, SHOWN),
        **_protection(dialect),
        tools=[{"name": tool.name, "description": tool.description} for tool in offered.values()],
        example=example,
    ).strip()


def _meant(name: str, raw: str, offered: Mapping[str, ToolDefinition]) -> str:
    """The offered tool that was meant by a misspelt name, or by a call that broke before its name; "" if none was."""
    if name in offered:
        return name
    words = {word for found in re.findall(r"[\w.:/-]+", raw) for word in (found, found.rpartition(".")[2])}
    return next(iter(get_close_matches(name, offered, 1) or sorted(words & offered.keys())), "")


def _protection(dialect: AnyDialect) -> dict[str, object]:
    """Return how the example's form protects markup in values: whether by entities, and by which quote."""
    elements = dialect.syntax.forms[0].elements if dialect.syntax is not None else None
    if elements is None or elements.escape != "xml":
        return {"escaped": False}
    return {"escaped": True, "quote": next(iter(elements.quotes), None)}


def _shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]} …"


def _listed(detail: str) -> str:
    """Return a failure's detail after a colon: several problems are a list."""
    problems = detail.split("\n")
    return f" {detail}" if len(problems) == 1 else "".join(f"\n- {problem}" for problem in problems)


def _example(
    dialect: AnyDialect, meant: ToolDefinition | None, offered: Mapping[str, ToolDefinition], detail: str
) -> str:
    harmless = (tool for tool in offered.values() if not tool.is_dangerous)
    tool = meant or next(harmless, None)
    example = _fitting(dialect, tool, detail) if tool is not None else None
    return any_call(dialect) if example is None else example.text


def _fitting(dialect: AnyDialect, tool: ToolDefinition, detail: str) -> Example | None:
    """Return the first example of a tool that has the arguments at the JSON pointers in `detail`, or the first."""
    examples = dialect.example(tool)
    wrong = {*_POINTER(detail)}.intersection(property_names(tool.parameters))
    fitting = (one for one in examples if wrong <= one.call.arguments.keys())
    return next(fitting, next(iter(examples), None))
