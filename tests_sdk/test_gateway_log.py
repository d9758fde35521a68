"""The log and the figures: each request has a line with its model, key and backs, whatever became of it."""

from __future__ import annotations

import json
import logging
import signal
import socket
import subprocess
import sys
from pathlib import Path
from threading import Thread
from typing import Any

import httpx2
import pytest
from gateways import before, gateway, started
from loopback import Answer, Body, serving
from rawserver import head, raw

from toolfmt.gateway.config import Back, Config, ModelRoute
from toolfmt.transcripts.answering.failures import read_error

CHAT: Any = {"model": "m", "messages": [{"role": "user", "content": "Weather?"}]}
PATH = "/v1/chat/completions"


def test_a_back_that_failed_is_named_where_another_answered(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "toolfmt.gateway")
    down = Body(503, '{"error": {"message": "overloaded"}}')
    with serving(down) as first, serving(Answer("Hi.")) as second:
        backs = {"first": Back(url=f"{first.url}/v1"), "gone": Back(url="http://127.0.0.1:9/v1")}
        backs["second"] = Back(url=f"{second.url}/v1")
        route = ModelRoute(model="m*", backs=("first", "gone", "second"))
        with gateway(Config(backs=backs, routes=(route,))) as url:
            response = httpx2.post(url + PATH, json=CHAT)
            (line,) = map(json.loads, caplog.messages)
            figures = httpx2.get(f"{url}/metrics").text
    assert response.headers["x-toolfmt-notices"] == "fallback=2"
    assert (line["model"], line["back"], line["tried"]) == ("m", "second", {"first": 503, "gone": 502})
    assert 'toolfmt_back_failures_total{back="first",status="503"} 1.0' in figures
    assert 'toolfmt_tokens_total{back="second",key="",kind="output",route="m*"}' in figures


def test_a_failure_says_which_model_and_back(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "toolfmt.gateway")
    limited = Body(429, '{"error": {"message": "slow down"}}')
    with serving(limited) as upstream, gateway(before(upstream, "openai-chat")) as url:
        assert httpx2.post(f"{url}/v1/messages", json={**CHAT, "max_tokens": 9, "stream": True}).status_code == 429
        (line,) = map(json.loads, caplog.messages)
    assert {name: line[name] for name in ("face", "status", "model", "back", "tried")} == {
        "face": "anthropic",
        "status": 429,
        "model": "m",
        "back": "it",
        "tried": {"it": 429},
    }


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("/v1/v1/chat/completions", "/v1/chat/completions"),
        ("/chat/completions", "/v1/chat/completions"),
        ("/v1/v1beta/models/m:generateContent", "/v1beta/models/m:generateContent"),
        ("/v1/embeddings", ""),
    ],
)
def test_a_path_of_no_api_is_logged_and_a_near_one_suggested(
    path: str, meant: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "toolfmt.gateway")
    with serving() as upstream, gateway(before(upstream, "openai-chat")) as url:
        response = httpx2.post(url + path, json={})
        assert httpx2.get(f"{url}/ready").status_code == 200
        (line,) = map(json.loads, caplog.messages)
    assert (line["path"], line["status"]) == (path, 404)
    message = read_error(response.json()).message
    assert (f"the path is {meant}:" in message) is bool(meant)


def test_every_line_of_the_log_is_json() -> None:
    with started("--upstream", "http://127.0.0.1:9/v1") as (server, url):
        assert server.stderr is not None
        httpx2.post(url + PATH, json=CHAT)
        server.send_signal(signal.SIGTERM)
        lines = [json.loads(line) for line in server.stderr]
    assert {"time", "level", "message"} <= lines[0].keys()
    (line,) = (line for line in lines if "face" in line)
    assert (line["level"], line["back"], line["tried"]) == ("error", "upstream", {"upstream": 502})


@pytest.mark.parametrize(
    "error",
    [
        {"error": {"message": "no model 'm'", "type": "invalid_request_error", "code": "model_not_found"}},
        {"object": "error", "message": "The model `m` does not exist.", "type": "NotFoundError", "code": 404},
        {"error": "model 'm' not found"},
    ],
)
def test_an_api_that_lacks_the_model_is_no_wrong_address(error: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "toolfmt.gateway")
    with serving(Body(404, json.dumps(error))) as upstream, gateway(before(upstream, "openai-chat")) as url:
        assert httpx2.post(url + PATH, json=CHAT).status_code == 404
        (line,) = map(json.loads, caplog.messages)
    assert line["error"] == f"the upstream answered 404 to POST {upstream.url}/v1/chat/completions"


def test_an_address_that_is_wrong_is_logged_with_advice(caplog: pytest.LogCaptureFixture) -> None:
    """The client, to whom the address is none of its business, gets the status alone."""
    caplog.set_level(logging.INFO, "toolfmt.gateway")
    page = Body(200, "<html>Welcome</html>", media="text/html")
    for reply in (Body(404, '{"detail": "Not Found"}'), page):
        with serving(reply) as upstream, gateway(before(upstream, "openai-chat")) as url:
            for stream in (False, True):
                response = httpx2.post(url + PATH, json={**CHAT, "stream": stream})
                assert upstream.url not in response.text
                assert "<html>" not in response.text
        for line in map(json.loads, caplog.messages):
            asked = f"POST {upstream.url}/v1/chat/completions: `url` is the base address, which usually ends in /v1"
            assert asked in line["error"]
        caplog.clear()
    with serving() as upstream:
        back = Back(url=upstream.url.replace("http://", "https://"))
        with gateway(Config(backs={"it": back}, routes=(ModelRoute(backs=("it",)),))) as url:
            httpx2.post(url + PATH, json=CHAT)
    assert f"{back.url}; the server there speaks no TLS: write http://" in caplog.text


def test_a_gateway_that_asks_itself_says_so() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with started("--upstream", f"http://127.0.0.1:{port}/v1", "--port", str(port)) as (_, url):
        answers = [httpx2.post(url + PATH, json=CHAT, timeout=60), httpx2.get(f"{url}/v1/models", timeout=60)]
    assert [(one.status_code, "in a circle" in one.text) for one in answers] == [(500, True)] * 2


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_what_does_not_end_in_time_ends_in_an_error(stream: bool, tmp_path: Path) -> None:  # noqa: FBT001 - a parameter
    event = {"choices": [{"index": 0, "delta": {"content": "Let me look."}}]}
    begun = [head(), f"data: {json.dumps(event)}\n\n".encode()] if stream else []
    with raw(lambda: iter(begun), hang=True) as upstream:
        text = f'drain_timeout = 0\ndrain_delay = 1\n[backs.it]\nurl = "{upstream.url}"\n[[routes]]\nbacks = ["it"]\n'
        (tmp_path / "gateway.toml").write_text(text, "utf-8")
        with started(str(tmp_path / "gateway.toml")) as (server, url):
            assert server.stderr is not None
            said: list[str] = []

            def ask() -> None:
                said.append(httpx2.post(url + PATH, json={**CHAT, "stream": stream}, timeout=60).text)

            client = Thread(target=ask)
            client.start()
            assert upstream.asked.wait(60)
            assert httpx2.get(f"{url}/ready").status_code == 200
            server.send_signal(signal.SIGTERM)
            while (ready := httpx2.get(f"{url}/ready")).status_code == 200:
                pass
            assert ready.status_code == 503
            client.join()
            lines = [json.loads(line) for line in server.stderr]
    assert "the gateway is shutting down" in said[0]
    (line,) = (line for line in lines if "face" in line)
    assert line["error"] == "the gateway is shutting down: ask again"
    assert not any("exception" in line for line in lines)


def test_the_start_is_a_line_of_fields(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANNS_KEY", "key-of-ann")
    config = tmp_path / "gateway.toml"
    key = '[keys.ann]\nkey_env = "ANNS_KEY"\nconcurrent = 2\n'
    config.write_text(f'[backs.it]\nurl = "http://127.0.0.1:9"\n{key}[[routes]]\nbacks = ["it"]\n')
    command = [sys.executable, "-m", "toolfmt", "serve", str(config), "--port", "0"]
    for more in ((), ("--workers", "2")):
        with subprocess.Popen([*command, *more], stderr=subprocess.PIPE, text=True) as server:
            assert server.stderr is not None
            lines: list[Any] = []
            while "url" not in (lines[-1] if lines else {}):
                lines.append(json.loads(next(server.stderr)))
            server.terminate()
            server.communicate(timeout=60)
        (start,) = lines
        assert start["clients"]["OPENAI_BASE_URL"] == f"{start['url']}/v1"
        assert (start["message"], start["api_key"]) == ("The gateway is running", "one of the gateway's keys")
