"""A model's folder is read as transformers reads it, and whatever is broken in it is named with its file."""

import json
from pathlib import Path

import pytest

from toolfmt.errors import ParseError, TemplateError
from toolfmt.workshop.chat_templates.folder import read_folder

ONE = "{% for m in messages %}{{ m.content }}{% endfor %}"
TWO = "{{ bos_token }}" + ONE


def _config(folder: Path, **fields: object) -> Path:
    (folder / "tokenizer_config.json").write_text(json.dumps(fields), "utf-8")
    return folder


def test_template_and_tokens_of_a_tokenizer_config(tmp_path: Path) -> None:
    _config(
        tmp_path,
        chat_template=ONE,
        bos_token={"content": "<s>", "lstrip": False},
        eos_token="</s>",  # noqa: S106 - no password
        pad_token=None,
        add_bos_token=True,
        extra_special_tokens={"image_token": "<image>"},
        response_template={"fields": {}},
    )
    (tmp_path / "config.json").write_text('{"model_type": "qwen3", "_name_or_path": "Qwen/Qwen3-8B"}', "utf-8")
    found = read_folder(tmp_path)
    assert found.templates == {"default": ONE}
    assert found.tokens == {"bos_token": "<s>", "eos_token": "</s>", "image_token": "<image>"}
    assert (found.model_type, found.name, found.response_template) == ("qwen3", "Qwen/Qwen3-8B", {"fields": {}})


@pytest.mark.parametrize(
    "several",
    [[{"name": "default", "template": ONE}, {"name": "tool_use", "template": TWO}], {"default": ONE, "tool_use": TWO}],
)
def test_several_templates_are_chosen_as_transformers_does(tmp_path: Path, several: object) -> None:
    found = read_folder(_config(tmp_path, chat_template=several))
    assert found.template() == found.template("default") == ONE
    assert found.template(tools=True) == found.template("tool_use") == TWO
    with pytest.raises(TemplateError, match="no chat template 'rag'; there are default, tool_use"):
        found.template("rag")


def test_files_of_their_own_come_before_the_config(tmp_path: Path) -> None:
    _config(tmp_path, chat_template="old {{ x }}", eos_token="</s>")  # noqa: S106 - no password
    (tmp_path / "chat_template.jinja").write_text(ONE, "utf-8")
    (tmp_path / "additional_chat_templates").mkdir()
    (tmp_path / "additional_chat_templates" / "tool_use.jinja").write_text(TWO, "utf-8")
    found = read_folder(tmp_path)
    assert found.templates == {"default": ONE, "tool_use": TWO}
    assert found.tokens == {"eos_token": "</s>"}


@pytest.mark.parametrize("name", ["chat_template.json", "processor_config.json"])
def test_a_processor_has_its_template_in_json(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(json.dumps({"chat_template": ONE}), "utf-8")
    assert read_folder(tmp_path).template() == ONE
    assert read_folder(tmp_path / name).template() == ONE


def test_tokens_also_stand_in_the_special_tokens_map(tmp_path: Path) -> None:
    _config(tmp_path, chat_template=ONE, eos_token="<end>")  # noqa: S106 - no password
    (tmp_path / "special_tokens_map.json").write_text('{"bos_token": "<s>", "eos_token": "</s>"}', "utf-8")
    assert read_folder(tmp_path).tokens == {"bos_token": "<s>", "eos_token": "<end>"}


def test_a_single_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.jinja"
    file.write_text(ONE, "utf-8")
    assert read_folder(str(file)).templates == {"default": ONE}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"chat_template": "x"', "tokenizer_config.json: this is not the JSON"),
        (b'{"chat_template": "\xff"}', "tokenizer_config.json: not UTF-8 at byte 19"),
        (b"[1]", "tokenizer_config.json: it holds an object, not list"),
        (b'{"a": 1, "a": 2}', "tokenizer_config.json: this is not the JSON"),
        (b'{"chat_template": 7}', "the chat template 'default' is text, not int"),
        (b'{"chat_template": {"rag": null}}', "the chat template 'rag' is text, not NoneType"),
        (b'{"chat_template": [{"name": "x"}]}', "the chat template 'x' is text, not NoneType"),
        (b'{"chat_template": ["x"]}', "chat_template/0 is an object with `name` and `template`"),
        (b"", "tokenizer_config.json: this is not the JSON"),
        (b"[" * 100000, "tokenizer_config.json: this is not the JSON"),
    ],
)
def test_a_broken_config_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "tokenizer_config.json").write_bytes(content)
    with pytest.raises(ParseError, match=message):
        read_folder(tmp_path)


def test_what_has_no_template(tmp_path: Path) -> None:
    with pytest.raises(TemplateError, match="no chat template in it"):
        read_folder(tmp_path)
    with pytest.raises(TemplateError, match="no chat template in it"):
        read_folder(_config(tmp_path, eos_token="</s>"))  # noqa: S106 - no password
    with pytest.raises(FileNotFoundError):
        read_folder(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("{{- range .Messages }}<|im_start|>{{ .Role }}\n{{ .Content }}{{ end }}", "a Go template"),
        ("{{ if .System }}{{ .System }}{{ end }}{{ .Prompt }}", "a Go template"),
        ("{{- range $i, $_ := .Messages }}{{- $last := eq $i 1 }}{{ end }}", "a Go template"),
        ("{{#each messages}}{{content}}{{/each}}", "a Handlebars"),
        ("<% for m of messages %><%= m.content %><% end %>", "an ERB"),
        ("### Instruction:\n{prompt}\n", "a text without anything"),
        ("chatml", "a text without anything"),
        ("", "a text without anything"),
    ],
)
def test_templates_of_other_libraries_are_recognised(tmp_path: Path, source: str, kind: str) -> None:
    (tmp_path / "chat_template.jinja").write_text(source, "utf-8")
    with pytest.raises(TemplateError, match=f"the chat template 'default' is {kind}"):
        read_folder(tmp_path)


def test_other_files_are_no_templates(tmp_path: Path) -> None:
    (tmp_path / "model.gguf").write_bytes(b"GGUF\x03\x00\x00\x00")
    with pytest.raises(TemplateError, match="a GGUF file"):
        read_folder(tmp_path / "model.gguf")
    big = tmp_path / "chat_template.jinja"
    with big.open("wb") as file:
        file.truncate(65 * 1024 * 1024)  # sparse
    with pytest.raises(ParseError, match="it has 68157440 bytes; 67108864 are read"):
        read_folder(tmp_path)
