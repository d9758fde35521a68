"""What is wrong with a template is found and said in words, and what is right is not complained of."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from template_families import DOUBLE, IDS, LAST_REASONING, NO_TEXT, NO_TOOLS, ONE_CALL, TAGS, TEXT_ARGUMENTS, XML

import toolfmt
from toolfmt.workshop.doctor.diagnosis import Diagnosis
from toolfmt.workshop.doctor.findings import differences
from toolfmt.workshop.doctor.scenarios import ANSWERS

SCENARIOS = ("dialect", "tools", *ANSWERS, "results", "history")


def _messages(found: Diagnosis, scenario: str) -> list[tuple[str, str]]:
    (check,) = (one for one in found.checks if one.scenario == scenario)
    return [(one.status, one.message) for one in check.findings]


def _all(found: Diagnosis) -> list[str]:
    return [one.message for check in found.checks for one in check.findings]


@pytest.mark.parametrize(("template", "dialect"), [(TAGS, "qwen25"), (TEXT_ARGUMENTS, "qwen25"), (XML, "qwen3-coder")])
def test_a_sound_template_passes_with_the_dialect_that_was_found(template: str, dialect: str) -> None:
    found = toolfmt.diagnose(template=template)
    assert found.ok
    assert found.dialect == dialect
    assert tuple(check.scenario for check in found.checks) == SCENARIOS
    assert [one for one in _all(found) if "JSON text" not in one] == ["ids are dropped"]
    assert any("must be JSON text" in one for one in _all(found)) == (template is TEXT_ARGUMENTS)
    assert found == toolfmt.diagnose(template=template, dialect=dialect)


@pytest.mark.parametrize(
    ("template", "scenario", "status", "message"),
    [
        (LAST_REASONING, "history", "note", "the template drops the reasoning of earlier turns"),
        (NO_TEXT, "text", "note", "the template drops text beside calls"),
        (NO_TEXT, "history", "note", "the template drops text of earlier turns"),
        (DOUBLE, "one call", "note", "call 1: arguments are encoded twice, as JSON text inside JSON"),
        (ONE_CALL, "parallel", "fail", "the template refuses it: This model only supports single tool-calls at once!"),
        (NO_TOOLS, "tools", "fail", "no tools in the prompt: the template does not show them"),
        (NO_TOOLS, "one call", "fail", "the template does not write the call of get_weather"),
        (
            TAGS.replace("call.function.arguments | tojson", "call.function.arguments | tojson | upper"),
            "one call",
            "fail",
            "a call cannot be read: unclaimed: no argument is called 'CITY': write 'city'",
        ),
        (
            TAGS.replace("'\\n</tool_response>", "'</tool_response>").replace(
                "+ message.content + '</tool", "+ 'x</tool"
            ),
            "results",
            "fail",
            "a result is not shown as it is: Eighteen degrees & rain.",
        ),
        (
            TAGS.replace("+ message.content + '\\n</tool_r", "+ (message.content | e) + '\\n</tool_r"),
            "results",
            "fail",
            None,
        ),
        (TAGS.replace("tool | tojson", "tool.function.name"), "tools", "fail", None),
        (
            TAGS.replace("{%- for message in messages %}", "{%- for message in messages[-1:] %}"),
            "history",
            "fail",
            None,
        ),
    ],
)
def test_each_fault_is_named(template: str, scenario: str, status: str, message: str | None) -> None:
    found = toolfmt.diagnose(template=template, dialect="qwen25")
    assert template != TAGS
    reported = _messages(found, scenario)
    assert (status, message) in reported if message is not None else status in {one for one, _ in reported}
    assert found.ok is all(check.status != "fail" for check in found.checks)


def test_ids_that_are_written_are_not_said_to_be_dropped() -> None:
    assert "ids are dropped" not in _all(toolfmt.diagnose(template=IDS, dialect="qwen25"))


def test_another_dialect_does_not_read_it() -> None:
    found = toolfmt.diagnose(template=TAGS, dialect="mistral-v11")
    assert not found.ok
    assert _messages(found, "one call")[0][0] == "fail"


def test_the_template_for_tools_is_the_one_that_is_examined(tmp_path: Path) -> None:
    config = {"chat_template": {"default": NO_TOOLS, "tool_use": TAGS}, "bos_token": "<s>", "eos_token": "</s>"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config), "utf-8")
    found = toolfmt.diagnose(tmp_path)
    assert (found.template, found.ok) == ("tool_use", True)
    assert not toolfmt.diagnose(tmp_path, template="default").ok


def test_a_checkpoints_own_response_template_is_the_dialect_and_a_broken_one_is_noted(tmp_path: Path) -> None:
    template = {
        "start_anchor": "<|im_start|>assistant\n",
        "fields": {
            "reasoning_content": {"open": "<think>", "close": "</think>"},
            "tool_calls": {
                "open": "<tool_call>",
                "close": "</tool_call>",
                "content": "json",
                "repeats": True,
                "transform": {"type": "function", "function": "{content}"},
            },
            "content": {"close": "<|im_end|>"},
        },
    }
    config = {"chat_template": TAGS, "response_template": template, "name_or_path": "acme/tiny"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config), "utf-8")
    found = toolfmt.diagnose(tmp_path)
    assert _messages(found, "dialect") == []
    assert found.dialect == "tiny"
    config["response_template"] = {"fields": 7}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config), "utf-8")
    (first, *_) = _messages(toolfmt.diagnose(tmp_path), "dialect")
    assert first[0] == "note"
    assert "its response template is not used" in first[1]


def test_a_format_that_nobody_knows_is_inferred_and_that_is_noted() -> None:
    new = TAGS.replace("<tool_call>", "<<do>>").replace("</tool_call>", "<<done>>")
    found = toolfmt.diagnose(template=new)
    assert any("inferred" in message for _, message in _messages(found, "dialect"))
    assert _messages(found, "one call") == []


def test_variables_reach_the_template() -> None:
    silent = TAGS.replace("message.reasoning_content %}", "message.reasoning_content and thinking_on %}")
    assert ("note", "the template drops reasoning") in _messages(toolfmt.diagnose(template=silent), "reasoning")
    assert _messages(toolfmt.diagnose(template=silent, variables={"thinking_on": True}), "reasoning") == []


@pytest.mark.parametrize(
    ("template", "message"),
    [
        (
            "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}",
            " steps: it may have no end",
        ),
        ("{{ 'x' * 10 ** 9 }}", "characters of text"),
        ("{{ 1 }}" + "x" * 600_000, "it writes more than 5"),
        ("{{ raise_exception('Not for you.') }}", "refuses it: Not for you."),
        ("a\n{% if %}", "line 2: Expected an expression"),
        ("{{ messages.__class__.__mro__[1].__subclasses__() }}", "access to attribute '__class__' of 'list' object"),
        ("{{ messages.append(1) }}", "access to attribute 'append' of 'list' object is unsafe"),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "too deep"),
        ("{% include '/etc/passwd' %}", "no loader"),
        ("{{ 1 }}", "the template does not write the user's text"),
    ],
)
def test_a_template_that_cannot_be_used_is_one_finding(template: str, message: str) -> None:
    found = toolfmt.diagnose(template=template)
    (check,) = found.checks
    assert (check.scenario, check.status) == ("template", "fail")
    assert message in check.findings[0].message
    assert not found.ok


def test_a_template_that_never_ends_for_calls_alone_is_ended_each_time() -> None:
    """Each rendering has so small a limit that all of them together take some seconds at most."""
    endless = TAGS.replace("{%- for c", "{%- for a in range(99999) if message.tool_calls %}{% endfor %}{%- for c")
    found = toolfmt.diagnose(template=endless)
    assert any(" steps: it may have no end" in message for _, message in _messages(found, "one call"))
    assert _messages(found, "tools") == []


def test_the_report_is_json() -> None:
    found = toolfmt.diagnose(template=ONE_CALL)
    report = json.loads(json.dumps(found.report()))
    assert (report["ok"], report["dialect"], report["template"]) == (False, "qwen25", "default")
    assert [check["scenario"] for check in report["checks"]] == [*SCENARIOS]
    (one,) = (check for check in report["checks"] if check["scenario"] == "one call")
    assert one["wrote"].strip().startswith('<tool_call>\n{"name": "get_weather"')


def test_differences_are_those_of_types_too() -> None:
    said = {"a": 1, "b": [1, {"c": True}], "d": "x" * 50 + "y", "e": {}}
    assert list(differences("", said, said)) == []
    assert list(differences("", said, {"a": 1.0, "b": [1, {"c": 1}], "d": "x" * 50 + "z", "f": 0})) == [
        ("/a", "1", "1.0"),
        ("/b/1/c", "true", "1"),
        ("/d", '..."' + "x" * 20 + 'y"', '..."' + "x" * 20 + 'z"'),
        ("/e", "{}", "nothing"),
        ("/f", "nothing", "0"),
    ]


def test_callers_mistakes() -> None:
    with pytest.raises(TypeError, match="give the chat template"):
        toolfmt.diagnose()
    with pytest.raises(toolfmt.UnknownDialectError, match="did you mean 'hermes'"):
        toolfmt.diagnose(template=TAGS, dialect="hermess")
    with pytest.raises(toolfmt.errors.TemplateError, match="a Go template"):
        toolfmt.diagnose(template="{{- range .Messages }}{{ .Content }}{{ end }}")
