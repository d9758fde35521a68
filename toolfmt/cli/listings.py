"""`toolfmt dialects`, `formats` and `providers`: lists of what there is, and each dialect with a sample."""

from dataclasses import asdict, fields
from typing import Annotated

from cyclopts import App, Parameter

from toolfmt.cli.choice import meant
from toolfmt.cli.output import UsageError, note, say, write_json, write_table
from toolfmt.dialect.record import AnyDialect
from toolfmt.errors import UnknownDialectError, close_names
from toolfmt.lookup.registry import default_registry
from toolfmt.model import JsonObject, ToolDefinition, ToolInvocation, ToolResult
from toolfmt.transcripts.formats import formats as known_formats
from toolfmt.workshop.marking import markers

Json = Annotated[bool, Parameter(help="Print JSON.")]

dialects = App("dialects", help="List the dialects; `show` prints one in full.")

_TOOL = ToolDefinition(
    name="get_weather",
    description="Look up the weather.",
    parameters={
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "The city's name."},
            "days": {"type": "integer", "description": "How many days ahead.", "default": 1},
        },
        "required": ["city"],
    },
)
_CALL = ToolInvocation(name=_TOOL.name, arguments={"city": "Paris", "days": 2})
_RESULT = ToolResult(name=_TOOL.name, content={"sky": "clear", "degrees": 21.5})


@dialects.default
def list_all(
    name: Annotated[str | None, Parameter(help="Print this one in full, as `show` does.")] = None,
    /,
    *,
    json: Json = False,
) -> None:
    """List the dialects (formats of tool calls); `show` prints one with a sample."""
    if name is not None:
        try:
            show(name, json=json)
        except UnknownDialectError:
            if close_names(name, {"show": "show"}):
                raise UsageError(f"there is no command {name!r}; did you mean `toolfmt dialects show`?") from None
            raise
        return
    registry = default_registry()
    if json:
        write_json([_record(dialect) for dialect in registry])
    else:
        write_table(("dialect", "what it is"), ((dialect.name, dialect.summary) for dialect in registry))
    for error in registry.broken.values():
        note(str(error))


@dialects.command
def show(
    name: Annotated[str, Parameter(help="A dialect's name or alias, a provider or a model.")], /, *, json: Json = False
) -> None:
    """Show one dialect: its markers, a tool, a call and a result, and the sources of its facts."""
    dialect = meant(name)
    sample = {
        "tool": dialect.schema(_TOOL),
        "call": dialect.calls([_CALL], {_TOOL.name: _TOOL}),
        "result": dialect.results([_RESULT]),
    }
    special = markers(dialect)
    if json:
        write_json(
            {**_record(dialect), "markers": {"keep": list(special.keep), "stop": list(special.stop)}, "sample": sample}
        )
        return
    say(dialect.name, dialect.summary, "bold cyan")
    say("aliases", ", ".join(dialect.aliases) or "none")
    say("traits", ", ".join(_traits(dialect)) or "none")
    say("markers to keep", "  ".join(special.keep) or "none")
    say("stop strings", "  ".join(special.stop) or "none")
    for label, text in sample.items():
        say(label, text)
    for source in dialect.sources:
        facts = (source.reference, source.revision, source.kind, source.license)
        say("source", ", ".join(fact for fact in facts if fact))


def _traits(dialect: AnyDialect) -> list[str]:
    """Name what the format can hold and how it behaves, in words."""
    given = ((field.name, getattr(dialect.traits, field.name)) for field in fields(dialect.traits))
    return [name.removeprefix("carries_").replace("_", " ") for name, value in given if value is True]


def _record(dialect: AnyDialect) -> JsonObject:
    return {
        "name": dialect.name,
        "summary": dialect.summary,
        "aliases": list(dialect.aliases),
        "traits": asdict(dialect.traits),
        "sources": [asdict(source) for source in dialect.sources],
    }


def formats(*, json: Json = False) -> None:
    """List the formats that conversations are converted between."""
    known = [(made.name, made.summary, list(made.aliases)) for made in known_formats()]
    if json:
        write_json([{"name": name, "summary": summary, "aliases": aliases} for name, summary, aliases in known])
        return
    rows = ((name, f"{text} Also {', '.join(aliases)}." if aliases else text) for name, text, aliases in known)
    write_table(("format", "what it is"), rows)


def providers(*, json: Json = False) -> None:
    """List the providers, with the format that each one's models read best."""
    rows = sorted(default_registry().providers, key=lambda row: row.name)
    if json:
        lists = ({"aliases": list(row.aliases), "models": [*map(list, row.models)]} for row in rows)
        write_json([asdict(row) | found for row, found in zip(rows, lists, strict=True)])
        return
    table = ((row.name, row.dialect, row.api or "", ", ".join(row.aliases), row.summary) for row in rows)
    write_table(("provider", "format", "API", "aliases", "what it is"), table)
