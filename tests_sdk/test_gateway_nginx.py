"""The example's nginx before a gateway with two workers: streams are not buffered, and nothing is refused or cut."""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import httpx2
import pytest
from gateways import CALL, by_anthropic, by_chat, started
from loopback import serving
from openai import OpenAI
from rawserver import head, raw
from test_gateway_faults import ASKS, BEGUN, ENDED

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "gateway" / "nginx.conf"
pytestmark = [
    pytest.mark.skipif(shutil.which("nginx") is None, reason="nginx is missing: apt-get install nginx-light"),
    pytest.mark.filterwarnings("ignore:connect.. must be used:DeprecationWarning"),  # by openai's SDK
]


@contextmanager
def nginx(folder: Path, gateway: str) -> Iterator[str]:
    """Run nginx with the example's file, in which only the two addresses are others."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    text = EXAMPLE.read_text("utf-8")
    for said, here in (("gateway:8787", gateway.removeprefix("http://")), ("listen 80;", f"listen 127.0.0.1:{port};")):
        assert text.count(said) == 1
        text = text.replace(said, here)
    (folder / "default.conf").write_text(text, "utf-8")
    places = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "".join(f"{name}_temp_path {folder / name};" for name in places)
    whole = (
        f"pid {folder / 'pid'}; events {{}} http {{ access_log off; {temporary} include {folder / 'default.conf'}; }}"
    )
    (folder / "nginx.conf").write_text(whole, "utf-8")
    command = ["nginx", "-p", str(folder), "-e", str(folder / "errors.log"), "-c", str(folder / "nginx.conf")]
    with subprocess.Popen([*command, "-g", "daemon off;"]) as server:
        try:
            url = f"http://127.0.0.1:{port}"
            while True:
                try:
                    assert httpx2.get(f"{url}/health", timeout=60).status_code == 200
                    break
                except httpx2.ConnectError:
                    assert server.poll() is None, (folder / "errors.log").read_text()
            yield url
        finally:
            server.terminate()


@contextmanager
def both(folder: Path, upstream: str) -> Iterator[str]:
    """Run a gateway with two workers, and nginx before it."""
    with started("--upstream", upstream, "--workers", "2") as (_, gateway), nginx(folder, gateway) as url:
        yield url


def test_clients_work_through_nginx(tmp_path: Path) -> None:
    with serving(CALL) as upstream, both(tmp_path, f"{upstream.url}/v1") as url:
        for ask in (by_chat, by_anthropic):
            for stream in (False, True):
                assert ask(url, stream=stream) == ("Let me look.", [("look", {"city": "Zürich"})])
        large: Any = [{"role": "user", "content": "x" * 8_000_000}]  # nginx's own limit is 1 MB
        with OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
            assert client.chat.completions.create(model="m", messages=large).choices
            with client.responses.connect(max_retries=0) as connection:
                connection.response.create(model="m", input="Weather?")
                *_, last = iter(lambda: connection.recv().type, "response.completed")
            assert last == "response.output_item.done"


def test_a_stream_comes_through_nginx_as_it_is_written(tmp_path: Path) -> None:
    go_on = Event()
    path, body = ASKS["openai-chat"]

    def answer() -> Iterator[bytes]:
        yield head()
        yield BEGUN
        assert go_on.wait(60)
        yield ENDED

    with (
        raw(answer) as upstream,
        both(tmp_path, upstream.url) as url,
        httpx2.stream("POST", url + path, json={**body, "stream": True}, timeout=60) as response,
    ):
        pieces = response.iter_text()
        first = ""
        while "Let me look." not in first:
            first += next(pieces)
        assert "[DONE]" not in first
        go_on.set()
        assert "[DONE]" in "".join(pieces)


def test_a_client_that_leaves_nginx_leaves_the_upstream(tmp_path: Path) -> None:
    path, body = ASKS["openai-chat"]
    with raw(lambda: iter([head(), BEGUN]), hang=True) as upstream, both(tmp_path, upstream.url) as url:
        with httpx2.stream("POST", url + path, json={**body, "stream": True}, timeout=60) as response:
            pieces = response.iter_text()  # which hangs up when it is collected
            assert next(pieces)
            assert not upstream.left.is_set()
        assert upstream.left.wait(30)
