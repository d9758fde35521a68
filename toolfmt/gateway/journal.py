"""The log: a line of JSON for each request, with what the metrics count, and for all else that the server has to say.

    {"time": "2026-11-24T14:05:09.120Z", "level": "error", "face": "openai-chat", "request": "req_5c1f", "status": 502,
     "ms": 41.2, "key": "ann", "model": "qwen3-8b", "back": "local", "tried": {"local": "unreachable"}, "error": "..."}

What requests and answers contain is never logged. `/health`, `/ready` and `/metrics` have a line if they fail.
"""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from toolfmt import jsontext

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from starlette.requests import HTTPConnection
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from toolfmt.model import JsonObject
    from toolfmt.transcripts.answering.answer_info import Usage
    from toolfmt.transcripts.comparing.loss import Loss

log: Final = logging.getLogger("toolfmt.gateway")
GONE: Final = 499
"""The status of a request whose client disconnected before the answer, as in nginx."""
DISCONNECTED: Final = "the client disconnected"
UNREAD_ANSWER: Final = "the client stopped reading its answer"
_QUIET: Final = frozenset({"/health", "/ready", "/metrics"})
_LONGEST: Final = 200
_OK, _SERVER_ERROR = 200, 500


@dataclass(slots=True, kw_only=True)
class Entry:
    """One request: what is known of it when it has ended."""

    face: str = ""
    """The format of the client's API; "" for a path that is not an API's."""
    path: str = ""
    request: str = field(default_factory=lambda: f"req_{uuid4().hex}")
    """The id that the client gets."""
    status: int = 0
    key: str = ""
    """The name of the client's key in the configuration."""
    model: str = ""
    """The client's name of the model."""
    route: str = ""
    """The pattern of the route that serves it."""
    back: str = ""
    """The last back that was asked."""
    tried: dict[str, int | str] = field(default_factory=dict[str, int | str])
    """The backs that failed, each with its status or with what went wrong."""
    stream: bool = False
    losses: Sequence[Loss] = ()
    usage: Usage | None = None
    error: str = ""
    began: float = field(default_factory=time.perf_counter)
    answered: float | None = None
    ended: float | None = None

    @classmethod
    def of(cls, connection: HTTPConnection) -> Entry:
        """Return the entry of a request."""
        return connection.scope.get("toolfmt.entry") or cls()

    def begin(self, status: int) -> None:
        """Note that the answer begins."""
        self.status, self.answered = status, time.perf_counter()

    def end(self, count: Callable[[Entry], None]) -> None:
        """Log and count the request, once."""
        if self.ended is not None:
            return
        self.ended = time.perf_counter()
        self.answered = self.ended if self.answered is None else self.answered
        if self.path in _QUIET and self.status == _OK:
            return
        count(self)
        broken = self.status >= _SERVER_ERROR or (self.stream and self.error)
        log_line(logging.ERROR if broken else logging.INFO, self._line(self.answered, self.ended))

    def _line(self, answered: float, ended: float) -> JsonObject:
        place = {"face": self.face} if self.face else {"path": self.path}
        line: JsonObject = {**place, "request": self.request, "status": self.status, "ms": _ms(answered - self.began)}
        line |= {"whole_ms": _ms(ended - self.began)} if self.stream else {}
        said = {name: getattr(self, name) for name in ("key", "model", "back", "tried")}
        line |= {name: value for name, value in said.items() if value}
        line |= {"stream": self.stream} if self.back else {}
        line |= {"losses": dict(Counter(loss.code for loss in self.losses))} if self.losses else {}
        return line | ({"error": self.error} if self.error else {})


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 1)


class RequestJournal:
    """Middleware that logs and counts every request when its answer has ended."""

    def __init__(self, app: ASGIApp, count: Callable[[Entry], None]) -> None:
        self._app = app
        self._count = count

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        entry = scope["toolfmt.entry"] = Entry(path=scope["path"][:_LONGEST])

        async def noted(message: Message) -> None:
            if message["type"] == "http.response.start":
                entry.begin(message["status"])
            elif not message.get("more_body"):
                entry.end(self._count)
            await send(message)

        try:
            await self._app(scope, receive, noted)
        except asyncio.CancelledError:  # by the server, which ends: a client that disconnects raises nothing here
            entry.error = "cut off: the gateway is shutting down"
        except Exception as error:
            entry.status = entry.status or _SERVER_ERROR
            entry.error = f"the gateway failed: {type(error).__name__}"
            raise
        finally:
            entry.error = entry.error or DISCONNECTED
            entry.end(self._count)


def log_line(level: int, line: JsonObject) -> None:
    """Log an object."""
    log.log(level, "%s", _Written(line), extra={"line": line})


class _Written:
    """Writes an object only if it is read: `_Lines` writes the object itself, with more around it."""

    def __init__(self, line: JsonObject) -> None:
        self._line = line

    def __str__(self) -> str:
        return jsontext.dumps(self._line)


def log_requests() -> None:
    """Log to stderr, all in lines of JSON: requests, and what the server and Python's warnings say."""
    handler = logging.StreamHandler()
    handler.setFormatter(_Lines())
    handler.addFilter(lambda record: "WebSocket" not in str(record.msg))  # uvicorn's lines quote keys in addresses
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.captureWarnings(capture=True)
    for name in (log.name, "uvicorn"):
        logging.getLogger(name).setLevel(logging.INFO)


class _Lines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        """Write a record; of an exception its kind and its place, but not its message, which may quote a request."""
        when = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line: JsonObject = {"time": when, "level": record.levelname.lower()}
        line |= getattr(record, "line", None) or {"message": record.getMessage().strip()}
        if record.exc_info and record.exc_info[0] is not None:
            place = "".join(traceback.format_tb(record.exc_info[2]))
            line["exception"] = f"{record.exc_info[0].__name__}\n{place}"
        return jsontext.dumps(line)
