"""llm-comply, which tests servers against five APIs' own descriptions, on the faces of the gateway.

    pip install llm-comply && python tests_clients/comply.py

What cannot pass is named in `EXPECTED`, with the reason.
"""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests_sdk"))

gateways: Any = import_module("gateways")
loopback: Any = import_module("loopback")

VERSION = "0.5.0"
FACES = {
    "openai-chat": "/v1",
    "open-responses": "/v1",
    "anthropic": "/v1",
    "google-genai": "",
    "google-interactions": "",
}
"""The formats of llm-comply, and what a base address ends with."""
EXPECTED = {"Thinking Config": "the model of the Chat Completions back gives no thoughts here"}


class Model(loopback.Loopback):  # type: ignore[misc]
    """A model that calls the first tool once, and else says hello."""

    async def answer(self, request: Any) -> Any:
        """Answer one request."""
        body = json.loads(await request.body() or "null")
        tools, called = body.get("tools"), any(one["role"] == "tool" for one in body["messages"])
        said = loopback.Answer("Hello there.")
        if tools and not called:
            function = tools[0]["function"]
            wanted = (function.get("parameters") or {}).get("required", [])
            call = import_module("toolfmt.conversation").CallPart
            value = dict.fromkeys(wanted, "Paris")
            said = loopback.Answer("", (call(function["name"], value, json.dumps(value), id="call_1"),))
        self.script = [said]
        return await super().answer(request)


def main() -> None:
    """Test every face."""
    program = Path(sys.executable).with_name("llm-comply")
    failed: list[str] = []
    made = loopback.SCRIPTS["comply"] = Model([], f"{loopback._started()}/comply")  # noqa: SLF001 - its own server
    with gateways.gateway(gateways.before(made, "openai-chat")) as url:
        for face, path in FACES.items():
            command = [str(program), "--format", face, "-u", url + path, "-k", "none", "-m", "m", "--json"]
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)  # noqa: S603 - llm-comply
            rows = json.loads(done.stdout)["results"]
            failed += [f"{face}: {one['name']}: {one['errors']}" for one in rows if _failed(one)]
            print(f"llm-comply {VERSION}, {face}: {sum(not _failed(one) for one in rows)} of {len(rows)}")
    if failed:
        sys.exit("\n".join(failed))


def _failed(row: dict[str, Any]) -> bool:
    return row["status"] == "failed" and row["name"] not in EXPECTED


if __name__ == "__main__":
    main()
