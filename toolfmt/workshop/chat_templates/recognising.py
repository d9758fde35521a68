"""Which known dialect a chat template uses.

    recognised(source, answers, dialects)[0]     # Fit(dialect=<hermes>, read=5, exact=5, ...)
    marked("... respond only with <|tool_call|> followed by a JSON list ...", dialects)[0]     # Marked(<granite3>, ...)

If the template writes calls, a dialect is a candidate only if it reads exactly the rendered calls and leaves no markup
over. The best candidate writes the same text, and the template contains its markers around tools and results, of
reasoning and of the turn's end.

Some templates only instruct the model how to call tools, or write just tools and results. Then all markers of a
dialect's calls must be in the template, or all of those around its tools or its results; the rarest markers decide.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from math import log
from typing import Final

from toolfmt import jsontext
from toolfmt.dialect.record import AnyDialect, Dialect, ParserOptions
from toolfmt.dialect.syntax import Syntax
from toolfmt.errors import RenderError
from toolfmt.model import ToolResult
from toolfmt.parsing import ParseResult
from toolfmt.rendering import render_calls
from toolfmt.tools.reading import prepared
from toolfmt.workshop.chat_templates.answers import TOOLS, Answers, TemplateAnswer
from toolfmt.workshop.marking import call_markers

_TURN_END: Final = re.compile(r"(?:\s|</?[\w|｜▁]+>|<[|｜][^<>\s]*[|｜]>|\[e~\[|\]~b\])*+")
"""What may end a turn after the calls, for a dialect that does not know it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """How well a dialect fits a template."""

    dialect: Dialect[str]
    read: int
    """The answers that it reads."""
    clean: int
    """Those of them in which no text is left over."""
    ended: int
    """Those of them in which not even the end of the turn is left over."""
    exact: int
    """Those of them that it writes in exactly this way."""
    around: int
    """Its markers around results, tools, reasoning and turns that the template has."""
    foreign: int
    """Its markers of calls that the template does not have; those of reasoning may be missing in any template."""

    @property
    def rank(self) -> tuple[int, ...]:
        """The key that orders fits, the best last."""
        return (self.read, self.clean, self.ended, self.exact, self.around, -self.foreign)

    @property
    def known(self) -> int:
        """How widely the dialect is used, which breaks ties."""
        return len(self.dialect.aliases) + len(self.dialect.sources)


def recognised(source: str, found: Answers, dialects: Iterable[AnyDialect]) -> list[Fit]:
    """Return the dialects that read the template's calls, the best first."""
    fits = [fit for dialect in dialects if dialect.syntax is not None and (fit := _fit(dialect, source, found))]
    return sorted(fits, key=lambda fit: (fit.rank, fit.known), reverse=True)


def _fit(dialect: Dialect[str], source: str, found: Answers) -> Fit | None:
    """Judge one dialect; None if it does not read the answers with one call, and with several if there are any."""
    must = [answer for answer in (found.one, found.other, found.two) if answer is not None]
    if found.one is None or not all(reads(dialect, answer) for answer in must):
        return None
    rest = [answer for answer in (found.nested, found.empty) if answer is not None and reads(dialect, answer)]
    known = [*must, *rest]
    assert dialect.syntax is not None  # noqa: S101 - asked by the caller
    syntax = dialect.syntax
    around = [marker for pair in (*syntax.reasoning, *syntax.unwrap, *syntax.hidden) for marker in pair]
    around += [*syntax.stop, *syntax.tools.split("{tools}")]
    return Fit(
        dialect=dialect,
        read=len(known),
        clean=sum(reads(dialect, answer, whole=True) for answer in known),
        ended=sum(reads(dialect, replace(answer, text=answer.text + answer.tail), whole=True) for answer in known),
        exact=sum(_writes(dialect, answer) for answer in known),
        around=_results(dialect, found) + sum(marker.strip() in source for marker in around if marker.strip()),
        foreign=sum(marker not in source for marker in call_markers(syntax)),
    )


def reads(dialect: Dialect[str], answer: TemplateAnswer, *, whole: bool = False) -> bool:
    """Whether a dialect reads exactly the answer's calls; with `whole`, with no text left over."""
    return any(_reads(dialect, body, answer, whole=whole) for body in answer.bodies())


def _reads(dialect: Dialect[str], body: str, answer: TemplateAnswer, *, whole: bool) -> bool:
    # `parse` would also look for calls of other formats in what this one does not read
    parser = dialect.open_parser(ParserOptions(tools=prepared(TOOLS), whole=True))
    result = ParseResult((*parser.feed(body), *parser.close()))
    if result.failures or len(result.calls) != len(answer.calls):
        return False
    for call, wanted in zip(result.calls, answer.calls, strict=True):
        if call.name != wanted.name or not jsontext.equal(call.arguments, wanted.arguments):
            return False
    rest = result.text.strip()
    return not rest if whole else body.rstrip().endswith(rest) and _TURN_END.fullmatch(rest) is not None


def _writes(dialect: Dialect[str], answer: TemplateAnswer) -> bool:
    for calls in (answer.calls, [call.model_copy(update={"id": None}) for call in answer.calls]):
        with suppress(RenderError):
            if render_calls(calls, dialect=dialect, tools=TOOLS).strip() in answer.text:
                return True
    return False


def _results(dialect: Dialect[str], found: Answers) -> int:
    """Return 3 if the dialect writes results as the template does, else 0: it weighs more than a marker."""
    if not found.results:
        return 0
    written = dialect.results([ToolResult(name="probe_weather", content="probe result", id="probe0001")]).strip()
    return 3 if written in found.results and written != "probe result" else 0


_SPECIAL: Final = re.compile(r"<[|｜/]?[\w:.|｜▁\-]{3,}[|｜]?>|\[/?[A-Z_]{4,}\]")
"""A marker that is neither a plain word nor common markup."""
_WORD: Final = re.compile("[a-z]{8,}")
_TELLS: Final = re.compile("tool|call|func|action|invoke", re.IGNORECASE)
"""What is in markers of calls; markers of turns are shared by many dialects."""
LEAST: Final = 4.0
"""The weight from which on markers identify a dialect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """A dialect whose markers the template has."""

    dialect: Dialect[str]
    markers: tuple[str, ...]
    weight: float
    """The sum of the rarities of the markers among all dialects."""


def marked(source: str, dialects: Iterable[AnyDialect]) -> list[Marked]:
    """Return the dialects whose markers a template has, the likeliest first."""
    own = [(dialect, _groups(dialect.syntax)) for dialect in dialects if dialect.syntax is not None]
    spread = Counter(marker for _, groups in own for marker in frozenset[str]().union(*groups))
    found: list[Marked] = []
    for dialect, groups in own:
        if not any(all(marker in source for marker in group) for group in groups):
            continue
        present = tuple(dict.fromkeys(marker for group in groups for marker in group if marker in source))
        weight = sum(log(1 + len(own) / spread[marker]) for marker in present)
        if weight >= LEAST:
            found.append(Marked(dialect=dialect, markers=present, weight=weight))
    return sorted(found, key=lambda one: one.weight, reverse=True)


def _groups(syntax: Syntax) -> tuple[frozenset[str], ...]:
    """Return the groups of markers, around calls, tools and results, that identify a dialect."""
    written = call_markers(syntax)
    calls = frozenset(marker for marker in written if _SPECIAL.fullmatch(marker) or _WORD.fullmatch(marker))
    shown = [frozenset(_SPECIAL.findall(text)) for text in (syntax.tools, syntax.result + syntax.results)]
    return tuple(group for group in (calls, *shown) if any(_TELLS.search(marker) for marker in group))
