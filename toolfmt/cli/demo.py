"""`toolfmt demo`: the main job on recorded data, in every format."""

from collections import Counter
from typing import Annotated

from cyclopts import Parameter

from toolfmt import jsontext
from toolfmt.cli.choice import meant
from toolfmt.cli.events import event_record, result_record, say_events
from toolfmt.cli.output import say, write_json, write_table
from toolfmt.cli.replay import Arrival, Recording, Replay, load, replay
from toolfmt.events import CallEnd
from toolfmt.lookup.registry import default_registry
from toolfmt.model import JsonObject


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
        write_json({**_origin(recording), "formats": [_record(one) for one in replays], "ok": right})
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
        f"{_formats(len(replays))}: tools -> manifest -> an answer -> its calls, read whole and streamed",
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
            f"* marks those of {_formats(made)} without a recording: the expected calls, written by the format itself.",
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
    """Write the outcome and what to try next."""
    wrong = [one.dialect.name for one in replays if not one.right]
    note = f"; wrong: {', '.join(wrong)}" if wrong else ""
    say("")
    say("result", f"{len(replays) - len(wrong)} of {len(replays)} as expected{note}", "bold red" if wrong else "green")
    name = replays[-1].dialect.name
    if len(replays) > 1:
        say("next", f"toolfmt demo {name}: the manifest, the answer and the events of one format")
    else:
        say("next", f"toolfmt parse ANSWER.txt --dialect {name} --tools TOOLS.json: read your own answer")


def _formats(count: int) -> str:
    return "1 format" if count == 1 else f"{count} formats"


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
                    "calls_at": [at for at, _ in _ended(streamed)],
                },
            }
            for answer, whole, streamed in messages
        ],
        "agree": one.agree,
        "equal": one.equal,
    }
