"""A conversation of any format is rendered as the template needs it, and what it cannot hold is told."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from template_families import DATED, IDS, NEEDS_CONTENT, NO_TOOLS, PARTS, TAGS, TEXT_ARGUMENTS, XML

import toolfmt
from toolfmt.errors import ConversionError, ParseError, TemplateError, TemplateRefusedError

WEATHER = {
    "type": "function",
    "function": {"name": "get_weather", "description": "Look.", "parameters": {"type": "object", "properties": {}}},
}
OPENAI = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Weather?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "18C"},
]
ANTHROPIC = {
    "system": "Be brief.",
    "messages": [
        {"role": "user", "content": "Weather?"},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "c1", "name": "get_weather", "input": {"city": "Paris"}}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "18C"}]},
    ],
    "tools": [{"name": "get_weather", "description": "Look.", "input_schema": {"type": "object", "properties": {}}}],
}
HUGGING_FACE = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Weather?"},
    {
        "role": "assistant",
        "tool_calls": [{"type": "function", "function": {"name": "get_weather", "arguments": {"city": "Paris"}}}],
    },
    {"role": "tool", "name": "get_weather", "content": "18C"},
]
TEXT = """<|im_start|>system
Be brief.
# Tools
<tools>
{"type": "function", "function": {"name": "get_weather", "description": "Look.", \
"parameters": {"type": "object", "properties": {}}}}
</tools><|im_end|>
<|im_start|>user
Weather?<|im_end|>
<|im_start|>assistant
<tool_call>
{"name": "get_weather", "arguments": {"city": "Paris"}}
</tool_call><|im_end|>
<|im_start|>user
<tool_response>
18C
</tool_response><|im_end|>
<|im_start|>assistant
"""


@pytest.mark.parametrize("template", [TAGS, TEXT_ARGUMENTS, NEEDS_CONTENT])
@pytest.mark.parametrize("messages", [OPENAI, ANTHROPIC, HUGGING_FACE], ids=["openai", "anthropic", "hf"])
def test_every_format_gives_the_same_prompt_in_every_need(template: str, messages: object) -> None:
    prompt = toolfmt.render_prompt(messages, [WEATHER], template=template)
    assert prompt == TEXT
    assert prompt.losses == ()


def test_tools_of_the_conversation_are_shown() -> None:
    assert toolfmt.render_prompt(ANTHROPIC, template=TAGS) == TEXT


def test_tools_come_in_any_form() -> None:
    def get_weather() -> str:
        """Look."""
        return ""

    openai = WEATHER["function"] | {"type": "function"}
    for tools in ([get_weather], [openai], ANTHROPIC["tools"], [toolfmt.ToolDefinition(name="get_weather")]):
        assert '"name": "get_weather"' in toolfmt.render_prompt(OPENAI, tools, template=TAGS)


def test_a_transcript_is_taken_and_the_generation_prompt_is_a_choice() -> None:
    said = toolfmt.Transcript((toolfmt.Message("user", (toolfmt.conversation.TextPart("Hi"),)),))
    assert toolfmt.render_prompt(said, template=TAGS, add_generation_prompt=False) == "<|im_start|>user\nHi<|im_end|>\n"


def test_ids_are_handed_over() -> None:
    text = toolfmt.render_prompt(OPENAI, template=IDS)
    assert '"id": "c1"' in text
    assert "<tool_response id=c1>" in text


def test_parts_become_text_where_the_template_takes_text_and_the_reverse() -> None:
    parts = [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}]
    reported = toolfmt.render_prompt(parts, template=TAGS, source="hf-chat")
    assert "user\na\nb<|im_end|>" in reported
    assert [(loss.code, loss.path, loss.action) for loss in reported.losses] == [("boundary", "/messages/0", "merged")]
    assert "user\nHi<|im_end|>" in toolfmt.render_prompt([{"role": "user", "content": "Hi"}], template=PARTS)
    assert "user\nab<|im_end|>" in toolfmt.render_prompt(parts, template=PARTS, source="hf-chat")


def test_what_is_lost_is_reported_and_refused_under_strict() -> None:
    seen = [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image", "url": "https://e.com/a"}]}]
    assert [loss.code for loss in toolfmt.render_prompt(seen, template=TAGS).losses] == ["media"]
    with pytest.raises(ConversionError, match="media dropped at /messages/0"):
        toolfmt.render_prompt(seen, template=TAGS, strict=True)


def test_broken_arguments_are_kept_and_reported() -> None:
    broken = [*OPENAI[:2], {**OPENAI[2], "tool_calls": [{**OPENAI[2]["tool_calls"][0]}]}]
    broken[2]["tool_calls"][0]["function"] = {"name": "get_weather", "arguments": '{"city": '}
    reported = toolfmt.render_prompt(broken, template=TAGS, source="openai-chat")
    assert '{\\"city\\": "' in reported
    assert [loss.code for loss in reported.losses] == ["arguments"]


@pytest.mark.parametrize(
    ("arguments", "written"),
    [
        ('{"city": "Rome"}', '"arguments": {"city": "Rome"}'),
        ("", '"arguments": {}'),
        ("[1]", '"arguments": "[1]"'),
        ("no JSON", '"arguments": "no JSON"'),
    ],
)
def test_arguments_as_text_become_an_object_where_the_template_takes_one(arguments: str, written: str) -> None:
    call = {"type": "function", "function": {"name": "get_weather", "arguments": arguments}}
    asked = [*OPENAI[:2], {"role": "assistant", "tool_calls": [call]}]
    assert written in toolfmt.render_prompt(asked, template=TAGS, source="hf-chat")


def test_raw_values(tmp_path: Path) -> None:
    file = tmp_path / "chat_template.jinja"
    file.write_text(XML, "utf-8")
    assert "<parameter=city>\nParis\n</parameter>" in toolfmt.render_prompt(OPENAI, path=tmp_path)
    assert "<parameter=city>\nParis\n</parameter>" in toolfmt.render_prompt(OPENAI, path=str(file))


def test_tokens_variables_and_the_date(tmp_path: Path) -> None:
    (tmp_path / "tokenizer_config.json").write_text('{"bos_token": "<s>", "eos_token": "</s>"}', "utf-8")
    (tmp_path / "chat_template.jinja").write_text(NO_TOOLS, "utf-8")
    user = [{"role": "user", "content": "Hi"}]
    assert toolfmt.render_prompt(user, path=tmp_path) == "<s><|user|>\nHi</s>\n<|assistant|>\n"
    assert toolfmt.render_prompt(user, path=tmp_path, variables={"bos_token": ""}).startswith("<|user|>")
    assert toolfmt.render_prompt(user, template="{{ mode }}", variables={"mode": "on"}) == "on"
    then = datetime(2024, 7, 26, tzinfo=UTC)
    tokens = {"bos_token": "", "eos_token": ""}
    assert toolfmt.render_prompt(user, template=DATED, now=then, variables=tokens).startswith("26 Jul 2024")
    with pytest.raises(TemplateError, match="line 1: it needs 'bos_token': give it in variables="):
        toolfmt.render_prompt(user, template="{{ bos_token + '' }}")


def test_one_of_several_templates_is_chosen_by_name_or_because_there_are_tools(tmp_path: Path) -> None:
    (tmp_path / "tokenizer_config.json").write_text(
        '{"chat_template": {"default": "{{ 1 }}", "tool_use": "{{ 2 }}", "rag": "{{ 3 }}"}}', "utf-8"
    )
    user = [{"role": "user", "content": "Hi"}]
    assert toolfmt.render_prompt(user, path=tmp_path) == "1"
    assert toolfmt.render_prompt(user, [WEATHER], path=tmp_path) == "2"
    assert toolfmt.render_prompt(user, [WEATHER], path=tmp_path, template="rag") == "3"


def test_callers_mistakes() -> None:
    user = [{"role": "user", "content": "Hi"}]
    with pytest.raises(TypeError, match="give the chat template"):
        toolfmt.render_prompt(user)
    with pytest.raises(TypeError, match="tools are given in a list"):
        toolfmt.render_prompt(user, WEATHER, template=TAGS)
    with pytest.raises(ValueError, match="messages: these are arguments, and not variables"):
        toolfmt.render_prompt(user, template=TAGS, variables={"messages": []})
    with pytest.raises(ParseError, match="nothing in the conversation identifies its format"):
        toolfmt.render_prompt(["Hi"], template=TAGS)
    with pytest.raises(TemplateError, match="template= is a text without anything to fill in"):
        toolfmt.render_prompt(user, template="Qwen3-8B")
    with pytest.raises(TemplateRefusedError, match="No!"):
        toolfmt.render_prompt(user, template="{{ raise_exception('No!') }}")
    with pytest.raises(toolfmt.errors.UnrepresentableError):
        toolfmt.render_prompt(user, template=TAGS, variables={"x": object()})
