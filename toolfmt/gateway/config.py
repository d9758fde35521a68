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

import json
import os
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from fnmatch import fnmatchcase
from ipaddress import ip_address
from math import inf
from typing import Any, Final, Literal, Self, TypeAlias
from urllib.parse import urlsplit

import regex
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from toolfmt.arguments import path_of
from toolfmt.errors import ParseError, ToolFmtError, close_names, did_you_mean
from toolfmt.gateway.apis import APIS
from toolfmt.lookup.registry import AUTO, default_registry

Constraint: TypeAlias = Literal["llama.cpp", "llguidance", "vllm", "sglang"]
"""The servers that accept a grammar, each in its own field."""
MIB = 1024 * 1024
HEADER: Final = regex.compile(r"[\x20-\x7e]+")
"""The values of headers."""
_VARIABLE: Final = regex.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEADER_NAME: Final = regex.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
CONFIG_VARIABLE = "TOOLFMT_GATEWAY"
"""The environment variable that brings a worker process its configuration, as JSON."""


class FieldError(ParseError):
    """A field of the configuration cannot be used; `place` leads to it from the top of the file."""

    def __init__(self, message: str, *place: int | str) -> None:
        super().__init__(f"{'/'.join(map(str, place))}: {message}")
        self.message = message
        self.place = place


@contextmanager
def using(*place: int | str) -> Generator[None]:
    """Raise `FieldError` for a field whose value turns out to be unusable."""
    try:
        yield
    except FieldError:
        raise
    except OSError as error:
        raise FieldError(f"{error.filename}: {error.strerror}", *place) from None
    except ToolFmtError as error:
        raise FieldError(str(error), *place) from None


def secret(holder: Back | ClientKey, *place: int | str) -> str | None:
    """Get the key of a back or a client, which are at `place`; raises `FieldError` if it is missing."""
    if (env := holder.key_env) is not None:
        shown = env if env.isupper() else f"{env[:4]}…"  # it may be the key itself
        field, key, place_of_key = "key_env", os.environ.get(env, ""), f"the environment variable {shown}"
        advice = "; key_env is the name of the variable that holds the key, not the key itself"
    elif (file := holder.key_file) is not None:
        field, advice, place_of_key = "key_file", "", f"the file {file}"
        try:
            key = path_of(file).read_text("utf-8")
        except UnicodeDecodeError:
            raise FieldError(f"the key cannot be read: {file} is not UTF-8 text", *place, field) from None
        except OSError as error:
            raise FieldError(f"the key cannot be read: {file}: {error.strerror}", *place, field) from None
    else:
        return None
    key = key.strip()
    if not key:
        raise FieldError(f"{place_of_key} is not set, or empty{advice}", *place, field)
    if not HEADER.fullmatch(key):
        raise FieldError(f"{place_of_key}: a key has only characters that a header can contain", *place, field)
    return key


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    @field_validator("key_env", check_fields=False)
    @classmethod
    def _is_a_variable(cls, name: str | None) -> str | None:
        if name is not None and not _VARIABLE.fullmatch(name):  # which is not quoted: it may be a key
            raise ValueError("the name of a variable is required, such as OPENAI_API_KEY, not the key itself")
        return name


class Back(_Closed):
    """A model's server."""

    api: str = "openai-chat"
    """Its API; `text` is Chat Completions without tools: calls are in the text, in a dialect."""
    url: str
    """Its base address, as its SDK takes it: `http://127.0.0.1:8080/v1`."""
    key_env: str | None = None
    """The environment variable that holds its key."""
    key_file: str | None = None
    """The file that holds its key."""
    aws_region: str | None = None
    """Sign requests for this region of AWS, with the credentials that botocore finds; without it a `bedrock` back
    is sent its key."""
    pass_key: bool = False
    """Forward the client's key to this back. Only for a gateway without keys of its own."""
    headers: dict[str, str] = Field(default_factory=dict)
    """Further headers of each request. A client's own headers are not forwarded."""
    extra: dict[str, Any] = Field(default_factory=dict)
    """Further fields of each request's body."""
    max_tokens: int = Field(default=8192, gt=0)
    """The most tokens of an answer where the API requires a limit and the client sets none."""
    dialect: str = "auto"
    """Of a `text` back: how tools are shown to the model, and how its calls are read.

    `auto` shows them as the model's name suggests, else in hermes' format, and reads calls of any format.
    """
    model_dir: str | None = None
    """Of a back whose model writes text: the model's folder. Its chat template decides the dialect, as `toolfmt doctor`
    finds it, and renders the prompt of `completions` and `llama.cpp`."""
    retries: int = Field(default=2, ge=0, le=10)
    """How often a `text` back is asked again after an invalid call or an invalid answer in JSON."""
    constraint: Constraint | None = None
    """Hold a `text` back by a grammar to required calls, strict tools and answers in JSON: how its server takes
    grammars. `llguidance` is a llama.cpp that is built with it."""
    tokenizer: str | None = None
    """A `tokenizer.json`, or its folder: with it tokens are estimated where the API cannot count them."""
    context: int | None = Field(default=None, gt=0)
    """The most tokens of a request, by the tokenizer; a longer one goes to the route's next back, or is refused."""
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
            raise ValueError(_unknown("api", api, APIS))
        return api

    @field_validator("url")
    @classmethod
    def _is_an_address(cls, url: str) -> str:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.port == 0:
            raise ValueError("an http or https address, such as http://127.0.0.1:8080/v1, is required")
        if parts.username is not None or parts.query or parts.fragment:
            raise ValueError("an address has no password and no query: put a key in key_env or headers")
        return url

    @field_validator("headers")
    @classmethod
    def _are_headers(cls, headers: dict[str, str]) -> dict[str, str]:
        for name, value in headers.items():
            if not _HEADER_NAME.fullmatch(name) or not HEADER.fullmatch(value):
                raise ValueError(f"{name!r} is not a header: its name or value has other characters than HTTP allows")
        return headers

    @field_validator("extra")
    @classmethod
    def _is_json(cls, extra: dict[str, Any]) -> dict[str, Any]:
        try:
            json.dumps(extra, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ValueError(f"fields of a request are JSON: {error}") from None
        return extra

    @field_validator("dialect")
    @classmethod
    def _is_of_text(cls, dialect: str) -> str:
        try:
            if dialect != AUTO and default_registry().dialect(dialect).syntax is None:
                raise ValueError(f"{dialect!r} is a format of an API, not of text: name one of `toolfmt dialects`")
        except ToolFmtError as error:
            raise ValueError(str(error)) from None
        return dialect

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        if self.context is not None and self.tokenizer is None:
            raise ValueError("a limit of the context needs a tokenizer: name one")
        if self.aws_region is not None and self.api != "bedrock":
            raise ValueError(f"aws_region is for the api bedrock, not {self.api}: leave it out")
        if APIS[self.api].prompted and self.model_dir is None:
            raise ValueError(
                f"{self.api} takes a prompt: name a model folder, whose template renders it (model_dir, --model-dir)"
            )
        of_text = {"dialect": self.dialect != AUTO, "model_dir": self.model_dir, "constraint": self.constraint}
        useless = next((name for name, given in of_text.items() if given), None)
        if useless is not None and not APIS[self.api].text:
            raise ValueError(
                f"{useless} is for models that write their calls as text, and {self.api} gives calls by itself: "
                f"choose the api text (--api text), or leave {useless} out"
            )
        if sum(map(bool, (self.pass_key, self.key_env, self.key_file))) > 1:
            raise ValueError("a back has one key: of key_env, key_file and pass_key (the client's), not both or all")
        return self


class ModelRoute(_Closed):
    """Which backs serve which models."""

    model: str = Field(default="*", min_length=1)
    """The models' names; `*` matches any characters."""
    backs: tuple[str, ...] = Field(min_length=1)
    """Asked in this order, the next where one cannot be reached or is overloaded."""
    weights: tuple[float, ...] = ()
    """How often each of the backs is asked first, in proportion; without any it is always the first."""
    as_model: str | None = Field(default=None, min_length=1)
    """The name that the back knows the model by; else the client's."""

    @model_validator(mode="after")
    def _is_weighed(self) -> Self:
        weights = self.weights
        if weights and (len(weights) != len(self.backs) or min(weights) < 0 or not 0 < sum(weights) < inf):
            raise ValueError("weights has a number for each of the backs, none below 0 and not all 0")
        return self

    @property
    def open(self) -> bool:
        """Whether the route is for names that it does not say itself."""
        return "*" in self.model


class ClientKey(_Closed):
    """A client's key, and its limits."""

    key_env: str | None = None
    """The environment variable that holds it."""
    key_file: str | None = None
    """The file that holds it."""
    models: tuple[str, ...] = ("*",)
    """The models' names that it is for."""
    requests_per_minute: int | None = Field(default=None, gt=0)
    """How many requests it allows; as many as a minute's may come together."""
    concurrent: int | None = Field(default=None, gt=0)
    """How many requests may be open at once."""

    @model_validator(mode="after")
    def _has_a_place(self) -> Self:
        if (self.key_env is None) == (self.key_file is None):
            raise ValueError("a key is in an environment variable (key_env) or a file (key_file)")
        return self


class Redaction(_Closed):
    """A pattern that is replaced in all texts of a request before it is sent or stored."""

    pattern: str
    """A regular expression."""
    replacement: str = "[redacted]"
    """The replacement; without quotes and backslashes, because a text may be JSON."""

    @model_validator(mode="after")
    def _is_an_expression(self) -> Self:
        try:
            empty = regex.compile(self.pattern).search("")
        except regex.error as error:
            raise ValueError(f"{self.pattern!r} is no regular expression: {error}") from None
        if empty:
            raise ValueError(f"{self.pattern!r} matches the empty text, which is everywhere")
        if set(self.replacement) & set('"\\'):
            raise ValueError("a replacement has no quotes and no backslashes")
        return self


class Config(_Closed):
    """The whole configuration."""

    backs: dict[str, Back] = Field(min_length=1)
    routes: tuple[ModelRoute, ...] = Field(min_length=1)
    host: str = "127.0.0.1"
    port: int = Field(default=8787, ge=0, le=65535)
    key_env: str | None = None
    """The environment variable that holds the key which clients must send."""
    keys: dict[str, ClientKey] = Field(default_factory=dict[str, ClientKey])
    """Further keys, by names that the log shows."""
    redact: tuple[Redaction, ...] = ()
    store: str | None = None
    """The address of a database, as SQLAlchemy has it (`sqlite:///gateway.db`): answers are kept there, and clients
    go on with them by `previous_response_id`. Needs the extra `store`, and the driver of any other database."""
    record: bool = False
    """Store the exchanges of all clients, including those with `store: false`."""
    traces: bool = False
    """Make OpenTelemetry spans of requests. Needs the extra `otel`, and an SDK that exports them."""
    workers: int = Field(default=1, ge=1)
    """The number of processes."""
    strict: bool = False
    """Reject requests that would lose content or meaning."""
    max_body: int = Field(default=32 * MIB, gt=0)
    """Bytes of a request's body."""
    body_timeout: float = Field(default=60, gt=0)
    """Seconds in which a request's head must arrive, and then its body; and in which a client must read something of an
    answer that waits for it."""
    max_answer: int = Field(default=64 * MIB, gt=0)
    """Bytes of an answer, whole or streamed."""
    max_values: int = Field(default=2**18, gt=0)
    """Values in the JSON of a request, of an answer, or of an event of a stream: each takes about 200 bytes of memory,
    and strings their length."""
    drain_delay: int = Field(default=0, ge=0)
    """Seconds after SIGTERM in which `/ready` answers 503 and requests are still served, so that a load balancer
    notices."""
    drain_timeout: int = Field(default=60, ge=0)
    """Seconds after that in which open answers may end; then they are cut off with an error."""

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        for number, route in enumerate(self.routes):
            for name in route.backs:
                if name not in self.backs:
                    raise FieldError(_unknown("back", name, self.backs), "routes", number, "backs")
            first = self.route(route.model)  # a pattern that matches another pattern's text matches all that it does
            if first is not None and first is not route and not set(first.model) & {"?", "["}:
                raise FieldError(
                    f"the route of {route.model!r} is never used: that of {first.model!r} is before it and serves "
                    "the same models; write it after",
                    "routes",
                    number,
                )
        for name in self.backs:
            if not any(name in route.backs for route in self.routes):
                raise FieldError(
                    "no route names this back: add it to the `backs` of a route, or remove it", "backs", name
                )
        if self.record and self.store is None:
            raise FieldError("to record needs a store: name a database", "record")
        closed = self.key_env is not None or self.keys
        passing = next((name for name, back in self.backs.items() if back.pass_key), None)
        if closed and passing is not None:
            message = "pass_key would send the gateway's own keys on: it is for a gateway without keys"
            raise FieldError(message, "backs", passing, "pass_key")
        if not closed and not is_loopback(self.host):
            raise FieldError(
                f"{self.host} can be reached by others: name the variable with the clients' key "
                "(key_env; --client-key-env), or listen on 127.0.0.1",
                "host",
            )
        return self

    def route(self, model: str) -> ModelRoute | None:
        """Find the first route of a model."""
        return next((route for route in self.routes if fnmatchcase(model, route.model)), None)


def _unknown(kind: str, name: str, known: Iterable[str]) -> str:
    """Say that a name is unknown, and what was probably meant."""
    spellings = {spelling: one for one in known for spelling in (one, one.replace(".", ""))}
    near = did_you_mean(close_names(name, spellings))
    return f"unknown {kind} {name!r}; {near or 'there are ' + ', '.join(known)}"


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
