"""`toolfmt doctor` and `toolfmt prompt`: exit codes, tables, JSON, and models by name from the local cache."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from toolfmt.agents import TextDriver
from toolfmt.gateway.app import make_app
from toolfmt.gateway.loading import single

Run = Callable[..., tuple[int, str, str]]

TEMPLATE = (
    "{% for tool in tools or [] %}{{ tool | tojson }}\n{% endfor %}"
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + (m.content or '') }}"
    "{% for c in m.tool_calls or [] %}{{ '<tool_call>\\n{\"name\": ' + (c.function.name | tojson)"
    " + ', \"arguments\": ' + (c.function.arguments | tojson) + '}\\n</tool_call>' }}{% endfor %}"
    "{{ '<|im_end|>\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "Qwen3-8B"
    made.mkdir()
    (made / "tokenizer_config.json").write_text(
        json.dumps({"chat_template": TEMPLATE, "eos_token": "<|im_end|>"}), "utf-8"
    )
    return made


def test_a_table_and_exit_code_0(run: Run, folder: Path) -> None:
    code, out, err = run("doctor", folder, "--dialect", "qwen25")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("qwen25")
    assert f"template 'default' of {folder}" in lines[0]
    assert any(line.split() == ["one", "call", "ok"] for line in lines)
    assert any(line.endswith("the template drops reasoning") for line in lines)
    assert lines[-1].startswith("verdict           qwen25 reads what the template writes")


def test_a_failure_is_exit_code_1(run: Run, folder: Path) -> None:
    code, out, _ = run("doctor", folder, "--dialect", "mistral-v11")
    assert code == 1
    assert "call 1 (get_weather) is not read" in out
    file = folder / "single.jinja"
    file.write_text("{{ raise_exception('No\\x1b[31m!') }}", "utf-8")
    code, out, _ = run("doctor", file)
    assert code == 1
    assert "the template refuses it: No\\x1b[31m!" in out


def test_a_template_without_tools_is_reported_in_three_lines(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "plain.jinja"
    file.write_text("{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}", "utf-8")
    code, out, _ = run("doctor", file)
    assert (code, len(out.splitlines())) == (1, 3)
    assert "shows no tools and writes no calls" in out
    assert run("doctor", file, "--json")[0] == 1


@pytest.mark.parametrize("markers", [("<tool_call>", "</tool_call>"), ("<<CALL>>", "<<END>>"), ("[TOOL_CALLS]", "")])
def test_the_next_step_works(run: Run, tmp_path: Path, markers: tuple[str, str]) -> None:
    """Every name and line of the advice is tried, for a known format and for one that is made from the model."""
    folder = tmp_path / "my model"
    folder.mkdir()
    text = TEMPLATE.replace("<tool_call>", markers[0]).replace("</tool_call>", markers[1])
    (folder / "chat_template.jinja").write_text(text, "utf-8")
    for flags in ((), ("--dialect", "qwen25")):
        out = run("doctor", folder, *flags)[1]
        for expression in re.findall(r"`(toolfmt\.[^`]+)`", out):
            assert isinstance(eval(expression, {"toolfmt": resolved(expression), "model": repr}), TextDriver)  # noqa: S307
        for line in re.findall(r"`toolfmt serve ([^`]+)`", out):
            options = shlex.split(line.replace("URL", "http://127.0.0.1:9/v1"))
            given = dict(zip(options[::2], options[1::2], strict=True))
            back = {"dialect": given.get("--dialect"), "model_dir": given.get("--model-dir")}
            assert make_app(single(given["--upstream"], given["--api"], None, **back)).routes
        assert "`toolfmt serve " in out or flags, out


def resolved(expression: str) -> Any:
    """Import what a text names by dotted names."""
    for name in re.findall(r"toolfmt(?:\.\w+)+", expression):
        module, _, last = name.rpartition(".")
        assert hasattr(import_module(module), last), name
    return import_module("toolfmt")


def test_a_parser_of_another_name_is_advised(run: Run, folder: Path) -> None:
    assert "vLLM's parser hermes reads the same calls: start vLLM with" in run("doctor", folder)[1]
    assert "--tool-call-parser hermes`" in run("doctor", folder, "--dialect", "hermes")[1]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "a.jinja",
            TEMPLATE.replace("{% endfor %}", "", 1),
            "the template cannot be rendered: the template fails: line",
        ),
        (
            "a.jinja",
            TEMPLATE.replace("m.role", "m.foo.bar"),
            "the template cannot be rendered: the template fails: line",
        ),
        (
            "a.jinja",
            TEMPLATE.replace("c.function.name", "c.f.n"),
            "cannot be rendered for a call: the template fails: ",
        ),
        ("mk.py", TEMPLATE.replace("{% endfor %}", "", 1), "give a model's folder, a .jinja file"),
    ],
)
def test_a_broken_template_is_called_broken(run: Run, tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / name).write_text(text, "utf-8")
    code, out, _ = run("doctor", tmp_path / name)
    assert (code, said in out, "no known format" in out) == (1, True, False), out
    assert ("fix the template" in out) == (name == "a.jinja")


def test_json(run: Run, folder: Path) -> None:
    code, out, _ = run("doctor", folder, "--json", "--dialect", "qwen25")
    report = json.loads(out)
    assert code == 0
    assert (report["ok"], report["dialect"], report["path"]) == (True, "qwen25", str(folder))


def test_no_secret_beside_the_template_is_printed(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    canary = "hf_canary0123456789"
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, canary)
    monkeypatch.setenv("HF_HOME", str(folder))
    for name in ("token", ".env", "config.json", "generation_config.json", "special_tokens_map.json"):
        (folder / name).write_text(json.dumps({"token": canary, "auto_map": {"x": canary}}), "utf-8")
    given = json.loads((folder / "tokenizer_config.json").read_text("utf-8"))
    (folder / "tokenizer_config.json").write_text(json.dumps(given | {"auth_token": canary}), "utf-8")
    for flags in ((), ("--json",), ("--dialect", "mistral-v11", "--json"), ("--template", canary[:4])):
        code, out, err = run("doctor", folder, *flags)
        assert (code == 2) == (flags[:1] == ("--template",))
        assert canary not in out + err


def test_a_variable_is_json_or_text(run: Run, folder: Path) -> None:
    (folder / "chat_template.jinja").write_text("{{ (on is true) ~ name }}{{ messages[0].content }}", "utf-8")
    (folder / "talk.json").write_text('[{"role": "user", "content": "Hi"}]', "utf-8")
    code, out, _ = run("prompt", folder / "talk.json", "--template", folder, "--set", "on=true", "--set", "name=Ada")
    assert (code, out) == (0, "TrueAdaHi")
    code, _, err = run("doctor", folder, "--set", "on")
    assert (code, err) == (2, "toolfmt: --set takes NAME=VALUE, not 'on'\n")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"chat_template": ', "tokenizer_config.json: this is not the JSON that was expected"),
        ("{}", "there is no chat template in it"),
        ('{"chat_template": "{{ range .Messages }}{{ end }}"}', "a Go template"),
        ('{"chat_template": 1}', "the chat template 'default' is text, not int"),
    ],
)
def test_a_broken_folder_is_exit_code_2_and_one_line(run: Run, folder: Path, content: str, message: str) -> None:
    (folder / "tokenizer_config.json").write_text(content, "utf-8")
    code, out, err = run("doctor", folder)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_a_model_is_found_in_the_local_cache(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hub = folder / "home" / "hub" / "models--Acme--Tiny-1B"
    for revision, template in (("old", "{{ 1 }}"), ("new", TEMPLATE)):
        (hub / "snapshots" / revision).mkdir(parents=True)
        (hub / "snapshots" / revision / "chat_template.jinja").write_text(template, "utf-8")
    (hub / "refs").mkdir()
    (hub / "refs" / "main").write_text("new", "utf-8")
    monkeypatch.setenv("HF_HOME", str(folder / "home"))
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    assert run("doctor", "Acme/Tiny-1B")[0] == 0
    code, _, err = run("doctor", "Qwen/Qwen3-8B")
    assert code == 2
    assert f"no model of that name in {folder / 'home' / 'hub'}: give the folder" in err
    assert "its dialect is qwen25" in err
    assert run("doctor", "../../etc")[0] == 2


def test_prompt(run: Run, folder: Path, tools: Path) -> None:
    talk = {
        "messages": [
            {
                "role": "user",
                "content": [{"type": "text", "text": "a"}, {"type": "image", "url": "https://e.com/a.png"}],
            },
            {"role": "assistant", "content": "b"},
        ]
    }
    code, out, err = run("prompt", "--template", folder, "--tools", tools, stdin=json.dumps(talk))
    assert code == 0
    assert '"name": "get_weather"' in out
    assert out.endswith("<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\nb<|im_end|>\n<|im_start|>assistant\n")
    assert err.startswith("toolfmt: media dropped at /messages/0")
    code, out, _ = run("prompt", "--template", folder, "--history", stdin=json.dumps(talk["messages"]))
    assert out.endswith("b<|im_end|>\n")
    code, out, err = run("prompt", "--template", folder, "--strict", stdin=json.dumps(talk))
    assert (code, out) == (2, "")
    assert "media dropped" in err


def test_prompt_writes_the_date_it_is_given(run: Run, folder: Path) -> None:
    (folder / "chat_template.jinja").write_text("{{ strftime_now('%d %b %Y') }}", "utf-8")
    talk = '[{"role": "user", "content": "Hi"}]'
    assert run("prompt", "--template", folder, "--date", "2024-07-26", stdin=talk) == (0, "26 Jul 2024", "")
    code, out, _ = run("prompt", "--template", folder, stdin=talk)
    assert (code, len(out)) == (0, len("26 Jul 2024"))
    code, _, err = run("prompt", "--template", folder, "--date", "today", stdin=talk)
    assert (code, err) == (2, "toolfmt: --date takes a date such as 2025-01-31 or 2025-01-31T12:00, not 'today'\n")
