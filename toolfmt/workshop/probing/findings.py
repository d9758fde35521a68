"""What a probe finds: one record for each thing that is wrong, and the whole report.

Finding("markup_in_content", "error", "one call", "whole", expected="the call in `tool_calls`",
        came="<tool_call>…", read=('hermes: get_weather({"city": "Paris"})',))
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from toolfmt.model import JsonObject

FindingSeverity: TypeAlias = Literal["error", "warning"]
"""A warning may as well be the model's doing as the server's."""
SHOWN: Final = 200
"""How many characters of what came are shown."""


@dataclass(frozen=True, slots=True)
class ProbeFinding:
    """One thing that is wrong, in the answer to one question."""

    rule: str
    """A stable word for what is wrong."""
    severity: FindingSeverity
    question: str
    mode: str
    """`whole` or `streamed`; both where the two were compared."""
    expected: str
    came: str
    read: tuple[str, ...] = ()
    """The calls that toolfmt reads in the text, each with the dialect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What is known of a server after the questions."""

    base_url: str
    model: str
    asked: int
    """Questions that were answered, however."""
    findings: tuple[ProbeFinding, ...]
    unusable: bool = False
    """The server did not answer as an API does, so little was learnt."""

    @property
    def faithful(self) -> bool:
        """Whether everything was learnt, and nothing is wrong that the server could help."""
        return not self.unusable and all(finding.severity != "error" for finding in self.findings)

    def to_json(self) -> JsonObject:
        """Write the report as JSON."""
        fields = ("rule", "severity", "question", "mode", "expected", "came")
        return {
            "base_url": self.base_url,
            "model": self.model,
            "asked": self.asked,
            "faithful": self.faithful,
            "unusable": self.unusable,
            "findings": [
                {**{name: getattr(one, name) for name in fields}, "read": list(one.read)} for one in self.findings
            ],
        }


def without(report: Report, secret: str | None) -> Report:
    """Take a secret out of everything that is said; servers like to repeat what they were given."""
    if not secret:
        return report

    def hidden(text: str) -> str:
        return text.replace(secret, "[secret]")

    findings = tuple(
        replace(one, expected=hidden(one.expected), came=hidden(one.came), read=tuple(map(hidden, one.read)))
        for one in report.findings
    )
    return replace(report, base_url=hidden(report.base_url), model=hidden(report.model), findings=findings)


def shown(text: str) -> str:
    """Show a text that came, shortened."""
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
