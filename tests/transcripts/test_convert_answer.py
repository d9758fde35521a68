"""Whole answers of one API as another's, and errors."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests import sampling
from toolfmt import ParseError, convert_answer, write_stream
from toolfmt.errors import LimitExceededError
from toolfmt.events import CallEnd
from toolfmt.transcripts.answer_apis import ANSWERS
from toolfmt.transcripts.answering.answer_info import AnswerInfo, Failure, Trouble, Usage
from toolfmt.transcripts.answering.failures import WRITERS, read_error
from toolfmt.transcripts.answers import AnswerReader, answered, read_answer, read_stream
from toolfmt.transcripts.convert_answer import error_status, write_error
from toolfmt.transcripts.streams.relay import StreamConverter

RECORDED = Path(__file__).resolve().parents[3] / "shared" / "transcripts" / "recorded.jsonl.gz"
CALL = {"id": "call_A1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
MESSAGE = {"role": "assistant", "content": "Checking.", "reasoning_content": "One call.", "tool_calls": [CALL]}
CHAT: dict[str, Any] = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 7,
    "model": "m",
    "choices": [{"index": 0, "message": MESSAGE, "finish_reason": "tool_calls"}],
    "usage": {
        "prompt_tokens": 12,
        "completion_tokens": 9,
        "total_tokens": 21,
        "prompt_tokens_details": {"cached_tokens": 5},
        "completion_tokens_details": {"reasoning_tokens": 4},
    },
}
every_target = pytest.mark.parametrize("target", ANSWERS)


def info_of(value: Any, source: str) -> AnswerInfo:
    reader = AnswerReader(source)
    reader.feed(value)
    reader.close()
    return reader.info


@every_target
@pytest.mark.parametrize("source", ANSWERS)
def test_everything_arrives(source: str, target: str) -> None:
    first = convert_answer(CHAT, source="openai-chat", target=source).value
    made = convert_answer(first, source=source, target=target).value
    events, found = answered(made), read_answer(made)
    (call,) = found.calls
    assert (found.text, found.reasoning) == ("Checking.", "One call.")
    assert (call.name, call.arguments) == ("f", {"a": 1})
    list(events)
    info = events.info
    assert info.stop == ("stop" if target in ("gemini", "ollama", "openai-responses") else "tool_calls")
    assert info.usage is not None
    assert (info.usage.input, info.usage.output) == (12, 9)
    if "cohere" not in (source, target) and "bedrock" not in (source, target):
        assert info.model == "m"


@every_target
def test_an_answer_that_stays_in_its_format_keeps_unknown_fields(target: str) -> None:
    written = convert_answer(CHAT, source="openai-chat", target=target).value
    assert isinstance(written, dict)
    made = convert_answer({**written, "new": [1]}, source=target, target=target, id="a2", model="m2", created=9)
    other = convert_answer(written, source=target, target=target, id="a2", model="m2", created=9)
    assert "answer_field" not in {loss.code for loss in made.all_losses}
    assert made.value == {**other.value, "new": [1]}  # type: ignore[dict-item]
    info = info_of(made.value, target)
    assert {info.id, info.model, info.created} <= {"a2", "m2", 9, "", 0}


def test_log_probabilities_stay_in_an_answer_of_chat() -> None:
    choice = {**CHAT["choices"][0], "logprobs": {"content": [{"token": "C"}]}}
    made = convert_answer({**CHAT, "choices": [choice]}, source="openai-chat", target="openai-chat", id="a2").value
    assert made["choices"][0]["logprobs"] == choice["logprobs"]  # type: ignore[index,call-overload]


def test_an_answer_of_anthropic_is_one_of_chat() -> None:
    value = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": [{"type": "thinking", "thinking": "Hm.", "signature": "EqQB"}, {"type": "text", "text": "Hi"}],
        "stop_reason": "max_tokens",
        "stop_sequence": None,
        "usage": {"input_tokens": 2, "cache_read_input_tokens": 10, "output_tokens": 9},
    }
    made = convert_answer(value, target="openai-chat", model="other", created=5)
    (choice,) = made.value["choices"]
    assert (choice["message"]["content"], choice["message"]["reasoning_content"]) == ("Hi", "Hm.")
    assert (choice["finish_reason"], made.value["model"], made.value["created"]) == ("length", "other", 5)
    assert made.value["usage"]["prompt_tokens"] == 12
    assert made.losses == ()


def test_further_choices_are_carried_or_lost() -> None:
    value = CHAT | {"choices": [{"index": at, "message": {"content": f"{at}"}} for at in range(2)]}
    kept = convert_answer(value, source="openai-chat", target="gemini")
    assert [item["content"]["parts"] for item in kept.value["candidates"]] == [[{"text": "0"}], [{"text": "1"}]]
    lost = convert_answer(value, source="openai-chat", target="anthropic")
    assert [(loss.code, loss.severity) for loss in lost.losses] == [("choice", "content")]


@every_target
def test_calls_without_ids_get_some_that_follow_from_the_answer(target: str) -> None:
    call = {"functionCall": {"name": "f", "args": {}}}
    value = {"candidates": [{"content": {"role": "model", "parts": [call, call]}}], "responseId": "r1"}
    found = [convert_answer(value, source="gemini", target=target, id=ident).value for ident in ("r1", "r1", "r2")]
    first, again, other = (tuple(call.id for call in read_answer(made).calls) for made in found)
    assert first == again
    if target not in ("gemini", "ollama"):
        assert len({*first, *other}) == 4


@every_target
def test_a_call_has_one_id_in_a_whole_answer_and_in_a_stream(target: str) -> None:
    calls = [CALL, {key: value for key, value in CALL.items() if key != "id"}, {**CALL, "id": "functions.f:0"}]
    chat: Any = {**CHAT, "choices": [{**CHAT["choices"][0], "message": {**MESSAGE, "tool_calls": calls}}]}
    whole = read_answer(convert_answer(chat, target=target, id="x").value).calls
    streamed = read_stream(list(write_stream(answered(chat), target=target, id="x")), source=target)
    ids = [event.call.id for event in streamed if isinstance(event, CallEnd)]
    assert [call.id for call in whole] == ids
    assert len(ids) == 3


def test_a_blocked_prompt_is_no_answer_cut_short() -> None:
    value = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 4}}
    assert convert_answer(value, source="gemini", target="openai-chat").value["choices"][0]["finish_reason"] == (
        "content_filter"
    )
    assert info_of(value, "gemini").usage == Usage(input=4)


@pytest.mark.parametrize("source", WRITERS)
@pytest.mark.parametrize("target", WRITERS)
def test_an_error_keeps_its_kind_and_words(source: str, target: str) -> None:
    error = {"type": "error", "error": {"type": "rate_limit_error", "message": "Slow down"}}
    failure = read_error(write_error(read_error(error), source), status=429)
    assert (failure.kind, failure.message) == ("rate_limit", "Slow down")
    again = read_error(write_error(read_error(write_error(failure, source), status=429), target), status=429)
    assert (again.kind, again.message) == ("rate_limit", "Slow down")
    if source not in ("cohere", "ollama"):
        assert convert_answer(write_error(failure, source), source=source, target=target).value == (
            write_error(failure, target)
        )


def test_errors_have_their_status() -> None:
    overloaded = read_error({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
    assert [error_status(overloaded, name) for name in ("anthropic", "openai-chat")] == [529, 503]
    assert write_error(overloaded, "gemini")["error"]["status"] == "UNAVAILABLE"
    assert read_error({"throttlingException": {"message": "x"}}).kind == "rate_limit"
    assert read_error({"message": "x", "__type": "com.amazon#ValidationException"}).kind == "invalid"
    assert read_error("x", status=418).kind == "invalid"
    with pytest.raises(ParseError, match="an error"):
        read_error(7)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        *((400, "invalid"), (401, "authentication"), (402, "billing"), (403, "permission"), (404, "not_found")),
        *((408, "timeout"), (409, "conflict"), (413, "too_large"), (422, "invalid"), (429, "rate_limit")),
        *((499, "invalid"), (500, "server"), (502, "server"), (503, "overloaded"), (504, "timeout")),
        *((529, "overloaded"), (599, "server")),
    ],
)
def test_an_error_is_known_by_its_status(status: int, kind: str) -> None:
    for failure in (
        read_error("x", status=status),
        read_error({"message": "x"}, status=status),
        read_error({"error": {"code": status, "message": "x"}}),
        read_error([{"error": {"code": status, "message": "x"}}]),
        read_error({"status_code": status, "detail": "x"}),
    ):
        assert (failure.kind, failure.status, failure.message) == (kind, status, "x")


def test_the_word_of_an_error_says_more_than_its_status() -> None:
    billing = {"error": {"message": "x", "type": "insufficient_quota", "param": "model", "code": "insufficient_quota"}}
    failure = read_error(billing, status=429)
    assert (failure.kind, failure.status, failure.code, failure.param) == (
        *("billing", 429, "insufficient_quota", "model"),
    )
    quota = {"error": {"code": 429, "message": "x", "status": "RESOURCE_EXHAUSTED"}}
    assert (read_error(quota).kind, read_error(quota).code) == ("rate_limit", None)
    assert read_error({"type": "error", "error": {"type": "invalid_request_error", "message": "x"}}).status == 400
    assert read_error("x").status == 500


@pytest.mark.parametrize("value", [{}, [], {"error": {}}])
def test_an_error_that_says_nothing_is_none(value: Any) -> None:
    with pytest.raises(ParseError, match="message"):
        read_error(value)


def test_an_error_without_a_message_is_what_it_holds() -> None:
    assert "teapot" in read_error({"error": {"type": "teapot"}}).message


@pytest.mark.parametrize(("kind", "status", "written"), [
    ("server", 502, 502), ("server", 599, 599), ("server", 500, 500), ("server", 499, 500), ("server", 600, 500),
    ("rate_limit", 502, 429),
])  # fmt: skip
def test_the_status_of_an_error_is_its_kind_s_and_a_server_s_own(kind: Trouble, status: int, written: int) -> None:
    assert error_status(Failure(kind=kind, message="x", status=status), "openai-chat") == written


@pytest.mark.parametrize(
    ("source", "count", "usage"),
    [
        (
            "anthropic",
            {"input_tokens": 2, "cache_read_input_tokens": 10, "cache_creation_input_tokens": 5, "output_tokens": 9},
            Usage(input=17, output=9, cached=10, cache_written=5),
        ),
        (
            "gemini",
            {
                "promptTokenCount": 12,
                "cachedContentTokenCount": 3,
                "toolUsePromptTokenCount": 6,
                "candidatesTokenCount": 5,
                "thoughtsTokenCount": 4,
            },
            Usage(input=18, output=9, cached=3, reasoning=4),
        ),
    ],
)
def test_separate_counts_are_included_in_the_totals(source: str, count: dict[str, int], usage: Usage) -> None:
    answers: dict[str, Any] = {
        "anthropic": {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "text", "text": "Hi"}],
            "stop_reason": "end_turn",
        },
        "gemini": {"candidates": [{"content": {"parts": [{"text": "Hi"}]}, "finishReason": "STOP"}]},
    }
    value = answers[source] | {"usage" if source == "anthropic" else "usageMetadata": count}
    assert info_of(value, source).usage == usage
    chat: Any = convert_answer(value, source=source, target="openai-chat").value
    assert chat["usage"]["total_tokens"] == usage.input + usage.output
    back: Any = convert_answer(chat, source="openai-chat", target="anthropic").value
    parts = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    assert sum(back["usage"][part] for part in parts) == usage.input
    assert back["usage"]["output_tokens"] == usage.output


@pytest.mark.parametrize(("count", "read"), [
    (0, 0), (7, 7), (7.0, 7), (7.5, 0), (-1, 0), (True, 0), ("7", 0), (None, 0), (2**53, 2**53), (2**53 + 1, 0),
])  # fmt: skip
def test_a_count_is_a_whole_number_that_every_reader_keeps(count: Any, read: int) -> None:
    usage = info_of({**CHAT, "usage": {"prompt_tokens": count, "completion_tokens": 1}}, "openai-chat").usage
    assert usage == Usage(input=read, output=1)


@pytest.mark.skipif(not RECORDED.is_file(), reason="there is no ../shared")
@every_target
def test_recorded_answers_keep_what_they_say(target: str) -> None:
    lines = gzip.decompress(RECORDED.read_bytes()).splitlines()
    for row in map(json.loads, sampling.share(lines, list(ANSWERS).index(target), 4)):
        value, source = row["response"], row["fmt"]
        if not isinstance(value, dict) or row["status"] != 200 or value.keys() & {"pathname", "input_tokens"}:
            continue  # a stream, an error, a mistaken address, a count of tokens
        if value.get("status") in ("queued", "in_progress"):
            continue  # not ready
        made = convert_answer(value, source=source, target=target)
        assert (made.value is value) == (source == target)
        before, after = read_answer(value), read_answer(made.value)
        assert [call.arguments for call in after.calls] == [call.arguments for call in before.calls], row["id"]
        codes = {loss.code for loss in made.losses}
        for name, code in (("text", "text"), ("reasoning", "reasoning")):
            said, reported = getattr(before, name), getattr(after, name)
            assert reported.replace("\n", "") == said.replace("\n", "") or codes & {code, "order"}, row["id"]
        usage, now = info_of(value, source).usage, info_of(made.value, target).usage
        if usage is not None and now is not None:
            assert (usage.input, usage.output) == (now.input, now.output)


@pytest.mark.parametrize("status", ["queued", "in_progress"])
@every_target
def test_an_answer_that_is_not_ready_is_none(target: str, status: str) -> None:
    response = {"id": "resp_1", "object": "response", "status": status, "output": []}
    interaction = {"id": "i1", "object": "interaction", "status": status, "steps": []}
    for source, value in (("openai-responses", response), ("gemini-interactions", interaction)):
        info = info_of(convert_answer(value, source=source, target=target, id="a1").value, target)
        assert info.failure is not None
        assert info.failure.message.endswith(f"is not complete: its status is {status}")


def test_the_sources_beside_a_message_are_those_of_its_text() -> None:
    page = {"web": {"uri": "https://e.com/a", "title": "A"}}
    support = {"segment": {"startIndex": 3, "endIndex": 6}, "groundingChunkIndices": [0]}
    quoted = {"citationSources": [{"uri": "https://e.com/b", "startIndex": 0, "endIndex": 2}]}
    candidate = {
        "content": {"role": "model", "parts": [{"text": "In 18C."}]},
        "groundingMetadata": {"groundingChunks": [page], "groundingSupports": [support]},
        "citationMetadata": quoted,
        "finishReason": "STOP",
    }
    made = convert_answer({"candidates": [candidate]}, source="gemini", target="openai-chat")
    found = made.value["choices"][0]["message"]["annotations"]
    assert [(item["url_citation"]["url"], item["url_citation"]["start_index"]) for item in found] == [
        ("https://e.com/b", 0),
        ("https://e.com/a", 3),
    ]
    assert made.losses == ()
    there = convert_answer({"candidates": [candidate]}, source="gemini", target="anthropic")
    assert [loss.code for loss in there.losses] == ["citations"]


def test_an_answer_may_end_in_space() -> None:
    said = {"role": "assistant", "content": "It rains. "}
    answer = {"id": "c", "choices": [{"index": 0, "message": said, "finish_reason": "stop"}]}
    made = convert_answer(answer, source="openai-chat", target="anthropic")
    assert made.value["content"][0]["text"] == "It rains. "
    assert made.losses == ()


def test_the_sound_of_an_answer_is_its_text_and_a_loss() -> None:
    said = {"role": "assistant", "content": None, "audio": {"id": "a", "data": "UklGRg==", "transcript": "It rains."}}
    answer = {"id": "c", "choices": [{"index": 0, "message": said, "finish_reason": "stop"}]}
    made = convert_answer(answer, source="openai-chat", target="anthropic")
    assert made.value["content"][0]["text"] == "It rains."
    assert {loss.code for loss in made.losses} == {"media", "beside"}


BROKEN = pytest.mark.parametrize("arguments", ['{"a":', "7", '"x"', '{"a": 1, "a": 2}', "{'a': 1}", "rm -rf"])


@every_target
@BROKEN
def test_a_broken_call_is_never_one_that_runs(target: str, arguments: str) -> None:
    """Whole and streamed: no call that can be read, the answer is not complete, and the loss names the call."""
    stop = (
        "malformed_call" if target in {"gemini", "bedrock"} and arguments != '{"a":' else "length"
    )  # a cut is no slip
    call = CALL | {"function": {"name": "f", "arguments": arguments}}
    choice = {"index": 0, "message": MESSAGE | {"tool_calls": [CALL, call]}, "finish_reason": "tool_calls"}
    value = CHAT | {"choices": [choice]}
    made = convert_answer(value, source="openai-chat", target=target, id="r1")
    relay = StreamConverter("openai-chat", target, id="r1")
    streamed = read_stream([*relay.feed(value), *relay.close()])
    ends = [[event.call.arguments for event in streamed if isinstance(event, CallEnd)], streamed.info.stop]
    assert ends == [[{"a": 1}], stop]
    assert [call.arguments for call in read_answer(made.value).calls] == [{"a": 1}]
    assert info_of(made.value, target).stop == stop
    assert arguments in json.dumps(made.value) or json.dumps(arguments)[1:-1] in json.dumps(made.value)
    for losses in (made.losses, relay.losses):
        assert [loss.detail.partition(":")[0] for loss in losses if loss.code == "call"] == ["f"]


@every_target
def test_an_answer_without_a_message_is_no_answer(target: str) -> None:
    with pytest.raises(ParseError, match="no message"):
        convert_answer(CHAT | {"choices": []}, source="openai-chat", target=target, id="r1")


def test_what_is_beside_a_choice_is_a_loss() -> None:
    (choice,) = CHAT["choices"]
    value = CHAT | {"choices": [choice | {"logprobs": {"content": [{"token": "a", "logprob": -1}]}}]}
    for target in ("anthropic", "gemini", "openai-responses", "ollama"):
        made = convert_answer(value, source="openai-chat", target=target)
        kept = ('"logProbability": -1' if target == "gemini" else '"logprob": -1') in json.dumps(made.value)
        assert kept == (target != "anthropic")
        assert kept != ("/choices/0/logprobs" in [loss.path for loss in made.bookkeeping])
    assert not [loss for loss in convert_answer(CHAT, target="anthropic").bookkeeping if loss.code == "answer_field"]


def test_text_in_pieces_is_one_text_where_a_message_holds_one() -> None:
    blocks = [{"type": "text", "text": text} for text in ("It ", "rains", ".")]
    answer = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": blocks}
    made: Any = convert_answer(answer | {"stop_reason": "end_turn"}, source="anthropic", target="ollama")
    assert made.value["message"]["content"] == "It rains."


def test_a_field_without_a_value_is_no_loss() -> None:
    choice = {"message": {"role": "assistant", "content": "Hi", "reasoning": None, "audio": {"id": "", "data": ""}}}
    assert convert_answer(CHAT | {"choices": [choice]}, source="openai-chat", target="anthropic").losses == ()


@pytest.mark.parametrize("source", ["auto", "openai-responses", "anthropic"])
def test_an_answer_that_is_too_deep_is_refused(source: str) -> None:
    deep: Any = "x"
    for _ in range(3_000):
        deep = [deep]
    with pytest.raises(LimitExceededError, match="an answer is nested more than 160 levels deep"):
        convert_answer({"type": deep, "output": []}, source=source, target="openai-responses")


@pytest.mark.parametrize("target", ["anthropic", "openai-chat", "mistral", "cohere", "bedrock"])
def test_a_result_in_an_answer_is_not_written_as_a_message_of_the_tool(target: str) -> None:
    output = [
        {"type": "shell_call_output", "call_id": "c", "output": [{"stdout": "18C", "stderr": "", "outcome": {}}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Cold."}]},
    ]
    answer: Any = {"id": "r", "object": "response", "status": "completed", "model": "m", "output": output}
    made = convert_answer(answer, source="openai-responses", target=target)
    assert {"result"} <= {loss.code for loss in made.losses}
    assert "Cold." in json.dumps(made.value)
    assert "18C" not in json.dumps(made.value)
