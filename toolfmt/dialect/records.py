"""Syntax records as JSON, and what a record must be before anything is compiled from it.

Each fault raises `DialectRecordError` with the field's JSON Pointer:

    /forms/0/call: there is no slot {nmae} here; there are {agent}, {args}, ...
    /forms/0/call: nothing describes {call}: give `json`
    /forms/0/elements/item: a marker holds something else than blanks
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Final, cast

from toolfmt.dialect.frames import Frame
from toolfmt.dialect.literals import Literals
from toolfmt.dialect.syntax import (
    ANY_KEY,
    BODY_SLOTS,
    Elements,
    Form,
    JsonCall,
    Maybe,
    Piece,
    Slot,
    Syntax,
    Verbatim,
    pieces,
)
from toolfmt.errors import DialectRecordError
from toolfmt.jsontext import MAX_NESTING, too_deep
from toolfmt.model import JsonObject

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_WILD: Final = frozenset({"any", "plain"})
_HEAD: Final = frozenset({"name", "id", "server", "agent", "index", "index1", "text", "reasoning"})
_RESULT: Final = frozenset(
    {"name", "id", "content", "status", "index", "index1", "id_json", "name_json", "content_json"}
)
_JSON: Final = frozenset({"name", "arguments", "arguments_text", "id", "server", "agent", "text", "reasoning", "any"})
_VALUE: Final = frozenset({"value", "type", "string"})
_WIDEST: Final = 16
_LONGEST: Final = 1000
_SOFT: Final = " \t\r\n\"'"
"""Characters that a literal may lack when it is read."""
_BODIES: Final = {"call": "json", "members": "elements"}
"""What describes a body that is more than text."""


def dump(syntax: Syntax) -> JsonObject:
    """Turn a description into JSON; `load` reads it back."""
    return _adapter().dump_python(syntax, mode="json")


def load(data: JsonObject) -> Syntax:
    """Read a description from JSON; raises `DialectRecordError` that names a wrong field."""
    from pydantic import ValidationError

    if too_deep(data):
        raise DialectRecordError(f"the description is nested more than {MAX_NESTING} levels deep")
    try:
        found = _adapter().validate_python(data)
    except ValidationError as error:
        first = error.errors()[0]
        raise DialectRecordError(f"/{'/'.join(map(str, first['loc']))}: {first['msg']}") from None
    check_syntax(found)
    return found


@cache
def _adapter() -> TypeAdapter[Syntax]:
    from pydantic import TypeAdapter

    return TypeAdapter(Syntax)


def check_syntax(syntax: Syntax) -> None:
    """Refuse a record that cannot write calls or whose markers match blank text."""
    if not syntax.forms:
        raise DialectRecordError("/forms: a format has at least one form")
    for at, form in enumerate(syntax.forms):
        _check_form(form, f"/forms/{at}")
        if syntax.frame is None:
            _check_name(form, f"/forms/{at}")
    if syntax.frame is not None:
        _check_frame(syntax.frame)
    _check_slots(syntax.tools, "/tools", frozenset({"tools"}), "tools")
    _check_slots(syntax.result, "/result", _RESULT)
    _check_slots(syntax.results, "/results", frozenset({"results"}), "results")
    _check_slots(syntax.error, "/error", frozenset({"content"}))
    for field in ("reasoning", "hidden", "unwrap", "leading"):
        for at, (opener, closer) in enumerate(getattr(syntax, field)):
            _check_marker(opener, f"/{field}/{at}/0")
            _check_length(closer, f"/{field}/{at}/1")
            if closer.isspace():
                raise DialectRecordError(f"/{field}/{at}/1: a marker is not white space alone: {closer!r}")
    for field in ("stop", "special"):
        for at, marker in enumerate(getattr(syntax, field)):
            _check_marker(marker, f"/{field}/{at}")


def _check_name(form: Form, where: str) -> None:
    """Refuse a form in which nothing says which tool is called."""
    if not (_slots(form.call) & {"name", "call"} or form.name or form.name_in_id):
        raise DialectRecordError(f"{where}/call: {_missing(form.call, 'name')}: nothing says which tool is called")


def _matches_empty(pattern: str) -> bool:
    import regex

    try:
        return regex.match(pattern, "") is not None
    except regex.error:  # reported when it is compiled
        return False


def _check_frame(frame: Frame) -> None:
    for field in ("opens", "ends"):
        for at, marker in enumerate(getattr(frame, field)):
            _check_marker(marker, f"/frame/{field}/{at}")
    _check_marker(frame.start, "/frame/start")
    _check_length(frame.header, "/frame/header")
    if _matches_empty(frame.header):
        raise DialectRecordError("/frame/header: it matches an empty text, so that no body would ever begin")
    _check_length(frame.body, "/frame/body")
    if not frame.body:
        raise DialectRecordError("/frame/body: nothing ends a header")
    _check_slots(frame.call, "/frame/call", frozenset({"name"}), "name")


def _check_form(form: Form, where: str) -> None:
    own = frozenset[str]() if not form.name else _slots(form.call)  # then its slots are the tool's parameters
    _check_slots(form.call, f"{where}/call", _HEAD | _WILD | BODY_SLOTS | own)
    _check_slots(form.section, f"{where}/section", _WILD | {"calls"}, "calls")
    _check_body(form, where)
    for field in ("ends", "parts"):
        for at, marker in enumerate(getattr(form, field)):
            _check_slots(marker, f"{where}/{field}/{at}", _HEAD | _WILD)
            _check_marker(marker, f"{where}/{field}/{at}")
    if form.elements is not None:
        _check_elements(form.elements, f"{where}/elements")
        _check_ends(form, form.elements, f"{where}/elements")


def _check_body(form: Form, where: str) -> None:
    if form.bare and "name" not in _slots(form.call):
        missing = _missing(form.call, "name")
        raise DialectRecordError(f"{where}/call: {missing}, by which a section without marker is known")
    bodies = _slots(form.call) & BODY_SLOTS
    if len(bodies - {"payload"}) > 1 or not bodies:
        found = ", ".join(f"{{{name}}}" for name in sorted(bodies)) or "none"
        raise DialectRecordError(
            f"{where}/call: a call has one body, {{call}}, {{args}}, {{members}}, ...; found {found}"
        )
    for slot, field in _BODIES.items():
        if slot in bodies and getattr(form, field) is None:
            raise DialectRecordError(f"{where}/call: nothing describes {{{slot}}}: give `{field}`")
        if slot not in bodies and getattr(form, field) is not None:
            raise DialectRecordError(f"{where}/{field}: the call has no slot {{{slot}}} that this describes")
    if "payload" in bodies and not form.payload:
        raise DialectRecordError(f"{where}/call: nothing says which parameter {{payload}} is: give `payload`")
    if form.json is not None:
        _check_json(form.json, f"{where}/json")
    if form.literals is not None:
        _check_literals(form, form.literals, where)


def _check_literals(form: Form, literals: Literals, where: str) -> None:
    if "{args}" not in form.call:
        raise DialectRecordError(f"{where}/literals: the call has no slot {{args}} that this describes")
    if literals.keywords and "({args})" not in form.call:
        raise DialectRecordError(f"{where}/call: keyword arguments are written in parentheses: {{name}}({{args}})")
    if not all(literals.quotes or ("",)):
        raise DialectRecordError(f"{where}/literals/quotes: text needs quotation marks")


def _check_json(json: JsonCall, where: str) -> None:
    if not 0 <= (json.indent or 0) <= _WIDEST:
        raise DialectRecordError(f"{where}/indent: 0 to {_WIDEST} blanks, or null for one line")
    _check_template(json.template, f"{where}/template")
    for field in ("accepts", "slips"):
        for at, template in enumerate(getattr(json, field)):
            _check_template(template, f"{where}/{field}/{at}")


def _check_template(template: object, where: str) -> None:
    """Refuse an object as it is written that has unknown slots, or whose further keys have no name beside them."""
    if isinstance(template, Mapping):
        members = cast("Mapping[str, object]", template)
        if ANY_KEY in members and "{name}" not in members.values():
            raise DialectRecordError(f"{where}: further keys ({ANY_KEY!r}) are arguments of a {{name}} beside them")
        for key, value in members.items():
            _check_template(value, f"{where}/{key}")
    elif isinstance(template, (list, tuple)):
        items = cast("Sequence[object]", template)
        if len(items) != 1:
            raise DialectRecordError(f"{where}: a list is written as one item, which matches any number")
        _check_template(items[0], f"{where}/0")
    elif isinstance(template, str) and re.fullmatch(r"\{[a-z_]+\}", template):
        _check_slots(template, where, _JSON)


def _check_elements(elements: Elements, where: str) -> None:
    for field in ("member", "item", "odd_member", "loose_member", "wrapper"):
        template = getattr(elements, field)
        if not template and field != "member":
            continue
        place = f"{where}/{field}"
        if field == "wrapper":
            _check_slots(template, place, frozenset())
        elif field == "item":
            _check_slots(template, place, _VALUE, "value")
        else:
            _check_slots(template, place, _VALUE | {"key"}, "value", "key")
        _check_marker(template, place)
        if field != "wrapper":
            opener, _, closer = template.partition("{value}")
            _check_closer(opener, closer, place)
    for at, (opener, closer) in enumerate(elements.quotes):
        _check_marker(opener, f"{where}/quotes/{at}/0")
        _check_marker(closer, f"{where}/quotes/{at}/1")


def _check_closer(opener: str, closer: str, where: str) -> None:
    """Refuse text around a value that does not show where the value begins and ends."""
    if opener.rstrip().endswith(("{key}", "{type}")):
        raise DialectRecordError(f"{where}: nothing but white space shows where {{value}} begins: {opener!r}")
    if not closer.strip():
        raise DialectRecordError(f"{where}: nothing follows {{value}}, so nothing shows where a value ends")
    if not closer.strip(_SOFT):
        raise DialectRecordError(f"{where}: only quotation marks follow {{value}}: they may be missing when read")
    if closer[0].isspace() and closer[0] not in "\r\n":
        detail = "white space of a literal may be of another length, so it would be read as part of the value"
        raise DialectRecordError(f"{where}: the text after {{value}} begins with white space: {closer!r}: {detail}")


def _check_ends(form: Form, elements: Elements, where: str) -> None:
    """Refuse markers that cannot be distinguished: a closer that begins an opener, or that ends a value."""
    opener, _, closer = (part.strip() for part in form.call.partition("{members}"))
    pairs = [tuple(map(str.strip, template.split("{value}"))) for template in _of_values(elements)]
    for begins, ends in [(opener, closer), *pairs]:
        if ends and begins.startswith(ends):
            raise DialectRecordError(f"{where}: the closing marker {ends!r} also begins the opening one: {begins!r}")
    for _, ends in pairs:
        if closer and (closer in ends or ends in closer):
            raise DialectRecordError(f"{where}: a call's closing marker {closer!r} is like that of a value, {ends!r}")


def _of_values(elements: Elements) -> Iterator[str]:
    yield from filter(None, (elements.member, elements.item, elements.odd_member, elements.loose_member))


def _check_length(template: str, where: str) -> None:
    """Refuse what is too long to be searched for quickly, and half an optional part."""
    if len(template) > _LONGEST:
        raise DialectRecordError(f"{where}: {len(template)} characters; a marker has {_LONGEST} at most")
    try:
        pieces(template)
    except DialectRecordError as error:
        raise DialectRecordError(f"{where}: {error}") from None


def _check_slots(template: str, where: str, known: frozenset[str], *needed: str) -> None:
    _check_length(template, where)
    found = _slots(template)
    if unknown := sorted(found - known):
        slots = ", ".join(f"{{{name}}}" for name in sorted(known))
        advice = f"; there are {slots}" if len(known) > 1 else f", only {slots}" if known else ""
        raise DialectRecordError(f"{where}: there is no slot {{{unknown[0]}}} here{advice}")
    for name in needed:
        if name not in found:
            raise DialectRecordError(f"{where}: {_missing(template, name)}")


def _missing(template: str, slot: str) -> str:
    """Say how a template lacks a slot."""
    unclosed = re.search(rf"\{{{slot}\b(?!\}})", template)
    return f"the brace of {unclosed.group()} is not closed" if unclosed else f"the slot {{{slot}}} is missing"


def _check_marker(template: str, where: str) -> None:
    """Refuse a marker that matches blank text: it would begin everywhere."""
    _check_length(template, where)
    first = next(_required(pieces(template)), None)
    if not isinstance(first, Verbatim):
        raise DialectRecordError(f"{where}: a marker begins with text, not with a slot or a blank: {template!r}")
    if not first.text.strip(_SOFT):
        raise DialectRecordError(f"{where}: a marker is more than quotation marks, which may be missing: {template!r}")


def _required(parts: tuple[Piece, ...]) -> Iterator[Piece]:
    """Return the parts that are always there, without blank text."""
    return (
        part
        for part in parts
        if not isinstance(part, Maybe) and not (isinstance(part, Verbatim) and not part.text.strip())
    )


def _slots(template: str) -> frozenset[str]:
    return frozenset(_named(pieces(template)))


def _named(parts: tuple[Piece, ...]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Slot):
            yield part.name
        elif isinstance(part, Maybe):
            yield from _named(part.pieces)
