"""`toolfmt chat`: run a scripted agent."""

import sys
from collections.abc import Callable
from contextlib import AsyncExitStack, redirect_stdout
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

from cyclopts import Parameter

from toolfmt.cli.output import UsageError

SAMPLE: Final = Path(__file__).parent / "scripts" / "weather.json"


def chat(
    *ask: Annotated[str, Parameter(help="The user's texts, one for each turn; by default those of the script.")],
    script: Annotated[Path | None, Parameter(help="The script: JSON, TOML or YAML; by default a sample.")] = None,
    tools: Annotated[
        str | None, Parameter(help="The tools that run the script's calls: tools.py, module:object or mcp.json.")
    ] = None,
    max_steps: Annotated[int, Parameter(help="The maximum number of steps in a turn.")] = 20,
    json: Annotated[bool, Parameter(help="Print the events as JSON, one per line.")] = False,
) -> int:
    """Run an agent with real tool calls whose model is a script.

    Without options it runs a sample that needs no key and no network. The exit code is 1 if a turn fails.
    """
    from anyio import run

    if max_steps < 1:
        raise UsageError(f"--max-steps is 1 or more, not {max_steps}")
    return run(_play, ask, script or SAMPLE, tools, max_steps, json)


class _Page:
    """Writes events; keeps an error of the output, because a run ignores errors of its listeners."""

    def __init__(self, show: Callable[[Any], object]) -> None:
        self._show = show
        self._error: OSError | None = None

    def __call__(self, event: object) -> None:
        if self._error is None:
            try:
                self._show(event)
            except OSError as error:
                self._error = error

    def reason(self, _: object) -> str | None:
        return None if self._error is None else "nobody reads what happens"

    def check(self) -> None:
        if self._error is not None:
            raise self._error


async def _play(ask: tuple[str, ...], script: Path, tools: str | None, max_steps: int, json: bool) -> int:  # noqa: FBT001 - as the command has it
    from toolfmt.agents.drivers import scripted
    from toolfmt.agents.loop import AgentLoop
    from toolfmt.agents.state import AgentState
    from toolfmt.cli.run_events import say_run_event, write_run_event
    from toolfmt.cli.toolboxes import toolbox
    from toolfmt.execution.executor import Executor

    found = scripted(script)
    questions = ask or found.ask
    if not questions:
        raise UsageError(f"{script} asks nothing: say what the user says, as an argument or as `ask` in the script")
    async with AsyncExitStack() as stack:
        show = partial(write_run_event, to=sys.stdout) if json else say_run_event
        if json:  # stdout is for the events, not for what tools print
            stack.enter_context(redirect_stdout(sys.stderr))
        executor = Executor(found.tools)
        if tools is not None:
            if len(found.tools):
                raise UsageError(f"{script} brings its own tools: leave --tools out")
            executor = await stack.enter_async_context(toolbox(tools))
        page = _Page(show)
        loop = AgentLoop(
            found.driver,
            executor=executor,
            max_steps=max_steps,
            name=found.name,
            stop_when=[page.reason],
            on_event=page,
        )
        state = AgentState.of(system=found.system)
        for question in questions:
            state = await loop.run(question, state=state)
            page.check()
    ended = [*(run.status for run in state.runs), state.status]
    return 0 if set(ended) == {"completed"} else 1
