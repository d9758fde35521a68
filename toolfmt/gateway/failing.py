"""What goes wrong in an exchange, as errors that hold the record which each API writes in its own way."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolfmt.transcripts.answer_info import Failure


class ExchangeError(Exception):
    """An exchange failed; `failure` says how, in no API's words."""

    def __init__(self, failure: Failure, *, headers: Mapping[str, str] | None = None) -> None:
        """Keep the record, and headers that the client is to be given."""
        super().__init__(failure.message)
        self.failure = failure
        self.headers = headers or {}


class UpstreamError(ExchangeError):
    """A back failed; where it was not `reached` or is overloaded, another one may be asked."""

    def __init__(self, failure: Failure, *, headers: Mapping[str, str] | None = None, reached: bool = True) -> None:
        """Keep whether the back has seen the request."""
        super().__init__(failure, headers=headers)
        self.reached = reached

    @property
    def elsewhere(self) -> bool:
        """Whether another back may be asked."""
        return not self.reached or self.failure.kind in {"overloaded", "rate_limit"}
