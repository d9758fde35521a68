"""Responses over a WebSocket, as openai's SDK speaks it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from gateways import CALL, SCHEMA, before, gateway
from loopback import Answer, Body, serving
from openai import OpenAI
from rawserver import head, raw
from websockets.exceptions import InvalidStatus

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
