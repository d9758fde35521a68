"""Agents' sessions: which lines are the conversation, what is kept beside it, that they are only read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolfmt import ParseError, check, convert
from toolfmt.conversation import CallPart, ReasoningPart, ResultPart, TextPart
from toolfmt.errors import UnrepresentableError
from toolfmt.transcripts.format import TranscriptFormat
from toolfmt.transcripts.formats import find
from toolfmt.transcripts.recognising import recognised

CLAUDE = find("claude-code")
CODEX = find("codex")


def line(ident: str, parent: str | None, role: str, content: Any, **further: Any) -> dict[str, Any]:
    answer = {"id": further.pop("answer")} if "answer" in further else {}
    message = {"role": role, "content": content, **answer}
    return {"type": role, "uuid": ident, "parentUuid": parent, "sessionId": "s1", "message": message, **further}


def use(ident: str) -> list[Any]:
    return [{"type": "tool_use", "id": ident, "name": "Bash", "input": {"command": "ls"}}]


def result(ident: str) -> list[Any]:
    return [{"type": "tool_result", "tool_use_id": ident, "content": f"of {ident}"}]


SESSION: list[Any] = [
    line("u1", None, "user", "List the files."),
    line("u2", "u1", "assistant", [{"type": "thinking", "thinking": "One call.", "signature": "EqQB"}], answer="msg_1"),
    line("u3", "u2", "assistant", use("a"), answer="msg_1"),
    line("u4", "u3", "user", result("a")),
    {"type": "summary", "summary": "Listing files", "leafUuid": "u4"},
]
ROLLOUT: list[Any] = [
    {"timestamp": "t0", "type": "session_meta", "payload": {"id": "0199", "cwd": "/repo"}},
    {
        "timestamp": "t1",
        "type": "response_item",
        "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "ls"}]},
    },
    {
        "timestamp": "t2",
        "type": "response_item",
        "payload": {"type": "custom_tool_call", "call_id": "c", "name": "apply_patch", "input": "*** Begin Patch"},
    },
    {"timestamp": "t3", "type": "event_msg", "payload": {"type": "user_message", "message": "ls"}},
]
SESSIONS = {"claude-code": SESSION, "codex": ROLLOUT}
every_session = pytest.mark.parametrize("name", SESSIONS)


def said(lines: Any, made: TranscriptFormat = CLAUDE) -> list[str]:
    return [part.text for message in made.read(lines).messages for part in message.parts if isinstance(part, TextPart)]


def test_the_lines_of_one_answer_are_one_message() -> None:
    found = CLAUDE.read(SESSION).messages
    assert [(message.role, message.parts) for message in found] == [
        ("user", (TextPart("List the files."),)),
        (
            "assistant",
            (ReasoningPart("One call.", "EqQB", owner="anthropic"), CallPart("Bash", {"command": "ls"}, id="a")),
        ),
        ("user", (ResultPart((TextPart("of a"),), "a"),)),
    ]
    assert [entry["uuid"] for entry in found[1].extra["claude-code.lines"]] == ["u2", "u3"]


def test_what_was_taken_back_is_a_branch_and_no_message() -> None:
    lines = [*SESSION[:1], line("b1", "u1", "assistant", "Wrong."), line("c1", "u1", "assistant", "Right.")]
    assert said(lines) == ["List the files.", "Right."]
    assert CLAUDE.read(lines).extra == {"claude-code.branches": [lines[1]]}


def test_a_sidechain_is_no_message() -> None:
    lines = [*SESSION[:1], line("b1", "u1", "user", "Look.", isSidechain=True)]
    assert said(lines) == ["List the files."]
    assert CLAUDE.read(lines).extra == {"claude-code.sidechains": [lines[1]]}


def test_results_of_parallel_calls_are_read_wherever_they_branch() -> None:
    lines = [
        line("u1", None, "user", "Go."),
        line("u2", "u1", "assistant", use("a"), answer="msg_1"),
        line("u3", "u2", "assistant", use("b"), answer="msg_1"),
        line("u4", "u2", "user", result("a")),
        line("u5", "u3", "user", result("b")),
    ]
    parts = [part for message in CLAUDE.read(lines).messages for part in message.parts]
    assert [part.id for part in parts if isinstance(part, (CallPart, ResultPart))] == ["a", "b", "a", "b"]


def test_lines_without_ids_follow_each_other() -> None:
    lines = [{"type": "user", "message": {"role": "user", "content": text}} for text in ("a", "b")]
    assert said(lines) == ["a", "b"]


def test_a_chain_that_bites_its_tail_ends() -> None:
    assert said([line("a", "b", "user", "1"), line("b", "a", "user", "2")]) == ["1", "2"]


def test_a_rollouts_items_are_messages_and_other_lines_are_kept() -> None:
    found = CODEX.read(ROLLOUT)
    assert [message.parts for message in found.messages] == [
        (TextPart("ls"),),
        (CallPart("apply_patch", None, "*** Begin Patch", "c", custom=True),),
    ]
    assert [message.extra for message in found.messages] == [{"codex.timestamp": "t1"}, {"codex.timestamp": "t2"}]
    assert found.extra == {"codex.lines": [ROLLOUT[0], ROLLOUT[3]]}


@pytest.mark.parametrize("place", [{"base_instructions": {"text": "Be brief."}}, {"instructions": "Be brief."}])
def test_instructions_of_a_rollout_are_the_systems_unless_a_message_repeats_them(place: dict[str, Any]) -> None:
    head = {"type": "session_meta", "payload": {"id": "1", **place}}
    assert said([head, head, *ROLLOUT[1:]], CODEX)[0] == "Be brief."
    told = {"type": "response_item", "payload": {"type": "message", "role": "user", "content": "<i>Be brief.</i>"}}
    assert said([head, told], CODEX)[0] == "<i>Be brief.</i>"


def test_a_subagents_file_is_a_conversation() -> None:
    lines = [line("a", None, "user", "1", isSidechain=True), line("b", "a", "user", "2", isSidechain=True)]
    assert said(lines) == ["1", "2"]


def test_a_log_of_json_rpc_is_one_conversation() -> None:
    log = [
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "f", "arguments": {}}},
        {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "18C"}]}},
    ]
    text = "\n".join(map(json.dumps, log))
    assert recognised(text).name == "mcp"
    assert find("mcp").read(text) == find("mcp").read(log)


@every_session
def test_text_and_list_are_the_same(name: str) -> None:
    text = "\n".join(map(json.dumps, SESSIONS[name])) + "\n"
    assert find(name).read(text) == find(name).read(SESSIONS[name])
    assert recognised(text).name == recognised(SESSIONS[name]).name == name


@every_session
def test_other_lines_are_reported_as_lost(name: str) -> None:
    there = convert(SESSIONS[name], target="openai-responses")
    assert ("request_field", f"{name}.lines") in [(loss.code, loss.detail) for loss in there.all_losses]


QUEUED = {"type": "queued_command", "prompt": "Needle, please.", "commandMode": "prompt"}
FILE = {"type": "file", "filename": "a.py", "content": {"type": "text", "file": {"content": "needle = 1"}}}
WORDS: list[tuple[str, dict[str, Any]]] = [
    ("claude-code", {"type": "attachment", "uuid": "u5", "parentUuid": "u4", "attachment": FILE}),
    ("claude-code", {"type": "attachment", "attachment": {"type": "selected_lines_in_ide", "content": "the needle"}}),
    ("claude-code", {"type": "system", "subtype": "local_command", "content": "/needle"}),
    ("claude-code", {"type": "queue-operation", "operation": "enqueue", "content": "needle"}),
    ("claude-code", {"type": "new", "message": {"role": "system", "content": [{"type": "text", "text": "needle"}]}}),
    ("claude-code", line("b1", "u1", "user", "A needle.")),
    ("claude-code", line("b2", "u1", "user", "A needle.", isSidechain=True)),
    ("claude-code", {"type": "torn", "text": '{"message": "needle'}),
    ("codex", {"type": "event_msg", "payload": {"type": "agent_message", "message": "A needle."}}),
    ("codex", {"type": "event_msg", "payload": {"type": "new", "nested": [{"text": "A needle."}]}}),
    ("codex", {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "A needle."}]}),
    ("codex", {"type": "torn", "text": '{"payload": "needle'}),
    (
        "acp",
        {"method": "session/update", "params": {"update": {"sessionUpdate": "new", "content": {"text": "needle"}}}},
    ),
    ("acp", {"method": "fs/write_text_file", "params": {"content": "a needle"}}),
]


@pytest.mark.parametrize(("name", "odd"), WORDS)
@pytest.mark.parametrize("target", ["openai-chat", "openai-finetune", "anthropic", "sharegpt"])
def test_words_in_a_line_are_never_bookkeeping(name: str, odd: dict[str, Any], target: str) -> None:
    update = {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "Hi."}}
    session = SESSIONS.get(name, [update])
    lines = [*session[:1], odd, *session[1:]]
    there = convert(lines, source=name, target=target)
    lost = [loss for loss in there.losses if loss.severity == "content"]
    assert "needle" in json.dumps(there.value) or any(
        "needle" in loss.detail or loss.path in ("/sidechains", "/branches") for loss in lost
    )


@pytest.mark.parametrize("title", [{"type": "summary", "summary": "Files"}, {"type": "ai-title", "aiTitle": "Files"}])
def test_a_title_is_bookkeeping(title: dict[str, Any]) -> None:
    lines = SESSION[1:4]
    lost, before = (
        [loss for loss in convert(given, source="claude-code", target="openai-chat").losses if loss.code == "beside"]
        for given in ([*lines, title], lines)
    )
    assert lost == before


def test_a_lost_line_is_named() -> None:
    odd = {"type": "attachment", "attachment": FILE}
    lost = convert([*SESSION[:2], odd, *SESSION[2:4]], source="claude-code", target="openai-chat").losses
    assert [(loss.code, loss.path, loss.detail) for loss in lost if loss.code == "beside"] == [
        ("beside", "/2", "file: needle = 1")
    ]


def test_a_queued_prompt_is_the_users() -> None:
    queued = {"type": "attachment", "uuid": "u5", "parentUuid": "u4", "sessionId": "s1", "attachment": QUEUED}
    lines = [*SESSION[:4], queued, line("u6", "u5", "assistant", "Done.")]
    assert said(lines) == ["List the files.", "Needle, please.", "Done."]
    assert not [loss for loss in convert(lines, target="anthropic").losses if loss.severity == "content"]


@pytest.mark.parametrize("sign", [{"isApiErrorMessage": True}, {"model": "<synthetic>"}], ids=["flag", "model"])
def test_an_error_that_the_program_wrote_is_no_answer(sign: dict[str, Any]) -> None:
    failed = line("u5", "u4", "assistant", [{"type": "text", "text": "API Error: 529"}], answer="msg_2")
    failed |= {key: value for key, value in sign.items() if key != "model"}
    failed["message"] |= {key: value for key, value in sign.items() if key == "model"}
    again = line("u6", "u5", "user", "Go on.")
    made = convert([*SESSION, failed, again], source="claude-code", target="openai-chat")
    assert [message["role"] for message in made.value["messages"]] == ["user", "assistant", "tool", "user"]
    assert "API Error" not in json.dumps(made.value)
    assert [(loss.code, loss.detail) for loss in made.losses if loss.code == "beside"] == [
        ("beside", "assistant: API Error: 529")
    ]


def test_an_answer_of_a_session_that_was_cut_off_is_a_loss() -> None:
    cut = line("u5", "u4", "assistant", [{"type": "text", "text": "One fi"}], answer="msg_2")
    cut["message"]["stop_reason"] = "max_tokens"
    made = convert([*SESSION, cut], source="claude-code", target="openai-chat")
    assert [(loss.code, loss.detail) for loss in made.losses if loss.code == "ending"] == [("ending", "max_tokens")]


def test_words_that_a_message_repeats_are_no_loss() -> None:
    assert convert(ROLLOUT, target="openai-responses").losses == ()


@every_session
def test_it_cannot_be_written(name: str) -> None:
    with pytest.raises(UnrepresentableError, match="only read"):
        convert([{"role": "user", "content": "a"}], source="openai-chat", target=name)


@every_session
@pytest.mark.parametrize("value", [1, None, {}, [1], "a", "a\nb", '{"a": 1}\n{"b": \n{}', '{"b": ', "[]"])
def test_what_is_no_session_is_refused(name: str, value: Any) -> None:
    with pytest.raises(ParseError):
        convert(value, source=name, target="openai-chat")


@pytest.mark.parametrize("odd", [{}, {"message": 1}, {"message": {"role": []}}, {"payload": 1, "type": []}])
@every_session
def test_an_odd_line_is_kept(name: str, odd: Any) -> None:
    assert find(name).read([odd]).extra == {f"{name}.lines": [odd]}


@pytest.mark.parametrize(
    "odd",
    [
        {"message": {"role": "user"}},
        {"message": {"role": "assistant", "id": [], "content": 1}, "uuid": [], "parentUuid": {}},
        {"message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": []}]}, "uuid": "a"},
    ],
)
def test_an_odd_message_is_read(odd: Any) -> None:
    assert len(CLAUDE.read([odd]).messages) == 1
    assert convert(
        [{"message": {"role": "user", "content": "Hi"}}, odd], source="claude-code", target="openai-chat"
    ).all_losses


def test_a_session_with_calls_is_accepted() -> None:
    """What the arguments are is the program's own affair: a provider is never sent these lines."""
    assert check(SESSION, format="claude-code") == ()
    assert check(ROLLOUT, format="codex") == ()


def test_local_commands_are_the_user_s_wherever_a_line_has_them() -> None:
    command = {"type": "system", "subtype": "local_command", "content": "<command-name>/model</command-name>"}
    lines = [
        line("u1", None, "user", "Hi."),
        command | {"uuid": "u2", "parentUuid": "u1"},
        line("u3", "u2", "user", "On."),
    ]
    made = convert(lines, source="claude-code", target="openai-chat")
    assert [item["content"] for item in made.value["messages"]] == ["Hi.", command["content"], "On."]
    assert made.losses == ()


def test_lines_that_name_no_parent_follow_each_other() -> None:
    lines = [line("u1", None, "user", "Hi."), line("u2", None, "assistant", "Yes?")]
    for item in lines:
        del item["parentUuid"]
    assert [message.role for message in CLAUDE.read(lines).messages] == ["user", "assistant"]


def test_a_session_that_begins_with_a_system_line_is_no_langchain() -> None:
    system = {
        "type": "system",
        "subtype": "init",
        "content": "2.1",
        "uuid": "u0",
        "parentUuid": None,
        "sessionId": "s1",
    }
    assert recognised([system, line("u1", "u0", "user", "Hi.")]).name == "claude-code"
