"""Translates a response template into a syntax.

thinking     reasoning                 between its markers, or from the answer's beginning
content      text that is wrapped      or, where nothing opens it, all text outside markers
tool_calls   forms                     by `content` and `transform`:

content "json", transform {"function": "{content}"}                       a JSON object is the call
content "json", transform {"name": "{name}", "arguments": "{content}"}    a JSON object after the name
content "json", transform_each                                            a list of JSON objects
content "xml-inline", tag_pattern "<p=(?P<key>...)>(?P<value>...)</p>"    elements after the name
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import cast

from toolfmt.dialect.literals import JSON_WORDS, Literals
from toolfmt.dialect.syntax import Elements, Form, JsonCall, Pair, Syntax
from toolfmt.errors import ResponseTemplateError
from toolfmt.model import JsonObject
from toolfmt.workshop.response_templates.checking import CALLS, PLACEHOLDER, REASONING, TEXT, Field, anchors, checked
from toolfmt.workshop.response_templates.patterns import START, marker, spellings

_WHOLE = JsonCall(
    template={"name": "{name}", "arguments": "{arguments}"},
    accepts=({"type": "function", "id": "{id}"}, {"function": {"name": "{name}", "arguments": "{arguments}"}}),
)
"""A call as a JSON object of its own: `{"name": ..., "arguments": ...}`, alone or as `function`."""
_TYPED = frozenset({"json", "int", "float", "bool"})
_OPENED = re.compile(r"<([\w:.\-]+)(?=[\s=>])")
_CLOSED = re.compile(r"</([\w:.\-]+)\s*>")


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
    forms = _call_forms(fields[CALLS])
    common = Syntax(
        forms=forms,
        reasoning=tuple(reasoning),
        starts_in_reasoning=bool(starts),
        single=fields[CALLS].data.get("repeats") is not True and not forms[0].array,
        before_calls="\n" if text is None or text.strip else "",
    )
    return _with_text(common, text, begins, stop)


def _with_text(syntax: Syntax, text: Field | None, begins: Iterable[str], stop: tuple[str, ...]) -> Syntax:
    if text is None or text.implicit:
        closers = [] if text is None else text.markers("close", {})
        return replace(syntax, stop=tuple(dict.fromkeys((*_plain(closers), *stop))))
    pairs = _pairs(text, also=stop)
    if not pairs:
        raise ResponseTemplateError(f"{text.pointer}/open", "no marker opens the text")
    unclosed = any(not closer for _, closer in pairs)
    return replace(
        syntax,
        unwrap=tuple(dict.fromkeys((*pairs, *((begin, "") for begin in _plain(begins) if not begin[:1].isalnum())))),
        wrapped="mixed" if unclosed else "verbatim",
        unclaimed="text" if unclosed else "hidden",
        stop=stop,
    )


def _pairs(field: Field, also: tuple[str, ...] = ()) -> list[Pair]:
    """Pair every opening marker with every closing one; white space that is stripped belongs to the markers."""
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
    """Return the markers that are not just an edge of the answer."""
    return [marker for marker in markers if marker not in {START, ""}]


@dataclass(frozen=True, slots=True)
class _Parts:
    """The sources of a call's parts: groups of the opening marker, and paths into the JSON body."""

    groups: Mapping[str, str]
    """Slots by the group that fills them."""
    paths: Mapping[str, tuple[str, ...]]
    """Paths by slot; the empty path is the whole body."""


def _call_forms(field: Field) -> tuple[Form, ...]:
    """Translate the field of calls; the first form is the written one."""
    parts = _parts(field)
    openers = [opener.replace("{id}", "{?{id}?}") for opener in field.markers("open", parts.groups)]  # may be missing
    closers = field.markers("close", {})
    if not openers or START in openers or "" in openers:
        raise ResponseTemplateError(field.pointer, "calls need an opening marker")
    closers = [closer for closer in closers if closer]
    if any("{" in closer for closer in closers):
        raise ResponseTemplateError(f"{field.pointer}/close_pattern", "only literals can close a call")
    if field.content == "json":
        return tuple(_json_form(field, parts, opener, closers) for opener in openers)
    if field.content == "xml-inline":
        if not closers:
            raise ResponseTemplateError(f"{field.pointer}/close", "missing: nothing else ends a call of elements")
        elements = _elements(field)
        return tuple(_element_form(field, parts, elements, opener, closers) for opener in openers)
    raise ResponseTemplateError(f"{field.pointer}/content", f"calls are not read from {field.content}")


def _parts(field: Field) -> _Parts:
    pointer = f"{field.pointer}/transform"
    if field.data.get("transform") is None:
        return _Parts({}, {"call": ()})
    transform = field.data["transform"]
    around = cast("JsonObject", transform) if isinstance(transform, dict) else {}
    wrapped = "function" in around
    function = cast("object", around["function"] if wrapped else transform)
    pointer += "/function" if wrapped else ""
    wanted: dict[str, object] = {"call": function}
    if isinstance(function, dict):
        inner = cast("JsonObject", function)
        wanted = {"name": inner.get("name"), "arguments": inner.get("arguments"), "id": around.get("id")}
        wanted["id"] = inner.get("id") if wanted["id"] is None else wanted["id"]
    groups: dict[str, str] = {}
    paths: dict[str, tuple[str, ...]] = {}
    for slot, value in wanted.items():
        if slot == "id" and value is None:
            continue
        found = PLACEHOLDER.fullmatch(value) if isinstance(value, str) else None
        if found is None:
            what = "missing" if value is None else f"{value!r} is not a placeholder"
            raise ResponseTemplateError(pointer if slot == "call" else f"{pointer}/{slot}", what)
        root, *path = found[1].split(".")
        if root in field.groups() and not path:
            groups[root] = slot
        elif field.data.get("transform_each") is True:
            paths[slot] = (root, *path)
        elif root == "content":
            paths[slot] = tuple(path)
        else:
            raise ResponseTemplateError(f"{pointer}/{slot}", f"no group of the opening pattern is named {root!r}")
    return _Parts(groups, paths)


def _json_form(field: Field, parts: _Parts, opener: str, closers: list[str]) -> Form:
    closer, ends = (closers[0], tuple(closers[1:])) if closers else ("", ())
    each = field.data.get("transform_each") is True
    if parts.paths == {"arguments": ()} and not each and "name" in parts.groups.values():
        literals = _literals(field)
        return Form(call=f"{opener}{{args}}{closer}", ends=ends, separator="", literals=literals)
    if parts.groups:
        raise ResponseTemplateError(
            f"{field.pointer}/transform", "a call's name in the marker and its arguments inside the JSON around them"
        )
    if _literals(field) is not None:
        raise ResponseTemplateError(f"{field.pointer}/content_args", "only for arguments after the tool's name")
    json = _WHOLE if parts.paths == {"call": ()} else JsonCall(template=_template(field, parts.paths))
    section = f"{opener}{{calls}}{closer}"
    separator = ", " if each else ""
    return Form(section=section, call="{call}", ends=ends, separator=separator, each=not each, array=each, json=json)


def _template(field: Field, paths: Mapping[str, tuple[str, ...]]) -> dict[str, object]:
    """Nest the slots by their paths: `{"fn": {"name": "{name}"}}` for `{content.fn.name}`."""
    made: dict[str, object] = {}
    for slot, path in paths.items():
        here: dict[str, object] | None = made
        for key in path[:-1]:
            inner = here.setdefault(key, {}) if here is not None else None
            here = cast("dict[str, object]", inner) if isinstance(inner, dict) else None
        if not path or here is None or path[-1] in here:
            pointer = f"{field.pointer}/transform"
            raise ResponseTemplateError(pointer, f"the call's {slot} cannot be {'.'.join(path) or 'the whole'}")
        here[path[-1]] = f"{{{slot}}}"
    return made


def _literals(field: Field) -> Literals | None:
    """Read how the region's JSON may differ: bare keys, other marks around text."""
    pairs = cast("list[object]", field.args.get("string_delims", []))
    quotes: list[str] = []
    for at, pair in enumerate(pairs):
        pointer = f"{field.pointer}/content_args/string_delims/{at}"
        if not isinstance(pair, list) or len(pair) != len(("open", "close")):  # pyright: ignore[reportUnknownArgumentType]
            raise ResponseTemplateError(pointer, "a pair of marks is due")
        opening, closing = (marker(one, f"{pointer}/{side}") for side, one in enumerate(cast("list[object]", pair)))
        if opening != closing:
            raise ResponseTemplateError(pointer, "the mark before a text must be the one after it")
        quotes.append(opening)
    if not quotes and field.args.get("unquoted_keys") is not True:
        return None
    return Literals(
        quotes=tuple(dict.fromkeys(quotes)) or ('"',),
        escapes=not quotes,
        words=JSON_WORDS,
        bare_keys=field.args.get("unquoted_keys") is True,
        spaced=False,
    )


def _elements(field: Field) -> Elements:
    pointer = f"{field.pointer}/content_args/tag_pattern"
    found = spellings(field.args["tag_pattern"], pointer, {"key": "key", "value": "value"})
    for template in found:
        if template.count("{value}") != 1 or "{key}" not in template.partition("{value}")[0]:
            raise ResponseTemplateError(pointer, "the groups `key` and, after it, `value` are required")
        before, _, after = template.partition("{value}")
        if not after.strip() or before.strip().startswith("{key}="):
            raise ResponseTemplateError(pointer, "an argument needs a marker before and after its value")
    if len(found) > len(("member", "loose_member")):
        raise ResponseTemplateError(pointer, "more than two ways to write an argument")
    inner = cast("JsonObject", field.args.get("value_parser", {})).get("name", "text")
    if inner not in {"text", *_TYPED}:
        raise ResponseTemplateError(f"{field.pointer}/content_args/value_parser/name", f"a value that is {inner}")
    airy = "\n{value}" in found[0]
    return Elements(
        member=found[0],
        loose_member=found[1] if len(found) > 1 else "",
        escape="none",
        indent="",
        separator="\n" if airy else "",
        closers_optional=True,
        inferred=inner in _TYPED,
        repeats=field.args.get("merge_duplicates") is True,
    )


def _element_form(field: Field, parts: _Parts, elements: Elements, opener: str, closers: list[str]) -> Form:
    if parts.paths != {"arguments": ()} or "name" not in parts.groups.values():
        raise ResponseTemplateError(f"{field.pointer}/transform", "elements are a call's arguments, after its name")
    inner = _left_open(opener, closers[0])
    gap = "\n" if "\n" in opener else ""
    first = "".join(f"</{tag}>{gap}" for tag in inner) + closers[0]
    lines = "\n" if elements.separator and opener.endswith(">") else ""
    ends = tuple(dict.fromkeys(closers)) if inner else tuple(closers[1:])
    return Form(call=f"{opener}{lines}{{members}}{first}", ends=ends, separator="", elements=elements)


def _left_open(opener: str, closer: str) -> list[str]:
    """Return the tags that the markers open but do not close, innermost first: models close them anyway."""
    opened, closed = _OPENED.findall(opener), _CLOSED.findall(closer)
    return [tag for tag in reversed(opened) if tag not in closed] if set(opened) & set(closed) else []
