"""Conversations that a gateway keeps: clients go on with them, and what was acknowledged outlives the process."""

from __future__ import annotations

import json
import logging
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import current_thread
from typing import Any

import httpx2
import pytest
from gateways import CALL, SCHEMA, TEXT_CALL, before, gateway, started
from google import genai
from google.genai.types import HttpOptions
from loopback import Answer, Loopback, serving
from openai import NotFoundError, OpenAI
from pydantic import ValidationError
from rawserver import head, raw
from sqlalchemy import MetaData
from test_gateway_faults import ASKS, BEGUN, ENDED

from toolfmt.errors import ParseError
from toolfmt.gateway.app import make_app
from toolfmt.gateway.config import Back, Config, ModelRoute
from toolfmt.gateway.store import KeptExchange, Store
from toolfmt.transcripts.convert import convert_request

LOOK: Any = {"type": "function", "name": "look", "parameters": SCHEMA, "strict": False}


def kept(upstream: Loopback, folder: Path, api: str = "anthropic", **rules: Any) -> Config:
    made = before(upstream, api).model_dump() | {"store": f"sqlite:///{folder / 'gateway.db'}"}
    return Config.model_validate(made | rules)


def client_of(url: str, key: str = "none") -> OpenAI:
    return OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("api", ["anthropic", "text"])
def test_a_client_goes_on_with_an_earlier_answer(api: str, stream: bool, tmp_path: Path) -> None:  # noqa: FBT001 - a parameter of the test
    reply = TEXT_CALL if api == "text" else CALL
    with serving(reply, Answer("It rains.")) as upstream, gateway(kept(upstream, tmp_path, api)) as url:
        client = client_of(url)
        asked: Any = {"model": "m", "tools": [LOOK]}
        if stream:
            with client.responses.stream(input="Weather?", **asked) as events:
                first: Any = events.get_final_response()
        else:
            first = client.responses.create(input="Weather?", **asked)
        (call,) = (one for one in first.output if one.type == "function_call")
        result: Any = {"type": "function_call_output", "call_id": call.call_id, "output": "rain"}
        second = client.responses.create(input=[result], previous_response_id=first.id, **asked)
        third = client.responses.create(input="And now?", previous_response_id=second.id, **asked)
    assert second.output_text == third.output_text == "It rains."
    said = [json.dumps(asked.body["messages"], ensure_ascii=False) for asked in upstream.requests]
    for words in (
        ("Weather?",),
        ("Weather?", "Zürich", "rain"),
        ("Weather?", "Zürich", "rain", "It rains.", "And now?"),
    ):
        text = said.pop(0)
        places = [text.index(word) for word in words]
        assert places == sorted(places)


def test_an_interaction_goes_on_with_an_earlier_one(tmp_path: Path) -> None:
    with (
        serving(Answer("Rain."), Answer("Sun.")) as upstream,
        gateway(kept(upstream, tmp_path)) as url,
        genai.Client(api_key="none", http_options=HttpOptions(base_url=url)) as client,
    ):
        first: Any = client.interactions.create(model="m", input="Weather?")
        second: Any = client.interactions.create(model="m", input="And now?", previous_interaction_id=first.id)
    assert second.id != first.id
    said = json.dumps(upstream.requests[1].body["messages"])
    places = [said.index(word) for word in ("Weather?", "Rain.", "And now?")]
    assert places == sorted(places)


def test_nobody_goes_on_with_what_is_not_theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANN", "key-of-ann")
    monkeypatch.setenv("BOB", "key-of-bob")
    keys = {"ann": {"key_env": "ANN"}, "bob": {"key_env": "BOB"}}
    with serving(CALL) as upstream, gateway(kept(upstream, tmp_path, keys=keys)) as url:
        ann, bob = client_of(url, "key-of-ann"), client_of(url, "key-of-bob")
        first = ann.responses.create(model="m", input="Weather?")
        unstored = ann.responses.create(model="m", input="Weather?", store=False)
        for client, ident in ((bob, first.id), (ann, unstored.id), (ann, "resp_0")):
            with pytest.raises(NotFoundError, match="previous_response_id"):
                client.responses.create(model="m", input="And?", previous_response_id=ident)
        assert ann.responses.create(model="m", input="And?", previous_response_id=first.id).id != first.id
    assert len(upstream.requests) == 3


@pytest.mark.parametrize("face", [face for face in ASKS if face != "gemini"])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_what_failed_is_recorded_with_its_error_and_is_no_conversation(
    face: str,
    stream: bool,  # noqa: FBT001 - a parameter of the test
    tmp_path: Path,
) -> None:
    """A request that a back refuses, an answer that breaks off, and one that is complete."""
    said = iter([[head(b"429 Slow down", b"application/json"), b"{}"], *([[head(), BEGUN]] * stream), None])
    whole = {"choices": [{"index": 0, "message": {"content": "Sun."}, "finish_reason": "stop"}]}

    def answer() -> Iterator[bytes]:
        good = [head(), BEGUN, ENDED] if stream else [head(b"200 OK", b"application/json"), json.dumps(whole).encode()]
        yield from next(said) or good

    path, body = ASKS[face]
    with raw(answer) as upstream:
        back, store = Back(url=upstream.url), f"sqlite:///{tmp_path / 'gateway.db'}"
        config = Config(backs={"it": back}, routes=(ModelRoute(backs=("it",)),), store=store, record=True)
        with gateway(config) as url:
            answers = [httpx2.post(url + path, json=body | {"stream": stream}) for _ in range(2 + stream)]
            if face == "openai-responses":
                (failed, *_, good) = stored_rows(store)
                assert httpx2.get(f"{url}/v1/responses/{failed['id']}").status_code == 404
                assert httpx2.get(f"{url}/v1/responses/{good['id']}").status_code == 200
    assert answers[0].status_code == 429
    rows = stored_rows(store)
    assert [row["status"] for row in rows] == [429, *[502] * stream, 200]
    assert [bool(row["answer"].get("error")) for row in rows] == [True, *[True] * stream, False]
    assert {row["back"] for row in rows} == {"it"}
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    command = [sys.executable, "-m", "toolfmt", "stats", "--json", "--from", face]
    command += ["--at", "/request", "--answer", "/answer", "-"]
    found = json.loads(subprocess.run(command, input=lines, capture_output=True, text=True, check=False).stdout)
    assert (found["conversations"], found["unreadable"]) == (1, 1 + stream)
    assert "an API's error" in json.dumps(found)


def stored_rows(url: str) -> list[Any]:
    with closing(Store(url)) as store:
        return list(store.rows())


def test_what_was_acknowledged_outlives_the_process(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'gateway.db'}"
    with serving(Answer("It rains.")) as upstream:
        config = tmp_path / "gateway.toml"
        config.write_text(
            f'store = "{url}"\nrecord = true\n[backs.it]\nurl = "{upstream.url}/v1"\n[[routes]]\nbacks = ["it"]\n'
        )
        with started(str(config)) as (server, address):
            client = client_of(address)
            idents = [client.responses.create(model="m", input=f"Question {at}").id for at in range(5)]
            chat = client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Question 5"}])
            server.send_signal(signal.SIGKILL)
            server.wait()
        with started(str(config)) as (_, address):
            client = client_of(address)
            for ident in idents:
                client.responses.create(model="m", input="And?", previous_response_id=ident)
    for at, asked in enumerate(upstream.requests[6:]):
        assert [one["content"] for one in asked.body["messages"]] == [f"Question {at}", "It rains.", "And?"]
    rows = stored_rows(url)
    assert [row["id"] for row in rows[:6]] == [*idents, chat.id]
    command = [sys.executable, "-m", "toolfmt"]
    printed = subprocess.run([*command, "recorded", url], check=True, capture_output=True, text=True).stdout
    assert [json.loads(line) for line in printed.splitlines()] == rows
    where = ["--at", "/request", "--answer", "/answer"]
    shown = subprocess.run(
        [*command, "stats", "--json", *where, "-"],
        check=True,
        input=printed,
        capture_output=True,
        text=True,
        env=os.environ | {"NO_COLOR": "1"},
    )
    assert json.loads(shown.stdout)["conversations"] == len(rows) == 11


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_client_reads_and_deletes_its_answer(stream: bool, tmp_path: Path) -> None:  # noqa: FBT001 - a parameter of the test
    with serving(CALL) as upstream, gateway(kept(upstream, tmp_path)) as url:
        client = client_of(url)
        asked: Any = {"model": "m", "tools": [LOOK], "input": "Weather?"}
        if stream:
            with client.responses.stream(**asked) as events:
                first: Any = events.get_final_response()
        else:
            first = client.responses.create(**asked)
        found = client.responses.retrieve(first.id)
        second = client.responses.create(model="m", input="And?", previous_response_id=first.id)
        assert client.responses.retrieve(second.id).previous_response_id == first.id
        gone = httpx2.delete(f"{url}/v1/responses/{first.id}").json()
        for ask in (client.responses.retrieve, client.responses.delete):
            with pytest.raises(NotFoundError, match="there is no"):
                ask(first.id)
        assert client.responses.create(model="m", input="Now?", previous_response_id=second.id).id
    other = {"completed_at", "output"}  # a parsed answer of the SDK has further fields in its output
    assert found.model_dump(exclude=other) == first.model_dump(exclude=other)
    assert [one.id for one in found.output] == [one.id for one in first.output]
    assert found.output_text == first.output_text == "Let me look."
    assert found.completed_at == found.created_at
    assert gone == {"id": first.id, "object": "response", "deleted": True}
    assert "Weather?" in json.dumps(upstream.requests[-1].body["messages"][0])


def test_an_interaction_is_read_and_deleted(tmp_path: Path) -> None:
    with (
        serving(Answer("Rain.")) as upstream,
        gateway(kept(upstream, tmp_path)) as url,
        genai.Client(api_key="none", http_options=HttpOptions(base_url=url)) as client,
    ):
        first: Any = client.interactions.create(model="m", input="Weather?")
        assert client.interactions.get(first.id).id == first.id
        client.interactions.delete(first.id)
        assert httpx2.get(f"{url}/v1beta/interactions/{first.id}").status_code == 404
        assert httpx2.get(f"{url}/v1/responses/{first.id}").status_code == 404


def test_without_a_store_the_client_is_told_what_to_set() -> None:
    with serving() as upstream, gateway(before(upstream, "anthropic")) as url:
        response = httpx2.get(f"{url}/v1/responses/resp_1")
    assert response.status_code == 404
    assert "set `store`" in response.json()["error"]["message"]


def test_a_conversation_is_stored_once(tmp_path: Path) -> None:
    """Each row has its own messages alone; a record of it has all."""
    with serving(Answer("It rains.")) as upstream, gateway(kept(upstream, tmp_path)) as url:
        ident: str | None = None
        for at in range(5):
            body = {"model": "m", "input": f"Question {at}"} | ({"previous_response_id": ident} if ident else {})
            ident = httpx2.post(f"{url}/v1/responses", json=body).json()["id"]
    assert len(upstream.requests[-1].body["messages"]) == 9
    with sqlite3.connect(tmp_path / "gateway.db") as database:
        stored = [json.loads(text) for (text,) in database.execute("SELECT request FROM toolfmt_exchanges")]
    said = [json.dumps(one["input"]).count("Question") for one in stored]
    assert said == [1] * 5
    rows = stored_rows(f"sqlite:///{tmp_path / 'gateway.db'}")
    assert [json.dumps(row["request"]).count("Question") for row in rows] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("recorded", [False, True])
def test_what_is_deleted_is_gone_with_the_last_that_continues_from_it(recorded: bool, tmp_path: Path) -> None:  # noqa: FBT001 - as above
    with closing(Store(f"sqlite:///{tmp_path / 'gateway.db'}")) as store:
        value: Any = {"input": "Hi"}
        answer: Any = {"output": [{"type": "message", "role": "assistant", "content": "Hello"}]}
        for ident, earlier in (("a", None), ("b", "a"), ("c", "b"), ("d", None)):
            store.save(KeptExchange(id=ident, earlier=earlier, face="openai-responses", request=value, answer=answer))
        left = [["a", "b", "c", "d"], ["a", "b", "c", "d"], ["d"]]
        for ident, idents in zip("abc", left, strict=True):
            assert not store.delete(ident, "eve", recorded=recorded)
            assert store.delete(ident, "", recorded=recorded)
            assert not store.delete(ident, "", recorded=recorded)
            assert store.find(ident, "") == []
            assert [row["id"] for row in store.rows()] == (left[0] if recorded else idents)


def test_two_gateways_make_the_table_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both see that there is none; the second one finds the first one's."""
    url, inner = f"sqlite:///{tmp_path / 'gateway.db'}", MetaData.create_all
    calls: list[bool] = []

    def create(self: MetaData, engine: Any, **options: Any) -> None:
        calls.append(True)
        if len(calls) == 1:
            inner(self, engine)
            inner(self, engine, checkfirst=False)
        inner(self, engine, **options)

    monkeypatch.setattr(MetaData, "create_all", create)
    assert stored_rows(url) == []
    assert len(calls) > 1


def test_a_table_of_another_version_is_refused(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "gateway.db")) as database:
        database.execute("CREATE TABLE toolfmt_exchanges (number INTEGER, id TEXT)")
    with pytest.raises(ParseError, match="another version and has no column owner"):
        Store(f"sqlite:///{tmp_path / 'gateway.db'}")


def test_a_long_history_is_read_in_a_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def converted(*arguments: Any, **options: Any) -> Any:
        seen.append(current_thread().name)
        return convert_request(*arguments, **options)

    monkeypatch.setattr("toolfmt.gateway.handling.convert_request", converted)
    with serving(Answer("x" * 300_000)) as upstream, gateway(kept(upstream, tmp_path)) as url:
        client = client_of(url)
        first = client.responses.create(model="m", input="Weather?")
        client.responses.create(model="m", input="And?", previous_response_id=first.id)
    assert ["AnyIO" in name for name in seen] == [False, True]


def test_a_store_that_cannot_be_opened_is_refused_at_the_start(tmp_path: Path) -> None:
    config = Config(
        backs={"it": Back(url="http://127.0.0.1:9")},
        routes=(ModelRoute(backs=("it",)),),
        store=f"sqlite:///{tmp_path}/none/gateway.db",
    )
    with pytest.raises(ParseError, match="cannot be opened"):
        make_app(config)
    with pytest.raises(ParseError, match="cannot be opened"):
        make_app(config.model_copy(update={"store": "no address"}))
    with pytest.raises(ValidationError, match="needs a store"):
        Config.model_validate(config.model_dump() | {"store": None, "record": True})


@pytest.mark.parametrize("ident", [{}, [], 5, "", True])
def test_an_id_that_is_not_text_is_refused_and_no_answer_comes_without_its_history(ident: Any, tmp_path: Path) -> None:
    body = {"model": "m", "input": "And now?", "previous_response_id": ident}
    with serving(CALL) as upstream:
        for config in (kept(upstream, tmp_path), before(upstream, "anthropic")):
            with gateway(config) as url:
                assert httpx2.post(f"{url}/v1/responses", json=body).status_code == 400
    assert not upstream.requests


def test_an_unknown_id_is_not_found_and_not_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """PostgreSQL takes no NUL."""
    caplog.set_level(logging.INFO, "toolfmt.gateway")
    with serving(CALL) as upstream, gateway(kept(upstream, tmp_path)) as url:
        for ident in ("resp_swordfish", "swordfish\0"):
            body = {"model": "m", "input": "And now?", "previous_response_id": ident}
            assert httpx2.post(f"{url}/v1/responses", json=body).status_code == 404
    assert len(caplog.messages) == 2
    assert "swordfish" not in caplog.text
    assert not upstream.requests


def test_a_client_lists_the_input_of_its_answer(tmp_path: Path) -> None:
    """The input of a continued answer is all that the model was sent, in pages, the last item first by default."""
    with serving(CALL, Answer("It rains.")) as upstream, gateway(kept(upstream, tmp_path)) as url:
        client = client_of(url)
        first = client.responses.create(model="m", input="Weather?", tools=[LOOK])
        (call,) = (one for one in first.output if one.type == "function_call")
        result: Any = {"type": "function_call_output", "call_id": call.call_id, "output": "rain"}
        second = client.responses.create(model="m", input=[result], previous_response_id=first.id, tools=[LOOK])
        items = client.responses.input_items.list
        (only,) = items(first.id)
        forth = list(items(second.id, order="asc", limit=1))
        back = list(items(second.id))
        refused = [
            httpx2.get(f"{url}/v1/responses/{second.id}/input_items", params=query).status_code
            for query in ({"limit": "0"}, {"limit": "many"}, {"after": "nothing"})
        ]
        with pytest.raises(NotFoundError, match="there is no"):
            items("resp_0")
    assert only.model_dump(exclude_unset=True)["content"] == [{"type": "input_text", "text": "Weather?"}]
    assert [one.type for one in forth] == ["message", "message", "function_call", "function_call_output"]
    assert [one.id for one in back] == [one.id for one in reversed(forth)]
    assert len({one.id for one in forth}) == 4
    assert refused == [400, 400, 404]


def test_a_conversation_goes_on_after_an_answer_without_content(tmp_path: Path) -> None:
    with serving(Answer(""), Answer("Yes.")) as upstream, gateway(kept(upstream, tmp_path, "openai-chat")) as url:
        client = client_of(url)
        first = client.responses.create(model="m", input="Hello?")
        second = client.responses.create(model="m", input="Are you there?", previous_response_id=first.id)
    assert second.output_text == "Yes."
    assert "Hello?" in json.dumps(upstream.requests[1].body)


@pytest.mark.parametrize("api", ["openai-responses", "anthropic"])
def test_an_answer_in_the_background_comes_at_once(api: str, tmp_path: Path) -> None:
    with serving(Answer("It rains.")) as upstream, gateway(kept(upstream, tmp_path, api)) as url:
        made = client_of(url).responses.with_raw_response.create(model="m", input="Weather?", background=True)
    response = made.parse()
    assert (response.status, response.background, response.output_text) == ("completed", False, "It rains.")
    assert made.headers["x-toolfmt-losses"] == "setting=1"
    assert "background" not in upstream.requests[0].body
