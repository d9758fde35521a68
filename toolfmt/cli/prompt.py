"""`toolfmt prompt`: a conversation as the prompt that a model's own chat template makes of it."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from typing import Annotated, TypeAlias

from cyclopts import Parameter

from toolfmt import jsontext
from toolfmt.cli.inputs import STDIN, read_json, refuse_two
from toolfmt.cli.output import UsageError, note, write
from toolfmt.cli.toolboxes import TOOLS, read_tools
from toolfmt.errors import ParseError, UnknownDialectError
from toolfmt.lookup.registry import default_registry
from toolfmt.model import JsonObject, JsonValue
from toolfmt.workshop.chat_templates.prompt import render_prompt

Variables: TypeAlias = Annotated[
    tuple[str, ...], Parameter(name="--set", help="A variable of the template, NAME=VALUE; the value is JSON or text.")
]


def model_folder(name: str) -> Path:
    """Find a folder or file by its path, or a model's folder by its name in Hugging Face's cache, without a download.

    ~/.cache/huggingface/hub/models--Qwen--Qwen3-8B/    refs/main, snapshots/1234abcd/tokenizer_config.json, ...
    """
    path = Path(name)
    if path.exists():
        return path
    home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface")
    cache = Path(os.environ.get("HF_HUB_CACHE") or home / "hub")
    found = _snapshot(cache / f"models--{name.replace('/', '--')}") if ".." not in name else None
    if found is not None:
        return found
    raise UsageError(
        f"{name}: there is no such file or folder, and no model of that name in {cache}: give the folder that holds "
        f"its tokenizer_config.json{_known(name)}"
    )


def _snapshot(kept: Path) -> Path | None:
    """Return the snapshot that `main` points to, else the newest."""
    reference = kept / "refs" / "main"
    if reference.is_file():
        current = kept / "snapshots" / reference.read_text("utf-8").strip()
        if current.is_dir():
            return current
    snapshots = [one for one in (kept / "snapshots").glob("*") if one.is_dir()]
    return max(snapshots, key=lambda one: one.stat().st_mtime, default=None)


def _known(name: str) -> str:
    try:
        dialect = default_registry().resolve(model=name).name
    except UnknownDialectError:
        return ""
    return f" (its dialect is {dialect}: toolfmt dialects show {dialect})"


def variables(settings: tuple[str, ...]) -> JsonObject:
    """Read NAME=VALUE."""
    found: JsonObject = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name:
            raise UsageError(f"--set takes NAME=VALUE, not {setting!r}")
        found[name] = _value(value)
    return found


def _value(text: str) -> JsonValue:
    try:
        return jsontext.loads(text)
    except ParseError:
        return text


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
