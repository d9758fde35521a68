"""The main job on recorded data: a manifest, an answer, and its calls, read whole and streamed.

Tools, questions and expected calls come from `recordings/bfcl.json`, answers
from `recordings/answers/<dialect>.txt`; a format of one call a message has one
file for each (`<dialect>.1.txt`, ...). The answers are written by hand; a
dialect without one, such as a third party's, writes it from the expected calls.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from toolfmt import jsontext
from toolfmt.cli.records import event_record
from toolfmt.events import coalesce
from toolfmt.manifests import manifest
from toolfmt.model import ToolInvocation
from toolfmt.parsing import ParseResult, open_parser, parse
from toolfmt.tools import tools

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from toolfmt.dialect.record import AnyDialect
    from toolfmt.events import Event
    from toolfmt.model import JsonObject, JsonValue, ToolDefinition

Arrival: TypeAlias = "tuple[int, Event]"
"""An event, and how many characters had come when it was certain."""

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
        """What the user asks."""
        return [turn["content"] for entry in self.data["entries"] for turns in entry["question"] for turn in turns]

    @cached_property
    def tools(self) -> tuple[ToolDefinition, ...]:
        """The functions that are offered."""
        return tools([function for entry in self.data["entries"] for function in entry["function"]])

    @property
    def calls(self) -> list[ToolInvocation]:
        """The calls that are expected, one for each entry."""
        truths = chain.from_iterable(entry["ground_truth"] for entry in self.data["entries"])
        return [
            ToolInvocation(name=name, arguments=_first_accepted(arguments))
            for truth in truths
            for name, arguments in truth.items()
        ]


@dataclass(frozen=True)
class Replay:
    """What became of one dialect's answer, message by message."""

    dialect: AnyDialect
    manifest: str
    by_hand: bool
    answers: list[str]
    whole: list[ParseResult]
    streamed: list[list[Arrival]]
    expected: list[ToolInvocation]

    @property
    def agree(self) -> bool:
        """Whether whole and streamed reading say the same."""
        return all(
            jsontext.equal(
                [event_record(event) for event in whole.events],
                [event_record(event) for event in coalesce([event for _, event in streamed])],
            )
            for whole, streamed in zip(self.whole, self.streamed, strict=True)
        )

    @property
    def equal(self) -> bool:
        """Whether the calls are the expected ones, type for type, and nothing failed."""
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
    by_hand = [path.read_text("utf-8") for path in _answers(dialect.name)]
    answers = by_hand or _written(dialect, recording)
    return Replay(
        dialect=dialect,
        manifest=manifest(recording.tools, dialect=dialect),
        by_hand=bool(by_hand),
        answers=answers,
        whole=[parse(answer, dialect=dialect, tools=recording.tools, validate=True) for answer in answers],
        streamed=[_streamed(answer, dialect, recording.tools) for answer in answers],
        expected=recording.calls,
    )


def _streamed(answer: str, dialect: AnyDialect, offered: tuple[ToolDefinition, ...]) -> list[Arrival]:
    """Read an answer that comes one character at a time."""
    parser = open_parser(dialect=dialect, tools=offered, validate=True)
    arrived = [(at, event) for at, character in enumerate(answer, 1) for event in parser.feed(character)]
    return [*arrived, *((len(answer), event) for event in parser.close())]


def _answers(name: str) -> list[Traversable]:
    wanted = re.compile(re.escape(name) + r"(?:\.\d+)?\.txt")
    found = (path for path in (_FOLDER / "answers").iterdir() if wanted.fullmatch(path.name))
    return sorted(found, key=lambda path: path.name)


def _written(dialect: AnyDialect, recording: Recording) -> list[str]:
    """Write the expected calls in the dialect, as many in a message as it holds."""
    offered = {tool.name: tool for tool in recording.tools}
    calls = recording.calls
    messages = [calls] if dialect.traits.parallel else [[call] for call in calls]
    return [dialect.calls(message, offered) for message in messages]


def _first_accepted(arguments: JsonObject) -> JsonObject:
    """Take the first of the values that the data set accepts for each argument; objects inside list theirs too."""
    return {key: _chosen(accepted[0]) for key, accepted in arguments.items()}


def _chosen(value: Any) -> JsonValue:
    if jsontext.is_object(value):
        return _first_accepted(value)
    return [_chosen(item) for item in value] if jsontext.is_array(value) else value
