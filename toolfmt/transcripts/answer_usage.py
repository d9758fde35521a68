"""Counts of tokens, read and written as each provider counts them.

    {"prompt_tokens": 12, "completion_tokens": 9, "total_tokens": 21}              Chat Completions
    {"input_tokens": 2, "cache_read_input_tokens": 10, "output_tokens": 9}         Anthropic: cached is beside input
    {"promptTokenCount": 12, "candidatesTokenCount": 5, "thoughtsTokenCount": 4}   Gemini: thoughts are beside the rest

`Usage` counts as OpenAI does: all of the input and all of the output, and what is among them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from toolfmt.transcripts.answer_info import Usage
from toolfmt.transcripts.settings.record import at, put

if TYPE_CHECKING:
    from toolfmt.model import JsonObject

_PARTS: Final = {"cached": "input", "cache_written": "input", "reasoning": "output"}
"""What may be counted beside the rest, and of what it is a part."""


@dataclass(frozen=True, slots=True)
class TokenCounting:
    """Where an API counts tokens."""

    places: Mapping[str, str]
    """The place of each count of `Usage`, and of their `total`, in the order in which they are written."""
    beside: tuple[str, ...] = ()
    """The counts that are not among those of the input or the output."""
    further: str = ""
    """The place of more input, which is only read."""

    def read(self, value: JsonObject) -> Usage:
        """Read a count."""
        found = {name: _whole(at(value, place)) for name, place in self.places.items() if name != "total"}
        found["input"] += _whole(at(value, self.further)) if self.further else 0
        for name in self.beside:
            found[_PARTS[name]] += found[name]
        return Usage(**found)

    def write(self, usage: Usage | None) -> JsonObject:
        """Write a count; zeros where it is not known."""
        usage = usage or Usage()
        counts = {name: getattr(usage, name) for name in ("input", "output", *_PARTS)}
        counts["total"] = usage.input + usage.output
        for name in self.beside:
            counts[_PARTS[name]] -= counts[name]
        written: JsonObject = {}
        for name, place in self.places.items():
            put(written, place, counts[name])
        return written


def _whole(found: object) -> int:
    if isinstance(found, float) and found.is_integer():
        return int(found)
    return found if isinstance(found, int) else 0
