"""The example of a local model, without its weights: a model that writes any bytes which the grammar lets through."""

from __future__ import annotations

import json
import random
import runpy
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import IPPROTO_TCP, TCP_NODELAY
from threading import Thread
from typing import Any

import llguidance
import pytest
import uvicorn
from gateways import gateway

from toolfmt.gateway.config import Config
from toolfmt.gateway.loading import load_config

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "local-model"
TOKENS = llguidance.LLTokenizer("byte")


def write(messages: list[Any], grammar: str | None, most: int) -> Iterator[tuple[str, str | None]]:
    """Write by chance, and close what is open."""
    assert grammar is not None
    assert "get_weather" in messages[0]["content"]
    found, chance = llguidance.LLMatcher(TOKENS, grammar), random.Random(1)  # noqa: S311 - no secret
    assert not found.is_error(), found.get_error()
    for at in range(most):
        if found.is_stopped():
            break
        mask = found.compute_bitmask()
        able = [byte for byte in range(128) if mask[byte // 8] >> (byte % 8) & 1 and (byte == 10 or byte >= 32)]
        closers = [byte for byte in able if byte in b'"}']
        byte = closers[0] if closers and at % 3 == 0 else chance.choice(able)
        assert found.consume_token(byte)
        yield chr(byte), None
    yield "", "stop" if found.is_stopped() else "length"


@contextmanager
def served() -> Iterator[str]:
    app = runpy.run_path(str(EXAMPLE / "server.py"))["make_app"](write, "smollm2-135m-instruct")
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="critical"))
    listener = server.config.bind_socket()
    listener.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
    thread = Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.005)
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    server.should_exit = True
    thread.join()


def test_a_client_gets_a_valid_call_while_it_is_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = load_config(EXAMPLE / "gateway.toml").model_dump()
    with served() as upstream:
        rules["backs"]["local"]["url"] = upstream
        with gateway(Config.model_validate(rules)) as url:
            monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
            runpy.run_path(str(EXAMPLE / "client.py"))["main"]()
    name, *pieces, ended = capsys.readouterr().out.splitlines()
    assert (name, ended) == ("get_weather", "(tool_calls)")
    arguments = json.loads("".join(pieces))
    assert set(arguments) == {"city", "unit"}
    assert arguments["unit"] in {"celsius", "fahrenheit"}
    assert len(pieces) > 5
