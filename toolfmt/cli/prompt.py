"""`toolfmt prompt`: a conversation as the prompt that a model's own chat template makes of it."""

from datetime import datetime
from typing import Annotated

from cyclopts import Parameter

from toolfmt.cli.inputs import STDIN, read_json, refuse_two
from toolfmt.cli.models import Variables, model_folder, variables
from toolfmt.cli.output import UsageError, note, write
from toolfmt.cli.toolboxes import TOOLS, read_tools
from toolfmt.workshop.chat_templates.prompt import render_prompt


def prompt(  # noqa: PLR0913 - one argument for each option
    conversation: Annotated[str, Parameter(help="A JSON file of one conversation, or - for stdin.")] = STDIN,
    /,
    *,
    template: Annotated[
        str, Parameter(help="A model's folder, a .jinja file, or a model's name in Hugging Face's local cache.")
    ],
    name: Annotated[str | None, Parameter(help="The name of the template, if the folder has several.")] = None,
    tools: Annotated[str | None, Parameter(help=f"The tools: {TOOLS}; by default those of the conversation.")] = None,
    source: Annotated[str, Parameter(name="--from", help="The conversation's format; auto detects it.")] = ("auto"),
    settings: Variables = (),
    date: Annotated[str | None, Parameter(help="The date and time for the template; by default now.")] = None,
    history: Annotated[bool, Parameter(help="Leave out the text that begins the next answer.")] = False,
    strict: Annotated[bool, Parameter(help="Reject a conversation that would lose something.")] = False,
) -> None:
    """Print the prompt; losses are reported on stderr."""
    refuse_two(conversation, tools)
    made = render_prompt(
        read_json(conversation),
        None if tools is None else read_tools(tools),
        path=model_folder(template),
        template=name,
        source=source,
        add_generation_prompt=not history,
        now=_time(date),
        variables=variables(settings),
        strict=strict,
    )
    for loss in made.losses:
        note(f"{loss.code} {loss.action} at {loss.path or '/'}{f': {loss.detail}' if loss.detail else ''}")
    write(made)


def _time(text: str | None) -> datetime:
    if text is None:
        return datetime.now().astimezone()
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"--date takes a date such as 2025-01-31 or 2025-01-31T12:00, not {text!r}") from None
