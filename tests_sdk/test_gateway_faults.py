"""What goes wrong on a wire ends in an error of the client's own API: nothing hangs, and no call is invented."""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Semaphore, Thread
from typing import Any

import httpx2
import pytest
from asking import ASKS, BEGUN, ENDED, ask, chunk, one
from gateways import FACES, gateway, started
from openai import BadRequestError, OpenAI
from rawserver import head, raw
from twelve import BACKS, TEMPLATE, TEXT, TOOLS, Conversation, called, framed, stream_events

from toolfmt import read_stream
from toolfmt.conversation import TextPart
from toolfmt.events import CallEnd
from toolfmt.gateway.config import Back, Config, ModelRoute
from toolfmt.transcripts.answering.failures import read_error

OPENED = {"index": 0, "id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"city": "Pa'}}
NAMELESS = {"index": 0, "id": "c1", "function": {"arguments": "{}"}}
STREAMS = {
    "closed in an event": [head(), BEGUN, chunk(tool_calls=[OPENED])[:-40]],
    "closed between events": [head(), BEGUN, chunk(tool_calls=[OPENED])],
    "half a character at the end": [head(), BEGUN, chunk(content="é").split(b"\xa9")[0]],
    "half a character in the middle": [head(), BEGUN, chunk(content="é").replace(b"\xa9", b""), chunk(content="x")],
    "a page after the beginning": [head(), BEGUN, b"data: <html>Bad gateway</html>\n\n"],
    "no object": [head(), BEGUN, b"data: 5\n\n"],
    "a call without a name": [head(), chunk(tool_calls=[{"index": 0, "id": "c1"}]), ENDED],
    "a call without a name in one piece": [head(), BEGUN, chunk(tool_calls=[NAMELESS]), ENDED],
    "fewer bytes than promised": [head(b"200 OK", b"text/event-stream", b"content-length: 9999"), BEGUN],
}


@pytest.mark.parametrize("fault", STREAMS)
def test_a_stream_that_breaks_ends_in_an_error(fault: str) -> None:
    with raw(lambda: iter(STREAMS[fault])) as upstream, gateway(one(upstream)) as url:
        for face in FACES:
            response = ask(face, url, stream=True)
            if response.status_code != 200:  # nothing of it was sent yet
                assert read_error(response.json()).message
                continue
            data = [line.removeprefix("data: ") for line in response.text.splitlines() if line[:6] == "data: "]
            lines = data or response.text.splitlines()
            events = [json.loads(line) for line in lines if line != "[DONE]"]
            read = read_stream(events, source=face)
            assert not any(isinstance(event, CallEnd) for event in read), face
            assert read.info.failure is not None, (face, events)


def logged(caplog: pytest.LogCaptureFixture) -> dict[str, Any]:
    """Wait for the log line of the one request, and give it."""
    for _ in range(200):
        if caplog.messages:
            break
        time.sleep(0.05)
    (line,) = caplog.messages
    return json.loads(line)


def test_the_log_shows_a_stream_that_broke(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "toolfmt.gateway")
    with raw(lambda: iter(STREAMS["closed between events"])) as upstream, gateway(one(upstream)) as url:
        response = ask("openai-chat", url, stream=True)
        line = logged(caplog)
        figures = httpx2.get(f"{url}/metrics").text
    assert line["request"] == response.headers["x-request-id"]
    assert (line["status"], line["error"]) == (200, "the upstream's answer ended before it was complete")
    assert line["whole_ms"] >= line["ms"]
    assert 'toolfmt_broken_streams_total{back="it",face="openai-chat"} 1.0' in figures


def test_the_log_shows_a_client_that_went_away(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "toolfmt.gateway")
    path, body = ASKS["anthropic"]
    with raw(lambda: iter([head(), BEGUN]), hang=True) as upstream, gateway(one(upstream)) as url:
        with httpx2.stream("POST", url + path, json={**body, "stream": True}) as response:
            assert next(response.iter_text())
        line = logged(caplog)
    assert (line["request"], line["error"]) == (response.headers["request-id"], "the client disconnected")


def test_every_answer_has_the_id_of_its_request(caplog: pytest.LogCaptureFixture) -> None:
    """An upstream's id goes to the client, else the gateway makes one; the log has the same."""
    caplog.set_level(logging.INFO, "toolfmt.gateway")
    whole = b'{"choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi."}, "finish_reason": "stop"}]}'
    for theirs in ([], [b"x-request-id: theirs"]):
        said = [head(b"200 OK", b"application/json", *theirs), whole]
        with (
            raw(lambda said=said: iter(said)) as upstream,  # type: ignore[misc]
            gateway(one(upstream)) as url,
            OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client,
        ):
            answer = client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Hi"}])
            with pytest.raises(BadRequestError) as refused:
                client.chat.completions.create(model="", messages=[{"role": "user", "content": "Hi"}])
        lines = [json.loads(line)["request"] for line in caplog.messages[-2:]]
        assert lines == [answer._request_id, refused.value.request_id]
        assert (answer._request_id == "theirs") == bool(theirs)
        assert lines[1].startswith("req_")


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_header_that_http_cannot_carry_is_not_passed_on(stream: bool) -> None:  # noqa: FBT001 - a parameter of the test
    strange = [b"x-request-id: \xe2\x98\x83", b"retry-after: \xe2\x98\x83"]
    whole = b'{"choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi."}, "finish_reason": "stop"}]}'
    said = (
        [head(b"200 OK", b"text/event-stream", *strange), BEGUN, ENDED]
        if stream
        else [head(b"200 OK", b"application/json", *strange), whole]
    )
    with raw(lambda: iter(said)) as upstream, gateway(one(upstream)) as url:
        response = ask("openai-chat", url, stream=stream)
        assert (response.status_code, response.headers.get("retry-after")) == (200, None)
        assert response.headers["x-request-id"].startswith("req_")
        assert "toolfmt_open_streams 0.0" in httpx2.get(f"{url}/metrics").text


TALK = Conversation(
    lambda _: "", (TextPart("Let me look."), called({"city": "Zürich"}), called({"city": "Bern"})), "tool_calls"
)


def _ended(back: str, events: list[Any]) -> bool:
    if back in TEXT:  # the last event says why it ends
        return False
    read = read_stream(events, source=back)
    return bool(list(read)) and read.info.stop is not None


@pytest.mark.parametrize("back", BACKS)
def test_a_stream_that_ends_between_events_is_not_complete(back: str, tmp_path: Path) -> None:
    """Whatever the last event was: an answer without its finish reason is an error, and its calls are whole."""
    events = stream_events(back, TALK)
    frames, media = framed(back, events)
    pieces = [one if isinstance(one, bytes) else one.encode() for one in frames]
    ended = next((at for at in range(1, len(events)) if _ended(back, events[:at])), len(events))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"chat_template": TEMPLATE}), "utf-8")
    prompted = {"model_dir": str(tmp_path)} if back in {"completions", "llama.cpp"} else {}
    cuts = iter(range(1, ended))
    path, body = ASKS["openai-chat"]
    with (
        raw(lambda: iter([head(b"200 OK", media.encode()), *pieces[: next(cuts)]])) as upstream,
        gateway(one(upstream, api=back, retries=0, **prompted)) as url,
    ):
        for cut in range(1, ended):
            response = httpx2.post(url + path, json={**body, "tools": TOOLS, "stream": True}, timeout=60)
            if response.status_code != 200:
                continue
            lines = [line.removeprefix("data: ") for line in response.text.splitlines() if line[:6] == "data: "]
            read = read_stream([json.loads(line) for line in lines if line != "[DONE]"], source="openai-chat")
            calls = [event.call.arguments for event in read if isinstance(event, CallEnd)]
            assert read.info.failure is not None, (cut, response.text)
            assert calls == [{"city": "Zürich"}, {"city": "Bern"}][: len(calls)]


WHOLE = {
    "a page": [head(b"502 Bad Gateway", b"text/html"), b"<html><body>Bad gateway</body></html>"],
    "a page that says OK": [head(b"200 OK", b"text/html"), b"<html>"],
    "closed in the head": [b"HTTP/1.1 200 OK\r\ncontent-ty"],
    "nothing at all": [],
    "half a character": [head(b"200 OK", b"application/json"), '{"a": "é'.encode()[:-1]],
    "too much": [head(b"200 OK", b"application/json"), b" " * 2_000_000],
    "an error that says OK": [head(b"200 OK", b"application/json"), b'{"error": {"message": "no", "type": "x"}}'],
    "another place": [head(b"307 Temporary Redirect", b"text/html", b"location: http://127.0.0.1:9/")],
}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("fault", WHOLE)
def test_what_is_no_answer_is_an_error_of_the_clients_api(fault: str, stream: bool) -> None:  # noqa: FBT001 - a parameter of the test
    with raw(lambda: iter(WHOLE[fault])) as upstream, gateway(one(upstream)) as url:
        for face in FACES:
            response = ask(face, url, stream=stream)
            assert 500 <= response.status_code < 600, (face, response.text)
            assert read_error(response.json()).message


@pytest.mark.parametrize("status", ["queued", "in_progress", "cancelled", "failed"])
def test_an_answer_that_is_not_ready_is_an_error(status: str) -> None:
    """Its output is not complete, so a client is not told that it is."""
    body = {"id": "resp_1", "object": "response", "model": "m", "status": status, "output": [], "error": None}
    said = [head(b"200 OK", b"application/json"), json.dumps(body).encode()]
    with raw(lambda: iter(said)) as upstream, gateway(one(upstream, api="openai-responses")) as url:
        for face in FACES:
            response = ask(face, url, stream=False)
            assert response.status_code == 500, (face, response.text)
            assert status in read_error(response.json()).message


@pytest.mark.parametrize("count", ["1" + "0" * 400, "1e300", "-5", "true", '"7"', "1.5", "[]"])
def test_what_is_no_number_of_tokens_is_none(count: str) -> None:
    choice = '{"index": 0, "message": {"role": "assistant", "content": "Hi."}, "finish_reason": "stop"}'
    usage = f'{{"prompt_tokens": {count}, "completion_tokens": 3}}'
    said = [head(b"200 OK", b"application/json"), f'{{"choices": [{choice}], "usage": {usage}}}'.encode()]
    with raw(lambda: iter(said)) as upstream, gateway(one(upstream)) as url:
        answered = ask("anthropic", url, stream=False).json()["usage"]
        figures = httpx2.get(f"{url}/metrics").text
    assert (answered["input_tokens"], answered["output_tokens"]) == (0, 3)
    assert 'toolfmt_tokens_total{back="it",key="",kind="output",route="*"} 3.0' in figures


@pytest.mark.parametrize("wait", [None, b"7", b"Wed, 21 Oct 2026 07:28:00 GMT"])
def test_a_limit_of_the_upstream_is_passed_on(wait: bytes | None) -> None:
    headers = [] if wait is None else [b"retry-after: " + wait]
    said = [head(b"429 Too Many Requests", b"application/json", *headers), b'{"error": {"message": "slow down"}}']
    with raw(lambda: iter(said)) as upstream, gateway(one(upstream)) as url:
        for face in FACES:
            response = ask(face, url, stream=True)
            assert (response.status_code, read_error(response.json()).message) == (429, "slow down")
            assert response.headers.get("retry-after", "").encode() == (wait or b"")


TIMES = {
    "first byte": ([], 504, {"first_byte_timeout": 0.2}),
    "idle": ([head(), BEGUN], 200, {"idle_timeout": 0.2}),
    "first byte of the body": ([head()], 504, {"first_byte_timeout": 0.2}),
}


@pytest.mark.parametrize("which", TIMES)
def test_an_upstream_that_falls_silent_is_given_up(which: str) -> None:
    said, status, options = TIMES[which]
    with raw(lambda: iter(said), hang=True) as upstream, gateway(one(upstream, **options)) as url:
        response = ask("anthropic", url, stream=True)
        assert response.status_code == status
        assert "in time" in response.text or "went silent" in response.text
        assert upstream.left.wait(10)


def test_an_upstream_that_takes_no_connection_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        fill = [socket.socket() for _ in range(4)]
        for each in fill:  # a full backlog answers nobody
            each.settimeout(0)
            each.connect_ex(full.getsockname())
        back = Back(url=f"http://127.0.0.1:{full.getsockname()[1]}/v1", connect_timeout=0.2)
        config = Config(backs={"it": back}, routes=(ModelRoute(backs=("it",)),))
        with gateway(config) as url:
            response = ask("openai-chat", url, stream=False)
        assert (response.status_code, "in time" in response.text) == (504, True)
        for each in fill:
            each.close()


@pytest.mark.parametrize("face", ASKS)
def test_no_client_gets_a_call_without_a_name(face: str) -> None:
    calls = [{"id": "c", "type": "function", "function": {"name": name, "arguments": "{}"}} for name in ("look", None)]
    choice = {"index": 0, "message": {"role": "assistant", "tool_calls": calls}, "finish_reason": "tool_calls"}
    said = [head(b"200 OK", b"application/json"), json.dumps({"choices": [choice]}).encode()]
    with raw(lambda: iter(said)) as upstream, gateway(one(upstream)) as url:
        response = ask(face, url, stream=False)
    assert response.status_code == 502
    assert "cannot be read" in response.text


def test_open_streams_end_before_the_server_does() -> None:
    """What is told to end takes no further request, lets its streams end, and then ends."""
    path, body = ASKS["anthropic"]
    go_on = Event()

    def answer() -> Iterator[bytes]:
        yield head()
        yield BEGUN
        assert go_on.wait(300)
        yield ENDED

    answers: list[str] = []
    with raw(answer) as upstream, started("--upstream", upstream.url) as (server, url):
        assert server.stderr is not None
        begun = Semaphore(0)

        def stream() -> None:
            with httpx2.stream("POST", url + path, json={**body, "stream": True}, timeout=300) as response:
                pieces = response.iter_text()
                said = [next(pieces)]
                begun.release()
                answers.append("".join([*said, *pieces]))

        clients = [Thread(target=stream) for _ in range(100)]
        for client in clients:
            client.start()
        for _ in clients:
            assert begun.acquire(timeout=300)
        os.kill(server.pid, signal.SIGTERM)
        next(line for line in server.stderr if "Waiting for connections to close" in line)
        with pytest.raises(httpx2.ConnectError):
            httpx2.get(f"{url}/health")
        go_on.set()
        for client in clients:
            client.join()
        assert server.wait(30) in {0, -signal.SIGTERM}
    assert len(answers) == 100
    assert all("message_stop" in answer for answer in answers)


def test_a_server_that_is_told_to_end_serves_until_its_load_balancer_has_noticed(tmp_path: Path) -> None:
    config = tmp_path / "gateway.toml"
    whole = b'{"choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi."}, "finish_reason": "stop"}]}'
    with raw(lambda: iter([head(b"200 OK", b"application/json"), whole])) as upstream:
        config.write_text(f'drain_delay = 300\n[backs.it]\nurl = "{upstream.url}"\n[[routes]]\nbacks = ["it"]\n')
        with started(str(config)) as (server, url):
            assert httpx2.get(f"{url}/ready", timeout=60).status_code == 200
            server.terminate()
            while httpx2.get(f"{url}/ready", timeout=60).status_code != 503:
                time.sleep(0.05)
            assert ask("anthropic", url, stream=False).status_code == 200
            server.terminate()  # once more: at once
            assert server.wait(60) in {0, -signal.SIGTERM}
