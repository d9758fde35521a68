"""Tables that read and write the parts of messages as blocks, and keep unknown fields.

    BLOCKS = PartTable("anthropic", (
        PartRow("text", TextPart, text("text")),
        PartRow("tool_use", CallPart, ident("id"), text("name", "name"), arguments("input")),
        PartRow("tool_result", ResultPart, ident("tool_use_id"), content("content"), flag("is_error")),
    ))
    BLOCKS.read({"type": "tool_use", "id": "a", "name": "f", "input": {}, "caller": "x"})
    CallPart("f", {}, id="a", extra={"anthropic.caller": "x"})
    BLOCKS.write(CallPart("f", {}, id="a", extra={"anthropic.caller": "x"}))
    {"type": "tool_use", "id": "a", "name": "f", "input": {}, "caller": "x"}

A field is two functions: one copies data of a block into a new part, the other copies data of a part
into a new block. A table is compiled once, into one reader for each type and one writer for
each kind of part; irregular blocks have a pair of functions instead of fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import Any, Final, Literal, TypeAlias

from toolfmt import jsontext
from toolfmt.conversation import (
    CallPart,
    Content,
    JsonPart,
    MediaPart,
    OpaquePart,
    Part,
    ReasoningPart,
    RefusalPart,
    ResultPart,
    Said,
    TextPart,
    ToolDeclaration,
)
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.parts.values import inside, located, own, plain_text, rest
from toolfmt.transcripts.tables.fields import PartField

MARK: Final = "cache_control"
"""The key of the mark for the prompt cache, which means the same in all formats."""
MARKED: Final = (TextPart, MediaPart, CallPart, ResultPart, ToolDeclaration)
"""The types of parts that may have a mark."""


class PartRow:
    """One kind of block: its type, its part, and its fields, or functions that read and write are beside it."""

    def __init__(  # noqa: PLR0913 - a row of a table
        self,
        type: str,  # noqa: A002 - the wire's word
        part: type[Part],
        *fields: PartField | Callable[[PartTable], PartField],
        read: Callable[[JsonObject], Part | None] | None = None,
        write: Callable[[Any], Any] | None = None,
        keys: Sequence[str] | None = None,
        when: Callable[[Any], bool] | None = None,
        inside: bool = False,
        around: Sequence[PartField] = (),
        within: tuple[str, AbstractSet[str]] | None = None,
    ) -> None:
        """`when` says which parts are written as this block.

        `keys` are those that `read` and `write` handle; all others go to `extra` and come back. Without `keys`, the
        functions handle `extra` themselves. `inside`: the fields are under the type's key, and only those `around` them
        are beside it. `within`: a key whose object `read` takes apart, and the keys known there.
        """
        self.type, self.part, self.fields, self.around, self.within = type, part, fields, around, within
        self.read, self.write, self.keys, self.when, self.inside = read, write, keys, when, inside


Point: TypeAlias = "tuple[Callable[[JsonValue], JsonObject | None], Callable[[JsonObject], JsonObject]]"
"""Reads and writes a mark for the prompt cache that comes after what it marks."""
Further: TypeAlias = Callable[["JsonObject", Any, frozenset[str]], None]
"""Copies a block's fields beyond its row's keys into the part."""
_NEW: Final[dict[type, Callable[[], Part]]] = {
    **{kind: partial(kind, "") for kind in (TextPart, ReasoningPart, RefusalPart, CallPart)},
    MediaPart: partial(MediaPart, "document"),
    ResultPart: ResultPart,
    JsonPart: partial(JsonPart, None),
}


class PartTable:
    """A format's table of blocks, compiled."""

    def __init__(  # noqa: PLR0913 - each is a choice of the format's
        self,
        owner: str,
        table: Iterable[PartRow],
        *,
        tag: str | None = "type",
        marks: Literal["", "read", "kept"] = "",
        strings: bool = False,
        point: Point | None = None,
        further: tuple[Further, Callable[[JsonObject, Any], JsonObject]] | None = None,
        spelled: Callable[[JsonObject], JsonObject] | None = None,
        says: Callable[[JsonValue], tuple[Said, ...]] | None = None,
    ) -> None:
        """`tag` is the key of a block's type; "" if the type is itself a key, None if all blocks have one type.

        `says` reads what has no block. Of rows with the same type or part, the first that fits is taken.

        `marks` are those for the prompt cache, in a key that is read, or written too (`kept`), or in a `point` after
        the part: how it is read as one and written; `strings` may be for blocks of text; `further` takes what a
        block says beside its fields, and puts it back; `spelled` gives a block the spelling of the table's keys.
        """
        self.owner, self._tag, self._marks, self._strings, self._says = owner, tag, marks, strings, says
        self._point, self._further, self._spelled = point, further, spelled
        self._readers: dict[str, list[Callable[[JsonObject], Part | None]]] = {}
        self._writers: dict[type, list[Callable[[Any], JsonValue]]] = {}
        for block in table:
            if block.read is not None or block.fields:
                self._readers.setdefault(block.type, []).append(self._reader(block))
            if block.write is not None or block.fields:
                self._writers.setdefault(block.part, []).append(self._writer(block))

    @property
    def types(self) -> Iterable[str]:
        """The types of blocks that are read."""
        return self._readers.keys()

    def read(self, item: JsonValue) -> Part:
        """Read a block; an unknown one is kept unchanged."""
        if item.__class__ is not dict and not is_object(item):
            return TextPart(item) if self._strings and isinstance(item, str) else OpaquePart(self.owner, item)
        block = item if self._spelled is None else self._spelled(item)
        if self._tag:
            kind = block.get(self._tag)
            readers = self._readers.get(kind, ()) if isinstance(kind, str) else ()
        elif self._tag is None:
            readers = self._readers[""]
        else:
            readers = next((self._readers[key] for key in block if key in self._readers), ())
        for reader in readers:
            if (part := reader(block)) is not None:
                return part
        return OpaquePart(self.owner, item, self._says(block) if self._says is not None else ())

    def read_all(self, content: JsonValue) -> tuple[Part, ...]:
        """Read a content: text, or a list of blocks."""
        if isinstance(content, str):
            return (TextPart(content, (), {}),) if content else ()
        if not is_array(content):
            return () if content is None else (OpaquePart(self.owner, content),)
        return self.read_list(content)

    def read_list(self, items: Sequence[JsonValue]) -> tuple[Part, ...]:
        """Read a list of blocks."""
        parts: list[Part] = []
        point, read = self._point, self.read
        for at, item in enumerate(items):
            try:
                if point is None or not marked(parts[-1:], point[0](item)):
                    parts.append(read(item))
            except ParseError as error:
                raise located(at, error) from None
        return tuple(parts)

    def read_key(self, item: JsonObject, key: str) -> tuple[Part, ...]:
        """Read the content under a key."""
        content = item.get(key)
        try:
            return self.read_list(content) if is_array(content) else self.read_all(content)
        except ParseError as error:
            raise located(key, error) from None

    def read_content(self, content: JsonValue) -> tuple[Content, ...]:
        """Read the content of a result; content that no result part can hold is kept unchanged."""
        if isinstance(content, str):
            return (TextPart(content, (), {}),) if content else ()
        parts = self.read_all(content)
        items = content if is_array(content) else [content] * len(parts)
        return tuple(self._held(part, item) for part, item in zip(parts, items, strict=True))

    def _held(self, part: Part, item: JsonValue) -> Content:
        if isinstance(part, (TextPart, JsonPart, MediaPart, OpaquePart)):
            return part
        readable = part.content if isinstance(part, ResultPart) else ()
        if isinstance(part, (ReasoningPart, RefusalPart)):
            readable = (TextPart(part.text),)
        return OpaquePart(self.owner, item, tuple(found for found in readable if not isinstance(found, OpaquePart)))

    def write(self, part: Part) -> JsonValue:
        """Write a part; return None if the format has no place for it."""
        for writer in self._writers.get(type(part), ()):
            if (block := writer(part)) is not None:
                return block
        if isinstance(part, OpaquePart):
            return part.value if part.owner == self.owner else None
        if isinstance(part, JsonPart):
            return self.write(TextPart(jsontext.dumps(part.value)))
        return self.write(TextPart(part.text, extra=part.extra)) if isinstance(part, RefusalPart) else None

    def write_list(self, parts: Iterable[Part]) -> list[JsonValue]:
        """Write parts as a list of blocks; parts without a place are left out."""
        blocks: list[JsonValue] = []
        for part in parts:
            if (block := self.write(part)) is not None:
                blocks.append(block)
                if self._point is not None and isinstance(part, MARKED) and part.extra.get(MARK) is not None:
                    blocks.append(self._point[1](part.extra[MARK]))
        return blocks

    def write_all(self, parts: Sequence[Part]) -> JsonValue:
        """Write a content: a single text as text, anything else as a list of blocks."""
        text = plain_text(parts)
        return self.write_list(parts) if text is None else text

    def _fields(self, block: PartRow) -> list[PartField]:
        return [field if isinstance(field, PartField) else field(self) for field in block.fields]

    def _reader(self, block: PartRow) -> Callable[[JsonObject], Part | None]:
        kind, inside, made = block.type, block.inside, block.read
        fields = [] if made is not None else self._fields(block)
        known = frozenset(key for field in fields for key in field.keys).union(block.keys or ())
        owner = f"{self.owner}.{kind}" if inside else self.owner
        known |= {self._tag} if self._tag else {kind} if kind and not inside else frozenset()
        if made is not None:
            return made if block.keys is None else self._taking(made, known, block.within or ("", known))
        new, outer = _NEW[block.part], frozenset({kind, *(key for field in block.around for key in field.keys)})
        reads = [(field.read, field.keys) for field in fields]

        def read(item: JsonObject) -> Part | None:
            body = item[kind] if inside else item
            if inside and not is_object(body):
                return None
            part: Any = new()
            beside: tuple[str, ...] = ()
            for take, keys in reads:
                fits = take(body, part)
                if not fits:
                    if fits is False:
                        return None
                    beside += keys
            if inside:
                for field in block.around:
                    field.read(item, part)
                part.extra |= rest(item, outer, self.owner)
            if beside or not body.keys() <= known:
                self._take(body, part, known.difference(beside), owner)
            return part

        return read

    def _taking(
        self, read: Callable[[JsonObject], Any], known: frozenset[str], within: tuple[str, AbstractSet[str]]
    ) -> Callable[[JsonObject], Part | None]:
        def taking(item: JsonObject) -> Part | None:
            part = read(item)
            if part is not None and not item.keys() <= known:
                self._take(item, part, known, self.owner)
            if part is not None and is_object(held := item.get(within[0])):
                part.extra |= inside(held, within[1], self.owner, within[0])
            return part

        return taking

    def _take(self, body: JsonObject, part: Any, known: frozenset[str], owner: str) -> None:
        if self._further is not None:
            self._further[0](body, part, known)
            return
        part.extra |= rest(body, known, owner)
        if self._marks and MARK in body:
            part.extra[MARK] = part.extra.pop(f"{owner}.{MARK}")

    def _writer(self, block: PartRow) -> Callable[[Any], JsonValue]:  # noqa: C901 - as above
        made, kind, owner, when = block.write, block.type, self.owner, block.when
        if made is not None and block.keys is None and when is None:
            return made
        fields = [] if made is not None else self._fields(block)
        writes = tuple(field.write for field in fields if field.write is not None)
        around = tuple(field.write for field in block.around if field.write is not None)
        marks = self._marks == "kept" and block.part is not ReasoningPart  # Anthropic's API refuses marks on thoughts
        inside, tag, further = block.inside, self._tag, self._further
        holds, bare = "extra" in block.part.__slots__, made is not None and block.keys is None

        def write(part: Any) -> JsonObject | None:
            if when is not None and not when(part):
                return None
            item: JsonObject | None = ({tag: kind} if tag else {}) if made is None else made(part)
            if item is None or bare:
                return item
            body = item
            if inside:
                body = item[kind] = {}
            for put in writes:
                if put(part, body) is False:
                    return None
            for put in around:
                put(part, item)
            if further is not None:
                return further[1](item, part)
            return put_back(item, body, part.extra) if holds and part.extra else item

        def put_back(item: JsonObject, body: JsonObject, extra: JsonObject) -> JsonObject:
            for key, value in own(extra, owner).items():
                place, dot, name = key.partition(".")
                if not (inside and dot):
                    item[key] = value
                elif place == kind:  # the table has written those of other places
                    body[name] = value
            if marks and MARK in extra:
                item[MARK] = extra[MARK]
            return item

        return write


def marked(last: Sequence[Part | ToolDeclaration], mark: JsonObject | None) -> bool:
    """Put a mark on the last part or tool, if it may have one and has none."""
    if mark is None or not last or not isinstance(last[0], MARKED) or MARK in last[0].extra:
        return False
    last[0].extra[MARK] = mark
    return True


def content(key: str, inside: PartTable | None = None, *, listed: bool = False) -> Callable[[PartTable], PartField]:
    """The field of a tool's result: text or a list of blocks, of this or another table; `listed`: only a list."""

    def bound(table: PartTable) -> PartField:
        table = inside or table

        def read(item: JsonObject, part: ResultPart) -> bool:
            if listed and not is_array(item.get(key)):
                return False
            try:
                part.content = table.read_content(item.get(key))
            except ParseError as error:
                raise located(key, error) from None
            return True

        def write(part: ResultPart, item: JsonObject) -> None:
            item[key] = table.write_list(part.content) if listed else table.write_all(part.content)

        return PartField((key,), read, write)

    return bound


def returned(key: str, inside: PartTable | None = None, *, objects: bool = False) -> Callable[[PartTable], PartField]:
    """The field of a tool's result: text, a list of blocks, or any JSON value; `objects`: only JSON objects."""

    def bound(table: PartTable) -> PartField:
        table = inside or table

        def read(item: JsonObject, part: ResultPart) -> bool:
            value = item.get(key)
            if isinstance(value, str):
                part.content = (TextPart(value),) if value else ()
                return True
            parts = table.read_content(value) if is_array(value) else ()
            whole = bool(parts) and not any(isinstance(found, OpaquePart) for found in parts)
            part.content = parts if whole else (JsonPart(value),)
            return True

        def write(part: ResultPart, item: JsonObject) -> None:
            alone = part.content[0] if len(part.content) == 1 else None
            plain = isinstance(alone, JsonPart) and (not objects or is_object(alone.value))
            item[key] = alone.value if plain and isinstance(alone, JsonPart) else table.write_all(part.content)

        return PartField((key,), read, write)

    return bound
