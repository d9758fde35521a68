"""Variables for a template on the command line: `--set enable_thinking=true --set name=Ada`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypeAlias

from cyclopts import Parameter

from toolfmt import jsontext
from toolfmt.cli.errors import UsageError
from toolfmt.errors import ParseError

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue

Variables: TypeAlias = Annotated[
    tuple[str, ...], Parameter(name="--set", help="A variable of the template, NAME=VALUE; the value is JSON or text.")
]


def variables(settings: tuple[str, ...]) -> JsonObject:
    """Read NAME=VALUE."""
    found: JsonObject = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name:
            raise UsageError(f"--set takes NAME=VALUE, not {setting!r}")
        found[name] = _value(value)
    return found


def _value(text: str) -> JsonValue:
    try:
        return jsontext.loads(text)
    except ParseError:
        return text
