r"""Find what a model has to change in a call that could not be read, by reading changed versions of it.

<tool name="f">...</arguments>          end the call with '</tool>'
Action: search                          the arguments are missing
<tool_call>\n```xml\n<function=f>       remove the code fence
{"tool": "f", "arguments": {}}          write the key "name" instead of "tool"
{"f": {"q": "x"}}                       write it as {"name": "f", "arguments": {"q": "x"}}
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from toolfmt import jsontext
from toolfmt.dialect.syntax import BODY_SLOTS, spelled
from toolfmt.errors import ParseError, ToolFmtError
from toolfmt.model import ToolInvocation
from toolfmt.parsers.mend_json import doubled
from toolfmt.parsers.respelling import LONGEST, renamed, respelled
from toolfmt.parsing import parse
from toolfmt.tools import tools as definitions

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from toolfmt.dialect.record import AnyDialect
    from toolfmt.dialect.syntax import Syntax
    from toolfmt.events import CallFailed

_FENCE = re.compile(r"(?m)^[ \t]{0,16}`{3,8}[\w+.\-]{0,32}[ \t]{0,16}(?:\n|\Z)")
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
    if dialect.syntax is None or failure.reason not in _CHANGED or len(failure.raw) > LONGEST:
        return Correction()
    raw = failure.raw.rstrip()
    reads = partial(_reads, dialect, tools, alone=False)
    if slips := respelled(dialect.syntax.forms[0], definitions(tools) if tools else (), raw, example, reads):
        return Correction("" if failure.reason == "unread_call" else "a marker is misspelt", slips, "malformed")
    slips = renamed(raw, example, keys, reads) or doubled(raw, reads) or _keyed(dialect, tools, raw, reads)
    if slips:
        return Correction(slips=slips, advice="malformed")
    if failure.reason == "truncated":
        return _ended(dialect, tools, failure, raw, example, keys)
    broken = failure.reason == "malformed"
    return Correction(slips=_fence(dialect, tools, raw) or _repaired(dialect, tools, raw)) if broken else Correction()


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


def _fence(dialect: AnyDialect, tools: object, raw: str) -> str:
    """Return advice if the call can be read without the code fences in it."""
    return "remove the code fence" if _FENCE.search(raw) and _reads(dialect, tools, _FENCE.sub("", raw)) else ""


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
