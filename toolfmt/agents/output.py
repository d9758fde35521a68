"""A typed final answer: what the model is asked for, and how its text becomes a value.

    loop = AgentLoop(driver, registry, output=Weather)      # a pydantic model, a dataclass, list[str], ...
    loop.run_sync("Weather in Paris?").output               # Weather(city="Paris", degrees=18)

The instructions end with the JSON Schema of the answer. Text that does not fit it is asked for again, with what is
wrong; the conversation keeps both.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from pydantic import PydanticSchemaGenerationError, PydanticUserError, TypeAdapter, ValidationError

from toolfmt import jsontext
from toolfmt.conversation import Message, TextPart

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from toolfmt.agents.compilers import Compiler
    from toolfmt.agents.state import AgentState

ASKED: Final = (
    "When you have the final answer, write it as one JSON value that fits this JSON Schema, and nothing else:\n"
)
WRONG: Final = "Your final answer does not fit its schema:\n{}\nWrite the whole answer again, as JSON alone."
RETRIES: Final = 2
"""How many answers in one run may fail to fit."""
_FENCED: Final = re.compile(r"\s*```(?:json)?[ \t]*\n(.*?)\n?```\s*", re.DOTALL | re.IGNORECASE)


class Output:
    """Reads final answers of one type."""

    def __init__(self, kind: Any) -> None:
        """Take the type; raises TypeError for one that pydantic cannot validate or describe."""
        try:
            self._adapter: TypeAdapter[Any] = TypeAdapter(kind)
            self._schema = self._adapter.json_schema()
        except (PydanticSchemaGenerationError, PydanticUserError) as error:
            raise TypeError(
                f"output is a type that pydantic validates, such as a model, not {kind!r}: {error}"
            ) from None

    def compiled(self, compiler: Compiler) -> Compiler:
        """Show a model what `compiler` shows, with the schema in the instructions."""
        text = ASKED + jsontext.dumps(self._schema)

        def shown(state: AgentState) -> Sequence[Message]:
            messages = list(compiler(state))
            if messages and messages[0].role in {"system", "developer"}:
                parts = (*messages[0].parts, TextPart(f"\n\n{text}"))
                return [replace(messages[0], parts=parts), *messages[1:]]
            return [Message("system", (TextPart(text),)), *messages]

        return shown

    def read(self, text: str) -> Any:
        """Read the value of a final answer; raises ValueError whose text says what is wrong."""
        fenced = _FENCED.fullmatch(text)
        try:
            return self._adapter.validate_json(fenced[1] if fenced else text)
        except ValidationError as error:
            raise ValueError("\n".join(_problems(error))) from None

    def settled(self, state: AgentState, tell: Callable[[int, str], None]) -> AgentState:
        """Give a completed state its output; one whose answer does not fit goes on, or has failed."""
        try:
            return replace(state, output=self.read(state.text))
        except ValueError as wrong:
            attempt = sum(step.final for step in state.steps)
            tell(attempt, str(wrong))
            if attempt > RETRIES:
                return state.with_status("failed", f"{attempt} final answers did not fit their schema: {wrong}")
            return state.with_status("running").with_messages(WRONG.format(wrong))


def _problems(error: ValidationError) -> list[str]:
    """Say what is wrong, each with its place; what the model wrote is not repeated."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return [f"- /{'/'.join(map(str, one['loc']))}: {one['msg']}" for one in found]
