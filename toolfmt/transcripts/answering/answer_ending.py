"""The data around a written answer: its id and model, why it ended, and its token counts.

    {"prompt_tokens": 12, "completion_tokens": 9, "total_tokens": 21}              Chat Completions
    {"input_tokens": 2, "cache_read_input_tokens": 10, "output_tokens": 9}         Anthropic: cached is beside input
    {"promptTokenCount": 12, "candidatesTokenCount": 5, "thoughtsTokenCount": 4}   Gemini: thoughts are beside the rest

`Usage` counts like OpenAI: all input and all output tokens, and the parts included in them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, get_args

from toolfmt.model import JsonObject
from toolfmt.transcripts.answering.answer_info import AnswerInfo, Usage
from toolfmt.transcripts.answering.known_fields import Fields
from toolfmt.transcripts.parts.endings import Stop
from toolfmt.transcripts.parts.values import at, put

_PARTS: Final = {"cached": "input", "cache_written": "input", "reasoning": "output"}
"""Counts that may be separate, each with the total that it is a part of."""
_MOST: Final = 2**53
"""The largest number that each reader of JSON keeps exactly."""


@dataclass(frozen=True, slots=True)
class TokenCounting:
    """The places of an API's token counts."""

    places: Mapping[str, str]
    """The place of each count of `Usage` and of the `total`, in writing order."""
    beside: tuple[str, ...] = ()
    """The counts that are not included in the input or the output."""
    further: str = ""
    """The place of additional input, which is only read."""

    @property
    def known(self) -> Fields:
        """The fields that are read."""
        found: dict[str, Fields | None] = {}
        for outer, _, inner in (place.partition(".") for place in (*self.places.values(), self.further)):
            found[outer] = {**(found.get(outer) or {}), inner: None} if inner else None
        return found

    def read(self, value: JsonObject) -> Usage:
        """Read a count."""
        found = {name: _whole(at(value, place)) for name, place in self.places.items() if name != "total"}
        found["input"] += _whole(at(value, self.further)) if self.further else 0
        for name in self.beside:
            found[_PARTS[name]] += found[name]
        return Usage(**found)

    def write(self, usage: Usage | None) -> JsonObject:
        """Write a count; unknown counts are zero."""
        usage = usage or Usage()
        counts = {name: getattr(usage, name) for name in ("input", "output", *_PARTS)}
        counts["total"] = usage.input + usage.output
        for name in self.beside:
            counts[_PARTS[name]] = max(0, counts[_PARTS[name]] - counts[name])
        written: JsonObject = {}
        for name, place in self.places.items():
            put(written, place, counts[name])
        return written


def _whole(found: object) -> int:
    """Return a number of tokens; 0 for anything else."""
    number = int(found) if isinstance(found, float) and found.is_integer() else found
    return number if type(number) is int and 0 <= number <= _MOST else 0


@dataclass(frozen=True, slots=True)
class AnswerHead:
    """The identity of an answer."""

    id: str
    model: str
    created: int

    def mint(self, prefix: str, number: int) -> str:
        """Make a deterministic id for something in this answer."""
        return prefix + sha256(f"{self.id}/{number}".encode("utf-8", "surrogatepass")).hexdigest()[:24]


@dataclass(frozen=True, slots=True)
class AnswerEnding:
    """The ending of a written answer."""

    stop: Stop
    info: AnswerInfo
    head: AnswerHead

    def counted(self, key: str, counting: TokenCounting) -> JsonObject:
        """Write the token count under a key, if it is known."""
        return {} if self.info.usage is None else {key: counting.write(self.info.usage)}


def endings(stop: str, **others: str) -> dict[Stop, str]:
    """Map finish reasons to an API's words; a missing one is `stop`, a malformed call is `length`."""
    others = {"malformed_call": others.get("length", stop), **others}
    return {reason: others.get(reason, stop) for reason in get_args(Stop)}


def timestamp(seconds: int) -> str:
    """Write seconds since 1970 as an RFC 3339 timestamp."""
    from datetime import UTC, datetime

    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
