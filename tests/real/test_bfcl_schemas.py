"""Real function documents are lowered for every provider, and accepted there."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.real.bfcl import Data
from toolfmt.errors import UnsupportedSchemaError
from toolfmt.schema.lowering import lower, refusals
from toolfmt.schema.rules import NAMED

# Only strict modes have no form for some: objects with members of any name, values of any kind, and one odd name.
CLOSED = {"an object with members of any name": 35, "anything may stand": 105}
REFUSED = {"anthropic-strict": {**CLOSED, "an argument's name is 'año_vehiculo', which": 1}}


@pytest.mark.parametrize("name", NAMED)
def test_documents_are_lowered(name: str, data: Data) -> None:
    rules = NAMED[name]
    refused: Counter[str] = Counter()
    for tool in data.documents:
        try:
            lowered = lower(tool.parameters, rules)
        except UnsupportedSchemaError as error:
            refused[str(error).partition(" has no form here")[0].partition(" at #")[0]] += 1
        else:
            assert list(refusals(lowered, rules)) == []
    assert refused == REFUSED.get(name, CLOSED if rules.closed else {})
