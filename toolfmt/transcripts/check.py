"""Reports what a provider would reject in a conversation, by the rules that conversions follow.

    check([{"role": "tool", "tool_call_id": "call_A1", "content": "18C"}], format="openai-chat")
    (Finding("orphan_result", "/messages/0", "no call has the id 'call_A1'"),)

A conversation that ends in calls is valid, because their results may follow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from toolfmt import jsontext
from toolfmt.arguments import checked
from toolfmt.conversation import (
    CallPart,
    Content,
    JsonPart,
    MediaPart,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    ResultPart,
    TextPart,
    Transcript,
)
from toolfmt.errors import ParseError
from toolfmt.model import JsonValue
from toolfmt.transcripts.comparing.loss import SAID
from toolfmt.transcripts.fitting.carrying import INSTRUCTIONS
from toolfmt.transcripts.fitting.check_calls import call_findings, choice_reason, tool_findings, untrained
from toolfmt.transcripts.fitting.shape import reachable
from toolfmt.transcripts.format import Kind, Rules, reraise_as_parse_error
from toolfmt.transcripts.parts.media import with_base64
from toolfmt.transcripts.parts.values import pointer
from toolfmt.transcripts.reading import read
from toolfmt.transcripts.recognising import origin
from toolfmt.transcripts.settings.carrying import refusals


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a provider would refuse: the rule, the JSON pointer of the message or tool, and why."""

    rule: str
    path: str
    message: str


RULES: Final = {
    "json": "a value that JSON does not have: NaN, an infinity, a lone surrogate",
    "unreadable": "a value that is not a conversation of this format",
    "empty": "no messages at all, or a message without content",
    "system": "instructions in the middle of the conversation",
    "alternation": "two messages of one role in a row",
    "blank": "text of nothing but white space",
    "trailing_space": "an answer to be continued that ends in white space",
    "prefix": "an answer that comes last and is not marked as one to be continued",
    "content": "a kind of content that the provider does not take in this place",
    "unsigned": "reasoning without its provider's signature",
    "place": "a call outside the assistant's messages, or a result in them",
    "call_id": "an id that is missing, too long or has characters that are not allowed",
    "duplicate_id": "an id that another call has",
    "tool_name": "a tool's name that is missing, too long or has characters that are not allowed",
    "result_name": "a result that does not name its tool",
    "arguments": "arguments that are not an object or not text, as the provider requires",
    "orphan_result": "a result that answers no call",
    "no_tools": "an empty list of tools",
    "tool_choice": "a choice among tools that are not declared",
    "unanswered_call": "a call without a result before the next turn",
    "order": "a result that is not where the provider looks for it",
    "setting": "a setting that the model does not take, or not beside the others",
    "untrained": "a training row that does not end with an answer, or whose answers all have the weight 0",
    "schema": "a tool's schema, or a place in it, that the provider does not take",
}
"""A description of each finding's rule."""


@checked
def check(value: JsonValue, *, format: str = "auto") -> tuple[Finding, ...]:  # noqa: A002 - the word that says it
    """List what the provider of a format would reject in a conversation; empty if nothing.

    A value that is not a conversation of the format is a finding too. Without a `format`, the conversation's own
    format is detected; raises `ParseError` if it is ambiguous, and `LookupError` for a format that does not exist.
    """
    value = with_base64(value)
    made = origin(value, format)
    bad = jsontext.unwritable(value)
    found = [Finding("json", bad.pointer, bad.reason)] if bad is not None else []
    try:
        transcript = read(value, made)
        with reraise_as_parse_error(made.name):
            found.extend(findings(transcript, made.rules_for(transcript)))
            refused = dict.fromkeys(refusals(transcript, made.name))
            found.extend(Finding("setting", path, reason) for path, reason in refused)
    except ParseError as error:
        found.append(unreadable(str(error)))
    return tuple(found)


def unreadable(message: str) -> Finding:
    """Make a finding of a reader's message, with the place that it begins with."""
    path, colon, reason = message.partition(": ")
    return Finding("unreadable", path, reason) if colon and path.startswith("/") else Finding("unreadable", "", message)


def findings(transcript: Transcript, rules: Rules) -> Iterator[Finding]:
    """Yield what a provider with these rules would refuse."""
    messages = transcript.messages
    if not says_something(transcript, rules):
        yield Finding("empty", "", "there is no message")
    yield from _end(messages, rules)
    for number, message in enumerate(messages):
        where = pointer(message.where)
        before = messages[number - 1] if number else None
        for rule, reason in _message(message, before, rules):
            yield Finding(rule, where, reason)
    for at, rule, reason in call_findings(messages, rules, continued=rules.is_continued(transcript)):
        yield Finding(rule, pointer(messages[at].where), reason)
    for path, rule, reason in tool_findings(transcript.tools or (), rules):
        yield Finding(rule, path, reason)
    if transcript.tools == () and not rules.empty_tools:
        yield Finding("no_tools", "/tools", "the list of tools is empty: leave it out")
    for path, reason in untrained(transcript, rules):
        yield Finding("untrained", path, reason)
    if reason := choice_reason(transcript):
        yield Finding("tool_choice", "/tool_choice", reason)


def says_something(transcript: Transcript, rules: Rules) -> bool:
    """Whether there is a message that a provider with these rules can answer."""
    if "user" not in rules.roles or rules.is_continued(transcript):
        return True
    messages = transcript.messages
    return bool(messages) and (
        rules.instructions_alone or any(message.role not in INSTRUCTIONS for message in messages)
    )


def _end(messages: Sequence[Message], rules: Rules) -> Iterator[Finding]:
    last = next((message for message in reversed(messages) if message.role not in INSTRUCTIONS), None)
    if last is None or last.role != "assistant" or any(isinstance(part, CallPart) for part in last.parts):
        return
    text = last.parts[-1] if last.parts else None
    if not rules.ends_in_space and isinstance(text, TextPart) and text.text != text.text.rstrip():
        yield Finding("trailing_space", pointer(last.where), "the last answer ends in white space")
    if rules.prefix and not last.extra.get(f"{rules.format}.prefix"):
        yield Finding("prefix", pointer(last.where), "the last message is the assistant's, without `prefix`")


def _message(message: Message, before: Message | None, rules: Rules) -> Iterator[tuple[str, str]]:
    role = message.role
    if rules.system == "first" and role in INSTRUCTIONS and before is not None and before.role not in INSTRUCTIONS:
        yield "system", "instructions come after other messages"
    if rules.neighbours == "refused" and before is not None and before.role == role and role not in INSTRUCTIONS:
        yield "alternation", f"the message before is of the {role} too"
    absent = jsontext.is_object(message.source) and message.source.get("content") is None
    beside = any(message.extra.get(f"{rules.format}.{key}") for key in SAID)  # such as the id of its sound
    if not (message.parts or rules.empty_messages or (role in rules.silent and not absent) or beside):
        yield "empty", f"the message of the {role} has no content"
    kinds = {"user": rules.user_kinds, "assistant": rules.assistant_kinds}.get(role, _TEXT)
    for part in message.parts:
        if isinstance(part, ResultPart):
            yield from _content(part.content, rules.result_kinds, rules, "a result")
        else:
            yield from _part(part, message, rules)
            if isinstance(part, (MediaPart, JsonPart)):
                yield from _content((part,), kinds, rules, f"a message of the {role}")


def _part(part: Part, message: Message, rules: Rules) -> Iterator[tuple[str, str]]:
    if isinstance(part, TextPart) and not part.text.strip() and not _bears_blank(part, message, rules):
        yield "blank", "a text is empty or nothing but white space"
    if isinstance(part, OpaquePart) and not rules.other_kinds:
        kind = part.value.get("type", part.value.get("role")) if jsontext.is_object(part.value) else None
        named = repr(kind) if isinstance(kind, str) else type(part.value).__name__
        yield "content", f"the provider does not know this kind of content: {named}"
    if isinstance(part, ReasoningPart) and not rules.unsigned and part.owner not in rules.owners:
        yield "unsigned", "reasoning has no signature of the provider's"


def _bears_blank(part: TextPart, message: Message, rules: Rules) -> bool:
    """Whether the provider accepts a text of only white space in this message."""
    if rules.blank_text != "beside":
        return rules.blank_text == "accepted"
    return bool(part.text) and any(not isinstance(found, TextPart) or found.text.strip() for found in message.parts)


def _content(parts: Sequence[Content], kinds: frozenset[Kind], rules: Rules, place: str) -> Iterator[tuple[str, str]]:
    for part in parts:
        if isinstance(part, JsonPart) and "json" not in kinds:
            yield "content", f"{place} can't hold a JSON value"
        elif isinstance(part, MediaPart) and part.kind not in kinds:
            yield "content", f"{place} can't hold {part.kind}"
        elif isinstance(part, MediaPart) and not reachable(part, rules):
            yield "content", f"the provider does not take this {part.kind}: {part.media_type or part.url or 'no data'}"


_TEXT: Final[frozenset[Kind]] = frozenset({"text"})
