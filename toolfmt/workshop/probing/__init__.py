"""Checks whether a server's tool calling is faithful, with scripted questions.

    report = probe("http://127.0.0.1:8000/v1", "qwen3")
    report.faithful
    verdict(report)             # one sentence, with advice
    for finding in report.findings:
        print(finding.severity, finding.rule, finding.expected, finding.came, finding.read)

A server parses the calls in its model's text and returns them as JSON. If it does so badly, calls stay in the text,
arguments are lost or changed, and streams differ from whole answers. Needs the extra `probe`.
"""

from __future__ import annotations

from toolfmt.workshop.probing.findings import ProbeFinding, Report, verdict
from toolfmt.workshop.probing.questions import QUESTIONS, Question
from toolfmt.workshop.probing.run import probe

__all__ = ["QUESTIONS", "ProbeFinding", "Question", "Report", "probe", "verdict"]
