r"""ShareGPT rows as LLaMA-Factory trains on them: a turn of calls, a turn of what was observed.

{"conversations": [
    {"from": "human", "value": "Weather in Paris?"},
    {"from": "function_call", "value": "{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}"},
    {"from": "observation", "value": "18C"},
    {"from": "gpt", "value": "Paris 18C."}],
 "system": "Be brief.",
 "tools": "[{\"name\": \"get_weather\", \"description\": \"Get the weather\", \"parameters\": {\"type\": \"object\"}}]"}

Several calls are a JSON list, and so are their results. Text beside calls has no place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from toolfmt.conversation import CallPart, Content, JsonPart, Message, OpaquePart, ResultPart, TextPart, Transcript
from toolfmt.dialect.record import Provenance
from toolfmt.jsontext import is_array, is_object
from toolfmt.transcripts.datasets.rows import (
    TURNS,
    call_objects,
    json_list,
    read_calls,
    read_tool,
    read_turn,
    row,
    system_message,
    texts,
    write_tools,
)
from toolfmt.transcripts.format import Rules, TranscriptFormat
from toolfmt.transcripts.values import content_text, expected, json_text, own, rest

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue

NAME: Final = "sharegpt"
_ROW: Final = frozenset({TURNS, "system", "tools"})
_CALLS: Final = "function_call"
_NAMES: Final = {"user": "human", "assistant": "gpt", "tool": "observation"}


def read(value: JsonValue) -> Transcript:
    """Read a row, or its turns alone."""
    whole = row(value, NAME)
    messages: list[Message] = []
    system = expected(whole, "system", lambda found: isinstance(found, str), "text")
    if system:
        messages.append(system_message(system, NAME))
    called = 0
    for at, item in enumerate(whole[TURNS]):
        message = read_turn(item, at, NAME)
        if item.get("from") == _CALLS:
            message.parts = read_calls(item.get("value", "")) or (OpaquePart(NAME, item),)
        elif message.role == "tool" and called > 1:
            message.parts = _several(message.parts, called)
        messages.append(message)
        called = sum(isinstance(part, CallPart) for part in message.parts)
    tools = json_list(whole.get("tools"))
    known = _ROW if tools is not None else _ROW - {"tools"}
    return Transcript(
        tuple(messages),
        None if tools is None else tuple(read_tool(item, NAME) for item in tools),
        extra=rest(whole, known, NAME),
    )


def _several(parts: tuple[object, ...], called: int) -> tuple[ResultPart, ...]:
    """Take a JSON list of as many results as there were calls apart."""
    whole = tuple(part for part in parts if isinstance(part, ResultPart))
    found = json_list(texts(whole[0].content)) if whole else None
    if found is None or len(found) != called:
        return whole
    return tuple(ResultPart((TextPart(item) if isinstance(item, str) else JsonPart(item),)) for item in found)


def write(transcript: Transcript) -> JsonObject:
    """Write a row."""
    turns: list[JsonValue] = []
    system: list[str] = []
    for message in transcript.messages:
        beside = message.where == ("/system",)
        if message.origin == NAME and not beside:
            turns.append(message.source)
        elif message.role in ("system", "developer"):
            system.append(texts(message.parts))
        else:
            turns.extend(_write(message))
    value: JsonObject = {TURNS: turns, **own(transcript.extra, NAME)}
    if system:
        value["system"] = "\n\n".join(system)
    if transcript.tools is not None:
        value["tools"] = json_text(write_tools(transcript.tools, NAME))
    return value


def _write(message: Message) -> list[JsonValue]:
    calls = call_objects(message.parts)
    results = [_content(part.content) for part in message.parts if isinstance(part, ResultPart)]
    name = _CALLS if calls else _NAMES[message.role]
    if calls:
        text = json_text(calls[0] if len(calls) == 1 else calls)
    elif results:
        first = results[0]
        text = json_text(results) if len(results) > 1 else first if isinstance(first, str) else json_text(first)
    else:
        text = texts(message.parts)
    return [{"from": name, "value": text, **own(message.extra, NAME)}] if text or results or not message.parts else []


def _content(content: tuple[Content, ...]) -> JsonValue:
    if len(content) == 1 and isinstance(content[0], JsonPart):
        return content[0].value
    return content_text(content, "\n\n")


def recognise(value: JsonValue) -> bool:
    """Tell a row by turns of calls or of what was observed, or by turns with `tools` beside them."""
    turns = value.get(TURNS) if is_object(value) else value
    if not is_array(turns):
        return False
    names = {item.get("from") for item in turns if is_object(item) and isinstance(item.get("from"), str)}
    return bool(names & {_CALLS, "observation"}) or (is_object(value) and bool(names) and "tools" in value)


FORMAT: Final = TranscriptFormat(
    name=NAME,
    summary="ShareGPT rows as LLaMA-Factory trains on them: function_call and observation.",
    read=read,
    write=write,
    recognise=recognise,
    common=1,
    messages=TURNS,
    rules=Rules(
        roles=frozenset({"system", "user", "assistant", "tool"}),
        system="first",
        call_ids="none",
        results_in_order=True,
        user_kinds=frozenset({"text"}),
        alternate=True,
        user_first=True,
        interleaved=False,
        empty_messages=False,
        arguments="object",
    ),
    aliases=("llamafactory", "llama-factory"),
    sources=(Provenance(reference="hiyouga/LLaMA-Factory, data/README.md", kind="documentation"),),
)
