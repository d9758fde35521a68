"""The meanings of a JSON call's keys, compiled from its templates.

    {"tool": {"function": "{name}", "parameters": "{arguments}"}}

becomes a tree: under `tool` an object, in which `function` is the name and
`parameters` the arguments. Several templates of one format share one tree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from toolfmt.dialect.syntax import ANY_KEY, JsonCall

SLOTS = {
    "{name}": "name",
    "{arguments}": "arguments",
    "{arguments_text}": "arguments",
    "{id}": "id",
    "{server}": "server",
    "{agent}": "agent",
    "{text}": "text",
    "{reasoning}": "reasoning",
    "{any}": "any",
}
KEY_IS_NAME = "{name}"
"""A template's key that stands for the tool's name: `{"{name}": "{arguments}"}`."""


@dataclass(slots=True)
class JsonNode:
    """The possible values of a key: a slot, an object of further keys, a list of calls, constants."""

    slot: str = ""
    text: bool = False
    """Whether the format writes the arguments here as JSON text in a string."""
    slip: str = ""
    """The key that the format writes, where only a slip has this one."""
    keys: dict[str, JsonNode] = field(default_factory=dict[str, "JsonNode"])
    items: JsonNode | None = None
    constants: list[object] = field(default_factory=list[object])
    prose: list[object] = field(default_factory=list[object])
    """Constants that announce text instead of a call."""
    keyed: bool = False
    """Whether this is an object whose only key is the tool's name."""
    rest: str = ""
    """The key of the name in a template in which all other keys are arguments."""
    leads: dict[str, bool] = field(default_factory=dict[str, bool])
    """The keys of the name or of text for the user, or (True) of an object or list that contains them."""


def compile_shape(*calls: JsonCall) -> JsonNode:
    """Merge the templates of a call, or of several, into one tree."""
    root = JsonNode()
    for json in calls:
        for template in (json.template, *json.accepts):
            _merge(root, template)
        for key, value in json.prose.items():
            root.keys.setdefault(key, JsonNode()).prose.append(value)
    for json in calls:
        own = {slot: key for key, slot in json.template.items() if isinstance(slot, str)}
        for template in json.slips:
            for key, value in template.items():
                known = key in root.keys
                _merge(root, {key: value})
                if not known:
                    root.keys[key].slip = own.get(value if isinstance(value, str) else "{name}", "the call")
    _lead(root)
    return root


def _lead(node: JsonNode) -> bool:
    """Fill in `leads`; return whether the node or a descendant contains a name."""
    for key, child in node.keys.items():
        inner = _lead(child)
        if inner or child.slot in {"name", "text"}:
            node.leads[key] = inner
    inner = node.items is not None and _lead(node.items)
    return inner or node.keyed or bool(node.leads)


def _merge(node: JsonNode, template: object) -> None:
    if isinstance(template, dict):
        keys = cast("Mapping[str, object]", template)
        for key, value in keys.items():
            if key == KEY_IS_NAME:
                node.keyed = True
            elif key == ANY_KEY:
                node.rest = next(name for name, slot in keys.items() if slot == "{name}")
            else:
                _merge(node.keys.setdefault(key, JsonNode()), value)
    elif isinstance(template, list | tuple):
        node.items = node.items or JsonNode()
        _merge(node.items, cast("list[object]", template)[0])
    elif isinstance(template, str) and template in SLOTS:
        node.slot = SLOTS[template]
        node.text = node.text or template == "{arguments_text}"
    else:
        node.constants.append(template)


def names_a_call(node: JsonNode, value: object, *, wrapped: bool = False) -> bool:
    """Whether a JSON value has a tool's name in its place, and the arguments or a key around both."""
    if isinstance(value, list):
        items = cast("list[object]", value)
        return node.items is not None and any(names_a_call(node.items, item, wrapped=True) for item in items)
    if not isinstance(value, dict):
        return False
    members = cast("Mapping[str, object]", value)
    slots = {node.keys[key].slot for key in members if key in node.keys}
    if "name" in slots and (wrapped or bool(node.rest) or slots & {"arguments", "text"}):
        return True
    if node.keyed and any(key not in node.keys for key in members):
        return True
    return any(names_a_call(node.keys[key], inner, wrapped=True) for key, inner in members.items() if key in node.keys)
