"""A driver that follows a script instead of a model: for tests, demonstrations and replays.

    driver = ScriptedDriver([call("add", {"a": 1, "b": 2}, text="Let me see."), final("It is 3.")])
    state = await AgentLoop(driver, registry).run("1 + 2?")

The calls really run. The state holds the position in the script, so a resumed run continues there. The last step is
repeated. `scripted` reads a script from a file: JSON, TOML or YAML, by the file's suffix.

    {"system": "Be brief.",
     "ask": ["What is 1 + 2?"],
     "tools": [{"name": "add", "parameters": {...}, "result": 3}],
     "agents": {"research": {"description": "Looks things up.", "steps": [{"final": "Nothing."}]}},
     "steps": [{"call": {"name": "add", "arguments": {"a": 1, "b": 2}}, "text": "Let me see."},
               {"calls": [{"name": "add", "arguments": {}}, ...], "run": false},
               {"tool": "Still at it."}, {"error": "The model is gone."},
               {"final": "It is 3.", "reasoning": "Just a sum.", "usage": {"input": 12, "output": 5}}]}

A tool of a script always returns its `result` or fails with its `error`; a tool with neither is one of the caller's. A
list alone is the steps.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self, TypeAlias, cast, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, ValidationError, model_validator

from toolfmt import jsontext
from toolfmt.agents.drivers.asking import last_step, received
from toolfmt.agents.drivers.turns import AnswerMessage, played
from toolfmt.agents.loop import AgentLoop, as_tool
from toolfmt.agents.runtime import Runtime
from toolfmt.agents.state import AgentState, Step
from toolfmt.arguments import checked, path_of
from toolfmt.errors import DuplicateToolError, ExecutionError, MissingExtraError, ParseError, SchemaError, ToolFmtError
from toolfmt.execution.events import AnswerReceived, InferenceRequestStarted
from toolfmt.jsontext import is_array
from toolfmt.model import JsonObject, JsonValue, ToolInvocation
from toolfmt.rendering import records
from toolfmt.tools import ToolRegistry
from toolfmt.transcripts.answering.answer_info import Usage
from toolfmt.transcripts.answering.answer_message import answer_message
from toolfmt.transcripts.answering.assembling import Assembler

ScriptKind: TypeAlias = Literal["final", "tool", "error", "call"]
CURSOR: Final = "scripted.cursor"
"""The key of the state's metadata for the number of the next step."""
DEFAULT: Final = "This is the end of the script."


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptStep:
    """One step: `final` ends the turn, `tool` goes on without a call, `error` fails, `call` makes calls."""

    kind: ScriptKind
    text: str = ""
    calls: tuple[ToolInvocation, ...] = ()
    run: bool = True
    """Whether the calls are run; else they are only made."""
    reasoning: str = ""
    usage: Usage = field(default_factory=Usage)


@checked
def final(text: str, *, reasoning: str = "") -> ScriptStep:
    """Answer, and end the turn."""
    return ScriptStep(kind="final", text=text, reasoning=reasoning)


@checked
def tool(text: str = "") -> ScriptStep:
    """Say something, and go on."""
    return ScriptStep(kind="tool", text=text)


@checked
def error(text: str) -> ScriptStep:
    """Fail, as if the model could not be asked."""
    return ScriptStep(kind="error", text=text)


@checked
def call(
    name: str, arguments: JsonObject | None = None, *, text: str = "", reasoning: str = "", run: bool = True
) -> ScriptStep:
    """Call a tool."""
    made = ToolInvocation(name=name, arguments={} if arguments is None else arguments)
    return calls(made, text=text, reasoning=reasoning, run=run)


@checked
def calls(
    *made: ToolInvocation | Mapping[str, Any], text: str = "", reasoning: str = "", run: bool = True
) -> ScriptStep:
    """Make several calls in one answer."""
    found = tuple(records(made, "calls", ToolInvocation))
    if not found:
        raise ValueError("a step of calls needs at least one call")
    return ScriptStep(kind="call", text=text, calls=found, reasoning=reasoning, run=run)


@checked
class ScriptedDriver:
    """Plays the steps of a script in order.

    `default` is the answer of an empty script. `children` are the scripts of sub-agents, by name; `child` returns a
    driver for one.
    """

    def __init__(
        self,
        steps: Sequence[ScriptStep] = (),
        *,
        default: str = DEFAULT,
        children: Mapping[str, Sequence[ScriptStep]] | None = None,
    ) -> None:
        self._steps = tuple(steps) or (final(default),)
        self._default = default
        self._children = {} if children is None else dict(children)

    def child(self, name: str) -> ScriptedDriver:
        """Return the driver of a sub-agent; without a script, it gives the default answer."""
        return ScriptedDriver(self._children.get(name, ()), default=self._default)

    async def step(self, state: AgentState, runtime: Runtime) -> AgentState:
        """Play the next step of the script, or repeat the last one."""
        found = state.metadata.get(CURSOR, 0)
        cursor = found if type(found) is int and found >= 0 else 0
        script = self._steps[min(cursor, len(self._steps) - 1)]
        moved = state.with_metadata(**{CURSOR: cursor + 1})
        if script.kind == "error":
            return moved.with_step(Step(errors=(script.text,), usage=script.usage))
        answered = _scripted(script, cursor, runtime)
        if not script.run:
            step = replace(answered.step, messages=(answered.message,), calls=script.calls, stop=None)
            return moved.with_step(step)
        step = await played(answered, moved, runtime, lambda failure: failure.detail)
        return moved.with_step(step if script.kind != "tool" else replace(step, ends=False))


def _scripted(script: ScriptStep, cursor: int, runtime: Runtime) -> AnswerMessage:
    """Emit the events of a step as if a model had written it."""
    made = Assembler()
    made.info.stop = "tool_calls" if script.calls else "stop"
    made.info.usage = script.usage
    made.reasoning(script.reasoning)
    made.text(script.text)
    for at, one in enumerate(script.calls):
        made.call(at, one.name, one.id or f"call_{cursor}_{at}")
        made.arguments(at, jsontext.dumps(one.arguments))
        made.end(at)
    events = made.take()
    runtime.report(InferenceRequestStarted, request={"script": cursor})
    for event in events:
        runtime.report(AnswerReceived, event=event)
    answer = received(runtime, events, made.info)
    return AnswerMessage(answer_message(events, made.info), answer.result.ended, last_step([answer], text=script.text))


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A script that was read: its driver, the tools it brings, and what the user says."""

    driver: ScriptedDriver
    tools: ToolRegistry
    ask: tuple[str, ...] = ()
    system: str = ""
    name: str | None = None


@checked
def scripted(path: str | Path) -> Script:
    """Read a script from a file; raises OSError, or `ParseError`, which names the file and the place."""
    path = path_of(path)
    decode = _DECODERS.get(path.suffix.lower(), jsontext.loads)
    try:
        return read_script(decode(path.read_text(encoding="utf-8")))
    except (ToolFmtError, ValueError) as wrong:
        if isinstance(wrong, MissingExtraError):
            raise
        raise ParseError(f"{path}: {wrong}") from None


def read_script(value: JsonValue) -> Script:
    """Read a script; raises `ParseError` with the place of what is wrong."""
    try:
        found = _Script.model_validate({"steps": value} if is_array(value) else value)
    except ValidationError as error:
        # A misspelt field is more likely the mistake than the field that is missing because of it.
        first = min(error.errors(), key=lambda one: one["type"] == "missing")
        message = first["msg"] if first["type"] != "extra_forbidden" else "there is no such field"
        raise ParseError(f"/{'/'.join(map(str, first['loc']))}: {message}") from None
    return Script(
        driver=found.driver(), tools=found.registry(""), ask=tuple(found.ask), system=found.system, name=found.name
    )


def _invocations(value: Any) -> tuple[ToolInvocation, ...]:
    try:
        return calls(*value).calls
    except TypeError as error:
        raise ValueError(str(error)) from None


class _Node(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Step(_Node):
    """One step: exactly one of the first five fields, and what is beside it."""

    final: str = ""
    tool: str = ""
    error: str = ""
    call: Annotated[Any, BeforeValidator(lambda value: _invocations([value]))] = ()
    calls: Annotated[Any, BeforeValidator(_invocations)] = ()
    text: str | None = None
    reasoning: str = ""
    usage: Usage = Field(default_factory=Usage)
    run: StrictBool = True

    @model_validator(mode="after")
    def _has_one_kind(self) -> Self:
        if len(self.model_fields_set & _KINDS.keys()) != 1:
            raise ValueError(f"a step has one of {', '.join(_KINDS)}")
        return self

    def made(self) -> ScriptStep:
        (name,) = self.model_fields_set & _KINDS.keys()
        text = self.text if self.text is not None else self.final or self.tool or self.error
        called = self.call or self.calls
        return ScriptStep(
            kind=_KINDS[name], text=text, calls=called, run=self.run, reasoning=self.reasoning, usage=self.usage
        )


_KINDS: Final[Mapping[str, ScriptKind]] = {**{kind: kind for kind in get_args(ScriptKind)}, "calls": "call"}


class _Script(_Node):
    system: str = ""
    ask: Annotated[list[str], BeforeValidator(lambda value: [value] if isinstance(value, str) else value)] = []
    tools: list[JsonObject] = []
    agents: dict[str, _Agent] = {}
    steps: list[_Step]
    default: str = DEFAULT
    name: str | None = None

    def driver(self) -> ScriptedDriver:
        return ScriptedDriver([step.made() for step in self.steps], default=self.default)

    def registry(self, where: str) -> ToolRegistry:
        """Register the tools, then the agents; `where` is the place of this script in the file."""
        registry = ToolRegistry()
        for at, known in enumerate(self.tools):
            definition = {key: value for key, value in known.items() if key not in ("result", "error")}
            function = _canned(known) if known.keys() & {"result", "error"} else None
            _register(registry, definition, f"{where}/tools/{at}", function)
        for name, agent in self.agents.items():
            place = f"{where}/agents/{name}"
            loop = AgentLoop(agent.driver(), agent.registry(place), name=name)
            _register(registry, as_tool(loop, name, agent.description or f"Ask {name}."), place)
        return registry


class _Agent(_Script):
    description: str = ""


def _register(registry: ToolRegistry, tool: object, place: str, function: Callable[..., Any] | None = None) -> None:
    try:
        registry.register(tool, function=function)
    except (SchemaError, DuplicateToolError) as wrong:
        raise ParseError(f"{place}: {wrong}") from None


def _canned(known: JsonObject) -> Callable[..., Any]:
    def run(**_: Any) -> Any:
        if "error" in known:
            raise ExecutionError(str(known["error"]))
        return known["result"]

    return run


def _yaml(text: str) -> JsonValue:
    try:
        import ryaml
    except ImportError:
        raise MissingExtraError("reading a script in YAML", "yaml") from None
    value: JsonValue = cast("Any", ryaml).loads(text)
    jsontext.dumps(value)  # a key that is no text, a NaN: YAML, but not JSON
    return value


_DECODERS: Final[Mapping[str, Callable[[str], JsonValue]]] = {".toml": tomllib.loads, ".yaml": _yaml, ".yml": _yaml}
