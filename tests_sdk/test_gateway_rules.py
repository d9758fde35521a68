"""What a configuration decides: which back, whose key, how much, what nobody sees, how a model's folder is used."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from gateways import CALL, SCHEMA, TEXT_CALL, before, by_chat, gateway
from loopback import Answer, Body, Loopback, serving
from pydantic import ValidationError
from rawserver import head, raw
from template_families import NO_TOOLS, TAGS
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from toolfmt.cli import main
from toolfmt.errors import ParseError
from toolfmt.gateway.app import make_app
from toolfmt.gateway.config import Back, Config, ModelRoute
from toolfmt.gateway.handling import NOTICES
from toolfmt.gateway.loading import load_config, reported, single

CHAT: Any = {"model": "m", "messages": [{"role": "user", "content": "Weather in Paris, says ann@example.org?"}]}
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": SCHEMA}}]
PATH = "/v1/chat/completions"


def ruled(upstream: Loopback, **rules: Any) -> Config:
    made = before(upstream, "openai-chat").model_dump()
    return Config.model_validate(made | rules)


@pytest.mark.parametrize("first", [0, 1])
def test_weights_say_who_is_asked_first(first: int) -> None:
    with serving(CALL) as one, serving(CALL) as other:
        backs = {"one": Back(url=f"{one.url}/v1"), "other": Back(url=f"{other.url}/v1")}
        route = ModelRoute(backs=("one", "other"), weights=(1 - first, first))
        with gateway(Config(backs=backs, routes=(route,))) as url:
            for _ in range(3):
                by_chat(url, stream=False)
    assert [len(one.requests), len(other.requests)] == ([0, 3] if first else [3, 0])


def test_a_long_request_goes_where_it_fits(tmp_path: Path) -> None:
    tokenizer = Tokenizer(WordLevel({"[UNK]": 0}, "[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()  # type: ignore[assignment]
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    with serving(CALL) as small, serving(CALL) as big:
        known: Any = {"tokenizer": str(tmp_path)}
        backs = {
            "small": Back(url=f"{small.url}/v1", context=3, **known),
            "big": Back(url=f"{big.url}/v1", context=100, **known),
        }
        with gateway(Config(backs=backs, routes=(ModelRoute(backs=("small", "big")),))) as url:
            short = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
            assert httpx2.post(url + PATH, json=short).status_code == 200
            assert httpx2.post(url + PATH, json=CHAT).status_code == 200
            long = httpx2.post(url + PATH, json={**short, "messages": [{"role": "user", "content": "x " * 200}]})
    assert [len(small.requests), len(big.requests)] == [1, 1]
    assert (long.status_code, long.json()["error"]["code"]) == (400, "context_length_exceeded")


def test_each_key_has_its_own_limits(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("ANN", "secret-of-ann")
    (tmp_path / "bob").write_text("secret-of-bob\n")
    keys = {
        "ann": {"key_env": "ANN", "requests_per_minute": 2},
        "bob": {"key_file": str(tmp_path / "bob"), "models": ["small-*"], "concurrent": 1},
    }

    def ask(key: str, **body: Any) -> httpx2.Response:
        return httpx2.post(url + PATH, json={**CHAT, **body}, headers={"authorization": f"Bearer {key}"})

    caplog.set_level(logging.INFO, "toolfmt.gateway")
    with serving(CALL) as upstream, gateway(ruled(upstream, keys=keys)) as url:
        assert [ask("secret-of-ann").status_code for _ in range(3)] == [200, 200, 429]
        limited = ask("secret-of-ann")
        assert 1 <= int(limited.headers["retry-after"]) <= 30
        assert limited.json()["error"]["type"] == "rate_limit_error"
        assert ask("secret-of-bob").status_code == 403
        assert ask("secret-of-bob", model="small-1").status_code == 200
        assert ask("secret-of-eve").status_code == 401
    assert '"key": "ann"' in caplog.text
    assert "secret" not in caplog.text
    held = Answer("Let me look.", hang=3)
    with serving(held, CALL) as upstream, gateway(ruled(upstream, keys=keys)) as url:
        headers = {"x-api-key": "secret-of-bob"}
        body = {**CHAT, "model": "small-1", "stream": True}
        with httpx2.stream("POST", url + PATH, json=body, headers=headers) as response:
            pieces = response.iter_text()
            next(pieces)
            assert ask("secret-of-bob", model="small-1").status_code == 429
            upstream.resumed.set()


def test_a_clients_key_goes_on_only_where_a_rule_says_so() -> None:
    headers = {"authorization": "Bearer sk-clients"}
    for passed in (False, True):
        with serving(CALL) as upstream, gateway(before(upstream, "anthropic", pass_key=passed)) as url:
            assert httpx2.post(url + PATH, json=CHAT, headers=headers).status_code == 200
        (asked,) = upstream.requests
        assert asked.headers.get("x-api-key") == ("sk-clients" if passed else None)
        assert ("sk-clients" in str(asked.headers)) is passed


def test_a_refused_key_of_the_gateway_is_no_fault_of_the_client() -> None:
    refused = Body(401, '{"error": {"message": "Incorrect API key provided", "code": "invalid_api_key"}}')
    for passed, status, words in ((False, 502, "the back 'it' requires a key"), (True, 401, "Incorrect API key")):
        with serving(refused) as upstream, gateway(before(upstream, "openai-chat", pass_key=passed)) as url:
            response = httpx2.post(url + PATH, json=CHAT)
        assert (response.status_code, words in response.json()["error"]["message"]) == (status, True)


def test_a_client_sees_the_models_of_its_key_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANN", "secret-of-ann")
    routes = [{"model": name, "backs": ["it"]} for name in ("small-1", "large-1")]
    keys = {"ann": {"key_env": "ANN", "models": ["small-*"]}}
    headers = {"authorization": "Bearer secret-of-ann"}
    with serving() as upstream, gateway(ruled(upstream, routes=routes, keys=keys)) as url:
        listed = httpx2.get(f"{url}/v1/models", headers=headers).json()
        described = [httpx2.get(f"{url}/v1/models/{name}", headers=headers) for name in ("small-1", "large-1")]
    assert [one["id"] for one in listed["data"]] == ["small-1"]
    assert [one.status_code for one in described] == [200, 403]


def test_what_is_redacted_reaches_nobody() -> None:
    rules = [{"pattern": r"[\w.]+@[\w.]+", "replacement": "[mail]"}]
    with serving(CALL) as upstream, gateway(ruled(upstream, redact=rules)) as url:
        response = httpx2.post(url + PATH, json=CHAT)
    assert upstream.requests[0].body["messages"][0]["content"] == "Weather in Paris, says [mail]?"
    assert response.headers[NOTICES] == "redacted=1"


def test_what_is_redacted_is_found_in_names_and_behind_the_escapes_of_json() -> None:
    written = r'{"city": "M\u00fcller", "at": {"M\u00fcller": 1, "Müller_": 2, "m\u00fcller": "\n"}}'
    function = {"name": "look", "arguments": written}
    call = {"id": "c1", "type": "function", "function": function}
    asked = {
        **CHAT,
        "messages": [
            {"role": "user", "content": r"{not JSON: \u"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": '{"Müller": "a\\nb"}'},
        ],
    }
    rules = [{"pattern": "Müller"}]
    with serving(CALL) as upstream, gateway(ruled(upstream, redact=rules)) as url:
        response = httpx2.post(url + PATH, json=asked)
    user, assistant, result = upstream.requests[0].body["messages"]
    assert user["content"] == r"{not JSON: \u"
    assert json.loads(assistant["tool_calls"][0]["function"]["arguments"]) == {
        "city": "[redacted]",
        "at": {"[redacted]": 1, "[redacted]_": 2, "müller": "\n"},
    }
    assert json.loads(result["content"]) == {"[redacted]": "a\nb"}
    assert response.headers[NOTICES] == "redacted=4"


def test_rules_that_cannot_hold_are_refused(tmp_path: Path) -> None:
    url = "http://127.0.0.1:9"
    for message, back in (
        ("needs a tokenizer", {"context": 5}),
        ("takes a prompt", {"api": "completions"}),
        ("model_dir is for models that write their calls as text", {"model_dir": "."}),
        ("dialect is for models that write their calls as text", {"dialect": "hermes"}),
        ("constraint is for models that write their calls as text", {"api": "anthropic", "constraint": "vllm"}),
        ("not both", {"pass_key": True, "key_env": "X"}),
    ):
        with pytest.raises(ValidationError, match=message):
            Back.model_validate({"url": url, **back})
    backs = {"it": {"url": url, "pass_key": True}}
    for message, config in (
        ("a number for each", {"routes": [{"backs": ["it"], "weights": [1, 2]}]}),
        ("would send the gateway's own keys on", {"key_env": "X"}),
        ("no regular expression", {"redact": [{"pattern": "("}]}),
        ("no quotes", {"redact": [{"pattern": "x", "replacement": '"'}]}),
        ("is in an environment variable", {"keys": {"ann": {}}}),
    ):
        with pytest.raises(ValidationError, match=message):
            Config.model_validate({"backs": backs, "routes": [{"backs": ["it"]}], **config})
    lost = Config.model_validate(
        {"backs": {"it": {"url": url, "key_file": str(tmp_path / "x")}}, "routes": [{"backs": ["it"]}]}
    )
    with pytest.raises(ParseError, match="the key cannot be read"):
        make_app(lost)


BACK = '[backs.it]\nurl = "http://127.0.0.1:9/v1"\n'
ROUTE = '[[routes]]\nbacks = ["it"]\n'
WRONG = {
    "a misspelt field": (f'{BACK}kye_env = "X"\n{ROUTE}', "line 3: backs/it/kye_env: unknown .*'key_env'"),
    "a back's field of the whole": (
        f"retries = 3\n{BACK}{ROUTE}",
        r"line 1: retries: unknown field; retries is a field of a back: write it under \[backs.NAME\]$",
    ),
    "a back's field of a route": (f"{BACK}{ROUTE}retries = 3\n", r"line 5: routes/0/retries: .*under \[backs.NAME\]$"),
    "a field of the whole in a back": (
        f"{BACK}workers = 2\n{ROUTE}",
        "line 3: .*of the whole: write it before the first",
    ),
    "a field that is missing": (f'[backs.it]\napi = "text"\n{ROUTE}', "line 1: backs/it/url: this field is required"),
    "a number in quotes": (f'port = "80"\n{BACK}{ROUTE}', "line 1: port: it must be a valid integer"),
    "a value over lines": (f"{BACK}{ROUTE}weights = [\n  1,\n  2,\n]\n", "line 3: routes/0: weights has a number for"),
    "only what is wrong itself": (
        f"{BACK}[[routes]]\nbacks = []\n",
        ".toml, line 4: routes/0/backs: at least one is required$",
    ),
    "an unknown dialect": (f'{BACK}dialect = "hermse"\n{ROUTE}', "line 3: backs/it/dialect: .*did you mean 'hermes'"),
    "a password": (f'[backs.it]\nurl = "http://u:secret@h"\n{ROUTE}', "line 2: backs/it/url: (?!.*secret)"),
    "a query": (f'[backs.it]\nurl = "http://h?k=secret"\n{ROUTE}', "line 2: backs/it/url: (?!.*secret)"),
    "a header that is two": (f'{BACK}headers = {{x = "a\\r\\nb: c"}}\n{ROUTE}', "line 3: backs/it/headers: 'x' is not"),
    "no JSON": (f"{BACK}extra = {{x = nan}}\n{ROUTE}", "line 3: backs/it/extra: .*JSON"),
    "no finite weight": (f"{BACK}{ROUTE}weights = [nan]\n", "line 3: routes/0: weights"),
    "an unused route": (f'{BACK}{ROUTE}[[routes]]\nmodel = "x-*"\nbacks = ["it"]\n', "'x-\\*' is never used"),
    "a key instead of a variable": (
        f'{BACK}key_env = "sk-abc-123"\n{ROUTE}',
        "line 3: backs/it/key_env: the name of a variable is required, such as OPENAI_API_KEY",
    ),
    "one name instead of a list": (f'{BACK}[[routes]]\nbacks = "it"\n', r'line 4: routes/0/backs: .*backs = \["..."\]'),
    "a table instead of a list": (f'{BACK}[routes]\nbacks = ["it"]\n', r"line 3: routes: .*write \[\[routes\]\]"),
    "an unknown api": (f'{BACK}api = "llamacpp"\n{ROUTE}', r"line 3: backs/it/api: .*did you mean 'llama\.cpp'"),
    "an unknown back": (f'{BACK}[[routes]]\nbacks = ["if"]\n', "line 4: routes/0/backs: unknown back 'if'"),
    "an unused back": (f'{BACK}[backs.other]\nurl = "http://h"\n{ROUTE}', "line 3: backs/other: no route names this"),
    "a region of no bedrock": (f'{BACK}aws_region = "eu-west-1"\n{ROUTE}', "line 1: backs/it: .*for the api bedrock"),
    "an open bracket": (f'{BACK}\n[[routes]]\nbacks = ["it"\n', r"line 5: a configuration is TOML.*Unclosed array$"),
    "a pattern of nothing": (f"{BACK}{ROUTE}[[redact]]\npattern = '\\d*'\n", "line 5: redact/0: .*empty text"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_in_a_file_is_reported_with_its_line(wrong: str, tmp_path: Path) -> None:
    text, message = WRONG[wrong]
    (tmp_path / "gateway.toml").write_text(text, "utf-8")
    with pytest.raises(ParseError, match=message):
        load_config(tmp_path / "gateway.toml")


UNUSABLE = {
    "no variable": ('key_env = "NOT_SET"', "line 3: backs/it/key_env: the environment variable NOT_SET is not set"),
    "a key like a variable": ('key_env = "gsk_abc123"', "line 3: backs/it/key_env: (?!.*abc123).*the key itself"),
    "no file of a key": ('key_file = "/none"', "line 3: backs/it/key_file: .*/none: No such file"),
    "no folder": ('api = "text"\nmodel_dir = "/none"', "line 4: backs/it/model_dir: /none: No such file"),
}


@pytest.mark.parametrize("unusable", UNUSABLE)
def test_a_field_that_turns_out_to_be_unusable_is_reported_with_its_line(unusable: str, tmp_path: Path) -> None:
    line, message = UNUSABLE[unusable]
    path = tmp_path / "gateway.toml"
    path.write_text(f"{BACK}{line}\n{ROUTE}", "utf-8")
    with pytest.raises(ParseError, match=message), reported(path):
        make_app(load_config(path))


def test_a_mistake_in_an_option_names_the_option(tmp_path: Path) -> None:
    path = tmp_path / "gateway.toml"
    path.write_text(BACK + ROUTE, "utf-8")
    with pytest.raises(ParseError, match=r"^--port: it must be"):
        load_config(path, port=99999)
    assert load_config(path, workers=2).workers == 2
    url = "http://127.0.0.1:9"
    with pytest.raises(ParseError, match=r"^--api: unknown api 'openai'; did you mean 'openai-chat'"):
        single(url, "openai")
    with pytest.raises(ParseError, match=r"^--key-env: the environment variable NOT_SET"), reported(None):
        make_app(single(url, "text", key_env="NOT_SET"))
    with pytest.raises(ParseError, match=r"^--client-key-env: the environment variable NOT_SET"), reported(None):
        make_app(single(url, "text", {"key_env": "NOT_SET"}))


OPTIONS = {
    "both": (["gateway.toml", "--upstream", "http://h"], "not both"),
    "an address as a file": (["http://127.0.0.1:9/v1"], "write --upstream http://127.0.0.1:9/v1"),
    "an option of the upstream": (["gateway.toml", "--dialect", "hermes"], "--dialect belongs to --upstream"),
    "nothing": ([], "give a configuration file, or --upstream"),
}


@pytest.mark.parametrize("which", OPTIONS)
def test_options_that_do_not_go_together_are_refused(which: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments, message = OPTIONS[which]
    assert main(["serve", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_two_clients_with_one_key_and_a_key_of_two_lines_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANN", "one\ntwo")
    routes = (ModelRoute(backs=("it",)),)
    back: Any = {"url": "http://127.0.0.1:9"}
    with pytest.raises(ParseError, match="characters that a header can contain"):
        make_app(Config(backs={"it": Back(key_env="ANN", **back)}, routes=routes))
    monkeypatch.setenv("ANN", "one")
    keys: Any = {"ann": {"key_env": "ANN"}, "bob": {"key_env": "ANN"}}
    with pytest.raises(ParseError, match="'ann' and 'bob' are the same"):
        make_app(Config(backs={"it": Back(**back)}, routes=routes, keys=keys))


def chunks(text: str) -> Iterator[bytes]:
    yield head()
    for at in range(0, len(text), 7):
        yield f"data: {json.dumps({'choices': [{'index': 0, 'text': text[at : at + 7]}]})}\n\n".encode()
    yield b'data: {"choices": [{"index": 0, "text": "", "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'


def said(answer: tuple[str, Any]) -> tuple[str, Any]:
    return answer[0].strip(), answer[1]


EXPECTED = ("Let me look.", [("look", {"city": "Zürich"})])
BROKEN = '<tool_call>{"name": "look", "arguments": {"city": }}</tool_call>'


@pytest.fixture(params=[TAGS, NO_TOOLS], ids=["a template with tools", "a template without"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    config = {"chat_template": request.param, "eos_token": "<|im_end|>"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config), "utf-8")
    return tmp_path


def test_a_models_template_renders_the_prompt(folder: Path) -> None:
    whole = [{"index": 0, "text": text, "finish_reason": "stop"} for text in (BROKEN, TEXT_CALL.text)]
    replies = [Body(200, json.dumps({"id": "x", "choices": [one]})) for one in whole]
    with serving(*replies) as upstream, gateway(before(upstream, "completions", model_dir=str(folder))) as url:
        assert said(by_chat(url, stream=False)) == EXPECTED
    first, second = (asked.body for asked in upstream.requests)
    assert "messages" not in first
    assert all(word in first["prompt"] for word in ("Weather?", "look", "city"))
    assert "Your call could not be used" in second["prompt"]
    with raw(lambda: chunks(TEXT_CALL.text)) as server:
        back = Back(api="completions", url=server.url, model_dir=str(folder))
        with gateway(Config(backs={"it": back}, routes=(ModelRoute(backs=("it",)),))) as url:
            assert said(by_chat(url, stream=True)) == EXPECTED


def test_llama_cpp_is_asked_in_its_own_words(folder: Path) -> None:
    reply = {"content": TEXT_CALL.text, "stop": True, "stop_type": "eos", "tokens_evaluated": 5, "tokens_predicted": 2}
    with (
        serving(Body(200, json.dumps(reply))) as upstream,
        gateway(before(upstream, "llama.cpp", model_dir=str(folder))) as url,
    ):
        response = httpx2.post(url + PATH, json={**CHAT, "tools": TOOLS, "max_tokens": 7}).json()
    assert response["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "look"
    assert response["usage"]["total_tokens"] == 7
    assert upstream.requests[0].path.endswith("/completion")
    assert upstream.requests[0].body.keys() >= {"prompt", "n_predict"}
