"""Speak the tool-call formats of language models: show tools, read calls, write both.

The public names. Each is imported when it is first used, so `import toolfmt`
costs nothing that a program does not need.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolfmt import ids
    from toolfmt.choice import Choice
    from toolfmt.conversation import (
        CallPart,
        JsonPart,
        MediaPart,
        Message,
        OpaquePart,
        Part,
        ReasoningPart,
        RefusalPart,
        ResultPart,
        TextPart,
        ToolChoice,
        ToolDeclaration,
        Transcript,
    )
    from toolfmt.correcting import feedback, no_call_feedback
    from toolfmt.dialect import (
        Dialect,
        Example,
        Limits,
        Parser,
        ParserOptions,
        Provenance,
        Traits,
    )
    from toolfmt.errors import (
        ArgumentsError,
        BrokenDialectError,
        ConversionError,
        CorpusError,
        DriverError,
        DuplicateDialectError,
        DuplicateToolError,
        ExecutionError,
        LimitExceededError,
        MalformedCallError,
        MissingExtraError,
        ParseError,
        PolicyError,
        Problem,
        RenderError,
        SchemaError,
        TemplateError,
        ToolFmtError,
        ToolTimeoutError,
        UnknownDialectError,
        UnknownFormatError,
        UnknownToolError,
        UnrepresentableError,
        UnresolvableReferenceError,
        UnsafeInputError,
        UnsupportedSchemaError,
    )
    from toolfmt.events import (
        ArgumentsDelta,
        CallEnd,
        CallFailed,
        CallStart,
        Event,
        Notice,
        ReasoningDelta,
        Span,
        TextDelta,
        coalesce,
    )
    from toolfmt.frames import Frame, Route
    from toolfmt.grammars import Grammar, grammar
    from toolfmt.leaks import drop_leaks, is_leak
    from toolfmt.literals import Literals
    from toolfmt.manifests import inject, manifest
    from toolfmt.marking import Markers, markers
    from toolfmt.model import ToolDefinition, ToolInvocation, ToolResult
    from toolfmt.parsing import ParseResult, aparse_stream, open_parser, parse, parse_stream
    from toolfmt.providers import Provider
    from toolfmt.registry import Registry, default_registry, register, register_override
    from toolfmt.rendering import render_calls, render_results
    from toolfmt.settings import FormatSettings, TeamSettings, from_setting
    from toolfmt.syntax import Elements, Form, JsonCall, Syntax
    from toolfmt.text import text_dialect
    from toolfmt.tools import ToolRegistry, load_tools, tool
    from toolfmt.transcripts.answer_info import AnswerInfo, Proof, Usage
    from toolfmt.transcripts.answers import afrom_events, from_events, normalize
    from toolfmt.transcripts.check import Finding, check
    from toolfmt.transcripts.convert import Conversion, convert
    from toolfmt.transcripts.losses import Loss
    from toolfmt.transcripts.repair import Repair, repair
    from toolfmt.transcripts.schemas import Lowered, lower_schema
    from toolfmt.transcripts.streams.relay import ato_events, to_events

    __version__: str

__all__ = [
    "AnswerInfo",
    "ArgumentsDelta",
    "ArgumentsError",
    "BrokenDialectError",
    "CallEnd",
    "CallFailed",
    "CallPart",
    "CallStart",
    "Choice",
    "Conversion",
    "ConversionError",
    "CorpusError",
    "Dialect",
    "DriverError",
    "DuplicateDialectError",
    "DuplicateToolError",
    "Elements",
    "Event",
    "Example",
    "ExecutionError",
    "Finding",
    "Form",
    "FormatSettings",
    "Frame",
    "Grammar",
    "JsonCall",
    "JsonPart",
    "LimitExceededError",
    "Limits",
    "Literals",
    "Loss",
    "Lowered",
    "MalformedCallError",
    "Markers",
    "MediaPart",
    "Message",
    "MissingExtraError",
    "Notice",
    "OpaquePart",
    "ParseError",
    "ParseResult",
    "Parser",
    "ParserOptions",
    "Part",
    "PolicyError",
    "Problem",
    "Proof",
    "Provenance",
    "Provider",
    "ReasoningDelta",
    "ReasoningPart",
    "RefusalPart",
    "Registry",
    "RenderError",
    "Repair",
    "ResultPart",
    "Route",
    "SchemaError",
    "Span",
    "Syntax",
    "TeamSettings",
    "TemplateError",
    "TextDelta",
    "TextPart",
    "ToolChoice",
    "ToolDeclaration",
    "ToolDefinition",
    "ToolFmtError",
    "ToolInvocation",
    "ToolRegistry",
    "ToolResult",
    "ToolTimeoutError",
    "Traits",
    "Transcript",
    "UnknownDialectError",
    "UnknownFormatError",
    "UnknownToolError",
    "UnrepresentableError",
    "UnresolvableReferenceError",
    "UnsafeInputError",
    "UnsupportedSchemaError",
    "Usage",
    "__version__",
    "afrom_events",
    "aparse_stream",
    "ato_events",
    "check",
    "coalesce",
    "convert",
    "default_registry",
    "drop_leaks",
    "feedback",
    "from_events",
    "from_setting",
    "grammar",
    "ids",
    "inject",
    "is_leak",
    "load_tools",
    "lower_schema",
    "manifest",
    "markers",
    "no_call_feedback",
    "normalize",
    "open_parser",
    "parse",
    "parse_stream",
    "register",
    "register_override",
    "render_calls",
    "render_results",
    "repair",
    "text_dialect",
    "to_events",
    "tool",
]

_NAMES = {
    "dialect": "Dialect Example Limits Parser ParserOptions Provenance Traits",
    "choice": "Choice",
    "correcting": "feedback no_call_feedback",
    "errors": """
        ArgumentsError BrokenDialectError ConversionError CorpusError DriverError DuplicateDialectError
        DuplicateToolError ExecutionError LimitExceededError MalformedCallError MissingExtraError ParseError PolicyError
        Problem RenderError SchemaError TemplateError ToolFmtError ToolTimeoutError UnknownDialectError
        UnknownFormatError UnknownToolError UnrepresentableError UnresolvableReferenceError UnsafeInputError
        UnsupportedSchemaError
    """,
    "events": "ArgumentsDelta CallEnd CallFailed CallStart Event Notice ReasoningDelta Span TextDelta coalesce",
    "frames": "Frame Route",
    "grammars": "Grammar grammar",
    "leaks": "drop_leaks is_leak",
    "literals": "Literals",
    "manifests": "inject manifest",
    "marking": "Markers markers",
    "conversation": """
        CallPart JsonPart MediaPart Message OpaquePart Part ReasoningPart RefusalPart ResultPart TextPart
        ToolChoice ToolDeclaration Transcript
    """,
    "model": "ToolDefinition ToolInvocation ToolResult",
    "parsing": "ParseResult aparse_stream open_parser parse parse_stream",
    "providers": "Provider",
    "registry": "Registry default_registry register register_override",
    "rendering": "render_calls render_results",
    "settings": "FormatSettings TeamSettings from_setting",
    "syntax": "Elements Form JsonCall Syntax",
    "text": "text_dialect",
    "tools": "ToolRegistry load_tools tool",
    "transcripts.answer_info": "AnswerInfo Proof Usage",
    "transcripts.answers": "afrom_events from_events normalize",
    "transcripts.check": "Finding check",
    "transcripts.convert": "Conversion convert",
    "transcripts.losses": "Loss",
    "transcripts.repair": "Repair repair",
    "transcripts.schemas": "Lowered lower_schema",
    "transcripts.streams.relay": "ato_events to_events",
}
_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """Import a public name on first use, and keep it."""
    if name in _HOME:
        value = getattr(import_module(f"toolfmt.{_HOME[name]}"), name)
    elif name == "ids":
        return import_module("toolfmt.ids")
    elif name == "__version__":
        value = _version()
    else:
        raise AttributeError(f"module 'toolfmt' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, imported or not."""
    return sorted({*globals(), *__all__})


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("toolfmt")
    except PackageNotFoundError:
        return "0+unknown"  # a checkout that is not installed
