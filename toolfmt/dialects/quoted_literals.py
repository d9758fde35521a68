"""Calls in Google's own literals: bare keys, a special token as the quote.

    <|tool_call>call:f{a:<|"|>x<|"|>,n:1}<tool_call|>                                  gemma4
    <start_function_call>call:f{a:<escape>x<escape>,n:<escape>1<escape>}<end_function_call>   functiongemma, by schema

A comment after each form names the formats that write it.
"""

from toolfmt.dialect.literals import JSON_WORDS, Literals
from toolfmt.dialect.record import Provenance
from toolfmt.dialect.syntax import Form, Syntax
from toolfmt.dialects._native import VLLM, native, template
from toolfmt.formatters.literal_schemas import Declaration

_GEMMA4 = Literals(quotes=('<|"|>',), escapes=False, words=JSON_WORDS, bare_keys=True, sorted_keys=True, spaced=False)
_FUNCTIONGEMMA = Literals(
    quotes=("<escape>",), escapes=False, words=JSON_WORDS, bare_keys=True, spaced=False, typed_by_schema=True
)

DIALECTS = (
    native(
        "gemma4",
        'literals with <|"|> as the quote in <|tool_call>: Gemma 4',
        Syntax(
            forms=(
                Form(call="<|tool_call>call:{name}{args}<tool_call|>", separator="", literals=_GEMMA4),
                Form(call="<|tool_call>{name}{args}<tool_call|>", separator="", literals=_GEMMA4),
            ),
            reasoning=(("<|channel>thought\n", "\n<channel|>"), ("<|channel>", "<channel|>")),
            stop=("<turn|>", "<|tool_response>"),
            tools="{tools}",
            tool_separator="",
            result='<|tool_response>response:{name}{value:<|"|>{content}<|"|>}<tool_response|>',
            result_separator="",
        ),
        template("google/gemma-4-31B-it"),
        VLLM,
        schema=Declaration(_GEMMA4, "<|tool>", "<tool|>"),
    ),
    native(
        "functiongemma",
        "literals with <escape> as the quote, every argument quoted: FunctionGemma",
        Syntax(
            forms=(
                Form(
                    call="<start_function_call>call:{name}{args}<end_function_call>",
                    separator="",
                    literals=_FUNCTIONGEMMA,
                ),
            ),
            stop=("<start_function_response>", "<end_of_turn>"),
            result="<start_function_response>response:{name}{value:<escape>{content}<escape>}<end_function_response>",
            result_separator="",
        ),
        VLLM,
        Provenance(reference="google/functiongemma-270m-it, model card", kind="documentation"),
        schema=Declaration(_FUNCTIONGEMMA, "<start_function_declaration>", "<end_function_declaration>"),
    ),
)
