"""Sends a question to a server: returns the answer as JSON, or why there is none.

    server = Server("http://127.0.0.1:8000/v1", api_key=None, timeout=60)
    server.ask({"model": "m", "messages": [...]}, stream=False)     # Reply(events=[{"choices": [...]}])

An answer may be anything: it is read up to a limit of size and of time.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from toolfmt import jsontext
from toolfmt.errors import MissingExtraError, ParseError
from toolfmt.jsontext import is_object
from toolfmt.workshop.probing.findings import shown

try:
    import httpx2
except ImportError:
    raise MissingExtraError("probing a server", "probe") from None

if TYPE_CHECKING:
    from toolfmt.model import JsonObject

LARGEST: Final = 4_000_000
"""Bytes of an answer: a faithful one has a few thousand."""
STREAM: Final = "text/event-stream"
_DONE: Final = "[DONE]"


class UnusableError(Exception):
    """A server gave no answer of an API: the report's rule, what was expected and what came."""

    def __init__(self, rule: str, expected: str, came: str, *, final: bool = False) -> None:
        """Keep these; `final` if every other question would end the same way."""
        super().__init__(came)
        self.rule = rule
        self.expected = expected
        self.came = came
        self.final = final


@dataclass(frozen=True, slots=True)
class Reply:
    """The JSON values of an answer: one, or the events of a stream."""

    events: tuple[JsonObject, ...]
    streamed: bool = False
    done: bool = True
    """Whether a stream has its end marker."""
    broken: tuple[str, ...] = ()
    """The data of events that are not JSON."""


REFUSALS: Final = {
    HTTPStatus.UNAUTHORIZED: ("unauthorized", "an answer; does it need an API key?"),
    HTTPStatus.FORBIDDEN: ("unauthorized", "an answer; may this API key do that?"),
    HTTPStatus.NOT_FOUND: ("not_found", "an API at this address; is the path (/v1?) right, and the model's name?"),
    HTTPStatus.METHOD_NOT_ALLOWED: ("not_found", "an API at this address; is the path (/v1?) right?"),
}
"""Statuses that apply to all questions."""


class Server:
    """An OpenAI-compatible server; proxies and .netrc files of the environment are ignored."""

    def __init__(self, base_url: str, *, api_key: str | None, timeout: float) -> None:
        """Raises ValueError for an address that is invalid, and for a key that no header can hold."""
        try:
            url = httpx2.URL(base_url)
        except httpx2.InvalidURL as error:
            raise ValueError(f"{base_url!r} is no URL: {error}") from None
        if url.scheme not in ("http", "https") or not url.host:
            raise ValueError(f"a base URL begins with http:// or https:// and a host, not {base_url!r}")
        if api_key is not None and not (api_key.isascii() and api_key.isprintable()):
            raise ValueError("the API key has characters that no HTTP header can hold")
        self._url = f"{base_url.rstrip('/')}/chat/completions"
        self._timeout = timeout
        headers = {"accept-encoding": "identity"}  # a small compressed answer may be huge
        headers |= {"authorization": f"Bearer {api_key}"} if api_key else {}
        self._client = httpx2.Client(headers=headers, timeout=timeout, trust_env=False, follow_redirects=False)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def ask(self, request: JsonObject, *, stream: bool) -> Reply:
        """Send a request and read the answer; raises `UnusableError` where there is none."""
        late = time.monotonic() + self._timeout
        try:
            with self._client.stream("POST", self._url, json={**request, "stream": stream}) as response:
                body = self._body(response, late)
        except httpx2.TimeoutException:
            raise self._late() from None
        except httpx2.ConnectError as error:
            raise UnusableError("unreachable", "a server at this address", str(error), final=True) from None
        except httpx2.HTTPError as error:
            came = str(error) or type(error).__name__
            raise UnusableError("broken_off", "a whole answer", came) from None
        _check_status(response, body)
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        framed = kind == STREAM or body.startswith("data:")
        return _events(body) if stream and framed and not body.lstrip().startswith("{") else _whole(body, kind)

    def _body(self, response: httpx2.Response, late: float) -> str:
        """Read an answer up to the limits of size and time."""
        pieces: list[bytes] = []
        size = 0
        for piece in response.iter_bytes():
            pieces.append(piece)
            size += len(piece)
            if size > LARGEST:
                raise UnusableError("too_large", f"an answer of at most {LARGEST} bytes", "more")
            if time.monotonic() > late:
                raise self._late()
        return b"".join(pieces).decode("utf-8", "replace")

    def _late(self) -> UnusableError:
        return UnusableError("timeout", f"an answer within {self._timeout:g} s", "none")


def _check_status(response: httpx2.Response, body: str) -> None:
    status = response.status_code
    if response.is_success:
        return
    came = shown(f"{status} {response.reason_phrase}: {_words(body)}")
    if response.is_redirect:
        where = response.headers.get("location", "nowhere")
        raise UnusableError("redirect", "an answer at this address", shown(f"{status} to {where}"), final=True)
    if status in REFUSALS:
        rule, expected = REFUSALS[HTTPStatus(status)]
        raise UnusableError(rule, expected, came, final=True)
    if response.is_client_error and status != HTTPStatus.TOO_MANY_REQUESTS:
        raise UnusableError("refused", "an answer to this question", came)
    raise UnusableError("server_error", "an answer", came)


def _words(body: str) -> str:
    """Return an error's message from where APIs put it."""
    try:
        value = jsontext.loads(body)
    except ParseError:
        return body.strip()
    error = value.get("error", value) if is_object(value) else value
    words = error.get("message") if is_object(error) else error
    return words if isinstance(words, str) else body.strip()


def _whole(body: str, kind: str) -> Reply:
    try:
        value = jsontext.loads(body)
    except ParseError:
        raise UnusableError("not_json", "JSON", shown(f"{kind or 'something'}: {body.strip()}")) from None
    if not is_object(value) or not isinstance(value.get("choices"), list):
        raise UnusableError("not_an_answer", "an object with `choices`", shown(body.strip()))
    return Reply((value,))


def _events(body: str) -> Reply:
    """Read server-sent events; other fields and comments are ignored."""
    events: list[JsonObject] = []
    broken: list[str] = []
    done = False
    for block in body.replace("\r\n", "\n").split("\n\n"):
        lines = [line[5:].removeprefix(" ") for line in block.split("\n") if line.startswith("data:")]
        data = "\n".join(lines).strip()
        if data == _DONE:
            done = True
            break
        if not data:
            continue
        try:
            value = jsontext.loads(data)
        except ParseError:
            broken.append(data)
            continue
        if is_object(value) and "error" in value:
            raise UnusableError("server_error", "an answer", shown(_words(data)))
        if is_object(value):
            events.append(value)
        else:
            broken.append(data)
    if not events:
        raise UnusableError("not_an_answer", "events with `choices`", shown("\n".join(broken) or "none"))
    return Reply(tuple(events), streamed=True, done=done, broken=tuple(broken))
