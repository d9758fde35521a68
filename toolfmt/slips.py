r"""What a model has to change in a call that could not be read: found by reading the call again, changed.

<tool name="f">...</arguments>          end the call with '</tool>'
Action: search                          the arguments are missing
<tool_call>\n```xml\n<function=f>       remove the code fence
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from toolfmt.dialect.syntax import BODY_SLOTS, spelled
from toolfmt.errors import ToolFmtError
from toolfmt.parsing import parse

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from toolfmt.dialect.record import AnyDialect
    from toolfmt.dialect.syntax import Syntax
    from toolfmt.events import CallFailed

LONGEST: Final = 20_000
"""Characters of a call that is read again."""
_FENCE = re.compile(r"(?m)^[ \t]{0,16}`{3,8}[\w+.\-]{0,32}[ \t]{0,16}(?:\n|\Z)")
_BODY = re.compile(r"\{(?:" + "|".join(sorted(BODY_SLOTS)) + r")\}")
_NOTHING: Final = "your answer ends before the call's arguments"
_OPEN: Final = "the call ends too early: a bracket, a quote or a tag in it is not closed"


@dataclass(frozen=True, slots=True)
class Correction:
    """What is wrong in other words than the failure's, if better ones are known, and what to write instead."""

    detail: str = ""
    slips: str = ""
    advice: str = ""
    """The reason of a failure whose advice fits better."""


def change(dialect: AnyDialect, tools: object, failure: CallFailed, example: str, keys: Collection[str]) -> Correction:
    """Find what one change makes of a call that failed a call that can be read.

    `example` is a correct call of the same tool, whose parameters are `keys`.
    """
    syntax = dialect.syntax
    if syntax is None or failure.reason not in {"malformed", "truncated"} or len(failure.raw) > LONGEST:
        return Correction()
    raw = failure.raw.rstrip()
    if failure.reason == "malformed":
        return Correction(slips=_fence(dialect, tools, raw) or _repaired(dialect, tools, raw))
    if failure.name and example.startswith(raw) and not any(key in raw for key in keys):
        return Correction(_NOTHING, advice="missing_arguments")
    for closer in _closers(syntax, failure.name):
        if raw.endswith(closer):
            return Correction(_OPEN, _repaired(dialect, tools, raw), "malformed")
        if _reads(dialect, tools, raw + closer):
            return Correction("the end of the call is missing", f"end the call with {closer!r}", "malformed")
    return Correction()


def _closers(syntax: Syntax, name: str) -> Iterator[str]:
    """What may end a call, the shorter first: its own marker, and its section's after that."""
    for form in syntax.forms[:1]:
        tail = spelled(_BODY.split(form.call)[-1]).replace("{name}", name)
        for closer in (tail, tail + spelled(form.section.partition("{calls}")[2])):
            if closer.strip() and "{" not in closer:
                yield closer.strip()


def _fence(dialect: AnyDialect, tools: object, raw: str) -> str:
    """Whether the call is right but for the lines of a code fence in it, or breaks at one."""
    return "remove the code fence" if _FENCE.search(raw) and _reads(dialect, tools, _FENCE.sub("", raw)) else ""


def _repaired(dialect: AnyDialect, tools: object, raw: str) -> str:
    """What repair changes, where it finds one reading."""
    try:
        notices = parse(raw, dialect=dialect, tools=tools, repair=True).notices
    except ToolFmtError:
        return ""  # tools that only an example could be made of
    found = next((notice.detail for notice in notices if notice.kind == "repaired"), "")
    return found.partition(": ")[2]


def _reads(dialect: AnyDialect, tools: object, text: str) -> bool:
    """Whether a text is calls and nothing else, without a slip in their markers."""
    try:
        result = parse(text, dialect=dialect, tools=tools)
    except ToolFmtError:
        return False
    slips = {notice.kind for notice in result.notices} & {"missing_close", "stray_closer", "ambiguous_closer"}
    return bool(result.calls) and not (result.failures or slips or result.text.strip())
