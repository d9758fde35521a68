"""A conversation made shorter: POST /v1/responses/compact, with any back.

{"output": [the user's messages, {"type": "compaction", "encrypted_content": "..."}]}

A back whose API compacts does it itself. Any other model is asked for a summary, which the item contains as plain text;
in a later request it becomes a message, whichever back gets that. Shapes are those of openai 3.54,
types/responses/compacted_response.py.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Final
from uuid import uuid4

from toolfmt.agents.drivers.chats import Chats
from toolfmt.errors import ToolFmtError
from toolfmt.gateway.backs import Upstream
from toolfmt.gateway.echoing import full_item
from toolfmt.gateway.exchange import Conversing
from toolfmt.gateway.failing import bad_answer, refusal
from toolfmt.gateway.handling import SUMMARY, Asked, GatewayAnswer
from toolfmt.jsontext import is_object
from toolfmt.lookup.choice import chosen
from toolfmt.model import JsonObject
from toolfmt.transcripts.answers import read_answer
from toolfmt.transcripts.comparing.loss import Loss
from toolfmt.transcripts.exchanges import message_list
from toolfmt.transcripts.format import reraise_as_parse_error
from toolfmt.transcripts.formats import find

_ASK: Final = (
    "Summarize this conversation so that you can continue it from the summary alone: what the user wants, what was "
    "decided and done, results that are still needed with their exact names, paths and values, and what is left to do. "
    "Write only the summary."
)


class Compacting(Conversing):
    """Shortens conversations."""

    async def asked(self, asked: Asked, upstream: Upstream, stack: AsyncExitStack) -> GatewayAnswer:
        """Let one back shorten a conversation, or ask its model for a summary."""
        model = asked.sent_model
        if upstream.api.compact:
            value, headers, _ = await upstream.post(upstream.api.compact, {**asked.body, "model": model}, model)
            return GatewayAnswer(value, headers=dict(headers))
        name = find(self.format).messages
        request, lost = _request(asked.body, self.format)
        answered = await super().asked(replace(asked, body=request), upstream, stack)
        response = answered.value if is_object(answered.value) else {}
        text = read_answer(response).text.strip() if response.get("status") == "completed" else ""
        if not text:
            raise bad_answer("the model wrote no complete summary")
        item: JsonObject = {"id": f"cmp_{uuid4().hex}", "type": "compaction", "encrypted_content": SUMMARY + text}
        messages = message_list(asked.body.get(name), find(self.format))
        said = [full_item(one) for one in messages if is_object(one) and one.get("role") == "user"]
        answered.value = {
            "id": response.get("id"),
            "object": "response.compaction",
            "created_at": response.get("created_at"),
            "output": [*said, item],
            "usage": response.get("usage"),
        }
        answered.losses += lost
        return answered


def _request(body: JsonObject, format: str) -> tuple[JsonObject, tuple[Loss, ...]]:  # noqa: A002 - the field's name
    """Ask for a summary of a conversation written as text, calls too: no API refuses that without their tools."""
    dialect, registry = chosen({"dialect": "hermes"})
    try:
        with reraise_as_parse_error(format, body):
            messages = find(format).read(body).messages
        chat, lost = Chats(dialect, {"dialect": dialect, "registry": registry}).write(messages, ())
    except ToolFmtError as error:
        raise refusal("invalid", "the conversation cannot be read", error) from None
    return {find(format).messages: [*chat, {"role": "user", "content": _ASK}], "store": False}, lost
