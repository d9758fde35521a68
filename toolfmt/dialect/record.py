"""A dialect: one wire format, both directions, in one frozen record.

The formatters write tools, calls and results in the format; `open_parser` opens a parser that reads it. No other code
branches on a dialect's name: `Traits` describe the differences.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar

from toolfmt.arguments import Natural, Positive, checked
from toolfmt.dialect.syntax import Syntax
from toolfmt.events import Event
from toolfmt.model import ToolDefinition, ToolInvocation, ToolResult

WireT = TypeVar("WireT")
WireOut = TypeVar("WireOut", covariant=True)
WireIn = TypeVar("WireIn", contravariant=True)


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a format's facts come from."""

    reference: str
    """A repository with a path, a page's address, or a document's title."""
    kind: Literal["template", "source", "documentation", "specification", "observation"]
    revision: str = ""
    license: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What a dialect can hold and how it behaves; code checks these instead of names."""

    carries_ids: bool = False
    """Call ids are written on the wire."""
    carries_types: bool = True
    """The format distinguishes strings from numbers; otherwise the tool's schema does."""
    carries_server: bool = False
    """The MCP server's name is written on the wire."""
    carries_agent: bool = False
    """The calling agent's name is written on the wire."""
    parallel: bool = True
    """One message can hold several calls."""
    reasoning: bool = False
    """The format has markers for reasoning."""
    text_around: bool = True
    """Text may appear beside calls, without its own header."""
    strict: bool = False
    """Text beside a call, or an undeclared argument, makes the call text or a failure."""
    bare: bool = False
    """Calls may appear in prose without a marker."""
    needs_tools: bool = False
    """Only the names of offered tools identify calls: without tools, nothing is a call."""
    stops: bool = False
    """Text after the calls is not part of the answer."""


@checked
@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of a parser; a call that exceeds one is a failure with the reason `limit`."""

    call_chars: Positive = 64 * 1024 * 1024
    depth: Positive = 128
    calls: Natural = 100_000
    digits: Positive = 4_300


@dataclass(slots=True, kw_only=True)
class ParserOptions:
    """Settings of a parser; one may serve many parsers.

    `tools` are the offered tools by name; empty when none were given.
    `reasoning_open` says that the prompt already opened the reasoning block; `reasoning_opener` is the marker, "" for
    the format's first. `infer_types` guesses the type of text if neither the format nor a schema gives it, and
    `coerce` converts arguments to the types of the tools' schemas. `whole` says that the first chunk is all there is.
    """

    tools: Mapping[str, ToolDefinition] = field(default_factory=dict[str, "ToolDefinition"])
    strict: bool = False
    repair: bool = False
    reasoning_open: bool = False
    reasoning_opener: str = ""
    infer_types: bool = False
    coerce: bool = False
    whole: bool = False
    limits: Limits = field(default_factory=Limits)


class Parser(Protocol[WireIn]):
    """Reads one answer, in any number of chunks."""

    def feed(self, chunk: WireIn) -> list[Event]:
        """Read one more chunk and return the events that are certain now."""
        ...

    def close(self) -> list[Event]:
        """End the answer and return the last events. Feeding after this raises."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One example call of a tool, as the model should write it."""

    title: str
    call: ToolInvocation
    text: str


SchemaFormatter: TypeAlias = Callable[["ToolDefinition"], str]
"""Writes a tool's definition as a manifest shows it."""
ExampleFormatter: TypeAlias = Callable[["ToolDefinition"], tuple[Example, ...]]
"""Makes the example calls of a tool."""
CallFormatter: TypeAlias = Callable[[Sequence["ToolInvocation"], Mapping[str, "ToolDefinition"]], WireT]
"""Writes calls as the model would. The tools, by name, give the types that the format lacks."""


class ResultFormatter(Protocol[WireOut]):
    """Writes results for the model; `tools` names those that are offered, whose tags may be calls elsewhere."""

    def __call__(self, results: Sequence[ToolResult], tools: Collection[str] = (), /) -> WireOut:
        """Write results in call order."""
        ...


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
"""A dialect of text or of API objects."""
