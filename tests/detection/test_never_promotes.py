"""Detection makes no call of a text in which nothing is called."""

from __future__ import annotations

import json
from functools import cache
from typing import Any
from zipfile import ZipFile

import pytest

import toolfmt
from tests import sampling
from tests.detection.plain import TOOLS, texts
from tests.real import bfcl


@cache
def plain_texts() -> list[tuple[str, str]]:
    """Make the texts once, when the first test needs them."""
    return list(texts())


def test_the_texts_are_many() -> None:
    assert len(plain_texts()) >= 1500


@pytest.mark.parametrize("offered", [TOOLS, None], ids=["offered", "nothing offered"])
def test_nothing_is_called(offered: tuple[toolfmt.ToolDefinition, ...] | None) -> None:
    called = {
        what: result.calls
        for what, text in sampling.share(plain_texts(), 0, 4)
        if (result := toolfmt.parse(text, dialect="auto", tools=offered)).calls
    }
    assert called == {}


def test_nothing_is_lost_of_what_is_only_shown() -> None:
    for what, text in plain_texts()[:: len(plain_texts()) // 200]:
        result = toolfmt.parse(text, dialect="auto", tools=TOOLS)
        if not result.dialect and not result.reasoning:
            assert result.text == text, what


def questions() -> list[tuple[str, str, list[Any]]]:
    """Give the questions for which none of the offered tools is of use, with these tools as they are recorded."""
    try:
        archive = bfcl.wheel()
    except bfcl.NotReachableError as error:
        pytest.skip(str(error))
    found: list[tuple[str, str, list[Any]]] = []
    with ZipFile(archive) as files:
        for name in ("BFCL_v4_irrelevance.json", "BFCL_v4_live_irrelevance.json"):
            for row in map(json.loads, files.read(bfcl.DATA + name).decode().splitlines()):
                said = "\n".join(message["content"] for turn in row["question"] for message in turn)
                found.append((row["id"], said, row["function"]))
    return found


def test_a_question_that_no_tool_answers_is_no_call() -> None:
    rows = questions()
    assert len(rows) >= 1000
    for id_, said, functions in sampling.share(rows, 0, 20):
        tools = [toolfmt.tool(function) for function in functions if function.get("name")]
        for text in (said, f"{said}\n\n{json.dumps(functions, indent=2)}", json.dumps(functions)):
            assert not toolfmt.parse(text, dialect="auto", tools=tools).calls, id_
