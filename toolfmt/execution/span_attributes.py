"""What spans say, by the semantic conventions for generative AI: attributes of requests and answers.

{"gen_ai.request.model": "gpt-5.1", "gen_ai.request.temperature": 0.5,
 "gen_ai.response.finish_reasons": ["tool_calls"], "gen_ai.usage.input_tokens": 12}

The names are those of `opentelemetry-semantic-conventions` 0.66b2, `gen_ai_attributes.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from toolfmt import jsontext
from toolfmt.conversation import CallPart, Message, TextPart, Transcript
from toolfmt.errors import ToolFmtError, UnrepresentableError
from toolfmt.jsontext import is_object
from toolfmt.transcripts.convert import convert
from toolfmt.transcripts.formats import find

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolfmt.execution.events import InferenceResponseReceived
    from toolfmt.model import JsonValue
    from toolfmt.transcripts.answer_info import AnswerInfo

CONTENT: Final = "otel-genai"
"""The transcript format of the conventions' attributes for messages."""
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
"""Where requests say what the conventions have an attribute for."""


def settings(request: Mapping[str, Any]) -> dict[str, Any]:
    """Read what a request asks for."""
    found: dict[str, Any] = {}
    for name, paths in SETTINGS.items():
        for path in paths:
            value: Any = request
            for key in path:
                value = value.get(key) if isinstance(value, dict) else None  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType] - JSON
            if isinstance(value, (str, int, float)):
                found.setdefault(name, value)
    return found


def response(info: AnswerInfo) -> dict[str, Any]:
    """Say what is known of an answer."""
    attributes: dict[str, Any] = {
        "gen_ai.response.id": info.id or None,
        "gen_ai.response.model": info.model or None,
        "gen_ai.response.finish_reasons": [info.stop] if info.stop else None,
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


def messages(request: Mapping[str, Any]) -> dict[str, str]:
    """Write a request's messages as the conventions have them; none where its format is not known."""
    try:
        value = convert(dict(request), target=CONTENT).value
    except ToolFmtError:
        return {}
    return jsoned(value if is_object(value) else {})


def output(event: InferenceResponseReceived) -> dict[str, str]:
    """Write what a model answered as the conventions have it."""
    said = (TextPart(event.text),) if event.text else ()
    ended = {f"{CONTENT}.finish_reason": event.info.stop or "stop"}
    message = Message("assistant", (*said, *map(CallPart.of, event.calls)), extra=ended)
    written = find(CONTENT).write(Transcript((message,)))
    return jsoned({"gen_ai.output.messages": written["gen_ai.output.messages"]})


def jsoned(values: Mapping[str, Any]) -> dict[str, str]:
    """Write attributes whose values are JSON as its text."""
    return {key: _json(value) for key, value in values.items() if key.startswith("gen_ai.")}


def _json(value: JsonValue) -> str:
    """Write a value as JSON; what JSON cannot hold, as Python shows it."""
    try:
        return jsontext.dumps(value)
    except UnrepresentableError:
        return repr(value)
