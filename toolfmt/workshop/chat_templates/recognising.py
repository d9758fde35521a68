"""Which known dialects read what a chat template writes, and which of them is the template's own.

    recognised(source, answers)[0]     # Fit(dialect=<hermes>, read=5, exact=5, ...)

A dialect is a candidate only if it gives back exactly the calls that were
rendered, and leaves no markup over. Of those that do, the one wins whose own
words the template has: it writes the same text, and the markers around tools and
results, of reasoning and of the turn's end stand in the template.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from toolfmt import jsontext
from toolfmt.errors import RenderError
from toolfmt.model import ToolResult
from toolfmt.parsing import parse
from toolfmt.rendering import render_calls
from toolfmt.workshop.chat_templates.answers import TOOLS, Answers, TemplateAnswer
from toolfmt.workshop.marking import markers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from toolfmt.dialect.record import AnyDialect, Dialect
    from toolfmt.model import ToolInvocation

_TURN_END: Final = re.compile(r"(?:\s|</?[\w|｜▁]+>|<[|｜][^<>\s]*[|｜]>|\[e~\[|\]~b\])*")
"""What may come after the calls and end the turn, for a dialect that does not know it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """How well a dialect fits a template."""

    dialect: Dialect[str]
    read: int
    """How many of the answers it reads."""
    clean: int
    """In how many of them nothing is left over."""
    ended: int
    """In how many of them not even the end of the turn is."""
    exact: int
    """How many of them it would write just so."""
    around: int
    """How much of what is around calls it shares with the template: results, tools, reasoning, the turn's end."""
    foreign: int
    """How many of its markers the template does not have."""

    @property
    def rank(self) -> tuple[int, ...]:
        """What orders fits, the best last."""
        return (self.read, self.clean, self.ended, self.exact, self.around, -self.foreign)

    @property
    def known(self) -> int:
        """How widely the dialect is used, which orders those that fit as well."""
        return len(self.dialect.aliases) + len(self.dialect.sources)


def recognised(source: str, found: Answers, dialects: Iterable[AnyDialect]) -> list[Fit]:
    """Give the dialects that read the template's calls, the best first."""
    fits = [fit for dialect in dialects if dialect.syntax is not None and (fit := _fit(dialect, source, found))]
    return sorted(fits, key=lambda fit: (fit.rank, fit.known), reverse=True)


def _fit(dialect: Dialect[str], source: str, found: Answers) -> Fit | None:
    """Judge one dialect; None where it does not read the answers with one call, and with several if there are any."""
    must = [answer for answer in (found.one, found.other, found.two) if answer is not None]
    if found.one is None or not all(reads(dialect, answer) for answer in must):
        return None
    rest = [answer for answer in (found.nested, found.empty) if answer is not None and reads(dialect, answer)]
    known = [*must, *rest]
    assert dialect.syntax is not None  # noqa: S101 - asked by the caller
    syntax, own = dialect.syntax, markers(dialect)
    around = [marker for pair in (*syntax.reasoning, *syntax.unwrap, *syntax.hidden) for marker in pair]
    around += [*syntax.stop, *syntax.tools.split("{tools}")]
    return Fit(
        dialect=dialect,
        read=len(known),
        clean=sum(reads(dialect, answer, whole=True) for answer in known),
        ended=sum(reads(dialect, _ended(answer), whole=True) for answer in known),
        exact=sum(_writes(dialect, answer) for answer in known),
        around=_results(dialect, found) + sum(marker.strip() in source for marker in around if marker.strip()),
        foreign=sum(marker not in source for marker in (*own.keep, *own.stop)),
    )


def _ended(answer: TemplateAnswer) -> TemplateAnswer:
    return replace(answer, text=answer.text + answer.tail)


def reads(dialect: Dialect[str], answer: TemplateAnswer, *, whole: bool = False) -> bool:
    """Say whether a dialect gives the answer's calls and no more; under `whole`, with nothing left over."""
    return any(_reads(dialect, body, answer, whole=whole) for body in answer.bodies())


def _reads(dialect: Dialect[str], body: str, answer: TemplateAnswer, *, whole: bool) -> bool:
    result = parse(body, dialect=dialect, tools=TOOLS)
    if result.failures or len(result.calls) != len(answer.calls):
        return False
    for call, wanted in zip(result.calls, answer.calls, strict=True):
        if call.name != wanted.name or not jsontext.equal(call.arguments, wanted.arguments):
            return False
    rest = result.text.strip()
    return not rest if whole else body.rstrip().endswith(rest) and _TURN_END.fullmatch(rest) is not None


def _writes(dialect: Dialect[str], answer: TemplateAnswer) -> bool:
    unnamed = [call.model_copy(update={"id": None}) for call in answer.calls]
    return any(_wrote(dialect, calls, answer.text) for calls in (answer.calls, unnamed))


def _wrote(dialect: Dialect[str], calls: Sequence[ToolInvocation], text: str) -> bool:
    try:
        return render_calls(calls, dialect=dialect, tools=TOOLS).strip() in text
    except RenderError:
        return False


def _results(dialect: Dialect[str], found: Answers) -> int:
    """Whether results are written as the template does, weighed as more than a marker."""
    if not found.results:
        return 0
    result = ToolResult(name="probe_weather", content="probe result", id="probe0001")
    written = dialect.results([result]).strip()
    return 3 if written in found.results and written != "probe result" else 0
