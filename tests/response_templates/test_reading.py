"""What a response template's dialect reads and writes, beyond what transformers does."""

from __future__ import annotations

import copy
import json
from types import MappingProxyType

import pytest
from shapes import ACTIONS, CHANNELS, JSON_TAGS, KEYED, PARAMETERS, STARTS_THINKING, TEMPLATES, TEXTS

import toolfmt
from toolfmt import ToolDefinition, ToolInvocation
from toolfmt.dialect.records import dump, load

CALLS = [ToolInvocation(name="weather", arguments={"city": "Paris"}), ToolInvocation(name="run", arguments={})]
WEATHER = ToolDefinition(name="weather", parameters={"type": "object", "properties": {"city": {"type": "string"}}})
WRITTEN = {
    "json-tags": '<tool_call>{"name": "weather", "arguments": {"city": "Paris"}}</tool_call>'
    '<tool_call>{"name": "run", "arguments": {}}</tool_call>',
    "json-lines": '<tool_call>{"name": "weather", "arguments": {"city": "Paris"}}</tool_call>'
    '<tool_call>{"name": "run", "arguments": {}}</tool_call>',
    "parameters": "<tool_call>\n<function=weather>\n<parameter=city>\nParis\n</parameter>\n</function>\n</tool_call>"
    "<tool_call>\n<function=run>\n</function>\n</tool_call>",
    "open-function": "<tool_call>\n<function=weather>\n<parameter=city>\nParis\n</parameter>\n</function>\n</tool_call>"
    "<tool_call>\n<function=run>\n</function>\n</tool_call>",
    "literals": '<|tool_call>call:weather{city:<|"|>Paris<|"|>}<tool_call|><|tool_call>call:run{}<tool_call|>',
    "actions": '<|START_ACTION|>[{"tool_name": "weather", "parameters": {"city": "Paris"}}, '
    '{"tool_name": "run", "parameters": {}}]<|END_ACTION|>',
    "channels": '<|channel|>commentary to=functions.weather<|message|>{"city": "Paris"}<|call|>'
    "<|channel|>commentary to=functions.run<|message|>{}<|call|>",
    "blocks": '<|message_model|><|content_invoke_tool_json|>{"name": "weather", "args": {"city": "Paris"}}'
    '<|end_message|><|message_model|><|content_invoke_tool_json|>{"name": "run", "args": {}}<|end_message|>',
    "headers": '<|start|>assistant to=weather<|channel|>analysis <|constrain|>xml<|message|><p name="city">Paris</p>'
    "<|call|><|start|>assistant to=run<|channel|>analysis <|constrain|>xml<|message|><|call|>",
    "brackets": '[TOOL_CALLS]weather[ARGS]{"city": "Paris"}[TOOL_CALLS]run[ARGS]{}',
    "keyed": "<tool_call>weather<arg_key>city</arg_key>\n<arg_value>Paris</arg_value></tool_call>"
    "<tool_call>run</tool_call>",
}


@pytest.mark.parametrize("shape", WRITTEN)
def test_calls_are_written_as_the_template_reads_them(shape: str) -> None:
    dialect = toolfmt.response_dialect(TEMPLATES[shape])
    assert toolfmt.render_calls(CALLS, dialect=dialect, tools=[WEATHER]) == WRITTEN[shape]


@pytest.mark.parametrize("shape", TEMPLATES)
def test_any_text_of_any_shape_is_read_alike_in_pieces(shape: str) -> None:
    dialect = toolfmt.response_dialect(TEMPLATES[shape])
    for text in [text for texts in TEXTS.values() for text in texts]:
        whole = toolfmt.parse(text, dialect=dialect)
        parser = toolfmt.open_parser(dialect=dialect)
        events = [event for char in text for event in parser.feed(char)] + parser.close()
        assert toolfmt.events.coalesce(events) == list(whole.events)


def test_a_template_may_be_json_text_or_a_mapping() -> None:
    one = toolfmt.response_dialect(json.dumps(JSON_TAGS))
    other = toolfmt.response_dialect(MappingProxyType(JSON_TAGS), name="mine")
    assert one.name == "response-template"
    assert other.name == "mine"
    assert one.syntax == other.syntax


@pytest.mark.parametrize("shape", TEMPLATES)
def test_its_syntax_is_data_that_can_be_kept(shape: str) -> None:
    syntax = toolfmt.response_dialect(TEMPLATES[shape]).syntax
    assert syntax is not None
    assert load(json.loads(json.dumps(dump(syntax)))) == syntax


def test_a_quoted_call_inside_the_text_is_text() -> None:
    quoted = '<|START_ACTION|>[{"tool_name": "rm", "parameters": {}}]<|END_ACTION|>'
    text = f"<|START_RESPONSE|>Never write {quoted}.<|END_RESPONSE|>"
    found = toolfmt.parse(text, dialect=toolfmt.response_dialect(ACTIONS))
    assert found.text == f"Never write {quoted}."
    assert not found.calls
    assert not found.failures


def test_what_stands_outside_all_regions_is_reported_and_is_no_text() -> None:
    text = "Oh <b><|START_RESPONSE|>Hello.<|END_RESPONSE|> And more"
    found = toolfmt.parse(text, dialect=toolfmt.response_dialect(ACTIONS))
    assert found.text == "Hello."
    reported = [(notice.kind, notice.detail, text[slice(*notice.span)]) for notice in found.notices]
    assert reported == [("unclaimed_text", "Oh <b>", "Oh <b>"), ("unclaimed_text", " And more", " And more")]


def test_without_a_field_for_the_text_it_is_what_is_left() -> None:
    template = copy.deepcopy(JSON_TAGS)
    del template["fields"]["content"]
    found = toolfmt.parse("<think>a</think>Hello.", dialect=toolfmt.response_dialect(template))
    assert (found.reasoning, found.text, found.notices) == ("a", "Hello.", ())


def test_tokens_that_end_the_turn_are_no_text() -> None:
    dialect = toolfmt.response_dialect(CHANNELS, stop=["<|eot|>"])
    assert toolfmt.parse("<|channel|>final<|message|>Hello.<|eot|>", dialect=dialect).text == "Hello."
    assert toolfmt.parse("Hi.<|im_end|>x", dialect=toolfmt.response_dialect(JSON_TAGS)).text == "Hi."


def test_an_answer_that_begins_in_its_reasoning() -> None:
    dialect = toolfmt.response_dialect(STARTS_THINKING)
    for opening in ("", "<think>\n"):
        found = toolfmt.parse(f"{opening}Hm.\n</think>\n\n<response>\nHello.\n</response>", dialect=dialect)
        assert (found.reasoning, found.text.strip()) == ("Hm.", "Hello.")


def test_types_come_from_the_schema_first_and_else_from_the_value() -> None:
    values = "<parameter=code>\n007\n</parameter>\n<parameter=n>\n42\n</parameter>\n"
    text = f"<tool_call>\n<function=f>\n{values}</function>\n</tool_call>"
    dialect = toolfmt.response_dialect(PARAMETERS)
    assert toolfmt.parse(text, dialect=dialect).calls[0].arguments == {"code": "007", "n": 42}
    texts = {"type": "object", "properties": {"n": {"type": "string"}}}
    tools = [ToolDefinition(name="f", parameters=texts)]
    assert toolfmt.parse(text, dialect=dialect, tools=tools).calls[0].arguments == {"code": "007", "n": "42"}


def test_a_key_given_twice_is_a_list_where_the_template_says_so() -> None:
    pairs = "".join(f"<arg_key>a</arg_key><arg_value>{value}</arg_value>" for value in "xy")
    text = f"<tool_call>f{pairs}</tool_call>"
    found = toolfmt.parse(text, dialect=toolfmt.response_dialect(KEYED))
    assert [failure.reason for failure in found.failures] == ["duplicate_key"]
    template = copy.deepcopy(KEYED)
    template["fields"]["tool_calls"]["content_args"]["merge_duplicates"] = True
    (call,) = toolfmt.parse(text, dialect=toolfmt.response_dialect(template)).calls
    assert call.arguments == {"a": ["x", "y"]}


def test_a_broken_call_fails_and_the_next_one_is_read() -> None:
    text = '<tool_call>{"name": "f", "arguments": {]}}</tool_call><tool_call>{"name": "g", "arguments": {}}</tool_call>'
    found = toolfmt.parse(text, dialect=toolfmt.response_dialect(JSON_TAGS))
    assert [call.name for call in found.calls] == ["g"]
    assert [failure.reason for failure in found.failures] == ["malformed"]


def test_a_name_written_between_other_words() -> None:
    """What `.*?` stands for is read over, however the model fills it."""
    dialect = toolfmt.response_dialect(CHANNELS)
    for words in ("", " <|constrain|>json", " code"):
        text = f'<|channel|>commentary to=functions.run{words}<|message|>{{"a": 1}}<|call|>'
        (call,) = toolfmt.parse(text, dialect=dialect).calls
        assert (call.name, call.arguments) == ("run", {"a": 1})


def test_ids_that_the_marker_holds() -> None:
    template = copy.deepcopy(KEYED)
    template["fields"]["tool_calls"] = {
        "open_pattern": r"<call id=(?P<number>\w+) tool=(?P<tool>\w+)>",
        "close": "</call>",
        "repeats": True,
        "content": "json",
        "transform": {"id": "{number}", "type": "function", "function": {"name": "{tool}", "arguments": "{content}"}},
    }
    dialect = toolfmt.response_dialect(template)
    text = '<call id=c1 tool=f>{"a": 1}</call>'
    (call,) = toolfmt.parse(text, dialect=dialect).calls
    assert (call.id, call.name, call.arguments) == ("c1", "f", {"a": 1})
    assert dialect.traits.carries_ids
    assert toolfmt.render_calls([call], dialect=dialect) == text


@pytest.mark.timeout(60)
@pytest.mark.parametrize("shape", TEMPLATES)
def test_markers_without_end_are_read_in_little_time(shape: str) -> None:
    """An opening marker again and again, with and without a name behind it; before, some took minutes."""
    dialect = toolfmt.response_dialect(TEMPLATES[shape])
    assert dialect.syntax is not None
    form = dialect.syntax.forms[0]
    opener = (form.section.partition("{calls}")[0] or form.call).partition("{")[0]
    for unit in (opener, f"{opener}f", f"{opener}f "):
        text = (unit * 20_000)[:20_000]
        parser = toolfmt.open_parser(dialect=dialect)
        events = [event for at in range(0, len(text), 3) for event in parser.feed(text[at : at + 3])] + parser.close()
        assert toolfmt.events.coalesce(events) == list(toolfmt.parse(text, dialect=dialect).events)
