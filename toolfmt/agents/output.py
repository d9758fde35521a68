"""Final answers that are JSON of a schema, or values of a type.

    loop = AgentLoop(driver, registry, output=Weather)      # a pydantic model, a dataclass, list[str], ...
    loop.run_sync("Weather in Paris?").output               # Weather(city="Paris", degrees=18)

    output = JsonOutput({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]})
    output.read('{"city": "Paris"}')                        # the JSON text, without a code fence
    output.read('{"town": "Paris"}')                        # raises ValueError: "- /: …"

The instructions end with the JSON Schema of the answer. If the answer does not fit, the loop writes what is
wrong to the model and asks again; the conversation keeps both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from inspect import isroutine
from typing import Any, Final

from pydantic import PydanticSchemaGenerationError, PydanticUserError, TypeAdapter, ValidationError

from toolfmt import jsontext
from toolfmt.agents.compilers import Compiler
from toolfmt.agents.state import AgentState
from toolfmt.conversation import Message, TextPart
from toolfmt.errors import ParseError
from toolfmt.model import JsonObject, JsonValue, ToolDefinition
from toolfmt.schema.validation import Validator

RETRIES: Final = 2
"""How many answers in one run may fail to fit."""
ASKED: Final = (
    "The text of your final answer must be one JSON value that fits this JSON Schema, without any other words:\n"
)
WRONG: Final = (
    "Your final answer does not fit its schema:\n{}\n"
    "Write the whole final answer again: one JSON value, without any other words."
)
_FENCED: Final = re.compile(r"\s*```(?:json)?[ \t]*\n(.*?)\n?```\s*", re.DOTALL | re.IGNORECASE)


class Output:
    """Reads final answers of one type."""

    def __init__(self, kind: Any) -> None:
        """Take the type; raises TypeError for one that pydantic cannot validate or describe."""
        if isinstance(kind, Mapping):
            raise TypeError("output is a type, such as a pydantic model or list[str], not a JSON Schema")
        if isroutine(kind):
            raise TypeError(f"output is a type, such as a pydantic model, not the function {kind.__name__}")
        try:
            self._adapter: TypeAdapter[Any] = TypeAdapter(kind)
            self._schema = self._adapter.json_schema()
        except (PydanticSchemaGenerationError, PydanticUserError) as error:
            raise TypeError(
                f"output is a type that pydantic validates, such as a model, not {kind!r}: {error}"
            ) from None

    def compiled(self, compiler: Compiler) -> Compiler:
        """Add the schema to the instructions that `compiler` shows."""
        return lambda state: asked(compiler(state), self._schema)

    def read(self, text: str) -> Any:
        """Read the value of a final answer; raises ValueError whose text says what is wrong."""
        text = unfenced(text)
        try:
            return self._adapter.validate_json(text)
        except ValidationError as error:
            _loaded(text)  # whose message on what is not JSON is for a model
            raise ValueError("\n".join(_problems(error))) from None

    def settled(self, state: AgentState, report: Callable[..., None]) -> AgentState:
        """Set the output of a completed state; if its answer does not fit, the state is running or failed."""
        try:
            return replace(state, output=self.read(state.text))
        except ValueError as wrong:
            attempt = sum(step.final for step in state.steps)
            report(attempt=attempt, error=str(wrong))
            if attempt > RETRIES:
                return state.with_status("failed", f"{attempt} final answers did not fit their schema: {wrong}")
            return state.with_status("running").with_messages(WRONG.format(wrong))


def _problems(error: ValidationError) -> list[str]:
    """List the problems with their places, without the model's own text."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return [
        f"- /{'/'.join(map(str, one['loc']))}: {'it is missing' if one['type'] == 'missing' else one['msg']}"
        for one in found
    ]


def _loaded(text: str) -> JsonValue:
    try:
        return jsontext.loads(text)
    except ParseError as error:
        raise ValueError(f"- /: it is not JSON: {error}") from None


class JsonOutput:
    """Reads answers that are JSON of one schema."""

    def __init__(self, schema: JsonObject) -> None:
        """Take the schema; raises `SchemaError` for one that cannot be used."""
        self.schema = schema
        self._validator = Validator(ToolDefinition(name="(output)", parameters=schema))

    def asked(self, messages: Sequence[Message]) -> list[Message]:
        """Put the schema at the end of a conversation's instructions."""
        return asked(messages, self.schema)

    def read(self, text: str) -> str:
        """Return the JSON text of an answer; the text of the ValueError says what is wrong."""
        text = unfenced(text)
        if problems := self._validator.problems(_loaded(text)):
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
