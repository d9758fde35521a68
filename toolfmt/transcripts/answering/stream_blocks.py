"""Streams of blocks: each block of text, reasoning or a call begins, grows and ends.

    response.output_item.added, ...delta, response.output_item.done    Responses
    contentBlockStart, contentBlockDelta, contentBlockStop             Bedrock
    content-start, content-delta, content-end                          Cohere
    step.start, step.delta, step.stop                                  Gemini Interactions
    text-start, text-delta, text-end                                   AI SDK
    {"delta": {"content": "Hi"}}                                       Chat Completions: only deltas

The functions that write the events of an API are a table in its module of `apis`; the `Emitter` calls them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from toolfmt.model import JsonObject, JsonValue, ToolInvocation
from toolfmt.transcripts.answering.answer_info import AnswerEnding, AnswerHead, Failure, Proof, Usage
from toolfmt.transcripts.parts.citations import CitationForm, cited_at

StreamBlockKind: TypeAlias = Literal["text", "refusal", "reasoning", "hidden", "call", "custom"]
"""`hidden` is encrypted reasoning, `custom` a call with free text."""


@dataclass(slots=True)
class StreamBlock:
    """An open block; `id` and `name` are a call's, `number` counts the calls."""

    kind: StreamBlockKind
    head: AnswerHead
    index: int
    id: str = ""
    name: str = ""
    number: int = 0
    pieces: list[str] = field(default_factory=list[str])
    held: list[str] = field(default_factory=list[str])
    """The end of a call's arguments, held back until the call's end."""
    call: ToolInvocation | None = None
    """The complete call."""
    encrypted: str | None = None
    """Encrypted reasoning."""
    signature: str | None = None
    """A call's signature."""
    logprobs: list[JsonObject] = field(default_factory=list["JsonObject"])
    """The probabilities of the text's tokens."""
    fresh: list[JsonObject] = field(default_factory=list["JsonObject"])
    """The probabilities of the latest piece."""
    cut: bool = False
    """Whether the answer ended prematurely in this block."""
    before: int = 0
    """The number of characters of text before the block."""
    cited: int = 0
    """The number of citations before the next one."""
    annotations: list[JsonObject] = field(default_factory=list["JsonObject"])
    """The written citations, if the end of the block repeats them."""
    place: JsonObject = field(default_factory=dict[str, "JsonValue"])
    """The event fields that identify the block, if it is more than its index."""

    @property
    def text(self) -> str:
        """The block's text so far."""
        return "".join(self.pieces)


def _no_words() -> dict[StreamBlockKind, Callable[[StreamBlock], list[JsonObject]]]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """The events that an API writes for each step of a block."""

    delta: Mapping[StreamBlockKind, Callable[[StreamBlock, str], list[JsonObject]]]
    """A refusal without a row becomes text, and a call with free text an ordinary call.

    Without a row for calls, a call is written only when complete, so a failed one never begins.
    """
    finish: Callable[[AnswerEnding, Sequence[StreamBlock]], list[JsonObject]]
    fail: Callable[[AnswerHead, Failure, Sequence[StreamBlock]], list[JsonObject]]
    begin: Callable[[AnswerHead, Usage | None], list[JsonObject]] = lambda _, __: []
    start: Mapping[StreamBlockKind, Callable[[StreamBlock], list[JsonObject]]] = field(default_factory=_no_words)
    end: Mapping[StreamBlockKind, Callable[[StreamBlock], list[JsonObject]]] = field(default_factory=_no_words)
    prove: Callable[[StreamBlock, Proof], list[JsonObject]] = lambda _, __: []
    cite: Callable[[StreamBlock, JsonObject, int], list[JsonObject]] = lambda _, __, ___: []
    """Writes a citation whose places count from this many characters after the block's beginning."""
    owner: str = ""
    """The owner of proofs of reasoning that the stream accepts."""
    signs: str = ""
    """The owner of signatures of calls that the stream accepts."""
    logprobs: bool = False
    """Whether the stream has a place for tokens' probabilities."""
    call_prefix: str = "call_"
    """The prefix of generated ids for calls; "": calls need no id."""
    fit_id: Callable[[str], str] = str
    """Converts a call's id to a legal one, the same as in a whole answer."""
    interleaved: bool = False
    """Whether several blocks may be open at a time."""
    numbered: str = ""
    """The key of each event's number."""


def citing(
    form: CitationForm,
    own: Callable[[JsonObject], bool],
    write: Callable[[StreamBlock, JsonObject], list[JsonObject]],
    *,
    of_message: bool = False,
) -> Callable[[StreamBlock, JsonObject, int], list[JsonObject]]:
    """Make `cite` from a format's citations and their events; places count from the block or the message."""

    def cite(block: StreamBlock, citation: JsonObject, before: int) -> list[JsonObject]:
        made = cited_at(citation, before + (block.before if of_message else 0), block.text, form, own)
        return [] if made is None else write(block, made)

    return cite
