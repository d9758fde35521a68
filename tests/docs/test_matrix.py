"""The table of what survives a conversion leaves out no loss."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from toolfmt.transcripts.comparing.loss import CODES
from toolfmt.transcripts.comparing.losses import losses
from toolfmt.transcripts.fitting.shape import shape

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture
def matrix(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(DOCS))
    return import_module("matrix")


def lost(matrix: Any, trait: str, name: str) -> set[tuple[str, str]]:
    made, before = matrix.FORMATS[name], matrix.TRAITS[trait].conversation
    return {(loss.code, loss.action) for loss in losses(before, made.read(made.write(shape(before, made.rules))))}


def test_a_trait_is_about_all_that_its_conversation_loses_beside_the_plain_one(matrix: Any) -> None:
    first = next(iter(matrix.TRAITS))
    for name in matrix.FORMATS:
        plain = lost(matrix, first, name)
        for trait, one in matrix.TRAITS.items():
            assert one.codes <= CODES.keys()
            more = {code for code, action in lost(matrix, trait, name) - plain if action != "added"}
            assert more <= one.codes, (name, trait)
