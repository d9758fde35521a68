"""The official SDKs' clients, each made for a server at a URL, with toolfmt's adapter to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import anthropic
import ollama
import openai
from google import genai
from google.genai.types import HttpOptions
from mistralai.client import Mistral

from toolfmt.agents.clients import (
    SdkClient,
    anthropic_messages,
    google_genai,
    mistral_chat,
    ollama_chat,
    openai_chat,
    openai_responses,
)


@dataclass(frozen=True)
class Case:
    """An SDK's client for a server, and the adapter to it."""

    format: str
    make: Callable[[str], Any]
    adapt: Callable[[Any], SdkClient]

    @asynccontextmanager
    async def open(self, url: str) -> AsyncIterator[SdkClient]:
        client = self.make(url)
        async with AsyncExitStack() as stack:
            stack.push_async_callback(closed, client)
            yield self.adapt(client)


async def closed(client: Any) -> None:
    """Close an SDK's client; one that is sync and async has two halves."""
    if isinstance(client, genai.Client):
        await client.aio.aclose()
        client.close()
    elif isinstance(client, Mistral):
        await client.__aexit__(None, None, None)
        client.__exit__(None, None, None)
    else:
        closing = client.close()
        if closing is not None:
            await closing


def openai_sync(url: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=url + "/v1", api_key="none", max_retries=0)


def openai_async(url: str) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=url + "/v1", api_key="none", max_retries=0)


def claude_sync(url: str) -> anthropic.Anthropic:
    return anthropic.Anthropic(base_url=url, api_key="none", max_retries=0)


def claude_async(url: str) -> anthropic.AsyncAnthropic:
    return anthropic.AsyncAnthropic(base_url=url, api_key="none", max_retries=0)


def google(url: str) -> genai.Client:
    return genai.Client(api_key="none", http_options=HttpOptions(base_url=url))


def mistral(url: str) -> Mistral:
    return Mistral(api_key="none", server_url=url)


CHAT = partial(openai_chat, model="m")
RESPONSES = partial(openai_responses, model="m")
CLAUDE = partial(anthropic_messages, model="m", max_tokens=99)
GOOGLE = partial(google_genai, model="m")
OLLAMA = partial(ollama_chat, model="m")
CASES = {
    "openai-chat": Case("openai-chat", openai_async, CHAT),
    "openai-chat, sync": Case("openai-chat", openai_sync, CHAT),
    "openai-responses": Case("openai-responses", openai_async, RESPONSES),
    "openai-responses, sync": Case("openai-responses", openai_sync, RESPONSES),
    "anthropic": Case("anthropic", claude_async, CLAUDE),
    "anthropic, sync": Case("anthropic", claude_sync, CLAUDE),
    "gemini": Case("gemini", google, lambda client: GOOGLE(client.aio)),
    "gemini, sync": Case("gemini", google, GOOGLE),
    "mistral": Case("mistral", mistral, partial(mistral_chat, model="m")),
    "ollama": Case("ollama", ollama.AsyncClient, OLLAMA),
    "ollama, sync": Case("ollama", ollama.Client, OLLAMA),
}
