"""Compilers: functions that make the conversation that a model sees from the sections of a state.

    all_sections                  every section, the conversation last; the default
    sections("summary", "buffer", "messages")     these, in this order
    current_trace                 as all sections, without the calls and results of earlier runs
    window(20)                    the instructions and the last 20 messages; of another compiler with `of=`

The default keeps old results, because a model that no longer sees a result calls the tool again or invents one.
`current_trace` saves tokens if runs are independent. Any function of a state is a compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from toolfmt.agents.state import TALK, AgentState
from toolfmt.arguments import Positive, checked
from toolfmt.conversation import CallPart, Message

_INSTRUCTIONS = frozenset({"system", "developer"})
Compiler: TypeAlias = Callable[["AgentState"], "Sequence[Message]"]
"""Makes of a state the messages that the model is shown."""


def all_sections(state: AgentState) -> tuple[Message, ...]:
    """Return every section: the others in order, then the conversation."""
    return (*_others(state), *state.messages)


@checked
def sections(*names: str) -> Compiler:
    """Make a compiler of some sections, in this order; a missing section is empty."""
    if not names:
        raise ValueError("name at least one section, such as 'messages'")
    return lambda state: tuple(message for name in names for message in state.sections.get(name, ()))


def current_trace(state: AgentState) -> tuple[Message, ...]:
    """Return every section without the tool calls and results of earlier runs."""
    talk = (message for message in state.messages[: state.begin] if message.role != "tool")
    before = (one for one in talk if not any(isinstance(part, CallPart) for part in one.parts))
    return (*_others(state), *before, *state.messages[state.begin :])


@checked
def window(count: Positive, of: Compiler = all_sections) -> Compiler:
    """Make a compiler of the instructions and the last `count` other messages, without results that lack their call.

    Results at the beginning whose calls are cut off are left out, so there may be fewer messages.
    """

    def shown(state: AgentState) -> tuple[Message, ...]:
        messages = tuple(of(state))
        talk = [message for message in messages if message.role not in _INSTRUCTIONS]
        first = next((at for at in range(max(0, len(talk) - count), len(talk)) if talk[at].role != "tool"), len(talk))
        kept = {id(message) for message in talk[first:]}
        return tuple(message for message in messages if message.role in _INSTRUCTIONS or id(message) in kept)

    return shown


def _others(state: AgentState) -> tuple[Message, ...]:
    return tuple(message for name, found in state.sections.items() if name != TALK for message in found)
