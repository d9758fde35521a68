"""Bedrock Converse: a request, or the messages alone; bytes are base64, as they are on the wire.

{"system": [{"text": "Be brief."}, {"cachePoint": {"type": "default"}}],
 "messages": [
    {"role": "user", "content": [{"text": "Weather in Paris?"}]},
    {"role": "assistant", "content": [
        {"toolUse": {"toolUseId": "tooluse_A1", "name": "get_weather", "input": {"city": "Paris"}}}]},
    {"role": "user", "content": [{"toolResult": {"toolUseId": "tooluse_A1", "content": [{"text": "18C"}]}}]}],
 "toolConfig": {
    "tools": [{"toolSpec": {"name": "get_weather", "inputSchema": {"json": {"type": "object"}}}}],
    "toolChoice": {"any": {}}}}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from toolfmt.conversation import Message, Role, ToolChoice, ToolDeclaration, Transcript
from toolfmt.dialect import Provenance
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.schema.rules import BEDROCK, BEDROCK_STRICT
from toolfmt.transcripts.bedrock_blocks import (
    OWNER,
    SIGNER,
    TYPES,
    read_blocks,
    read_mark,
    write_blocks,
    write_mark,
)
from toolfmt.transcripts.format import Rules, TranscriptFormat
from toolfmt.transcripts.native import read_hosted
from toolfmt.transcripts.values import expected, own, rest, word

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue

_REQUEST: Final = frozenset({"messages", "system", "toolConfig"})
_ROLES: Final[dict[object, Role]] = {"user": "user", "assistant": "assistant", "system": "system"}
_MESSAGE: Final = frozenset({"role", "content"})
_SPEC: Final = frozenset({"name", "description", "inputSchema", "strict"})


def read(value: JsonValue) -> Transcript:
    """Read a request's object or a list of messages."""
    if is_array(value):
        return Transcript(tuple(_read_message(item, at) for at, item in enumerate(value)))
    if not is_object(value) or not is_array(value.get("messages")):
        raise ParseError("bedrock: expected a list of messages, or an object with `messages`")
    messages = [_read_message(item, at) for at, item in enumerate(value["messages"])]
    system = expected(value, "system", is_array, "a list of blocks")
    if system:
        first = Message("system", read_blocks(system))
        first.origin, first.source, first.where = OWNER, system, ("/system",)
        messages.insert(0, first)
    config: JsonObject = expected(value, "toolConfig", is_object, "an object") or {}
    further = rest(value, _REQUEST, OWNER) | rest(config, {"tools", "toolChoice"}, f"{OWNER}.toolConfig")
    return Transcript(
        tuple(messages),
        _read_tools(expected(config, "tools", is_array, "a list")),
        _read_choice(config.get("toolChoice")),
        None,
        further,
    )


def _read_message(item: JsonValue, at: int) -> Message:
    name = item.get("role") if is_object(item) else None
    role = _ROLES.get(name) if isinstance(name, str) else None
    content = item.get("content") if is_object(item) else None
    if role is None or not is_object(item) or not is_array(content):
        raise ParseError(f"/messages/{at}: expected a message with the role user or assistant, and a list of blocks")
    message = Message(role, read_blocks(content), extra=rest(item, _MESSAGE, OWNER))
    message.origin, message.source, message.where = OWNER, item, ("/messages", at)
    return message


def _read_tools(value: JsonValue) -> tuple[ToolDeclaration, ...] | None:
    if not is_array(value):
        return None
    tools: list[ToolDeclaration] = []
    for item in value:
        mark = read_mark(item)
        if mark is not None and tools and "cache_control" not in tools[-1].extra:
            tools[-1].extra["cache_control"] = mark
        else:
            tools.append(_read_tool(item))
    return tuple(tools)


def _read_tool(item: JsonValue) -> ToolDeclaration:
    spec = item.get("toolSpec") if is_object(item) else None
    if not is_object(spec) or not isinstance(spec.get("name"), str):
        name = next(iter(item), "") if is_object(item) else ""
        return read_hosted(item, OWNER, name, kind=word(item.get(name), "name") if is_object(item) else "")
    schema = spec.get("inputSchema")
    tool = ToolDeclaration(
        spec["name"],
        spec.get("description"),
        schema.get("json") if is_object(schema) else None,
        strict=spec.get("strict"),
        extra=rest(spec, _SPEC, OWNER),
    )
    tool.origin, tool.source = OWNER, item
    return tool


def _read_choice(value: JsonValue) -> ToolChoice | None:
    if not is_object(value):
        return None
    named = value.get("tool")
    if is_object(named) and isinstance(named.get("name"), str):
        return ToolChoice("required", (named["name"],))
    return ToolChoice("required") if "any" in value else ToolChoice("auto") if "auto" in value else None


def write(transcript: Transcript) -> JsonObject:
    """Write a request's object; leading instructions stand in `system`."""
    value: JsonObject = own(transcript.extra, OWNER)
    messages = transcript.messages
    leading = 0
    while leading < len(messages) and _stands_apart(messages[leading]):
        leading += 1
    system = [part for message in messages[:leading] for part in message.parts]
    if leading == 1 and messages[0].origin == OWNER:
        value["system"] = messages[0].source
    elif system:
        value["system"] = write_blocks(system)
    value["messages"] = [_write_message(message) for message in messages[leading:]]
    config: JsonObject = {key: value.pop(f"toolConfig.{key}") for key in own(transcript.extra, f"{OWNER}.toolConfig")}
    tools = [item for tool in transcript.tools or () for item in _write_tool(tool)]
    if tools:
        config["tools"] = tools
        choice = _write_choice(transcript.tool_choice)
        if choice is not None:
            config["toolChoice"] = choice
    if config:
        value["toolConfig"] = config
    return value


def _stands_apart(message: Message) -> bool:
    return message.role in ("system", "developer") and (message.origin, message.where[0]) != (OWNER, "/messages")


def _write_message(message: Message) -> JsonValue:
    if message.origin == OWNER:
        return message.source
    role = message.role if message.role in _ROLES else "user"
    return {"role": role, "content": write_blocks(message.parts), **own(message.extra, OWNER)}


def _write_tool(tool: ToolDeclaration) -> list[JsonValue]:
    if tool.kind == "hosted":
        return [tool.extra[f"{OWNER}.hosted"], *write_mark(tool.extra)] if f"{OWNER}.hosted" in tool.extra else []
    return [tool.source if tool.origin == OWNER else {"toolSpec": _spec(tool)}, *write_mark(tool.extra)]


def _spec(tool: ToolDeclaration) -> JsonObject:
    spec: JsonObject = {"name": tool.name}
    if tool.description:
        spec["description"] = tool.description
    schema: JsonObject = tool.parameters if is_object(tool.parameters) else {}
    spec["inputSchema"] = {"json": schema if "type" in schema else {"type": "object", **schema}}
    if tool.strict is not None:
        spec["strict"] = tool.strict
    return spec | own(tool.extra, OWNER)


def _write_choice(choice: ToolChoice | None) -> JsonObject | None:
    """Write `toolChoice`; there is no word for calling none."""
    if choice is None or choice.mode == "none":
        return None
    if choice.mode == "auto":
        return {"auto": {}}
    return {"tool": {"name": choice.names[0]}} if len(choice.names) == 1 else {"any": {}}


def recognise(value: JsonValue) -> bool:
    """Tell a request by its `toolConfig`, or by blocks that are named by their key."""
    messages = value.get("messages") if is_object(value) else value
    if not is_array(messages):
        return False
    if is_object(value) and "toolConfig" in value:
        return True
    contents = [item.get("content") for item in messages if is_object(item)]
    blocks = [block for content in contents if is_array(content) for block in content if is_object(block)]
    return (
        not any(isinstance(content, str) for content in contents)
        and not any(word(block, "image") for block in blocks)
        and any("type" not in block and not block.keys().isdisjoint(_TELLING) for block in blocks)
    )


_TELLING: Final = frozenset({"text", "toolUse", "toolResult", "reasoningContent", "cachePoint"})

FORMAT: Final = TranscriptFormat(
    name=OWNER,
    summary="Bedrock Converse: content blocks, toolUse and toolResult.",
    read=read,
    write=write,
    recognise=recognise,
    rules=Rules(
        calls_declared=True,
        user_first=True,
        roles=frozenset({"system", "user", "assistant"}),
        system="first",
        call_id=r"[a-zA-Z0-9_.:-]",
        call_id_length=64,
        fresh_ids=True,
        tool_name=r"[a-zA-Z0-9_-]",
        tool_name_length=64,
        results_in="user",
        result_kinds=frozenset({"text", "json", "image", "document", "video"}),
        user_kinds=frozenset({"text", "image", "document", "video", "audio"}),
        url_kinds=frozenset(),
        media_types=frozenset(TYPES.values()),
        owners=frozenset({OWNER, SIGNER}),
        unsigned=False,
        alternate=True,
        neighbours="refused",
        blank_text="beside",
        empty_messages=False,
        instructions_alone=False,
        arguments="object",
        schema=BEDROCK,
        strict_schema=BEDROCK_STRICT,
    ),
    aliases=("bedrock-converse", "converse"),
    sources=(
        Provenance(
            reference="botocore, data/bedrock-runtime/2023-09-30/service-2",
            revision="1.44.5",
            kind="source",
            license="Apache-2.0",
        ),
        Provenance(reference="Amazon Bedrock API reference, Converse", kind="documentation"),
    ),
)
