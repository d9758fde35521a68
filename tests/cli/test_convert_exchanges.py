"""`toolfmt convert` of rows that hold a request, or a request and its answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from toolfmt.errors import ParseError, UnknownFormatError
from toolfmt.transcripts.exchanges import exchange, inside, put_inside

ASKED: dict[str, Any] = {
    "model": "m",
    "max_completion_tokens": 9,
    "messages": [{"role": "developer", "content": "Be brief."}, {"role": "user", "content": "Hi"}],
}
ANSWER = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello."}, "finish_reason": "stop"}]}

Run = Callable[..., tuple[int, str, str]]


def test_a_batch_s_lines_keep_what_is_around_the_request(run: Any) -> None:
    line = {"custom_id": "1", "method": "POST", "url": "/v1/chat/completions", "body": ASKED}
    code, out, _ = run("convert", "--to", "anthropic", "--request", "--at", "/body", stdin=json.dumps(line) + "\n")
    assert code == 0
    made = json.loads(out)
    assert {key: made[key] for key in ("custom_id", "method", "url")} == {
        key: line[key] for key in ("custom_id", "method", "url")
    }
    assert (made["body"]["system"], made["body"]["max_tokens"], made["body"]["model"]) == ("Be brief.", 9, "m")


COMPLETION = {"id": "c", "object": "chat.completion", "model": "m", **ANSWER}


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ({"custom_id": "1", "method": "POST", "url": "/v1/chat/completions", "body": ASKED}, ("body",)),
        (
            {"id": "b", "custom_id": "1", "response": {"status_code": 200, "body": COMPLETION}, "error": None},
            ("response", "body"),
        ),
        ({"custom_id": "1", "params": {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}},
         ("params",)),
        ({"custom_id": "1", "result": {"type": "succeeded", "message": {
            "id": "m", "type": "message", "role": "assistant", "content": [{"type": "text", "text": "Hello."}]}}},
         ("result", "message")),
    ],
)  # fmt: skip
def test_the_lines_of_a_batch_need_no_place(run: Any, line: Any, place: tuple[str, ...]) -> None:
    text = json.dumps(line) + "\n"
    code, out, err = run("convert", "--to", "gemini", stdin=text)
    assert (code, out) == run("convert", "--to", "gemini", "--at", "".join(f"/{key}" for key in place), stdin=text)[:2]
    made = json.loads(out)
    assert (code, made.pop("custom_id")) == (0, "1"), err
    for key in place:
        made = made[key]
    assert made["contents"][0]["parts"][0]["text"] in ("Be brief.", "Hi", "Hello.")


def test_the_line_of_a_request_that_failed_is_left_out(run: Any) -> None:
    line = {"id": "b", "custom_id": "1", "response": None, "error": {"code": "batch_expired", "message": "expired"}}
    code, _, err = run("convert", "--to", "gemini", stdin=json.dumps(line) + "\n")
    assert code == 2
    assert "/error: an API's error: expired" in err


def test_a_log_s_request_and_answer_are_one_conversation(run: Any) -> None:
    line = {"id": 7, "request": ASKED, "response": ANSWER}
    options = ("--from", "openai-chat", "--at", "/request", "--answer", "/response")
    code, out, _ = run("convert", "--to", "anthropic", *options, stdin=json.dumps(line) + "\n")
    assert code == 0
    made = json.loads(out)
    assert made.keys() == {"id", "request"}, "the answer is in the conversation"
    assert made["request"]["messages"][-1] == {"role": "assistant", "content": "Hello."}
    assert run("convert", "--to", "anthropic", stdin=json.dumps(line) + "\n")[:2] == (code, out)
    assert run("convert", "--to", "anthropic", "--from", "openai-chat", stdin=json.dumps(line) + "\n")[:2] == (
        code,
        out,
    )


ROW = {"messages": [*ASKED["messages"], ANSWER["choices"][0]["message"]]}


@pytest.mark.parametrize("options", [(), ("--at", "/request", "--answer", "/response"), ("--at", "/request")])
def test_a_training_target_gets_the_row_alone(run: Run, options: tuple[str, ...]) -> None:
    lines = [
        {"id": 7, "request": ASKED, "response": ANSWER},
        {"id": 8, "request": ROW} if "--answer" not in options else {"messages": ROW["messages"]},
        {"custom_id": "1", "body": ROW},
        ROW,
    ]
    lines = lines[1:] if options == ("--at", "/request") else [lines[0], *lines[2:]]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    code, out, err = run("convert", "--to", "openai-finetune", *options, stdin=text)
    assert (code, [json.loads(line) for line in out.splitlines()]) == (0, [ROW] * len(lines)), err
    assert run("check", "--format", "openai-finetune", stdin=out)[0] == 0


def test_losses_beside_a_row_of_a_log(run: Run) -> None:
    line = json.dumps({"id": 7, "request": ASKED, "response": ANSWER}) + "\n"
    code, out, err = run(
        "convert", "--to", "openai-finetune", "--losses", "--at", "/request", "--answer", "/response", stdin=line
    )
    assert (code, json.loads(out)["conversation"]) == (0, ROW), err


def test_check_refuses_an_envelope_for_training(run: Run) -> None:
    line = json.dumps({"custom_id": "1", "body": ROW}) + "\n"
    code, out, _ = run("check", "--format", "openai-finetune", stdin=line)
    assert (code, "/body" in out, "a trainer reads the row alone" in out) == (1, True, True)
    assert run("check", "--format", "openai-finetune", "--at", "/body", stdin=line)[0] == 0
    assert run("check", "--format", "openai-chat", stdin=line)[0] == 0


def test_a_row_without_the_place_is_left_out(run: Any) -> None:
    code, _, err = run("convert", "--to", "anthropic", "--at", "/body", stdin='{"a": 1}\n')
    assert code == 2
    assert "/body: the row has nothing there" in err


def test_pointers() -> None:
    row = {"a/b": [{"~": 1}]}
    assert inside(row, "/a~1b/0/~0") == 1
    assert put_inside(row, "/a~1b/0/~0", 2) == {"a/b": [{"~": 2}]}
    assert (inside(row, ""), put_inside(row, "", 3)) == (row, 3)
    for wrong in ("a", "/a~1b/1", "/a~1b/x"):
        with pytest.raises(ParseError):
            inside(row, wrong)


def test_exchanges_of_other_apis() -> None:
    item = {"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": "Hello."}]}
    made = exchange({"model": "m", "input": "Hi"}, {"output": [item]}, "openai-responses")
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]}
    assert made == {"model": "m", "input": [said, item]}
    step = {"type": "model_output", "content": [{"type": "text", "text": "Hello."}]}
    made = exchange({"model": "m", "input": "Hi"}, {"steps": [step], "status": "completed"}, "gemini-interactions")
    assert made == {"model": "m", "input": [{"type": "user_input", "content": [{"type": "text", "text": "Hi"}]}, step]}
    with pytest.raises(ParseError, match="no message"):
        exchange({"messages": []}, {"choices": []}, "openai-chat")
    with pytest.raises(ParseError):
        exchange({"conversations": []}, {}, "sharegpt")
    turns = [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello."}]
    assert exchange(turns[:1], turns[1], "sharegpt") == turns
    with pytest.raises(UnknownFormatError):
        exchange({"messages": []}, {}, "nowhere")


@pytest.mark.parametrize("command", ["stats", "view", "check"])
def test_every_command_reads_the_same_places(run: Run, command: str) -> None:
    chat = {"messages": [{"role": "user", "content": "Hi"}]}
    row = json.dumps({"request": chat, "response": {"choices": [{"message": {"role": "assistant", "content": "Yo"}}]}})
    assert run(command, stdin=row)[0] == 0
    options = ("--at", "/request", "--answer", "/response")
    for choice in (
        (),
        ("--from", "openai"),
        ("--format", "openai-chat"),
        ("-f", "auto"),
        ("--from", "anthropic", "-f", "openai"),
    ):
        code, out, err = run(command, *options, *choice, stdin=row)
        assert (code, "Yo" in out if command == "view" else "1 c" in err) == (0, True)


def test_the_place_of_an_answer_is_all_that_a_log_s_row_needs(run: Run) -> None:
    row = {"id": "1", "messages": ASKED["messages"], "response": COMPLETION}
    code, _, err = run("convert", "--to", "anthropic", stdin=json.dumps(row))
    assert (code, "give --answer /response" in err) == (2, True)
    code, out, _ = run("convert", "--to", "anthropic", "--answer", "/response", stdin=json.dumps(row))
    assert (code, [message["content"] for message in json.loads(out)["messages"]]) == (0, ["Hi", "Hello."])


@pytest.mark.parametrize("where", [(), ("--at", "/request", "--answer", "/answer")], ids=["found", "named"])
@pytest.mark.parametrize(
    ("face", "request_", "answer"),
    [
        ("ollama", ASKED, {"message": {"role": "assistant", "content": "Hello."}, "done": True}),
        ("mistral", ASKED, COMPLETION),
        ("gemini-interactions", {"input": "Hi"}, {"status": "completed", "steps": [
            {"type": "model_output", "content": [{"type": "text", "text": "Hello."}]}]}),
    ],
)  # fmt: skip
def test_a_recorded_exchange_says_its_format(run: Any, where: Any, face: str, request_: Any, answer: Any) -> None:
    row = {"id": "1", "face": face, "request": {**request_, "model": "m"}, "answer": {**answer, "model": "m"}}
    code, out, err = run("convert", "--to", "anthropic", *where, stdin=json.dumps(row) + "\n")
    assert code == 0, err
    said = [one for one in json.loads(out)["request"]["messages"] if one["role"] != "system"]
    assert [(one["role"], one["content"]) for one in said][-1] == ("assistant", "Hello.")
    code, out, err = run("stats", "--json", *where, "-", stdin=json.dumps(row) + "\n")
    assert (code, json.loads(out)["conversations"]) == (0, 1), err
