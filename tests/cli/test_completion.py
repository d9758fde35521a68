"""Shell completion is installed by one command, and knows the commands and their options."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., tuple[int, str, str]]


def test_completion_is_installed_by_one_command(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert run("--install-completion", "--shell", "bash", "--output", tmp_path / "completion")[0] == 0
    script = (tmp_path / "completion").read_text("utf-8")
    assert all(word in script for word in ("manifest", "mcp-serve", "--dialect", "--on-error"))
