"""Finds what a provider would refuse in calls, results and tools: ids, names, arguments, their order, schemas.

Also finds faults in calls and results before a conversion, which reports them. Files of training rows refuse
such calls, because a model would learn them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from toolfmt import jsontext
from toolfmt.conversation import CallPart, Message, OpaquePart, ReasoningPart, ResultPart, TextPart
from toolfmt.errors import ConversionError, ParseError
from toolfmt.jsontext import is_object
from toolfmt.schema.lowering import refusals
from toolfmt.transcripts.comparing.linking import Place, flatten
from toolfmt.transcripts.comparing.loss import Loss
from toolfmt.transcripts.parts.values import broken_arguments, pointer

if TYPE_CHECKING:
    from toolfmt.conversation import ToolDeclaration, Transcript
    from toolfmt.model import JsonValue
    from toolfmt.transcripts.format import Rules, Spelling

CallPlace: TypeAlias = tuple[int, str, str]
"""The number of the message, the rule, and the reason."""
ADDED: Final = ("/placeholder",)
"""The place of messages that a repair added; the source has none for them."""


def call_findings(messages: Sequence[Message], rules: Rules, *, continued: bool = False) -> Iterator[CallPlace]:
    """Yield the faults in a conversation's calls and results.

    `continued`: the provider stores an earlier part, with calls that results may answer.
    """
    places = [place for place in flatten(messages) if isinstance(place.part, (CallPart, ResultPart))]
    if not places:
        return
    turns = turns_of(messages, rules)
    yield from _calls(places, turns, rules)
    yield from _results(places, rules, continued=continued)
    yield from _pairs(messages, places, turns, rules)


def name_reason(rules: Rules) -> Callable[[str | None], str]:
    """Return a function that explains why a tool's name is illegal; it returns "" for a legal name."""
    return _spelling("name", "the name of a tool", rules.tool_name, "a tool has no name")


def _spelling(noun: str, whole: str, legal: Spelling, missing: str) -> Callable[[str | None], str]:
    """Return a function that explains why a name or an id is illegal; it returns "" for a legal one."""
    fits = re.compile(f"(?={legal.start})(?:{legal.characters or '.'})+", re.DOTALL).fullmatch

    def reason(found: str | None) -> str:
        if not found:
            return missing
        if legal.length and len(found) > legal.length:
            return f"{whole} has {len(found)} characters, {legal.length} are allowed"
        return "" if fits(found) else f"the {noun} {found!r} has characters that are not allowed"

    return reason


def turns_of(messages: Sequence[Message], rules: Rules) -> list[int]:
    """Number the turns: adjacent messages of results form one, and others of one role if the provider joins them."""
    turns: list[int] = []
    before = ""
    for message in messages:
        together = message.role == before and (rules.neighbours in ("turn", "joined") or before == "tool")
        turns.append(turns[-1] + (not together) if turns else 0)
        before = message.role
    return turns


def _calls(places: list[Place], turns: list[int], rules: Rules) -> Iterator[CallPlace]:
    wrong_name = name_reason(rules)
    wrong_id = _spelling("id", "an id", rules.call_id, "there is no id" if rules.call_ids == "required" else "")
    used: set[object] = set()
    for place in places:
        part, at = place.part, place.message
        if not isinstance(part, CallPart):
            continue
        if place.role != "assistant":
            yield at, "place", f"a call is in a message of the {place.role}"
        if reason := wrong_name(part.name):
            yield at, "tool_name", reason
        if not part.custom and (reason := _arguments(part, rules)):
            yield at, "arguments", reason
        if rules.call_ids == "none":
            continue
        if reason := wrong_id(part.id):
            yield at, "call_id", reason
        key = part.id if rules.unique_ids else (turns[at], part.id)
        if part.id and key in used:
            yield at, "duplicate_id", f"another call has the id {part.id!r}"
        used.add(key)


def _arguments(part: CallPart, rules: Rules) -> str:
    if rules.arguments == "any":
        return ""
    if rules.arguments == "text":
        if part.text is not None and not (part.custom or part.text.strip()):
            return f"the arguments of {part.name} are no JSON text: those of a call without any are '{{}}'"
        return "" if part.text is not None else f"the arguments of {part.name} are not text"
    return "" if is_object(part.arguments) else f"the arguments of {part.name} are not an object"


def _results(places: list[Place], rules: Rules, *, continued: bool) -> Iterator[CallPlace]:
    for place in places:
        part, at = place.part, place.message
        if not isinstance(part, ResultPart):
            continue
        if place.role == "assistant":
            yield at, "place", "a result is in a message of the assistant"
        if rules.result_names and not part.name:
            yield at, "result_name", "a result does not name its tool"
        if rules.call_ids == "required" and not part.id:
            yield at, "call_id", "a result has no id"
        elif place.call is None and not continued:
            yield at, "orphan_result", orphan_reason(part)


def _pairs(messages: Sequence[Message], places: list[Place], turns: list[int], rules: Rules) -> Iterator[CallPlace]:
    called = {place.call: turns[place.message] for place in places if isinstance(place.part, CallPart)}
    for place in places if rules.results_follow else ():
        if (
            isinstance(place.part, ResultPart)
            and place.call in called
            and turns[place.message] != called[place.call] + 1
        ):
            yield place.message, "order", "a result does not directly follow its call"
    for place, call in unanswered(places, turns):
        yield place.message, "unanswered_call", f"the call of {call.name} has no result"
    if rules.results_in == "user" and not rules.results_alone:
        yield from _mixed(messages, turns)


def unanswered(places: Sequence[Place], turns: Sequence[int]) -> Iterator[tuple[Place, CallPart]]:
    """Yield the calls that have no result although the conversation goes on."""
    answered = {place.call for place in places if isinstance(place.part, ResultPart)}
    for place in places:
        if isinstance(place.part, CallPart) and place.call not in answered and turns[place.message] < turns[-1]:
            yield place, place.part


def _mixed(messages: Sequence[Message], turns: list[int]) -> Iterator[CallPlace]:
    """Yield results that come after other content of their turn."""
    turn, other = -1, False
    for at, message in enumerate(messages):
        if turns[at] != turn:
            turn, other = turns[at], False
        for part in message.parts:
            if not isinstance(part, ResultPart):
                other = True
            elif other:
                yield at, "order", "a result comes after other content of its turn"
                break


def tool_findings(tools: Iterable[ToolDeclaration], rules: Rules) -> Iterator[tuple[str, str, str]]:
    """Yield the faults in tools, each with its place; a provider's own kinds are not checked."""
    wrong_name = name_reason(rules)
    for at, tool in enumerate(tools):
        if tool.kind == "hosted":
            continue
        if reason := wrong_name(tool.name):
            yield f"/tools/{at}", "tool_name", reason
        if tool.kind == "function" and tool.parameters is not None:
            for place, reason in refusals(*rules.schema_of(tool)):
                yield f"/tools/{at}/parameters{place}", "schema", reason


def choice_reason(transcript: Transcript) -> str:
    """Explain why a choice of tools is refused: no tool is declared, or none of that name; "" if it is not."""
    choice, tools = transcript.tool_choice, transcript.tools
    if choice is None or choice.mode == "none" or tools is None or any(tool.kind == "hosted" for tool in tools):
        return ""
    if not tools:
        return "a choice of tools without tools"
    missing = [name for name in choice.names if all(tool.name != name for tool in tools)]
    return f"the choice names {', '.join(missing)}, which is not declared" if missing else ""


def refuse_untrainable(transcript: Transcript, origin: Rules, goal: Rules, *, mended: str | None = None) -> None:
    """Raise `ConversionError` for a row with a turn that is not understood, or that a training row must not hold.

    That is a broken call and, unless the row is `mended`, a result without a call.
    """
    if not (goal.trained or origin.trained):
        return
    for message in (*transcript.messages, *(transcript.rejected or ())):
        for part in message.parts:
            reason = ""
            if isinstance(part, CallPart) and goal.trained:
                reason = _defect(part)
            elif isinstance(part, OpaquePart) and origin.trained and part.value is message.source:
                reason = f"the turn is not understood: {_not_understood(part.value)}"
            if reason:
                raise _untrainable(pointer(message.where), reason)
    for loss in defects(transcript.messages, continued=False) if goal.trained and mended is None else ():
        if loss.code == "result_link":
            raise _untrainable(loss.path, f"a result of no call: {loss.detail}")


def refuse_untrained(transcript: Transcript, goal: Rules, before: Transcript) -> None:
    """Raise `ConversionError` for a row from which, as written, a model would learn nothing; `before` is the source."""
    for where, reason in untrained(transcript, goal, before):
        raise _untrainable(where, reason)


def _untrainable(where: str, reason: str) -> ConversionError:
    return ConversionError(f"{where or '/'}: not a row to train on: {reason}")


def _not_understood(value: JsonValue) -> str:
    """Explain why a turn that should hold calls is not understood."""
    texts = [found for found in value.values() if isinstance(found, str)] if is_object(value) else [value]
    text = texts[-1] if texts else ""
    try:
        jsontext.loads(text if isinstance(text, str) else jsontext.dumps(text))
    except ParseError as error:
        return f"no JSON: {error}"
    return "a call is an object with the text `name`, and several are a list of such objects"


def untrained(transcript: Transcript, rules: Rules, before: Transcript | None = None) -> Iterator[tuple[str, str]]:
    """Yield where and why a trainer would refuse a row, or learn nothing from it; `before` has empty messages too."""
    messages = transcript.messages
    if not rules.answered:
        return
    where, left = pointer(messages[-1].where) if messages else "", to_last_answer(messages)
    if not left:
        empty = next((one for one in (before or transcript).messages[::-1] if one.role == "assistant"), None)
        what = "no message is the assistant's" if empty is None else "the assistant's message has no text and no call"
        yield where if empty is None else pointer(empty.where), f"{what}, so there is nothing to learn"
    elif len(left) < len(messages) and not rules.one_answer:
        last = "an empty one" if messages[-1].role == "assistant" else f"a message of the {messages[-1].role}"
        yield where, f"a row ends with an answer of the assistant, not with {last}"
    elif all(message.role in ("assistant", "tool") or message.where == ADDED for message in messages):
        yield where, "an answer alone, without the question"
    elif all(message.extra.get(f"{rules.format}.weight") == 0 for message in left if message.role == "assistant"):
        yield where, "the `weight` of every answer is 0, so there is nothing to learn"


def to_last_answer(messages: Sequence[Message]) -> Sequence[Message]:
    """Return the messages up to the assistant's last that says something or makes a call."""
    return messages[: max((at for at, message in enumerate(messages, 1) if _is_answer(message)), default=0)]


def _is_answer(message: Message) -> bool:
    return message.role == "assistant" and any(
        bool(part.text.strip()) if isinstance(part, TextPart) else not isinstance(part, ReasoningPart)
        for part in message.parts
    )


def _defect(part: CallPart) -> str:
    if not part.name:
        return "a call has no name"
    reason = broken_arguments(part)
    return f"the arguments of the call to {part.name} are not a JSON object: {reason}" if reason else ""


def defects(messages: Sequence[Message], *, continued: bool) -> Iterator[Loss]:
    """List calls without a name, and results without a call; `continued`: the provider may hold the call."""
    if _sound(messages):
        return
    for place in flatten(messages):
        part, where = place.part, pointer(messages[place.message].where)
        if isinstance(part, CallPart) and not part.name:
            yield Loss("tool_name", where, "missing", "the call has no name")
        elif isinstance(part, ResultPart) and place.call is None and not continued:
            yield Loss("result_link", where, "missing", orphan_reason(part))


def _sound(messages: Sequence[Message]) -> bool:
    """Whether every call has a name and every result an open call's id, the common case, decided without linking."""
    waiting: dict[str | None, int] = {None: 0}
    for message in messages:
        for part in () if message.plain else message.parts:
            if isinstance(part, CallPart):
                if not part.name:
                    return False
                if part.id is not None:
                    waiting[part.id] = waiting.get(part.id, 0) + 1
            elif isinstance(part, ResultPart):
                if not waiting.get(part.id):
                    return False
                waiting[part.id] -= 1
    return True


def orphan_reason(part: ResultPart) -> str:
    """Explain why a result answers no call."""
    if part.id:
        return f"no open call has the id {part.id!r}"
    return f"no open call has the name {part.name!r}" if part.name else "no call is open"
