"""Pairs calls with results, and lets the user begin where a provider wants that; reports each change.

    [user, assistant (call a, call b), tool (result a), user]
    fill: [user, assistant (call a, call b), tool (result a), tool (stub for b), user]
    drop: [user, assistant (call a), tool (result a), user]

With both, a turn of the user's is added where the provider demands one and the conversation has none. A second result
of a call is joined with its first in any case: nothing is invented or lost by it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from toolfmt.conversation import CallPart, Message, Part, ResultPart, TextPart, Transcript
from toolfmt.transcripts.carrying import INSTRUCTIONS, as_text
from toolfmt.transcripts.check import says_something
from toolfmt.transcripts.check_calls import turns_of
from toolfmt.transcripts.flat import Place, flatten
from toolfmt.transcripts.loss import Loss
from toolfmt.transcripts.pieces import changed
from toolfmt.transcripts.shape import last_of_answer
from toolfmt.transcripts.values import pointer

if TYPE_CHECKING:
    from toolfmt.transcripts.format import Rules

Mending: TypeAlias = Literal["fill", "drop"]
"""What becomes of calls without a result and results without a call: both kept with placeholders, or both dropped."""
STUB: Final = "No result: the call was not answered."
"""What a stub result says."""
OPENING: Final = "(The conversation begins here.)"
"""What a placeholder turn of the user's says."""
_ADDED: Final = ("/placeholder",)
"""Where the messages are that were added: the source has no place for them."""


def mend(
    transcript: Transcript, rules: Rules, how: Mending | None, *, continued: bool = False
) -> tuple[Transcript, list[Loss]]:
    """Mend a conversation for a provider with these rules; list what was changed.

    `continued` says that the provider holds the calls which some results answer.
    """
    work = _Work(list(transcript.messages), continued=continued)
    work.join_results()
    if how == "fill":
        work.reword_orphans()
        work.add_results(rules)
    elif how == "drop":
        work.drop_unpaired(rules)
    if how is not None:
        work.add_opening(transcript, rules)
    if not work.losses:
        return transcript, []
    return replace(transcript, messages=tuple(work.messages)), work.losses


def of_source(found: Sequence[Loss]) -> Iterator[Loss]:
    """Give the losses of what the source says: what was added for it has nothing to lose."""
    return (loss for loss in found if loss.path != _ADDED[0])


@dataclass(slots=True)
class _Work:
    messages: list[Message]
    continued: bool
    losses: list[Loss] = field(default_factory=list[Loss])

    def join_results(self) -> None:
        """Join a further result of a call with the first one; the same words are not said twice."""
        first: dict[str, int] = {}
        joined: dict[int, Part] = {}
        gone: set[int] = set()
        places = flatten(self.messages)
        for place in places:
            part = place.part
            if not isinstance(part, ResultPart) or part.id is None:
                continue
            if place.call is not None:
                first[part.id] = place.at
            elif part.id in first:
                before = joined.get(first[part.id], places[first[part.id]].part)
                assert isinstance(before, ResultPart)  # noqa: S101 - the place of a result
                joined[first[part.id]] = _joined(before, part)
                gone.add(place.at)
                self._lose("duplicate", place, "merged", part.id)
        if gone:
            self._rebuild(places, {**{at: (part,) for at, part in joined.items()}, **dict.fromkeys(gone, ())})

    def reword_orphans(self) -> None:
        """Make text of the user's of results that answer no call."""
        places = [] if self.continued else flatten(self.messages)
        orphans = [place for place in places if isinstance(place.part, ResultPart) and place.call is None]
        for place in orphans:
            self._lose("result", place, "changed", "as text")
        if orphans:
            self._rebuild(places, {place.at: as_text(place.part) for place in orphans if place.part is not None})

    def add_results(self, rules: Rules) -> None:
        """Add a stub result for each call that has none although the conversation goes on."""
        stubs: dict[int, list[Message]] = {}
        for place in self._unanswered(rules):
            call = place.part
            assert isinstance(call, CallPart)  # noqa: S101 - a call has no result
            part = ResultPart((TextPart(STUB),), call.id, call.name, is_error=True, custom=call.custom)
            stubs.setdefault(last_of_answer(self.messages, place.message), []).append(_added(Message("tool", (part,))))
            self._lose("placeholder", place, "added", f"a result of {call.name}")
        if stubs:
            last = self._last_results()
            results_after: dict[int, list[Message]] = {}
            for at, added in stubs.items():
                results_after.setdefault(last.get(at, at), []).extend(added)
            self.messages = [
                found for at, message in enumerate(self.messages) for found in (message, *results_after.get(at, ()))
            ]

    def add_opening(self, transcript: Transcript, rules: Rules) -> None:
        """Add a turn of the user's before an answer that opens the conversation, or where nobody says anything."""
        at = next((at for at, found in enumerate(self.messages) if found.role not in INSTRUCTIONS), len(self.messages))
        opens = rules.user_first and at < len(self.messages) and self.messages[at].role == "assistant"
        if opens or not says_something(replace(transcript, messages=tuple(self.messages)), rules):
            where = pointer(self.messages[at].where) if at < len(self.messages) else ""
            self.messages.insert(at, _added(Message("user", (TextPart(OPENING),))))
            self.losses.append(Loss("placeholder", where, "added", "a turn of the user"))

    def drop_unpaired(self, rules: Rules) -> None:
        """Drop results without a call, and calls that have no result although the conversation goes on."""
        places = flatten(self.messages)
        gone = list(self._unanswered(rules))
        if not self.continued:
            gone += [place for place in places if isinstance(place.part, ResultPart) and place.call is None]
        for place in gone:
            part = place.part
            if isinstance(part, CallPart):
                self._lose("call", place, "dropped", part.name)
            elif isinstance(part, ResultPart):
                self._lose("result", place, "dropped", part.id or part.name or "")
        if gone:
            self._rebuild(places, dict.fromkeys((place.at for place in gone), ()))

    def _unanswered(self, rules: Rules) -> Iterator[Place]:
        turns = turns_of(self.messages, rules)
        places = flatten(self.messages)
        answered = {place.call for place in places if isinstance(place.part, ResultPart)}
        for place in places:
            if isinstance(place.part, CallPart) and place.call not in answered and turns[place.message] < turns[-1]:
                yield place

    def _last_results(self) -> dict[int, int]:
        """Find the last result of each answer, by the number of the answer's last message."""
        places = flatten(self.messages)
        answers = {
            place.call: last_of_answer(self.messages, place.message)
            for place in places
            if isinstance(place.part, CallPart)
        }
        return {
            answers[place.call]: place.message
            for place in places
            if isinstance(place.part, ResultPart) and place.call is not None
        }

    def _rebuild(self, places: Sequence[Place], instead: dict[int, Sequence[Part]]) -> None:
        """Put other parts in the place of some; a message that has none left is gone."""
        parts: list[list[Part]] = [[] for _ in self.messages]
        touched: set[int] = set()
        for place in places:
            if place.at in instead:
                touched.add(place.message)
            if place.part is not None:
                parts[place.message] += instead.get(place.at, (place.part,))
        rebuilt: list[Message] = []
        for number, (message, found) in enumerate(zip(self.messages, parts, strict=True)):
            if number not in touched:
                rebuilt.append(message)
            elif found:
                answers = any(isinstance(part, ResultPart) for part in found)
                role = "user" if message.role == "tool" and not answers else message.role
                rebuilt.append(changed(message, role, found))
        self.messages = rebuilt

    def _lose(
        self, code: str, place: Place, action: Literal["dropped", "changed", "merged", "added"], detail: str
    ) -> None:
        self.losses.append(Loss(code, pointer(self.messages[place.message].where), action, detail))


def _joined(first: ResultPart, second: ResultPart) -> ResultPart:
    if first.content == second.content:
        return first
    return replace(first, content=first.content + second.content, is_error=first.is_error and second.is_error)


def _added(message: Message) -> Message:
    message.where = _ADDED
    return message
