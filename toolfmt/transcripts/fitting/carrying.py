"""Converts parts that a format has no place for to a form that it supports, and reports each as a loss.

    <thinking>
    Two calls.
    </thinking>

A call that the provider ran, with its result, becomes an ordinary call and its
result; a text file becomes text; an instruction in the middle of a conversation is
tagged user text, in its place. The conversion depends only on the format's
rules and on the caller's choices.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, TypeVar

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
    Transcript,
)
from toolfmt.jsontext import is_object
from toolfmt.transcripts.comparing.linking import flatten
from toolfmt.transcripts.comparing.loss import Loss
from toolfmt.transcripts.parts.media import text_in
from toolfmt.transcripts.parts.pieces import changed
from toolfmt.transcripts.parts.values import INVALID, content_text, pointer, sound, tagged, without

if TYPE_CHECKING:
    from toolfmt.model import JsonObject
    from toolfmt.transcripts.format import Rules

Spoken = TypeVar("Spoken", TextPart, CallPart, ReasoningPart)
Fetch: TypeAlias = Callable[[str], "tuple[bytes, str] | None"]
"""Fetches an address: returns its bytes and media type, or None if it is not available."""
INSTRUCTIONS: Final = ("system", "developer")
"""The roles of instructions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Carry:
    """How to treat parts that a format has no place for."""

    hosted: Literal["calls", "text", "drop"] = "calls"
    """Calls that the provider ran: ordinary calls if their results exist, otherwise tagged text."""
    reasoning: Literal["drop", "text"] = "drop"
    """Reasoning without a place is left out, or becomes tagged text."""
    gateway: bool = False
    """Whether fields for gateways and copies of the API, such as `reasoning_content`, are written."""
    fetch: Fetch | None = None
    """Fetches media at URLs for formats that require data; None leaves them out."""


DEFAULT: Final = Carry()


def adapt_parts(
    transcript: Transcript, rules: Rules, carry: Carry = DEFAULT, *, continued: bool = False
) -> tuple[Transcript, list[Loss]]:
    """Convert every part to a form that the format supports, and list the changes.

    `continued`: the provider stores the calls that some results answer.
    """
    if not continued and _plain(transcript.messages, rules):
        return transcript, []
    work = _Work(rules, carry, transcript, continued)
    last = max((at for at, message in enumerate(transcript.messages) if not _returns(message)), default=0)
    messages: list[Message] = []
    for at, message in enumerate(transcript.messages):
        work.follows = at < last
        messages += work.message(message)
    if not work.changed:
        return transcript, []
    return replace(transcript, messages=tuple(messages)), work.losses


def mark_plain(messages: Iterable[Message]) -> None:
    """Mark the messages that are nothing but one text with words, which every format can hold.

    They are not to be changed afterwards; changed copies are not marked.
    """
    for message in messages:
        parts = message.parts
        if len(parts) == 1 and type(part := parts[0]) is TextPart and not (part.extra or part.citations):
            text = part.text
            if not (message.extra or message.name is not None or message.role == "tool" or text.isspace()):
                message.plain = text if text.isascii() or jsontext.encodable(text) else ""


def _plain(messages: Iterable[Message], rules: Rules) -> bool:
    """Whether nothing needs another form, the common case, decided without linking."""
    talks = False
    for message in messages:
        if message.role not in INSTRUCTIONS:
            talks = True
        elif talks and rules.system == "first":
            return False
        for part in () if message.plain else message.parts:
            if not (jsontext.encodable(part.text) if type(part) is TextPart else _stays(part, rules)):
                return False
    return True


def _stays(part: Part, rules: Rules) -> bool:
    if isinstance(part, CallPart):
        if part.text is not None:
            return jsontext.encodable(part.text)
        return rules.arguments == "object" or _unwrapped(part) is part
    if not isinstance(part, ResultPart):
        return isinstance(part, (JsonPart, RefusalPart))
    for found in part.content:
        if not (jsontext.encodable(found.text) if type(found) is TextPart else type(found) is JsonPart):
            return False
    return part.id is not None or rules.call_ids != "required"


def as_text(part: Part) -> Sequence[TextPart | MediaPart]:
    """Describe a call or a result as tagged text; media stay beside it."""
    if isinstance(part, CallPart):
        return (tagged("tool_call", part.json, name=part.name),)
    if isinstance(part, ResultPart):
        media = [found for found in part.content if isinstance(found, MediaPart)]
        return (tagged("tool_result", content_text(part.content), name=part.name or part.id), *media)
    return (part,) if isinstance(part, (TextPart, MediaPart)) else ()


@dataclass(slots=True)
class _Work:
    rules: Rules
    carry: Carry
    transcript: Transcript
    continued: bool
    losses: list[Loss] = field(default_factory=list[Loss])
    changed: bool = False
    _where: str = ""
    _talks: bool = False
    follows: bool = False
    """Whether a message other than a result follows, before which the assistant's media can be placed."""
    _left: list[Part] = field(default_factory=list[Part])
    _alone: frozenset[int] = frozenset()
    """The identities of calls and results, including a provider's own, without a partner."""

    def __post_init__(self) -> None:
        self._alone = _partnerless(self.transcript.messages)

    def message(self, message: Message) -> Iterator[Message]:
        """Yield the messages that replace a message."""
        self._where = pointer(message.where)
        role = message.role
        if self._left and not _returns(message):
            yield Message("user", tuple(self._left))
            self._left = []
        late = role in INSTRUCTIONS and self._talks and self.rules.system == "first"
        self._talks = self._talks or role not in INSTRUCTIONS
        parts = [found for part in message.parts for found in self._part(part, role)]
        if late:
            self._lose("role", f"{role} -> user")
            parts = [
                replace(tagged("system", part.text), extra=part.extra) if isinstance(part, TextPart) else part
                for part in parts
            ]
            role = "user"
        same = len(parts) == len(message.parts) and all(a is b for a, b in zip(parts, message.parts, strict=True))
        if same and not late:
            yield message
            return
        self.changed = True
        if role == "assistant":
            yield from _answers(message, parts)
        elif role == "tool" and not all(isinstance(part, ResultPart) for part in parts):
            # former results come after the results, as user content
            results = [part for part in parts if isinstance(part, ResultPart)]
            if results:
                yield changed(message, "tool", results)
            others = [part for part in parts if not isinstance(part, ResultPart)]
            yield changed(message, "user", others, first=not results)
        else:
            yield changed(message, role, parts)

    def _lose(self, code: str, detail: str) -> None:
        self.losses.append(Loss(code, self._where, "changed", detail))

    def _part(self, part: Part, role: Role) -> Iterable[Part]:
        match part:
            case OpaquePart():
                return (part,) if part.owner == self.rules.format else self._opaque(part, role)
            case MediaPart():
                kinds = {"assistant": self.rules.assistant_kinds, "user": self.rules.user_kinds}.get(role, frozenset())
                return self._shown(self._media(part, kinds), role)
            case ReasoningPart():
                return (self._reasoning(part, role),)
            case ResultPart():
                return self._result(part)
            case CallPart():
                return (self._sound(part if self.rules.arguments == "object" else _unwrapped(part)),)
            case _:
                return (self._sound(part) if isinstance(part, TextPart) else part,)

    def _sound(self, part: Spoken) -> Spoken:
        """Replace lone surrogates, which JSON text cannot contain."""
        if part.text is None or jsontext.encodable(part.text):
            return part
        self._lose("arguments" if isinstance(part, CallPart) else "text", "half a surrogate pair is U+FFFD")
        return replace(part, text=sound(part.text))

    def _reasoning(self, part: ReasoningPart, role: Role) -> Part:
        shown = role != "assistant" or self.carry.reasoning == "text"  # an example of reasoning is an instruction
        if not shown or not part.text or (role == "assistant" and fits_reasoning(part, self.rules)):
            return self._sound(part)
        self._lose("reasoning", "as text")
        return tagged("thinking", part.text)

    def _opaque(self, part: OpaquePart, role: Role) -> Iterable[Part]:
        """Describe another provider's part, if its content is known."""
        acts = any(isinstance(found, (CallPart, ResultPart)) for found in part.says)
        if not part.says or (acts and self.carry.hosted == "drop"):
            return (part,)
        ordinary = self.carry.hosted == "calls" and role == "assistant" and id(part) not in self._alone
        if acts and (not ordinary or (self.rules.calls_declared and not self.transcript.tools)):
            self._lose("provider_part", f"{_title(part)} as text{without(part.value, part.says)}")
            return [found for shown in part.says for found in as_text(shown)]
        self._lose("provider_part", f"{_title(part)} as {'a call' if acts else 'text'}{without(part.value, part.says)}")
        return part.says

    def _shown(self, part: TextPart | MediaPart, role: Role) -> Sequence[Part]:
        """Move the assistant's media that only users may send into a user message."""
        rules = self.rules
        if role != "assistant" or not self.follows or not isinstance(part, MediaPart):
            return (part,)
        if part.kind in rules.assistant_kinds or part.kind not in rules.user_kinds or not reachable(part, rules):
            return (part,)
        self._left.append(part)
        self.losses.append(Loss("role", self._where, "moved", f"{part.kind}: assistant -> user"))
        return ()

    def _result(self, part: ResultPart) -> Iterable[Part]:
        content = [found for one in part.content for found in self._inside(one)]
        same = len(content) == len(part.content) and all(a is b for a, b in zip(content, part.content, strict=True))
        found = part if same else replace(part, content=tuple(content))
        linked = part.id is not None or self.rules.call_ids != "required"
        if id(part) not in self._alone or (linked and not self.continued):
            return (found,)
        self._lose("result", "as text")
        self.losses += (Loss("provider_field", self._where, "dropped", key) for key in part.extra)
        return as_text(found)

    def _inside(self, part: Content) -> Iterable[Content]:
        if isinstance(part, TextPart):
            return (self._sound(part),)
        if isinstance(part, MediaPart):
            return (self._media(part, self.rules.result_kinds | self.rules.user_kinds),)
        if not isinstance(part, OpaquePart) or part.owner == self.rules.format or not part.says:
            return (part,)
        self._lose("provider_part", f"{_title(part)} as text{without(part.value, part.says)}")
        return [found for shown in part.says for found in as_text(shown)]

    def _media(self, part: MediaPart, kinds: frozenset[str]) -> TextPart | MediaPart:
        """Fetch media that must be data, and turn a text file without a place into text."""
        rules, fetch = self.rules, self.carry.fetch
        if part.url is not None and part.data is None and part.kind not in rules.url_kinds and fetch is not None:
            got = fetch(part.url)
            if got is not None:
                self._lose("media", f"fetched {part.url}")
                part = replace(part, data=b64encode(got[0]).decode(), media_type=got[1], url=None)
        kind = part.media_type.partition(";")[0].lower()
        takes = part.kind in kinds and (not rules.media_types or kind in rules.media_types)
        if takes or part.kind != "document" or part.data is None or not _TEXTS.fullmatch(kind):
            return part
        text = text_in(part.data)
        if text is None:
            return part
        self._lose("media", f"{part.name or kind} as text")
        return tagged("document", text, name=part.name)


def fits_reasoning(part: ReasoningPart, rules: Rules) -> bool:
    """Whether a format has a place for reasoning, and its provider accepts the owner."""
    return rules.reasoning and (part.owner in rules.owners or not rules.owners or (rules.unsigned and bool(part.text)))


def reachable(part: MediaPart, rules: Rules) -> bool:
    """Whether the provider can access a medium, and knows its type."""
    sent = part.data is not None or part.kind not in rules.url_kinds  # otherwise a server states the type
    if sent and rules.media_types and part.media_type.partition(";")[0].lower() not in rules.media_types:
        return False
    if part.data is not None or (part.url is not None and part.kind in rules.url_kinds):
        return True
    return not rules.owners or (part.file_id is not None and part.owner in rules.owners)


def _returns(message: Message) -> bool:
    return any(isinstance(part, ResultPart) for part in message.parts)


_TEXTS: Final = re.compile(r"(?!image/|audio/|video/)(text/.*|.*(json|xml|yaml|javascript|csv))")
"""The media types of text."""


def _title(part: OpaquePart) -> str:
    named = part.value.get("type") if is_object(part.value) else None
    first = part.says[0]
    return first.name if isinstance(first, CallPart) else named if isinstance(named, str) else part.owner


def _unwrapped(part: CallPart) -> CallPart:
    """Unwrap text that was wrapped in an object because arguments must be an object."""
    value = part.arguments
    text = value.get(INVALID) if part.text is None and is_object(value) and value.keys() == {INVALID} else None
    return replace(part, arguments=None, text=text) if isinstance(text, str) else part


def _partnerless(messages: Iterable[Message]) -> frozenset[int]:
    """Find results without a call, and provider-run calls without a result."""
    opened: list[Message] = []
    owner: dict[int, int] = {}
    acting = False
    for message in messages:
        parts: list[Part] = []
        for part in message.parts:
            shown = part.says if isinstance(part, OpaquePart) else ()
            acting = acting or bool(shown) or isinstance(part, ResultPart)
            owner.update((id(found), id(part)) for found in shown)
            parts += shown or (part,)
        opened.append(Message(message.role, tuple(parts)))
    if not acting:
        return frozenset()
    places = [place for place in flatten(opened) if isinstance(place.part, (CallPart, ResultPart))]
    answered = {place.call for place in places if isinstance(place.part, ResultPart)}
    return frozenset(
        owner.get(id(place.part), id(place.part))
        for place in places
        if (place.call is None if isinstance(place.part, ResultPart) else place.call not in answered)
    )


def _answers(message: Message, parts: Sequence[Part]) -> Iterator[Message]:
    """Split an answer at a result in the middle of it."""
    first = True
    for returned, run in groupby(parts, key=lambda part: type(part) is ResultPart):
        group = list(run)
        for shown in [[part] for part in group] if returned else [group]:
            yield changed(message, "tool" if returned else "assistant", shown, first=first)
            first = False
    if first:
        yield changed(message, "assistant", ())


def to_note(carry: Carry) -> tuple[Carry, JsonObject]:
    """Return the same choices, and JSON of them that also records everything fetched from now on."""
    got: JsonObject = {}
    note: JsonObject = {"hosted": carry.hosted, "reasoning": carry.reasoning, "gateway": carry.gateway, "fetched": got}
    fetch = carry.fetch
    if fetch is None:
        return carry, note

    def fetched(url: str) -> tuple[bytes, str] | None:
        found = fetch(url)
        if found is not None:
            got[url] = [b64encode(found[0]).decode(), found[1]]
        return found

    return replace(carry, fetch=fetched), note


def from_note(note: JsonObject) -> Carry:
    """Read the choices that `to_note` wrote."""
    got: JsonObject = note["fetched"]

    def fetch(url: str) -> tuple[bytes, str] | None:
        return (b64decode(got[url][0]), got[url][1]) if url in got else None

    return Carry(
        hosted=note["hosted"], reasoning=note["reasoning"], gateway=note["gateway"], fetch=fetch if got else None
    )
