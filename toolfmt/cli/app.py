"""The commands by name, each imported when it is run, and messages about wrong arguments."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cache
from io import TextIOWrapper
from typing import Final

from cyclopts import App, Parameter, exceptions

import toolfmt
from toolfmt.cli.inputs import STDIN
from toolfmt.errors import close_names, did_you_mean


def run(arguments: Iterable[str]) -> int:
    """Run one command and return its exit code; errors are raised."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # Exact output: UTF-8 in every locale, and line ends unchanged.
            stream.reconfigure(encoding="utf-8", newline="")
    # cyclopts would read a lone `-` as an option.
    given = [STDIN if argument == "-" else argument for argument in arguments]
    given = [*given[1:], "--help"] if given[:1] == ["help"] else given
    return (app if given and not given[0].startswith("-") else app_with_completion())(given) or 0


@cache
def app_with_completion() -> App:
    """Add the command that installs the completion: what it imports takes a third as long as reading a call."""
    app.register_install_completion_command(help="Install the completion of commands and options for your shell.")  # pyright: ignore[reportUnknownMemberType] - its options are untyped
    return app


COMMANDS = {
    "manifest": "Print the text that shows a model its tools.",
    "inject": "Print a prompt with the tools in it.",
    "parse": "Read a model's answer: its text, its reasoning and its calls.",
    "detect": "Detect the format of the calls in a text.",
    "render": "Print calls or results in a format.",
    "run": "Run the calls in a recorded answer, and print the results as the model gets them.",
    "chat": "Run an agent with real calls whose model is a script.",
    "prompt": "Render a conversation with a model's own chat template.",
    "doctor": "Check whether the calls that a chat template writes can be read back.",
    "grammar": "Print a grammar that constrains decoding to calls of the tools in a format.",
    "convert": "Convert conversations from one format to another.",
    "check": "List what a provider would reject in conversations.",
    "stats": "Count formats, tools, calls and failures in conversations.",
    "view": "Show a conversation as a page, in the terminal or as HTML.",
    "formats": "List the transcript formats (of whole conversations).",
    "dialects": "List the dialects (formats of tool calls); `show` prints one with a sample.",
    "providers": "List the providers, with the dialect of each.",
    "probe": "Test the tool calling of a server with scripted questions.",
    "serve": "Serve several providers' APIs in front of any model.",
    "recorded": "Print the exchanges that a gateway has recorded, as rows.",
    "new-dialect": "Write the files of a new dialect in a checkout.",
    "mcp-serve": "Serve Python functions as an MCP server.",
    "demo": "Read recorded answers in every format.",
}
_LISTED = dict.fromkeys(("dialects", "formats", "providers"), "listings")
_HOMES = {**_LISTED, "inject": "manifest", "detect": "parse", "recorded": "serve"}
"""The modules of commands that share one."""
_ENDS = {
    "serve": """Begin with a server of your own, then let any client ask http://127.0.0.1:8787:

- `toolfmt serve --upstream http://127.0.0.1:8080/v1`: any server of Chat Completions
- `toolfmt serve --upstream http://127.0.0.1:8080/v1 --api text`: its model writes calls as text
- `toolfmt serve --upstream https://api.anthropic.com/v1 --api anthropic --key-env ANTHROPIC_API_KEY`
- `toolfmt serve gateway.toml`: several models, keys and rules

A client's base address is http://127.0.0.1:8787/v1 for OpenAI's SDK and Codex, http://127.0.0.1:8787/mistral for
Mistral's, and http://127.0.0.1:8787 for Anthropic's, Google's, Gemini CLI and Ollama's. Its key may be any word unless
`--client-key-env` names one.
"""
}
"""The end of a command's help."""

app = App(
    "toolfmt",
    help="Show tools to a model, read its calls and write them, in every tool-call format; convert conversations.",
    version=lambda: toolfmt.__version__,
    default_parameter=Parameter(negative=(), show_default=False),
    result_action="return_value",
    print_error=False,
    exit_on_error=False,
)
for _order, (_name, _help) in enumerate(COMMANDS.items()):
    _code = _name.replace("-", "_")
    _more = {"help_epilogue": _ENDS[_name]} if _name in _ENDS else {}
    app.command(f"toolfmt.cli.{_HOMES.get(_name, _code)}:{_code}", name=_name, help=_help, sort_key=_order, **_more)


_CHOOSING: Final = ("--dialect", "--from", "--to")
"""The options that choose a format; each command has one or two of them."""
_MEANT: Final = frozenset(
    {*_CHOOSING, "--format", "--source", "--target", "--syntax", "--style"} | {"--provider", "-p"}
)
"""What people type instead of one of them."""


_API: Final = "--api"
"""The option that says that an answer is an API's JSON; only some commands read one."""
_NUMBERS: Final[dict[object, str]] = {int: "whole number", float: "number"}


def misuse(error: exceptions.CycloptsError) -> str:
    """Describe which argument is missing, unknown or too many, and where the arguments are listed."""
    command = " ".join(("toolfmt", *(error.command_chain or ())))
    listed = f"`{command} --help` lists"
    match error:
        case exceptions.UnknownCommandError():
            typed = (error.unused_tokens or [""])[0]
            known = ("--help", "--version", "--install-completion") if typed.startswith("-") else COMMANDS
            close = did_you_mean(close_names(typed, {name: name for name in known}))
            return " ".join(filter(None, (f"there is no command {typed!r};", close, f"{listed} the commands")))
        case exceptions.CoercionError(target_type=kind, token=token) if kind in _NUMBERS and token is not None:
            return f"{token.keyword or error} takes a {_NUMBERS[kind]}, not {token.value!r}"
        case exceptions.UnusedCliTokensError():
            extra = " ".join(error.unused_tokens or ())
            takes_tools = "tools" in getattr(getattr(error, "target", None), "__annotations__", {})
            tools = f"; a file of tools is given as --tools {extra}" if takes_tools else ""
            return f"{extra!r} is one argument too many; {listed} them{tools}"
        case exceptions.MissingArgumentError():
            return _missing(error, listed)
        case exceptions.UnknownOptionError():
            return _unknown_option(error, command, listed)
        case _:
            return f"{error}"


def _missing(error: exceptions.MissingArgumentError, listed: str) -> str:
    argument = error.argument
    if argument is None:
        return f"{error}"
    typed = error.keyword or next((token.keyword for token in argument.tokens if token.keyword), None)
    if typed is not None:
        return f"{typed} has no value: write one after it; {listed} what it takes"
    name = argument.name if argument.field_info.is_keyword_only else argument.name.lstrip("-").upper()
    what = (argument.parameter.help or "").rstrip(".")
    stray = f": write {name} before {error.unused_tokens[0]!r}" if error.unused_tokens else ""
    return f"{name} is missing{f' ({what})' if what else ''}{stray}; {listed} the arguments"


def _unknown_option(error: exceptions.UnknownOptionError, command: str, listed: str) -> str:
    typed = (error.token.keyword or error.token.value).partition("=")[0]
    known = {name for one in error.argument_collection for name in one.names}
    others = [name for name in _CHOOSING if name in known] if typed in _MEANT else []
    if typed == _API:
        return (
            f"{command} has no option {typed}: `toolfmt view` shows an API's own answer, `toolfmt run {typed}` runs it"
        )
    if others:
        return f"{command} has no option {typed}: a format is chosen with {' or '.join(others)} here"
    return f"{error}".rstrip(".") + ("" if "Did you mean" in f"{error}" else f"; {listed} the options")
