"""Gemini Interactions: a request, or its steps alone; the input may also be text, or the contents of one turn.

{"model": "gemini-3-pro-preview", "system_instruction": "Be brief.", "input": [
    {"type": "user_input", "content": [{"type": "text", "text": "Weather in Paris?"},
        {"type": "image", "mime_type": "image/png", "data": "iVBORw0KGgo"}]},
    {"type": "thought", "signature": "c2ln", "summary": [{"type": "text", "text": "One call."}]},
    {"type": "model_output", "content": [{"type": "text", "text": "Checking."}]},
    {"type": "function_call", "id": "a1", "name": "get_weather", "arguments": {"city": "Paris"}},
    {"type": "function_result", "call_id": "a1", "name": "get_weather", "result": "18C"}],
 "tools": [{"type": "function", "name": "get_weather", "parameters": {"type": "object"}}],
 "generation_config": {"tool_choice": {"allowed_tools": {"mode": "any", "tools": ["get_weather"]}}}}
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from toolfmt.conversation import (
    CallPart,
    MediaPart,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    ResultPart,
    Role,
    TextPart,
    ToolChoice,
    Transcript,
)
from toolfmt.dialect.record import Provenance
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.apis.gemini import FUNCTION
from toolfmt.transcripts.families.gemini_parts import FILES, PROVIDER
from toolfmt.transcripts.format import Rules, TranscriptFormat
from toolfmt.transcripts.parts.citations import flat
from toolfmt.transcripts.parts.hosted import INTERACTIONS, hosted
from toolfmt.transcripts.parts.media import MediaKind, media_type_of
from toolfmt.transcripts.parts.values import expected, own, rest, word
from toolfmt.transcripts.tables.blocks import PartRow, PartTable, returned
from toolfmt.transcripts.tables.choosing import Mode, spelled
from toolfmt.transcripts.tables.declaring import Declaring
from toolfmt.transcripts.tables.fields import PartField, arguments, citations, flag, ident, option, proof, text
from toolfmt.transcripts.tables.request import ChoicePlace, RequestTable, SystemPlace

OWNER: Final = "gemini-interactions"
_KINDS: Final[tuple[MediaKind, ...]] = ("image", "audio", "video", "document")
_LOOSE: Final = ("text", *_KINDS)
_SPOKEN: Final = ("user_input", "model_output")
_ROLES: Final[dict[str, Role]] = {"user_input": "user", "function_result": "tool"}
_MODES: Final[dict[str, Mode]] = {"auto": "auto", "any": "required", "none": "none"}


def _media(kind: MediaKind) -> PartRow:
    def read(item: JsonObject, part: MediaPart) -> bool:
        address, part.kind = word(item, "uri"), kind
        part.data = word(item, "data") or None
        if address.startswith(FILES):
            part.file_id, part.owner = address, PROVIDER
        else:
            part.url = address or None
        return (part.data is None) != (not address) and isinstance(item.get("mime_type"), str | None)

    return PartRow(kind, MediaPart, option("mime_type", "media_type"), PartField(("data", "uri"), read, _write_media))


def _write_media(part: MediaPart, item: JsonObject) -> bool:
    address = part.url if part.url is not None else part.file_id if part.owner == PROVIDER else None
    media_type = part.media_type or media_type_of(address or "")
    item |= {"type": part.kind} | ({"mime_type": media_type} if media_type else {})
    item |= {"uri": address} if part.data is None else {"data": part.data}
    return part.data is not None or address is not None


def cites(item: JsonObject) -> bool:
    """Whether a citation is flat, as in Google's form; others have a file id, or nest it under the type's name."""
    kind = item.get("type")
    return isinstance(kind, str) and kind.endswith("_citation") and kind not in item and "file_id" not in item


def _read_summary(item: JsonObject, part: ReasoningPart) -> bool:
    parts = CONTENTS.read_all(item.get("summary")) if is_array(item.get("summary")) else ()
    texts = [found.text for found in parts if isinstance(found, TextPart)]
    part.text = "\n\n".join(texts)
    if cited := [citation for found in parts if isinstance(found, TextPart) for citation in found.citations]:
        part.extra["annotations"] = cited
    return len(texts) == len(parts)


def _write_summary(part: ReasoningPart, item: JsonObject) -> bool:
    if part.text:
        item["summary"] = [{"type": "text", "text": part.text}]
    return bool(part.text) or (part.signature is not None and part.owner == PROVIDER)


CONTENTS: Final = PartTable(
    OWNER, (PartRow("text", TextPart, text("text"), citations("annotations", flat, cites)), *map(_media, _KINDS))
)
_SIGNATURE: Final = proof("signature", PROVIDER, odd="opaque")
_SUMMARY: Final = PartField(("summary",), _read_summary, _write_summary)
_ID: Final = ident("id", odd="opaque")
_CALL_ID: Final = ident("call_id", odd="opaque")
_NAME: Final = option("name", "name", odd="opaque")
_RESULT: Final = returned("result", CONTENTS, objects=True)
STEPS: Final = PartTable(
    OWNER,
    (
        PartRow("thought", ReasoningPart, _SIGNATURE, _SUMMARY),
        PartRow("function_call", CallPart, _ID, text("name", "name"), arguments("arguments"), _SIGNATURE),
        PartRow("function_result", ResultPart, _CALL_ID, _NAME, _RESULT, flag("is_error", value=True)),
    ),
    says=lambda step: hosted(step, INTERACTIONS),
)


def _read_items(items: Sequence[JsonValue]) -> Iterator[Message]:
    """Read each step as a message; adjacent steps of the model are one message."""
    at = 0
    for role, group in groupby(_steps(items), _role):
        steps = list(group)
        for run in [steps] if role == "assistant" else [[step] for step in steps]:
            message = Message(role, tuple(part for step in run for part in _read_step(step)))
            for step in run:
                if step["type"] in _SPOKEN:
                    message.extra |= rest(step, {"type", "content"}, OWNER)
            message.origin, message.source, message.where = OWNER, run, ("/input", at)
            at += len(run)
            yield message


def _role(step: JsonObject) -> Role:
    return _ROLES.get(step["type"], "assistant")


def _steps(items: Sequence[JsonValue]) -> Iterator[JsonObject]:
    """Yield the steps of an input; contents without a step form one user turn."""
    for at, item in enumerate(items):
        if not (isinstance(item, str) or word(item, "type")):
            raise ParseError(f"/input/{at}: expected text, or an object with a `type`")
    for loose, group in groupby(items, lambda item: isinstance(item, str) or item["type"] in _LOOSE):
        if loose:
            contents = [{"type": "text", "text": item} if isinstance(item, str) else item for item in group]
            yield {"type": "user_input", "content": contents}
        else:
            yield from group


def _read_step(step: JsonObject) -> tuple[Part, ...]:
    """Read the content of a step; unknown content of the model is kept as a step of its own."""
    content = step.get("content")
    if step["type"] not in _SPOKEN or not isinstance(content, (str, list)):
        return (STEPS.read(step),)
    parts = CONTENTS.read_all(content)
    if step["type"] == "user_input":
        return parts
    return tuple(OpaquePart(OWNER, _output([part.value])) if isinstance(part, OpaquePart) else part for part in parts)


def _output(content: list[JsonValue]) -> JsonObject:
    return {"type": "model_output", "content": content}


def _write_message(message: Message) -> list[JsonValue]:
    if message.role == "tool":
        return [STEPS.write(part) for part in message.parts if isinstance(part, ResultPart)]
    if message.role == "assistant":
        steps = _write_steps(message.parts)
    else:
        steps = [{"type": "user_input", "content": CONTENTS.write_list(message.parts)}]
    return [*steps[:-1], steps[-1] | own(message.extra, OWNER)] if steps else []


def _write_steps(parts: Sequence[Part]) -> list[JsonValue]:
    """Write the model's turn; adjacent text and media are one output."""
    steps: list[JsonValue] = []
    for alone, run in groupby(parts, lambda part: isinstance(part, (ReasoningPart, CallPart, OpaquePart))):
        if alone:
            steps += STEPS.write_list(run)
        elif output := CONTENTS.write_list(run):
            steps.append(_output(output))
    return steps


def _read_choice(value: JsonValue) -> ToolChoice | None:
    match value:
        case str() if value in _MODES:
            return ToolChoice(_MODES[value])
        case {"allowed_tools": {"mode": str() as mode, "tools": [*names]}} if mode in _MODES:
            return ToolChoice(_MODES[mode], tuple(names)) if all(isinstance(name, str) for name in names) else None
        case _:
            return None


def _write_choice(choice: ToolChoice, _: object) -> JsonValue:
    mode = spelled(choice.mode, _MODES)
    return {"allowed_tools": {"mode": mode, "tools": list(choice.names)}} if choice.names else mode


def _write_system(parts: Sequence[Part]) -> JsonValue:
    return "\n\n".join(part.text for part in parts if isinstance(part, TextPart)) or None


_REQUEST: Final = RequestTable(
    owner=OWNER,
    roles=_ROLES,
    blocks=CONTENTS,
    read_items=_read_items,
    write_message=_write_message,
    messages="input",
    system=SystemPlace("system_instruction", CONTENTS.read_all, _write_system),
    tools=Declaring(owner=OWNER, typed=True).listed(),
    choice=ChoicePlace("generation_config/tool_choice", _read_choice, _write_choice),
)


def read(value: JsonValue) -> Transcript:
    """Read a request's object or a list of steps."""
    if not is_object(value) or "input" not in value:
        return _REQUEST.read(value)
    expected(value, "system_instruction", lambda found: isinstance(found, str), "text")
    expected(value, "tools", is_array, "a list")
    given = value["input"]
    return _REQUEST.read(value if is_array(given) else {**value, "input": [given]})


def recognise(value: JsonValue) -> bool:
    """Recognise a request by steps that only this format has."""
    steps = value.get("input") if is_object(value) else value
    return is_array(steps) and any(word(step, "type") in _TELLING for step in steps)


_TELLING: Final = ("user_input", "model_output", "thought", "function_result")

FORMAT: Final = TranscriptFormat(
    name=OWNER,
    summary="Gemini Interactions: steps of the user, the model and the tools.",
    read=read,
    write=_REQUEST.write,
    recognise=recognise,
    messages="input",
    rules=Rules(
        roles=frozenset({"system", "user", "assistant", "tool"}),
        system="first",
        tool_name=FUNCTION,
        result_names=True,
        result_kinds=frozenset({"text", "json", "image", "audio", "video", "document"}),
        user_kinds=frozenset({"text", "image", "audio", "video", "document"}),
        assistant_kinds=frozenset({"text", "image", "audio", "video", "document"}),
        owners=frozenset({OWNER, PROVIDER}),
        empty_messages=False,
        instructions_alone=False,
        continues=frozenset({f"{OWNER}.previous_interaction_id"}),
        neighbours="turn",
        results_follow=False,
        arguments="object",
    ),
    aliases=("interactions", "google-interactions"),
    sources=(
        Provenance("google-genai, google.genai.interactions", "source", "3.4.0", "Apache-2.0"),
        Provenance("Gemini API reference, Interactions", "documentation"),
    ),
)
