r"""Lowers one tool's schema for a provider.

lower_schema({"type": "object", "properties": {"n": {"const": 1}}}, provider="gemini-openapi")
Lowered(schema={"type": "object", "properties": {"n": {"type": "integer", "description": "{\"enum\": [1]}"}}},
        losses=(Loss("schema", "/properties/n/const", "moved", "const"),))
"""

from __future__ import annotations

from typing import NamedTuple

from toolfmt.arguments import checked
from toolfmt.errors import UnknownFormatError
from toolfmt.model import JsonObject
from toolfmt.schema.comparing import differences
from toolfmt.schema.lowering import lower
from toolfmt.schema.rules import NAMED, SchemaRules
from toolfmt.transcripts.comparing.loss import Loss
from toolfmt.transcripts.formats import find


class Lowered(NamedTuple):
    """A schema that a provider accepts, and the losses: constraints of the original that it lacks."""

    schema: JsonObject
    losses: tuple[Loss, ...]


@checked
def lower_schema(schema: JsonObject, *, provider: str, strict: bool = False) -> Lowered:
    """Reduce a tool's schema to the subset of JSON Schema that a provider accepts.

    `provider` is a transcript format (`openai-chat`, `anthropic`, `bedrock`) or
    a dialect of schemas (`gemini-openapi`, for Gemini's older `parameters`);
    `strict` applies the rules for strict declarations. The input is not changed. Raises `UnsupportedSchemaError`,
    which names the keyword, for a schema that cannot be expressed, and `LookupError` for a provider that does not
    exist.
    """
    found = lower(schema, _rules(provider, strict=strict))
    losses = () if found is schema else differences(schema, found)
    return Lowered(found, tuple(Loss("schema", loss.pointer, loss.action, loss.detail) for loss in losses))


def _rules(provider: str, *, strict: bool) -> SchemaRules:
    if provider in NAMED and (not strict or NAMED[provider].closed):
        return NAMED[provider]
    try:
        rules = find(provider).rules
    except UnknownFormatError as error:
        raise UnknownFormatError(provider, sorted({*error.known, *NAMED})) from None
    return rules.strict_schema if strict and rules.strict_schema is not None else rules.schema
