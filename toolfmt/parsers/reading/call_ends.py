"""Ends of a call that come too early: what follows them was meant to be in it.

f[ARGS]{"a": {"b": 1}}}              the last brace is too many: a notice
f[ARGS]{"a": {"b": 1}}, "c": 2}      the object ended too early: no call
    <tool name="f"/><arg name="a">               the element did: no call
    <invoke name="f"></invoke><parameter name="a">
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import TypeAlias

import regex

from toolfmt.model import JsonObject
from toolfmt.parsers.bodies.call_lists import MEMBERS_AFTER
from toolfmt.parsers.bodies.element_grammar import ElementGrammar
from toolfmt.parsers.compiled.sections import FormGrammar
from toolfmt.parsers.scanning.cursor import NEVER, Cursor, Malformed, Reading
from toolfmt.parsers.scanning.damage import letters
from toolfmt.parsers.scanning.patterns import cut_off, match_next, search_on
from toolfmt.parsers.scanning.resuming import repeats
from toolfmt.parsers.scanning.sink import Draft, Sink
from toolfmt.schema import declares, takes_none

Note: TypeAlias = Callable[[str, str, int, int], None]

_ARGUMENT = r"<(?:[|\uff5c]\w{1,16}[|\uff5c])?(?:[Pp]aram|[Aa]rg)\w{0,12}[\s=>]"
"""What an argument begins with in the formats that write elements."""
HOLDS_ARGUMENT = regex.compile(_ARGUMENT).search
_CLOSES = regex.compile(r"(?:[^\s\w]{1,4}(?:\w{1,16}[^\s\w]{1,4})?)?</")
"""What is no argument's tag with a slip in it."""
_WORDS_AFTER = regex.compile(rf"{_CLOSES.pattern}[^<>]{{1,64}}>\s{{0,64}}\w")
_MORE = regex.compile(r"[(\[{]|[ \t]{0,64}\r?\n[ \t]{0,64}\w[\w ]{0,24}:[ \t]{0,64}[\[{]")
"""What follows a call of literals whose arguments are elsewhere: brackets, or a labelled object in the next line."""
_GLUED = regex.compile(rf"""[\w"'\\=)]|[\]}}]\S|{_MORE.pattern}""")
"""The same where no marker is due: also what is a part of an expression."""
_GOES_ON = regex.compile(
    rf"""\s{{0,64}}{_ARGUMENT}"""
    r"""|[ \t]{0,64}(?:,\s{0,64}(?:["']|[\w.$\-]{1,64}["']?\s{0,8}:)"""
    r"""|["'][^"'\n]{1,64}["']?\s{0,8}:|[\w.$\-]{1,64}["']\s{0,8}:|[)\]}]{1,8}[^\n"<\[{]{0,256}")"""
)
_LISTED_GOES_ON = regex.compile(rf"(?!\s{{0,64}}\])(?:{_GOES_ON.pattern})")
_MEMBER = regex.compile(r"""[^"',)\]}\n]{0,64}["',)\]}]""").match
"""Matches the beginning of a member, not a last word."""
_STRING_REST = regex.compile(r'[^\n"<\[{]{1,256}"[ \t]{0,8}[,:\]}]')
"""The rest of a string whose quote ended too early, its own quote, and what comes after a string in JSON."""
_OBJECT_REST = regex.compile(r"\s{0,64}\{[^\n{}]{0,256}\}[ \t]{0,8}\}")
"""What looks like another object, with a brace too many: the rest of the first one."""
_OBJECT_AFTER = regex.compile(r"[)\]}\s]{0,64}\{")
_IN_TEXT = regex.compile(r'[^\n"<\[{]{1,256}"|\s{0,64}\{\s{0,64}"')
"""What follows brackets that ended a string too early: its rest, and its quote."""
_OBJECT = regex.compile(r"\s{0,64}(?:\{|(?P<key>(?<=\n)[\w.\-]{1,64}):\s)")
_TAG = regex.compile("<[^<>]+>")
_NO_TAIL = regex.compile(r"(?!)")
_SURPLUS = regex.compile(r"\s{0,8}[}\]]")
_MOST_SURPLUS = 8
_ODD_CLOSER = regex.compile(
    r"\s{0,64}(?P<mark>(?P<other></(?i:[\w:|]{0,24}(?:tool|func|call|invoke)[\w:|]{0,24})>)"
    r"|</[^<>\s]{2,64}>|<[|\uff5c]?[\w|\uff5c:\u2581]{3,64}>|\[/?[A-Z_]{3,40}\])"
)
"""A marker, which may be the `other` one of a format whose calls are elements."""
_CLOSE = 0.75
"""How much of a misspelt marker must be right."""


def close_object(cur: Cursor, draft: Draft) -> Reading[None]:
    """Read closers too many after an object that no marker ends; raises `Malformed` if its members go on."""
    at, cur.deadline = cur.at, NEVER  # the call may be over
    surplus = yield from _brackets(cur)
    yield from refuse_members(cur)
    if surplus and (yield from match_next(cur, _IN_TEXT)) is not None:
        raise Malformed("malformed", "a quote after the brackets that end the call", cur.at)
    if surplus:
        draft.note("repaired_json", "surplus closing brackets", at, cur.at)


def _brackets(cur: Cursor) -> Reading[bool]:
    """Read closing brackets too many; whether there was one."""
    at = cur.at
    for _ in range(_MOST_SURPLUS):
        found = yield from match_next(cur, _SURPLUS)
        if found is None:
            break
        cur.pos = found.end()
    return cur.at > at


def skip_surplus(cur: Cursor, sink: Sink) -> Reading[None]:
    """Read closing brackets too many after calls that their own brackets have closed, with a notice."""
    at = cur.at
    if (yield from _brackets(cur)):
        sink.note("repaired_json", "surplus closing brackets", (at, cur.at))


def skip_odd_closer(
    cur: Cursor, note: Callable[[str, str, int, int], None], closers: Sequence[str], own: str
) -> Reading[None]:
    """Read a closing marker that is misspelt, or another format's, where one of `closers` is missing, with a notice.

    Markers of the format itself, which are in `own`, are left.
    """
    found = yield from match_next(cur, _ODD_CLOSER)
    if found is None or found["mark"] in own or not any(map(str.strip, closers)):
        return
    written = letters(found["mark"])
    known = [*filter(None, map(letters, closers))]
    if found["other"] is not None or get_close_matches(written, known, 1, _CLOSE):
        note(
            "stray_closer", f"{found['mark']!r} closes nothing", cur.base + found.start("mark"), cur.base + found.end()
        )
        cur.pos = found.end()


def is_closer(cur: Cursor) -> Reading[bool]:
    """Whether a closing tag follows, and no words after it, which may be a value: then the tag opened it by mistake."""
    closes = yield from match_next(cur, _CLOSES)
    return closes is not None and (yield from match_next(cur, _WORDS_AFTER)) is None


def refuse_more(cur: Cursor, form: FormGrammar) -> Reading[None]:
    """Raise `Malformed` where a call of literals that was read to its end goes on."""
    if form.literals is None:
        return
    marked = form.form.section.partition("{calls}")[2].strip() or letters(form.form.call.rpartition("}")[2])
    if (yield from match_next(cur, _MORE if marked else _GLUED)) is not None:
        raise Malformed("malformed", "more arguments after the end of the call", cur.at)


def refuse_members(
    cur: Cursor, closer: str = "", tail: regex.Pattern[str] = _NO_TAIL, *, alone: bool = False
) -> Reading[None]:
    """Raise `Malformed` where an object that was read to its end goes on with a member.

    A section with a `closer` looks for that itself; brackets that end the input may begin the call's `tail`. After
    arguments, which are `alone` before it, comes no other object.
    """
    if alone and (yield from match_next(cur, _OBJECT_AFTER)) is not None:
        raise Malformed("malformed", MEMBERS_AFTER, cur.at)
    if closer or cut_off(cur, tail):
        return
    if (yield from goes_on(cur)) or (_MEMBER(cur.buf, cur.pos) and cut_off(cur, _GOES_ON)):
        raise Malformed("malformed", MEMBERS_AFTER, cur.at)


def goes_on(cur: Cursor, *, listed: bool = False) -> Reading[bool]:
    """Whether a member, or the rest of a string, follows an object that was read to its end; nothing is read.

    After an element of a list, which is `listed`, members of the object around the list may follow.
    """
    for pattern in (_LISTED_GOES_ON, _STRING_REST) if listed else (_GOES_ON, _STRING_REST, _OBJECT_REST):
        if (yield from match_next(cur, pattern)) is not None:
            return True
    return False


def refuse_body(cur: Cursor, form: FormGrammar, schema: JsonObject | None) -> Reading[None]:
    """Raise `Malformed` where the arguments follow an element that closes itself; `schema` is the tool's."""
    found = yield from match_next(cur, _OBJECT if form.elements is None else form.elements.inside)
    if found is not None and _is_argument(found, form, schema):
        raise Malformed("malformed", "the call's element is closed before its arguments", cur.at)


def refuse_argument(cur: Cursor, form: FormGrammar, draft: Draft) -> Reading[None]:
    """Raise `Malformed` where arguments, or their wrapper, follow a call without any: they may be the call's."""
    elements, tool = form.elements, draft.sink.options.tools.get(draft.name)
    if elements is None or draft.pieces.text() != "{}":
        return
    found = yield from match_next(cur, elements.inside)
    if found is None or (yield from match_next(cur, elements.begin)) is not None:
        return  # another call, whose beginning looks like an argument
    key = elements.key(found)
    if declares(tool.parameters, key) if tool is not None and key else elements.alone or not key:
        what = f"the argument {key!r} is" if key else "arguments are"
        raise Malformed("malformed", f"{what} after the end of the call", cur.at)


def refuse_rest(cur: Cursor, form: FormGrammar, elements: ElementGrammar, draft: Draft) -> Reading[None]:
    """Raise `Malformed` where what follows an unclosed call shows that it was not over."""
    yield from refuse_argument(cur, form, draft)
    yield from refuse_nesting(cur, elements)
    yield from refuse_restart(cur, elements, draft)


def note_part(cur: Cursor, form: FormGrammar, draft: Draft, end: regex.Match[str]) -> None:
    """Report that a part of a call's closing marker is missing at its `end`; raises `Malformed` if a value holds it."""
    missing = [tag for tag in _TAG.findall(form.form.call.rpartition("}")[2]) if tag not in end.group()]
    if any(map(cur.since(draft.start).__contains__, missing)):
        raise Malformed("malformed", "a part of the call's closing marker is in a value", cur.at)
    draft.note("missing_close", "a part of the call's closing marker is missing", cur.at, cur.base + end.end())


def skip_second_head(cur: Cursor, elements: ElementGrammar, draft: Draft) -> Reading[None]:
    """Skip the head of a call that is there twice, unless the first is a call or the second an argument."""
    tool = draft.sink.options.tools.get(draft.name)
    alone = tool is not None and (
        takes_none(tool.parameters) or (elements.keyed_by_tag and declares(tool.parameters, draft.name))
    )
    again = None if alone or not draft.opening else (yield from match_next(cur, elements.begin))
    if again is not None and again.group().strip() == draft.opening:
        cur.pos = again.end()
        draft.note("unclaimed", "the call's opening marker is there twice", cur.at)


def refuse_restart(cur: Cursor, elements: ElementGrammar, draft: Draft) -> Reading[None]:
    """Raise `Malformed` where an unclosed call is written again from its head on: the first was given up."""
    begun = yield from match_next(cur, elements.begin_again)
    if begun is None:
        return
    at, opening = cur.at, draft.opening
    start = draft.start + max(cur.since(draft.start).rfind(opening), 0)
    cur.pos = begun.start("call")
    again = (not opening or begun["call"].strip() == opening) and (yield from repeats(cur, start, at))
    cur.rewind(at)
    if again:
        raise Malformed("malformed", "the call is not closed, and is written again after that", at)


def refuse_nesting(cur: Cursor, elements: ElementGrammar) -> Reading[None]:
    """Raise `Malformed` where an argument follows the call that begins in an unclosed one: it is the outer one's."""
    begun = yield from match_next(cur, elements.begin_again)
    if begun is None:
        return
    at, cur.deadline = cur.at, NEVER  # what is ahead is no part of the call
    cur.pos = begun.end()
    end = yield from search_on(cur, elements.begin_or_end)
    after = None
    if end is not None and end["end"]:
        cur.pos = end.end()
        after = yield from match_next(cur, elements.late)
    cur.rewind(at)
    if after is not None:
        raise Malformed("malformed", "an argument after a call that begins in this one", at, inside=True)


def _is_argument(found: regex.Match[str], form: FormGrammar, schema: JsonObject | None) -> bool:
    """Whether an element, which may have any name, is one of the arguments."""
    key = found.groupdict().get("key")
    return key is None or not (form.elements is None or form.elements.keyed_by_tag) or declares(schema, key)
