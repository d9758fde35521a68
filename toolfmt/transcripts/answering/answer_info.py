"""The data of an answer beside its text and calls: id, model, finish reason, usage.

    AnswerInfo(id="msg_1", model="claude-sonnet-4-5", stop="tool_calls", usage=Usage(input=12, output=9))

Each API's module has its own words for the finish reason, and `STOPS` reads them all.
`Usage` counts like OpenAI: all input and all output tokens, and the parts included in them.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final, Literal, TypeAlias, get_args

from toolfmt.events import CallFailed
from toolfmt.model import JsonObject
from toolfmt.transcripts.answering.known_fields import Fields
from toolfmt.transcripts.parts.endings import Stop
from toolfmt.transcripts.parts.values import at, put


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Token counts: `input` and `output` are totals that include the others."""

    input: int = 0
    output: int = 0
    cached: int = 0
    """Input tokens read from a cache."""
    cache_written: int = 0
    """Input tokens written to a cache."""
    reasoning: int = 0
    """Output tokens spent on reasoning."""


@dataclass(frozen=True, slots=True)
class Proof:
    """A proof of reasoning or of a call that its `owner` requires back: a signature, or encrypted text.

    `at` is the position, as in events, where the reasoning ends or the call begins.
    """

    at: int
    owner: str
    signature: str | None = None
    encrypted: str | None = None


@dataclass(frozen=True, slots=True)
class Cited:
    """A citation of a text.

    `before` is the number of characters of text, without reasoning, before the piece of text from which the citation's
    places count.
    """

    citation: JsonObject
    before: int = 0


Trouble: TypeAlias = Literal[
    "invalid",
    "authentication",
    "billing",
    "permission",
    "not_found",
    "conflict",
    "too_large",
    "rate_limit",
    "overloaded",
    "timeout",
    "server",
]
"""The kind of an error, for all providers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A provider's error in place of an answer, or of its rest."""

    kind: Trouble
    message: str
    code: str | None = None
    """The provider's own error code."""
    param: str | None = None
    """The request's field that caused it."""
    status: int = 500
    """The HTTP status."""


@dataclass(slots=True)
class AnswerInfo:
    """What is known of an answer so far; `stop` is None until the answer is complete."""

    id: str = ""
    model: str = ""
    created: int = 0
    """Seconds since 1970; 0: unknown."""
    stop: Stop | None = None
    stop_sequence: str | None = None
    """The stop sequence that ended the answer, if `stop` is `stop_sequence`."""
    usage: Usage | None = None
    error: str | None = None
    """The provider's error message, if an error replaced the rest of the answer."""
    failure: Failure | None = None
    """The same error, with its kind."""
    proofs: list[Proof] = field(default_factory=list[Proof])
    """The proofs, in the order of their places."""
    citations: list[Cited] = field(default_factory=list[Cited])
    """The citations in order of arrival, each with a notice `citations` among the events."""
    refusals: set[int] = field(default_factory=set[int])
    """The positions, as in events, of pieces of text in which the model refuses."""
    signed: dict[int, Proof] = field(default_factory=dict[int, Proof])
    """The proofs of calls, by the calls' indices."""
    logprobs: list[JsonObject] = field(default_factory=list["JsonObject"])
    """The probabilities of the text's tokens, as OpenAI and Ollama write them: `{"token": "Hi", "logprob": -0.1}`."""
    custom: set[int] = field(default_factory=set[int])
    """The indices of calls with free text."""
    dropped: dict[tuple[str, str], None] = field(default_factory=dict[tuple[str, str], None])
    """Content of the answer that no event reports: media, further choices, provider-run tools.

    Each is listed once, by the code of its loss and its description.
    """


def stopped(info: AnswerInfo, *, cut: Stop | None, calls: bool) -> Stop:
    """Return the finish reason: that of a broken call (`cut`), or `tool_calls` if the answer has calls and stopped."""
    stop = info.stop
    if stop == "content_filter":
        return stop
    if cut is not None or stop is None:
        return cut or "length"
    return ("tool_calls" if calls else "stop") if stop in ("stop", "tool_calls", "unstated") else stop


def ended_by(failed: CallFailed, begun: Container[int]) -> Stop | None:
    """Return how a failed call ends its answer; None if the call has no name, so that it is only text."""
    if failed.reason == "truncated":
        return "length"
    return "malformed_call" if failed.index in begun else None


def unusable(failed: CallFailed) -> str:
    """Describe an unusable call."""
    return f"{failed.name or 'a call'}: {failed.detail or failed.reason}"


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

    def filled(self, info: AnswerInfo) -> AnswerHead:
        """Fill in what is known of the answer read."""
        return AnswerHead(self.id or info.id, self.model or info.model, self.created or info.created)

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
