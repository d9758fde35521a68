r"""Turn the value that a tool returned into a result: JSON and media.

    {"at": date(2026, 1, 2), "size": Decimal("1.50")}   {"at": "2026-01-02", "size": "1.50"}
    [Media.of(png, "image/png"), "a chart"]             "a chart", and the image in `media`
    b"\xff\xfe\x00"                                     {"bytes": 3, "base64": "//4A"}
    "x" * 200_000                                       "xxx…", then "... 100,000 characters cut"

The tool has already run, so nothing here fails: a value without a JSON form becomes text, and a cut is reported with
its length.
"""

from __future__ import annotations

import dataclasses
import math
import threading
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import Enum
from typing import Any, Final, cast

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from toolfmt import jsontext
from toolfmt.model import JsonValue, Media, ToolResult

LONGEST: Final = 100_000
"""Default limit of a result's characters."""
DEEPEST: Final = 100
"""Levels of nesting; some readers refuse a few more than that."""
_ROOM: Final = 10
"""How many times the limit is read, to count what is cut."""
_UNREAD: Final = "... the rest was not read"
_SIGNATURES: Final = (
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF8", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (8, b"WAVE", "audio/wav"),
    (0, b"OggS", "audio/ogg"),
    (0, b"fLaC", "audio/flac"),
    (0, b"ID3", "audio/mpeg"),
    (4, b"ftyp", "video/mp4"),
    (0, b"%PDF-", "application/pdf"),
)
"""Offset and signature of a media type's bytes."""


def result_of(value: object, name: str, limit: int | None = LONGEST) -> ToolResult:
    """Make a result of what a tool returned; one that is a `ToolResult` already keeps what it says.

    `limit` counts characters of the content; None cuts nothing. Raises only
    what an iterator raises while it is read: that is the tool's own code.
    """
    given = value if isinstance(value, ToolResult) else None
    reader = _Reader(math.inf if limit is None else limit * _ROOM + 1000)
    content = cut(reader.read_all(given.content if given is not None else value), limit, whole=reader.whole)
    media = tuple(reader.media)
    if given is None:
        return ToolResult(name=name, content=content, media=media)
    extra = _Reader(math.inf).read(given.extra)
    return given.model_copy(update={"content": content, "media": (*given.media, *media), "extra": extra})


def cut(content: JsonValue, limit: int | None, *, whole: bool = True) -> JsonValue:
    """Cut content that is longer than `limit` as text, and say how much is missing."""
    if limit is None or content is None or isinstance(content, (int, float)):
        return content
    text = content if isinstance(content, str) else jsontext.dumps(content)
    if len(text) <= limit:
        return content
    more = "" if whole else "more than "
    return f"{text[:limit]}\n... {more}{len(text) - limit:,} characters cut"


def text_of(value: object) -> str:
    """Return the text of any object, even if its `__str__` fails."""
    try:
        text = str.__str__(str(value))
    except BaseException as error:  # foreign `__str__`
        if may_be_ctrl_c(error):
            raise
        text = f"<{type(value).__name__} without text>"
    return clean(text)


def may_be_ctrl_c(error: BaseException) -> bool:
    """Whether an exception may come from a person at the keyboard, whose interrupt arrives in the main thread alone."""
    return isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread()


def clean(text: str) -> str:
    """Replace lone surrogates."""
    return text if jsontext.encodable(text) else text.encode("utf-8", "replace").decode()


class _Reader:
    """Reads one value; `room` is how many characters may still be read."""

    def __init__(self, room: float) -> None:
        self.room = room
        self.whole = True
        self.media: list[Media] = []
        self._above: list[int] = []

    def read_all(self, value: Any) -> JsonValue:
        """Read the value that a tool returned: media beside its content, not in it."""
        if isinstance(value, Media):
            self.media.append(value)
            return None
        if isinstance(value, (list, tuple)) and any(isinstance(one, Media) for one in cast("list[Any]", value)):
            items = cast("Sequence[Any]", value)
            self.media.extend(one for one in items if isinstance(one, Media))
            rest = [one for one in items if not isinstance(one, Media)]
            value = rest[0] if len(rest) == 1 else rest or None
        if (
            isinstance(value, (bytes, bytearray, memoryview))
            and (found := _sniffed(bytes(cast("bytes", value)))) is not None
        ):
            self.media.append(found)
            return None
        return self.read(value)

    def read(self, value: Any) -> JsonValue:
        self.room -= 1
        if value is None or value is True or value is False:
            return value
        for kinds, read in _KINDS:
            if isinstance(value, kinds):
                return read(self, value)
        return self._object(value)

    def text(self, value: str) -> str:
        self.room -= len(value)
        return clean(str.__str__(value))

    def media_note(self, value: Media) -> str:
        self.media.append(value)
        return value.note

    def binary(self, value: bytes | bytearray | memoryview) -> JsonValue:
        data = bytes(value)
        try:
            return self.text(data.decode())
        except UnicodeDecodeError:
            found = _sniffed(data)
            if found is not None:
                return self.media_note(found)
            return {"bytes": len(data), "base64": self.text(b64encode(data).decode())}

    def sequence(self, value: Iterable[Any]) -> JsonValue:
        return self._within(value, lambda: self._items(iter(value)))

    def unordered(self, value: Iterable[Any]) -> JsonValue:
        return self._within(value, lambda: sorted(self._items(iter(value)), key=repr))

    def mapping(self, value: Mapping[Any, Any]) -> JsonValue:
        def read() -> JsonValue:
            out: dict[str, JsonValue] = {}
            for key, item in value.items():
                if self.room <= 0:
                    self.whole = False
                    break
                name = self.text(key) if isinstance(key, str) else _key(key)
                while name in out:  # 1 and "1"
                    name += "_"
                out[name] = self.read(item)
            return out

        return self._within(value, read)

    def _within(self, value: object, read: Callable[[], JsonValue]) -> JsonValue:
        if id(value) in self._above:
            return "[circular reference]"
        if len(self._above) >= DEEPEST:
            return "[nested too deeply]"
        self._above.append(id(value))
        try:
            return read()
        finally:
            self._above.pop()

    def _items(self, items: Iterator[Any]) -> list[JsonValue]:
        out: list[JsonValue] = []
        for item in items:
            if self.room <= 0:
                self.whole = False
                out.append(_UNREAD)
                break
            out.append(self.read(item))
        return out

    def _object(self, value: Any) -> JsonValue:
        """Read an object of another type, which may run other code and may be endless."""
        found: object = value
        try:
            if isinstance(found, BaseModel):
                plain = found.model_dump(mode="json")
            elif dataclasses.is_dataclass(found) and not isinstance(found, type):
                plain = {field.name: getattr(found, field.name) for field in dataclasses.fields(found)}
            elif isinstance(found, Mapping):
                return self.mapping(value)
            elif isinstance(found, (AbstractSet, Sequence)):
                return self.sequence(value)
            elif callable(tolist := getattr(value, "tolist", None)) and not isinstance(found, type):  # arrays
                plain = tolist()
            else:
                plain = to_jsonable_python(value, fallback=lambda _: _NOTHING, inf_nan_mode="strings")
        except Exception:  # noqa: BLE001 - foreign code
            plain = _NOTHING
        return self.text(text_of(value)) if plain is _NOTHING else self._within(value, lambda: self.read(plain))


_NOTHING: Final = object()
"""Stands for a value that has only a text."""


def _number(reader: _Reader, value: float) -> JsonValue:
    if isinstance(value, int):
        whole = int(value)
        return whole if whole.bit_length() <= _BITS else reader.text(f"[an integer of {whole.bit_length():,} bits]")
    number = float(value)
    return number if math.isfinite(number) else reader.text(str(number))


_BITS: Final = int(jsontext.MAX_DIGITS * math.log2(10))


def _named(reader: _Reader, value: Any) -> JsonValue:
    return reader.mapping(value._asdict()) if hasattr(value, "_asdict") else reader.sequence(value)


def _key(key: object) -> str:
    if isinstance(key, Enum):
        key = key.value
    words = {None: "null", True: "true", False: "false"}
    return words[key] if key is None or isinstance(key, bool) else text_of(key)


def _sniffed(data: bytes) -> Media | None:
    for at, mark, media_type in _SIGNATURES:
        if data.startswith(mark, at):
            return Media.of(data, media_type)
    return None


_KINDS: Final[tuple[tuple[type | tuple[type, ...], Callable[[_Reader, Any], JsonValue]], ...]] = (
    (Enum, lambda reader, value: reader.read(value.value)),
    (str, _Reader.text),
    ((int, float), _number),
    (dict, _Reader.mapping),
    (list, _Reader.sequence),
    (tuple, _named),
    ((set, frozenset), _Reader.unordered),
    ((bytes, bytearray, memoryview), _Reader.binary),
    (Media, _Reader.media_note),
    (ToolResult, lambda reader, value: reader.read(value.content)),
    (Iterator, _Reader.sequence),
)
"""Which kinds of value are read how; the first that fits decides. Others may run code of their own."""


async def collected(values: Any, limit: int | None) -> list[Any]:
    """Read what an async generator yields, up to as many values as the limit has characters."""
    out: list[Any] = []
    async for value in values:
        if limit is not None and len(out) >= limit:
            out.append(_UNREAD)
            await values.aclose()
            break
        out.append(value)
    return out
