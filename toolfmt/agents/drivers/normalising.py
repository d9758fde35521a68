"""A decision's arguments, fitted to what their tool takes, and what that changed.

    normalised(tool, {"city": "Paris", "mood": "good"})
    ({"city": "Paris", "days": 1}, ["/mood: dropped, …", "/days: the default 1 is filled in"])

What the tool does not declare is dropped, unless its schema says in so many words that it takes more; a default that
the schema gives is filled in. Nothing else is made up, and every change is reported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolfmt import jsontext
from toolfmt.jsontext import is_array, is_object
from toolfmt.schema import item_schema, property_schema
from toolfmt.schema.places import reach

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue, ToolDefinition


def normalised(tool: ToolDefinition, arguments: JsonObject) -> tuple[JsonObject, list[str]]:
    """Fit arguments to a tool's schema; beside them, what was changed, in words."""
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
