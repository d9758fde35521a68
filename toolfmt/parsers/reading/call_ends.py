"""Detects ends of calls that come too early, so that what follows was meant to be in the call.

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
"""The beginning of an argument in formats with elements."""
HOLDS_ARGUMENT = regex.compile(_ARGUMENT).search
_CLOSES = regex.compile(r"(?:[^\s\w]{1,4}(?:\w{1,16}[^\s\w]{1,4})?)?</")
"""Closing tags, which are no misspelt tags of arguments."""
_WORDS_AFTER = regex.compile(rf"{_CLOSES.pattern}[^<>]{{1,64}}>\s{{0,64}}\w")
_MORE = regex.compile(r"[(\[{]|[ \t]{0,64}\r?\n[ \t]{0,64}\w[\w ]{0,24}:[ \t]{0,64}[\[{]")
"""What follows a call of literals with misplaced arguments: brackets, or a labelled object on the next line."""
_GLUED = regex.compile(rf"""[\w"'\\=)]|[\]}}]\S|{_MORE.pattern}""")
"""The same where no marker is expected; parts of an expression count too."""
_GOES_ON = regex.compile(
    rf"""\s{{0,64}}{_ARGUMENT}"""
    r"""|[ \t]{0,64}(?:,\s{0,64}(?:["']|[\w.$\-]{1,64}["']?\s{0,8}:)"""
    r"""|["'][^"'\n]{1,64}["']?\s{0,8}:|[\w.$\-]{1,64}["']\s{0,8}:|[)\]}]{1,8}[^\n"<\[{]{0,256}")"""
)
_LISTED_GOES_ON = regex.compile(rf"(?!\s{{0,64}}\])(?:{_GOES_ON.pattern})")
_MEMBER = regex.compile(r"""[^"',)\]}\n]{0,64}["',)\]}]""").match
"""Matches the beginning of a member, but not a final word."""
_STRING_REST = regex.compile(r'[^\n"<\[{]{1,256}"[ \t]{0,8}[,:\]}]')
"""The rest of a string that ended too early, its real quote, and what follows a string in JSON."""
_OBJECT_REST = regex.compile(r"\s{0,64}\{[^\n{}]{0,256}\}[ \t]{0,8}\}")
"""An apparent second object with a surplus brace: the rest of the first one."""
_OBJECT_AFTER = regex.compile(r"[)\]}\s]{0,64}\{")
_IN_TEXT = regex.compile(r'[^\n"<\[{]{1,256}"|\s{0,64}\{\s{0,64}"')
"""The rest of a string with its quote, after brackets that ended the string too early."""
_OBJECT = regex.compile(r"\s{0,64}(?:\{|(?P<key>(?<=\n)[\w.\-]{1,64}):\s)")
_TAG = regex.compile("<[^<>]+>")
_NO_TAIL = regex.compile(r"(?!)")
_SURPLUS = regex.compile(r"\s{0,8}[}\]]")
_MOST_SURPLUS = 8
_ODD_CLOSER = regex.compile(
    r"\s{0,64}(?P<mark>(?P<other></(?i:[\w:|]{0,24}(?:tool|func|call|invoke)[\w:|]{0,24})>)"
    r"|</[^<>\s]{2,64}>|<[|\uff5c]?[\w|\uff5c:\u2581]{3,64}>|\[/?[A-Z_]{3,40}\])"
)
"""A closing marker; the group `other` is one of another format with elements."""
_CLOSE = 0.75
"""The fraction of a misspelt marker that must be right."""


def close_object(cur: Cursor, draft: Draft) -> Reading[None]:
    """Read surplus closers after an object without a closing marker; raises `Malformed` if its members continue."""
    at, cur.deadline = cur.at, NEVER  # the call may have ended
    surplus = yield from _brackets(cur)
    yield from refuse_members(cur)
    if surplus and (yield from match_next(cur, _IN_TEXT)) is not None:
        raise Malformed("malformed", "a quote after the brackets that end the call", cur.at)
    if surplus:
        draft.note("repaired_json", "surplus closing brackets", at, cur.at)


def _brackets(cur: Cursor) -> Reading[bool]:
    """Read surplus closing brackets; return whether there was one."""
    at = cur.at
    for _ in range(_MOST_SURPLUS):
        found = yield from match_next(cur, _SURPLUS)
        if found is None:
            break
        cur.pos = found.end()
    return cur.at > at


def skip_surplus(cur: Cursor, sink: Sink) -> Reading[None]:
    """Read surplus closing brackets after calls that ended with their own brackets, with a notice."""
    at = cur.at
    if (yield from _brackets(cur)):
        sink.note("repaired_json", "surplus closing brackets", (at, cur.at))


def skip_odd_closer(
    cur: Cursor, note: Callable[[str, str, int, int], None], closers: Sequence[str], own: str
) -> Reading[None]:
    """Read a misspelt or foreign closing marker in place of one of `closers`, with a notice.

    Markers in `own`, which are the format's, are not read.
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
    """Whether a closing tag follows without words after it; words may be a value that the tag opened by mistake."""
    closes = yield from match_next(cur, _CLOSES)
    return closes is not None and (yield from match_next(cur, _WORDS_AFTER)) is None


def refuse_more(cur: Cursor, form: FormGrammar) -> Reading[None]:
    """Raise `Malformed` if a complete call of literals continues."""
    if form.literals is None:
        return
    marked = form.form.section.partition("{calls}")[2].strip() or letters(form.form.call.rpartition("}")[2])
    if (yield from match_next(cur, _MORE if marked else _GLUED)) is not None:
        raise Malformed("malformed", "more arguments after the end of the call", cur.at)


def refuse_members(
    cur: Cursor, closer: str = "", tail: regex.Pattern[str] = _NO_TAIL, *, alone: bool = False
) -> Reading[None]:
    """Raise `Malformed` if a complete object continues with a member.

    A section with a `closer` searches for it itself; brackets at the input's end may begin the call's `tail`. If
    the object is the arguments `alone`, no other object may follow.
    """
    if alone and (yield from match_next(cur, _OBJECT_AFTER)) is not None:
        raise Malformed("malformed", MEMBERS_AFTER, cur.at)
    if closer or cut_off(cur, tail):
        return
    if (yield from goes_on(cur)) or (_MEMBER(cur.buf, cur.pos) and cut_off(cur, _GOES_ON)):
        raise Malformed("malformed", MEMBERS_AFTER, cur.at)


def goes_on(cur: Cursor, *, listed: bool = False) -> Reading[bool]:
    """Whether a member, or the rest of a string, follows a complete object; reads nothing.

    After an element of a list (`listed`), members of the object around the list may follow.
    """
    for pattern in (_LISTED_GOES_ON, _STRING_REST) if listed else (_GOES_ON, _STRING_REST, _OBJECT_REST):
        if (yield from match_next(cur, pattern)) is not None:
            return True
    return False


def refuse_body(cur: Cursor, form: FormGrammar, schema: JsonObject | None) -> Reading[None]:
    """Raise `Malformed` if the arguments follow a self-closing element; `schema` is the tool's."""
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
    """Raise `Malformed` if what follows an unclosed call shows that it had not ended."""
    yield from refuse_argument(cur, form, draft)
    yield from refuse_nesting(cur, elements)
    yield from refuse_restart(cur, form, elements, draft)


def note_part(cur: Cursor, form: FormGrammar, draft: Draft, end: regex.Match[str]) -> None:
    """Report an incomplete closing marker at a call's `end`; raises `Malformed` if the rest is in a value."""
    missing = [tag for tag in _TAG.findall(form.form.call.rpartition("}")[2]) if tag not in end.group()]
    if any(map(cur.since(draft.start).__contains__, missing)):
        raise Malformed("malformed", "a part of the call's closing marker is in a value", cur.at)
    draft.note("missing_close", "a part of the call's closing marker is missing", cur.at, cur.base + end.end())


def skip_second_head(cur: Cursor, elements: ElementGrammar, draft: Draft) -> Reading[None]:
    """Skip a repeated head of a call, unless the first is a call itself or the second an argument."""
    tool = draft.sink.options.tools.get(draft.name)
    alone = tool is not None and (
        takes_none(tool.parameters) or (elements.keyed_by_tag and declares(tool.parameters, draft.name))
    )
    again = None if alone or not draft.opening else (yield from match_next(cur, elements.begin))
    if again is not None and again.group().strip() == draft.opening:
        cur.pos = again.end()
        draft.note("unclaimed", "the call's opening marker is there twice", cur.at)


def refuse_restart(cur: Cursor, form: FormGrammar, elements: ElementGrammar, draft: Draft) -> Reading[None]:
    """Raise `Malformed` if an unclosed call is written again from its head: the model abandoned the first one."""
    begun = yield from match_next(cur, elements.begin_again)
    if begun is None:
        return
    at, opening, marks = cur.at, draft.opening, begun.groupdict()
    if not form.form.each and marks.get("section") and not marks.get("section_end"):
        raise Malformed("malformed", "the call is not closed, and the calls are opened again after it", at)
    start = draft.start + (max(cur.since(draft.start).rfind(opening), 0) if opening else 0)
    cur.pos = begun.start("call")
    same, head_end = not opening or begun["call"].strip() == opening, cur.base + begun.end()
    again = same and (yield from repeats(cur, start, at))
    following = None
    if opening and same and not again:
        cur.pos = begun.end()
        following = yield from match_next(cur, elements.inside)
    cur.rewind(at)
    if again:
        raise Malformed("malformed", "the call is not closed, and is written again after that", at)
    key = elements.key(following)
    if key and f'"{key}":' not in draft.pieces.text():
        detail = f"the call is opened again before its argument {key!r}"
        raise Malformed("malformed", detail, at, head_end, inside=True)


def refuse_nesting(cur: Cursor, elements: ElementGrammar) -> Reading[None]:
    """Raise `Malformed` if an argument follows a call inside an unclosed one: it belongs to the outer call."""
    begun = yield from match_next(cur, elements.begin_again)
    if begun is None:
        return
    at, cur.deadline = cur.at, NEVER  # what follows is not part of the call
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
    """Whether an element, which may have any name, is an argument."""
    key = found.groupdict().get("key")
    return key is None or not (form.elements is None or form.elements.keyed_by_tag) or declares(schema, key)
