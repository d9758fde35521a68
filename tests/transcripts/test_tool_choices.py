"""A choice of tools that the target has no words for is a loss, and nothing is left of it that a provider refuses."""

from __future__ import annotations

from typing import Any

import pytest

from toolfmt import check, convert_request
from toolfmt.errors import UnrepresentableError
from toolfmt.transcripts.formats import find, formats

BASH = {"type": "bash_20250124", "name": "bash"}
SKY = {"name": "sky", "input_schema": {"type": "object", "properties": {}}}
ONE = {"type": "tool", "name": "bash"}
FILES = {"type": "file_search", "vector_store_ids": ["v"]}
WRITABLE = [made.name for made in formats() if made.writable]
every_target = pytest.mark.parametrize("target", WRITABLE)


def asked(tools: list[Any], choice: Any) -> dict[str, Any]:
    return {
        "model": "m",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "hi"}],
        "tools": tools,
        "tool_choice": choice,
    }


def lost(value: dict[str, Any], source: str, target: str) -> tuple[Any, set[str]]:
    try:
        there = convert_request(value, source=source, target=target)
    except UnrepresentableError:
        pytest.skip("cannot be written")
    return there.value, {loss.code for loss in there.losses}


@every_target
def test_no_choice_is_left_without_tools(target: str) -> None:
    if target == "anthropic":
        return
    responses = {"model": "m", "input": "hi", "tools": [FILES], "tool_choice": "required", "parallel_tool_calls": False}
    for source, value in (("anthropic", asked([BASH], ONE)), ("openai-responses", responses)):
        if source == target:
            continue
        written, codes = lost(value, source, target)
        read = find(target).read(written)
        if not read.tools:
            assert (read.tools, read.tool_choice, read.parallel) == (None, None, None)
            assert codes & {"tools", "tool"}
            assert "tool_choice" in codes
        assert not [one for one in check(written, format=target) if one.rule == "tool_choice"]


@every_target
def test_a_choice_of_a_tool_that_is_gone_is_a_loss(target: str) -> None:
    if target == "anthropic":
        return
    written, codes = lost(asked([BASH, SKY], ONE), "anthropic", target)
    read = find(target).read(written)
    if read.tools and all(tool.name != "bash" for tool in read.tools):
        assert read.tool_choice is None or "bash" not in read.tool_choice.names
        assert "tool_choice" in codes


def test_what_is_allowed_is_never_widened() -> None:
    allowed = {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "file_search"}]}
    sky = {"type": "function", "name": "sky", "parameters": {"type": "object", "properties": {}}}
    value = {"model": "m", "input": "hi", "tools": [FILES, sky], "tool_choice": allowed}
    written, codes = lost(value, "openai-responses", "openai-chat")
    read = find("openai-chat").read(written)
    assert (read.tool_choice is not None and read.tool_choice.mode == "none") or "tool_choice" in codes


@pytest.mark.parametrize(
    ("format", "value"),
    [
        ("anthropic", asked([], ONE)),
        ("anthropic", asked([SKY], ONE)),
        ("openai-chat", asked([], {"type": "function", "function": {"name": "bash"}})),
        ("openai-chat", asked([], "required")),
        ("openai-responses", {"model": "m", "input": "hi", "tools": [], "tool_choice": "required"}),
        ("mistral", asked([], "any")),
    ],
)
def test_a_choice_among_no_tools_is_reported(format: str, value: dict[str, Any]) -> None:  # noqa: A002 - as `check`
    assert [one.rule for one in check(value, format=format)] == ["tool_choice"]


@pytest.mark.parametrize("choice", ["auto", "none", {"type": "function", "function": {"name": "sky"}}])
def test_a_choice_among_tools_is_accepted(choice: Any) -> None:
    tool = {"type": "function", "function": {"name": "sky", "parameters": {"type": "object", "properties": {}}}}
    assert check(asked([tool], choice), format="openai-chat") == ()


def test_a_tool_that_changed_says_what_went() -> None:
    given = asked([{**SKY, "input_examples": [{}], "defer_loading": True}], {"type": "auto"})
    (loss,) = convert_request(given, source="anthropic", target="openai-chat").losses
    assert loss.detail == "sky, without input_examples, defer_loading"
