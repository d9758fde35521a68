"""What has no place in a format is carried in another form: each of these was left out once."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

import pytest

from toolfmt import check, convert
from toolfmt.transcripts.convert import Conversion
from toolfmt.transcripts.fitting.carrying import Carry
from toolfmt.transcripts.formats import find

ASKED: dict[str, Any] = {"role": "user", "content": "What is new?"}
SEARCHED = [
    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "news"}},
    {
        "type": "web_search_tool_result",
        "tool_use_id": "srvtoolu_1",
        "content": [
            {"type": "web_search_result", "title": "T", "url": "https://e.com", "encrypted_content": "c2VjcmV0"}
        ],
    },
]
CLAUDE = [ASKED, {"role": "assistant", "content": [*SEARCHED, {"type": "text", "text": "It rains."}]}]
RESPONSES = [
    {"role": "user", "content": "Go on."},
    {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "news"}},
    {
        "type": "code_interpreter_call",
        "id": "ci_1",
        "status": "completed",
        "code": "print(1 + 1)",
        "container_id": "c",
        "outputs": [{"type": "logs", "logs": "2"}],
    },
    {"type": "mcp_call", "id": "mcp_1", "server_label": "s", "name": "ask", "arguments": '{"q": 1}', "output": "one"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done.", "annotations": []}]},
]
GEMINI = [
    {"role": "user", "parts": [{"text": "Go on."}]},
    {
        "role": "model",
        "parts": [
            {"executableCode": {"language": "PYTHON", "code": "print(1 + 1)"}},
            {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2\n"}},
            {"text": "It is 2."},
        ],
    },
]
NOVA = [
    {"role": "user", "content": [{"text": "Go on."}]},
    {
        "role": "assistant",
        "content": [
            {
                "toolUse": {
                    "toolUseId": "t1",
                    "name": "nova_grounding",
                    "input": {"q": "news"},
                    "type": "server_tool_use",
                }
            },
            {"toolResult": {"toolUseId": "t1", "content": [{"text": "rain"}], "type": "nova_grounding_result"}},
            {"text": "It rains."},
        ],
    },
]
STEPS = {
    "input": [
        {"type": "user_input", "content": "Go on."},
        {"type": "google_search_call", "id": "g1", "arguments": {"queries": ["news"]}},
        {"type": "google_search_result", "call_id": "g1", "result": [{"title": "T", "url": "https://e.com"}]},
        {"type": "model_output", "content": [{"type": "text", "text": "It rains."}]},
    ]
}
RUN: dict[str, tuple[Any, list[str], list[str]]] = {
    "anthropic": (CLAUDE, ["web_search"], ["https://e.com"]),
    "openai-responses": (RESPONSES, ["web_search", "code_interpreter", "ask"], ["completed", "2", "one"]),
    "gemini": (GEMINI, ["code_execution"], ["2\n"]),
    "bedrock": (NOVA, ["nova_grounding"], ["rain"]),
    "gemini-interactions": (STEPS, ["google_search"], ["https://e.com"]),
}
"""What each provider ran itself: the names of the calls, and what their results hold."""
APIS = ("openai-chat", "openai-responses", "anthropic", "gemini", "mistral", "cohere", "ollama", "gemini-interactions")


def there_and_back(value: Any, source: str, target: str, **options: Any) -> Conversion:
    """Convert, and see that the target takes it and that the way back is exact."""
    there = convert(value, source=source, target=target, **options)
    assert check(there.value, format=target) == ()
    residue = json.loads(json.dumps(there.residue))
    back = convert(json.loads(json.dumps(there.value)), source=target, target=source, residue=residue)
    assert json.dumps(back.value) == json.dumps(value)
    return there


def called(there: Conversion, target: str) -> tuple[list[str], list[str]]:
    """List the names of ordinary calls, and the text of their results."""
    messages = find(target).read(there.value).messages
    names = [
        getattr(part, "name", "") for message in messages for part in message.parts if type(part).__name__ == "CallPart"
    ]
    results = [repr(part) for message in messages for part in message.parts if type(part).__name__ == "ResultPart"]
    return names, results


@pytest.mark.parametrize("source", RUN)
@pytest.mark.parametrize("target", APIS)
def test_what_a_provider_ran_is_a_call_and_its_result(source: str, target: str) -> None:
    if source == target:
        return
    value, names, held = RUN[source]
    there = there_and_back(value, source, target)
    found, results = called(there, target)
    assert found == names
    assert all(text.strip() in result for text, result in zip(held, results, strict=True))
    assert "c2VjcmV0" not in json.dumps(there.value)
    assert {(loss.code, loss.action) for loss in there.all_losses} >= {("provider_part", "changed")}


@pytest.mark.parametrize("source", RUN)
def test_or_tagged_text_or_nothing(source: str) -> None:
    value, names, held = RUN[source]
    there = there_and_back(value, source, "openai-chat", carry=Carry(hosted="text"))
    text = json.dumps(there.value)
    assert called(there, "openai-chat") == ([], [])
    assert all(f'<tool_call name=\\"{name}\\">' in text for name in names)
    assert all(json.dumps(found)[1:-1].strip() in text for found in held)
    dropped = there_and_back(value, source, "openai-chat", carry=Carry(hosted="drop"))
    assert {(loss.code, loss.action) for loss in dropped.all_losses} >= {("provider_part", "dropped")}


def test_without_a_result_it_is_text() -> None:
    value = [ASKED, {"role": "assistant", "content": [SEARCHED[0]]}, ASKED]
    there = there_and_back(value, "anthropic", "openai-chat")
    assert there.value["messages"][1]["content"] == '<tool_call name="web_search">\n{"query":"news"}\n</tool_call>'


def test_where_calls_need_declared_tools_it_is_text_without_them() -> None:
    assert called(there_and_back(RESPONSES, "openai-responses", "bedrock"), "bedrock") == ([], [])


CLIENT = [
    (
        {"type": "local_shell_call", "id": "l", "call_id": "c", "status": "completed", "action": {"command": ["ls"]}},
        {"type": "local_shell_call_output", "id": "l", "output": "a.txt"},
        ("local_shell", {"command": ["ls"]}, "a.txt"),
    ),
    (
        {"type": "shell_call", "call_id": "c", "action": {"commands": ["ls"]}},
        {"type": "shell_call_output", "call_id": "c", "output": [{"stdout": "a.txt", "stderr": ""}]},
        ("shell", {"commands": ["ls"]}, '[{"stdout": "a.txt", "stderr": ""}]'),
    ),
    (
        {
            "type": "apply_patch_call",
            "call_id": "c",
            "operation": {"type": "delete_file", "path": "a"},
            "status": "completed",
        },
        {"type": "apply_patch_call_output", "call_id": "c", "status": "completed", "output": "ok"},
        ("apply_patch", {"type": "delete_file", "path": "a"}, "ok"),
    ),
]


@pytest.mark.parametrize(("call", "output", "expected"), CLIENT)
def test_what_the_client_runs_is_an_ordinary_call(call: Any, output: Any, expected: tuple[str, Any, str]) -> None:
    value = [{"role": "user", "content": "Go on."}, call, output]
    there = there_and_back(value, "openai-responses", "openai-chat").value["messages"]
    function = there[1]["tool_calls"][0]["function"]
    assert (function["name"], json.loads(function["arguments"]), there[2]["content"]) == expected
    assert there[2]["tool_call_id"] == there[1]["tool_calls"][0]["id"]


def test_a_patch_that_failed_is_an_error() -> None:
    call, output, _ = CLIENT[-1]
    value = [call, {**output, "status": "failed", "output": "no such file"}]
    (result,) = there_and_back(value, "openai-responses", "anthropic").value["messages"][-1]["content"]
    assert (result["is_error"], result["content"]) == (True, "no such file")


DECLARED = {
    "anthropic": [
        {"type": "web_search_20250305", "name": "web_search", "max_uses": 3, "allowed_domains": ["e.com"]},
        {"type": "code_execution_20250825", "name": "code_execution"},
    ],
    "openai-responses": [
        {"type": "web_search", "filters": {"allowed_domains": ["e.com"]}},
        {"type": "code_interpreter", "container": {"type": "auto"}},
    ],
    "gemini": [{"googleSearch": {}}, {"codeExecution": {}}],
    "gemini-interactions": [{"type": "google_search"}, {"type": "code_execution"}],
}


@pytest.mark.parametrize("source", DECLARED)
@pytest.mark.parametrize("target", DECLARED)
def test_a_provider_s_tools_are_declared_in_the_other_s_words(source: str, target: str) -> None:
    talk = convert([ASKED], source="openai-chat", target=source).value
    found = there_and_back({**talk, "tools": DECLARED[source]}, source, target).value["tools"]
    unlimited = json.loads(json.dumps(DECLARED[target]))
    for tool in unlimited:
        if not source.startswith("anthropic"):
            tool.pop("max_uses", None)
        if source.startswith("gemini"):
            tool.pop("allowed_domains", None)
            tool.pop("filters", None)
    assert found == (DECLARED[target] if source == target else unlimited)


def test_servers_of_mcp_are_declared() -> None:
    server = {"type": "url", "name": "wiki", "url": "https://e.com/mcp", "authorization_token": "t"}
    there = there_and_back({"messages": [ASKED], "mcp_servers": [server]}, "anthropic", "openai-responses").value
    tool = {"type": "mcp", "server_label": "wiki", "server_url": "https://e.com/mcp", "authorization": "t"}
    assert there["tools"] == [tool]
    back = there_and_back({"input": "Hi", "tools": [tool]}, "openai-responses", "anthropic").value
    assert back["mcp_servers"] == [server]
    assert back["tools"] == [{"type": "mcp_toolset", "mcp_server_name": "wiki"}]


INSIDE: list[tuple[Any, str]] = [
    (
        {
            "type": "search_result",
            "title": "T",
            "source": "https://e.com",
            "content": [{"type": "text", "text": "rain"}],
        },
        '<search_result title="T" source="https://e.com">\nrain\n</search_result>',
    ),
    ({"type": "tool_reference", "tool_name": "get_weather"}, "tool: get_weather"),
    ({"type": "tool_result", "tool_use_id": "x", "content": "nested"}, "nested"),
]


@pytest.mark.parametrize(("block", "text"), INSIDE)
def test_a_result_never_becomes_empty(block: Any, text: str) -> None:
    use = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": [block]}
    value = [ASKED, {"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    for target in APIS:
        if target != "anthropic":
            there = there_and_back(value, "anthropic", target)
            assert json.dumps(text)[1:-1] in json.dumps(there.value).replace("\\\\", "\\")


def test_a_summary_is_text() -> None:
    value = [ASKED, {"role": "assistant", "content": [{"type": "compaction", "content": "They met."}]}, ASKED]
    there = there_and_back(value, "anthropic", "openai-chat")
    assert there.value["messages"][1]["content"] == "<summary>\nThey met.\n</summary>"


@pytest.mark.parametrize("target", ["gemini", "bedrock", "gemini-interactions"])
def test_an_instruction_in_the_middle_stays_there(target: str) -> None:
    value = [ASKED, {"role": "assistant", "content": "Rain."}, {"role": "system", "content": "Be rude."}, ASKED]
    there = there_and_back(value, "openai-chat", target)
    parts = [part for message in find(target).read(there.value).messages for part in message.parts]
    assert [getattr(part, "text", None) for part in parts] == [
        "What is new?",
        "Rain.",
        "<system>\nBe rude.\n</system>",
        "What is new?",
    ]
    assert ("role", "changed") in {(loss.code, loss.action) for loss in there.all_losses}


def test_reasoning_without_a_place_is_tagged_text_if_asked() -> None:
    value = [ASKED, {"role": "assistant", "reasoning_content": "Hm.", "content": "Rain."}, ASKED]
    there = there_and_back(value, "openai-chat", "anthropic", carry=Carry(reasoning="text"))
    blocks = there.value["messages"][1]["content"]
    assert [block["text"] for block in blocks] == ["<thinking>\nHm.\n</thinking>", "Rain."]
    assert "Hm." not in json.dumps(there_and_back(value, "openai-chat", "anthropic").value)


@pytest.mark.parametrize("target", ["cohere", "ollama", "hf-chat"])
def test_a_text_file_is_text_where_files_have_no_place(target: str) -> None:
    data = b64encode(b"a,b\n1,2").decode()
    file = {"type": "file", "file": {"filename": "t.csv", "file_data": f"data:text/csv;base64,{data}"}}
    value = [{"role": "user", "content": [{"type": "text", "text": "Sum up."}, file]}]
    there = there_and_back(value, "openai-chat", target)
    assert '<document name=\\"t.csv\\">\\na,b\\n1,2\\n</document>' in json.dumps(there.value)


@pytest.mark.parametrize("target", ["bedrock", "ollama"])
def test_an_image_is_fetched_where_data_is_wanted(target: str) -> None:
    value = [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What is it?"},
                {"type": "image_url", "image_url": {"url": "https://e.com/a.png"}},
            ],
        }
    ]
    data = b"\x89PNG\r\n\x1a\n0000"
    there = there_and_back(
        value, "openai-chat", target, carry=Carry(fetch=lambda url: (data, "image/png") if url else None)
    )
    assert b64encode(data).decode() in json.dumps(there.value)
    assert ("media", "dropped") in {
        (loss.code, loss.action) for loss in there_and_back(value, "openai-chat", target).all_losses
    }


def test_a_legal_name_stays_where_another_has_to_change() -> None:
    calls = [
        {"id": name, "type": "function", "function": {"name": name, "arguments": "{}"}} for name in ("get.x", "get_x")
    ]
    results = [{"role": "tool", "tool_call_id": name, "content": "1"} for name in ("get.x", "get_x")]
    value = [ASKED, {"role": "assistant", "content": None, "tool_calls": calls}, *results]
    there = convert(value, source="openai-chat", target="anthropic")
    names = [block["name"] for block in there.value["messages"][1]["content"]]
    assert names[1] == "get_x"
    assert names[0] != "get_x"


def test_text_in_place_of_an_object_is_taken_out_again() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"city": '}}
    value = [ASKED, {"role": "assistant", "content": None, "tool_calls": [call]}]
    there = convert(value, source="openai-chat", target="anthropic")
    assert there.value["messages"][1]["content"][0]["input"] == {"INVALID_JSON": '{"city": '}
    back = convert(there.value, source="anthropic", target="openai-chat")
    assert back.value["messages"][1]["tool_calls"][0]["function"]["arguments"] == '{"city": '


def test_a_result_whose_call_the_provider_holds_is_text() -> None:
    output = {"type": "function_call_output", "call_id": "call_1", "output": "18C"}
    there = there_and_back({"previous_response_id": "resp_1", "input": [output]}, "openai-responses", "openai-chat")
    assert there.value["messages"] == [{"role": "user", "content": '<tool_result name="call_1">\n18C\n</tool_result>'}]


def test_half_a_surrogate_pair_is_replaced() -> None:
    half = "a\ud83d"
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": half}}
    value: Any = [
        {"role": "user", "content": half},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": half},
    ]
    for target in ("anthropic", "openai-responses", "gemini"):
        there = convert(value, source="openai-chat", target=target)
        assert check(there.value, format=target) == ()
        assert json.dumps(there.value, ensure_ascii=False).encode().count("\ufffd".encode()) == 3
        assert [loss.code for loss in there.losses if "surrogate" in loss.detail] == ["text", "arguments", "text"]
        assert convert(there.value, source=target, target="openai-chat", residue=there.residue).value == value


def test_tools_of_one_name_are_distinguished_by_their_namespaces() -> None:
    spaces = [
        {"type": "namespace", "name": space, "description": space, "tools": [{"type": "function", "name": name}]}
        for space, name in (("crm", "get"), ("erp", "get"), ("erp", "put"))
    ]
    calls = [
        {"type": "function_call", "call_id": space, "name": "get", "namespace": space, "arguments": "{}"}
        for space in ("crm", "erp")
    ]
    outputs = [{"type": "function_call_output", "call_id": space, "output": space} for space in ("crm", "erp")]
    value = {"input": [{"role": "user", "content": "Go on."}, *calls, *outputs], "tools": spaces}
    there = there_and_back(value, "openai-responses", "openai-chat").value
    assert [tool["function"]["name"] for tool in there["tools"]] == ["crm__get", "erp__get", "put"]
    assert [call["function"]["name"] for call in there["messages"][1]["tool_calls"]] == ["crm__get", "erp__get"]


@pytest.mark.parametrize("target", ["cohere", "ollama", "openai-chat"])
@pytest.mark.parametrize("text", ["18C", ""])
def test_an_image_of_a_result_that_the_user_shows_is_moved(target: str, text: str) -> None:
    image = {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="}
    output = [{"type": "input_text", "text": text}] * bool(text) + [image]
    value = [
        {"role": "user", "content": "Look."},
        {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": output},
        {"role": "user", "content": "And?"},
    ]
    there = there_and_back({"input": value}, "openai-responses", target)
    assert "iVBORw0KGgo=" in json.dumps(there.value)
    assert [(loss.code, loss.path, loss.action, loss.detail) for loss in there.losses] == [
        ("order", "/input/2", "moved", "image of a result")
    ]


def test_a_document_is_dropped_also_where_an_image_is_moved() -> None:
    file = {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0="}
    value = [
        {"role": "user", "content": [{"type": "input_text", "text": "Look."}, file]},
        {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
        {
            "type": "function_call_output",
            "call_id": "c1",
            "output": [{"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="}],
        },
    ]
    there = there_and_back({"input": value}, "openai-responses", "ollama")
    assert [(loss.code, loss.path, loss.action, loss.detail) for loss in there.losses] == [
        ("order", "/input/2", "moved", "image of a result"),
        ("media", "/input/0", "dropped", "document a.pdf"),
    ]


def test_what_is_gone_of_a_result_is_named() -> None:
    image = {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo=", "detail": "high"}
    file = {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0="}
    known = {"type": "input_file", "file_id": "file-1"}
    words = {"type": "input_text", "text": "Both."}
    value = [
        {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": [known, image, words, file]},
    ]

    def lost(target: str) -> list[tuple[str, str]]:
        there = there_and_back({"input": value}, "openai-responses", target)
        return [(loss.code, loss.detail) for loss in there.losses]

    assert lost("anthropic") == [("media", "detail of image: high"), ("result_content", "document file-1")]
    assert lost("gemini") == [
        ("media", "detail of image: high"),
        ("media", "name of document: a.pdf"),
        ("result_content", "document file-1"),
    ]
    moved = ("document file-1", "image", "document a.pdf")
    assert lost("openai-chat") == [("order", f"{what} of a result") for what in moved]


@pytest.mark.parametrize("target", ["cohere", "openai-chat", "openai-responses", "gemini-interactions", "anthropic"])
def test_a_result_without_an_id_and_a_call_is_text_where_an_id_is_demanded(target: str) -> None:
    old = {"type": "function", "data": {"type": "function", "name": "old", "content": "needle"}}
    asked = {"type": "human", "data": {"type": "human", "content": "Go on."}}
    made = convert([asked, old], source="langchain", target=target)
    assert "<tool_result" in json.dumps(made.value)
    assert "result" in {loss.code for loss in made.losses}
    assert check(made.value, format=target) == ()


def test_what_a_provider_s_part_says_beyond_its_call_is_named() -> None:
    called = {"type": "mcp_call", "id": "m", "server_label": "needle", "name": "f", "arguments": "{}", "output": "18C"}
    value = [{"role": "user", "content": "Go on."}, called]
    (loss,) = convert(value, source="openai-responses", target="anthropic").losses
    assert (loss.code, loss.detail) == ("provider_part", "f as a call, without server_label")


def test_what_a_declaration_of_a_provider_s_tool_lacks_is_named() -> None:
    search = {"type": "web_search_20250305", "name": "web_search", "max_uses": 3, "allowed_domains": ["e.com"]}
    value = {"messages": [{"role": "user", "content": "News?"}], "tools": [search]}
    (loss,) = convert(value, source="anthropic", target="openai-responses").losses
    assert (loss.code, loss.detail) == ("tool", "web_search, without max_uses")


def test_losses_name_what_is_gone() -> None:
    details = [{"type": "reasoning.new", "blob": "x"}]
    thought = {"role": "assistant", "content": "a", "reasoning_details": details}
    hidden = {"type": "redacted_thinking", "data": "ENC"}
    citation = {"type": "char_location", "cited_text": "q", "document_index": 0, "document_title": "Report"}
    text = {"type": "text", "text": "a", "citations": [citation | {"start_char_index": 0, "end_char_index": 1}]}
    signed = {"parts": [{"text": "a"}, {"text": "", "thoughtSignature": "c2ln"}], "role": "model"}
    asked = {"role": "user", "content": "q"}
    cases: list[tuple[str, str, Any, list[tuple[str, str]]]] = [
        ("openai-chat", "gemini", [asked, thought], [("beside", "openai-chat.reasoning_details")]),
        (
            "anthropic",
            "gemini",
            [asked, {"role": "assistant", "content": [hidden, text]}],
            [("citations", "1: Report"), ("reasoning", "hidden by anthropic")],
        ),
        ("gemini", "anthropic", [{"role": "user", "parts": [{"text": "q"}]}, signed], []),
    ]
    for source, target, value, found in cases:
        made = convert(value, source=source, target=target)
        assert [(loss.code, loss.detail) for loss in made.losses] == found, source


def test_the_paragraphs_of_a_thought_are_no_loss_where_they_are_one_text() -> None:
    summary = [{"type": "summary_text", "text": text} for text in ("One.", "Two.")]
    value = {"input": [{"role": "user", "content": "q"}, {"type": "reasoning", "id": "rs_1", "summary": summary}]}
    made = convert({"input": [*value["input"], {"role": "assistant", "content": "a"}]}, target="gemini")
    assert "One.\\n\\nTwo." in json.dumps(made.value)
    assert made.losses == ()


@pytest.mark.parametrize(
    ("source", "value", "said"),
    [
        (
            "mcp",
            [
                {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "f", "arguments": {}}},
                {
                    "jsonrpc": "2.0",
                    "id": 1,
                    "result": {"content": [{"type": "resource_link", "uri": "f:/a.md", "name": "a", "title": "T"}]},
                },
            ],
            '<resource_link name=\\"a\\" uri=\\"f:/a.md\\">\\nT\\n</resource_link>',
        ),
        (
            "pydantic-ai",
            [
                {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "Q"}]},
                {"kind": "response", "parts": [{"part_kind": "text", "content": "A"}]},
                {
                    "kind": "request",
                    "parts": [{"part_kind": "retry-prompt", "content": [{"loc": ["a"], "msg": "a number"}]}],
                },
            ],
            "a number",
        ),
    ],
)
def test_a_link_to_a_resource_and_the_errors_of_a_retry_are_carried_as_text(source: str, value: Any, said: str) -> None:
    for target in ("anthropic", "openai-chat", "openai-responses", "gemini"):
        made = convert(value, source=source, target=target)
        assert said in json.dumps(made.value)
        back = convert(made.value, source=target, target=source, residue=made.residue)
        assert back.value == value
