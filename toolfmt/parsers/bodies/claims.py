"""Handles what a model wrote in places for which the format defines nothing.

    <tool name="delete" path="/tmp/x"/>           an argument, if the tool declares `path`
    <tool name="delete" target="/tmp/x"/>         a failure: it may have been meant as an argument
    <tool name="delete" xmlns="urn:tools"/>       never an argument: a notice

An attribute is decided when the call ends: an argument that is
also given in its own place is not taken from another one. The same applies to the
keys of a JSON call: a declared one is an argument, an `id` is a notice.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress

import regex

from toolfmt import jsontext
from toolfmt.errors import ParseError, SchemaError
from toolfmt.events import Event, Span
from toolfmt.model import JsonObject, JsonValue, ToolDefinition
from toolfmt.parsers.bodies.element_values import ArgumentStream, leaf
from toolfmt.parsers.bodies.json_shapes import JsonNode
from toolfmt.parsers.scanning.cursor import Cursor, Malformed, Reading
from toolfmt.parsers.scanning.damage import is_nearly
from toolfmt.parsers.scanning.patterns import match_next
from toolfmt.parsers.scanning.sink import Draft
from toolfmt.schema import declares, declares_all, problems, property_names, property_schema

_NAMESPACE = re.compile(r"xmlns(?::.*)?|xml:.*|xsi:.*", re.IGNORECASE).fullmatch
_CALL_KINDS = frozenset({"function", "tool", "tool_call", "tool_use", "function_call"})
_CALL_MARKS = frozenset({"id", "call_id", "tool_call_id", "index"})
"""Keys that other formats write beside a call's name, never as arguments."""


class Strays:
    """What one call contains in undefined places, until the call's end decides it."""

    def __init__(self, draft: Draft) -> None:
        """Collect for the call of `draft`."""
        self._draft = draft
        self._found: list[tuple[str, str, Span, bool]] = []

    def __bool__(self) -> bool:
        """Whether anything was found."""
        return bool(self._found)

    def add(self, key: str, text: str, span: Span, *, on_call: bool = False) -> None:
        """Add an attribute of a tag at `span`; `on_call`: the tag is the call's own."""
        self._found.append((key, text, span, on_call))

    def add_slots(self, slots: Mapping[str, JsonValue], span: Span) -> None:
        """Add what a call's head contains at `span` beside its name; numbers are ignored."""
        for key, text in slots.items():
            if not str(text).isdecimal():
                self.add(key, str(text), span)

    def ignore(self, what: str, span: Span) -> None:
        """Report what cannot be an argument: a comment, an unknown type name."""
        self._draft.note("unclaimed", f"no part of the call: {what[:200]!r}", *span)

    def settle(self, members: ArgumentStream | None, schema: JsonObject | None, end: int) -> None:
        """Take declared arguments that are missing elsewhere; raise `Malformed` for other possible arguments.

        Without `members` the arguments are complete, and none is taken. Reading resumes at `end`.
        """
        for key, text, span, on_call in self._found:
            if _means_nothing(key, text, on_call=on_call):
                self.ignore(f"{key}={text}", span)
            elif members is not None and schema is not None and declares(schema, key):
                value = leaf(text, property_schema(schema, key), "", verbatim=False)
                if key not in members.values:
                    members.add(key, value, span)
                    self._draft.note("misplaced", f"the argument {key!r} was given as an attribute", *span)
                elif not jsontext.equal(members.values[key], value):
                    detail = f"{key!r} is given as an attribute and as an argument"
                    raise Malformed("duplicate_key", detail, span[0], end)
                else:
                    self.ignore(f"{key}={text}", span)
            elif on_call and schema is not None and key in _CALL_MARKS:
                self.ignore(f"{key}={text}", span)
            else:
                raise Malformed("unclaimed", f"the attribute {key!r} is not part of the format", span[0], end)
        self._found.clear()


def _means_nothing(key: str, text: str, *, on_call: bool) -> bool:
    """Whether an attribute is never an argument."""
    if key == "type":
        return not on_call or text.lower() in _CALL_KINDS
    return _NAMESPACE(key) is not None


_MEMBERS = re.compile(r"""[^\[{]*["']\s*,\s*["'][^"']*["']\s*:[^\[{]*""").fullmatch
_PHRASE = re.compile(r"[\s=\"']").search
_MARKS = frozenset({"id", "call_id", "tool_call_id", "index", "type", "object", "role", "status", "version"})
_THOUGHTS = frozenset({"thought", "thoughts", "thinking", "reasoning", "rationale", "reason", "explanation", "comment"})


_FIRST_KEY = regex.compile(r"""\s{0,64}\{\s{0,64}["'](?P<key>[^"'\\\n]{0,64})["']\s{0,16}:\s{0,64}(?P<value>\S)""")


def no_call_follows(cur: Cursor, node: JsonNode) -> Reading[bool]:
    """Whether the next object is not a call of this shape, by its first key; reads nothing."""
    found = yield from match_next(cur, _FIRST_KEY)
    if found is None or node.keyed:
        return found is not None and found["value"] != "{"
    return found["key"] not in node.keys and found["key"] not in _MARKS | _THOUGHTS


def misplaced(keys: Mapping[str, JsonValue], given: Collection[str], tool: ToolDefinition | None) -> JsonObject:
    """Return the keys that the tool declares as arguments and that are not `given` in their place."""
    if tool is None:
        return {}
    return {
        key: value
        for key, value in keys.items()
        if key not in _MARKS and key not in given and declares(tool.parameters, key)
    }


def refuse_phrases(keys: Iterable[str], schema: JsonObject | None, at: int) -> None:
    """Raise `Malformed` for an undeclared key that reads like a phrase or an assignment, from broken arguments.

    `{count=3:flag}`, `Sure, here it is:`. If the tool declares no keys, any key may be meant.
    """
    odd = next((key for key in keys if _PHRASE(key) and not declares(schema, key)), None)
    if odd is not None and any(property_names(schema)):
        raise Malformed("malformed", f"no argument is called {odd!r}", at)


def refuse_mended(draft: Draft, arguments: JsonObject, at: int) -> None:
    """Do the same for mended JSON, and for a string in which two kinds of quotes enclose several members."""
    if not any(note.kind == "repaired_json" for note in draft.notes):
        return
    tool = draft.sink.options.tools.get(draft.name)
    refuse_phrases(arguments, tool.parameters if tool is not None else None, at)
    if any(isinstance(value, str) and _MEMBERS(value) for value in arguments.values()):
        raise Malformed("malformed", "quotes of two kinds that do not match", at)


def misnamed(arguments: JsonObject, tool: ToolDefinition | None) -> str:
    """Describe keys that the tool does not declare and that were meant as others, or as none; "" if there are none.

    Such a key holds the arguments or the tool's name, as a call does, or is nearly the name of an argument that is
    missing. A schema that lists keys of any name takes the key, unless it holds all arguments. What else is wrong with
    the arguments is described too, so that the model can correct all of them at once.
    """
    if tool is None or declares_all(schema := tool.parameters, arguments):
        return ""
    odd = {key: value for key, value in arguments.items() if not declares(schema, key)}
    enclosing = next((key for key, value in odd.items() if _holds_arguments(value, tool)), None)
    if enclosing is not None and len(odd) == len(arguments):
        return f"the arguments are inside an extra key {enclosing!r}: write them at the top level"
    if any(map(schema.get, ("additionalProperties", "patternProperties"))):
        return ""
    if enclosing is not None:
        return f"the key {enclosing!r} holds the arguments a second time"
    missing = [name for name in property_names(schema) if name not in arguments]
    wrong: list[str] = []
    right: JsonObject = {}
    for key, value in arguments.items():
        near = _nearest(key, missing) if key in odd else key
        if key in odd and value == tool.name:
            wrong.append(f"the key {key!r} holds the tool's name: it is no argument")
        elif near is not None and near != key:
            wrong.append(f"no argument is called {key!r}: write {near!r}")
            right[near] = value
        else:
            right[key] = value
    if wrong:
        with suppress(SchemaError):
            wrong += map(str, problems(tool, right))
    return "\n".join(wrong)


def _nearest(key: str, missing: list[str]) -> str | None:
    """Return the missing argument that an undeclared key was meant as, if any."""
    phrase = _PHRASE(key) is not None
    return next((name for name in missing if is_nearly(key, name) or (phrase and name in key)), None)


def _holds_arguments(value: JsonValue, tool: ToolDefinition) -> bool:
    """Whether an object, or its JSON text, holds arguments of the tool and nothing else, or names it as a call does."""
    if isinstance(value, str) and value[:1] == "{":
        with suppress(ParseError):
            value = jsontext.loads(value)
    while jsontext.is_object(value) and len(value) == 1 and jsontext.is_object(inner := next(iter(value.values()))):
        value = inner  # to the innermost
    if not jsontext.is_object(value) or not value:
        return False
    return tool.name in value.values() or all(declares(tool.parameters, name) for name in value)


def hidden(keys: Collection[str], taken: Collection[str], given: Collection[str], tool: ToolDefinition | None) -> str:
    """Return the error if arguments were `taken` from beside the others and the call's `id` may be one too; else ""."""
    if not taken or tool is None:
        return ""
    lost = sorted(key for key in _MARKS.intersection(keys) - {*taken, *given} if declares(tool.parameters, key))
    return f"the key {lost[0]!r} may be an argument" if lost else ""


def unclaimed(keys: Mapping[str, JsonValue], taken: Collection[str]) -> str:
    """Describe the first key that was meant as an argument but is not one; "" if there is no such key."""
    known = {*_MARKS, *_THOUGHTS, *taken}
    odd = next((key for key, value in keys.items() if key not in known and value is not None), None)
    return "" if odd is None else f"the key {odd!r} is not part of a call"


def report(draft: Draft, keys: Mapping[str, JsonValue], taken: Collection[str], at: int) -> None:
    """Report each misplaced or ignored key of a call."""
    for key in keys:
        if key in taken:
            draft.note("misplaced", f"the argument {key!r} was given beside the arguments", at)
        else:
            draft.note("unclaimed", f"the key {key!r} is not part of the call", at)


class ArgumentsText:
    """Emits the JSON text of a call's arguments except the last brace, before which misplaced ones may be added."""

    def __init__(self, draft: Draft) -> None:
        """Emit the text to `draft`."""
        self._draft = draft
        self._brace = ""  # the last character so far, if it may be the final one
        self._kept = ""  # the same for the text in the draft

    def _certain(self, text: str) -> str:
        """Return what may be emitted now: everything but a brace at the end."""
        text = self._brace + text
        self._brace = "}" if text.endswith("}") else ""
        return text[: len(text) - len(self._brace)]

    def add(self, text: str) -> None:
        """Add a piece."""
        text, self._kept = self._certain(text), self._brace
        if text:
            self._draft.add(text)

    def show(self, text: str, at: int) -> list[Event]:
        """Return the events of a piece."""
        if self._brace or text[-1] == "}":
            text = self._certain(text)
        return self._draft.show(text, at) if text else []

    def keep(self, text: str) -> None:
        """Store pieces whose events were already emitted."""
        text = self._kept + text
        self._kept = self._brace
        self._draft.keep(text[: len(text) - len(self._brace)])

    def so_far(self) -> str:
        """Return the whole text."""
        return self._draft.pieces.text() + self._brace

    def close(self, more: JsonObject, *, first: bool) -> None:
        """Add further arguments, and the brace; `first`: no arguments come before them."""
        members = jsontext.dumps(more)[1:-1] if more else ""
        text, self._brace = ("" if first or not more else ", ") + members + self._brace, ""
        if text and (self._draft.pieces or members):
            self._draft.add(text)
