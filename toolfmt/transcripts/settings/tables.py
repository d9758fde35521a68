"""The settings of each API as data, with the sources of ranges and words.

Places and words are those of the SDKs' types: openai 3.54, anthropic 2.12, google-genai 3.4, mistralai 3.7,
cohere 7.3.1, ollama 0.6.3, botocore 1.44.5.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from toolfmt.jsontext import is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.families.gemini_parts import PROVIDER, camel
from toolfmt.transcripts.settings import output_format, reasoning
from toolfmt.transcripts.settings.record import RefusedSettings, Setting, Table, Unsigned


def same_words(*words: str) -> dict[str, JsonValue]:
    """Return a table of words that are the same in all APIs."""
    return {word: word for word in words}


def _tokens(place: str, *also: str, low: int = 1) -> Setting:
    return Setting("max_tokens", place, "integer", also, low=low)


def _penalties(inside: str = "", low: float | None = -2, high: float | None = 2) -> tuple[Setting, ...]:
    """Describe both penalties; the range is from OpenAI's documentation."""
    frequency, presence = (
        ("frequencyPenalty", "presencePenalty")
        if inside == "generationConfig."
        else ("frequency_penalty", "presence_penalty")
    )
    return (
        Setting("frequency_penalty", inside + frequency, low=low, high=high),
        Setting("presence_penalty", inside + presence, low=low, high=high),
    )


_DOCUMENTS: Final = frozenset({"documents"})
"""Documents beside the messages, at Cohere, Groq and vLLM."""
_MODEL: Final = Setting("model", "model", "text")
_STREAM: Final = Setting("stream", "stream", "flag")
_METADATA: Final = Setting("metadata", "metadata", "object", most=16)
_VERBOSITY: Final = ("low", "medium", "high")
_TIERS: Final = {**same_words("auto", "flex", "scale", "priority", "fast"), "standard": "default"}
_ALWAYS: Final[Mapping[str, JsonValue]] = {"stream_usage": True}

OPENAI_SHARED: Final = (
    _MODEL,
    _STREAM,
    Setting("temperature", "temperature", low=0, high=2),
    Setting("top_p", "top_p", low=0, high=1),
    Setting("top_logprobs", "top_logprobs", "integer", low=0, high=20),
    Setting("user", "user", "text"),
    Setting("safety_identifier", "safety_identifier", "text"),
    _METADATA,
    Setting("service_tier", "service_tier", "text", words=_TIERS),
    Setting("store", "store", "flag"),
    Setting("cache_key", "prompt_cache_key", "text"),
    Setting("cache_options", "prompt_cache_options", "object"),
    Setting("cache_retention", "prompt_cache_retention", "text"),
    Setting("moderation", "moderation", "any"),
)

# Additional settings of servers that copy OpenAI's API are read, but not written for OpenAI.
_GATEWAYS: Final = (
    Setting("top_k", "", "integer", ("top_k",)),
    Setting("min_p", "", also=("min_p",)),
    Setting("repetition_penalty", "", also=("repetition_penalty",)),
    Setting("budget", "", "integer", ("reasoning.max_tokens", "thinking.budget_tokens")),
    Setting("thinks", "", "flag", ("reasoning.enabled", "enable_thinking")),
    Setting("thinks", "", "any", ("thinking.type",), words=reasoning.SWITCH),
)

OPENAI_CHAT: Final = Table(
    settings=(
        *OPENAI_SHARED,
        _tokens("max_completion_tokens", "max_tokens"),
        *_penalties(),
        Setting("stop", "stop", "texts", most=4),
        Setting("seed", "seed", "integer"),
        Setting("n", "n", "integer", low=1, high=128),
        Setting("logprobs", "logprobs", "flag"),
        Setting("logit_bias", "logit_bias", "object"),
        Setting("modalities", "modalities", "texts", words=same_words("text", "audio")),
        Setting("verbosity", "verbosity", "text", words=same_words(*_VERBOSITY)),
        Setting("stream_usage", "stream_options.include_usage", "flag"),
        Setting("obfuscation", "stream_options.include_obfuscation", "flag"),
        Setting("prediction", "prediction", "object"),
        reasoning.effort("reasoning_effort", also=("reasoning.effort",)),
        *_GATEWAYS,
    ),
    groups=(output_format.CHAT,),
    required=("model",),
    context=_DOCUMENTS,
)

RESPONSES: Final = Table(
    settings=(
        *OPENAI_SHARED,
        _tokens("max_output_tokens", low=16),
        Setting("logprobs", "include", "flag", member="message.output_text.logprobs"),
        Setting("encrypted", "include", "flag", member="reasoning.encrypted_content"),
        Setting("verbosity", "text.verbosity", "text", words=same_words(*_VERBOSITY)),
        Setting("obfuscation", "stream_options.include_obfuscation", "flag"),
        reasoning.effort("reasoning.effort"),
        Setting(
            "thoughts",
            "reasoning.summary",
            "text",
            ("reasoning.generate_summary",),
            words=same_words("auto", "concise", "detailed"),
        ),
    ),
    groups=(output_format.RESPONSES,),
    required=("model",),
    context=frozenset({"previous_response_id", "conversation", "prompt"}),
    streams=_ALWAYS,
)

_NOT_FORCED: Final = RefusedSettings(
    names=reasoning.NAMES,
    beside="budget",
    tools="forced",
    reason="the target has no budget of thinking where tool_choice demands a call",
)
"""Anthropic API, "Extended thinking": a budget goes with the choices auto and none alone.

Adaptive thinking goes with all (recorded: claude-opus-4-6 with `any`, HTTP 200). Bedrock refuses the same:
can1357/oh-my-pi#341.
"""
_CLAUDE: Final = (
    _NOT_FORCED,
    RefusedSettings(
        names=("temperature", "top_p", "top_k"),
        models=reasoning.NEWER,
        reason="the model takes no temperature, top_p or top_k",
    ),
    RefusedSettings(
        names=("top_p",),
        models=r"claude-(?:opus-4-[1-9](?!\d)|(?:sonnet|haiku)-4-[5-9](?!\d)|(?:opus|sonnet|haiku)-[5-9])",
        beside="temperature",
        reason="the model takes temperature or top_p, not both",
    ),
)
"""Claude from 4.1 on: SalesforceAIResearch/MCP-Universe#49; from Opus 4.7 on: The-PR-Agent/pr-agent#2456 and
pollinations/pollinations#11319."""

# The types of 2.12 have no `temperature`, `top_p` and `top_k` any more; the API takes them for the models that have
# them (recorded: claude-haiku-4-5 with both, HTTP 200). Ranges: Anthropic API reference, Messages.
ANTHROPIC: Final = Table(
    settings=(
        _MODEL,
        _STREAM,
        _tokens("max_tokens", low=0),
        Setting("temperature", "temperature", low=0, high=1),
        Setting("top_p", "top_p", low=0, high=1),
        Setting("top_k", "top_k", "integer", low=0),
        Setting("stop", "stop_sequences", "texts", blank=False),
        Setting("user", "metadata.user_id", "text", stands_for=("safety_identifier",)),
        Setting("cache", "cache_control", "object"),
        Setting("service_tier", "service_tier", "text", words={"auto": "auto", "standard": "standard_only"}),
        reasoning.effort("output_config.effort", reasoning.EFFORTS[2:], models=reasoning.AFTER),
    ),
    groups=(output_format.ANTHROPIC, *reasoning.ANTHROPIC),
    required=("model", "max_tokens"),
    refusals=_CLAUDE,
    streams=_ALWAYS,
)


def _camel(fields: JsonObject) -> JsonObject:
    fields = camel(fields)
    config = fields.get("generationConfig")
    if is_object(config):
        config = camel(config)
        thinking = config.get("thinkingConfig")
        inside: JsonObject = {"thinkingConfig": camel(thinking)} if is_object(thinking) else {}
        fields["generationConfig"] = config | inside
    return fields


def _levels(*words: str) -> dict[str, JsonValue]:
    return {word: word.upper() for word in words}


_LEVELS: Final = {
    r"^(?!.*gemini-[123])": _levels("minimal", "low", "medium", "high", "xhigh"),
    r"gemini-3(?!\.?\d*-pro|\.[78]-flash)": _levels("minimal", "low", "medium", "high"),
    r"gemini-3\.(?:\d+-pro|[78]-flash)": _levels("low", "medium", "high"),
    "gemini-3-pro": _levels("low", "high"),
}
"""The levels that models take: Google Cloud documentation, "Thinking", supported thinking_level values."""
_CONFIG: Final = "generationConfig."
_LEVEL: Final = f"{_CONFIG}thinkingConfig.thinkingLevel"

# Ranges: Gemini API reference, GenerationConfig. Levels of thinking are for models from Gemini 3 on, budgets for those
# before: Gemini API, "Thinking".
GEMINI: Final = Table(
    settings=(
        _tokens(_CONFIG + "maxOutputTokens"),
        Setting("temperature", _CONFIG + "temperature", low=0, high=2),
        Setting("top_p", _CONFIG + "topP", low=0, high=1),
        Setting("top_k", _CONFIG + "topK", "integer", low=1),
        *_penalties(_CONFIG),
        Setting("stop", _CONFIG + "stopSequences", "texts", most=5),
        Setting("seed", _CONFIG + "seed", "integer"),
        Setting("n", _CONFIG + "candidateCount", "integer", low=1, high=8),
        Setting("logprobs", _CONFIG + "responseLogprobs", "flag"),
        Setting("top_logprobs", _CONFIG + "logprobs", "integer", low=0, high=20),
        Setting(
            "modalities",
            _CONFIG + "responseModalities",
            "texts",
            words={"text": "TEXT", "image": "IMAGE", "audio": "AUDIO"},
        ),
        Setting("service_tier", "serviceTier", "text", words=same_words("flex", "standard", "priority")),
        Setting("labels", "labels", "object"),
        Setting("store", "store", "flag"),
        *(Setting("effort", _LEVEL, "text", words=words, models=models) for models, words in _LEVELS.items()),
    ),
    groups=(output_format.GEMINI, *reasoning.GEMINI),
    # googleapis/python-genai#867, and the refusal "Tool use with function calling is unsupported". Models from
    # Gemini 3 on take both (recorded: gemini-3-flash-preview with googleSearch and functions, HTTP 200).
    refusals=(
        RefusedSettings(
            names=("format", "hosted"),
            models="gemini-[12]",
            tools="functions",
            reason="the model takes functions alone, without JSON answers and the provider's tools",
        ),
    ),
    # Gemini API, "Thought signatures": calls from elsewhere; octos-org/octos#1897 has the refusal.
    unsigned=Unsigned("gemini-[3-9]", PROVIDER, "skip_thought_signature_validator"),
    elsewhere=frozenset({"model", "stream"}),
    context=frozenset({"cachedContent", "cached_content"}),
    spelled=_camel,
    streams=_ALWAYS,
)

INTERACTIONS: Final = Table(
    settings=(
        _MODEL,
        _STREAM,
        _tokens("generation_config.max_output_tokens"),
        Setting("temperature", "generation_config.temperature", low=0, high=2),
        Setting("top_p", "generation_config.top_p", low=0, high=1),
        Setting("stop", "generation_config.stop_sequences", "texts", most=5),
        Setting("seed", "generation_config.seed", "integer"),
        Setting("modalities", "response_modalities", "texts", words=same_words("text", "image", "audio")),
        Setting("service_tier", "service_tier", "text", words=same_words("flex", "standard", "priority")),
        Setting("labels", "labels", "object"),
        Setting("store", "store", "flag"),
        *(
            reasoning.effort("generation_config.thinking_level", tuple(words), models=models)
            for models, words in {**_LEVELS, "gemini-[12]": reasoning.EFFORTS[1:6]}.items()
        ),
        Setting(
            "thoughts",
            "generation_config.thinking_summaries",
            "text",
            words={"auto": "auto", "concise": "auto", "detailed": "auto", "none": "none"},
        ),
    ),
    groups=(output_format.INTERACTIONS,),
    spelled=output_format.typed,
    required=("model",),
    context=frozenset({"previous_interaction_id", "cached_content", "continuation_token"}),
    streams=_ALWAYS,
)

# What only some models take is in `additionalModelRequestFields`, as their maker spells it: Amazon Bedrock User Guide,
# "Inference request parameters".
BEDROCK: Final = Table(
    settings=(
        Setting("model", "modelId", "text"),
        _tokens("inferenceConfig.maxTokens"),
        Setting("temperature", "inferenceConfig.temperature", low=0, high=1),
        Setting("top_p", "inferenceConfig.topP", low=0, high=1),
        Setting("top_k", "additionalModelRequestFields.top_k", "integer", low=0, models="anthropic|claude"),
        Setting("stop", "inferenceConfig.stopSequences", "texts", most=2500),
        Setting("metadata", "requestMetadata", "object", most=16),
        Setting(
            "service_tier", "serviceTier.type", "text", words={**same_words("flex", "priority"), "standard": "default"}
        ),
        reasoning.effort(
            "outputConfig.effort",
            also=("additionalModelRequestFields.reasoning_effort", "additionalModelRequestFields.output_config.effort"),
            models=reasoning.AFTER,
        ),
    ),
    groups=(output_format.BEDROCK, *reasoning.BEDROCK),
    required=("model",),
    refusals=_CLAUDE,
    elsewhere=frozenset({"stream"}),
    streams=_ALWAYS,
)

# Ranges of mistralai: La Plateforme's API reference has a temperature of 0 to 1.5.
MISTRAL: Final = Table(
    settings=(
        _MODEL,
        _STREAM,
        _tokens("max_tokens", low=0),
        Setting("temperature", "temperature", low=0, high=1.5),
        Setting("top_p", "top_p", low=0, high=1),
        Setting("top_k", "top_k", "integer", low=0),
        *_penalties(),
        Setting("repetition_penalty", "repetition_penalty"),
        Setting("min_tokens", "min_tokens", "integer"),
        Setting("stop", "stop", "texts"),
        Setting("seed", "random_seed", "integer", low=0),
        Setting("n", "n", "integer", low=1),
        Setting("logprobs", "logprobs", "flag"),
        Setting("top_logprobs", "top_logprobs", "integer", low=0),
        Setting("metadata", "metadata", "object"),
        Setting("cache_key", "prompt_cache_key", "text"),
        Setting("prediction", "prediction", "object"),
        Setting("service_tier", "service_tier", "text", words={"auto": "auto", "standard": "standard_only"}),
        reasoning.effort("reasoning_effort"),
    ),
    groups=(output_format.CHAT,),
    required=("model",),
    streams=_ALWAYS,
)

# Ranges: the docstring of cohere 7.3.1, v2/raw_client.py.
COHERE: Final = Table(
    settings=(
        _MODEL,
        _STREAM,
        _tokens("max_tokens"),
        Setting("temperature", "temperature", low=0),
        Setting("top_p", "p", low=0.01, high=0.99),
        Setting("top_k", "k", "integer", low=0, high=500),
        *_penalties(low=0, high=1),
        Setting("stop", "stop_sequences", "texts", most=5),
        Setting("seed", "seed", "integer"),
        Setting("logprobs", "logprobs", "flag"),
    ),
    groups=(output_format.COHERE, reasoning.COHERE),
    required=("model",),
    context=_DOCUMENTS,
    streams=_ALWAYS,
)

OLLAMA: Final = Table(
    settings=(
        _MODEL,
        _STREAM,
        _tokens("options.num_predict"),
        Setting("temperature", "options.temperature", low=0),
        Setting("top_p", "options.top_p", low=0, high=1),
        Setting("top_k", "options.top_k", "integer", low=0),
        Setting("min_p", "options.min_p", low=0, high=1),
        *_penalties("options.", None, None),
        Setting("repetition_penalty", "options.repeat_penalty"),
        Setting("stop", "options.stop", "texts"),
        Setting("seed", "options.seed", "integer"),
        Setting("logprobs", "logprobs", "flag"),
        Setting("top_logprobs", "top_logprobs", "integer", low=0),
    ),
    groups=(output_format.OLLAMA, reasoning.OLLAMA),
    required=("model",),
    streams=_ALWAYS,
)

TABLES: Final[Mapping[str, Table]] = {
    "anthropic": ANTHROPIC,
    "bedrock": BEDROCK,
    "cohere": COHERE,
    "gemini": GEMINI,
    "gemini-interactions": INTERACTIONS,
    "mistral": MISTRAL,
    "ollama": OLLAMA,
    "openai-chat": OPENAI_CHAT,
    "openai-responses": RESPONSES,
}
"""Each API's table, by the name of its format."""
