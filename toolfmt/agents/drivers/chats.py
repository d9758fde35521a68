r"""Write conversations for text models: the tools in the system prompt, calls and results in the text.

    {"role": "system", "content": "Be brief.\n\n## Accessible Tools\n\n…"}
    {"role": "user", "content": "Weather in Paris?"}
    {"role": "assistant", "content": "<tool_call>{…}</tool_call>"}          as the model wrote it
    {"role": "user", "content": "<tool_response>\n18C\n</tool_response>"}       many models know no role for tools

The stored messages are not changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, TypeVar

from toolfmt.conversation import MediaPart, Message, Part, ResultPart, TextPart, ToolDeclaration, Transcript
from toolfmt.dialect.record import Dialect
from toolfmt.dialect.syntax import Form, JsonCall, Syntax
from toolfmt.errors import ArgumentsError, ToolFmtError, warn
from toolfmt.events import Event
from toolfmt.formatters.examples import Examples
from toolfmt.jsontext import is_array, is_object
from toolfmt.lookup.choice import Choice
from toolfmt.manifests import manifest, placed
from toolfmt.model import JsonObject, JsonValue, Media, ToolDefinition
from toolfmt.transcripts.answering.answer_message import answer_message
from toolfmt.transcripts.comparing.loss import Loss
from toolfmt.transcripts.comparing.losses import losses
from toolfmt.transcripts.fitting.shape import shape
from toolfmt.transcripts.text.chat import TextChat, text_rules

ROLES: Final = {"system": "system", "developer": "system", "assistant": "assistant", "tool": "user", "user": "user"}
_UNDESCRIBED: Final = Syntax(
    forms=(Form(call="{call}", json=JsonCall(template={"name": "{name}", "arguments": "{arguments}"})),), leading=()
)
"""Takes the place of the description in a dialect with functions of its own: no markers, and results as they are."""
PartT = TypeVar("PartT")


class Chats:
    """Writes conversations in one text dialect."""

    def __init__(
        self, dialect: Dialect[str], choice: Choice, template: str | None = None, examples: Examples = None
    ) -> None:
        self._syntax = syntax = dialect.syntax or _UNDESCRIBED
        self._choice = choice
        self._template = template
        self._examples: Examples = examples
        self._format = TextChat(dialect, syntax, keeps=True)
        self._rules = text_rules(dialect, syntax)
        self._offered: Sequence[ToolDefinition] = ()
        self._kept: tuple[ToolDefinition, ...] = ()
        self._manifest = ""

    def showable(self, tools: Sequence[ToolDefinition]) -> tuple[ToolDefinition, ...]:
        """Return the tools that the dialect can show; a server's tool that it cannot is left out with a warning.

        A server's author is a stranger, who must not stop the tools of others. For tools without a server, raises as
        `manifest` does.
        """
        if (offered := tuple(tools)) not in (self._offered, self._kept):
            left_out: set[str] = set()

            def leave_out(tool: ToolDefinition, error: ToolFmtError) -> None:
                if tool.server is None or isinstance(error, ArgumentsError):  # that is of examples, the caller's own
                    raise error
                left_out.add(tool.name)
                warn(f"server {tool.server!r}: the tool {tool.name!r} is left out: {error}")

            self._manifest = manifest(
                offered, template=self._template, examples=self._examples, on_broken=leave_out, **self._choice
            )
            self._offered, self._kept = offered, tuple(tool for tool in offered if tool.name not in left_out)
        return self._kept

    def write(
        self, messages: Sequence[Message], tools: Sequence[ToolDefinition]
    ) -> tuple[list[JsonObject], tuple[Loss, ...]]:
        """Write a chat with the `showable` tools; also returns the losses."""
        tools = self.showable(tools)
        noted = [_noted(message) for message in messages]
        lost = [Loss("media", f"/messages/{at}", "changed", one) for at, (_, some) in enumerate(noted) for one in some]
        whole = conversation(self._shown([message for message, _ in noted]), tools)
        value = self._format.write(shape(whole, self._rules))
        lost.extend(losses(whole, self._format.read(value)))
        chat: list[JsonObject] = []
        before = ""
        for written in value["messages"]:
            text = _text(written.get("content"))
            if before == "tool" and ROLES[written["role"]] == "user":  # many models want turns to alternate
                separator = self._syntax.result_separator if written["role"] == "tool" else "\n"
                chat[-1]["content"] += f"{separator}{text}"
            else:
                chat.append({"role": ROLES[written["role"]], "content": text})
            before = written["role"]
        return chat, tuple(lost)

    def answer(self, raw: str, events: Sequence[Event], *, kept: bool = True) -> Message:
        """Make the message of an answer; with `kept`, the dialect writes it again as the model wrote it."""
        message = answer_message(events)
        if kept:
            message.origin = self._format.owner
            message.source = {"role": "assistant", "content": raw}
        return message

    def until_stop(self, raw: str) -> str:
        """Remove the marker that ends a turn."""
        stripped = raw.rstrip()
        found = next((stop for stop in self._syntax.stop if stripped.endswith(stop)), None)
        return raw if found is None else stripped.removesuffix(found).rstrip()

    def _shown(self, messages: Sequence[Message]) -> list[Message]:
        """Put the manifest in its place in the instructions, else after the first ones, else before all messages."""
        texts = {at: _own(message) for at, message in enumerate(messages) if message.role in ("system", "developer")}
        at = next((at for at, text in texts.items() if "tools" in text and placed(text, "") != text), None)
        at = next(iter(texts), None) if at is None else at
        text = self._manifest
        if at is None:
            prompt = placed("", text).lstrip()
            return [*([Message("system", (TextPart(prompt),))] if prompt else []), *messages]
        prompt = placed(texts[at], text)
        shown = Message("system", (TextPart(prompt),), messages[at].name)
        return [*messages[:at], shown, *messages[at + 1 :]]


def conversation(messages: Sequence[Message], tools: Sequence[ToolDefinition]) -> Transcript:
    """Make a conversation from messages and the offered tools."""
    declared = (ToolDeclaration(tool.name, tool.description or None, tool.parameters) for tool in tools)
    return Transcript(tuple(messages), tuple(declared))


def _own(message: Message) -> str:
    return "".join(part.text for part in message.parts if isinstance(part, TextPart))


def _noted(message: Message) -> tuple[Message, list[str]]:
    """Replace media by notes, because text cannot show them."""
    notes: list[str] = []
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, ResultPart):
            content = tuple(_shown(one, at, notes) for at, one in enumerate(part.content))
            parts.append(replace(part, content=content))
        else:
            parts.append(_shown(part, len(parts), notes))
    return (replace(message, parts=tuple(parts)), notes) if notes else (message, notes)


def _shown(part: PartT, at: int, notes: list[str]) -> PartT | TextPart:
    """Return a part; media become a note on a line of its own."""
    if not isinstance(part, MediaPart):
        return part
    known = {"kind": part.kind, "media_type": part.media_type, "name": part.name}
    place = {"url": part.url or part.file_id or ""} if part.data is None else {"data": part.data}
    notes.append(Media.model_validate({**known, **place}).note)
    return TextPart("\n" * bool(at) + notes[-1])


def _text(content: JsonValue) -> str:
    if not is_array(content):
        return content if isinstance(content, str) else ""
    return "".join(str(item["text"]) for item in content if is_object(item) and isinstance(item.get("text"), str))
