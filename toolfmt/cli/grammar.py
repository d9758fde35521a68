"""`toolfmt grammar`: what a constrained decoder is given."""

from typing import Annotated

from cyclopts import Parameter

from toolfmt.cli.choice import DEFAULT
from toolfmt.cli.choice import FormatOption as Format
from toolfmt.cli.output import UsageError, note, write
from toolfmt.cli.toolboxes import TOOLS, read_tools
from toolfmt.workshop.grammars import WRITERS
from toolfmt.workshop.grammars import grammar as grammar_of

Tools = Annotated[str, Parameter(alias="-t", help=f"The tools: {TOOLS}, or - for stdin.")]
Called = Annotated[str, Parameter(help="Which calls to allow: auto, required, none, or the name of the tool to call.")]
Parallel = Annotated[bool, Parameter(negative="--no-parallel", help="Allow several calls in one answer, or only one.")]
MaxCalls = Annotated[int | None, Parameter(help="The maximum number of calls in one answer.")]
Reasoning = Annotated[
    bool | None,
    Parameter(
        negative="--no-reasoning",
        help="Allow reasoning before the calls, or not; by default unless calls are required.",
    ),
]
Target = Annotated[str, Parameter(help=f"The kind of grammar: {', '.join(WRITERS)}.")]


def grammar(  # noqa: PLR0913 - an option each
    *,
    tools: Tools,
    fmt: Format = DEFAULT,
    choice: Called = "auto",
    parallel: Parallel = True,
    max_calls: MaxCalls = None,
    reasoning: Reasoning = None,
    target: Target = "lark",
) -> None:
    """Print a grammar for answers that a format's parser reads as calls of these tools.

    Constraints that the grammar cannot enforce, and readable answers that it does not allow, are reported on stderr.
    """
    if target not in WRITERS:
        raise UsageError(f"--target is one of {', '.join(WRITERS)}, not {target!r}")
    made = grammar_of(
        fmt.resolve(),
        read_tools(tools, noted=False),  # `grammar` refuses to have none, except for choice none
        choice=choice,
        parallel=parallel,
        max_calls=max_calls,
        reasoning=reasoning,
        target=target,
    )
    for line in (*made.relaxed, *made.narrowed):
        note(line)
    write(made.text)
    fmt.note_default()
