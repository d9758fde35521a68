"""Calls that answer real questions survive every dialect, whole and cut to pieces."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from tests import sampling
from tests.real.bfcl import Data
from toolfmt.dialect.record import Dialect
from toolfmt.model import ToolInvocation
from toolfmt.workshop.testing import laws

TWELFTH = 340
"""Calls in every twelfth answer."""
DIALECTS = sampling.dialects()


def messages(dialect: Dialect[str], calls: tuple[ToolInvocation, ...]) -> list[tuple[ToolInvocation, ...]]:
    """The calls as the dialect can hold them: together or one a message, with a server where it writes one."""
    if dialect.traits.carries_server:
        calls = tuple(call.model_copy(update={"server": "desk"}) for call in calls)
    return [calls] if dialect.traits.parallel else [(call,) for call in calls]


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_calls_survive(dialect: Dialect[str], data: Data, record_property: Callable[[str, object], None]) -> None:
    chance = random.Random(dialect.name)  # noqa: S311 - the same cuts every time
    calls = pieces = refused = 0
    # The formats of open models share their readers: each is given every twelfth answer; without `--all` every 150th.
    whole = sampling.everything and dialect.manifest != "native.jinja"
    cases = data.cases[:: 1 if whole else 12 if sampling.everything else 150]
    for case in cases:
        for message in messages(dialect, case.calls):
            if dialect.traits.carries_types and not dialect.traits.needs_tools:
                assert laws.round_trip(dialect, message) is not None
            text = laws.round_trip(dialect, message, case.tools)
            if text is None:  # where only the schema tells types: null for a string, a number where it says nothing
                assert not dialect.traits.carries_types
                refused += len(message)
                continue
            places = chance.sample(range(1, len(text)), 4)
            laws.chunking(dialect, text, places, case.tools)
            calls += len(message)
            pieces += len(laws.cut(text, places))
    record_property("calls", calls)
    record_property("pieces", pieces)
    print(f"\n{dialect.name}: {calls} calls of {len(cases)} answers, whole and in {pieces} pieces")  # noqa: T201
    assert refused <= (calls + refused) // 20
    assert (len(cases), calls + refused) in {(3012, 4227), (251, TWELFTH), (21, 28)}
