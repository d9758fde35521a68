"""What is tried: one target for each public function that takes what strangers wrote.

A target makes a case, which is plain data, and runs one. The law of all of them: a case is
read, or one of the errors that are documented is raised.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from bench.traps import UNITS, offers
from fuzz import commands, running, seeds, serving, texts
from fuzz.mutating import mutated
from fuzz.mutating import text as mutated_text
from toolfmt import (
    check,
    convert,
    convert_answer,
    default_registry,
    detect,
    diagnose,
    feedback,
    find_dialect,
    grammar,
    inject,
    load_tools,
    lower_schema,
    manifest,
    parse,
    parse_stream,
    read_answer,
    read_stream,
    render_calls,
    render_prompt,
    render_results,
    repair,
    response_dialect,
    text_dialect,
    write_stream,
)
from toolfmt.agents.state import AgentState
from toolfmt.conversation import CallPart
from toolfmt.corpora.rows import TextRow, entries
from toolfmt.dialect.record import ParserOptions
from toolfmt.dialect.records import dump, load
from toolfmt.errors import ToolFmtError
from toolfmt.mcp import content as mcp_reading
from toolfmt.mcp import from_config
from toolfmt.mcp.content import write_result, write_tool
from toolfmt.model import ToolInvocation, ToolResult
from toolfmt.tools import tools as definitions
from toolfmt.transcripts.formats import formats
from toolfmt.workshop.grammars import WRITERS

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolfmt.dialect.record import AnyDialect


@dataclass(frozen=True, slots=True)
class Target:
    """One function under test: how a case is made, and what is done with it."""

    make: Callable[[Random], Any]
    run: Callable[[Any], object]


_OPTIONS = ("validate", "coerce", "strict", "repair", "reasoning_open", "infer_types", "drop_leaks")
_STREAMS = ("openai-chat", "openai-responses", "anthropic", "gemini")
_TOOLS = [tool.model_dump() for tool in offers()["fitting"]]
_STATE = AgentState.of("Weather in Paris?", system="Be brief.").to_json()
_RESPONSE = {
    "fields": {
        "content": {"close": "<tool_call>"},
        "tool_calls": {
            "open": "<tool_call>",
            "close": "</tool_call>",
            "repeats": True,
            "content": "json",
            "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{arguments}"}},
        },
    }
}
_SERVERS = {
    "mcpServers": {
        "files": {"command": "python", "args": ["server.py"], "env": {"ROOT": "${HOME}"}, "cwd": "."},
        "weather": {"type": "http", "url": "https://example.com/mcp", "headers": {"x": "${TOKEN:-none}"}},
    }
}
_CHAT = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}{{ tools | tojson }}"


@cache
def _dialects() -> tuple[AnyDialect, ...]:
    return tuple(dialect for dialect in default_registry() if dialect.syntax is not None)


@cache
def _formats() -> tuple[str, ...]:
    return tuple(made.name for made in formats())


def _one(values: tuple[Any, ...], chance: Random) -> Any:
    """Choose a value; usually with something wrong in it."""
    value = chance.choice(values)
    return mutated(value, values, chance) if chance.random() < 0.9 else value  # noqa: PLR2004 - most of them


def _record_of(fields: Any, chance: Random) -> Any:
    """Change a record's fields; that it is an object is the caller's part."""
    changed = mutated(fields, (), chance)
    return changed if isinstance(changed, dict) else fields


def _tools(chance: Random) -> Any:
    tools = [{"name": "f", "description": "d", "input_schema": chance.choice(seeds.schemas())}]
    changed = mutated(tools, seeds.schemas(), chance)
    return [changed] if isinstance(changed, str) else changed  # a text is the caller's own path


def _make_text(chance: Random) -> Any:
    name, old = chance.choice(seeds.answer_texts())
    text = mutated_text(old, chance, [one for _, one in seeds.answer_texts()], UNITS)
    options = {option: True for option in _OPTIONS if chance.random() < 0.3}  # noqa: PLR2004 - some of them
    tools = chance.choice((_TOOLS, None, _tools(chance)))
    if tools is None:
        options = {option: True for option in options if option not in {"validate", "coerce"}}
    return {
        "text": text,
        "dialect": chance.choice((name, name, "auto", chance.choice(_dialects()).name)),
        "tools": tools,
        "options": options,
    }


def _parse(case: Any) -> None:
    text, given = case["text"], {"dialect": case["dialect"], "tools": case["tools"], **case["options"]}
    result = parse(text, **given)
    given.pop("drop_leaks", None)
    list(parse_stream([text[at : at + 7] for at in range(0, len(text), 7)], **given))
    assert result.hint is not None
    for part in result.parts:
        with contextlib.suppress(ToolFmtError):
            if isinstance(part, CallPart):
                part.invocation  # noqa: B018 - reads the arguments
    for failure in result.failures[:2]:
        feedback(failure, tools=case["tools"], dialect=result.dialect or "hermes")


def _convert(case: Any) -> None:
    source = {"source": case["source"]} if case["source"] else {}
    convert(case["value"], target=case["target"], **source)
    convert(case["value"], target=case["target"], include=("tools", "request"), **source)


def _convert_back(case: Any) -> None:
    """Convert, change the value and the residue, and convert back."""
    chance = Random(case["seed"])  # noqa: S311 - to be repeated
    there = convert(case["value"], target=case["target"], source=case["source"])
    value, residue = _one((there.value,), chance), _record_of(there.residue or {}, chance)
    convert(value, source=case["target"], target=case["source"], residue=residue)


def _of_format(chance: Random) -> Any:
    return {
        "value": _one(seeds.conversations(), chance),
        "target": chance.choice(_formats()),
        "source": chance.choice(("", "", chance.choice(_formats()))),
    }


def _of_tools(chance: Random) -> Any:
    return {"tools": _tools(chance), "dialect": chance.choice(_dialects()).name, "target": chance.choice(list(WRITERS))}


def _grammar(case: Any) -> None:
    if definitions(case["tools"]):  # without a tool there is nothing to write, which is reported
        grammar(case["dialect"], case["tools"], target=case["target"])


def _file(case: Any, suffix: str, read: Callable[[Path], object]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"case{suffix}"
        path.write_bytes(_json(case).encode("utf-8", "surrogatepass"))
        read(path)


def _json(value: Any) -> str:
    """Write a value as JSON, or as what resembles it: a text as it is, else NaN and lone surrogates."""
    try:
        return value if isinstance(value, str) else json.dumps(value)
    except (RecursionError, ValueError):
        return "[" * 3_000 + "]" * 3_000


def _folder(case: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "tokenizer_config.json").write_bytes(_json(case).encode("utf-8", "surrogatepass"))
        find_dialect(folder)


def _record(case: Any) -> None:
    hermes = default_registry().dialect("hermes")
    dialect = text_dialect(
        name="made",
        summary="Made.",
        syntax=load(case["syntax"]),
        schema=hermes.schema,
        manifest="json.jinja",
        sources=(),
    )
    parser = dialect.open_parser(ParserOptions(tools={tool.name: tool for tool in offers()["fitting"]}))
    parser.feed(case["text"])
    parser.close()
    dialect.calls([ToolInvocation(name="f", arguments={"s": "x"})], {})
    dialect.results([ToolResult(name="f", content="x")])


def _make_record(chance: Random) -> Any:
    dialect = chance.choice(_dialects())
    syntax = dump(dialect.syntax) if dialect.syntax else {}
    text = next((text for name, text in seeds.answer_texts() if name == dialect.name), "x")
    return {"syntax": mutated(syntax, (), chance), "text": text}


def _stream(case: Any) -> None:
    if not isinstance(case["events"], list):  # a stream is an iterable, which is checked
        return
    list(write_stream(read_stream(case["events"], source=case["source"]), target=case["target"]))


def _corpus(case: Any) -> None:
    for row in entries(TextRow("case.json", 0, _json(case).encode("utf-8", "surrogatepass"))):
        try:
            convert(row.value, target="openai-chat")
        except ToolFmtError:
            continue


_LISTED = {
    "name": "f",
    "title": "F",
    "description": "d",
    "inputSchema": seeds.schemas()[0],
    "outputSchema": {"type": "object", "properties": {"t": {"type": "number"}}},
    "annotations": {"destructiveHint": True},
}
_ANSWERED = {
    "content": [{"type": "text", "text": "18C"}, {"type": "image", "data": "iVBO", "mimeType": "image/png"}],
    "structuredContent": {"t": 18},
}


def _mcp(case: Any) -> None:
    from mcp import types
    from pydantic import ValidationError

    if not isinstance(case, dict) or not case.keys() >= {"tool", "answer"}:
        return
    try:
        listed = types.Tool.model_validate(case["tool"])
        answer = types.CallToolResult.model_validate(case["answer"]).model_dump(
            mode="json", by_alias=True, exclude_none=True
        )
    except (ValidationError, RecursionError, ValueError):  # the client's own check refuses it before it comes to us
        return
    found: dict[str, mcp_reading.ServerTool] = {}
    mcp_reading.read_tool(found, "server", listed)
    for offer in found.values():
        write_tool(offer.definition)
        write_result(mcp_reading.read_answer(ToolInvocation(name=listed.name, arguments={}), offer, answer))


_CALL = {"name": "f", "arguments": {"s": "x", "l": [{"k": 1.5}]}, "id": "c1"}
_RESULT = {"name": "f", "content": {"a": ["</tool_response>", 1, None]}, "id": "c1", "is_error": False}

TARGETS: dict[str, Target] = {
    "texts": Target(texts.made, texts.check),
    "parse": Target(_make_text, _parse),
    "detect": Target(_make_text, lambda case: detect(case["text"], case["tools"])),
    "convert": Target(_of_format, _convert),
    "convert_back": Target(
        lambda chance: _of_format(chance) | {"source": chance.choice(_formats()), "seed": chance.random()},
        _convert_back,
    ),
    "check": Target(_of_format, lambda case: check(case["value"], format=case["target"])),
    "repair": Target(_of_format, lambda case: repair(case["value"], format=case["target"], drop=True)),
    "read_answer": Target(lambda chance: _one(seeds.answers(), chance), read_answer),
    "streams": Target(
        lambda chance: {
            "events": _one(tuple(one for one in seeds.answers() if isinstance(one, list)), chance),
            "source": "auto",
            "target": chance.choice(_STREAMS),
        },
        _stream,
    ),
    "tools": Target(_tools, definitions),
    "load_tools": Target(_tools, lambda case: _file(case, ".json", load_tools)),
    "manifest": Target(_of_tools, lambda case: manifest(case["tools"], dialect=case["dialect"])),
    "grammar": Target(_of_tools, _grammar),
    "lower_schema": Target(
        lambda chance: {
            "schema": _record_of(chance.choice(seeds.schemas()), chance),
            "provider": chance.choice(("openai-chat", "anthropic", "bedrock", "gemini", "gemini-openapi")),
            "strict": chance.choice((True, False)),
        },
        lambda case: lower_schema(case["schema"], provider=case["provider"], strict=case["strict"]),
    ),
    "render_calls": Target(
        lambda chance: {"calls": [_record_of(_CALL, chance)], "dialect": chance.choice(_dialects()).name},
        lambda case: render_calls(case["calls"], dialect=case["dialect"], tools=_TOOLS),
    ),
    "render_results": Target(
        lambda chance: {"results": [_record_of(_RESULT, chance)], "dialect": chance.choice(_dialects()).name},
        lambda case: render_results(case["results"], dialect=case["dialect"]),
    ),
    "render_prompt": Target(
        lambda chance: {"messages": _one(seeds.conversations(), chance), "template": mutated_text(_CHAT, chance)},
        lambda case: render_prompt(case["messages"], template=case["template"]),
    ),
    "response_dialect": Target(lambda chance: _record_of(_RESPONSE, chance), response_dialect),
    "find_dialect": Target(
        lambda chance: _one(({"chat_template": mutated_text(_CHAT, chance), "eos_token": "<|im_end|>"},), chance),
        _folder,
    ),
    "dialect": Target(_make_record, _record),
    "corpora": Target(lambda chance: [_one(seeds.conversations(), chance)], _corpus),
    "mcp": Target(lambda chance: mutated({"tool": _LISTED, "answer": _ANSWERED}, seeds.schemas(), chance), _mcp),
    "state": Target(lambda chance: _one((_STATE,), chance), AgentState.from_json),
    "convert_answer": Target(
        lambda chance: {"answer": _one(seeds.answers(), chance), "target": chance.choice(_STREAMS)},
        lambda case: convert_answer(case["answer"], target=case["target"]),
    ),
    "inject": Target(
        lambda chance: {"prompt": mutated_text("Use {{tools}} {# now #}.", chance), "tools": _tools(chance)},
        lambda case: inject(case["prompt"], case["tools"]),
    ),
    "diagnose": Target(
        lambda chance: mutated_text(commands.TEMPLATE, chance), lambda case: diagnose(template=case).report()
    ),
    "mcp_config": Target(lambda chance: mutated(_SERVERS, (), chance), lambda case: _file(case, ".json", from_config)),
    "schema": Target(running.made_schema, running.schema),
    "executor": Target(running.made_calls, running.executor),
    "agents": Target(running.made_turns, running.agents),
    "resumed": Target(running.made_waiting, running.resumed),
    "stream": Target(running.made_stream, running.stream),
    "script": Target(running.made_script, running.script),
    "commands": Target(commands.made, commands.run),
    "gateway": Target(serving.made, serving.run),
}


def attempt(name: str, case: Any) -> None:
    """Run a case; raises what is not documented."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with contextlib.suppress(ToolFmtError):
            TARGETS[name].run(case)
