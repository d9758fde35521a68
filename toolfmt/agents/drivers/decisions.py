"""What a ReAct answer decides: to call a tool, or to answer; or why it decides nothing that can be done.

{"thought": "…", "type": "call_tool", "tool": "add", "args": {"a": 1}}    Decision(calls=(add(a=1),))
Thought: … Final Answer: 3                                                Decision(answer="3")
Let me think about it.                                                    Undecided("decision_extraction", …)
{"type": "call_tool", "tool": "ad", "args": {}}                           Undecided("decision_validation", …)
two decisions in one answer                                               Undecided("decision_validation", …)
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from toolfmt import jsontext
from toolfmt.agents.drivers.normalising import normalised
from toolfmt.errors import ParseError
from toolfmt.events import CallEnd, CallFailed, Event
from toolfmt.schema import problems

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolfmt.agents.drivers.reading import Written
    from toolfmt.dialect.syntax import Syntax
    from toolfmt.model import ToolDefinition, ToolInvocation

TYPES: Final = ("call_tool", "final_answer")
VALIDATED: Final = frozenset(
    {"unknown_tool", "invalid_arguments", "missing_name", "missing_arguments", "missing_answer", "arguments_not_object"}
)
"""The reasons of failures where a decision was read, and only what it says is wrong."""
_FENCE = re.compile(r"```\w*\s*(.*?)\s*```", re.DOTALL)


@dataclass(frozen=True, slots=True)
class StepDecision:
    """What to do: the events of the answer with its calls as they are to be run, or the final answer's text."""

    events: tuple[Event, ...] = ()
    answer: str | None = None
    changes: tuple[tuple[ToolInvocation, tuple[str, ...]], ...] = ()
    """The calls whose arguments were changed, with what was, in words."""


@dataclass(frozen=True, slots=True)
class Undecided:
    """Why there is nothing to do."""

    failure: Literal["decision_extraction", "decision_validation"]
    detail: str
    failed: CallFailed | None = None


def decided(written: Written, tools: Mapping[str, ToolDefinition], syntax: Syntax) -> StepDecision | Undecided:
    """Read the decision in an answer."""
    result = written.result
    for failed in result.failures:
        kind = "decision_validation" if failed.reason in VALIDATED else "decision_extraction"
        return Undecided(kind, f"{failed.reason}: {failed.detail}", failed)
    kind = _type(written.raw)
    if kind is not None and kind not in TYPES:
        detail = f"`type` is {jsontext.dumps(kind)}, and there are {' and '.join(TYPES)}"
        return Undecided("decision_validation", detail)
    if result.calls:
        return _checked(result.events, tools)
    text = result.text.strip()
    if text and text != written.raw.strip():
        return StepDecision(answer=text)
    if not text and any(opener in written.raw for opener, _ in syntax.unwrap):
        return Undecided("decision_validation", "the final answer is blank")
    return Undecided("decision_extraction", "the answer holds neither a call nor a final answer")


def _type(raw: str) -> object:
    """Give the `type` of an answer that is one JSON object."""
    fenced = _FENCE.fullmatch(raw.strip())
    try:
        value = jsontext.loads(fenced[1] if fenced else raw)
    except ParseError:
        return None
    return value.get("type") if jsontext.is_object(value) else None


def _checked(events: tuple[Event, ...], tools: Mapping[str, ToolDefinition]) -> StepDecision | Undecided:
    count = sum(isinstance(event, CallEnd) for event in events)
    if count > 1:
        return Undecided("decision_validation", f"{count} decisions at once: decide on one, and wait for what it gives")
    kept: list[Event] = []
    changes: list[tuple[ToolInvocation, tuple[str, ...]]] = []
    for event in events:
        if not isinstance(event, CallEnd):
            kept.append(event)
            continue
        call = event.call
        if call.name not in tools:
            detail = f"no tool is called {call.name!r}; there are {', '.join(tools) or 'none'}"
            return _invalid(event, "unknown_tool", detail)
        arguments, changed = normalised(tools[call.name], call.arguments)
        wrong = problems(tools[call.name], arguments)
        if wrong:
            return _invalid(event, "invalid_arguments", "\n".join(map(str, wrong)))
        if changed:
            call = call.model_copy(update={"arguments": arguments, "raw_arguments": None})
            changes.append((call, tuple(changed)))
        kept.append(replace(event, call=call))
    return StepDecision(tuple(kept), None, tuple(changes))


def _invalid(event: CallEnd, reason: str, detail: str) -> Undecided:
    raw = event.call.raw_arguments or jsontext.dumps(event.call.arguments)
    failed = CallFailed(event.index, raw, reason, detail, event.span, event.call.name)
    return Undecided("decision_validation", f"{reason}: {detail}", failed)
