"""Every law runs over the dialects that response templates of each shape describe."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from toolfmt import response_dialect
from toolfmt.dialect.record import Dialect

sys.path.insert(0, str(Path(__file__).parent))

from shapes import TEMPLATES


@pytest.fixture(params=TEMPLATES, scope="session")
def shape(request: pytest.FixtureRequest) -> str:
    """The name of each shape in turn."""
    return request.param


@pytest.fixture(scope="session")
def dialect(shape: str) -> Dialect[str]:
    """The dialect of each shape in turn."""
    return response_dialect(TEMPLATES[shape], name=shape)
