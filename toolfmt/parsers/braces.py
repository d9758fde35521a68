"""Whether a call whose last brace is missing has one reading without it.

    {"name": "f", "arguments": {"a": {"b": 1, "c": 2}}     is `c` beside `b` or beside `a`?

The tool's schema decides. Without one, an object at the end that has several members leaves it open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolfmt import jsontext
from toolfmt.parsers.cursor import Malformed
from toolfmt.parsers.json_values import decode
from toolfmt.parsers.resuming import Fault
from toolfmt.schema import extra_arguments, problems

if TYPE_CHECKING:
    from collections.abc import Collection

    from toolfmt.dialect import Limits
    from toolfmt.model import JsonObject, ToolDefinition


def one_reading(arguments: JsonObject, tool: ToolDefinition | None, outer: Collection[str] = ()) -> bool:
    """Whether the arguments can only be these; `outer` are the keys that the call has beside them."""
    if tool is not None:
        return not problems(tool, arguments) and not extra_arguments(tool, arguments)
    last: object = arguments
    while jsontext.is_object(last) and last:
        key = next(reversed(last))
        if key in outer or (last is not arguments and len(last) > 1):
            return False
        last = last[key]
    return True


def without_brace(text: str, tool: ToolDefinition | None, limits: Limits) -> JsonObject | None:
    """The arguments whose JSON text lacks its last brace; None where more may be missing.

    After a string nothing is certain: a quote in its text may have ended it.
    """
    fault = Fault(text)
    if fault.depth != 1 or fault.quoted or fault.after_string:
        return None
    try:
        arguments = decode(text + "}", 0, limits)
    except Malformed:
        return None
    return arguments if jsontext.is_object(arguments) and one_reading(arguments, tool) else None
