"""Streams of blocks: each block of text, of reasoning or of a call begins, grows and ends.

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
from toolfmt.transcripts.answering.answer_ending import AnswerEnding, AnswerHead
from toolfmt.transcripts.answering.answer_info import Failure, Proof, Usage
from toolfmt.transcripts.parts.citations import CitationForm, cited_at

StreamBlockKind: TypeAlias = Literal["text", "refusal", "reasoning", "hidden", "call", "custom"]
"""`hidden` is reasoning that only its owner can read, `custom` a call of free text."""


@dataclass(slots=True)
class StreamBlock:
    """A block under way; `id` and `name` are a call's, `number` counts the calls."""

    kind: StreamBlockKind
    head: AnswerHead
    index: int
    id: str = ""
    name: str = ""
    number: int = 0
    pieces: list[str] = field(default_factory=list[str])
    held: list[str] = field(default_factory=list[str])
    """The end of a call's arguments, which waits for the call's end."""
    call: ToolInvocation | None = None
    """The call, when it is complete."""
    encrypted: str | None = None
    """Reasoning that only its owner can read."""
    signature: str | None = None
    """What proves a call to the API."""
    logprobs: list[JsonObject] = field(default_factory=list["JsonObject"])
    """The probabilities of the text's tokens."""
    fresh: list[JsonObject] = field(default_factory=list["JsonObject"])
    """Those of the latest piece."""
    cut: bool = False
    """The answer ended in the block before the model was done."""
    before: int = 0
    """How many characters of text come before the block."""
    cited: int = 0
    """How many citations the texts have before the next one."""
    annotations: list[JsonObject] = field(default_factory=list["JsonObject"])
    """The citations that were written, where the end of the block repeats them."""
    place: JsonObject = field(default_factory=dict[str, "JsonValue"])
    """How events name the block, where that is more than its index."""

    @property
    def text(self) -> str:
        """What the block says so far."""
        return "".join(self.pieces)


def _no_words() -> dict[StreamBlockKind, Callable[[StreamBlock], list[JsonObject]]]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """What one API writes; each function gives the events."""

    delta: Mapping[StreamBlockKind, Callable[[StreamBlock, str], list[JsonObject]]]
    """A refusal or a call of free text without a row is text, or an ordinary call.

    Without a row for calls, a call is written when it is complete, so one that fails has never begun.
    """
    finish: Callable[[AnswerEnding, Sequence[StreamBlock]], list[JsonObject]]
    fail: Callable[[AnswerHead, Failure, Sequence[StreamBlock]], list[JsonObject]]
    begin: Callable[[AnswerHead, Usage | None], list[JsonObject]] = lambda _, __: []
    start: Mapping[StreamBlockKind, Callable[[StreamBlock], list[JsonObject]]] = field(default_factory=_no_words)
    end: Mapping[StreamBlockKind, Callable[[StreamBlock], list[JsonObject]]] = field(default_factory=_no_words)
    prove: Callable[[StreamBlock, Proof], list[JsonObject]] = lambda _, __: []
    cite: Callable[[StreamBlock, JsonObject, int], list[JsonObject]] = lambda _, __, ___: []
    """The citation's places count from so many characters after the block's beginning; nothing without a place."""
    owner: str = ""
    """Whose proofs of reasoning have a place."""
    signs: str = ""
    """Whose signatures of calls have a place."""
    logprobs: bool = False
    """The probabilities of tokens have a place."""
    call_prefix: str = "call_"
    """How the id begins that a call without one is given; empty: calls need none."""
    fit_id: Callable[[str], str] = str
    """Makes an id that the API allows of a call's own, the same as in a whole answer."""
    interleaved: bool = False
    """Several blocks may be open at a time."""
    numbered: str = ""
    """The key under which every event has its number."""


def citing(
    form: CitationForm,
    own: Callable[[JsonObject], bool],
    write: Callable[[StreamBlock, JsonObject], list[JsonObject]],
    *,
    of_message: bool = False,
) -> Callable[[StreamBlock, JsonObject, int], list[JsonObject]]:
    """Make `cite` of a format's citations and their events; places count from the block, or from the message."""

    def cite(block: StreamBlock, citation: JsonObject, before: int) -> list[JsonObject]:
        made = cited_at(citation, before + (block.before if of_message else 0), block.text, form, own)
        return [] if made is None else write(block, made)

    return cite
