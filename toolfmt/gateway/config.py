"""The configuration: backs, and the routes that lead to them by a model's name.

[backs.local]
api = "openai-chat"
url = "http://127.0.0.1:8080/v1"

[backs.claude]
api = "anthropic"
url = "https://api.anthropic.com/v1"
key_env = "ANTHROPIC_API_KEY"

[[routes]]
model = "claude-*"
backs = ["claude", "local"]      # the next one is asked where one cannot be reached

[[routes]]
backs = ["local"]
as_model = "qwen3-8b"
"""

from __future__ import annotations

import os
import tomllib
from fnmatch import fnmatchcase
from ipaddress import ip_address
from pathlib import Path
from typing import Literal, Self, TypeAlias
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from toolfmt.errors import ParseError
from toolfmt.gateway.apis import APIS
from toolfmt.registry import AUTO, default_registry

Constraint: TypeAlias = Literal["llama.cpp", "vllm"]
"""Whose words a server takes a grammar in."""
MIB = 1024 * 1024


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Back(_Closed):
    """A model's server."""

    api: str = "openai-chat"
    """What it speaks; `text` is Chat Completions without tools: calls are in the text, in a dialect."""
    url: str
    """Its base address, as its SDK takes it: `http://127.0.0.1:8080/v1`."""
    key_env: str | None = None
    """The environment variable that holds its key; a client's own key is never sent to it."""
    headers: dict[str, str] = Field(default_factory=dict)
    """Further headers of each request."""
    dialect: str = "auto"
    """Of a `text` back: how tools are shown to the model, and how its calls are read.

    `auto` shows them as the model's name suggests, else in hermes' format, and reads calls of any format.
    """
    retries: int = Field(default=2, ge=0, le=10)
    """How often a `text` back is asked again after a call that cannot be used."""
    constraint: Constraint | None = None
    """Hold a `text` back to a call by a grammar where the client requires one: how its server takes grammars."""
    tokenizer: str | None = None
    """A `tokenizer.json`, or its folder: with it tokens are estimated where the API cannot count them."""
    connect_timeout: float = Field(default=10, gt=0)
    """Seconds until a connection is open."""
    first_byte_timeout: float = Field(default=300, gt=0)
    """Seconds until an answer begins."""
    idle_timeout: float = Field(default=120, gt=0)
    """Seconds in which nothing more comes of an answer that has begun."""

    @field_validator("api")
    @classmethod
    def _is_known(cls, api: str) -> str:
        if api not in APIS:
            raise ValueError(f"an api is one of {', '.join(APIS)}, not {api!r}")
        return api

    @model_validator(mode="after")
    def _has_an_address(self) -> Self:
        parts = urlsplit(self.url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError(f"url is an http or https address, not {self.url!r}")
        if self.dialect != AUTO and default_registry().dialect(self.dialect).syntax is None:
            raise ValueError(f"the dialect {self.dialect!r} is none of text")
        return self

    @property
    def key(self) -> str | None:
        """The key, from the environment; raises `ParseError` where its variable is not set."""
        if self.key_env is None:
            return None
        key = os.environ.get(self.key_env)
        if not key:
            raise ParseError(f"the environment variable {self.key_env} is not set")
        return key


class ModelRoute(_Closed):
    """Which backs serve which models."""

    model: str = "*"
    """The models' names; `*` stands for any characters."""
    backs: tuple[str, ...] = Field(min_length=1)
    """Asked in this order, the next where one cannot be reached or is overloaded."""
    as_model: str | None = None
    """The name that the back knows the model by; else the client's."""

    @property
    def open(self) -> bool:
        """Whether the route is for names that it does not say itself."""
        return "*" in self.model


class Config(_Closed):
    """The whole configuration."""

    backs: dict[str, Back] = Field(min_length=1)
    routes: tuple[ModelRoute, ...] = Field(min_length=1)
    host: str = "127.0.0.1"
    port: int = Field(default=8787, ge=0, le=65535)
    key_env: str | None = None
    """The environment variable that holds the key which clients must send."""
    strict: bool = False
    """Refuse a request of which content or meaning would be lost."""
    max_body: int = Field(default=32 * MIB, gt=0)
    """Bytes of a request's body."""
    max_answer: int = Field(default=64 * MIB, gt=0)
    """Bytes of an answer, whole or streamed."""
    drain_timeout: int = Field(default=60, ge=0)
    """Seconds in which open streams may end when the server is told to; then they are cut off."""

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        unknown = sorted({name for route in self.routes for name in route.backs} - set(self.backs))
        if unknown:
            raise ValueError(f"routes name backs that are not there: {', '.join(unknown)}")
        if self.key_env is None and not _loopback(self.host):
            raise ValueError(
                f"{self.host} can be reached by others: name the variable with the clients' key "
                "(key_env; --client-key-env), or listen on 127.0.0.1"
            )
        return self

    @property
    def key(self) -> str | None:
        """The key that clients must send; raises `ParseError` where its variable is not set."""
        if self.key_env is None:
            return None
        key = os.environ.get(self.key_env)
        if not key:
            raise ParseError(f"the environment variable {self.key_env} is not set")
        return key

    def route(self, model: str) -> ModelRoute | None:
        """Find the first route of a model."""
        return next((route for route in self.routes if fnmatchcase(model, route.model)), None)


def load_config(path: str | Path) -> Config:
    """Read a configuration file; raises OSError, or `ParseError` with the place of what is wrong."""
    try:
        return Config.model_validate(tomllib.loads(Path(path).read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ParseError(f"{path}: {error}") from None
    except ValidationError as error:
        raise ParseError(f"{path}: {_found(error)}") from None


def changed(config: Config, **changes: object) -> Config:
    """Make a configuration with other values; raises `ParseError` where they do not hold together."""
    try:
        return Config.model_validate(config.model_dump() | changes)
    except ValidationError as error:
        raise ParseError(_found(error)) from None


def single(url: str, api: str, *, dialect: str | None = None, key_env: str | None = None) -> Config:
    """Make the configuration of one back for every model; raises `ParseError` for an invalid address."""
    chosen = {} if dialect is None else {"dialect": dialect}
    try:
        back = Back.model_validate({"api": api, "url": url, "key_env": key_env, **chosen})
        return Config(backs={"upstream": back}, routes=(ModelRoute(backs=("upstream",)),))
    except ValidationError as error:
        raise ParseError(_found(error)) from None


def _found(error: ValidationError) -> str:
    """Say what is wrong and where, without the values: a key may be among them."""
    return "; ".join(
        "".join((*(f"{'/'.join(map(str, one['loc']))}: " for _ in one["loc"][:1]), one["msg"]))
        for one in error.errors(include_input=False)
    )


def _loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
