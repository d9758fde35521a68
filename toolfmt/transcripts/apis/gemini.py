"""Gemini generateContent: a request, or the contents alone; keys in camelCase, read in snake_case too.

{"systemInstruction": {"parts": [{"text": "Be brief."}]},
 "contents": [
    {"role": "user", "parts": [{"text": "Weather in Paris?"}]},
    {"role": "model", "parts": [
        {"text": "One call.", "thought": true},
        {"functionCall": {"name": "get_weather", "args": {"city": "Paris"}}, "thoughtSignature": "c2ln"}]},
    {"role": "user", "parts": [
        {"functionResponse": {"name": "get_weather", "response": {"output": "18C"}}}]}],
 "tools": [{"functionDeclarations": [{"name": "get_weather", "parametersJsonSchema": {"type": "object"}}]}],
 "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["get_weather"]}}}
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from toolfmt.conversation import Message, Part, Role, ToolChoice, ToolDeclaration, Transcript
from toolfmt.dialect.record import Provenance
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.schema.rules import GEMINI_OPENAPI
from toolfmt.transcripts.families.gemini_parts import BLOCKS, OWNER, PROVIDER, camel, json_schema, spelled
from toolfmt.transcripts.format import Rules, Spelling, TranscriptFormat
from toolfmt.transcripts.parts.hosted import COMMON, declared, read_hosted
from toolfmt.transcripts.parts.values import own, rest, word
from toolfmt.transcripts.tables import choosing
from toolfmt.transcripts.tables.declaring import Declaring
from toolfmt.transcripts.tables.request import ChoicePlace, RequestTable, SystemPlace, ToolsPlace, objects_in

FUNCTION: Final = Spelling(r"[a-zA-Z0-9_.:-]", 128, start=r"[a-zA-Z_]")
"""The names of functions."""
_SPELLINGS: Final = {"system_instruction": "systemInstruction", "tool_config": "toolConfig"}
_ROLES: Final[dict[str, Role]] = {"user": "user", "model": "assistant", "function": "tool", "tool": "tool", "": "user"}


def _read_message(item: JsonObject, role: Role) -> Message:
    parts = item.get("parts")
    if not (isinstance(item.get("role"), str | None) and (parts is None or is_array(parts))):
        raise ParseError(": expected a content with `parts` and the role user or model")
    return Message(role, BLOCKS.read_all(parts), extra=rest(item, {"role", "parts"}, OWNER))


def _write_message(message: Message) -> Sequence[JsonValue]:
    role = "model" if message.role == "assistant" else "user"
    return ({"role": role, "parts": BLOCKS.write_list(message.parts), **own(message.extra, OWNER)},)


def _read_system(value: JsonValue) -> tuple[Part, ...]:
    parts = value.get("parts") if is_object(value) else value
    return BLOCKS.read_list(parts if is_array(parts) else [parts])


def _spelled(item: JsonObject) -> JsonObject:
    """Convert a declaration to camelCase, and its OpenAPI schema to JSON Schema's spelling."""
    body = camel(item)
    older = body.pop("parameters", None)
    if body.get("parametersJsonSchema") is None:
        body["parametersJsonSchema"] = json_schema(older)
    return body


_FUNCTION: Final = Declaring(owner=OWNER, schema="parametersJsonSchema", identity="any", kept=True, spelled=_spelled)


def _read_tools(value: JsonValue) -> list[ToolDeclaration]:
    found: list[ToolDeclaration] = []
    for item in value if is_array(value) else [value]:
        if not is_object(item):
            raise ParseError(": a tool is an object")
        for key, inside in camel(item).items():
            if key == "functionDeclarations" and is_array(inside):
                found += _FUNCTION.read_list(inside)
            elif inside is not None:
                found.append(read_hosted({key: inside}, OWNER, key, kind=key, given=inside))
    return found


def _own_schema(tool: ToolDeclaration) -> JsonValue:
    """Return a declaration's original schema if it is OpenAPI's and not JSON Schema."""
    body = camel(tool.source) if tool.origin == OWNER and is_object(tool.source) else {}
    return spelled(body.get("parameters")) if body.get("parametersJsonSchema") is None else None


def _write_tools(tools: Sequence[ToolDeclaration]) -> list[JsonValue]:
    """Write all functions into one tool, as several tools are accepted only if all are searches."""
    functions: list[JsonValue] = []
    written: list[JsonValue] = []
    for tool in tools:
        if tool.kind != "hosted":
            if not functions:
                written.append({"functionDeclarations": functions})
            functions.append(_FUNCTION.write(tool))
        elif f"{OWNER}.{COMMON}" in tool.extra:
            written.append(tool.extra[f"{OWNER}.{COMMON}"])
        elif (own_words := declared(OWNER, tool)) is not None:
            written.append(dict((own_words,)))
    return written


def _read_choice(value: JsonValue) -> ToolChoice | None:
    """Read the choice of tools; `VALIDATED` over all tools exists only in Gemini."""
    calling = camel(value) if is_object(value) else {}
    mode, names = word(calling, "mode").upper(), calling.get("allowedFunctionNames")
    named = tuple(name for name in names if isinstance(name, str)) if is_array(names) else ()
    known = mode in _MODES and (bool(named) or mode != "VALIDATED")
    return ToolChoice(_MODES[mode], named) if known else None


def _write_choice(choice: ToolChoice, _: object) -> JsonObject:
    if not choice.names or choice.mode == "none":
        return {"mode": choosing.spelled(choice.mode, _MODES)}
    return {"mode": "VALIDATED" if choice.mode == "auto" else "ANY", "allowedFunctionNames": list(choice.names)}


_MODES: Final[dict[str, choosing.Mode]] = {"AUTO": "auto", "NONE": "none", "ANY": "required", "VALIDATED": "auto"}
_CALLING: Final = ("mode", "allowedFunctionNames", "allowed_function_names")
_REQUEST: Final = RequestTable(
    owner=OWNER,
    roles=_ROLES,
    blocks=BLOCKS,
    read_message=_read_message,
    write_message=_write_message,
    messages="contents",
    system=SystemPlace(
        "systemInstruction",
        _read_system,
        lambda parts: {"parts": BLOCKS.write_list(parts)},
        frozenset({"parts", "role"}),
    ),
    tools=ToolsPlace("tools", _read_tools, _write_tools),
    choice=ChoicePlace("toolConfig/functionCallingConfig", _read_choice, _write_choice, _CALLING),
)


def read(value: JsonValue) -> Transcript:
    """Read a request's object or a list of contents; a text is a user content."""
    given: JsonObject = value if is_object(value) else {"contents": value if is_array(value) else None}
    request = {_SPELLINGS.get(key, key): item for key, item in given.items()}
    contents = request.get("contents")
    items = contents if is_array(contents) or contents is None else [contents]
    if items is not None:
        request["contents"] = [{"parts": [item]} if isinstance(item, str) else item for item in items]
    if is_object(request.get("toolConfig")):
        request["toolConfig"] = camel(request["toolConfig"])
    found = _REQUEST.read(request)
    for message in found.messages:
        if items is not None and len(message.where) > 1:
            message.source = items[message.where[1]]
    return found


_KINDS: Final = frozenset({"type", "part_kind"})


def recognise(value: JsonValue) -> bool:
    """Recognise a request by its `contents`, or a list by its items' `parts`; Gemini's parts have no kind."""
    return any(
        is_array(item.get("parts"))
        and item.get("role", "") in _ROLES
        and all(part.keys().isdisjoint(_KINDS) for part in objects_in(item["parts"]))
        for item in objects_in(value, "contents")
    )


FORMAT: Final = TranscriptFormat(
    name=OWNER,
    summary="Gemini generateContent: contents of parts, functionCall and functionResponse.",
    read=read,
    write=_REQUEST.write,
    recognise=recognise,
    messages="contents",
    spellings=_SPELLINGS,
    rules=Rules(
        roles=frozenset({"system", "user", "assistant"}),
        system="first",
        call_ids="optional",
        tool_name=FUNCTION,
        result_names=True,
        results_in="user",
        results_alone=True,
        result_kinds=frozenset({"text", "json", "image", "audio", "video", "document"}),
        user_kinds=frozenset({"text", "image", "audio", "video", "document"}),
        assistant_kinds=frozenset({"text", "image", "audio", "video", "document"}),
        owners=frozenset({OWNER, PROVIDER}),
        neighbours="joined",
        empty_messages=False,
        instructions_alone=False,
        user_first=True,
        arguments="object",
        own_schema=_own_schema,
        own_dialect=GEMINI_OPENAPI,
    ),
    aliases=("google", "generate-content", "vertex", "vertexai"),
    sources=(
        Provenance("google-genai, google.genai.types", "source", "3.4.0", "Apache-2.0"),
        Provenance("Gemini API reference, generateContent", "documentation"),
    ),
)
