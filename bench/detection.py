"""Measure what detection costs, compared with reading a known dialect.

    python -m bench.detection
    python -m bench.detection --quick

Prints Markdown. `adds` is the additional time of `dialect="auto"` compared with the dialect by name, on a text of 2 KB,
both measured in one run; `x parse` is its ratio to reading. `later` is the cost of a piece of four characters after the
decision, divided by its cost for a parser with a known dialect.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

import toolfmt
from bench.measure import seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

SIZE = 2_000
ADDS = 20.0
"""The most microseconds that detection may add to a text of `SIZE` characters."""
LATER = 1.1
"""The highest ratio of a piece's cost after the decision to its cost without detection."""
_PROSE = ("The weather report said 21 degrees (in the shade); nobody believed it, least of all in Paris.\n" * 40)[:SIZE]
_CODE = "def f(a, b):\n    if a < b:\n        return [a, {'b': b}]\n    return g(a)[0]\n\n\n"
_HTML = '<div class="a"><p>Hello <b>you</b></p><ul><li>1</li></ul></div>\n'
_JSON = '{"result": [{"a": 1, "b": [1, 2, {"c": "d"}]}], "ok": true}\n'
_CALL = toolfmt.ToolInvocation(name="get_weather", arguments={"city": "Paris"})
_CALLING = ("hermes", "qwen3-coder", "mistral-v11", "harmony", "xml-items", "deepseek-v31")


def texts() -> dict[str, tuple[str, str]]:
    """Return texts by label, each with the dialect that reads it."""
    plain = {"prose": _PROSE, "code": (_CODE * 40)[:SIZE], "HTML": (_HTML * 40)[:SIZE], "JSON": (_JSON * 40)[:SIZE]}
    found = {what: (text, "hermes") for what, text in plain.items()}
    for name in _CALLING:
        wire = toolfmt.render_calls([_CALL], dialect=name)
        around = toolfmt.default_registry().dialect(name).traits.text_around
        found[f"prose and a call, {name}"] = (_PROSE[: SIZE - len(wire)] if around else "") + wire, name
    return found


def main(arguments: Sequence[str]) -> None:
    """Measure and print."""
    options_parser = argparse.ArgumentParser(
        prog="python -m bench.detection", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options_parser.add_argument("--quick", action="store_true", help="shorter measurements")
    budget = 0.02 if options_parser.parse_args(arguments).quick else 0.5
    print("| text | by name us | auto us | adds us | x parse |\n|---|---|---|---|---|")
    over: list[str] = []
    for what, (text, name) in texts().items():
        given = seconds(lambda text=text, name=name: toolfmt.parse(text, dialect=name), budget) * 1e6
        auto = seconds(lambda text=text: toolfmt.parse(text, dialect="auto"), budget) * 1e6
        print(f"| {what} | {given:.1f} | {auto:.1f} | {auto - given:.1f} | {(auto - given) / given:.2f} |")
        if auto - given > ADDS:
            over.append(f"- {what}: {auto - given:.1f} us more, at most {ADDS:g}")
    ratio = later(budget)
    print(f"\nA piece behind the decision: {ratio:.2f} times")
    if ratio > LATER:
        over.append(f"- a piece behind the decision: {ratio:.2f} times, at most {LATER:g}")
    print("\nOver budget:\n\n" + "\n".join(over) if over else "\nAll within budget.")


def later(budget: float) -> float:
    """Measure a long argument in pieces, after the point where the dialect is known."""
    begin = '<tool_call>\n{"name": "f", "arguments": {"text": "'
    pieces = ["word"] * 5_000

    def read(name: str) -> None:
        parser = toolfmt.open_parser(dialect=name)
        parser.feed(begin)
        feed = parser.feed
        for piece in pieces:
            feed(piece)
        parser.close()

    return seconds(lambda: read("auto"), budget) / seconds(lambda: read("hermes"), budget)


if __name__ == "__main__":
    main(sys.argv[1:])
