"""The pages of formats: a table, and one for each with what it writes."""  # noqa: INP001 - beside the script

from __future__ import annotations

import json
import tomllib
from collections import Counter
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from blocks import codes, fenced, prose, table
from canitoolcall.fixtures import load_fixtures
from names import PACKAGE, doc, field_docs, find, source
from speeds import speed

from toolfmt import jsontext
from toolfmt.dialect.record import AnyDialect, Traits
from toolfmt.dialect.records import dump
from toolfmt.errors import UnrepresentableError
from toolfmt.lookup.plugins import package_dialects
from toolfmt.lookup.providers import MODEL_PATTERNS
from toolfmt.lookup.registry import Registry
from toolfmt.manifests import manifest
from toolfmt.model import ToolDefinition, ToolInvocation, ToolResult
from toolfmt.parsing import parse
from toolfmt.workshop.marking import markers

if TYPE_CHECKING:
    from collections.abc import Callable

OFFERED: Final = Registry(dialects=tuple(package_dialects("toolfmt.dialects")))
"""The package's own formats: not those of third parties that happen to be installed."""
TOOL: Final = ToolDefinition(
    name="search_files",
    description="Find lines of files that hold a text.",
    parameters={
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "What to look for."},
            "folders": {"type": "array", "items": {"type": "string"}, "description": "Where to look."},
            "limit": {"type": "integer", "description": "How many lines at most.", "default": 20},
        },
        "required": ["text"],
    },
)
CALLS: Final = (
    ToolInvocation(
        name=TOOL.name, id="call_1", arguments={"text": 'if a < b && c != "x"', "folders": ["src", "lib"], "limit": 5}
    ),
    ToolInvocation(name=TOOL.name, id="call_2", arguments={"text": "two\nlines"}),
)
RESULTS: Final = (
    ToolResult(name=TOOL.name, id="call_1", content=[{"file": "src/main.c", "line": 14}]),
    ToolResult(name=TOOL.name, id="call_2", content="no such folder: lib", is_error=True),
)


def reported(value: bool | str) -> str:  # noqa: FBT001 - a trait's value
    """Say a trait in a word."""
    return ("yes" if value else "no") if isinstance(value, bool) else codes(filter(None, [ascii(value)[1:-1]]))


def dialect_table() -> str:
    """Compare the formats."""
    meanings = field_docs(find("dialect.record", "Traits")[1])
    rows = (
        (
            f"[`{one.name}`]({one.name}.md)",
            prose(one.summary),
            *(reported(getattr(one.traits, trait)) for trait in meanings),
        )
        for one in OFFERED
    )
    legend = ((f"`{trait}`", meaning) for trait, meaning in meanings.items())
    return "\n\n".join(
        (
            "# Formats",
            table(("format", "what it is", *(f"`{trait}`" for trait in meanings)), rows),
            "The columns are the fields of `Traits`:",
            table(("trait", "meaning"), legend),
        )
    )


def dialect_page(dialect: AnyDialect) -> str:
    """Show one format, as it writes itself."""
    offered = {TOOL.name: TOOL}
    traits = [(field, getattr(dialect.traits, field)) for field in Traits.__dataclass_fields__]
    parts = [
        f"# `{dialect.name}`",
        f"{prose(dialect.summary[0].upper() + dialect.summary[1:])}.",
        about().get(dialect.name, ""),
        f"Aliases: {codes(dialect.aliases)}.",
        f"[Providers](../providers.md): {codes(row.name for row in OFFERED.providers if row.dialect == dialect.name)}.",
        "## One call",
        sample(lambda: dialect.calls(CALLS[:1], offered)),
        "## Two calls",
        sample(lambda: dialect.calls(CALLS, offered)) if dialect.traits.parallel else "A message holds one call.",
        "## Results",
        "One that succeeded:",
        sample(lambda: dialect.results(RESULTS[:1])),
        "And two, of which one failed:",
        sample(lambda: dialect.results(RESULTS)),
        "## Manifest",
        "What a model is shown of one tool:",
        fenced(manifest([TOOL], dialect=dialect, registry=OFFERED)),
        "## Traits",
        table(("trait", "value"), ((f"`{name}`", reported(value)) for name, value in traits)),
        "## Serving it",
        f"A server must keep: {codes(markers(dialect).keep)}. It may stop at: {codes(markers(dialect).stop)}.",
        f"Ids of its models: {codes(pattern for pattern, name in MODEL_PATTERNS if name == dialect.name)}.",
        "## Checked by",
        checked(dialect.name),
        speed(dialect.name),
        "## Sources",
        table(
            ("reference", "kind", "revision", "license"),
            ((prose(one.reference), one.kind, one.revision or "-", one.license or "-") for one in dialect.sources),
        ),
    ]
    if dialect.syntax is not None:
        described = "The description that the format is written and read by, as `toolfmt.dialect.records.load` takes:"
        parts += [
            "## Syntax",
            described,
            fenced(json.dumps(dump(dialect.syntax), indent=2, ensure_ascii=False), "json"),
        ]
    return "\n\n".join(filter(None, parts))


def checked(name: str) -> str:
    """Say on how many recorded answers a format is tested."""
    golden = Path(__file__).resolve().parents[1] / "tests" / "golden" / name / "cases.txt"
    own = golden.read_text("utf-8").count("\nsource: ") if golden.exists() else 0
    return (
        f"{own} answers of this format in the project's own tests and {fixtures()[name]} of the conformance suite "
        "canitoolcall, each whole and in pieces; the laws, on drawn calls; the calls of the Berkeley Function Calling "
        "Leaderboard."
    )


@cache
def fixtures() -> Counter[str]:
    """Count the recorded outputs of the conformance suite that each format reads as it expects."""
    odd = tomllib.loads((Path(__file__).resolve().parents[1] / "tests" / "wire" / "open.toml").read_text("utf-8"))
    return Counter(parse("", model=one.reference_model).dialect for one in load_fixtures() if one.id not in odd)


@cache
def about() -> dict[str, str]:
    """Give what is said of each format in its own module; a family shares it."""
    found: dict[str, str] = {}
    for file in sorted((PACKAGE / "dialects").glob("[a-z]*.py")):
        module = import_module(f"toolfmt.dialects.{file.stem}")
        for dialect in getattr(module, "DIALECTS", None) or (module.DIALECT,):
            found[dialect.name] = doc(source(f"dialects.{file.stem}"))
    return found


def sample(write: Callable[[], object]) -> str:
    """Show what a format writes, or why it cannot."""
    try:
        wire = write()
    except UnrepresentableError as error:
        return f"Not in this format: {error}."
    return fenced(wire) if isinstance(wire, str) else fenced(jsontext.dumps(wire, indent=2), "json")
