r"""Where the literals of a broken call end: at the bracket that closes the call, outside every quoted text.

    search(q='a', tags=['x', where={'b': 1}), send(to='c')
                                            ^ whatever is open in the call ends with it

Where the quotes are in doubt, nothing is.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import regex

if TYPE_CHECKING:
    from toolfmt.parsers.cursor import Cursor, Reading
    from toolfmt.parsers.sections import FormGrammar

_CLOSERS = {"(": ")", "[": "]", "{": "}"}


@lru_cache(maxsize=64)
def _token(quotes: tuple[str, ...], *, escapes: bool) -> regex.Pattern[str]:
    """A whole text before structure, a bracket, a quote of anything else, or what is none of them."""
    inside = r"(?:\\.|(?!QUOTE)[^\\\n])*+" if escapes else r"(?:(?!QUOTE)[\s\S])*+"
    every = sorted({*quotes, *((3 * quote for quote in quotes) if escapes else ())}, key=len, reverse=True)
    texts = [
        f"{regex.escape(quote)}{inside.replace('QUOTE', regex.escape(quote))}{regex.escape(quote)}" for quote in every
    ]
    marks = "|".join(map(regex.escape, every))
    firsts = "".join(sorted({regex.escape(quote[0]) for quote in every}))
    return regex.compile(
        rf"(?P<text>(?:{'|'.join(texts)})(?=\s{{0,64}}[,:)\]}}]))|(?P<bracket>[()\[\]{{}}])|(?P<quote>{marks})"
        rf"|(?P<other>[^{firsts}()\[\]{{}}]+|.)",
        regex.DOTALL,
    )


def pass_call(cur: Cursor, form: FormGrammar) -> Reading[bool]:
    """Read on to where all brackets of a call are closed whose arguments begin at the cursor; False in doubt."""
    assert form.literals is not None  # noqa: S101 - asked by the caller
    literals = form.literals.literals
    quotes = tuple(dict.fromkeys((*literals.quotes, *("'\"" if literals.escapes else ""))))
    token = _token(quotes, escapes=literals.escapes)
    open_yet = [")"] if literals.keywords else []
    while True:
        found = yield from _next_token(cur, token)
        if found is None or found.lastgroup == "quote":
            return False
        bracket = found["bracket"]
        if bracket in _CLOSERS:
            open_yet.append(_CLOSERS[bracket])
        elif bracket and bracket not in open_yet:
            return False
        elif bracket:
            while open_yet.pop() != bracket:
                pass
        cur.pos = found.end()
        if bracket and not open_yet:
            cur.pos -= literals.keywords
            return True


def _next_token(cur: Cursor, token: regex.Pattern[str]) -> Reading[regex.Match[str] | None]:
    """Match a token that more text would not make longer; None at the end of the input."""
    while True:
        found = token.match(cur.buf, cur.pos, partial=not cur.eof)
        if found is not None and not found.partial and (cur.eof or found["other"] or found.end() < len(cur.buf)):
            return found
        if cur.eof:
            return None
        yield
