"""The format-neutral conversation: messages of parts, tools, and a request's settings.

    Message("assistant", (
        ReasoningPart("Two calls."),
        TextPart("Checking."),
        CallPart("get_weather", {"city": "Paris"}, id="call_A1"),
    ))
    Message("tool", (ResultPart((TextPart("18C"),), id="call_A1"),))

The records are slotted dataclasses, because a corpus has millions of them and a
validated model costs ten times as much. Treat them as values; `dataclasses.replace`
makes a changed copy. Data of a single format is in `extra`, under keys that begin
with that format's name (`anthropic.caller`), or in an `OpaquePart`. Only that
format writes it again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, cast

from toolfmt import jsontext
from toolfmt.errors import ArgumentsError, ParseError, Problem
from toolfmt.model import CallProvenance, Certainty, JsonObject, JsonValue, ToolInvocation

SIGNATURE: Final = ".signature"
"""How the key of a call's signature ends among the further fields of a `ToolInvocation`; its owner comes before."""
_object = cast("type[JsonObject]", dict)  # a plain class: making one through `dict[str, Any]` takes three times as long


@dataclass(slots=True)
class TextPart:
    """Visible text of a message; `citations` are as their format writes them."""

    text: str
    citations: tuple[JsonObject, ...] = ()
    extra: JsonObject = field(default_factory=_object)


@dataclass(slots=True)
class ReasoningPart:
    """The model's reasoning; `signature` proves it to its provider, and only the provider can read `encrypted`.

    `owner` names the format whose provider made them; they mean nothing to other providers.
    """

    text: str
    signature: str | None = None
    encrypted: str | None = None
    owner: str = ""
    extra: JsonObject = field(default_factory=_object)


@dataclass(slots=True)
class RefusalPart:
    """The text of a refusal."""

    text: str
    extra: JsonObject = field(default_factory=_object)


@dataclass(slots=True)
class MediaPart:
    """An image, audio, video or document: its bytes in base64, a URL, or a file id of its `owner`."""

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

    `custom` calls carry free text instead of JSON. `namespace` is the tool's group.
    `signature` is data that the owner requires back with the call. `provenance` and `certainty` are those of its
    reading, which no transcript format can write.
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
    provenance: CallProvenance = field(default="api", repr=False, compare=False)
    certainty: Certainty = field(default="exact", repr=False, compare=False)

    @classmethod
    def of(cls, call: ToolInvocation) -> CallPart:
        """Make a part from a call; a further field `OWNER.signature` is the call's signature."""
        made = cls(call.name, call.arguments, call.raw_arguments, call.id, namespace=call.server, extra=call.extra)
        made.provenance, made.certainty = call.provenance, call.certainty
        for key in (key for key in call.extra if key.endswith(SIGNATURE)):
            made.signature, made.owner = call.extra[key], key.removesuffix(SIGNATURE)
            made.extra = {other: value for other, value in call.extra.items() if other != key}
        return made

    @property
    def value(self) -> JsonValue:
        """The arguments as JSON, read from the text if necessary; missing or blank text is `{}`.

        Raises ParseError if the text is not JSON.
        """
        if self.text is None:
            return self.arguments
        return jsontext.loads(self.text) if self.text.strip() else {}

    @property
    def json(self) -> str:
        """The arguments as text: as the model wrote them, else compact JSON."""
        if self.text is not None and (self.custom or self.text.strip()):
            return self.text
        blank = self.text is not None and self.arguments is None  # which is no JSON
        return "{}" if blank else jsontext.dumps(self.arguments, compact=True)

    @property
    def invocation(self) -> ToolInvocation:
        """The call, ready to run; raises ParseError or ArgumentsError unless its arguments are a JSON object."""
        value = {"input": self.text} if self.custom else self.value
        if not jsontext.is_object(value):
            raise ArgumentsError(self.name, (Problem("", "type", "the arguments are not a JSON object"),))
        return ToolInvocation(
            name=self.name,
            arguments=value,
            id=self.id,
            raw_arguments=self.text,
            server=self.namespace,
            provenance=self.provenance,
            certainty=self.certainty,
        )


@dataclass(slots=True)
class JsonPart:
    """A JSON value in a tool's result."""

    value: JsonValue
    extra: JsonObject = field(default_factory=_object)


@dataclass(slots=True)
class OpaquePart:
    """Data that only its `owner` understands, kept unchanged; `says` is its meaning for all other formats."""

    owner: str
    value: JsonValue
    says: tuple[Said, ...] = field(default=(), compare=False)


Content: TypeAlias = TextPart | JsonPart | MediaPart | OpaquePart
"""A part of a tool's result."""


@dataclass(slots=True)
class ResultPart:
    """A tool's result, linked to its call by `id`, or else by name and position."""

    content: tuple[Content, ...] = ()
    id: str | None = None
    name: str | None = None
    is_error: bool = False
    custom: bool = False
    extra: JsonObject = field(default_factory=_object)


Said: TypeAlias = TextPart | JsonPart | MediaPart | CallPart | ResultPart
"""The meaning of an opaque part: for example, a provider's own search is a call and its result."""
Part: TypeAlias = TextPart | ReasoningPart | RefusalPart | MediaPart | CallPart | ResultPart | JsonPart | OpaquePart
"""What a message consists of."""
Role: TypeAlias = Literal["system", "developer", "user", "assistant", "tool"]
"""Who speaks."""


@dataclass(slots=True)
class Message:
    """One turn: a role and its parts, in order. `name` distinguishes several speakers with the same role."""

    role: Role
    parts: tuple[Part, ...] = ()
    name: str | None = None
    extra: JsonObject = field(default_factory=_object)
    origin: str = field(default="", init=False, repr=False, compare=False)
    """The format that the message was read from."""
    source: JsonValue = field(default=None, init=False, repr=False, compare=False)
    """The value that was read. The same format writes it again unchanged; a changed copy has none.

    If the value became several messages, each of them has a `transcripts.pieces.SharedSource`.
    """
    where: tuple[str, int] | tuple[str] = field(default=("",), init=False, repr=False, compare=False)
    """Where `source` is: the JSON pointer of a list and the place in it, or a pointer alone."""
    plain: str = field(default="", init=False, repr=False, compare=False)
    """The text of a message in which a conversion found nothing else; it is not blank, and every format can hold it."""


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
    """The value that was read. The same format may write it again unchanged; a changed copy has none."""


@dataclass(slots=True)
class ToolChoice:
    """Which tools may be called: any, or only `names`; `mode` says whether calls are allowed or required."""

    mode: Literal["auto", "none", "required"] = "auto"
    names: tuple[str, ...] = ()


@dataclass(slots=True)
class Transcript:
    """A whole conversation, with the other fields of a request for its next turn.

    `extra` holds the request's further fields under their format's name:
    `{"anthropic.max_tokens": 1024}`.
    """

    messages: tuple[Message, ...] = ()
    tools: tuple[ToolDeclaration, ...] | None = None
    tool_choice: ToolChoice | None = None
    parallel: bool | None = None
    extra: JsonObject = field(default_factory=_object)
    rejected: tuple[Message, ...] | None = None
    """The same conversation with the rejected answer, in rows that compare two answers."""
    label: bool | None = None
    """Whether the last answer was rated good, in rows with a rating."""


def parse_failure(part: CallPart) -> str:
    """Explain why a call's argument text is not a JSON object; "" if it is one."""
    if part.custom:
        return "" if part.text is not None else "no text"
    try:
        value = part.value
    except ParseError as error:
        return str(error)
    return "" if jsontext.is_object(value) else "not a JSON object"
