"""Selects conversations by their content and by a share of them.

    Filter.of("tool=get_weather")      it calls or declares that tool
    Filter.of("messages<=50")
    Selection(filters=(...), share=(0, 90)).judge(transcript)   Judgement(left_out="", names={"call": {"get_weather"}})

A share depends on the content of a conversation, not on its place: equal
conversations are in the same share, in every run and in every format.
"""

from __future__ import annotations

import hashlib
import operator
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from toolfmt import jsontext
from toolfmt.conversation import CallPart, JsonPart, MediaPart, OpaquePart, Part, ResultPart, Transcript
from toolfmt.corpora.statistics import Statistics
from toolfmt.corpora.tokens import count_tokens, spoken
from toolfmt.errors import CorpusError, close_names, did_you_mean, some
from toolfmt.model import JsonValue
from toolfmt.transcripts.parts.values import json_text

_COMPARE: Final[Mapping[str, Callable[[int, int], bool]]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "!=": operator.ne,
    "=": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
}
_FILTER: Final = re.compile(r"([a-z]+)\s*(<=|>=|!=|=|<|>)\s*(.+)", re.DOTALL)


_NAMES: Final[Mapping[str, Callable[[Statistics], set[str]]]] = {
    "tool": lambda found: {name for name, one in found.tools.items() if one.calls or one.declared},
    "call": lambda found: {name for name, one in found.tools.items() if one.calls},
    "role": lambda found: set(found.messages),
}
_NUMBERS: Final[Mapping[str, Callable[[Statistics], int]]] = {
    "messages": lambda found: found.messages.total(),
    "calls": lambda found: sum(one.calls for one in found.tools.values()),
    "errors": lambda found: sum(one.errors for one in found.tools.values()),
    "broken": lambda found: sum(one.broken for one in found.tools.values()),
    "unanswered": lambda found: sum(one.unanswered for one in found.tools.values()),
    "orphans": lambda found: found.orphans,
    "failures": lambda found: (
        found.orphans + sum(one.errors + one.broken + one.unanswered for one in found.tools.values())
    ),
}
_LENGTHS: Final = ("characters", "tokens")


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition on one field of a conversation: a name it contains, or a number."""

    field: str
    sign: str
    value: str

    @classmethod
    def of(cls, text: str) -> Filter:
        """Parse a filter; raises `CorpusError` for an invalid one."""
        found = _FILTER.fullmatch(text.strip())
        field, sign, value = found.groups() if found else ("", "", "")
        named = field in _NAMES and sign in ("=", "!=")
        counted = (field in _NUMBERS or field in _LENGTHS) and value.isdecimal()
        if not (named or counted):
            known = (*_NAMES, *_NUMBERS, *_LENGTHS)
            near = did_you_mean(() if field in known else close_names(field, {one: one for one in known}))
            give = (
                f"give {', '.join(_NAMES)} with = or != and a name, or "
                f"{', '.join((*_NUMBERS, *_LENGTHS))} with =, !=, <, <=, > or >= and a number"
            )
            raise CorpusError(f"{text!r} is no filter: {near or give}")
        return cls(field, sign, value)

    def hint(self, named: Mapping[str, Collection[str]]) -> str:
        """Say which names there are, by field, in all conversations, if the filter's name is none of them."""
        names = sorted(named.get(self.field, ()))
        if self.field not in named or self.value in names:
            return ""
        near = did_you_mean(close_names(self.value, {one.lower(): one for one in names}))
        near = near or (f"there are {some(names)}" if names else "there is none")
        return f"no {self.field} is named {self.value!r}; {near}"

    def takes(self, transcript: Transcript, found: Statistics, tokenizer: str) -> bool:
        """Whether a conversation with the counts `found` fulfils the condition."""
        if self.field in _NAMES:
            return (self.value in _NAMES[self.field](found)) == (self.sign == "=")
        if self.field == "tokens":
            number = count_tokens(transcript, tokenizer)
        elif self.field == "characters":
            number = sum(map(len, spoken(transcript)))
        else:
            number = _NUMBERS[self.field](found)
        return _COMPARE[self.sign](number, int(self.value))


class Judgement(NamedTuple):
    """Whether a conversation is selected, and the names in it."""

    left_out: Literal["", "filtered", "outside"] = ""
    """Empty: it is selected; otherwise by a filter, or as it is outside of the share."""
    names: Mapping[str, set[str]] = MappingProxyType({})
    """The names by the field of a filter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The conditions for selecting conversations."""

    filters: tuple[Filter, ...] = ()
    share: tuple[float, float] = (0, 100)
    """The first and last percent of the conversations."""
    tokenizer: str = ""
    """The tokenizer's file."""

    def judge(self, transcript: Transcript) -> Judgement:
        """Decide whether a conversation is selected."""
        names: dict[str, set[str]] = {}
        if self.filters:
            found = Statistics()
            found.count(transcript)
            names = {one.field: _NAMES[one.field](found) for one in self.filters if one.field in _NAMES}
            if not all(one.takes(transcript, found, self.tokenizer) for one in self.filters):
                return Judgement("filtered", names)
        first, end = self.share
        if (first, end) == (0, 100):
            return Judgement("", names)
        percent = int.from_bytes(fingerprint(transcript)[:8], "big") / 2**64 * 100
        return Judgement("" if first <= percent < end else "outside", names)


EVERYTHING: Final = Selection()


def share(text: str) -> tuple[float, float]:
    """Parse a share such as `0-90`; raises `CorpusError` for an invalid one."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)", text)
    first, end = map(float, found.groups()) if found else (1.0, 0.0)
    if not 0 <= first < end <= 100:  # noqa: PLR2004 - percent
        raise CorpusError(f"{text!r} is no share: give two percentages, such as 0-90")
    return first, end


def fingerprint(transcript: Transcript) -> bytes:
    """Return a fingerprint of 16 bytes that depends on the content alone, not on ids and further fields."""
    text = json_text(
        [[one.role, [[type(part).__name__, _saying(part)] for part in one.parts]] for one in transcript.messages]
    )
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _saying(part: Part) -> JsonValue:
    match part:
        case CallPart():
            return [part.name, part.json]
        case ResultPart():
            return [part.is_error, [[type(inner).__name__, _saying(inner)] for inner in part.content]]
        case JsonPart() | OpaquePart():
            return jsontext.dumps(part.value)
        case MediaPart():
            return [part.kind, part.data, part.url, part.file_id]
        case _:
            return part.text
