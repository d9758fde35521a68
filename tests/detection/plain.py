"""Texts in which nothing is called, although many show calls: prose, code, JSON answers, quoted manifests.

They are made of the project's own documentation and source, and of what every
dialect writes for two tools.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from toolfmt.dialect.record import AnyDialect
from toolfmt.lookup.registry import default_registry
from toolfmt.manifests import manifest
from toolfmt.model import ToolDefinition

ROOT = Path(__file__).parents[2]
TOOLS = (
    ToolDefinition(
        name="get_weather",
        description="Get the weather of a city.",
        parameters={
            "type": "object",
            "properties": {"city": {"type": "string", "description": "City"}, "days": {"type": "integer"}},
            "required": ["city"],
        },
    ),
    ToolDefinition(
        name="write_file",
        description="Write a file.",
        parameters={
            "type": "object",
            "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
            "required": ["path", "content"],
        },
    ),
)
ANSWERS = (
    '{"name": "Ada", "age": 36}',
    '{"name": "get_weather", "description": "Get the weather.", "parameters": {"type": "object", "properties": {}}}',
    '{"tool": "hammer", "parameters": {"weight": 2}}',
    '{"function": "f(x) = 2x", "args": [1, 2]}',
    '[{"name": "a", "value": 1}, {"name": "b", "value": 2}]',
    '{"result": {"name": "get_weather", "arguments": {"city": "Paris"}}}',
    '{"calls": [{"name": "get_weather", "arguments": {"city": "Paris"}}]}',
    "[[1, 2], [3, 4]]",
    '{"answer": "one writes <tool_call>{\\"name\\": \\"get_weather\\", \\"arguments\\": {}}</tool_call>"}',
    'The request was {"name": "get_weather", "arguments": {"city": "Paris"}}, and it worked.',
    'logging.info({"name": "get_weather", "arguments": {"city": "Paris"}})',
    "calls = [get_weather(city='Paris'), get_weather(city='Oslo')]",
    "The list [get_weather(city='Paris')] has one element.",
    "Action: think about it.\nThen write it down.",
    "Call: 555-1234 (ask for Bob)",
    "Hello\n{world}",
    '> <tool_call>\n> {"name": "get_weather", "arguments": {}}\n> </tool_call>\nIs that what you meant?',
    "I <think> so, and </think> is a tag.",
    "<function>x</function> and <tool>hammer</tool> and <invoke>nobody</invoke>",
)


def texts() -> Iterator[tuple[str, str]]:
    """Give each text with what it is."""
    for number, answer in enumerate(ANSWERS):
        yield f"answer {number}", answer
    for dialect in default_registry():
        for kind, text in quoted_manifests(dialect):
            yield f"{dialect.name}, manifest {kind}", text
        for kind, text in quoted_calls(dialect):
            yield f"{dialect.name}, call {kind}", text
    for file in sorted([*ROOT.glob("docs/**/*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]):
        page = file.read_text("utf-8")
        yield str(file.relative_to(ROOT)), page
        for block in re.split(r"\n\n(?=[A-Z])", re.sub(r"(?ms)^(`{3,}).*?^\1$|<!--.*?-->", "", page)):
            if "\n    " not in block and len(block) > 80:
                yield f"{file.name}: {block[:20]}", block
    for file in sorted(ROOT.glob("toolfmt/**/*.py")):
        yield str(file.relative_to(ROOT)), file.read_text("utf-8")


def quoted_manifests(dialect: AnyDialect) -> Iterator[tuple[str, str]]:
    """Give a dialect's manifest, and quote it."""
    text = manifest(TOOLS, dialect=dialect)
    yield "alone", text
    yield "in prose", f"This is the prompt that I was given:\n\n{text}\n\nLet me know if you need more."
    yield "fenced", f"The prompt is:\n\n```\n{text}\n```\n\nThat is all."
    yield "quoted", "You wrote:\n\n" + "\n".join(f"> {line}" for line in text.splitlines()) + "\n\nRight?"


def quoted_calls(dialect: AnyDialect) -> Iterator[tuple[str, str]]:
    """Give a dialect's examples as one shows them to a reader."""
    shown = "\n".join(example.text for tool in TOOLS for example in dialect.example(tool))
    if not shown:
        return
    yield "fenced", f"A call looks like this:\n\n```xml\n{shown}\n```\n\nClear?"
    yield "indented", "A call looks like this:\n\n" + re.sub("(?m)^", "    ", shown) + "\n\nClear?"
    yield "quoted", "A call:\n\n" + re.sub("(?m)^", "> ", shown)
    yield "in a string", json.dumps({"answer": shown})
    yield "in code", f'ANSWER = """{shown}"""\n'
