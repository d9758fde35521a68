"""What a JSON object without a marker is: a call, a failed call, or no call at all.

    {"name": "search", "args": {}}       a call, if a tool of that name is offered
    {"name": "Alice", "age": 3}          no call, known after its first value

It is a call only if its whole shape fits and its name is that of an offered
tool, or, when no tools are given, if it holds nothing but a call's own keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from toolfmt.parsers.json_calls import CallObject
    from toolfmt.parsers.json_shapes import JsonNode


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a complete object is; beside calls, one that is none fails for this reason."""

    kind: Literal["call", "failed", "said", "none"]
    reason: str = "malformed"
    detail: str = "an element of the list is not a call"


ODD = Verdict("none")
_CALL, _SAID = Verdict("call"), Verdict("said")


def foreign(found: CallObject) -> bool:
    """Whether an object that no key of the format marks names a tool that is not offered."""
    return bool(found.offered) and found.draft.name not in found.offered and not _marked(found)


def hopeless(found: CallObject, node: JsonNode) -> bool:
    """Whether an object can be no call any more, whatever follows."""
    draft = found.draft
    if draft.index >= 0 or found.said is not None or _marked(found):
        return False
    if found.escaped or found.mismatch or (found.json.closed and found.unknown):
        return True
    if draft.name:
        return draft.name not in found.offered if found.offered else bool(found.unknown)
    flat = bool(found.offered) or not found.unknown
    return not node.keyed and not any(key not in found.keys and (flat or deep) for key, deep in node.leads.items())


def judge(found: CallObject) -> Verdict:
    """Decide what a complete object is."""
    draft = found.draft
    if found.escaped and draft.index < 0:
        return ODD
    problem = found.problem()
    if problem and problem[0] == "missing_arguments" and not found.json.arguments_required:
        problem = None  # an object of some other shape, not a call whose arguments went astray
    marked = _marked(found)
    given = found.arguments is not None or (marked and not found.unknown)
    fits = draft.name in found.offered if found.offered else found.wrapped or not found.unknown
    if problem is None and given and fits:
        return _CALL
    if found.said is not None and not draft.name:
        return _SAID
    if draft.index < 0 and not (found.meant and (problem or (given and (marked or foreign(found))))):
        return ODD
    kind = "none" if draft.index < 0 and foreign(found) else "failed"
    return Verdict(kind, *(problem or ("unknown_tool", f"no tool is called {draft.name!r}")))


def _marked(found: CallObject) -> bool:
    """Whether a key of the format stood around the call or in it."""
    return found.wrapped or found.json.meant_by in found.keys
