"""A call as the whole message: `{"name": ..., "parameters": {...}}`.

    {"name": "get_weather", "parameters": {"city": "Paris"}}; {"name": "now", "parameters": {}}
    <|python_tag|>{"name": "get_weather", "parameters": {"city": "Paris"}}

There is no marker in the first form: only an object of exactly that shape, with
the name of an offered tool, is a call. Code after `<|python_tag|>` is text.
"""

from dataclasses import replace

from toolfmt.dialect.syntax import Form, Syntax
from toolfmt.dialects._native import SGLANG, VLLM, XGRAMMAR, json_call, native, template
from toolfmt.formatters.json_schemas import json_schema_formatter, openai_tool

_TOOL = json_schema_formatter(openai_tool, indent=4)
_KEYED = json_call(arguments="parameters")
_CALL = replace(_KEYED, accepts=(*_KEYED.accepts, {"arguments": "{arguments}"}))  # vLLM's parser reads both keys
_BARE = Form(call="{call}", separator="; ", json=_CALL)
_TAGGED = replace(_BARE, section="<|python_tag|>{calls}", each=False, tentative=True)
_SYNTAX = Syntax(
    forms=(_BARE, _TAGGED),
    bare=True,
    unwrap=(("<|python_tag|>", ""),),
    stop=("<|eom_id|>", "<|eot_id|>"),
    tool_separator="\n\n",
)

DIALECTS = (
    native(
        "llama3-json",
        "a JSON object as the whole message: Llama 3.1, 3.2, 3.3",
        _SYNTAX,
        template("meta-llama/Llama-3.1-8B-Instruct"),
        VLLM,
        SGLANG,
        XGRAMMAR,
        aliases=("llama3", "llama4-json"),
        schema=_TOOL,
    ),
    native(
        "llama3-json-tag",
        "a JSON object after <|python_tag|>: Llama 3.1 and later",
        replace(_SYNTAX, forms=(_TAGGED, _BARE)),
        VLLM,
        schema=_TOOL,
    ),
)
