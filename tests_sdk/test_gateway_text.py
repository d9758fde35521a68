"""A gateway before models that only write text, asked by the official SDKs."""

from __future__ import annotations

import json
import logging
import re
from typing import Any

import httpx2
import pytest
from gateways import CALL, FACES, SCHEMA, TEXT_CALL, before, by_chat, gateway, seen
from google import genai
from google.genai.types import FinishReason, FunctionDeclaration, GenerateContentConfig, HttpOptions, Tool
from loopback import Answer, Body, serving

from toolfmt.gateway.handling import NOTICES

ASKED: dict[str, Any] = {
    "model": "m",
    "messages": [{"role": "user", "content": "Weather?"}],
    "tools": [{"type": "function", "function": {"name": "look", "parameters": SCHEMA}}],
}
BROKEN = Answer('I look.\n<tool_call>\n{"name": "look", "arguments": {"city": \n</tool_call>')


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("face", FACES)
def test_a_call_that_cannot_be_used_is_asked_for_again(face: str, stream: bool) -> None:  # noqa: FBT001 - as above
    with serving(BROKEN, TEXT_CALL) as upstream, gateway(before(upstream, "text")) as url:
        text, calls = FACES[face](url, stream=stream)
    assert calls == [("look", {"city": "Zürich"})]
    assert "tool_call" not in text
    first, second = (asked.body["messages"] for asked in upstream.requests)
    assert second[: len(first)] == first
    said, advice = second[len(first) :]
    assert (said["role"], said["content"]) == ("assistant", BROKEN.text)
    assert "Your call could not be used" in advice["content"]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_asking_again_has_an_end(stream: bool) -> None:  # noqa: FBT001 - as above
    for retries in (0, 2):
        with serving(BROKEN) as upstream, gateway(before(upstream, "text", retries=retries)) as url:
            text, calls = seen("anthropic", url) if stream else by_chat(url, stream=False)
        assert [call for call in calls if call[1]] == []
        assert text.startswith("I look.")
        assert len(upstream.requests) == retries + 1


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_nothing_of_a_call_that_stays_broken_reaches_the_client(stream: bool) -> None:  # noqa: FBT001 - as above
    broken = Answer('<tool_call>{"name": "look", "arguments": {"city": ]}}</tool_call>')
    with serving(broken) as upstream, gateway(before(upstream, "text")) as url:
        response = httpx2.post(f"{url}/v1/chat/completions", json={**ASKED, "stream": stream}).text
    assert len(upstream.requests) == 3
    assert "tool_calls" not in response
    assert '"finish_reason":"length"' in response.replace(": ", ":")  # not an answer that is complete


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("retries", [0, 1])
def test_geminis_clients_are_told_that_a_call_stayed_broken(retries: int, stream: bool) -> None:  # noqa: FBT001 - as above
    look = FunctionDeclaration(name="look", description="Look.", parameters_json_schema=SCHEMA)
    asked: Any = {"model": "m", "contents": "Weather?"}
    asked["config"] = GenerateContentConfig(tools=[Tool(function_declarations=[look])])
    with (
        serving(BROKEN) as upstream,
        gateway(before(upstream, "text", retries=retries)) as url,
        genai.Client(api_key="none", http_options=HttpOptions(base_url=url)) as client,
    ):
        ask = client.models.generate_content_stream if stream else client.models.generate_content
        answers: Any = list(ask(**asked)) if stream else [ask(**asked)]
    assert answers[-1].candidates[0].finish_reason == FinishReason.MALFORMED_FUNCTION_CALL
    assert not any(answer.function_calls for answer in answers)
    assert BROKEN.text.partition("\n")[2] in "".join(answer.text or "" for answer in answers)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("call", [{"name": "lok", "arguments": {"city": "x"}}, {"name": "look", "arguments": {}}])
def test_a_call_that_does_not_fit_its_tool_is_asked_for_again(call: Any, stream: bool) -> None:  # noqa: FBT001 - as above
    wrong = Answer(f"<tool_call>{json.dumps(call)}</tool_call>")
    with serving(wrong, TEXT_CALL) as upstream, gateway(before(upstream, "text")) as url:
        assert by_chat(url, stream=stream)[1] == [("look", {"city": "Zürich"})]
    assert len(upstream.requests) == 2
    with serving(wrong) as upstream, gateway(before(upstream, "text")) as url:  # in the end the client decides
        assert by_chat(url, stream=stream)[1] == [(call["name"], call["arguments"])]
    assert len(upstream.requests) == 3


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("face", FACES)
def test_a_call_that_the_server_has_read_itself_is_passed_on(face: str, stream: bool) -> None:  # noqa: FBT001 - as above
    both = Answer(TEXT_CALL.text, CALL.calls)
    for answer, count in ((CALL, 1), (both, 2)):
        with serving(answer) as upstream, gateway(before(upstream, "text")) as url:
            _, calls = FACES[face](url, stream=stream)
        assert calls == [("look", {"city": "Zürich"})] * count
        assert len(upstream.requests) == 1


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_each_call_has_an_id_of_its_own(stream: bool) -> None:  # noqa: FBT001 - as above
    with serving(TEXT_CALL) as upstream, gateway(before(upstream, "text")) as url:
        answers = [httpx2.post(f"{url}/v1/chat/completions", json={**ASKED, "stream": stream}).text for _ in range(2)]
    first, second = (set(re.findall(r'"id": ?"(call_[^"]+)"', answer)) for answer in answers)
    assert len(first) == len(second) == 1
    assert first != second


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_an_id_that_the_model_writes_again_is_not_given_again(stream: bool) -> None:  # noqa: FBT001 - as above
    begin, end = "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"
    one = '<|tool_call_begin|>functions.look:0<|tool_call_argument_begin|>{"city": "x"}<|tool_call_end|>'
    earlier = {"id": "functions.look:0", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    more: Any = [
        {"role": "assistant", "content": None, "tool_calls": [earlier]},
        {"role": "tool", "tool_call_id": earlier["id"], "content": "rain"},
    ]
    for text, messages in ((f"{begin}{one}{end}", more), (f"{begin}{one}{one}{end}", [])):
        with serving(Answer(text)) as upstream, gateway(before(upstream, "text", dialect="kimi-k2")) as url:
            body = {**ASKED, "messages": [*ASKED["messages"], *messages], "stream": stream}
            answer = httpx2.post(f"{url}/v1/chat/completions", json=body).text
        ids = re.findall(r'"id": ?"((?:call_|functions)[^"]+)"', answer) + [one["tool_call_id"] for one in messages[1:]]
        assert len(set(ids)) == len(ids) == 2


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_without_tools_there_is_no_call(stream: bool) -> None:  # noqa: FBT001 - as above
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": stream}
    with serving(TEXT_CALL) as upstream, gateway(before(upstream, "text")) as url:
        response = httpx2.post(f"{url}/v1/chat/completions", json=body).text
    assert "tool_calls" not in response
    if not stream:
        assert json.loads(response)["choices"][0]["message"]["content"] == TEXT_CALL.text


@pytest.mark.parametrize("api", ["text", "openai-chat", "anthropic"])
@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"messages": "hi"},
        {"messages": [{"content": "x"}]},
        {"messages": [], "tools": 5},
        {"messages": [{"role": "user", "content": "x"}], "tools": [{"name": 1}]},
        {"messages": [{"role": "user", "content": "x"}], "tools": [{"type": "function", "function": {"name": 1}}]},
    ],
)
def test_a_wrong_request_is_the_clients_error(wrong: Any, api: str) -> None:
    with serving(CALL) as upstream, gateway(before(upstream, api)) as url:
        response = httpx2.post(f"{url}/v1/chat/completions", json={"model": "m", **wrong})
    assert response.status_code in {200, 400}
    assert response.json()


def test_a_required_call_is_asked_for_and_held_by_a_grammar() -> None:
    body = {
        "model": "m",
        "messages": [{"role": "user", "content": "Weather?"}],
        "tools": [{"type": "function", "function": {"name": "look", "parameters": SCHEMA}}],
        "tool_choice": "required",
    }
    for constraint, field in (("llama.cpp", "grammar"), ("vllm", "structured_outputs")):
        with (
            serving(Answer("It rains."), TEXT_CALL) as upstream,
            gateway(before(upstream, "text", constraint=constraint)) as url,
        ):
            response = httpx2.post(f"{url}/v1/chat/completions", json=body)
            figures = httpx2.get(f"{url}/metrics").text
        assert response.json()["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "look"
        assert response.headers[NOTICES] == "asked=2"
        assert all("look" in json.dumps(asked.body[field]) for asked in upstream.requests)
        assert 'toolfmt_requests_total{back="it",face="openai-chat",key="",route="*",status="200"} 1.0' in figures


def test_calls_of_any_format_are_read() -> None:
    xml = Answer("<tool_call><function=look><parameter=city>Zürich</parameter></function></tool_call>")
    with serving(xml) as upstream, gateway(before(upstream, "text")) as url:
        assert by_chat(url, stream=False)[1] == by_chat(url, stream=True)[1] == [("look", {"city": "Zürich"})]


def calling(*names: str) -> Answer:
    """Call tools in one answer."""
    one = '<tool_call>\n{{"name": "{}", "arguments": {{"city": "Bern"}}}}\n</tool_call>'
    return Answer("\n".join(one.format(name) for name in names))


LOOK: Any = {"type": "function", "function": {"name": "look"}}
NO_CALL = Answer("I cannot look.")
CHOICES: dict[str, tuple[list[Answer], dict[str, Any], list[str], str]] = {
    "a named tool": ([calling("hear"), calling("look")], {"tool_choice": LOOK}, ["look"], "asked=2"),
    "allowed tools": (
        [calling("hear"), calling("look")],
        {"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [LOOK]}}},
        ["look"],
        "asked=2",
    ),
    "allowed tools, none called": (
        [NO_CALL],
        {"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [LOOK]}}},
        [],
        "",
    ),
    "one call": ([calling("look", "hear", "hear")], {"parallel_tool_calls": False}, ["look"], "further_call=2"),
    "a call, never written": ([NO_CALL], {"tool_choice": "required"}, [], "asked=3, tool_choice=unmet"),
}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("which", CHOICES)
def test_what_a_client_allows_holds_without_a_grammar(which: str, stream: bool) -> None:  # noqa: FBT001 - as above
    script, chosen, expected, notices = CHOICES[which]
    hear = {"type": "function", "function": {"name": "hear", "parameters": SCHEMA}}
    body = {**ASKED, "tools": [*ASKED["tools"], hear], "stream": stream, **chosen}
    with serving(*script) as upstream, gateway(before(upstream, "text")) as url:
        response = httpx2.post(f"{url}/v1/chat/completions", json=body, headers={NOTICES: "1"})
    assert re.findall(r'"name": ?"(\w+)"', response.text) == expected
    said = re.findall(f": {NOTICES}: (.*)", response.text) if stream else [response.headers.get(NOTICES, "")]
    assert said == ([notices] if notices or not stream else [])


@pytest.mark.parametrize("reply", [TEXT_CALL, Answer('look(city="Zürich")')], ids=["read", "unread"])
def test_a_call_that_the_models_server_does_not_read_is_reported(
    reply: Answer, caplog: pytest.LogCaptureFixture
) -> None:
    """The client gets the text, with a notice; the log says once for each model what to change."""
    marked = {"x-toolfmt-notices": "1"}
    with (
        caplog.at_level(logging.WARNING, "toolfmt.gateway"),
        serving(reply) as upstream,
        gateway(before(upstream, "openai-chat")) as url,
    ):
        whole = httpx2.post(f"{url}/v1/chat/completions", json=ASKED)
        streamed = httpx2.post(f"{url}/v1/chat/completions", json=ASKED | {"stream": True}, headers=marked)
        for face in FACES.values():
            assert face(url, stream=False) == (reply.text, [])
    assert whole.headers["x-toolfmt-notices"] == "unread_call=1"
    assert ": x-toolfmt-notices: unread_call=1" in streamed.text
    (line,) = map(json.loads, caplog.messages)
    assert (line["back"], line["model"]) == ("it", "m")
    assert f"--api text --dialect {line['unread_call']}" in line["advice"]


@pytest.mark.parametrize("text", ["It rains (a lot) in <city>.", "I can look for {city}, if you like."])
def test_text_without_a_call_is_not_reported(text: str, caplog: pytest.LogCaptureFixture) -> None:
    with (
        caplog.at_level(logging.WARNING, "toolfmt.gateway"),
        serving(Answer(text)) as upstream,
        gateway(before(upstream, "openai-chat")) as url,
    ):
        for stream in (False, True):
            assert by_chat(url, stream=stream) == (text, [])
    assert not caplog.messages


def written_in_pieces(text: str, end: str = "") -> Body:
    """Write a stream, which breaks off after the text if it has no end."""
    deltas = [{"content": text[at : at + 5]} for at in range(0, len(text), 5)]
    choices: list[Any] = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices += [{"index": 0, "delta": {}, "finish_reason": end}] if end else []
    events = "".join(f"data: {json.dumps({'choices': [choice]})}\n\n" for choice in choices)
    return Body(200, events, media="text/event-stream")


def pieces_of_the_call(url: str, schema: Any, **settings: Any) -> tuple[list[str], str]:
    """Ask for a stream; the pieces of the call's arguments, and all that came."""
    tool = {"type": "function", "function": {"name": "look", "parameters": schema}}
    body = {**ASKED, "tools": [tool], "stream": True, **settings}
    lines = httpx2.post(f"{url}/v1/chat/completions", json=body).text
    events = [json.loads(line[6:]) for line in lines.splitlines() if line.startswith("data: {")]
    deltas = [choice["delta"] for event in events for choice in event.get("choices", ())]
    found = [call["function"].get("arguments") for delta in deltas for call in delta.get("tool_calls") or ()]
    return [piece for piece in found if piece], lines


FITS = '<tool_call>\n{"name": "look", "arguments": {"city": "Zollikon near Bern"}}\n</tool_call>'
OPEN_SCHEMA = {**SCHEMA, "properties": {"city": {"type": "string", "not": {"const": "x"}}}}


@pytest.mark.parametrize(
    ("schema", "options", "settings", "as_written"),
    [
        (SCHEMA, {"constraint": "vllm"}, {"tool_choice": "required"}, True),
        (SCHEMA, {"retries": 0}, {}, True),
        (SCHEMA, {"constraint": "vllm"}, {}, False),  # nothing is required, so no grammar is sent
        (OPEN_SCHEMA, {"constraint": "vllm"}, {"tool_choice": "required"}, False),  # of which a grammar enforces a part
        (SCHEMA, {}, {"tool_choice": "required"}, False),
    ],
)
def test_a_call_is_streamed_as_it_is_written_where_it_need_not_be_asked_for_again(
    schema: Any,
    options: dict[str, Any],
    settings: dict[str, Any],
    as_written: bool,  # noqa: FBT001 - as above
) -> None:
    config: Any = before
    with serving(written_in_pieces(FITS[:60])) as upstream, gateway(config(upstream, "text", **options)) as url:
        pieces, _ = pieces_of_the_call(url, schema, **settings)
    assert "".join(pieces).startswith('{"city": "Zoll' if as_written else "")
    assert bool(pieces) == as_written
    with serving(written_in_pieces(FITS, "stop")) as upstream, gateway(config(upstream, "text", **options)) as url:
        pieces, _ = pieces_of_the_call(url, schema, **settings)
    assert json.loads("".join(pieces)) == {"city": "Zollikon near Bern"}


@pytest.mark.parametrize(
    ("text", "end", "said"),
    [
        ('<tool_call>\n{"name": "look", "arguments": {"city": 5}}\n</tool_call>', "stop", "does not fit the grammar"),
        ('<tool_call>\n{"name": "hear", "arguments": {"city": "x"}}\n</tool_call>', "stop", "no such tool"),
        (FITS[:60], "length", '"finish_reason":"length"'),
    ],
)
def test_a_streamed_call_that_the_grammar_did_not_hold_ends_as_what_it_is(text: str, end: str, said: str) -> None:
    with (
        serving(written_in_pieces(text, end), TEXT_CALL) as upstream,
        gateway(before(upstream, "text", constraint="vllm")) as url,
    ):
        pieces, lines = pieces_of_the_call(url, SCHEMA, tool_choice="required")
    assert said in lines
    assert len(upstream.requests) == 1
    with pytest.raises(ValueError, match=r"^(Expecting|Unterminated)"):
        json.loads("".join(pieces))


WRONG = '<tool_call>\n{"name": "look", "arguments": {"city": 5}}\n</tool_call>'


@pytest.mark.parametrize(
    "first", [WRONG, "<tool_call>\n{'name': 'look', 'arguments': {'city': Bern}}\n</tool_call>", "Hi."]
)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_server_that_was_seen_to_ignore_a_grammar_is_asked_again(
    first: str,
    stream: bool,  # noqa: FBT001 - as above
    caplog: pytest.LogCaptureFixture,
) -> None:
    tool = {"type": "function", "function": {"name": "look", "parameters": SCHEMA}}
    asked = {**ASKED, "tools": [tool], "tool_choice": "required", "stream": stream}
    with (
        caplog.at_level(logging.WARNING, "toolfmt.gateway"),
        serving(Answer(first), TEXT_CALL) as upstream,
        gateway(before(upstream, "text", constraint="vllm")) as url,
    ):
        httpx2.post(f"{url}/v1/chat/completions", json=asked)
        count = len(upstream.requests)
        upstream.script[count:] = [Answer(WRONG), TEXT_CALL]
        pieces, lines = pieces_of_the_call(url, SCHEMA, tool_choice="required")
    assert json.loads("".join(pieces)) == {"city": "Zürich"}, lines
    assert len(upstream.requests) == count + 2
    (line,) = (line for line in map(json.loads, caplog.messages) if "ignored_grammar" in line)
    assert (line["back"], line["model"], line["ignored_grammar"]) == ("it", "m", "vllm")


RM = '<tool_call>\n{"name": "rm", "arguments": {"path": "/"}}\n</tool_call>'
ILL_TYPED = '<tool_call>\n{"name": "look", "arguments": {"city": 7}}\n</tool_call>'


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("first", [False, True], ids=["after", "before"])
@pytest.mark.parametrize("bad", [RM, ILL_TYPED, BROKEN.text], ids=["unknown", "ill-typed", "broken"])
@pytest.mark.parametrize("face", FACES)
def test_beside_a_call_that_counts_one_that_cannot_be_used_is_text(
    face: str,
    bad: str,
    first: bool,  # noqa: FBT001 - as above
    stream: bool,  # noqa: FBT001 - as above
) -> None:
    texts = [bad, TEXT_CALL.text] if first else [TEXT_CALL.text, bad]
    with serving(Answer("\n".join(texts))) as upstream, gateway(before(upstream, "text")) as url:
        text, calls = FACES[face](url, stream=stream)
    assert calls == [("look", {"city": "Zürich"})]
    assert bad.strip()[-30:] in text
    assert len(upstream.requests) == 1


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_call_that_cannot_be_used_beside_one_that_counts_is_a_notice(stream: bool) -> None:  # noqa: FBT001 - as above
    with serving(Answer(f"{RM}\n{TEXT_CALL.text}")) as upstream, gateway(before(upstream, "text")) as url:
        asked = {**ASKED, "stream": stream}
        response = httpx2.post(f"{url}/v1/chat/completions", json=asked, headers={NOTICES: "1"})
    noticed = response.text if stream else response.headers[NOTICES]
    assert "failed_call=1" in noticed
    assert '"finish_reason":"tool_calls"' in response.text.replace(": ", ":")
