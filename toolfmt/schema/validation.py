"""Checking a call's arguments against its tool's schema, all problems at once.

jsonschema-rs does the work: offline, so that a `$ref` never opens a file or a URL, and with patterns that run in linear
time or within a fixed number of steps. Its errors become messages that a model can act on:

    missing required argument 'city'
    'units' must be one of "c", "f"; got "k"
    'days' must be an integer; got the string "3"

Names are those of the arguments, with the way into them: `'stops[1].city'`.
"""

from __future__ import annotations

import json
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from toolfmt import jsontext
from toolfmt.errors import Problem, SchemaError, UnresolvableReferenceError
from toolfmt.jsontext import token
from toolfmt.model import JsonObject, ToolDefinition
from toolfmt.schema.costs import BACKTRACKED
from toolfmt.schema.patterns import MOST, compile_time
from toolfmt.schema.places import kind_of, reach
from toolfmt.schema.refs import inline_refs
from toolfmt.schema.spelling import modernise
from toolfmt.schema.walk import as_list, as_object, pointer
from toolfmt.schema.work import MAX_WORK, SchemaWork, check_work

_BACKTRACK_LIMIT: Final = 10_000
"""Steps of a pattern with look-around or back-references; all others run in linear time anyway."""
_FEWER: Final = 100
"""Steps of such a pattern in arguments of more than `_LONG` characters, as each step may look at a whole text."""
_LONG: Final = 8192

_LISTED: Final = 10_000
"""Visits up to which all errors are listed: an error takes a thousand times as long as a visit."""
_COPIED: Final = 32_000_000
"""Characters of arguments, times visits, up to which all errors are listed: each one copies its value."""
_MOST: Final = 20
"""Problems that are returned; of more, the first ones and their number."""
_WHOLE: Final = "http://toolfmt.invalid/"
"""Where a schema is whose members are checked alone; never opened. Relative names resolve against it, unlike a URN."""

_validators: dict[int, tuple[weakref.ref[ToolDefinition], Validator]] = {}


class Validator:
    """One tool's schema, compiled."""

    def __init__(self, tool: ToolDefinition) -> None:
        """Compile; raises `SchemaError` that names the tool, the place in its schema and what is wrong there."""
        check_work(tool.name, tool.parameters)
        self._check, self._schema = _compiled(tool.name, tool.parameters)
        self._work = SchemaWork(self._schema)
        self._is_backtracked = BACKTRACKED.search(repr(self._schema)) is not None

    def problems(self, arguments: Mapping[str, Any]) -> tuple[Problem, ...]:
        """Return what is wrong with the arguments, the first `_MOST` and a count; empty if they fit."""
        if jsontext.too_deep(arguments):  # the stack of the checker would overflow and end the process
            return (Problem("", "limit", f"the arguments are nested more than {jsontext.MAX_NESTING} levels deep"),)
        check, steps = self._check, _BACKTRACK_LIMIT
        try:
            if not self._work.fits(arguments, MAX_WORK):
                detail = (
                    f"the arguments take more than {MAX_WORK:,} steps to check: they are too large for their schema"
                )
                return (Problem("", "limit", detail),)
            if self._is_backtracked and len(repr(arguments)) > _LONG:
                steps = _FEWER
                check = _checker(self._schema, steps)
            if check.is_valid(arguments):
                return ()
            if not self._work.fits(arguments, min(_LISTED, _COPIED // len(repr(arguments)))):
                return _first(self._placed(arguments, steps))
            return _first(problem for error in check.iter_errors(arguments) for problem in describe(error))
        except ValueError:
            # Not JSON at all: a set, a lone surrogate, a key that is no text, an int that Python does not write.
            wrong = jsontext.unwritable(arguments)
            if wrong is None:
                raise
            return (Problem(wrong.pointer, "json", wrong.reason),)

    def _placed(self, arguments: Mapping[str, Any], steps: int) -> tuple[Problem, ...]:
        """Name the arguments that are missing or do not fit, if listing all errors takes too long."""
        named, required = as_object(self._schema.get("properties")), as_list(self._schema.get("required"))
        wrong = [missing(key) for key in required if key not in arguments]
        fits = _members(self._schema, steps)
        wrong += [
            Problem(f"/{token(key)}", "limit", f"'{key}' does not fit its schema, in too many ways to list them")
            for key, value in arguments.items()
            if key in named and not fits({key: value})
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


def accepts(tool: ToolDefinition, arguments: Mapping[str, Any], *, unusable: bool = False) -> bool:
    """Whether the arguments fit the tool's schema; `unusable` is the answer for a schema that cannot be used."""
    try:
        return not problems(tool, arguments)
    except SchemaError:
        return unusable


def extra_arguments(tool: ToolDefinition, arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of arguments that the schema does not declare.

    A schema that explicitly allows further members (`additionalProperties`
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
        known = _validators[key] = (weakref.ref(tool, lambda _: _validators.pop(key, None)), Validator(tool))
    return known[1]


def _compiled(name: str, schema: JsonObject) -> tuple[Any, JsonObject]:
    """Compile a schema; also return it in the compiled form."""
    # Loaded here, as it takes 28 ms that a reader of calls need not spend.
    import jsonschema_rs as engine

    try:
        current = modernise(schema)
        return _checker(current, _BACKTRACK_LIMIT), current
    except engine.ValidationError as error:
        raise _invalid(name, schema, error) from None
    except ValueError as error:
        raise SchemaError(f"the schema of tool {name!r} cannot be used: {error}") from None


def _checker(schema: JsonObject, steps: int, **options: Any) -> Any:
    """Compile a schema whose backtracked patterns may take so many steps."""
    import jsonschema_rs as engine

    limited = engine.FancyRegexOptions(backtrack_limit=steps)
    return engine.Draft202012Validator(schema, offline=True, pattern_options=limited, **options)


def _members(schema: JsonObject, steps: int) -> Callable[[JsonObject], bool]:
    """Return a function that checks members of the arguments, and not which of them are required."""
    import jsonschema_rs as engine

    named = as_object(schema.get("properties"))
    part: JsonObject = {"properties": {key: {"$ref": _WHOLE + pointer(("properties", key))} for key in named}}
    try:
        whole = engine.Registry([(_WHOLE, {key: value for key, value in schema.items() if key != "$id"})])
        return _checker(part, steps, registry=whole).is_valid
    except ValueError:  # a part is named by the whole name of the schema
        return lambda _: True


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
            f"the schema of tool {name!r}, at {problem.pointer}: {error.instance!r} is not a JSON Schema type"
        )
    if problem.keyword == "format" and error.kind.format == "regex" and compile_time(str(error.instance)) == MOST:
        large = f"the pattern {_short(str(error.instance))} is too large: shorten its repetitions"
        return SchemaError(f"the schema of tool {name!r}, at {problem.pointer}: {large}")
    return SchemaError(f"the schema of tool {name!r}, at {problem.pointer or '/'}: {problem.message}")


Wording: TypeAlias = "Callable[[str, Any], str]"
"""Makes a message from the place's name and the validator's error."""

_LONGEST_VALUE: Final = 80
_LONGEST_NAME: Final = 200
_LONGEST_LIST: Final = 30
_WORDS: Final = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "a boolean",
    "array": "an array",
    "object": "an object",
    "null": "null",
}


def describe(error: Any) -> tuple[Problem, ...]:
    """Word one error of jsonschema-rs: one problem, or one for each unknown argument."""
    keyword = str(error.kind.name)
    path = list(error.instance_path)
    where = _pointer(path)
    name = f"'{_named(path)}'" if path else "the arguments object"
    if keyword in {"additionalProperties", "unevaluatedProperties"}:
        unexpected = [(str(key), [*path, key]) for key in error.kind.unexpected]
        return tuple(Problem(_pointer(inner), keyword, f"unknown {_member(key, path)}") for key, inner in unexpected)
    if keyword == "required":
        return (missing(str(error.kind.property), path),)
    if keyword in {"anyOf", "oneOf"}:
        return _alternatives(error, where, name, keyword)
    wording = _WORDINGS.get(keyword)
    return (Problem(where, keyword, wording(name, error) if wording else f"{name}: {_short(str(error.message))}"),)


def missing(key: str, path: Sequence[str | int] = ()) -> Problem:
    """Return the problem of a missing member."""
    return Problem(_pointer(path), "required", f"missing required {_member(key, path)}")


def _alternatives(error: Any, where: str, name: str, keyword: str) -> tuple[Problem, ...]:
    """Word why a value fits no alternative: its type, or the problems with the one that was meant."""
    branches = [list(branch) for branch in error.kind.context]
    if any(not branch for branch in branches):
        return (Problem(where, keyword, f"{name} fits several forms where it may fit only one"),)
    path = list(error.instance_path)
    mistyped = [branch for branch in branches if _mistyped(branch, path)]
    meant = [branch for branch in branches if not _mistyped(branch, path)]
    if not meant:
        kinds = [kind for branch in mistyped for kind in branch[0].kind.types]
        return (Problem(where, "type", _type_message(name, kinds, error.instance)),)
    if len(meant) == 1:
        return tuple(problem for inner in meant[0] for problem in describe(inner))
    listed = [[option for inner in branch for option in _listed(inner, path)] for branch in meant]
    if all(listed):
        options = [option for branch in listed for option in branch]
        return (Problem(where, "enum", _enum_message(name, options, error.instance)),)
    forms = [" and ".join(problem.message for inner in branch for problem in describe(inner)) for branch in meant]
    choices = _limited([f"({i}) {_short(form, 300)}" for i, form in enumerate(forms, 1)], "; ")
    return (Problem(where, keyword, f"{name} fits none of its forms: {choices}"),)


def _mistyped(branch: Sequence[Any], path: list[Any]) -> bool:
    return branch[0].kind.name == "type" and list(branch[0].instance_path) == path


def _listed(error: Any, path: list[Any]) -> list[Any]:
    if list(error.instance_path) != path:
        return []
    return {"enum": lambda: list(error.kind.options), "const": lambda: [error.kind.expected_value]}.get(
        str(error.kind.name), list
    )()


def _type_message(name: str, kinds: Iterable[str], value: Any) -> str:
    unique = sorted(set(kinds), key=list(_WORDS).index)
    return f"{name} must be {' or '.join(_WORDS[kind] for kind in unique)}; got {_given(value)}"


def _enum_message(name: str, options: Sequence[Any], value: Any) -> str:
    if len(options) == 1:
        return f"{name} must be {_json(options[0])}; got {_json(value)}"
    return f"{name} must be one of {_limited([_json(option) for option in options], ', ')}; got {_json(value)}"


def _bound(phrase: str) -> Wording:
    return lambda name, error: f"{name} must be {phrase} {_json(error.kind.limit)}; got {_json(error.instance)}"


def _size(phrase: str, unit: str, plural: str) -> Wording:
    def worded(name: str, error: Any) -> str:
        limit = error.kind.limit
        units = unit if limit == 1 else plural
        return f"{name} must have {phrase} {limit} {units}; it has {len(error.instance)}"

    return worded


def _pattern_message(name: str, error: Any) -> str:
    pattern = getattr(error.kind, "pattern", None)
    if pattern is None:  # the search was abandoned: the pattern takes too many steps on this text
        return f"{name}: its pattern takes too long to be checked on {_json(error.instance)}"
    return f"{name} must match the pattern {_short(pattern, _LONGEST_NAME)}; got {_json(error.instance)}"


_WORDINGS: Final[dict[str, Wording]] = {
    "type": lambda name, error: _type_message(name, error.kind.types, error.instance),
    "enum": lambda name, error: _enum_message(name, error.kind.options, error.instance),
    "const": lambda name, error: _enum_message(name, [error.kind.expected_value], error.instance),
    "minimum": _bound("at least"),
    "maximum": _bound("at most"),
    "exclusiveMinimum": _bound("greater than"),
    "exclusiveMaximum": _bound("less than"),
    "multipleOf": lambda name, error: (
        f"{name} must be a multiple of {_json(error.kind.multiple_of)}; got {_json(error.instance)}"
    ),
    "minLength": _size("at least", "character", "characters"),
    "maxLength": _size("at most", "character", "characters"),
    "minItems": _size("at least", "item", "items"),
    "maxItems": _size("at most", "item", "items"),
    "minProperties": _size("at least", "property", "properties"),
    "maxProperties": _size("at most", "property", "properties"),
    "pattern": _pattern_message,
    "format": lambda name, error: f"{name} must be a valid {error.kind.format}; got {_json(error.instance)}",
    "uniqueItems": lambda name, _: f"{name} must not hold the same item twice",
    "contains": lambda name, _: f"{name} holds no item of the form it must hold",
    "propertyNames": lambda name, error: f"a key in {name} is not allowed: {_short(str(error.kind.error.message))}",
    "not": lambda name, error: f"{name} must not be what {_short(_json(error.kind.schema))} describes",
    "falseSchema": lambda name, _: f"{name} is not allowed",
}


def _pointer(path: Iterable[str | int]) -> str:
    return "".join(f"/{token(key)}" for key in path)


def _member(key: str, path: Sequence[str | int]) -> str:
    name = _short(key, _LONGEST_NAME)
    return f"property '{name}' in '{_named(path)}'" if path else f"argument '{name}'"


def _named(path: Sequence[str | int]) -> str:
    parts = (f"[{token}]" if isinstance(token, int) else f".{token}" for token in path)
    return _short("".join(parts).removeprefix("."), _LONGEST_NAME)


def _given(value: Any) -> str:
    kind = kind_of(value)
    text = _json(value)
    return text if kind in {"null", "integer"} else f"the {kind} {text}"


def _json(value: Any) -> str:
    return _short(json.dumps(value, ensure_ascii=False, default=str))


def _short(text: str, longest: int = _LONGEST_VALUE) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _limited(items: Sequence[str], joint: str) -> str:
    shown = joint.join(items[:_LONGEST_LIST])
    return shown if len(items) <= _LONGEST_LIST else f"{shown} and {len(items) - _LONGEST_LIST} more"
