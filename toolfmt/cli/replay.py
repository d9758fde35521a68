"""The main job on recorded data: a manifest, an answer, and its calls, read whole and streamed.

Tools, questions and expected calls are in `recordings/bfcl.json`, answers in `recordings/answers/<dialect>.txt`; a
dialect with one call per message has a file for each (`<dialect>.1.txt`, ...). The answers are written by hand. A
dialect without answers, such as a third party's, writes the expected calls itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from toolfmt import jsontext
from toolfmt.cli.events import event_record
from toolfmt.events import coalesce
from toolfmt.manifests import manifest
from toolfmt.model import ToolInvocation
from toolfmt.parsing import ParseResult, open_parser, parse
from toolfmt.tools import tools

if TYPE_CHECKING:
    from toolfmt.dialect.record import AnyDialect
    from toolfmt.events import Event
    from toolfmt.model import JsonObject, JsonValue, ToolDefinition

Arrival: TypeAlias = "tuple[int, Event]"
"""An event, and the number of characters after which it was emitted."""

_FOLDER: Final = files("toolfmt.cli") / "recordings"


@dataclass(frozen=True)
class Recording:
    """Entries of a public data set, with their provenance."""

    data: JsonObject

    @property
    def ids(self) -> list[str]:
        """The entries' ids in the data set."""
        return [entry["id"] for entry in self.data["entries"]]

    @property
    def questions(self) -> list[str]:
        """The user's messages."""
        return [turn["content"] for entry in self.data["entries"] for turns in entry["question"] for turn in turns]

    @cached_property
    def tools(self) -> tuple[ToolDefinition, ...]:
        """The offered tools."""
        return tools([function for entry in self.data["entries"] for function in entry["function"]])

    @property
    def calls(self) -> list[ToolInvocation]:
        """The expected calls, one for each entry."""
        truths = [truth for entry in self.data["entries"] for truth in entry["ground_truth"]]
        return [
            ToolInvocation(name=name, arguments=_first_accepted(given))
            for truth in truths
            for name, given in truth.items()
        ]


@dataclass(frozen=True)
class Replay:
    """One dialect's answer, message by message, and how it was read."""

    dialect: AnyDialect
    manifest: str
    by_hand: bool
    answers: list[str]
    whole: list[ParseResult]
    streamed: list[list[Arrival]]
    expected: list[ToolInvocation]

    @property
    def agree(self) -> bool:
        """Whether reading the whole answer and reading the stream give the same events."""
        streams = [coalesce([event for _, event in streamed]) for streamed in self.streamed]
        return jsontext.equal(
            [[*map(event_record, whole.events)] for whole in self.whole],
            [[*map(event_record, stream)] for stream in streams],
        )

    @property
    def equal(self) -> bool:
        """Whether the calls equal the expected ones, with their types, and nothing failed."""
        calls = [call for result in self.whole for call in result.calls]
        return not any(result.failures for result in self.whole) and jsontext.equal(
            [[call.name, call.arguments] for call in calls], [[call.name, call.arguments] for call in self.expected]
        )

    @property
    def right(self) -> bool:
        """Whether both hold."""
        return self.agree and self.equal


def load() -> Recording:
    """Read the recorded entries."""
    return Recording(jsontext.loads((_FOLDER / "bfcl.json").read_text("utf-8")))


def replay(dialect: AnyDialect, recording: Recording) -> Replay:
    """Do the main job in one dialect."""
    offered, calls = recording.tools, recording.calls
    by_hand = _answers(dialect.name)
    answers = by_hand
    if not by_hand:
        messages = [calls] if dialect.traits.parallel else [[call] for call in calls]
        answers = [dialect.calls(message, {tool.name: tool for tool in offered}) for message in messages]
    return Replay(
        dialect=dialect,
        manifest=manifest(offered, dialect=dialect),
        by_hand=bool(by_hand),
        answers=answers,
        whole=[parse(answer, dialect=dialect, tools=offered, validate=True) for answer in answers],
        streamed=[_streamed(answer, dialect, offered) for answer in answers],
        expected=calls,
    )


def _answers(name: str) -> list[str]:
    wanted = re.compile(re.escape(name) + r"(?:\.\d+)?\.txt")
    found = {path.name: path for path in (_FOLDER / "answers").iterdir() if wanted.fullmatch(path.name)}
    return [found[one].read_text("utf-8") for one in sorted(found)]


def _streamed(answer: str, dialect: AnyDialect, offered: tuple[ToolDefinition, ...]) -> list[Arrival]:
    """Read an answer that comes one character at a time."""
    parser = open_parser(dialect=dialect, tools=offered, validate=True)
    arrived = [(at, event) for at, character in enumerate(answer, 1) for event in parser.feed(character)]
    return [*arrived, *((len(answer), event) for event in parser.close())]


def _first_accepted(arguments: JsonObject) -> JsonObject:
    """Take the first of the values that the data set accepts for each argument; objects in them list theirs too."""
    return {key: _chosen(accepted[0]) for key, accepted in arguments.items()}


def _chosen(value: Any) -> JsonValue:
    if jsontext.is_object(value):
        return _first_accepted(value)
    return [_chosen(item) for item in value] if jsontext.is_array(value) else value
