"""Native tool calling over recorded streams: requests, broken calls, lost connections, proofs that go back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.execution.models import Api, said, toolbox
from toolfmt import Message, ToolDefinition, ToolRegistry
from toolfmt.agents import AgentLoop, AgentState, NativeDriver, Patience, TextDriver
from toolfmt.agents.state import AgentFailedError
from toolfmt.conversation import TextPart, ToolChoice
from toolfmt.errors import DriverError
from toolfmt.execution.events import (
    AnswerReceived,
    InferenceRequestStarted,
    InferenceResponseReceived,
    ToolCallStarted,
    ValidationFailed,
)

AT_ONCE = Patience(tries=3, pause=0)
ADD = ("c1", "add", '{"a": 1}')
DONE = [
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Done."}},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
]


def run(api: Api, tools: Any = None, *, start: Any = "1 + 2?", **options: Any) -> tuple[AgentState, list[Any]]:
    events: list[Any] = []
    driver = NativeDriver(api, **{"patience": AT_ONCE, **options})
    loop = AgentLoop(driver, toolbox() if tools is None else tools, on_event=events.append)
    return loop.run_sync(start), events


def of(events: list[Any], kind: type) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def test_a_call_is_run_and_its_result_goes_back() -> None:
    api = Api(said("Let me.", ADD), said("It is 3."))
    state, events = run(api, model="m", options={"temperature": 0})
    assert (state.status, state.text, state.usage.input, state.usage.output) == ("completed", "It is 3.", 14, 6)
    first, second = api.requests
    assert (first["model"], first["temperature"], first["parallel_tool_calls"]) == ("m", 0, False)
    assert "tool_choice" not in first
    assert [tool["function"]["name"] for tool in first["tools"]] == ["add", "boom", "hang", "leave"]
    assert second["messages"][1:] == [
        {
            "role": "assistant",
            "content": "Let me.",
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "3"},
    ]
    assert [response.text for response in of(events, InferenceResponseReceived)] == ["Let me.", "It is 3."]
    assert api.closed == 2


@pytest.mark.parametrize("arguments", ['{"a": ', "[]", "1", '{"a": 1, "a": 2}', '{"a": NaN}', "add 1"])
def test_a_broken_call_is_never_run_and_may_be_corrected(arguments: str) -> None:
    api = Api(said("", ("c1", "add", arguments)), said("", ("c2", "add", '{"a": 5}')), said("7"))
    state, events = run(api)
    assert [event.call.arguments for event in of(events, ToolCallStarted)] == [{"a": 5}]
    assert (state.status, len(of(events, ValidationFailed))) == ("completed", 1)
    answer = api.requests[1]["messages"][-1]
    assert (answer["role"], answer["tool_call_id"]) == ("tool", "c1")
    assert "could not be used" in answer["content"]
    assert api.requests[1]["messages"][-2]["tool_calls"][0]["function"] == {"name": "add", "arguments": arguments}


def test_the_siblings_of_a_broken_call_are_run() -> None:
    api = Api(said("", ("c1", "add", "{"), ("c2", "add", '{"a": 5}')), said("7"))
    state, _ = run(api)
    assert [(step.calls[0].id, step.failures[0].name) for step in state.steps[:1]] == [("c2", "add")]
    results = api.requests[1]["messages"][-2:]
    assert [result["tool_call_id"] for result in results] == ["c1", "c2"]
    assert results[1]["content"] == "7"


def test_a_model_that_repeats_a_broken_call_is_given_up() -> None:
    api = Api(*[said("", ("c1", "add", "{"))] * 9)
    state, _ = run(api, retries=2)
    assert (state.status, len(state.steps), len(api.requests)) == ("failed", 3, 3)
    assert "3 answers in a row" in state.reason


def test_a_call_without_a_name_or_an_id_is_answered() -> None:
    api = Api(said("", ("", "add", '{"a": 1}'), ("c2", "", "{}")), said("3"))
    state, _ = run(api)
    assert state.status == "completed"
    (call,) = state.steps[0].calls
    assert call.id
    *_, result, reported = api.requests[1]["messages"]
    assert (result["tool_call_id"], result["content"]) == (call.id, "3")
    assert (reported["role"], "missing_name" in reported["content"]) == ("user", True)


@pytest.mark.parametrize(
    "lost",
    [
        [ConnectionError("reset")],
        [*said("Half")[:1], TimeoutError()],
        [*said("", ADD)[:1], ConnectionError("reset")],
        [*said("", ADD)[:1], DriverError("overloaded", status=529, retryable=True, retry_after=0)],
        [*said("", ADD)[:1], {"choices": [], "usage": None}],
        [],
    ],
)
def test_a_lost_answer_is_asked_for_again_and_nothing_of_it_is_run(lost: list[Any]) -> None:
    api = Api(lost, said("Done."))
    state, events = run(api)
    assert (state.status, state.text, state.executions) == ("completed", "Done.", ())
    assert [event.attempt for event in of(events, InferenceRequestStarted)] == [1, 2]
    state, events = run(Api(*[lost] * 3))
    assert (state.status, state.executions, len(of(events, InferenceRequestStarted))) == ("failed", (), 3)
    assert len(state.messages) == 1


@pytest.mark.parametrize("wrong", [DriverError("bad key", status=401), ValueError("odd"), 5])
def test_an_error_that_stays_is_not_tried_again(wrong: Any) -> None:
    api = Api([wrong], said("Done."))
    state, _ = run(api)
    assert (state.status, len(api.requests)) == ("failed", 1)


def test_nothing_is_asked_for_again_once_calls_have_run() -> None:
    api = Api(said("", ADD), [ConnectionError("reset")], said("3"))
    state, events = run(api)
    assert (state.status, len(of(events, ToolCallStarted)), len(api.requests)) == ("completed", 1, 3)


def test_text_that_echoes_the_arguments_is_taken_out_and_reported() -> None:
    api = Api(said('{"a": 1}', ADD), said("3"))
    state, events = run(api)
    assert (state.steps[0].text, [part.__class__.__name__ for part in state.messages[1].parts]) == ("", ["CallPart"])
    assert [event.event.kind for event in of(events, AnswerReceived) if hasattr(event.event, "kind")] == [
        "arguments_leak"
    ]
    kept, _ = run(Api(said('I send {"a": 1}.', ADD), said("3")))
    assert kept.steps[0].text == 'I send {"a": 1}.'


def test_a_demanded_call_is_demanded_until_there_is_one() -> None:
    api = Api(said("", ADD), said("3"))
    state, _ = run(api, tool_choice="add")
    assert state.status == "completed"
    assert api.requests[0]["tool_choice"] == {"type": "function", "function": {"name": "add"}}
    assert "tool_choice" not in api.requests[1]
    api = Api(said("", ADD), said("3"))
    run(api, tool_choice="required", keep_choice=True)
    assert [request["tool_choice"] for request in api.requests] == ["required"] * 2


@pytest.mark.parametrize(
    ("choice", "written"),
    [
        ("none", {"type": "none"}),
        ("required", {"type": "any"}),
        ("add", {"type": "tool", "name": "add"}),
        (ToolChoice("required", ("add",)), {"type": "tool", "name": "add"}),
        ({"type": "function", "function": {"name": "add"}}, {"type": "tool", "name": "add"}),
        ("auto", None),
        (None, None),
    ],
)
def test_a_choice_is_said_as_the_provider_says_it(choice: Any, written: Any) -> None:
    api = Api([{"type": "message_stop"}], format="anthropic")
    run(api, tool_choice=choice, parallel=None, patience=Patience(tries=1))
    assert api.requests[0].get("tool_choice") == written


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("ollama", {"tool_choice": "required"}),
        ("ollama", {"tool_choice": "none"}),
        ("cohere", {"tool_choice": "add"}),
        ("openai-chat", {"tool_choice": 5}),
        ("openai-chat", {"tool_choice": {"type": "odd"}}),
    ],
)
def test_what_a_provider_cannot_be_asked_is_refused_at_once(name: str, options: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError), match=r"cannot say|tool_choice is|tool_choice= must be"):
        NativeDriver(Api(format=name), **options)


def test_a_choice_of_a_tool_that_is_not_offered_fails_the_run() -> None:
    state, _ = run(Api(), tool_choice="sing")
    assert (state.status, "sing" in state.reason) == ("failed", True)


@pytest.mark.parametrize("reason", ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"])
def test_a_call_that_gemini_leaves_out_is_reported_to_the_model(reason: str) -> None:
    broken = {"candidates": [{"content": {"parts": []}, "finishReason": reason, "finishMessage": "add(a=1,,)"}]}
    api = Api(
        [broken], [{"candidates": [{"content": {"parts": [{"text": "3"}]}, "finishReason": "STOP"}]}], format="gemini"
    )
    state, events = run(api)
    assert (state.status, state.text) == ("completed", "3")
    assert "add(a=1,,)" in str(api.requests[1]["contents"][-1])
    assert len(of(events, ValidationFailed)) == 1


def test_an_answer_that_ends_with_calls_and_has_none_is_asked_for_again() -> None:
    empty = [{"choices": [{"index": 0, "delta": {"content": "Hm."}, "finish_reason": "tool_calls"}]}]
    state, _ = run(Api(empty, said("3")))
    assert (state.status, state.text) == ("completed", "3")


THOUGHT = [{"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "Hm."}}]


@pytest.mark.parametrize(
    ("answer", "why"),
    [(said(""), "the answer is empty"), ([*THOUGHT, DONE[1]], "the answer has only reasoning"), (DONE[1:], "is empty")],
)
@pytest.mark.parametrize("tools", [None, ()])
def test_an_answer_without_text_and_calls_is_asked_for_again(answer: Any, why: str, tools: Any) -> None:
    form, done = ("anthropic", DONE) if "type" in answer[0] else ("openai-chat", said("Done."))
    state, events = run(Api(answer, done, format=form), tools)
    assert (state.status, state.text, len(state.steps)) == ("completed", "Done.", 2)
    (reported,) = of(events, ValidationFailed)
    assert reported.error.startswith("Your answer could not be used (missing_answer)")
    state, _ = run(Api(*[answer] * 3, format=form), tools)
    assert state.status == "failed"
    assert state.reason.startswith("3 answers in a row could not be used: ")
    assert why in state.reason


def test_an_answer_with_other_content_is_an_answer() -> None:
    image = {"inlineData": {"mimeType": "image/png", "data": "aGk="}}
    api = Api([{"candidates": [{"content": {"parts": [image]}, "finishReason": "STOP"}]}], format="gemini")
    assert (run(api)[0].status, len(api.requests)) == ("completed", 1)


def test_what_the_format_cannot_say_is_reported_with_the_request() -> None:
    api = Api([{"candidates": [{"content": {"parts": [{"text": "3"}]}, "finishReason": "STOP"}]}], format="gemini")
    state, events = run(api)
    assert state.text == "3"
    assert [loss.code for loss in of(events, InferenceRequestStarted)[0].losses] == ["parallel"]


def test_a_tool_goes_by_another_name_where_the_provider_refuses_its_own() -> None:
    def read(path: str) -> str:
        return f"<{path}>"

    registry = ToolRegistry()
    registry.register(ToolDefinition(name="fs.read"), function=read)

    class Named(Api):
        async def send(self, request: Any, *, stream: bool) -> AsyncIterator[object]:
            name = request["tools"][0]["function"]["name"]
            self.answers.insert(0, said("", ("c1", name, '{"path": "a"}')) if not self.requests else said("ok"))
            async for event in super().send(request, stream=stream):
                yield event

    api = Named()
    state, _ = run(api, registry)
    assert api.requests[0]["tools"][0]["function"]["name"] != "fs.read"
    assert [(one.name, one.result.content) for one in state.executions] == [("fs.read", "<a>")]


def test_a_tool_that_is_hidden_now_is_not_run() -> None:
    api = Api(said("", ADD), said("ok"))
    loop = AgentLoop(NativeDriver(api), toolbox(), visible=lambda tool, _: tool.name == "boom")
    state = loop.run_sync("?")
    assert [tool["function"]["name"] for tool in api.requests[0]["tools"]] == ["boom"]
    assert (state.executions, state.steps[0].failures[0].reason) == ((), "unknown_tool")
    assert api.requests[1]["messages"][-1]["tool_call_id"] == "c1"


def test_a_call_goes_to_the_server_that_its_tool_is_of() -> None:
    registry = ToolRegistry()
    registry.register(ToolDefinition(name="read", server="files"), function=lambda: "x")
    state, _ = run(Api(said("", ("c1", "read", "{}")), said("ok")), registry)
    assert state.executions[0].call.server == "files"


CLAUDE = [
    {"type": "message_start", "message": {"id": "msg_1", "model": "c", "usage": {"input_tokens": 5}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "One call."}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "sig=="}},
    {"type": "content_block_stop", "index": 0},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "redacted_thinking", "data": "enc=="}},
    {"type": "content_block_stop", "index": 1},
    {"type": "content_block_start", "index": 2, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 2, "delta": {"type": "text_delta", "text": "Let me."}},
    {"type": "content_block_stop", "index": 2},
    {"type": "content_block_start", "index": 3, "content_block": {"type": "tool_use", "id": "t1", "name": "add"}},
    {"type": "content_block_delta", "index": 3, "delta": {"type": "input_json_delta", "partial_json": '{"a": 1}'}},
    {"type": "content_block_stop", "index": 3},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}},
    {"type": "message_stop"},
]


def test_what_proves_reasoning_goes_back_to_its_maker() -> None:
    done = [
        {"type": "message_start", "message": {"id": "msg_2", "usage": {"input_tokens": 6}}},
        DONE[0],
        {**DONE[1], "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]
    api = Api(CLAUDE, done, format="anthropic")
    state, _ = run(api, options={"max_tokens": 99})
    assert (state.status, state.usage.input, state.usage.output) == ("completed", 11, 10)
    assert api.requests[0]["max_tokens"] == 99
    assistant, results = api.requests[1]["messages"][1:]
    assert assistant["content"] == [
        {"type": "thinking", "thinking": "One call.", "signature": "sig=="},
        {"type": "redacted_thinking", "data": "enc=="},
        {"type": "text", "text": "Let me."},
        {"type": "tool_use", "id": "t1", "name": "add", "input": {"a": 1}},
    ]
    assert results["content"][0]["tool_use_id"] == "t1"
    again = Api(DONE, format="anthropic")
    run(again, start=AgentState.from_json(state.to_json()).with_messages("And?"), patience=Patience(tries=1))
    assert again.requests[0]["messages"][1]["content"] == assistant["content"]


def test_a_signature_of_a_call_goes_back_too() -> None:
    part = {"functionCall": {"name": "add", "args": {"a": 1}}, "thoughtSignature": "c2ln"}
    first = [{"candidates": [{"content": {"parts": [part]}, "finishReason": "STOP"}]}]
    second = [{"candidates": [{"content": {"parts": [{"text": "3"}]}, "finishReason": "STOP"}]}]
    api = Api(first, second, format="gemini")
    state, _ = run(api)
    assert state.text == "3"
    (sent,) = api.requests[1]["contents"][1]["parts"]
    assert (sent["thoughtSignature"], sent["functionCall"]["args"]) == ("c2ln", {"a": 1})


def test_an_answer_that_pauses_is_gone_on_with() -> None:
    paused = [
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Searching."}},
        {"type": "message_delta", "delta": {"stop_reason": "pause_turn"}},
    ]
    api = Api(paused, DONE, format="anthropic")
    state, _ = run(api)
    assert (state.status, len(state.steps)) == ("completed", 2)


def test_a_whole_answer_will_do() -> None:
    whole = {"choices": [{"message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}]}
    assert run(Api([whole]))[0].text == "Hi"


def test_a_conversation_of_another_provider_goes_on() -> None:
    state, _ = run(Api(CLAUDE, DONE, format="anthropic"))
    api = Api(said("Yes."))
    run(api, start=state.with_messages(Message("user", (TextPart("Sure?"),))))
    roles = [message["role"] for message in api.requests[0]["messages"]]
    assert roles == ["user", "assistant", "tool", "assistant", "user"]


@pytest.mark.parametrize(
    ("stop", "text", "reason"), [("length", "It is", "cut off at the limit"), ("content_filter", "", "content filter")]
)
def test_a_final_answer_that_is_not_whole_does_not_complete_the_run(stop: str, text: str, reason: str) -> None:
    for driver in (NativeDriver(Api(said(text, stop=stop))), TextDriver(Api(said(text, stop=stop)), dialect="hermes")):
        state = AgentLoop(driver, toolbox()).run_sync("1 + 2?")
        assert (state.status, state.text) == ("stopped", text or f"[stopped: {state.reason}]")
        with pytest.raises(AgentFailedError, match=reason):
            state.raise_for_failure()


def test_calls_of_an_answer_that_is_cut_off_run_and_the_run_goes_on() -> None:
    api = Api(said("", ("c1", "add", '{"a": 1}'), stop="length"), said("3"))
    state = AgentLoop(NativeDriver(api), toolbox()).run_sync("1 + 2?")
    assert (state.status, state.text, len(state.executions)) == ("completed", "3", 1)
