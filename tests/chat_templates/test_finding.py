"""A model's folder gives its dialect, and says why; what is broken or foreign is one clear error."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from new_families import FAMILIES
from template_families import IDS, NO_TOOLS, TAGS, XML

import toolfmt
from toolfmt.errors import ToolFmtError

RESPONSE = {
    "start_anchor": "<|im_start|>assistant\n",
    "fields": {
        "tool_calls": {"open": "<go>", "close": "</go>", "repeats": True, "content": "json"},
        "content": {"close": "<|im_end|>"},
    },
}
TOLD = NO_TOOLS.replace(
    "{% for", "{% if tools %}Answer with <|tool_call|> and a JSON list of calls.{% endif %}{% for", 1
)
"""Tells the model how to call, and writes no calls itself."""


def config(folder: Path, **values: object) -> Path:
    (folder / "tokenizer_config.json").write_text(json.dumps(values), "utf-8")
    return folder


def jinja(folder: Path, source: str) -> Path:
    (folder / "chat_template.jinja").write_text(source, "utf-8")
    return folder


def test_the_checkpoint_s_own_response_template_comes_first(tmp_path: Path) -> None:
    config(tmp_path, chat_template=TAGS, response_template=RESPONSE, eos_token={"content": "<|eot|>"})
    found = toolfmt.find_dialect(tmp_path)
    assert (found.how, found.reasons) == ("response_template", ("the checkpoint ships a response template",))
    result = toolfmt.parse('Hi <go>{"name": "f", "arguments": {}}</go><|eot|>', dialect=found.dialect)
    assert [call.name for call in result.calls] == ["f"]
    assert result.text.strip() == "Hi"


def test_a_response_template_will_do_without_a_chat_template(tmp_path: Path) -> None:
    assert toolfmt.find_dialect(config(tmp_path, response_template=RESPONSE)).how == "response_template"
    config(tmp_path, response_template={"fields": {}})
    with pytest.raises(toolfmt.errors.TemplateError, match="there is no chat template"):
        toolfmt.find_dialect(tmp_path)


def test_a_broken_response_template_is_reported_and_passed_over(tmp_path: Path) -> None:
    config(tmp_path, chat_template=TAGS, response_template={"fields": {"content": {"opens": 1}}}, response_schema={})
    found = toolfmt.find_dialect(tmp_path)
    assert found.how == "known"
    assert "response_schema" in found.reasons[0]
    assert "/fields/content/opens" in found.reasons[1]


def test_of_dialects_that_write_the_same_the_most_widely_used_comes_first(tmp_path: Path) -> None:
    plain = (
        "{% for tool in tools or [] %}{{tool | tojson}}{% endfor %}{% for m in messages %}"
        "{{'<|im_start|>' + m.role + '\\n' + (m.content or '')}}{% for call in m.tool_calls or [] %}"
        """{{'<tool_call>\\n{"name": "' + call.function.name + '", "arguments": '}}"""
        "{{(call.function.arguments | tojson) + '}\\n</tool_call>'}}{% endfor %}{{'<|im_end|>\\n'}}{% endfor %}"
    )
    found = toolfmt.find_dialect(jinja(tmp_path, plain))
    assert (found.dialect.name, found.others[:1]) == ("qwen25", ("hermes",))
    assert toolfmt.diagnose(tmp_path).others[0] == "hermes"


@pytest.mark.parametrize(
    ("source", "names"), [(TAGS, {"hermes", "qwen25"}), (IDS, {"hermes", "qwen25"}), (XML, {"qwen3-coder"})]
)
def test_the_dialect_that_reads_what_the_template_writes(tmp_path: Path, source: str, names: set[str]) -> None:
    found = toolfmt.find_dialect(jinja(tmp_path, source))
    assert found.how == "known"
    assert found.dialect.name in names
    assert "it reads 5 of 5 answers" in found.reasons[0]
    assert toolfmt.find_dialect(tmp_path).dialect is found.dialect


def test_a_name_decides_between_equals_alone(tmp_path: Path) -> None:
    for name, dialect in (("Hermes-3-Llama-3.1-8B", "hermes"), ("Qwen2.5-7B-Instruct", "qwen25"), ("gpt-oss-20b", "")):
        folder = tmp_path / name
        folder.mkdir()
        found = toolfmt.find_dialect(jinja(folder, TAGS))
        assert found.dialect.name == dialect or (not dialect and found.dialect.name in {"hermes", "qwen25"})


def test_any_file_of_the_folder_will_do(tmp_path: Path) -> None:
    jinja(tmp_path, XML)
    config(tmp_path, chat_template=[{"name": "default", "template": NO_TOOLS}, {"name": "tool_use", "template": TAGS}])
    assert toolfmt.find_dialect(tmp_path / "chat_template.jinja").dialect.name == "qwen3-coder"
    assert toolfmt.find_dialect(str(tmp_path)).dialect.name == "qwen3-coder"
    (tmp_path / "chat_template.jinja").unlink()
    assert toolfmt.find_dialect(tmp_path / "tokenizer_config.json").dialect.name in {"hermes", "qwen25"}
    with pytest.raises(toolfmt.UnknownDialectError, match="writes no calls"):
        toolfmt.find_dialect(tmp_path, template="default")


def test_a_template_that_only_tells_how_to_call(tmp_path: Path) -> None:
    found = toolfmt.find_dialect(jinja(tmp_path, TOLD))
    assert (found.how, found.dialect.name) == ("markers", "granite3")
    assert "<|tool_call|>" in found.reasons[-1]


def test_only_the_dialects_of_the_registry_are_known(tmp_path: Path) -> None:
    mine = toolfmt.find_dialect(jinja(tmp_path, FAMILIES["pairs"])).dialect
    registry = toolfmt.default_registry().with_dialect(mine)
    found = toolfmt.find_dialect(tmp_path, registry=registry)
    assert (found.how, found.dialect) == ("known", mine)


def test_what_has_no_calls_is_refused_with_all_reasons(tmp_path: Path) -> None:
    with pytest.raises(toolfmt.UnknownDialectError) as caught:
        toolfmt.find_dialect(jinja(tmp_path, NO_TOOLS))
    assert "the chat template writes no calls" in str(caught.value)
    assert "has no known dialect's markers" in str(caught.value)


BROKEN = {
    "not-json": ("tokenizer_config.json", b'{"chat_template": '),
    "twice": ("tokenizer_config.json", b'{"a": 1, "a": 2}'),
    "list": ("tokenizer_config.json", b"[]"),
    "no-template": ("tokenizer_config.json", b"{}"),
    "number": ("tokenizer_config.json", b'{"chat_template": 3}'),
    "odd-list": ("tokenizer_config.json", b'{"chat_template": [1]}'),
    "not-utf-8": ("chat_template.jinja", b"\xff\xfe{% if tools %}"),
    "go": ("chat_template.jinja", b"{{- range .Messages }}{{ .Content }}{{ end }}"),
    "mustache": ("chat_template.jinja", b"{{#each messages}}{{content}}{{/each}}"),
    "plain": ("chat_template.jinja", b"### Instruction: {prompt}"),
    "empty": ("chat_template.jinja", b""),
    "syntax": ("chat_template.jinja", b"{% for m in messages %}{{ m.content }}"),
    "raises": ("chat_template.jinja", b"{{ raise_exception('no') }}"),
    "loops": ("chat_template.jinja", b"{% for a in range(9**9) %}{% for b in range(9**9) %}x{% endfor %}{% endfor %}"),
    "megabytes": ("chat_template.jinja", b"{{ 'x' * 10**9 }}"),
    "long-answers": (
        "chat_template.jinja",
        (
            b"{% for m in messages %}{{ m.content }}{% for c in m.tool_calls or [] %}{{ '{\"a\":' * 9000 }}"
            b"{{ c.function.name }}{{ c.function.arguments | tojson }}{% endfor %}{% endfor %}"
        ),
    ),
    "long-markers": (
        "chat_template.jinja",
        (
            b"{% for m in messages %}{{ m.content }}{% for c in m.tool_calls or [] %}{{ 'a' * 3000 }}"
            b"{{ c.function.name }}{{ c.function.arguments | tojson }}>{% endfor %}{% endfor %}"
        ),
    ),
    "internals": ("chat_template.jinja", b"{{ messages.__class__.__mro__ }}"),
    "imports": ("chat_template.jinja", b"{% include '/etc/passwd' %}"),
    "divides": ("chat_template.jinja", b"{{ 1 / 0 }}"),
    "itself": ("chat_template.jinja", b"{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}"),
}


@pytest.mark.parametrize(("name", "data"), BROKEN.values(), ids=BROKEN)
def test_broken_and_foreign_folders_are_one_clear_error(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ToolFmtError) as caught:
        toolfmt.find_dialect(tmp_path)
    assert str(tmp_path) in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_paths_that_lead_nowhere(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        toolfmt.find_dialect(tmp_path / "nowhere")
    loop = tmp_path / "chat_template.jinja"
    loop.symlink_to(loop)
    with pytest.raises(OSError, match="symbolic links"):
        toolfmt.find_dialect(loop)
    with pytest.raises(toolfmt.errors.TemplateError, match="no chat template"):
        toolfmt.find_dialect(tmp_path)


def test_a_link_to_a_template_is_followed_and_a_huge_file_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text(TAGS, "utf-8")
    (tmp_path / "chat_template.jinja").symlink_to(tmp_path / "elsewhere")
    assert toolfmt.find_dialect(tmp_path).dialect.name in {"hermes", "qwen25"}
    huge = tmp_path / "huge.jinja"
    huge.touch()
    os.truncate(huge, 1 << 40)
    with pytest.raises(toolfmt.ParseError, match="bytes"):
        toolfmt.find_dialect(huge)


PARTS = (
    *("{% for m in messages %}", "{% endfor %}", "{{ m.content }}", "{{ m.tool_calls | tojson }}", "{% if tools %}"),
    *("{% endif %}", "{{ tools | tojson }}", "<|tool_call|>", "<tool_call>", "</tool_call>", "{{", "}}", "{%", "%}"),
    *(
        "{% for c in m.tool_calls or [] %}",
        "{{ c.function.name }}",
        "{{ c.function.arguments | tojson }}",
        "\n",
        "[",
        "]",
    ),
)


@settings(max_examples=60)
@given(parts=st.lists(st.sampled_from(PARTS), max_size=14))
def test_no_template_raises_anything_else(tmp_path_factory: pytest.TempPathFactory, parts: list[str]) -> None:
    folder = tmp_path_factory.getbasetemp() / "any"
    folder.mkdir(exist_ok=True)
    jinja(folder, "".join(parts))
    try:
        found = toolfmt.find_dialect(folder)
    except ToolFmtError:
        return
    assert found.reasons


def test_the_name_of_a_dialect_is_no_folder() -> None:
    with pytest.raises(FileNotFoundError, match="it is the name of a dialect: give dialect='hermes'"):
        toolfmt.find_dialect("hermes")
    with pytest.raises(FileNotFoundError, match="No such file"):
        toolfmt.find_dialect("no such folder")
