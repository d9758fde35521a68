"""The cases of five earlier systems' own suites, and how each format is read here."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CASES = HERE.parents[2] / "shared" / "seeds" / "cases.jsonl"

DIALECTS = {
    "json-openai": "openai-json",
    "json-openai-stream": "openai-json",
    "json-gemini": "gemini-json",
    "json-gemini-stream": "gemini-json",
    "json-default": "default-json",
    "json-default-stream": "default-json",
    "json-default-patterns-stream": "openai-json",  # this suite's pattern list is that of all providers
    "xml": "xml-items",
    "xml-stream": "xml-items",
    "sentinel-stream": "sentinel",
    "execute": "execute-array",
    "forge-xml": "xml-cdata",
    "forge-xml-split": "xml-cdata",
    "forge-early-name": "xml-cdata",
    "forge-json": "tool-json",
    "forge-stream-raw": "tool-json",
    "thinking-stream": "tool-json",
    "react-decision": "react",
    "stepn": "step-json",
}
"""Formats whose cases are answers of a model."""


@dataclass(frozen=True, slots=True)
class Case:
    """One case, as recorded."""

    id: str
    format: str
    input: Any
    expect: dict[str, Any]
    schema: dict[str, str] | None = None
    tools: dict[str, Any] | None = None
    policy: dict[str, Any] | None = None
    """What an executor is to enforce."""

    @property
    def text(self) -> str:
        """The answer in one piece."""
        text = self.input if isinstance(self.input, str) else "".join(self.input)
        return f"<tool>{text}" if self.format == "forge-early-name" and "<tool>" not in text else text

    @property
    def chunks(self) -> list[str]:
        """The answer as it came."""
        return [self.text] if isinstance(self.input, str) else self.input


def load() -> list[Case]:
    """All recorded cases; none where the recording is not there."""
    if not CASES.exists():
        return []
    fields = ("id", "format", "input", "expect", "schema", "tools", "policy")
    lines = CASES.read_text(encoding="utf-8").splitlines()
    return [Case(**{key: case[key] for key in fields if key in case}) for case in map(json.loads, lines)]


def listed(name: str) -> dict[str, dict[str, str]]:
    """A table of cases with a reason each."""
    return tomllib.loads((HERE / name).read_text(encoding="utf-8"))


def offered(case: Case) -> list[dict[str, Any]]:
    """The tools that a case's schemas describe."""
    if case.format == "react-decision":
        echo = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
        return [{"name": "echo", "parameters": echo}]
    if case.tools:
        return [{"name": name, "parameters": schema} for name, schema in case.tools.items()]
    if case.schema:
        properties = {key: {"type": kind} for key, kind in case.schema.items()}
        names = {call["name"] for call in case.expect.get("calls", ())}
        return [{"name": name, "parameters": {"type": "object", "properties": properties}} for name in names]
    return []
