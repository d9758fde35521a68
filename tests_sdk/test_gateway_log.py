"""The log and the figures: each request has a line with its model, key and backs, whatever became of it."""

from __future__ import annotations

import json
import logging
import signal
from typing import Any

import httpx2
import pytest
from gateways import before, gateway, started
from loopback import Answer, Body, serving

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
