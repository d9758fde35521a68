"""Names of tools that a back's API does not allow: the client gets its own names back.

client's tool "files.read"    back's tool "files_read"    back calls "files_read"    client gets "files.read"
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from toolfmt.jsontext import is_array, is_object
from toolfmt.transcripts.formats import find

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolfmt.model import JsonObject, JsonValue

_ARGUMENTS: Final = frozenset({"arguments", "args", "input"})
"""The keys of calls that hold the model's own values."""


def client_names(request: JsonObject, face: str, sent: JsonObject, back: str) -> Mapping[str, str]:
    """Map the names that a back was sent, where they are not those of the client's tools, to the client's names."""
    before = [tool.name for tool in find(face).read(request).tools or ()]
    after = [tool.name for tool in find(back).read(sent).tools or ()]
    changed = [name for name in before if name not in after]
    made = [name for name in after if name not in before]
    return dict(zip(made, changed, strict=True)) if len(made) == len(changed) else {}


def renamed(value: JsonValue, names: Mapping[str, str]) -> JsonValue:
    """Write the client's names into the calls of an answer or of an event."""
    if is_array(value):
        return [renamed(one, names) for one in value]
    return renamed_object(value, names) if is_object(value) else value


def renamed_object(value: JsonObject, names: Mapping[str, str]) -> JsonObject:
    """Write the client's names into the calls of an answer or of an event that is an object."""
    return {
        key: names.get(one, one)
        if key == "name" and isinstance(one, str)
        else one
        if key in _ARGUMENTS
        else renamed(one, names)
        for key, one in value.items()
    }
