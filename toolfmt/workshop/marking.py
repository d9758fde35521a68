"""The strings of a dialect that a server must leave in the model's text, and those at which it may stop.

    markers("mistral-v11").keep     # ('[TOOL_CALLS]', '[ARGS]', '[CALL_ID]', '[THINK]', '[/THINK]')
    markers("kimi-k2").stop         # ('<|im_end|>',)
    markers(provider="anthropic")   # of the format that this provider's models use

Many of them are special tokens, which servers remove when they decode tokens; without them a parser finds no calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Unpack

from toolfmt.dialect.frames import Frame
from toolfmt.dialect.record import AnyDialect
from toolfmt.dialect.syntax import Form, Syntax, pieces, verbatim
from toolfmt.lookup.choice import Choice, chosen


@dataclass(frozen=True, slots=True, kw_only=True)
class Markers:
    """The strings of a dialect's structure, in the order of its description."""

    keep: tuple[str, ...] = ()
    """What opens, closes and separates calls, arguments and reasoning: the text must contain it as written."""
    stop: tuple[str, ...] = ()
    """What only ends the turn: the server may stop there and remove it."""


def markers(name: AnyDialect | str | None = None, /, **choice: Unpack[Choice]) -> Markers:
    """Return a format's markers; the format is chosen by its name, or as everywhere.

    The punctuation of JSON is no marker, and a word only where nothing else marks a call. A format without a
    description has none.
    """
    if name is not None:
        choice["dialect"] = name
    syntax = chosen(choice)[0].syntax
    if syntax is None:
        return Markers()
    pairs = (*map(_of_form, syntax.forms), *syntax.reasoning, *syntax.hidden, *syntax.unwrap)
    keep = _distinct(syntax, chain.from_iterable(pairs))
    return Markers(keep=keep, stop=tuple(marker for marker in syntax.stop if marker not in keep))


def call_markers(syntax: Syntax) -> tuple[str, ...]:
    """Return the markers of the form that is written, without those of other forms that are read."""
    return _distinct(syntax, _of_form(syntax.forms[0]))


def _distinct(syntax: Syntax, found: Iterable[str]) -> tuple[str, ...]:
    """Return the markers of the frame, if there is one, and these."""
    frame = _of_frame(syntax.frame, syntax.stop) if syntax.frame is not None else ()
    return tuple(dict.fromkeys(filter(None, map(str.strip, chain(frame, found)))))


_TAG = re.compile(r"<[^<>]*>?|[^<]+")
_PUNCTUATION = frozenset("[]{}()<>/:,=\"' ")


def _of_form(form: Form) -> Iterator[str]:
    """Yield the markers of a form; if there are only words, as in `functools[...]`, those."""
    literals = [text for template in _templates(form) for text in verbatim(pieces(template))]
    found = [marker for text in literals for marker in _split(text)]
    yield from [one for one in found if not one.isalnum()] or found
    for pair in form.elements.quotes if form.elements is not None else ():
        yield from pair
    yield from (quote for quote in (form.literals.quotes if form.literals is not None else ()) if len(quote) > 1)


def _of_frame(frame: Frame, stop: Sequence[str]) -> Iterator[str]:
    """Yield the markers of headers without words; one that only ends the last message may be removed."""
    yield from (*frame.opens, frame.start)
    for text in (*verbatim(pieces(frame.call)), frame.between):
        yield from (marker for marker in _split(text) if not marker[0].isalnum())
    yield from (end for end in frame.ends if end not in stop)


def _split(text: str) -> Iterator[str]:
    """Split literal text: a marker is on one line, and a tag is separate."""
    for line in text.splitlines():
        for found in _TAG.findall(line):
            marker = found.strip().lstrip("\"'")
            if not _PUNCTUATION.issuperset(marker):
                yield marker.strip()


def _templates(form: Form) -> Iterator[str]:
    yield from (form.section, form.separator, form.call, *form.ends, *form.parts)
    elements = form.elements
    if elements is not None:
        yield from (elements.member, elements.odd_member, elements.loose_member, elements.item)
        yield from (f"<{elements.wrapper}>", f"</{elements.wrapper}>") if elements.wrapper else ()
