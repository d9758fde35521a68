r"""Finds the first call of any dialect in a text that comes in pieces.

    Let me look.\n<tool_call>\n{"name": ...
    ^ emitted    ^ a trigger  ^ what follows it decides

Text is emitted once it can no longer be part of a marker. After a marker that does not begin a call, the dialect
decides what is text, so it is held back. Only reasoning at the beginning is emitted: its markers mean the same
everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from toolfmt.detection.bare_json import Extents, JsonRun
from toolfmt.detection.broken import BrokenCalls
from toolfmt.detection.choosing import Chooser, Outcome
from toolfmt.detection.definitions import MARKS, shows_definitions
from toolfmt.detection.offers import offers
from toolfmt.detection.passed import Passed
from toolfmt.detection.records import Detection
from toolfmt.detection.table import FENCES, DetectionTable
from toolfmt.detection.values import OpenValues, values_of
from toolfmt.events import Event
from toolfmt.model import ToolDefinition

_FENCE = re.compile(r"(`{1,256}|~{1,256})([ \t]{0,64})")
_MANY: Final = 64
"""So many values in a row are not an example in prose."""
_TAIL: Final = 400
"""Characters at the end of a text that may be the beginning of something."""


class Detector:
    """Reads a text up to the place that decides its dialect."""

    def __init__(
        self,
        table: DetectionTable,
        tools: Mapping[str, ToolDefinition],
        *,
        thinking: bool = False,
        opener: str = "",
        lenient: bool = False,
    ) -> None:
        """Begin; with `thinking` the text begins inside reasoning, opened by `opener`.

        `lenient` also accepts quotations: for a hint, not for calls.
        """
        self._lenient = lenient
        self._table = table
        self._tools = tools
        self._offers = offers(tuple(tools)) if tools and table.offered else None
        self._choose = Chooser(table, tools)
        self.passed = Passed(lambda: OpenValues(table.values, values_of(tools)))
        """The text that was passed."""
        self.broken = BrokenCalls(table, self.passed)
        """The calls that no format reads."""
        self._buf = ""
        self._at = 0
        """The offset in the buffer up to which text was passed."""
        self._marks: list[re.Match[str] | None] = []
        self._parts: list[str] = []
        self._run: JsonRun | None = None
        self._extents = Extents()
        self._refused = 0
        """No JSON value before this offset is a call: text follows it."""
        self._begins = True
        self._closers: set[str] = set()
        self._ends: dict[str, int] = {}
        """Where each closer is in the buffer, from the place reached on; -1 for nowhere."""
        self._draft: Detection | None = None
        self._defined = False
        """The text shows a tool's definition."""
        self._muted = False
        """Nothing that follows can be a call."""
        self.found: Detection | None = None
        """The decision; None before it."""
        if thinking:
            closer = table.reasoning.get(opener.strip())
            self._closers = {closer} if closer else set(table.closers)
            self.passed.think("")

    def read(self, chunk: str, *, eof: bool = False) -> list[Event]:
        """Read a piece and return what can be emitted; `eof` if it is the last one."""
        if self._run is not None and self._run.open:
            self._parts.append(chunk)
            if self._run.more(chunk) and not eof:
                return []
            chunk, self._parts = "".join(self._parts), []
        self._buf = self._buf + chunk if self._buf else chunk
        self._marks, self._ends = [], {}
        while self.found is None and not self._muted and self._step(eof=eof):
            pass
        if self._muted or (eof and self.found is None):
            self._pass(len(self._buf))
        if eof and self.found is None:
            self._settle()
        if eof and self.found is None:
            self.passed.release()
        self._buf, self._at = self._buf[self._at :], 0
        return self.passed.emit(whole=eof and self.found is None)

    def rest(self) -> str:
        """Return what was read and not passed."""
        return self._buf

    @property
    def _base(self) -> int:
        return self.passed.offset - self._at

    def _pass(self, pos: int) -> None:
        if pos > self._at:
            self.passed.go(self._buf[self._at : pos])
            self._at = pos

    def _step(self, *, eof: bool) -> bool:
        """Go to the next trigger and read it; False if more text is needed or none is left."""
        if (self._begins and not self._start(eof=eof)) or self.found is not None:
            return False
        closer = self._closer() if self._closers else None
        found = self._next()
        if closer is not None and (found is None or found.start() >= closer[0]):
            return self._close(*closer)
        if found is None:
            self._pass(len(self._buf) if eof else self._begun())
            return False
        mark = found.group()
        self._pass(found.start())
        tail = self._buf[self._at : self._at + self._table.longest]
        longer = self._table.longer.get(mark, ())
        if not eof and any(len(other) > len(tail) and other.startswith(tail) for other in longer):
            return False
        outcome = self._trigger(mark, eof=eof)
        if outcome == "wait" and closer is not None:  # the closer cuts it off
            outcome = "no"
            self._pass(self._at + 1)
        return self._decide(outcome) if isinstance(outcome, Detection) else outcome == "no"

    def _trigger(self, mark: str, *, eof: bool) -> Outcome:
        """Read a trigger and what follows it; "no" when it was passed."""
        if mark in MARKS:
            self._defined = self._defined or not self._closers
            self._pass(self._at + len(mark))
            return "no"
        return self._fence(eof=eof) if mark in FENCES else self._marker(mark, eof=eof)

    def _next(self) -> re.Match[str] | None:
        """Find the next text that may begin a call or is another marker."""
        patterns = [self._table.trigger] + ([self._offers.anywhere] if self._offers is not None else [])
        if not self._marks:
            self._marks = [pattern.search(self._buf, self._at) for pattern in patterns]
        for number, found in enumerate(self._marks):
            if found is not None and found.start() < self._at:
                self._marks[number] = patterns[number].search(self._buf, self._at)
        there = [found for found in self._marks if found is not None]
        return min(there, key=lambda found: found.start()) if there else None

    def _begun(self) -> int:
        """Find where something incomplete begins at the end of the buffer."""
        start = max(self._at, len(self._buf) - _TAIL)
        tail, table = self._buf[start:], self._table
        end = len(tail)
        for first in table.firsts.finditer(tail, max(0, end - table.longest)):
            if tail[first.start() :] in table.prefixes:
                end = first.start()
                break
        begun = table.begun.search(tail) if "[" in tail or "{" in tail else None
        end = end if begun is None else min(end, begun.start())
        if self._offers is not None:
            end = min(end, self._offers.begun(tail))
        return start + end

    def _start(self, *, eof: bool) -> bool:
        """Read what counts only at the beginning of an answer; False if more text is needed."""
        buf, at, starts = self._buf, self._at, self._table.starts
        if at == len(buf):
            return eof
        outcome: Outcome = "no"
        header = starts.match(buf, at, partial=not eof)
        if header is not None:
            outcome = self._choose.header(buf, at, self._base, has_text=False, eof=eof)
        if outcome == "no" and self._offers is not None:
            blank = len(buf) - len(buf[at:].lstrip())
            if not eof and blank - at < _TAIL and (blank == len(buf) or self._offers.begun(buf[blank:]) == 0):
                outcome = "wait"
            elif self._offers.first.match(buf, at) is not None:
                outcome = self._named(blank, eof=eof)
        if outcome == "wait":
            return False
        self._begins = False
        if isinstance(outcome, Detection):
            self._decide(outcome)
        elif header is not None and not header.partial:
            self.passed.hold()
            if "|" in header.group():
                self.broken.begin()
        return True

    def _named(self, pos: int, *, eof: bool) -> Outcome:
        """Read a line that is an offered tool's name."""
        line = self.passed.around.line_start or self._buf[pos - 1 : pos] in {">", "\n"}
        return self._choose.marked(self._table.by_name, self._buf, pos, self._base, 0, line_start=line, eof=eof)

    def _closer(self) -> tuple[int, str] | None:
        for closer in self._closers:  # each is searched for once, not at every trigger
            if -1 < self._ends.get(closer, 0) <= self._at:
                self._ends[closer] = self._buf.find(closer, self._at)
        places = [(self._ends[closer], closer) for closer in self._closers if self._ends[closer] >= 0]
        return min(places) if places else None

    def _close(self, pos: int, closer: str) -> bool:
        """End the reasoning; a call in it was a draft."""
        self._pass(pos)
        self.passed.answer(closer)
        self._at += len(closer)
        self._draft, self._closers, self._begins = None, set(), True
        return True

    def _fence(self, *, eof: bool) -> Outcome:
        found = _FENCE.match(self._buf, self._at)
        if found is None or (found.end() == len(self._buf) and found.end() - self._at < _TAIL and not eof):
            return "wait"
        line_ends = self._buf[found.end() : found.end() + 1] in {"", "\n", "\r"}
        self.passed.fence(found[1], "" if line_ends else "?")
        self._at += len(found[1])
        return "no"

    def _marker(self, mark: str, *, eof: bool) -> Outcome:
        """Read what is at a trigger; "no" when it was passed."""
        table, around = self._table, self.passed.around
        tagged = not mark[0].isalnum()
        shown = self._shown() or not (tagged or around.line_start)
        if mark in table.reasoning and not around.has_text and not shown and (not self._closers or self.passed.fresh):
            return self._think(mark)
        outcome: Outcome = "no"
        base, line_start = self._base, around.line_start
        if mark in table.matches:
            matches = table.following(mark, self._buf, self._at)
            if mark.strip("<>") in self._tools:
                matches = [*matches, *table.tags]
            outcome = self._choose.marked(matches, self._buf, self._at, base, len(mark), line_start=line_start, eof=eof)
        elif mark in table.openers:
            outcome = self._choose.header(self._buf, self._at, base, has_text=around.has_text, eof=eof)
        elif mark not in table.marks and mark not in table.reasoning:
            return self._unmarked(mark, eof=eof)
        if outcome == "wait":
            return outcome
        if isinstance(outcome, Detection) and not shown:
            return outcome
        if not shown:
            self.broken.see(mark)
        return self._no_call(mark, held=not shown, read=outcome != "no")

    def _no_call(self, mark: str, *, held: bool, read: bool) -> Outcome:
        """Pass a marker that does not begin a call: it is `held` or shown; `read` if a call that is shown follows."""
        if held and (mark in self._table.marks or mark in self._table.special):
            return self._hold(mark)
        if read:
            self.passed.mask()
            self.passed.around.hold_open()
        self._pass(self._at + 1)
        return "no"

    def _think(self, mark: str) -> Outcome:
        """Begin reasoning; a marker that only one dialect has identifies it."""
        self._choose.see(mark)
        owners = self._table.marks[mark]
        if len(owners) == 1 and mark in self._table.special:
            return self._choose.known(owners, mark, self.passed.offset)
        self.passed.think(mark)
        self._at += len(mark)
        self._closers, self._begins = {self._table.reasoning[mark]}, False
        return "no"

    def _hold(self, mark: str) -> Outcome:
        """Read a marker that does not begin a call; at the beginning it may identify the dialect."""
        owners = self._table.marks.get(mark, ())
        first = not self.passed.around.has_text and (not self._closers or self.passed.fresh)
        if len(owners) == 1 and mark in self._table.special and first:
            self._closers = set()
            return self._choose.known(owners, mark, self.passed.offset)
        if not self._closers:
            self._choose.see(mark)
            self.passed.hold()
        self._pass(self._at + len(mark))
        return "no"

    def _unmarked(self, mark: str, *, eof: bool) -> Outcome:
        """Read a call without a marker: JSON, a list of expressions, or one that begins with a tool's name."""
        table, around, buf, at = self._table, self.passed.around, self._buf, self._at
        outcome: Outcome = "no"
        if self._closers:
            pass
        elif mark == "[":
            after_text = around.has_text and not self._lenient
            if not self._shown() and not around.inside():
                outcome = self._choose.list_of_calls(
                    buf, at, self._base, line_start=around.line_start, has_text=after_text
                )
        elif mark[0] in "[{":
            inside = not self._lenient and (around.inside() or self.passed.in_string())
            outcome = "no" if inside else self._value(eof=eof)
        elif not self._shown(line=mark[0] == "\n"):
            tag = mark[0] == "<"  # else the character before the name
            line_start = tag or around.line_start or mark[0] in ">\n"
            outcome = self._choose.marked(
                table.tags if tag else table.by_name,
                buf,
                at + (not tag),
                self._base,
                len(mark) - (not tag),
                line_start=line_start,
                eof=eof,
            )
            if tag and outcome == "no":
                self.broken.see(mark)
        if outcome == "no":
            self.passed.mask()
            self._pass(at + 1)
        return outcome

    def _value(self, *, eof: bool) -> Outcome:
        """Read a JSON value that may be a call, once it is complete; in prose, with all that follows it."""
        around, buf, base, at = self.passed.around, self._buf, self._base, self.passed.offset
        if at < self._refused:
            return "no"
        alone = self._lenient or not (around.has_text or around.fenced)
        run, self._run = self._run, None
        if run is None or not run.from_here(at):
            run = JsonRun(at, self._extents, alone=alone)
        run.go(buf, base, eof=eof)
        if not run.ends:
            self._run = run if not eof else None
            return self._choose.bare_cut(buf, self._at, base, alone=alone) if eof else "wait"
        outcome = self._choose.bare(buf, self._at, run.ends[0] - base, base, alone=alone)
        if isinstance(outcome, Detection) and not alone and len(run.ends) < _MANY:
            if not run.open and not run.last(buf, base, fenced=around.fenced):
                self._refused = run.stop
                return "no"
            outcome = outcome if eof and not run.open else "no" if eof else "wait"
        self._run = run if not isinstance(outcome, Detection) else None
        return outcome

    def _decide(self, found: Detection) -> bool:
        """Accept a choice, unless the text shows definitions of tools: then it quotes a manifest."""
        if self._closers:
            if self._draft is None:
                self._draft = found
                self.passed.draft()
            self._pass(self._at + 1)
            return True
        if not self._lenient and self.broken.holds(found):
            self.passed.mask()
            self._pass(self._at + 1)
            return True
        declared = self._table.declared.match(self._buf, found.span[0] - self._base)
        if (declared and not self._lenient) or self._shows_tools():
            self._muted = True
            self.passed.release()
            return False
        self._pass(found.span[0] - self._base)
        self.found = found
        return False

    def _shown(self, *, line: bool = False) -> bool:
        """Whether what is here is only quoted; `line` asks for the next line."""
        passed = self.passed
        return not self._lenient and (passed.around.fenced or passed.in_string() if line else passed.shown())

    def _shows_tools(self) -> bool:
        if self._lenient:
            return False
        return self._defined or shows_definitions(self.passed.emitted_text(), self._tools.values())

    def _settle(self) -> None:
        """At the end of the text, accept a call in reasoning that was never closed, or the dialect of the markers."""
        if self._draft is not None:
            self.found = self._draft
            return
        if self.broken.quoted >= 0:
            return
        special = [mark for mark in self._choose.seen if mark in self._table.special]
        text, held = self.passed.text(), self.passed.held
        if not special or held < 0 or self._shows_tools():
            return
        after = text[held:]
        for mark in special:
            after = after.replace(mark, "")
        if not text[:held].strip() or not after.strip():  # in prose it is only mentioned
            self.found = self._choose.known(self._table.owners[special[0]], special[0], held)
