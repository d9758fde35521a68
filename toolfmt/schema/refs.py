"""Follows one reference inside a schema, or inlines all of them.

Only `#` and `#/…` are followed. A URL or a file name is refused and never opened, since schemas are untrusted.
"""

from __future__ import annotations

import re
from typing import Any, Final

from toolfmt.errors import SchemaError, UnresolvableReferenceError
from toolfmt.jsontext import equal, is_array, is_object
from toolfmt.model import JsonObject
from toolfmt.schema.walk import DEFINITIONS, MAX_PLACE, SchemaPlace, map_subschemas, pointer, subschemas, without

MAX_SCHEMAS: Final = 50_000
"""Subschemas after inlining; a schema that doubles with each reference is refused instead of filling the memory."""

_PERCENT = re.compile(rb"%([0-9A-Fa-f]{2})")
NOTES: Final = frozenset(
    {"$comment", "default", "deprecated", "description", "example", "examples", "readOnly", "title", "writeOnly"}
)
"""Keywords that only annotate: beside a `$ref` they replace those of its target."""


_VALUES: Final = frozenset({"const", "enum", "pattern", "required"})
_LINE: Final = 100
"""Characters of notes and values that count for a schema, where a schema is written again."""


def resolve(root: Any, reference: object) -> JsonObject | bool:
    """Return the schema that a local reference points to. Raises `UnresolvableReferenceError`."""
    if not isinstance(reference, str):
        raise UnresolvableReferenceError(f"a $ref must be a string, not {type(reference).__name__}")
    if reference not in {"", "#"} and not reference.startswith("#/"):
        raise UnresolvableReferenceError(f"{reference!r} does not point inside the schema, and nothing else is opened")
    node = root
    for name in _place(reference):
        if is_object(node) and name in node:
            node = node[name]
        elif is_array(node) and name.isdecimal() and int(name[:9]) < len(node):
            node = node[int(name[:9])]
        else:
            raise UnresolvableReferenceError(f"{reference!r} does not exist")
    if is_object(node) or isinstance(node, bool):
        return node
    raise UnresolvableReferenceError(f"{reference!r} is not a schema")


def inline_refs(schema: JsonObject) -> JsonObject:
    """Copy a schema with every `$ref` replaced by what it points to, in order, its siblings merged in.

    Recursive definitions stay references into `$defs`, which then holds those and no others. A sibling that contradicts
    its target is put beside an `allOf`. Raises `UnresolvableReferenceError` with the pointer of the `$ref`, or
    `SchemaError` for a schema that is too deep or unfolds without bound.
    """
    return _Inliner(schema).run()


def unfold_root(schema: JsonObject) -> JsonObject:
    """Replace a root that is a reference by its target; all other references stay. Raises like `inline_refs`."""
    root: Any = schema
    seen: set[str] = set()
    while is_object(root) and "$ref" in root:
        target = resolve(schema, root["$ref"])
        if root["$ref"] in seen:
            break
        seen.add(root["$ref"])
        root = merge(target, without(root, DEFINITIONS | {"$ref"}))
    return {**root, **{key: value for key, value in schema.items() if key in DEFINITIONS}}


def recursive_refs(schema: JsonObject) -> set[str]:
    """Return the references that lead back to themselves. Raises like `inline_refs`."""
    return set(_Inliner(schema).kept)


class _Inliner:
    def __init__(self, root: JsonObject) -> None:
        self.root = root
        self.kept = dict.fromkeys(self.recursive(), "")
        self.definitions: JsonObject = {}
        self.count = 0
        self.weights: dict[int, int] = {}

    def run(self) -> JsonObject:
        # A root that is a reference is unfolded once even if it is recursive: for providers, the root has to state
        # that it is an object.
        result = self.inline(unfold_root(self.root), ())
        return {**result, "$defs": self.definitions} if self.definitions else result

    def inline(self, schema: Any, place: SchemaPlace) -> Any:
        if not is_object(schema):
            return schema
        self.count += 1 + self.again(schema)
        if self.count > MAX_SCHEMAS:
            raise SchemaError(
                f"the references unfold to more than {MAX_SCHEMAS:,} schemas, from {pointer(place[:6])} on"
            )
        own = without(schema, DEFINITIONS)
        if "$ref" not in own:
            return map_subschemas(own, self.inline, place)
        reference = own["$ref"]
        siblings = map_subschemas(without(own, {"$ref"}), self.inline, place)
        target = self.follow(reference, place)
        if reference in self.kept:
            return {"$ref": pointer(("$defs", self.keep(reference, target))), **siblings}
        return merge(self.inline(target, (*place, "$ref")), siblings)

    def again(self, schema: JsonObject) -> int:
        """Return what the text of a schema counts for, which is nothing the first time."""
        known = self.weights.get(id(schema))
        if known is None:
            texts = (value for key, value in schema.items() if key in NOTES or key in _VALUES)
            self.weights[id(schema)] = sum(len(one if isinstance(one, str) else repr(one)) for one in texts) // _LINE
        return known or 0

    def keep(self, reference: str, target: Any) -> str:
        """Add a recursive target to `$defs`; returns its name there."""
        if not self.kept[reference]:
            wanted = (_place(reference) or ("root",))[-1]
            name, number = wanted, 2
            while name in self.definitions:
                name, number = f"{wanted}_{number}", number + 1
            self.kept[reference] = name
            self.definitions[name] = {}  # holds the name while the body is read
            self.definitions[name] = self.inline(target, ("$defs", name))
        return self.kept[reference]

    def follow(self, reference: object, place: SchemaPlace) -> Any:
        try:
            return resolve(self.root, reference)
        except UnresolvableReferenceError as error:
            raise UnresolvableReferenceError(f"the $ref at {pointer((*place, '$ref'))}: {error}") from None

    def recursive(self) -> set[str]:
        """Return the references that close a circle; inlining all others ends."""
        found: set[str] = set()
        walked: set[str] = set()
        path = {"#": iter(self.leads_to("#"))}
        while path:
            here = next(reversed(path))
            reference = next(path[here], None)
            if reference is None:
                del path[here]
                walked.add(here)
            elif reference in path:
                found.add(reference)
            elif reference not in walked:
                path[reference] = iter(self.leads_to(reference))
        return found

    def leads_to(self, reference: str) -> list[str]:
        """Return the references inside a target, in order."""
        found: dict[str, None] = {}
        pending = [(self.follow(reference, ()), _place(reference))]
        while pending:
            schema, place = pending.pop()
            if len(place) > MAX_PLACE:
                raise SchemaError(f"the schema is nested too deeply, from {pointer(place[:6])} on")
            if is_object(schema):
                own = without(schema, DEFINITIONS)
                if "$ref" in own:
                    self.follow(own["$ref"], place)
                    found[own["$ref"]] = None
                pending += reversed([(sub, (*place, *way)) for way, sub in subschemas(own)])
        return list(found)


def _place(reference: str) -> SchemaPlace:
    """Split a reference into the unescaped tokens of its JSON pointer."""
    fragment = reference[1:]
    if "%" in fragment:
        octets = _PERCENT.sub(lambda found: bytes.fromhex(found[1].decode()), fragment.encode(errors="replace"))
        fragment = octets.decode(errors="replace")
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in fragment.split("/")[1:])


def merge(target: Any, siblings: JsonObject) -> JsonObject:
    """Merge a reference's siblings into its target; differing constraints of the same name must both hold."""
    if target is True:
        return siblings
    if target is False:
        return {"not": {}, **siblings}
    shared = target.keys() & siblings.keys() - NOTES
    if all(equal(target[key], siblings[key]) for key in shared):
        return {**target, **siblings}
    return {"allOf": [target], **siblings}
