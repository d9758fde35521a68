"""Show tools to a model: write the manifest and put it into a prompt.

    manifest(tools, provider="anthropic")                          # the text about the tools
    inject("Be brief. {{tools}}", tools, provider="anthropic")     # a prompt with that text in its place

A sandboxed Jinja template composes a manifest from data: names, descriptions, schemas and examples. A tool's
description or a prompt is never rendered as a template.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Unpack

from toolfmt import jsontext
from toolfmt.arguments import checked
from toolfmt.dialect.record import AnyDialect, Example
from toolfmt.dialect.syntax import Syntax
from toolfmt.errors import ParseError, TemplateError, ToolFmtError
from toolfmt.formatters.declared import declared, harmless_example, schema_text
from toolfmt.formatters.examples import ExampleChoice, Examples, any_call
from toolfmt.formatters.json_schemas import parameters_object
from toolfmt.formatters.templating import render_template
from toolfmt.formatters.untrusted import Untrusted
from toolfmt.lookup.choice import Choice, chosen
from toolfmt.lookup.registry import Registry
from toolfmt.model import JsonObject, ToolDefinition
from toolfmt.tools import tools as definitions

NO_TOOLS: Final = "No tools available for this agent."
PREFIX: Final = (
    "You have access to a set of tools. Use them by outputting the appropriate tool call format. "
    "The user can only see the output of the tool, not the call itself. The available tools are:\n\n"
)
"""Precedes the manifest in a prompt that is only `{{tools}}`."""
FORM: Final = "\n\nEach call has this form, with the tool's own name and arguments:\n\n"
"""Precedes the call of no tool in particular where the tools have no examples."""
SECTION: Final = "\n\n"
HEADING: Final = "## Accessible Tools\n\n"
"""The heading of a manifest that has none of its own."""
_NEAR_PLACE: Final = re.compile(
    r"\{\{-?\s*tool(?:[a-z]|_list|_descriptions?)?\s*(?:\|[^{}]{0,100})?-?\}\}?"
    r"|(?<!\{)\{\s*tools\s*\}(?!\})|\{%-?\s*tools\s*-?%\}",
    re.IGNORECASE,
)
"""Misspelt places of the tools."""
_PLACE: Final = re.compile(r"\{\{\s*tools\s*\}\}")


@checked
def manifest(
    tools: object,
    *,
    template: str | Path | None = None,
    examples: Examples = None,
    on_broken: Callable[[ToolDefinition, ToolFmtError], object] | None = None,
    **choice: Unpack[Choice],
) -> str:
    """Write the text that shows a model its tools and how to call them.

    `provider`, `model` or `dialect` choose the format; the default is the default JSON, which `parse` detects or reads
    with `dialect="default-json"`. `tools` are in any form that `toolfmt.tools` reads; without tools the text is "".
    `template` replaces the dialect's template: a path, a template's text, or the name of one in the package.
    `examples` is the maximum number of examples for each tool, or your own examples: argument objects by the tool's
    name. With 0, one call of no tool in particular shows the form. Examples that do not fit the tool raise
    `ArgumentsError`, and a dialect whose manifest has no examples raises ValueError. A tool that cannot be shown raises
    `SchemaError` or `UnrepresentableError`; with `on_broken`, this function is called instead and the tool is left out.
    A broken template raises `TemplateError`.
    """
    dialect, registry = chosen(choice)
    untrusted = Untrusted.of(dialect.syntax or Syntax(forms=()))
    shown: list[JsonObject] = []
    offered = () if tools is None else definitions(tools)
    wanted = ExampleChoice(examples, offered)
    for tool in offered:
        try:
            shown.append(_data(wanted.given(tool), dialect, registry, untrusted, wanted))
        except ToolFmtError as error:
            if on_broken is None:
                raise
            on_broken(tool, error)
    if not shown:
        return ""
    syntax = dialect.syntax or Syntax(forms=())
    declared = syntax.tools.replace("{tools}", syntax.tool_separator.join(str(tool["schema"]) for tool in shown))
    own = examples is not None
    text = render_template(template or dialect.manifest, tools=shown, declarations=declared, chosen=own)
    wanted.check_shown(text, shown, dialect.name)
    if template is None and own and not any(tool["examples"] for tool in shown):
        text = f"{text.rstrip()}{FORM}{any_call(dialect)}"
    return text


@checked
def inject(  # noqa: PLR0913 - each is a choice of the caller's
    prompt: str,
    tools: object,
    *,
    missing: str = NO_TOOLS,
    template: str | Path | None = None,
    examples: Examples = None,
    on_broken: Callable[[ToolDefinition, ToolFmtError], object] | None = None,
    **choice: Unpack[Choice],
) -> str:
    """Replace each `{{tools}}` of a prompt by the manifest, on a new line; nothing else changes.

    A prompt of only `{{tools}}`, apart from blanks and `{# comments #}`, becomes an instruction and the manifest. A
    prompt without `{{tools}}` gets a section at its end: a blank line, the heading `## Accessible Tools` unless the
    manifest begins with a heading, and the manifest. If there are no tools, `missing` replaces the manifest. The other
    parameters are those of `manifest`. Raises `TemplateError` for a misspelt `{{tools}}`, and as `manifest` does.
    """
    _check_place(prompt)
    text = manifest(tools, template=template, examples=examples, on_broken=on_broken, **choice)
    return placed(prompt, text, missing)


def placed(prompt: str, text: str, missing: str = NO_TOOLS) -> str:
    """Put a manifest in its place in a prompt; raises `TemplateError` for a misspelt `{{tools}}`."""
    _check_place(prompt)
    if not _PLACE.search(prompt):
        heading = "" if text.startswith("#") else HEADING
        return f"{prompt}{SECTION}{heading}{text}" if text else prompt
    if not _without_comments(_PLACE.sub("", prompt)).strip():
        return PREFIX + text if text else missing
    # A function, because its result is inserted unchanged: neither escapes nor places in it are replaced.
    return _PLACE.sub(lambda _: "\n" + (text or missing), prompt)


def _check_place(prompt: str) -> None:
    near = None if _PLACE.search(prompt) else _NEAR_PLACE.search(prompt)
    if near is not None:
        raise TemplateError(f"the prompt: write {{{{tools}}}} instead of {near.group()!r}")


def _without_comments(prompt: str) -> str:
    """Remove `{# comments #}`."""
    kept: list[str] = []
    end = 0
    while (start := prompt.find("{#", end)) >= 0 and (close := prompt.find("#}", start + 2)) >= 0:
        kept.append(prompt[end:start])
        end = close + 2
    return "".join((*kept, prompt[end:]))


def _data(
    tool: ToolDefinition, dialect: AnyDialect, registry: Registry, untrusted: Untrusted, wanted: ExampleChoice
) -> JsonObject:
    """Return the data of a tool for a template."""
    schema, example = registry.override(dialect, tool.name) or (dialect.schema, dialect.example)
    shown = declared(tool, untrusted, dialect.name)
    tool = shown.tool

    def kept() -> Sequence[Example]:
        found = [one for one in example(tool) if harmless_example(one, untrusted)]
        return wanted.kept(tool, found, dialect.name)

    return {
        "name": tool.name,
        "description": tool.description,
        "server": tool.server,
        "loop_breaking": tool.metadata.get("loop_breaking") is True,
        "parameters": parameters_object(shown.plain),
        "schema": schema_text(shown, schema, untrusted, dialect.name),
        "examples": [_example(one) for one in kept()],
    }


def _example(example: Example) -> JsonObject:
    """Return the data of an example for a template; JSON is indented."""
    text, is_json = example.text, False
    with suppress(ParseError):  # most formats have markup around the JSON
        text, is_json = jsontext.dumps(jsontext.loads(text), indent=2), True
    return {
        "title": example.title,
        "arguments": example.call.arguments,
        "text": text,
        "written": example.text,
        "is_json": is_json,
    }
