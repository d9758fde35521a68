"""Tools by name, with the functions that run them."""

from __future__ import annotations

from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, overload

from toolfmt.errors import DuplicateToolError, UnknownToolError
from toolfmt.tools.reading import is_code, read, tool
from toolfmt.tools.shapes import Found

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from toolfmt.model import ToolDefinition

_ToolT = TypeVar("_ToolT")


class ToolRegistry:
    """An ordered collection of tools, each with the function that runs it, if there is one.

    Iterates over the definitions in the order of registration.
    """

    def __init__(self, values: object = ()) -> None:
        """Register everything that `tools` can read from `values`."""
        self._tools: dict[str, ToolDefinition] = {}
        self._functions: dict[str, Callable[..., Any]] = {}
        self.extend(values)

    @overload
    def register(
        self,
        value: None = None,
        *,
        name: str | None = ...,
        description: str | None = ...,
        function: None = ...,
    ) -> Callable[[_ToolT], _ToolT]: ...
    @overload
    def register(
        self,
        value: _ToolT,
        *,
        name: str | None = ...,
        description: str | None = ...,
        function: Callable[..., Any] | None = ...,
    ) -> _ToolT: ...
    def register(
        self,
        value: Any = None,
        *,
        name: str | None = None,
        description: str | None = None,
        function: Callable[..., Any] | None = None,
    ) -> Any:
        """Register one tool, given in any form that `tool` reads; returns what it was given.

        Works as a decorator, with and without arguments; a function, sync or
        async, is kept to run the tool. `function` runs a tool that is given as
        data. Raises `DuplicateToolError` for a name that is taken.
        """
        if value is None:
            return partial(self.register, name=name, description=description)
        definition = tool(value, name=name, description=description)
        if function is None and is_code(value) and not isinstance(value, type):
            function = value
        self._add((Found(definition, function),))
        return value

    def extend(self, values: object) -> None:
        """Register every tool in `values`: a list, a file's path, a provider's wrapper, another registry.

        All of them or, if one can't be read or its name is taken, none.
        """
        if isinstance(values, ToolRegistry):
            found = tuple(Found(definition, values.function(definition.name)) for definition in values)
        else:
            found = read(values)
        self._add(found)

    def function(self, name: str) -> Callable[..., Any] | None:
        """Return the function that runs a tool; None for a tool without one. Raises `UnknownToolError`."""
        return self._functions.get(self[name].name)

    @property
    def by_name(self) -> Mapping[str, ToolDefinition]:
        """The definitions by name: a read-only view, in the order of registration."""
        return MappingProxyType(self._tools)

    def __getitem__(self, name: str) -> ToolDefinition:
        """Look a tool up; raises `UnknownToolError`, a LookupError, with names that come close."""
        if name not in self._tools:
            raise UnknownToolError(name, self._tools)
        return self._tools[name]

    def __contains__(self, name: object) -> bool:
        """Whether a tool of that name is registered."""
        return name in self._tools

    def __iter__(self) -> Iterator[ToolDefinition]:
        """Iterate over the definitions in the order of registration."""
        return iter(self._tools.values())

    def __len__(self) -> int:
        """Return the number of tools."""
        return len(self._tools)

    def __repr__(self) -> str:
        """Show the names."""
        return f"ToolRegistry({', '.join(self._tools)})"

    def _add(self, found: tuple[Found, ...]) -> None:
        taken = set(self._tools)
        for definition, _ in found:
            if definition.name in taken:
                raise DuplicateToolError(f"a tool named {definition.name!r} is already registered")
            taken.add(definition.name)
        for definition, function in found:
            self._tools[definition.name] = definition
            if function is not None:
                self._functions[definition.name] = function
