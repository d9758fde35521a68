"""The name of a speaker is carried, or a loss that says it: of messages too that are joined, moved or left out."""

from __future__ import annotations

import json

import pytest

from toolfmt import convert
from toolfmt.transcripts.formats import formats

ROLES = ("system", "system", "user", "user", "assistant", "user")
TALK = [{"role": role, "name": f"NAME{at}", "content": f"text {at}"} for at, role in enumerate(ROLES)]


@pytest.mark.parametrize("target", [made.name for made in formats() if made.writable and made.name != "mcp"])
def test_each_speaker_is_carried_or_a_loss(target: str) -> None:
    made = convert(TALK, source="openai-chat", target=target)
    said = json.dumps(made.value) + "".join(loss.detail for loss in made.losses)
    assert [item["name"] for item in TALK if item["name"] not in said] == []
