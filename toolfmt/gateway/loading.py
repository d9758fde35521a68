"""Making a configuration from a file or from options; what is wrong with it is reported with its line.

load_config("gateway.toml")     gateway.toml, line 3: backs/it/kye_env: unknown field; did you mean 'key_env'?
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError
from pydantic_core import to_json

from toolfmt.errors import ParseError, close_names, did_you_mean
from toolfmt.gateway.config import Back, ClientKey, Config, ModelRoute, Redaction

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_FIELDS: Final[Mapping[str, str]] = {
    name: name for model in (Config, Back, ModelRoute, ClientKey, Redaction) for name in model.model_fields
}
_WORDS: Final[Mapping[str, str]] = {
    "missing": "this field is required",
    "extra_forbidden": "unknown field",
    "too_short": "at least one is required",
}
"""What pydantic's kinds of errors are called here; for all others its own message does."""


def load_config(path: str | Path) -> Config:
    """Read a configuration file; raises OSError, or `ParseError` with the line of what is wrong."""
    try:
        text = Path(path).read_text(encoding="utf-8")
        found = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ParseError(f"{path}: a configuration is TOML, and this is not: {error}") from None
    try:
        return Config.model_validate_json(to_json(found), strict=True)
    except ValidationError as error:
        raise ParseError(
            "; ".join(f"{path}{_line(text, one['loc'])}: {_said(one)}" for one in _errors(error))
        ) from None


def changed(config: Config, **changes: object) -> Config:
    """Make a configuration with other values; raises `ParseError` if they do not hold together."""
    with _reported():
        return Config.model_validate(config.model_dump() | changes)


def single(url: str, api: str, **options: object) -> Config:
    """Make the configuration of one back for every model; raises `ParseError` for what does not hold together."""
    chosen = {name: value for name, value in options.items() if value is not None}
    with _reported():
        back = Back.model_validate({"api": api, "url": url, **chosen})
        return Config(backs={"upstream": back}, routes=(ModelRoute(backs=("upstream",)),))


@contextmanager
def _reported(where: Callable[[Sequence[int | str]], str] = lambda _: "") -> Generator[None]:
    """Raise `ParseError` for what pydantic finds; `where` says the line of a place."""
    try:
        yield
    except ValidationError as error:
        raise ParseError("; ".join(f"{where(one['loc'])}{_said(one)}" for one in _errors(error))) from None


def _errors(error: ValidationError) -> list[ErrorDetails]:
    """List what is wrong, and not what follows from that."""
    found = error.errors(include_input=False, include_url=False)
    return [
        one
        for one in found
        if not any(other["loc"][: len(one["loc"])] == one["loc"] != other["loc"] for other in found)
    ]


def _said(error: ErrorDetails) -> str:
    """Describe what is wrong and where, without the value: it may be a key."""
    place = "".join(f"{'/'.join(map(str, error['loc']))}: " for _ in error["loc"][:1])
    message = _WORDS.get(error["type"], error["msg"].removeprefix("Value error, "))
    unknown = error["type"] == "extra_forbidden"
    hint = did_you_mean(close_names(str(error["loc"][-1]), _FIELDS)) if unknown else ""
    return f"{place}{message}{'; ' if hint else ''}{hint}"


def _line(text: str, place: Sequence[int | str]) -> str:
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


def _contains(value: Any, place: Sequence[int | str]) -> bool:
    for key in place:
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            return False
    return True
