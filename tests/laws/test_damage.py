"""One wrong character in the markup of a call never makes another call of it.

What comes of it is the call as it was meant, a failure, or text.
"""

from __future__ import annotations

import pytest

from tests import sampling, slips
from toolfmt import jsontext, parse
from toolfmt.dialect.record import Dialect
from toolfmt.model import ToolDefinition, ToolInvocation

ARGUMENTS = {
    "path": "notes/a b.txt",
    "count": 3,
    "flag": True,
    "tags": ["red", "green"],
    "place": {"city": "Oslo"},
    "note": "all done",
}
FLAT = {key: value for key, value in ARGUMENTS.items() if key not in {"tags", "place"}}
HELD = ("notes/a b.txt", "red", "green", "Oslo", "all done", "write", "move", "city", "3", "true", "True", *ARGUMENTS)
PROPERTIES = {
    "path": {"type": "string"},
    "count": {"type": "integer"},
    "flag": {"type": "boolean"},
    "tags": {"type": "array", "items": {"type": "string"}},
    "place": {"type": "object", "properties": {"city": {"type": "string"}}},
    "note": {"type": "string"},
}
TOOLS = [
    ToolDefinition(name=name, parameters={"type": "object", "properties": PROPERTIES}) for name in ("write", "move")
]
STEP = 1 if sampling.everything else 17
DIALECTS = sampling.dialects()


def _meant(dialect: Dialect[str]) -> tuple[list[ToolInvocation], str]:
    server = "local" if dialect.traits.carries_server else None
    for arguments in (ARGUMENTS, FLAT):
        calls = [
            ToolInvocation(name="write", arguments=arguments, server=server),
            ToolInvocation(name="move", arguments={"path": "notes/a b.txt", "flag": True}, server=server),
        ][: 1 + dialect.traits.parallel]
        text = slips.written(dialect, calls)
        if text is not None:
            return calls, text
    raise AssertionError(f"{dialect.name} cannot write the calls")


def _wrong(dialect: Dialect[str], text: str, calls: list[ToolInvocation]) -> ToolInvocation | None:
    """The first call of an offered tool that was not meant."""
    for call in parse(text, dialect=dialect, tools=TOOLS).calls:
        meant = [each for each in calls if each.name == call.name]
        if meant and not any(jsontext.equal(each.arguments, call.arguments) for each in meant):
            return call
    return None


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_one_wrong_character_makes_no_other_call(dialect: Dialect[str]) -> None:
    calls, text = _meant(dialect)
    for what, at, broken in [*slips.damaged(text, HELD)][::STEP]:
        wrong = _wrong(dialect, broken, calls)
        assert wrong is None, f"{what} at {at}: {broken!r} gives {wrong.arguments}"
