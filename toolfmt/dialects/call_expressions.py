r"""Calls as expressions of a programming language.

    [f(a='x', b=True), g()]                                            pythonic, toolace, gorilla: no marker at all
    <|python_start|>[f(a='x')]<|python_end|>                           llama4-pythonic, markers may be missing
    <function_calls>\nf(a="x", b=true)\ng()\n</function_calls>         olmo3, JSON's words, a call a line
    <|tool_call_start|>[f(a='x')]<|tool_call_end|>                     lfm2, JSON calls are read as well
    <|python_tag|>brave_search.call(query="x")                         llama3-builtin
    Thought: ...\nAction: click(start_box='(1,2)')                     ui-tars
    Call: f(a='x')<bot_end>                                            nexus

A comment after each form names the formats that write it.
"""

from dataclasses import replace

from toolfmt.dialect.literals import JSON_WORDS, Literals
from toolfmt.dialect.record import Provenance
from toolfmt.dialect.syntax import Form, Syntax
from toolfmt.dialects._native import SGLANG, THINK, VLLM, json_call, native, template

_PYTHON = Literals(keywords=True)
_JSON = Literals(keywords=True, quotes=('"',), words=JSON_WORDS)
_LIST = Form(section="[{calls}]", call="{name}({args})", separator=", ", each=False, literals=_PYTHON)
_BARE = replace(_LIST, bare=True)
_LFM2 = "<|tool_call_start|>", "<|tool_call_end|>"

DIALECTS = (
    native(
        "pythonic",
        "a list of Python calls and nothing around it: ToolACE, Gorilla, Llama 3.2 and others",
        Syntax(forms=(_BARE,), stop=("<|eom_id|>", "<|eot_id|>"), tools="[{tools}]", tool_separator=", "),
        VLLM,
        SGLANG,
        aliases=("toolace", "gorilla"),
    ),
    native(
        "llama4-pythonic",
        "a list of Python calls, in <|python_start|> or bare: Llama 4",
        Syntax(
            forms=(
                replace(_LIST, section="<|python_start|>[{calls}]{?<|python_end|>?}", tentative=True),
                replace(_BARE, section="[{calls}]{?<|python_end|>?}"),
                Form(
                    section="<|python_start|>{calls}<|python_end|>",
                    call="{call}",
                    json=json_call(arguments="parameters"),
                ),
            ),
            unwrap=(("<|python_start|>", "<|python_end|>"),),
            stop=("<|eom|>", "<|eot|>", "<|header_start|>"),
            tools="[{tools}]",
            tool_separator=", ",
        ),
        VLLM,
    ),
    native(
        "olmo3",
        "one call a line in <function_calls>, JSON's words: OLMo 3",
        Syntax(
            forms=(
                Form(
                    section="<function_calls>\n{calls}\n</function_calls>",
                    call="{name}({args})",
                    each=False,
                    literals=_JSON,
                ),
            ),
            reasoning=THINK,
            stop=("<|im_end|>", "<|endoftext|>"),
            tools="<functions>[{tools}]</functions>",
            tool_separator=", ",
        ),
        VLLM,
    ),
    native(
        "lfm2",
        "a list of Python calls in <|tool_call_start|>: LFM2 and LFM2.5",
        Syntax(
            forms=(
                replace(_LIST, section="[{calls}]".join(_LFM2), tentative=True),
                Form(section="{calls}".join(_LFM2), call="{call}", each=False, array=True, json=json_call()),
                Form(section="{calls}".join(_LFM2), call="{call}", json=json_call()),
            ),
            reasoning=THINK,
            stop=("<|im_end|>",),
            tools="List of tools: [{tools}]",
            tool_separator=", ",
            result="<|tool_response_start|>{content}<|tool_response_end|>",
        ),
        template("LiquidAI/LFM2-8B-A1B"),
        VLLM,
        SGLANG,
    ),
    native(
        "llama3-builtin",
        "a built-in tool's method after <|python_tag|>: Llama 3.1's search and Wolfram Alpha",
        Syntax(
            forms=(Form(call="<|python_tag|>{name}.call({args})", literals=replace(_PYTHON, quotes=('"', "'"))),),
            single=True,
            stop=("<|eom_id|>", "<|eot_id|>"),
        ),
        template("meta-llama/Llama-3.1-8B-Instruct"),
    ),
    native(
        "ui-tars",
        "a thought and one action a turn, for a screen: UI-TARS",
        Syntax(
            forms=(Form(call="Action: {name}({args})", separator="\n\n", literals=_PYTHON),),
            reasoning=(("Thought:", ""),),
            lines=True,
        ),
        Provenance(reference="bytedance/UI-TARS, codes/ui_tars/prompt.py", kind="source"),
    ),
    native(
        "nexus",
        "Python calls after Call: and before <bot_end>: NexusRaven",
        Syntax(
            forms=(
                Form(
                    section="Call: {calls}<bot_end>",
                    call="{name}({args})",
                    separator="; ",
                    each=False,
                    literals=_PYTHON,
                ),
            ),
            stop=("<bot_end>",),
            lines=True,
        ),
        Provenance(reference="Nexusflow/NexusRaven-V2-13B, model card", kind="documentation"),
    ),
)
