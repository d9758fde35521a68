"""Renders an untrusted chat template as transformers does.

    render("{% for m in messages %}{{ m.content }}{% endfor %}", {"messages": [{"content": "Hi"}]})  # 'Hi'

A template sees plain data and what transformers offers: Jinja's own filters, tests and functions, `tojson` without HTML
escapes, `raise_exception`, `strftime_now` (if `now` is given), `{% generation %}`, `{% break %}` and `{% continue %}`.
It cannot change its data, reach Python's internals, load files, run without end or write without a limit. Jinja's
`lipsum` and the filter `random` are refused: a prompt depends on its arguments alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from types import CodeType
from typing import Any, Final

import jinja2

from toolfmt.errors import TemplateError, TemplateRefusedError
from toolfmt.formatters.templating import line_of
from toolfmt.model import JsonValue
from toolfmt.workshop.chat_templates.environment import Refusal, Sandbox
from toolfmt.workshop.chat_templates.metering import TEXT, Meter, Stopped

STILL: Final = datetime(2025, 1, 1, tzinfo=UTC)
"""The time for renderings in which the date does not matter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateLimits:
    """What a template may use; more raises `TemplateError`.

    Each character of the template's variables adds 8 steps, 512 characters of text and 16 of the prompt.
    """

    steps: int = 5_000_000
    """Operations: some seconds of work, the same on every machine."""
    text: int = 64 * 1024 * 1024
    """Characters of all intermediate text."""
    output: int = 16 * 1024 * 1024
    """Characters of the rendered prompt."""
    source: int = 1024 * 1024
    """Characters of the template."""


SMALL: Final = TemplateLimits(steps=50_000, text=4_000_000, output=500_000)
"""For a conversation of a few lines: real templates take up to 15 000 steps for one."""


def render(
    source: str,
    variables: Mapping[str, JsonValue],
    *,
    now: datetime | None = None,
    limits: TemplateLimits | None = None,
) -> str:
    """Render a chat template with plain data.

    `now` is the time that `strftime_now` writes; without it there is no such function: a template that has a date for
    that case writes it, and others raise. Raises `TemplateError` with the line, and `TemplateRefusedError` with the
    template's words where it refuses the conversation.
    """
    allowed = limits or TemplateLimits()
    if len(source) > allowed.source:
        raise TemplateError(f"the chat template has {len(source)} characters; {allowed.source} are read")
    try:
        code = _compiled(source)
        given = Meter(_ANY, _ANY).deep(variables)
        meter = Meter(allowed.steps + 8 * given, allowed.text + 512 * given)
        return _run(Sandbox(meter, now), code, dict(variables), allowed.output + 16 * given)
    except Refusal as error:
        raise TemplateRefusedError(str(error), line=line_of(error)) from None
    except jinja2.TemplateSyntaxError as error:
        raise TemplateError(f"the chat template, line {error.lineno}: {error.message}") from None
    except RecursionError as error:
        raise TemplateError(f"{_place(error)}: it goes too deep: a macro or value inside itself without end") from None
    except _FAILURES as error:
        raise TemplateError(f"{_place(error)}: {_words(error)}") from None


_ANY: Final = 2**63
_FAILURES: Final = (
    *(jinja2.TemplateError, Stopped, ArithmeticError, AssertionError, AttributeError, LookupError),
    *(MemoryError, NameError, RuntimeError, StopIteration, SyntaxError, TypeError, ValueError),
)
"""What Jinja and Python raise for a faulty template."""
_UNDEFINED: Final = re.compile(r"'(\w+)' is undefined")


def _place(error: BaseException) -> str:
    line = line_of(error)
    return "the chat template" + (f", line {line}" if line else "")


def _words(error: BaseException) -> str:
    text = str(error) or type(error).__name__
    missing = _UNDEFINED.fullmatch(text)
    if missing is None:
        return text
    if missing[1] == "strftime_now":
        return "it writes the date: give now= (a datetime)"
    return f"it needs {missing[1]!r}: give it in variables=, or the model's folder where it is a special token"


def _run(sandbox: Sandbox, code: CodeType, variables: dict[str, Any], limit: int) -> str:
    template = jinja2.Template.from_code(sandbox, code, sandbox.make_globals(None))
    written: list[str] = []
    size = 0
    for piece in template.generate(variables):
        size += len(piece)
        sandbox.meter.work(len(piece) // TEXT)
        if size > limit:
            raise Stopped(f"it writes more than {limit} characters")
        written.append(piece)
    return "".join(written)


@lru_cache(maxsize=64)
def _compiled(source: str) -> CodeType:
    return Sandbox(Meter(0, 0), None).compile(source)
