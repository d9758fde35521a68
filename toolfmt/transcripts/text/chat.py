r"""Chat messages with calls and results written in the text, in any text dialect: `text:hermes`, `text:react`, ...

{"messages": [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Weather in Paris?"},
    {"role": "assistant", "content": "<think>One call.</think>Checking.<tool_call>\n{\"name\": \"get_weather\", ...}"},
    {"role": "tool", "content": "<tool_response>\n18C\n</tool_response>"}],
 "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}]}

The tools tell a reader the types that the text does not. Results stand in
messages of the role `tool`; they are read from the user's too, where some
models' templates write them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from toolfmt.conversation import Transcript
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.lookup.registry import default_registry
from toolfmt.transcripts.chat import ChatShape
from toolfmt.transcripts.chat_read import read_message
from toolfmt.transcripts.chat_request import read_tools, write_tools
from toolfmt.transcripts.chat_write import write_messages
from toolfmt.transcripts.format import Rules, TranscriptFormat
from toolfmt.transcripts.text.results import result_slots
from toolfmt.transcripts.text.texts import Texts, offered
from toolfmt.transcripts.values import own, rest

if TYPE_CHECKING:
    from toolfmt.dialect.record import Dialect
    from toolfmt.dialect.syntax import Syntax
    from toolfmt.model import JsonObject, JsonValue

PREFIX: Final = "text:"
_REQUEST: Final = frozenset({"messages", "tools"})
_formats: dict[str, TranscriptFormat] = {}


def text_format(name: str) -> TranscriptFormat:
    """Give the format of a text dialect, made when it is first asked for; raises `UnknownDialectError`."""
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
    """Say what a conversation in the text of a dialect can hold."""
    slots = result_slots(syntax)
    linked = dialect.traits.carries_ids and "id" in slots
    return Rules(
        call_ids="optional" if dialect.traits.carries_ids else "none",
        result_names="name" in slots,
        results_in_order=not linked,
        user_kinds=frozenset({"text", "image", "audio", "document"}),
        joined_answers=True,
        arguments="object",
        namespaces=dialect.traits.carries_server,
    )


class TextChat:
    """Reads and writes chat messages in one dialect."""

    def __init__(self, dialect: Dialect[str], syntax: Syntax) -> None:
        """Take a dialect that has a description."""
        self.owner = f"{PREFIX}{dialect.name}"
        self._texts = Texts(dialect, syntax, self.owner)
        self._shape = ChatShape(owner=self.owner, provider="", call_ids=False)

    def read(self, value: JsonValue) -> Transcript:
        """Read an object with `messages`, or a list of messages."""
        whole: JsonObject = {"messages": value} if is_array(value) else value
        if not is_object(whole) or not is_array(whole.get("messages")):
            raise ParseError(f"{self.owner}: expected a list of messages, or an object with `messages`")
        tools = read_tools(whole, self._shape)
        known = offered(tools)
        messages = tuple(
            read_message(item, self._shape, ("/messages", at)) for at, item in enumerate(whole["messages"])
        )
        self._texts.understand(messages, known)
        return Transcript(messages, tools, extra=rest(whole, _REQUEST, self.owner))

    def write(self, transcript: Transcript) -> JsonObject:
        """Write an object with `messages`, and `tools` if there are any."""
        messages = self._texts.written(transcript.messages, offered(transcript.tools))
        value: JsonObject = {**own(transcript.extra, self.owner), "messages": write_messages(messages, self._shape)}
        if transcript.tools is not None:
            write_tools(transcript.tools, value, self._shape)
        return value
