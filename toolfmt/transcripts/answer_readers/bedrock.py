"""Bedrock Converse's answers and events.

{"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "Hi"}}}
{"output": {"message": {"role": "assistant", "content": [{"text": "Hi"}]}}, "stopReason": "end_turn"}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from toolfmt.jsontext import is_object
from toolfmt.transcripts.answer_readers.steps import StepShape, ended, inner, objects, whole_call
from toolfmt.transcripts.answer_usage import read_bedrock
from toolfmt.transcripts.bedrock import OURS, SIGNER

if TYPE_CHECKING:
    from toolfmt.model import JsonObject
    from toolfmt.transcripts.assembling import Assembler


_READ: Final = frozenset({"text", "citationsContent", "reasoningContent", "toolUse"})
_EVENTS: Final = frozenset(
    {"messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata"}
)


def _read(value: JsonObject, made: Assembler) -> None:
    for block in objects(inner(inner(value, "output"), "message"), "content"):
        use = inner(block, "toolUse")
        made.text(block.get("text"))
        for cited in objects(inner(block, "citationsContent"), "content"):
            made.text(cited.get("text"))
        if block.get("citationsContent"):
            made.note("citations", "citationsContent")
        thought = inner(block, "reasoningContent")
        _reasoning({**inner(thought, "reasoningText"), **thought}, made)
        if block.keys().isdisjoint(_READ):
            made.note("provider_part", ", ".join(block))
        if use.get("type", OURS) != OURS:
            made.note("provider_part", str(use["type"]))
        elif use:
            whole_call(made, use.get("name"), use.get("toolUseId"), use.get("input"))
    ended(made, value.get("stopReason") or "stop")
    made.tokens(value.get("usage"), read_bedrock)


def _reasoning(said: JsonObject, made: Assembler) -> None:
    """Read reasoning, and what proves it to its maker."""
    made.reasoning(said.get("text"))
    made.prove(SIGNER, said.get("signature"), said.get("redactedContent"))


def _event(value: JsonObject, made: Assembler) -> None:
    kind = next(iter(value))
    body = inner(value, kind)
    at = body.get("contentBlockIndex")
    match kind:
        case "contentBlockStart" if (use := inner(inner(body, "start"), "toolUse")).get("type", OURS) != OURS:
            made.note("provider_part", str(use["type"]))
        case "contentBlockStart" if use := inner(inner(body, "start"), "toolUse"):
            made.call(at, use.get("name"), use.get("toolUseId"))
        case "contentBlockDelta":
            delta = inner(body, "delta")
            made.text(delta.get("text"))
            _reasoning(inner(delta, "reasoningContent"), made)
            if delta.get("citation"):
                made.note("citations", "citation")
            made.arguments(at, inner(delta, "toolUse").get("input"))
        case "contentBlockStop":
            made.stop(at)
        case "messageStop":
            ended(made, body.get("stopReason") or "stop")
            made.finish(cut=made.info.stop == "length")
        case "metadata":
            made.tokens(body.get("usage"), read_bedrock)
        case _:
            pass


SHAPES: Final = (
    StepShape(lambda value: is_object(value.get("output")) and "message" in value["output"], _read),
    StepShape(lambda value: len(value) == 1 and next(iter(value)) in _EVENTS, _event),
)
