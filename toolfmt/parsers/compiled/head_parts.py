"""Reads a call's head in parts, which are elements in any order, before or after the arguments.

    <tool>
    <arguments><path>a.txt</path></arguments>
    <tool_name>read</tool_name>
    <server_name>local</server_name>
    </tool>

The types of the arguments depend on the tool's name. If that comes after
them, they are skipped first, and read once the name is known.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import regex

from toolfmt.dialect.syntax import Elements
from toolfmt.parsers.bodies.claims import Strays
from toolfmt.parsers.bodies.elements import skip_layout
from toolfmt.parsers.bodies.raw_text import RawText
from toolfmt.parsers.scanning.cursor import Cursor, Malformed, Reading, Truncated
from toolfmt.parsers.scanning.patterns import LAYOUT, SLOT, cut_off, decode_entities, head, literal, match_next
from toolfmt.parsers.scanning.pieces import IGNORED
from toolfmt.parsers.scanning.raw_ends import Ends


class HeadParts:
    """The compiled parts of one form's head; shared by all parses."""

    def __init__(self, templates: Sequence[str], elements: Elements, tail: str, flags: int) -> None:
        """Compile the parts' templates; `tail` ends the call."""
        opening, closing = rf"<{elements.wrapper}\s{{0,64}}(?P<empty>/)?>", literal(f"</{elements.wrapper}>")
        self._part = regex.compile(
            LAYOUT + f"(?:{'|'.join(_part(template, elements) for template in templates)})", flags
        )
        openers = [literal(template.partition("{")[0]).replace(">", "/?>") for template in templates]
        self.start = f"(?:{'|'.join(openers)}|{opening.replace('?P<empty>', '?:')})"
        """The pattern of a call's possible beginnings."""
        self._arguments = regex.compile(LAYOUT + opening, flags)
        self._over = Ends(closing, "|".join([*openers, tail]), elements.quotes, escaped=True, flags=flags)

    def read(self, cur: Cursor, slots: dict[str, str], strays: Strays) -> Reading[bool]:
        """Read the part at the cursor into `slots`; return False if there is none."""
        yield from skip_layout(cur, strays)
        found = yield from match_next(cur, self._part)
        if found is None:
            if cut_off(cur, self._part, self._arguments):
                raise Truncated
            return False
        slot = str(found.lastgroup).removeprefix("in_")
        if slot in slots:
            raise Malformed("duplicate_key", f"the call's {slot} is given twice", cur.at)
        slots[slot] = decode_entities(found[slot] or "").strip()
        cur.pos = found.end()
        return True

    def read_behind(self, cur: Cursor, slots: dict[str, str], strays: Strays) -> Reading[None]:
        """Read the parts after the arguments at the cursor, and return to the arguments."""
        start = cur.at
        opening = yield from match_next(cur, self._arguments)
        if opening is None:
            return
        cur.pos = opening.end()
        if not opening["empty"]:
            yield from RawText(IGNORED).read(cur, self._over)
        while (yield from self.read(cur, slots, strays)):
            pass
        cur.go(start)


def _part(template: str, elements: Elements) -> str:
    """Return the pattern of a part, with a group for its slot and one for all: it may be empty, its text quoted."""
    (slot,) = re.findall(r"\{(\w+)\}", template)
    whole = head(template).source
    opener, closer = map(re.escape, elements.quotes[0])
    text = f"(?:{opener})?(?P<{slot}>{SLOT})(?:{closer})?"
    whole = whole.replace(f"(?P<{slot}>{SLOT})", f"(?:{text})?")
    empty = literal(template.partition(">")[0] + "/>")
    return f"(?P<in_{slot}>{whole}|{empty})"
