"""Older drafts of JSON Schema, rewritten in the current one, so that all tools are checked by the same rules.

Draft 4 to 7 and OpenAPI 3.0 live on in tool servers. What they write
differently is rewritten exactly; `$schema` itself is dropped, since it could
only name another set of rules, perhaps one that would have to be fetched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolfmt.jsontext import is_array, is_object
from toolfmt.schema.walk import SchemaPlace, map_subschemas

if TYPE_CHECKING:
    from toolfmt.model import JsonObject


def modernise(schema: JsonObject) -> JsonObject:
    """Copy a schema with the words of older drafts rewritten in those of draft 2020-12.

    - `items: [a, b], additionalItems: c` is `prefixItems: [a, b], items: c`
    - `minimum: 1, exclusiveMinimum: true` is `exclusiveMinimum: 1`
    - `dependencies` is `dependentRequired` where it lists names, else `dependentSchemas`
    """
    return _modernise(schema, ())


def _modernise(schema: Any, place: SchemaPlace) -> Any:
    if not is_object(schema):
        return schema
    copy = map_subschemas(schema, _modernise, place)
    copy.pop("$schema", None)
    if isinstance(copy.get("items"), list):
        copy["prefixItems"] = copy.pop("items")
        if "additionalItems" in copy:
            copy["items"] = copy.pop("additionalItems")
    for exclusive, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(copy.get(exclusive), bool) and copy.pop(exclusive) and bound in copy:
            copy[exclusive] = copy.pop(bound)
    dependencies = copy.pop("dependencies", None)
    for name, value in dependencies.items() if is_object(dependencies) else ():
        copy.setdefault("dependentRequired" if is_array(value) else "dependentSchemas", {})[name] = value
    return copy
