"""A typed final answer: what the model is asked for, and how its text becomes a value.

    loop = AgentLoop(driver, registry, output=Weather)      # a pydantic model, a dataclass, list[str], ...
    loop.run_sync("Weather in Paris?").output               # Weather(city="Paris", degrees=18)

The instructions end with the JSON Schema of the answer. Text that does not fit it is asked for again, with what is
wrong; the conversation keeps both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from pydantic import PydanticSchemaGenerationError, PydanticUserError, TypeAdapter, ValidationError

from toolfmt.agents.json_output import WRONG, asked, unfenced

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from toolfmt.agents.compilers import Compiler
    from toolfmt.agents.state import AgentState
    from toolfmt.conversation import Message

RETRIES: Final = 2
"""How many answers in one run may fail to fit."""


class Output:
    """Reads final answers of one type."""

    def __init__(self, kind: Any) -> None:
        """Take the type; raises TypeError for one that pydantic cannot validate or describe."""
        if isinstance(kind, Mapping):
            raise TypeError("output is a type, such as a pydantic model or list[str], not a JSON Schema")
        try:
            self._adapter: TypeAdapter[Any] = TypeAdapter(kind)
            self._schema = self._adapter.json_schema()
        except (PydanticSchemaGenerationError, PydanticUserError) as error:
            raise TypeError(
                f"output is a type that pydantic validates, such as a model, not {kind!r}: {error}"
            ) from None

    def compiled(self, compiler: Compiler) -> Compiler:
        """Show a model what `compiler` shows, with the schema in the instructions."""

        def shown(state: AgentState) -> Sequence[Message]:
            return asked(compiler(state), self._schema)

        return shown

    def read(self, text: str) -> Any:
        """Read the value of a final answer; raises ValueError whose text says what is wrong."""
        try:
            return self._adapter.validate_json(unfenced(text))
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
