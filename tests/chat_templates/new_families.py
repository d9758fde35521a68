"""Chat templates of families that nobody knows, to be inferred; written for the tests."""

from __future__ import annotations

from typing import Final

_TURNS: Final = r"""
{%- if tools %}{{- '<|sys|>Tools: ' + (tools | tojson) + '<|fin|>' }}{%- endif %}
{%- for message in messages %}
    {%- if message.role == 'assistant' %}
        {{- '<|bot|>' }}
        {%- if message.reasoning_content %}{{- '<muse>' + message.reasoning_content + '</muse>' }}{%- endif %}
        {{- message.content or '' }}
        {%- set calls = message.tool_calls or [] %}
        {%- if calls %}@before@{%- endif %}
        {%- for call in calls %}
                {%- set name = call.function.name %}
            {%- set arguments = call.function.arguments %}
            @each@
            {%- if not loop.last %}{{- '@between@' }}{%- endif %}
        {%- endfor %}
        {%- if calls %}@after@{%- endif %}
        {{- '<|fin|>' }}
    {%- elif message.role == 'tool' %}
        {{- '<|out|>' + message.content + '<|fin|>' }}
    {%- else %}
        {{- '<|' + message.role + '|>' + message.content + '<|fin|>' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|bot|>' }}{%- endif %}
"""


def family(each: str, *, before: str = "", after: str = "", between: str = "") -> str:
    """Make a chat template that writes each call so, with this around and between them."""
    parts = {"before": f"{{{{- '{before}' }}}}", "each": each, "between": between, "after": f"{{{{- '{after}' }}}}"}
    text = _TURNS
    for name, part in parts.items():
        text = text.replace(f"@{name}@", part)
    return text


_KEYS: Final = "{%- for key, value in arguments | items %}"
_RAW: Final = "(value if value is string else value | tojson)"

FAMILIES: Final = {
    "json-object": family("{{- '[[do]]' + ({'tool': name, 'input': arguments} | tojson) + '[[/do]]' }}"),
    "json-lines": family(
        "{{- {'fn': name, 'kwargs': arguments} | tojson }}", before="<doing>\\n", after="\\n</doing>", between="\\n"
    ),
    "json-list": family(
        "{{- {'fn': name, 'kwargs': arguments} | tojson }}", before="<doing>[", after="]</doing>", between=", "
    ),
    "json-text": family("{{- '<do>' + name + '|' + arguments + '</do>' }}"),
    "name-is-key": family("{{- {name: arguments} | tojson }}", before="<|doing|>[", after="]<|done|>", between=", "),
    "name-and-json": family(
        "{{- '<|do|>' + name + '<|with|>' + (arguments | tojson) + '<|did|>' }}", before="<|doing|>", after="<|done|>"
    ),
    "name-and-json-alone": family("{{- '[DO]' + name + '[WITH]' + (arguments | tojson) }}"),
    "ids": family("{{- '<|do|>' + call.id + '<|name|>' + name + '<|with|>' + (arguments | tojson) + '<|did|>' }}"),
    "counted": family(
        "{{- {'nr': loop.index0 | string, 'tool': name, 'input': arguments} | tojson }}",
        before="<doing>[",
        after="]</doing>",
        between=", ",
    ),
    "attributes": family(
        "{{- '<run tool=\"' + name + '\">' }}"
        + _KEYS
        + "{{- '<in key=\"' + key + '\">' + "
        + _RAW
        + " + '</in>' }}{%- endfor %}{{- '</run>' }}"
    ),
    "on-lines": family(
        "{{- '<run=' + name + '>\\n' }}"
        + _KEYS
        + "{{- '<in=' + key + '>\\n' + "
        + _RAW
        + " + '\\n</in>\\n' }}{%- endfor %}{{- '</run>' }}",
        before="<doing>\\n",
        after="\\n</doing>",
        between="\\n",
    ),
    "pairs": family(
        "{{- '<do>' + name }}"
        + _KEYS
        + "{{- '<k>' + key + '</k><v>' + "
        + _RAW
        + " + '</v>' }}{%- endfor %}{{- '</do>' }}"
    ),
    "typed": family(
        "{{- '<run tool=\"' + name + '\">' }}"
        + _KEYS
        + "{{- '<in key=\"' + key + '\" text=\"' + ('true' if value is string else 'false') + '\">' + "
        + _RAW
        + " + '</in>' }}{%- endfor %}{{- '</run>' }}"
    ),
    "kinds": family(
        "{{- '<run tool=\"' + name + '\">' }}"
        + _KEYS
        + "{%- set kind = 'string' if value is string else 'boolean' if value is boolean else 'integer' if value is "
        "integer else 'number' if value is number else 'object' if value is mapping else 'array' %}"
        + "{{- '<in key=\"' + key + '\" kind=\"' + kind + '\">' + "
        + _RAW
        + " + '</in>' }}{%- endfor %}{{- '</run>' }}"
    ),
    "keyed": family(
        "{{- '<run tool=\"' + name + '\">' }}"
        + _KEYS
        + "{{- '<' + key + '>' + "
        + _RAW
        + " + '</' + key + '>' }}{%- endfor %}{{- '</run>' }}"
    ),
    "escaped": family(
        "{{- '<run tool=\"' + name + '\">' }}"
        + _KEYS
        + "{{- '<in key=\"' + key + '\">' + ("
        + _RAW
        + ") | replace('&', '&amp;') | replace('<', '&lt;') | replace('>', '&gt;') }}{{- '</in>' }}"
        + "{%- endfor %}{{- '</run>' }}"
    ),
    "keywords": family(
        "{{- name + '(' }}"
        + _KEYS
        + "{{- key + '=' + (value | tojson) + ('' if loop.last else ', ') }}{%- endfor %}{{- ')' }}",
        before="<|py|>[",
        after="]<|/py|>",
        between=", ",
    ),
    "braces": family(
        "{%- macro said(value) %}{%- if value is string %}{{- '<$>' + value + '<$>' }}"
        "{%- elif value is mapping %}{{- '{' }}{%- for key, inner in value | items %}"
        "{{- key + ':' + said(inner) + ('' if loop.last else ',') }}{%- endfor %}{{- '}' }}"
        "{%- elif value is sequence %}{{- '[' }}{%- for inner in value %}"
        "{{- said(inner) + ('' if loop.last else ',') }}{%- endfor %}{{- ']' }}"
        "{%- else %}{{- value | tojson }}{%- endif %}{%- endmacro %}"
        "{{- '<|do|>' + name + said(arguments) + '<|did|>' }}"
    ),
}
"""By what they are like; all of them can be inferred."""

HOPELESS: Final = {
    "values-alone": family("{{- '<do>' + name + ': ' + (arguments.values() | join(', ')) + '</do>' }}"),
    "no-marker": family("{{- {'tool': name, 'input': arguments} | tojson }}", between=", "),
    "python": family("{{- '<do>' + name + ' ' + (arguments.items() | list | string) + '</do>' }}"),
    "other-order": family("{{- '<do>' + (arguments | tojson) + ' -> ' + name + '</do>' }}"),
}
"""What nobody can read back."""

ONE_AT_A_TIME: Final = FAMILIES["json-object"].replace(
    "{%- for call in calls",
    "{%- if calls | length > 1 %}{{- raise_exception('one call') }}{%- endif %}{%- for call in calls",
)
"""Refuses several calls."""
