"""An answer that is JSON by a schema: what a model is asked for, how its text is read, and how it is corrected.

output = JsonOutput({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]})
output.asked(messages)                   # the instructions end with the schema
output.read('{"city": "Paris"}')         # the JSON text, without a fence around it
output.read('{"town": "Paris"}')         # raises ValueError: "- /: …"
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from toolfmt import jsontext
from toolfmt.conversation import Message, TextPart
from toolfmt.errors import ParseError
from toolfmt.model import ToolDefinition
from toolfmt.schema.validation import Validator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolfmt.model import JsonObject

ASKED: Final = (
    "When you have the final answer, write it as one JSON value that fits this JSON Schema, and nothing else:\n"
)
WRONG: Final = "Your final answer does not fit its schema:\n{}\nWrite the whole answer again, as JSON alone."
_FENCED: Final = re.compile(r"\s*```(?:json)?[ \t]*\n(.*?)\n?```\s*", re.DOTALL | re.IGNORECASE)


class JsonOutput:
    """Reads answers of one schema."""

    def __init__(self, schema: JsonObject) -> None:
        """Take the schema; raises `SchemaError` for one that cannot be used."""
        self.schema = schema
        self._validator = Validator(ToolDefinition(name="(output)", parameters=schema))

    def asked(self, messages: Sequence[Message]) -> list[Message]:
        """Put the schema at the end of a conversation's instructions."""
        return asked(messages, self.schema)

    def read(self, text: str) -> str:
        """Give the JSON of an answer; raises ValueError whose text says what is wrong."""
        text = unfenced(text)
        try:
            problems = self._validator.problems(jsontext.loads(text))  # pyright: ignore[reportArgumentType] - any value is checked
        except ParseError as error:
            raise ValueError(f"- /: it is not JSON: {error}") from None
        if problems:
            raise ValueError("\n".join(f"- {one.pointer or '/'}: {one.message}" for one in problems))
        return text


def asked(messages: Sequence[Message], schema: JsonObject) -> list[Message]:
    """Put a schema at the end of a conversation's instructions."""
    text = ASKED + jsontext.dumps(schema)
    if messages and messages[0].role in {"system", "developer"}:
        parts = (*messages[0].parts, TextPart(f"\n\n{text}"))
        return [replace(messages[0], parts=parts), *messages[1:]]
    return [Message("system", (TextPart(text),)), *messages]


def unfenced(text: str) -> str:
    """Take an answer out of its code fence."""
    fenced = _FENCED.fullmatch(text)
    return fenced[1] if fenced else text
