"""Gemini CLI on a scripted model that only writes text, through the gateway: it edits a file with three of its tools.

    python tests_clients/gemini.py       # installs @google/gemini-cli below tests_clients/ first; needs npm's registry

The model reads a file, replaces a line of it and runs a command, each by a call in hermes' format; what Gemini CLI then
does is real.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from scripted import call, install, model, run, say

VERSION = "0.61"
MODEL = "gemini-2.5-flash"
"""A model of its own by name: `auto` asks a model first which one to ask."""
SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "privacy": {"usageStatisticsEnabled": False},
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
    "tools": {"useRipgrep": False},
}


def main() -> None:
    """Run Gemini CLI once, and look at what it did."""
    program = os.environ.get("GEMINI") or str(install("@google/gemini-cli", VERSION))
    with tempfile.TemporaryDirectory() as folder:
        home, work = Path(folder) / "home", Path(folder) / "work"
        (home / ".gemini").mkdir(parents=True)
        work.mkdir()
        (home / ".gemini" / "settings.json").write_text(json.dumps(SETTINGS))
        note = work / "note.txt"
        note.write_text("one\ntwo\n")
        script = [
            call("read_file", file_path=str(note)),
            call("replace", file_path=str(note), instruction="Change it.", old_string="two", new_string="changed"),
            call("run_shell_command", command="cp note.txt copy.txt"),
            say("The file is changed."),
        ]
        with model(*script) as (upstream, url):
            address = {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": "none", "GEMINI_CLI_TRUST_WORKSPACE": "true"}
            printed = run([program, "-m", MODEL, "--yolo", "-p", "Change note.txt."], work, HOME=str(home), **address)
        assert note.read_text() == (work / "copy.txt").read_text() == "one\nchanged\n"
        assert "The file is changed." in printed
        said = [asked.body["messages"][-1]["content"] for asked in upstream.requests]
        assert "one\ntwo" in said[1], said
    print(f"Gemini CLI {VERSION}: the file is changed, by {len(upstream.requests)} requests of the gateway")


if __name__ == "__main__":
    main()
