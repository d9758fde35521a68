"""What the workers of one server share: the limits of keys, their figures, and how they are started."""

from __future__ import annotations

import os
import signal
from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest
from asking import chunk
from gateways import CALL, started
from loopback import serving
from rawserver import head, raw

PATH = "/v1/chat/completions"
CHAT = {"model": "m", "messages": [{"role": "user", "content": "Weather in Paris?"}]}


def test_limits_hold_over_all_workers_and_a_killed_one_holds_no_place(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ANN", "secret-of-ann")
    monkeypatch.setenv("BOB", "secret-of-bob")
    rules = '[keys.ann]\nkey_env = "ANN"\nrequests_per_minute = 1\n[keys.bob]\nkey_env = "BOB"\nconcurrent = 2\n'
    held = raw(lambda: iter([head(), chunk(content="Let me look.")]), hang=True)
    with held as upstream:
        config = tmp_path / "gateway.toml"
        config.write_text(f'{rules}[backs.it]\nurl = "{upstream.url}"\n[[routes]]\nbacks = ["it"]\n')
        with started(str(config), "--workers", "2") as (server, url), ExitStack() as stack:

            def status(key: str) -> int:
                asked = {"json": {**CHAT, "stream": True}, "headers": {"x-api-key": key}, "timeout": 300}
                return stack.enter_context(httpx2.stream("POST", url + PATH, **asked)).status_code

            assert sorted(status("secret-of-ann") for _ in range(12)) == [200] + [429] * 11
            assert sorted(status("secret-of-bob") for _ in range(12)) == [200] * 2 + [429] * 10
            for worker in Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split():
                if b"spawn_main" in Path(f"/proc/{worker}/cmdline").read_bytes():
                    os.kill(int(worker), signal.SIGKILL)
            assert [status("secret-of-bob") for _ in range(3)] == [200, 200, 429]


def test_workers_share_their_figures() -> None:
    with serving(CALL) as upstream, started("--upstream", f"{upstream.url}/v1", "--workers", "2") as (server, url):
        assert server.stderr is not None
        for _ in range(2):
            assert next(line for line in server.stderr if "startup complete" in line)
        assert [httpx2.post(url + PATH, json=CHAT).status_code for _ in range(6)] == [200] * 6
        figures = httpx2.get(f"{url}/metrics").text
    assert 'toolfmt_requests_total{back="upstream",face="openai-chat",key="",route="*",status="200"} 6.0' in figures


def test_workers_that_are_slow_to_start_are_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = "import sys, time\nif any('spawn_main' in word for word in sys.orig_argv):\n    time.sleep(7)\n"
    (tmp_path / "sitecustomize.py").write_text(slow)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    with started("--upstream", "http://127.0.0.1:9/v1", "--workers", "2") as (server, url):
        assert server.stderr is not None
        lines: list[str] = []
        while sum("startup complete" in line for line in lines) < 2:
            lines.append(next(server.stderr))
        assert httpx2.get(f"{url}/ready").status_code == 200
    assert not [line for line in lines if "died" in line]
