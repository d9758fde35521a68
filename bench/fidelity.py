"""Compare what converters keep of a conversation's traits, OpenAI to Anthropic and back, and what they report.

    python -m venv peers && . peers/bin/activate
    pip install -e . litellm langchain-anthropic any-llm-sdk llm-rosetta martian-linguafranca
    python -m bench.fidelity             # a table
    python -m bench.fidelity --each      # and each trait that did not arrive

The conversations are those of the matrix, as far as they are about messages and the source can represent them. Each
result is read, compared with its source and checked in the same way for all converters: a trait is `kept`, or is lost
and `told` (by a value, a warning or an exception), or lost in `silence`, or is in a result that the target's provider
would refuse (`invalid`).
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from bench.converters import converters
from docs.traits import TRAITS
from toolfmt import ToolFmtError, check
from toolfmt.transcripts.comparing.losses import losses
from toolfmt.transcripts.fitting.shape import shape
from toolfmt.transcripts.formats import find

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.converter_peers import Convert
    from docs.traits import Trait

OUTCOMES: Final = ("kept", "told", "silence", "invalid")


def requests(name: str) -> dict[str, dict[str, Any]]:
    """Write the conversations of the traits that a format can represent, except those about tools."""
    made = find(name)
    found: dict[str, dict[str, Any]] = {}
    for trait, one in TRAITS.items():
        value = made.write(shape(one.conversation, made.rules))
        if not one.conversation.tools and not one.lost(losses(one.conversation, made.read(value))):
            found[trait] = {"model": "claude-sonnet-4-5", "max_tokens": 1024, **value}
    return found


def outcome(made: Convert, request: dict[str, Any], trait: Trait, source: str, target: str) -> str:
    """Convert one conversation and judge the result."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            value, reported = made(request)
        except ToolFmtError:
            return "told"
        except Exception as error:  # noqa: BLE001 - another converter may refuse as it likes
            print(f"{source}: {type(error).__name__}: {error}", file=sys.stderr)
            return "told"
    if check(value, format=target):
        return "invalid"
    if not trait.lost(losses(find(source).read(request), find(target).read(value))):
        return "kept"
    return "told" if reported or said else "silence"


def main(arguments: Sequence[str]) -> None:
    """Judge every installed converter and print a table."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.fidelity", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--each", action="store_true", help="name the traits that did not arrive")
    options = parser.parse_args(arguments)
    lines: list[str] = []
    print(f"| from | converter | traits | {' | '.join(OUTCOMES)} |\n|{' --- |' * (3 + len(OUTCOMES))}")
    for name, source, target, made in converters():
        every = requests(source)
        found = {trait: outcome(made, request, TRAITS[trait], source, target) for trait, request in every.items()}
        counted = Counter(found.values())
        print(f"| {source} | {name} | {len(every)} | {' | '.join(f'{counted[one]}' for one in OUTCOMES)} |")
        lines += (f"{source}, {name}: {trait}: {what}" for trait, what in found.items() if what != "kept")
    if options.each:
        print("\n".join(("", *lines)))


if __name__ == "__main__":
    main(sys.argv[1:])
