"""What Bedrock requires besides JSON: requests signed with AWS's credentials, streams of AWS's binary events.

Signing and events are botocore's. Needs the extra `bedrock`.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from toolfmt.errors import LimitExceededError, MissingExtraError, ParseError


def _botocore(part: str) -> Any:
    try:
        return import_module(f"botocore.{part}")  # by name: it comes with an extra, and has no types
    except ImportError:
        raise MissingExtraError("a bedrock back", "bedrock") from None


class Signer:
    """Signs requests, with the credentials that botocore finds in the environment or its files."""

    def __init__(self, region: str) -> None:
        """Find the credentials; raises `ParseError` if there are none."""
        self._region = region
        self._credentials = _botocore("session").get_session().get_credentials()
        if self._credentials is None:
            raise ParseError("no AWS credentials were found for signing requests")

    def headers(self, method: str, url: str, body: bytes, headers: Mapping[str, str]) -> dict[str, str]:
        """Return a request's headers with its signature."""
        request = _botocore("awsrequest").AWSRequest(method, url, dict(headers), body)
        _botocore("auth").SigV4Auth(self._credentials, "bedrock", self._region).add_auth(request)
        return dict(request.headers.items())


class EventStream:
    """Reads the data of events from a stream of AWS's binary messages."""

    def __init__(self, longest: int) -> None:
        """Begin a stream; an event of more than `longest` bytes raises `LimitExceededError`."""
        self._longest = longest
        self._errors: tuple[type[Exception], ...] = (_botocore("eventstream").ParserError,)
        self._buffer = _botocore("eventstream").EventStreamBuffer()
        self._held = 0

    def feed(self, text: bytes) -> list[str]:
        """Return each complete event as JSON under its name; raises `ParseError` for an invalid message."""
        self._held += len(text)
        if self._held > self._longest:
            raise LimitExceededError(f"an event of a stream is longer than {self._longest} bytes")
        found: list[str] = []
        try:
            self._buffer.add_data(text)
            for message in self._buffer:
                headers: Mapping[str, str] = message.headers
                name = headers.get(":exception-type") or headers.get(":event-type") or ""
                found.append(f'{{"{name}": {message.payload.decode() or "{}"}}}')
                self._held = 0
        except (*self._errors, UnicodeDecodeError) as error:
            raise ParseError(f"a message of an event stream is broken: {error}") from None
        return found

    def close(self) -> list[str]:
        """Return no events; raises `ParseError` if a message was cut off."""
        if self._held:
            raise ParseError("the stream ends within a message")
        return []
