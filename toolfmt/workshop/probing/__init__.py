"""Is a server's tool calling faithful? Scripted questions, and what is wrong with the answers.

    report = probe("http://127.0.0.1:8000/v1", "qwen3")
    report.faithful
    verdict(report)             # in one sentence, with what to do
    for finding in report.findings:
        print(finding.severity, finding.rule, finding.expected, finding.came, finding.read)

A server reads the calls of its model's text and hands them on as JSON. Where it does that badly,
calls stay in the text, arguments are lost or changed, streams differ from whole answers. Needs the extra `probe`.
"""

from __future__ import annotations

from toolfmt.workshop.probing.findings import ProbeFinding, Report
from toolfmt.workshop.probing.questions import QUESTIONS, Question
from toolfmt.workshop.probing.run import probe
from toolfmt.workshop.probing.verdict import verdict

__all__ = ["QUESTIONS", "ProbeFinding", "Question", "Report", "probe", "verdict"]
