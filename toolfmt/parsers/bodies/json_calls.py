"""Reads calls written as JSON objects, key by key.

    {"name": "get_weather", "arguments": {"city": "Paris"}}

The meaning of each key comes from a compiled shape. The arguments are emitted
as they arrive; keys may come in any order; keys without a meaning are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import TypeAlias

from toolfmt import jsontext
from toolfmt.dialect.record import Limits
from toolfmt.dialect.syntax import JsonCall
from toolfmt.model import JsonObject, JsonValue
from toolfmt.parsers.bodies.by_schema import has_one_reading
from toolfmt.parsers.bodies.claims import ArgumentsText, hidden, misnamed, misplaced, refuse_mended, report, unclaimed
from toolfmt.parsers.bodies.json_shapes import JsonNode
from toolfmt.parsers.bodies.json_values import decode, embedded, peek, read_value, skip_space, whole_value
from toolfmt.parsers.scanning.cursor import WHITE, Cursor, Malformed, Reading, Truncated
from toolfmt.parsers.scanning.pieces import Pieces
from toolfmt.parsers.scanning.sink import Draft
from toolfmt.schema import takes_none

ReadOne: TypeAlias = "Callable[[Cursor, JsonNode], Reading[None]]"
_UNCLEAR = frozenset({"", "/"})  # after a colon: more text or a comment may follow
_TEXT_SLOTS = frozenset({"id", "server", "agent"})
_PLAIN = re.compile(r'"([ !#-\[\]-\x7f]*)"').match
_COMMA = ", \t\r\n"
_KEY = re.compile(r'"([ !#-\[\]-\x7f]*)"[ \t\r\n]*:[ \t\r\n]*').match


class CallObject:
    """Reads one JSON call into a draft.

    A draft that is not confirmed becomes a call as soon as its name is that of an
    offered tool and its arguments begin. After `read`, `arguments` holds the arguments (None if they were missing),
    `wrapped` says that a key of the format is around the call, `unknown` lists keys that no template names, `mismatch`
    names a constant that differs from the format's, `listed` says that the object contains a list of calls.
    """

    def __init__(self, json: JsonCall, draft: Draft, limits: Limits, each: ReadOne) -> None:
        """Read into `draft`; `each` reads one element of a list of calls in the object."""
        self.each = each
        self.watch: Callable[[CallObject, JsonNode], None] | None = None
        """Called after each unknown key and each value; raises if the object cannot be a call any more."""
        self.json = json
        self.draft = draft
        self.limits = limits
        self.offered = draft.sink.options.tools
        self.arguments: JsonObject | None = None
        self.rest: JsonObject | None = None
        self.wrapped = False
        self.mismatch = ""
        self.listed = False
        self.prose = False
        """Whether the object introduces text, not a call."""
        self.text_value: tuple[str, int] | None = None
        """Text for the user in the object, and its offset."""
        self.failure: Malformed | None = None
        """The error of a value whose end is known nevertheless."""
        self.deferred = False
        """Whether more arguments follow the object, so that it does not emit them itself."""
        self.escaped = False
        """Whether a key contains an escape, as in text that must not be read as a call."""
        self._level, self._gap = 0, -1  # the number of open braces; where the last member ended
        self._outer: Collection[str] = ()
        self._matched: dict[str, object] = {}  # constants of the format in the object, by key
        self.keys: set[str] = set()
        self.unknown: dict[str, JsonValue] = {}
        self._text = ArgumentsText(draft)
        self.named_by, self.given = "", False  # the key of the name; whether there is a key for the arguments

    @property
    def meant(self) -> bool:
        """Whether the object was plainly meant as a call, even if it is broken."""
        named = bool(self.draft.name) and (self.given or self.wrapped or self.draft.name in self.offered)
        return not self.escaped and (named or self.json.meant_by in self.keys or bool(self._text_due()))

    def _text_due(self) -> str:
        """Return the key of the text that an object with these constants must have, or ""."""
        for template in self.json.accepts:
            key = next((key for key, slot in template.items() if slot == "{text}"), "")
            if key and all(self._matched.get(at) == value for at, value in template.items() if at != key):
                return key
        return ""

    def problem(self) -> tuple[str, str] | None:
        """Return why the complete object is not a call, as a reason and a detail, or None."""
        if self.failure is not None:
            return self.failure.reason, self.failure.detail
        if self.mismatch:
            return "mismatch", self.mismatch
        if not self.draft.name:
            due = self._text_due()
            answer = "missing_answer", f"an answer is required: {due!r} is missing or empty"
            return answer if due else ("missing_name", "the call names no tool")
        if self.json.closed and self.unknown:
            return "extra_field", f"{next(iter(self.unknown))!r} has no place in a call"
        taken = self._misplaced()
        absent = self.arguments is None and self.rest is None and not taken
        if absent and (self.unknown or self.json.arguments_required):
            return "missing_arguments", "the call has no arguments object"
        tool = self.offered.get(self.draft.name)
        given = self.arguments if self.arguments is not None else self.rest or {}
        detail = misnamed(self.arguments or {}, tool) or unclaimed(self.unknown, taken)
        detail = detail or hidden(self.keys, taken, given, tool)
        return ("unclaimed", detail) if detail else None

    def _misplaced(self) -> JsonObject:
        given = self.arguments if self.arguments is not None else self.rest or {}
        return misplaced(self.unknown, given, self.offered.get(self.draft.name))

    def checked(self, cur: Cursor) -> JsonObject:
        """Return the arguments of a complete object; raises if it has a problem."""
        if (problem := self.problem()) is not None:
            at = cur.at if self.failure is None else self.failure.at
            raise Malformed(*problem, at, cur.at, whole=self.failure is None)
        return self.settled()

    def without_brace(self, cur: Cursor) -> JsonObject | None:
        """Return the arguments of an object that lacks only its last brace, or None."""
        if self._gap < 0 or self.arguments is None or cur.since(self._gap).strip(_COMMA) or self.problem():
            return None
        return (
            self.settled() if has_one_reading(self.arguments, self.offered.get(self.draft.name), self._outer) else None
        )

    def ends_before(self, cur: Cursor, broken: Malformed) -> bool:
        """Whether a list's element lacks only its brace; then the cursor moves to where the list continues."""
        if broken.at != cur.at or cur.buf[cur.pos : cur.pos + 1] not in {"{", "]"} or self.without_brace(cur) is None:
            return False
        self.draft.note("missing_close", "the closing brace of the call is missing", cur.at)
        cur.go(self._gap)
        return True

    def settled(self) -> JsonObject:
        """Return the arguments of an object without a problem; missing ones are empty."""
        taken, keys, self.unknown = self._misplaced(), self.unknown, {}
        report(self.draft, keys, taken, self._cur.at)
        if self.arguments is None and not self.deferred:
            self._text.add("{}" if self.rest is None else jsontext.dumps(self.rest))
        self.arguments = {**(self.rest or {} if self.arguments is None else self.arguments), **taken}
        self._text.close(taken, first=len(self.arguments) == len(taken))
        return self.arguments

    def read(self, cur: Cursor, node: JsonNode) -> Reading[None]:
        """Read the object whose brace is at the cursor."""
        self._cur = cur
        self._outer = node.keys
        cur.pos += 1
        char = peek(cur) or (yield from skip_space(cur, self.slip))
        if char == "}":
            cur.pos += 1
            return
        self._level += 1
        yield from self._members(cur, node, set())
        self._level -= 1

    def _members(self, cur: Cursor, node: JsonNode, seen: set[str]) -> Reading[None]:  # noqa: C901 - one branch per kind of key
        while True:
            key = yield from self._key(cur)
            if key in seen:
                self.failure = Malformed("duplicate_key", f"the key {key!r} occurs twice", cur.at)
            seen.add(key)
            self.keys.add(key)
            child = node.keys.get(key)
            if child is None and not node.rest and not (node.keyed and not self.draft.name):
                self.unknown[key] = None
            if self.watch is not None and (child is None or self.escaped):
                self.watch(self, node)
            if child is not None:
                yield from self._value(cur, child, key)
            elif node.keyed and not self.draft.name:
                self._named(key)
                yield from self._arguments(cur)
            elif node.rest:
                self.rest = self.rest or {}
                self.rest[key] = yield from self.value(cur)
            else:
                self.unknown[key] = yield from self.value(cur)
            if self.watch is not None:
                self.watch(self, node)
            if (yield from self._closes(cur)):
                if self.rest is not None and node.rest != self.named_by:
                    self.unknown |= self.rest
                    self.rest = None
                return

    def _closes(self, cur: Cursor) -> Reading[bool]:
        """Read what follows a value; return True after the closing brace, False after a comma."""
        char = peek(cur) or (yield from skip_space(cur, self.slip))
        self._gap = cur.at
        if char == ",":
            cur.pos += 1
            char = peek(cur) or (yield from skip_space(cur, self.slip))
            if char != "}" or not self.json.tolerant:
                return False
            self.draft.note("repaired_json", "trailing comma", cur.at)
        if char == "}":
            cur.pos += 1
            return True
        if not char:
            raise Truncated
        raise Malformed("malformed", f"expected a comma or the end, found {char!r}", cur.at)

    def _key(self, cur: Cursor) -> Reading[str]:
        match = _KEY(cur.buf, cur.pos)
        if match is not None and cur.buf[match.end() : match.end() + 1] not in _UNCLEAR:
            cur.pos = match.end()
            return match[1]
        char = peek(cur) or (yield from skip_space(cur, self.slip))
        if not char:
            raise Truncated
        if char != '"' and not (char == "'" and self.json.tolerant):
            raise Malformed("malformed", f"expected a key, found {char!r}", cur.at)
        at = cur.at
        key = yield from self.value(cur)
        self.escaped = self.escaped or "\\" in cur.since(at)
        char = peek(cur) or (yield from skip_space(cur, self.slip))
        if not char:
            raise Truncated
        if char != ":":
            raise Malformed("malformed", f"expected a colon, found {char!r}", cur.at)
        cur.pos += 1
        if not (peek(cur) or (yield from skip_space(cur, self.slip))):
            raise Truncated
        return str(key)

    def value(self, cur: Cursor) -> Reading[JsonValue]:
        """Read and decode any value."""
        if not (peek(cur) or (yield from skip_space(cur, self.slip))):
            raise Truncated
        plain = _PLAIN(cur.buf, cur.pos)
        if plain is not None:
            cur.pos = plain.end()
            return plain[1]
        whole = whole_value(cur, self.limits) if cur.buf[cur.pos] in '{["' else None
        if whole is not None:
            return whole[0]
        at = cur.at
        pieces = Pieces()
        yield from read_value(cur, pieces, self._repaired(at), self.limits, tolerant=self.json.tolerant)
        return self._decoded(pieces.text(), at)

    def _repaired(self, at: int) -> Callable[[str], None]:
        return lambda what: self.draft.note("repaired_json", what, at)

    def _value(self, cur: Cursor, node: JsonNode, key: str) -> Reading[None]:  # noqa: C901 - one branch per meaning of a key
        char = cur.buf[cur.pos]
        if node.slip:
            written = f"around {node.slip!r}" if node.keys and char == "{" else f"instead of {node.slip!r}"
            self.draft.note("alias_used", f"{key!r} {written}", cur.at)
        if node.keys and char == "{":
            self.wrapped = True
            yield from self.read(cur, node)
        elif node.items is not None and char == "[":
            self.wrapped = True
            yield from self._list(cur, node.items)
        elif node.slot == "arguments":
            yield from self._arguments(cur, text=node.text)
        else:
            at = cur.at + 1  # after a string's quote
            value = yield from self.value(cur)
            if value in node.prose:
                self.prose = True
                return
            if value in node.constants:
                self._matched[key] = value
                return
            if node.slot == "name":
                self._named(value)
                self.named_by = key
            elif node.slot in _TEXT_SLOTS:
                self._labelled(node.slot, key, value, cur.at)
            elif node.slot == "reasoning":
                self.draft.reasoning = value if isinstance(value, str) else ""
                self.draft.reasoning_at = at
            elif node.slot == "text":
                text_value = (value, at) if isinstance(value, str) else (cur.since(at - 1), at - 1)
                self.text_value = None if value is None or not text_value[0].strip(WHITE) else text_value
            elif node.constants and not node.slot:
                self.mismatch = f"{key!r} is {jsontext.dumps(value)[:40]}"

    def _list(self, cur: Cursor, node: JsonNode) -> Reading[None]:
        cur.pos += 1
        self.listed = True
        while True:
            char = peek(cur) or (yield from skip_space(cur, self.slip))
            if char and char not in ",]":
                yield from self.each(cur, node)
                char = peek(cur) or (yield from skip_space(cur, self.slip))
            if not char:
                raise Truncated
            if char not in ",]":
                raise Malformed("malformed", f"expected a comma or the end, found {char!r}", cur.at)
            cur.pos += 1
            if char == "]":
                return

    def _labelled(self, slot: str, key: str, value: JsonValue, end: int) -> None:
        """Store an id, or the name of a server or agent; these route the call and are never guessed."""
        default = getattr(self.draft, slot)
        blank = isinstance(value, str) and not value.strip()
        if isinstance(value, str) and not blank:
            setattr(self.draft, slot, value)
        elif value is not None and (self.json.closed or (slot != "id" and not blank)):
            self.failure = Malformed("mismatch", f"{key!r} is {jsontext.dumps(value)[:40]}, which is not a name", end)
        elif blank and default is not None:
            self.draft.note("defaulted", f"{key!r} is empty: it counts as {default!r}", end - 2, end)

    def _named(self, name: JsonValue) -> None:
        if isinstance(name, str) and not self.draft.name:
            self.draft.name = name
            self.draft.announce()
        elif name and not isinstance(name, str):
            detail = f"the tool's name is {jsontext.dumps(name)[:60]}, not a text"
            self.failure = self.failure or Malformed("missing_name", detail, self._cur.at)
        elif name and name != self.draft.name:
            names = f"{self.draft.name[:60]!r} and {name[:60]!r}"
            self.failure = Malformed("duplicate_key", f"the call names two tools: {names}", self._cur.at)

    def _arguments(self, cur: Cursor, *, text: bool = False) -> Reading[None]:
        """Read the arguments; `text`: the format writes them as JSON text in a string."""
        draft = self.draft
        if self.arguments is not None:
            self.failure = Malformed("duplicate_key", "the arguments are given twice", cur.at)
            yield from self.value(cur)
            return
        char = peek(cur) or (yield from skip_space(cur, self.slip))
        at = cur.at
        self.given = True
        if char == "{":
            if not (draft.confirmed or self.escaped) and draft.name in self.offered:
                draft.confirmed = True
                draft.announce()
            if (whole := whole_value(cur, self.limits, self._level)) is not None:
                self.arguments = whole[0]
                self._text.add(whole[1])
                refuse_mended(draft, self.arguments or {}, cur.at)
                return
            yield from read_value(cur, self._text, self._repaired(at), self.limits, tolerant=self.json.tolerant)
            self.arguments = self._decoded(self._text.so_far(), at)
            refuse_mended(draft, self.arguments or {}, cur.at)
            return
        value: JsonValue = yield from self.value(cur)
        if self._is_empty(value):
            draft.note("defaulted", f"the arguments are {jsontext.dumps(value)}: they count as {{}}", at, cur.at)
            value = dict[str, object]()
        elif isinstance(value, str) and self.json.tolerant:
            value = self._held(value, at)
            if not text:
                draft.note("repaired_json", "the arguments are JSON text in a string", at, cur.at)
        if not jsontext.is_object(value):
            self.failure = self.failure or _no_object(value, at)
            return
        self.arguments = value
        self._text.add(jsontext.dumps(value))

    def _is_empty(self, value: JsonValue) -> bool:
        """Whether a value other than an object means that there are no arguments."""
        if value is None:
            return not self.json.arguments_required
        tool = self.draft.sink.options.tools.get(self.draft.name)
        if value == [] and tool is not None:
            return self.json.tolerant and takes_none(tool.parameters)
        return self.json.tolerant and isinstance(value, str) and not value.strip(WHITE)

    def _held(self, text: str, at: int) -> JsonValue:
        """Decode arguments given as the JSON text of an object."""
        value = self._decoded(text, at, held=True)
        if self.failure is not None and "{" not in text:
            self.failure = _no_object(text, at)
        return value

    @property
    def slip(self) -> Callable[[str], None] | None:
        """The function that reports slips between the values; None if none are allowed."""
        return self._slip if self.json.tolerant else None

    def _slip(self, what: str) -> None:
        self.draft.note("repaired_json", what, self._cur.at)

    def _decoded(self, text: str, at: int, *, held: bool = False) -> JsonValue:
        """Decode a value's text, or text that a string `held`, with the slips that the object allows."""
        try:
            return embedded(text, at, self._repaired(at), self.limits) if held else decode(text, at, self.limits)
        except Malformed as failure:
            self.failure = failure
            return {}


def _no_object(arguments: JsonValue, at: int) -> Malformed:
    return Malformed("arguments_not_object", f"the arguments are {jsontext.dumps(arguments)[:60]}, not an object", at)
