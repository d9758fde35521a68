"""Tools by name, read once for a list that comes again with every answer.

prepared([{"type": "function", "function": {"name": "get_weather", ...}}])    # {"get_weather": ToolDefinition(...)}
"""

from __future__ import annotations

import marshal
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from toolfmt.model import ToolDefinition
from toolfmt.tools.reading import tools

if TYPE_CHECKING:
    from collections.abc import Mapping

_LARGEST = 256 * 1024
"""Bytes of a list that is kept; a longer one is read each time."""


def prepared(value: Any) -> Mapping[str, ToolDefinition]:
    """Read tools as `tools` does, by name; plain JSON that was read before is not read again.

    The key is the value itself, so a list that was changed in place is read anew.
    """
    if (defined := _defined(value)) is not None:
        return defined
    if type(value) in {list, dict}:
        try:
            dump = marshal.dumps(value, 2)  # type-exact, in the order of keys; version 2 writes no references
        except ValueError:
            dump = b""  # functions, models, objects
        if 0 < len(dump) <= _LARGEST:
            return _read(dump)
    return {definition.name: definition for definition in tools(value)} if value else {}


def _defined(value: object) -> Mapping[str, ToolDefinition] | None:
    """Give a list of nothing but definitions by name; None where two have one name, or anything else is in it."""
    entries = cast("list[object]", value) if isinstance(value, list) else [value]
    found = {entry.name: entry for entry in entries if isinstance(entry, ToolDefinition)}
    return found if len(found) == len(entries) else None


@lru_cache(maxsize=64)
def _read(dump: bytes) -> Mapping[str, ToolDefinition]:
    value = marshal.loads(dump)  # noqa: S302 - written by `prepared` itself
    return {definition.name: definition for definition in tools(value)} if value else {}
