"""simonw's `llm`, on a scripted model that only writes text, through the gateway: it calls a Python function.

pip install llm && python tests_clients/llm_cli.py
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from scripted import call, model, say

FUNCTION = 'def multiply(a: int, b: int) -> int:\n    "Multiply two numbers."\n    return a * b\n'


def main() -> None:
    """Ask once with a function, whole and streamed, and look at what came of it."""
    program = Path(sys.executable).with_name("llm")
    for further in ([], ["--no-stream"]):
        script = [call("multiply", a=6, b=7), say("It is forty-two.")]
        with tempfile.TemporaryDirectory() as folder, model(*script) as (upstream, url):
            row = f"- model_id: m\n  model_name: m\n  api_base: {url}/v1\n  supports_tools: true\n"
            (Path(folder) / "extra-openai-models.yaml").write_text(row)
            done = subprocess.run(  # noqa: S603 - llm
                [str(program), "-m", "m", "--functions", FUNCTION, *further, "What is 6 times 7?"],
                env={**os.environ, "LLM_USER_PATH": folder, "OPENAI_API_KEY": "none"},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
        assert done.returncode == 0, done.stderr
        assert done.stdout.strip() == "It is forty-two.", done.stdout
        assert "42" in json.dumps(upstream.requests[1].body["messages"][-1])
        print(f"llm {' '.join(further)}: the function was called, its result was sent")


if __name__ == "__main__":
    main()
