"""Runs an agent and kills its own process at one moment; the test resumes the state that it stored.

    python -m tests.execution.killed FOLDER MOMENT ANSWER

MOMENT is `ask` (while the approver's question is open), `policy` (while another policy decides) or the number of a
checkpoint, from 1.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import anyio

from toolfmt import ToolRegistry
from toolfmt.agents import AgentLoop, AgentState, TextDriver
from toolfmt.errors import DeferredCall
from toolfmt.execution import Approval


def registry(ran: Path) -> ToolRegistry:
    tools = ToolRegistry()

    def note(line: str) -> None:
        with ran.open("a") as file:
            file.write(f"{line}\n")

    @tools.register
    async def read(path: str) -> str:
        """Read a file."""
        note(f"read {path}")
        return f"what is in {path}"

    @tools.register(dangerous=True)
    async def delete(path: str) -> str:
        """Delete a file."""
        note(f"delete {path}")
        return f"deleted {path}"

    @tools.register
    async def order(item: str) -> str:
        """Order an item; somebody else answers."""
        note(f"order {item}")
        raise DeferredCall(f"ticket for {item}")

    return tools


def killed() -> Any:
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)


def main(folder: Path, moment: str, answer: str) -> None:
    saved = 0

    def save(state: AgentState) -> None:
        nonlocal saved
        saved += 1
        (folder / "new.json").write_text(json.dumps(state.to_json()))
        (folder / "new.json").replace(folder / "state.json")
        if moment == str(saved):
            killed()

    async def ask(_: Any) -> bool:
        if moment == "ask":
            await anyio.sleep(0.3)  # the other calls of the answer end meanwhile
            killed()
        return True

    async def policy(call: Any, _: Any) -> None:
        if moment == "policy" and call.name == "delete":
            await anyio.sleep(0.3)
            killed()

    tools = registry(folder / "ran")
    driver = TextDriver(lambda chat: answer if len(chat) < 3 else "Done.", dialect="hermes")
    loop = AgentLoop(driver, tools, policies=[Approval(ask), policy], checkpoint=save)
    loop.run_sync("Clean up.")
    (folder / "ended").touch()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
