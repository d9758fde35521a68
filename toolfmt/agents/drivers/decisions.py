"""Read the decision in an answer: call a tool, or answer. Or why there is none that can be carried out.

{"thought": "…", "type": "call_tool", "tool": "add", "args": {"a": 1}}    StepDecision(events=(… add(a=1)))
Thought: … Final Answer: 3                                                StepDecision(answer="3")
Let me think about it.                                                    Undecided("decision_extraction", …)
{"type": "call_tool", "tool": "ad", "args": {}}                           Undecided("decision_validation", …)
two decisions in one answer                                               Undecided("decision_validation", …)

The arguments are fitted to the tool's schema: an undeclared argument is dropped, unless the schema allows more, and a
default of the schema is filled in. Every change is reported.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from toolfmt import jsontext
from toolfmt.errors import ParseError
from toolfmt.events import CallEnd, CallFailed, Event
from toolfmt.jsontext import is_array, is_object
from toolfmt.schema import item_schema, problems, property_schema
from toolfmt.schema.places import reach

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolfmt.agents.drivers.asking import ModelAnswer
    from toolfmt.dialect.syntax import Syntax
    from toolfmt.model import JsonObject, JsonValue, ToolDefinition, ToolInvocation

TYPES: Final = ("call_tool", "final_answer")
VALIDATED: Final = frozenset(
    {"unknown_tool", "invalid_arguments", "missing_name", "missing_arguments", "missing_answer", "arguments_not_object"}
)
"""Reasons of failures that mean: a decision was read, but its content is wrong."""
_FENCE = re.compile(r"```\w*\s*(.*?)\s*```", re.DOTALL)


@dataclass(frozen=True, slots=True)
class StepDecision:
    """What to do: the answer's events with its calls as they will run, or the final answer's text."""

    events: tuple[Event, ...] = ()
    answer: str | None = None
    changes: tuple[tuple[ToolInvocation, tuple[str, ...]], ...] = ()
    """The calls whose arguments were changed, and the changes in words."""


@dataclass(frozen=True, slots=True)
class Undecided:
    """Why there is nothing to do."""

    failure: Literal["decision_extraction", "decision_validation"]
    detail: str
    failed: CallFailed | None = None


def decided(written: ModelAnswer, tools: Mapping[str, ToolDefinition], syntax: Syntax) -> StepDecision | Undecided:
    """Read the decision in an answer."""
    result = written.result
    for failed in result.failures:
        kind = "decision_validation" if failed.reason in VALIDATED else "decision_extraction"
        return Undecided(kind, f"{failed.reason}: {failed.detail}", failed)
    kind = _type(written.raw)
    if kind is not None and kind not in TYPES:
        detail = f"`type` is {jsontext.dumps(kind)}, and there are {' and '.join(TYPES)}"
        return Undecided("decision_validation", detail)
    if result.calls:
        return _checked(result.events, tools)
    text = result.text.strip()
    if text and text != written.raw.strip():
        return StepDecision(answer=text)
    if not text and any(opener in written.raw for opener, _ in syntax.unwrap):
        return Undecided("decision_validation", "the final answer is blank")
    return Undecided("decision_extraction", "the answer holds neither a call nor a final answer")


def _type(raw: str) -> object:
    """Give the `type` of an answer that is one JSON object."""
    fenced = _FENCE.fullmatch(raw.strip())
    try:
        value = jsontext.loads(fenced[1] if fenced else raw)
    except ParseError:
        return None
    return value.get("type") if is_object(value) else None


def _checked(events: tuple[Event, ...], tools: Mapping[str, ToolDefinition]) -> StepDecision | Undecided:
    count = sum(isinstance(event, CallEnd) for event in events)
    if count > 1:
        return Undecided("decision_validation", f"{count} decisions at once: decide on one, and wait for what it gives")
    kept: list[Event] = []
    changes: list[tuple[ToolInvocation, tuple[str, ...]]] = []
    for event in events:
        if not isinstance(event, CallEnd):
            kept.append(event)
            continue
        call = event.call
        if call.name not in tools:
            detail = f"no tool is called {call.name!r}; there are {', '.join(tools) or 'none'}"
            return _invalid(event, "unknown_tool", detail)
        arguments, changed = normalised(tools[call.name], call.arguments)
        wrong = problems(tools[call.name], arguments)
        if wrong:
            return _invalid(event, "invalid_arguments", "\n".join(map(str, wrong)))
        if changed:
            call = call.model_copy(update={"arguments": arguments, "raw_arguments": None})
            changes.append((call, tuple(changed)))
        kept.append(replace(event, call=call))
    return StepDecision(tuple(kept), None, tuple(changes))


def _invalid(event: CallEnd, reason: str, detail: str) -> Undecided:
    raw = event.call.raw_arguments or jsontext.dumps(event.call.arguments)
    failed = CallFailed(event.index, raw, reason, detail, event.span, event.call.name)
    return Undecided("decision_validation", f"{reason}: {detail}", failed)


def normalised(tool: ToolDefinition, arguments: JsonObject) -> tuple[JsonObject, list[str]]:
    """Fit arguments to a tool's schema; also returns the changes, in words."""
    changes: list[str] = []
    fitted = _object(arguments, tool.parameters, "", changes)
    return fitted, changes


def _object(value: JsonObject, schema: JsonObject, where: str, changes: list[str]) -> JsonObject:
    nodes = list(reach(schema))
    members = [(found, optional) for node, optional in nodes if is_object(found := node.get("properties"))]
    declared = {name for found, _ in members for name in found}
    declared.update(str(name) for node, _ in nodes if is_array(node.get("required")) for name in node["required"])
    free = any(
        node.get("patternProperties") or node.get("additionalProperties", False) is not False for node, _ in nodes
    )
    if free or not (declared or where == ""):
        declared.update(value)
    fitted: JsonObject = {}
    for key, inner in value.items():
        place = f"{where}/{key}"
        if key in declared:
            fitted[key] = _value(inner, property_schema(schema, key), place, changes)
        else:
            changes.append(f"{place}: dropped, as the tool takes no such argument")
    for found, optional in members:
        for key, inner in found.items():
            if not optional and key not in fitted and is_object(inner) and "default" in inner:
                fitted[key] = inner["default"]
                changes.append(f"{where}/{key}: the default {jsontext.dumps(inner['default'])} is filled in")
    return fitted


def _value(value: JsonValue, schema: object, where: str, changes: list[str]) -> JsonValue:
    if not is_object(schema):
        return value
    if is_object(value):
        return _object(value, schema, where, changes)
    if is_array(value):
        return [_value(item, item_schema(schema, at), f"{where}/{at}", changes) for at, item in enumerate(value)]
    return value
