"""The items of OpenAI's Responses: messages, thoughts, calls and their outputs, each a separate item.

{"type": "message", "role": "assistant", "id": "msg_1", "phase": "final_answer", "content": [
    {"type": "output_text", "text": "18C", "annotations": []}, {"type": "refusal", "refusal": "No."}]}
{"type": "custom_tool_call", "call_id": "call_C3", "name": "run_sql", "input": "SELECT 1;"}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Final

from toolfmt import jsontext
from toolfmt.conversation import (
    CallPart,
    Content,
    JsonPart,
    MediaPart,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    RefusalPart,
    ResultPart,
    Role,
    TextPart,
)
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.parts.citations import cited, flat
from toolfmt.transcripts.parts.hosted import RESPONSES, hosted, readable
from toolfmt.transcripts.parts.media import file_name, file_of, from_url, to_url
from toolfmt.transcripts.parts.values import argument_object, inside, own, rest, text_at, word
from toolfmt.transcripts.tables.blocks import PartRow, PartTable
from toolfmt.transcripts.tables.fields import PartField, arguments, citations, option, text

OWNER: Final = "openai-responses"
PROVIDER: Final = "openai"
_SPEAKERS: Final[tuple[Role, ...]] = ("user", "assistant", "system", "developer")
_ROLES: Final[dict[object, Role]] = {role: role for role in _SPEAKERS}
_OTHERS: Final = ("unknown", "critic", "discriminator", "tool")
"""openai 3.52, types/conversations/message.py: further roles of stored messages."""
_MESSAGE: Final = frozenset({"type", "role", "content"})
_DETAIL: Final = "auto"
"""The required `detail` of an image without one."""
_ANSWERED: Final = frozenset({"id", "status"})
PARAGRAPH: Final = "\n\n"
"""The separator between two parts of a summary."""
_REASONING: Final = frozenset({"type", "summary", "content", "encrypted_content"})


def read_item(item: JsonObject) -> Message:
    """Read one item; an unknown item is kept whole."""
    reader = _READERS.get(item.get("type", "message"))
    message = reader(item) if reader is not None else _run_by_client(item)
    return Message("assistant", (OpaquePart(OWNER, item, hosted(item, RESPONSES)),)) if message is None else message


CLIENT: Final = {
    "local_shell_call": ("local_shell", "action"),
    "shell_call": ("shell", "action"),
    "apply_patch_call": ("apply_patch", "operation"),
    "computer_call": ("computer", "action"),
    "tool_search_call": ("tool_search", "arguments"),
}
"""The kinds of items of calls that the client runs: the tool, and the key of the arguments, or a list `actions`."""
_CLIENT_RESULTS: Final = {
    **{f"{kind}_output": "output" for kind in CLIENT if kind != "tool_search_call"},
    "tool_search_output": "tools",
}
"""The key of the output, for each kind of item."""
_BY_ITEM: Final = frozenset({"local_shell_call_output"})
"""The kinds of outputs without `call_id`, whose `id` is the call's item's or the call's."""


def _run_by_client(item: JsonObject) -> Message | None:
    """Read a call with its own item type, or its output, as an ordinary call or result."""
    kind, ident = item.get("type"), item.get("call_id", item.get("id"))
    if not isinstance(kind, str) or not isinstance(ident, str) or item.get("execution") == "server":
        return None
    if kind in CLIENT:
        name, key = CLIENT[kind]
        key = key if key in item else "actions"
        value = item.get(key)
        arguments = {key: value} if is_array(value) else value
        call = CallPart(name, arguments, jsontext.dumps(arguments, compact=True), ident)
        call.extra = rest(item, {"call_id", key}, OWNER)
        return Message("assistant", (call,))
    if kind in _CLIENT_RESULTS:
        key = _CLIENT_RESULTS[kind]
        result = ResultPart(_came_back(item.get(key)), ident, extra=rest(item, {"call_id", key}, OWNER))
        result.extra[f"{OWNER}.{key}"] = item.get(key)
        result.is_error = item.get("status") == "failed"
        return Message("tool", (result,))
    return None


def link_items(messages: Iterable[Message]) -> None:
    """Replace item ids in outputs, as a shell's, by the ids of the calls."""
    calls: dict[object, str | None] = {}
    for message in messages:
        for part in message.parts:
            if isinstance(part, CallPart) and f"{OWNER}.type" in part.extra:
                calls[part.extra.get(f"{OWNER}.id")] = part.id
            elif isinstance(part, ResultPart) and part.extra.get(f"{OWNER}.type") in _BY_ITEM:
                part.id = calls.get(part.id, part.id)


def _came_back(value: JsonValue) -> tuple[Content, ...]:
    if word(value, "type") == "computer_screenshot":
        return (_read_image(value),)
    return tuple(
        TextPart(jsontext.dumps(part.value)) if isinstance(part, JsonPart) else part for part in readable(value)
    )


def _message(item: JsonObject) -> Message | None:
    role = _ROLES.get(item.get("role"))
    if role is None:
        if item.get("role") not in _OTHERS:
            roles = ", ".join((*_ROLES.values(), *_OTHERS))
            raise ParseError(f"role: the role is one of {roles}, not {item.get('role')!r}")
        return None
    content = item.get("content")
    parts = GIVEN.read_all(content)
    return Message(role, parts, extra=rest(item, _MESSAGE, OWNER))


def _read_image(item: JsonObject) -> MediaPart:
    detail = None if item.get("detail") == _DETAIL else item.get("detail")
    address = item.get("image_url")
    part = from_url(address, "image") if isinstance(address, str) else MediaPart("image", owner=PROVIDER)
    _put_id(part, item)
    part.detail, part.extra = detail, rest(item, _IMAGE, OWNER)
    return part


def _read_file(item: JsonObject) -> MediaPart:
    data, name = item.get("file_data"), item.get("filename")
    part = file_of(data, name) if isinstance(data, str) else MediaPart("document", name=name, owner=PROVIDER)
    part.url = part.url or item.get("file_url")
    _put_id(part, item)
    part.extra = rest(item, _FILE, OWNER)
    return part


def _put_id(part: MediaPart, item: JsonObject) -> None:
    """Set the id of a stored file, which may come beside its data or URL."""
    if isinstance(item.get("file_id"), str):
        part.file_id, part.owner = item["file_id"], PROVIDER


def annotates(item: JsonObject) -> bool:
    """Whether a citation is in the form of Responses."""
    return isinstance(item.get(_ANNOTATIONS.get(word(item, "type"), "")), str)


_ANNOTATIONS: Final[Mapping[str, str]] = {
    "url_citation": "url",
    "file_citation": "file_id",
    "container_file_citation": "file_id",
    "file_path": "file_id",
}
"""The kinds of citations, each with its required key."""


def _write_media(part: MediaPart) -> JsonObject | None:
    known = part.file_id if part.owner == PROVIDER else None
    url = to_url(part)
    if (url is None and known is None) or part.kind not in ("image", "document"):
        return None
    if part.kind == "image":
        item = {"type": "input_image"} | ({"image_url": url} if url else {"file_id": known})
        return {**item, "detail": part.detail or _DETAIL, **own(part.extra, OWNER)}
    item = {"type": "input_file", **({"filename": part.name} if part.name else {}), **own(part.extra, OWNER)}
    if part.data is not None:
        return {**item, "file_data": url, "filename": file_name(part)}
    return item | ({"file_url": url} if url else {"file_id": known})


_TEXT: Final = frozenset({"type", "text", "annotations"})
_IMAGE: Final = frozenset({"type", "image_url", "file_id", "detail"})
_FILE: Final = frozenset({"type", "file_data", "file_id", "file_url", "filename"})
_MEDIA: Final = (
    PartRow("input_image", MediaPart, read=_read_image, write=_write_media),
    PartRow("input_file", MediaPart, read=_read_file),
)
_REFUSAL: Final = PartRow("refusal", RefusalPart, text("refusal"))


def _write_said(part: TextPart) -> JsonObject:
    found = cited(part, flat, annotates)
    return {"type": "output_text", "text": part.text, "annotations": found, **own(part.extra, OWNER)}


_CITED: Final = citations("annotations", flat, annotates)._replace(write=None)
_GIVEN: Final = tuple(PartRow(kind, TextPart, text("text"), _CITED) for kind in ("input_text", "output_text", "text"))
_SAID: Final = PartRow("output_text", TextPart, write=_write_said)
GIVEN: Final = PartTable(OWNER, (*_GIVEN, _REFUSAL, *_MEDIA), strings=True)
"""The blocks given to the model, and all that are read."""
SAID: Final = PartTable(OWNER, (_SAID, _REFUSAL, *_MEDIA))
"""The model's blocks, as written."""


def thoughts(item: JsonObject) -> Iterator[str]:
    """Yield the texts of a reasoning item: each part of its summary and content is a paragraph."""
    for key in ("summary", "content"):
        for at, chunk in enumerate(item.get(key) or ()):
            yield PARAGRAPH * bool(at) + chunk.get("text", "")


def _reasoning(item: JsonObject) -> Message:
    chunks = [*(item.get("summary") or ()), *(item.get("content") or ())]
    extra = rest(item, _REASONING, OWNER)
    for chunk in chunks:
        extra |= inside(chunk, {"type", "text"}, OWNER, "content")
    if len(chunks) > 1 or item.get("content"):
        extra |= {f"{OWNER}.{key}": item[key] for key in ("summary", "content") if key in item}
    part = ReasoningPart("".join(thoughts(item)), encrypted=item.get("encrypted_content"), owner=PROVIDER, extra=extra)
    return Message("assistant", (part,))


def _read_input(item: JsonObject, part: CallPart) -> bool:
    part.custom, part.text = True, text_at(item, "input") or ""
    return True


def _write_input(part: CallPart, item: JsonObject) -> None:
    item["input"] = part.json


def _read_output(item: JsonObject, part: ResultPart) -> bool:
    output = item.get("output")
    plain = output is None or isinstance(output, str) or is_array(output)
    part.content = GIVEN.read_content(output) if plain else (JsonPart(output),)
    part.custom = item.get("type") == "custom_tool_call_output"
    return True


def _write_output(part: ResultPart, item: JsonObject) -> None:
    contents = (TextPart(jsontext.dumps(one.value)) if isinstance(one, JsonPart) else one for one in part.content)
    item["output"] = GIVEN.write_all(tuple(contents))


_ID: Final = option("call_id", "id")
_CALLED: Final = (_ID, text("name", "name", default=""))
_SPACE: Final = option("namespace", "namespace")
_INPUT: Final = PartField(("input",), _read_input, _write_input)
_OUTPUT: Final = PartField(("output",), _read_output, _write_output)
CALLS: Final = PartTable(
    OWNER,
    (
        PartRow("custom_tool_call", CallPart, *_CALLED, _INPUT, _SPACE, when=lambda part: part.custom),
        PartRow("function_call", CallPart, *_CALLED, arguments("arguments", "text"), _SPACE),
        PartRow("custom_tool_call_output", ResultPart, _ID, _OUTPUT, when=lambda part: part.custom),
        PartRow("function_call_output", ResultPart, _ID, _OUTPUT),
    ),
)
"""Calls of functions and of free-text tools, and their outputs."""


def _called(item: JsonObject) -> Message:
    part = CALLS.read(item)
    return Message("tool" if isinstance(part, ResultPart) else "assistant", (part,))


_READERS: Final[dict[object, Callable[[JsonObject], Message | None]]] = {
    "message": _message,
    "reasoning": _reasoning,
    **dict.fromkeys(("function_call", "custom_tool_call", "function_call_output", "custom_tool_call_output"), _called),
}


def write_items(messages: Iterable[Message]) -> list[JsonValue]:
    """Write messages as items, in the order of their parts; parts without a place are left out."""
    items: list[JsonValue] = []
    custom: set[str | None] = set()
    for message in messages:
        if message.origin == OWNER:
            items.append(message.source)
            continue
        spoken: list[Part] = []
        for part in message.parts:
            if isinstance(part, (TextPart, MediaPart, RefusalPart, JsonPart)):
                spoken.append(part)
                continue
            item = _alone(part, custom)
            if item is not None:
                _say(message, spoken, items)
                items.append(item)
        _say(message, spoken, items)
    return items


def _say(message: Message, spoken: list[Part], items: list[JsonValue]) -> None:
    if not spoken:
        return
    content = (SAID if message.role == "assistant" else GIVEN).write_list(spoken)
    spoken.clear()
    if content:
        item: JsonObject = {"type": "message", "role": message.role, "content": content, **own(message.extra, OWNER)}
        items.append(_output_message(item, len(items)) if message.role == "assistant" else item)


def _output_message(item: JsonObject, number: int) -> JsonObject:
    """Write an answer as plain text; with more data it has an id and a status, as from the API."""
    content = item["content"]
    only: JsonObject = content[0] if len(content) == 1 and item.keys().isdisjoint(_ANSWERED) else {}
    if only.get("text") and only.keys() <= _TEXT and not only["annotations"]:
        return {**item, "content": only["text"]}
    mark = sha256(f"{number} {jsontext.dumps(content)}".encode("utf-8", "surrogatepass")).hexdigest()
    return {"id": f"msg_{mark[:24]}", "status": "completed", **item}


def _alone(part: Part, custom: set[str | None]) -> JsonObject | None:
    match part:
        case ReasoningPart():
            return _write_reasoning(part)
        case CallPart() | ResultPart() if f"{OWNER}.type" in part.extra:
            return _write_client(part)
        case CallPart() | ResultPart():
            if isinstance(part, CallPart) and part.custom:
                custom.add(part.id)
            item = CALLS.write(part)
            later = isinstance(part, ResultPart) and part.id in custom
            return {**item, "type": "custom_tool_call_output"} if later else item
        case OpaquePart():
            return part.value if part.owner == OWNER else None
        case _:
            return None


def _write_client(part: CallPart | ResultPart) -> JsonObject:
    item = own(part.extra, OWNER)
    if isinstance(part, CallPart):
        arguments = argument_object(part)
        item |= arguments if arguments.keys() == {"actions"} else {CLIENT[item["type"]][1]: arguments}
    return item if item["type"] in _BY_ITEM else {**item, "call_id": part.id}


def _write_reasoning(part: ReasoningPart) -> JsonObject | None:
    if part.owner != PROVIDER:
        return None
    summary: list[JsonValue] = [{"type": "summary_text", "text": part.text}] if part.text else []
    item: JsonObject = {"type": "reasoning", "summary": summary, **own(part.extra, OWNER)}
    return item if part.encrypted is None else {**item, "encrypted_content": part.encrypted}
