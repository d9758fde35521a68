"""Counts of tokens, read and written as each provider counts them.

    {"prompt_tokens": 12, "completion_tokens": 9, "total_tokens": 21}              Chat Completions
    {"input_tokens": 2, "cache_read_input_tokens": 10, "output_tokens": 9}         Anthropic: cached is beside input
    {"promptTokenCount": 12, "candidatesTokenCount": 5, "thoughtsTokenCount": 4}   Gemini: thoughts are beside the rest

`Usage` counts as OpenAI does: all of the input and all of the output, and what is among them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolfmt.jsontext import is_object
from toolfmt.transcripts.answer_info import Usage

if TYPE_CHECKING:
    from toolfmt.model import JsonObject


def _count(value: JsonObject, *path: str) -> int:
    found: object = value
    for key in path:
        found = found.get(key) if is_object(found) else None
    if isinstance(found, float) and found.is_integer():
        return int(found)
    return found if isinstance(found, int) else 0


def read_chat(value: JsonObject) -> Usage:
    """Read Chat Completions' count."""
    return Usage(
        input=_count(value, "prompt_tokens"),
        output=_count(value, "completion_tokens"),
        cached=_count(value, "prompt_tokens_details", "cached_tokens"),
        cache_written=_count(value, "prompt_tokens_details", "cache_write_tokens"),
        reasoning=_count(value, "completion_tokens_details", "reasoning_tokens"),
    )


def write_chat(usage: Usage) -> JsonObject:
    """Write a count for Chat Completions."""
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached, "cache_write_tokens": usage.cache_written},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }


def read_responses(value: JsonObject) -> Usage:
    """Read Responses' count."""
    return Usage(
        input=_count(value, "input_tokens"),
        output=_count(value, "output_tokens"),
        cached=_count(value, "input_tokens_details", "cached_tokens"),
        cache_written=_count(value, "input_tokens_details", "cache_write_tokens"),
        reasoning=_count(value, "output_tokens_details", "reasoning_tokens"),
    )


def write_responses(usage: Usage) -> JsonObject:
    """Write a count for Responses."""
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cached, "cache_write_tokens": usage.cache_written},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output,
    }


def read_anthropic(value: JsonObject) -> Usage:
    """Read Anthropic's count."""
    cached, written = _count(value, "cache_read_input_tokens"), _count(value, "cache_creation_input_tokens")
    return Usage(
        input=_count(value, "input_tokens") + cached + written,
        output=_count(value, "output_tokens"),
        cached=cached,
        cache_written=written,
        reasoning=_count(value, "output_tokens_details", "thinking_tokens"),
    )


def write_anthropic(usage: Usage) -> JsonObject:
    """Write a count for Anthropic."""
    return {
        "input_tokens": usage.input - usage.cached - usage.cache_written,
        "cache_creation_input_tokens": usage.cache_written,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": usage.output,
        "output_tokens_details": {"thinking_tokens": usage.reasoning},
    }


def read_gemini(value: JsonObject) -> Usage:
    """Read Gemini's count."""
    thoughts = _count(value, "thoughtsTokenCount")
    return Usage(
        input=_count(value, "promptTokenCount") + _count(value, "toolUsePromptTokenCount"),
        output=_count(value, "candidatesTokenCount") + thoughts,
        cached=_count(value, "cachedContentTokenCount"),
        reasoning=thoughts,
    )


def write_gemini(usage: Usage) -> JsonObject:
    """Write a count for Gemini."""
    return {
        "promptTokenCount": usage.input,
        "cachedContentTokenCount": usage.cached,
        "candidatesTokenCount": usage.output - usage.reasoning,
        "thoughtsTokenCount": usage.reasoning,
        "totalTokenCount": usage.input + usage.output,
    }


def read_bedrock(value: JsonObject) -> Usage:
    """Read Bedrock's count."""
    cached, written = _count(value, "cacheReadInputTokens"), _count(value, "cacheWriteInputTokens")
    return Usage(
        input=_count(value, "inputTokens") + cached + written,
        output=_count(value, "outputTokens"),
        cached=cached,
        cache_written=written,
    )


def write_bedrock(usage: Usage) -> JsonObject:
    """Write a count for Bedrock."""
    return {
        "inputTokens": usage.input - usage.cached - usage.cache_written,
        "outputTokens": usage.output,
        "totalTokens": usage.input + usage.output,
        "cacheReadInputTokens": usage.cached,
        "cacheWriteInputTokens": usage.cache_written,
    }


def read_ollama(value: JsonObject) -> Usage:
    """Read Ollama's count."""
    return Usage(input=_count(value, "prompt_eval_count"), output=_count(value, "eval_count"))


def write_ollama(usage: Usage) -> JsonObject:
    """Write a count for Ollama, beside the message."""
    return {"prompt_eval_count": usage.input, "eval_count": usage.output}


def write_mistral(usage: Usage) -> JsonObject:
    """Write a count for Mistral, whose types have no details."""
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
    }


def read_interactions(value: JsonObject) -> Usage:
    """Read Gemini Interactions' count."""
    thoughts = _count(value, "total_thought_tokens")
    return Usage(
        input=_count(value, "total_input_tokens") + _count(value, "total_tool_use_tokens"),
        output=_count(value, "total_output_tokens") + thoughts,
        cached=_count(value, "total_cached_tokens"),
        reasoning=thoughts,
    )


def write_interactions(usage: Usage) -> JsonObject:
    """Write a count for Gemini Interactions."""
    return {
        "total_input_tokens": usage.input,
        "total_cached_tokens": usage.cached,
        "total_output_tokens": usage.output - usage.reasoning,
        "total_thought_tokens": usage.reasoning,
        "total_tokens": usage.input + usage.output,
    }


def read_cohere(value: JsonObject) -> Usage:
    """Read Cohere's count."""
    return Usage(
        input=_count(value, "tokens", "input_tokens"),
        output=_count(value, "tokens", "output_tokens"),
        cached=_count(value, "cached_tokens"),
    )


def write_cohere(usage: Usage) -> JsonObject:
    """Write a count for Cohere."""
    tokens = {"input_tokens": usage.input, "output_tokens": usage.output}
    return {"tokens": tokens, "cached_tokens": usage.cached}
