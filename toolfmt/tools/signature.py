"""Read a function's parameters: arguments from a model, and values that only the program sets.

    def save(text: str, store: Annotated[Store, Injected], by: Annotated[str, Injected("user")]) -> None: ...

A model sees only `text`. The executor sets `store` and `user`, and parameters whose type has a class attribute
`injected_as` with the name of the value. Arguments that a `functools.partial` binds stay bound.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import UnionType
from typing import Annotated, Any, Final, NoReturn, TypeAlias, Union, cast, get_args, get_origin, get_type_hints

from pydantic.fields import FieldInfo

from toolfmt.errors import SchemaError

Function: TypeAlias = Callable[..., object]

_NO_NAME: Final = {inspect.Parameter.POSITIONAL_ONLY: "positional-only", inspect.Parameter.VAR_POSITIONAL: "*args"}


@dataclass(frozen=True, slots=True)
class Injected:
    """Marks a parameter that a model can neither see nor set: `Annotated[Store, Injected]`.

    Its value is the one that the executor has under `name` or, without one,
    under the parameter's own name. It marks whole parameters: a part of an
    argument, such as a model's field, would be the model's to set, so a type
    with a mark inside raises `SchemaError`.
    """

    name: str | None = None

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: object) -> NoReturn:
        """Refuse to be part of an argument: pydantic only meets types that a model fills."""
        raise SchemaError(f"Injected marks a whole parameter of a tool's function, not {source!r} inside one")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter that is given by name."""

    name: str
    hint: Any
    default: Any = inspect.Parameter.empty
    injected: str | None = None
    """The name of the injected value; None for an argument of the model."""

    @property
    def required(self) -> bool:
        """Whether there is no default."""
        return self.default is inspect.Parameter.empty or (
            isinstance(self.default, FieldInfo) and self.default.is_required()
        )


@dataclass(frozen=True, slots=True)
class Signature:
    """A function's parameters."""

    parameters: tuple[Parameter, ...]
    open: bool
    """Whether it has `**kwargs`."""
    bound: frozenset[str] = frozenset()
    """The names that a `functools.partial` has bound."""


def check_names(function: Function, name: str) -> None:
    """Raise `SchemaError` for a function with parameters that can't be given by name."""
    for parameter in _raw(function, name):
        if parameter.kind in _NO_NAME:
            raise SchemaError(
                f"tool {name!r}: the parameter {parameter.name!r} is {_NO_NAME[parameter.kind]}, and a model gives "
                "every argument by name"
            )


def signature(function: Function, name: str) -> Signature:
    """Read a function's parameters; raises `SchemaError` if its type hints cannot be resolved."""
    try:
        hints = get_type_hints(plain_function(function), include_extras=True)
    except (NameError, TypeError, AttributeError) as error:
        raise SchemaError(f"tool {name!r}: its type hints can't be resolved: {error}") from None
    raw = _raw(function, name)
    bound = _bound(function)
    named = [one for one in raw if one.kind is not inspect.Parameter.VAR_KEYWORD]
    return Signature(
        tuple(
            Parameter(one.name, hint, one.default, _injected(one.name, hint))
            for one in named
            if one.name not in bound
            for hint in (hints.get(one.name, Any),)
        ),
        open=len(named) != len(raw),
        bound=bound,
    )


def plain_function(function: Function) -> Function:
    """Find the code that carries the docstring and the type hints."""
    while isinstance(function, functools.partial):
        function = cast("functools.partial[object]", function).func
    function = inspect.unwrap(function)
    return function if inspect.isroutine(function) else type(function).__call__


def _raw(function: Function, name: str) -> tuple[inspect.Parameter, ...]:
    try:
        parameters = tuple(inspect.signature(function).parameters.values())
    except (TypeError, ValueError) as error:
        raise SchemaError(f"tool {name!r}: {error}") from None
    return parameters[1:] if parameters and parameters[0].name in {"self", "cls"} else parameters


def _bound(function: Function) -> frozenset[str]:
    names: set[str] = set()
    while isinstance(function, functools.partial):
        partial = cast("functools.partial[object]", function)
        names.update(partial.keywords)
        function = partial.func
    return frozenset(names)


def _injected(name: str, hint: Any) -> str | None:
    marks: list[Any] = []
    if get_origin(hint) is Annotated:
        hint, *marks = get_args(hint)
    for mark in marks:
        if mark is Injected or isinstance(mark, Injected):
            return (mark.name if isinstance(mark, Injected) else None) or name
    given = getattr(hint, "injected_as", None) if isinstance(hint, type) else None
    if isinstance(given, str):
        return given
    # `ToolContext | None` asks for it as `ToolContext` does.
    members = get_args(hint) if get_origin(hint) in {Union, UnionType} else ()
    return next((found for one in members if (found := _injected(name, one)) is not None), None)
