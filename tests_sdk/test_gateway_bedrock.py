"""Bedrock behind a gateway: signed requests, and streams of binary events."""

from __future__ import annotations

import json
import struct
from binascii import crc32
from collections.abc import Iterator

import httpx2
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from gateways import CALL, FACES, before, gateway
from loopback import Body, chat, serving, streamed
from rawserver import head, raw

from toolfmt import convert_answer
from toolfmt.gateway.config import Back, Config, ModelRoute

EXPECTED = ("Let me look.", [("look", {"city": "Zürich"})])


def message(name: str, payload: bytes, kind: str = "event") -> bytes:
    """Encode one message, as AWS's documentation of event streams has it."""
    words = {f":{kind}-type": name, ":content-type": "application/json", ":message-type": kind}
    headers = b"".join(
        struct.pack("!B", len(key)) + key.encode() + struct.pack("!BH", 7, len(value)) + value.encode()
        for key, value in words.items()
    )
    prelude = struct.pack("!II", 16 + len(headers) + len(payload), len(headers))
    prelude += struct.pack("!I", crc32(prelude))
    body = prelude + headers + payload
    return body + struct.pack("!I", crc32(body))


def events() -> list[bytes]:
    pairs = [next(iter(event.items())) for event in streamed(CALL, "bedrock")]
    return [message(name, json.dumps(value).encode()) for name, value in pairs]


def before_raw(url: str) -> Config:
    return Config(backs={"it": Back(api="bedrock", url=url)}, routes=(ModelRoute(backs=("it",)),))


@pytest.mark.parametrize("face", FACES)
def test_every_client_gets_the_call_of_bedrock(face: str) -> None:
    whole = convert_answer(chat(CALL), source="openai-chat", target="bedrock").value
    with serving(Body(200, json.dumps(whole))) as upstream, gateway(before(upstream, "bedrock")) as url:
        assert FACES[face](url, stream=False) == EXPECTED
    (asked,) = upstream.requests
    assert asked.path.endswith("/model/m/converse")
    assert "modelId" not in asked.body
    assert "Weather?" in json.dumps(asked.body["messages"])
    text = b"".join(events())
    pieces = [text[at : at + 50] for at in range(0, len(text), 50)]
    with raw(lambda: iter([head(), *pieces])) as server, gateway(before_raw(server.url)) as url:
        assert FACES[face](url, stream=True) == EXPECTED


def test_a_stream_that_breaks_or_fails_is_an_error() -> None:
    begun = events()[:3]
    failed = message("throttlingException", b'{"message": "slow down"}', "exception")
    broken = begun[-1][:-4] + b"\0\0\0\0"
    for end in (failed, broken, begun[-1][:20], b""):

        def answer(end: bytes = end) -> Iterator[bytes]:
            yield from (head(), *begun[:-1], end)

        with raw(answer) as server, gateway(before_raw(server.url)) as url:
            body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 9, "stream": True}
            text = httpx2.post(f"{url}/v1/messages", json=body).text
        assert '"error"' in text
        assert "message_stop" not in text
        assert ("slow down" in text) is (end is failed)


def test_requests_are_signed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.delenv("AWS_SESSION_TOKEN", raising=False)
    whole = convert_answer(chat(CALL), source="openai-chat", target="bedrock").value
    body = {"model": "anthropic.claude-v2:1", "messages": [{"role": "user", "content": "Hi"}]}
    with (
        serving(Body(200, json.dumps(whole))) as upstream,
        gateway(before(upstream, "bedrock", aws_region="eu-west-1")) as url,
    ):
        assert httpx2.post(f"{url}/v1/chat/completions", json=body).status_code == 200
    (asked,) = upstream.requests
    given = asked.headers["authorization"]
    assert given.startswith("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/")
    assert "/eu-west-1/bedrock/aws4_request" in given
    address = f"{upstream.url}/v1/model/anthropic.claude-v2%3A1/converse"
    again = AWSRequest("POST", address, {"content-type": "application/json"}, asked.raw)
    again.headers["X-Amz-Date"] = asked.headers["x-amz-date"]
    again.context["timestamp"] = asked.headers["x-amz-date"]
    signer = SigV4Auth(Credentials("AKIDEXAMPLE", "secret"), "bedrock", "eu-west-1")
    again.context["payload_signing_enabled"] = True
    canonical = signer.canonical_request(again)
    expected = signer.signature(signer.string_to_sign(again, canonical), again)
    assert given.endswith(f"Signature={expected}")


def test_tokens_are_counted() -> None:
    with serving(Body(200, '{"inputTokens": 7}')) as upstream, gateway(before(upstream, "bedrock")) as url:
        body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
        assert httpx2.post(f"{url}/v1/messages/count_tokens", json=body).json() == {"input_tokens": 7}
    sent = {"messages": [{"role": "user", "content": [{"text": "Hi"}]}]}
    assert upstream.requests[0].body == {"input": {"converse": sent}}
