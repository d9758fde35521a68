"""What detection says, what it refuses, and that dialects of third parties take part."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

import toolfmt
from tests.detection.plain import TOOLS
from toolfmt.detection import DETECTED
from toolfmt.detection.detecting import unread
from toolfmt.events import coalesce
from toolfmt.lookup.registry import Registry, default_registry
from toolfmt.lookup.settings import FormatSettings
from toolfmt.model import JsonObject

JSON = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
ELEMENTS = "<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n</function>\n</tool_call>"
PAIRS = "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n</tool_call>"


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        (ELEMENTS, "qwen3-coder"),
        (ELEMENTS.replace("\n", ""), "mimo"),
        (PAIRS, "glm45"),
        (PAIRS.replace("\n", ""), "glm47"),
        ("<tool_call>get_weather<tool_sep>\n<arg_key>city</arg_key>\n<arg_value>x</arg_value></tool_call>", "hy-v3"),
        ('[TOOL_CALLS][{"name": "get_weather", "arguments": {}}]', "mistral-v3"),
        ("[TOOL_CALLS]get_weather[ARGS]{}", "mistral-v11"),
        ("[TOOL_CALLS]get_weather[CALL_ID]abc[ARGS]{}", "mistral-v11-callid"),
        ("<function=get_weather>{}</function>", "functionary-v31"),
        ('<function name="get_weather"></function>', "minicpm5"),
        ("<function_calls>\nget_weather()\n</function_calls>", "olmo3"),
        ('<function_calls>\n<invoke name="get_weather">\n</invoke>\n</function_calls>', "claude-legacy"),
        ('{"name": "get_weather", "parameters": {"city": "Paris"}}', "llama3-json"),
        ('{"tool": {"function": "get_weather", "parameters": {}}}', "default-json"),
        ("[get_weather(city='Paris')]", "pythonic"),
        ("<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{}<|call|>", "harmony"),
        (
            ' to=f<|channel|>analysis <|constrain|>xml<|message|><rfl:parameter name="a">\nx\n</rfl:parameter><|call|>',
            "beam",
        ),
        ('Thought: Hm.\nAction: get_weather\nAction Input: {"city": "Paris"}', "react"),
    ],
)
def test_what_is_behind_the_opener_decides(text: str, dialect: str) -> None:
    result = toolfmt.parse(text, dialect="auto")
    assert (result.dialect, len(result.calls)) == (dialect, 1)
    assert result.detection is not None
    assert result.detection.candidates[0].dialect == dialect


def test_all_candidates_are_reported_with_reasons() -> None:
    found = toolfmt.detect(f"Hi.\n{JSON}")
    assert found.span[0] == 4
    assert found.reason == "writes `<tool_call>` and a JSON object"
    assert {"hermes", "qwen25", "granite4"} <= {one.dialect for one in found.candidates if one.score == 5}
    assert {one.reason for one in found.candidates if one.dialect == "glm47"} == {
        "reads `<tool_call>` and a JSON object"
    }
    assert [one.score >= 4 for one in found.candidates] == sorted(
        (one.score >= 4 for one in found.candidates), reverse=True
    )


def test_markers_read_before_tell_equals_apart() -> None:
    call = '[TOOL_CALLS][{"name": "get_weather", "arguments": {}}]'
    assert toolfmt.detect(f"[THINK]Hm.[/THINK]{call}").dialect in {"mistral-v3", "mistral-v11"}
    assert toolfmt.detect(f"<|START_THINKING|>Hm.<|END_THINKING|>{JSON}").dialect


def test_a_stream_tells_the_choice_in_a_notice() -> None:
    events = list(toolfmt.parse_stream(["Hi.\n", *JSON], dialect="auto"))
    (notice,) = [event for event in events if isinstance(event, toolfmt.Notice)]
    assert (notice.kind, notice.span[0]) == (DETECTED, 4)
    assert notice.detail.endswith(": it writes `<tool_call>` and a JSON object")
    begun = next(number for number, event in enumerate(events) if isinstance(event, toolfmt.CallStart))
    assert events.index(notice) < begun


def test_an_asynchronous_stream_is_detected() -> None:
    async def pieces() -> AsyncIterator[str]:
        for char in ELEMENTS:
            yield char

    async def names() -> list[str]:
        stream = toolfmt.aparse_stream(pieces(), dialect="auto")
        return [event.call.name async for event in stream if isinstance(event, toolfmt.CallEnd)]

    assert asyncio.run(names()) == ["get_weather"]


def test_all_options_reach_the_chosen_parser() -> None:
    bad = JSON.replace('"Paris"', "7")
    (failure,) = toolfmt.parse(bad, dialect="auto", tools=TOOLS, validate=True).failures
    assert failure.reason == "invalid_arguments"
    (call,) = toolfmt.parse(JSON, dialect="auto", ids=toolfmt.ids.counter()).calls
    assert call.id
    assert toolfmt.parse(ELEMENTS.replace("Paris", "42"), dialect="auto", infer_types=True).calls[0].arguments == {
        "city": 42
    }
    assert toolfmt.parse(JSON.replace("}}", "}"), dialect="auto", repair=True).calls
    assert toolfmt.parse(f"Hi. {JSON}", dialect="auto", tools=TOOLS, strict=True).failures
    small = toolfmt.parse(JSON, dialect="auto", limits=toolfmt.Limits(call_chars=20))
    assert [failure.reason for failure in small.failures] == ["limit"]


@pytest.mark.parametrize("prompt", ["<|im_start|>assistant\n<think>\n", "<think>"])
def test_reasoning_that_the_prompt_opened(prompt: str) -> None:
    result = toolfmt.parse(f"Hm.\n</think>\n\n{JSON}", dialect="auto", generation_prompt=prompt)
    assert (result.reasoning, result.text, len(result.calls)) == ("Hm.", "", 1)
    harmony = toolfmt.parse(
        "Hm.<|end|><|start|>assistant<|channel|>final<|message|>Hi.",
        dialect="auto",
        generation_prompt="<|start|>assistant<|channel|>analysis<|message|>",
    )
    assert (harmony.reasoning, harmony.text) == ("Hm.", "Hi.")


def test_a_call_drafted_in_closed_reasoning_is_none() -> None:
    closed = toolfmt.parse(f"<think>I write {JSON} then</think>Done.", dialect="auto")
    assert (closed.dialect, closed.calls, closed.text) == ("", (), "Done.")
    assert len(toolfmt.parse(f"<think>So: {JSON}", dialect="auto").calls) == 1
    assert len(toolfmt.parse(f"<think>So: {JSON} </think>{JSON}", dialect="auto").calls) == 1


def test_a_quoted_call_does_not_become_one_when_a_real_one_follows() -> None:
    result = toolfmt.parse(f"One writes:\n```\n{JSON}\n```\nSo:\n{ELEMENTS}", dialect="auto")
    assert (result.dialect, len(result.calls)) == ("qwen3-coder", 1)
    assert result.text.strip() == f"One writes:\n```\n{JSON}\n```\nSo:"


def test_json_in_prose_must_end_the_answer() -> None:
    call = '{"name": "get_weather", "arguments": {"city": "Paris"}}'
    assert len(toolfmt.parse(f"Let me look:\n{call}", dialect="auto", tools=TOOLS).calls) == 1
    assert len(toolfmt.parse(f"Let me look:\n```json\n{call}\n```\n", dialect="auto", tools=TOOLS).calls) == 1
    assert not toolfmt.parse(f"I sent\n{call}\nand it worked.", dialect="auto", tools=TOOLS).calls
    assert not toolfmt.parse(f"Let me look:\n{call}", dialect="auto").calls
    assert not toolfmt.parse(call.replace("get_weather", "nobody"), dialect="auto", tools=TOOLS).calls


def test_a_format_of_one_call_alone_is_not_chosen_after_words() -> None:
    tool = toolfmt.ToolDefinition(name="f", parameters={"type": "object", "properties": {"a": {"type": "integer"}}})
    call = '{"tool": {"name": "f", "arguments": {"a": 1}}}'
    for before, dialect in (("", "step-json"), ("I will look.\n", "openai-json")):
        result = toolfmt.parse(before + call, tools=[tool])
        assert (result.dialect, [call.arguments for call in result.calls]) == (dialect, [{"a": 1}])


def test_a_third_partys_dialect_takes_part() -> None:
    hermes = default_registry().dialect("hermes")
    assert hermes.syntax is not None
    form = replace(hermes.syntax.forms[0], section="<acme_call>{calls}</acme_call>")
    acme = toolfmt.text_dialect(
        name="acme",
        summary="calls in <acme_call>",
        syntax=replace(hermes.syntax, forms=(form,)),
        schema=hermes.schema,
        manifest=hermes.manifest,
        sources=hermes.sources,
    )
    text = f"Hi.{JSON.replace('tool_call', 'acme_call')}"
    registry = default_registry().with_dialect(acme)
    assert toolfmt.detect(text).dialect == ""
    assert toolfmt.detect(text, registry=registry).dialect == "acme"
    assert len(toolfmt.parse(text, dialect="auto", registry=registry).calls) == 1
    assert len(toolfmt.parse(JSON, dialect="auto", registry=Registry()).calls) == 0


def test_auto_is_for_reading_alone() -> None:
    for write in (
        lambda: toolfmt.render_calls([], dialect="auto"),
        lambda: toolfmt.manifest(TOOLS, dialect="auto"),
        lambda: FormatSettings(dialect="auto").choose(default_registry()),
    ):
        with pytest.raises(toolfmt.UnknownDialectError, match="only parsing takes it"):
            write()
    with pytest.raises(ValueError, match="use_xml"):
        toolfmt.parse("", dialect="auto", use_xml=True)
    with pytest.raises(toolfmt.errors.DuplicateDialectError, match="detection"):
        default_registry().with_dialect(replace(default_registry().dialect("hermes"), name="Auto", aliases=()))
    settings = FormatSettings(dialect="auto")
    assert toolfmt.parse(JSON, dialect=settings.dialect).calls


def test_a_callers_mistake_raises() -> None:
    with pytest.raises(TypeError, match="decode bytes first"):
        toolfmt.detect(b"x")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="Registry"):
        toolfmt.detect("x", registry="hermes")  # type: ignore[arg-type]
    parser = toolfmt.open_parser(dialect="auto")
    parser.close()
    with pytest.raises(toolfmt.ParseError, match="closed"):
        parser.feed("x")
    with pytest.raises(toolfmt.ParseError, match="closed already"):
        parser.close()


CALL = '<tool_call>{"name": "now", "arguments": {}}</tool_call>'
NOW = [{"name": "now", "parameters": {"type": "object", "properties": {}}}]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('Python docstrings begin with """.\n', ""),
        ('<think>"""</think>\n', ""),
        ("<think>Let me see: x = 'it</think>\n", ""),
        ("Don't worry, it's fine: I'll look.\n", ""),
        ("It's (I'd say) 'fine'. ", ""),
        ("Say it: 'now', please. ", ""),
        ("const empty = ``\n", ""),
        ("A list is written as:\n`\n", ""),
    ],
)
def test_quotation_marks_that_are_merely_spoken_of_hide_no_call(before: str, after: str) -> None:
    assert len(toolfmt.parse(before + CALL + after, dialect="auto", tools=NOW).calls) == 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 'it ", "'"),
        ("Sure.\n[write_file(path='README.md', content='see ", "')]"),
        ("const s = `\n", "\n`;\n"),
        ('text = """\n', '\n"""'),
        ('"""The module.\n', '\n"""'),
        ("f(r'''\n", "\n''')"),
        ('print("one writes ', '")'),
    ],
)
def test_a_string_of_code_calls_nothing(before: str, after: str) -> None:
    for text in (before + CALL + after, before + CALL):
        found = toolfmt.parse(text, dialect="auto", tools=NOW)
        streamed = list(toolfmt.parse_stream(iter(text), dialect="auto", tools=NOW))
        assert (found.calls, found.text) == ((), text)
        assert not any(isinstance(event, toolfmt.CallEnd) for event in streamed)


@pytest.mark.parametrize("before", ['["\\\\" ', '{"a": "x\\\\" ', '["\\" ', 'x = "\\\\\\" ', '"', "a:\n'", "\t: '\\"])
def test_a_string_before_a_marker_ends_alike_however_it_is_cut(before: str) -> None:
    text = f'{before}<tool_call>\n{{"name": "rm", "arguments": {{"p": "/"}}}}\n</tool_call>'
    whole = toolfmt.parse(text, dialect="auto")
    for size in (1, 2, 3, 7):
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        assert tuple(coalesce(list(toolfmt.parse_stream(pieces, dialect="auto")))) == whole.events


@pytest.mark.parametrize(
    "city", ['say \\"hi\\"', "a\\\\", '\\\\\\"}}', "\\u0022}}", "\\\\u0022, {", "\\ud83d\\ude00]"], ids=repr
)
def test_a_cut_before_or_in_an_escape_ends_no_text(city: str) -> None:
    text = f'{{"name": "get_weather", "arguments": {{"city": "{city}"}}}}'
    whole = toolfmt.parse(text, dialect="auto", tools=TOOLS)
    assert [call.arguments for call in whole.calls] == [{"city": json.loads(f'"{city}"')}]
    for at in range(1, len(text)):
        for chunks in ([text[:at], text[at:]], [text[: at - 1], text[at - 1 : at], "", text[at:]]):
            events = coalesce(list(toolfmt.parse_stream(chunks, dialect="auto", tools=TOOLS)))
            assert tuple(events) == whole.events, chunks


@pytest.mark.parametrize(
    "text", ['{"name": "f", "arguments": {"a":', '[{"name": "f", "argu', '{"tool": {"function": "f"']
)
def test_json_that_is_cut_off_behind_an_offered_tools_name_is_a_truncated_call(text: str) -> None:
    tool = toolfmt.ToolDefinition(name="f")
    (failure,) = toolfmt.parse(text, dialect="auto", tools=[tool]).failures
    assert failure.reason == "truncated"
    assert toolfmt.parse(text, dialect="auto").text == text
    assert toolfmt.parse(text, dialect="auto", tools=[toolfmt.ToolDefinition(name="g")]).text == text


@pytest.mark.parametrize("key", ["{\u201cname\u201d", "{name", "{ \u2018name\u2019"])
def test_an_object_with_other_quotation_marks_fails_and_says_why(key: str) -> None:
    text = f'<tool_call>\n{key}: "get_weather", "arguments": {{"city": "Paris"}}}}\n</tool_call>'
    result = toolfmt.parse(text, dialect="auto")
    assert (result.dialect, result.calls) == ("hermes", ())
    assert [failure.reason for failure in result.failures] == ["malformed"]


WEATHER = toolfmt.ToolDefinition(
    name="get_weather",
    description="Look up the weather in a city.",
    parameters={"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)


def streamed(*pieces: str) -> list[toolfmt.Event]:
    events = coalesce(list(toolfmt.parse_stream(pieces, dialect="auto", tools=[WEATHER])))
    return [event for event in events if not isinstance(event, toolfmt.Notice)]


def test_white_space_around_reasoning_is_not_text() -> None:
    events = streamed("<think>\nHm.\n</think>\n\nHello.")
    assert events == streamed("<think>", "\n", "Hm.", "\n</think>\n", "\nHello.")
    assert events == [toolfmt.ReasoningDelta("Hm.", 8), toolfmt.TextDelta("Hello.", 22)]


def test_an_object_that_the_stream_cuts_off_is_not_lost() -> None:
    (text,) = streamed('{"name": "unknown", "argum', 'ents": {"a": ', '"x"')
    assert text == toolfmt.TextDelta('{"name": "unknown", "arguments": {"a": "x"', 0)
    failed = streamed('{"name": "get_weather", "argum', 'ents": {"city": ', '"x"')[-1]
    assert isinstance(failed, toolfmt.CallFailed)
    assert failed.reason == "truncated"


def test_the_beginning_of_an_object_with_a_key_twice_is_text() -> None:
    (text,) = streamed('{"name": "get_weather", "name": "get_weather", "arguments": {"ci')
    assert isinstance(text, toolfmt.TextDelta)


@pytest.mark.parametrize(
    ("before", "calls"),
    [('{"type": "object", "properties": {}}', 0), ("Look up the weather in a city.", 0), ("Let me see.", 1)],
)
def test_a_call_after_a_definition_is_an_example(before: str, calls: int) -> None:
    assert len(toolfmt.parse(f"{before}\n{JSON}", dialect="auto", tools=[WEATHER]).calls) == calls


def test_arguments_named_in_markup_are_an_unread_call() -> None:
    (notice,) = toolfmt.parse("get_weather <city=Paris>", dialect="hermes", tools=[WEATHER]).notices
    assert (notice.kind, notice.span) == ("unread_call", (0, 24))


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("Say ", "", 0),
        ("Say `no` or ", "", 0),
        ("Say `no` or `", "`.", 1),
        ("Say `no`, `yes` or `", "`.", 1),
        ('Say "', '".', 1),
        ("> ", "", 1),
        ("```\n", "\n```", 0),
        ("```\n", "\n```\nThat is all.", 1),
        ("So:\n```\n", "\n```\nThat is all.", 1),
        ("```\nls\n```\n", "\n```\nThat is all.", 0),
    ],
)
def test_an_unread_call_in_a_quotation_is_only_shown(before: str, after: str, shown: int) -> None:
    text = f"{before}<tol_call>get_weather{{}}</tol_call>{after}"
    result = toolfmt.parse(text, dialect="hermes", tools=[WEATHER])
    assert any(notice.kind == "unread_call" for notice in result.notices) == (not shown)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("get_weather(city='Paris')", "expression"),
        ("get_weather(city='Paris')\nget_weather(city='Rome')", "expression"),
        ("print(get_weather(city='Paris'))", "expression"),
        ("get_weather('Paris')", None),
        ("x = get_weather(city='Paris')", None),
        ("get_weather(city='Paris')\nx = (1)", None),
        ("get_weather(city='Paris)", None),
        ("```tool_code\nget_weather(city='Paris')\n```", "fence"),
        ("Like this:\n```tool_code\nget_weather(city='Paris')\n```\n", "fence"),
        ("```python\nget_weather(city='Paris')\n```", None),
        ('data: {"choices": []}\n\n', "stream"),
        ('event: ping\ndata: {"type": "ping"}\n\n', "stream"),
        ('{"error": {"message": "busy"}}', "error"),
        ('{"error": "busy"}', "error"),
        ('{"error": "busy", "a": 1}', None),
        ('{"type": "error", "message": "busy"}', "error"),
        ('{"object": "error", "message": "busy"}', "error"),
        ('{"message": "busy"}', None),
        ('[{"error": {"message": "busy"}}]', "error"),
        ('[{"a": 1}]', None),
        ('{"content": [{"type": "text", "text": "Hi"}]}', "api"),
        ('{"content": []}', None),
        ('{"output": {"message": {}}}', "api"),
        ('{"candidates": [1]}', None),
        ("Hi.", None),
    ],
)
def test_an_answer_without_a_call_may_look_like_something(text: str, kind: str | None) -> None:
    found = unread(text)
    assert (found and found.kind) == kind
    if found is not None:
        assert found.advice()


def test_an_offered_tool_is_known_in_a_fence_of_python_too() -> None:
    call = "```python\nget_weather('Paris')\n```"
    found = [unread(call, [toolfmt.ToolDefinition(name=name)]) for name in ("get_weather", "send_mail")]
    assert [one and one.kind for one in found] == ["fence", None]


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ({"message": {"role": "assistant", "content": "Hi."}}, "api"),
        ({"choices": [{"message": {}}]}, "api"),
        ({"message": {"content": "Hi."}}, None),
        ({"choices": []}, None),
    ],
)
def test_an_apis_answer_is_known_by_what_holds_its_message(answer: JsonObject, kind: str | None) -> None:
    found = unread(json.dumps(answer))
    assert (found and found.kind) == kind
