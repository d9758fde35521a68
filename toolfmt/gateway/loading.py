"""Making a configuration from a file or from options; what is wrong with it is reported with its line.

load_config("gateway.toml")     gateway.toml, line 3: backs/it/kye_env: unknown field; did you mean 'key_env'?
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from pydantic import BaseModel, ValidationError
from pydantic_core import to_json

from toolfmt.arguments import path_of
from toolfmt.errors import ParseError, close_names, did_you_mean
from toolfmt.gateway.config import Back, ClientKey, Config, FieldError, ModelRoute, Redaction

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_TABLES: Final[Mapping[type[BaseModel], str]] = {
    Config: "of the whole: write it before the first table",
    Back: "of a back: write it under [backs.NAME]",
    ModelRoute: "of a route: write it under [[routes]]",
    ClientKey: "of a client's key: write it under [keys.NAME]",
    Redaction: "of a redaction: write it under [[redact]]",
}
"""Where the fields of each model are written."""
_FIELDS: Final[Mapping[str, str]] = {name: name for model in _TABLES for name in model.model_fields}
_WORDS: Final[Mapping[str, str]] = {
    "missing": "this field is required",
    "extra_forbidden": "unknown field",
    "too_short": "at least one is required",
}
"""What pydantic's kinds of errors are called here; for all others its own message does."""
_OPTIONS: Final[Mapping[str, str]] = {"url": "--upstream"}
"""Options with other names than their fields of a back."""
FieldPlace: TypeAlias = tuple[int | str, ...]
"""The keys and indices that lead to a field from the top of the configuration."""


def load_config(path: str | Path, **changes: object) -> Config:
    """Read a configuration file, with other values for some of its fields.

    Raises OSError, or `ParseError` with the file, the line and the field of what is wrong.
    """
    try:
        text = path_of(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ParseError(f"{path}: a configuration is TOML, which is UTF-8: {error}") from None
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        reason = str(error).partition(" (at ")[0]
        raise ParseError(f"{path}, line {_broken(text)}: a configuration is TOML, and this is not: {reason}") from None
    with reported(path, changes):
        return Config.model_validate_json(to_json(found | changes), strict=True)


def single(url: str, api: str, changes: Mapping[str, object] | None = None, **options: object) -> Config:
    """Make the configuration of one back for every model; `options` are its fields, `changes` those of the whole.

    Raises `ParseError` with the option that is wrong.
    """
    chosen = {name: value for name, value in options.items() if value is not None}
    made = {"backs": {"upstream": {"api": api, "url": url, **chosen}}, "routes": [{"backs": ["upstream"]}]}
    with reported(None, changes or {}):
        return Config.model_validate_json(to_json(made | dict(changes or {})), strict=True)


@contextmanager
def reported(path: str | Path | None, changes: Collection[str] = ()) -> Generator[None]:
    """Raise `ParseError` that says where a configuration is wrong, and what to write.

    The place is a line and a field of the file at `path`; without a file, and for the fields in `changes`, an option.
    """
    try:
        yield
    except ValidationError as error:
        found = [*_errors(error)]
    except FieldError as error:
        found = [(error.place, error.message)]
    else:
        return
    text = "" if path is None else Path(path).read_text(encoding="utf-8")
    said: list[str] = []
    for place, message in found:
        if path is None or (place[:1] and place[0] in changes):
            said.append(f"{_option(place)}{message}")
        else:
            said.append(": ".join(filter(None, (f"{path}{_line(text, place)}", "/".join(map(str, place)), message))))
    raise ParseError("; ".join(said)) from None


def _option(place: FieldPlace) -> str:
    """Name the option that sets a field, or the field if none does."""
    if place[1:2] == ("upstream",):
        name = "/".join(map(str, place[2:]))
        return f"{_OPTIONS.get(name, '--' + name.replace('_', '-'))}: " if name else ""
    return f"--{'client-' if place == ('key_env',) else ''}{'-'.join(map(str, place)).replace('_', '-')}: "


def _errors(error: ValidationError) -> Iterator[tuple[FieldPlace, str]]:
    """Yield the place and the description of what is wrong, but not what follows from that."""
    found = error.errors(include_url=False)
    for one in found:
        if any(other["loc"][: len(one["loc"])] == one["loc"] != other["loc"] for other in found):
            continue
        cause = one.get("ctx", {}).get("error")
        if isinstance(cause, FieldError):
            yield one["loc"] + cause.place, cause.message
        else:
            yield one["loc"], _said(one)


def _said(error: ErrorDetails) -> str:
    """Describe what is wrong, without the value: it may be a key."""
    name, given = str(error["loc"][-1:][0] if error["loc"] else ""), error["input"]
    if error["type"] == "tuple_type":
        written = f"[[{name}]]" if isinstance(given, dict) else f'{name} = ["..."]'
        return f"this field is a list: write {written}"
    message = _WORDS.get(error["type"], error["msg"].removeprefix("Value error, ").replace("Input should", "it must"))
    hint = _belongs(name) if error["type"] == "extra_forbidden" else ""
    return f"{message}{'; ' if hint else ''}{hint}"


def _belongs(name: str) -> str:
    """Say where a field belongs that is in the wrong table, or which one was meant."""
    tables = [table for model, table in _TABLES.items() if name in model.model_fields]
    if not tables:
        return did_you_mean(close_names(name, _FIELDS))
    return f"{name} is a field {' or '.join(tables)}"


def _broken(text: str) -> int:
    """Find the line of a syntax error: the first one after all that can be read."""
    lines = text.splitlines()
    read = max((at for at in range(len(lines) + 1) if _parsed("\n".join(lines[:at])) is not None), default=0)
    return next((at for at, line in enumerate(lines[read:], read + 1) if line.strip()), len(lines))


def _line(text: str, place: FieldPlace) -> str:
    """Find the line of a value, or of the table where it is missing: the first up to which the file contains it."""
    lines = text.splitlines()
    begun = [(at, found) for at in range(1, len(lines) + 1) if (found := _parsed("\n".join(lines[:at]))) is not None]
    for depth in range(len(place), 0, -1):
        for at, found in begun:
            if _contains(found, place[:depth]):
                return f", line {at}"
    return ""


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def _contains(value: Any, place: FieldPlace) -> bool:
    for key in place:
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            return False
    return True
