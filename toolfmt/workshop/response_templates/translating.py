"""A response template as a syntax: its regions are the blocks that a syntax knows.

thinking     reasoning                 between its markers, or from the answer's beginning
content      text that is wrapped      or, where nothing opens it, all that no marker claims
tool_calls   forms
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolfmt.dialect.syntax import Syntax
from toolfmt.errors import ResponseTemplateError
from toolfmt.workshop.response_templates.calls import call_forms
from toolfmt.workshop.response_templates.checking import CALLS, REASONING, TEXT, Field, anchors, checked
from toolfmt.workshop.response_templates.patterns import START

if TYPE_CHECKING:
    from collections.abc import Iterable

    from toolfmt.dialect.syntax import Pair
    from toolfmt.model import JsonObject


def syntax_of(template: JsonObject, stop: tuple[str, ...]) -> Syntax:
    """Translate a template; `stop` are further markers that end the answer. Raises `ResponseTemplateError`."""
    fields = checked(template)
    begins = anchors(template, "start_anchor", "start_anchor_pattern", "", {})
    for name, field in fields.items():
        if name != TEXT and field.implicit:
            raise ResponseTemplateError(f"/fields/{name}/open", f"missing: only {TEXT} may stand without a marker")
        if name != CALLS and field.content != "text":
            raise ResponseTemplateError(f"/fields/{name}/content", f"{name} is text, not {field.content}")
    if CALLS not in fields:
        raise ResponseTemplateError(f"/fields/{CALLS}", "missing: a dialect needs calls")
    reasoning = [pair for name in REASONING if name in fields for pair in _pairs(fields[name])]
    starts = [name for name in REASONING if name in fields and START in fields[name].markers("open", {})]
    if starts and not reasoning:
        raise ResponseTemplateError(f"/fields/{starts[0]}/open_pattern", "no marker opens the reasoning")
    text = fields.get(TEXT)
    forms = call_forms(fields[CALLS])
    common = Syntax(
        forms=forms,
        reasoning=tuple(reasoning),
        starts_in_reasoning=bool(starts),
        single=fields[CALLS].data.get("repeats") is not True and not forms[0].array,
        before_calls="\n" if text is None or text.strip else "",
    )
    return _with_text(common, text, begins, stop)


def _with_text(syntax: Syntax, text: Field | None, begins: Iterable[str], stop: tuple[str, ...]) -> Syntax:
    """Add where the text is."""
    from dataclasses import replace

    if text is None or text.implicit:
        closers = [] if text is None else text.markers("close", {})
        return replace(syntax, stop=_distinct((*_plain(closers), *stop)))
    pairs = _pairs(text, also=stop)
    if not pairs:
        raise ResponseTemplateError(f"{text.pointer}/open", "no marker opens the text")
    unclosed = any(not closer for _, closer in pairs)
    return replace(
        syntax,
        unwrap=_distinct_pairs((*pairs, *((begin, "") for begin in _plain(begins) if not begin[:1].isalnum()))),
        wrapped="mixed" if unclosed else "verbatim",
        unclaimed="text" if unclosed else "hidden",
        stop=stop,
    )


def _pairs(field: Field, also: tuple[str, ...] = ()) -> list[Pair]:
    """Pair every opening marker with every closing one; where white space is stripped, it belongs to the markers."""
    opens = [opener for opener in field.markers("open", {}) if opener not in {START, ""}]
    closes = _plain(field.markers("close", {})) or [""]
    if field.name == TEXT:
        return [(opener, closer) for opener in opens for closer in (*closes, *(also if closes != [""] else ()))]
    if not field.strip:
        return [(opener, closer) for opener in opens for closer in closes]
    return [
        (f"{opener.rstrip()}\n", f"\n{closer.strip()}\n\n" if closer else "") for opener in opens for closer in closes
    ]


def _plain(markers: Iterable[str]) -> list[str]:
    """Markers that are more than an edge of the answer."""
    return [marker for marker in markers if marker not in {START, ""}]


def _distinct(markers: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(markers))


def _distinct_pairs(pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    return tuple(dict.fromkeys(pairs))
