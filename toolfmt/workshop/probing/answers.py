"""Assembles an answer as a plain client does, and notes every oddity of the wire.

Answer(text="Let me look.", calls=[Call(index=0, id="call_1", name="get_weather", arguments='{"city": "Paris"}')],
       finish="tool_calls", oddities={})
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from toolfmt.jsontext import is_array, is_object
from toolfmt.workshop.probing.findings import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolfmt.model import JsonObject, JsonValue
    from toolfmt.workshop.probing.asking import Reply


@dataclass(slots=True)
class Call:
    """A call as it is on the wire; `arguments` should be text."""

    id: JsonValue = None
    name: JsonValue = None
    arguments: JsonValue = ""


@dataclass(slots=True)
class ClientAnswer:
    """The answer as a client has it."""

    text: str = ""
    reasoning: str = ""
    calls: list[Call] = field(default_factory=list[Call])
    finish: JsonValue = None
    oddities: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    """What is not as Chat Completions has it: what was expected and what came, the first of each rule."""

    def odd(self, rule: str, expected: str, came: object) -> None:
        """Note an oddity."""
        self.oddities.setdefault(rule, (expected, shown(str(came))))

    def say(self, message: JsonObject) -> None:
        """Add the text and the reasoning of a message, or of a piece of one."""
        content = message.get("content")
        if isinstance(content, str):
            self.text += content
        elif content is not None:
            self.odd("content_not_text", "`content` is text or null", content)
        for name in ("reasoning_content", "reasoning"):
            thought = message.get(name)
            if isinstance(thought, str):
                self.reasoning += thought
                break


def read(reply: Reply, *, stream: bool) -> ClientAnswer:
    """Assemble an answer."""
    answer = ClientAnswer()
    for data in reply.broken:
        answer.odd("event_not_json", "the data of every event is JSON", data)
    if stream and not reply.streamed:
        answer.odd("not_streamed", "server-sent events", "one JSON object")
    if reply.streamed:
        _streamed(reply, answer)
    else:
        _whole(reply.events[0], answer)
    return answer


def _choices(value: JsonObject) -> Iterator[JsonObject]:
    choices = value.get("choices")
    yield from (one for one in (choices if is_array(choices) else ()) if is_object(one))


def _calls(message: JsonObject, answer: ClientAnswer) -> Iterator[tuple[JsonObject, JsonObject]]:
    calls = message.get("tool_calls")
    if calls is not None and not is_array(calls):
        answer.odd("calls_not_listed", "`tool_calls` is a list", calls)
        return
    for call in calls or ():
        function = call.get("function") if is_object(call) else None
        if is_object(call) and is_object(function):
            yield call, function
        else:
            answer.odd("call_without_function", "every call has a `function`", call)


def _whole(value: JsonObject, answer: ClientAnswer) -> None:
    nothing: JsonObject = {}
    choice = next(_choices(value), nothing)
    message = choice.get("message")
    if not is_object(message):
        answer.odd("no_message", "a choice with a `message`", value)
        return
    answer.finish = choice.get("finish_reason")
    answer.say(message)
    for call, function in _calls(message, answer):
        answer.calls.append(Call(call.get("id"), function.get("name"), function.get("arguments")))


def _streamed(reply: Reply, answer: ClientAnswer) -> None:
    by_index: dict[Any, Call] = {}
    for event in reply.events:
        for choice in _choices(event):
            if choice.get("finish_reason") is not None:
                answer.finish = choice["finish_reason"]
            delta = choice.get("delta")
            if not is_object(delta):
                continue
            answer.say(delta)
            for call, function in _calls(delta, answer):
                _piece(call, function, by_index, answer)
    answer.calls = list(by_index.values())
    if not reply.done:
        answer.odd("no_done", "`data: [DONE]` at the end", "the end of the stream")


def _piece(call: JsonObject, function: JsonObject, by_index: dict[Any, Call], answer: ClientAnswer) -> None:
    """Add a piece to the call of its index."""
    index = call.get("index")
    if type(index) is not int:
        answer.odd("no_index", "every piece of a call says which by `index`", call)
        index = ("no index", len(by_index)) if function.get("name") or not by_index else next(reversed(by_index))
    known = by_index.get(index)
    if known is None and not function.get("name"):
        answer.odd("call_without_start", "a call's first piece has its name", call)
    if known is not None and call.get("id") not in (None, "", known.id):
        answer.odd("index_mixed", f"one call under index {index}", f"{known.id} and {call.get('id')}")
        index, known = ("mixed", len(by_index)), None
    if known is None:
        known = by_index[index] = Call(call.get("id"), function.get("name"))
    arguments = function.get("arguments")
    if isinstance(arguments, str) and isinstance(known.arguments, str):
        known.arguments += arguments
    elif arguments is not None:
        known.arguments = arguments
