"""Ask for the weather with OpenAI's SDK, and print what comes of the call while it is written."""

from __future__ import annotations

import os
from typing import Any

from openai import OpenAI

TOOL: Any = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the current weather of a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "unit": {"enum": ["celsius", "fahrenheit"]}},
            "required": ["city", "unit"],
            "additionalProperties": False,
        },
    },
}


def main() -> None:
    """Ask once."""
    client = OpenAI(base_url=os.environ.get("OPENAI_BASE_URL", "http://127.0.0.1:8787/v1"), api_key="none")
    stream = client.chat.completions.create(
        model="smollm2-135m-instruct",
        messages=[{"role": "user", "content": "What is the weather in Paris, in celsius?"}],
        tools=[TOOL],
        tool_choice="required",
        parallel_tool_calls=False,
        stream=True,
    )
    for chunk in stream:
        for call in chunk.choices[0].delta.tool_calls or []:
            assert call.function is not None
            print(call.function.name or call.function.arguments, flush=True)
        if chunk.choices[0].finish_reason:
            print(f"({chunk.choices[0].finish_reason})")


if __name__ == "__main__":
    main()
