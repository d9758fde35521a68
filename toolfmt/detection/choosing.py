"""Ranks the dialects that read what is at one place.

A place is decided once no further pattern after its trigger can match, so the choice depends on the text alone and not
on how it was cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from toolfmt.detection.bare_json import beginnings, fitting
from toolfmt.detection.records import Detection, verb
from toolfmt.detection.table import DetectionTable, Hit, Match
from toolfmt.model import ToolDefinition

_CALLED = re.compile(r"\[\s{0,64}([^\W\d][\w.\-]{0,255})\(")
Outcome = Detection | Literal["wait", "no"]


class Chooser:
    """Chooses among the dialects of a table, for one text."""

    def __init__(self, table: DetectionTable, tools: Mapping[str, ToolDefinition]) -> None:
        """Choose for a text whose offered tools are `tools`."""
        self._table = table
        self._tools = tools
        self.seen: list[str] = []
        """The markers so far; of equal dialects, the one that knows more of them is first."""

    def see(self, mark: str) -> None:
        """Note a marker; each counts once."""
        if mark not in self.seen:
            self.seen.append(mark)

    def ranked(self, hits: Iterable[Hit], span: tuple[int, int]) -> Detection:
        """Rank dialects, each with its score and reason."""
        candidates = self._table.ranked(hits, self.seen)
        return Detection(candidates[0].dialect, candidates, span)

    def marked(  # noqa: PLR0913 - a place, and what is known of it
        self, matches: Sequence[Match], buf: str, pos: int, base: int, length: int, *, line_start: bool, eof: bool
    ) -> Outcome:
        """Choose by the patterns after a trigger of this length at `pos`."""
        hits: list[Match] = []
        cut: list[Match] = []
        for one in matches:
            if one.lines and not line_start:
                continue
            found = one.pattern.match(buf, pos, partial=True)
            if found is None:
                continue
            if found.partial and not eof:
                return "wait"
            if found.partial:
                cut.append(one)
                continue
            if not one.offered or found["name"].strip() in self._tools:
                hits.append(one)
        if not hits and cut and not buf[pos].isalnum():  # a call that is cut off by the end
            hits = [one for one in cut if not one.offered]
        if not hits:
            return "no"
        candidates = self._table.ranking(hits, self.seen)
        return Detection(candidates[0].dialect, candidates, (base + pos, base + pos + length))

    def header(self, buf: str, pos: int, base: int, *, has_text: bool, eof: bool) -> Outcome:
        """Choose by the header of a message at `pos`."""
        hits: list[Hit] = []
        end = pos
        for one in self._table.frames:
            found = one.header.match(buf, pos)
            if found is None:
                if not eof and one.header.match(buf, pos, partial=True) is not None:
                    return "wait"
                continue
            header_fields = {key: value or "" for key, value in found.groupdict().items()}
            route = one.frame.route(header_fields)
            sure = "|" in found.group()
            if route.to == "call":
                if one.body.match(buf, found.end()) is None:
                    if not eof and one.body.match(buf, found.end(), partial=True) is not None:
                        return "wait"
                    continue
                name = route.name(header_fields.get("recipient", ""))
                sure = sure or name in self._tools or not (self._tools or has_text)
            if sure:
                end = max(end, found.end())
                usual = one.channels == bool(header_fields.get("channel"))
                hits.append((one.dialect, 5 + usual, "writes this header"))
        return self.ranked(hits, (base + pos, base + end)) if hits else "no"

    def list_of_calls(self, buf: str, pos: int, base: int, *, line_start: bool, has_text: bool) -> Outcome:
        """Choose for `[name(` at `pos`: an offered tool's on its own line, or any at the beginning."""
        found = _CALLED.match(buf, pos)
        if found is None or not self._table.lists or not line_start or (has_text and found[1] not in self._tools):
            return "no"
        return self.ranked(self._table.lists, (base + pos, base + found.end()))

    def known(self, owners: Iterable[str], mark: str, offset: int) -> Detection:
        """Choose by a marker that begins no call."""
        return self.ranked([(name, 1, f"has the marker `{mark}`") for name in owners], (offset, offset + len(mark)))

    def bare(self, buf: str, pos: int, end: int, base: int, *, alone: bool) -> Outcome:
        """Choose for the JSON value from `pos` to `end`; `alone` if it begins the answer, without a fence."""
        hits, names = fitting(buf[pos:end], self._table.bare)
        beside = {one.dialect for one in self._table.bare if not (alone or one.single)}  # which may have text beside it
        hits = [hit for hit in hits if hit[0] in beside] or hits
        if not hits or not (names <= self._tools.keys() if self._tools else alone):
            return "no"
        ranked_hits = [(name, score, f"{verb(score)} JSON of this shape") for name, score in hits]
        return self.ranked(ranked_hits, (base + pos, base + end))

    def bare_cut(self, buf: str, pos: int, base: int, *, alone: bool) -> Outcome:
        """Choose for a JSON value from `pos` on that is cut off after an offered tool's name."""
        found = beginnings(buf[pos:], self._table.bare, self._tools) if alone else []
        ranked_hits = [(name, score, f"{verb(score)} JSON that begins so") for name, score in found]
        return self.ranked(ranked_hits, (base + pos, base + len(buf))) if ranked_hits else "no"
