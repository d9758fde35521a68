"""Where the conversations come from that the judges are given: every format that toolfmt writes, and recorded cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from toolfmt import convert
from toolfmt.conversation import Transcript
from toolfmt.errors import ConversionError
from toolfmt.transcripts.fitting.shape import shape
from toolfmt.transcripts.formats import find, formats

CASES = Path(__file__).resolve().parents[2] / "shared" / "transcripts" / "cases.jsonl"
SOURCES = [made for made in formats() if made.writable]


def speaks(value: Any, name: str) -> bool:
    """Whether a message of a value says anything; else there is nothing to convert."""
    return any(message.parts for message in find(name).read(value).messages)


def converted(value: Any, source: str, target: str) -> Any:
    """Convert a conversation; None if the target can hold nothing of it."""
    try:
        return convert(value, source=source, target=target).value
    except ConversionError as error:
        if "nothing is left" not in str(error):
            raise
        return None


def written(transcript: Transcript, name: str) -> Any:
    """Write a conversation in a format, as the JSON that is sent."""
    made = find(name)
    return json.loads(json.dumps(made.write(shape(transcript, made.rules))))
