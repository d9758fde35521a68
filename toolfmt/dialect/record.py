"""A dialect: one wire format, both directions, in one frozen record.

The formatters write tools, calls and results in the format; `open_parser` opens a parser that reads it. No other code
branches on a dialect's name: `Traits` describe the differences.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    from toolfmt.dialect.syntax import Syntax
    from toolfmt.events import Event
    from toolfmt.model import ToolDefinition, ToolInvocation, ToolResult

WireT = TypeVar("WireT")
WireIn = TypeVar("WireIn", contravariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where a format's facts come from."""

    reference: str
    """A repository with a path, a page's address, or a document's title."""
    kind: Literal["template", "source", "documentation", "specification", "observation"]
    revision: str = ""
    license: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What a dialect can hold and how it behaves; code reads these instead of names."""

    carries_ids: bool = False
    """Call ids are written on the wire."""
    carries_types: bool = True
    """The wire tells a string from a number; else the tool's schema does."""
    carries_server: bool = False
    """The MCP server's name is written on the wire."""
    carries_agent: bool = False
    """The calling agent's name is written on the wire."""
    parallel: bool = True
    """One message can hold several calls."""
    reasoning: bool = False
    """The format has markers for reasoning."""
    text_around: bool = True
    """Text may stand beside calls, without a header of its own."""
    strict: bool = False
    """Anything beside the call or its schema makes it no call."""
    bare: bool = False
    """Calls may stand in prose without a marker."""
    needs_tools: bool = False
    """Only the offered tools' names tell calls from other markup: nothing is a call where none are given."""
    stops: bool = False
    """What follows the calls is not part of the answer."""
    forbidden: str = ""
    """Characters that no value of this format can hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of a parser; a call that exceeds one is a failure with the reason `limit`."""

    call_chars: int = 64 * 1024 * 1024
    depth: int = 128
    calls: int = 100_000
    digits: int = 4_300


@dataclass(slots=True, kw_only=True)
class ParserOptions:
    """What a parser is given before it reads: a value, not frozen because one is made for every answer.

    `tools` are the offered tools by name; empty when none were given.
    `reasoning_open` says that the prompt already opened the reasoning block, and
    `reasoning_opener` by which marker; "" for the format's first.
    `infer_types` types text by its looks where neither the wire nor a schema does,
    and `coerce` gives arguments the types of the tools' schemas.
    """

    tools: Mapping[str, ToolDefinition] = field(default_factory=dict[str, "ToolDefinition"])
    strict: bool = False
    repair: bool = False
    reasoning_open: bool = False
    reasoning_opener: str = ""
    infer_types: bool = False
    coerce: bool = False
    limits: Limits = field(default_factory=Limits)


class Parser(Protocol[WireIn]):
    """Reads one answer, in as many pieces as it comes in."""

    def feed(self, chunk: WireIn) -> list[Event]:
        """Read one more piece; the events that it decides."""
        ...

    def close(self) -> list[Event]:
        """Say that the answer has ended; the last events. Feeding after this raises."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One example call of a tool, as the model should write it."""

    title: str
    call: ToolInvocation
    text: str


SchemaFormatter: TypeAlias = Callable[["ToolDefinition"], str]
ExampleFormatter: TypeAlias = Callable[["ToolDefinition"], tuple[Example, ...]]
CallFormatter: TypeAlias = Callable[[Sequence["ToolInvocation"], Mapping[str, "ToolDefinition"]], WireT]
"""Calls -> what the model would have written. The tools, by name, tell types where the wire does not."""
ResultFormatter: TypeAlias = Callable[[Sequence["ToolResult"]], WireT]


@dataclass(frozen=True, slots=True, kw_only=True, weakref_slot=True, repr=False)
class Dialect(Generic[WireT]):
    """A wire format. `WireT` is `str` for text, a JSON object for a provider's API."""

    name: str
    summary: str
    schema: SchemaFormatter
    example: ExampleFormatter
    calls: CallFormatter[WireT]
    results: ResultFormatter[WireT]
    open_parser: Callable[[ParserOptions], Parser[WireT]]
    traits: Traits
    sources: tuple[Provenance, ...]
    aliases: tuple[str, ...] = ()
    manifest: str = "json.jinja"
    """The template in `templates/` that composes the manifest."""
    syntax: Syntax | None = None
    """The declarative description of a text dialect."""

    def __repr__(self) -> str:
        """Show the name: a record is too long to print."""
        return f"Dialect({self.name!r})"


AnyDialect: TypeAlias = Dialect[Any]
