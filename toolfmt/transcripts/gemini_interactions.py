"""Gemini Interactions: a request, or its steps alone; the input may also be text, or the contents of one turn.

{"model": "gemini-3-pro-preview", "system_instruction": "Be brief.", "input": [
    {"type": "user_input", "content": [{"type": "text", "text": "Weather in Paris?"}]},
    {"type": "function_call", "id": "a1", "name": "get_weather", "arguments": {"city": "Paris"}},
    {"type": "function_result", "call_id": "a1", "name": "get_weather", "result": "18C"}],
 "tools": [{"type": "function", "name": "get_weather", "parameters": {"type": "object"}}],
 "generation_config": {"tool_choice": {"allowed_tools": {"mode": "any", "tools": ["get_weather"]}}}}
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Final

from toolfmt.conversation import Message, ResultPart, Role, TextPart, ToolChoice, ToolDeclaration, Transcript
from toolfmt.dialect import Provenance
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.transcripts.format import Rules, TranscriptFormat
from toolfmt.transcripts.gemini_parts import PROVIDER
from toolfmt.transcripts.gemini_steps import CONTENTS, OWNER, read_step, write_contents, write_result, write_steps
from toolfmt.transcripts.native import read_hosted, write_hosted
from toolfmt.transcripts.values import expected, own, rest

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue

_REQUEST: Final = frozenset({"input", "system_instruction", "tools", "generation_config"})
_ROLES: Final[dict[object, Role]] = {"user_input": "user", "function_result": "tool"}
_SPOKEN: Final = ("user_input", "model_output")
_STEP: Final = frozenset({"type", "content"})
_MODES: Final = {"auto": "auto", "any": "required", "none": "none"}
_WORDS: Final = {"auto": "auto", "required": "any", "none": "none"}
_FUNCTION: Final = frozenset({"type", "name", "description", "parameters"})


def read(value: JsonValue) -> Transcript:
    """Read a request's object or a list of steps."""
    if is_array(value):
        return Transcript(tuple(_read_messages(value)))
    if not is_object(value) or "input" not in value:
        raise ParseError("gemini-interactions: expected a list of steps, or an object with `input`")
    given = value["input"]
    messages = list(_read_messages(given if is_array(given) else [given]))
    system = expected(value, "system_instruction", lambda found: isinstance(found, str), "text")
    if system:
        first = Message("system", (TextPart(system),))
        first.origin, first.source, first.where = OWNER, system, ("/system_instruction",)
        messages.insert(0, first)
    choice, config = _read_choice(value.get("generation_config"))
    extra = rest(value, _REQUEST, OWNER)
    if config is not None:
        extra[f"{OWNER}.generation_config"] = config
    return Transcript(tuple(messages), _read_tools(expected(value, "tools", is_array, "a list")), choice, None, extra)


def _read_messages(items: list[JsonValue]) -> Iterator[Message]:
    """Read each step as a message; those of the model that stand together are one."""
    at = 0
    for role, group in groupby(_steps(items), _role):
        steps = list(group)
        for step in [steps] if role == "assistant" else [[step] for step in steps]:
            parts = read_step(step[0]) if len(step) == 1 else tuple(part for item in step for part in read_step(item))
            message = Message(role, parts, extra=_further(step))
            message.origin, message.source, message.where = OWNER, step, ("/input", at)
            at += len(step)
            yield message


def _further(steps: list[JsonObject]) -> JsonObject:
    """Collect what steps of text say beside it; other steps are one part each, which has its own."""
    extra: JsonObject = {}
    for step in steps:
        if step["type"] in _SPOKEN:
            extra |= rest(step, _STEP, OWNER)
    return extra


def _steps(items: list[JsonValue]) -> Iterator[JsonObject]:
    """Give the steps of an input; contents without a step are one turn of the user's."""
    for at, item in enumerate(items):
        kind = item.get("type") if is_object(item) else None
        if not isinstance(item, str) and not isinstance(kind, str):
            raise ParseError(f"/input/{at}: expected text, or an object with a `type`")
    for loose, group in groupby(items, lambda item: isinstance(item, str) or item["type"] in CONTENTS):
        if loose:
            contents = [{"type": "text", "text": item} if isinstance(item, str) else item for item in group]
            yield {"type": "user_input", "content": contents}
        else:
            yield from group


def _role(step: JsonObject) -> Role:
    return _ROLES.get(step["type"], "assistant")


def _read_tools(value: JsonValue) -> tuple[ToolDeclaration, ...] | None:
    return tuple(map(_read_tool, value)) if is_array(value) else None


def _read_tool(item: JsonValue) -> ToolDeclaration:
    if not is_object(item):
        raise ParseError("/tools: a tool is an object")
    name = item.get("name")
    if item.get("type") != "function" or not isinstance(name, str):
        title = name if isinstance(name, str) else item.get("type")
        return read_hosted(item, OWNER, title if isinstance(title, str) else "")
    return ToolDeclaration(name, item.get("description"), item.get("parameters"), extra=rest(item, _FUNCTION, OWNER))


def _read_choice(config: JsonValue) -> tuple[ToolChoice | None, JsonValue]:
    """Read which tools may be called, and give what else `generation_config` says: `validated` is Gemini's alone."""
    value = config.get("tool_choice") if is_object(config) else None
    allowed = value.get("allowed_tools") if is_object(value) else None
    mode = allowed.get("mode") if is_object(allowed) else value
    names: JsonValue = allowed.get("tools") if is_object(allowed) else []
    meant = _MODES.get(mode) if isinstance(mode, str) else None
    if meant is None or not is_array(names) or not all(isinstance(name, str) for name in names):
        return None, config
    further = {key: item for key, item in config.items() if key != "tool_choice"}
    choice = ToolChoice(meant, tuple(names))  # pyright: ignore[reportArgumentType] - the table holds modes only
    return choice, further or None


def write(transcript: Transcript) -> JsonObject:
    """Write a request's object; leading instructions are the text of `system_instruction`."""
    value: JsonObject = own(transcript.extra, OWNER)
    messages = transcript.messages
    leading = 0
    while leading < len(messages) and messages[leading].role in ("system", "developer"):
        leading += 1
    system = [part.text for message in messages[:leading] for part in message.parts if isinstance(part, TextPart)]
    if system:
        value["system_instruction"] = "\n\n".join(system)
    value["input"] = [step for message in messages[leading:] for step in _write_message(message)]
    if transcript.tools is not None:
        value["tools"] = [item for tool in transcript.tools if (item := _write_tool(tool)) is not None]
    if transcript.tool_choice is not None:
        config = value.get("generation_config")
        choice = _write_choice(transcript.tool_choice)
        value["generation_config"] = {**(config if is_object(config) else {}), "tool_choice": choice}
    return value


def _write_message(message: Message) -> list[JsonValue]:
    if message.origin == OWNER:
        return message.source
    if message.role == "tool":
        return [write_result(part) for part in message.parts if isinstance(part, ResultPart)]
    if message.role == "assistant":
        steps = write_steps(message.parts)
    else:
        steps = [{"type": "user_input", "content": write_contents(message.parts)}]
    further = own(message.extra, OWNER)
    return [*steps[:-1], steps[-1] | further] if steps and further else steps


def _write_tool(tool: ToolDeclaration) -> JsonValue:
    if tool.kind == "hosted":
        return write_hosted(tool, OWNER)
    item: JsonObject = {"type": "function", "name": tool.name}
    if tool.description is not None:
        item["description"] = tool.description
    if tool.parameters is not None:
        item["parameters"] = tool.parameters
    return item | own(tool.extra, OWNER)


def _write_choice(choice: ToolChoice) -> JsonValue:
    mode = _WORDS[choice.mode]
    return {"allowed_tools": {"mode": mode, "tools": list(choice.names)}} if choice.names else mode


def recognise(value: JsonValue) -> bool:
    """Tell a request by steps that only this format has."""
    steps = value.get("input") if is_object(value) else value
    return is_array(steps) and any(is_object(step) and step.get("type") in _TELLING for step in steps)


_TELLING: Final = ("user_input", "model_output", "thought", "function_result")

FORMAT: Final = TranscriptFormat(
    name=OWNER,
    summary="Gemini Interactions: steps of the user, the model and the tools.",
    read=read,
    write=write,
    recognise=recognise,
    messages="input",
    rules=Rules(
        roles=frozenset({"system", "user", "assistant", "tool"}),
        system="first",
        tool_name=r"[a-zA-Z0-9_.:-]",
        tool_name_start=r"[a-zA-Z_]",
        tool_name_length=128,
        result_names=True,
        result_kinds=frozenset({"text", "json", "image", "audio", "video", "document"}),
        user_kinds=frozenset({"text", "image", "audio", "video", "document"}),
        assistant_kinds=frozenset({"text", "image", "audio", "video", "document"}),
        owners=frozenset({OWNER, PROVIDER}),
        empty_messages=False,
        instructions_alone=False,
        continues=frozenset({f"{OWNER}.previous_interaction_id"}),
        neighbours="joined",
        results_follow=False,
        arguments="object",
    ),
    aliases=("interactions", "google-interactions"),
    sources=(
        Provenance(
            reference="google-genai, google.genai.interactions", revision="3.4.0", kind="source", license="Apache-2.0"
        ),
        Provenance(reference="Gemini API reference, Interactions", kind="documentation"),
    ),
)
