"""Finds the form in which a template takes the content of messages, by rendering a small conversation in each form.

    needs("...{{ call.arguments | tojson }}...").arguments    # "object"
    needs("...{{ '(' + call.arguments + ')' }}...").arguments     # "text"

Templates differ: some write arguments with `tojson` and need an object, some append them to a text; some fail for a
message without `content`, some read it only as a list of parts, some only as text.

`fitted` writes messages in that form. They are those of the `hf-chat` format, with the ids of calls: transformers
passes messages unchanged, and some templates write the ids.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import product
from typing import Final, Literal, TypeAlias

from toolfmt import jsontext
from toolfmt.errors import ParseError, TemplateError
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.comparing.loss import Loss
from toolfmt.transcripts.datasets import hf_chat
from toolfmt.transcripts.families.chat_request import read_request, write_request
from toolfmt.workshop.chat_templates.sandbox import SMALL, STILL, render

ArgumentsNeed: TypeAlias = Literal["object", "text"]
NoContent: TypeAlias = Literal["absent", "empty", "null"]

NO_CONTENT: Final[Mapping[NoContent, JsonObject]] = {"absent": {}, "empty": {"content": ""}, "null": {"content": None}}
"""The content of a message that has calls and no text."""
NO_TOKENS: Final[JsonObject] = dict.fromkeys(("bos_token", "eos_token", "pad_token", "unk_token"), "")
"""The tokens that templates use, where their text does not matter."""
_FORMS: Final[tuple[ArgumentsNeed, ...]] = ("object", "text")
_KEY: Final = "probe_key"
_VALUE: Final = "probe-value"
_MISTAKEN: Final = re.compile(rf"""\{{(?:'|\\+"){_KEY}""")
_TEXT: Final = "probe-question"
_ID: Final = "probe0001"
_TOOL: Final[JsonObject] = {
    "type": "function",
    "function": {
        "name": "probe_tool",
        "description": "A tool.",
        "parameters": {
            "type": "object",
            "properties": {_KEY: {"type": "string", "description": "A value."}},
            "required": [_KEY],
        },
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """The forms that a template takes."""

    arguments: ArgumentsNeed = "object"
    """Whether a call's arguments are an object, or its JSON text."""
    no_content: NoContent = "absent"
    """The `content` of a message that has calls and no text."""
    text: frozenset[str] = frozenset()
    """The roles whose content may be a text."""
    parts: frozenset[str] = frozenset()
    """The roles whose content may be a list of parts."""


@lru_cache(maxsize=64)
def needs(source: str) -> Needs:
    """Find the forms that a template takes.

    If no form makes it write a call, it is the first one that does not fail, else the usual one.
    """
    tried = list(_calls(source))
    arguments, no_content, _ = max(tried, key=lambda one: one[2], default=("object", "absent", 0))
    parts: list[JsonObject] = [{"type": "text", "text": _TEXT}]
    return Needs(
        arguments=arguments,
        no_content=no_content,
        text=frozenset(role for role, messages in _ROLES.items() if _shows(source, messages(_TEXT)) is not False),
        parts=frozenset(role for role, messages in _ROLES.items() if _shows(source, messages(parts))),
    )


def _calls(source: str) -> Iterator[tuple[ArgumentsNeed, NoContent, int]]:
    """Yield the forms of arguments and content that do not fail, with a rank of how the call is written."""
    for none, form in product(NO_CONTENT, _FORMS):
        text = _rendered(source, _conversation(form, none))
        if text is None:
            continue
        # As Python writes an object, or as JSON inside JSON: it was taken for the other.
        yield form, none, 0 if _VALUE not in text else 1 if _MISTAKEN.search(text) else 2


def _conversation(form: ArgumentsNeed, none: NoContent) -> list[JsonValue]:
    arguments: JsonValue = {_KEY: _VALUE} if form == "object" else f'{{"{_KEY}": "{_VALUE}"}}'
    call: JsonObject = {"id": _ID, "type": "function", "function": {"name": "probe_tool", "arguments": arguments}}
    answer: JsonObject = {"role": "assistant", **NO_CONTENT[none], "tool_calls": [call]}
    return [_QUESTION, answer, {**_RESULT, "content": "probe-result"}]


_RESULT: Final[JsonObject] = {"role": "tool", "name": "probe_tool", "tool_call_id": _ID}
_QUESTION: Final[JsonObject] = {"role": "user", "content": "probe-first"}
_ROLES: Final[Mapping[str, Callable[[JsonValue], list[JsonValue]]]] = {
    "system": lambda content: [{"role": "system", "content": content}, _QUESTION],
    "user": lambda content: [{"role": "user", "content": content}],
    "assistant": lambda content: [_QUESTION, {"role": "assistant", "content": content}],
    "tool": lambda content: [*_conversation("object", "empty")[:2], {**_RESULT, "content": content}],
}
"""Conversations with a message of each role."""


def _shows(source: str, messages: list[JsonValue]) -> bool | None:
    """Whether the content is written as text; None if the template fails."""
    text = _rendered(source, messages)
    return None if text is None else _TEXT in text and f"'{_TEXT}'" not in text


def _rendered(source: str, messages: list[JsonValue]) -> str | None:
    variables: JsonObject = {"messages": messages, "tools": [_TOOL], "add_generation_prompt": False}
    try:
        return render(source, {**NO_TOKENS, **variables}, now=STILL, limits=SMALL)
    except TemplateError:
        return None


_SHAPE: Final = replace(hf_chat.SHAPE, call_ids=True)
FORMAT: Final = replace(
    hf_chat.FORMAT,
    read=partial(read_request, shape=_SHAPE),
    write=partial(write_request, shape=_SHAPE),
    rules=replace(hf_chat.FORMAT.rules, call_ids="optional"),
)
"""The conversation as transformers hands it to a template."""

_REASONING: Final = ("reasoning_content", "thinking", "reasoning")
"""The keys under which reasoning is passed; templates read the first, gpt-oss's the second."""


def fitted(messages: Iterable[JsonObject], needs: Needs) -> tuple[list[JsonValue], list[Loss]]:
    """Write messages as the template needs them, and return what has no place there."""
    lost: list[Loss] = []
    written: list[JsonValue] = []
    for at, message in enumerate(messages):
        made = {key: value for key, value in message.items() if value is not None}
        if is_array(made.get("tool_calls")):
            made["tool_calls"] = [_call(call, needs) for call in made["tool_calls"]]
            made = {**NO_CONTENT[needs.no_content], **made}
        if "content" in made:
            made["content"], missed = _content(made["content"], str(made.get("role")), needs, f"/messages/{at}")
            lost.extend(missed)
        thoughts = next((made[key] for key in _REASONING if key in made), None)
        if thoughts is not None:
            made = {"thinking": thoughts, **made, "reasoning_content": thoughts}
        written.append(made)
    return written, lost


def _call(call: JsonValue, needs: Needs) -> JsonValue:
    function = call.get("function") if is_object(call) else None
    if not is_object(call) or not is_object(function) or "arguments" not in function:
        return call
    return {**call, "function": {**function, "arguments": _arguments(function["arguments"], needs)}}


def _arguments(value: JsonValue, needs: Needs) -> JsonValue:
    """Return arguments in the template's form; text that is not a JSON object stays what it is."""
    if needs.arguments == "text":
        return value if isinstance(value, str) else jsontext.dumps(value)
    if not isinstance(value, str):
        return value
    try:
        found: JsonValue = jsontext.loads(value or "{}")
    except ParseError:
        return value
    return found if is_object(found) else value


def _content(content: JsonValue, role: str, needs: Needs, path: str) -> tuple[JsonValue, Iterator[Loss]]:
    parts = role in needs.parts
    if isinstance(content, str) and parts and role not in needs.text:
        return [{"type": "text", "text": content}], iter(())
    if not is_array(content) or parts:
        return content, iter(())
    texts = [part["text"] for part in content if is_object(part) and isinstance(part.get("text"), str)]
    return "\n".join(texts), _lost_parts(content, len(texts), path)


def _lost_parts(content: list[JsonValue], texts: int, path: str) -> Iterator[Loss]:
    if texts > 1:
        yield Loss("boundary", path, "merged", f"{texts} texts: the template takes one")
    if texts < len(content):
        yield Loss("media", path, "dropped", f"{len(content) - texts} parts that are no text: the template takes text")
