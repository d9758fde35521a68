"""JSON Schema work: references, types of places, coercion of text, validation.

    schema = tool.parameters
    days = property_schema(schema, "days")    # the schema of one argument
    types(days)                               # frozenset({"integer"})
    coerce("3", days)                         # (3, True)
    problems(tool, {"days": "soon"})          # what the model should change

Schemas come from strangers: nothing here opens a URL or a file, and reading a place or coercing a text never raises.
"""

from toolfmt.schema.choices import chosen, depends
from toolfmt.schema.coercion import coerce, infer, relax
from toolfmt.schema.places import (
    declares,
    declares_all,
    item_schema,
    kind_of,
    plain_type,
    property_names,
    property_schema,
    takes_none,
    types,
)
from toolfmt.schema.refs import inline_refs
from toolfmt.schema.spelling import normalise
from toolfmt.schema.validation import Validator, accepts, extra_arguments, problems

__all__ = [
    "Validator",
    "accepts",
    "chosen",
    "coerce",
    "declares",
    "declares_all",
    "depends",
    "extra_arguments",
    "infer",
    "inline_refs",
    "item_schema",
    "kind_of",
    "normalise",
    "plain_type",
    "problems",
    "property_names",
    "property_schema",
    "relax",
    "takes_none",
    "types",
]
