"""Codex CLI on a scripted model that only writes text, through the gateway: it edits a file with its own tool.

    python tests_clients/codex.py        # installs @openai/codex below tests_clients/ first; needs npm's registry

The model is shown Codex's tools in its prompt and calls one in hermes' format; what Codex then does is real.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from scripted import call, install, model, run, say

VERSION = "0.169"
COMMAND = "echo changed > note.txt"


def main() -> None:
    """Run Codex once, and look at what it did."""
    program = os.environ.get("CODEX") or str(install("@openai/codex", VERSION))
    script = [call("exec_command", cmd=COMMAND), say("The file is changed.")]
    with tempfile.TemporaryDirectory() as folder, model(*script) as (upstream, url):
        home, work = Path(folder) / "home", Path(folder) / "work"
        home.mkdir()
        work.mkdir()
        (home / "config.toml").write_text(
            'model = "scripted"\nmodel_provider = "toolfmt"\n[model_providers.toolfmt]\nname = "toolfmt"\n'
            f'base_url = "{url}/v1"\nwire_api = "responses"\n'
        )
        command = [program, "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
        printed = run([*command, "Change note.txt."], work, CODEX_HOME=str(home))
        assert (work / "note.txt").read_text() == "changed\n"
        assert "The file is changed." in printed
    print(f"Codex {VERSION}: the file is changed, by {len(upstream.requests)} requests of the gateway")


if __name__ == "__main__":
    main()
