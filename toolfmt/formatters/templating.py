"""Render prompt templates in a sandbox.

A template is a file of the package, a file of the user, or text that contains `{{` or `{%`. It sees only the data that
is passed, and a missing name is an error.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Final

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

from toolfmt import jsontext
from toolfmt.errors import TemplateError
from toolfmt.model import JsonValue

_TICKS: Final = re.compile("`{3,}")
_TEMPLATE_TEXT: Final = re.compile(r"\{\{|\{%|\n")


def render_template(template: str | Path, **data: object) -> str:
    """Fill in a template: a path, a packaged template's name, or template text. Raises `TemplateError`."""
    name = str(template) if isinstance(template, Path) or not _TEMPLATE_TEXT.search(template) else "the template"
    try:
        return _template(template).render(data).rstrip("\n")
    except jinja2.TemplateSyntaxError as error:
        raise TemplateError(f"{name}, line {error.lineno}: {error.message}") from error
    except jinja2.TemplateNotFound as error:
        known = ", ".join(sorted(_environment().list_templates()))
        raise TemplateError(f"there is no template {error.name!r} in the package; there are {known}") from None
    except (jinja2.TemplateError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        line = line_of(error)
        raise TemplateError(f"{name}{f', line {line}' if line else ''}: {error}") from error


def _template(template: str | Path) -> jinja2.Template:
    if isinstance(template, Path):
        return _environment().from_string(template.read_text("utf-8"))
    if _TEMPLATE_TEXT.search(template):
        return _environment().from_string(template)
    return _environment().get_template(template)


def line_of(error: BaseException) -> int | None:
    """Return the line of a template in which an error was raised."""
    lines: list[int] = []
    traceback = error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename.endswith(("<template>", ".jinja")):
            lines.append(traceback.tb_lineno)
        traceback = traceback.tb_next
    return lines[-1] if lines else None


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    environment = ImmutableSandboxedEnvironment(
        loader=jinja2.PackageLoader("toolfmt"),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # a prompt is not HTML; the formatters escape what their dialect needs
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(json=_json, fenced=_fenced)  # pyright: ignore[reportUnknownMemberType]
    return environment


def _json(value: JsonValue, indent: int | None = None) -> str:
    """Write JSON in a template; Jinja's own `tojson` sorts keys and escapes `<`, `>`, `&` and `'`."""
    return jsontext.dumps(value, indent=indent, compact=indent is None)


def _fenced(text: str, language: str = "") -> str:
    """Put text in a Markdown fence that is longer than any run of backticks in it."""
    ticks = "`" * max((len(run) + 1 for run in _TICKS.findall(text)), default=3)
    return f"{ticks}{language}\n{text}\n{ticks}"
