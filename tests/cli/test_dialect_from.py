"""`--dialect-from`: a model's folder where a format's name could be."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., tuple[int, str, str]]

TEMPLATE = """{%- for message in messages %}{{- '<|' + message.role + '|>' + (message.content or '') }}
{%- for call in message.tool_calls or [] %}
{{- '<do>' + call.function.name + '|' + (call.function.arguments | tojson) + '</do>' }}
{%- endfor %}{{- '<|fin|>' }}{%- endfor %}"""
ANSWER = 'I look.<do>get_weather|{"city": "Oslo"}</do><|fin|>'


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "My Model 7B"
    folder.mkdir()
    (folder / "chat_template.jinja").write_text(TEMPLATE, "utf-8")
    return folder


def test_an_answer_is_read_in_the_model_s_own_format(run: Run, model: Path) -> None:
    code, out, err = run("parse", "--dialect-from", model, "--json", stdin=ANSWER)
    found = json.loads(out)
    assert (code, found["dialect"], found["text"]) == (0, "my-model-7b", "I look.")
    assert [(call["name"], call["arguments"]) for call in found["calls"]] == [("get_weather", {"city": "Oslo"})]
    assert err.count("\n") == 1
    assert "the format is my-model-7b (inferred): no known dialect reads" in err


def test_calls_are_written_and_tools_shown_in_it(run: Run, model: Path, tools: Path) -> None:
    calls = json.dumps([{"name": "get_weather", "arguments": {"city": "Oslo"}}])
    code, out, _ = run("render", "--dialect-from", model / "chat_template.jinja", stdin=calls)
    assert (code, out.strip()) == (0, '<do>get_weather|{"city": "Oslo"}</do>')
    code, out, _ = run("manifest", tools, "--dialect-from", model)
    assert code == 0
    assert "get_weather" in out


@pytest.mark.parametrize("beside", [("--dialect", "hermes"), ("--xml",), ("-p", "openai"), ("-m", "qwen3")])
def test_it_says_the_format_alone(run: Run, model: Path, beside: tuple[str, ...]) -> None:
    code, out, err = run("parse", "--dialect-from", model, *beside, stdin=ANSWER)
    assert (code, out) == (2, "")
    assert "--dialect-from says the format: leave --" in err


def test_what_is_no_model_is_said_in_a_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "chat_template.jinja").write_text("{{ range .Messages }}{{ end }}", "utf-8")
    for path in (tmp_path, tmp_path / "nowhere"):
        code, out, err = run("parse", "--dialect-from", path, stdin=ANSWER)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert str(path) in err
