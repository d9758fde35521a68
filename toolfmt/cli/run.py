"""`toolfmt run`: the calls of a recorded answer, run."""

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from toolfmt.cli.choice import DEFAULT, FormatOption
from toolfmt.cli.inputs import STDIN, read_json, read_text
from toolfmt.cli.output import UsageError, note, stdout_to_stderr, write, write_json
from toolfmt.cli.parse import note_no_call
from toolfmt.cli.toolboxes import RUNNERS

if TYPE_CHECKING:
    from toolfmt.cli.answers import Played


def run(  # noqa: PLR0913 - one argument for each option
    file: Annotated[str, Parameter(help="The answer's file, or - for stdin (the default).")] = STDIN,
    /,
    *,
    tools: Annotated[str, Parameter(help=f"What runs the calls: {RUNNERS}.")],
    choice: FormatOption = DEFAULT,
    api: Annotated[bool, Parameter(help="The answer is an API's own JSON, not a model's text.")] = False,
    to: Annotated[
        str | None, Parameter(help="Print the results as messages of this format; see `toolfmt formats`.")
    ] = None,
    timeout: Annotated[float | None, Parameter(help="The time-out of a call in seconds.")] = None,
    json: Annotated[
        bool, Parameter(help="Print the records of the calls as JSON; an unreadable call has `call` null.")
    ] = False,
) -> int:
    """Run the calls in a recorded answer and print the results as the model gets them.

    Naming a module runs its code, from the current directory too; what it prints goes to stderr.
    The exit code is 1 if a call failed, or could not be read, or an API's answer is an error.

    With --json there is an object for each call, in order: `call`, `result`, `failure`, `problems`, `blocked`,
    and when it ran. For an unreadable call, `call` is null, `failure` is the reason, `error` has the details, `raw` is
    the text, and `result` the text for the model.
    """
    from anyio import run as run_async

    from toolfmt.cli.answers import check_writable, play
    from toolfmt.execution.running import check_seconds

    dialect = choice.resolve_or_auto()
    try:
        check_seconds(timeout, "--timeout")
    except ValueError as error:
        raise UsageError(str(error)) from None
    if to is not None:
        check_writable(to)
    answer = read_json(file) if api else read_text(file)
    with stdout_to_stderr():
        played = run_async(play, answer, dialect, tools, timeout)
    for failure in played.step.failures:
        note(f"a call of {failure.name or 'no tool'} could not be used ({failure.reason}): {failure.detail}")
    wrong = played.said.step.info.error if played.said.step.info is not None else None
    if wrong is not None:
        note(f"the API's answer is an error: {wrong}")
    elif not played.said.ended:
        chosen = dialect if isinstance(dialect, str) else dialect.name
        if api or not note_no_call(chosen, answer, played.tools):
            note(f"no call found as {'an API answer' if api else chosen}")
    if json:
        write_json(played.records())
    elif to is not None:
        _write_messages(played, to)
    elif played.said.ended:
        write(played.text())
    failed = played.step.failures or any(execution.has_error for execution in played.step.executions)
    return 1 if failed or wrong is not None else 0


def _write_messages(played: "Played", to: str) -> None:
    written = played.messages(to)
    for loss in written.losses:
        note(f"{to} does not say all of it: {loss.code} {loss.action}{f' ({loss.detail})' if loss.detail else ''}")
    write_json(written.value)
