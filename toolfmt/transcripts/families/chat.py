r"""Chat messages as OpenAI shaped them; what its relatives do otherwise is data.

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
"""The names of OpenAI's models; what has another is served by a copy of its API, with limits of its own."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChatShape:
    """How one format writes chat messages, and the request around them."""

    owner: str
    """The format's name; further keys of its messages go to `extra` under it."""
    provider: str
    """Whose signatures and ids the messages hold."""
    arguments: Literal["text", "object"] = "text"
    """Arguments are JSON text, or the object itself; both are read."""
    call_type: bool = True
    """A call says `"type": "function"`."""
    call_ids: bool = True
    no_id: str = ""
    """An id that means none."""
    custom: bool = True
    """Tools and calls may be of the kind `custom`; else they are functions with one text."""
    result_name: str = ""
    """The key that names a result's tool; empty if results carry no name."""
    reasoning: str = ""
    """The key of a message that holds reasoning; empty if it is a part of the content, or has no place."""
    reasoning_part: Literal["", "text", "chunks"] = ""
    """A content part `{"type": "thinking"}` whose `thinking` is text, or a list of chunks."""
    reasoning_alone: bool = False
    """A message may hold reasoning and nothing else."""
    refusals: bool = True
    """A message has a key for refusals; else they are text."""
    annotations: str = ""
    """The key of a message that lists the citations of its text; empty if there is none."""
    cites: CitationForm = nested
    """Writes such a citation."""
    names: bool = True
    """A message may name who speaks in its role."""
    signed_by: str = ""
    """Whose signed blocks are in a message's `thinking_blocks`, as gateways write them; else its provider's."""
    details: bool = False
    """Signed thoughts, whoever made them, are in a message's `reasoning_details` instead, as OpenRouter has them."""
    plan: str = ""
    """The key for text beside calls, where it is not `content`."""
    no_content: Literal["null", "absent", "empty"] = "null"
    """What `content` is in a message that says nothing."""
    media: Literal["object", "url", "part", "list"] = "object"
    """`image_url` is an object, or the address itself; a part `image`; or bare base64 in a list beside the text."""
    text_parts: bool = True
    """Content may be a list of parts."""
    documents: bool = False
    """A JSON object is a content part `document`; else it is text."""
    parameters: bool = False
    """A declaration always says what a function takes."""
    strict: Literal["tool", "request", ""] = "tool"
    """Where tools are said to be strict: each in its declaration, or all by the request's `strict_tools`."""
    choices: Mapping[str, Mode] = field(default_factory=lambda: MODES)
    """The words of `tool_choice` that are read; of several for one mode the first is written. Empty: no choice."""
    named: Literal["", "one", "several"] = "several"
    """How many tools `tool_choice` may name."""
    gateways: bool = False
    """What gateways to other providers take may be beside: marks for the prompt cache, Google's signed calls."""
    prefix: bool = False
    """An answer that comes last, for the model to continue, is marked as a `prefix`."""
    parallel: bool = True
    """A request has `parallel_tool_calls`."""
    searches: bool = False
    """A request declares the provider's search of the web in `web_search_options`."""
