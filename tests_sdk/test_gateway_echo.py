"""What answers say of their requests, and the fields that each API's answers always have."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest
from gateways import CALL, SCHEMA, before, gateway
from loopback import serving

ASKED: Any = {
    "model": "m",
    "input": "Weather?",
    "instructions": "Be brief.",
    "temperature": 0.5,
    "text": {"verbosity": "low"},
    "tools": [{"type": "function", "name": "look", "parameters": SCHEMA}],
    "metadata": {"a": "b"},
}


@pytest.mark.parametrize("api", ["openai-chat", "openai-responses", "anthropic"])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_response_says_what_was_asked(api: str, stream: bool) -> None:  # noqa: FBT001 - a parameter of the test
    with serving(CALL) as upstream, gateway(before(upstream, api)) as url:
        text = httpx2.post(f"{url}/v1/responses", json={**ASKED, "stream": stream}).text
    lines = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
    events = [json.loads(line) for line in lines] if stream else [{"response": json.loads(text)}]
    found = [event["response"] for event in events if "response" in event]
    assert len(found) == (3 if stream else 1)
    for one in found:
        assert {key: one[key] for key in ("instructions", "temperature", "metadata")} == {
            key: ASKED[key] for key in ("instructions", "temperature", "metadata")
        }
        assert one["tools"] == [{"description": None, "strict": None, **ASKED["tools"][0]}]
        assert one["text"] == {"format": {"type": "text"}, "verbosity": "low"}
        assert (one["top_p"], one["truncation"], one["store"]) == (1.0, "disabled", False)
        assert (one["completed_at"] is not None) == (one["status"] == "completed")


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_message_says_who_calls(stream: bool) -> None:  # noqa: FBT001 - as above
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Weather?"}], "stream": stream}
    with serving(CALL) as upstream, gateway(before(upstream, "openai-chat")) as url:
        text = httpx2.post(f"{url}/v1/messages", json=body).text
    assert '"caller":{"type":"direct"}' in text.replace(" ", "")
    assert '"container":null' in text.replace(" ", "")
