"""One conversation as each format writes it: instructions, an image, reasoning, two calls, a failure, an answer."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from toolfmt import convert
from toolfmt.conversation import CallPart, MediaPart, Message, ReasoningPart, ResultPart, TextPart, Transcript
from toolfmt.transcripts.comparing.losses import losses
from toolfmt.transcripts.formats import find, formats
from toolfmt.transcripts.recognising import recognised

FOLDER = Path(__file__).parent / "examples"
EXAMPLES = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))}
WITHOUT_TOOLS = {"a2a", "acp", "inspect", "langchain", "pydantic-ai", "qwen-agent", "vercel-ui"}
WITHOUT_CHOICE = WITHOUT_TOOLS | {"ag-ui", "atif", "hf-chat", "ollama", "openai-finetune", "otel-genai"}
every_example = pytest.mark.parametrize("name", EXAMPLES)


def texts(transcript: Transcript, kind: type[TextPart | ReasoningPart]) -> list[str]:
    return [part.text for message in transcript.messages for part in message.parts if isinstance(part, kind)]


def of_kind(transcript: Transcript, kind: type) -> list[Any]:
    return [part for message in transcript.messages for part in message.parts if isinstance(part, kind)]


@every_example
def test_the_same_conversation_is_read(name: str) -> None:
    found = find(name).read(EXAMPLES[name])
    assert texts(found, TextPart) == [
        "Be brief.",
        "Weather here and in Atlantis?",
        "Checking.",
        "Paris 18C; Atlantis unknown.",
    ]
    assert texts(found, ReasoningPart) in (["Two calls."], ["Two calls.", ""], [])
    assert [(call.name, call.value) for call in of_kind(found, CallPart)] == [
        ("get_weather", {"city": "Paris"}),
        ("get_weather", {"city": "Atlantis"}),
    ]
    assert [media.kind for media in of_kind(found, MediaPart)] == ["image"]
    links = [call.id for call in of_kind(found, CallPart)]
    assert [result.id for result in of_kind(found, ResultPart)] == links
    assert [tool.name for tool in found.tools or ()][:1] == ([] if name in WITHOUT_TOOLS else ["get_weather"])
    assert (found.tool_choice is None) == (name in WITHOUT_CHOICE)


@every_example
def test_nothing_is_lost_when_it_is_written_anew(name: str) -> None:
    made = find(name)
    found = made.read(EXAMPLES[name])
    bare = tuple(Message(message.role, message.parts, message.name, message.extra) for message in found.messages)
    written = made.write(replace(found, messages=bare))
    assert losses(found, made.read(json.loads(json.dumps(written)))) == []


@every_example
def test_it_is_recognised(name: str) -> None:
    assert recognised(EXAMPLES[name]).name == name


@every_example
def test_it_comes_back_as_it_was(name: str) -> None:
    for target in [made.name for made in formats() if made.writable]:
        there = convert(EXAMPLES[name], source=name, target=target)
        back = convert(
            json.loads(json.dumps(there.value)),
            source=target,
            target=name,
            residue=None if there.residue is None else json.loads(json.dumps(there.residue)),
        )
        assert json.dumps(back.value) == json.dumps(EXAMPLES[name]), target
