"""Finds the form in which a template takes the content of messages, by rendering a small conversation in each form.

    needs("...{{ call.arguments | tojson }}...").arguments    # "object"
    needs("...{{ '(' + call.arguments + ')' }}...").arguments     # "text"

Templates differ: some write arguments with `tojson` and need an object, some append them to a text; some fail for a
message without `content`, some read it only as a list of parts, some only as text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from toolfmt.errors import TemplateError
from toolfmt.workshop.chat_templates.sandbox import SMALL, STILL, render

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue

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
_SAID: Final = "probe-question"
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
    said: list[JsonObject] = [{"type": "text", "text": _SAID}]
    return Needs(
        arguments=arguments,
        no_content=no_content,
        text=frozenset(role for role, messages in _ROLES.items() if _shows(source, messages(_SAID)) is not False),
        parts=frozenset(role for role, messages in _ROLES.items() if _shows(source, messages(said))),
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
    return None if text is None else _SAID in text and f"'{_SAID}'" not in text


def _rendered(source: str, messages: list[JsonValue]) -> str | None:
    variables: JsonObject = {"messages": messages, "tools": [_TOOL], "add_generation_prompt": False}
    try:
        return render(source, {**NO_TOKENS, **variables}, now=STILL, limits=SMALL)
    except TemplateError:
        return None
