"""A model's folder, by path or by the model's name in the cache of Hugging Face, and variables of its template.

~/.cache/huggingface/hub/models--Qwen--Qwen3-8B/
refs/main                   1234abcd
snapshots/1234abcd/         tokenizer_config.json, ...

`--set enable_thinking=true --set name=Ada` sets variables.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

from cyclopts import Parameter

from toolfmt import jsontext
from toolfmt.cli.output import UsageError
from toolfmt.errors import ParseError, UnknownDialectError
from toolfmt.lookup.registry import default_registry

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue

Variables: TypeAlias = Annotated[
    tuple[str, ...], Parameter(name="--set", help="A variable of the template, NAME=VALUE; the value is JSON or text.")
]


def model_folder(name: str) -> Path:
    """Find a folder or file by its path, or a model's folder by its name; nothing is downloaded."""
    path = Path(name)
    if path.exists():
        return path
    home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface")
    cache = Path(os.environ.get("HF_HUB_CACHE") or home / "hub")
    kept = cache / f"models--{name.replace('/', '--')}"
    found = _snapshot(kept) if ".." not in name else None
    if found is not None:
        return found
    raise UsageError(
        f"{name}: there is no such file or folder, and no model of that name in {cache}: give the folder that holds "
        f"its tokenizer_config.json{_known(name)}"
    )


def _snapshot(kept: Path) -> Path | None:
    """Return the snapshot that `main` points to, else the newest."""
    reference = kept / "refs" / "main"
    if reference.is_file():
        current = kept / "snapshots" / reference.read_text("utf-8").strip()
        if current.is_dir():
            return current
    snapshots = [one for one in (kept / "snapshots").glob("*") if one.is_dir()]
    return max(snapshots, key=lambda one: one.stat().st_mtime, default=None)


def _known(name: str) -> str:
    try:
        dialect = default_registry().resolve(model=name).name
    except UnknownDialectError:
        return ""
    return f" (its dialect is {dialect}: toolfmt dialects show {dialect})"


def variables(settings: tuple[str, ...]) -> JsonObject:
    """Read NAME=VALUE."""
    found: JsonObject = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name:
            raise UsageError(f"--set takes NAME=VALUE, not {setting!r}")
        found[name] = _value(value)
    return found


def _value(text: str) -> JsonValue:
    try:
        return jsontext.loads(text)
    except ParseError:
        return text
