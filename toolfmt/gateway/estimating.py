"""How many tokens a request has, by a tokenizer that the configuration names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolfmt import jsontext
from toolfmt.corpora.tokens import count_tokens, load
from toolfmt.errors import ToolFmtError
from toolfmt.gateway.failing import refusal
from toolfmt.transcripts.format import reraise_as_parse_error
from toolfmt.transcripts.formats import find

if TYPE_CHECKING:
    from toolfmt.conversation import ToolDeclaration
    from toolfmt.model import JsonObject


def estimate(request: JsonObject, format: str, tokenizer: str) -> int:  # noqa: A002 - the field's name
    """Count the tokens of all that a request says, and of its tools; what a template puts around it is not known.

    Raises `ExchangeError` for a request that cannot be read.
    """
    try:
        with reraise_as_parse_error(format, request):
            transcript = find(format).read(request)
        shown = "\n".join(map(_shown, transcript.tools or ()))
        return count_tokens(transcript, tokenizer) + len(load(tokenizer).encode(shown, add_special_tokens=False).ids)
    except ToolFmtError as error:
        raise refusal("invalid", "the request's tokens cannot be counted", error) from None


def _shown(tool: ToolDeclaration) -> str:
    return jsontext.dumps({"name": tool.name, "description": tool.description, "parameters": tool.parameters})
