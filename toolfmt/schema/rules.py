"""What providers accept of JSON Schema in a tool's declaration, as data.

    OPENAI_STRICT    {"type": "object", "properties": {"n": {"type": ["integer", "null"]}}, "required": ["n"],
                      "additionalProperties": false}
    GEMINI_OPENAPI   {"type": "object", "properties": {"n": {"type": "integer", "nullable": true}}}

`lowering` brings a schema into a dialect, `accepts` says why one is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

_ANNOTATIONS: Final = frozenset({"title", "description"})
_SHAPES: Final = frozenset({"type", "properties", "required", "items", "anyOf", "enum"})
_REFERENCES: Final = frozenset({"$ref", "$defs", "definitions"})
_BOUNDS: Final = frozenset(
    {"minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength", "pattern", "format"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaRules:
    """What one dialect of JSON Schema accepts; the default accepts everything."""

    name: str
    root_object: bool = False
    """The root says `"type": "object"` itself, not through a reference."""
    root_refused: frozenset[str] = frozenset()
    """Keywords that the root may not have."""
    property_name: str = ""
    """A regular expression for the whole of an argument's name; empty: any text."""
    draft: Literal["7", "2020-12"] = "2020-12"
    """The draft that the provider reads: keywords which others spell differently are spelled as it does."""
    items: bool = False
    """Every array says what its items are."""
    keywords: frozenset[str] = frozenset()
    """The keywords that are accepted; empty: all."""
    formats: frozenset[str] = frozenset()
    """The values of `format` that are accepted; empty: all."""
    min_items: frozenset[int] = frozenset()
    """The values of `minItems` that are accepted; empty: all."""
    literals: Literal["any", "plain", "text"] = "any"
    """What `enum` and `const` may list: any values, none that hold others, or text alone."""
    nullable: bool = False
    """`type` is one word, and a value that may be null says `"nullable": true`."""
    references: bool = True
    """A `$ref` is followed, and definitions have a place."""
    siblings: bool = True
    """Keywords may be beside a `$ref`."""
    recursion: bool = True
    typed: bool = False
    """Every place says what it holds; one that holds anything is refused."""
    closed: bool = False
    """Every object says `"additionalProperties": false`."""
    all_required: bool = False
    """Every property is required; one that may be left out may be null instead."""
    max_levels: int = 0
    """Objects and arrays inside each other; 0: any number. So are the other limits."""
    max_properties: int = 0
    max_enum: int = 0
    """Values in all lists together."""
    max_characters: int = 0
    """Characters in all names and listed values together."""
    max_unions: int = 0
    """Places of several types."""

    def takes(self, keyword: str) -> bool:
        """Whether a keyword is accepted."""
        return not self.keywords or keyword in self.keywords


ANY: Final = SchemaRules(name="json-schema")

# SDK's docstring of FunctionDefinition.parameters: "described as a JSON Schema object"; "array schema missing items".
OPENAI: Final = SchemaRules(name="openai", root_object=True, items=True)

# openai 3.52, lib/_pydantic.py: closed objects, all properties required, a reference with siblings inlined; OpenAI's
# guide to structured outputs gives the limits and what is not supported. Keywords that no list names are refused:
# "'default' is not permitted" (dotnet/extensions#6196), "'oneOf' is not permitted" (ai-dynamo/dynamo#15153),
# "'propertyNames' is not permitted" (can1357/oh-my-pi#209), "'uniqueItems' is not permitted". The formats are those
# that the guide lists; pydantic/pydantic-ai#4490 has it for `uri`.
OPENAI_STRICT: Final = SchemaRules(
    name="openai-strict",
    root_object=True,
    items=True,
    root_refused=frozenset({"anyOf", "oneOf", "allOf"}),
    keywords=_ANNOTATIONS
    | _SHAPES
    | _REFERENCES
    | _BOUNDS
    | {"const", "additionalProperties", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
    formats=frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}),
    siblings=False,
    typed=True,
    closed=True,
    all_required=True,
    max_levels=10,
    max_properties=5_000,
    max_enum=1_000,
    max_characters=120_000,
)

# The same guide: a fine-tuned model is not held to what limits texts, numbers and lists.
OPENAI_TUNED_STRICT: Final = replace(
    OPENAI_STRICT,
    name="openai-tuned-strict",
    keywords=OPENAI_STRICT.keywords - _BOUNDS - {"exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
)

# "input_schema does not support oneOf, allOf, or anyOf at the top level" (anthropics/claude-code#27337, #5973),
# "Property keys should match pattern" (composio#3500, n8n#30590), "It must match JSON Schema draft 2020-12".
ANTHROPIC: Final = SchemaRules(
    name="anthropic",
    root_object=True,
    root_refused=frozenset({"anyOf", "oneOf", "allOf"}),
    property_name=r"[a-zA-Z0-9_.-]{1,64}",
)

# anthropic 2.12, lib/_parse/_transform.py; "Schemas contains too many parameters with union types (24 parameters with
# type arrays or anyOf) … limit: 16".
ANTHROPIC_STRICT: Final = replace(
    ANTHROPIC,
    name="anthropic-strict",
    keywords=_ANNOTATIONS | _SHAPES | _REFERENCES | {"const", "allOf", "additionalProperties", "format", "minItems"},
    formats=frozenset({"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"}),
    min_items=frozenset({0, 1}),
    literals="plain",
    siblings=False,
    recursion=False,
    typed=True,
    closed=True,
    max_unions=16,
)

# "toolSpec.inputSchema.json.type must be one of the following: object", whatever the model.
BEDROCK: Final = SchemaRules(name="bedrock", root_object=True)

# Amazon Bedrock User Guide, "Get validated JSON results from models": a subset of draft 2020-12, anything else is a
# 400; taken to be that of Anthropic's models.
BEDROCK_STRICT: Final = replace(ANTHROPIC_STRICT, name="bedrock-strict", property_name="")

# google-genai 3.4, types.Schema, without what endpoints answer with 400 `Unknown name "additionalProperties"`
# (promptfoo#6902, opencrabs#99): `additionalProperties`, `$ref` and `$defs`; "properties[where].items: missing field".
GEMINI_OPENAPI: Final = SchemaRules(
    name="gemini-openapi",
    items=True,
    keywords=_ANNOTATIONS
    | _SHAPES
    | _BOUNDS
    | {"nullable", "defs", "ref", "default", "example", "minProperties", "maxProperties", "propertyOrdering"},
    literals="text",
    nullable=True,
    references=False,
    recursion=False,
)

# The specification's schema of a tool: `inputSchema` is an object whose `type` is the constant "object".
MCP: Final = SchemaRules(name="mcp", root_object=True)

# mistral-common 1.13, protocol/instruct/validator.py: `Draft7Validator.check_schema`.
MISTRAL: Final = SchemaRules(name="mistral", draft="7", siblings=False)

# xLAM's rows list arguments without a schema around them that could hold definitions.
ARGUMENTS: Final = SchemaRules(name="arguments", references=False, recursion=False)

_ALL: Final = (
    *(ANY, OPENAI, OPENAI_STRICT, OPENAI_TUNED_STRICT, ANTHROPIC, ANTHROPIC_STRICT),
    *(BEDROCK, BEDROCK_STRICT, GEMINI_OPENAPI, MCP, MISTRAL, ARGUMENTS),
)
NAMED: Final = {rules.name: rules for rules in _ALL}
"""Every dialect by its name."""
