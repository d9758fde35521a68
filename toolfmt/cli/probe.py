"""`toolfmt probe`: whether a server's tool calling is faithful."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from toolfmt.cli.output import USAGE, UsageError, counted_as, note, say, write_json

if TYPE_CHECKING:
    from toolfmt.workshop.probing import ProbeFinding, Report  # httpx2 is an extra


def probe(
    *,
    base_url: Annotated[str, Parameter(help="The base address of the API, such as http://127.0.0.1:8000/v1.")],
    model: Annotated[str, Parameter(help="The model to request.")],
    api_key_env: Annotated[
        str | None, Parameter(help="The environment variable that holds the API key; it is never printed.")
    ] = None,
    timeout: Annotated[float, Parameter(help="Seconds to wait for each answer.")] = 60.0,
    json: Annotated[bool, Parameter(help="Print JSON.")] = False,
) -> int:
    """Test the tool calling of an OpenAI-compatible server with scripted questions.

    The exit code is 1 if the server has errors, 2 if it gives no usable answers.
    """
    from toolfmt.workshop.probing import probe as probed  # httpx2 is an extra
    from toolfmt.workshop.probing import verdict

    key = None
    if api_key_env is not None:
        key = os.environ.get(api_key_env)
        if not key:
            raise UsageError(f"the environment variable {api_key_env} is not set")
    try:
        report = probed(
            base_url,
            model,
            api_key=key,
            timeout=timeout,
            on_question=(lambda question: note(f"asking: {question}")) if sys.stderr.isatty() and not json else None,
        )
    except ValueError as error:
        raise UsageError(str(error)) from error
    if json:
        write_json({"verdict": verdict(report), **report.to_json()})
    else:
        _show(report, verdict(report))
    errors = sum(one.severity == "error" for one in report.findings)
    counts = ((report.asked, "answer"), (errors, "error"), (len(report.findings) - errors, "warning"))
    note(", ".join(counted_as(count, noun) for count, noun in counts))
    if report.findings and not json:
        note(verdict(report))
    return USAGE if report.unusable else 0 if report.faithful else 1


def _show(report: Report, said: str) -> None:
    say("verdict", said)
    places: dict[ProbeFinding, list[str]] = {}
    for one in sorted(report.findings, key=lambda one: one.severity):  # errors first
        places.setdefault(replace(one, question="", mode=""), []).append(f"{one.question}, {one.mode}")
    for one, where in places.items():
        read = f"\ntoolfmt reads {'; '.join(one.read)}" if one.read else ""
        about = f"{one.rule} in {'; '.join(where)}"
        say(one.severity, f"{about}\nexpected {_line(one.expected)}\ncame {_line(one.came)}{_line(read, keep=1)}")


def _line(text: str, *, keep: int = 0) -> str:
    """Show a text on one line, whatever breaks it has; the first `keep` characters stay."""
    return text[:keep] + text[keep:].replace("\r", "\\r").replace("\n", "\\n")
