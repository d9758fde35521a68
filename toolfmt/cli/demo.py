"""`toolfmt demo`: the main job on recorded data, in every format."""

from collections import Counter
from typing import Annotated

from cyclopts import Parameter

from toolfmt import jsontext
from toolfmt.cli.events import say_events
from toolfmt.cli.output import say, write_json
from toolfmt.cli.records import event_record, result_record
from toolfmt.cli.replay import Arrival, Recording, Replay, load, replay
from toolfmt.events import CallEnd
from toolfmt.model import JsonObject
from toolfmt.registry import default_registry

_SHORT = 6
"""Lines of a manifest that are shown when every format is."""


def demo(
    *,
    dialect: Annotated[str | None, Parameter(alias="-d", help="Only this format, with its whole manifest.")] = None,
    json: Annotated[bool, Parameter(help="Print JSON.")] = False,
) -> int:
    """Show recorded tools, read an answer in each format, whole and streamed, and check its calls.

    The exit code is 1 if the two readings differ, or the calls from the expected ones.
    """
    registry = default_registry()
    recording = load()
    replays = [replay(one, recording) for one in ([registry.dialect(dialect)] if dialect else registry)]
    right = all(one.agree and one.equal for one in replays)
    if json:
        write_json({**_origin(recording), "formats": [_record(one) for one in replays], "ok": right})
    else:
        _introduce(recording)
        for one in replays:
            _show(one, lines=None if dialect else _SHORT)
        say("")
        for one in replays:
            _judge(one)
    return 0 if right else 1


def _introduce(recording: Recording) -> None:
    source = recording.data["source"]
    names = ", ".join(tool.name for tool in recording.tools)
    say("recorded", f"tools, questions and expected calls: {', '.join(recording.ids)} of")
    say("", f"{source['name']} ({source['package']}, {source['license']})\n{source['repository']}")
    say("answers", recording.data["answers"])
    say("tools", names)
    for question in recording.questions:
        say("question", question)
    for call in recording.calls:
        say("expected", f"{call.name}\n{jsontext.dumps(call.arguments)}")


def _show(one: Replay, *, lines: int | None) -> None:
    say("")
    say(one.dialect.name, one.dialect.summary, "bold cyan")
    shown = one.manifest.splitlines()
    rest = len(shown) - len(shown[:lines])
    say("manifest", "\n".join(shown[:lines]) + (f"\n({rest} more lines: --dialect {one.dialect.name})" if rest else ""))
    for answer, whole, streamed in zip(one.answers, one.whole, one.streamed, strict=True):
        say("answer" if one.by_hand else "answer, made now", answer.rstrip("\n"))
        say("read whole", f"{len(answer)} characters at once")
        say_events(whole.events)
        counts = ", ".join(f"{count} {kind}" for kind, count in _counts(streamed).items())
        say("read streamed", f"one character at a time: {counts}")
        for at, event in streamed:
            if isinstance(event, CallEnd):
                say(f"call {event.index}", f"certain at character {at} of {len(answer)}", "bold green")


def _judge(one: Replay) -> None:
    count = len(one.expected)
    readings = "whole and streamed agree" if one.agree else "whole and streamed DIFFER"
    calls = f"the {count} calls are the expected ones" if one.equal else f"the calls are NOT the {count} expected ones"
    made = "" if one.by_hand else " (of an answer that was written just now)"
    right = one.agree and one.equal
    say(f"{'✓' if right else '✗'} {one.dialect.name}", f"  {readings}, {calls}{made}", "green" if right else "bold red")


def _counts(streamed: list[Arrival]) -> Counter[str]:
    return Counter(event_record(event)["event"] for _, event in streamed)


def _origin(recording: Recording) -> JsonObject:
    return {
        "source": recording.data["source"],
        "answers": recording.data["answers"],
        "entries": recording.ids,
        "questions": recording.questions,
        "expected": [{"name": call.name, "arguments": call.arguments} for call in recording.calls],
    }


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
                "streamed": {
                    "events": dict(_counts(streamed)),
                    "calls_at": [at for at, event in streamed if isinstance(event, CallEnd)],
                },
            }
            for answer, whole, streamed in messages
        ],
        "agree": one.agree,
        "equal": one.equal,
    }
