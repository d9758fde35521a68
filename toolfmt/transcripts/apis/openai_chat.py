r"""OpenAI Chat Completions: a request, or the messages alone.

{"model": "gpt-5.1", "messages": [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Weather in Paris?"},
    {"role": "assistant", "content": null, "tool_calls": [
        {"id": "call_A1", "type": "function", "function":
            {"name": "get_weather", "arguments": "{\"city\":\"Paris\"}"}}]},
    {"role": "tool", "tool_call_id": "call_A1", "content": "18C"}],
 "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}],
 "tool_choice": "auto", "parallel_tool_calls": true}

Answers and chunks, of OpenAI and of all who copy it:
{"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": null}]}
{"choices": [{"message": {"role": "assistant", "tool_calls": [
    {"id": "call_A1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
    "finish_reason": "tool_calls"}]}

An `index` distinguishes calls, so theirs may be interleaved. Reasoning is `reasoning_content`, as most servers of open
models write it. The last chunk has the usage and no choices. A message cannot express what was between calls: text and
calls each keep only their own order.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

from toolfmt.conversation import ReasoningPart
from toolfmt.dialect.record import Provenance
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.schema.rules import ANY, OPENAI, OPENAI_STRICT
from toolfmt.transcripts.answering.answer_api import AnswerApi, StepShape, only
from toolfmt.transcripts.answering.answer_info import AnswerEnding, AnswerHead, TokenCounting, endings
from toolfmt.transcripts.answering.assembling import Assembler
from toolfmt.transcripts.answering.failures import WRITERS
from toolfmt.transcripts.answering.known_fields import ERROR, by_type, fields
from toolfmt.transcripts.answering.stream_blocks import Blocks, StreamBlock, citing
from toolfmt.transcripts.families.chat import MODELS, ChatShape
from toolfmt.transcripts.families.chat_request import messages_in, read_request, write_request
from toolfmt.transcripts.families.chat_thoughts import PLAIN, SIGNED, read_thoughts
from toolfmt.transcripts.format import ANY_TEXT, ANYTHING, NAMES, Rules, Spelling, TranscriptFormat
from toolfmt.transcripts.parts.citations import nested
from toolfmt.transcripts.parts.endings import UNFINISHED
from toolfmt.transcripts.parts.values import inner, object_at, objects_at
from toolfmt.transcripts.tables.request import objects_in

NAME: Final = "openai-chat"
SHAPE: Final = ChatShape(
    owner=NAME,
    provider="openai",
    reasoning="reasoning_content",
    signed_by="anthropic",
    gateways=True,
    annotations="annotations",
    searches=True,
)
_STRICT: Final = replace(SHAPE, reasoning="", gateways=False)
"""The fields that OpenAI accepts; gateways and copies of the API accept more, which is always read."""


_ANSWERED: Final = ("annotations", "audio", "refusal")
"""Keys that only answers have."""


def recognise(value: JsonValue) -> bool:
    """Recognise a request by calls, a result's `tool_call_id`, keys of answers, or the shape of its tools.

    Tools as JSON text are those of a data set's row.
    """
    if is_object(value) and isinstance(value.get("tools"), str):
        return False
    for item in messages_in(value):
        if "tool_call_id" in item or "tool_calls" in item or item.get("role") == "developer":
            return True
        if item["role"] == "assistant" and any(item.get(key) for key in _ANSWERED):
            return True
    tools = objects_in(value, "tools") if is_object(value) else ()
    return any("function" in tool for tool in tools) and bool(messages_in(value))


_RULES: Final = Rules(
    call_id=Spelling(length=40),
    tool_name=NAMES,
    user_kinds=frozenset({"text", "image", "audio", "document"}),
    url_kinds=frozenset({"image"}),
    other_kinds=False,
    neighbours="answers",
    interleaved=False,
    empty_messages=False,
    silent=frozenset({"system", "developer", "user"}),
    custom_tools=True,
    empty_tools=False,
    schema=OPENAI,
    strict_schema=OPENAI_STRICT,
)

_GATEWAY: Final = TranscriptFormat(
    name=NAME,
    summary="OpenAI Chat Completions: messages with tool_calls, arguments as JSON text.",
    read=partial(read_request, shape=SHAPE),
    rereads=True,
    write=partial(write_request, shape=SHAPE),
    recognise=recognise,
    common=3,
    rules=_RULES,
    models=MODELS,
    copies=replace(
        _RULES,
        call_id=ANY_TEXT,
        user_kinds=ANYTHING,
        assistant_kinds=ANYTHING,
        url_kinds=ANYTHING,
        empty_tools=True,
        schema=ANY,
        strict_schema=None,
    ),  # each has its own limits
    aliases=("openai", "openai_chat", "chat-completions"),
    sources=(
        Provenance("openai-python, openai.types.chat", "source", "3.52.0", "Apache-2.0"),
        Provenance("OpenAI API reference, Chat Completions", "documentation"),
    ),
)
FORMAT: Final = replace(
    _GATEWAY, write=partial(write_request, shape=_STRICT), rules=replace(_RULES, reasoning=False), gateway=_GATEWAY
)


_COUNT: Final = TokenCounting(
    {
        "input": "prompt_tokens",
        "output": "completion_tokens",
        "total": "total_tokens",
        "cached": "prompt_tokens_details.cached_tokens",
        "cache_written": "prompt_tokens_details.cache_write_tokens",
        "reasoning": "completion_tokens_details.reasoning_tokens",
    }
)
_STOPS: Final = endings("stop", tool_calls="tool_calls", length="length", content_filter="content_filter")
_PROBABLE: Final = fields("", content=(_TOKEN := fields("token logprob bytes top_logprobs")), refusal=_TOKEN)
_CHOICE: Final = fields("index message finish_reason", logprobs=_PROBABLE)
_KNOWN: Final = fields("id object created model", choices=_CHOICE, usage=_COUNT.known)

_THOUGHTS: Final = frozenset((*SIGNED, *PLAIN))
_BESIDE: Final = ("audio", "images")
"""Keys of a message that no event reports."""
_SIGNED_CALL: Final = fields("", google=fields("thought_signature"))
_CALL: Final = fields(
    "index id type", function=fields("name arguments"), custom=fields("name input"), extra_content=_SIGNED_CALL
)
_MESSAGE: Final = {
    **dict.fromkeys(_THOUGHTS),
    SIGNED[0]: by_type(thinking=fields("thinking signature"), redacted_thinking=fields("data")),
    SIGNED[1]: fields("type text summary data signature format index"),
    **fields("role name refusal annotations", function_call=fields("name arguments"), tool_calls=_CALL),
    **fields(
        " ".join(_BESIDE), content=by_type(text=fields("text"), thinking=fields("", thinking=fields("type text")))
    ),
}
_READ: Final = {
    **_KNOWN,
    "choices": {**_CHOICE, "delta": _MESSAGE, "message": _MESSAGE, "error": ERROR},
    "error": ERROR,
}


def _read(value: JsonObject, made: Assembler) -> None:
    if not made.info.id:
        made.about(value.get("id"), value.get("model"), value.get("created"))
    if value.get("usage"):
        made.tokens(value["usage"], _COUNT.read)
    if value.get("error"):
        made.fail(value)
    for at, choice in enumerate(objects_at(value, "choices")):
        # Copies of the API leave out the index, or give all whole answers the same.
        number = at if choice.get("index") is None or "message" in choice else choice["index"]
        if number:
            made.note("choice", str(number))  # an alternative answer
        else:
            _choice(choice, made)


def _choice(choice: JsonObject, made: Assembler) -> None:
    fields = choice.get("delta") or object_at(choice, "message")
    if not _THOUGHTS.isdisjoint(fields):
        _thoughts(fields, made)
    for tokens in inner(choice, "logprobs").values():
        made.logprobs(tokens)
    _content(fields, made)
    made.refusal(fields.get("refusal"))
    for citation in objects_in(fields, "annotations"):
        made.cite(citation)
    for key in _BESIDE:
        if fields.get(key):
            made.note("provider_part", key)
    if fields.get("tool_calls") or fields.get("function_call"):
        _calls(fields, made)
    if choice.get("error"):
        made.fail(choice)
    made.ended(reason := choice.get("finish_reason") or (choice.get("message") is not None and "stop"))
    if reason:
        made.finish(cut=made.info.stop in UNFINISHED)


def _thoughts(fields: JsonObject, made: Assembler) -> None:
    thoughts, keys = read_thoughts(fields, SHAPE)
    for thought in thoughts:
        if isinstance(thought, ReasoningPart):
            made.reasoning(thought.text)
            made.prove(thought.owner, thought.signature, thought.encrypted)
    for key in _THOUGHTS.intersection(fields) - keys:
        if fields[key] and not isinstance(fields[key], str):
            made.note("provider_part", key)


def _content(fields: JsonObject, made: Assembler) -> None:
    """Read a message's content: text, or, as Mistral has it, a list of parts that may include thinking."""
    if not is_array(content := fields.get("content")):
        made.text(content)
        return
    for part in objects_at(fields, "content"):
        match part.get("type"):
            case "text":
                made.text(part.get("text"))
            case "thinking":
                for thought in objects_at(part, "thinking"):
                    made.reasoning(thought.get("text"))
            case other:
                made.note("provider_part", str(other))


def _calls(fields: JsonObject, made: Assembler) -> None:
    for at, call in enumerate(objects_at(fields, "tool_calls")):
        key = at if call.get("index") is None else call["index"]
        custom = call.get("type") == "custom" or not is_object(call.get("function"))
        body = object_at(call, "custom" if custom else "function")
        signed = "google", inner(inner(call, "extra_content"), "google").get("thought_signature")
        if body.get("name") or call.get("id"):
            made.call(key, body.get("name"), call.get("id"), form="text" if custom and body else "json", signed=signed)
        made.arguments(key, body.get("arguments", body.get("input")))
    only = object_at(fields, "function_call")  # the older form with a single call
    if only.get("name"):
        made.call("function_call", only["name"], None)
    made.arguments("function_call", only.get("arguments"))


def completion(choices: list[list[JsonObject]], head: AnswerHead, reason: str) -> JsonObject:
    """Write an answer without its usage."""
    made: list[JsonObject] = []
    for at, messages in enumerate(choices):
        message = {"role": "assistant", "content": None, **only(messages)}
        made.append({"index": at, "message": message, "finish_reason": reason})
    return {**chunk(head, made), "object": "chat.completion"}


def _close(choices: list[list[JsonObject]], ending: AnswerEnding) -> JsonObject:
    made = completion(choices, ending.head, _STOPS[ending.stop])
    for choice in made["choices"]:
        message = choice["message"]
        message.setdefault("refusal", None)
        parts = message["content"]
        if is_array(parts):  # an answer's content is text, unlike a request's
            message["content"] = "".join(part["text"] for part in parts if isinstance(part.get("text"), str)) or None
        choice["logprobs"] = None
    if made["choices"] and (tokens := ending.info.logprobs):
        made["choices"][0]["logprobs"] = {"content": tokens, "refusal": None}
    return made | ending.counted("usage", _COUNT)


def chunk(head: AnswerHead, choices: list[JsonObject]) -> JsonObject:
    """Write a chunk of choices."""
    about: JsonObject = {"id": head.id, "object": "chat.completion.chunk", "created": head.created}
    return {**about, "model": head.model, "choices": choices}


def delta(head: AnswerHead, fields: JsonObject, reason: str | None = None) -> list[JsonObject]:
    """Write a chunk of one choice."""
    return [chunk(head, [{"index": 0, "delta": fields, "finish_reason": reason}])]


def _text_delta(block: StreamBlock, text: str) -> list[JsonObject]:
    key = "content" if block.kind == "text" else "refusal"
    choice: JsonObject = {"index": 0, "delta": {key: text}, "finish_reason": None}
    return [chunk(block.head, [choice | ({"logprobs": {key: block.fresh}} if block.fresh else {})])]


def call_delta(block: StreamBlock, **fields: JsonValue) -> list[JsonObject]:
    """Write a chunk of a call."""
    signed = {"google": {"thought_signature": block.signature}}
    beside: JsonObject = {"extra_content": signed} if block.signature and "type" in fields else {}
    return delta(block.head, {"tool_calls": [{"index": block.number, **fields, **beside}]})


def _thought_delta(block: StreamBlock, thought: JsonObject) -> list[JsonObject]:
    return delta(block.head, {SIGNED[0]: [thought]})


def _finish(ending: AnswerEnding, _: object) -> list[JsonObject]:
    counted = ending.counted("usage", _COUNT)
    last = [chunk(ending.head, []) | counted] if counted else []
    return [*delta(ending.head, {}, _STOPS[ending.stop]), *last]


API: Final = AnswerApi(
    name=NAME,
    done=True,
    shapes=(StepShape(lambda value: is_array(value.get("choices")), _read, _READ),),
    open=lambda value: [
        {"messages": [{"role": "assistant", **inner(choice, "message")}]} for choice in objects_in(value, "choices")
    ],
    close=_close,
    known=_KNOWN,
    choices="choices",
    weights="/choices/0/logprobs",
    several=True,
    stream=Blocks(
        owner="anthropic",
        signs="google",
        logprobs=True,
        interleaved=True,
        begin=lambda head, _: delta(head, {"role": "assistant", "content": ""}),
        start={
            "call": lambda block: call_delta(
                block, id=block.id, type="function", function={"name": block.name, "arguments": ""}
            ),
            "hidden": lambda block: _thought_delta(block, {"type": "redacted_thinking", "data": block.encrypted}),
        },
        delta={
            "text": _text_delta,
            "refusal": _text_delta,
            "reasoning": lambda block, text: delta(block.head, {"reasoning_content": text}),
            "call": lambda block, text: call_delta(block, function={"arguments": text}),
            "custom": lambda block, text: call_delta(
                block, id=block.id, type="custom", custom={"name": block.name, "input": text}
            ),
        },
        cite=citing(
            nested,
            lambda item: "url_citation" in item,
            lambda block, made: delta(block.head, {"annotations": [made]}),
            of_message=True,
        ),
        # As in LiteLLM's streams: the signature follows its thought.
        prove=lambda block, proof: _thought_delta(
            block, {"type": "thinking", "thinking": "", "signature": proof.signature}
        ),
        finish=_finish,
        fail=lambda _, failure, __: [WRITERS[NAME](failure)],
    ),
)
