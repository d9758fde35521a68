"""A conversation between all formats: messages of parts, tools, and a request's settings.

    Message("assistant", (
        ReasoningPart("Two calls."),
        TextPart("Checking."),
        CallPart("get_weather", {"city": "Paris"}, id="call_A1"),
    ))
    Message("tool", (ResultPart((TextPart("18C"),), id="call_A1"),))

Slotted records, cheap to make: a corpus has millions, and a validated model
costs ten times as much. Treat them as values; `dataclasses.replace` makes a
changed copy. What only one format knows is in `extra`, under keys that
begin with that format's name (`anthropic.caller`), or is an `OpaquePart`; both
go back to their owner alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias, cast

from toolfmt import jsontext
from toolfmt.errors import ArgumentsError, ParseError, Problem
from toolfmt.model import JsonObject, JsonValue, ToolInvocation

_object = cast("type[JsonObject]", dict)  # a plain class: making one through `dict[str, Any]` takes three times as long


@dataclass(slots=True)
class TextPart:
    """Text that the reader of a message sees; `citations` as their format writes them."""

    text: str
    citations: tuple[JsonObject, ...] = ()
    extra: JsonObject = field(default_factory=_object)


@dataclass(slots=True)
class ReasoningPart:
    """The model's reasoning. `signature` proves it to its maker, `encrypted` holds what only the maker can read.

    `owner` names the format whose provider made either of the two; to another it means nothing.
    """

    text: str
    signature: str | None = None
    encrypted: str | None = None
    owner: str = ""
    extra: JsonObject = field(default_factory=_object)


@dataclass(slots=True)
class RefusalPart:
    """The model's words where it refuses."""

    text: str


@dataclass(slots=True)
class MediaPart:
    """An image, sound, film or document: its bytes in base64, an address, or its `owner`'s file id."""

    kind: Literal["image", "audio", "video", "document"]
    media_type: str = ""
    data: str | None = None
    url: str | None = None
    file_id: str | None = None
    detail: str | None = None
    name: str | None = None
    owner: str = ""
    extra: JsonObject = field(default_factory=_object)


@dataclass(slots=True)
class CallPart:
    """A tool call: `arguments` as a JSON value, or `text` as the model wrote them, or both.

    `custom` calls carry free text, which is no JSON. `namespace` is the group
    of tools that the name belongs to, `signature` what the owner wants back with it.
    """

    name: str
    arguments: JsonValue = None
    text: str | None = None
    id: str | None = None
    custom: bool = False
    namespace: str | None = None
    signature: str | None = None
    owner: str = ""
    extra: JsonObject = field(default_factory=_object)

    @classmethod
    def of(cls, call: ToolInvocation) -> CallPart:
        """Make a part of a call that was read."""
        return cls(call.name, call.arguments, call.raw_arguments, call.id, namespace=call.server, extra=call.extra)

    @property
    def value(self) -> JsonValue:
        """The arguments as JSON: read from the text if need be; no text or only white space is `{}`.

        Raises ParseError for text that is no JSON.
        """
        if self.text is None:
            return self.arguments
        return jsontext.loads(self.text) if self.text.strip() else {}

    @property
    def json(self) -> str:
        """The arguments as text: as the model wrote them, else compact JSON."""
        return self.text if self.text is not None else jsontext.dumps(self.arguments, compact=True)

    @property
    def invocation(self) -> ToolInvocation:
        """The call as one can be run; raises ParseError or ArgumentsError where the arguments are no JSON object."""
        value = {"input": self.text} if self.custom else self.value
        if not jsontext.is_object(value):
            raise ArgumentsError(self.name, (Problem("", "type", "the arguments are not a JSON object"),))
        return ToolInvocation(
            name=self.name, arguments=value, id=self.id, raw_arguments=self.text, server=self.namespace
        )


@dataclass(slots=True)
class JsonPart:
    """A JSON value in a tool's result."""

    value: JsonValue
    extra: JsonObject = field(default_factory=_object)


@dataclass(slots=True)
class OpaquePart:
    """Something only its `owner` understands, kept as it came; `says` is what it says to all others."""

    owner: str
    value: JsonValue
    says: tuple[Said, ...] = field(default=(), compare=False)


Content: TypeAlias = TextPart | JsonPart | MediaPart | OpaquePart
"""What a tool's result is made of."""


@dataclass(slots=True)
class ResultPart:
    """What a tool gave back; linked to its call by `id`, else by its name and place."""

    content: tuple[Content, ...] = ()
    id: str | None = None
    name: str | None = None
    is_error: bool = False
    custom: bool = False
    extra: JsonObject = field(default_factory=_object)


Said: TypeAlias = TextPart | JsonPart | MediaPart | CallPart | ResultPart
"""What an opaque part can say: a provider's own search is a call and its result."""
Part: TypeAlias = TextPart | ReasoningPart | RefusalPart | MediaPart | CallPart | ResultPart | JsonPart | OpaquePart
Role: TypeAlias = Literal["system", "developer", "user", "assistant", "tool"]


@dataclass(slots=True)
class Message:
    """One turn: a role and its parts, in order; `name` tells several speakers of a role apart."""

    role: Role
    parts: tuple[Part, ...] = ()
    name: str | None = None
    extra: JsonObject = field(default_factory=_object)
    origin: str = field(default="", init=False, repr=False, compare=False)
    """The format that the message was read from."""
    source: JsonValue = field(default=None, init=False, repr=False, compare=False)
    """The value that was read, which the same format writes again as it is; a changed copy has none.

    A value that became several messages is a `transcripts.pieces.SharedSource` in each of them.
    """
    where: tuple[str, int] | tuple[str] = field(default=("",), init=False, repr=False, compare=False)
    """Where `source` is: the JSON pointer of a list and the place in it, or a pointer alone."""


@dataclass(slots=True)
class ToolDeclaration:
    """A tool as the conversation declares it: a function with a JSON Schema, or a provider's own kind.

    `kind` is `function`, `custom` (free text, `parameters` holds its grammar or is
    None) or `hosted` (the provider runs it; `extra` holds its declaration).
    """

    name: str
    description: str | None = None
    parameters: JsonValue = None
    kind: Literal["function", "custom", "hosted"] = "function"
    strict: bool | None = None
    namespace: str | None = None
    extra: JsonObject = field(default_factory=_object)
    origin: str = field(default="", init=False, repr=False, compare=False)
    """The format that the declaration was read from."""
    source: JsonValue = field(default=None, init=False, repr=False, compare=False)
    """The value that was read, which the same format may write again as it is; a changed copy has none."""


@dataclass(slots=True)
class ToolChoice:
    """Which tools may be called: `auto`, `none`, `required`, or one of `names`; `mode` is what holds among them."""

    mode: Literal["auto", "none", "required"] = "auto"
    names: tuple[str, ...] = ()


@dataclass(slots=True)
class Transcript:
    """A whole conversation, with what a request for its next turn says beside it.

    `extra` holds the request's further fields under their format's name:
    `{"anthropic.max_tokens": 1024}`.
    """

    messages: tuple[Message, ...] = ()
    tools: tuple[ToolDeclaration, ...] | None = None
    tool_choice: ToolChoice | None = None
    parallel: bool | None = None
    extra: JsonObject = field(default_factory=_object)
    rejected: tuple[Message, ...] | None = None
    """The same conversation with an answer that was liked less, in rows that compare two."""
    label: bool | None = None
    """Whether the last answer was liked, in rows that rate one."""


def parse_failure(part: CallPart) -> str:
    """Say why a call's argument text is no JSON object; empty if it is one."""
    if part.custom:
        return "" if part.text is not None else "no text"
    try:
        value = part.value
    except ParseError as error:
        return str(error)
    return "" if jsontext.is_object(value) else "not a JSON object"
