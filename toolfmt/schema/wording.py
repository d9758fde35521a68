"""Words a validator's errors as messages that a model can act on.

    missing required argument 'city'
    'units' must be one of "c", "f"; got "k"
    'days' must be an integer; got the string "3"
    unknown argument 'cty'

Names are those of the arguments, with the way into them: `'stops[1].city'`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from toolfmt.errors import Problem
from toolfmt.schema.places import kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

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
    name = _name(path)
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


def _size(phrase: str, unit: str) -> Wording:
    def worded(name: str, error: Any) -> str:
        limit = error.kind.limit
        units = unit if limit == 1 else _plural(unit)
        return f"{name} must have {phrase} {limit} {units}; it has {len(error.instance)}"

    return worded


def _plural(unit: str) -> str:
    return {"property": "properties"}.get(unit, f"{unit}s")


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
    "minLength": _size("at least", "character"),
    "maxLength": _size("at most", "character"),
    "minItems": _size("at least", "item"),
    "maxItems": _size("at most", "item"),
    "minProperties": _size("at least", "property"),
    "maxProperties": _size("at most", "property"),
    "pattern": _pattern_message,
    "format": lambda name, error: f"{name} must be a valid {error.kind.format}; got {_json(error.instance)}",
    "uniqueItems": lambda name, _: f"{name} must not hold the same item twice",
    "contains": lambda name, _: f"{name} holds no item of the form it must hold",
    "propertyNames": lambda name, error: f"a key in {name} is not allowed: {_short(str(error.kind.error.message))}",
    "not": lambda name, error: f"{name} must not be what {_short(_json(error.kind.schema))} describes",
    "falseSchema": lambda name, _: f"{name} is not allowed",
}


def _pointer(path: Iterable[str | int]) -> str:
    return "".join(f"/{str(token).replace('~', '~0').replace('/', '~1')}" for token in path)


def _name(path: Sequence[str | int]) -> str:
    return f"'{_named(path)}'" if path else "the arguments object"


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
