"""Recorded data of others, fetched once for all tests that read it."""

from __future__ import annotations

import pytest

from tests.real import bfcl


@pytest.fixture(scope="session")
def data() -> bfcl.Data:
    """Give the leaderboard's data, or skip the test where no package index can be reached."""
    try:
        return bfcl.load()
    except bfcl.NotReachableError as error:
        pytest.skip(str(error))
