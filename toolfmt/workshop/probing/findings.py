"""The result of a probe: a record for each fault, the whole report, and its verdict in one sentence.

ProbeFinding("markup_in_content", "error", "one call", "whole", expected="the call in `tool_calls`",
             came="<tool_call>…", read=('hermes: get_weather({"city": "Paris"})',))

this server's tool parser is off: its calls are text in the format hermes; start vLLM with
`--enable-auto-tool-choice --tool-call-parser hermes`, ...
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from pydantic_core import to_jsonable_python

from toolfmt.arguments import checked
from toolfmt.model import JsonObject
from toolfmt.workshop.servers import gateway, server_advice

FindingSeverity: TypeAlias = Literal["error", "warning"]
"""A warning may be the model's fault as well as the server's."""
SHOWN: Final = 200
"""Characters of an answer that are shown."""
HIDDEN: Final = "[secret]"
"""What a key is replaced by."""


@dataclass(frozen=True, slots=True)
class ProbeFinding:
    """One fault in the answer to one question."""

    rule: str
    """A stable word for the fault."""
    severity: FindingSeverity
    question: str
    mode: str
    """`whole` or `streamed`; `both` where the two were compared."""
    expected: str
    came: str
    read: tuple[str, ...] = ()
    """The calls that toolfmt reads in the text, each with the dialect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What the questions show of a server."""

    base_url: str
    model: str
    asked: int
    """Answers that came, right or wrong."""
    findings: tuple[ProbeFinding, ...]
    called: bool = True
    """Whether any answer to a question that asks for a call had one."""
    unusable: bool = False
    """The server did not answer as an API does, so the report says little."""

    @property
    def faithful(self) -> bool:
        """Whether all questions were answered without a fault of the server."""
        return not self.unusable and all(finding.severity != "error" for finding in self.findings)

    def to_json(self) -> JsonObject:
        """Write the report as JSON."""
        made: JsonObject = to_jsonable_python(self)
        findings, unusable, _ = made.pop("findings"), made.pop("unusable"), made.pop("called")
        return {**made, "faithful": self.faithful, "unusable": unusable, "findings": findings}


def without(report: Report, secret: str | None) -> Report:
    """Remove a secret from all texts of a report: servers may repeat their requests."""
    if not secret:
        return report

    def hidden(text: str) -> str:
        return text.replace(secret, HIDDEN)

    findings = tuple(
        replace(one, expected=hidden(one.expected), came=hidden(one.came), read=tuple(map(hidden, one.read)))
        for one in report.findings
    )
    return replace(report, base_url=hidden(report.base_url), model=hidden(report.model), findings=findings)


def shown(text: str) -> str:
    """Shorten a text of an answer."""
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


MARKUP: Final = "markup_in_content"


@checked
def verdict(report: Report) -> str:
    """Summarise a report in one sentence: the main fault and what to do about it."""
    errors = [one for one in report.findings if one.severity == "error"]
    if report.unusable:
        why = f": {errors[-1].rule}, {errors[-1].came}" if errors else ""
        return f"this server gives no usable answers{why}"
    left = [one for one in errors if one.rule == MARKUP]
    formats = Counter(text.partition(":")[0] for one in left for text in one.read)
    if formats:
        dialect = formats.most_common(1)[0][0]
        off = len(left) * 2 > len({(one.question, one.mode) for one in errors})
        state = "is off: its calls are text" if off else "misses some calls: they are text"
        return f"this server's tool parser {state} in the format {dialect}; {server_advice(dialect)}"
    if not report.called:
        return (
            f"no call came in any of {report.asked} answers: the server drops calls, or does not show the tools to the "
            f"model; {server_advice('')}"
        )
    if not errors:
        warned = len(report.findings)
        rest = f"; {warned} {'warning' if warned == 1 else 'warnings'} may be the model's own doing" if warned else ""
        return f"this server's tool calling is faithful in {report.asked} answers{rest}"
    rules = Counter(one.rule for one in errors)
    listed = ", ".join(f"{rule} ({times})" for rule, times in rules.most_common(3))
    more = " and more" if len(rules) > 3 else ""  # noqa: PLR2004
    return (
        f"this server gets tool calls wrong: {listed}{more}; docs/how-to/probe-a-server.md says what the rules mean. "
        f"If its model writes calls as text, {gateway('')}"
    )
