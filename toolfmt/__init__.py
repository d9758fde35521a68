"""Speak the tool-call formats of language models: show tools, read calls, write both.

The public names. Each is imported when it is first used, so `import toolfmt`
costs nothing that a program does not need.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolfmt import ids
    from toolfmt.chat_templates.finding import Found, dialect_from, find_dialect
    from toolfmt.chat_templates.prompt import Prompt, render_prompt
    from toolfmt.chat_templates.sandbox import TemplateLimits
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
    from toolfmt.detection import Candidate, Detection, detect
    from toolfmt.dialect import (
        Dialect,
        Example,
        Limits,
        Parser,
        ParserOptions,
        Provenance,
        Traits,
    )
    from toolfmt.doctor.diagnosis import Diagnosis, diagnose
    from toolfmt.errors import (
        AgentStop,
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
        ResponseTemplateError,
        SchemaError,
        ServerError,
        TemplateError,
        TemplateRefusedError,
        ToolCallError,
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
    from toolfmt.model import Media, ToolDefinition, ToolInvocation, ToolResult
    from toolfmt.parsing import ParseResult, aparse_stream, open_parser, parse, parse_stream
    from toolfmt.providers import Provider
    from toolfmt.registry import Registry, default_registry, register, register_override
    from toolfmt.rendering import render_calls, render_results
    from toolfmt.response_templates import response_dialect
    from toolfmt.settings import FormatSettings, TeamSettings, from_setting
    from toolfmt.syntax import Elements, Form, JsonCall, Syntax
    from toolfmt.text import text_dialect
    from toolfmt.tools import Injected, ToolRegistry, load_tools, tool
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
    "AgentStop",
    "AnswerInfo",
    "ArgumentsDelta",
    "ArgumentsError",
    "BrokenDialectError",
    "CallEnd",
    "CallFailed",
    "CallPart",
    "CallStart",
    "Candidate",
    "Choice",
    "Conversion",
    "ConversionError",
    "CorpusError",
    "Detection",
    "Diagnosis",
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
    "Found",
    "Frame",
    "Grammar",
    "Injected",
    "JsonCall",
    "JsonPart",
    "LimitExceededError",
    "Limits",
    "Literals",
    "Loss",
    "Lowered",
    "MalformedCallError",
    "Markers",
    "Media",
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
    "Prompt",
    "Proof",
    "Provenance",
    "Provider",
    "ReasoningDelta",
    "ReasoningPart",
    "RefusalPart",
    "Registry",
    "RenderError",
    "Repair",
    "ResponseTemplateError",
    "ResultPart",
    "Route",
    "SchemaError",
    "ServerError",
    "Span",
    "Syntax",
    "TeamSettings",
    "TemplateError",
    "TemplateLimits",
    "TemplateRefusedError",
    "TextDelta",
    "TextPart",
    "ToolCallError",
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
    "detect",
    "diagnose",
    "dialect_from",
    "drop_leaks",
    "feedback",
    "find_dialect",
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
    "render_prompt",
    "render_results",
    "repair",
    "response_dialect",
    "text_dialect",
    "to_events",
    "tool",
]

_NAMES = {
    "chat_templates.finding": "Found dialect_from find_dialect",
    "chat_templates.prompt": "Prompt render_prompt",
    "chat_templates.sandbox": "TemplateLimits",
    "dialect": "Dialect Example Limits Parser ParserOptions Provenance Traits",
    "choice": "Choice",
    "correcting": "feedback no_call_feedback",
    "doctor.diagnosis": "Diagnosis diagnose",
    "errors": """
        AgentStop ArgumentsError BrokenDialectError ConversionError CorpusError DriverError DuplicateDialectError
        DuplicateToolError ExecutionError LimitExceededError MalformedCallError MissingExtraError ParseError PolicyError
        Problem RenderError ResponseTemplateError SchemaError ServerError TemplateError TemplateRefusedError
        ToolCallError ToolFmtError ToolTimeoutError UnknownDialectError UnknownFormatError UnknownToolError
        UnrepresentableError UnresolvableReferenceError UnsafeInputError UnsupportedSchemaError
    """,
    "detection": "Candidate Detection detect",
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
    "model": "Media ToolDefinition ToolInvocation ToolResult",
    "parsing": "ParseResult aparse_stream open_parser parse parse_stream",
    "providers": "Provider",
    "registry": "Registry default_registry register register_override",
    "rendering": "render_calls render_results",
    "response_templates": "response_dialect",
    "settings": "FormatSettings TeamSettings from_setting",
    "syntax": "Elements Form JsonCall Syntax",
    "text": "text_dialect",
    "tools": "Injected ToolRegistry load_tools tool",
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
