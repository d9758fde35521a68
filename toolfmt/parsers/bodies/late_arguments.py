"""Arguments after the end of a call, which was closed too early: the call runs in no part.

    <tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>, "b": 2
    <invoke name="f"><parameter name="a">1</parameter></invoke> parameter name="b">2</parameter>

What counts are the arguments that the tool declares and the call lacks, in any notation, because the markers around
them are what the model got wrong.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

import regex

from toolfmt.model import ToolDefinition
from toolfmt.parsers.scanning.cursor import NEVER, Cursor, Malformed, Reading, Truncated
from toolfmt.parsers.scanning.patterns import match_next, strip_groups
from toolfmt.parsers.scanning.sink import Draft
from toolfmt.schema import property_names

_MARK = (
    r"[\s)\]}]{0,64}(?:\]<\]\w{1,16}\[>\[)?(?:</[^<>\n]{1,64}>|<[|\uff5c][^<>\n]{1,64}>(?:\w{1,16}<\|\w{1,8}\|>)?"
    r"|<\w{0,24}end\w{0,24}>|\[/[A-Z_]{3,40}\]|`{3,8})"
)
_TAG = (
    r"(?:[a-z]{2,8}[:|]>?|[|\uff5c]\w{1,16}[|\uff5c] ?)?(?:tool_)?(?:[Pp]aram|[Aa]rg|value)\w{0,12}(?::\w{1,16})?"
    r"(?:[=>|]{1,3}|\s{1,4}(?:name|key)=)"
)


_PLAIN = re.compile(r"\s*(?:\Z|(?!Param|Arg)[A-Z][a-z']*[ ,.!\n])").match
"""Matches prose, and the end of a text."""


@lru_cache(256)
def _late(names: tuple[str, ...], begins: str, tag: str) -> regex.Pattern[str]:
    """Compile what may be an argument, whole or damaged, after a call and up to three closing markers.

    None of these `begins` the next call. `tag` is the format's own of an argument, if it has one.
    """
    mark = rf"(?!\s{{0,64}}(?:{strip_groups(begins)})){_MARK}" if begins else _MARK
    key, between = f"(?P<key>{'|'.join(map(re.escape, names))})", r"[\s,;)\]}]{0,16}"
    after_comma = rf"[\s;)\]}}]{{0,16}},{between}(?:[\"']{key}[\"']\s{{0,4}}[:=]|{key}(?:=(?=[^=])|:(?=[^:/])))"
    member = rf"{between}(?:[\"']{key}[\"']\s{{0,4}}[:=]|{key}=(?=[^=]))|(?P<line>\s{{0,8}}){key}:\s"
    tags = rf"(?:{_TAG}|{re.escape(tag)}(?:[=>|]{{1,3}}|\s{{1,4}}\w{{1,16}}=))" if tag else _TAG
    element = rf"\W{{0,16}}(?<!/)(?:{tags}[\"'`]?{key}[\"'`>|<=]|{key}>)"
    # as few markers as possible: an argument's own tag looks like one once it is whole
    return regex.compile(f"(?:{mark}){{0,3}}?(?:{after_comma}|{member}|{element})")


def _argument(
    given: Collection[str], tool: ToolDefinition | None, begins: str = "", tag: str = ""
) -> regex.Pattern[str] | None:
    """Return the pattern of an argument after a call in which these are `given`; None if none is known to be missing.

    Without a definition of the tool, the call is emitted at once: nothing can run it.
    """
    names = () if tool is None else tuple(property_names(tool.parameters))
    return None if all(name in given for name in names) else _late(names, begins, tag)


def may_go_on(text: str, at: int, given: Collection[str], tool: ToolDefinition | None) -> bool:
    """Whether an argument that is not `given` may follow a call that ends at `at`, in a text that is whole."""
    pattern = None if _PLAIN(text, at) else _argument(given, tool)
    found = None if pattern is None else pattern.match(text, at)
    return found is not None and found["key"] not in given


def find_late(  # noqa: PLR0913 - what there is to know of the format
    cur: Cursor, draft: Draft, given: Collection[str], begins: str = "", tag: str = "", *, lines: bool = False
) -> Reading[regex.Match[str] | None]:
    """Look for an argument that is not `given` after a call; in `lines`, as the format writes them. Nothing is read."""
    pattern = _argument(given, draft.sink.options.tools.get(draft.name), begins, tag)
    if pattern is None:
        return None
    deadline, cur.deadline = cur.deadline, NEVER  # what follows is no part of the call
    found = yield from match_next(cur, pattern)
    cur.deadline = deadline
    if found is None or found["key"] in given or not (lines or found.groupdict().get("line") is None):
        return None
    return found


def refuse_late(  # noqa: PLR0913 - what there is to know of the format
    cur: Cursor, draft: Draft, given: Collection[str], begins: str, tag: str, *, lines: bool = False
) -> Reading[None]:
    """Raise `Malformed`, or `Truncated` at the input's end, if an argument that is not `given` follows a call."""
    found = yield from find_late(cur, draft, given, begins, tag, lines=lines)
    if found is not None:
        if cur.eof and found.end() == len(cur.buf):
            raise Truncated
        detail = f"the argument {found['key']!r} is after the end of the call"
        raise Malformed("malformed", detail, cur.at, cur.base + found.start("key"))
