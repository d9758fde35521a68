"""Measure how long a grammar of many tools takes to write, for each target.

python -m bench.grammars                   # 100 tools, a few formats
python -m bench.grammars --tools 20 --only hermes
"""

from __future__ import annotations

import argparse
import sys
from typing import Final

from bench.measure import seconds
from toolfmt import ToolDefinition, grammar
from toolfmt.errors import SchemaError
from toolfmt.workshop.grammars import WRITERS

FORMATS: Final = ("hermes", "qwen3-coder", "xml-items", "pythonic", "harmony")


def tools(count: int) -> list[ToolDefinition]:
    """Make tools with seven arguments, of which one is an object and one a list."""
    place = {
        "type": "object",
        "properties": {"city": {"type": "string"}, "zip": {"type": "integer"}},
        "required": ["city"],
    }
    return [
        ToolDefinition(
            name=f"tool_{number}",
            parameters={
                "type": "object",
                "properties": {
                    "query": {"type": "string"},
                    "path": {"type": "string"},
                    "limit": {"type": "integer", "minimum": 1, "maximum": 500},
                    "exact": {"type": "boolean"},
                    "unit": {"enum": ["a", "b", "c"]},
                    "place": place,
                    "tags": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["query", "path"],
            },
        )
        for number in range(count)
    ]


def main(arguments: list[str]) -> None:
    """Print seconds and characters for each format and target."""
    parser = argparse.ArgumentParser(description="How long a grammar takes to make, and how long it is.")
    parser.add_argument("--tools", type=int, default=100)
    parser.add_argument("--only", nargs="*", default=FORMATS)
    options = parser.parse_args(arguments)
    offered = tools(options.tools)
    for name in options.only:
        for target in WRITERS:
            try:
                size = len(str(grammar(name, offered, target=target)))
            except SchemaError as error:
                sys.stdout.write(f"{name:12} {target:15} refused: {error}\n")
                continue
            took = seconds(lambda name=name, target=target: grammar(name, offered, target=target), 0.5)
            sys.stdout.write(f"{name:12} {target:15} {took:6.3f} s {size:9} characters\n")


if __name__ == "__main__":
    main(sys.argv[1:])
