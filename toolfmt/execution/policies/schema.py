"""The first two steps: the arguments are a JSON object and fit the tool's schema.

    {"a": float("nan")}    json: invalid_arguments
    {"a": "1"}             schema: invalid_arguments, for an integer `a`

An executor checks both anyway, when a call has started. Listed as policies, they block the call before it starts, and
are reported as steps.
"""

from __future__ import annotations

from toolfmt import jsontext
from toolfmt.errors import UnrepresentableError
from toolfmt.execution.hooks import Blocked
from toolfmt.execution.policies.policy import Candidate


class JsonPolicy:
    """Blocks calls whose arguments are not a JSON object."""

    step = "json"

    def check(self, candidate: Candidate) -> Blocked | None:
        """Write the arguments as JSON."""
        try:
            jsontext.dumps(candidate.call.arguments)
        except UnrepresentableError as error:
            return Blocked(f"the arguments are not JSON: {error.pointer or '/'}: {error.reason}", "invalid_arguments")
        return None


class SchemaPolicy:
    """Blocks calls that cannot run: of an unknown tool, or with invalid arguments."""

    step = "schema"

    def check(self, candidate: Candidate) -> Blocked | None:
        """Report everything that is wrong."""
        return None if candidate.error is None else Blocked(str(candidate.error), candidate.error.failure)
