"""The cases of Open Responses' compliance suite, on the face of Responses before three kinds of back.

Cases and what is required of them: openresponses/openresponses, src/lib/compliance-tests.ts and the schemas of
public/openapi/openapi.json (2026-04-24). Shapes are judged by openai's types, which know each event.
"""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest
from gateways import before, gateway
from loopback import Answer, serving
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import BaseModel, TypeAdapter
from twelve import PIXEL

from toolfmt.conversation import CallPart

REQUIRED = {
    *("id", "object", "created_at", "completed_at", "status", "incomplete_details", "model", "previous_response_id"),
    *("instructions", "output", "error", "tools", "tool_choice", "truncation", "parallel_tool_calls", "text", "top_p"),
    *("presence_penalty", "frequency_penalty", "top_logprobs", "temperature", "reasoning", "usage", "store"),
    *("max_output_tokens", "max_tool_calls", "background", "service_tier", "metadata", "safety_identifier"),
    "prompt_cache_key",
}
"""The fields that a `ResponseResource` always has."""
OWN = {"presence_penalty", "frequency_penalty", "store"}
"""Those that OpenAI's own answers lack."""
PLACE: Any = {"type": "object", "properties": {"location": {"type": "string"}}, "required": ["location"]}
WEATHER = {"type": "function", "name": "get_weather", "description": "Get the weather.", "parameters": PLACE}
WHERE = {"location": "San Francisco, CA"}
CALLED = {
    "text": Answer(f'<tool_call>\n{{"name": "get_weather", "arguments": {json.dumps(WHERE)}}}\n</tool_call>'),
    "api": Answer("", (CallPart("get_weather", WHERE, json.dumps(WHERE), "call_1"),)),
}


def said(role: str, content: Any) -> Any:
    return {"type": "message", "role": role, "content": content}


PICTURE = [
    {"type": "input_text", "text": "What is in this picture?"},
    {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}"},
]
TALK = [said("user", "I am Alice."), said("assistant", "Hello Alice!"), said("user", "Who am I?")]
CASES: dict[str, Any] = {
    "basic-response": {"input": [said("user", "Say hello in three words.")]},
    "streaming-response": {"input": [said("user", "Count to five.")], "stream": True},
    "system-prompt": {"input": [said("system", "You are a pirate."), said("user", "Say hello.")]},
    "tool-calling": {"input": [said("user", "How is the weather?")], "tools": [WEATHER]},
    "tool-calling-streaming": {"input": [said("user", "How is the weather?")], "tools": [WEATHER], "stream": True},
    "image-input": {"input": [said("user", PICTURE)]},
    "multi-turn": {"input": TALK},
}


def unknown(value: object) -> set[str]:
    """Find the fields that openai's types do not know."""
    if isinstance(value, list):
        return set[str]().union(*map(unknown, value))
    if not isinstance(value, BaseModel):
        return set()
    fields = [vars(value)[name] for name in type(value).model_fields if name in vars(value)]
    return set(value.model_extra or ()).union(*map(unknown, fields))


def judge(response: Any, *, calls: bool) -> None:
    assert not REQUIRED - response.keys()
    made = Response.model_validate(response)
    assert not unknown(made) - OWN
    assert (made.object, made.status, made.error) == ("response", "completed", None)
    found = [json.loads(one.arguments) for one in made.output if one.type == "function_call"]
    assert found == ([WHERE] if calls else [])
    assert calls or made.output_text == "Hello there."


@pytest.mark.parametrize("api", ["openai-chat", "anthropic", "text"])
@pytest.mark.parametrize("case", CASES)
def test_a_case_of_the_suite_passes(case: str, api: str) -> None:
    body = CASES[case]
    answer = CALLED["text" if api == "text" else "api"] if "tools" in body else Answer("Hello there.")
    with serving(answer) as upstream, gateway(before(upstream, api)) as url:
        response = httpx2.post(f"{url}/v1/responses", json={"model": "m", **body}, timeout=60)
    assert response.status_code == 200, response.text
    if not body.get("stream"):
        judge(response.json(), calls="tools" in body)
        return
    assert response.headers["content-type"].startswith("text/event-stream")
    blocks = [
        dict(line.split(": ", 1) for line in block.splitlines()) for block in response.text.split("\n\n") if block
    ]
    events = [json.loads(block["data"]) for block in blocks if block["data"] != "[DONE]"]
    assert [block.get("event") for block in blocks if block["data"] != "[DONE]"] == [one["type"] for one in events]
    assert [one["sequence_number"] for one in events] == list(range(len(events)))
    reads = TypeAdapter[Any](ResponseStreamEvent)
    for one in events:
        assert not unknown(reads.validate_python(one)) - OWN, one
    kinds = [one["type"] for one in events]
    assert kinds[:2] == ["response.created", "response.in_progress"]
    assert kinds[-1] == "response.completed"
    judge(events[-1]["response"], calls="tools" in body)
    if "tools" in body:
        items = {one["type"]: one["item"]["type"] for one in events if "item" in one}
        assert items == dict.fromkeys(("response.output_item.added", "response.output_item.done"), "function_call")
        deltas = [one["delta"] for one in events if one["type"] == "response.function_call_arguments.delta"]
        (done,) = (one for one in events if one["type"] == "response.function_call_arguments.done")
        assert json.loads("".join(deltas)) == json.loads(done["arguments"]) == WHERE
