"""A gateway with canaries in each place of a secret: none is in what it says, logs, traces, counts or records."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from gateways import gateway
from rawserver import head, raw
from test_gateway_faults import ASKS, BEGUN, ENDED, chunk
from test_gateway_traces import exported as exported  # noqa: PLC0414 - a fixture

from toolfmt.gateway.app import make_app
from toolfmt.gateway.config import Back, Config, ModelRoute
from toolfmt.gateway.store import Store

DOOR, BACK, HEADER, FIELD, PERSON = (
    f"canary-{name}-0123456789" for name in ("door", "back", "head", "field", "person")
)
KEYS = (DOOR, BACK, HEADER, FIELD)
QUOTED = f"Bearer {BACK} and {HEADER} are unknown"


def event(**value: Any) -> bytes:
    return f"data: {json.dumps(value)}\n\n".encode()


ESCAPED = json.dumps({"choices": [{"message": {"role": "assistant", "content": BACK}, "finish_reason": "stop"}]})
ESCAPED = ESCAPED.replace("-", r"\u002D").encode()
SAID: dict[str, list[bytes]] = {
    "an answer": [head(), BEGUN, chunk(content="Hello."), ENDED],
    "an error": [head(b"403 No", b"application/json"), json.dumps({"error": {"message": QUOTED}}).encode()],
    "a page": [head(b"500 No", b"text/plain"), QUOTED.encode()],
    "an error in an answer": [head(b"200 OK", b"application/json"), json.dumps({"error": {"message": BACK}}).encode()],
    "an error in a stream": [head(), BEGUN, event(error={"message": BACK})],
    "a stream that breaks off": [head(), BEGUN, chunk(content=f"The key is {BACK}.")],
    "a key in pieces": [head(), BEGUN, *(chunk(content=one) for one in (BACK[:9], BACK[9:20], BACK[20:])), ENDED],
    "an escaped key": [head(b"200 OK", b"application/json"), ESCAPED],
    "no JSON": [head(), BEGUN, f"data: {BACK}\n\n".encode()],
}


@pytest.mark.parametrize("said", SAID)
def test_no_secret_of_the_configuration_leaves_it(
    said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, exported: Any
) -> None:
    caplog.set_level(logging.DEBUG)
    for name, value in {"DOOR_KEY": DOOR, "BACK_KEY": BACK}.items():
        monkeypatch.setenv(name, value)
    address = f"sqlite:///{tmp_path / 'gateway.db'}"

    def script() -> Iterator[bytes]:
        return iter(SAID[said])

    with raw(script) as upstream:
        back = {"url": upstream.url, "key_env": "BACK_KEY", "headers": {"x-token": HEADER}, "extra": {"user": FIELD}}
        rules = {"key_env": "DOOR_KEY", "store": address, "record": True, "traces": True}
        redact = [{"pattern": PERSON}]
        config = {"backs": {"it": back}, "routes": [{"backs": ["it"]}], "redact": redact, **rules}
        shown: list[str] = []
        with gateway(Config.model_validate(config, strict=False)) as url:
            for path, asked in ASKS.values():
                for verb in ("generateContent", "streamGenerateContent?alt=sse"):
                    body = json.loads(json.dumps(asked).replace("Weather?", f"I am {PERSON}."))
                    body |= {} if "{verb}" in path else {"stream": verb != "generateContent"}
                    headers = {"authorization": f"Bearer {DOOR}"}
                    answer = httpx2.post(url + path.format(verb=verb), json=body, headers=headers, timeout=60)
                    shown += [answer.text, str(answer.headers)]
            shown += [httpx2.get(url + path).text for path in ("/health", "/ready", "/metrics", "/v1/models")]
        stored = Store(address)
        shown += [str(row) for row in stored.rows()]
        stored.close()
    shown += [span.to_json() for span in exported.get_finished_spans()]
    shown += [f"{record.getMessage()}{record.exc_text}" for record in caplog.records if record.name != "httpx2"]
    shown += [file.read_bytes().decode(errors="replace") for file in tmp_path.iterdir()]
    assert len(exported.get_finished_spans()) > len(ASKS)
    for canary in (*KEYS, PERSON):
        assert [text[:300] for text in shown if canary in text] == [], canary


@pytest.mark.parametrize("key", ["none", "changeme", "12345678", "correct-horse"])
def test_a_key_that_an_answer_may_contain_by_chance_is_reported(
    key: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("BACK_KEY", key)
    back = Back(url="http://127.0.0.1:9", key_env="BACK_KEY")
    make_app(Config(backs={"it": back}, routes=(ModelRoute(backs=("it",)),)))
    (said,) = [record.getMessage() for record in caplog.records]
    assert "the key is too short" in said
    assert key not in said
