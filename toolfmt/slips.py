r"""What a model has to change in a call that could not be read: found by reading the call again, changed.

<tool name="f">...</arguments>          end the call with '</tool>'
Action: search                          the arguments are missing
<tool_call>\n```xml\n<function=f>       remove the code fence
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from html import unescape
from typing import TYPE_CHECKING, Final

from toolfmt.dialect.syntax import BODY_SLOTS, spelled
from toolfmt.errors import ToolFmtError
from toolfmt.parsers.mend_tags import TagMender
from toolfmt.parsing import parse
from toolfmt.tools import tools as definitions

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from toolfmt.dialect.record import AnyDialect
    from toolfmt.dialect.syntax import Syntax
    from toolfmt.events import CallFailed

LONGEST: Final = 20_000
"""Characters of a call that is read again."""
_FENCE = re.compile(r"(?m)^[ \t]{0,16}`{3,8}[\w+.\-]{0,32}[ \t]{0,16}(?:\n|\Z)")
_BODY = re.compile(r"\{(?:" + "|".join(sorted(BODY_SLOTS)) + r")\}")
_MARK: Final = re.compile(
    r"(</?[^<>\s=\"']{1,80}(?:>|(?=[\s=\"']))|&lt;/?[\w|]{2,60}&gt;|\[{1,2}/?\w{3,40}\]{0,2}|✿\w{2,40}✿)"
    r"((?:[\s=\"'][^<>\n]{0,200}>)?)"
)
"""A marker: up to what is in it, and that."""
_CLOSE: Final = 0.75
"""How much of a marker must be right."""
_CHANGED: Final = frozenset({"malformed", "truncated", "unread_call", "missing_name", "missing_arguments", "unclaimed"})
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
    if dialect.syntax is None or failure.reason not in _CHANGED or len(failure.raw) > LONGEST:
        return Correction()
    raw = failure.raw.rstrip()
    if slips := _respelled(dialect, tools, raw, example):
        return Correction("" if failure.reason == "unread_call" else "a marker is misspelt", slips, "malformed")
    if failure.reason == "truncated":
        return _ended(dialect, tools, failure, raw, example, keys)
    broken = failure.reason == "malformed"
    return Correction(slips=_fence(dialect, tools, raw) or _repaired(dialect, tools, raw)) if broken else Correction()


def _ended(  # noqa: PLR0913, PLR0917 - those of `change`
    dialect: AnyDialect, tools: object, failure: CallFailed, raw: str, example: str, keys: Collection[str]
) -> Correction:
    """What is missing at the end of a call."""
    if failure.name and example.startswith(raw) and not any(key in raw for key in keys):
        return Correction(_NOTHING, advice="missing_arguments")
    for closer in _closers(dialect.syntax, failure.name):
        if raw.endswith(closer):
            return Correction(_OPEN, _repaired(dialect, tools, raw), "malformed")
        if _reads(dialect, tools, raw + closer):
            return Correction("the end of the call is missing", f"end the call with {closer!r}", "malformed")
    return Correction()


def _closers(syntax: Syntax | None, name: str) -> Iterator[str]:
    """What may end a call, the shorter first: its own marker, and its section's after that."""
    for form in syntax.forms[:1] if syntax is not None else ():
        tail = spelled(_BODY.split(form.call)[-1]).replace("{name}", name)
        for closer in (tail, tail + spelled(form.section.partition("{calls}")[2])):
            if closer.strip() and "{" not in closer:
                yield closer.strip()


def _respelled(dialect: AnyDialect, tools: object, raw: str, example: str) -> str:
    """Which markers are misspelt, if the call can be read once they are right."""
    form = dialect.syntax.forms[0] if dialect.syntax is not None else None
    if form is None:
        return ""
    marks = _MARK.findall("\n".join([example, *TagMender(form, definitions(tools) if tools else ()).tags]))
    slips: dict[str, None] = {}

    def right(found: re.Match[str]) -> str:
        wrote, closes = unescape(found[1]), found[1].startswith(("</", "&lt;/", "[/"))
        same = [word for word, _ in marks if word.startswith(("</", "[/")) == closes]
        near = next(iter(() if found[1] in same else get_close_matches(wrote, same, 1, _CLOSE)), "")
        rest = unescape(found[2])
        if near:
            slips[f"write {near}{rest} instead of {found.group()!r}"] = None
        return f"{near}{rest}" if near else found.group()

    text = _MARK.sub(right, raw)
    return "; ".join(slips) if slips and _reads(dialect, tools, text, alone=False) else ""


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


def _reads(dialect: AnyDialect, tools: object, text: str, *, alone: bool = True) -> bool:
    """Whether a text is calls: with `alone`, nothing else, and without a slip in their markers."""
    try:
        result = parse(text, dialect=dialect, tools=tools)
    except ToolFmtError:
        return False
    slips = {notice.kind for notice in result.notices} & {"missing_close", "stray_closer", "ambiguous_closer"}
    return bool(result.calls) and not (result.failures or (alone and (slips or result.text.strip())))
