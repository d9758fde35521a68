"""One wrong character in the markup of a call never makes another call of it.

What comes of it is the call as it was meant, a failure, or text. Where the damaged text is also a sound call, no
reader can tell; those places are listed in `damage.toml`, each with its reason, and each has to be one still.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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
OPEN: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("damage.toml").read_text("utf-8"))["open"]
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


def _left(dialect: Dialect[str], step: int) -> Iterator[tuple[dict[str, Any] | None, str]]:
    calls, text = _meant(dialect)
    for number, (what, at, broken) in enumerate(slips.damaged(text, HELD)):
        wrong = None if number % step else _wrong(dialect, broken, calls)
        if wrong is not None:
            here = {"what": what, "near": text[at : at + 2], "certainty": wrong.certainty, "dialect": dialect.name}
            listed = [entry for entry in OPEN if _covers(entry, here)]
            yield (listed[0] if listed else None), f"{what} at {at}: {broken!r} gives {wrong.arguments}"


def _covers(entry: dict[str, Any], here: dict[str, str]) -> bool:
    return (
        here["what"] == entry["what"]
        and here["near"].startswith(entry["near"])
        and here["certainty"] == entry["certainty"]
        and ("dialects" not in entry or here["dialect"] in entry["dialects"])
    )


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_one_wrong_character_makes_no_other_call(dialect: Dialect[str]) -> None:
    new = [detail for entry, detail in _left(dialect, STEP) if entry is None]
    assert not new, "\n".join(new)


@pytest.mark.parametrize("entry", OPEN, ids=lambda entry: f"{entry['what']} {entry['near']}")
def test_what_is_listed_is_still_open(entry: dict[str, Any]) -> None:
    known = {dialect.name: dialect for dialect in DIALECTS}
    names = [name for name in entry.get("dialects", ["glm45", "mimo", "dots"]) if name in known]
    assert not names or any(found is entry for name in names for found, _ in _left(known[name], 1))
