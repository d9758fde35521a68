"""Skips the rest of a failed call of literals, whose brackets may not match.

    search(q='a', tags=['x', where={'b': 1}), send(to='c')
                                            ^ whatever is open in the call ends with it

If the quotes are in doubt, so is the end of the call.
"""

from __future__ import annotations

from functools import lru_cache

import regex

from toolfmt.parsers.compiled.sections import FormGrammar
from toolfmt.parsers.scanning.cursor import Cursor, Reading

_CLOSERS = {"(": ")", "[": "]", "{": "}"}


@lru_cache(maxsize=64)
def _tokens(quotes: tuple[str, ...], *, escapes: bool) -> tuple[regex.Pattern[str], regex.Pattern[str]]:
    """Compile two patterns: a whole string before structure; and a bracket, any other quote, or other text."""
    inside = r"(?:\\.|(?!QUOTE)[^\\\n])*+" if escapes else r"(?:(?!QUOTE)[\s\S])*+"
    every = sorted({*quotes, *((3 * quote for quote in quotes) if escapes else ())}, key=len, reverse=True)
    texts = [
        f"{regex.escape(quote)}{inside.replace('QUOTE', regex.escape(quote))}{regex.escape(quote)}" for quote in every
    ]
    marks = "|".join(map(regex.escape, every))
    firsts = "".join(sorted({regex.escape(quote[0]) for quote in every}))
    return (
        regex.compile(rf"(?:{'|'.join(texts)})(?=\s{{0,64}}[,:)\]}}])", regex.DOTALL),
        regex.compile(rf"(?P<bracket>[()\[\]{{}}])|(?P<quote>{marks})|[^{firsts}()\[\]{{}}]+|.", regex.DOTALL),
    )


def pass_call(cur: Cursor, form: FormGrammar) -> Reading[bool]:
    """Read to the end of the brackets of a call whose arguments begin at the cursor; return False if in doubt."""
    assert form.literals is not None  # noqa: S101 - asked by the caller
    literals = form.literals.literals
    quotes = tuple(dict.fromkeys((*literals.quotes, *("'\"" if literals.escapes else ""))))
    text, other = _tokens(quotes, escapes=literals.escapes)
    open_yet = [")"] if literals.keywords else []
    while True:
        yield from _pass_text(cur, text)
        found = other.match(cur.buf, cur.pos)
        if found is None or found["quote"]:
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


def _pass_text(cur: Cursor, text: regex.Pattern[str]) -> Reading[None]:
    """Skip the quoted text at the cursor, if one begins there and what follows confirms its end."""
    while True:
        found = text.match(cur.buf, cur.pos)
        if found is not None:
            cur.pos = found.end()
        elif cur.eof or text.match(cur.buf, cur.pos, partial=True) is None:
            return
        else:
            held = len(cur.buf) - cur.pos
            yield
            while not cur.eof and len(cur.buf) - cur.pos < 2 * held:  # after each doubling: linear
                yield
