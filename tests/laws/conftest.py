"""Every law runs over every registered text dialect."""

from __future__ import annotations

import pytest

from toolfmt.dialect import Dialect
from toolfmt.registry import default_registry

DIALECTS = [dialect for dialect in default_registry() if dialect.syntax is not None]


@pytest.fixture(params=DIALECTS, ids=lambda dialect: dialect.name, scope="session")
def dialect(request: pytest.FixtureRequest) -> Dialect[str]:
    """Every registered text dialect in turn."""
    return request.param
