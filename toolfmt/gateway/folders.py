"""A model's folder: the dialect that its chat template speaks, and the prompts that it renders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolfmt.conversation import Message, TextPart, Transcript
from toolfmt.workshop.chat_templates.prompt import Prompt, render_prompt
from toolfmt.workshop.doctor.diagnosis import diagnose

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from toolfmt.model import JsonObject, ToolDefinition


class ModelFolder:
    """What a model's folder says."""

    def __init__(self, path: str) -> None:
        """Examine the folder; raises `TemplateError` where it has no template."""
        found = diagnose(path)
        self.path = path
        self.dialect = found.dialect
        """The dialect that reads what the template writes; "" where it shows no tools."""

    def prompt(
        self,
        transcript: Transcript,
        chat: Iterable[JsonObject],
        tools: Sequence[ToolDefinition],
        further: Sequence[tuple[str, str]],
    ) -> Prompt:
        """Render a prompt: of the conversation and its tools, or of a `chat` of texts where the template has no tools.

        `further` are messages after it, by role and text. Raises `TemplateError`.
        """
        if self.dialect:
            said = [Message("user" if role == "user" else "assistant", (TextPart(text),)) for role, text in further]
            whole = Transcript((*transcript.messages, *said))
            return render_prompt(whole, list(tools) or None, path=self.path)
        texts = [*chat, *({"role": role, "content": text} for role, text in further)]
        return render_prompt(texts, path=self.path, source="openai-chat")
