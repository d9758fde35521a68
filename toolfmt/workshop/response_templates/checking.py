"""Checks the fields of a response template; errors have the JSON pointer of the fault.

{"open_pattern": "<f=(?P<name>.+?)>", "close": "</f>", "repeats": true, "content": "json",
 "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}}
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, cast

from toolfmt.errors import ResponseTemplateError
from toolfmt.jsontext import token
from toolfmt.model import JsonObject, JsonValue
from toolfmt.workshop.response_templates.patterns import DEEPEST, group_names, marker, spellings

CALLS: Final = "tool_calls"
TEXT: Final = "content"
REASONING: Final = ("thinking", "reasoning_content", "reasoning")
_FIELDS = (TEXT, *REASONING, CALLS)

_KEYS = frozenset({"version", "defaults", "fields", "start_anchor", "start_anchor_pattern"})
_FIELD_KEYS = frozenset(
    {
        *("open", "open_pattern", "close", "close_pattern", "content", "content_args"),
        *("repeats", "join", "optional", "transform", "transform_each"),
    }
)
CONTENTS: Final[Mapping[str, Mapping[str, type]]] = {
    "text": {"strip": bool},
    "int": {},
    "float": {},
    "bool": {},
    "json": {"unquoted_keys": bool, "string_delims": list, "allow_non_json": bool},
    "xml-inline": {"tag_pattern": str, "value_parser": dict, "merge_duplicates": bool},
    "kv-lines": {"line_sep": str, "kv_sep": str, "value_parser": dict, "strip": bool},
}
"""The kinds of content of a region, with the settings of each."""
_FLAGS: Mapping[str, type] = {"repeats": bool, "optional": bool, "transform_each": bool, "join": str}
MOST_MARKERS: Final = 32
PLACEHOLDER: Final = re.compile(r"\{(\w+(?:\.\w+)*)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field of a template, with its markers as they are written there."""

    name: str
    data: JsonObject
    content: str
    args: JsonObject

    @property
    def pointer(self) -> str:
        """The JSON pointer of the field."""
        return f"/fields/{self.name}"

    @property
    def implicit(self) -> bool:
        """Whether the field takes what is outside all markers."""
        return "open" not in self.data and "open_pattern" not in self.data

    @property
    def strip(self) -> bool:
        """Whether white space around the text is removed."""
        return self.args.get("strip", True) is True

    def markers(self, which: str, slots: Mapping[str, str]) -> list[str]:
        """Return the templates of the markers that `open` or `close` the field."""
        return anchors(self.data, which, f"{which}_pattern", self.pointer, slots)

    def groups(self) -> frozenset[str]:
        """The names of the groups of the pattern that opens the field."""
        return group_names(str(self.data.get("open_pattern", "")))


def anchors(data: JsonObject, literal: str, pattern: str, pointer: str, slots: Mapping[str, str]) -> list[str]:
    """Read markers that are given as one string, as a list of them or as a pattern."""
    if literal in data and pattern in data:
        raise ResponseTemplateError(f"{pointer}/{literal}", f"given beside {pattern!r}: leave one of the two out")
    if pattern in data:
        return spellings(data[pattern], f"{pointer}/{pattern}", slots)
    if literal not in data:
        return []
    found, pointer = data[literal], f"{pointer}/{literal}"
    if isinstance(found, list):
        found = cast("list[JsonValue]", found)
        if not 0 < len(found) <= MOST_MARKERS:
            raise ResponseTemplateError(pointer, f"a list of one to {MOST_MARKERS} markers is due")
        return list(dict.fromkeys(marker(one, f"{pointer}/{at}") for at, one in enumerate(found)))
    return [marker(found, pointer)]


def checked(template: JsonObject) -> dict[str, Field]:
    """Check a template's shape, and return its fields by name."""
    _known(template, _KEYS, "")
    version = template.get("version", 1)
    if type(version) is not int or version != 1:
        raise ResponseTemplateError("/version", f"version {version!r} is unknown; 1 is known")
    defaults = _object(template.get("defaults", {}), "/defaults")
    _known(defaults, frozenset({"role", *_FIELDS}), "/defaults", "no part of a dialect's answer")
    fields = _object(template.get("fields", {}), "/fields")
    if not fields:
        raise ResponseTemplateError("/fields", "no fields")
    _known(fields, frozenset(_FIELDS), "/fields", f"an answer has {', '.join(_FIELDS)}")
    found = {name: _field(name, _object(data, f"/fields/{name}")) for name, data in fields.items()}
    implicit = [name for name, field in found.items() if field.implicit]
    if len(implicit) > 1:
        raise ResponseTemplateError(f"/fields/{implicit[1]}", "a second field that nothing opens; only one may be")
    if not {"start_anchor", "start_anchor_pattern"} & template.keys():
        raise ResponseTemplateError("/start_anchor", "missing: it or start_anchor_pattern says where an answer begins")
    return found


def _field(name: str, data: JsonObject) -> Field:
    pointer = f"/fields/{name}"
    _known(data, _FIELD_KEYS, pointer)
    content = _content(data.get("content", "text"), f"{pointer}/content")
    _typed(data, _FLAGS, pointer)
    if "join" in data and data.get("repeats") is not True:
        raise ResponseTemplateError(f"{pointer}/join", "only where `repeats` is true")
    transform = data.get("transform")
    if transform is None and data.get("transform_each") is True:
        raise ResponseTemplateError(f"{pointer}/transform_each", "there is no `transform` to apply")
    _placeholders(transform, f"{pointer}/transform", 0)
    groups = group_names(f"{data.get('open_pattern', '')}{data.get('close_pattern', '')}")
    if groups and transform is None:
        raise ResponseTemplateError(f"{pointer}/transform", f"missing: nothing takes the groups {sorted(groups)}")
    args = parser_args(content, data.get("content_args", {}), f"{pointer}/content_args")
    return Field(name=name, data=data, content=content, args=args)


def parser_args(content: str, value: JsonValue, pointer: str) -> JsonObject:
    """Check the settings of a region's parser."""
    args = _object(value, pointer)
    _known(args, frozenset(CONTENTS[content]), pointer)
    _typed(args, CONTENTS[content], pointer)
    if content == "xml-inline" and "tag_pattern" not in args:
        raise ResponseTemplateError(f"{pointer}/tag_pattern", "missing")
    if "value_parser" in args:
        inner = cast("JsonObject", args["value_parser"])
        _known(inner, frozenset({"name", "args"}), f"{pointer}/value_parser")
        name = _content(inner.get("name", "text"), f"{pointer}/value_parser/name")
        parser_args(name, inner.get("args", {}), f"{pointer}/value_parser/args")
    return args


def _placeholders(value: JsonValue, pointer: str, depth: int) -> None:
    """Refuse text around a placeholder."""
    if depth > DEEPEST:
        raise ResponseTemplateError(pointer, "nested too deep")
    if isinstance(value, dict):
        for key, inner in cast("JsonObject", value).items():
            _placeholders(inner, f"{pointer}/{key}", depth + 1)
    elif isinstance(value, list):
        for at, inner in enumerate(cast("list[JsonValue]", value)):
            _placeholders(inner, f"{pointer}/{at}", depth + 1)
    elif isinstance(value, str) and PLACEHOLDER.search(value) and not PLACEHOLDER.fullmatch(value):
        raise ResponseTemplateError(pointer, f"{value!r} mixes a placeholder with other text")


def _object(value: JsonValue, pointer: str) -> JsonObject:
    if not isinstance(value, dict):
        raise ResponseTemplateError(pointer, f"an object is due, not {value!r:.80}")
    return cast("JsonObject", value)


def _typed(data: JsonObject, kinds: Mapping[str, type], pointer: str) -> None:
    for key, kind in kinds.items():
        if key in data and type(data[key]) is not kind:
            raise ResponseTemplateError(f"{pointer}/{key}", f"a {kind.__name__} is due, not {data[key]!r}")


def _content(value: JsonValue, pointer: str) -> str:
    if not isinstance(value, str) or value not in CONTENTS:
        raise ResponseTemplateError(pointer, f"{value!r} is none of {', '.join(CONTENTS)}")
    return value


def _known(data: Mapping[str, JsonValue], known: frozenset[str], pointer: str, what: str = "unknown") -> None:
    for key in data:
        if key not in known:
            raise ResponseTemplateError(f"{pointer}/{token(key)}", what)
