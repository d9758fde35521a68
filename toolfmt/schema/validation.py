"""Checking a call's arguments against its tool's schema, all problems at once.

jsonschema-rs does the work: offline, so that a `$ref` never opens a file or a URL, and with patterns that run in linear
time or within a fixed number of steps. Its errors become messages that a model can act on.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Final

from toolfmt import jsontext
from toolfmt.errors import Problem, SchemaError, UnrepresentableError, UnresolvableReferenceError
from toolfmt.schema.places import reach
from toolfmt.schema.refs import inline_refs
from toolfmt.schema.spelling import modernise
from toolfmt.schema.walk import SchemaPlace, as_list, as_object, pointer, token
from toolfmt.schema.wording import describe, missing
from toolfmt.schema.work import MAX_WORK, SchemaWork, check_work

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from toolfmt.model import JsonObject, JsonValue, ToolDefinition

_BACKTRACK_LIMIT: Final = 10_000
"""Steps of a pattern with look-around or back-references; all others run in linear time anyway."""

_LISTED: Final = 10_000
"""Visits up to which all errors are listed: an error takes a thousand times as long as a visit."""
_COPIED: Final = 32_000_000
"""Characters of arguments, times visits, up to which all errors are listed: each one copies its value."""
_MOST: Final = 20
"""Problems that are returned; of more, the first ones and their number."""
_WHOLE: Final = "urn:toolfmt:schema"

_validators: dict[int, tuple[weakref.ref[ToolDefinition], Validator]] = {}


class Validator:
    """One tool's schema, compiled."""

    def __init__(self, tool: ToolDefinition) -> None:
        """Compile; raises `SchemaError` that names the tool, the place in its schema and what is wrong there."""
        check_work(tool.name, tool.parameters)
        self._check, self._schema = _compiled(tool.name, tool.parameters)
        self._work = SchemaWork(self._schema)

    def problems(self, arguments: Mapping[str, Any]) -> tuple[Problem, ...]:
        """Return what is wrong with the arguments, the first `_MOST` and a count; empty if they fit."""
        if not self._work.fits(arguments, MAX_WORK):
            detail = f"the arguments take more than {MAX_WORK:,} steps to check: they are too large for their schema"
            return (Problem("", "limit", detail),)
        try:
            if self._check.is_valid(arguments):
                return ()
            if not self._work.fits(arguments, min(_LISTED, _COPIED // len(repr(arguments)))):
                return _first(self._placed(arguments))
            return _first(problem for error in self._check.iter_errors(arguments) for problem in describe(error))
        except ValueError:
            # Not JSON at all: a set, a lone surrogate, a key that is no text.
            try:
                jsontext.dumps(arguments)
            except UnrepresentableError as error:
                return (Problem(error.pointer, "json", error.reason),)
            raise

    def _placed(self, arguments: Mapping[str, Any]) -> tuple[Problem, ...]:
        """Name the arguments that are missing or do not fit, if listing all errors takes too long."""
        named, required = as_object(self._schema.get("properties")), as_list(self._schema.get("required"))
        wrong = [missing(key) for key in required if key not in arguments]
        fits = _parts(self._schema)
        wrong += [
            Problem(f"/{token(key)}", "limit", f"'{key}' does not fit its schema, in too many ways to list them")
            for key, value in arguments.items()
            if key in named and not fits(("properties", key), value)
        ]
        return tuple(wrong) or (Problem("", "limit", "the arguments do not fit, in too many ways to list them"),)


def _first(found: Iterable[Problem]) -> tuple[Problem, ...]:
    problems = tuple(found)
    if len(problems) <= _MOST:
        return problems
    return (*problems[:_MOST], Problem("", "limit", f"and {len(problems) - _MOST:,} more problems like these"))


def problems(tool: ToolDefinition, arguments: Mapping[str, Any]) -> tuple[Problem, ...]:
    """Return what is wrong with a call's arguments; empty if they fit the tool's schema.

    Of many problems these are the first ones, and how many more there are.

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
        declared.update(as_object(node.get("properties")))
        declared.update(filter(None, map(str, as_list(node.get("required")))))
    return tuple(name for name in arguments if name not in declared)


def _validator(tool: ToolDefinition) -> Validator:
    key = id(tool)
    known = _validators.get(key)
    if known is None or known[0]() is not tool:
        reference = weakref.ref(tool, lambda _: _validators.pop(key, None))
        known = _validators[key] = (reference, Validator(tool))
    return known[1]


def _compiled(name: str, schema: JsonObject) -> tuple[Any, JsonObject]:
    """Compile a schema; also return it in the compiled form."""
    # Loaded here, as it takes 28 ms that a reader of calls need not spend.
    import jsonschema_rs as engine

    try:
        current = modernise(schema)
        return engine.Draft202012Validator(current, offline=True, pattern_options=_patterns(engine)), current
    except engine.ValidationError as error:
        raise _invalid(name, schema, error) from None
    except ValueError as error:
        raise SchemaError(f"the schema of tool {name!r} cannot be used: {error}") from None


def _parts(schema: JsonObject) -> Callable[[SchemaPlace, JsonValue], bool]:
    """Return a function that checks a value against one place of a schema."""
    import jsonschema_rs as engine

    whole = engine.Registry([(_WHOLE, schema)])
    options = _patterns(engine)

    def fits(place: SchemaPlace, value: JsonValue) -> bool:
        part: JsonObject = {"$ref": _WHOLE + pointer(place)}
        return engine.Draft202012Validator(part, offline=True, registry=whole, pattern_options=options).is_valid(value)

    return fits


def _patterns(engine: Any) -> Any:
    return engine.FancyRegexOptions(backtrack_limit=_BACKTRACK_LIMIT)


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
