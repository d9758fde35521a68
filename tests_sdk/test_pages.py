"""The blocks about SDKs in the pages run as they stand there, against a local server."""

from __future__ import annotations

import gc
import re
from pathlib import Path
from typing import Any

import pytest
from loopback import Answer, serving

from toolfmt.conversation import CallPart

PAGE = Path(__file__).resolve().parents[1] / "docs" / "how-to" / "use-a-provider.md"
BLOCKS = re.findall(r"^```py\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
CALL = Answer(calls=(CallPart("weather", {"city": "Paris"}, id="a1"),))


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_a_block_runs(block: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(CALL, Answer("18 C.")) as server:
        for name, path in {"OPENAI": "/v1", "ANTHROPIC": "", "GOOGLE_GEMINI": ""}.items():
            monkeypatch.setenv(f"{name}_BASE_URL", server.url + path)
        for name in ("OPENAI", "ANTHROPIC", "GEMINI"):
            monkeypatch.setenv(f"{name}_API_KEY", "none")
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        names: dict[str, Any] = {}
        exec(compile(block, str(PAGE), "exec"), names)  # noqa: S102 - the page's own code
    if "run_sync" in block:
        assert capsys.readouterr().out == "18 C.\n"
        assert len(server.requests) == 2
    names.clear()  # a page closes no client: what that warns of is let pass here
    gc.collect()
