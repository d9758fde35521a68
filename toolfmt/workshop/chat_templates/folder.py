"""Reads the chat settings of a model's folder: templates, special tokens, its own response template.

    Qwen3-8B/
      tokenizer_config.json       {"chat_template": "{%- if tools %}...", "eos_token": "<|im_end|>", ...}
      chat_template.jinja         instead of `chat_template` in the file above, if it is there
      additional_chat_templates/  tool_use.jinja, ...
      config.json                 {"model_type": "qwen3", ...}

`chat_template` may be a list, `[{"name": "tool_use", "template": "..."}]`, or an object of names. A processor's
`chat_template.json` and `processor_config.json` have the same key. Weights and vocabularies are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from toolfmt import jsontext
from toolfmt.arguments import path_of
from toolfmt.errors import ParseError, TemplateError, UnsafeInputError, not_utf8
from toolfmt.model import JsonObject, JsonValue

MAX_BYTES: Final = 64 * 1024 * 1024
"""Largest file that is read; a `tokenizer_config.json` that lists its tokens has some megabytes."""
DEFAULT: Final = "default"
TOOL_USE: Final = "tool_use"

_CONFIG: Final = "tokenizer_config.json"
_MODEL: Final = "config.json"
_SPECIAL: Final = "special_tokens_map.json"
_JINJA: Final = "chat_template.jinja"
_FOLDERS: Final = ("additional_chat_templates", "chat_templates")
_IN_JSON: Final = (_CONFIG, "chat_template.json", "processor_config.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenizerFolder:
    """The chat settings of a model's folder, or a single template."""

    path: str
    templates: Mapping[str, str]
    """By name; the default one is called `default`."""
    tokens: Mapping[str, str] = field(default_factory=dict[str, str])
    """The special tokens by their names in templates: `{"bos_token": "<s>", ...}`."""
    response_template: JsonValue = None
    """How the model's answers are read, as transformers 5 has it; its JSON, None without one."""
    response_schema: JsonValue = None
    """The same in the older form."""
    model_type: str = ""
    """The architecture, such as `qwen3`, from `config.json`."""
    name: str = ""
    """The model's name, if one of the files has it."""

    def template(self, name: str | None = None, *, tools: bool = False) -> str:
        """Return the template that transformers would use."""
        return self.templates[self.name_of(name, tools=tools)]

    def name_of(self, name: str | None = None, *, tools: bool = False) -> str:
        """Choose a template as transformers does: by name, else `tool_use` if there are tools, else `default`."""
        if name is None:
            name = TOOL_USE if tools and TOOL_USE in self.templates else DEFAULT
        if name not in self.templates:
            known = ", ".join(sorted(self.templates))
            raise TemplateError(f"{self.path}: there is no chat template {name!r}; there are {known}")
        return name


def read_folder(path: str | Path) -> TokenizerFolder:
    """Read a model's folder, or a file that is one template (`.jinja`, or a JSON of those in a folder).

    Raises OSError for a path that is not there, `ParseError` for a file that is not what its name says, `TemplateError`
    where no template is found or one is for another library.
    """
    place = path_of(path)
    if place.is_dir():
        names = (*_IN_JSON, _MODEL, _SPECIAL)
        found = _described(place, {name: _object(place / name) for name in names if (place / name).is_file()})
    elif place.suffix == ".json":
        found = _described(place.parent, {place.name: _object(place)})
    else:
        found = TokenizerFolder(path=str(place), templates={DEFAULT: _text(place)})
    for name, source in found.templates.items():
        other = foreign(source)
        if other:
            raise TemplateError(f"{place}: the chat template {name!r} is {other}, and not Jinja as transformers has it")
    return found


def _described(place: Path, files: Mapping[str, JsonObject]) -> TokenizerFolder:
    templates = dict(_separate(place))
    for name in (one for one in _IN_JSON if one in files and not templates):
        templates.update(_templates(files[name].get("chat_template"), place / name))
    config, model, special = (files.get(name, {}) for name in (_CONFIG, _MODEL, _SPECIAL))
    if not templates and config.get("response_template") is None:
        raise TemplateError(
            f"{place}: there is no chat template in it: neither {_JINJA} nor `chat_template` in {_CONFIG}"
        )
    return TokenizerFolder(
        path=str(place),
        templates=templates,
        tokens=dict((*_tokens(special), *_tokens(config))),
        response_template=config.get("response_template"),
        response_schema=config.get("response_schema"),
        model_type=_string(model.get("model_type")),
        name=_string(model.get("_name_or_path")) or _string(config.get("name_or_path")),
    )


def _separate(place: Path) -> Iterator[tuple[str, str]]:
    """Yield the templates that are files of their own."""
    if (place / _JINJA).is_file():
        yield DEFAULT, _text(place / _JINJA)
    for folder in _FOLDERS:
        for file in sorted((place / folder).glob("*.jinja")):
            yield file.stem, _text(file)


def _templates(value: JsonValue, at: Path) -> Iterator[tuple[str, str]]:
    named: dict[str, JsonValue] = {}
    if jsontext.is_object(value):
        named = value
    elif jsontext.is_array(value):
        for index, one in enumerate(value):
            name = one.get("name") if jsontext.is_object(one) else None
            if not jsontext.is_object(one) or not isinstance(name, str):
                raise ParseError(f"{at}: chat_template/{index} is an object with `name` and `template`")
            named[name] = one.get("template")
    elif value is not None:
        named = {DEFAULT: value}
    for name, source in named.items():
        if not isinstance(source, str):
            raise ParseError(f"{at}: the chat template {name!r} is text, not {type(source).__name__}")
        yield name, source


def _tokens(config: JsonObject) -> Iterator[tuple[str, str]]:
    extra = config.get("extra_special_tokens")
    for name, value in (*config.items(), *(extra.items() if jsontext.is_object(extra) else ())):
        content = value.get("content") if jsontext.is_object(value) else value
        if name.endswith("_token") and isinstance(content, str):
            yield name, content


def _object(path: Path) -> JsonObject:
    try:
        value = jsontext.loads(_text(path).removeprefix("\ufeff"))
    except ParseError as error:
        raise type(error)(f"{path}: this is not the JSON that was expected: {error}") from None
    if not jsontext.is_object(value):
        raise ParseError(f"{path}: it holds an object, not {type(value).__name__}")
    return value


def _text(path: Path) -> str:
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise ParseError(f"{path}: it has {size} bytes; {MAX_BYTES} are read")
    data = path.read_bytes()
    if data.startswith(b"GGUF"):
        raise TemplateError(f"{path}: this is a GGUF file, whose template is not read from it: give the model's folder")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnsafeInputError(f"{path}: {not_utf8(error)}") from None


def _string(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""


_TAGS: Final = re.compile(r"\{\{[-~]?\s*+(.{0,80}?)\s{0,80}+[-~]?\}\}|\{%", re.DOTALL)
_KINDS: Final = (
    ("a Go template, as Ollama has them", re.compile(r"[.$][A-Za-z_]|(?:if|else if|range|with)\b[^'\"]*[.$]|end$")),
    ("a Handlebars or Mustache template", re.compile(r"[#/^>&][A-Za-z]")),
)
_ERB: Final = re.compile(r"<%[=-]?\s*\w")


def foreign(source: str) -> str:
    """Name the kind of a template that is not Jinja; "" if it may be Jinja.

    {{- range .Messages }}{{ .Content }}{{ end }}       a Go template, as Ollama has them
    {{#each messages}}{{content}}{{/each}}              Handlebars or Mustache
    <%= messages %>                                     ERB or EJS
    ### Instruction: {prompt}                           a text without Jinja
    """
    tags = [(found.group(1) or "") for found in _TAGS.finditer(source)]
    if not tags:
        return "an ERB or EJS template" if _ERB.search(source) else "a text without anything to fill in"
    for kind, sign in _KINDS:
        if any(sign.match(tag) for tag in tags) and not re.search(r"\{%-?\s*\w", source):
            return kind
    return ""
