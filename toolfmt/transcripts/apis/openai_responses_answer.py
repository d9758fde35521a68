"""Responses' answers and events.

{"type": "response.output_text.delta", "output_index": 0, "delta": "Hi"}
{"type": "response.output_item.done", "output_index": 1, "item":
    {"type": "function_call", "call_id": "call_A1", "name": "f", "arguments": "{}", "status": "completed"}}
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from toolfmt.conversation import CallPart
from toolfmt.jsontext import is_array
from toolfmt.model import JsonObject
from toolfmt.transcripts.answering.answer_api import AnswerApi, StepShape
from toolfmt.transcripts.answering.answer_info import AnswerEnding, AnswerHead, Failure, Proof, TokenCounting
from toolfmt.transcripts.answering.assembling import ArgumentsForm, Assembler
from toolfmt.transcripts.answering.known_fields import ERROR, by_type, fields
from toolfmt.transcripts.answering.stream_blocks import Blocks, StreamBlock, StreamBlockKind, citing
from toolfmt.transcripts.families.responses_items import (
    CLIENT,
    OWNER,
    PARAGRAPH,
    PROVIDER,
    annotates,
    read_item,
    thoughts,
)
from toolfmt.transcripts.parts.citations import flat
from toolfmt.transcripts.parts.values import inner, object_at, objects_at, word
from toolfmt.transcripts.tables.request import objects_in

_COUNT: Final = TokenCounting(
    {
        "input": "input_tokens",
        "cached": "input_tokens_details.cached_tokens",
        "cache_written": "input_tokens_details.cache_write_tokens",
        "output": "output_tokens",
        "reasoning": "output_tokens_details.reasoning_tokens",
        "total": "total_tokens",
    }
)
_INCOMPLETE: Final[Mapping[str, str]] = {
    **dict.fromkeys(("length", "malformed_call"), "max_output_tokens"),
    "content_filter": "content_filter",
}
_CODES: Final = {"rate_limit": "rate_limit_exceeded", "invalid": "invalid_prompt"}
"""openai 3.54, types/responses/response_error.py: the codes of errors other than the server's."""
_PREFIXES: Final = {"message": "msg_", "reasoning": "rs_", "function_call": "fc_", "custom_tool_call": "ctc_"}
_NUMBER: Final = "sequence_number"
_FORMS: Final[dict[object, ArgumentsForm]] = {"function_call": "json", "custom_tool_call": "text"}


_AROUND: Final = fields(
    "id object created_at completed_at model status output parallel_tool_calls",
    tool_choice=fields(""),  # words repeat the request's
    usage=_COUNT.known,
    error=ERROR,
    incomplete_details=fields("reason"),
)
_CALL: Final = fields("id status call_id name namespace arguments input")
_PART: Final = by_type(
    output_text=fields("text annotations logprobs"), refusal=fields("refusal"), reasoning_text=fields("text")
)
_ITEM: Final = by_type(
    message=fields("id status role", content=_PART),
    reasoning=fields("id status encrypted_content", summary=fields("type text"), content=_PART),
    function_call=_CALL,
    custom_tool_call=_CALL,
    **dict.fromkeys(CLIENT, fields("id status call_id execution arguments action actions operation")),
)
_KNOWN: Final = {**_AROUND, "output": _ITEM}
_EVENT: Final = fields(
    "type sequence_number item_id output_index content_index summary_index annotation_index delta text refusal "
    "arguments input name annotation logprobs obfuscation",
    response=_KNOWN,
    item=_ITEM,
    part=_PART,
)


def _read(value: JsonObject, made: Assembler) -> None:
    made.about(value.get("id"), value.get("model"), value.get("created_at"))
    for item in objects_at(value, "output"):
        _item(object(), item, made)
    _end(value, made)


def _end(value: JsonObject, made: Assembler) -> None:
    made.tokens(value.get("usage"), _COUNT.read)
    status = value.get("status", "completed" if value.get("output") != [] else None)
    if status in ("completed", "incomplete"):
        reason = inner(value, "incomplete_details").get("reason")
        made.ended(reason or ("stop" if status == "completed" else status))
    elif status in ("queued", "in_progress", "failed", "cancelled"):  # servers have other words for `completed`
        made.fail(value.get("error") or f"the response is not complete: its status is {status}")


def _item(at: Hashable, item: JsonObject, made: Assembler, *, emitted: bool = False) -> None:
    """Read a complete item, or the rest of one whose text has been emitted."""
    match item.get("type"):
        case "message":
            for part in () if emitted else objects_at(item, "content"):
                made.piece()
                made.logprobs(part.get("logprobs"))
                made.text(part.get("text"))
                made.refusal(part.get("refusal"))
                for citation in objects_in(part, "annotations"):
                    made.cite(citation)
        case "reasoning":
            for thought in () if emitted else thoughts(item):
                made.reasoning(thought)
            made.prove(PROVIDER, encrypted=item.get("encrypted_content"))
        case "function_call" | "custom_tool_call":
            made.call(at, item.get("name"), item.get("call_id"), form=_FORMS[item["type"]])
            made.settle(at, item.get("arguments", item.get("input")))
            made.end(at, cut=item.get("status") == "incomplete")
            if space := word(item, "namespace"):
                made.info.dropped["namespace", space] = None
        case _:
            _other(at, item, made)


def _other(at: Hashable, item: JsonObject, made: Assembler) -> None:
    """Read a call that the client runs, such as a patch; any other item was run by the provider."""
    (part,) = read_item(item).parts or (None,)
    if not isinstance(part, CallPart):
        made.note("provider_part", str(item.get("type")))
        return
    made.call(at, part.name, part.id, form="json")
    made.settle(at, part.json)
    made.end(at, cut=item.get("status") == "incomplete")


def _event(value: JsonObject, made: Assembler) -> None:
    at = value.get("output_index")
    item = object_at(value, "item")
    match value["type"]:
        case "response.created":
            response = object_at(value, "response")
            made.about(response.get("id"), response.get("model"), response.get("created_at"))
        case "response.completed" | "response.incomplete":
            _end(object_at(value, "response"), made)
        case "response.failed":
            _end({"status": "failed", **object_at(value, "response")}, made)
        case "response.output_item.added" if item.get("type") in _FORMS:
            made.call(at, item.get("name"), item.get("call_id"), form=_FORMS[item["type"]])
        case "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta":
            made.arguments(at, value.get("delta"))
        case "response.output_item.done":
            _item(at, item, made, emitted=True)
        case other:
            _words(other, value, made)


def _words(kind: str, value: JsonObject, made: Assembler) -> None:
    match kind:
        case "response.output_text.delta":
            made.logprobs(value.get("logprobs"))
            made.text(value.get("delta"))
        case "response.refusal.delta":
            made.refusal(value.get("delta"))
        case "response.output_text.annotation.added":
            made.cite(value.get("annotation"))
        case "response.reasoning_summary_part.added" if value.get("summary_index"):
            made.reasoning(PARAGRAPH)
        case "response.content_part.added" if object_at(value, "part").get("type") == "reasoning_text":
            made.reasoning(PARAGRAPH if value.get("content_index") else "")
        case "response.content_part.added":
            made.piece()
        case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
            made.reasoning(value.get("delta"))
        case _:
            pass


def _close(choices: list[list[JsonObject]], ending: AnswerEnding) -> JsonObject:
    output = [_answered(item, at, ending.head) for at, item in enumerate(choices[0])]
    texts = (part for item in output if item["type"] == "message" for part in item["content"] if "text" in part)
    if ending.info.logprobs and (first := next(texts, None)) is not None:
        first["logprobs"] = ending.info.logprobs
    if ending.stop in _INCOMPLETE and output and output[-1]["type"] == "message":
        output[-1]["status"] = "incomplete"
    return _response(ending, output)


def _answered(item: JsonObject, at: int, head: AnswerHead) -> JsonObject:
    """Convert a request's item to an answer's, which has an id, and annotations of texts."""
    kind = item.get("type", "message")
    prefix = _PREFIXES.get(kind)
    if prefix is None:
        return item
    made: JsonObject = {"id": head.mint(prefix, at), "type": kind, **item}
    if kind == "message":
        content = made.get("content")
        parts = content if is_array(content) else [{"type": "output_text", "text": content or ""}]
        made["content"] = [
            {"annotations": [], "logprobs": [], **part} if part.get("type") == "output_text" else part for part in parts
        ]
    return made if kind == "reasoning" else {"status": "completed", **made}


def _response(ending: AnswerEnding, output: list[JsonObject]) -> JsonObject:
    reason = _INCOMPLETE.get(ending.stop)
    return _envelope(ending.head, "incomplete" if reason else "completed", reason, output) | {
        "usage": None if ending.info.usage is None else _COUNT.write(ending.info.usage)
    }


def _envelope(
    head: AnswerHead, status: str, reason: str | None = None, output: Sequence[JsonObject] = ()
) -> JsonObject:
    """Build a response around its items; `reason` explains why it is incomplete."""
    return {
        "id": head.id,
        "object": "response",
        "created_at": head.created,
        "status": status,
        "error": None,
        "incomplete_details": None if reason is None else {"reason": reason},
        "instructions": None,
        "metadata": {},
        "model": head.model,
        "output": list(output),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": None,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """How a block is written: its item, with the text under a key or in the only part of a list, and its events."""

    item: JsonObject
    key: str
    text: str
    """The prefix of its text's events."""
    part: str = ""
    """The prefix of the part's events; "": the text has no part around it."""
    value: Callable[[str], JsonObject] = lambda text: {"type": "summary_text", "text": text}
    weighed: bool = False
    """Whether the text's events include its tokens' probabilities."""
    whole: str = "text"
    """The key of the whole text in its last event."""


_MESSAGE: Final[JsonObject] = {"type": "message", "role": "assistant"}
_KINDS: Final[Mapping[StreamBlockKind, _Kind]] = {
    "text": _Kind(
        item=_MESSAGE,
        key="content",
        text="response.output_text",
        part="response.content_part",
        value=lambda text: {"type": "output_text", "text": text, "annotations": [], "logprobs": []},
        weighed=True,
    ),
    "refusal": _Kind(
        item=_MESSAGE,
        key="content",
        text="response.refusal",
        part="response.content_part",
        value=lambda text: {"type": "refusal", "refusal": text},
        whole="refusal",
    ),
    "reasoning": _Kind(
        item={"type": "reasoning"},
        key="summary",
        text="response.reasoning_summary_text",
        part="response.reasoning_summary_part",
    ),
    "call": _Kind(
        item={"type": "function_call"}, key="arguments", text="response.function_call_arguments", whole="arguments"
    ),
    "custom": _Kind(
        item={"type": "custom_tool_call"}, key="input", text="response.custom_tool_call_input", whole="input"
    ),
}


def _written(block: StreamBlock, status: str = "") -> JsonObject:
    """Write a block as an item; without a status, as a finished one."""
    kind = _KINDS[block.kind]
    called = {} if kind.part else {"call_id": block.id, "name": block.name}
    content = [_part(block, kind)] if kind.part and block.pieces else [] if kind.part else block.text
    cut = block.cut or (block.kind == "call" and block.call is None)
    status = status or ("incomplete" if cut else "completed")
    ident = block.head.mint(_PREFIXES[kind.item["type"]], block.index)
    made: JsonObject = {"id": ident, **kind.item, **called, kind.key: content, "status": status}
    return made if block.encrypted is None else {**made, "encrypted_content": block.encrypted}


def _part(block: StreamBlock, kind: _Kind) -> JsonObject:
    made = kind.value(block.text)
    made |= {"annotations": block.annotations[:]} if block.annotations else {}
    return made | {"logprobs": block.logprobs[:]} if block.logprobs else made


def _said(event: str, *fields: JsonObject) -> JsonObject:
    return {"type": event, _NUMBER: 0, **{key: value for some in fields for key, value in some.items()}}


def _added(block: StreamBlock) -> list[JsonObject]:
    kind, item = _KINDS[block.kind], _written(block, "in_progress")
    block.place = {"item_id": item["id"], "output_index": block.index}
    if kind.part:
        block.place[f"{kind.key}_index"] = 0
    return [_said("response.output_item.added", {"output_index": block.index, "item": item})]


def _grown(block: StreamBlock, text: str) -> list[JsonObject]:
    """Write a piece of text; the first one begins the item's part."""
    kind = _KINDS[block.kind]
    delta = _said(f"{kind.text}.delta", block.place, {"delta": text}, _weights(kind, block.fresh))
    if kind.part and len(block.pieces) == 1:
        return [_said(f"{kind.part}.added", block.place, {"part": kind.value("")}), delta]
    return [delta]


def _weights(kind: _Kind, tokens: list[JsonObject]) -> JsonObject:
    return {"logprobs": tokens[:]} if kind.weighed else {}


def _ended(block: StreamBlock) -> list[JsonObject]:
    """End a text and its item; for a call that was cut off, or without text, only the item."""
    kind, item = _KINDS[block.kind], _written(block)
    done: list[JsonObject] = []
    if block.pieces if kind.part else item["status"] == "completed":
        done.append(_said(f"{kind.text}.done", block.place, {kind.whole: block.text}, _weights(kind, block.logprobs)))
        if kind.part:
            done.append(_said(f"{kind.part}.done", block.place, {"part": _part(block, kind)}))
    return [*done, _said("response.output_item.done", {"output_index": block.index, "item": item})]


def _proved(block: StreamBlock, proof: Proof) -> list[JsonObject]:
    block.encrypted = proof.encrypted
    return []


def _cited(block: StreamBlock, made: JsonObject) -> list[JsonObject]:
    block.annotations.append(made)
    at = {"annotation_index": len(block.annotations) - 1, "annotation": made}
    return [_said("response.output_text.annotation.added", block.place, at)]


def _finish(ending: AnswerEnding, blocks: Sequence[StreamBlock]) -> list[JsonObject]:
    made = _response(ending, list(map(_written, blocks)))
    return [_said(f"response.{made['status']}", {"response": made})]


def _fail(head: AnswerHead, failure: Failure, blocks: Sequence[StreamBlock]) -> list[JsonObject]:
    error = {"code": _CODES.get(failure.kind, "server_error"), "message": failure.message}
    made = _envelope(head, "failed", None, list(map(_written, blocks))) | {"error": error}
    return [_said("response.failed", {"response": made})]


API: Final = AnswerApi(
    name=OWNER,
    event_name="type",
    shapes=(
        StepShape(lambda value: str(value.get("type")).startswith("response."), _event, _EVENT),
        StepShape(lambda value: is_array(value.get("output")), _read, _KNOWN),
    ),
    open=lambda value: [{"input": objects_in(value, "output")}],
    whole=lambda events: {
        "output": [object_at(event, "item") for event in events if event["type"] == "response.output_item.done"]
    },
    close=_close,
    known=_AROUND,
    weights="",
    proves=PROVIDER,
    stream=Blocks(
        owner=PROVIDER,
        logprobs=True,
        interleaved=True,
        numbered=_NUMBER,
        begin=lambda head, _: [
            _said(f"response.{event}", {"response": _envelope(head, "in_progress")})
            for event in ("created", "in_progress")
        ],
        start=dict.fromkeys(_KINDS, _added),
        delta=dict.fromkeys(_KINDS, _grown),
        end=dict.fromkeys(_KINDS, _ended),
        prove=_proved,
        cite=citing(flat, annotates, _cited),
        finish=_finish,
        fail=_fail,
    ),
)
