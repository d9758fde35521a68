r"""Checks a template in all scenarios; the result is a value.

Diagnosis(path="Qwen3-8B", template="default", dialect="qwen25", checks=(
Check("one call", "ok", (), '<tool_call>\n{"name": ...'),
Check("history", "note", (Finding("note", "the template drops the reasoning of earlier turns"),), ...)))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from pydantic_core import to_jsonable_python

from toolfmt.arguments import checked
from toolfmt.dialect.record import AnyDialect
from toolfmt.errors import SUGGESTED, TemplateError, TemplateRefusedError, UnknownDialectError
from toolfmt.lookup.registry import default_registry
from toolfmt.model import JsonObject, JsonValue
from toolfmt.workshop.chat_templates.finding import found_in
from toolfmt.workshop.chat_templates.folder import TokenizerFolder
from toolfmt.workshop.chat_templates.prompt import chosen_template
from toolfmt.workshop.doctor.findings import (
    FindingStatus,
    TemplateFinding,
    history_findings,
    judged,
    result_findings,
    tool_findings,
)
from toolfmt.workshop.doctor.scenarios import ANSWERS, USER, TemplateRenderer, user
from toolfmt.workshop.marking import markers


@dataclass(frozen=True, slots=True)
class Check:
    """One scenario: the worst status, all findings, and what the template wrote."""

    scenario: str
    status: FindingStatus
    findings: tuple[TemplateFinding, ...] = ()
    wrote: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """How well a template and a dialect fit."""

    path: str
    template: str
    """Which of the folder's templates was examined."""
    dialect: str
    checks: tuple[Check, ...]
    others: tuple[str, ...] = field(default=(), compare=False)
    """If no dialect was named: the next known dialects that read the template's calls, the likeliest first."""

    @property
    def ok(self) -> bool:
        """Whether nothing failed; notes are no failures."""
        return all(check.status != "fail" for check in self.checks)

    @property
    def broken(self) -> str:
        """Why the template writes nothing, or nothing where tools are called; empty if it does."""
        for check in self.checks:
            called = check.scenario == "one call" and not check.wrote and self.checks[1].status != "fail"
            if check.status == "fail" and (len(self.checks) == 1 or called):
                return "; ".join(one.message for one in check.findings)
        return ""

    def report(self) -> JsonObject:
        """Return the diagnosis as JSON."""
        made: JsonObject = to_jsonable_python(self)
        checks = made.pop("checks")
        return {**made, "ok": self.ok, "checks": checks}


@checked
def diagnose(
    path: str | Path | None = None,
    *,
    template: str | None = None,
    dialect: AnyDialect | str | None = None,
    variables: Mapping[str, JsonValue] | None = None,
) -> Diagnosis:
    """Check the chat template of a folder or file, or the text `template`; with both, `template` is its name.

    The default `dialect` is that of `find_dialect`. `variables` are passed to the template (`{"enable_thinking":
    True}`). Raises like `read_folder` if there is no template to check, and `UnknownDialectError` for an unknown
    `dialect`; faults of the template itself are findings.
    """
    folder = chosen_template(template, path)
    name = folder.name_of(template if path is not None else None, tools=True)
    pen = TemplateRenderer(folder.templates[name], folder.tokens, dict(variables or {}))
    broken = _check("template", lambda: _written(pen))
    if broken.status == "fail":
        named = "" if dialect is None else default_registry().resolve(dialect=dialect).name
        return Diagnosis(folder.path, name, named, (broken,))
    how, found, others = dialect_of(folder, name, dialect)
    checks = (
        how,
        _check("tools", lambda: tool_findings(pen)),
        *(_answered(scenario, pen, found) for scenario in ANSWERS),
        _check("results", lambda: result_findings(pen, found)),
        _check("history", lambda: history_findings(pen, found)),
    )
    return Diagnosis(folder.path, name, "" if found is None else found.name, checks, others)


def dialect_of(
    folder: TokenizerFolder, template: str, named: AnyDialect | str | None
) -> tuple[Check, AnyDialect | None, tuple[str, ...]]:
    """Find the dialect of the model's answers, how it was found (None if it is unknown), and others that read them."""
    if named is not None:
        return Check("dialect", "ok"), default_registry().resolve(dialect=named), ()
    try:
        found = found_in(folder, template=template)
    except UnknownDialectError as error:
        return Check("dialect", "fail", (TemplateFinding("fail", str(error)),)), None, ()
    notes = tuple(TemplateFinding("note", reason) for reason in found.reasons)
    usual = found.how == _USUAL[folder.response_template is not None]
    how = Check("dialect", "ok") if usual else Check("dialect", "note", notes)
    return how, found.dialect, found.others[:SUGGESTED]


_USUAL: Final = {True: "response_template", False: "known"}
"""How a dialect is usually found, with and without a response template; any other way is a note."""


def _written(pen: TemplateRenderer) -> Iterator[TemplateFinding]:
    if USER not in pen.write([user(USER)], prompt=True):
        yield TemplateFinding("fail", "the template does not write the user's text")


def _answered(scenario: str, pen: TemplateRenderer, dialect: AnyDialect | None) -> Check:
    answer = ANSWERS[scenario](markers(dialect).keep if dialect is not None else ())
    wrote = ""

    def findings() -> Iterator[TemplateFinding]:
        nonlocal wrote
        turn = pen.turn(answer)
        wrote = turn.wrote
        yield from judged(turn, answer, dialect)

    single = dialect is not None and not dialect.traits.parallel and len(answer.get("tool_calls", ())) > 1
    return replace(_check(scenario, findings, single=single), wrote=wrote)


def _check(scenario: str, find: Callable[[], Iterable[TemplateFinding]], *, single: bool = False) -> Check:
    """Check one scenario; if the dialect holds a `single` call, a template may refuse several."""
    try:
        found = tuple(dict.fromkeys(find()))
    except TemplateRefusedError as error:
        found = (TemplateFinding("note" if single else "fail", f"the template refuses it: {error.message}"),)
    except TemplateError as error:
        found = (TemplateFinding("fail", f"the template fails: {str(error).removeprefix('the chat template, ')}"),)
    return Check(scenario, _ORDER[max((_ORDER.index(one.status) for one in found), default=0)], found)


_ORDER: Final[tuple[FindingStatus, ...]] = ("ok", "note", "fail")
