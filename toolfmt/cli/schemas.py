"""The shapes of what `--json` prints, by command: the reference's JSON Schemas are made of these.

Only a test and `docs/generate.py` import this module: a command that prints JSON does not wait for it.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, NotRequired, TypeAlias

from pydantic import ConfigDict, Field, TypeAdapter, with_config
from typing_extensions import TypedDict

from toolfmt.execution.records import ToolExecution
from toolfmt.model import CallProvenance, Certainty, JsonObject, JsonValue  # noqa: TC001 - pydantic reads them

_exact = with_config(ConfigDict(extra="forbid"))
SpanJson: TypeAlias = Annotated[list[int], Field(min_length=2, max_length=2)]
"""The first character and the one after the last, counted from 0."""


@_exact
class CallJson(TypedDict):
    """A call."""

    name: str
    arguments: JsonObject
    id: NotRequired[str]
    server: NotRequired[str]
    agent: NotRequired[str]
    provenance: CallProvenance
    certainty: Certainty


@_exact
class FailureJson(TypedDict):
    """A call, or what looks like one, that cannot be used."""

    index: int
    raw: str
    reason: str
    detail: str
    span: SpanJson
    name: str
    dialect: str


@_exact
class NoticeJson(TypedDict):
    """A tolerated deviation, or the dialect that was found."""

    kind: str
    detail: str
    span: SpanJson


@_exact
class CandidateJson(TypedDict):
    """A dialect that reads the place."""

    dialect: str
    reason: str
    score: int


@_exact
class DetectionJson(TypedDict):
    """Which dialect a text is in; empty where nothing shows it."""

    dialect: str
    span: SpanJson
    candidates: list[CandidateJson]


@_exact
class ParsedJson(TypedDict):
    """What an answer holds."""

    dialect: str
    detection: NotRequired[DetectionJson]
    text: str
    reasoning: str
    calls: list[CallJson]
    failures: list[FailureJson]
    notices: list[NoticeJson]


@_exact
class DeltaJson(TypedDict):
    """Text or reasoning, and where it begins."""

    event: Literal["text_delta", "reasoning_delta"]
    text: str
    start: int


@_exact
class CallStartJson(TypedDict):
    """A call begins."""

    event: Literal["call_start"]
    index: int
    name: str
    id: str | None


@_exact
class ArgumentsDeltaJson(TypedDict):
    """A piece of the arguments' JSON text."""

    event: Literal["arguments_delta"]
    index: int
    json: str


@_exact
class CallEndJson(TypedDict):
    """A complete call."""

    event: Literal["call_end"]
    index: int
    call: CallJson
    span: SpanJson


@_exact
class CallFailedJson(FailureJson):
    """A call, or what looks like one, that cannot be used."""

    event: Literal["call_failed"]


@_exact
class NoticedJson(NoticeJson):
    """A tolerated deviation, or the dialect that was found."""

    event: Literal["notice"]


EventJson: TypeAlias = Annotated[
    DeltaJson | CallStartJson | ArgumentsDeltaJson | CallEndJson | CallFailedJson | NoticedJson,
    Field(discriminator="event"),
]


class RunEventJson(TypedDict):
    """What happens in a run; the other fields are those of the event of this name."""

    event: str
    at: str
    received: NotRequired[EventJson]


@_exact
class UnreadableJson(TypedDict):
    """The record of a call that could not be read."""

    call: None
    result: JsonObject
    failure: str
    error: str
    raw: str


@_exact
class FindingJson(TypedDict):
    """What a provider would refuse, and where."""

    file: str
    line: int | None
    rule: str
    path: str
    message: str


@_exact
class PlaceJson(TypedDict):
    """The first conversation with this reason."""

    file: str
    line: int | None
    reason: str


@_exact
class ReasonJson(TypedDict):
    """Why conversations are unreadable."""

    times: int
    first: PlaceJson


@_exact
class TokensJson(TypedDict):
    """Tokens of all conversations, and of the longest."""

    all: int
    longest: int


@_exact
class ToolCountJson(TypedDict):
    """How often a tool occurs."""

    declared: int
    calls: int
    results: int
    errors: int
    broken: int
    unanswered: int


@_exact
class StatisticsJson(TypedDict):
    """What conversations hold; the most frequent first."""

    conversations: int
    unreadable: int
    unreadable_because: list[ReasonJson]
    results_of_no_call: int
    tokens: NotRequired[TokensJson]
    formats: dict[str, int]
    messages: dict[str, int]
    tools: dict[str, ToolCountJson]


@_exact
class TranscriptFormatJson(TypedDict):
    """A transcript format."""

    name: str
    summary: str
    aliases: list[str]


@_exact
class DialectJson(TypedDict):
    """A dialect."""

    name: str
    summary: str
    aliases: list[str]
    traits: dict[str, bool | str]
    sources: list[dict[str, str]]


@_exact
class MarkersJson(TypedDict):
    """The strings that a server keeps, and those at which it may stop."""

    keep: list[str]
    stop: list[str]


class ShownJson(DialectJson):
    """A dialect with its markers and a sample."""

    markers: MarkersJson
    sample: dict[str, str]


class ProviderJson(TypedDict):
    """A provider, and the dialect that its models read best."""

    name: str
    dialect: str
    aliases: list[str]
    models: list[list[str]]


@_exact
class SaidJson(TypedDict):
    """One thing that is wrong, or worth knowing."""

    status: str
    message: str


@_exact
class CheckJson(TypedDict):
    """One question to a chat template, and what it wrote."""

    scenario: str
    status: str
    findings: list[SaidJson]
    wrote: JsonValue


@_exact
class DiagnosisJson(TypedDict):
    """What is wrong with a chat template."""

    path: str
    template: str
    dialect: str
    ok: bool
    checks: list[CheckJson]


@_exact
class ProbeFindingJson(TypedDict):
    """What a server does to a call."""

    rule: str
    severity: str
    question: str
    mode: str
    expected: str
    came: str
    read: list[str]


@_exact
class ProbedJson(TypedDict):
    """What a server does to calls; `verdict` says it in one sentence."""

    verdict: str
    base_url: str
    model: str
    asked: int
    faithful: bool
    unusable: bool
    findings: list[ProbeFindingJson]


class DemonstrationJson(TypedDict):
    """Recorded questions, and how each format shows the tools and reads the answers."""

    questions: list[str]
    expected: list[JsonObject]
    formats: list[JsonObject]
    ok: bool


LINES: Final = "one a line"
SHAPES: Final[dict[str, tuple[Any, str]]] = {
    "parse --json": (ParsedJson, ""),
    "parse --stream --json": (EventJson, LINES),
    "detect --json": (DetectionJson, ""),
    "run --json": (list[ToolExecution | UnreadableJson], ""),
    "chat --json": (RunEventJson, LINES),
    "check --json": (FindingJson, LINES),
    "stats --json": (StatisticsJson, ""),
    "formats --json": (list[TranscriptFormatJson], ""),
    "dialects --json": (list[DialectJson], ""),
    "dialects show --json": (ShownJson, ""),
    "providers --json": (list[ProviderJson], ""),
    "doctor --json": (DiagnosisJson, ""),
    "probe --json": (ProbedJson, ""),
    "demo --json": (DemonstrationJson, ""),
}
"""The shape of what each command prints, and how it is printed where it is not one value."""


def schema(command: str) -> JsonObject:
    """Give the JSON Schema of what a command prints."""
    return TypeAdapter(SHAPES[command][0]).json_schema(mode="serialization")
