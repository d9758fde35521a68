"""Converts conversations: read, shape, write, and compare with what can be read back.

Conversion(value={"system": "Be brief.", "messages": [...]}, losses=(Loss("call_id", ...),), residue={...})
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from toolfmt.errors import ConversionError, ParseError
from toolfmt.transcripts.check import says_something
from toolfmt.transcripts.format import told
from toolfmt.transcripts.formats import find, recognised
from toolfmt.transcripts.losses import Loss, losses
from toolfmt.transcripts.merge import merged, restored
from toolfmt.transcripts.shape import shape

if TYPE_CHECKING:
    from toolfmt.conversation import Transcript
    from toolfmt.model import JsonObject, JsonValue
    from toolfmt.transcripts.format import TranscriptFormat

INCLUDE: Final = frozenset({"tools", "request"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    """A converted conversation, what it lost, and what is needed to get it back."""

    value: JsonValue
    losses: tuple[Loss, ...]
    source: str
    target: str
    residue: JsonObject | None = field(repr=False)
    """JSON for `convert(..., residue=)`: with it the way back is exact."""


def convert(  # noqa: PLR0913 - each is a choice of the caller's
    value: JsonValue,
    *,
    source: str = "auto",
    target: str,
    strict: bool = False,
    include: Collection[str] = ("tools",),
    residue: JsonObject | None = None,
) -> Conversion:
    """Convert a conversation to another format.

    `include` says what goes along beside the messages: `tools` (declarations,
    choice, parallel flag) and `request` (further fields that both formats have).
    `residue` is that of the conversion which made `value`: what it could not hold
    is put back, and what was edited or added since then stays. Raises
    `ConversionError` with all losses under `strict`, `ParseError` for a value
    that is not of its format, `LookupError` for a format that does not exist.
    """
    origin = recognised(value) if source == "auto" else find(source)
    goal = find(target)
    if origin is goal and residue is None:
        return Conversion(value=value, losses=(), source=origin.name, target=goal.name, residue=None)
    with told(origin.name, value, residue):
        before = _only(origin.read(value), frozenset(include))
        if residue is not None:
            return _back(before, origin, goal, residue, strict=strict)
        shaped = _shaped(before, goal)
        written = goal.write(shaped)
        found = tuple(losses(before, goal.read(written)))
    _refuse(found, strict=strict)
    kept: JsonObject = {"source": origin.name, "target": goal.name, "include": sorted(include), "value": value}
    return Conversion(value=written, losses=found, source=origin.name, target=goal.name, residue=kept)


def write(transcript: Transcript, target: str, *, strict: bool = False) -> Conversion:
    """Write a conversation that was read from no format; raises as `convert` does."""
    goal = find(target)
    written = goal.write(_shaped(transcript, goal))
    found = tuple(losses(transcript, goal.read(written)))
    _refuse(found, strict=strict)
    return Conversion(value=written, losses=found, source="", target=goal.name, residue=None)


def _shaped(transcript: Transcript, goal: TranscriptFormat) -> Transcript:
    """Fit a conversation to a format; raises ConversionError where nothing is left of it."""
    shaped = shape(transcript, goal.rules)
    if transcript.messages and not says_something(shaped, goal.rules):
        raise ConversionError(
            f"{goal.name}: nothing is left of what the conversation says, and a request says something"
        )
    return shaped


def _back(
    theirs: Transcript,
    origin: TranscriptFormat,
    goal: TranscriptFormat,
    residue: JsonObject,
    *,
    strict: bool,
) -> Conversion:
    if (residue.get("source"), residue.get("target")) != (goal.name, origin.name):
        raise ParseError(
            f"the residue is of a conversion {residue.get('source')} -> {residue.get('target')}, "
            f"not {goal.name} -> {origin.name}"
        )
    original = residue["value"]
    include = frozenset(residue["include"])
    ours = goal.read(original)
    sent = _only(ours, include)
    base = origin.read(origin.write(shape(sent, origin.rules)))
    whole = merged(ours, base, theirs, goal.rules)
    written = restored(original, goal.write(ours), goal.write(whole), goal)
    found = tuple(losses(theirs, goal.read(written)))
    _refuse(found, strict=strict)
    return Conversion(value=written, losses=found, source=origin.name, target=goal.name, residue=None)


def _only(transcript: Transcript, include: frozenset[str]) -> Transcript:
    unknown = include - INCLUDE
    if unknown:
        raise ValueError(f"include takes {' and '.join(sorted(INCLUDE))}, not {', '.join(sorted(unknown))}")
    if "tools" in include:
        return transcript
    return replace(transcript, tools=None, tool_choice=None, parallel=None)


def _refuse(found: tuple[Loss, ...], *, strict: bool) -> None:
    if strict and found:
        lines = "\n".join(f"- {loss.code} {loss.action} at {loss.path or '/'}: {loss.detail}" for loss in found)
        raise ConversionError(f"the conversion would lose:\n{lines}")
