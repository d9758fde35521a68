"""Parsers of tool calls in other engines, called through their public entry points.

    SGLang   sglang.srt.function_call.function_call_parser.FunctionCallParser
    vLLM     vllm.tool_parsers.ToolParserManager

vLLM's need a tokenizer; the one here has each marker as one token and any other piece of text as another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from toolfmt.model import ToolDefinition

Read = Callable[[Sequence[str]], str | None]


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads an answer in pieces; returns the first call's arguments as JSON text."""

    whole: Read
    streamed: Read


@dataclass(frozen=True, slots=True)
class Engine:
    """A serving engine whose parsers may be installed."""

    name: str
    package: str
    names: Callable[[], list[str]]
    reader: Callable[[str, ToolDefinition], Reader]

    def installed(self) -> bool:
        """Whether its package is installed."""
        return find_spec(self.package) is not None


def _declared(tool: ToolDefinition) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def _sglang_names() -> list[str]:
    found = import_module("sglang.srt.function_call.function_call_parser").FunctionCallParser
    return sorted(found.ToolCallParserEnum)


def _sglang(name: str, tool: ToolDefinition) -> Reader:
    made = import_module("sglang.srt.function_call.function_call_parser").FunctionCallParser
    tools = [import_module("sglang.srt.entrypoints.openai.protocol").Tool(**_declared(tool))]

    def whole(pieces: Sequence[str]) -> str | None:
        _, calls = made(tools, name).parse_non_stream("".join(pieces))
        return calls[0].parameters if calls else None

    def streamed(pieces: Sequence[str]) -> str | None:
        parser = made(tools, name)
        found = [parser.parse_stream_chunk(piece)[1] for piece in pieces]
        return _joined(call.parameters for calls in (*found, parser.parse_stream_end()[1]) for call in calls)

    return Reader(whole, streamed)


def _joined(deltas: Iterable[str | None]) -> str | None:
    return "".join(delta for delta in deltas if delta) or None


class _Tokens(dict[str, int]):
    """A vocabulary that adds each unknown text when it is looked up."""

    def __missing__(self, text: str) -> int:
        self[text] = len(self)
        return self[text]

    def get(self, key: str, default: Any = None) -> int:  # noqa: ARG002 - the signature of dict
        return self[key]


class _Tokenizer:
    """The part of a tokenizer that the parsers use."""

    def __init__(self) -> None:
        self.vocab = _Tokens()
        self.all_special_tokens: list[str] = []

    def get_vocab(self) -> dict[str, int]:
        return self.vocab

    def encode(self, text: str, **_: Any) -> list[int]:
        return [self.vocab[text]]

    def decode(self, ids: Sequence[int], **_: Any) -> str:
        texts = {number: text for text, number in self.vocab.items()}
        return "".join(texts[number] for number in ids)


def _vllm_names() -> list[str]:
    return sorted(import_module("vllm.tool_parsers").ToolParserManager.list_registered())


def _vllm(name: str, tool: ToolDefinition) -> Reader:
    made = import_module("vllm.tool_parsers").ToolParserManager.get_tool_parser(name)
    protocol = import_module("vllm.entrypoints.openai.chat_completion.protocol")
    declared = protocol.ChatCompletionToolsParam(**_declared(tool))
    request = protocol.ChatCompletionRequest(messages=[], model="none", tools=[_declared(tool)], tool_choice="auto")

    def whole(pieces: Sequence[str]) -> str | None:
        found = made(_Tokenizer(), [declared]).extract_tool_calls("".join(pieces), request)
        return found.tool_calls[0].function.arguments if found.tool_calls else None

    def streamed(pieces: Sequence[str]) -> str | None:
        tokenizer, before, ids = _Tokenizer(), "", list[int]()
        parser, deltas = made(tokenizer, [declared]), list[str | None]()
        for piece in pieces:
            new, after = tokenizer.encode(piece), before + piece
            said = parser.extract_tool_calls_streaming(before, after, piece, ids, [*ids, *new], new, request)
            before, ids = after, [*ids, *new]
            deltas.extend(call.function.arguments for call in (said.tool_calls if said else ()) if call.function)
        return _joined(deltas)

    return Reader(whole, streamed)


ENGINES: Final = (Engine("SGLang", "sglang", _sglang_names, _sglang), Engine("vLLM", "vllm", _vllm_names, _vllm))
