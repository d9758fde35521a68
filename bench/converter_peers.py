"""Other converters of conversations, called through the functions that their own requests use.

    litellm          AnthropicConfig.transform_request, and back by its adapter of Anthropic's endpoint
    langchain        langchain_core.messages, langchain_anthropic's formatting of messages
    any-llm          any_llm.providers.anthropic, and back by any_llm.utils.messages_compat
    llm-rosetta      llm_rosetta.ConversionPipeline, which llm_rosetta.convert runs
    linguafranca     linguafranca.convert_request_json, in Rust

`there` converts a request for OpenAI's chat API to one for Anthropic's, `back` does the opposite. Some convert only the
messages, so the result has nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final, NamedTuple, TypeAlias


class Made(NamedTuple):
    """A converted request, and the number of losses that its converter reports."""

    value: Any
    reported: int = 0


Convert: TypeAlias = Callable[[dict[str, Any]], Made]


@dataclass(frozen=True, slots=True)
class Peer:
    """A converter that may be installed, and functions that make its two directions."""

    name: str
    package: str
    there: Callable[[], Convert]
    back: Callable[[], Convert]

    def installed(self) -> bool:
        """Whether its package is installed."""
        return find_spec(self.package) is not None


def _litellm(part: str) -> Any:
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else it looks for prices on the network
    return import_module(f"litellm.llms.anthropic.{part}.transformation")


def _litellm_there() -> Convert:
    config = _litellm("chat").AnthropicConfig()

    def there(request: dict[str, Any]) -> Made:
        settings = {"max_tokens": request["max_tokens"]}
        return Made(config.transform_request(request["model"], request["messages"], settings, {}, {}))

    return there


def _litellm_back() -> Convert:
    adapter = _litellm("pass_through.adapters").LiteLLMAnthropicMessagesAdapter()
    return lambda request: Made(adapter.translate_anthropic_to_openai(request)[0])


def _langchain_there() -> Convert:
    read = import_module("langchain_core.messages").convert_to_messages
    write = import_module("langchain_anthropic.chat_models")._format_messages  # noqa: SLF001 - there is no other

    def there(request: dict[str, Any]) -> Made:
        system, messages = write(read(request["messages"]), model=request["model"])
        return Made({"system": system, "messages": messages} if system else {"messages": messages})

    return there


def _langchain_back() -> Convert:
    made = import_module("langchain_core.messages").convert_to_openai_messages

    def back(request: dict[str, Any]) -> Made:
        system = [{"role": "system", "content": request["system"]}] if "system" in request else []
        return Made({"messages": made([*system, *request["messages"]])})

    return back


def _any_llm_there() -> Convert:
    made = import_module("any_llm.providers.anthropic.utils")._convert_messages_for_anthropic  # noqa: SLF001 - the same

    def there(request: dict[str, Any]) -> Made:
        system, messages = made(request["messages"])
        return Made({"system": system, "messages": messages} if system else {"messages": messages})

    return there


def _any_llm_back() -> Convert:
    params = import_module("any_llm.types.messages").MessagesParams
    made = import_module("any_llm.utils.messages_compat").messages_params_to_completion_params
    return lambda request: Made(made(params(**request)))


def _rosetta(source: str, target: str) -> Convert:
    module = import_module("llm_rosetta")
    shims = {"source_shim": module.get_shim(source), "target_shim": module.get_shim(target)}

    def made(request: dict[str, Any]) -> Made:
        pipeline = module.ConversionPipeline(source, target, **shims)
        return Made(pipeline.convert_request(request), len(pipeline.warnings))

    return made


def _linguafranca(source: str, target: str) -> Convert:
    module = import_module("linguafranca")
    formats = {"source_format": module.FormatName[source], "target_format": module.FormatName[target]}

    def made(request: dict[str, Any]) -> Made:
        result = module.convert_request_json(request, **formats)
        return Made(result.value, len(result.warnings))

    return made


PEERS: Final = (
    Peer("litellm", "litellm", _litellm_there, _litellm_back),
    Peer("langchain", "langchain_anthropic", _langchain_there, _langchain_back),
    Peer("any-llm", "any_llm", _any_llm_there, _any_llm_back),
    Peer(
        "llm-rosetta",
        "llm_rosetta",
        lambda: _rosetta("openai_chat", "anthropic"),
        lambda: _rosetta("anthropic", "openai_chat"),
    ),
    Peer(
        "linguafranca",
        "linguafranca",
        lambda: _linguafranca("OPENAI_CHAT_COMPLETIONS", "ANTHROPIC_MESSAGES"),
        lambda: _linguafranca("ANTHROPIC_MESSAGES", "OPENAI_CHAT_COMPLETIONS"),
    ),
)
