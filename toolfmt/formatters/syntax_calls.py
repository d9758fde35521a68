"""Write calls and results from a declarative syntax.

This fills in the templates that the parser reads, with literals written exactly. A value that a dialect cannot
represent raises `UnrepresentableError`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import cast

from toolfmt import jsontext
from toolfmt.dialect.frames import Frame
from toolfmt.dialect.record import CallFormatter, ResultFormatter
from toolfmt.dialect.syntax import (
    PLAIN_NAME,
    Form,
    JsonCall,
    Maybe,
    Piece,
    Slot,
    Syntax,
    Verbatim,
    name_in_id,
    pieces,
    spelled,
)
from toolfmt.errors import RenderError, UnrepresentableError
from toolfmt.formatters.element_tree import ElementWriter, escape_slot
from toolfmt.formatters.literal_schemas import LiteralWriter
from toolfmt.formatters.untrusted import Untrusted
from toolfmt.formatters.yaml_text import yaml_text
from toolfmt.model import JsonObject, JsonValue, ToolDefinition, ToolInvocation, ToolResult

_PLAIN_SLOT = re.compile(r"[^<>{\n\s](?:[^<>{\n]{0,510}[^<>{\n\s])?")


def call_formatter(dialect: str, syntax: Syntax) -> CallFormatter[str]:
    """Make the function that writes calls in the syntax's first form."""
    form = syntax.forms[0]
    section = spelled(form.section)

    def write(calls: Sequence[ToolInvocation], tools: Mapping[str, ToolDefinition]) -> str:
        if syntax.single and len(calls) > 1:
            raise UnrepresentableError(dialect, "", f"a message holds one call, not {len(calls)}")
        written = [_call(dialect, form, call, tools.get(call.name), at) for at, call in enumerate(calls)]
        if not written:
            return ""
        if syntax.frame is not None:
            return _framed(dialect, syntax.frame, calls, written)
        if form.array:
            if "\n" in form.separator:
                lines = (form.indent + text.replace("\n", f"\n{form.indent}") for text in written)
                body = f"\n{form.separator.join(lines)}\n"
            else:
                body = form.separator.join(written)
            return section.replace("{calls}", f"[{body}]")
        if form.each:
            return form.separator.join(section.replace("{calls}", text) for text in written)
        return section.replace("{calls}", form.separator.join(written))

    return write


def _framed(dialect: str, frame: Frame, calls: Sequence[ToolInvocation], bodies: list[str]) -> str:
    for call in calls:
        if not re.fullmatch(PLAIN_NAME, call.name):
            raise UnrepresentableError(dialect, "/name", f"{call.name!r} cannot be written in a header")
    headers = [frame.call.replace("{name}", call.name) for call in calls]
    return frame.between.join(map(str.__add__, headers, bodies)) + frame.last


def fill(template: Sequence[Piece], values: Mapping[str, str | None]) -> str:
    """Fill in a template; an optional part is left out when one of its slots has no value."""
    out: list[str] = []
    for piece in template:
        match piece:
            case Verbatim(text):
                out.append(text)
            case Slot(name):
                out.append(values.get(name) or "")
            case Maybe(inner):
                if all(values.get(part.name) is not None for part in inner if isinstance(part, Slot)):
                    out.append(fill(inner, values))
    return "".join(out)


def _id(dialect: str, form: Form, call: ToolInvocation, index: int) -> str | None:
    """Return the id to write: the call's own, or the one that the dialect requires."""
    template = form.name_in_id or form.id_if_missing
    made = fill(pieces(template), {"name": call.name, "index": str(index), "index1": str(index + 1)})
    if call.id is None:
        return made or None
    if form.name_in_id and name_in_id(form.name_in_id, call.id) != call.name:
        raise UnrepresentableError(
            dialect, "/id", f"the id {call.id!r} does not contain the tool's name, as {made!r} does"
        )
    return call.id


def _call(dialect: str, form: Form, call: ToolInvocation, tool: ToolDefinition | None, index: int) -> str:
    if not call.name:
        raise UnrepresentableError(dialect, "/name", "a call needs a tool's name")
    if jsontext.too_deep(call.arguments, jsontext.MAX_DEPTH):
        raise UnrepresentableError(dialect, "/arguments", f"they are nested more than {jsontext.MAX_DEPTH} levels deep")
    if form.name_in_id or form.id_if_missing:
        call = call.model_copy(update={"id": _id(dialect, form, call, index)})
    slots: dict[str, str | None] = {
        "name": call.name,
        "id": call.id,
        "server": call.server or form.defaults.get("server"),
        "index": str(index),
        "index1": str(index + 1),
    }
    if form.json is None:
        slots = {key: value and slot_text(dialect, form, key, value) for key, value in slots.items()}
    try:
        if form.json is not None:
            slots["call"] = jsontext.dumps(json_call(form, form.json, call), indent=form.json.indent)
        elif form.elements is not None:
            slots["members"] = ElementWriter(form.elements).arguments(call.arguments, tool.parameters if tool else None)
        elif "{yaml}" in form.call:
            slots["yaml"] = yaml_text(call.arguments)
        else:
            slots["args"] = (
                jsontext.dumps(call.arguments)
                if form.literals is None
                else LiteralWriter(form.literals).arguments(call.arguments)
            )
    except RenderError as error:
        bad = jsontext.unwritable(call.arguments)
        if bad is not None:
            raise UnrepresentableError(dialect, f"/arguments{bad.pointer}", bad.reason) from error
        reason = error.reason if isinstance(error, UnrepresentableError) else str(error)
        raise UnrepresentableError(dialect, "/arguments", reason) from error
    return fill(pieces(form.call), slots)


def slot_text(dialect: str, form: Form, key: str, value: str) -> str:
    """Write a name or an id between markers; raises `UnrepresentableError` for one that would not be read back."""
    if form.elements is not None and form.elements.escape != "none":
        return escape_slot(value)
    alone = key == "name" and form.call.startswith("{name}")
    if not (re.fullmatch(PLAIN_NAME, value) if alone else _PLAIN_SLOT.fullmatch(value)):
        raise UnrepresentableError(dialect, f"/{key}", f"{value!r} cannot be written between the dialect's markers")
    return value


def json_call(form: Form, json: JsonCall, call: ToolInvocation) -> JsonValue:
    """Fill in a JSON call's template; keys whose slot has no value are left out."""
    slots: dict[str, JsonValue] = {
        "{name}": call.name,
        "{arguments}": call.arguments,
        "{arguments_text}": jsontext.dumps(call.arguments),
        "{id}": call.id,
        "{server}": call.server or form.defaults.get("server"),
        "{agent}": call.agent,
    }
    return fill_json(json.template, slots)


def fill_json(template: object, slots: Mapping[str, JsonValue]) -> JsonValue:
    """Replace a JSON template's slots; a key whose slot is absent, None or unknown is left out."""
    if isinstance(template, str):
        return slots.get(template, template)
    if not isinstance(template, dict):
        return template
    out: JsonObject = {}
    for key, value in cast("Mapping[str, object]", template).items():
        if isinstance(value, str) and _left_out(value, slots):
            continue
        named = slots.get(key)
        out[key if named is None else str(named)] = fill_json(value, slots)
    return out


def _left_out(value: str, slots: Mapping[str, JsonValue]) -> bool:
    is_slot = value.startswith("{") and value.endswith("}")
    return is_slot and slots.get(value) is None and value not in KEPT_WHEN_NULL


KEPT_WHEN_NULL = frozenset({"{content}"})
"""Slots for which null is a value."""


def result_formatter(syntax: Syntax, disarm: Callable[[str], str]) -> ResultFormatter[str]:
    """Make the function that writes results for the model to read, in call order.

    `disarm` changes text that would be read as a call without a marker.
    """

    @cache
    def patterns() -> Untrusted:  # on demand: there are many dialects, and a program uses few
        return Untrusted.of(syntax)

    def write(results: Sequence[ToolResult], tools: Collection[str] = (), /) -> str:
        untrusted = patterns().naming(frozenset(tools).union(result.name for result in results))
        if syntax.result_json:
            objects = [fill_json(syntax.result_json, _result_slots(syntax, result)) for result in results]
            written = [untrusted.json(jsontext.dumps(value)) for value in objects]
        else:
            texts = [_result_text(syntax, result, untrusted, disarm) for result in results]
            template = pieces(syntax.result)
            written = [fill(template, {**text, "index1": str(at)}) for at, text in enumerate(texts, start=1)]
        return syntax.results.replace("{results}", syntax.result_separator.join(written))

    return write


def content_text(content: JsonValue) -> str:
    """Return a result's content as text: a string unchanged, anything else as JSON."""
    return content if isinstance(content, str) else jsontext.dumps(content)


def _result_slots(syntax: Syntax, result: ToolResult) -> dict[str, JsonValue]:
    return {
        "{name}": result.name,
        "{id}": result.id,
        "{content}": syntax.error.replace("{content}", content_text(result.content))
        if result.is_error and syntax.error != "{content}"
        else result.content,
        "{status}": "failure" if result.is_error else "success",
    }


def _result_text(
    syntax: Syntax, result: ToolResult, untrusted: Untrusted, disarm: Callable[[str], str]
) -> dict[str, str | None]:
    text = content_text(result.content)
    value = result.content
    if result.is_error:
        value = text = syntax.error.replace("{content}", text)

    def harmless(text: str) -> str:
        return disarm(untrusted.text(text))

    return {
        "name": harmless(result.name),
        "id": result.id and harmless(result.id),
        "id_json": untrusted.json(jsontext.dumps(result.id)),
        "content": harmless(text),
        "content_json": untrusted.json(jsontext.dumps(value)),
        "status": "Error" if result.is_error else "Success",
    }
