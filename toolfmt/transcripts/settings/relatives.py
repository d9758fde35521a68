"""OpenAI's relatives: the settings that they add to Chat Completions, and those that they refuse, in one row each.

Azure serves OpenAI's own API. The others copy it: each refuses some of its settings and adds some of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from toolfmt.transcripts.settings import output_format, reasoning
from toolfmt.transcripts.settings.record import Group, Setting, Table
from toolfmt.transcripts.settings.tables import OPENAI_CHAT, same_words

_OPENAI_ONLY: Final = frozenset(
    {"safety_identifier", "cache_options", "cache_retention", "moderation", "obfuscation", "prediction", "verbosity"}
    | {"modalities", "metadata", "store", "cache_key", "service_tier"}
)
"""Settings that only OpenAI supports."""

_TOKENS: Final = Setting("max_tokens", "max_tokens", "integer", ("max_completion_tokens",), low=1)
_TOP_K: Final = Setting("top_k", "top_k", "integer")
_MIN_P: Final = Setting("min_p", "min_p", low=0, high=1)
_REPETITION: Final = Setting("repetition_penalty", "repetition_penalty")


@dataclass(frozen=True, slots=True, kw_only=True)
class Relative:
    """One relative: how it differs from OpenAI's Chat Completions."""

    summary: str
    source: str
    """The source of these facts."""
    refuses: frozenset[str] = frozenset()
    """Settings that it does not support."""
    adds: tuple[Setting, ...] = ()
    """Its own settings, and those with another place or range."""
    format: Group = output_format.CHAT
    reasoning: str = ""
    """The message key of reasoning that requests accept too; "": none."""
    speakers: bool = True
    """Whether a message may name its speaker."""
    developers: bool = False
    """Whether the role `developer` exists; otherwise it becomes `system`."""
    custom_tools: bool = False
    gateway: bool = False
    """Whether marks for the prompt cache and signed thoughts are supported."""

    @property
    def table(self) -> Table:
        """Its settings."""
        own = {setting.name for setting in self.adds}
        kept = (one for one in OPENAI_CHAT.settings if one.name not in self.refuses | own and one.at)
        return replace(OPENAI_CHAT, settings=(*kept, *self.adds), groups=(self.format,))


_SERVERS: Final = _OPENAI_ONLY - {"service_tier"}

RELATIVES: Final[Mapping[str, Relative]] = {
    "azure": Relative(
        summary="Azure OpenAI: OpenAI's own Chat Completions.",
        source="Azure OpenAI REST API reference, Chat Completions",
        refuses=frozenset({"moderation", "cache_options", "safety_identifier"}),
        developers=True,
        custom_tools=True,
    ),
    "deepseek": Relative(
        summary="DeepSeek: no schema for answers, no seed, thinking as a switch, reasoning_content beside calls.",
        source="DeepSeek API reference, Create Chat Completion",
        refuses=_OPENAI_ONLY | {"n", "seed", "user", "logit_bias"},
        adds=(
            _TOKENS,
            Setting("stop", "stop", "texts", most=16),
            Setting("thinks", "thinking.type", "any", words=reasoning.SWITCH),
            reasoning.effort("reasoning_effort", ("high", "max")),
        ),
        format=output_format.JSON_ONLY,
        reasoning="reasoning_content",
    ),
    "fireworks": Relative(
        summary="Fireworks: sampling of open models beside OpenAI's.",
        source="Fireworks API reference, Create Chat Completion",
        refuses=_OPENAI_ONLY,
        adds=(_TOKENS, _TOP_K, _MIN_P, _REPETITION),
        reasoning="reasoning_content",
    ),
    "groq": Relative(
        summary="Groq: no log probabilities, one choice, no names of speakers.",
        source="Groq documentation, OpenAI Compatibility: currently unsupported features",
        refuses=_OPENAI_ONLY | {"logprobs", "top_logprobs", "logit_bias", "n"},
        adds=(
            Setting(
                "service_tier", "service_tier", "text", words={**same_words("auto", "flex"), "standard": "on_demand"}
            ),
        ),
        reasoning="reasoning",
        speakers=False,
    ),
    "lm-studio": Relative(
        summary="LM Studio: a short list of settings, top_k and repeat_penalty among them.",
        source="LM Studio documentation, OpenAI Compatibility: supported payload parameters",
        refuses=_OPENAI_ONLY | {"n", "user", "logprobs", "top_logprobs", "effort"},
        adds=(_TOKENS, _TOP_K, replace(_REPETITION, at="repeat_penalty")),
    ),
    "openrouter": Relative(
        summary="OpenRouter: reasoning as an object, sampling of open models, marks for the prompt cache.",
        source="OpenRouter documentation, Parameters and Reasoning Tokens",
        refuses=_OPENAI_ONLY - {"verbosity", "modalities", "prediction", "metadata"},
        adds=(
            _TOKENS,
            _TOP_K,
            _MIN_P,
            _REPETITION,
            reasoning.effort("reasoning.effort", reasoning.EFFORTS[:6], also=("reasoning_effort",)),
            Setting("budget", "reasoning.max_tokens", "integer"),
            Setting("thinks", "reasoning.enabled", "flag"),
            Setting("thoughts", "reasoning.summary", "text", words=same_words("auto", "concise", "detailed")),
        ),
        reasoning="reasoning",
        gateway=True,
    ),
    "sglang": Relative(
        summary="SGLang: sampling of open models beside OpenAI's.",
        source="SGLang documentation, OpenAI APIs - Completions",
        refuses=_SERVERS | {"service_tier"},
        adds=(_TOKENS, _TOP_K, _MIN_P, _REPETITION),
        reasoning="reasoning_content",
    ),
    "together": Relative(
        summary="Together: sampling of open models beside OpenAI's.",
        source="Together API reference, Create Chat Completion",
        refuses=_OPENAI_ONLY | {"user", "top_logprobs", "logprobs"},
        adds=(_TOKENS, _TOP_K, _MIN_P, _REPETITION),
        reasoning="reasoning",
    ),
    "vllm": Relative(
        summary="vLLM: sampling of open models beside OpenAI's.",
        source="vLLM documentation, OpenAI-Compatible Server: extra parameters",
        refuses=_SERVERS | {"service_tier"},
        adds=(_TOKENS, _TOP_K, _MIN_P, _REPETITION),
        reasoning="reasoning",
        developers=True,
    ),
    "xai": Relative(
        summary="xAI: an effort of four words, no biases.",
        source="xAI API reference, Chat Completions",
        refuses=_OPENAI_ONLY | {"logit_bias"},
        adds=(reasoning.effort("reasoning_effort", ("none", "low", "medium", "high")),),
        reasoning="reasoning_content",
    ),
}
"""Each relative, by its name."""
