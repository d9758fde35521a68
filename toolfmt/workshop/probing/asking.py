"""Sends a question to a server: returns the answer, as a plain client assembles it, or why there is none.

    server = Server("http://127.0.0.1:8000/v1", api_key=None, timeout=60)
    server.ask({"model": "m", "messages": [...]}, stream=False)     # Reply(events=[{"choices": [...]}])

An answer may be anything: it is read up to a limit of size and of time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

from toolfmt import jsontext
from toolfmt.errors import MissingExtraError, ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.workshop.probing.findings import HIDDEN, shown

try:
    import httpx2
except ImportError:
    raise MissingExtraError("probing a server", "probe") from None


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
        self._key = api_key
        self._url = f"{base_url.rstrip('/')}/chat/completions"
        self._timeout = timeout
        headers = {"accept-encoding": "identity"}  # a small compressed answer may be huge
        headers |= {"authorization": f"Bearer {api_key}"} if api_key else {}
        self._client = httpx2.Client(headers=headers, timeout=timeout, trust_env=False, follow_redirects=False)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def ask(self, request: JsonObject, *, stream: bool) -> Reply:
        """Send a request and read the answer; raises `UnusableError` if there is none."""
        late = time.monotonic() + self._timeout
        try:
            with self._client.stream("POST", self._url, json={**request, "stream": stream}) as response:
                body = self._body(response, late)
        except httpx2.TimeoutException:
            raise self._late() from None
        except httpx2.ConnectError as error:
            raise UnusableError("unreachable", "a server at this address", str(error), final=True) from None
        except httpx2.HTTPError as error:
            raise UnusableError("broken_off", "a whole answer", str(error) or type(error).__name__) from None
        self._check_status(response, body)
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
        return self._hidden(b"".join(pieces).decode("utf-8", "replace"))

    def _hidden(self, text: str) -> str:
        """Remove the key from what the server says, before any of it is shortened."""
        return text.replace(self._key, HIDDEN) if self._key else text

    def _late(self) -> UnusableError:
        return UnusableError("timeout", f"an answer within {self._timeout:g} s", "none")

    def _check_status(self, response: httpx2.Response, body: str) -> None:
        status = response.status_code
        if response.is_success:
            return
        came = shown(f"{status} {self._hidden(response.reason_phrase)}: {_words(body)}")
        if response.is_redirect:
            where = self._hidden(response.headers.get("location", "nowhere"))
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


@dataclass(slots=True)
class Call:
    """A call as it is on the wire; `arguments` should be text."""

    id: JsonValue = None
    name: JsonValue = None
    arguments: JsonValue = ""


@dataclass(slots=True)
class ClientAnswer:
    """The answer as a client has it."""

    text: str = ""
    reasoning: str = ""
    calls: list[Call] = field(default_factory=list[Call])
    finish: JsonValue = None
    oddities: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    """What is not as Chat Completions has it: what was expected and what came, the first of each rule."""

    def odd(self, rule: str, expected: str, came: object) -> None:
        """Note an oddity."""
        self.oddities.setdefault(rule, (expected, shown(str(came))))

    def say(self, message: JsonObject) -> None:
        """Add the text and the reasoning of a message, or of a piece of one."""
        content = message.get("content")
        if isinstance(content, str):
            self.text += content
        elif content is not None:
            self.odd("content_not_text", "`content` is text or null", content)
        for name in ("reasoning_content", "reasoning"):
            thought = message.get(name)
            if isinstance(thought, str):
                self.reasoning += thought
                break


def read(reply: Reply, *, stream: bool) -> ClientAnswer:
    """Assemble an answer."""
    answer = ClientAnswer()
    for data in reply.broken:
        answer.odd("event_not_json", "the data of every event is JSON", data)
    if stream and not reply.streamed:
        answer.odd("not_streamed", "server-sent events", "one JSON object")
    if reply.streamed:
        _read_stream(reply, answer)
    else:
        _read_whole(reply.events[0], answer)
    return answer


def _choices(value: JsonObject) -> Iterator[JsonObject]:
    choices = value.get("choices")
    yield from (one for one in (choices if is_array(choices) else ()) if is_object(one))


def _calls(message: JsonObject, answer: ClientAnswer) -> Iterator[tuple[JsonObject, JsonObject]]:
    calls = message.get("tool_calls")
    if calls is not None and not is_array(calls):
        answer.odd("calls_not_listed", "`tool_calls` is a list", calls)
        return
    for call in calls or ():
        function = call.get("function") if is_object(call) else None
        if is_object(call) and is_object(function):
            yield call, function
        else:
            answer.odd("call_without_function", "every call has a `function`", call)


def _read_whole(value: JsonObject, answer: ClientAnswer) -> None:
    nothing: JsonObject = {}
    choice = next(_choices(value), nothing)
    message = choice.get("message")
    if not is_object(message):
        answer.odd("no_message", "a choice with a `message`", value)
        return
    answer.finish = choice.get("finish_reason")
    answer.say(message)
    for call, function in _calls(message, answer):
        answer.calls.append(Call(call.get("id"), function.get("name"), function.get("arguments")))


def _read_stream(reply: Reply, answer: ClientAnswer) -> None:
    by_index: dict[Any, Call] = {}
    for event in reply.events:
        for choice in _choices(event):
            if choice.get("finish_reason") is not None:
                answer.finish = choice["finish_reason"]
            delta = choice.get("delta")
            if not is_object(delta):
                continue
            answer.say(delta)
            for call, function in _calls(delta, answer):
                _piece(call, function, by_index, answer)
    answer.calls = list(by_index.values())
    if not reply.done:
        answer.odd("no_done", "`data: [DONE]` at the end", "the end of the stream")


def _piece(call: JsonObject, function: JsonObject, by_index: dict[Any, Call], answer: ClientAnswer) -> None:
    index = call.get("index")
    if type(index) is not int:
        answer.odd("no_index", "every piece of a call says which by `index`", call)
        index = ("no index", len(by_index)) if function.get("name") or not by_index else next(reversed(by_index))
    known = by_index.get(index)
    if known is None and not function.get("name"):
        answer.odd("call_without_start", "a call's first piece has its name", call)
    if known is not None and call.get("id") not in (None, "", known.id):
        answer.odd("index_mixed", f"one call under index {index}", f"{known.id} and {call.get('id')}")
        index, known = ("mixed", len(by_index)), None
    if known is None:
        known = by_index[index] = Call(call.get("id"), function.get("name"))
    arguments = function.get("arguments")
    if isinstance(arguments, str) and isinstance(known.arguments, str):
        known.arguments += arguments
    elif arguments is not None:
        known.arguments = arguments
