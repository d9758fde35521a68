"""Whole agent loops over loopback: the official SDKs ask, the server checks what it is asked the second time."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from judges import JUDGES
from loopback import Answer, Body, Loopback, responses, serving, sse
from sdks import CASES, Case

from toolfmt import ToolRegistry
from toolfmt.agents import AgentLoop, AgentState, NativeDriver, Patience, TextDriver
from toolfmt.conversation import CallPart
from toolfmt.model import JsonObject

IDS = ("a1b2c3d4e", "b1b2c3d4e", "c1b2c3d4e")
"""As Mistral wants them."""
TEXTS = ("18 in Paris", "21 in Rome", "nothing is known of Atlantis")
CITIES = ("Paris", "Rome", "Atlantis")
CALLS = tuple(CallPart("weather", {"city": city}, id=one) for city, one in zip(CITIES, IDS, strict=True))
ASKS = Answer("Let me look. ", CALLS)
ENDS = Answer("Paris 18, Rome 21.")
HURRY = Patience(pause=0.01)


class Town:
    """A tool that remembers what it was called for; the first city takes longest."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.registry = ToolRegistry()
        self.registry.register(self.weather)

    async def weather(self, city: str) -> str:
        """Tell the weather of a city."""
        self.asked.append(city)
        await anyio.sleep(0.02 if city == CITIES[0] else 0)
        if city not in CITIES[:2]:
            raise LookupError(f"nothing is known of {city}")
        return dict(zip(CITIES, TEXTS, strict=True))[city]


def run(case: Case, server: Loopback, town: Town, *, stream: bool = True, **further: Any) -> AgentState:
    async def loop() -> AgentState:
        async with case.open(server.url) as client:
            driver = NativeDriver(client, stream=stream, patience=HURRY, **further)
            return await AgentLoop(driver, town.registry).run("Weather in Paris, Rome and Atlantis?")

    return anyio.run(loop)


def of_chat(body: Any) -> tuple[list[str], list[tuple[str, Any]]]:
    at = max(at for at, one in enumerate(body["messages"]) if one.get("tool_calls"))
    calls = [call["id"] for call in body["messages"][at]["tool_calls"]]
    after = body["messages"][at + 1 :]
    assert {one["role"] for one in after} == {"tool"}
    return calls, [(one["tool_call_id"], one["content"]) for one in after]


def of_responses(body: Any) -> tuple[list[str], list[tuple[str, Any]]]:
    calls = [one["call_id"] for one in body["input"] if one.get("type") == "function_call"]
    after = [one for one in body["input"] if one.get("type") == "function_call_output"]
    assert body["input"][-len(after) :] == after
    return calls, [(one["call_id"], one["output"]) for one in after]


def of_anthropic(body: Any) -> tuple[list[str], list[tuple[str, Any]]]:
    asked, answered = body["messages"][-2:]
    assert (asked["role"], answered["role"]) == ("assistant", "user")
    assert {block["type"] for block in answered["content"]} == {"tool_result"}
    assert [block.get("is_error", False) for block in answered["content"]] == [False, False, True]
    calls = [block["id"] for block in asked["content"] if block["type"] == "tool_use"]
    return calls, [(block["tool_use_id"], block["content"]) for block in answered["content"]]


def of_gemini(body: Any) -> tuple[list[str], list[tuple[str, Any]]]:
    asked, answered = body["contents"][-2:]
    assert (asked["role"], answered["role"]) == ("model", "user")
    calls = [part["functionCall"]["id"] for part in asked["parts"] if "functionCall" in part]
    given = [part["functionResponse"] for part in answered["parts"]]
    assert {one["name"] for one in given} == {"weather"}
    return calls, [(one["id"], one["response"]) for one in given]


def of_ollama(body: Any) -> tuple[list[str], list[tuple[str, Any]]]:
    """No call has an id: the order tells."""
    at = max(at for at, one in enumerate(body["messages"]) if one.get("tool_calls"))
    after = body["messages"][at + 1 :]
    assert {(one["role"], one["tool_name"]) for one in after} == {("tool", "weather")}
    assert len(body["messages"][at]["tool_calls"]) == len(after)
    return [*IDS], list(zip(IDS, (one["content"] for one in after), strict=True))


RESULTS: dict[str, Callable[[Any], tuple[list[str], list[tuple[str, Any]]]]] = {
    "anthropic": of_anthropic,
    "gemini": of_gemini,
    "mistral": of_chat,
    "ollama": of_ollama,
    "openai-chat": of_chat,
    "openai-responses": of_responses,
}


def assert_valid(case: Case, body: JsonObject) -> None:
    """Every call has its result, in order, with what the tool gave; and the SDK's types take the request."""
    calls, results = RESULTS[case.format](body)
    assert calls == [*IDS]
    assert [one for one, _ in results] == [*IDS]
    for (_, given), text in zip(results, TEXTS, strict=True):
        assert text in json.dumps(given)
    reported = {"stream", "stream_options", "generationConfig"}
    JUDGES[case.format]({key: value for key, value in body.items() if key not in reported})


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]


@pytest.fixture
def town() -> Town:
    return Town()


@pytest.mark.parametrize("stream", [False, True])
def test_question_calls_results_answer(case: Case, town: Town, *, stream: bool) -> None:
    with serving(ASKS, ENDS) as server:
        state = run(case, server, town, stream=stream, parallel=None)
    assert (state.status, state.text) == ("completed", ENDS.text)
    assert sorted(town.asked) == sorted(CITIES)
    assert [one.call.arguments["city"] for one in state.executions] == [*CITIES]
    assert [one.has_error for one in state.executions] == [False, False, True]
    assert len(server.requests) == 2
    assert_valid(case, server.requests[1].body)
    assert (state.usage.input, state.usage.output) == (24, 18)


def test_a_busy_server_is_asked_again(case: Case, town: Town) -> None:
    with serving(Body(429, headers={"retry-after": "0"}), Body(503), ASKS, Body(500), ENDS) as server:
        state = run(case, server, town, parallel=None)
    assert state.status == "completed"
    assert sorted(town.asked) == sorted(CITIES)
    assert len(server.requests) == 5
    first, again, third, second, last = (one.body for one in server.requests)
    assert first == again == third
    assert second == last


def test_a_server_that_refuses_ends_the_run(case: Case, town: Town) -> None:
    with serving(Body(400, '{"error": {"message": "tools.0: bad schema"}}')) as server:
        state = run(case, server, town)
    assert state.status == "failed"
    assert "tools.0: bad schema" in state.reason
    assert len(server.requests) == 1


@pytest.mark.parametrize("after", [6, 99])
def test_nothing_runs_of_an_answer_that_breaks_off(case: Case, town: Town, after: int) -> None:
    """Wherever the connection is cut, the calls are run once: those of the answer that came whole."""
    with serving(Answer(ASKS.text, ASKS.calls, drop=after), ASKS, ENDS) as server:
        state = run(case, server, town, parallel=None)
    assert state.status == "completed"
    assert sorted(town.asked) == sorted(CITIES)
    assert_valid(case, server.requests[-1].body)


def test_nothing_runs_of_answers_that_all_break_off(case: Case, town: Town) -> None:
    with serving(Answer(ASKS.text, ASKS.calls, drop=3)) as server:
        state = run(case, server, town)
    assert state.status == "failed"
    assert town.asked == []


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", ["openai-chat", "openai-chat, sync", "openai-responses"])
def test_a_malformed_call_is_corrected(name: str, town: Town, *, stream: bool) -> None:
    """Where arguments are text on the wire they can be broken: the call is not run, and the model is told."""
    broken = Answer(calls=(CallPart("weather", text='{"city": "Par', id=IDS[0]),))
    with serving(broken, Answer(calls=CALLS[1:2]), ENDS) as server:
        state = run(CASES[name], server, town, stream=stream)
    assert (state.status, state.text) == ("completed", ENDS.text)
    assert town.asked == ["Rome"]
    (failure,) = state.steps[0].failures
    assert failure.raw == '{"city": "Par'
    reported = json.dumps(server.requests[1].body)
    assert "could not be used" in reported
    JUDGES[CASES[name].format]({**server.requests[1].body, "stream": False, "stream_options": None})


THINKING = [
    {"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "model": "m",
     "content": [], "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "One call."}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "EqQB+/8="}},
    {"type": "content_block_stop", "index": 0},
    {"type": "content_block_start", "index": 1,
     "content_block": {"type": "tool_use", "id": "toolu_A1", "name": "weather", "input": {}}},
    {"type": "content_block_delta", "index": 1,
     "delta": {"type": "input_json_delta", "partial_json": '{"city": "Rome"}'}},
    {"type": "content_block_stop", "index": 1},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": None},
     "usage": {"output_tokens": 9}},
    {"type": "message_stop"},
]  # fmt: skip
SIGNED = {"functionCall": {"name": "weather", "args": {"city": "Rome"}}, "thoughtSignature": "c2ln+/8="}
GEMINI = {"candidates": [{"content": {"role": "model", "parts": [SIGNED]}, "finishReason": "STOP"}]}
REASONED = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAAABo"}
OUTPUT = [
    REASONED,
    {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "weather", "arguments": '{"city": "Rome"}'},
]
PROOFS: dict[str, tuple[Body, Callable[[Any], Any], Any]] = {
    "anthropic": (
        Body(200, "".join(sse(THINKING)), media="text/event-stream"),
        lambda body: body["messages"][-2]["content"][0],
        {"type": "thinking", "thinking": "One call.", "signature": "EqQB+/8="},
    ),
    "gemini": (
        Body(200, "".join(sse([GEMINI])), media="text/event-stream"),
        lambda body: body["contents"][-2]["parts"][0]["thoughtSignature"],
        "c2ln+/8=",
    ),
    "openai-responses": (
        Body(200, json.dumps(responses(Answer()) | {"output": OUTPUT})),
        lambda body: next(one for one in body["input"] if one.get("type") == "reasoning")["encrypted_content"],
        "gAAAAABo",
    ),
}


@pytest.mark.parametrize("name", PROOFS)
def test_what_proves_a_thought_goes_back_as_it_came(name: str, town: Town) -> None:
    """Recorded answers in the providers' own words, whose next request is refused without it."""
    reply, found, proof = PROOFS[name]
    with serving(reply, ENDS) as server:
        state = run(CASES[name], server, town, stream=name != "openai-responses")
    assert state.status == "completed"
    assert town.asked == ["Rome"]
    assert found(server.requests[1].body) == proof


FAILED = responses(Answer()) | {"status": "failed", "error": {"code": "server_error", "message": "too much to do"}}
ENDED = [
    {"type": "response.created", "sequence_number": 0, "response": responses(Answer()) | {"status": "in_progress"}},
    {"type": "response.failed", "sequence_number": 1, "response": FAILED},
]


@pytest.mark.parametrize(
    ("stream", "reply"),
    [(False, Body(200, json.dumps(FAILED))), (True, Body(200, "".join(sse(ENDED)), media="text/event-stream"))],
    ids=["whole", "streamed"],
)
def test_an_answer_that_failed_is_none(town: Town, reply: Body, *, stream: bool) -> None:
    with serving(reply, reply, reply) as server:
        state = run(CASES["openai-responses"], server, town, stream=stream)
    assert state.status == "failed"
    assert "too much to do" in state.reason
    assert len(server.requests) == 3


def test_from_code_that_is_not_async(town: Town) -> None:
    """One loop, run twice: a blocking client belongs to no event loop."""
    case = CASES["openai-chat, sync"]
    with serving(ASKS, ENDS, ASKS, ENDS) as server, case.make(server.url) as client:
        loop = AgentLoop(NativeDriver(case.adapt(client), parallel=None), town.registry)
        for _ in range(2):
            assert loop.run_sync("Weather?").status == "completed"
    assert sorted(town.asked) == sorted(CITIES * 2)
    assert_valid(case, server.requests[-1].body)


HERMES = '<tool_call>\n{"name": "weather", "arguments": {"city": "%s"}}\n</tool_call>'


def test_an_api_in_text_mode(case: Case, town: Town) -> None:
    """The text driver reads the calls that a model without tool calling of its own writes."""
    with serving(Answer("Let me look.\n" + "\n".join(HERMES % city for city in CITIES)), ENDS) as server:

        async def loop() -> AgentState:
            async with case.open(server.url) as client:
                return await AgentLoop(TextDriver(client, dialect="hermes"), town.registry).run("Weather?")

        state = anyio.run(loop)
    assert (state.status, state.text) == ("completed", ENDS.text)
    assert sorted(town.asked) == sorted(CITIES)
    reported = json.dumps(server.requests[1].body)
    assert all(text in reported for text in TEXTS)
    assert all("tools" not in one.body for one in server.requests)
