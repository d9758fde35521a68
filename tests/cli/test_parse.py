"""`toolfmt parse`: people's lines, JSON, streams, and the exit code."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests import sampling
from toolfmt import parse
from toolfmt.detection import lookalikes
from toolfmt.lookup.registry import default_registry
from toolfmt.model import ToolDefinition, ToolInvocation
from toolfmt.rendering import render_calls

Run = Callable[..., tuple[int, str, str]]

ANSWER = """Let me look.
<tool name="get_weather"><arguments>
<arg name="city">Łódź</arg><arg name="days">2</arg>
</arguments></tool>"""
CALL = {"name": "get_weather", "arguments": {"city": "Łódź", "days": 2}, "provenance": "marker", "certainty": "exact"}
BROKEN = '<execute>\n[{"name": "get_weather", "args": {"city": }}]\n</execute>'


def records(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def test_json_of_a_whole_answer(run: Run, tools: Path) -> None:
    code, out, err = run("parse", "--xml", "--tools", tools, "--json", stdin=ANSWER)
    assert (code, err) == (0, "")
    assert json.loads(out) == {
        "dialect": "xml-items",
        "text": "Let me look.\n",
        "reasoning": "",
        "calls": [CALL],
        "failures": [],
        "notices": [],
    }


def test_a_file_and_a_pipe_read_the_same(run: Run, tools: Path, tmp_path: Path) -> None:
    path = tmp_path / "answer.txt"
    path.write_text(ANSWER, "utf-8", newline="")
    options = ("--provider", "anthropic", "--tools", tools)
    expected = run("parse", "-", *options, stdin=ANSWER)
    assert run("parse", path, *options) == expected
    assert run("parse", *options, stdin=ANSWER) == expected
    assert run("parse", path, "--model", "claude-opus-4", "--tools", tools) == expected


def test_lines_for_people(run: Run, tools: Path) -> None:
    code, out, _ = run("parse", "--xml", "--tools", tools, stdin=ANSWER)
    assert code == 0
    assert [line.split() for line in out.splitlines()] == [
        ["text", "Let", "me", "look."],
        ["call", "0", "get_weather", "(provenance", "marker)"],
        ['{"city":', '"Łódź",', '"days":', "2}"],
    ]


def test_reasoning_ids_servers_and_big_numbers(run: Run) -> None:
    arguments = '{"n": 123456789012345678901234567890, "z": 1.0}'
    answer = (
        f'<thinking>Hm.</thinking><tool>{{"server_name": "far", "tool_name": "f", "arguments": {arguments}}}</tool>'
    )
    code, out, _ = run("parse", "-d", "tool-json", "--json", stdin=f"{answer}</tool>")
    assert code == 0
    assert '"n": 123456789012345678901234567890' in out
    assert '"z": 1.0' in out
    found = json.loads(out)
    assert found["reasoning"] == "Hm."
    assert found["calls"][0]["server"] == "far"
    assert "(server far, provenance marker)" in run("parse", "-d", "tool-json", stdin=f"{answer}</tool>")[1]


@pytest.mark.parametrize("options", [("--stream",), ("--chunk", "1"), ("--stream", "--chunk", "5")])
def test_a_stream_as_json_lines(run: Run, tools: Path, options: tuple[str, ...]) -> None:
    code, out, err = run("parse", "--xml", "--tools", tools, "--json", *options, stdin=ANSWER)
    events = records(out)
    assert (code, err) == (0, "")
    assert "".join(event["text"] for event in events if event["event"] == "text_delta") == "Let me look.\n"
    assert [event for event in events if event["event"] == "call_start"] == [
        {"event": "call_start", "index": 0, "name": "get_weather", "id": None}
    ]
    arguments = "".join(event["json"] for event in events if event["event"] == "arguments_delta")
    assert json.loads(arguments) == CALL["arguments"]
    assert events[-1] == {"event": "call_end", "index": 0, "call": CALL, "span": [13, len(ANSWER)]}


def test_small_pieces_give_more_events(run: Run) -> None:
    whole = run("parse", "--stream", "--json", stdin="no calls here")[1]
    pieces = run("parse", "--chunk", "1", "--json", stdin="no calls here")[1]
    assert len(records(pieces)) > len(records(whole))


def test_a_stream_for_people(run: Run, tools: Path) -> None:
    code, out, _ = run("parse", "--xml", "--tools", tools, "--chunk", "7", stdin=ANSWER)
    assert code == 0
    assert out.startswith('text              "Let me "\n')
    assert "call 0 starts     get_weather\n" in out
    assert '                  {"city": "Łódź", "days": 2}\n' in out


@pytest.mark.parametrize("stream", [(), ("--stream",)])
def test_a_broken_call_is_shown_and_gives_exit_code_1(run: Run, stream: tuple[str, ...]) -> None:
    code, out, err = run("parse", "-d", "execute-array", *stream, stdin=BROKEN)
    assert (code, err) == (1, "")
    assert "call 0 failed" in out
    assert run("parse", "-d", "execute-array", "--json", *stream, stdin=BROKEN)[0] == 1


@pytest.mark.parametrize("stream", [(), ("--stream",)])
def test_a_call_that_is_not_read_gives_exit_code_1(run: Run, tools: Path, stream: tuple[str, ...]) -> None:
    answer = '{"name": "get_weather", "arguments": {"city": "Oslo"}}\n'
    code, out, _ = run("parse", "-d", "xml-items", "--tools", tools, *stream, stdin=f"```json\n{answer}```\n")
    assert code == 1
    assert "unread_call" in out


def test_a_mended_call_gives_exit_code_0(run: Run) -> None:
    answer = '<tool>{"tool_name": "f", "arguments": {"a": b"}}</tool>'
    assert run("parse", "-d", "tool-json", stdin=answer)[0] == 1
    code, out, _ = run("parse", "-d", "tool-json", "--repair", "--json", stdin=answer)
    assert code == 0
    found = json.loads(out)
    assert [call["name"] for call in found["calls"]] == ["f"]
    assert "repaired" in [notice["kind"] for notice in found["notices"]]


def test_validation(run: Run, tools: Path) -> None:
    answer = '<execute>[{"name": "get_weather", "args": {"days": 2}}]</execute>'
    options = ("parse", "-d", "execute-array", "--tools", tools, "--json")
    assert run(*options, stdin=answer)[0] == 0
    code, out, _ = run(*options, "--validate", stdin=answer)
    assert code == 1
    (failure,) = json.loads(out)["failures"]
    assert failure["reason"] == "invalid_arguments"
    assert "city" in failure["detail"]


def test_strict_refuses_text_beside_a_call(run: Run, tools: Path) -> None:
    answer = 'Sure: {"name": "get_weather", "args": {"city": "Paris"}}'
    options = ("parse", "-p", "gemini", "--tools", tools)
    assert run(*options, stdin=answer)[0] == 0
    code, out, _ = run(*options, "--strict", stdin=answer)
    assert code == 1
    assert "mixed_content" in out


def test_what_a_model_wrote_does_not_steer_the_terminal(run: Run) -> None:
    for stream in ((), ("--stream",)):
        code, out, _ = run("parse", *stream, stdin="red \x1b[31m \x9b1m \u202eend")
        assert code == 0
        assert not {"\x1b", "\x9b", "\u202e"} & set(out)


def test_an_empty_answer(run: Run) -> None:
    assert run("parse", stdin="") == (0, "", "toolfmt: stdin is empty: the answer has no text and no call\n")
    assert run("parse", "--stream", "--json", stdin="")[:2] == (0, "")
    assert json.loads(run("parse", "--json", stdin="")[1])["calls"] == []


def test_a_character_that_is_cut_by_the_pipe(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolfmt.cli.inputs._PIECE", 1)
    assert json.loads(run("parse", "--json", stdin="Łódź ✓ 𝄞")[1])["text"] == "Łódź ✓ 𝄞"
    code, _, err = run("parse", stdin=b"ab\xe2\x9c!")
    assert (code, err) == (2, "toolfmt: <stdin>: not UTF-8 at byte 2\n")


def test_an_unknown_provider_is_an_error_with_a_hint(run: Run) -> None:
    code, out, err = run("parse", "-p", "antropic", stdin="Hi")
    assert (code, out) == (2, "")
    assert err == "toolfmt: unknown provider 'antropic'; did you mean 'anthropic'? `toolfmt providers` lists all\n"
    assert run("parse", "-p", "nobody", "-m", "claude-opus-4", stdin="")[0] == 2


def test_a_dialect_wins_over_provider_and_model(run: Run) -> None:
    expected = run("parse", "-d", "xml-items", stdin=ANSWER)
    assert expected[2] == ""
    assert run("parse", "-d", "xml-items", "-p", "openai", "-m", "no-such-model", stdin=ANSWER) == expected


@pytest.mark.parametrize("stream", [(), ("--stream",), ("--chunk", "3"), ("--json",)])
def test_an_answer_in_another_format_is_reported_by_its_markers(run: Run, stream: tuple[str, ...]) -> None:
    assert run("parse", *stream, stdin=ANSWER)[::2] == (0, "")  # found in the text
    code, _, err = run("parse", *stream, "-d", "default-json", stdin=ANSWER)
    assert code == 0
    assert err.startswith("toolfmt: no call found as default-json, but it looks like xml-items")
    assert err.count("\n") == 1
    assert run("parse", *stream, "--xml", stdin=ANSWER)[2] == ""


@pytest.mark.parametrize("text", ["No calls here.", "a <b>bold</b> word", '{"a": 1}', "I <think>"])
def test_plain_text_looks_like_nothing(run: Run, text: str) -> None:
    assert run("parse", stdin=text)[2] == ""


DEFINES = {"qwen25-coder"}
"""Its marker `<tools>` holds the tools' definitions in other formats, so that no text looks like its calls."""


@pytest.mark.parametrize("name", [name for name in sampling.names() if name not in DEFINES])
def test_every_format_is_among_those_that_its_own_calls_look_like(name: str) -> None:
    calls = [ToolInvocation(name="get_weather", arguments={"city": "Paris"})]
    tool = ToolDefinition(name="get_weather", parameters={"type": "object", "properties": {"city": {"type": "string"}}})
    traits = default_registry().dialect(name).traits
    written = render_calls(calls, dialect=name, tools=[tool])
    found = lookalikes(f"Sure.\n{written}" if traits.text_around else written, (tool,) if traits.needs_tools else ())
    assert 0 < len(found) <= 5
    assert any(written == render_calls(calls, dialect=other, tools=[tool]) for other in found)


def test_text_is_typed_by_its_looks_when_asked(run: Run) -> None:
    text = "<tool_call>\n<function=f>\n<parameter=n>\n42\n</parameter>\n</function>\n</tool_call>"
    for options, value in (((), "42"), (("--infer-types",), 42)):
        read = json.loads(run("parse", "-d", "qwen3-coder", "--json", *options, stdin=text)[1])
        assert [call["arguments"] for call in read["calls"]] == [{"n": value}]


def test_a_failure_names_the_tool_and_what_to_write(run: Run, tools: Path) -> None:
    answer = "<tool_call>\n<function=get_weather>\n<parameter=city>\nRome\n</paramter>\n</function>\n</tool_call>"
    code, out, err = run("parse", "-d", "qwen3-coder", "--tools", tools, stdin=answer)
    assert (code, "malformed of get_weather at 0-" in out) == (1, True)
    assert err == "toolfmt: call 0: write </parameter> instead of '</paramter>'\n"


def test_advice_names_options(run: Run) -> None:
    assert run("parse", "-p", "hermes", stdin="x")[2] == (
        "toolfmt: unknown provider 'hermes'; it is a dialect: give --dialect hermes\n"
    )
    assert "--dialect pythonic reads [name(key=value)]" in run("parse", "-d", "hermes", stdin="f(a=1)")[2]


def test_a_format_that_finds_no_call_either_is_no_advice(run: Run, tools: Path) -> None:
    for name in ("pythonic", "llama4-pythonic"):
        _, out, err = run("parse", "-d", name, "--tools", tools, stdin="[get_weather(**{'city': 'Rome'})]")
        assert f"not as {name} writes it" in out
        assert "give" not in out + err
        assert "a call that no format reads as it is" in run("parse", "-d", name, stdin="[f(**{'a': 1})]")[2]


def test_a_call_in_the_markers_of_another_format_names_that_format(run: Run) -> None:
    answer = 'Sure. <tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'
    code, _, err = run("parse", "--provider", "openai", stdin=answer)
    assert (code, err) == (1, "toolfmt: it looks like hermes: give --dialect hermes\n")
    broken = answer.replace(": 1}", ": ,}")
    assert "looks like" not in run("parse", "--dialect", "hermes", stdin=broken)[2]


@pytest.mark.parametrize(
    "error",
    [
        {"error": {"message": "bad key", "type": "invalid_request_error", "code": None}},
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        [{"error": {"code": 400, "message": "m", "status": "INVALID_ARGUMENT"}}],
        {"error": "model 'x' not found"},
        {"object": "error", "message": "m", "type": "BadRequestError", "code": 400},
        {"__type": "ThrottlingException", "message": "m"},
    ],
)
def test_an_apis_error_is_no_answer_in_silence(run: Run, error: Any) -> None:
    text = json.dumps(error, indent=2)
    what = "it looks like an API's error, not an answer of a model"
    assert parse(text).hint == parse(text, dialect="hermes").hint == what
    code, out, err = run("parse", stdin=text)
    assert (code, out.startswith("text")) == (0, True)
    assert err == f"toolfmt: no call found, but {what}\n"


@pytest.mark.parametrize(
    "text", ['{"error": null}', '{"message": "Hello"}', '{"error": "none", "city": "Oslo"}', "[1]", '["error"]', "[]"]
)
def test_json_of_another_kind_has_no_hint(text: str) -> None:
    assert not parse(text).hint


def test_the_option_for_an_apis_answer_is_pointed_to(run: Run) -> None:
    code, out, err = run("parse", "--api", "x")
    assert (code, out) == (2, "")
    assert "has no option --api: `toolfmt view` shows an API's own answer, `toolfmt run --api` runs it" in err
