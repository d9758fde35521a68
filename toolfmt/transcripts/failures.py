"""Providers' errors: read as one record, written in each API's own shape.

    read_error({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
    Failure(kind="overloaded", message="Overloaded", status=529)

    write_error(Failure(kind="overloaded", message="Overloaded"), "gemini")
    {"error": {"code": 503, "message": "Overloaded", "status": "UNAVAILABLE"}}

Words and statuses are those of the SDKs' types: anthropic 2.12, types/shared; google.rpc.Code; botocore 1.44.5,
bedrock-runtime's exceptions; openai 3.54, types/shared/error_object.py and the API's recorded errors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from toolfmt.errors import ParseError, UnknownFormatError
from toolfmt.jsontext import is_array, is_object
from toolfmt.transcripts.answer_info import Failure, Trouble
from toolfmt.transcripts.formats import find, known_as

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue

STATUSES: Final[Mapping[Trouble, int]] = {
    "invalid": 400,
    "authentication": 401,
    "billing": 402,
    "permission": 403,
    "not_found": 404,
    "conflict": 409,
    "too_large": 413,
    "rate_limit": 429,
    "overloaded": 503,
    "timeout": 504,
    "server": 500,
}
"""The HTTP status of each kind of error."""

_OPENAI: Final[Mapping[Trouble, str]] = {
    "invalid": "invalid_request_error",
    "authentication": "authentication_error",
    "billing": "insufficient_quota",
    "permission": "permission_error",
    "not_found": "not_found_error",
    "conflict": "conflict_error",
    "too_large": "request_too_large",
    "rate_limit": "rate_limit_error",
    "overloaded": "overloaded_error",
    "timeout": "timeout_error",
    "server": "server_error",
}
_ANTHROPIC: Final[Mapping[Trouble, str]] = {
    **_OPENAI,
    "billing": "billing_error",
    "conflict": "invalid_request_error",
    "server": "api_error",
}
_GOOGLE: Final[Mapping[Trouble, str]] = {
    "invalid": "INVALID_ARGUMENT",
    "authentication": "UNAUTHENTICATED",
    "billing": "FAILED_PRECONDITION",
    "permission": "PERMISSION_DENIED",
    "not_found": "NOT_FOUND",
    "conflict": "ABORTED",
    "too_large": "INVALID_ARGUMENT",
    "rate_limit": "RESOURCE_EXHAUSTED",
    "overloaded": "UNAVAILABLE",
    "timeout": "DEADLINE_EXCEEDED",
    "server": "INTERNAL",
}
_AWS: Final[Mapping[Trouble, str]] = {
    "invalid": "ValidationException",
    "authentication": "AccessDeniedException",
    "billing": "ServiceQuotaExceededException",
    "permission": "AccessDeniedException",
    "not_found": "ResourceNotFoundException",
    "conflict": "ConflictException",
    "too_large": "ValidationException",
    "rate_limit": "ThrottlingException",
    "overloaded": "ServiceUnavailableException",
    "timeout": "ModelTimeoutException",
    "server": "InternalServerException",
}
_FURTHER: Final[Mapping[str, Trouble]] = {
    "OUT_OF_RANGE": "invalid",
    "ALREADY_EXISTS": "conflict",
    "CANCELLED": "timeout",
    "UNKNOWN": "server",
    "invalid_api_key": "authentication",
    "model_not_found": "not_found",
    "rate_limit_exceeded": "rate_limit",
    "server_overloaded": "overloaded",
    "ModelErrorException": "server",
    "ModelNotReadyException": "overloaded",
    "ModelStreamErrorException": "server",
}


def _known() -> dict[str, Trouble]:
    """Turn the tables around; of several kinds with one word, the first counts."""
    found: dict[str, Trouble] = {}
    for words in (_AWS, _GOOGLE, _ANTHROPIC, _OPENAI):
        for kind, word in words.items():
            found.setdefault(word, kind)
            found.setdefault(word.lower(), kind)
    found.update(_FURTHER)
    return found


_WORDS: Final[Mapping[str, Trouble]] = _known()
_BY_STATUS: Final[Mapping[int, Trouble]] = {
    **{status: kind for kind, status in STATUSES.items()},
    408: "timeout",
    422: "invalid",
    502: "server",
    529: "overloaded",
}


def read_error(value: JsonValue, *, status: int = 0) -> Failure:
    """Read an error of any API: an HTTP body, an event of a stream, or bare text; `status` is the response's.

    Raises ParseError for what is no error.
    """
    body = _inside(value)
    message = body.get("message", body.get("detail"))
    if isinstance(body.get("error"), str):
        message = body["error"]
    if message is None and not body:
        raise ParseError("an error has a message")
    words = [found for key in ("code", "status", "type", "__type") if isinstance(found := body.get(key), str)]
    named: list[Trouble] = [_WORDS[word] for word in map(_last, words) if word in _WORDS]
    numbers = [found for key in ("code", "status", "status_code") if isinstance(found := body.get(key), int)]
    status = status or next(iter(numbers), 0)
    kind = _of_status(status)
    if named:
        kind = named[0]
    code, param = body.get("code"), body.get("param")
    return Failure(
        kind=kind,
        message=message if isinstance(message, str) else str(message or body),
        code=code if isinstance(code, str) else None,
        param=param if isinstance(param, str) else None,
        status=status or STATUSES[kind],
    )


def _last(word: str) -> str:
    """Cut off the namespace that AWS puts before an exception's name; a stream's event begins it in lower case."""
    word = word.rpartition("#")[2]
    return word[0].upper() + word[1:] if word.endswith("Exception") else word


def _inside(value: JsonValue) -> JsonObject:
    if isinstance(value, str):
        return {"message": value}
    if is_array(value):  # as Gemini answers a stream that never began
        value = value[0] if value else {}
    if not is_object(value):
        raise ParseError(f"an error is an object or text, not {type(value).__name__}")
    if len(value) == 1 and (key := next(iter(value))).endswith("Exception") and is_object(value[key]):
        return {**value[key], "__type": key}
    inner = value.get("error")
    if is_object(inner):
        return inner
    response = value.get("response")
    failed = response.get("error") if is_object(response) else None
    return failed if is_object(failed) else value


def _of_status(status: int) -> Trouble:
    known = _BY_STATUS.get(status)
    if known is not None:
        return known
    return "invalid" if 400 <= status < 500 else "server"  # noqa: PLR2004 - HTTP's ranges


def _write_openai(failure: Failure) -> JsonObject:
    kind = _OPENAI[failure.kind]
    return {"error": {"message": failure.message, "type": kind, "param": failure.param, "code": failure.code}}


def _write_mistral(failure: Failure) -> JsonObject:
    return {"object": "error", **_write_openai(failure)["error"]}


def _write_anthropic(failure: Failure) -> JsonObject:
    return {"type": "error", "error": {"type": _ANTHROPIC[failure.kind], "message": failure.message}}


def _write_google(failure: Failure) -> JsonObject:
    status = STATUSES[failure.kind]
    return {"error": {"code": status, "message": failure.message, "status": _GOOGLE[failure.kind]}}


def _write_interactions(failure: Failure) -> JsonObject:
    return {"error": {"code": _GOOGLE[failure.kind].lower(), "message": failure.message}}


WRITERS: Final[Mapping[str, Callable[[Failure], JsonObject]]] = {
    "anthropic": _write_anthropic,
    "bedrock": lambda failure: {"message": failure.message, "__type": _AWS[failure.kind]},
    "cohere": lambda failure: {"message": failure.message},
    "gemini": _write_google,
    "gemini-interactions": _write_interactions,
    "mistral": _write_mistral,
    "ollama": lambda failure: {"error": failure.message},
    "openai-chat": _write_openai,
    "openai-responses": _write_openai,
}
"""What writes an API's error, by the name of its format."""


def write_error(failure: Failure, target: str) -> JsonObject:
    """Write an error as an API does; raises `UnknownFormatError` for a format that has none."""
    known = known_as(target, WRITERS)
    if not known:
        raise UnknownFormatError(target, sorted(WRITERS))
    return WRITERS[known](failure)


def convert_error(value: JsonValue, *, target: str, status: int = 0) -> JsonObject:
    """Write one API's error as another's: the kind, the message and what else both have.

    `status` is the HTTP status that came with it; `error_status` gives the one to answer with.
    """
    return write_error(read_error(value, status=status), target)


def error_status(failure: Failure, target: str) -> int:
    """Give the HTTP status that an API answers an error with."""
    own = {("anthropic", "overloaded"): 529}  # anthropic 2.12, _exceptions.py: OverloadedError
    return own.get((find(target).name, failure.kind), STATUSES[failure.kind])
