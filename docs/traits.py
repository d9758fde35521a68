"""Conversations with one trait each, beside the plain one: what a format may hold and another not."""  # noqa: INP001 - beside the script

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias, TypedDict, Unpack

from toolfmt.conversation import (
    CallPart,
    JsonPart,
    MediaPart,
    Message,
    Part,
    ReasoningPart,
    RefusalPart,
    ResultPart,
    Role,
    TextPart,
    ToolChoice,
    ToolDeclaration,
    Transcript,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from toolfmt.transcripts.comparing.loss import Loss

Lost: TypeAlias = tuple[tuple[str, str], ...]
"""Codes of losses and what was done, each once; empty for what arrives."""
_PNG: Final = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
_CITY: Final = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
_TOOL: Final = ToolDeclaration("get_weather", "Get the weather", _CITY)


@dataclass(frozen=True, slots=True)
class Trait:
    """Something that a conversation may have, and the codes of the losses that tell it is gone."""

    conversation: Transcript
    codes: frozenset[str]

    def lost(self, found: Iterable[Loss]) -> Lost:
        """Choose the losses that tell it is gone; what is added, such as an id, takes nothing away."""
        every = {(loss.code, loss.action) for loss in found if loss.action != "added"}
        return tuple(sorted(one for one in every if one[0] in self.codes))


class _Request(TypedDict, total=False):
    tools: tuple[ToolDeclaration, ...]
    tool_choice: ToolChoice
    parallel: bool


def _said(role: Role, *parts: Part | str, name: str | None = None) -> Message:
    return Message(role, tuple(TextPart(part) if isinstance(part, str) else part for part in parts), name)


def _asked(*messages: Message, **request: Unpack[_Request]) -> Transcript:
    return Transcript((_said("user", "Weather in Paris?"), *messages), **request)


def _called(
    *parts: Part | str, before: str = "Weather?", given: Part | str = "18C", is_error: bool = False
) -> Transcript:
    """Ask, call and answer; every call has a result."""
    content = TextPart(given) if isinstance(given, str) else given
    assert isinstance(content, TextPart | JsonPart | MediaPart)  # noqa: S101 - what a result is made of
    calls = [part for part in parts if isinstance(part, CallPart)]
    results = (_said("tool", ResultPart((content,), call.id, call.name, is_error, call.custom)) for call in calls)
    return Transcript((_said("user", before), _said("assistant", *parts), *results, _said("assistant", "18C.")))


def _call(
    ident: str = "call_1", name: str = "get_weather", text: str = '{"city":"Paris"}', **more: Unpack[_More]
) -> CallPart:
    return CallPart(name, text=text, id=ident, **more)


class _More(TypedDict, total=False):
    custom: bool
    namespace: str
    signature: str
    owner: str


def _image(address: str = "") -> MediaPart:
    return MediaPart("image", "" if address else "image/png", None if address else _PNG, address or None)


def _trait(conversation: Transcript, *codes: str) -> Trait:
    return Trait(conversation, frozenset(codes))


_PLAIN: Final = _called(_call())
_STRICT: Final = ToolDeclaration(
    "get_weather", "Get the weather", {**_CITY, "additionalProperties": False}, strict=True
)
_MUST: Final = ToolChoice("required", ("get_weather",))
_PDF: Final = MediaPart("document", "application/pdf", "JVBERi0xLjQK")
_SIGNED: Final = ReasoningPart("One call.", "c2lnbg==", owner="anthropic")
_ENCRYPTED: Final = ReasoningPart("", encrypted="c2VjcmV0", owner="openai")

TRAITS: Final = {
    "a call and its result": _trait(_PLAIN, "call", "arguments", "result", "result_content", "text"),
    "the id of a call": _trait(_PLAIN, "call_id"),
    "any characters in an id": _trait(_called(_call("call|1:x")), "call_id"),
    "dots in a name": _trait(_called(_call(name="weather.get")), "tool_name"),
    "a name of 100 characters": _trait(_called(_call(name="weather_of" * 10)), "tool_name"),
    "a namespace": _trait(_called(_call(namespace="weather")), "namespace"),
    "broken argument text": _trait(_called(_call(text='{"city": ')), "arguments"),
    "white space of arguments": _trait(_called(_call(text='{ "city" : "Paris" }')), "argument_text"),
    "big numbers": _trait(_called(_call(text='{"n":123456789012345678901234567890}')), "arguments"),
    "a call of free text": _trait(_called(_call(text="*** Begin Patch", custom=True)), "call_kind", "argument_text"),
    "parallel calls": _trait(_called(_call("call_1"), _call("call_2")), "call"),
    "a call without a result": _trait(_asked(_said("assistant", _call())), "call"),
    "text before a call": _trait(_called("Checking.", _call()), "text"),
    "text after a call": _trait(_called(_call(), "Checking."), "text", "order"),
    "that a result is an error": _trait(_called(_call(), is_error=True), "result", "error_flag"),
    "a result of JSON": _trait(
        _called(_call(), given=JsonPart({"degrees": 18})), "result", "result_content", "boundary"
    ),
    "an image in a result": _trait(_called(_call(), given=_image()), "result", "result_content", "order"),
    "reasoning": _trait(_called(ReasoningPart("One call."), _call()), "reasoning"),
    "reasoning signed by Anthropic": _trait(_called(_SIGNED, _call()), "reasoning", "signature"),
    "reasoning encrypted by OpenAI": _trait(_called(_ENCRYPTED, _call()), "reasoning", "signature"),
    "a call signed by Google": _trait(_called(_call(signature="c2lnbg==", owner="google")), "signature"),
    "instructions": _trait(Transcript((_said("system", "Be brief."), *_asked().messages)), "text", "role"),
    "instructions in the middle": _trait(
        _asked(_said("assistant", "18C."), _said("system", "Be rude."), _said("user", "And Rome?")),
        "text",
        "role",
        "order",
    ),
    "two messages of one role": _trait(_asked(_said("user", "And Rome?")), "text", "boundary"),
    "names of speakers": _trait(Transcript((_said("user", "Weather in Paris?", name="ann"),)), "speaker"),
    "an image": _trait(Transcript((_said("user", "What is it?", _image()),)), "media"),
    "an image by its address": _trait(
        Transcript((_said("user", "What is it?", _image("https://example.com/a.png")),)), "media"
    ),
    "a document": _trait(Transcript((_said("user", "Sum up.", _PDF),)), "media"),
    "a refusal": _trait(_asked(_said("assistant", RefusalPart("I can't help with that."))), "refusal"),
    "declared tools": _trait(_asked(tools=(_TOOL,)), "tools", "tool", "schema"),
    "a strict tool": _trait(_asked(tools=(_STRICT,)), "tools", "tool", "schema", "strict"),
    "a tool that must be called": _trait(_asked(tools=(_TOOL,), tool_choice=_MUST), "tools", "tool_choice"),
    "one call at a time": _trait(_asked(tools=(_TOOL,), parallel=False), "tools", "parallel"),
}
"""What a conversation may have; the first is what most others stand beside."""
