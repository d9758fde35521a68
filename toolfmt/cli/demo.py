"""`toolfmt demo`: the main job on recorded data, in every format: a manifest, an answer, its calls, whole and streamed.

Tools, questions and expected calls are in `recordings/bfcl.json`, answers in `recordings/answers/<dialect>.txt`; a
dialect with one call per message has a file for each (`<dialect>.1.txt`, ...). The answers are written by hand. A
dialect without answers, such as a third party's, writes the expected calls itself.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Annotated, Any, Final, TypeAlias

from cyclopts import Parameter

from toolfmt import jsontext
from toolfmt.cli.choice import meant
from toolfmt.cli.events import event_record, result_record, say_events
from toolfmt.cli.output import counted_as, say, write_json, write_table
from toolfmt.dialect.record import AnyDialect
from toolfmt.events import CallEnd, Event, coalesce
from toolfmt.lookup.registry import default_registry
from toolfmt.manifests import manifest
from toolfmt.model import JsonObject, JsonValue, ToolDefinition, ToolInvocation
from toolfmt.parsing import ParseResult, open_parser, parse
from toolfmt.tools import tools

Arrival: TypeAlias = "tuple[int, Event]"
"""An event, and the number of characters after which it was emitted."""

_FOLDER: Final = files("toolfmt.cli") / "recordings"


@dataclass(frozen=True)
class Recording:
    """Entries of a public data set, with their provenance."""

    data: JsonObject

    @property
    def ids(self) -> list[str]:
        """The entries' ids in the data set."""
        return [entry["id"] for entry in self.data["entries"]]

    @property
    def questions(self) -> list[str]:
        """The user's messages."""
        return [turn["content"] for entry in self.data["entries"] for turns in entry["question"] for turn in turns]

    @cached_property
    def tools(self) -> tuple[ToolDefinition, ...]:
        """The offered tools."""
        return tools([function for entry in self.data["entries"] for function in entry["function"]])

    @property
    def calls(self) -> list[ToolInvocation]:
        """The expected calls, one for each entry."""
        truths = [truth for entry in self.data["entries"] for truth in entry["ground_truth"]]
        return [
            ToolInvocation(name=name, arguments=_first_accepted(given))
            for truth in truths
            for name, given in truth.items()
        ]


@dataclass(frozen=True)
class Replay:
    """One dialect's answer, message by message, and how it was read."""

    dialect: AnyDialect
    manifest: str
    by_hand: bool
    answers: list[str]
    whole: list[ParseResult]
    streamed: list[list[Arrival]]
    expected: list[ToolInvocation]

    @property
    def agree(self) -> bool:
        """Whether reading the whole answer and reading the stream give the same events."""
        streams = [coalesce([event for _, event in streamed]) for streamed in self.streamed]
        return jsontext.equal(
            [[*map(event_record, whole.events)] for whole in self.whole],
            [[*map(event_record, stream)] for stream in streams],
        )

    @property
    def equal(self) -> bool:
        """Whether the calls equal the expected ones, with their types, and nothing failed."""
        calls = [call for result in self.whole for call in result.calls]
        return not any(result.failures for result in self.whole) and jsontext.equal(
            [[call.name, call.arguments] for call in calls], [[call.name, call.arguments] for call in self.expected]
        )

    @property
    def right(self) -> bool:
        """Whether both hold."""
        return self.agree and self.equal


def load() -> Recording:
    """Read the recorded entries."""
    return Recording(jsontext.loads((_FOLDER / "bfcl.json").read_text("utf-8")))


def replay(dialect: AnyDialect, recording: Recording) -> Replay:
    """Do the main job in one dialect."""
    offered, calls = recording.tools, recording.calls
    by_hand = _answers(dialect.name)
    answers = by_hand
    if not by_hand:
        messages = [calls] if dialect.traits.parallel else [[call] for call in calls]
        answers = [dialect.calls(message, {tool.name: tool for tool in offered}) for message in messages]
    return Replay(
        dialect=dialect,
        manifest=manifest(offered, dialect=dialect),
        by_hand=bool(by_hand),
        answers=answers,
        whole=[parse(answer, dialect=dialect, tools=offered, validate=True) for answer in answers],
        streamed=[_streamed(answer, dialect, offered) for answer in answers],
        expected=calls,
    )


def _answers(name: str) -> list[str]:
    wanted = re.compile(re.escape(name) + r"(?:\.\d+)?\.txt")
    found = {path.name: path for path in (_FOLDER / "answers").iterdir() if wanted.fullmatch(path.name)}
    return [found[one].read_text("utf-8") for one in sorted(found)]


def _streamed(answer: str, dialect: AnyDialect, offered: tuple[ToolDefinition, ...]) -> list[Arrival]:
    parser = open_parser(dialect=dialect, tools=offered, validate=True)
    arrived = [(at, event) for at, character in enumerate(answer, 1) for event in parser.feed(character)]
    return [*arrived, *((len(answer), event) for event in parser.close())]


def _first_accepted(arguments: JsonObject) -> JsonObject:
    """Take the first of the values that the data set accepts for each argument; objects in them list theirs too."""
    return {key: _chosen(accepted[0]) for key, accepted in arguments.items()}


def _chosen(value: Any) -> JsonValue:
    if jsontext.is_object(value):
        return _first_accepted(value)
    return [_chosen(item) for item in value] if jsontext.is_array(value) else value


def demo(
    name: Annotated[str | None, Parameter(help="Show one format in full: its name, or a provider or model.")] = None,
    /,
    *,
    json: Annotated[bool, Parameter(help="Print JSON.")] = False,
) -> int:
    """Read a recorded answer in each format, whole and streamed, and check its calls.

    The exit code is 1 if the two readings differ, or if the calls are not the expected ones.
    """
    recording = load()
    replays = [replay(one, recording) for one in ([meant(name)] if name else default_registry())]
    right = all(one.right for one in replays)
    if json:
        write_json(
            {
                **{key: recording.data[key] for key in ("source", "answers")},
                "entries": recording.ids,
                "questions": recording.questions,
                "expected": [{"name": call.name, "arguments": call.arguments} for call in recording.calls],
                "formats": [_record(one) for one in replays],
                "ok": right,
            }
        )
    else:
        _introduce(recording, replays)
        if name:
            _show(replays[0])
        else:
            write_table(("  format", "manifest", "answer", "calls end at", "whole and streamed"), map(_row, replays))
        _conclude(replays)
    return 0 if right else 1


def _introduce(recording: Recording, replays: list[Replay]) -> None:
    source = recording.data["source"]
    say(
        "toolfmt demo",
        f"{counted_as(len(replays), 'format')}: tools -> manifest -> an answer -> its calls, read whole and streamed",
        "bold cyan",
    )
    say("recorded", f"{source['name']} ({source['package']}, {source['license']}): {', '.join(recording.ids)}")
    for question in recording.questions:
        say("question", question)
    for call in recording.calls:
        say("expected", f"{call.name}\n{jsontext.dumps(call.arguments)}")
    say("answers", recording.data["answers"])
    made = sum(not one.by_hand for one in replays)
    if made:
        say(
            "",
            f"* marks those of {counted_as(made, 'format')} without a recording: the expected calls, written by the "
            "format itself.",
        )
    say("")


def _row(one: Replay) -> tuple[str, ...]:
    """Return a format's row: the lengths of its texts, and when each call is certain."""
    sizes = [str(len(answer)) for answer in one.answers]
    ends = [", ".join(str(at) for at, _ in _ended(streamed)) for streamed in one.streamed]
    return (
        f"{_mark(one)} {one.dialect.name}",
        str(len(one.manifest)),
        " + ".join(sizes) + ("" if one.by_hand else " *"),
        " + ".join(ends),
        _verdict(one),
    )


def _show(one: Replay) -> None:
    say(one.dialect.name, one.dialect.summary, "bold cyan")
    say("manifest", one.manifest.rstrip("\n"))
    for answer, whole, streamed in zip(one.answers, one.whole, one.streamed, strict=True):
        say("answer" if one.by_hand else "answer *", answer.rstrip("\n"))
        say("read whole", f"{len(answer)} characters at once")
        say_events(whole.events)
        counts = ", ".join(f"{count} {kind}" for kind, count in _counts(streamed).items())
        say("read streamed", f"one character at a time: {counts}")
        for at, call in _ended(streamed):
            say(f"call {call.index}", f"certain at character {at} of {len(answer)}", "bold green")
    say("")
    say(f"{_mark(one)} {one.dialect.name}", _verdict(one), "green" if one.right else "bold red")


def _conclude(replays: list[Replay]) -> None:
    wrong = [one.dialect.name for one in replays if not one.right]
    note = f"; wrong: {', '.join(wrong)}" if wrong else ""
    say("")
    say("result", f"{len(replays) - len(wrong)} of {len(replays)} as expected{note}", "bold red" if wrong else "green")
    name = (wrong or [replays[-1].dialect.name])[0]
    if len(replays) > 1:
        say("next", f"toolfmt demo {name}: the manifest, the answer and the events of one format")
    else:
        say("next", f"toolfmt parse ANSWER.txt --dialect {name} --tools TOOLS.json: read your own answer")


def _mark(one: Replay) -> str:
    return "✓" if one.right else "✗"


def _verdict(one: Replay) -> str:
    count = len(one.expected)
    calls = f"the {count} expected calls" if one.equal else f"NOT the {count} expected calls"
    return f"{'agree' if one.agree else 'DIFFER'}, {calls}"


def _ended(streamed: list[Arrival]) -> list[tuple[int, CallEnd]]:
    return [(at, event) for at, event in streamed if isinstance(event, CallEnd)]


def _counts(streamed: list[Arrival]) -> Counter[str]:
    return Counter(event_record(event)["event"] for _, event in streamed)


def _record(one: Replay) -> JsonObject:
    messages = zip(one.answers, one.whole, one.streamed, strict=True)
    return {
        "dialect": one.dialect.name,
        "manifest": one.manifest,
        "written_by_hand": one.by_hand,
        "messages": [
            {
                "answer": answer,
                "whole": result_record(whole),
                "streamed": {"events": dict(_counts(streamed)), "calls_at": [at for at, _ in _ended(streamed)]},
            }
            for answer, whole, streamed in messages
        ],
        "agree": one.agree,
        "equal": one.equal,
    }
