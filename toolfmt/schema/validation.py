"""Checking a call's arguments against its tool's schema, all problems at once.

The work is done by jsonschema-rs: offline, so that a `$ref` never opens a file
or a URL, and with patterns that run in linear time or within a fixed number of
steps. What it finds is put in words that a model can act on.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Final

from toolfmt import jsontext
from toolfmt.errors import Problem, SchemaError, UnrepresentableError, UnresolvableReferenceError
from toolfmt.jsontext import is_array, is_object
from toolfmt.schema.drafts import modernise
from toolfmt.schema.places import reach
from toolfmt.schema.refs import inline_refs
from toolfmt.schema.spelling import normalise
from toolfmt.schema.wording import describe

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolfmt.model import JsonObject, ToolDefinition

_BACKTRACK_LIMIT: Final = 10_000
"""Steps of a pattern with look-around or back-references; all others run in linear time anyway."""

_validators: dict[int, tuple[weakref.ref[ToolDefinition], Validator]] = {}


class Validator:
    """One tool's schema, compiled."""

    def __init__(self, tool: ToolDefinition) -> None:
        """Compile; raises `SchemaError` that names the tool, the place in its schema and what is wrong there."""
        self._check = _compiled(tool.name, tool.parameters)

    def problems(self, arguments: Mapping[str, Any]) -> tuple[Problem, ...]:
        """Return everything that is wrong with the arguments; empty if they fit."""
        try:
            return tuple(problem for error in self._check.iter_errors(arguments) for problem in describe(error))
        except ValueError:
            # Not JSON at all: a set, a lone surrogate, a key that is no text.
            try:
                jsontext.dumps(arguments)
            except UnrepresentableError as error:
                return (Problem(error.pointer, "json", error.reason),)
            raise


def problems(tool: ToolDefinition, arguments: Mapping[str, Any]) -> tuple[Problem, ...]:
    """Return everything that is wrong with a call's arguments; empty if they fit the tool's schema.

    The tool's schema is compiled once and kept for as long as the tool lives.
    Raises `SchemaError` for a schema that cannot be used.
    """
    return _validator(tool).problems(arguments)


def extra_arguments(tool: ToolDefinition, arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of arguments that the schema does not declare.

    A schema that allows further members in so many words (`additionalProperties`
    other than false, or patterns) declares them all.
    """
    declared: set[str] = set()
    for node, _ in reach(tool.parameters):
        if node.get("patternProperties") or node.get("additionalProperties", False) is not False:
            return ()
        properties = node.get("properties")
        declared.update(properties if is_object(properties) else ())
        required = node.get("required")
        declared.update(filter(None, map(str, required)) if is_array(required) else ())
    return tuple(name for name in arguments if name not in declared)


def _validator(tool: ToolDefinition) -> Validator:
    key = id(tool)
    known = _validators.get(key)
    if known is None or known[0]() is not tool:
        reference = weakref.ref(tool, lambda _: _validators.pop(key, None))
        known = _validators[key] = (reference, Validator(tool))
    return known[1]


def _compiled(name: str, schema: JsonObject) -> Any:
    # Loaded here, as it takes 28 ms that a reader of calls need not spend.
    import jsonschema_rs as engine

    try:
        return engine.Draft202012Validator(
            modernise(normalise(schema)),
            offline=True,
            pattern_options=engine.FancyRegexOptions(backtrack_limit=_BACKTRACK_LIMIT),
        )
    except engine.ValidationError as error:
        raise _invalid(name, schema, error) from None
    except ValueError as error:
        raise SchemaError(f"the schema of tool {name!r} cannot be used: {error}") from None


def _invalid(name: str, schema: JsonObject, error: Any) -> SchemaError:
    if error.kind.name == "$ref":
        try:
            inline_refs(schema)
        except UnresolvableReferenceError as located:
            return UnresolvableReferenceError(f"the schema of tool {name!r}: {located}")
        return UnresolvableReferenceError(f"the schema of tool {name!r}: {error.message}")
    (problem, *_) = describe(error)
    if problem.pointer.endswith("/type"):
        return SchemaError(
            f"the schema of tool {name!r}, at {problem.pointer}: {error.instance!r} is no JSON Schema type"
        )
    return SchemaError(f"the schema of tool {name!r}, at {problem.pointer or '/'}: {problem.message}")
