r"""Renders a conversation in any format with a model's own chat template.

prompt = render_prompt(messages, tools, path="Qwen3-8B")
prompt             # '<|im_start|>system\n# Tools ...<|im_start|>assistant\n'
prompt.losses      # (Loss("media", "/messages/2", "dropped", ...),)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Self, cast

from toolfmt import jsontext
from toolfmt.arguments import checked
from toolfmt.conversation import Transcript
from toolfmt.errors import ConversionError, ParseError, TemplateError
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.tools import tool as definition
from toolfmt.transcripts.comparing.losses import Loss, losses
from toolfmt.transcripts.fitting.shape import shape
from toolfmt.transcripts.format import TranscriptFormat, reraise_as_parse_error
from toolfmt.transcripts.formats import find
from toolfmt.transcripts.reading import read
from toolfmt.transcripts.recognising import recognised
from toolfmt.workshop.chat_templates.folder import TokenizerFolder, foreign, read_folder
from toolfmt.workshop.chat_templates.needs import FORMAT, fitted, needs
from toolfmt.workshop.chat_templates.sandbox import TemplateLimits, render

_OURS: Final = frozenset({"messages", "tools", "add_generation_prompt"})


class Prompt(str):
    """A rendered prompt: its text, and what of the conversation the template had no place for."""

    __slots__ = ("losses",)
    losses: tuple[Loss, ...]

    def __new__(cls, text: str, losses: Iterable[Loss] = ()) -> Self:
        """Keep the losses with the text."""
        made = super().__new__(cls, text)
        made.losses = tuple(losses)
        return made


@checked
def render_prompt(  # noqa: PLR0913 - each is a choice of the caller's
    messages: Transcript | JsonValue,
    tools: object = None,
    *,
    template: str | None = None,
    path: str | Path | None = None,
    source: str = "auto",
    add_generation_prompt: bool = True,
    now: datetime | None = None,
    variables: Mapping[str, JsonValue] | None = None,
    strict: bool = False,
    limits: TemplateLimits | None = None,
) -> Prompt:
    """Render a conversation with a chat template, like transformers' `apply_chat_template`.

    `messages` is a conversation in any format that `convert` reads; `source` names a format that cannot be detected.
    `tools` are in any form; the default is those of the conversation. The template is the text `template`, or that of
    the folder or file at `path`; with both, `template` names one of several there. `variables` are passed to the
    template (`enable_thinking`, `documents`), and `now` is the date that it may write. The prompt's `losses` list what
    the messages cannot hold; under `strict` they raise `ConversionError`. Raises `TemplateError` for a template that
    is broken, exceeds the `limits` or rejects the conversation, and `ParseError` for a conversation that is not in its
    format.
    """
    folder = chosen_template(template, path)
    name = template if path is not None else None
    given = dict(variables or {})
    if _OURS & given.keys():
        names = ", ".join(sorted(_OURS & given.keys()))
        raise TemplateError(f"{names}: these are arguments, and not variables")
    request, lost = _request(messages, source)
    declared: JsonValue = request.get("tools") if tools is None else declarations(tools)
    text = folder.template(name, tools=bool(declared))
    written, missed = fitted(request["messages"], needs(text))
    lost += [loss for loss in missed if loss not in lost]
    if strict and lost:
        lines = "\n".join(f"- {loss.code} {loss.action} at {loss.path or '/'}: {loss.detail}" for loss in lost)
        raise ConversionError(f"the prompt would lose:\n{lines}")
    data: JsonObject = {
        "documents": None,
        **folder.tokens,
        **jsontext.loads(jsontext.dumps(given)),
        "messages": written,
        "tools": declared,
        "add_generation_prompt": add_generation_prompt,
    }
    return Prompt(render(text, data, now=now, limits=limits), lost)


def chosen_template(template: str | None, path: str | Path | None) -> TokenizerFolder:
    """Return the folder at a path, or make one of a template's text."""
    if path is not None:
        return read_folder(path)
    if template is None:
        raise TypeError("give the chat template: its text as template=, or a model's folder or a .jinja file as path=")
    other = foreign(template)
    if other:
        raise TemplateError(f"template= is {other}, and no chat template in Jinja; a file or folder is given as path=")
    return TokenizerFolder(path="the template", templates={"default": template})


def declarations(tools: object) -> list[JsonValue]:
    """Write tools as templates read them: `{"type": "function", "function": {...}}`; such ones stay as they are."""
    if isinstance(tools, str | bytes) or is_object(tools) or not isinstance(tools, Iterable):
        raise TypeError(f"tools are given in a list, not as {type(tools).__name__}")
    return [_declared(one) for one in cast("Iterable[object]", tools)]


def _declared(one: object) -> JsonValue:
    if is_object(one) and one.get("type") == "function" and is_object(one.get("function")):
        definition(one)  # raises where it is wrong
        return one
    made = definition(cast("Any", one))
    jsontext.check_depth(made.parameters, f"tool {made.name!r}")  # one that contains itself has no end to count
    function: JsonObject = {"name": made.name, "description": made.description, "parameters": made.parameters}
    return {"type": "function", "function": function}


def _request(messages: Transcript | JsonValue, source: str) -> tuple[JsonObject, list[Loss]]:
    """Return the request as transformers has it, and what it cannot hold."""
    before = messages if isinstance(messages, Transcript) else read(messages, _origin(messages, source))
    with reraise_as_parse_error(FORMAT.name):
        written = FORMAT.write(shape(before, FORMAT.rules))
        lost = losses(before, FORMAT.read(written))
    assert is_object(written)  # noqa: S101 - what a chat format writes
    return written, lost


def _origin(messages: JsonValue, source: str) -> TranscriptFormat:
    """Find the format of a conversation; chat messages that may be anyone's are those that templates take."""
    found = FORMAT if source == "auto" else find(source)
    if source == "auto":
        try:
            found = recognised(messages)
        except ParseError:
            turns = messages.get("messages") if is_object(messages) else messages
            if not is_array(turns) or not all(is_object(turn) and "role" in turn for turn in turns):
                raise
    return FORMAT if found.name == FORMAT.name else found
