"""Every character is claimed: what a model writes where the format has no place for it is never lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from toolfmt.model import ToolDefinition, ToolInvocation
from toolfmt.testing import laws, strategies

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolfmt.dialect import Dialect

PROPERTIES = {"path": {"type": "string"}, "note": {"type": "string"}}
TOOL = ToolDefinition.model_validate(
    {"name": "run", "parameters": {"type": "object", "properties": PROPERTIES, "required": []}}
)
ELEMENTS = """
anthropic-json beam claude-legacy cline cohere-xml deepseek-v32 deepseek-v4 deepseek-v41 dots gigachat35 glm45
glm47 hy-v3 hy-v3-suffix hy-v4 iquest-q1 k2-horizon kimi-k3 ling3 mimo minicpm5 minimax-m2 minimax-m3
morph-xml muse nemotron3 poolside-v1 qwen3-coder qwen35 seed-oss spark25 step3 step3p5 tool-json xml-cdata
xml-items
"""
OTHERS = """
apertus apriel bielik cohere-command command-r-plus default-json ernie45 exaone4 execute-array gemini-json
gigachat3 granite-20b-fc granite3 granite4 harmony hermes hunyuan-a13b inkling internlm2 interns1 jamba
llama3-json llama3-json-tag longcat minimax-m1 mistral-v3 nemotron-v2 openai-json phi4-mini qwen25 reka-edge
sentinel trinity xlam
"""
OPEN = frozenset(f"{ELEMENTS} {OTHERS}".split())
"""Dialects that still lose something."""


def _written(dialect: Dialect[str]) -> Iterator[str]:
    """A call with an argument and one without, as the dialect writes them."""
    for arguments in ({"note": "hello"}, {}):
        call = ToolInvocation(
            name="run", arguments=arguments, server="local" if dialect.traits.carries_server else None
        )
        yield dialect.calls([call], {"run": TOOL})


def _check(dialect: Dialect[str]) -> None:
    for written in _written(dialect):
        for number, text in enumerate(strategies.strays(written)):
            laws.claimed(dialect, text, strategies.STRAY, [TOOL])
            if number % 3 == 0:
                laws.claimed(dialect, text, strategies.STRAY)


def test_nothing_is_lost_while_its_call_runs(dialect: Dialect[str]) -> None:
    if dialect.name not in OPEN:
        _check(dialect)
        return
    with pytest.raises(AssertionError):  # the list is kept true
        _check(dialect)
