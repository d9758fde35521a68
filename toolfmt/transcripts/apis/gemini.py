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
from typing import TYPE_CHECKING, Final

from toolfmt.conversation import Message, Part, Role, ToolChoice, ToolDeclaration, Transcript
from toolfmt.dialect.record import Provenance
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.schema.rules import GEMINI_OPENAPI
from toolfmt.transcripts.format import Rules, TranscriptFormat
from toolfmt.transcripts.gemini_parts import BLOCKS, OWNER, PROVIDER, camel, json_schema, spelled
from toolfmt.transcripts.hosted import COMMON, declared, read_hosted
from toolfmt.transcripts.request import RequestTable, SystemPlace, ToolsPlace, objects_in
from toolfmt.transcripts.values import own, rest

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue

_SPELLINGS: Final = {"system_instruction": "systemInstruction", "tool_config": "toolConfig"}
_CONFIG: Final = f"{OWNER}.toolConfig"
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


def _write_system(parts: Sequence[Part]) -> JsonObject:
    return {"parts": BLOCKS.write_list(parts)}


def _read_tools(value: JsonValue) -> list[ToolDeclaration]:
    found: list[ToolDeclaration] = []
    for item in value if is_array(value) else [value]:
        if not is_object(item):
            raise ParseError(": a tool is an object")
        for key, inside in camel(item).items():
            if key == "functionDeclarations" and is_array(inside):
                found.extend(map(_read_function, inside))
            elif inside is not None:
                found.append(read_hosted({key: inside}, OWNER, key, kind=key, given=inside))
    return found


def _read_function(item: JsonValue) -> ToolDeclaration:
    body = camel(item) if is_object(item) else {}
    name = body.get("name")
    if not isinstance(name, str):
        raise ParseError(": a declaration of a function has a `name`")
    schema = body.get("parametersJsonSchema")
    if schema is None:
        schema = json_schema(body.get("parameters"))
    tool = ToolDeclaration(name, body.get("description"), schema, extra=rest(body, _FUNCTION, OWNER))
    tool.origin, tool.source = OWNER, item
    return tool


def _own_schema(tool: ToolDeclaration) -> JsonValue:
    """Give the schema of a declaration that was read, where it is not JSON Schema but OpenAPI's."""
    body = camel(tool.source) if tool.origin == OWNER and is_object(tool.source) else {}
    return spelled(body.get("parameters")) if body.get("parametersJsonSchema") is None else None


_FUNCTION: Final = frozenset({"name", "description", "parameters", "parametersJsonSchema"})


def _write_tools(tools: Sequence[ToolDeclaration]) -> list[JsonValue]:
    """Write all functions into one tool: several such tools are accepted only where all of them search."""
    functions: list[JsonValue] = []
    written: list[JsonValue] = []
    for tool in tools:
        if tool.kind != "hosted":
            if not functions:
                written.append({"functionDeclarations": functions})
            functions.append(_write_function(tool))
        elif f"{OWNER}.{COMMON}" in tool.extra:
            written.append(tool.extra[f"{OWNER}.{COMMON}"])
        elif (own_words := declared(OWNER, tool)) is not None:
            written.append(dict((own_words,)))
    return written


def _write_function(tool: ToolDeclaration) -> JsonValue:
    if tool.origin == OWNER:
        return tool.source
    item: JsonObject = {"name": tool.name}
    if tool.description is not None:
        item["description"] = tool.description
    if tool.parameters is not None:
        item["parametersJsonSchema"] = tool.parameters
    return item | own(tool.extra, OWNER)


_REQUEST: Final = RequestTable(
    owner=OWNER,
    roles=_ROLES,
    blocks=BLOCKS,
    read_message=_read_message,
    write_message=_write_message,
    messages="contents",
    system=SystemPlace("systemInstruction", _read_system, _write_system),
    tools=ToolsPlace("tools", _read_tools, _write_tools),
)


def read(value: JsonValue) -> Transcript:
    """Read a request's object or a list of contents; a text may stand for a content of the user's."""
    given: JsonObject = value if is_object(value) else {"contents": value if is_array(value) else None}
    request = {_SPELLINGS.get(key, key): item for key, item in given.items()}
    contents = request.get("contents")
    items = contents if is_array(contents) or contents is None else [contents]
    if items is not None:
        request["contents"] = [{"parts": [item]} if isinstance(item, str) else item for item in items]
    found = _REQUEST.read(request)
    for message in found.messages:
        if items is not None and len(message.where) > 1:
            message.source = items[message.where[1]]
    found.tool_choice, config = _read_choice(request.get("toolConfig"))
    found.extra.pop(_CONFIG, None)
    found.extra |= config
    return found


def _read_choice(value: JsonValue) -> tuple[ToolChoice | None, JsonObject]:
    """Read which tools may be called, and what else `toolConfig` says: `VALIDATED` over all tools is Gemini's alone."""
    config = camel(value) if is_object(value) else {}
    found = config.get("functionCallingConfig")
    calling = camel(found) if is_object(found) else {}
    mode, names = calling.get("mode"), calling.get("allowedFunctionNames")
    named = tuple(name for name in names if isinstance(name, str)) if is_array(names) else ()
    choice = None
    match mode.upper() if isinstance(mode, str) else "":
        case "AUTO":
            choice = ToolChoice("auto", named)
        case "NONE":
            choice = ToolChoice("none", named)
        case "ANY":
            choice = ToolChoice("required", named)
        case "VALIDATED" if named:
            choice = ToolChoice("auto", named)
        case _:
            return None, {_CONFIG: value} if value else {}
    further = {key: item for key, item in calling.items() if key not in ("mode", "allowedFunctionNames")}
    config.pop("functionCallingConfig")
    config |= {"functionCallingConfig": further} if further else {}
    return choice, {_CONFIG: config} if config else {}


def write(transcript: Transcript) -> JsonValue:
    """Write a request's object; leading instructions stand in `systemInstruction`."""
    value = _REQUEST.write(transcript)
    config = value.pop("toolConfig", {})
    if transcript.tool_choice is not None:
        calling = config.get("functionCallingConfig", {}) | _write_choice(transcript.tool_choice)
        config = {**config, "functionCallingConfig": calling}
    return {**value, "toolConfig": config} if config else value


def _write_choice(choice: ToolChoice) -> JsonObject:
    mode = {"auto": "VALIDATED" if choice.names else "AUTO", "none": "NONE", "required": "ANY"}[choice.mode]
    if not choice.names or choice.mode == "none":
        return {"mode": mode}
    return {"mode": mode, "allowedFunctionNames": list(choice.names)}


_KINDS: Final = frozenset({"type", "part_kind"})


def recognise(value: JsonValue) -> bool:
    """Recognise a request by its `contents`, or a list by its items' `parts`; no part of Gemini's says its kind."""
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
    write=write,
    recognise=recognise,
    messages="contents",
    spellings=_SPELLINGS,
    rules=Rules(
        roles=frozenset({"system", "user", "assistant"}),
        system="first",
        call_ids="optional",
        tool_name=r"[a-zA-Z0-9_.:-]",
        tool_name_start=r"[a-zA-Z_]",
        tool_name_length=128,
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
        Provenance(reference="google-genai, google.genai.types", revision="3.4.0", kind="source", license="Apache-2.0"),
        Provenance(reference="Gemini API reference, generateContent", kind="documentation"),
    ),
)
