"""What tools return, as results: nothing crashes after a tool has run, and what is cut is counted."""

from __future__ import annotations

import array
import asyncio
import dataclasses
import datetime as dt
import decimal
import enum
import fractions
import math
import threading
import uuid
from collections import ChainMap, OrderedDict, UserList, deque, namedtuple
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from toolfmt import Media, ToolResult, jsontext
from toolfmt.execution.values import collected, cut, result_of, text_of

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\xff"


class Colour(enum.Enum):
    RED = "red"


class Size(enum.IntEnum):
    BIG = 3


class Model(BaseModel):
    at: dt.date
    inner: list[Colour] = []


@dataclasses.dataclass
class Record:
    path: Path
    number: float


class Pair(NamedTuple):
    left: int
    right: object


Point = namedtuple("Point", "x y")  # noqa: PYI024 - other people's code has them


class Silent:
    def __str__(self) -> str:
        raise RuntimeError("no words")


class Treacherous(dict[str, Any]):
    def __str__(self) -> str:
        raise RuntimeError("no words")


@dataclasses.dataclass
class Trap:
    x: int = 1

    def __getattribute__(self, name: str) -> Any:
        if name == "x":
            raise RuntimeError("trap")
        return super().__getattribute__(name)

    def __str__(self) -> str:
        return "a trap"


FORMS: list[tuple[Any, Any]] = [
    ("text", "text"),
    ("", ""),
    (None, None),
    (True, True),
    (0, 0),
    (-0.0, -0.0),
    (10**30, 10**30),
    (float("nan"), "nan"),
    ([float("inf"), 1], ["inf", 1]),
    (10**5000, "[an integer of 16,610 bits]"),
    ("a\ud800b", "a?b"),
    ({"\ud800": 1}, {"?": 1}),
    (
        {2: "a", "2": "b", None: "c", True: "d", (1, 2): "e"},
        {"2": "a", "2_": "b", "null": "c", "true": "d", "(1, 2)": "e"},
    ),
    ((1, "a"), [1, "a"]),
    ({3, 1, 2}, [1, 2, 3]),
    (frozenset({"b", "a"}), ["a", "b"]),
    (deque([1, 2]), [1, 2]),
    (range(3), [0, 1, 2]),
    (UserList([1]), [1]),
    (OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
    (MappingProxyType({"a": 1}), {"a": 1}),
    (ChainMap({"a": 1}), {"a": 1}),
    ({"a": 1}.keys(), ["a"]),
    (array.array("i", [1, 2]), [1, 2]),
    (Colour.RED, "red"),
    ({Colour.RED: Size.BIG}, {"red": 3}),
    (dt.datetime(2026, 1, 2, 3, tzinfo=dt.UTC), "2026-01-02T03:00:00Z"),
    (dt.timedelta(minutes=90), "PT1H30M"),
    (decimal.Decimal("1.50"), "1.50"),
    (fractions.Fraction(1, 3), "1/3"),
    (uuid.UUID(int=5), "00000000-0000-0000-0000-000000000005"),
    (PurePosixPath("a/b"), "a/b"),
    (Model(at=dt.date(2026, 1, 2), inner=[Colour.RED]), {"at": "2026-01-02", "inner": ["red"]}),
    (Record(Path("a"), float("inf")), {"path": "a", "number": "inf"}),
    (Pair(1, {2}), {"left": 1, "right": [2]}),
    (Point(1, 2), {"x": 1, "y": 2}),
    (b"text", "text"),
    (bytearray("\u00e9".encode()), "é"),
    (b"\xff\xfe\x00", {"bytes": 3, "base64": "//4A"}),
    ([b"\xff"], [{"bytes": 1, "base64": "/w=="}]),
    (ValueError("no"), "no"),
    (Silent(), "<Silent without text>"),
    ([Silent()], ["<Silent without text>"]),
    (Treacherous(a=1), {"a": 1}),
    (Trap(), "a trap"),
    (Exception, "<class 'Exception'>"),
]


@pytest.mark.parametrize("at", range(len(FORMS)))
def test_every_value_has_a_form(at: int) -> None:
    value, content = FORMS[at]
    found = result_of(value, "f").content
    assert jsontext.equal(found, content), found
    jsontext.dumps(found)


def test_what_holds_itself_or_is_too_deep_ends() -> None:
    loop: list[Any] = [1]
    loop.append(loop)
    assert result_of(loop, "f").content == [1, "[circular reference]"]
    twice = [1]
    assert result_of([twice, twice], "f").content == [[1], [1]]
    deep: Any = "end"
    for _ in range(100_000):
        deep = [deep]
    text = jsontext.dumps(result_of(deep, "f").content)
    assert "[nested too deeply]" in text
    assert not jsontext.too_deep(jsontext.loads(text), jsontext.MAX_DEPTH)


@pytest.mark.parametrize(
    ("value", "limit", "content"),
    [
        ("x" * 12, 10, "xxxxxxxxxx\n... 2 characters cut"),
        ("x" * 20_000, 10, "xxxxxxxxxx\n... 19,990 characters cut"),
        ([1] * 10, 10, "[1, 1, 1, \n... 20 characters cut"),
        ("x" * 10, 10, "x" * 10),
        ("x" * 10, None, "x" * 10),
        ({"a": "b"}, 10, {"a": "b"}),
    ],
)
def test_what_is_cut_is_counted(value: Any, limit: int | None, content: Any) -> None:
    assert result_of(value, "f", limit).content == content


def test_a_huge_value_is_not_read_to_its_end() -> None:
    found = result_of(["x" * 100] * 1_000_000, "f", 100).content
    assert found.startswith('["xxx')
    assert "more than" in found
    assert len(found) < 200


def test_what_has_no_end_is_not_read_to_it() -> None:
    class Items(Sequence[int]):
        def __getitem__(self, index: Any) -> Any:
            return index

        def __len__(self) -> int:
            return 10**15

    class Members(Mapping[str, int]):
        def __getitem__(self, key: str) -> int:
            return 1

        def __len__(self) -> int:
            return 10**15

        def __iter__(self) -> Iterator[str]:
            return map(str, count())

    for value in (Items(), Members(), [Items()], {"a": Members()}):
        content = result_of(value, "f", 30).content
        assert isinstance(content, str)
        assert "... more than" in content


def test_media_stand_beside_the_content() -> None:
    image = Media.of(PNG, "image/png", "chart.png")
    assert image.note == "[image: chart.png, image/png, 11 bytes]"
    alone, two, deep, raw = (result_of(value, "f") for value in (image, ["see", image], {"at": [image]}, PNG))
    assert (alone.content, alone.media) == (None, (image,))
    assert (two.content, two.media) == ("see", (image,))
    assert (deep.content, deep.media) == ({"at": [image.note]}, (image,))
    assert (raw.content, raw.media) == (None, (Media.of(PNG, "image/png"),))
    with pytest.raises(ValueError, match="either `data`, in base64, or a `url`"):
        Media(kind="image")


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a\xff", "image/gif"),
        (b"RIFF\xff\x00\x00\x00WEBP", "image/webp"),
        (b"RIFF\xff\x00\x00\x00WAVE", "audio/wav"),
        (b"OggS\xff", "audio/ogg"),
        (b"fLaC\xff", "audio/flac"),
        (b"ID3\xff", "audio/mpeg"),
        (b"\x00\x00\x00\xffftypisom", "video/mp4"),
        (b"%PDF-1.7\xff", "application/pdf"),
    ],
)
def test_bytes_of_a_known_kind_are_media(data: bytes, kind: str) -> None:
    media = Media.of(data, kind)
    for value in (data, bytearray(data), memoryview(data)):
        found = result_of(value, "f")
        assert (found.content, found.media) == (None, (media,))
        inside = result_of({"at": value}, "f")
        assert (inside.content, inside.media) == ({"at": media.note}, (media,))
    later = result_of(b"\xff" + data, "f")  # the same bytes at another place
    assert (list(later.content), later.media) == (["bytes", "base64"], ())


def test_media_are_taken_out_of_a_list_and_the_rest_stays() -> None:
    one, other = Media.of(PNG, "image/png"), Media(kind="image", url="u")
    for value, content in (
        ([one, other], None),
        ((one, "see", other), "see"),
        (["see", one, 3, other], ["see", 3]),
        ([one, None, None, other], [None, None]),
    ):
        found = result_of(value, "f")
        assert (found.content, found.media) == (content, (one, other))
    given = ToolResult(name="g", content=None, media=(other,)).model_copy(update={"content": {"at": one}})
    assert result_of(given, "f").media == (other, one)
    assert result_of([given], "f").content == [{"at": one.note}]


def test_the_deepest_level_that_is_read() -> None:
    value: Any = "end"
    for _ in range(100):
        value = [value]
    assert '"end"' in jsontext.dumps(result_of(value, "f").content)
    assert "[nested too deeply]" in jsontext.dumps(result_of([value], "f").content)
    loop: dict[str, Any] = {}
    loop["a"] = {"b": loop}
    assert result_of(loop, "f").content == {"a": {"b": "[circular reference]"}}


@pytest.mark.parametrize(("size", "more"), [(1097, False), (1098, True)])
def test_ten_times_the_limit_and_a_thousand_characters_are_read(size: int, *, more: bool) -> None:
    assert ("... more than" in result_of(["x" * size, "y"], "f", 10).content) == more


def test_what_a_dataclass_and_an_enum_hold_is_read() -> None:
    @dataclasses.dataclass
    class Holds:
        image: Media
        names: set[str]

    class One(enum.IntEnum):
        ON = 1

    image = Media.of(PNG, "image/png")
    found = result_of(Holds(image, {"b", "a"}), "f")
    assert (found.content, found.media) == ({"image": image.note, "names": ["a", "b"]}, (image,))
    assert type(result_of(One.ON, "f").content) is int


def test_the_largest_integer_that_is_a_number() -> None:
    largest = 2 ** int(jsontext.MAX_DIGITS * math.log2(10)) - 1
    assert result_of(largest, "f").content == largest
    assert result_of(-largest, "f").content == -largest
    assert "bits]" in result_of(largest + 1, "f").content


def test_an_iterator_is_read_and_what_it_raises_is_raised() -> None:
    def broken() -> Iterator[int]:
        yield 1
        raise OSError("gone")

    assert result_of((number for number in (1, 2)), "f").content == [1, 2]
    assert "characters cut" in result_of(count(), "f", 10).content
    with pytest.raises(OSError, match="gone"):
        result_of(broken(), "f")


def test_an_interrupt_is_no_text() -> None:
    class Stops:
        def __init__(self, error: type[BaseException]) -> None:
            self.error = error

        def __str__(self) -> str:
            raise self.error

    assert result_of(Stops(SystemExit), "f").content == "<Stops without text>"
    with pytest.raises(KeyboardInterrupt):
        text_of(Stops(KeyboardInterrupt))
    elsewhere: list[str] = []
    thread = threading.Thread(target=lambda: elsewhere.append(text_of(Stops(KeyboardInterrupt))))
    thread.start()
    thread.join()
    assert elsewhere == ["<Stops without text>"]  # no Ctrl-C arrives there


@pytest.mark.parametrize(
    ("limit", "read"), [(3, [0, 1, 2, "... the rest was not read"]), (4, [0, 1, 2, 3]), (None, [0, 1, 2, 3])]
)
def test_what_is_yielded_is_read_up_to_the_limit_and_then_closed(limit: int | None, read: list[Any]) -> None:
    closed: list[int] = []

    async def values() -> AsyncIterator[int]:
        try:
            for number in range(4):
                yield number
        finally:
            closed.append(1)

    assert asyncio.run(collected(values(), limit)) == read
    assert closed == [1]


def test_a_result_keeps_what_it_says() -> None:
    given = ToolResult(name="f", content={1, 2}, is_error=True, media=(Media(kind="image", url="u"),), extra={"a": 1})
    given = given.model_copy(update={"extra": {"a": {1}}})
    found = result_of(given, "g")
    assert (found.content, found.is_error, found.media, found.extra) == ([1, 2], True, given.media, {"a": [1]})
    assert (found.name, result_of([given], "g").content) == ("f", [[1, 2]])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON)
def test_json_stays_as_it_is(value: Any) -> None:
    assert jsontext.equal(result_of(value, "f").content, value)


@given(st.text(), st.integers(0, 50))
def test_nothing_is_cut_in_silence(text: str, limit: int) -> None:
    found = cut(text, limit)
    assert found == text if len(text) <= limit else found == f"{text[:limit]}\n... {len(text) - limit:,} characters cut"
