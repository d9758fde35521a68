"""Scripts in files: JSON, TOML or YAML, by the file's suffix.

    {"system": "Be brief.",
     "ask": ["What is 1 + 2?"],
     "tools": [{"name": "add", "parameters": {...}, "result": 3}],
     "agents": {"research": {"description": "Looks things up.", "steps": [{"final": "Nothing."}]}},
     "steps": [{"call": {"name": "add", "arguments": {"a": 1, "b": 2}}, "text": "Let me see."},
               {"calls": [{"name": "add", "arguments": {}}, ...], "run": false},
               {"tool": "Still at it."}, {"error": "The model is gone."},
               {"final": "It is 3.", "reasoning": "Just a sum.", "usage": {"input": 12, "output": 5}}]}

A tool of a script gives the same `result`, or `error`, whatever it is asked; without either, the
caller's own tools have it. A list alone is the steps.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from pydantic import TypeAdapter, ValidationError

from toolfmt import jsontext
from toolfmt.agents.drivers.script import DEFAULT, ScriptedDriver, ScriptStep, calls, error, final, tool
from toolfmt.agents.loop import AgentLoop
from toolfmt.agents.subagents import as_tool
from toolfmt.errors import (
    DuplicateToolError,
    ExecutionError,
    MissingExtraError,
    ParseError,
    RenderError,
    SchemaError,
    ToolFmtError,
)
from toolfmt.jsontext import is_array, is_object
from toolfmt.tools import ToolRegistry
from toolfmt.transcripts.answer_info import Usage

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue

_KEYS: Final = frozenset({"system", "ask", "tools", "agents", "steps", "default", "name"})
_BESIDE: Final = frozenset({"text", "reasoning", "usage", "run"})
_USAGE: Final = TypeAdapter(Usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A script that was read: its driver, the tools it brings, and what the user says."""

    driver: ScriptedDriver
    tools: ToolRegistry
    ask: tuple[str, ...] = ()
    system: str = ""
    name: str | None = None


def scripted(path: str | Path) -> Script:
    """Read a script from a file; raises OSError, or `ParseError`, which names the file and the place."""
    path = Path(path)
    decode = _DECODERS.get(path.suffix.lower(), jsontext.loads)
    try:
        return read_script(decode(path.read_text(encoding="utf-8")))
    except (ToolFmtError, ValueError) as wrong:
        if isinstance(wrong, MissingExtraError):
            raise
        raise ParseError(f"{path}: {wrong}") from None


def read_script(value: JsonValue) -> Script:
    """Read a script; raises `ParseError` that names the place of what is not as it should be."""
    whole = _object({"steps": value} if is_array(value) else value, "", _KEYS)
    asked = whole.get("ask", [])
    return Script(
        driver=_driver(whole, ""),
        tools=_tools(whole, ""),
        ask=tuple(_texts([asked] if isinstance(asked, str) else asked, "/ask")),
        system=_text(whole.get("system", ""), "/system"),
        name=None if whole.get("name") is None else _text(whole["name"], "/name"),
    )


def _driver(value: JsonObject, where: str) -> ScriptedDriver:
    steps = [_step(item, f"{where}/steps/{at}") for at, item in enumerate(_list(value.get("steps"), f"{where}/steps"))]
    return ScriptedDriver(steps, default=_text(value.get("default", DEFAULT), f"{where}/default"))


def _tools(value: JsonObject, where: str) -> ToolRegistry:
    registry = ToolRegistry()
    for at, item in enumerate(_list(value.get("tools", []), f"{where}/tools")):
        known = _object(item, f"{where}/tools/{at}")
        function = _canned(known) if known.keys() & {"result", "error"} else None
        definition = {key: found for key, found in known.items() if key not in ("result", "error")}
        try:
            registry.register(definition, function=function)
        except (SchemaError, DuplicateToolError) as wrong:
            raise ParseError(f"{where}/tools/{at}: {wrong}") from None
    for name, item in _object(value.get("agents", {}), f"{where}/agents").items():
        place = f"{where}/agents/{name}"
        agent = _object(item, place, _KEYS | {"description"})
        loop = AgentLoop(_driver(agent, place), _tools(agent, place), name=name)
        description = _text(agent.get("description", f"Ask {name}."), f"{place}/description")
        try:
            registry.register(as_tool(loop, name, description))
        except (SchemaError, DuplicateToolError) as wrong:
            raise ParseError(f"{place}: {wrong}") from None
    return registry


def _canned(known: JsonObject) -> Callable[..., Any]:
    def run(**_: Any) -> Any:
        if "error" in known:
            raise ExecutionError(str(known["error"]))
        return known["result"]

    return run


def _step(value: JsonValue, where: str) -> ScriptStep:
    found = _object(value, where)
    kinds = [kind for kind in _STEPS if kind in found]
    if len(kinds) != 1:
        raise ParseError(f"{where}: a step has one of {', '.join(_STEPS)}")
    (kind,) = kinds
    _object(found, where, _BESIDE | {kind})
    beside: dict[str, Any] = {key: found[key] for key in ("text", "reasoning") if key in found}
    for key, text in beside.items():
        _text(text, f"{where}/{key}")
    if not isinstance(found.get("run", True), bool):
        raise ParseError(f"{where}/run: true or false is expected")
    made = _STEPS[kind](found[kind], f"{where}/{kind}")
    try:
        usage = _USAGE.validate_python(found.get("usage", {}))
    except ValidationError as wrong:
        raise ParseError(f"{where}/usage: {wrong.errors()[0]['msg']}") from None
    return replace(made, usage=usage, run=found.get("run", True), **beside)


def _called(value: JsonValue, where: str) -> ScriptStep:
    try:
        return calls(*_list(value, where))
    except (RenderError, TypeError, ValueError) as wrong:
        raise ParseError(f"{where}: {wrong}") from None


def _said(make: Callable[[str], ScriptStep], value: JsonValue, where: str) -> ScriptStep:
    return make(_text(value, where))


_STEPS: Final[Mapping[str, Callable[[JsonValue, str], ScriptStep]]] = {
    "final": partial(_said, final),
    "tool": partial(_said, tool),
    "error": partial(_said, error),
    "call": lambda value, where: _called([value], where),
    "calls": _called,
}


def _object(value: JsonValue, where: str, known: frozenset[str] | None = None) -> JsonObject:
    if not is_object(value):
        raise ParseError(f"{where or '/'}: an object is expected, not {type(value).__name__}")
    unknown = value.keys() - known if known is not None else ()
    if unknown:
        raise ParseError(f"{where}/{min(unknown)}: unknown; there are {', '.join(sorted(known or ()))}")
    return value


def _list(value: JsonValue, where: str) -> list[JsonValue]:
    if not is_array(value):
        raise ParseError(f"{where}: a list is expected, not {type(value).__name__}")
    return value


def _text(value: JsonValue, where: str) -> str:
    if not isinstance(value, str):
        raise ParseError(f"{where}: a text is expected, not {type(value).__name__}")
    return value


def _texts(value: JsonValue, where: str) -> list[str]:
    return [_text(item, f"{where}/{at}") for at, item in enumerate(_list(value, where))]


def _yaml(text: str) -> JsonValue:
    try:
        import ryaml
    except ImportError:
        raise MissingExtraError("reading a script in YAML", "yaml") from None
    value: JsonValue = cast("Any", ryaml).loads(text)
    jsontext.dumps(value)  # a key that is no text, a NaN: YAML, but not JSON
    return value


_DECODERS: Final[Mapping[str, Callable[[str], JsonValue]]] = {".toml": tomllib.loads, ".yaml": _yaml, ".yml": _yaml}
