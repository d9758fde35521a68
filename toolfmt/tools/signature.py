"""What a function takes: arguments from a model, and values that only the program may give.

    def save(text: str, store: Annotated[Store, Injected], by: Annotated[str, Injected("user")]) -> None: ...

A model is told of `text` alone. `store` and `user` are given by whoever runs the
calls; so is a parameter whose type says under which name it is given, by a class
attribute `injected_as`.
"""

from __future__ import annotations

import functools
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias, cast, get_args, get_origin, get_type_hints

from pydantic.fields import FieldInfo

from toolfmt.errors import SchemaError

if TYPE_CHECKING:
    from collections.abc import Callable

    Function: TypeAlias = Callable[..., object]

_NO_NAME: Final = {
    inspect.Parameter.POSITIONAL_ONLY: "positional-only",
    inspect.Parameter.VAR_POSITIONAL: "*args",
}


@dataclass(frozen=True, slots=True)
class Injected:
    """Marks a parameter that a model can neither see nor set: `Annotated[Store, Injected]`.

    Its value is the one that the executor has under `name` or, without one,
    under the parameter's own name.
    """

    name: str | None = None


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter that is given by name."""

    name: str
    hint: Any
    default: Any = inspect.Parameter.empty
    injected: str | None = None
    """Under which name the program gives its value; None for an argument, which a model gives."""

    @property
    def required(self) -> bool:
        """Whether there is no default."""
        return self.default is inspect.Parameter.empty or (
            isinstance(self.default, FieldInfo) and self.default.is_required()
        )


@dataclass(frozen=True, slots=True)
class Signature:
    """All that a function takes."""

    parameters: tuple[Parameter, ...]
    open: bool
    """Whether it takes any further name, by `**kwargs`."""


def check_names(function: Function, name: str) -> None:
    """Raise `SchemaError` for a function with parameters that can't be given by name."""
    for parameter in _raw(function, name):
        if parameter.kind in _NO_NAME:
            raise SchemaError(
                f"tool {name!r}: the parameter {parameter.name!r} is {_NO_NAME[parameter.kind]}, and a model gives "
                "every argument by name"
            )


def signature(function: Function, name: str) -> Signature:
    """Read what a function takes; raises `SchemaError` where its type hints can't be resolved."""
    try:
        hints = get_type_hints(plain_function(function), include_extras=True)
    except (NameError, TypeError, AttributeError) as error:
        raise SchemaError(f"tool {name!r}: its type hints can't be resolved: {error}") from None
    raw = _raw(function, name)
    named = [one for one in raw if one.kind is not inspect.Parameter.VAR_KEYWORD]
    return Signature(
        tuple(
            Parameter(one.name, hint, one.default, _injected(one.name, hint))
            for one in named
            for hint in (hints.get(one.name, Any),)
        ),
        open=len(named) != len(raw),
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


def _injected(name: str, hint: Any) -> str | None:
    if get_origin(hint) is Annotated:
        hint, *marks = get_args(hint)
        for mark in marks:
            if mark is Injected or isinstance(mark, Injected):
                return (mark.name if isinstance(mark, Injected) else None) or name
    # `ToolContext | None` asks for it as `ToolContext` does.
    for kind in (hint, *get_args(hint)):
        given = getattr(kind, "injected_as", None) if isinstance(kind, type) else None
        if isinstance(given, str):
            return given
    return None
