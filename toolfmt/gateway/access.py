"""Access: clients send a key, as the SDK of any API does, and each key has its limits."""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from contextlib import AsyncExitStack
from contextvars import ContextVar
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from toolfmt.gateway.config import ClientKey, Config, FieldError, is_loopback, secret
from toolfmt.gateway.failing import refusal
from toolfmt.gateway.journal import Entry
from toolfmt.gateway.limits import KeyLimits, shared_file

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection

_HEADERS: Final = ("x-api-key", "x-goog-api-key")
"""Headers that may hold a client's key, beside `Authorization: Bearer`."""
HOPS: Final = "x-toolfmt-hops"
"""The header that counts the gateways which a request has passed."""
hops: Final = ContextVar("hops", default=0)
"""How many gateways the request that is served has passed."""
_MOST_HOPS: Final = 4


@dataclass(frozen=True, slots=True)
class Caller:
    """A client that sends a request."""

    name: str = ""
    """The key's name in the configuration; "" if no key is required."""
    key: str | None = None
    """What the client sent."""
    models: tuple[str, ...] = ("*",)
    entry: Entry = field(default_factory=Entry)
    """What is known of its request."""

    def may(self, model: str) -> bool:
        """Whether the key is for a model."""
        return any(fnmatchcase(model, pattern) for pattern in self.models)

    def check(self, model: str) -> None:
        """Raise `ExchangeError` for a model that the key is not for."""
        if not self.may(model):
            raise refusal("permission", f"the key is not for the model {model!r}")


class Access:
    """Checks keys."""

    def __init__(self, config: Config) -> None:
        """Read the keys that clients may send; without any, no client needs one. Raises `ParseError`."""
        rules: list[tuple[str, ClientKey, tuple[str, ...]]] = [
            (name, rule, ("keys", name)) for name, rule in config.keys.items()
        ]
        if config.key_env is not None:
            rules.append(("default", ClientKey(key_env=config.key_env), ()))
        file = shared_file() if config.workers > 1 else None
        self._clients = [
            (name, secret(rule, *place) or "", KeyLimits(rule, number, file))
            for number, (name, rule, place) in enumerate(rules)
        ]
        names: dict[str, str] = {}
        for name, key, _ in self._clients:
            if (first := names.setdefault(key, name)) != name:
                raise FieldError(
                    f"the keys {first!r} and {name!r} are the same: each client needs its own", "keys", name
                )

    def check(self, request: HTTPConnection) -> tuple[Caller, KeyLimits | None]:
        """Return the client; raises `ExchangeError` for one without a key, or a web page where none is needed."""
        passed = request.headers.get(HOPS, "")[:3]
        hops.set(int(passed) if passed.isdecimal() else 0)
        if hops.get() >= _MOST_HOPS:
            raise refusal("server", "the request goes in a circle: the url of a back leads to this gateway")
        sent = list(_sent(request))
        if not self._clients:
            origin = request.headers.get("origin")
            if origin is not None and not _is_local(origin):
                raise refusal("permission", "pages of other machines may use only a gateway with keys")
            return Caller(key=next(iter(sent), None), entry=Entry.of(request)), None
        for name, key, limits in self._clients:
            if any(hmac.compare_digest(one.encode(), key.encode()) for one in sent):
                entry = Entry.of(request)
                entry.key = name
                return Caller(name, models=limits.rule.models, entry=entry), limits
        raise refusal("authentication", "the key is missing or wrong")

    def admit(self, request: HTTPConnection, stack: AsyncExitStack) -> Caller:
        """Admit a client until `stack` is closed, within the limits of its key."""
        caller, limits = self.check(request)
        if limits is not None:
            limits.take(stack)
        return caller


def _is_local(origin: str) -> bool:
    """Whether a page is served by this machine: any other could use the gateway through the browser of its visitor."""
    try:
        return is_loopback(urlsplit(origin).hostname or "")
    except ValueError:
        return False


def _sent(request: HTTPConnection) -> Iterator[str]:
    """Yield each key that a client sends."""
    scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        yield bearer
    yield from (key for name in _HEADERS if (key := request.headers.get(name)) is not None)
    if request.scope["query_string"] and (key := request.query_params.get("key")) is not None:
        yield key
