"""Measure the conversion of conversations, OpenAI to Anthropic and back, against bare JSON and other converters.

    python -m bench.converters                       # only toolfmt
    python -m venv peers && . peers/bin/activate
    pip install -e . litellm langchain-anthropic any-llm-sdk llm-rosetta martian-linguafranca
    python -m bench.converters                       # and all that are installed, in one run
    python -m bench.converters --largest 100

A conversation consists of turns with a question, text with a call, its result and an answer; the other kind has one
turn with many parallel calls. `us` is microseconds for each message as OpenAI counts them: if it does not grow with the
number of messages, the time is linear. `JSON` is the ratio to decoding and encoding the same request as JSON. `lost`
counts the losses in the messages. Only toolfmt looks for losses itself, and its time includes that.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from bench.converter_peers import PEERS, Made
from bench.measure import seconds
from toolfmt import convert
from toolfmt.transcripts.comparing.losses import losses
from toolfmt.transcripts.formats import find

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench.converter_peers import Convert

SIZES: Final = (10, 100, 1_000)
CALLS: Final = (1, 10, 100, 1_000)
LIMIT: Final = 5.0
"""Seconds for one conversion: a converter that takes longer is not tried on larger input."""
CHAT, ANTHROPIC = "openai-chat", "anthropic"
_CITY: Final = '{"city":"Paris","days":3,"units":{"temperature":"C","wind":"km/h"},"note":"as \\"exact\\" as it gets"}'
_WORDS: Final = "The forecast says that it will be sunny with a light wind from the west, and 21 degrees."


@dataclass(frozen=True, slots=True)
class Case:
    """A request in both formats, with a label for its size and the number of messages as OpenAI counts them."""

    what: str
    number: int
    count: int
    requests: dict[str, dict[str, Any]]


def cases(largest: int) -> Iterator[Case]:
    """Make both kinds of conversations up to a size."""
    yield from (_case("messages", size, conversation(size)) for size in SIZES if size <= largest)
    yield from (_case("calls", calls, parallel(calls)) for calls in CALLS if calls <= largest)


def _case(what: str, number: int, messages: list[Any]) -> Case:
    request = {"model": "claude-sonnet-4-5", "max_tokens": 1024, "messages": messages}
    made = convert(request, source=CHAT, target=ANTHROPIC).value
    return Case(what, number, len(messages), {CHAT: request, ANTHROPIC: {**request, **made}})


def conversation(size: int) -> list[Any]:
    """Make a conversation with an even number of messages."""
    messages: list[Any] = []
    while len(messages) < size:
        question = {"role": "user", "content": f"{len(messages)}: what will the weather be like in Paris?"}
        turn = _called([f"call_{len(messages)}"]) if size - len(messages) > 2 else ()  # noqa: PLR2004 - the rest
        messages += [question, *turn, {"role": "assistant", "content": _WORDS * 2}]
    return messages


def parallel(calls: int) -> list[Any]:
    """Make one turn with several calls."""
    turn = _called([f"call_{number}" for number in range(calls)])
    return [{"role": "user", "content": "And in Paris?"}, *turn, {"role": "assistant", "content": _WORDS}]


def _called(idents: list[str]) -> Iterator[dict[str, Any]]:
    function = {"name": "get_weather", "arguments": _CITY}
    calls = [{"id": ident, "type": "function", "function": function} for ident in idents]
    yield {"role": "assistant", "content": "Let me look that up.", "tool_calls": calls}
    yield from ({"role": "tool", "tool_call_id": ident, "content": _WORDS} for ident in idents)


def converters() -> Iterator[tuple[str, str, str, Convert]]:
    """Yield each installed converter in both directions; toolfmt finds its losses and keeps the residue."""
    for source, target in ((CHAT, ANTHROPIC), (ANTHROPIC, CHAT)):
        yield "toolfmt", source, target, partial(_ours, source, target)
        for peer in PEERS:
            if peer.installed():
                try:
                    yield peer.name, source, target, (peer.there if source == CHAT else peer.back)()
                except (ImportError, AttributeError) as error:
                    print(f"{peer.name} is of another version: {error}", file=sys.stderr)


def _ours(source: str, target: str, request: dict[str, Any]) -> Made:
    there = convert(request, source=source, target=target)
    return Made(there.value, len(there.losses) + len(there.bookkeeping))


def lost(request: Any, made: Any, source: str, target: str) -> int:
    """Count the losses in the messages."""
    found = losses(find(source).read(request), find(target).read(made))
    return sum(loss.code != "request_field" for loss in found)


def measure(made: Convert, case: Case, source: str, target: str, budget: float) -> tuple[float, str]:
    """Time one conversion; return the seconds and the cells of its row."""
    request = case.requests[source]
    text = json.dumps(request)
    plain = seconds(lambda: json.dumps(json.loads(text)), budget)
    began = time.monotonic()
    gone = lost(request, made(request).value, source, target)
    spent = seconds(lambda: made(request), 0 if time.monotonic() - began > LIMIT else budget)
    cells = (f"{spent / case.count * 1e6:.2f}", f"{case.count / spent:,.0f}", f"{spent / plain:.2f}", f"{gone:,}")
    return spent, " | ".join(cells)


def main(arguments: Sequence[str]) -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.converters", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--largest", type=int, default=SIZES[-1], metavar="NUMBER", help="leave larger ones out")
    parser.add_argument("--budget", type=float, default=0.3, metavar="SECONDS", help="for each figure")
    options = parser.parse_args(arguments)
    every = [*cases(options.largest)]
    columns = ("from", "converter", "of", "number", "us", "messages/s", "JSON", "lost")
    print(f"| {' | '.join(columns)} |\n|{' --- |' * len(columns)}")
    for name, source, target, made in converters():
        spent = 0.0
        for case in every:
            if spent > LIMIT:
                break
            try:
                spent, cells = measure(made, case, source, target, options.budget)
            except Exception as error:  # noqa: BLE001 - another converter may raise whatever it likes
                print(f"{name}, {case.number:,} {case.what}: {type(error).__name__}: {error}", file=sys.stderr)
                continue
            print(f"| {source} | {name} | {case.what} | {case.number:,} | {cells} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
