"""An agent's loop with a scripted model: prompt, answer, calls, results, errors, final answer.

    python examples/weather_agent.py

Change PROVIDER, and prompt, parser and history change with it. The script plays
a model that makes a mistake first and corrects it when it is told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from toolfmt import ToolInvocation, ToolRegistry, ToolResult, feedback, inject, parse, render_calls, render_results

if TYPE_CHECKING:
    from collections.abc import Iterator

PROVIDER = "anthropic"
MOST_TURNS = 5

tools = ToolRegistry()


@tools.register
def get_weather(city: str, days: Annotated[int, Field(ge=1, le=3)] = 1) -> dict[str, Any]:
    """Look up the weather.

    Args:
        city: The city's name.
        days: How many days ahead.
    """
    known = {"Paris": [21, 23, 22], "Oslo": [12, 14, 13]}
    return {"city": city, "degrees": known[city][:days]}


def scripted_model() -> Iterator[str]:
    """Answer like a model: wrong arguments, then right ones, then a summary."""

    def call(**arguments: object) -> ToolInvocation:
        return ToolInvocation(name="get_weather", arguments=arguments)

    yield "Let me see.\n" + render_calls([call(city="Paris", days=14)], provider=PROVIDER, tools=tools)
    both = [call(city="Paris", days=2), call(city="Oslo", days=2)]
    yield "Three days at most, then.\n" + render_calls(both, provider=PROVIDER, tools=tools)
    yield "It will be 21 and 23 degrees in Paris, 12 and 14 in Oslo."


def run(call: ToolInvocation) -> ToolResult:
    """Run one call; what goes wrong in the tool is a result too."""
    function = tools.function(call.name)
    assert function is not None
    try:
        return ToolResult(name=call.name, id=call.id, content=function(**call.arguments))
    except LookupError as error:
        return ToolResult(name=call.name, id=call.id, content=f"unknown: {error}", is_error=True)


def main() -> None:
    """Talk until an answer has no calls."""
    prompt = inject("You are a weather assistant.\n{{tools}}", tools, provider=PROVIDER)
    messages = [("system", prompt), ("user", "What will Paris and Oslo be like in the next two days?")]
    model = scripted_model()
    for _ in range(MOST_TURNS):
        answer = next(model)  # a real one would be sent the messages
        messages.append(("assistant", answer))
        result = parse(answer, provider=PROVIDER, tools=tools, validate=True)
        replies = [feedback(failure, provider=PROVIDER, tools=tools) for failure in result.failures]
        if result.calls:
            replies.append(render_results([run(call) for call in result.calls], provider=PROVIDER))
        if not replies:
            break
        messages.append(("user", "\n\n".join(replies)))
    for role, text in messages[1:]:
        print(f"--- {role}\n{text}")


if __name__ == "__main__":
    main()
