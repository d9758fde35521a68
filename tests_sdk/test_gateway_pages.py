"""What the gateway's pages show is run: every file by a gateway, every command that needs no model and no registry."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest
from gateways import started
from loopback import Answer, Loopback, serving
from tokenizers import Tokenizer
from tokenizers.models import WordLevel

DOCS = Path(__file__).resolve().parents[1] / "docs"
BLOCK = re.compile(r"^```(sh|toml)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LEFT_OUT = {
    "pip install": "a package index is needed; .ci/run runs the README's lines",
    "npm install": "npm's registry is needed; tests_clients/codex.py runs it",
    "CODEX_HOME=": "Codex is needed; tests_clients/codex.py runs it",
    "llama-server": "a model is needed; a server on loopback is in its place here",
    "GATEWAY_KEY=": "Docker is needed; test_gateway_nginx.py runs nginx's part of it",
    "OTEL_SERVICE_NAME=": "an exporter is needed; test_gateway_traces.py looks at the spans",
}
"""Why a command is not run, by how it begins."""
KEYS = {"ANNS_KEY": "ann's", "ANTHROPIC_API_KEY": "none"}
PART = '[backs.local]\nurl = "http://127.0.0.1:8080/v1"\n[[routes]]\nbacks = ["local"]\n'
"""What a file that the page shows a part of also says."""
UPSTREAM, GATEWAY = "http://127.0.0.1:8080", "http://127.0.0.1:8787"


def commands(text: str) -> list[str]:
    """Split a block into its commands: a line, or several that backslashes join."""
    lines = text.replace("\\\n", " ").splitlines()
    return [line.partition("   #")[0].strip() for line in lines if line.strip()]


class Page:
    """Runs a page's blocks from its beginning to its end; a gateway runs until the next one begins."""

    def __init__(self, folder: Path, upstream: Loopback) -> None:
        """Work in a folder."""
        self.folder, self.upstream, self.url = folder, upstream, ""
        self.stack = ExitStack()
        self.ran: list[str] = []

    def toml(self, text: str) -> None:
        if "model_providers" in text:  # Codex's own
            return
        whole = text if "[backs." in text else text + PART
        (self.folder / "gateway.toml").write_text(whole.replace(UPSTREAM, self.upstream.url), "utf-8")
        self.serve("gateway.toml")

    def serve(self, *arguments: str) -> None:
        self.stack.close()
        _, self.url = self.stack.enter_context(started(*arguments))
        body = {"model": "qwen3", "messages": [{"role": "user", "content": "Weather?"}]}
        headers = {"authorization": f"Bearer {KEYS['ANNS_KEY']}"}
        response = httpx2.post(f"{self.url}/v1/chat/completions", json=body, headers=headers, timeout=60)
        assert response.json()["choices"][0]["message"]["content"] == "It rains.", (arguments, response.text)

    def sh(self, text: str) -> None:
        for command in commands(text):
            if any(command.startswith(start) for start in LEFT_OUT):
                continue
            self.ran.append(command)
            here = command.replace(UPSTREAM, self.upstream.url).replace(GATEWAY, self.url)
            if here.startswith("toolfmt serve"):
                self.serve(*shlex.split(here)[2:])
                continue
            done = subprocess.run(["/bin/sh", "-c", here], capture_output=True, text=True, check=False)
            assert done.returncode == 0, (command, done.stderr)
            if ">" not in command and "--out" not in command:
                assert "It rains." in done.stdout, (command, done.stdout)


@pytest.mark.parametrize(
    ("page", "count"), [("tutorials/codex.md", 3), ("how-to/run-a-gateway.md", 5)], ids=["codex", "run a gateway"]
)
def test_what_a_page_shows_runs(page: str, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bin" / "toolfmt"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m toolfmt "$@"\n', "utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Qwen3-8B").mkdir()
    Tokenizer(WordLevel({"[UNK]": 0}, unk_token="[UNK]")).save(str(tmp_path / "Qwen3-8B" / "tokenizer.json"))  # noqa: S106 - no secret
    with serving(Answer("It rains.")) as upstream:
        shown = Page(tmp_path, upstream)
        with shown.stack:
            for kind, text in BLOCK.findall((DOCS / page).read_text("utf-8")):
                getattr(shown, kind)(text)
    assert len(shown.ran) == count, shown.ran
