"""A dangerous tool wants a call that has only one reading.

    <parameter=path>/tmp/a</parameter>                  exact: runs
    <parameter=path>/tmp/a</parameter>b</parameter>     guessed: refused

Where a call's text has several readings, the parser chooses one; where a call was
mended, a part of it was invented. An executor asks this policy whether it is listed
or not; `CertaintyPolicy(refuse=())` lets everything pass.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from toolfmt.execution.hooks import Blocked
from toolfmt.execution.policies.provenance import is_dangerous

if TYPE_CHECKING:
    from toolfmt.execution.policies.policy import Candidate
    from toolfmt.model import Certainty


class CertaintyPolicy:
    """Refuses uncertain calls of dangerous tools."""

    step = "certainty"

    def __init__(self, refuse: Collection[Certainty] = ("guessed",)) -> None:
        """`refuse` lists the degrees of certainty to refuse."""
        self._refuse = frozenset(refuse)

    def check(self, candidate: Candidate) -> Blocked | None:
        """Check the certainty of the call."""
        call = candidate.call
        if call.certainty not in self._refuse or candidate.tool is None or not is_dangerous(candidate.tool):
            return None
        return Blocked(
            f"{call.name!r} is dangerous, and the call had to be read with a tolerance ({call.certainty}): write it "
            "again, exactly as the format says",
            "uncertain",
        )
