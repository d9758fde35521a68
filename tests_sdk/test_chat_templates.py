"""transformers renders what we render, with the same templates, messages, tools and variables."""

from __future__ import annotations

import copy
from datetime import UTC, datetime
from typing import Any

import pytest
import template_families
from hypothesis import given
from hypothesis import strategies as st
from transformers.utils import chat_template_utils

import toolfmt
from toolfmt.errors import TemplateError
from toolfmt.workshop.chat_templates.sandbox import render

OTHER_FORM = "PARTS"
"""Takes a user's content in a form that ours finds out, and transformers loses the text."""
FAMILIES = {name: text for name, text in vars(template_families).items() if name.isupper() and name != OTHER_FORM}
TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}
TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Looks up <the> weather & more.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}

TEXT = st.text(alphabet=st.characters(codec="utf-8"), max_size=20) | st.sampled_from(
    ["{{ 1 }}", "<b>'\"&", "\n x \n", ""]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
CALLS = st.lists(
    st.fixed_dictionaries(
        {"name": st.sampled_from(["get_weather", "f"]), "arguments": st.dictionaries(TEXT, JSON, max_size=3)}
    ),
    min_size=1,
    max_size=2,
)


@st.composite
def conversations(draw: st.DrawFn) -> list[dict[str, object]]:
    messages: list[dict[str, object]] = []
    if draw(st.booleans()):
        messages.append({"role": "system", "content": draw(TEXT)})
    for _ in range(draw(st.integers(1, 2))):
        messages.append({"role": "user", "content": draw(TEXT)})
        answer: dict[str, object] = {"role": "assistant", "content": draw(TEXT)}
        if draw(st.booleans()):
            answer[draw(st.sampled_from(["reasoning_content", "thinking", "reasoning"]))] = draw(TEXT)
        messages.append(answer)
        if draw(st.booleans()):
            calls = draw(CALLS)
            answer["tool_calls"] = [
                {"id": f"c{at}", "type": "function", "function": function} for at, function in enumerate(calls)
            ]
            messages.extend(
                {"role": "tool", "tool_call_id": f"c{at}", "name": function["name"], "content": draw(TEXT)}
                for at, function in enumerate(calls)
            )
    return messages


def _theirs(source: str, messages: list[Any], tools: list[Any] | None, **variables: Any) -> str | None:
    try:
        (text,), _ = chat_template_utils.render_jinja_template(
            [copy.deepcopy(messages)], tools=copy.deepcopy(tools), chat_template=source, **TOKENS, **variables
        )
    except Exception:  # noqa: BLE001 - whatever Jinja and the template raise
        return None
    return text


@pytest.mark.parametrize("name", FAMILIES)
@given(messages=conversations(), tools=st.none() | st.just([TOOL]), prompt=st.booleans())
def test_prompts_are_those_of_transformers(
    name: str,
    messages: list[dict[str, object]],
    tools: list[object] | None,
    prompt: bool,  # noqa: FBT001 - drawn
) -> None:
    source = FAMILIES[name]
    if "strftime_now" in source:
        source = source.replace("{{ strftime_now('%d %b %Y') }}", "{{ strftime_now('no date') }}")
    theirs = _theirs(source, messages, tools, add_generation_prompt=prompt)
    options = {"source": "hf-chat", "template": source, "variables": TOKENS, "add_generation_prompt": prompt}
    if theirs is None:
        # Ours also finds the form of messages that a template takes; the sandbox alone fails just as theirs does.
        data = {**TOKENS, "messages": messages, "tools": tools, "documents": None, "add_generation_prompt": prompt}
        with pytest.raises(TemplateError):
            render(source, data, now=datetime.now(UTC))
    else:
        assert toolfmt.render_prompt(messages, tools, now=datetime.now(UTC), **options) == theirs


OPERATIONS = [
    "{{ messages | map(attribute='role') | unique | sort | join(',') }}",
    "{{ tools | tojson(indent=2) }}",
    "{{ tools | tojson(indent=1, sort_keys=true, separators=(',', ':'), ensure_ascii=true) }}",
    "{% for m in messages %}{{ loop.index }}/{{ loop.length }}{{ loop.cycle('a', 'b') }}{% endfor %}",
    "{% for m in messages %}{{ loop.changed(m.role) }}{{ loop.previtem }}{{ loop.nextitem }}{% endfor %}",
    "{% for m in messages if m.role == 'user' %}{{ loop.revindex }}{% else %}none{% endfor %}",
    "{% for m in messages[1:] %}{{ messages[loop.index0].role[::-1] }}{% endfor %}",
    "{% macro m(x, y=2) %}{{ x }}{{ y }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1) ~ m(1, 3, 4, z=5) }}",
    "{% call(x) m(1) %}{% endcall %}{% macro m(x) %}{{ x }}{% endmacro %}",
    "{% macro m() %}[{{ caller('x') }}]{% endmacro %}{% call(y) m() %}{{ y }}{% endcall %}",
    "{% set x %}a{{ 1 }}{% endset %}{{ x | upper }}{% filter lower %}ABC{% endfilter %}",
    "{% set ns = namespace(a=1, self=2) %}{% set ns.b = ns.a + ns.self %}{{ ns.b }}",
    "{% generation %}{{ messages[0].role }}{% endgeneration %}",
    "{{ 7 // 2 }}{{ -7 % 3 }}{{ 2 ** 0.5 }}{{ 'ab' * 3 }}",
    "{{ [1] * 2 }}{{ '%s-%05.1f' % ('a', 2) }}{{ 3 - 1.5 }}{{ 7 / 2 }}",
    "{{ 1 < 2 <= 2 != 3 }}{{ 'a' in 'cat' }}",
    "{{ 'role' not in messages[0] }}{{ [1] == [1.0] }}{{ {'a': [1]} == {'a': [2]} }}",
    "{{ 'x'.join(['a', 'b']) }}{{ 'a,b'.split(',') }}",
    "{{ ' a '.strip() }}{{ '{}-{a[0]:>4}'.format(1, a=[2]) }}{{ 'a'.center(5) }}",
    "{{ {'a': 1}.items() | list }}{{ {'b': 1, 'a': 2} | dictsort }}",
    "{{ {'a': 1}.get('b', 3) }}{{ dict(a=1, **{'b': 2}) }}",
    "{{ [3, 1, 2] | sort | first }}{{ [1, 2] | sum }}",
    "{{ ['a', 'B'] | groupby('0') | list | length }}{{ range(3) | batch(2, 0) | list }}",
    "{{ 'a\\nb' | indent(2, true) }}{{ '<b>' | e }}",
    "{{ '<b>x</b>' | striptags }}{{ 'hello world' | truncate(5) }}{{ 3.14159 | round(2) }}",
    "{{ nothing }}{{ nothing | default('d') }}",
    "{{ messages[99] is undefined }}{{ messages[0].nothing | default('', true) }}",
    "{{ messages[0].role is in ['user', 'system'] }}{{ 1 is eq 1 }}",
    "{{ 'A' is upper }}{{ none is none }}{{ {} is mapping }}",
    "{% for k, v in {'a': 1}.items() %}{{ k }}{{ v }}{% break %}{% endfor %}",
    "{{ [[1, [2]], 'a'] }}{{ (1, 'a') }}{{ true }}{{ none }}{{ 1.0 }}{{ {'a': none} }}",
    "  {%- if true -%}  x  {%- endif %}\n\n  {% if true %}\n y\n  {% endif %}\n{# no #}\n{% raw %}{{ x }}{% endraw %}",
    "{{ messages[0].content | string | replace('a', 'b') | trim | title | wordcount }}{{ 'a b' | urlencode }}",
    "{{ raise_exception('no') }}",
    "{{ messages.append(1) }}",
    "{{ ''.__class__ }}",
    "{{ ''.__class__.__mro__ }}",
    "{{ nothing.x }}",
    "{{ nothing + 'a' }}",
    "{{ 'a' + 1 }}",
    "{{ tools | nothing }}",
    "{{ nothing() }}",
    "{% do messages.clear() %}",
    "{% if %}",
]


@pytest.mark.parametrize("source", OPERATIONS)
def test_every_operation_gives_what_transformers_gives(source: str) -> None:
    messages = [{"role": "user", "content": "a <b>"}, {"role": "assistant", "content": "c"}]
    theirs = _theirs(source, messages, [TOOL], add_generation_prompt=True)
    data = {**TOKENS, "messages": messages, "tools": [TOOL], "documents": None, "add_generation_prompt": True}
    if theirs is None:
        with pytest.raises(TemplateError):
            render(source, data)
    else:
        assert render(source, data) == theirs


def test_the_names_that_a_template_may_use_are_those_of_transformers() -> None:
    theirs = chat_template_utils._compile_jinja_template("{{ 1 }}").environment
    for kind, probe in (("filters", "{{% if false %}}{{{{ 1 | {} }}}}{{% endif %}}"), ("tests", "{{{{ 1 is {} }}}}")):
        for name in getattr(theirs, kind):
            if name.isidentifier():
                message = "none"
                try:
                    render(probe.format(name), {})
                except TemplateError as error:
                    message = str(error)
                assert f"No {kind[:-1]} named" not in message, name
    for name in theirs.globals:
        assert render(f"{{{{ {name} is defined }}}}", {}, now=datetime.now(UTC)) == "True", name
