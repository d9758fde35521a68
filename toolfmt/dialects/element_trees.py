"""Arguments as a tree of elements: nested values are nested elements, not JSON.

    <cofl:tool_call id="0" name="f"><cofl:value name="tags" type="list">
    <cofl:value type="raw">a</cofl:value></cofl:value></cofl:tool_call>          cohere-xml

    ]<]minimax[>[<invoke name="f">]<]minimax[>[<city>Paris]<]minimax[>[</city>]<]minimax[>[</invoke>    minimax-m3

A comment after each form names the formats that write it.
"""

from toolfmt.dialect.syntax import Elements, Form, Syntax
from toolfmt.dialects._native import SGLANG, VLLM, XGRAMMAR, native, or_json, template
from toolfmt.formatters.json_schemas import function_line

_NS = "]<]minimax[>["

DIALECTS = (
    native(
        "minimax-m3",
        "nested elements, each after a namespace token: MiniMax M3",
        Syntax(
            forms=or_json(
                Form(
                    section=f"{_NS}<tool_call>\n{{calls}}\n{_NS}</tool_call>",
                    call=f'{_NS}<invoke name="{{name}}">{{members}}{_NS}</invoke>',
                    each=False,
                    alone=True,
                    elements=Elements(
                        member=f"{_NS}<{{key}}>{{value}}{_NS}</{{key}}>",
                        item=f"{_NS}<item>{{value}}{_NS}</item>",
                        escape="none",
                        indent="",
                        separator="",
                    ),
                )
            ),
            reasoning=(("<mm:think>", "</mm:think>"),),
            stop=("[e~[",),
            tools="<tools>\n<tool>{tools}</tool>\n</tools>",
            tool_separator="</tool>\n<tool>",
            result="<response>{content}</response>",
            results="]~b]tool\n{results}",
        ),
        template("MiniMaxAI/MiniMax-M3"),
        VLLM,
        SGLANG,
        XGRAMMAR,
        schema=function_line,
    ),
    native(
        "cohere-xml",
        "nested elements with their types",
        Syntax(
            forms=or_json(
                Form(
                    section="<cofl:tool_calls>{calls}</cofl:tool_calls>",
                    call='<cofl:tool_call id="{id}" name="{name}">{members}</cofl:tool_call>',
                    separator="",
                    each=False,
                    alone=True,
                    id_if_missing="{index}",
                    elements=Elements(
                        member='<cofl:value name="{key}" type="{type}">{value}</cofl:value>',
                        item='<cofl:value type="{type}">{value}</cofl:value>',
                        escape="none",
                        indent="",
                        separator="",
                        type_names={
                            "string": "raw",
                            "integer": "json",
                            "number": "json",
                            "boolean": "json",
                            "null": "json",
                            "object": "dict",
                            "array": "list",
                        },
                    ),
                )
            ),
            reasoning=(("<|START_THINKING|>", "<|END_THINKING|>"),),
        ),
        XGRAMMAR,
    ),
)
