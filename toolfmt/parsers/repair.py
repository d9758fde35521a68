"""Broken JSON mended, only when asked for, and never in silence.

A failed call's text is repaired and read again by the same dialect. The failure
stays in the events; the mended call follows under an index of its own, with a
`repaired` notice.
"""

from __future__ import annotations

import re
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

from toolfmt.errors import MissingExtraError
from toolfmt.events import ArgumentsDelta, CallEnd, CallFailed, CallStart, Notice
from toolfmt.parsers.driving import has_ended

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolfmt.dialect import Parser
    from toolfmt.events import Event

_MOST = 100_000
"""Characters that are repaired at the most."""
_WORK = 4_000_000
"""What repairing may cost in one answer: characters times quotes and brackets, which is how its time grows."""
_REASONS = frozenset({"truncated", "malformed"})


_COSTLY = re.compile(r"""["'\[{]""")
_CUT_WORD = re.compile(r"[:,\[]\s*(t|tr|tru|f|fa|fal|fals|n|nu|nul)\Z")
_WORDS = {"t": "true", "f": "false", "n": "null"}


def complete_word(text: str) -> str:
    """Complete a literal that the end of the text cut off: only one can have been meant."""
    cut = _CUT_WORD.search(text)
    return text if cut is None else text[: cut.start(1)] + _WORDS[cut[1][0]]


class RepairingParser:
    """Passes a parser's events on and tries to mend each call that failed for its JSON."""

    __slots__ = ("_extra", "_frame", "_left", "_open", "_parser")

    def __init__(self, parser: Parser[str], reopen: Callable[[], Parser[str]], frame: tuple[str, str]) -> None:
        """Mend the failures of `parser`; `reopen` gives a fresh parser of the same dialect.

        `frame` is what stands around one JSON call, for calls whose own text has lost it.
        """
        if find_spec("json_repair") is None:  # said before the first failure needs it
            raise MissingExtraError("repair=True", "repair")
        self._parser = parser
        self._open = reopen
        self._frame = frame
        self._extra = 0
        self._left = _WORK

    @property
    def ended(self) -> bool:
        """Whether the answer is over by its own markers."""
        return has_ended(self._parser)

    def feed(self, chunk: str) -> list[Event]:
        """Read one more piece of text."""
        return self._mended(self._parser.feed(chunk))

    def close(self) -> list[Event]:
        """Say that the answer has ended."""
        return self._mended(self._parser.close())

    def _mended(self, events: list[Event]) -> list[Event]:
        out: list[Event] = []
        for event in events:
            moved = event
            if self._extra and isinstance(event, CallStart | ArgumentsDelta | CallEnd | CallFailed):
                moved = replace(event, index=event.index + self._extra)
            out.append(moved)
            if isinstance(moved, CallFailed) and moved.reason in _REASONS and len(moved.raw) <= _MOST:
                out.extend(self._again(moved))
        return out

    def _read(self, text: str) -> list[Event]:
        """Read a mended text; no events unless it is calls and no failure."""
        parser = self._open()
        events = [*parser.feed(text), *parser.close()]
        kinds = {type(event) for event in events}
        return events if CallEnd in kinds and CallFailed not in kinds else []

    def _again(self, failure: CallFailed) -> list[Event]:
        from json_repair import repair_json

        at = failure.raw.find("{")
        if at < 0:
            return []
        before = failure.raw[:at].rstrip()
        if before.endswith("[") and not before.endswith("[["):
            at = len(before) - 1  # the object stands in a list, which is cut off with it
        work = len(_COSTLY.findall(failure.raw)) * len(failure.raw)
        if work > self._left:
            return [Notice("not_repaired", "too many quotes and brackets to repair the call", failure.span)]
        self._left -= work
        try:
            text = repair_json(complete_word(failure.raw[at:]), ensure_ascii=False)
        except (RecursionError, ValueError):  # nested too deeply for it
            return []
        opener, closer = self._frame
        events = self._read(failure.raw[:at] + text) or self._read(opener + text + closer)
        if not events:
            return []
        calls: list[Event] = []
        for event in events:
            if isinstance(event, CallStart | ArgumentsDelta):
                calls.append(replace(event, index=failure.index + 1 + event.index))
            elif isinstance(event, CallEnd):
                self._extra += 1
                call = event.call.model_copy(update={"certainty": "guessed"})
                calls.append(CallEnd(failure.index + 1 + event.index, call, failure.span))
        return [Notice("repaired", f"{failure.reason} JSON was mended: {text[:200]}", failure.span), *calls]
