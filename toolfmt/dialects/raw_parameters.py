"""Parameters as elements around raw values: nothing is escaped, types come from the tool's schema.

    <tool_call>
    <function=get_weather>
    <parameter=city>
    Paris
    </parameter>
    </function>
    </tool_call>

A value ends at its closer only where structure follows it, so a file that holds
`</parameter>` stays whole. Objects and lists are JSON text.
"""

from dataclasses import replace

from toolfmt.dialect.syntax import Elements, Form, Syntax
from toolfmt.dialects._native import SGLANG, THINK, THINK_LINES, VLLM, XGRAMMAR, chat, native, or_json, template
from toolfmt.formatters.declarations import function_elements, python_function
from toolfmt.formatters.json_schemas import function_line

_RAW = Elements(member="<parameter={key}>{value}</parameter>", escape="none", indent="", closers_optional=True)
_PADDED = replace(_RAW, member="<parameter={key}>\n{value}\n</parameter>")
_NAMED = replace(_RAW, member='<parameter name="{key}">{value}</parameter>')
_QWEN = Form(
    section="<tool_call>\n{calls}\n</tool_call>",
    call="<function={name}>\n{members}</function>",
    elements=_PADDED,
    alone=True,
)
_INVOKE = Form(
    section="<invokes>\n{calls}\n</invokes>",
    call='<invoke name="{name}">\n{members}</invoke>',
    each=False,
    alone=True,
    elements=_NAMED,
)


_CODER = chat(*or_json(_QWEN), before_calls="\n\n")

_CLAUDE_2 = Form(
    section="<function_calls>\n{calls}\n</function_calls>",
    call="<invoke>\n<tool_name>{name}</tool_name>\n{members}</invoke>",
    each=False,
    alone=True,
    elements=Elements(member="<{key}>{value}</{key}>", wrapper="parameters", escape="none", indent=""),
)

_STEP3 = Form(
    section="<｜tool_calls_begin｜>{calls}<｜tool_calls_end｜>",
    call='<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="{name}">'
    "{members}</steptml:invoke><｜tool_call_end｜>",
    separator="",
    each=False,
    alone=True,
    elements=replace(_RAW, member='<steptml:parameter name="{key}">{value}</steptml:parameter>', separator=""),
)

DIALECTS = (
    native(
        "qwen3-coder",
        "<function=name> with <parameter=key> in <tool_call>: Qwen3-Coder",
        _CODER,
        template("Qwen3-Coder"),
        VLLM,
        SGLANG,
        XGRAMMAR,
        aliases=(
            "qwen3-xml",
            "nanbeige",
            "exaone-moe",
            "kexaone2",
            "minicpmv",
            "granite-thinking-parser",
            "iquest-coder",
            "step5",
        ),
        schema=function_elements,
    ),
    native(
        "qwen35",
        "as qwen3-coder, tools as JSON: Qwen 3.5 and later",
        _CODER,
        template("Qwen3.5-4B"),
        aliases=("qwen3.5",),
    ),
    native(
        "nemotron3",
        "as qwen3-coder: Nemotron 3",
        _CODER,
        template("NVIDIA-Nemotron-3-Nano-30B-A3B-BF16"),
        schema=function_elements,
        aliases=("nemotron-v3", "nemotron-3"),
    ),
    native(
        "step3p5",
        "as qwen3-coder, nothing between calls: Step 3.5",
        replace(
            _CODER,
            forms=or_json(replace(_QWEN, separator="")),
            before_calls="",
            result="<tool_response>{content}</tool_response>",
            result_separator="",
        ),
        template("StepFun3.5-Flash"),
        VLLM,
        SGLANG,
    ),
    native(
        "mimo",
        "as qwen3-coder, without line breaks: MiMo",
        replace(
            _CODER,
            forms=or_json(
                replace(
                    _QWEN,
                    section="<tool_call>{calls}</tool_call>",
                    call="<function={name}>{members}</function>",
                    elements=replace(_RAW, separator=""),
                    separator="",
                )
            ),
        ),
        template("MiMo-VL"),
        VLLM,
        SGLANG,
    ),
    native(
        "seed-oss",
        "<function=name> in <seed:tool_call>: Seed-OSS",
        replace(
            _CODER,
            forms=or_json(replace(_QWEN, section="<seed:tool_call>\n{calls}\n</seed:tool_call>", elements=_RAW)),
            reasoning=(("<seed:think>", "</seed:think>\n"),),
            unwrap=(("<seed:cot_budget_reflect>", "</seed:cot_budget_reflect>"),),
            hidden=(),
            stop=("<seed:eos>",),
            tools="{tools}",
            tool_separator="\n\n",
            result="{content}",
        ),
        template("ByteDance-Seed/Seed-OSS-36B-Instruct"),
        VLLM,
        schema=python_function,
    ),
    native(
        "minimax-m2",
        "<invoke> with <parameter> in <minimax:tool_call>: MiniMax M2",
        Syntax(
            forms=or_json(replace(_INVOKE, section="<minimax:tool_call>\n{calls}\n</minimax:tool_call>")),
            reasoning=THINK_LINES,
            before_calls="\n",
            stop=("[e~[",),
            tools="<tools>\n<tool>{tools}</tool>\n</tools>",
            tool_separator="</tool>\n<tool>",
            result="<response>{content}</response>",
            results="]~b]tool\n{results}",
        ),
        template("MiniMaxAI/MiniMax-M2"),
        VLLM,
        SGLANG,
        aliases=("minimax-append-think", "minimax-m2-append-think"),
        schema=function_line,
    ),
    native(
        "dots",
        "<invoke> with <parameter> in <dots_function_call>",
        Syntax(
            forms=or_json(replace(_INVOKE, section="<dots_function_call>\n{calls}\n</dots_function_call>")),
            reasoning=THINK,
        ),
        VLLM,
        SGLANG,
    ),
    native(
        "claude-legacy",
        "<invoke> with <parameter> in <function_calls>, as Claude 2 and 3 were prompted",
        Syntax(
            forms=(
                *(
                    form
                    for prefix in ("", "antml:")
                    for form in or_json(
                        replace(
                            _INVOKE,
                            section=f"<{prefix}function_calls>\n{{calls}}\n</{prefix}function_calls>",
                            call=f'<{prefix}invoke name="{{name}}">\n{{members}}</{prefix}invoke>',
                            elements=replace(
                                _NAMED, member=f'<{prefix}parameter name="{{key}}">{{value}}</{prefix}parameter>'
                            ),
                        )
                    )
                ),
                _CLAUDE_2,
            ),
            hidden=(("<function_results>", "</function_results>"),),
            tools="<tools>\n{tools}\n</tools>",
            result="<result>\n<tool_name>{name}</tool_name>\n<stdout>{content}</stdout>\n</result>",
            results="<function_results>\n{results}\n</function_results>",
        ),
        template("Anthropic, tool use with prompts (2023)"),
    ),
    native(
        "step3",
        "<steptml:invoke> between Step's markers: Step 3",
        Syntax(
            forms=(*or_json(_STEP3), replace(_STEP3, call=_STEP3.call.replace("function<｜tool_sep｜>", ""))),
            reasoning=THINK,
            stop=("<|EOT|>",),
            result="<｜tool_output_begin｜>{content}<｜tool_output_end｜>",
            results="<｜tool_outputs_begin｜>{results}<｜tool_outputs_end｜>",
        ),
        VLLM,
        SGLANG,
    ),
    native(
        "minicpm5",
        "<function> with <param>, real XML with entities and CDATA: MiniCPM 5",
        replace(
            chat(
                Form(
                    call='<function name="{name}">{members}</function>',
                    elements=Elements(
                        member='<param name="{key}"{? type="{type}"?}>{value}</param>',
                        quotes=(("<![CDATA[", "]]>"),),
                        quoted="<&\n",
                        indent="",
                        separator="",
                    ),
                )
            ),
            reasoning=THINK_LINES,
            before_calls="\n",
            calls_in_reasoning="draft",
        ),
        template("openbmb/MiniCPM5-1B"),
        VLLM,
        SGLANG,
    ),
)
