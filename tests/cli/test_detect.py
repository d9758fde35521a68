"""`toolfmt detect`, and `toolfmt parse --dialect auto`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., tuple[int, str, str]]

ANSWER = """Let me look.
<tool_call>
<function=get_weather>
<parameter=city>
Paris
</parameter>
</function>
</tool_call>"""


def test_the_format_is_reported_with_the_reason(run: Run) -> None:
    code, out, err = run("detect", stdin=ANSWER)
    assert (code, err) == (0, "")
    first, blank, header, *rows = out.splitlines()
    assert first == "qwen3-coder: it writes `<tool_call>` and a name and elements (line 2)"
    assert (blank, header.split()) == ("", ["format", "score", "why"])
    assert [row.split()[0] for row in rows][:2] == ["qwen3-coder", "nemotron3"]


def test_json(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "answer.txt"
    file.write_text(ANSWER, "utf-8")
    code, out, _ = run("detect", file, "--json")
    found = json.loads(out)
    assert (code, found["dialect"], found["span"][0]) == (0, "qwen3-coder", 13)
    assert found["candidates"][0] == {
        "dialect": "qwen3-coder",
        "reason": "writes `<tool_call>` and a name and elements",
        "score": 6,
    }


@pytest.mark.parametrize("text", ["", "Hello.", f"```\n{ANSWER}\n```", "\x00\x01\x02", '{"a": 1}'])
def test_no_call_is_exit_code_1(run: Run, text: str) -> None:
    assert run("detect", stdin=text) == (1, "no format: the text makes no call\n", "")
    code, out, _ = run("detect", "--json", stdin=text)
    assert (code, json.loads(out)) == (1, {"dialect": "", "span": [0, 0], "candidates": []})


def test_the_tools_names_tell_a_format(run: Run, tools: Path) -> None:
    text = "<get_weather>\n<city>Paris</city>\n</get_weather>"
    assert run("detect", stdin=text)[0] == 1
    assert run("detect", "--tools", tools, stdin=text)[1].startswith("morph-xml: it writes a tool's name")


def test_what_cannot_be_read_is_said_in_one_line(run: Run, tmp_path: Path) -> None:
    assert run("detect", stdin=b"ab\xff") == (2, "", "toolfmt: <stdin>: not UTF-8 at byte 2\n")
    missing = tmp_path / "none.txt"
    assert run("detect", missing) == (2, "", f"toolfmt: {missing}: No such file or directory\n")
    code, _, err = run("detect", "-", "--tools", "-", stdin="")
    assert (code, err) == (2, "toolfmt: only one file can come from standard input\n")


def test_a_large_text_is_read(run: Run) -> None:
    assert run("detect", stdin="word <b> " * 100_000 + ANSWER)[1].startswith("qwen3-coder: ")


@pytest.mark.parametrize("stream", [(), ("--chunk", "3")])
def test_parse_finds_the_format(run: Run, stream: tuple[str, ...]) -> None:
    code, out, err = run("parse", "--dialect", "auto", *stream, stdin=ANSWER)
    assert (code, err) == (0, "")
    assert "qwen3-coder" in out
    assert "get_weather" in out
    assert run("parse", "-d", "auto", *stream, stdin="Hello.")[0] == 0


def test_parse_says_in_json_what_was_found(run: Run) -> None:
    found = json.loads(run("parse", "-d", "AUTO", "--json", stdin=ANSWER)[1])
    assert found["dialect"] == found["detection"]["dialect"] == "qwen3-coder"
    plain = json.loads(run("parse", "-d", "auto", "--json", stdin="Hello.")[1])
    assert (plain["dialect"], plain["text"]) == ("", "Hello.")


def test_auto_is_for_reading(run: Run, tools: Path) -> None:
    code, _, err = run("manifest", tools, "--dialect", "auto")
    assert code == 2
    assert "only parsing takes it" in err
    assert run("parse", "-d", "auto", "--xml", stdin="")[0] == 2
