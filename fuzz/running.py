"""What runs calls, under test: schemas and values, the executor, agents, boundaries, scripts, a stream's text.

Law: an executor gives a record for every call, an agent ends in a state, a relay of text raises nothing at all.
"""

from __future__ import annotations

import json
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from fuzz import seeds
from fuzz.mutating import ODD, copied, mutated
from fuzz.mutating import text as mutated_text
from tests.execution.models import Api, Texts
from toolfmt import StreamConverter, ToolRegistry
from toolfmt.agents import AgentLoop, AgentState, Answered, Approved, Denied, NativeDriver, ScriptedDriver, TextDriver
from toolfmt.agents.drivers.script import call as scripted_call
from toolfmt.agents.drivers.script import final, read_script
from toolfmt.errors import ToolFmtError
from toolfmt.execution import Approval, CertaintyPolicy, Executor, ProjectBoundaries, ProvenancePolicy
from toolfmt.jsontext import unwritable
from toolfmt.model import ToolDefinition, ToolInvocation
from toolfmt.schema import (
    coerce,
    extra_arguments,
    infer,
    inline_refs,
    item_schema,
    normalise,
    problems,
    property_names,
    property_schema,
    relax,
    takes_none,
    types,
)

if TYPE_CHECKING:
    from random import Random

_VALUES: tuple[Any, ...] = ({"s": "a", "i": "2", "l": [{"x": 1}], "o": {"k": "aa"}, "u": "xx"}, *ODD)
_PATHS = (
    *("a.txt", "../x", "file:///etc/passwd", "/srv/work/../../etc", "%2e%2e/x", "~/x", "C:\\x", "\\\\host\\x"),
    *("cat ../x", "\\N{SOLIDUS}etc", "Li4vLi4vZXRjL3Bhc3N3ZA==", "data:,x", "URL:file:///x", "\u3000file:///x"),
)
_SCRIPT = {
    "steps": [
        {"text": "Let me look.", "calls": [{"name": "f", "arguments": {"s": "x"}, "id": "c1"}]},
        {"final": "Done.", "reasoning": "Well."},
    ],
    "tools": [{"name": "f", "description": "d", "parameters": seeds.schemas()[0], "result": "x"}],
}


_DECISIONS = {"none": None, "approved": Approved(), "denied": Denied("no"), "answered": Answered("x")}
_REFUSED = ("there is nothing to answer", "messages were added after calls that wait")
"""What the one who resumes a state is told of it."""


class _Point(BaseModel):
    x: float
    tags: list[str] = []


class _Sum(BaseModel):
    total: int
    points: dict[str, _Point] = {}


def f(s: str, i: int = 0, points: list[_Point] | None = None, o: dict[str, float] | None = None) -> str:
    """Take many types."""
    return f"{s} {i} {points} {o}"


def read(path: str, more: list[str] | None = None) -> str:
    """Take paths."""
    return f"{path} {more}"


_REGISTRY = ToolRegistry([f, read])


def made_schema(chance: Random) -> Any:
    """Make a schema, and a value of which a part does not fit."""
    changed = mutated(chance.choice(seeds.schemas()), seeds.schemas(), chance)
    return {
        "schema": changed if isinstance(changed, dict) else {},
        "value": mutated(chance.choice(_VALUES), _VALUES, chance),
    }


def schema(case: Any) -> None:
    """Ask everything that is asked of a schema; only what checks one may refuse it."""
    found, value = case["schema"], case["value"]
    relax(value if isinstance(value, dict) else {"s": value}, found)
    for key in (*property_names(found), "s", "l", "u", "x"):
        place = property_schema(found, key)
        for one in (place, item_schema(place, 0), item_schema(place, 3)):
            types(one)
            takes_none(one)
            coerce(_json(value), one)
    infer(_json(value))
    with suppress(ToolFmtError):
        normalise(found)
        tool = ToolDefinition(name="f", parameters=inline_refs(found))
        if isinstance(value, dict):
            problems(tool, value)
            extra_arguments(tool, value)


def made_calls(chance: Random) -> Any:
    """Make calls, some of them of tools that take paths."""
    path = mutated_text(chance.choice(_PATHS), chance) if chance.random() < 0.5 else chance.choice(_PATHS)  # noqa: PLR2004 - half
    arguments = (
        {"s": "x", "i": 1, "points": [{"x": 1.5, "tags": ["a"]}], "o": {"a": 1}},
        {"path": path, "more": [path, {"path": path}]},
    )
    calls = []
    for name in ("f", "read", "none"):
        changed = mutated(chance.choice(arguments), _VALUES, chance)
        calls.append({"name": name, "arguments": changed if isinstance(changed, dict) else {}})
    return calls


def executor(case: Any) -> None:
    """Run calls; each has a record, which is JSON."""
    policies = [
        *(ProjectBoundaries(["/srv/work"]), ProvenancePolicy(), CertaintyPolicy()),
        Approval(lambda _: True, tools=["f"]),
    ]
    calls = [ToolInvocation(name=call["name"], arguments=call["arguments"]) for call in case]
    records = Executor(_REGISTRY, policies=policies, timeout=5).execute_sync(calls)
    assert len(records) == len(calls)
    for call, record in zip(calls, records, strict=True):
        if unwritable(call.arguments) is None:
            record.model_dump_json()


def made_turns(chance: Random) -> Any:
    """Make what a model writes: texts of a format, or an API's stream."""
    streams = tuple(one for one in seeds.answers() if isinstance(one, list))
    name, text = chance.choice(seeds.answer_texts())
    return {
        "dialect": name,
        "texts": [mutated_text(text, chance), '{"total": 3, "points": {"a": {"x": 1}}}', "Done.", "Done."],
        "events": mutated(chance.choice(streams), (), chance),
    }


def agents(case: Any) -> None:
    """Run a text model and an API's model, with a typed final answer."""
    loop = AgentLoop(TextDriver(Texts(*case["texts"]), dialect=case["dialect"]), _REGISTRY, output=_Sum, max_steps=3)
    _ended(loop)
    if isinstance(case["events"], list):
        for format_ in ("openai-chat", "anthropic", "gemini"):
            answers = [copied(case["events"]), copied(case["events"])]
            _ended(AgentLoop(NativeDriver(Api(*answers, format=format_)), _REGISTRY, max_steps=2))


def _ended(loop: Any) -> None:
    state = loop.run_sync("Go")
    if state.status not in {"completed", "failed", "waiting", "stopped"}:
        raise AssertionError(state.status)
    state.to_json()


def _asking() -> AgentLoop:
    driver = ScriptedDriver([scripted_call("f", {"s": "x"}), final("Done.")])
    return AgentLoop(driver, _REGISTRY, policies=[Approval(tools=["f"])], max_steps=3)


@cache
def _waiting() -> Any:
    return _asking().run_sync("Go").to_json()


def made_waiting(chance: Random) -> Any:
    """Make a stored state with a call that waits, of which a part is wrong."""
    return {"state": mutated(_waiting(), (_waiting(),), chance), "decision": chance.choice(list(_DECISIONS))}


def resumed(case: Any) -> None:
    """Read a stored state, decide about its calls, and go on; a state that does not fit its decisions is refused."""
    state = AgentState.from_json(case["state"])
    made = _DECISIONS[case["decision"]]
    try:
        _asking().run_sync(state, decisions={one.id: made for one in state.pending if made is not None}).to_json()
    except ValueError as error:
        if not isinstance(error, ToolFmtError) and not str(error).startswith(_REFUSED):
            raise


def made_stream(chance: Random) -> Any:
    """Make the bytes of a stream, cut somewhere."""
    streams = [one for one in seeds.answers() if isinstance(one, list)]
    events = chance.choice(streams)
    data = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
    return {
        "text": mutated_text(data, chance) if chance.random() < 0.8 else data,  # noqa: PLR2004 - most
        "piece": chance.choice((1, 7, 100, 10_000)),
        "source": chance.choice(("openai-chat", "openai-responses", "anthropic", "gemini")),
        "target": chance.choice(("openai-chat", "openai-responses", "anthropic", "gemini", "ollama", "cohere")),
    }


def stream(case: Any) -> None:
    """Relay a stream's bytes: nothing is raised."""
    data, piece = case["text"].encode("utf-8", "surrogatepass"), case["piece"]
    converter = StreamConverter(case["source"], case["target"])
    try:
        for at in range(0, len(data), piece):
            converter.feed_text(data[at : at + piece])
        converter.close_text()
    except ToolFmtError as error:
        raise AssertionError(repr(error)) from error


def made_script(chance: Random) -> Any:
    """Make the script of an agent."""
    return mutated(_SCRIPT, (), chance)


def script(case: Any) -> None:
    """Read a script."""
    read_script(case)


def _json(value: Any) -> str:
    try:
        return value if isinstance(value, str) else json.dumps(value)
    except (RecursionError, ValueError):
        return "[" * 3_000
