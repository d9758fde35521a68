from __future__ import annotations

import re

import pytest

from toolfmt.lookup.providers import API_MODELS, MODEL_PATTERNS, OPEN_MODELS, PROVIDERS, match_model


def test_the_tables_are_sound() -> None:
    for pattern, _ in (*OPEN_MODELS, *API_MODELS):
        assert re.compile(pattern).match("") is None, "a pattern that matches nothing matches everything"
        assert pattern == pattern.lower(), "ids are matched in lower case"
        assert "_" not in pattern, "ids are matched with - for _"
    assert (*OPEN_MODELS, *API_MODELS) == MODEL_PATTERNS
    assert all(provider.summary for provider in PROVIDERS)


@pytest.mark.parametrize(
    "model",
    [
        "Qwen/Qwen3-Coder-30B-A3B-Instruct",
        "qwen3-coder:30b",
        "qwen3_coder",
        "Qwen3-Coder-480B-A35B-Instruct-FP8",
        "unsloth/Qwen3-Coder-30B-A3B-Instruct-GGUF:Q4_K_M",
        "bartowski/Qwen_Qwen3-Coder-30B-A3B-Instruct-GGUF",
        "/models/Qwen3-Coder-30B-A3B-Instruct-Q4_K_M.gguf",
        r"C:\models\Qwen3-Coder-30B-A3B-Instruct.gguf",
        "models--Qwen--Qwen3-Coder-30B-A3B-Instruct",
        "hf.co/unsloth/Qwen3-Coder-30B-A3B-Instruct-GGUF",
        "qwen/qwen3-coder:free",
        "openrouter/qwen/qwen3-coder",
        "accounts/fireworks/models/qwen3-coder-480b-a35b-instruct",
        "qwen.qwen3-coder-480b-a35b-v1:0",
        "@cf/qwen/qwen3-coder",
    ],
)
def test_one_pattern_finds_a_model_under_all_its_spellings(model: str) -> None:
    assert match_model(model, ((r"qwen3-coder", "found"),)) == "found"


SPELLINGS = {
    "qwen3-coder": "openrouter/qwen/qwen3-coder:free unsloth-qwen3-coder-30b Qwen3-Coder-30B-A3B-Instruct-IQ4_XS.gguf",
    "qwen25": "qwen2.5:7b-instruct-q4_K_M Qwen/Qwen2.5-72B-Instruct-AWQ qwen2p5-72b-instruct qwen-qwq-32b qwq:32b",
    "llama3-json": """
        llama3.1:8b llama3.3 Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf accounts/fireworks/models/llama-v3p1-405b-instruct
        us.meta.llama3-3-70b-instruct-v1:0 databricks-meta-llama-3-3-70b-instruct unsloth/Llama-3_2-3B-Instruct-FP8
    """,
    "nemotron-v2": "nvidia/Llama-3_3-Nemotron-Super-49B-v1",
    "deepseek-v31": "DeepSeek-V3.1-UD-Q2_K_XL.gguf deepseek-v3-1-terminus accounts/fireworks/models/deepseek-v3p1",
    "deepseek-v3": "DeepSeek-V3-0324 us.deepseek.r1-v1:0",
    "glm45": "zai-glm-4.6 accounts/fireworks/models/glm-4p5 GLM-4.5-Air-FP8",
    "mistral-v11-callid": "mistral-small3.2:24b",
    "mistral-v11": "magistral:24b ministral-3:8b",
    "mistral-v3": "mistral:7b mistral-nemo:12b mistral.mixtral-8x7b-instruct-v0:1",
    "granite3": "granite3.3:8b ibm/granite-3-3-8b-instruct",
    "hermes": "hermes3:8b nous-hermes-2-pro",
    "phi4-mini": "phi4-mini:3.8b",
    "xml-items": """
        us.anthropic.claude-3-5-sonnet-20241022-v2:0 databricks-claude-3-7-sonnet anthropic--claude-3.5-sonnet
        arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-3-haiku-20240307-v1:0
    """,
    "openai-json": """
        gpt-4o-mini-eastus azure-gpt-4o openai/gpt-4-1 mistral:mistral-large-latest mistral.mistral-large-2407-v1:0
    """,
    "gemini-json": "vertex_ai/gemini-2.5-pro@default",
}


@pytest.mark.parametrize(
    ("model", "dialect"), [(model, dialect) for dialect, models in SPELLINGS.items() for model in models.split()]
)
def test_hosts_quantisations_and_files_do_not_hide_a_family(model: str, dialect: str) -> None:
    assert match_model(model, MODEL_PATTERNS) == dialect


@pytest.mark.parametrize("model", ["distilled-from-qwen3-coder", "myqwen3-coder", "qwen3", ""])
def test_a_name_inside_another_name_is_not_found(model: str) -> None:
    assert match_model(model, ((r"qwen3-coder", "found"),)) is None


def test_the_first_pattern_decides() -> None:
    patterns = ((r"qwen3-coder", "special"), (r"qwen3", "general"))
    assert match_model("Qwen3-Coder-30B", patterns) == "special"
    assert match_model("Qwen3-30B", patterns) == "general"


HOSTED = {
    "openai-json": """
        gpt-4o chatgpt-4o-latest gpt-35-turbo gpt4 gpt-5-mini openai:gpt-5 global.openai.gpt-5.6-luna gpt-realtime
        ft:gpt-4o-mini-2024-07-18:acme::abc codex-mini-latest o1 o3-mini o4-mini-2025-04-16
        grok-4 x-ai/grok-code-fast-1 deepseek-chat deepseek-reasoner command-r-plus-08-2024 sonar-pro
        mistral-large-latest mistral-small-2506 mistral-medium open-mixtral-8x22b codestral-latest ministral-8b-latest
        devstral-medium-2507 magistral-small-2509 us.mistral.pixtral-large-2502-v1:0
    """,
    "xml-items": """
        claude-sonnet-4-5 anthropic/claude-3.7-sonnet:thinking anthropic.claude-v2 claude-3-5-haiku@20241022
    """,
    "gemini-json": """
        gemini-2.5-pro models/gemini-3.1-flash-lite google/gemini-2.0-flash-001 vertex_ai/gemini-2.5-flash
    """,
    "default-json": """
        qwen-max qwq-plus moonshot-v1-128k us.amazon.nova-pro-v1:0 global.amazon.nova-2-lite-v1:0
    """,
}


@pytest.mark.parametrize(
    ("model", "dialect"), [(model, dialect) for dialect, models in HOSTED.items() for model in models.split()]
)
def test_hosted_models_are_known_by_their_ids(model: str, dialect: str) -> None:
    assert match_model(model, API_MODELS) == dialect


@pytest.mark.parametrize(
    "model", ["openai/gpt-oss-20b", "gpt2", "o1x", "mistralai/Mistral-Small-3.2-24B-Instruct-2506", "llama-3"]
)
def test_weights_are_not_taken_for_hosted_models(model: str) -> None:
    assert match_model(model, API_MODELS) is None
