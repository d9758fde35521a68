"""Asks a server all questions, whole and streamed, and makes the report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Final

from toolfmt.arguments import checked
from toolfmt.model import JsonObject
from toolfmt.workshop.probing.asking import ClientAnswer, Server, UnusableError, read
from toolfmt.workshop.probing.findings import ProbeFinding, Report, without
from toolfmt.workshop.probing.judging import compare, judge
from toolfmt.workshop.probing.questions import QUESTIONS, Question

TIMEOUT: Final = 60.0
"""Seconds for one answer."""
PATIENCE: Final = 3
"""The probe ends after so many unusable answers in a row."""
STEADY: Final[JsonObject] = {"temperature": 0}
"""Makes two answers to a question the same; left out for servers that refuse it."""


@checked
def probe(  # noqa: PLR0913 - each is a choice of the caller's
    base_url: str,
    model: str,
    *,
    api_key: str | None = None,
    timeout: float = TIMEOUT,
    questions: Sequence[Question] = QUESTIONS,
    on_question: Callable[[str], object] | None = None,
) -> Report:
    """Ask an OpenAI-compatible server scripted questions, and report whether its tool calling is faithful.

    `base_url` is the one for clients, such as `http://127.0.0.1:8000/v1`. Each question is asked twice, whole and
    streamed, and `on_question` is called with each. A server that answers nonsense, or not at all, is a finding. Raises
    ValueError for an invalid base URL, a key that no header can hold, and a time-out that is not positive.
    """
    if not timeout > 0:
        raise ValueError(f"timeout is a number of seconds above 0, not {timeout!r}")
    with closing(Server(base_url, api_key=api_key, timeout=timeout)) as server:
        run = _Run(server, model, on_question or (lambda _: None))
        for question in questions:
            run.ask(question)
            if run.over:
                break
    report = Report(
        base_url=base_url,
        model=model,
        asked=run.asked,
        findings=tuple(run.findings),
        called=run.called or not run.wanted,
        unusable=run.over or not run.asked,
    )
    return without(report, api_key)


@dataclass(slots=True)
class _Run:
    server: Server
    model: str
    on_question: Callable[[str], object]
    findings: list[ProbeFinding] = field(default_factory=list[ProbeFinding])
    asked: int = 0
    wanted: bool = False
    """Whether an answer came to a question that asks for a call."""
    called: bool = False
    """Whether such an answer had one."""
    over: bool = False
    _steady: dict[str, Any] = field(default_factory=lambda: dict(STEADY))
    _failed: int = 0

    def ask(self, question: Question) -> None:
        """Ask a question both ways."""
        answers: list[ClientAnswer] = []
        for mode, stream in (("whole", False), ("streamed", True)):
            self.on_question(f"{question.name}, {mode}")
            answer = self._answer(question, mode, stream=stream)
            if self.over:
                return
            if answer is not None:
                answers.append(answer)
                self.wanted = self.wanted or bool(question.calls)
                self.called = self.called or bool(answer.calls)
                self.findings += judge(answer, question, mode)
        if len(answers) > 1:
            self.findings += compare(answers[0], answers[1], question)

    def _answer(self, question: Question, mode: str, *, stream: bool) -> ClientAnswer | None:
        request = question.request(self.model)
        try:
            try:
                reply = self.server.ask({**request, **self._steady}, stream=stream)
            except UnusableError as error:
                if error.rule != "refused" or not self._steady:
                    raise
                reply = self.server.ask(request, stream=stream)
                self._steady = {}
        except UnusableError as error:
            self._note(error, question, mode)
            return None
        self.asked += 1
        self._failed = 0
        return read(reply, stream=stream)

    def _note(self, error: UnusableError, question: Question, mode: str) -> None:
        refused = error.rule == "refused"
        self._failed += not refused
        self.over = error.final or self._failed >= PATIENCE
        self.findings.append(
            ProbeFinding(error.rule, "warning" if refused else "error", question.name, mode, error.expected, error.came)
        )
