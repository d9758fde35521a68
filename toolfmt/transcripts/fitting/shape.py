"""Fits a conversation to what a format supports and its provider accepts, before it is written.

Every step is a function of messages and rules; nothing is invented. A step's
changes are found afterwards by comparing the input with the read-back,
so no step has to report them. Each step first checks whether it is needed:
most conversations need few steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from operator import eq
from typing import TYPE_CHECKING, Final, TypeVar

from toolfmt.conversation import (
    CallPart,
    MediaPart,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    ResultPart,
    Role,
    TextPart,
    ToolDeclaration,
    Transcript,
)
from toolfmt.transcripts.comparing.linking import Names, Place, flatten, linked
from toolfmt.transcripts.fitting.carrying import DEFAULT, INSTRUCTIONS, Carry, adapt_parts, fits_reasoning, reachable
from toolfmt.transcripts.parts.pieces import changed
from toolfmt.transcripts.tables.declaring import fitted

if TYPE_CHECKING:
    from toolfmt.transcripts.format import Rules


Named = TypeVar("Named", CallPart, ToolDeclaration)


def shape(transcript: Transcript, rules: Rules, taken: Iterable[str] = (), carry: Carry = DEFAULT) -> Transcript:
    """Convert every part to a form that a format supports, and fit the conversation to the format's rules."""
    return fit(adapt_parts(transcript, rules, carry)[0], rules, taken)


def fit(transcript: Transcript, rules: Rules, taken: Iterable[str] = ()) -> Transcript:
    """Fit a conversation to a format's rules, without changing the input. Ids in `taken` are already in use."""
    named = _named(transcript)
    if not rules.namespaces and any(found.namespace for found in named):
        transcript = _distinguished(transcript, named)
        named = _named(transcript)
    names = Names(rules, (found.name for found in named))
    messages = list(transcript.messages)
    if rules.results_in_order or rules.call_ids == "none":
        messages = _in_call_order(_answered(messages))
        messages = _fitted(linked(messages, rules, names, taken), rules)
    else:
        messages = _answered(_fitted(linked(messages, rules, names, taken), rules))
    messages = _move_media_out_of_results(messages, rules)
    if rules.one_answer:
        messages = _first_answer(messages)
    if not rules.instructions_alone and messages and all(found.role in INSTRUCTIONS for found in messages):
        messages = [*messages[:-1], changed(messages[-1], "user", messages[-1].parts)]
    if rules.neighbours not in ("apart", "turn"):
        messages = _merged(messages, rules)
    if not rules.interleaved:
        messages = [
            message if message.plain or message.role != "assistant" else _ordered(message) for message in messages
        ]
    if not rules.ends_in_space:
        messages = _strip_final_space(messages)
    tools = transcript.tools
    if tools is not None:
        tools = fitted(tools, rules, names) if tools or rules.empty_tools else None
    choice = transcript.tool_choice
    if choice is not None and choice.names:
        choice = replace(choice, names=tuple(map(names, choice.names)))
    parallel, extra = transcript.parallel, transcript.extra
    return Transcript(tuple(messages), tools, choice, parallel, extra, transcript.rejected, transcript.label)


def _named(transcript: Transcript) -> list[CallPart | ToolDeclaration]:
    """List everything with a tool's name: calls, then declarations."""
    messages = (message.parts for message in transcript.messages if not message.plain)
    calls = [part for parts in messages for part in parts if type(part) is CallPart]
    return [*calls, *(tool for tool in transcript.tools or () if tool.kind != "hosted")]


def _distinguished(transcript: Transcript, named: Iterable[CallPart | ToolDeclaration]) -> Transcript:
    """Add the namespace to the names of tools that exist in several namespaces."""
    spaces: dict[str, set[str | None]] = {}
    for found in named:
        spaces.setdefault(found.name, set()).add(found.namespace)
    twice = {name for name, found in spaces.items() if len(found) > 1}

    def apart(one: Named) -> Named:
        return replace(one, name=f"{one.namespace}__{one.name}") if one.namespace and one.name in twice else one

    messages = [
        changed(message, message.role, [apart(part) if isinstance(part, CallPart) else part for part in message.parts])
        if any(isinstance(part, CallPart) and part.name in twice for part in message.parts)
        else message
        for message in transcript.messages
    ]
    declared = None if transcript.tools is None else tuple(map(apart, transcript.tools))
    return replace(transcript, messages=tuple(messages), tools=declared)


def _fitted(messages: Sequence[Message], rules: Rules) -> list[Message]:
    """Give each message a supported role, or leave it out, and place results as the format requires."""
    roles = _roles(rules)
    shaped: list[Message] = []
    for message in messages:
        role = roles[message.role]
        if message.plain and role == message.role and role in rules.roles:
            shaped.append(message)
            continue
        parts = tuple([part for part in message.parts if type(part) in _PLACED or _fits(part, role, rules)])
        whole = len(parts) == len(message.parts)
        results = list(map(type, parts)).count(ResultPart)
        if not results and role not in rules.roles:
            continue
        empty = rules.empty_messages or role in rules.silent
        if not parts and (message.parts or message.role == "tool" or not empty):
            continue  # nothing left of it has a place
        if not results:
            shaped.append(message if role == message.role and whole else changed(message, role, parts))
        elif results == len(parts) and (rules.results_in != "tool" or (message.role == "tool" and results == 1)):
            shaped.append(message if whole and rules.results_in == "tool" else changed(message, role, parts))
        else:
            shaped.extend(_answering(message, parts, role, rules))
    return shaped


_PLACED: Final = (CallPart, ResultPart)
"""Parts that every format has a place for."""


def _answering(message: Message, parts: Sequence[Part], role: Role, rules: Rules) -> Iterator[Message]:
    """Place a message's results as the format requires: one message each, all in one, or before the rest."""
    results = [part for part in parts if type(part) is ResultPart]
    others = [part for part in parts if type(part) is not ResultPart]
    if rules.results_in == "tool":
        yield from (Message("tool", (part,)) for part in results)
    elif rules.results_alone:
        yield changed(message, role, results)
    else:
        yield changed(message, role, [*results, *others])
        return
    if others:
        yield changed(message, "user", others)


def _roles(rules: Rules) -> dict[Role, Role]:
    system: Role = "system" if "system" in rules.roles else "user"
    return {
        "system": system,
        "developer": "developer" if "developer" in rules.roles else system,
        "user": "user",
        "assistant": "assistant",
        "tool": rules.results_in,
    }


def _fits(part: Part, role: Role, rules: Rules) -> bool:
    if isinstance(part, TextPart):
        return rules.blank_text == "accepted" or not (part.text.isspace() or not part.text)
    if isinstance(part, MediaPart):
        kinds = rules.user_kinds if role == "user" else rules.assistant_kinds if role == "assistant" else ()
        return part.kind in kinds and reachable(part, rules)
    if isinstance(part, ReasoningPart):
        return fits_reasoning(part, rules)
    return not isinstance(part, OpaquePart) or part.owner == rules.format


def _answered(messages: list[Message]) -> list[Message]:
    """Move results up to the calls that they answer."""
    waiting: set[str] = set()
    answering = False
    for message in messages:
        parts = message.parts
        if parts and type(parts[0]) is ResultPart:
            for part in parts:
                if isinstance(part, ResultPart) and part.id not in waiting:
                    return _moved(messages)
            answering = False
            if type(parts[-1]) is not ResultPart:
                waiting.clear()
        elif message.role == "assistant":
            if waiting and not answering:
                waiting.clear()
            for part in () if message.plain else parts:
                if isinstance(part, CallPart) and part.id is not None:
                    waiting.add(part.id)
            answering = True
        else:
            waiting.clear()
            answering = False
    return messages


def _moved(messages: list[Message]) -> list[Message]:
    places = flatten(messages)
    called = answers_of(messages, places)
    results = [place for place in places if isinstance(place.part, ResultPart) and place.call is not None]
    owner = {id(place.part): called[place.call] for place in results}
    results_after: dict[int, list[Message]] = {}
    kept: list[tuple[int, Message]] = []
    for number, message in enumerate(messages):
        moved = [part for part in message.parts if isinstance(part, ResultPart) and id(part) in owner]
        if len(moved) == len(message.parts) and len({owner[id(part)] for part in moved}) == 1:
            results_after.setdefault(owner[id(moved[0])], []).append(message)
            continue
        for part in moved:
            results_after.setdefault(owner[id(part)], []).append(Message(message.role, (part,)))
        others = tuple(part for part in message.parts if id(part) not in owner)
        if others or not moved:
            kept.append((number, changed(message, message.role, others) if moved else message))
    return [found for number, message in kept for found in (message, *results_after.get(number, ()))]


def _in_call_order(messages: list[Message]) -> list[Message]:
    """Sort adjacent results by their calls, if only the order links them."""
    places = flatten(messages)
    moved: dict[int, Part | None] = {}
    for _, run in groupby(places, key=lambda place: type(place.part) is ResultPart):
        group = list(run)
        ranked = sorted(group, key=lambda place: (place.call is None, place.call or 0))
        if type(group[0].part) is ResultPart:
            moved.update((old.at, new.part) for old, new in zip(group, ranked, strict=True) if old is not new)
    if not moved:
        return messages
    parts: list[list[Part]] = [[] for _ in messages]
    for place in places:
        part = moved.get(place.at, place.part)
        if part is not None:
            parts[place.message].append(part)
    return [changed(message, message.role, found) for message, found in zip(messages, parts, strict=True)]


def answers_of(messages: Sequence[Message], places: Iterable[Place]) -> dict[int | None, int]:
    """Find the last of the adjacent messages that form the answer of each call."""
    ends: list[int] = []
    for number in range(len(messages) - 1, -1, -1):
        goes_on = number + 1 < len(messages) and messages[number + 1].role == "assistant"
        ends.append(ends[-1] if goes_on else number)
    return {place.call: ends[-1 - place.message] for place in places if isinstance(place.part, CallPart)}


def _move_media_out_of_results(messages: list[Message], rules: Rules) -> list[Message]:
    """Move content that results may not contain, such as images, into a user message after the results."""
    kinds = rules.result_kinds
    results = (part for message in messages if not message.plain for part in message.parts if type(part) is ResultPart)
    if not any(type(found) is MediaPart for part in results for found in part.content):
        return messages
    shaped: list[Message] = []
    left: list[Part] = []
    for message in messages:
        if left and not any(isinstance(part, ResultPart) for part in message.parts):
            shaped.append(Message("user", tuple(left)))
            left = []
        parts: list[Part] = []
        for part in message.parts:
            inside = part.content if isinstance(part, ResultPart) else ()
            rich = [found for found in inside if isinstance(found, MediaPart) and found.kind not in kinds]
            left += (found for found in rich if found.kind in rules.user_kinds and reachable(found, rules))
            if isinstance(part, ResultPart) and rich:
                content = [found for found in inside if not isinstance(found, MediaPart) or found.kind in kinds]
                parts.append(replace(part, content=tuple(content)))
            else:
                parts.append(part)
        shaped.append(message if tuple(parts) == message.parts else changed(message, message.role, parts))
    return [*shaped, Message("user", tuple(left))] if left else shaped


def _first_answer(messages: list[Message]) -> list[Message]:
    """Keep the user's messages up to the first answer, and that answer's calls."""
    kept: list[Message] = []
    for message in messages:
        if message.role == "user" and not _answers(message):
            kept.append(message)
        elif message.role == "assistant":
            calls = [part for part in message.parts if isinstance(part, CallPart)]
            return [*kept, message if len(calls) == len(message.parts) else changed(message, "assistant", calls)]
    return kept


def _merged(messages: list[Message], rules: Rules) -> list[Message]:
    """Join adjacent messages of one role, with results before other content of the turn."""
    roles = [message.role for message in messages]
    if not any(map(eq, roles, roles[1:])):
        return messages
    kinds = zip(roles, map(_answers, messages), strict=True) if rules.results_alone else roles
    shaped: list[Message] = []
    at = 0
    for _, run in groupby(kinds):
        start, at = at, at + len(list(run))
        role, group = roles[start], messages[start:at]
        joins = rules.neighbours != "answers" and role != "system"
        if len(group) > 1 and (joins or (role == "assistant" and any(map(_acts, group)))):
            shaped.append(_join(group))
        else:
            shaped += group
    return shaped


def _acts(message: Message) -> bool:
    """Whether a message has reasoning or calls, and so belongs to one answer with its neighbours."""
    return any(isinstance(part, (CallPart, ReasoningPart)) for part in message.parts)


def _answers(message: Message) -> bool:
    return bool(message.parts) and type(message.parts[0]) is ResultPart


def _join(group: list[Message]) -> Message:
    said = [part for message in group for part in message.parts]
    parts = sorted(said, key=lambda part: type(part) is not ResultPart)
    extra = {key: value for message in group if message.extra for key, value in message.extra.items()}
    joined = Message(group[0].role, tuple(parts), group[0].name, extra)
    joined.where = group[0].where
    return joined


def _strip_final_space(messages: list[Message]) -> list[Message]:
    """Remove white space at the end of a final answer, which is to be continued."""
    last = messages[-1] if messages else None
    text = last.parts[-1] if last is not None and last.role == "assistant" and last.parts else None
    if last is None or not isinstance(text, TextPart) or text.text == text.text.rstrip():
        return messages
    return [*messages[:-1], changed(last, last.role, (*last.parts[:-1], replace(text, text=text.text.rstrip())))]


def _ordered(message: Message) -> Message:
    """Put an answer's reasoning before its text and calls last, for a format with separate places for them."""
    ranks = [_RANK.get(type(part), 1) for part in message.parts]
    if ranks == sorted(ranks):
        return message
    return changed(message, message.role, sorted(message.parts, key=lambda part: _RANK.get(type(part), 1)))


_RANK: Final[dict[type, int]] = {ReasoningPart: 0, CallPart: 2}
