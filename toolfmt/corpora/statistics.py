"""Counts formats, roles, tools and calls of conversations, and what went wrong.

{"conversations": 3, "unreadable": 0, "formats": {"openai-chat": 3}, "messages": {"user": 3, "assistant": 4},
 "tools": {"get_weather": {"declared": 3, "calls": 4, "results": 3, "errors": 1, "broken": 0, "unanswered": 1}}}
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import asdict, dataclass, field

from toolfmt.conversation import CallPart, ResultPart, Transcript, parse_failure
from toolfmt.corpora.answer_files import Join
from toolfmt.corpora.batches import Batch
from toolfmt.corpora.picks import Picked
from toolfmt.corpora.rows import Row
from toolfmt.corpora.sources import Source
from toolfmt.corpora.tally import Reasons
from toolfmt.corpora.tokens import count_tokens
from toolfmt.errors import ParseError
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.comparing.linking import flatten
from toolfmt.transcripts.parts.session_lines import damaged_lines


@dataclass(slots=True)
class ToolCount:
    """The counts of one tool: conversations that declare it, its calls and their results."""

    declared: int = 0
    calls: int = 0
    results: int = 0
    errors: int = 0
    """Results marked as errors."""
    broken: int = 0
    """Calls whose arguments are not a JSON object."""
    unanswered: int = 0
    """Calls without a result."""

    def merge(self, other: ToolCount) -> None:
        """Add the counts of other conversations."""
        for name, value in asdict(other).items():
            setattr(self, name, getattr(self, name) + value)


@dataclass(slots=True)
class Statistics:
    """The counts of many conversations; its size depends on the number of tools, not of conversations."""

    conversations: int = 0
    unreadable: int = 0
    tokens: int = 0
    """The tokens of all conversations, if a tokenizer is given."""
    longest: int = 0
    """The tokens of the longest conversation."""
    orphans: int = 0
    """Results without a call."""
    damaged: int = 0
    """Lines of sessions that are not JSON."""
    reasons: Reasons = field(default_factory=Reasons)
    """Why conversations are unreadable."""
    placed: int = 0
    """Rows that have the place that was named."""
    formats: Counter[str] = field(default_factory=Counter[str])
    messages: Counter[str] = field(default_factory=Counter[str])
    endings: Counter[str] = field(default_factory=Counter[str])
    """Why answers are cut off or blocked."""
    tools: defaultdict[str, ToolCount] = field(default_factory=lambda: defaultdict[str, ToolCount](ToolCount))

    def add(self, value: JsonValue, picked: Picked, tokenizer: str = "") -> None:
        """Count the conversation of a row; raises ParseError if it cannot be read."""
        self.placed += picked.has_place(value)
        found, transcript = picked.read(value)
        if tokenizer:
            tokens = count_tokens(transcript, tokenizer)
            self.tokens += tokens
            self.longest = max(self.longest, tokens)
        self.conversations += 1
        self.formats[found.format.name] += 1
        self.endings.update(found.endings(transcript))
        self.damaged += len(damaged_lines(transcript))
        self.count(transcript)

    def count(self, transcript: Transcript) -> None:
        """Count the content of a conversation."""
        self.messages.update(message.role for message in transcript.messages)
        for name in {tool.name for tool in transcript.tools or ()}:
            self.tools[name].declared += 1
        self._calls(transcript)

    def refuse(self, row: Row, reason: str) -> None:
        """Count an unreadable conversation."""
        self.unreadable += 1
        self.reasons.add(row.file, row.line, reason)

    def merge(self, other: Statistics) -> None:
        """Add the counts of further conversations."""
        self.reasons.merge(other.reasons.report())
        for name in ("conversations", "unreadable", "orphans", "damaged", "tokens", "placed"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.longest = max(self.longest, other.longest)
        self.formats.update(other.formats)
        self.endings.update(other.endings)
        self.messages.update(other.messages)
        for name, count in other.tools.items():
            self.tools[name].merge(count)

    def report(self) -> JsonObject:
        """Return the counts as JSON, the most frequent first."""
        tools = sorted(self.tools.items(), key=lambda item: (-item[1].calls, -item[1].declared, item[0]))
        return {
            "conversations": self.conversations,
            "unreadable": self.unreadable,
            "unreadable_because": self.reasons.report(),
            "results_of_no_call": self.orphans,
            "damaged_lines": self.damaged,
            "endings": dict(self.endings.most_common()),
            **({"tokens": {"all": self.tokens, "longest": self.longest}} if self.tokens else {}),
            "formats": dict(self.formats.most_common()),
            "messages": dict(self.messages.most_common()),
            "tools": {name: asdict(count) for name, count in tools},
        }

    def _calls(self, transcript: Transcript) -> None:
        names: list[str] = []
        answered: set[int] = set()
        for place in flatten(transcript.messages):
            part = place.part
            if isinstance(part, CallPart):
                names.append(part.name)
                count = self.tools[part.name]
                count.calls += 1
                count.broken += bool(parse_failure(part))
            elif isinstance(part, ResultPart):
                if place.call is None:
                    self.orphans += 1
                    continue
                answered.add(place.call)
                count = self.tools[names[place.call]]
                count.results += 1
                count.errors += part.is_error
        for at in set(range(len(names))) - answered:
            self.tools[names[at]].unanswered += 1


@dataclass(slots=True)
class Counted:
    """The counts of a batch."""

    source: Source
    read: int
    statistics: Statistics
    joined: list[Join]
    """The rows that have an answer in another file."""


def count_batch(picked: Picked, tokenizer: str, batch: Batch) -> Counted:
    """Count every conversation of a batch: a pure function."""
    statistics = Statistics()
    joined: list[Join] = []
    for row in batch.rows():
        joined += picked.joins(row)
        try:
            statistics.add(row.value, picked, tokenizer)
        except ParseError as error:
            statistics.refuse(row, str(error))
    return Counted(batch.source, batch.read, statistics, joined)
