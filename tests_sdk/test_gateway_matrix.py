"""The same twelve conversations by every official SDK through the gateway with every back, as the reference shows them.

python tests_sdk/test_gateway_matrix.py        # have them all, and write down what came of each
"""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import pytest
from gateways import gateway
from sdks import CASES
from twelve import BACKS, CONVERSATIONS, Upstream, config_of, outcomes, upstream

KNOWN = Path(__file__).with_name("gateway_matrix.json")
FACES = {"openai-chat": "", "openai-responses": "", "anthropic": "", "gemini": "", "mistral": "/mistral", "ollama": ""}
"""The SDKs by the API that they speak, and what their base address ends with."""


@contextmanager
def served() -> Iterator[tuple[Upstream, str]]:
    with TemporaryDirectory() as folder, upstream() as (server, url), gateway(config_of(url, Path(folder))) as address:
        yield server, address


@pytest.fixture(autouse=True)
def _no_collection() -> Iterator[None]:
    """The SDKs leave open generators to the garbage collector, which in a server's thread closes them as they run."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("face", FACES)
def test_what_comes_of_each_conversation_is_what_the_reference_says(face: str) -> None:
    with served() as (server, url):
        found = anyio.run(outcomes, CASES[face], url + FACES[face], server)
    assert found == json.loads(KNOWN.read_text("utf-8"))[face]


def test_the_reference_has_every_conversation_with_every_back() -> None:
    known = json.loads(KNOWN.read_text("utf-8"))
    assert known.keys() == FACES.keys()
    for found in known.values():
        assert found.keys() == CONVERSATIONS.keys()
        for name, outcome in found.items():
            assert sorted(back for backs in outcome.values() for back in backs) == sorted(BACKS), name
            assert "no" not in " ".join(outcome).split()


if __name__ == "__main__":
    with served() as (server, url):
        rows = {face: anyio.run(outcomes, CASES[face], url + FACES[face], server) for face in FACES}
    KNOWN.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
