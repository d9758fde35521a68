"""Chat templates in the shapes of the families, written for the tests."""

from typing import Final

TAGS: Final = r"""
{%- if tools or messages[0].role == 'system' %}
    {{- '<|im_start|>system\n' }}
    {%- if messages[0].role == 'system' %}
        {{- messages[0].content + '\n' }}
    {%- endif %}
    {%- if tools %}
        {{- '# Tools\n<tools>\n' }}
        {%- for tool in tools %}
            {{- (tool | tojson) + '\n' }}
        {%- endfor %}
        {{- '</tools>' }}
    {%- endif %}
    {{- '<|im_end|>\n' }}
{%- endif %}
{%- for message in messages %}
    {%- if message.role == 'user' %}
        {{- '<|im_start|>user\n' + message.content + '<|im_end|>\n' }}
    {%- elif message.role == 'assistant' %}
        {{- '<|im_start|>assistant\n' }}
        {%- if message.reasoning_content %}
            {{- '<think>\n' + message.reasoning_content + '\n</think>\n\n' }}
        {%- endif %}
        {%- if message.content %}
            {{- message.content + ('\n' if message.tool_calls else '') }}
        {%- endif %}
        {%- for call in message.tool_calls or [] %}
            {{- ('' if loop.first else '\n') + '<tool_call>\n{"name": ' + (call.function.name | tojson) }}
            {{- ', "arguments": ' + (call.function.arguments | tojson) + '}\n</tool_call>' }}
        {%- endfor %}
        {{- '<|im_end|>\n' }}
    {%- elif message.role == 'tool' %}
        {{- '<|im_start|>user\n<tool_response>\n' + message.content + '\n</tool_response><|im_end|>\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
{%- endif %}
"""
"""JSON in tags, as Hermes and Qwen write it; keeps everything but ids."""

TEXT_ARGUMENTS: Final = TAGS.replace("(call.function.arguments | tojson)", "call.function.arguments")
"""Takes arguments as text."""

NEEDS_CONTENT: Final = TAGS.replace("{%- if message.content %}", "{%- if message['content'] + '' %}")
"""Fails where a message has no content."""

ONE_CALL: Final = TAGS.replace(
    "{%- for call in",
    "{%- if message.tool_calls and message.tool_calls | length > 1 %}"
    "{{- raise_exception('This model only supports single tool-calls at once!') }}{%- endif %}{%- for call in",
)
"""Refuses parallel calls, as Llama 3 does."""

NO_TOOLS: Final = """{{ bos_token }}{% for message in messages %}<|{{ message.role }}|>
{{ message.content }}{{ eos_token }}
{% endfor %}{% if add_generation_prompt %}<|assistant|>
{% endif %}"""
"""Knows no tools."""

PARTS: Final = TAGS.replace(
    "'<|im_start|>user\\n' + message.content +",
    "'<|im_start|>user\\n' + message.content | map(attribute='text') | join +",
)
"""Reads a user's content as a list of parts alone."""

DATED: Final = "{{ strftime_now('%d %b %Y') }}" + NO_TOOLS

IDS: Final = TAGS.replace("""', "arguments": '""", """', "id": ' + (call.id | tojson) + ', "arguments": '""").replace(
    "<tool_response>\\n'", "<tool_response id=' + message.tool_call_id + '>\\n'"
)
"""Writes the ids of calls and results."""

LAST_REASONING: Final = TAGS.replace(
    "{%- if message.reasoning_content %}", "{%- if message.reasoning_content and loop.last %}"
)
"""Drops the reasoning of earlier turns, as Qwen3 does."""

NO_TEXT: Final = TAGS.replace("{%- if message.content %}", "{%- if message.content and not message.tool_calls %}")
"""Drops text beside calls."""

DOUBLE: Final = TAGS.replace("(call.function.arguments | tojson)", "(call.function.arguments | tojson | tojson)")
"""Writes arguments as JSON inside JSON."""

XML: Final = TAGS.replace(
    """'<tool_call>\\n{"name": ' + (call.function.name | tojson) }}""",
    """'<tool_call>\\n<function=' + call.function.name }}""",
).replace(
    """{{- ', "arguments": ' + (call.function.arguments | tojson) + '}\\n</tool_call>' }}""",
    """{{- '>\\n' }}
            {%- for name, value in call.function.arguments | items %}
                {{- '<parameter=' + name + '>\\n' }}
                {{- value if value is string else value | tojson }}
                {{- '\\n</parameter>\\n' }}
            {%- endfor %}
            {{- '</function>\\n</tool_call>' }}""",
)
"""Parameters in tags, their values raw, as Qwen3-Coder writes them."""
