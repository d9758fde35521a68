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

from typing import TYPE_CHECKING, Final

from toolfmt.conversation import Message, Role, ToolChoice, ToolDeclaration, Transcript
from toolfmt.dialect import Provenance
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.schema.rules import GEMINI_OPENAPI
from toolfmt.transcripts.format import Rules, TranscriptFormat
from toolfmt.transcripts.gemini_parts import OWNER, PROVIDER, camel, read_parts, write_parts
from toolfmt.transcripts.gemini_schema import json_schema, spelled
from toolfmt.transcripts.native import COMMON, declared, read_hosted
from toolfmt.transcripts.values import own, rest

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue

_SPELLINGS: Final = {"system_instruction": "systemInstruction", "tool_config": "toolConfig"}
_SAID: Final = frozenset({"role", "parts"})
_REQUEST: Final = frozenset({"contents", "tools", "systemInstruction", "toolConfig", *_SPELLINGS})
_ROLES: Final[dict[object, Role]] = {
    "user": "user",
    "model": "assistant",
    "function": "tool",
    "tool": "tool",
    None: "user",
}


def read(value: JsonValue) -> Transcript:
    """Read a request's object or a list of contents."""
    if is_array(value):
        return Transcript(tuple(_read_content(item, at) for at, item in enumerate(value)))
    if not is_object(value) or "contents" not in value:
        raise ParseError("gemini: expected a list of contents, or an object with `contents`")
    found = value["contents"]
    messages = [_read_content(item, at) for at, item in enumerate(found if is_array(found) else [found])]
    system = value.get("systemInstruction", value.get("system_instruction"))
    if system:
        messages.insert(0, _read_system(system))
    choice, config = _read_choice(value.get("toolConfig", value.get("tool_config")))
    extra = rest(value, _REQUEST, OWNER)
    return Transcript(
        tuple(messages), _read_tools(value.get("tools")), choice, None, extra | config if config else extra
    )


def _read_system(value: JsonValue) -> Message:
    parts = value.get("parts") if is_object(value) else value
    first = Message("system", read_parts(parts if is_array(parts) else [parts]))
    first.origin, first.source, first.where = OWNER, value, ("/systemInstruction",)
    return first


def _read_content(item: JsonValue, at: int) -> Message:
    content: JsonValue = {"parts": [item]} if isinstance(item, str) else item
    name = content.get("role") if is_object(content) else ""
    role = _ROLES.get(name) if isinstance(name, (str, type(None))) else None
    parts = content.get("parts") if is_object(content) else None
    if role is None or not is_object(content) or not (parts is None or is_array(parts)):
        raise ParseError(f"/contents/{at}: expected a content with `parts` and the role user or model")
    extra = {} if content.keys() <= _SAID else rest(content, _SAID, OWNER)
    message = Message(role, read_parts(parts or ()), extra=extra)
    message.origin, message.source, message.where = OWNER, item, ("/contents", at)
    return message


def _read_tools(value: JsonValue) -> tuple[ToolDeclaration, ...] | None:
    if value is None:
        return None
    found: list[ToolDeclaration] = []
    for item in value if is_array(value) else [value]:
        if not is_object(item):
            raise ParseError("/tools: a tool is an object")
        for key, inside in camel(item).items():
            if key == "functionDeclarations" and is_array(inside):
                found.extend(map(_read_function, inside))
            elif inside is not None:
                found.append(read_hosted({key: inside}, OWNER, key, kind=key, given=inside))
    return tuple(found)


def _read_function(item: JsonValue) -> ToolDeclaration:
    body = camel(item) if is_object(item) else {}
    name = body.get("name")
    if not isinstance(name, str):
        raise ParseError("/tools: a declaration of a function has a `name`")
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
            return None, {f"{OWNER}.toolConfig": value} if value else {}
    further = {key: item for key, item in calling.items() if key not in ("mode", "allowedFunctionNames")}
    config.pop("functionCallingConfig")
    config |= {"functionCallingConfig": further} if further else {}
    return choice, {f"{OWNER}.toolConfig": config} if config else {}


def write(transcript: Transcript) -> JsonObject:
    """Write a request's object; leading instructions stand in `systemInstruction`."""
    value: JsonObject = own(transcript.extra, OWNER)
    config = value.pop("toolConfig", {})
    messages = transcript.messages
    leading = 0
    while leading < len(messages) and messages[leading].role in ("system", "developer"):
        leading += 1
    system = [part for message in messages[:leading] for part in message.parts]
    if leading == 1 and messages[0].origin == OWNER:
        value["systemInstruction"] = messages[0].source
    elif system:
        value["systemInstruction"] = {"parts": write_parts(system)}
    value["contents"] = [_write_message(message) for message in messages[leading:]]
    if transcript.tools is not None:
        value["tools"] = _write_tools(transcript.tools)
    if transcript.tool_choice is not None:
        calling = config.get("functionCallingConfig", {}) | _write_choice(transcript.tool_choice)
        config = {**config, "functionCallingConfig": calling}
    if config:
        value["toolConfig"] = config
    return value


def _write_message(message: Message) -> JsonValue:
    if message.origin == OWNER:
        return message.source
    role = "model" if message.role == "assistant" else "user"
    return {"role": role, "parts": write_parts(message.parts), **own(message.extra, OWNER)}


def _write_tools(tools: tuple[ToolDeclaration, ...]) -> list[JsonValue]:
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


def _write_choice(choice: ToolChoice) -> JsonObject:
    mode = {"auto": "VALIDATED" if choice.names else "AUTO", "none": "NONE", "required": "ANY"}[choice.mode]
    if not choice.names or choice.mode == "none":
        return {"mode": mode}
    return {"mode": mode, "allowedFunctionNames": list(choice.names)}


_KINDS: Final = frozenset({"type", "part_kind"})


def recognise(value: JsonValue) -> bool:
    """Tell a request by its `contents`, or a list by the `parts` of its items; no part of Gemini's says its kind."""
    contents = value.get("contents") if is_object(value) else value
    return is_array(contents) and any(
        is_object(item)
        and is_array(item.get("parts"))
        and item.get("role") in _ROLES
        and not any(is_object(part) and not part.keys().isdisjoint(_KINDS) for part in item["parts"])
        for item in contents
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
        alternate=True,
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
