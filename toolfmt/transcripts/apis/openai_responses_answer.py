"""Responses' answers and events.

{"type": "response.output_text.delta", "output_index": 0, "delta": "Hi"}
{"type": "response.output_item.done", "output_index": 1, "item":
    {"type": "function_call", "call_id": "call_A1", "name": "f", "arguments": "{}", "status": "completed"}}
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Final

from toolfmt.conversation import CallPart
from toolfmt.jsontext import is_array
from toolfmt.transcripts.answer_api import AnswerApi, AnswerEnding, Envelope, known
from toolfmt.transcripts.answer_steps import StepShape, ended, inner, objects
from toolfmt.transcripts.responses_items import OWNER, PROVIDER, read_item
from toolfmt.transcripts.sinks.responses import COUNT, INCOMPLETE, ResponsesSink, response

if TYPE_CHECKING:
    from toolfmt.model import JsonObject
    from toolfmt.transcripts.assembling import ArgumentsForm, Assembler
    from toolfmt.transcripts.sinks.sink import AnswerHead


_FORMS: Final[dict[object, ArgumentsForm]] = {"function_call": "json", "custom_tool_call": "text"}


def _read(value: JsonObject, made: Assembler) -> None:
    made.about(value.get("id"), value.get("model"), value.get("created_at"))
    for item in objects(value, "output"):
        _item(item, made)
    _end(value, made)


def _end(value: JsonObject, made: Assembler) -> None:
    made.tokens(value.get("usage"), COUNT.read)
    status = value.get("status", "completed")
    if status in ("completed", "incomplete"):
        ended(made, inner(value, "incomplete_details").get("reason") or "stop")
    elif status in ("failed", "cancelled"):
        made.fail(value.get("error") or f"the response was {status}")


def _item(item: JsonObject, made: Assembler) -> None:
    match item.get("type"):
        case "message":
            for part in objects(item, "content"):
                made.piece()
                made.text(part.get("text"))
                made.refusal(part.get("refusal"))
                for citation in objects(part, "annotations"):
                    made.cite(citation)
        case "reasoning":
            for part in (*objects(item, "summary"), *objects(item, "content")):
                made.reasoning(part.get("text"))
            made.prove(PROVIDER, encrypted=item.get("encrypted_content"))
        case "function_call" | "custom_tool_call":
            _call_item(object(), item, made)
        case _:
            _other(object(), item, made)


def _other(at: Hashable, item: JsonObject, made: Assembler) -> None:
    """Read a call that the client runs, such as a patch to apply; what else there is the provider has run itself."""
    (part,) = read_item(item).parts or (None,)
    if not isinstance(part, CallPart):
        made.note("provider_part", str(item.get("type")))
        return
    made.call(at, part.name, part.id, form="json")
    made.settle(at, part.json)
    made.end(at, cut=item.get("status") == "incomplete")


def _call_item(at: Hashable, item: JsonObject, made: Assembler) -> None:
    """Read a call's whole item, whose beginning may have been emitted."""
    made.call(at, item.get("name"), item.get("call_id"), form=_FORMS[item["type"]])
    made.settle(at, item.get("arguments", item.get("input")))
    made.end(at, cut=item.get("status") == "incomplete")


def _done(at: Hashable, item: JsonObject, made: Assembler) -> None:
    """Read the whole of an item whose words have been emitted."""
    match item.get("type"):
        case "message":
            pass
        case "reasoning":
            made.prove(PROVIDER, encrypted=item.get("encrypted_content"))
        case "function_call" | "custom_tool_call":
            _call_item(at, item, made)
        case _:
            _other(at, item, made)


def _event(value: JsonObject, made: Assembler) -> None:
    at = value.get("output_index")
    item = inner(value, "item")
    match value["type"]:
        case "response.created":
            response = inner(value, "response")
            made.about(response.get("id"), response.get("model"), response.get("created_at"))
        case "response.completed" | "response.incomplete":
            _end(inner(value, "response"), made)
        case "response.failed":
            _end({"status": "failed", **inner(value, "response")}, made)
        case "response.output_item.added" if item.get("type") in _FORMS:
            made.call(at, item.get("name"), item.get("call_id"), form=_FORMS[item["type"]])
        case "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta":
            made.arguments(at, value.get("delta"))
        case "response.output_item.done":
            _done(at, item, made)
        case other:
            _words(other, value, made)


def _words(kind: str, value: JsonObject, made: Assembler) -> None:
    match kind:
        case "response.output_text.delta":
            made.text(value.get("delta"))
        case "response.content_part.added":
            made.piece()
        case "response.refusal.delta":
            made.refusal(value.get("delta"))
        case "response.output_text.annotation.added":
            made.cite(value.get("annotation"))
        case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
            made.reasoning(value.get("delta"))
        case _:
            pass


def _close(choices: list[list[JsonObject]], ending: AnswerEnding) -> JsonObject:
    output = [_answered(item, at, ending.head) for at, item in enumerate(choices[0])]
    reason = INCOMPLETE.get(ending.stop)
    status = "completed" if reason is None else "incomplete"
    return response(ending.head, output, status, reason, ending.info.usage)


_PREFIXES: Final = {"message": "msg_", "reasoning": "rs_", "function_call": "fc_", "custom_tool_call": "ctc_"}


def _answered(item: JsonObject, at: int, head: AnswerHead) -> JsonObject:
    """Make an item of an answer of one of a request: it has an id, its texts have annotations."""
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


API: Final = AnswerApi(
    name=OWNER,
    event_name="type",
    shapes=(
        StepShape(lambda value: str(value.get("type")).startswith("response."), _event),
        StepShape(lambda value: is_array(value.get("output")), _read),
    ),
    envelope=Envelope(
        open=lambda value: [{"input": objects(value, "output")}],
        close=_close,
        known=known("id", "object", "created_at", "completed_at", "model", "status", "output", "usage", "error")
        | known("incomplete_details"),
        proves=PROVIDER,
    ),
    stream=ResponsesSink,
)
