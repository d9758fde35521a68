"""`toolfmt run`: the calls of a recorded answer, run."""

from typing import Annotated

from cyclopts import Parameter

from toolfmt.cli.choice import DEFAULT, Choice
from toolfmt.cli.errors import note
from toolfmt.cli.hints import note_no_call
from toolfmt.cli.inputs import STDIN, read_json, read_text
from toolfmt.cli.output import write, write_json


def run(  # noqa: PLR0913 - one argument for each option
    file: Annotated[str, Parameter(help="The answer's file, or - for stdin, as without it.")] = STDIN,
    /,
    *,
    tools: Annotated[str, Parameter(help="What runs the calls: module:registry, or MCP servers' mcp.json.")],
    choice: Choice = DEFAULT,
    api: Annotated[bool, Parameter(help="The answer is an API's own JSON, not a model's text.")] = False,
    to: Annotated[
        str | None, Parameter(help="Print the results as messages of this format; see `toolfmt formats`.")
    ] = None,
    timeout: Annotated[float | None, Parameter(help="Seconds that a call may take.")] = None,
    json: Annotated[bool, Parameter(help="Print the records of the calls as JSON.")] = False,
) -> int:
    """Run the calls in a recorded answer and print the results as the model is to be told them.

    Naming a module runs its code, from the current directory too. The exit code is 1 if a call
    failed, or could not be read.
    """
    from anyio import run as run_async

    from toolfmt.cli.answers import play

    dialect = choice.resolve_or_auto()
    answer = read_json(file) if api else read_text(file)
    played = run_async(play, answer, dialect, tools, timeout)
    for failure in played.step.failures:
        note(f"a call of {failure.name or 'no tool'} could not be used ({failure.reason}): {failure.detail}")
    if not played.ended:
        chosen = dialect if isinstance(dialect, str) else dialect.name
        if api or not note_no_call(chosen, answer, played.tools):
            note(f"no call found as {'an API answer' if api else chosen}")
    if json:
        write_json([execution.model_dump(mode="json") for execution in played.step.executions])
    elif to is not None:
        write_json(played.messages(to))
    elif played.ended:
        write(played.text())
    return 1 if played.step.failures or any(execution.has_error for execution in played.step.executions) else 0
