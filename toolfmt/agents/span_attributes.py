"""Span attributes of requests and answers, by the semantic conventions for generative AI.

{"gen_ai.request.model": "gpt-5.1", "gen_ai.request.temperature": 0.5,
 "gen_ai.response.finish_reasons": ["tool_calls"], "gen_ai.usage.input_tokens": 12}

The names are those of `opentelemetry-semantic-conventions` 0.66b2, `gen_ai_attributes.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from toolfmt import jsontext
from toolfmt.conversation import CallPart, Message, ReasoningPart, TextPart, Transcript
from toolfmt.errors import ToolFmtError, UnrepresentableError
from toolfmt.jsontext import is_object
from toolfmt.transcripts.convert import convert, write
from toolfmt.transcripts.formats import find

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolfmt.execution.events import InferenceRequestStarted, InferenceResponseReceived
    from toolfmt.model import JsonValue
    from toolfmt.transcripts.answer_info import AnswerInfo, Stop

CONTENT: Final = "otel-genai"
"""The transcript format of the conventions' attributes for messages."""
_FINISHED: Final[Mapping[str, str]] = {
    "tool_calls": "tool_call",
    "stop_sequence": "stop",
    "pause": "stop",
    "malformed_call": "error",
}
"""The conventions' finish reasons, where they differ: stop, length, content_filter, tool_call, error."""
SETTINGS: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "gen_ai.request.frequency_penalty": (("frequency_penalty",),),
    "gen_ai.request.max_tokens": (("max_tokens",), ("max_completion_tokens",), ("max_output_tokens",)),
    "gen_ai.request.model": (("model",),),
    "gen_ai.request.presence_penalty": (("presence_penalty",),),
    "gen_ai.request.seed": (("seed",), ("random_seed",), ("generationConfig", "seed")),
    "gen_ai.request.temperature": (("temperature",), ("generationConfig", "temperature"), ("options", "temperature")),
    "gen_ai.request.top_k": (("top_k",), ("generationConfig", "topK"), ("options", "top_k")),
    "gen_ai.request.top_p": (("top_p",), ("generationConfig", "topP"), ("options", "top_p")),
}
"""Where requests have the values of the conventions' attributes."""


def settings(request: Mapping[str, Any]) -> dict[str, Any]:
    """Read a request's settings."""
    found: dict[str, Any] = {}
    for name, paths in SETTINGS.items():
        for path in paths:
            value: Any = request
            for key in path:
                value = value.get(key) if isinstance(value, dict) else None  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType] - JSON
            if isinstance(value, (str, int, float)):
                found.setdefault(name, value)
    return found


def response(event: InferenceResponseReceived) -> dict[str, Any]:
    """Write the attributes of an answer."""
    return answer_attributes(event.info, ended(event))


def answer_attributes(info: AnswerInfo, stop: Stop | None) -> dict[str, Any]:
    """Write the attributes of an answer and its finish reason."""
    attributes: dict[str, Any] = {
        "gen_ai.response.id": info.id or None,
        "gen_ai.response.model": info.model or None,
        "gen_ai.response.finish_reasons": [stop] if stop else None,
    }
    if info.usage is not None:
        attributes |= {
            "gen_ai.usage.input_tokens": info.usage.input,
            "gen_ai.usage.output_tokens": info.usage.output,
            "gen_ai.usage.cache_read.input_tokens": info.usage.cached or None,
            "gen_ai.usage.cache_creation.input_tokens": info.usage.cache_written or None,
            "gen_ai.usage.reasoning.output_tokens": info.usage.reasoning or None,
        }
    return {key: value for key, value in attributes.items() if value is not None}


def messages(event: InferenceRequestStarted) -> dict[str, str]:
    """Write a request's messages and tools; none if its format is unknown."""
    try:
        if event.transcript is not None:
            value = write(event.transcript, CONTENT).value
        else:
            value = convert(dict(event.request), target=CONTENT).value
    except ToolFmtError:
        return {}
    return jsoned(value if is_object(value) else {})


def ended(event: InferenceResponseReceived) -> Stop | None:
    """The finish reason of an answer; a text model's server does not know that the answer has calls."""
    return "tool_calls" if event.calls and event.info.stop in (None, "stop", "stop_sequence") else event.info.stop


def output(event: InferenceResponseReceived) -> dict[str, str]:
    """Write an answer."""
    thought = (ReasoningPart(event.reasoning),) if event.reasoning else ()
    texts = (TextPart(event.text),) if event.text else ()
    stop = ended(event) or "stop"
    finish = {f"{CONTENT}.finish_reason": _FINISHED.get(stop, stop)}
    message = Message("assistant", (*thought, *texts, *map(CallPart.of, event.calls)), extra=finish)
    written = find(CONTENT).write(Transcript((message,)))
    return jsoned({"gen_ai.output.messages": written["gen_ai.output.messages"]})


def jsoned(values: Mapping[str, Any]) -> dict[str, str]:
    """Write the values of attributes as JSON text."""
    return {key: _json(value) for key, value in values.items() if key.startswith("gen_ai.")}


def _json(value: JsonValue) -> str:
    """Write a value as JSON, or as its `repr` if JSON cannot hold it."""
    try:
        return jsontext.dumps(value)
    except UnrepresentableError:
        return repr(value)
