"""A gateway that is attacked, by clients and by upstreams: memory is bounded, others are served, keys stay secret."""

from __future__ import annotations

import json
import resource
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from threading import Thread, current_thread
from typing import Any

import httpx2
import pytest
from gateways import gateway
from rawserver import head, raw
from test_gateway_faults import ASKS, BEGUN, ENDED, chunk, one
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from toolfmt.errors import LimitExceededError
from toolfmt.gateway.threads import decode
from toolfmt.transcripts.answering.failures import read_error
from toolfmt.transcripts.convert import convert_request
from toolfmt.transcripts.convert_answer import converted_answer

PATHS = [path.format(verb="generateContent") for path, _ in ASKS.values()]
MEGABYTE = 2**20
HEAD = b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n"
KEYS = {"BACK_KEY": "sk-of-the-back-0123456789", "DOOR_KEY": "sk-of-the-door-0123456789"}


@dataclass
class Process:
    """A gateway in a process of its own."""

    url: str
    pid: int
    log: list[str]

    def peak(self) -> int:
        """Give the most memory that it has had, in MB."""
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) // 1024

    def connect(self) -> socket.socket:
        host, port = self.url.removeprefix("http://").split(":")
        return socket.create_connection((host, int(port)), timeout=30)


@contextmanager
def process(folder: Path, upstream: str, *rules: str, back: str = "", files: int = 0) -> Iterator[Process]:
    """Start one; `files` limits its connections."""
    config = folder / "gateway.toml"
    config.write_text("\n".join([*rules, "[backs.it]", f'url = "{upstream}"', back, "[[routes]]", 'backs = ["it"]']))
    command = [sys.executable, "-m", "toolfmt", "serve", str(config), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        line = next(line for line in server.stderr if '"url"' in line)
        if files:
            resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (files, files))
        made = Process(json.loads(line)["url"], server.pid, [])
        reader = Thread(target=made.log.extend, args=(server.stderr,), daemon=True)
        reader.start()
        try:
            yield made
        finally:
            server.terminate()
            server.wait(30)
            reader.join()


HOSTILE = {
    "deep lists": b"[" * 200_000,
    "deep objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "deep in its place": b'{"model": "m", "messages": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "a huge number": b'{"model": "m", "seed": ' + b"9" * MEGABYTE + b"}",
    "half a surrogate": b'{"model": "\\ud800"}',
    "no UTF-8": b'{"model": "\xff"}',
    "not a number": b'{"model": "m", "temperature": NaN}',
    "a key twice": b'{"model": "m", "model": "n"}',
    "too much": b" " * (3 * MEGABYTE),
    "many values": b'{"model": "m", "messages": [' + b"{}," * 600_000 + b"{}]}",
    "a text of quotes that does not end": b'{"model": "' + b'\\",' * 600_000,
}


def test_hostile_requests_are_refused_and_take_no_memory(tmp_path: Path) -> None:
    with (
        raw(lambda: iter([head(), ENDED])) as upstream,
        process(tmp_path, upstream.url, f"max_body = {2 * MEGABYTE}") as server,
    ):
        before = server.peak()
        for body in HOSTILE.values():
            for path in PATHS:
                response = httpx2.post(server.url + path, content=body, timeout=60)
                assert response.status_code in {400, 413}, (path, body[:40], response.text[:200])
                assert read_error(response.json()).message
        with server.connect() as client, pytest.raises(ConnectionError):
            client.sendall(HEAD + b"".join(b"x-%d: %b\r\n" % (at, b"y" * 1000) for at in range(50_000)))
        assert server.peak() - before < 64
        assert httpx2.get(f"{server.url}/health").status_code == 200


def test_a_body_that_does_not_end_is_given_up(tmp_path: Path) -> None:
    with (
        raw(lambda: iter([head(), ENDED])) as upstream,
        process(tmp_path, upstream.url, "body_timeout = 0.3") as server,
        server.connect() as client,
    ):
        client.sendall(HEAD + b"content-length: 1000\r\n\r\n{")
        assert client.recv(MEGABYTE).startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize("sent", [b"", b"POST /v1/chat/completions HTTP/1.1\r\nhost:"], ids=["nothing", "half a head"])
def test_a_head_that_does_not_end_is_given_up(sent: bytes) -> None:
    with raw(lambda: iter([head(), ENDED])) as upstream:
        config = one(upstream).model_copy(update={"body_timeout": 0.3})
        with gateway(config) as url, socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2]))) as client:
            client.settimeout(30)
            client.sendall(sent)
            assert client.recv(MEGABYTE) == b""


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({"content": b"x", "headers": {"content-encoding": "gzip"}}, "Content-Encoding"),
        ({"json": {**ASKS["openai-chat"][1], "stream": "yes"}}, "true or false"),
        ({"json": {**ASKS["openai-chat"][1], "stream": 1}}, "true or false"),
        ({"json": {**ASKS["openai-chat"][1], "model": "m" * 201}}, "200 printable"),
        ({"json": {**ASKS["openai-chat"][1], "model": "m\0"}}, "200 printable"),
        ({"json": {**ASKS["openai-chat"][1], "model": ".."}}, "200 printable"),
    ],
)
def test_a_request_that_says_nothing_clear_is_refused(sent: dict[str, Any], message: str) -> None:
    with raw(lambda: iter([head(), ENDED])) as upstream, gateway(one(upstream)) as url:
        response = httpx2.post(f"{url}/v1/chat/completions", **sent)
        assert (response.status_code, message in response.text) == (400, True)
        assert not upstream.asked.is_set()


PAGES = {"https://example.com": 403, "null": 403, "http://[": 403, "http://localhost:3000": 200, "http://[::1]": 200}


@pytest.mark.parametrize("origin", PAGES)
def test_pages_of_other_machines_may_not_ask_a_gateway_without_keys(
    origin: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, body = ASKS["anthropic"]
    page = {"origin": origin}
    with raw(lambda: iter([head(), BEGUN, ENDED])) as upstream:
        with gateway(one(upstream)) as url:
            assert httpx2.post(url + path, json={**body, "stream": True}, headers=page).status_code == PAGES[origin]
            place = f"{url.replace('http', 'ws')}/v1/responses"
            refused = pytest.raises(InvalidStatus) if PAGES[origin] == 403 else nullcontext()
            with refused, connect(place, additional_headers=page):
                pass
        monkeypatch.setenv("GATEWAY_KEY", "secret")
        with gateway(one(upstream).model_copy(update={"key_env": "GATEWAY_KEY"})) as url:
            key = {"x-api-key": "secret", **page}
            assert httpx2.post(url + path, json={**body, "stream": True}, headers=key).status_code == 200


def test_a_large_request_keeps_no_other_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is converted in a thread of its own."""
    seen: list[str] = []

    def converted(*arguments: Any, **options: Any) -> Any:
        seen.append(current_thread().name)
        return convert_request(*arguments, **options)

    monkeypatch.setattr("toolfmt.gateway.handling.convert_request", converted)
    path, body = ASKS["anthropic"]
    with raw(lambda: iter([head(), BEGUN, ENDED])) as upstream, gateway(one(upstream)) as url:
        for text in ("small", "large" * MEGABYTE):
            asked = {**body, "stream": True, "messages": [{"role": "user", "content": text}]}
            assert httpx2.post(url + path, json=asked).status_code == 200
    assert ["AnyIO" in name for name in seen] == [False, True]


def test_a_large_answer_keeps_no_other_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def converted(*arguments: Any, **options: Any) -> Any:
        seen.append(current_thread().name)
        return converted_answer(*arguments, **options)

    monkeypatch.setattr("toolfmt.gateway.exchange.converted_answer", converted)
    texts = iter(["small", "large" * MEGABYTE])

    def answer() -> Iterator[bytes]:
        choice = {"index": 0, "message": {"role": "assistant", "content": next(texts)}, "finish_reason": "stop"}
        yield head(b"200 OK", b"application/json")
        yield json.dumps({"choices": [choice]}).encode()

    path, body = ASKS["anthropic"]
    with raw(answer) as upstream, gateway(one(upstream).model_copy(update={"max_answer": 2**30})) as url:
        for _ in range(2):
            assert httpx2.post(url + path, json=body, timeout=60).status_code == 200
    assert ["AnyIO" in name for name in seen] == [False, True]


def test_more_connections_than_can_be_open_pass(tmp_path: Path) -> None:
    with raw(lambda: iter([head(), ENDED])) as upstream, process(tmp_path, upstream.url, files=100) as server:
        with ExitStack() as stack:
            for _ in range(300):
                client = stack.enter_context(server.connect())
                client.sendall(HEAD + b"content-length: 1000\r\n\r\n{")
        assert httpx2.get(f"{server.url}/health", timeout=60).status_code == 200


@pytest.mark.parametrize("kind", ["whole", "stream", "one event", "error"])
def test_an_answer_of_200_megabytes_takes_no_memory(kind: str, tmp_path: Path) -> None:
    def answer() -> Iterator[bytes]:
        status = b"500 Oh no" if kind == "error" else b"200 OK"
        media = b"text/event-stream" if kind in {"stream", "one event"} else b"application/json"
        yield head(status, media)
        piece = chunk(content="x" * MEGABYTE) if kind == "stream" else b"data: " + b"x" * MEGABYTE
        for _ in range(200):
            yield piece

    with raw(answer) as upstream, process(tmp_path, upstream.url, f"max_answer = {8 * MEGABYTE}") as server:
        before = server.peak()
        path, body = ASKS["openai-chat"]
        asked = {**body, "stream": kind in {"stream", "one event"}}
        response = httpx2.post(server.url + path, json=asked, timeout=60)
        assert "more than" in response.text
        assert len(response.content) < 20 * MEGABYTE
        assert server.peak() - before < 100
        assert upstream.left.wait(30)


@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_of_many_values_takes_no_memory(stream: bool, tmp_path: Path) -> None:  # noqa: FBT001 - a parameter of the test
    said = b'{"choices": [' + b"{}," * 2_000_000 + b"{}]}"
    pieces = [head(), b"data: " + said + b"\n\n"] if stream else [head(b"200 OK", b"application/json"), said]
    with raw(lambda: iter(pieces)) as upstream, process(tmp_path, upstream.url) as server:
        before = server.peak()
        path, body = ASKS["openai-chat"]
        response = httpx2.post(server.url + path, json={**body, "stream": stream}, timeout=60)
        assert response.status_code == 502
        assert "more than 262144 values" in response.text
        assert server.peak() - before < 100


def test_long_texts_have_any_separators() -> None:
    """Only values count, not what is inside strings."""
    text = '[{,"\\\\' * 100
    assert decode(json.dumps({"model": text, "messages": [text] * 8}).encode(), 20) == {
        "model": text,
        "messages": [text] * 8,
    }
    with pytest.raises(LimitExceededError, match="more than 20 values"):
        decode(json.dumps([text] * 40).encode(), 20)


def test_no_key_is_logged_or_sent_to_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    said = json.dumps({"error": {"message": f"Incorrect API key provided: {KEYS['BACK_KEY']}", "code": "bad"}})
    for body in (said, said[1:]):  # as JSON, and as a page
        answer = [head(b"403 No", b"application/json"), body.encode()]
        with (
            raw(lambda said=answer: iter(said)) as upstream,
            process(tmp_path, upstream.url, 'key_env = "DOOR_KEY"', back='key_env = "BACK_KEY"') as server,
        ):
            answers: list[str] = []
            for face, (path, asked) in ASKS.items():
                for key in KEYS.values():
                    place = server.url + path.format(verb="generateContent") + f"&key={key}" * (face == "gemini")
                    headers = {} if face == "gemini" else {"authorization": f"Bearer {key}"}
                    response = httpx2.post(place, json=asked, headers=headers)
                    assert response.status_code == (403 if key == KEYS["DOOR_KEY"] else 401)
                    answers.append(response.text)
            answers.append(httpx2.get(f"{server.url}/nothing?key={KEYS['DOOR_KEY']}").text)
        assert any("Incorrect API key provided: [key]" in one for one in answers)
        for key in KEYS.values():
            assert key not in "".join([*answers, *server.log])


SAID = "the word is swordfish"
QUOTING = {
    "no JSON": f'{{"model": "m", "messages": {SAID}}}',
    "no messages": json.dumps({"model": "m", "messages": SAID, "input": {SAID: 1}, "contents": SAID}),
    "an odd role": json.dumps({"model": "m", "messages": [{"role": SAID, "content": SAID}], "input": [{SAID: 1}]}),
}


def test_what_is_sent_is_never_logged(tmp_path: Path) -> None:
    said = json.dumps({"error": {"message": f"do not say {SAID}", "code": SAID, "param": SAID}})
    kinds = [
        [head(b"400 No", b"application/json"), said.encode()],
        [head(b"500 No", b"text/html"), said[1:].encode()],
        [head(b"200 OK", b"application/json"), SAID.encode()],
        [head(), f"data: {said}\n\n".encode()],
        [head(), chunk(content="Let me look."), f"data: {SAID}\n\n".encode()],
        [head(b"200 OK", b"application/json", f"set-cookie: {SAID}\0".encode())],
    ]
    answers: list[str] = []
    for kind in kinds:
        with raw(lambda said=kind: iter(said)) as upstream, process(tmp_path, upstream.url, "strict = true") as server:
            for path, asked in ASKS.values():
                place = server.url + path.format(verb="streamGenerateContent")
                answers += [httpx2.post(place, content=body).text for body in QUOTING.values()]
                answers.append(httpx2.post(place, json={**asked, "stream": True}).text)
        lines = [json.loads(line) for line in server.log if line.startswith("{")]
        assert len(lines) >= len(ASKS) * (len(QUOTING) + 1)
        assert any("error" in line for line in lines)
        assert "swordfish" not in "".join(server.log)
    assert "swordfish" in "".join(answers)  # the client is told
