r"""Chat messages with calls and results written in the text, in any text dialect: `text:hermes`, `text:react`, ...

{"messages": [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Weather in Paris?"},
    {"role": "assistant", "content": "<think>One call.</think>Checking.<tool_call>\n{\"name\": \"get_weather\", ...}"},
    {"role": "tool", "content": "<tool_response>\n18C\n</tool_response>"}],
 "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}]}

The tools give a reader the types that the text does not. Results are in
messages of the role `tool`; they are read from the user's too, where some
models' templates write them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from toolfmt.conversation import Transcript
from toolfmt.dialect.record import Dialect
from toolfmt.dialect.syntax import Syntax
from toolfmt.errors import ParseError
from toolfmt.lookup.registry import default_registry
from toolfmt.model import JsonValue
from toolfmt.transcripts.families.chat import ChatShape
from toolfmt.transcripts.families.chat_messages import messages_of
from toolfmt.transcripts.families.chat_request import functions_of
from toolfmt.transcripts.format import Rules, TranscriptFormat
from toolfmt.transcripts.text.results import result_slots
from toolfmt.transcripts.text.texts import Texts, offered

PREFIX: Final = "text:"
_formats: dict[str, TranscriptFormat] = {}


def text_format(name: str) -> TranscriptFormat:
    """Return the format of a text dialect, made when it is first asked for; raises `UnknownDialectError`."""
    dialect = default_registry().dialect(name.removeprefix(PREFIX))
    if dialect.name not in _formats:
        if dialect.syntax is None:
            raise ParseError(f"{dialect.name} is no text dialect")
        _formats[dialect.name] = _format(dialect, dialect.syntax)
    return _formats[dialect.name]


def _format(dialect: Dialect[str], syntax: Syntax) -> TranscriptFormat:
    chat = TextChat(dialect, syntax)
    return TranscriptFormat(
        name=chat.owner,
        summary=f"Chat messages with calls and results in the text, as {dialect.name} writes them.",
        read=chat.read,
        write=chat.write,
        recognise=lambda _: False,
        rules=text_rules(dialect, syntax),
        sources=dialect.sources,
    )


def text_rules(dialect: Dialect[str], syntax: Syntax) -> Rules:
    """Describe what a conversation in the text of a dialect can hold."""
    slots = result_slots(syntax)
    linked = dialect.traits.carries_ids and "id" in slots
    return Rules(
        call_ids="optional" if dialect.traits.carries_ids else "none",
        result_names="name" in slots,
        results_in_order=not linked,
        user_kinds=frozenset({"text", "image", "audio", "document"}),
        neighbours="answers",
        arguments="object",
        namespaces=dialect.traits.carries_server,
    )


class TextChat:
    """Reads and writes chat messages in one dialect; `keeps` what it has read of a conversation that grows."""

    def __init__(self, dialect: Dialect[str], syntax: Syntax, *, keeps: bool = False) -> None:
        self.owner = f"{PREFIX}{dialect.name}"
        self._texts = Texts(dialect, syntax, self.owner, keeps=keeps)
        shape = ChatShape(owner=self.owner, provider="", call_ids=False)
        self._table = replace(messages_of(shape), tools=functions_of(shape).listed())

    def read(self, value: JsonValue) -> Transcript:
        """Read an object with `messages`, or a list of messages."""
        found = self._table.read(value)
        self._texts.understand(found.messages, offered(found.tools))
        return found

    def write(self, transcript: Transcript) -> JsonValue:
        """Write an object with `messages`, and `tools` if there are any."""
        messages = self._texts.written(transcript.messages, offered(transcript.tools))
        return self._table.write(replace(transcript, messages=tuple(messages)))
