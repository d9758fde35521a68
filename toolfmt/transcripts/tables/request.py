"""Tables that read and write a request around the messages: one table states where a format keeps what.

    REQUEST = RequestTable(owner="anthropic", roles={"user": "user", "assistant": "assistant"}, blocks=BLOCKS,
                      system=SystemPlace("system", BLOCKS.read_all, BLOCKS.write_all), tools=TOOLS.listed())
    REQUEST.read({"system": "Be brief.", "messages": [...], "tools": [...], "max_tokens": 9})
    Transcript((Message("system", ...), ...), (ToolDeclaration(...),), extra={"anthropic.max_tokens": 9})

A list of messages alone is read too. An unchanged value is written as it was read;
unknown keys, and keys with unknown values, go to `extra`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from toolfmt.conversation import Message, Part, ResultPart, Role, TextPart, ToolChoice, ToolDeclaration, Transcript
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.parts.pieces import SharedSource, forget_ids, kept_or_new, runs, sourced
from toolfmt.transcripts.parts.values import inside, lacking, located, own, put, rest, word
from toolfmt.transcripts.tables.blocks import PartTable
from toolfmt.transcripts.tables.message_fields import MessageField

INSTRUCTIONS: frozenset[str] = frozenset({"system", "developer"})
Plan: TypeAlias = tuple[Sequence[MessageField], Sequence[MessageField], frozenset[str]]
"""The fields before a message's content, those after it, and the message's keys beside its role, content and name."""
ROLES: Mapping[str, Role] = {"system": "system", "user": "user", "assistant": "assistant", "tool": "tool"}
"""The words of most formats."""


@dataclass(frozen=True, slots=True)
class SystemPlace:
    """The place of the instructions that come before a conversation."""

    key: str
    read: Callable[[JsonValue], tuple[Part, ...]]
    write: Callable[[Sequence[Part]], JsonValue]
    """Writes the value under the key; None leaves it out."""
    known: frozenset[str] = frozenset()
    """The keys of an object that are read."""


@dataclass(frozen=True, slots=True)
class ToolsPlace:
    """The place of the declarations; `a/b` is the key `b` of the object `a`, whose other keys are further fields."""

    key: str
    read: Callable[[JsonValue], Iterable[ToolDeclaration]]
    """Reads the value under the key."""
    write: Callable[[Sequence[ToolDeclaration]], JsonValue]
    """Writes the value under the key; None leaves it out."""


@dataclass(frozen=True, slots=True)
class ChoicePlace:
    """The place of the choice among the tools."""

    key: str
    read: Callable[[JsonValue], ToolChoice | None]
    """Reads the value; returns None for an unknown one, which is kept unchanged."""
    write: Callable[[ToolChoice, Sequence[ToolDeclaration]], JsonValue]
    """Writes the value under the key, beside these tools; None leaves it out."""
    known: Sequence[str] = ()
    """The keys of an object that are read; others are extra fields, which are written back; empty: what is written."""
    elsewhere: frozenset[str] = frozenset()
    """The keys that are read elsewhere."""

    def left(self, given: JsonObject, choice: ToolChoice, tools: Sequence[ToolDeclaration], owner: str) -> JsonObject:
        """Return, as extra fields, what an object says beside the choice."""
        if self.known:
            beside = {key: item for key, item in given.items() if key not in self.known}
            return {f"{owner}.{self.key}": beside} if beside else {}
        given = {key: item for key, item in given.items() if key not in self.elsewhere}
        written = self.write(choice, tools)
        gone = lacking(given, written) if is_object(written) else ()
        return {f"{owner}/inside.{self.key.replace('/', '.')}.{key}": True for key in gone}


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestTable:
    """Describes where a format keeps a request's data."""

    owner: str
    roles: Mapping[str, Role]
    blocks: PartTable
    """The blocks of a message's content."""
    content: str = "content"
    texts: bool = True
    """Whether a content may be text; otherwise it is a list of blocks."""
    write_content: Callable[[Sequence[Part], Role], JsonValue] | None = None
    """Writes a content differently from the blocks."""
    fields: tuple[MessageField, ...] = ()
    """The fields beside the content, in the order in which they are written."""
    name: str = ""
    """The key of the speaker's name."""
    names: bool = True
    """Whether a new message may name its speaker; otherwise the name is only read."""
    loose: bool = False
    """Whether a name that is not text is an extra field; otherwise it is refused."""
    result: tuple[Callable[[JsonObject], Part], Callable[[ResultPart], JsonValue]] | None = None
    """Reads and writes a message that is one result."""
    empty: Literal["never", "alone", "always"] = "never"
    """Which messages are written without content: those without parts, or also those whose parts have no place."""
    no_content: Literal["null", "absent", "empty"] = "empty"
    """The content of a message that consists of its fields."""
    read_message: Callable[[JsonObject, Role], Message | Sequence[Message]] | None = None
    """Reads an irregular message; several messages if the format combines them in one."""
    write_message: Callable[[Message], Iterable[JsonValue]] | None = None
    """Writes an irregular message that is new or changed; nothing if none of it has a place."""
    write_run: Callable[[Sequence[Message]], Iterable[JsonValue]] | None = None
    """Writes several messages as one value, if `read_message` returns several."""
    joins: Callable[[list[Message], Message], bool] = lambda _, __: False
    """Whether a message continues the value of those before it."""
    answered_inside: bool = False
    """Whether calls and results are one value, which is written anew when results are added."""
    ids: tuple[str, str] | None = None
    """The key of each message's id, and the prefix of ids that only count messages."""
    ignored: frozenset[str] = frozenset()
    """Extra keys of messages without a meaning."""
    read_items: Callable[[Sequence[JsonValue]], Iterable[Message]] | None = None
    """Reads all messages if several values form one, whose source is their list; otherwise each is read alone."""
    role: str = "role"
    messages: str = "messages"
    system: SystemPlace | None = None
    tools: ToolsPlace | None = None
    choice: ChoicePlace | None = None
    parallel: str = ""
    """The key that states whether parallel calls are allowed."""
    request: bool = True
    """Whether a request is always an object; otherwise messages alone are written as a list."""
    words: Mapping[str, str] = field(default_factory=dict[str, str], init=False)
    """The format's word for each role; results without a role of their own are the user's."""
    handled: AbstractSet[str] = field(default=frozenset(), init=False, repr=False)
    """The keys of a message that are read, or have no meaning, beside those of the fields."""
    plan: Callable[[tuple[str, ...], Role], Plan] = field(init=False, repr=False, compare=False)
    """Selects the fields of a message by its keys and role."""

    def __post_init__(self) -> None:
        """Compute the words, the known keys and the plan of the fields."""
        words: dict[str, str] = {role: name for name, role in list(self.roles.items())[::-1]}
        others = {"developer": words.get("system", ""), "tool": words.get("user", "")}
        object.__setattr__(self, "words", others | words)
        named = {self.name} if self.name or self.fields else set[str]()
        object.__setattr__(self, "handled", self.ignored | {self.role, self.content} | named)
        object.__setattr__(self, "plan", lru_cache(256)(self._planned))

    def _planned(self, keys: tuple[str, ...], role: Role) -> Plan:
        fields = [one for one in self.fields if one.role in (None, role) and not set(keys).isdisjoint(one.keys)]
        first = [one for one in fields if one.first]
        return first, [one for one in fields if not one.first], frozenset(keys) - self.handled

    @property
    def _places(self) -> list[str]:
        return [place.key for place in (self.tools, self.choice) if place is not None]

    def read(self, value: JsonValue, sent: Sequence[Message] = ()) -> Transcript:
        """Read a request's object or a list of messages; plain ones of those just `sent` are not read again."""
        items = value.get(self.messages) if is_object(value) else value
        if not is_array(items):
            raise ParseError(f"{self.owner}: expected a list of {self.messages}, or an object with `{self.messages}`")
        messages = self.read_messages(items, sent=sent) if self.read_items is None else list(self.read_items(items))
        if not is_object(value):
            return self._found(messages)
        value = self._opened(value)
        read: JsonObject = {self.messages: items} | ({} if self.tools is None else {self.tools.key: None})
        if self.system is not None:
            read[self.system.key] = True
            if value.get(self.system.key):
                messages.insert(0, self._instructions(value[self.system.key], self.system))
        tools = choice = None
        if self.tools is not None and value.get(self.tools.key) is not None:
            try:
                tools = read[self.tools.key] = tuple(self.tools.read(value[self.tools.key]))
            except ParseError as error:
                raise located(f"/{self.tools.key}", error) from None
        if self.choice is not None:
            choice = read[self.choice.key] = self.choice.read(value.get(self.choice.key))
        parallel = value.get(self.parallel)
        read[self.parallel] = parallel = parallel if isinstance(parallel, bool) else None
        known = {key for key in value if read.get(key) is not None or (key in read and value[key] is None)}
        extra = rest(value, known, self.owner)
        if choice is not None and self.choice is not None and is_object(given := value[self.choice.key]):
            extra |= self.choice.left(given, choice, tools or (), self.owner)
        return self._found(messages, tools, choice, parallel, extra)

    def _found(self, messages: Iterable[Message], *beside: Any) -> Transcript:
        found = Transcript(tuple(messages), *beside)
        return found if self.ids is None else forget_ids(found, f"{self.owner}.{self.ids[0]}", self.ids[1])

    def _opened(self, value: JsonObject) -> JsonObject:
        """Give the places inside other objects a key of their own; objects that become empty are removed."""
        for place in self._places:
            outer, inside, key = place.partition("/")
            holder = value.get(outer) if inside else None
            if is_object(holder) and key in holder:
                left = {name: item for name, item in holder.items() if name != key}
                value = {name: item for name, item in value.items() if name != outer or left}
                value |= {place: holder[key]} | ({outer: left} if left else {})
        return value

    def read_messages(self, items: Sequence[JsonValue], key: str = "", sent: Sequence[Message] = ()) -> list[Message]:
        """Read a list of messages; each keeps its source. Plain ones just `sent` are found by their texts."""
        messages: list[Message] = []
        where, owner, speaker, roles = f"/{key or self.messages}", self.owner, self.role, self.roles
        read = self.read_message or self.read_plain
        again, content = self._read_alike(sent), self.content if self.texts and self.read_message is None else ""
        for at, item in enumerate(items):
            if item.__class__ is not dict and not is_object(item):
                raise ParseError(f"{where}/{at}: a message is an object, not {type(item).__name__}")
            given = item.get(speaker)
            text = item.get(content) if len(item) == 2 else None  # noqa: PLR2004 - content and role
            if again and (plain := again.get(id(text))) is not None and given == self.words[plain.role]:
                messages.append(plain)
                continue
            role = roles.get(given if type(given) is str else "")
            if role is None:
                known = f"the {speaker} is one of {', '.join(filter(None, roles))}, not {given!r}"
                raise ParseError(f"{where}/{at}: {known if given else f'a message has a {speaker}'}")
            if text and given and type(text) is str and role != "tool":
                found = Message(role, (TextPart(text, (), {}),), None, {})
            else:
                try:
                    found = read(item, role)
                except ParseError as error:
                    raise located(f"{where}/{at}", error) from None
            if isinstance(found, Message):
                found.origin, found.source, found.where = owner, item, (where, at)
                messages.append(found)
            else:
                messages += sourced(found, owner, item, (where, at))
        return messages

    def _read_alike(self, sent: Sequence[Message]) -> dict[int, Message]:
        """List the plain messages that are read as they were written, by the identity of their texts."""
        if not sent or self.read_message is not None or self.ids is not None or not self.texts:
            return {}
        alike = {role for role, word in self.words.items() if self.roles.get(word) == role}
        return {id(message.plain): message for message in sent if message.plain and message.role in alike}

    def _instructions(self, value: JsonValue, system: SystemPlace) -> Message:
        try:
            extra = inside(value, system.known, self.owner, system.key) if is_object(value) else {}
            first = Message("system", system.read(value), extra=extra)
        except ParseError as error:
            raise located(f"/{system.key}", error) from None
        first.origin, first.source, first.where = self.owner, value, (f"/{system.key}",)
        return first

    def write(self, transcript: Transcript) -> JsonValue:
        """Write a request's object, with leading instructions in their place."""
        value: JsonObject = own(transcript.extra, self.owner)
        messages = transcript.messages
        if self.system is not None:
            messages = self._write_instructions(transcript.messages, value, self.system)
        items = self.write_messages(messages)
        if not (self.request or value or (self.tools is not None and transcript.tools is not None)):
            return items
        value[self.messages] = items
        self._put_tools(transcript, value)
        if self.parallel and transcript.parallel is not None:
            value[self.parallel] = transcript.parallel
        for place in [key for key in self._places if "/" in key and key in value]:
            put(value, place.replace("/", "."), value.pop(place))
        return value

    def _put_tools(self, transcript: Transcript, value: JsonObject) -> None:
        if self.tools is not None and transcript.tools is not None:
            written = self.tools.write(transcript.tools)
            if written is not None:
                value[self.tools.key] = written
        if self.choice is not None and transcript.tool_choice is not None:
            chosen = self.choice.write(transcript.tool_choice, transcript.tools or ())
            if chosen is not None:
                value[self.choice.key] = value.get(self.choice.key, {}) | chosen if self.choice.known else chosen

    def write_messages(self, messages: Sequence[Message]) -> list[JsonValue]:
        """Write messages; unchanged ones as they were read."""
        items: list[JsonValue] = []
        if self.write_run is None:
            plain, write = self.texts and self.write_message is None, self.write_message or self.write_plain
            for message in messages:
                if message.origin == self.owner:
                    items += (message.source,) if self.read_items is None else message.source
                elif plain and message.plain:
                    items.append({self.role: self.words[message.role], self.content: message.plain})
                else:
                    items += write(message)
        else:
            for kept, new in kept_or_new(messages, self.owner, answered_inside=self.answered_inside):
                items += () if new else (kept,)
                for run in runs(new, self.joins):
                    items += self.write_run(run)
        return items if self.ids is None else list(self._counted(items, messages, *self.ids))

    def _counted(
        self, items: list[JsonValue], messages: Sequence[Message], key: str, start: str
    ) -> Iterator[JsonValue]:
        """Give new values without an id their number as id, unless it is taken."""
        sources = [message.source for message in messages if message.origin == self.owner]
        kept = {id(one.whole if isinstance(one, SharedSource) else one) for one in sources}
        taken = {word(item, key) for item in items}
        number = -1
        for at, item in enumerate(items):
            if id(item) in kept or key in item:
                yield item
                continue
            number = max(at, number + 1)
            while f"{start}{number}" in taken:
                number += 1
            yield {key: f"{start}{number}", **item}

    def read_plain(self, item: JsonObject, role: Role) -> Message:
        """Read a regular message."""
        if not (self.texts or is_array(item.get(self.content))):
            raise ParseError(f": expected a message with a list under `{self.content}`")
        if role == "tool" and self.result is not None:
            return Message(role, (self.result[0](item),))
        if not (self.fields or self.name):
            extra = {} if item.keys() <= self.handled else rest(item, self.handled, self.owner)
            return Message(role, self.blocks.read_key(item, self.content), None, extra)
        parts: list[Part] = []
        before, after, left = self.plan(tuple(item), role)
        for one in before:
            left -= one.read(item, parts)
        if item.get(self.content) is not None:
            parts += self.blocks.read_key(item, self.content)
        for one in after:
            left -= one.read(item, parts)
        name = item.get(self.name)
        if name is not None and not isinstance(name, str):
            if not self.loose:
                raise ParseError(f"{self.name}: expected text, not {type(name).__name__}")
            name, left = None, left | {self.name}
        extra = {f"{self.owner}.{key}": value for key, value in item.items() if key in left} if left else {}
        return Message(role, tuple(parts), name, extra)

    def write_plain(self, message: Message) -> Iterable[JsonValue]:
        """Write a regular message."""
        if message.role == "tool" and self.result is not None:
            return [self.result[1](part) for part in message.parts if isinstance(part, ResultPart)]
        item: JsonObject = {self.role: self.words[message.role], self.content: ""}
        if message.name is not None and self.name and self.names:
            item[self.name] = message.name
        spoken, has_fields, instead = message.parts, False, False
        if self.fields:
            spoken, has_fields, instead = self._write_fields(message.parts, item)
        if self.write_content is not None:
            content = self.write_content(spoken, message.role)
        else:
            content = self.blocks.write_all(spoken) if self.texts else self.blocks.write_list(spoken)
        if not (content or has_fields) and (self.empty == "never" or (message.parts and self.empty == "alone")):
            return ()
        if content or not instead:
            item[self.content] = content
        elif self.no_content == "absent":
            del item[self.content]
        elif self.no_content == "null":
            item[self.content] = None
        return (item | own(message.extra, self.owner),) if message.extra else (item,)

    def _write_fields(self, parts: Sequence[Part], item: JsonObject) -> tuple[Sequence[Part], bool, bool]:
        """Write the fields beside the content; return the parts left for it, and two flags about the fields."""
        has_fields = instead = False
        spoken, kinds = parts, set(map(type, parts))
        for one in self.fields:
            if one.kind not in kinds:
                continue
            taken = [part for part in parts if type(part) is one.kind] if one.pick is None else [*one.pick(parts)]
            if not one.shared:
                gone = set(map(id, taken))
                spoken = [part for part in spoken if id(part) not in gone]
            if taken and one.write(taken, item):
                has_fields, instead = True, instead or one.instead
        return spoken, has_fields, instead

    def _write_instructions(
        self, messages: Sequence[Message], value: JsonObject, system: SystemPlace
    ) -> Sequence[Message]:
        leading, listed = 0, (self.owner, f"/{self.messages}")
        for message in messages:
            if message.role not in INSTRUCTIONS or (message.origin, message.where[0]) == listed:
                break
            leading += 1
        if leading == 1 and messages[0].origin == self.owner:
            value[system.key] = messages[0].source
        elif parts := [part for message in messages[:leading] for part in message.parts]:
            written = system.write(parts)
            value |= {} if written is None else {system.key: written}
        return messages[leading:]


def objects_in(value: JsonValue, key: str = "messages") -> list[JsonObject]:
    """List the messages of a request, or of a list, that are objects."""
    items = value.get(key) if is_object(value) else value
    return [item for item in items if is_object(item)] if is_array(items) else []
