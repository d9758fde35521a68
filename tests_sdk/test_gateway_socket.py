"""Responses over a WebSocket, as openai's SDK speaks it."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from gateways import CALL, SCHEMA, before, gateway, started
from loopback import Answer, Body, serving
from openai import OpenAI
from rawserver import head, raw
from test_gateway_faults import BEGUN, ENDED
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from toolfmt.gateway.config import Back, Config, ModelRoute

pytestmark = pytest.mark.filterwarnings("ignore:connect.. must be used:DeprecationWarning")  # by the SDK
LOOK: Any = {"type": "function", "name": "look", "parameters": SCHEMA, "strict": False}


def received(connection: Any) -> Any:
    """Give the last event of an answer."""
    for event in connection:
        if event.type in {"response.completed", "response.failed", "error"}:
            return event
    raise AssertionError("the connection ended")


def test_several_answers_come_over_one_connection(tmp_path: Path) -> None:
    with serving(CALL, Answer("It rains.")) as upstream:
        config = before(upstream, "anthropic").model_copy(update={"store": f"sqlite:///{tmp_path / 'gateway.db'}"})
        with (
            gateway(config) as url,
            OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client,
            client.responses.connect(max_retries=0) as connection,
        ):
            connection.response.create(model="m", input="Weather?", tools=[LOOK])
            first = received(connection).response
            (call,) = (one for one in first.output if one.type == "function_call")
            assert (call.name, json.loads(call.arguments)) == ("look", {"city": "Zürich"})
            result: Any = {"type": "function_call_output", "call_id": call.call_id, "output": "rain"}
            connection.response.create(model="m", input=[result], previous_response_id=first.id, tools=[LOOK])
            assert received(connection).response.output[0].content[0].text == "It rains."
            connection.response.create(model="m", input="x", previous_response_id="resp_0")
            assert received(connection).error.message.startswith("previous_response_id")
    assert len(upstream.requests) == 2


def test_an_earlier_answer_needs_a_store_unless_the_back_keeps_it() -> None:
    with (
        serving(CALL, Answer("It rains.")) as upstream,
        gateway(before(upstream, "anthropic")) as url,
        OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client,
        client.responses.connect(max_retries=0) as connection,
    ):
        connection.response.create(model="m", input="Weather?", tools=[LOOK])
        first = received(connection).response
        connection.response.create(model="m", input="And now?", previous_response_id=first.id)
        failed = received(connection)
        assert (failed.status, failed.error.param) == (400, "previous_response_id")
        assert "send it whole, or set `store` in the gateway's configuration" in failed.error.message
        connection.response.create(model="m", input="And now?")
        assert received(connection).response.status == "completed"
    assert len(upstream.requests) == 2


def test_what_fails_is_an_error_and_the_connection_goes_on() -> None:
    slow = Body(429, '{"error": {"message": "slow down"}}')
    with (
        serving(slow, Answer("It rains.")) as upstream,
        gateway(before(upstream, "openai-chat")) as url,
        OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client,
        client.responses.connect(max_retries=0) as connection,
    ):
        connection.response.create(model="m", input="Weather?")
        failed = received(connection)
        assert (failed.status, failed.error.message) == (429, "slow down")
        for wrong in ("{", "[]", '{"type": "response.cancel"}'):
            connection.send_raw(wrong)
            assert received(connection).status == 400
        connection.response.create(model="m", input="Weather?")
        assert received(connection).response.status == "completed"


def test_a_client_that_goes_away_is_not_asked_for() -> None:
    with (
        raw(lambda: iter([head()]), hang=True) as upstream,
        gateway(Config(backs={"it": Back(url=upstream.url)}, routes=(ModelRoute(backs=("it",)),))) as url,
    ):
        with (
            OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client,
            client.responses.connect(max_retries=0) as connection,
        ):
            connection.response.create(model="m", input="Weather?")
            assert upstream.asked.wait(10)
            assert not upstream.left.is_set()
        assert upstream.left.wait(10)


def test_bytes_and_too_many_requests_end_the_connection() -> None:
    with (
        raw(lambda: iter([head()]), hang=True) as upstream,
        gateway(Config(backs={"it": Back(url=upstream.url)}, routes=(ModelRoute(backs=("it",)),))) as url,
    ):
        asked = '{"type": "response.create", "model": "m", "input": "Weather?"}'
        for sent, code in (([b"{}"], 1003), ([asked] * 20, 1013)):
            with connect(f"{url.replace('http', 'ws')}/v1/responses") as connection:
                with suppress(ConnectionClosed):
                    for text in sent:
                        connection.send(text)
                assert not list(iter_until_closed(connection))
                assert connection.close_code == code


def test_an_answer_ends_before_the_server_does() -> None:
    go_on = Event()

    def answer() -> Iterator[bytes]:
        yield head()
        yield BEGUN
        assert go_on.wait(60)
        yield ENDED

    with raw(answer) as upstream, started("--upstream", upstream.url) as (server, url):
        place = f"{url.replace('http', 'ws')}/v1/responses"
        with connect(place) as connection, connect(place) as idle:
            connection.send('{"type": "response.create", "model": "m", "input": "Weather?"}')
            assert json.loads(connection.recv(timeout=60))["type"] == "response.created"
            server.terminate()
            with pytest.raises(ConnectionClosed):
                idle.recv(timeout=60)
            go_on.set()
            events = [json.loads(event)["type"] for event in iter_until_closed(connection)]
        assert events[-1] == "response.completed"
        assert server.wait(30) in {0, -signal.SIGTERM}


def iter_until_closed(connection: ClientConnection) -> Iterator[str]:
    with suppress(ConnectionClosed):
        while True:
            yield str(connection.recv(timeout=60))


def test_a_connection_needs_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_KEY", "secret")
    with serving(Answer("It rains.")) as upstream:
        config = before(upstream, "openai-chat").model_copy(update={"key_env": "GATEWAY_KEY"})
        with gateway(config) as url, OpenAI(base_url=f"{url}/v1", api_key="wrong", max_retries=0) as client:
            with pytest.raises(InvalidStatus), client.responses.connect(max_retries=0):
                pass
            with (
                OpenAI(base_url=f"{url}/v1", api_key="secret", max_retries=0) as allowed,
                allowed.responses.connect(max_retries=0) as connection,
            ):
                connection.response.create(model="m", input="Weather?")
                assert received(connection).response.status == "completed"
