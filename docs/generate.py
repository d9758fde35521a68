"""Writes `docs/reference/` from the package itself.

    python docs/generate.py            # write the pages
    python docs/generate.py --check    # only tell whether they are up to date: exit code 1 if not

What a format looks like on the wire is written by the format, what a name means
by its docstring, what a command takes by its help. Needs the extra `test`.
"""  # noqa: INP001 - a script

from __future__ import annotations

import ast
import json
import sys
from inspect import cleandoc
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Final, get_args

from blocks import codes, fenced, table
from formats import OFFERED, dialect_page, dialect_table
from gateway import gateway_page
from gateway_matrix import conversations_page
from gateway_speed import gateway_speed_page
from growth import growth_section
from json_output import SHAPES, schema
from matrix import matrix_chart, matrix_page
from names import doc, interface_pages, source
from speeds import speed_chart, speed_page

from toolfmt import errors
from toolfmt.lookup import providers
from toolfmt.transcripts import check
from toolfmt.transcripts.comparing import loss

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cyclopts import App

PLACE: Final = Path(__file__).resolve().parent / "reference"
MADE: Final = "<!-- Written by docs/generate.py from the package: a change made here is lost. -->\n"
HELP_WIDTH: Final = 100


def pages() -> dict[str, str]:
    """Make every page and chart: its path below `docs/reference/` and its text."""
    made = {
        "dialects/index.md": dialect_table(),
        "providers.md": provider_page(),
        "losses.md": loss_page(),
        "matrix.md": matrix_page(),
        "errors.md": error_page(),
        "cli.md": cli_page(),
        "json-output.md": json_page(),
        "gateway.md": gateway_page(),
        "gateway-conversations.md": conversations_page(),
        "gateway-speed.md": gateway_speed_page(),
        "speed.md": f"{speed_page()}\n\n{growth_section()}",
    }
    made |= {"speed.svg": speed_chart(), "matrix.svg": matrix_chart()}
    made |= interface_pages()
    made |= {f"dialects/{dialect.name}.md": dialect_page(dialect) for dialect in OFFERED}
    return {path: f"{MADE}\n{text.strip()}\n" for path, text in made.items()}


_CHOICE = """\
Without a choice, tools and calls are written in {}, and `parse` finds the format in the text.
A name that is not listed raises `UnknownDialectError`.

If you also give `model`, its format is used instead of the provider's, if the id is known.

Some dialects have an alias that is also a provider's name, because servers give their parsers such names:
`dialect="openai"` is {}, and `provider="openai"` means the format for OpenAI's API."""


def provider_page() -> str:
    """Show the tables of `toolfmt.lookup.providers`."""
    known = {providers.MODEL_PATTERNS: "by [any known id](#models)", providers.OPEN_MODELS: "by open weights' ids"}
    rows = (
        (
            f"`{row.name}`",
            row.summary,
            codes(row.aliases, "-"),
            linked(row.dialect),
            known.get(row.models, codes(pattern for pattern, _ in row.models)) if row.models else "-",
            f"`{row.api}`" if row.api else "-",
        )
        for row in sorted(OFFERED.providers, key=lambda row: row.name)
    )
    models = ((f"`{pattern}`", linked(dialect)) for pattern, dialect in OFFERED.models)
    matching = cleandoc(providers.match_model.__doc__ or "")
    return "\n\n".join(
        (
            "# Providers",
            _CHOICE.format(linked(providers.DEFAULT_DIALECT), linked("harmony")),
            f"With `use_xml=True`: {linked(providers.XML_DIALECT)}.",
            table(("provider", "what it is", "aliases", "format", "exceptions by model", "API"), rows),
            "The API is the name of the transcript format that the provider itself speaks.",
            "## Models",
            "The format of a model whose id is all that is known. The first pattern that matches decides.",
            table(("pattern", "format"), models),
            matching,
        )
    )


def linked(dialect: str) -> str:
    """Link to a format's page."""
    return f"[`{dialect}`](dialects/{dialect}.md)"


def error_page() -> str:
    """Show the tree of exceptions, and each in a line."""
    first, tree, rest = cleandoc(errors.__doc__ or "").split("\n\n", 2)
    homes = ("errors", "events", "execution.records", "agents.state")
    nodes = (node for home in homes for node in source(home).body if isinstance(node, ast.ClassDef))
    found = [node for node in nodes if node.name.endswith("Error")]
    rows = ((f"`{node.name}`", codes(map(ast.unparse, node.bases)), doc(node).split("\n")[0]) for node in found)
    more = (
        "Arguments and attributes are in the Python interface: [exceptions](python/errors.md), "
        "[running calls](python/execution.md) and [agents](python/agents.md)."
    )
    return "\n\n".join(("# Errors", first, fenced(cleandoc(tree)), rest, more, table(("name", "is a", "what"), rows)))


def loss_page() -> str:
    """Show the codes of losses and the rules of findings."""
    return "\n\n".join(
        (
            "# Losses and findings",
            (
                "The values of `Loss.code`. `Loss.action` is one of "
                f"{codes(get_args(loss.Action))}, and `Loss.path` the JSON pointer of the source's message or field. "
                "`Loss.severity` says how much it matters: `strict=True` raises for content and meaning, and "
                "bookkeeping losses are in `Conversion.bookkeeping` instead of `Conversion.losses`."
            ),
            table(
                ("code", "what is lost or changed", "severity"),
                ((f"`{code}`", what, loss.SEVERITIES[code]) for code, what in loss.CODES.items()),
            ),
            "[What survives a conversion](matrix.md) shows which of them to expect between which formats.",
            "## Findings",
            "The values of `Finding.rule`.",
            table(("rule", "what is refused"), ((f"`{rule}`", what) for rule, what in check.RULES.items())),
        )
    )


def cli_page() -> str:
    """Show each command's help as it is printed."""
    from toolfmt.cli.app import app_with_completion

    install = (
        "Installed with `pip install -e '.[cli]'` from a checkout. What `--json` prints: [schemas](json-output.md)."
    )
    return "\n\n".join(("# Command line", install, *command_help(app_with_completion(), ())))


def json_page() -> str:
    """Show the JSON Schema of what each command prints with `--json`."""
    intro = "The JSON Schema of what each command prints. Values that are printed one a line are JSON Lines."
    parts = ["# JSON output", intro]
    for command, (_, how) in SHAPES.items():
        parts += [f"## `toolfmt {command}`", f"Printed {how}:" if how else "One value:"]
        parts.append(fenced(json.dumps(schema(command), indent=1, ensure_ascii=False), "json"))
    return "\n\n".join(parts)


def command_help(app: App, path: tuple[str, ...]) -> Iterator[str]:
    """Print a command's help, and that of its subcommands."""
    from rich.console import Console

    text = StringIO()
    console = Console(file=text, width=HELP_WIDTH, force_terminal=False, color_system=None, legacy_windows=False)
    app.help_print(list(path), console=console)
    yield f"## `{' '.join(('toolfmt', *path))}`"
    yield fenced("\n".join(line.rstrip() for line in text.getvalue().strip().splitlines()))
    here = app
    for name in path:
        here = here[name]
    for name in here:
        if not name.startswith("-"):
            yield from command_help(app, (*path, name))


def is_made(page: Path) -> bool:
    """Tell whether a file is one of these pages, perhaps of an earlier version."""
    return page.read_text(encoding="utf-8").startswith(MADE)


def stale(made: Mapping[str, str]) -> list[Path]:
    """Find the pages that are missing, differ, or are of something that is no more."""
    wanted = {PLACE / path: text for path, text in made.items()}
    there = [page for kind in ("*.md", "*.svg") for page in PLACE.rglob(kind) if page in wanted or is_made(page)]
    same = {page for page in there if page.read_text(encoding="utf-8") == wanted.get(page)}
    return sorted({*wanted, *there} - same)


def write(made: Mapping[str, str]) -> None:
    """Write the pages that are stale, and remove those of something that is no more."""
    for page in stale(made):
        text = made.get(page.relative_to(PLACE).as_posix())
        if text is None:
            page.unlink()
        else:
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(text, encoding="utf-8", newline="\n")


def main(arguments: Sequence[str]) -> int:
    """Write the pages or, with `--check`, say which are stale; the exit code."""
    made = pages()
    if list(arguments) == ["--check"]:
        found = stale(made)
        for page in found:
            sys.stderr.write(f"stale: docs/reference/{page.relative_to(PLACE).as_posix()}\n")
        return 1 if found else 0
    if arguments:
        sys.stderr.write("usage: python docs/generate.py [--check]\n")
        return 2
    write(made)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
