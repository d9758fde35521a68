"""The JSON Schemas of what commands print with `--json`; records that are printed field by field are not repeated."""  # noqa: INP001 - beside a script

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, NotRequired, get_type_hints

from pydantic import ConfigDict, Field, TypeAdapter, with_config
from typing_extensions import TypedDict

from toolfmt.corpora.statistics import ToolCount
from toolfmt.detection import DialectMatch
from toolfmt.events import ArgumentsDelta, CallFailed, CallStart, Notice
from toolfmt.execution.records import ToolExecution
from toolfmt.model import CallProvenance, Certainty, JsonObject, JsonValue
from toolfmt.workshop.probing.findings import ProbeFinding

SPAN: Final = Annotated[list[int], Field(min_length=2, max_length=2)]
"""The first character and the one after the last, counted from 0."""


def shape(name: str, about: str, fields: dict[str, Any], *, open: bool = False) -> Any:  # noqa: A002 - a JSON object's
    """Make the type of a JSON object; one that is not `open` has no other fields."""
    made = TypedDict(name, fields)  # pyright: ignore[reportArgumentType] - made at run time
    made.__doc__ = about
    return made if open else with_config(ConfigDict(extra="forbid"))(made)


def fields_of(record: type[Any], **changed: Any) -> dict[str, Any]:
    """Return the types of a dataclass' fields by name, some of them changed."""
    return {**get_type_hints(record), **changed}


call = shape(
    "CallJson",
    "A call.",
    {
        "name": str,
        "arguments": JsonObject,
        **dict.fromkeys(("id", "server", "agent"), NotRequired[str]),
        "provenance": CallProvenance,
        "certainty": Certainty,
    },
)
_FAILURE: Final = fields_of(CallFailed, span=SPAN)
_NOTICE: Final = fields_of(Notice, span=SPAN)
failure = shape("FailureJson", "A call, or what looks like one, that cannot be used.", _FAILURE)
notice = shape("NoticeJson", "A tolerated deviation, or the dialect that was found.", _NOTICE)
candidate = shape("CandidateJson", "A dialect that reads the place.", fields_of(DialectMatch))
detection = shape(
    "DetectionJson",
    "Which dialect a text is in; empty where nothing shows it.",
    {"dialect": str, "span": SPAN, "candidates": list[candidate]},
)
parsed = shape(
    "ParsedJson",
    "What an answer holds.",
    {
        "dialect": str,
        "detection": NotRequired[detection],
        "text": str,
        "reasoning": str,
        "calls": list[call],
        "failures": list[failure],
        "notices": list[notice],
    },
)
event = Annotated[
    shape(
        "DeltaJson",
        "Text or reasoning, and where it begins.",
        {"event": Literal["text_delta", "reasoning_delta"], "text": str, "start": int},
    )
    | shape("CallStartJson", "A call begins.", {"event": Literal["call_start"], **fields_of(CallStart)})
    | shape(
        "ArgumentsDeltaJson",
        "A piece of the arguments' JSON text.",
        {"event": Literal["arguments_delta"], **fields_of(ArgumentsDelta)},
    )
    | shape("CallEndJson", "A complete call.", {"event": Literal["call_end"], "index": int, "call": call, "span": SPAN})
    | shape("CallFailedJson", failure.__doc__, {"event": Literal["call_failed"], **_FAILURE})
    | shape("NoticedJson", notice.__doc__, {"event": Literal["notice"], **_NOTICE}),
    Field(discriminator="event"),
]
run_event = shape(
    "RunEventJson",
    "What happens in a run; the other fields are those of the event of this name.",
    {"event": str, "at": str, "received": NotRequired[event]},
    open=True,
)
unreadable = shape(
    "UnreadableJson",
    "The record of a call that could not be read.",
    {"call": None, "result": JsonObject, "failure": str, "error": str, "raw": str},
)
_PLACE: Final = {"file": str, "line": int | None}
finding = shape(
    "FindingJson", "What a provider would refuse, and where.", {**_PLACE, "rule": str, "path": str, "message": str}
)
first = shape("PlaceJson", "The first conversation with this reason.", {**_PLACE, "reason": str})
reason = shape("ReasonJson", "Why conversations are unreadable.", {"times": int, "first": first})
tokens = shape("TokensJson", "Tokens of all conversations, and of the longest.", {"all": int, "longest": int})
tool_count = shape("ToolCountJson", "How often a tool occurs.", fields_of(ToolCount))
statistics = shape(
    "StatisticsJson",
    "What conversations hold; the most frequent first.",
    {
        "conversations": int,
        "unreadable": int,
        "unreadable_because": list[reason],
        "results_of_no_call": int,
        "damaged_lines": int,
        "endings": dict[str, int],
        "tokens": NotRequired[tokens],
        "formats": dict[str, int],
        "messages": dict[str, int],
        "tools": dict[str, tool_count],
    },
)
_NAMED: Final = {"name": str, "summary": str, "aliases": list[str]}
_DIALECT: Final = {**_NAMED, "traits": dict[str, bool | str], "sources": list[dict[str, str]]}
markers = shape(
    "MarkersJson",
    "The strings that a server keeps, and those at which it may stop.",
    {"keep": list[str], "stop": list[str]},
)
said = shape("SaidJson", "One thing that is wrong, or worth knowing.", {"status": str, "message": str})
check = shape(
    "CheckJson",
    "One question to a chat template, and what it wrote.",
    {"scenario": str, "status": str, "findings": list[said], "wrote": JsonValue},
)
diagnosis = shape(
    "DiagnosisJson",
    "What is wrong with a chat template.",
    {"path": str, "template": str, "dialect": str, "ok": bool, "others": list[str], "checks": list[check]},
)
probe_finding = shape("ProbeFindingJson", "What a server does to a call.", fields_of(ProbeFinding, read=list[str]))
probed = shape(
    "ProbedJson",
    "What a server does to calls; `verdict` says it in one sentence.",
    {
        "verdict": str,
        "base_url": str,
        "model": str,
        "asked": int,
        "faithful": bool,
        "unusable": bool,
        "findings": list[probe_finding],
    },
)

LINES: Final = "one a line"
SHAPES: Final[dict[str, tuple[Any, str]]] = {
    "parse --json": (parsed, ""),
    "parse --stream --json": (event, LINES),
    "detect --json": (detection, ""),
    "run --json": (list[ToolExecution | unreadable], ""),
    "chat --json": (run_event, LINES),
    "check --json": (finding, LINES),
    "stats --json": (statistics, ""),
    "formats --json": (list[shape("TranscriptFormatJson", "A transcript format.", _NAMED)], ""),
    "dialects --json": (list[shape("DialectJson", "A dialect.", _DIALECT)], ""),
    "dialects show --json": (
        shape(
            "ShownJson",
            "A dialect with its markers and a sample.",
            _DIALECT | {"markers": markers, "sample": dict[str, str]},
        ),
        "",
    ),
    "providers --json": (
        list[
            shape(
                "ProviderJson",
                "A provider, and the dialect that its models read best.",
                {"name": str, "dialect": str, "aliases": list[str], "models": list[list[str]]},
                open=True,
            )
        ],
        "",
    ),
    "doctor --json": (diagnosis, ""),
    "probe --json": (probed, ""),
    "demo --json": (
        shape(
            "DemonstrationJson",
            "Recorded questions, and how each format shows the tools and reads the answers.",
            {"questions": list[str], "expected": list[JsonObject], "formats": list[JsonObject], "ok": bool},
            open=True,
        ),
        "",
    ),
}
"""The shape of what each command prints, and how it is printed if it is not one value."""


def schema(command: str) -> JsonObject:
    """Return the JSON Schema of what a command prints."""
    return TypeAdapter(SHAPES[command][0]).json_schema(mode="serialization")
