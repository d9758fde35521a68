"""Reads what a model's folder says of its chat: templates, special tokens, its own response template.

    Qwen3-8B/
      tokenizer_config.json       {"chat_template": "{%- if tools %}...", "eos_token": "<|im_end|>", ...}
      chat_template.jinja         instead of `chat_template` in the file above, if it is there
      additional_chat_templates/  tool_use.jinja, ...
      config.json                 {"model_type": "qwen3", ...}

`chat_template` may be a list, `[{"name": "tool_use", "template": "..."}]`, or an
object of names. A processor's `chat_template.json` and `processor_config.json` hold
the same key. Weights and vocabularies are not read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from toolfmt import jsontext
from toolfmt.errors import ParseError, TemplateError, UnsafeInputError
from toolfmt.workshop.chat_templates.foreign import foreign

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from toolfmt.model import JsonObject, JsonValue

MAX_BYTES: Final = 64 * 1024 * 1024
"""No file that is read is larger; a `tokenizer_config.json` that lists its tokens has some megabytes."""
DEFAULT: Final = "default"
TOOL_USE: Final = "tool_use"

_CONFIG: Final = "tokenizer_config.json"
_JINJA: Final = "chat_template.jinja"
_FOLDERS: Final = ("additional_chat_templates", "chat_templates")
_IN_JSON: Final = (_CONFIG, "chat_template.json", "processor_config.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenizerFolder:
    """What a model's folder, or a single template, says of its chat."""

    path: str
    templates: Mapping[str, str]
    """By name; the one that is meant without a name is `default`."""
    tokens: Mapping[str, str] = field(default_factory=dict[str, str])
    """The special tokens as templates know them: `{"bos_token": "<s>", ...}`."""
    response_template: JsonValue = None
    """How the model's answers are read, as transformers 5 ships it; the JSON as it is, None without one."""
    response_schema: JsonValue = None
    """The same in the older form."""
    model_type: str = ""
    """The architecture, such as `qwen3`, from `config.json`."""
    name: str = ""
    """The model's name, where one of the files has it."""

    def template(self, name: str | None = None, *, tools: bool = False) -> str:
        """Give the template that transformers would use."""
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

    Raises OSError for a path that is not there, `ParseError` for a file that is
    not what its name says, `TemplateError` where no template is found or one is
    for another library.
    """
    place = Path(path)
    if place.is_dir():
        found = _folder(place)
    elif place.suffix == ".json":
        found = _described(place.parent, {place.name: _object(place)})
    else:
        found = TokenizerFolder(path=str(place), templates={DEFAULT: _text(place)})
    for name, source in found.templates.items():
        other = foreign(source)
        if other:
            raise TemplateError(f"{place}: the chat template {name!r} is {other}, and not Jinja as transformers has it")
    return found


def _folder(place: Path) -> TokenizerFolder:
    files = {name: _object(place / name) for name in (*_IN_JSON, "config.json") if (place / name).is_file()}
    special = place / "special_tokens_map.json"
    tokens = dict(_tokens(_object(special))) if special.is_file() else {}
    return _described(place, files, tokens)


def _described(
    place: Path, files: Mapping[str, JsonObject], tokens: Mapping[str, str] | None = None
) -> TokenizerFolder:
    templates = dict(_separate(place))
    for name in (one for one in _IN_JSON if one in files and not templates):
        templates.update(_templates(files[name].get("chat_template"), place / name))
    if not templates and files.get(_CONFIG, {}).get("response_template") is None:
        raise TemplateError(
            f"{place}: there is no chat template in it: neither {_JINJA} nor `chat_template` in {_CONFIG}"
        )
    config: JsonObject = files.get(_CONFIG, {})
    model: JsonObject = files.get("config.json", {})
    return TokenizerFolder(
        path=str(place),
        templates=templates,
        tokens={**(tokens if tokens is not None else {}), **dict(_tokens(config))},
        response_template=config.get("response_template"),
        response_schema=config.get("response_schema"),
        model_type=_string(model.get("model_type")),
        name=_string(model.get("_name_or_path")) or _string(config.get("name_or_path")),
    )


def _separate(place: Path) -> Iterator[tuple[str, str]]:
    """Give the templates that are files of their own."""
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
        raise UnsafeInputError(f"{path}: not UTF-8 at byte {error.start}") from None


def _string(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""
