"""Settings and tools that an API refuses for some models, or beside something else: left out with the reason."""

from __future__ import annotations

from typing import Any

import pytest

from toolfmt import check, convert_request
from toolfmt.transcripts.comparing.loss import Loss

ASKED = {"role": "user", "content": "Weather in Paris?"}
TOOL = {"type": "function", "name": "sky", "parameters": {"type": "object", "properties": {}}}
SEARCH = {"type": "web_search"}
SCHEMA = {"format": {"type": "json_schema", "name": "a", "schema": {"type": "object"}}}
CALL = {"type": "function_call", "call_id": "a", "name": "sky", "arguments": "{}"}
RESULT = {"type": "function_call_output", "call_id": "a", "output": "18C"}


def sent(target: str, model: str, *history: dict[str, Any], **settings: Any) -> tuple[dict[str, Any], list[Loss]]:
    value = {"model": "gpt-5.1", "input": [ASKED, *history], **settings}
    made = convert_request(value, source="openai-responses", target=target, settings={"model": model})
    assert isinstance(made.value, dict)
    assert not check(made.value | ({"model": model} if target == "gemini" else {}), format=target)
    return made.value, list(made.all_losses)


@pytest.mark.parametrize(("target", "at"), [("anthropic", ""), ("bedrock", "inferenceConfig")])
@pytest.mark.parametrize(
    ("model", "kept"),
    [
        ("claude-opus-4-20250514", {"temperature", "p"}),
        ("claude-opus-4-1-20250805", {"temperature"}),
        ("claude-sonnet-4-5", {"temperature"}),
        ("claude-opus-4-7", set[str]()),
        ("claude-opus-4-8", set[str]()),
    ],
)
def test_claude_takes_what_its_version_takes_of_sampling(target: str, at: str, model: str, kept: set[str]) -> None:
    value, losses = sent(target, model, temperature=0.7, top_p=0.9, max_output_tokens=3000)
    fields = value[at] if at else value
    assert {"temperature" if "temperature" in fields else "", "p" if {"top_p", "topP"} & fields.keys() else ""} == {
        "temperature" if "temperature" in kept else "",
        "p" if "p" in kept else "",
    }
    assert len(losses) == 2 - len(kept)
    assert all("the model takes" in loss.detail for loss in losses)


def test_a_demand_for_a_call_goes_without_a_budget_in_bedrock_too() -> None:
    asked: dict[str, Any] = {"reasoning": {"effort": "medium"}, "tools": [TOOL], "tool_choice": "required"}
    value, losses = sent("bedrock", "us.anthropic.claude-sonnet-4-5", max_output_tokens=3000, **asked)
    assert "additionalModelRequestFields" not in value
    assert [(loss.code, loss.path) for loss in losses] == [("setting", "/reasoning/effort")]
    value, losses = sent("anthropic", "claude-opus-4-6", max_output_tokens=3000, **asked)
    assert (value["thinking"], losses) == ({"type": "adaptive"}, [])


@pytest.mark.parametrize(("effort", "budget"), [("low", 1024), ("medium", 1500), ("high", 1500)])
def test_a_budget_of_thinking_leaves_room_for_the_answer(effort: str, budget: int) -> None:
    asked = {"reasoning": {"effort": effort}, "max_output_tokens": 3000}
    assert sent("anthropic", "claude-sonnet-4-5", **asked)[0]["thinking"]["budget_tokens"] == budget
    config = sent("gemini", "gemini-2.5-flash", **asked)[0]["generationConfig"]
    assert config["thinkingConfig"] == {"thinkingBudget": budget}


@pytest.mark.parametrize(
    ("model", "effort", "config"),
    [
        ("gemini-2.5-pro", "none", {"thinkingBudget": 128}),
        ("gemini-2.5-flash", "none", {"thinkingBudget": 0}),
        ("gemini-2.5-flash", "xhigh", {"thinkingBudget": 24576}),
        ("gemini-2.5-pro", "max", {"thinkingBudget": 32768}),
        ("gemini-3-pro-preview", "none", {"thinkingLevel": "LOW"}),
        ("gemini-3-pro-preview", "medium", {"thinkingLevel": "HIGH"}),
        ("gemini-3.1-pro-preview", "medium", {"thinkingLevel": "MEDIUM"}),
        ("gemini-3.7-flash", "minimal", {"thinkingLevel": "LOW"}),
        ("gemini-3-flash-preview", "none", {"thinkingLevel": "MINIMAL"}),
        ("gemini-3-flash-preview", "xhigh", {"thinkingLevel": "HIGH"}),
        ("gemini-4-pro", "xhigh", {"thinkingLevel": "XHIGH"}),
    ],
)
def test_gemini_thinks_as_much_as_the_model_can(model: str, effort: str, config: dict[str, Any]) -> None:
    assert sent("gemini", model, reasoning={"effort": effort})[0]["generationConfig"]["thinkingConfig"] == config


def test_a_budget_above_the_model_s_greatest_is_a_loss() -> None:
    value = {"messages": [ASKED], "max_tokens": 99000, "thinking": {"type": "enabled", "budget_tokens": 40000}}
    made = convert_request(value, source="anthropic", target="gemini", settings={"model": "gemini-2.5-flash"})
    assert made.value["generationConfig"]["thinkingConfig"] == {"thinkingBudget": 24576}
    (loss,) = made.losses
    assert loss.detail.startswith("budget: 40000 -> 24576: the model has another range")


def test_older_models_of_gemini_take_functions_alone() -> None:
    value, losses = sent("gemini", "gemini-2.5-flash", tools=[SEARCH, TOOL], text=SCHEMA)
    assert [list(tool) for tool in value["tools"]] == [["functionDeclarations"]]
    assert "generationConfig" not in value
    assert {(loss.code, loss.path) for loss in losses} == {("tool", "/tools/0"), ("setting", "/text/format")}
    assert all("the model takes functions alone" in loss.detail for loss in losses)
    for model, tools in (("gemini-3-flash-preview", [SEARCH, TOOL]), ("gemini-2.5-flash", [SEARCH])):
        value, losses = sent("gemini", model, tools=tools, text=SCHEMA)
        assert "googleSearch" in [key for tool in value["tools"] for key in tool]
        assert "responseMimeType" in value["generationConfig"]


def test_a_call_of_another_model_has_what_gemini_3_takes_for_a_signature() -> None:
    second = CALL | {"call_id": "b"}
    history = (CALL, second, RESULT, RESULT | {"call_id": "b"})
    value, losses = sent("gemini", "gemini-3-pro-preview", *history)
    parts = value["contents"][1]["parts"]
    assert [part.get("thoughtSignature") for part in parts] == ["skip_thought_signature_validator", None]
    assert [(loss.code, loss.action, loss.severity) for loss in losses if loss.code == "signature"] == [
        ("signature", "added", "bookkeeping")
    ]
    for model, more in (("gemini-2.5-pro", ()), ("gemini-3-pro-preview", (ASKED,))):
        value, _ = sent("gemini", model, *history, *more)
        assert "thoughtSignature" not in str(value["contents"])


def test_check_knows_what_the_model_refuses() -> None:
    value = {"model": "claude-opus-4-8", "max_tokens": 9, "temperature": 1, "messages": [ASKED]}
    assert [(found.rule, found.path) for found in check(value, format="anthropic")] == [("setting", "/temperature")]
    both = value | {"model": "claude-sonnet-4-5", "top_p": 0.9}
    assert [(found.rule, found.path) for found in check(both, format="anthropic")] == [("setting", "/top_p")]
    assert not check(value | {"model": "claude-sonnet-4-5"}, format="anthropic")


def test_tools_are_compared_by_what_they_are() -> None:
    files = {"type": "file_search", "vector_store_ids": ["v"]}
    limited = {"type": "web_search", "filters": {"allowed_domains": ["e.com"]}}
    _, losses = sent("anthropic", "claude-opus-4-6", tools=[TOOL, files, SEARCH], max_output_tokens=99)
    assert next((loss.action, loss.path) for loss in losses if loss.code == "tool") == ("dropped", "/tools/1")
    _, losses = sent("gemini", "gemini-3-pro", tools=[limited])
    assert Loss("tool", "/tools/0", "changed", "web_search, without allowed_domains") in losses


def test_losses_of_a_choice_are_in_plain_words() -> None:
    choice = {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "sky"}]}
    _, losses = sent("mistral", "m", tools=[TOOL], tool_choice=choice, parallel_tool_calls=False)
    assert Loss("tool_choice", "/tool_choice", "changed", "auto: one of sky") in losses
    _, losses = sent("gemini", "gemini-3-pro", tools=[TOOL], parallel_tool_calls=False)
    assert Loss("parallel", "/parallel", "dropped", "one call at a time") in losses
