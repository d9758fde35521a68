r"""Reads the text that a dialect writes results in back into results: its templates, backwards.

    "Tool: {name}{? (ID: {id})?}\nStatus: {status}\nResult:\n{content}"    the template of one result
    "Tool: get_weather\nStatus: Success\nResult:\n18C"                     ResultPart((TextPart("18C"),), name=...)

A text that does not fit is no result, or one without markers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, cast

from toolfmt import jsontext
from toolfmt.conversation import Content, JsonPart, ResultPart, TextPart
from toolfmt.dialect.syntax import Maybe, Piece, Slot, Syntax, Verbatim, split
from toolfmt.errors import ParseError
from toolfmt.model import JsonObject, JsonValue

_CONTENT: Final = frozenset({"content", "content_json"})
_SLOT: Final = r"[^\n]{0,512}?"
_FAILED: Final = frozenset({"Error", "failure"})


def result_slots(syntax: Syntax) -> frozenset[str]:
    """Name the slots that a result is written with: `content`, `name`, `id`, `status`."""
    template = repr(syntax.result_json) if syntax.result_json else syntax.result
    return frozenset(re.findall(r"\{([a-z]+)\}", template))


class ResultReader:
    """Reads the results of one syntax."""

    def __init__(self, syntax: Syntax) -> None:
        self._json = syntax.result_json
        self._before, _, self._after = syntax.results.partition("{results}")
        self._separator = syntax.result_separator
        self._failure = syntax.error.partition("{content}")
        head, slot, tail = split(syntax.result, _CONTENT)
        self._encoded = slot == "content_json"
        self.marked = bool(self._json or head or tail or self._before)
        """Whether results are distinguished from other text by more than who says them."""
        end = rf"{re.escape(self._after)}\Z"
        if head or tail:
            end = f"{end}|{re.escape(self._separator)}{_pattern(head, set(), named=False)}"
        names: set[str] = set()
        opening = _pattern(head, names)
        self._one = re.compile(rf"{opening}(?P<content>[\s\S]*?){_pattern(tail, names)}(?={end})")

    def read(self, text: str) -> tuple[ResultPart, ...] | None:
        """Read all results of a message; None if the text is not what this format writes."""
        one = self._object if self._json else self._text
        for whole in dict.fromkeys((text, text.strip())):
            if whole.startswith(self._before) and whole.endswith(self._after) and (found := self._all(whole, one)):
                return found
        return None

    def _all(self, text: str, one: Callable[[str, int], tuple[ResultPart, int] | None]) -> tuple[ResultPart, ...]:
        """Read one result after the other; none if one does not fit."""
        at, end = len(self._before), len(text) - len(self._after)
        found: list[ResultPart] = []
        while (read := one(text, at)) is not None:
            part, at = read
            found.append(part)
            if at == end:
                return tuple(found)
            if not text.startswith(self._separator, at):
                break
            at += len(self._separator)
        return ()

    def _text(self, text: str, at: int) -> tuple[ResultPart, int] | None:
        match = self._one.match(text, at)
        if match is None:
            return None
        slots = match.groupdict()
        content = _decoded(slots["content"]) if self._encoded else slots["content"]
        ident = slots.get("id") or _decoded(slots.get("id_json") or "null")
        return self._result(content, slots.get("name"), ident, slots.get("status")), match.end()

    def _object(self, text: str, at: int) -> tuple[ResultPart, int] | None:
        slots: JsonObject = {}
        try:
            value, end = jsontext.raw_value(text, at)
        except ParseError:
            return None
        if not _fits(self._json, value, slots):
            return None
        return self._result(*(slots.get(f"{{{key}}}") for key in ("content", "name", "id", "status"))), end

    def _result(self, content: JsonValue, name: JsonValue, ident: JsonValue, status: JsonValue) -> ResultPart:
        before, _, after = self._failure
        failed = status in _FAILED if isinstance(status, str) else False
        if before and isinstance(content, str) and content.startswith(before) and content.endswith(after):
            content, failed = content[len(before) : len(content) - len(after)], True
        part: Content = TextPart(content) if isinstance(content, str) else JsonPart(content)
        return ResultPart(
            () if content == "" else (part,),
            ident if isinstance(ident, str) and ident else None,
            name if isinstance(name, str) and name else None,
            failed,
        )


def _decoded(text: str) -> JsonValue:
    """Read JSON text; anything else stays text."""
    try:
        return jsontext.loads(text)
    except ParseError:
        return text


def _pattern(template: Sequence[Piece], seen: set[str], *, named: bool = True) -> str:
    """Write pieces as a regular expression; a slot that comes again holds the same."""
    out: list[str] = []
    for piece in template:
        match piece:
            case Verbatim(text):
                out.append(re.escape(text))
            case Maybe(inner):
                out.append(f"(?:{_pattern(inner, seen, named=named)})?")
            case Slot(name) if not named:
                out.append(_SLOT)
            case Slot(name) if name in seen:
                out.append(f"(?P={name})")
            case Slot(name):
                seen.add(name)
                out.append(f"(?P<{name}>{_SLOT})")
    return "".join(out)


def _fits(template: object, value: JsonValue, slots: JsonObject) -> bool:
    """Whether a value is what the template gives for some slots, which are collected."""
    if isinstance(template, str) and template.startswith("{"):
        slots[template] = value
        return True
    if not isinstance(template, dict):
        return not isinstance(template, (list, tuple)) and jsontext.equal(template, value)
    members = cast("dict[str, object]", template)
    if not jsontext.is_object(value) or not value.keys() <= members.keys():
        return False
    return all(
        _fits(inner, value[key], slots) if key in value else isinstance(inner, str) and inner.startswith("{")
        for key, inner in members.items()
    )
