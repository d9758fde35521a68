"""Tools by name, with the functions that run them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import EllipsisType, MappingProxyType
from typing import Any, Literal, TypedDict, TypeVar, Unpack, overload

from toolfmt.arguments import checked
from toolfmt.errors import DuplicateToolError, UnknownToolError
from toolfmt.model import ToolDefinition
from toolfmt.tools.reading import is_code, read, tool
from toolfmt.tools.shapes import Found

_ToolT = TypeVar("_ToolT")


class ToolOptions(TypedDict, total=False):
    """What a tool's author declares for whoever runs it."""

    dangerous: bool
    """A call that was not clearly marked as one is refused, and who approves calls is asked."""
    timeout: float
    """Seconds it may take."""
    run_in: Literal["thread", "loop", "process"]
    """Where its function runs; a process is the only place where it can be stopped."""
    result_limit: int
    """Characters of its result."""
    loop_breaking: bool
    """Whether the turn is over when it has run; a manifest says so too."""
    visible: Callable[[Any], bool]
    """Whether it is offered, asked with the state of the run; where not, it cannot be called either."""


class ToolRegistry:
    """An ordered collection of tools, each with the function that runs it, if there is one.

    Iterates over the definitions in the order of registration.
    """

    def __init__(self, values: object = ()) -> None:
        """Register all tools in `values`, in any form that `tools` reads."""
        self._tools: dict[str, ToolDefinition] = {}
        self._functions: dict[str, Callable[..., Any]] = {}
        self._visible: dict[str, Callable[[Any], bool]] = {}
        self.extend(values)

    @overload
    def register(
        self,
        value: EllipsisType = ...,
        *,
        name: str | None = ...,
        description: str | None = ...,
        function: None = ...,
        **options: Unpack[ToolOptions],
    ) -> Callable[[_ToolT], _ToolT]: ...
    @overload
    def register(
        self,
        value: _ToolT,
        *,
        name: str | None = ...,
        description: str | None = ...,
        function: Callable[..., Any] | None = ...,
        **options: Unpack[ToolOptions],
    ) -> _ToolT: ...
    @checked
    def register(
        self,
        value: Any = ...,
        *,
        name: str | None = None,
        description: str | None = None,
        function: Callable[..., Any] | None = None,
        **options: Unpack[ToolOptions],
    ) -> Any:
        """Register one tool in any form that `tool` reads, and return it unchanged.

        Works as a decorator, with and without arguments. A sync or async function runs the tool; for a tool given as
        data, `function` runs it. Further options, see `ToolOptions`, are stored in its metadata for the executor.
        Raises `DuplicateToolError` for a name that is taken, and TypeError for an unknown option.
        """
        if value is ...:  # None is what a function gives that was to return a tool, and did not
            return partial(self.register, name=name, description=description, **options)
        definition = tool(value, name=name, description=description)
        visible = options.pop("visible", None)
        if options:
            definition = definition.model_copy(update={"metadata": {**definition.metadata, **options}})
        if function is None and is_code(value) and not isinstance(value, type):
            function = value
        self._add((Found(definition, function),))
        if visible is not None:
            self._visible[definition.name] = visible
        return value

    def extend(self, values: object) -> None:
        """Register every tool in `values`: a list, a file's path, a provider's wrapper, another registry.

        If one can't be read or its name is taken, none is registered.
        """
        if isinstance(values, ToolRegistry):
            found = tuple(Found(definition, values.function(definition.name)) for definition in values)
        else:
            found = read(values)
        self._add(found)
        if isinstance(values, ToolRegistry):
            self._visible |= values._visible  # noqa: SLF001 - of the same class

    def function(self, name: str) -> Callable[..., Any] | None:
        """Return the function that runs a tool; None for a tool without one. Raises `UnknownToolError`."""
        return self._functions.get(self[name].name)

    def visible(self, state: object = None) -> tuple[ToolDefinition, ...]:
        """Return the tools that are offered in a state of the run: those whose `visible` does not return False."""
        return tuple(definition for definition in self if self.is_visible(definition.name, state))

    def is_visible(self, name: str, state: object = None) -> bool:
        """Whether a tool is registered and offered in a state of the run."""
        visible = self._visible.get(name)
        return name in self._tools and (visible is None or bool(visible(state)))

    @property
    def by_name(self) -> Mapping[str, ToolDefinition]:
        """The definitions by name: a read-only view, in the order of registration."""
        return MappingProxyType(self._tools)

    def __getitem__(self, name: str) -> ToolDefinition:
        """Look up a tool; raises `UnknownToolError`, a LookupError, with similar names."""
        if name not in self._tools:
            raise UnknownToolError(name, self._tools)
        return self._tools[name]

    def __contains__(self, name: object) -> bool:
        """Whether a tool with this name is registered."""
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
