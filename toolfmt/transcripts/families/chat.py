r"""The shape of OpenAI's chat messages, with the differences of its relatives as data.

{"role": "assistant", "content": "Checking.", "tool_calls": [
    {"id": "call_A1", "type": "function", "function": {"name": "get_weather", "arguments": "{\"city\":\"Paris\"}"}}]}
{"role": "tool", "tool_call_id": "call_A1", "content": "18C"}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from toolfmt.transcripts.parts.citations import CitationForm, nested
from toolfmt.transcripts.tables.choosing import MODES, Mode

MODELS: Final = r"(ft:)?(gpt-(?!oss)|o\d|chatgpt-|codex-|computer-use-)"
"""The names of OpenAI's models; other models are served by copies of its API, with their own limits."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChatShape:
    """Describes how a format writes chat messages, and the request around them."""

    owner: str
    """The format's name; extra keys of its messages are stored under it."""
    provider: str
    """The owner of the messages' signatures and ids."""
    arguments: Literal["text", "object"] = "text"
    """Whether arguments are written as JSON text or as an object; both are read."""
    call_type: bool = True
    """Whether a call states `"type": "function"`."""
    call_ids: bool = True
    no_id: str = ""
    """The placeholder for a missing id."""
    custom: bool = True
    """Whether tools and calls may be `custom`; otherwise they become functions with one text argument."""
    result_name: str = ""
    """The key of a result's tool name; "" if results have none."""
    reasoning: str = ""
    """The message key of reasoning; "" if reasoning is a part of the content, or has no place."""
    reasoning_part: Literal["", "text", "chunks"] = ""
    """Whether a content part `{"type": "thinking"}` exists, with text or a list of chunks."""
    reasoning_alone: bool = False
    """Whether a message may consist of reasoning only."""
    refusals: bool = True
    """Whether a message has a key for refusals; otherwise they are text."""
    annotations: str = ""
    """The message key of the citations of its text, or ""."""
    cites: CitationForm = nested
    """Writes a citation."""
    names: bool = True
    """Whether a message may name its speaker."""
    signed_by: str = ""
    """The owner of the signed blocks in gateways' `thinking_blocks`; "": the provider."""
    details: bool = False
    """Whether signed thoughts of any owner are in `reasoning_details` instead, as at OpenRouter."""
    plan: str = ""
    """The key of text beside calls, if it is not `content`."""
    no_content: Literal["null", "absent", "empty"] = "null"
    """How `content` is written in a message without content."""
    media: Literal["object", "url", "part", "list"] = "object"
    """The form of media: `image_url` as an object or a URL, a part `image`, or a list of base64 beside the text."""
    text_parts: bool = True
    """Whether content may be a list of parts."""
    documents: bool = False
    """Whether a JSON object is written as a part `document`; otherwise it is text."""
    parameters: bool = False
    """Whether a declaration always has parameters."""
    strict: Literal["tool", "request", ""] = "tool"
    """Where strictness is stated: in each declaration, or in the request's `strict_tools`."""
    choices: Mapping[str, Mode] = field(default_factory=lambda: MODES)
    """The words of `tool_choice`; of several for one mode, the first is written. Empty: no choice."""
    named: Literal["", "one", "several"] = "several"
    """How many tools `tool_choice` may name."""
    gateways: bool = False
    """Whether gateway fields are supported: marks for the prompt cache, Google's signed calls."""
    prefix: bool = False
    """Whether a final answer, which the model continues, is marked as `prefix`."""
    parallel: bool = True
    """Whether a request has `parallel_tool_calls`."""
    searches: bool = False
    """Whether a request declares the provider's web search in `web_search_options`."""
