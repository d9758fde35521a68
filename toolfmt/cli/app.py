"""The commands by name; each is imported when it is run."""

from __future__ import annotations

from cyclopts import App

import toolfmt

app = App(
    "toolfmt",
    help="Show tools to a model, read its calls and write them, in every tool-call format.",
    version=lambda: toolfmt.__version__,
    result_action="return_value",
    # `main` says what is wrong, in the same way for every kind of mistake.
    print_error=False,
    exit_on_error=False,
)
for _name in ("manifest", "inject", "parse", "render", "dialects", "providers", "demo"):
    app.command(f"toolfmt.cli.{_name}:{_name}", name=_name)
