"""Dangerous tools require calls that are clearly marked as calls and have only one reading.

    {"name": "delete_all", "arguments": {}}                    bare: refused by `ProvenancePolicy`
    <tool_call>{"name": "delete_all", ...}</tool_call>         marker: runs

    <parameter=path>/tmp/a</parameter>                         exact: runs
    <parameter=path>/tmp/a</parameter>b</parameter>            guessed: refused by `CertaintyPolicy`

A model that quotes a document may quote a call in it. If a call's text has several readings, the parser chooses one; if
a call was repaired, a part of it was invented. An executor adds both policies if they are not listed; then a call that
another policy decides about, such as `Approval`, passes. `ProvenancePolicy(allow=["delete_all"])` allows unmarked calls
of one tool; with `refuse=()` a policy lets every call pass.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from toolfmt.arguments import checked
from toolfmt.execution.hooks import Blocked
from toolfmt.execution.policies.policy import Candidate, matcher
from toolfmt.model import CallProvenance, Certainty

WEAK: Final[tuple[CallProvenance, ...]] = ("bare", "fenced")
"""A JSON object in the text, in a code fence or not: it may be a quotation."""
_WHERE: Final = {"bare": "the call is in the text without a marker", "fenced": "the call is in a code fence"}


@checked
class ProvenancePolicy:
    """Refuses weakly marked calls of dangerous tools."""

    step = "provenance"

    def __init__(self, refuse: Collection[CallProvenance] = WEAK, *, allow: Iterable[str] = ()) -> None:
        """`refuse` lists the marks to refuse, and `allow` patterns of tools whose calls pass with any mark."""
        self._refuse = frozenset(refuse)
        self.tool_names = tuple(allow)
        self._allowed = matcher(self.tool_names)

    def check(self, candidate: Candidate) -> Blocked | None:
        """Check how the call was marked."""
        call, tool = candidate.call, candidate.tool
        if call.provenance not in self._refuse or tool is None or not tool.is_dangerous or self._allowed(call.name):
            return None
        where = _WHERE.get(call.provenance, f"its mark is {call.provenance!r}")
        return Blocked(
            f"{call.name!r} is dangerous, and {where}, where it may be a quotation. If the format that you were given "
            "has a marker for calls, write the call with it and outside of code. If its calls have no marker, this "
            "tool cannot be called here: do not write the call again.",
            "weak_provenance",
        )


@checked
class CertaintyPolicy:
    """Refuses uncertain calls of dangerous tools."""

    step = "certainty"

    def __init__(self, refuse: Collection[Certainty] = ("guessed",)) -> None:
        """`refuse` lists the degrees of certainty to refuse."""
        self._refuse = frozenset(refuse)

    def check(self, candidate: Candidate) -> Blocked | None:
        """Check the certainty of the call."""
        call = candidate.call
        if call.certainty not in self._refuse or candidate.tool is None or not candidate.tool.is_dangerous:
            return None
        return Blocked(
            f"{call.name!r} is dangerous, and the call had to be read with a tolerance ({call.certainty}): write it "
            "again, exactly as the format says",
            "uncertain",
        )
