from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from tests import sampling
from toolfmt.dialect.record import Dialect, Example
from toolfmt.errors import ArgumentsError, SchemaError, TemplateError, UnknownDialectError, UnknownToolError
from toolfmt.lookup.registry import default_registry
from toolfmt.manifests import NO_TOOLS, PREFIX, inject, manifest
from toolfmt.model import ToolDefinition, ToolInvocation
from toolfmt.parsing import parse
from toolfmt.schema import problems

if TYPE_CHECKING:
    from pathlib import Path

READ = ToolDefinition(
    name="read_file",
    description="Read a file.",
    parameters={
        "type": "object",
        "properties": {"path": {"type": "string", "description": "Path."}},
        "required": ["path"],
    },
)
PING = ToolDefinition(name="ping", description="Ping.")
TRICKY = ToolDefinition(
    name="tricky",
    description='`{{ 7 * 7 }}` {% raw %} {{tools}}\n```\n# x\n--- <b> & "q" é ]]> </tool>',
    server="files",
    parameters={
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": 'e.g. "</tool> ``` <x> & {{tools}}"', "minLength": 1},
            "count": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3},
            "ratio": {"type": "number"},
            "deep": {"type": "boolean"},
            "mode": {"enum": ["a,b", "c"]},
            "when": {"type": "string", "format": "date-time"},
            "code": {"type": "string", "pattern": "^[A-Z]{3}$"},
            "tags": {"type": "array", "items": {"type": "integer"}, "minItems": 1},
            "people": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"n": {"type": "string"}, "a": {"type": "integer"}},
                    "required": ["n"],
                },
            },
            "free": {"type": "object"},
            "either": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        },
        "required": ["text", "count"],
    },
)
TEXT_DIALECTS = sampling.dialects()


@pytest.fixture(params=TEXT_DIALECTS, ids=lambda dialect: dialect.name)
def dialect(request: pytest.FixtureRequest) -> Dialect[str]:
    return request.param


@pytest.mark.parametrize("tool", [READ, PING, TRICKY], ids=lambda tool: tool.name)
def test_examples_are_read_back_and_fit(dialect: Dialect[str], tool: ToolDefinition) -> None:
    examples = dialect.example(tool)
    assert [example.title.split()[0] for example in examples] == ["Basic", "Advanced"][: 2 if tool is TRICKY else 1]
    for example in examples:
        (call,) = parse(example.text, dialect=dialect, tools=[tool]).calls
        assert json.dumps(call.arguments, sort_keys=True) == json.dumps(example.call.arguments, sort_keys=True)
        assert not problems(tool, call.arguments)


def test_every_manifest_names_its_tools_in_order_and_shows_a_call(dialect: Dialect[str]) -> None:
    tools = [TRICKY, READ, PING]
    text = manifest(tools, dialect=dialect)
    assert text == manifest(tools, dialect=dialect.name)
    assert text == text.strip()
    assert text.find("tricky") < text.find("read_file") < text.find("ping")
    assert "49" not in text
    for tool in (READ, PING):
        call = dialect.example(tool)[-1].text
        assert call in text or json.dumps(json.loads(call), indent=2) in text
    assert not re.match(r"\s*[{<#]?\s*tool", text), "it begins with how to call"
    assert manifest([], dialect=dialect) == manifest(None, dialect=dialect) == ""


def test_json_manifest() -> None:
    text = manifest([READ, PING], provider="openai")
    how, *blocks = text.split("\n\n---\n\n")
    assert how.startswith("To use a tool, write a call")
    assert blocks == [
        """## Tool Definition:
{
  "type": "function",
  "function": {
    "name": "read_file",
    "description": "Read a file.",
    "parameters": {
      "type": "object",
      "properties": {
        "path": {
          "type": "string",
          "description": "Path."
        }
      },
      "required": [
        "path"
      ]
    }
  }
}

Example: To use this tool, you could provide the following JSON object as a tool call:
### Example 1: Basic Call (Required Arguments)
```json
{
  "tool": {
    "function": {
      "name": "read_file",
      "arguments": {
        "path": "example_path"
      }
    }
  }
}
```""",
        """## Tool Definition:
{
  "type": "function",
  "function": {
    "name": "ping",
    "description": "Ping.",
    "parameters": {
      "type": "object",
      "properties": {},
      "required": []
    }
  }
}

Example: To use this tool, you could provide the following JSON object as a tool call:
### Example 1: Basic Call (Required Arguments)
```json
{
  "tool": {
    "function": {
      "name": "ping",
      "arguments": {}
    }
  }
}
```""",
    ]


def test_json_manifest_with_two_examples() -> None:
    tool = ToolDefinition(name="t", parameters={"properties": {"a": {"type": "integer"}}})
    text = manifest(tool, provider="gemini")
    assert text.endswith(
        """### Example 1: Basic Call (Required Arguments)
```json
{
  "name": "t",
  "args": {}
}
```

### Example 2: Advanced Call (With Optional & Nested Arguments)
```json
{
  "name": "t",
  "args": {
    "a": 1
  }
}
```"""
    )


def test_xml_manifest() -> None:
    text = manifest([READ, PING], provider="openai", use_xml=True)
    assert text == manifest([READ, PING], provider="anthropic")
    general, arrays, *_ = text.split("\n\n")
    assert general.startswith("To use a tool, write an XML block exactly like the tool's examples below.")
    assert arrays.startswith("Formatting Lists/Arrays: For any argument that is a list (an array), you MUST wrap")
    assert text.split("\n\n---\n\n")[1] == (
        """## Tool Definition:
<tool name="read_file" description="Read a file.">
    <arguments>
        <arg name="path" type="string" description="Path." required="true" />
    </arguments>
</tool>

## Tool Usage Examples and Guidelines:
### Example 1: Basic Call (Required Arguments)
<tool name="read_file">
    <arguments>
        <arg name="path">example_path</arg>
    </arguments>
</tool>"""
    )


def test_xml_blocks_are_well_formed_whatever_the_data() -> None:
    for block in manifest([TRICKY, READ], dialect="xml-items").split("\n\n---\n\n")[1:]:
        found = re.findall(r"^<tool .*?^</tool>", block, re.MULTILINE | re.DOTALL)
        assert found
        for text in found:
            etree.fromstring(text)


def test_a_fence_is_longer_than_any_ticks_in_it() -> None:
    for name in ("openai-json", "tool-json", "xml-cdata"):
        lines = manifest(TRICKY, dialect=name).splitlines()
        fences = [line for line in lines if re.fullmatch(r"`{3,}\w*", line)]
        assert {fence.rstrip("abcdefghijklmnopqrstuvwxyz") for fence in fences} == {"````"}
        assert len(fences) == 4


def test_execute_and_react_manifests() -> None:
    execute = manifest([READ, PING], dialect="execute-array")
    assert "\n\nTOOLS:\nread_file(path) - Read a file.\nping() - Ping.\n\n" in execute
    react = manifest([READ, PING], dialect="react")
    catalog = '[{"name":"read_file","description":"Read a file."},{"name":"ping","description":"Ping."}]'
    assert f"TOOL CATALOG (names, descriptions):\n{catalog}\n" in react
    decision = manifest([READ], dialect="react", template="react-decision.jinja")
    *_, call, final = map(json.loads, decision.splitlines()[-2:])
    assert (call["type"], call["tool"], call["args"]) == ("call_tool", "read_file", {"path": "example_path"})
    assert final["type"] == "final_answer"


def test_markdown_manifest_notes_what_ends_the_turn() -> None:
    done = ToolDefinition(name="done", metadata={"loop_breaking": True})
    text = manifest([done, PING], dialect="tool-json")
    assert text.startswith("# AVAILABLE TOOLS\n\n")
    first, second = text.split("\n\n---\n\n")
    note = "\n\n*This is a loop-breaking tool - using it will end the current turn.*\n\n**Example:**"
    assert note in first
    assert "loop-breaking" not in second


def test_any_form_of_tools_is_taken() -> None:
    def greet(name: str) -> str:
        """Greet somebody."""
        return name

    assert "Greet somebody." in manifest(greet)
    assert manifest({"name": "ping", "description": "Ping."}) == manifest([PING]) == manifest((PING,), provider=None)
    with pytest.raises(UnknownDialectError):
        manifest(PING, dialect="no-such")


def other_schema(tool: ToolDefinition) -> str:
    return f"<<{tool.name}>>"


def other_example(tool: ToolDefinition) -> tuple[Example, ...]:
    return (Example(title="Own", call=ToolInvocation(name=tool.name), text="<own/>"),)


def test_one_tools_own_pair_of_formatters() -> None:
    registry = default_registry().with_override("openai-json", "read_file", (other_schema, other_example))
    text = manifest([READ, PING], provider="openai", registry=registry)
    assert "<<read_file>>\n\nExample: To use this tool, you could provide the following text as a tool call:" in text
    assert "### Example 1: Own\n<own/>\n\n---" in text
    assert "<<ping>>" not in text
    assert "<<" not in manifest([READ], provider="gemini", registry=registry)


def test_a_tool_that_cannot_be_shown() -> None:
    broken = ToolDefinition(name="broken", parameters={"properties": {"a": {"$ref": "#/nowhere"}}})
    with pytest.raises(SchemaError):
        manifest([READ, broken])
    seen: list[Any] = []
    text = manifest([broken, READ], on_broken=lambda tool, error: seen.append((tool.name, type(error))))
    assert text == manifest([READ])
    assert [name for name, _ in seen] == ["broken"]
    assert inject("T: {{tools}}", [broken], on_broken=lambda *_: None) == f"T: \n{NO_TOOLS}"


def test_own_templates(tmp_path: Path) -> None:
    text = "{% for tool in tools %}\n{{ tool.name }}: {{ tool.parameters | json }}\n{% endfor %}"
    expected = (
        'read_file: {"type":"object","properties":{"path":{"type":"string","description":"Path."}},"required":["path"]}'
    )
    assert manifest([READ], template=text) == expected
    file = tmp_path / "own.jinja"
    file.write_text(text, "utf-8")
    assert manifest([READ], template=file) == expected
    assert inject("{{ tools }}!", [READ], template=text) == f"\n{expected}!"
    unsorted = '{{ {"z": "<é>", "a": 1} | json(indent=2) }}'
    assert manifest([READ], template=unsorted) == '{\n  "z": "<é>",\n  "a": 1\n}'
    assert manifest([READ], template="{{ 'a```b' | fenced }}") == "````\na```b\n````"


@pytest.mark.parametrize(
    ("template", "says"),
    [
        ("{% for %}", "line 1"),
        ("a\n{{ tool.name }}", "line 2: 'tool' is undefined"),
        ("{{ tools[0].nothing }}", "nothing"),
        ("{{ tools.__class__.__mro__ }}", "unsafe"),
        ("{{ tools.append(1) }}", "not safely callable|unsafe"),
        ("{{ 1 // 0 }}", "zero"),
        ("{{ tools + 1 }}", "concatenate"),
        ("{{ self | json }}", "JSON"),
        ("{% include 'nothing.jinja' %}", "nothing.jinja"),
        ("nothing.jinja", "json.jinja"),
    ],
)
def test_broken_templates_say_where(template: str, says: str) -> None:
    with pytest.raises(TemplateError, match=says):
        manifest([READ], template=template)


def test_a_dialect_may_bring_its_own_template() -> None:
    own = replace(default_registry().dialect("openai-json"), manifest="{{ tools | map(attribute='name') | join }}")
    assert manifest([READ, PING], dialect=own) == "read_fileping"


TEXT = manifest([READ])


@pytest.mark.parametrize(
    ("prompt", "result"),
    [
        ("A\n{{tools}}\nB", f"A\n\n{TEXT}\nB"),
        ("A {{ tools }} B {{\n tools\t}}", f"A \n{TEXT} B \n{TEXT}"),
        ("Hi {{name}} {{tools}} x\n", f"Hi {{{{name}}}} \n{TEXT} x\n"),
        ("{% if x %}{{tools}}{% endif %}{# c #}\n\n", f"{{% if x %}}\n{TEXT}{{% endif %}}{{# c #}}\n\n"),
        ("{{tools}} é\r\n\u2028\x00", f"\n{TEXT} é\r\n\u2028\x00"),
        ("no place\n", f"no place\n\n\n## Accessible Tools\n\n{TEXT}"),
        ("", f"\n\n## Accessible Tools\n\n{TEXT}"),
        ("{{tools}}", PREFIX + TEXT),
        ("  {{ tools }}\n{# a\ncomment #}\n{{tools}} ", PREFIX + TEXT),
        ("{# open {{tools}}", f"{{# open \n{TEXT}"),
    ],
)
def test_inject(prompt: str, result: str) -> None:
    assert inject(prompt, [READ]) == result


def test_inject_the_prefix_as_it_is() -> None:
    assert PREFIX == (
        "You have access to a set of tools. Use them by outputting the appropriate tool call format. The user can only "
        "see the output of the tool, not the call itself. The available tools are:\n\n"
    )


def test_what_is_injected_is_not_looked_at_again() -> None:
    text = manifest([TRICKY], dialect="xml-items")
    assert "{{tools}}" in text
    assert inject("a {{tools}} b {{tools}}", [TRICKY], dialect="xml-items") == f"a \n{text} b \n{text}"
    escapes = ToolDefinition(name="t", description=r"\1 \g<0> \n")
    assert r"\\1 \\g<0> \\n" in inject("a {{tools}}", [escapes])


def test_inject_without_tools() -> None:
    assert inject("T: {{tools}}\n", []) == f"T: \n{NO_TOOLS}\n"
    assert inject("{{tools}}", []) == NO_TOOLS
    assert inject("T: {{tools}}", None, missing="None.") == "T: \nNone."
    assert inject("T", []) == "T"


def test_inject_chooses_as_manifest_does() -> None:
    choices: list[dict[str, Any]] = [
        {"provider": "anthropic"},
        {"dialect": "react"},
        {"use_xml": True},
        {"model": "gpt-4o"},
    ]
    for choice in choices:
        assert inject("T {{tools}}", [READ], **choice) == f"T \n{manifest([READ], **choice)}"


@given(
    st.lists(st.sampled_from(["{{tools}}", "{{ tools }}", "{{x}}", "{%", "{#", "#}", "{", "}", "\\", "a", "\n", " "]))
)
def test_the_rest_of_a_prompt_is_byte_identical(pieces: list[str]) -> None:
    prompt = "".join(pieces)
    result = inject("Z" + prompt, [PING], template="{{ tools[0].name }}<<>>")
    filled = "Z" + re.sub(r"\{\{\s*tools\s*\}\}", "\nping<<>>", prompt)
    assert result == (filled if filled != "Z" + prompt else f"Z{prompt}\n\n## Accessible Tools\n\nping<<>>")


CITY = ToolDefinition(
    name="weather",
    parameters={"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}},
)


@pytest.mark.parametrize("dialect", list(default_registry()), ids=lambda dialect: dialect.name)
def test_examples_are_as_many_as_asked_for_or_the_callers_own(dialect: Dialect[Any]) -> None:
    own = manifest([CITY], dialect=dialect, examples={"weather": [{"city": "Oslo"}, {"city": "Rome", "days": 3}]})
    assert ("Oslo" in own, "Rome" in own, "example_city" in own) == (True, True, False)
    none = manifest([CITY], dialect=dialect, examples=0)
    assert "example_city" not in none
    form = none.partition("Each call has this form, with the tool's own name and arguments:\n\n")[2]
    shown = ToolDefinition(name="tool_name", parameters={"properties": {"argument": {"type": "string"}}})
    (call,) = parse(form, dialect=dialect, tools=[shown]).calls
    assert (call.name, call.arguments) == ("tool_name", {"argument": "value"})
    assert "example_city" in manifest([CITY, PING], dialect=dialect, examples={"ping": []})


@pytest.mark.parametrize(
    ("examples", "error"),
    [
        ({"wether": [{}]}, UnknownToolError),
        ({"weather": [{"city": 3}]}, ArgumentsError),
        ({"weather": {"city": "Oslo"}}, TypeError),
        ({"weather": "Oslo"}, TypeError),
        (True, TypeError),
        (-1, ValueError),
    ],
)
def test_examples_that_cannot_be_shown_are_refused(examples: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"examples|weather"):
        manifest([CITY], examples=examples)


def test_a_template_without_a_place_for_own_examples_is_refused() -> None:
    with pytest.raises(ValueError, match="shows no examples"):
        manifest([CITY], template="{{ tools[0].schema }}", examples={"weather": [{"city": "Oslo"}]})
