"""What holds for every transcript format and every pair of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conversations import BY_HAND, transcripts
from hypothesis import assume, given

from tests import sampling
from toolfmt import convert
from toolfmt.conversation import CallPart, Message, ReasoningPart, ResultPart, TextPart, Transcript
from toolfmt.errors import ParseError
from toolfmt.transcripts.comparing.losses import losses
from toolfmt.transcripts.fitting.carrying import mark_plain
from toolfmt.transcripts.fitting.shape import shape
from toolfmt.transcripts.format import TranscriptFormat
from toolfmt.transcripts.formats import formats

FORMATS = [made for made in formats() if made.writable]
LONG = [made for made in FORMATS if not made.rules.one_answer and "user" in made.rules.roles]
every_format = pytest.mark.parametrize("made", [pytest.param(made, id=made.name) for made in FORMATS])
every_source = pytest.mark.parametrize("source", [pytest.param(made, id=made.name) for made in FORMATS])
every_target = pytest.mark.parametrize("target", [pytest.param(made, id=made.name) for made in FORMATS])
every_long_source = pytest.mark.parametrize("source", [pytest.param(made, id=made.name) for made in LONG])


def others(source: TranscriptFormat) -> list[TranscriptFormat]:
    """Formats that a conversation can be moved to, or comes from: what is drawn once goes to each, or is of each."""
    return sampling.partners(source, FORMATS)


def written(transcript: Transcript, made: TranscriptFormat) -> Any:
    return json.loads(json.dumps(made.write(shape(transcript, made.rules))))


def same(left: object, right: object) -> bool:
    """Compare by JSON text: types count, and the order of keys."""
    return json.dumps(left) == json.dumps(right)


@every_format
def test_what_is_read_is_written_again(made: TranscriptFormat) -> None:
    for title, transcript in BY_HAND.items():
        value = written(transcript, made)
        assert same(made.write(made.read(value)), value), title


@every_format
def test_a_conversation_without_its_source_reads_the_same(made: TranscriptFormat) -> None:
    for title, transcript in BY_HAND.items():
        read = made.read(written(transcript, made))
        bare = Transcript(
            tuple(Message(message.role, message.parts, message.name, message.extra) for message in read.messages),
            read.tools,
            read.tool_choice,
            read.parallel,
            read.extra,
        )
        assert list(losses(read, made.read(made.write(shape(bare, made.rules))))) == [], title


@every_format
@given(drawn=transcripts())
def test_plain_messages_are_written_and_read_back_like_any_other(made: TranscriptFormat, drawn: Transcript) -> None:
    sent = shape(drawn, made.rules)
    value = made.write(sent)
    mark_plain(sent.messages)
    marked = made.write(sent)
    assert same(marked, value)
    assert made.read_back(marked, sent) == made.read(value)


def there_and_back(value: Any, source: TranscriptFormat, target: TranscriptFormat, title: str = "") -> None:
    there = convert(value, source=source.name, target=target.name)
    residue = json.loads(json.dumps(there.residue))
    back = convert(json.loads(json.dumps(there.value)), source=target.name, target=source.name, residue=residue)
    assert same(back.value, value), (target.name, title)


@every_source
def test_there_and_back_with_the_residue_is_exact(source: TranscriptFormat) -> None:
    for title, transcript in BY_HAND.items():
        value = written(transcript, source)
        for target in others(source) if source.read(value).messages else ():
            there_and_back(value, source, target, title)


@every_source
@given(drawn=transcripts())
def test_there_and_back_is_exact_for_any_conversation(source: TranscriptFormat, drawn: Transcript) -> None:
    value = written(drawn, source)
    assume(source.read(value).messages)
    for target in others(source):
        there_and_back(value, source, target)


@every_source
@given(drawn=transcripts())
def test_what_is_missing_is_reported(source: TranscriptFormat, drawn: Transcript) -> None:
    """An oracle of its own: whatever text, name or value can't be found in the result must have a loss."""
    value = written(drawn, source)
    before = source.read(value)
    assume(before.messages)
    for target in others(source):
        there = convert(value, source=source.name, target=target.name)
        codes = {loss.code for loss in there.all_losses}
        after = target.read(there.value)
        for kind, code in (
            (TextPart, "text"),
            (ReasoningPart, "reasoning"),
            (CallPart, "call" if "call" in codes else "tool_name"),
            (ResultPart, "result_content"),
        ):
            if said(before, kind) != said(after, kind):
                reported = codes & {code, code.partition("_")[0], "boundary", "order", "message", "role"}
                assert reported, (target.name, kind, there.losses)


def said(transcript: Transcript, kind: type) -> list[object]:
    """What parts of a kind say: a call its name, a result its contents, any other its text."""
    parts = [part for message in transcript.messages for part in message.parts if isinstance(part, kind)]
    return [
        part.name
        if isinstance(part, CallPart)
        else [getattr(found, "text", found) for found in part.content]
        if isinstance(part, ResultPart)
        else getattr(part, "text", None)
        for part in parts
    ]


@every_long_source
def test_turns_added_behind_stay(source: TranscriptFormat) -> None:
    value = written(BY_HAND["one call"], source)
    for target in sampling.partners(source, LONG):
        there = convert(value, source=source.name, target=target.name)
        more = Transcript((*target.read(there.value).messages, Message("user", (TextPart("And Rome?"),))))
        grown = written(more, target)
        back = convert(grown, source=target.name, target=source.name, residue=there.residue).value
        before, after = source.read(value).messages, source.read(back).messages
        assert after[: len(before)] == before, target.name
        added = [part for message in after[len(before) :] for part in message.parts]
        assert [part.text for part in added if isinstance(part, TextPart)] == ["And Rome?"], target.name
        assert len(added) == 1, target.name


@every_long_source
def test_an_edited_text_wins_and_the_rest_is_as_it_was(source: TranscriptFormat) -> None:
    value = written(BY_HAND["reasoning"], source)
    for target in sampling.partners(source, LONG):
        there = convert(value, source=source.name, target=target.name)
        edited = json.loads(json.dumps(there.value).replace("18C.", "It rains."))
        back = convert(edited, source=target.name, target=source.name, residue=there.residue).value
        assert same(back, json.loads(json.dumps(value).replace("18C.", "It rains."))), target.name


def test_the_residue_of_another_conversation_is_refused() -> None:
    def chat(word: str) -> list[dict[str, str]]:
        return [{"role": "user", "content": f"{word}?"}, {"role": "assistant", "content": f"{word}."}]

    one, other = (convert(chat(word), source="openai-chat", target="anthropic") for word in ("Yes", "No"))
    with pytest.raises(ParseError, match="the residue is of another conversation"):
        convert(one.value, source="anthropic", target="openai-chat", residue=other.residue)
    edited = {"messages": [one.value["messages"][0], {"role": "assistant", "content": "Perhaps."}]}
    back = convert(edited, source="anthropic", target="openai-chat", residue=one.residue)
    assert back.value == [chat("Yes")[0], {"role": "assistant", "content": "Perhaps."}]
