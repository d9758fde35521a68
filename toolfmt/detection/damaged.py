"""Find calls whose markers are damaged in a way that a person still recognises.

    &lt;tool_call&gt;{"name": "search", ...}                HTML entities, also full-width or invisible characters
    <Tool_Call>, <<tool_call>>, tool_call>, < tool_call >    letter case, brackets and blanks

The text is read again in plain characters and with the markers of the format. What is read then is reported, and never
run: a text about a format may hold the same characters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice
from typing import Final

from toolfmt.detection.detecting import Read
from toolfmt.dialect.syntax import BODY_SLOTS, Syntax
from toolfmt.events import CallEnd
from toolfmt.lookup.registry import default_registry
from toolfmt.model import ToolDefinition
from toolfmt.parsers.plain_text import hides_words, is_plain, may_have_markers, plain
from toolfmt.parsers.respelling import LATIN, LONGEST, PLAINLY, misspelt, sparing

_MOST: Final = 12
"""Dialects in which a text with the words of their markers is read."""
_WORD = re.compile(r"[^\W_\d]{3,}(?![^{}]*\})")
_BODY = re.compile(r"\{(?:" + "|".join(sorted(BODY_SLOTS)) + r")\}")
_NAME = re.compile(r"[\w.:/\-]{1,128}").fullmatch
_CODE = re.compile(r"<(?:code|pre|kbd|samp|textarea)\b", re.IGNORECASE)


def damaged_call(text: str, tools: Mapping[str, ToolDefinition], dialect: str, read: Read) -> tuple[str, str] | None:
    """Return the part of a text that is a call with damaged markers, and what is wrong with it.

    Without `tools`, a call counts if the dialect's own marker begins it.
    """
    text = text[:LONGEST]
    if not may_have_markers(text):
        return None
    odd = not is_plain(text)
    lowered = (plain(text) if hides_words(text) else text).lower().translate(LATIN)
    names = {name.lower() for name in tools}
    if tools and not any(map(lowered.__contains__, names)):
        return None
    likely = _likely(lowered, text, dialect, otherwise=odd or bool(tools))
    if odd and _CODE.search(text):
        return None  # a page in HTML shows it
    from toolfmt.detection.unread_calls import is_shown, unread_call

    read = sparing(read, ())

    def reads(said: str, name: str) -> bool:
        ended = [
            event for event in read(said, name) if isinstance(event, CallEnd) and not is_shown(said, event.span[0])
        ]
        if tools:
            return any(event.call.name.lower() in names for event in ended)
        return any(event.call.provenance == "marker" and _NAME(event.call.name) for event in ended)

    for name in likely:
        known = default_registry().dialect(name)
        if slips := misspelt(known, text, lambda said, name=name: reads(said, name), tools.values()):
            which = "" if name == dialect else f"it looks like {name}, and "
            return text.strip(), f"{which}a marker is misspelt: {slips}"
    found = unread_call(plain(text), tools, read) if odd and tools else None
    return None if found is None else (text.strip(), f"it looks like a call of {found[1]!r}: {PLAINLY}")


def _likely(lowered: str, text: str, dialect: str, *, otherwise: bool) -> list[str]:
    """Return the dialects whose first marker may be in a text, by its words in lower case."""
    registry = default_registry()
    if dialect:
        if dialect not in registry.names():
            return []  # the user's own
        return [dialect] if _has_marker(lowered, registry.dialect(dialect).syntax, otherwise=otherwise) else []
    from toolfmt.detection.unread_calls import nearest

    marked = (one.name for one in registry if _has_marker(lowered, one.syntax, otherwise=otherwise))
    return [*dict.fromkeys([*nearest(text, registry)[1], *islice(marked, _MOST)])]


def _has_marker(lowered: str, syntax: Syntax | None, *, otherwise: bool) -> bool:
    """Whether all words of the marker that begins a call are in a text in lower case; `otherwise` if it has none."""
    if syntax is None:
        return False
    form = syntax.forms[0]
    if form.json is not None and "{" not in lowered and not otherwise:
        return False  # no call follows a marker
    template = syntax.frame.call if syntax.frame is not None else form.section.replace("{calls}", form.call)
    begin = template.lstrip().partition("{")[0]
    words = _WORD.findall(begin.lower()) or _WORD.findall(_BODY.split(template)[0].lower())
    return all(map(lowered.__contains__, words)) if words else otherwise
