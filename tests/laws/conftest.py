"""Every law runs over every registered text dialect."""

from __future__ import annotations

import pytest

from tests import sampling
from toolfmt.dialect.record import Dialect

DIALECTS = sampling.kinds()


@pytest.fixture(params=DIALECTS, ids=lambda dialect: dialect.name, scope="session")
def dialect(request: pytest.FixtureRequest) -> Dialect[str]:
    """Every registered text dialect in turn."""
    return request.param
