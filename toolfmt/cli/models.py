"""Where a model's folder is: at a path, or in the cache of Hugging Face under the model's name.

~/.cache/huggingface/hub/models--Qwen--Qwen3-8B/
refs/main                   1234abcd
snapshots/1234abcd/         tokenizer_config.json, ...
"""

from __future__ import annotations

import os
from pathlib import Path

from toolfmt.cli.errors import UsageError
from toolfmt.errors import UnknownDialectError
from toolfmt.lookup.registry import default_registry


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
    """Give the snapshot that `main` points to, else the newest."""
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
