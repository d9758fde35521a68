r"""OpenAI Responses: a request with `input` items, or the items alone.

{"model": "gpt-5.1", "instructions": "Be brief.", "input": [
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Weather in Paris?"}]},
    {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "One call."}],
     "encrypted_content": "gAAAAABo"},
    {"type": "function_call", "id": "fc_1", "call_id": "call_A1", "name": "get_weather",
     "arguments": "{\"city\":\"Paris\"}", "status": "completed"},
    {"type": "function_call_output", "call_id": "call_A1", "output": "18C"}],
 "tools": [{"type": "function", "name": "get_weather", "parameters": {"type": "object"}, "strict": true}],
 "tool_choice": "auto", "parallel_tool_calls": true}
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from toolfmt.conversation import Message, TextPart, ToolDeclaration, Transcript
from toolfmt.dialect.record import Provenance
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.schema.rules import ANY, OPENAI, OPENAI_STRICT
from toolfmt.transcripts.families.chat import MODELS
from toolfmt.transcripts.families.responses_items import OWNER, PROVIDER, link_items, read_item, write_items
from toolfmt.transcripts.format import ANY_TEXT, ANYTHING, NAMES, Rules, Spelling, TranscriptFormat
from toolfmt.transcripts.parts.values import expected, own, pointer, rest
from toolfmt.transcripts.tables.choosing import openai
from toolfmt.transcripts.tables.declaring import Declaring

_REQUEST: Final = frozenset({"input", "instructions", "tools", "parallel_tool_calls"})
_LOADING: Final = ("additional_tools", "tool_search_output")
"""The items that declare tools during a conversation."""
_LOADED: Final = f"{OWNER}.loaded"
_SPACE: Final = f"{OWNER}.namespace"
_CHOICE: Final = openai(nested=False)


def read(value: JsonValue) -> Transcript:
    """Read a request's object or a list of items."""
    if is_array(value):
        listed = tuple(_read(item, ("", at)) for at, item in enumerate(value))
        link_items(listed)
        return Transcript(listed)
    if not is_object(value) or "input" not in value:
        raise ParseError("openai-responses: expected a list of items, or an object with `input`")
    messages: list[Message] = []
    if instructions := expected(value, "instructions", lambda found: isinstance(found, str), "text"):
        messages.append(_text("system", instructions, ("/instructions",)))
    given = expected(value, "input", lambda found: isinstance(found, str) or is_array(found), "text or a list of items")
    if isinstance(given, str):
        messages.append(_text("user", given, ("/input",)))
    elif is_array(given):
        messages.extend(_read(item, ("/input", at)) for at, item in enumerate(given))
    link_items(messages)
    tools = value.get("tools")
    read = tuple(found for item in tools for found in _read_tool(item)) if is_array(tools) else None
    loaded = tuple(_loaded(given, {tool.name for tool in read or ()}))
    choice, given = _CHOICE.read(value.get("tool_choice")), value.get("tool_choice")
    left = _CHOICE.left(given, choice, read or (), OWNER) if choice is not None and is_object(given) else {}
    return Transcript(
        tuple(messages),
        (read or ()) + loaded if loaded else read,
        choice,
        value.get("parallel_tool_calls"),
        rest(value, _REQUEST if choice is None else _REQUEST | {"tool_choice"}, OWNER) | left,
    )


def _text(role: str, text: str, where: tuple[str]) -> Message:
    message = Message("system" if role == "system" else "user", (TextPart(text),))
    message.origin, message.source, message.where = OWNER, text, where
    return message


def _read(item: JsonValue, where: tuple[str, int]) -> Message:
    if not is_object(item):
        raise ParseError(f"{pointer(where)}: an item is an object, not {type(item).__name__}")
    try:
        message = read_item(item)
    except ParseError as error:
        raise ParseError(f"{pointer(where)}/{error}") from None
    message.origin, message.source, message.where = OWNER, item, where
    return message


_FUNCTION: Final = Declaring(owner=OWNER, custom="format", typed=True, identity="name", strict=True, nulls=True)


def _read_tool(item: JsonObject) -> list[ToolDeclaration]:
    if item.get("type") != "namespace" or not is_array(item.get("tools")):
        return [_FUNCTION.read(item)]
    inside = [found for tool in item["tools"] for found in _read_tool(tool)]
    for found in inside:
        found.namespace = item.get("name")
        found.extra |= {_SPACE: {key: given for key, given in item.items() if key != "tools"}}
    return inside


def _loaded(items: JsonValue, known: set[str]) -> Iterator[ToolDeclaration]:
    """Read the tools declared by items of the conversation."""
    for item in items if is_array(items) else ():
        inside = item.get("tools") if is_object(item) and item.get("type") in _LOADING else None
        for tool in inside if is_array(inside) else ():
            for found in _read_tool(tool) if is_object(tool) else ():
                if found.kind == "function" and found.name not in known:
                    known.add(found.name)
                    found.extra[_LOADED] = True
                    yield found


def write(transcript: Transcript) -> JsonObject:
    """Write a request's object; leading instructions of one message of plain text are in `instructions`."""
    value = own(transcript.extra, OWNER)
    messages = list(transcript.messages)
    first = messages[0] if messages else None
    if (
        first is not None
        and first.role == "system"
        and first.origin != OWNER
        and all(type(part) is TextPart and not part.extra for part in first.parts)
    ):
        value["instructions"] = "\n\n".join(part.text for part in first.parts if isinstance(part, TextPart))
        messages = messages[1:]
    elif first is not None and first.where == ("/instructions",) and first.origin == OWNER:
        value["instructions"] = first.source
        messages = messages[1:]
    alone = len(messages) == 1 and messages[0].origin == OWNER and messages[0].where == ("/input",)
    value["input"] = messages[0].source if alone else write_items(messages)
    tools = [tool for tool in transcript.tools or () if _LOADED not in tool.extra]
    if transcript.tools is not None and (tools or not transcript.tools):
        value["tools"] = _write_tools(tools)
    if transcript.tool_choice is not None:
        value["tool_choice"] = _CHOICE.write(transcript.tool_choice, transcript.tools or ())
    if transcript.parallel is not None:
        value["parallel_tool_calls"] = transcript.parallel
    return value


def _write_tools(tools: Sequence[ToolDeclaration]) -> list[JsonValue]:
    written: list[JsonValue] = []
    spaces: dict[str, JsonObject] = {}
    for tool in tools:
        about = tool.extra.get(_SPACE)
        item = _FUNCTION.write(replace(tool, extra={key: tool.extra[key] for key in tool.extra if key != _SPACE}))
        if item is None:
            continue
        if tool.namespace is None:
            written.append(item)
            continue
        if tool.namespace not in spaces:
            bare: JsonObject = {"type": "namespace", "name": tool.namespace, "description": tool.namespace}
            spaces[tool.namespace] = {**(about or bare), "tools": []}
            written.append(spaces[tool.namespace])
        spaces[tool.namespace]["tools"].append(item)
    return written


def recognise(value: JsonValue) -> bool:
    """Recognise a request by `input`, and items by their types."""
    items = value.get("input") if is_object(value) else value
    if isinstance(items, str):
        return is_object(value) and "messages" not in value
    if not is_array(items):
        return False
    kinds = {item.get("type") for item in items if is_object(item)}
    if any(is_object(item) and item.get("type") == "function_call" and "call_id" not in item for item in items):
        return False
    if kinds & {"function_call", "function_call_output", "reasoning", "custom_tool_call"}:
        return (
            is_object(value)
            or bool(kinds & {"function_call_output", "reasoning"})
            or any("call_id" in item for item in items)
        )
    return is_object(value) and "messages" not in value and any(is_object(item) and "role" in item for item in items)


_RULES: Final = Rules(
    namespaces=True,
    owners=frozenset({OWNER, PROVIDER}),
    unsigned=False,
    call_id=Spelling(length=64),
    tool_name=NAMES,
    result_kinds=frozenset({"text", "image", "document"}),
    user_kinds=frozenset({"text", "image", "document"}),
    empty_messages=False,
    instructions_alone=False,
    continues=frozenset(f"{OWNER}.{key}" for key in ("previous_response_id", "conversation", "prompt")),
    silent=frozenset({"system", "developer", "user", "assistant"}),
    neighbours="turn",
    results_follow=False,
    custom_tools=True,
    schema=OPENAI,
    strict_schema=OPENAI_STRICT,
)

FORMAT: Final = TranscriptFormat(
    name=OWNER,
    summary="OpenAI Responses: input items, one for each message, call, output and thought.",
    read=read,
    write=write,
    recognise=recognise,
    rules=_RULES,
    models=MODELS,
    copies=replace(_RULES, call_id=ANY_TEXT, user_kinds=ANYTHING, schema=ANY, strict_schema=None),
    messages="input",
    aliases=("responses",),
    sources=(
        Provenance("openai-python, openai.types.responses", "source", "3.52.0", "Apache-2.0"),
        Provenance("OpenAI API reference, Responses", "documentation"),
    ),
)
