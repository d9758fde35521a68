"""Reads JSON values in running text: the value determines where it ends.

    {"city": "Paris", "note": "a </tool_call> b"}<- here, whatever the strings contain

A value that is complete in the buffer is decoded by the C scanner at once. One
that arrives in pieces is read token by token: what is certain is emitted
at once, as strict JSON text. With `tolerant`, unambiguous slips are
mended on the way: single quotes, trailing commas, `True`/`False`/`None`, raw
control characters in strings, stray backslashes, comments.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from toolfmt import jsontext
from toolfmt.dialect.record import Limits
from toolfmt.errors import LimitExceededError, ParseError, UnsafeInputError
from toolfmt.model import JsonValue
from toolfmt.parsers.scanning.cursor import WHITE, Cursor, Malformed, Reading, Truncated
from toolfmt.parsers.scanning.pieces import Pieces, Taker

Note = Callable[[str], None]


def ignore(_: str) -> None:
    """Ignore a slip."""


_COMMA = re.compile(r",[ \t\r\n]*").match
_IN_DOUBLE = re.compile(r'["\\\x00-\x1f]').search
_IN_SINGLE = re.compile(r"""['"\\\x00-\x1f]""").search
_STOP = re.compile(r'(?!(?:[^"\\\x00-\x1f]++|\\["\\/bfnrt])*+\Z)').match
"""Matches a piece of a string only if something in it needs a closer look."""
_ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})').match
_PART_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3}|')?\Z").match
_UNCLEAR_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{1,3}(?=[^\w])|'')").match
""" `\''` may be a shell's escaped quote without its backslash, or two quotes."""
_WORD = re.compile(r"""[^\s,:\]}\["'{/]+""").match
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?").fullmatch
_PLACE = re.compile(r" at line (\d+), column (\d+)\Z")
_STRICT_WORDS = frozenset({"true", "false", "null"})
_CONSTANTS = frozenset({"NaN", "Infinity", "-Infinity"})
_LOOSE_WORDS = {"True": "true", "False": "false", "None": "null"}
_CLOSER = {"{": "}", "[": "]"}

VALUE, KEY, COLON, AFTER = range(4)


def decode(text: str, at: int, limits: Limits) -> JsonValue:
    """Decode a value's JSON text strictly; raises `Malformed` with offsets from `at`."""
    try:
        return jsontext.loads(text, max_depth=limits.depth, max_digits=limits.digits)
    except LimitExceededError as error:
        raise Malformed("limit", str(error), at, at) from None
    except UnsafeInputError as error:
        reason = "duplicate_key" if "duplicate" in str(error) else "unsafe"
        raise Malformed(reason, *_placed(str(error), text, at), at) from None
    except ParseError as error:
        raise Malformed("malformed", *_placed(str(error), text, at), at) from None


def _placed(detail: str, text: str, at: int) -> tuple[str, int]:
    """Return an error's text without line and column, and their absolute offset in a text that begins at `at`."""
    found = _PLACE.search(detail)
    if found is None:
        return detail, at
    lines = text.split("\n")[: int(found[1]) - 1]
    return detail[: found.start()], at + sum(len(line) + 1 for line in lines) + int(found[2]) - 1


def whole_value(cur: Cursor, limits: Limits, outer: int = 0) -> tuple[JsonValue, str] | None:
    """Decode the value at the cursor, inside `outer` braces; return None, without reading, if it is incomplete."""
    if limits.digits < jsontext.MAX_DIGITS:
        return None  # only the token reader supports a bound other than the decoder's
    found = jsontext.try_value(cur.buf, cur.pos, outer=outer, max_depth=limits.depth)
    if found is None:
        return None
    value, end = found
    text = cur.buf[cur.pos : end]
    cur.pos = end
    return value, text


def mended(text: str, at: int, note: Note, limits: Limits) -> JsonValue:
    """Decode a value's whole text and mend the known slips; raises `Malformed` with offsets from `at` for others."""
    cur, pieces = Cursor(), Pieces()
    cur.append(text)
    cur.eof = True
    try:
        for _ in read_value(cur, pieces, note, limits, tolerant=True):
            pass  # it never waits at the end of the input
    except Truncated:
        raise Malformed("malformed", "the text of a value ends inside it", at, at) from None
    except Malformed as problem:
        raise Malformed(problem.reason, f"{problem.detail} in the text of a value", at, at) from None
    if cur.buf[cur.pos :].strip(WHITE):
        raise Malformed("malformed", "more than one value in a text", at, at)
    return decode(pieces.text(), at, limits)


def embedded(text: str, at: int, note: Note, limits: Limits) -> JsonValue:
    """Decode JSON text in a string, mended only if it is not strict; raises `Malformed` with offsets from `at`."""
    try:
        return decode(text, at, limits)
    except Malformed as failure:
        if failure.reason != "malformed":
            raise
    return mended(text, at, note, limits)


def read_value(  # noqa: C901, PLR0912, PLR0913, PLR0915 - one loop over tokens, kept flat for speed
    cur: Cursor, out: Taker, note: Note, limits: Limits, *, tolerant: bool, lines: bool = True
) -> Reading[None]:
    """Read the value at the cursor to its end, and emit its strict JSON text to `out`.

    `note` receives each mended slip; without `lines`, a raw line break or
    control character in a string is an error. Raises `Malformed` or `Truncated`.
    """
    buf, pos, emit = cur.buf, cur.pos, out.add
    run = pos  # buf[run:pos] is certain and not emitted yet
    stack: list[str] = []
    state, first, wait, held, quote = VALUE, False, False, "", ""
    search, reason, problem = _IN_DOUBLE, "malformed", ""
    while True:
        if wait:
            if pos > run:
                emit(buf[run:pos])
            cur.pos = pos
            if cur.eof:
                if held:
                    emit(held)
                raise Truncated
            if quote == '"' and pos == len(buf):
                cur.wait(_STOP, out)
            yield
            buf, pos = cur.buf, cur.pos
            run, wait = pos, False
        if quote:
            found = search(buf, pos)
            if found is None:
                pos, wait = len(buf), True
                continue
            pos = found.start()
            special = buf[pos]
            if special == quote:
                pos += 1
                if quote == "'":
                    emit(buf[run : pos - 1] + '"')
                    run = pos
                state, quote = COLON if state == KEY else AFTER, ""
            elif special == "\\":
                escape = _ESCAPE(buf, pos)
                if escape is not None:
                    pos = escape.end()
                elif _PART_ESCAPE(buf, pos) and not cur.eof:
                    wait = True
                elif not tolerant:
                    if _PART_ESCAPE(buf, pos):
                        cur.pos = len(buf)
                        raise Truncated
                    problem = "invalid escape in a string"
                    break
                elif quote == "'" and buf[pos + 1 : pos + 2] == "'":
                    emit(buf[run:pos] + "'")
                    run = pos = pos + 2
                elif _UNCLEAR_ESCAPE(buf, pos):
                    problem = "an escape in a string that is cut off, or has two meanings"
                    break
                else:
                    note("stray backslash")
                    kept = buf[pos + 1 : pos + 2] != "'"  # `\'` is a quote in most languages
                    emit(buf[run:pos] + "\\\\" * kept)
                    run = pos = pos + 1
                continue
            else:
                if special != '"' and not (tolerant and lines):
                    problem = "raw control character in a string"
                    break
                if special != '"':  # which needs no escape in single quotes
                    note("raw control character")
                emit(buf[run:pos] + jsontext.escape(special))
                run = pos = pos + 1
                continue
        else:
            pos = SPACE(buf, pos).end()  # type: ignore[union-attr] - matches everywhere
            if held:
                held += buf[run:pos]
                run = pos
            if pos == len(buf):
                wait = True
                continue
            char = buf[pos]
            if held and char != "/":
                if char in "}]" and tolerant:
                    note("trailing comma")
                else:
                    emit(held)
                held = ""
            if char == "/" and tolerant:
                comment = COMMENT(buf, pos)
                if comment is None or (comment.end() == len(buf) and not cur.eof):
                    if (len(buf) - pos > 1 and buf[pos + 1] not in "/*") or (
                        len(buf) - pos > MOST_COMMENT and not cur.eof
                    ):
                        break
                    wait = True
                    continue
                if pos > run:
                    emit(buf[run:pos])
                note("comment")
                pos = run = comment.end()
                continue
            if char in "\"'" and state in (VALUE, KEY):
                quote, search = char, _IN_DOUBLE if char == '"' else _IN_SINGLE
                if char == "'":
                    if not tolerant:
                        break
                    note("single quotes")
                    emit(buf[run:pos] + '"')
                    run = pos + 1
                pos += 1
                continue
            if state == VALUE and char in "{[":
                if len(stack) >= limits.depth:
                    reason, problem = "limit", f"nested deeper than {limits.depth} levels"
                    break
                stack.append(_CLOSER[char])
                pos += 1
                state, first = (KEY if char == "{" else VALUE), True
                continue
            if char in "}]":
                opened = state == KEY if char == "}" else state == VALUE
                if not stack or stack[-1] != char or not (state == AFTER or (opened and (first or tolerant))):
                    break
                stack.pop()
                pos += 1
                state = AFTER
            elif state == COLON and char == ":":
                pos += 1
                state = VALUE
            elif state == AFTER and char == "," and stack:
                comma = _COMMA(buf, pos).end()  # type: ignore[union-attr] - it begins with a comma
                if comma == len(buf) or buf[comma] in "}]/":
                    if pos > run:
                        emit(buf[run:pos])
                    held, run = buf[pos:comma], comma
                pos = comma
                state = KEY if stack[-1] == "}" else VALUE
                first = False
                continue
            elif state == VALUE:
                word = _WORD(buf, pos)
                if word is None:
                    break
                end, text = word.end(), word.group()
                if end == len(buf) and cur.eof and stack:
                    if pos > run:
                        emit(buf[run:pos])
                    cur.pos = len(buf)
                    raise Truncated
                if len(text) > limits.digits + 32:
                    reason, problem = "limit", f"a number of more than {limits.digits} digits"
                    break
                if end == len(buf) and not cur.eof:
                    wait = True
                    continue
                if text not in _STRICT_WORDS and not _NUMBER(text):
                    if not (tolerant and text in _LOOSE_WORDS):
                        if text in _CONSTANTS:
                            reason, problem = "unsafe", f"{text} is not a JSON value"
                        break
                    note(f"{text} for {_LOOSE_WORDS[text]}")
                    emit(buf[run:pos] + _LOOSE_WORDS[text])
                    run = end
                pos = end
                state = AFTER
            else:
                break
        if state == AFTER and not stack:
            if pos > run:
                emit(buf[run:pos])
            cur.pos = pos
            return
    if held:
        emit(held)
    if pos > run:
        emit(buf[run:pos])
    cur.pos = pos
    expected = ("a value", "a key", "a colon", "a comma or the end")[state]
    raise Malformed(reason, problem or f"expected {expected}, found {buf[pos]!r}", cur.base + pos)


SPACE = re.compile(r"[ \t\r\n]*").match
COMMENT = re.compile(r"//[^\n]{0,1024}|/\*(?:(?!\*/)[\s\S]){0,1024}\*/").match
MOST_COMMENT = 1024 + len("/**/")
"""The longest comment that is skipped, in characters: it is scanned again as it grows."""


def peek(cur: Cursor) -> str:
    """Skip available white space; return the next character, or "" if `skip_space` has to decide."""
    cur.pos = pos = SPACE(cur.buf, cur.pos).end()  # type: ignore[union-attr] - matches everywhere
    char = cur.buf[pos : pos + 1]
    return "" if char == "/" else char


def skip_space(cur: Cursor, note: Callable[[str], None] | None = None) -> Reading[str]:
    """Skip white space and return the next character without reading it, or "" at the end of the input.

    With `note`, comments are skipped and reported.
    """
    while True:
        cur.pos = pos = SPACE(cur.buf, cur.pos).end()  # type: ignore[union-attr] - matches everywhere
        here = len(cur.buf)
        if pos < here and (note is None or cur.buf[pos] != "/"):
            return cur.buf[pos]
        if pos < here and note is not None:
            comment = COMMENT(cur.buf, pos)
            if comment is not None and (comment.end() < here or cur.eof):
                note("comment")
                cur.pos = comment.end()
                continue
            if here - pos > MOST_COMMENT or cur.buf[pos + 1 : pos + 2] not in {"", "/", "*"}:
                return "/"
        if cur.eof:
            cur.pos = here
            return ""
        yield
