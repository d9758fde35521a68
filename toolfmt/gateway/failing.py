"""Errors of an exchange: a record for the client, which each API writes in its own shape, and a line for the log.

client    {"error": {"message": "the body cannot be read as JSON: expected a value at line 1, column 9", ...}}
log       {"face": "openai-chat", "status": 400, "error": "the body cannot be read as JSON"}

What requests and answers contain is never logged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from toolfmt.transcripts.answering.answer_info import Failure, Trouble

BAD_GATEWAY: Final = 502


class ExchangeError(Exception):
    """An exchange failed; `failure` is the record for the client, `logged` the text for the log."""

    def __init__(self, failure: Failure, *, logged: str = "", headers: Mapping[str, str] | None = None) -> None:
        """Keep the record, with headers for the client; `logged` replaces a message that quotes what was sent."""
        super().__init__(failure.message)
        self.failure = failure
        self.logged = logged or failure.message
        self.headers = headers or {}


class UpstreamError(ExchangeError):
    """A back failed."""

    @property
    def elsewhere(self) -> bool:
        """Whether another back may be asked."""
        return isinstance(self, UnreachedError) or self.failure.kind in {"overloaded", "rate_limit"}

    @property
    def reason(self) -> int | str:
        """The status of the back's answer, else one word."""
        return self.failure.status or self.failure.code or self.failure.kind


class UnreachedError(UpstreamError):
    """A back never received the request, so another may be asked."""


def refusal(kind: Trouble, message: str, quoted: object = "", *, param: str | None = None) -> ExchangeError:
    """Make the error of a request that the gateway does not serve; `quoted` is for the client alone."""
    whole = f"{message}: {quoted}" if quoted else message
    return ExchangeError(Failure(kind=kind, message=whole, param=param), logged=message)


def bad_answer(message: str, quoted: object = "") -> UpstreamError:
    """Make the error of an answer that the gateway cannot use; `quoted` is for the client alone."""
    whole = f"{message}: {quoted}" if str(quoted) else message
    return UpstreamError(Failure(kind="server", message=whole, status=BAD_GATEWAY), logged=message)
