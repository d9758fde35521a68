"""The settings of requests, carried between APIs."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from copy import deepcopy
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from tests import sampling
from toolfmt import Conversion, ConversionError, Loss, check, convert, convert_request
from toolfmt.transcripts.settings.engine import read, write
from toolfmt.transcripts.settings.tables import TABLES

RECORDED = Path(__file__).resolve().parents[3] / "shared" / "transcripts" / "recorded.jsonl.gz"
USER = [{"role": "user", "content": "Hi"}]
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
EVERYWHERE = {"model": "m", "max_tokens": 2000, "temperature": 0.5, "top_p": 0.9}
"""What each API has a place for."""


def chat(**settings: Any) -> dict[str, Any]:
    return {"model": "m", "messages": USER, **settings}


def to(target: str, value: Any, **options: Any) -> dict[str, Any]:
    return convert_request(value, source="openai-chat", target=target, defaults={"max_tokens": 9}, **options).value


@pytest.mark.parametrize(("source", "target"), list(permutations(TABLES, 2)))
def test_what_every_api_has_is_carried(source: str, target: str) -> None:
    first = write(EVERYWHERE, TABLES[source])
    values = {**EVERYWHERE, **read(first, TABLES[source]).values}
    assert read(write(values, TABLES[target]), TABLES[target]).values == {
        name: value for name, value in EVERYWHERE.items() if name not in TABLES[target].elsewhere
    }


@pytest.mark.parametrize("name", TABLES)
def test_each_setting_is_read_where_it_is_written(name: str) -> None:
    table = TABLES[name]
    samples = {"number": 0.5, "integer": 20, "text": "x", "flag": True, "texts": ["x"], "object": {"a": "b"}, "any": 1}
    for setting in table.settings:
        if setting.at:
            value: Any = next(iter(setting.words), samples[setting.kind])
            value = min(value, setting.high or value) if setting.kind == "integer" else value
            value = [value] if setting.words and setting.kind == "texts" else value
            found = read(write({setting.name: value}, table), table).values
            assert found.pop(setting.name, "none") == value, setting
            assert found.keys() <= {*table.streams, "thinks"}


FORMATS = [
    ("openai-chat", ("response_format", "json_schema", "schema")),
    ("openai-responses", ("text", "format", "schema")),
    ("anthropic", ("output_config", "format", "schema")),
    ("gemini", ("generationConfig", "responseJsonSchema")),
    ("mistral", ("response_format", "json_schema", "schema")),
    ("cohere", ("response_format", "json_schema")),
    ("ollama", ("format",)),
    ("gemini-interactions", ("response_format", "schema")),
]


@pytest.mark.parametrize(("target", "path"), FORMATS)
@pytest.mark.parametrize(("source", "_"), FORMATS)
def test_a_schema_of_the_answer_has_its_place_everywhere(
    source: str, _: Any, target: str, path: tuple[str, ...]
) -> None:
    wanted = {"type": "schema", "schema": SCHEMA, "name": "city"}
    values = read(write({"format": wanted}, TABLES[source]), TABLES[source]).values
    found: Any = write(values, TABLES[target])
    for key in path:
        found = found[key]
    assert found == SCHEMA


def test_bedrock_s_schema_is_text() -> None:
    found = to("bedrock", chat(response_format={"type": "json_schema", "json_schema": {"name": "c", "schema": SCHEMA}}))
    inside = found["outputConfig"]["textFormat"]["structure"]["jsonSchema"]
    assert (inside["name"], json.loads(inside["schema"])) == ("c", SCHEMA)


@pytest.mark.parametrize(
    ("target", "place"),
    [
        ("openai-responses", {"reasoning": {"effort": "high"}}),
        ("anthropic", {"output_config": {"effort": "high"}, "thinking": {"type": "adaptive"}}),
        ("gemini", {"generationConfig": {"thinkingConfig": {"thinkingLevel": "HIGH"}}}),
        ("cohere", {"thinking": {"type": "enabled", "token_budget": 24576}}),
        ("ollama", {"think": "high"}),
        ("mistral", {"reasoning_effort": "high"}),
        ("gemini-interactions", {"generation_config": {"thinking_level": "high"}}),
    ],
)
def test_an_effort_has_its_counterpart(target: str, place: dict[str, Any]) -> None:
    assert write({"effort": "high"}, TABLES[target]) == place


def test_a_budget_becomes_an_effort_and_fits_below_the_limit() -> None:
    value = {**chat(max_tokens=2000), "thinking": {"type": "enabled", "budget_tokens": 5000}}
    made = convert_request(value, source="anthropic", target="openai-chat")
    assert made.value["reasoning_effort"] == "medium"
    assert (
        Loss("setting", "/thinking", "changed", "budget: 5000 -> effort: medium: the target has effort in its place")
        in made.losses
    )
    assert write({"budget": 5000, "thinks": True, "max_tokens": 2000}, TABLES["anthropic"])["thinking"] == {
        "type": "enabled",
        "budget_tokens": 1024,
    }


def test_gemini_s_older_models_have_budgets() -> None:
    made = write({"effort": "low", "model": "gemini-2.5-flash"}, TABLES["gemini"])
    assert made["generationConfig"]["thinkingConfig"] == {"thinkingBudget": 1024}


CLAUDES = {
    "claude-sonnet-4-5-20250929": {"type": "enabled", "budget_tokens": 1024},
    "claude-sonnet-4-20250514": {"type": "enabled", "budget_tokens": 1024},
    "claude-3-7-sonnet-latest": {"type": "enabled", "budget_tokens": 1024},
    "claude-opus-4-6": {"type": "adaptive"},
    "claude-opus-4-7": {"type": "adaptive"},
}


@pytest.mark.parametrize("model", CLAUDES)
def test_claude_thinks_as_its_version_can(model: str) -> None:
    made = write({"effort": "low", "model": model, "max_tokens": 4096}, TABLES["anthropic"])
    assert made["thinking"] == CLAUDES[model]
    assert ("output_config" in made) == (made["thinking"]["type"] == "adaptive")
    newer = write({"budget": 2048, "model": model, "max_tokens": 4096}, TABLES["anthropic"])
    assert newer["thinking"]["type"] == ("adaptive" if model == "claude-opus-4-7" else "enabled")


def test_thinking_leaves_no_other_temperature() -> None:
    made = convert_request(
        chat(reasoning_effort="high", temperature=0.2, top_p=0.5),
        source="openai-chat",
        target="anthropic",
        defaults={"max_tokens": 9000},
    )
    assert "temperature" not in made.value
    assert made.value["top_p"] == 0.95
    assert {(loss.path, loss.action) for loss in made.losses} == {("/temperature", "dropped"), ("/top_p", "changed")}


@pytest.mark.parametrize(
    ("target", "off"), [("anthropic", {"thinking": {"type": "disabled"}}), ("ollama", {"think": False})]
)
def test_thinking_is_switched_off(target: str, off: dict[str, Any]) -> None:
    assert write({"effort": "none"}, TABLES[target]) == off
    assert read(off, TABLES[target]).values == {"thinks": False}


def test_values_are_clamped_and_reported() -> None:
    made = convert_request(
        chat(temperature=1.7, n=3, stop=["a", " "], seed=7), source="openai-chat", target="anthropic"
    )
    assert (made.value["temperature"], made.value["stop_sequences"]) == (1, ["a"])
    found = {(loss.path, loss.action) for loss in made.losses}
    assert found == {
        ("/temperature", "changed"),
        ("/n", "dropped"),
        ("/seed", "dropped"),
        ("/stop", "changed"),
        ("", "missing"),
    }
    assert {loss.severity for loss in made.losses} == {"setting"}


def test_what_holds_anyway_is_no_loss() -> None:
    value = chat(n=1, logprobs=False, presence_penalty=0, stream=False, response_format={"type": "text"}, user=None)
    assert convert_request(value, source="openai-chat", target="anthropic", defaults={"max_tokens": 9}).losses == ()


def test_what_the_url_says_is_given_and_reported() -> None:
    value = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}
    made = convert_request(value, target="openai-chat", settings={"model": "m", "stream": True})
    assert (made.value["model"], made.value["stream"]) == ("m", True)
    back = convert_request(made.value, source="openai-chat", target="gemini")
    assert "model" not in back.value
    assert (back.settings["model"], back.settings["stream"], back.losses) == ("m", True, ())


def test_settings_are_set_in_the_same_format_too() -> None:
    made = convert_request(chat(temperature=1), source="openai-chat", target="openai-chat", settings={"model": "other"})
    assert made.value == chat(temperature=1) | {"model": "other"}
    assert convert_request(chat(), source="openai-chat", target="openai-chat").value == chat()
    with pytest.raises(ValueError, match="no setting colour"):
        convert_request(chat(), target="anthropic", source="openai-chat", settings={"colour": "red"})


def test_earlier_messages_that_are_only_referred_to_are_content() -> None:
    value = {"model": "m", "input": "And there?", "previous_response_id": "resp_1"}
    made = convert_request(value, source="openai-responses", target="openai-chat")
    assert [(loss.code, loss.severity) for loss in made.losses] == [("context", "content")]
    with pytest.raises(ConversionError, match="previous_response_id"):
        convert_request(value, source="openai-responses", target="openai-chat", strict=True)


def test_convert_takes_the_request_along() -> None:
    made = convert(chat(max_tokens=5), source="openai-chat", target="anthropic", include="request")
    assert made.value["max_tokens"] == 5
    assert "max_tokens" not in convert(chat(max_tokens=5), source="openai-chat", target="anthropic").value


def test_the_way_back_is_exact_and_takes_edited_settings_along() -> None:
    value = chat(max_tokens=5, temperature=1.7, seed=3, reasoning_effort="low")
    there = convert(value, source="openai-chat", target="mistral", include="request")
    back = convert(there.value, source="mistral", target="openai-chat", residue=there.residue)
    assert (back.value, back.all_losses) == (value, ())
    edited = {**there.value, "max_tokens": 99, "top_k": 4, "safe_prompt": True}
    del edited["reasoning_effort"]
    back = convert(edited, source="mistral", target="openai-chat", residue=there.residue)
    assert back.value == chat(temperature=1.7, seed=3, max_completion_tokens=99)
    assert {loss.path for loss in back.losses} == {"/top_k", "/safe_prompt"}


_SEARCHING: Any = [
    {"type": "web_search_20250305", "name": "web_search"},
    {"name": "f", "input_schema": {"type": "object"}},
]
_CALL: Any = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
_CALLED: Any = [
    *USER,
    {"role": "assistant", "tool_calls": [_CALL]},
    {"role": "tool", "tool_call_id": "c", "content": ""},
]


@pytest.mark.parametrize(
    ("source", "target", "given", "value"),
    [
        ("anthropic", "bedrock", {}, chat(model="claude-sonnet-4-5", max_tokens=9, temperature=0.7, top_p=0.9)),
        ("anthropic", "gemini", {}, chat(model="gemini-2.5-pro", max_tokens=9, tools=_SEARCHING)),
        ("openai-chat", "gemini", {}, {"model": "gemini-3-pro", "messages": _CALLED}),
        ("openai-chat", "gemini", {"model": "gemini-3-pro"}, {"messages": _CALLED}),
    ],
    ids=["a setting", "a hosted tool", "a signature", "a signature for a model that was given"],
)
def test_what_the_target_refuses_or_demands_is_no_edit_on_the_way_back(
    source: str, target: str, given: dict[str, Any], value: Any
) -> None:
    there = convert_request(value, source=source, target=target, settings=given)
    assert there.all_losses
    assert convert(there.value, source=target, target=source, residue=there.residue).value == value


@pytest.mark.skipif(not RECORDED.is_file(), reason="there is no ../shared")
@pytest.mark.parametrize("target", TABLES)
def test_recorded_requests_say_all_that_both_have(target: str) -> None:
    """An oracle of its own: a setting with a place in the target is there, or has a loss."""
    lines = gzip.decompress(RECORDED.read_bytes()).splitlines()
    for row in map(json.loads, sampling.share(lines, list(TABLES).index(target), 4)):
        if row["fmt"] == target:
            same = convert_request(row["request"], source=target, target=target)
            assert same.value is row["request"]
            assert same.all_losses == ()
            continue
        given = {"model": "m", "max_tokens": 4096}
        made = convert_request(row["request"], source=row["fmt"], target=target, defaults=given)
        now = read(made.value, TABLES[target]).values
        lost = {loss.detail.partition(":")[0] for loss in made.losses if loss.code in ("setting", "schema")}
        for name in ("model", "max_tokens", "temperature", "top_p", "stop", "seed"):
            if name in made.settings and name in TABLES[target].names - TABLES[target].elsewhere:
                assert now.get(name) == made.settings[name] or name in lost, (row["id"], name)


@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "f"}}])
def test_a_model_that_has_to_call_has_no_budget_of_thinking(choice: Any) -> None:
    tools = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
    asked = chat(reasoning_effort="high", tools=tools, tool_choice=choice, max_tokens=50000, temperature=0.5)

    def sent(model: str, **further: Any) -> Conversion:
        return convert_request(asked | further, source="openai-chat", target="anthropic", settings={"model": model})

    made = sent("claude-sonnet-4-5")
    assert made.value.keys().isdisjoint({"thinking", "output_config"})
    assert made.value["temperature"] == 0.5
    assert [(loss.path, loss.action) for loss in made.losses] == [("/reasoning_effort", "dropped")]
    assert "where tool_choice demands a call" in made.losses[0].detail
    assert check(made.value, format="anthropic") == ()
    made.value["thinking"] = {"type": "enabled", "budget_tokens": 2000}
    assert [found.rule for found in check(made.value, format="anthropic")] == ["setting"]
    assert sent("claude-sonnet-4-5", tool_choice="auto").value["thinking"]["type"] == "enabled"
    assert sent("claude-opus-4-8").value["thinking"] == {"type": "adaptive"}


def test_every_setting_that_is_lost_says_why() -> None:
    value = chat(reasoning_effort="high", temperature=1.7, top_p=0.5, stop=["a", " "], n=3, seed=7, my_own=1)
    for target in ("anthropic", "gemini", "ollama", "bedrock", "cohere", "mistral", "openai-responses"):
        for loss in convert_request(value, source="openai-chat", target=target).losses:
            if loss.action in ("dropped", "changed") and loss.code == "setting":
                assert loss.detail.count(": ") > 1, (target, loss)


@pytest.mark.parametrize("choice", ["nonsense", {"type": "nonsense"}, {"type": "allowed_tools", "tools": "x"}, 5])
@pytest.mark.parametrize("source", ["openai-chat", "openai-responses", "anthropic", "bedrock", "mistral", "cohere"])
def test_a_choice_that_cannot_be_read_is_a_loss(source: str, choice: Any) -> None:
    content = [{"text": "Hi"}] if source == "bedrock" else "Hi"
    given: dict[str, Any] = {"messages": [{"role": "user", "content": content}]}
    if source == "openai-responses":
        given = {"input": "Hi"}
    tools = {"toolChoice": choice} if source == "bedrock" else choice
    given["toolConfig" if source == "bedrock" else "tool_choice"] = tools
    result = convert(given, source=source, target="gemini", include="request")
    assert [(loss.code, loss.path.rpartition("/")[2]) for loss in result.losses] == [
        ("setting", "toolChoice" if source == "bedrock" else "tool_choice")
    ]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("cohere", {"type": "json_object", "json_schema": SCHEMA}),
        ("cohere", {"type": "json_object", "schema": SCHEMA}),
        ("openai-chat", {"type": "json_object", "schema": SCHEMA}),
        ("openai-chat", {"type": "json_schema", "json_schema": {"name": "city", "schema": SCHEMA}}),
    ],
)
def test_a_format_is_a_schema_and_its_other_keys_are_losses(source: str, found: dict[str, Any]) -> None:
    value = {"model": "m", "messages": [{"role": "user", "content": "Hi."}], "response_format": found | {"odd": 1}}
    made = convert_request(value, source=source, target="gemini")
    assert made.value["generationConfig"]["responseJsonSchema"] == SCHEMA
    named = [("setting", "/response_format")] if "name" in found.get("json_schema", {}) else []  # Gemini's have no name
    assert [(loss.code, loss.path) for loss in made.losses] == [*named, ("setting", "/response_format/odd")]


RESPONSE = {"type": "schema", "schema": SCHEMA, "name": "city", "strict": True}
GIVEN: list[dict[str, Any]] = [
    {"format": RESPONSE},
    {"format": {"type": "json"}},
    {"effort": "high"},
    {"budget": 2000, "max_tokens": 5000},
    {"thinks": True, "max_tokens": 5000},
    {"stream": True, "stream_usage": True},
    {"metadata": {"a": "b"}},
    {"cache_options": {"a": "b"}},
    {"prediction": {"type": "content", "content": "x"}},
]


def nested(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """List the objects inside a value."""
    for key, item in value.items() if isinstance(value, dict) else ():
        if isinstance(item, dict):
            yield (*path, key)
            yield from nested(item, (*path, key))


@pytest.mark.parametrize("source", sorted(TABLES))
def test_each_key_inside_a_setting_is_carried_or_a_loss(source: str) -> None:
    asked = chat() if source == "openai-chat" else to(source, chat())
    tried = 0
    for given in GIVEN:
        fields = write(given, TABLES[source])
        for path in nested(fields):
            held = deepcopy(fields)
            inside = held
            for key in path:
                inside = inside[key]
            inside["canary"] = "needle"
            for target in TABLES.keys() - {source}:
                made = convert_request({**asked, **held}, source=source, target=target)
                said = [f"{loss.path} {loss.detail}" for loss in made.all_losses]
                assert "canary" in json.dumps([made.value, said]), (path, target)
                tried += 1
    assert tried


@pytest.mark.parametrize("target", sorted(TABLES.keys() - {"openai-chat"}))
def test_what_is_said_about_a_schema_is_carried_or_a_loss(target: str) -> None:
    about = {"name": "NM", "description": "Use metric units only"}
    schema = {**SCHEMA, "description": "A city"}
    for given in (SCHEMA, schema, SCHEMA | {"title": "NM"}):
        response = {**about, "schema": given}
        value = chat(response_format={"type": "json_schema", "json_schema": response})
        made = convert_request(value, source="openai-chat", target=target)
        for said in about.values():
            assert said in json.dumps(made.value) or any(said in loss.detail for loss in made.losses)
        assert "A city" in json.dumps(made.value) or given is not schema


def test_an_effort_without_room_says_so() -> None:
    value = {**chat(reasoning_effort="high", max_completion_tokens=900), "model": "claude-sonnet-4-5"}
    (loss,) = convert_request(value, source="openai-chat", target="anthropic").losses
    assert "max_tokens 900 leaves no room for a budget" in loss.detail


@pytest.mark.parametrize(
    ("model", "effort", "level"),
    [
        ("gemini-3-pro", "medium", "high"),
        ("gemini-3-flash", "minimal", "minimal"),
        ("gemini-3.1-pro", "minimal", "low"),
    ],
)
def test_levels_of_thinking_are_the_model_s_in_both_of_google_s_apis(model: str, effort: str, level: str) -> None:
    value = {**chat(reasoning_effort=effort), "model": model}
    one: Any = convert_request(value, source="openai-chat", target="gemini-interactions")
    other: Any = convert_request(value, source="openai-chat", target="gemini")
    assert one.value["generation_config"]["thinking_level"] == level
    assert other.value["generationConfig"]["thinkingConfig"]["thinkingLevel"] == level.upper()
    assert [loss.path for loss in one.losses] == ["/reasoning_effort"] * (effort != level)


@pytest.mark.parametrize("source", ["cohere", "vllm"])
def test_documents_beside_the_messages_are_content(source: str) -> None:
    value = {"model": "m", "messages": [{"role": "user", "content": "Sky?"}], "documents": ["needle"]}
    made = convert_request(value, source=source, target="anthropic", defaults={"max_tokens": 99})
    assert [(loss.path, loss.severity) for loss in made.losses] == [("/documents", "content")]


@pytest.mark.parametrize("target", ["anthropic", "langchain"])
@pytest.mark.parametrize(
    ("source", "beside"),
    [
        ("openai-responses", {"previous_response_id": "r"}),
        ("openai-responses", {"prompt": {"id": "p"}}),
        ("gemini", {"cached_content": "c"}),
        ("cohere", {"documents": [{"data": {"t": "needle"}}]}),
        ("hf-chat", {"documents": [{"t": "needle"}]}),
    ],
)
def test_what_a_request_refers_to_is_content_without_its_settings_too(
    source: str, beside: dict[str, Any], target: str
) -> None:
    value = convert([{"role": "user", "content": "Hi"}], source="openai-chat", target=source).value
    there = convert({**value, **beside}, source=source, target=target)
    assert [(loss.code, loss.path) for loss in there.losses] == [("context", f"/{key}") for key in beside]
    assert convert({**value, **dict.fromkeys(beside)}, source=source, target=target).losses == ()


def test_a_search_of_the_web_is_declared_as_a_tool_elsewhere() -> None:
    """Chat Completions has options of its own for it, with the place one level deeper."""
    place = {"country": "CH", "city": "Bern"}
    options = {"search_context_size": "high", "user_location": {"type": "approximate", "approximate": place}}
    request = {"model": "m", "messages": [{"role": "user", "content": "News?"}], "web_search_options": options}
    there = {"type": "approximate", **place}
    declared = {
        "openai-responses": [{"type": "web_search", "user_location": there, "search_context_size": "high"}],
        "anthropic": [{"type": "web_search_20250305", "name": "web_search", "user_location": there}],
        "gemini": [{"googleSearch": {}}],
        "gemini-interactions": [{"type": "google_search"}],
    }
    for target, tools in declared.items():
        sent = convert_request(request, source="openai-chat", target=target, defaults={"max_tokens": 99})
        assert isinstance(sent.value, dict)
        assert sent.value["tools"] == tools
        assert {loss.code for loss in sent.losses} <= {"tool"}
        back = convert(sent.value, source=target, target="openai-chat", include="request", residue=sent.residue)
        assert back.value == request


def test_a_setting_of_the_wrong_type_is_named_as_such() -> None:
    wrong = {"temperature": "hot", "stop": 5, "max_tokens": 1.5, "own": 1}
    request = {"model": "m", "messages": [{"role": "user", "content": "Hi."}], **wrong}
    found = {loss.path: loss.detail for loss in convert_request(request, source="openai-chat", target="gemini").losses}
    assert found["/temperature"] == "temperature: hot: it is no number"
    assert found["/stop"] == "stop: 5: it is no list of texts"
    assert found["/max_tokens"] == "max_tokens: 1.5: it is no whole number"
    assert found["/own"] == "own: 1: no setting that other APIs have"
