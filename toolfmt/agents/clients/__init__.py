"""Clients of models: the official SDKs' clients, and any function from text to text.

    from openai import AsyncOpenAI
    model = openai_chat(AsyncOpenAI(), model="gpt-5.1")

Each function takes your sync or async client, with your credentials and time-outs. `options` are fields of the request
with the provider's names; a request's own fields override them, and None removes a field. A sync client runs in worker
threads.
"""

from __future__ import annotations

from typing import Any

from toolfmt.agents.clients.client import ANTHROPIC, GOOGLE, MISTRAL, OLLAMA, OPENAI_CHAT, OPENAI_RESPONSES, SdkClient
from toolfmt.agents.clients.text import plain_prompt, text_model
from toolfmt.arguments import checked

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


@checked
def openai_chat(client: object, *, model: str, **options: Any) -> SdkClient:
    """Use Chat Completions: an `openai.OpenAI` or `AsyncOpenAI`, for OpenAI or any compatible server.

    Streams include the usage; use `stream_options=None` for servers that reject this.
    """
    return SdkClient(OPENAI_CHAT, client, {"model": model, **options})


@checked
def openai_responses(client: object, *, model: str, **options: Any) -> SdkClient:
    """Use Responses: an `openai.OpenAI` or `AsyncOpenAI`."""
    return SdkClient(OPENAI_RESPONSES, client, {"model": model, **options})


@checked
def anthropic_messages(client: object, *, model: str, max_tokens: int, **options: Any) -> SdkClient:
    """Use Messages: an `anthropic.Anthropic` or `AsyncAnthropic`, or their variants for Bedrock and Vertex."""
    return SdkClient(ANTHROPIC, client, {"model": model, "max_tokens": max_tokens, **options})


@checked
def google_genai(client: object, *, model: str, **options: Any) -> SdkClient:
    """Use generateContent: a `google.genai.Client`, or its `aio`; options are the API's, such as `generationConfig`.

    When a stream is closed early, `aio` releases the connection only at garbage collection; the client itself does at
    once.
    """
    return SdkClient(GOOGLE, client, {"model": model, **options})


@checked
def mistral_chat(client: object, *, model: str, **options: Any) -> SdkClient:
    """Use Mistral's chat completion: a `mistralai.client.Mistral`, through its sync methods.

    Its async methods keep connections of an event loop that may be closed at the next run.
    """
    return SdkClient(MISTRAL, client, {"model": model, **options})


@checked
def ollama_chat(client: object, *, model: str, **options: Any) -> SdkClient:
    """Use Ollama's chat: an `ollama.Client` or `AsyncClient`; `think=True`, `options={"num_ctx": 8192}`."""
    return SdkClient(OLLAMA, client, {"model": model, **options})
