"""Turn a call's JSON arguments into the arguments of a function.

    def book(day: date, seats: int = 1, store: Annotated[Store, Injected]): ...
    {"day": "2026-01-02"}   ->   book(day=date(2026, 1, 2), store=<the program's own>)

JSON has neither dates nor dataclasses; pydantic makes them according to the parameters' types. The arguments have been
checked against the tool's schema before.
"""

from __future__ import annotations

import contextlib
import inspect
import sys
import weakref
from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo

from toolfmt.errors import ArgumentsError, ExecutionError, Problem
from toolfmt.jsontext import token
from toolfmt.model import JsonObject, ToolInvocation
from toolfmt.schema.walk import copied
from toolfmt.tools.signature import Parameter, Signature, signature

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails


class Binding:
    """One function's parameters, ready to be filled."""

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        """Read its signature; raises `SchemaError` for type hints that can't be resolved."""
        self._tool = name
        taken = signature(function, name) if _has_signature(function) else Signature((), open=True)
        self._injected = {one.name: one.injected for one in taken.parameters if one.injected is not None}
        self._kept = taken.bound | self._injected.keys()
        self._needed = [one.injected for one in taken.parameters if one.injected is not None and one.required]
        self._arguments = [one for one in taken.parameters if one.injected is None]
        self._defaults = {
            one.name: one.default for one in self._arguments if isinstance(one.default, FieldInfo) and not one.required
        }

    @cached_property
    def _adapters(self) -> dict[str, TypeAdapter[Any]]:
        return {one.name: adapter for one in self._arguments if (adapter := _adapter(one)) is not None}

    @cached_property
    def runs_code(self) -> bool:
        """Whether making the arguments may run other code or access files, as `FilePath` does."""
        return bool(self._defaults) or not all(_is_plain(one.core_schema) for one in self._adapters.values())

    @property
    def injected(self) -> Collection[str]:
        """The names of the injected values."""
        return self._injected.values()

    def missing(self, given: Mapping[str, Any]) -> tuple[str, ...]:
        """Name the injected values that the function needs and that are not given."""
        return tuple(name for name in self._needed if name not in given)

    def refused(self, arguments: JsonObject) -> tuple[Problem, ...]:
        """Find arguments that only the program may set; a model does not see them."""
        return tuple(
            Problem(f"/{name}", "additionalProperties", f"unknown argument '{name}'")
            for name in arguments
            if name in self._kept
        )

    def bind(self, arguments: JsonObject, given: Mapping[str, Any]) -> dict[str, Any]:
        """Make the function's arguments; raises `ArgumentsError` for values that are not what their types say."""
        if missing := self.missing(given):
            raise ExecutionError(
                f"the tool {self._tool!r} needs {', '.join(missing)}: give it to the executor's inject"
            )
        bound: dict[str, Any] = {}
        problems: list[Problem] = []
        for name, value in arguments.items():
            adapter = self._adapters.get(name)
            try:
                bound[name] = copied(value) if adapter is None else adapter.validate_python(copied(value))
            except ValidationError as error:
                problems += (_problem(name, one) for one in error.errors())
        if problems:
            raise ArgumentsError(self._tool, problems)
        for name, default in self._defaults.items():
            if name not in bound:
                bound[name] = default.get_default(call_default_factory=True, validated_data=bound)
        for name, key in self._injected.items():
            if key in given:
                bound[name] = given[key]
        return bound


def binding(function: Callable[..., Any], name: str) -> Binding:
    """Return a function's binding; it is made once and kept as long as the function exists."""
    key = id(function), name
    known = _bindings.get(key)
    if known is not None and known[0]() is function:
        return known[1]
    made = Binding(function, name)
    with contextlib.suppress(TypeError):  # not everything that can be called can be referred to weakly
        _bindings[key] = weakref.ref(function, lambda _: _bindings.pop(key, None)), made
    return made


_bindings: dict[tuple[int, str], tuple[weakref.ref[Callable[..., Any]], Binding]] = {}


def own_copy(call: ToolInvocation) -> ToolInvocation:
    """Copy a call with its arguments, so that whoever gets the copy can't change the call."""
    own = call.model_copy()
    vars(own)["arguments"] = copied(call.arguments)  # `update=` takes more than twice the time
    return own


def _has_signature(function: Callable[..., Any]) -> bool:
    """Whether a function has a signature; some functions written in C have none."""
    try:
        inspect.signature(function)
    except (TypeError, ValueError):
        return False
    return True


def _adapter(parameter: Parameter) -> TypeAdapter[Any] | None:
    hint: Any = parameter.hint
    if isinstance(parameter.default, FieldInfo):
        hint = cast("Any", Annotated)[hint, parameter.default]
    if hint is Any or hint is inspect.Parameter.empty:
        return None
    try:
        return TypeAdapter[Any](hint)
    except PydanticUserError:  # a type that pydantic does not know takes what it is given
        return None


_PLAIN: Final = frozenset(
    {"any", "none", "bool", "int", "float", "str", "literal", "list", "tuple", "set", "dict", "nullable", "union"}
)
"""Kinds of types that pydantic itself checks."""
_INNER: Final = frozenset({"items_schema", "keys_schema", "values_schema", "schema", "choices"})


def _is_plain(core: object) -> bool:
    """Whether no code of a type's author runs when a value is made."""
    if isinstance(core, (list, tuple)):
        return all(map(_is_plain, cast("list[object]", core)))
    if not isinstance(core, dict):
        return True
    schema = cast("dict[str, object]", core)
    inner = (value for key, value in schema.items() if key in _INNER)
    return schema.get("type") in _PLAIN and all(map(_is_plain, inner))


def _problem(name: str, error: ErrorDetails) -> Problem:
    keyword, given, message = error["type"], error["input"], error["msg"]
    # The schema allows both numbers, and pydantic's words are about a text and a type.
    if keyword == "int_parsing_size" and isinstance(given, float):
        message = f"must be written in digits: as {given!r} it is too large to be exact"
    elif keyword == "float_type" and type(given) is int and abs(given) > sys.float_info.max:
        message = f"must be between {-sys.float_info.max:.2g} and {sys.float_info.max:.2g}"
    return Problem("".join(f"/{token(part)}" for part in (name, *error["loc"])), keyword, message)
