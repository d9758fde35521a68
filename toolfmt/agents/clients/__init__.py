"""Models that can be asked: the official SDKs' clients, and anything that takes text and gives text.

    from openai import AsyncOpenAI
    model = openai_chat(AsyncOpenAI(), model="gpt-5.1")

Each function takes the client that you made, sync or async, with your credentials
and time limits. `options` are fields of the request in the provider's own
spelling; what a request says itself wins, and an option of None leaves out what would be sent.
A sync client is asked in worker threads.
"""

from __future__ import annotations

from typing import Any

from toolfmt.agents.clients.apis import (
    ANTHROPIC,
    GOOGLE,
    MISTRAL,
    OLLAMA,
    OPENAI_CHAT,
    OPENAI_RESPONSES,
)
from toolfmt.agents.clients.client import SdkClient
from toolfmt.agents.clients.text import plain_prompt, text_model

__all__ = [
    "SdkClient",
    "anthropic_messages",
    "google_genai",
    "mistral_chat",
    "ollama_chat",
    "openai_chat",
    "openai_responses",
    "plain_prompt",
    "text_model",
]


def openai_chat(client: object, *, model: str, **options: Any) -> SdkClient:
    """Ask by Chat Completions: an `openai.OpenAI` or `AsyncOpenAI`, of OpenAI or of any server that copies its API.

    A stream is asked for its usage; `stream_options=None` is for servers that refuse that.
    """
    return SdkClient(OPENAI_CHAT, client, {"model": model, **options})


def openai_responses(client: object, *, model: str, **options: Any) -> SdkClient:
    """Ask by Responses: an `openai.OpenAI` or `AsyncOpenAI`."""
    return SdkClient(OPENAI_RESPONSES, client, {"model": model, **options})


def anthropic_messages(client: object, *, model: str, max_tokens: int, **options: Any) -> SdkClient:
    """Ask by Messages: an `anthropic.Anthropic` or `AsyncAnthropic`, or one of their cousins for Bedrock and Vertex."""
    return SdkClient(ANTHROPIC, client, {"model": model, "max_tokens": max_tokens, **options})


def google_genai(client: object, *, model: str, **options: Any) -> SdkClient:
    """Ask by generateContent: a `google.genai.Client`, or its `aio`; options are the API's, `generationConfig` say.

    When a stream is closed early, `aio` lets the connection go only when Python
    collects garbage; the client itself does at once.
    """
    return SdkClient(GOOGLE, client, {"model": model, **options})


def mistral_chat(client: object, *, model: str, **options: Any) -> SdkClient:
    """Ask by Mistral's chat completion: a `mistralai.client.Mistral`, by its blocking half.

    Its other half keeps connections of an event loop that may be over at the next run.
    """
    return SdkClient(MISTRAL, client, {"model": model, **options})


def ollama_chat(client: object, *, model: str, **options: Any) -> SdkClient:
    """Ask by Ollama's chat: an `ollama.Client` or `AsyncClient`; `think=True`, `options={"num_ctx": 8192}`."""
    return SdkClient(OLLAMA, client, {"model": model, **options})
